"""Continuation. Oracles: linear programs, worked objectives, a clean fit next to a spoilt one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog

from isthmus._geometry import Euclidean
from isthmus._solvers import Reason
from isthmus._solvers.smoothed import WIDTHS, minimise_smoothed
from isthmus.losses import Absolute, EpsilonInsensitive, Huber, Quantile
from isthmus.losses.scale import robust_scale


class Factors:
    """A loss of Y - X A D' - b as a function of (A, D, b): what a robust fit minimises."""

    def __init__(self, X, Y, rank, loss):
        self.X, self.Y, self.rank, self.loss = X, Y, rank, loss
        self.ends = np.cumsum([X.shape[1] * rank, Y.shape[1] * rank])
        self.geometry = Euclidean(self.ends[-1] + Y.shape[1])

    def unpack(self, point):
        A, D, b = np.split(point, self.ends)
        return A.reshape(-1, self.rank), D.reshape(-1, self.rank), b

    def at(self, width):
        loss = self.loss.smooth(width)

        def objective(point):
            A, D, b = self.unpack(point)
            T = self.X @ A
            value, G = loss.value_and_gradient(self.Y, T @ D.T + b)
            return value, np.concatenate(
                [(self.X.T @ (G @ D)).ravel(), (G.T @ T).ravel(), G.sum(axis=0)]
            )

        return objective

    def start(self):
        centre = np.median(self.Y, axis=0)
        spread = 4 * 1.4826 * np.median(abs(self.Y - centre), axis=0)
        tame = np.clip(self.Y, centre - spread, centre + spread)
        b = tame.mean(axis=0)
        C = np.linalg.lstsq(self.X, tame - b, rcond=None)[0]
        return self.balance(np.concatenate([*self.factors(C), b]))

    def factors(self, C):
        U, s, Vt = np.linalg.svd(C, full_matrices=False)
        r, root = self.rank, np.sqrt(s[: self.rank])
        return (U[:, :r] * root).ravel(), (Vt[:r].T * root).ravel()

    def balance(self, point):
        A, D, b = self.unpack(point)
        return np.concatenate([*self.factors(A @ D.T), b])

    def predict(self, point):
        A, D, b = self.unpack(point)
        return self.X @ A @ D.T + b

    def fit(self, **options):
        start = self.start()
        scale = robust_scale(self.Y - self.predict(start))
        unit = self.Y.size * self.loss.typical_curvature(scale) * scale**2
        widths = [scale * w for w in WIDTHS]
        options = {"widths": widths, "unit": unit, "rebalance": self.balance, **options}
        return minimise_smoothed(self.at, self.geometry, start, **options)

    def exact(self, result):
        return self.loss.value(self.Y, self.predict(result.point))


def worked_data():
    i = np.arange(12)
    X = np.column_stack([np.cos(i), np.sin(1.3 * i), (i % 3) - 1.0])
    C = np.outer([1, -0.5, 0.25], [2, 1])
    Y = X @ C + 0.1 * np.column_stack([np.sin(7 * i), np.cos(5 * i)]) + [1, -1]
    Y[3, 0] += 40
    Y[8, 1] -= 60
    return X, Y


WORKED = [
    (Absolute(), 101.14740, 101.0623656),
    (Huber(0.2), 20.0063220, 19.9907637),
    (Quantile(0.3), 54.479789, 54.2839950),
    (EpsilonInsensitive(0.05), 100.265936, 100.1872707),
]


@pytest.mark.parametrize(("loss", "rank_one", "full_rank"), WORKED, ids=lambda a: repr(a)[:20])
def test_worked_robust_objectives(loss, rank_one, full_rank):
    for rank, expected in ((1, rank_one), (2, full_rank)):
        problem = Factors(*worked_data(), rank, loss)
        assert_allclose(problem.exact(problem.fit(max_iter=2000)), expected, rtol=1e-6)


def least_quantile(X, y, tau):
    """The linear program: y - X c = up - down, cost tau up + (1 - tau) down."""
    n, p = X.shape
    cost = np.concatenate([np.zeros(p), np.full(n, tau), np.full(n, 1 - tau)])
    A = np.hstack([X, np.eye(n), -np.eye(n)])
    free, positive = [(None, None)] * p, [(0, None)] * (2 * n)
    return linprog(cost, A_eq=A, b_eq=y, bounds=free + positive).fun


@pytest.mark.parametrize("tau", [0.5, 0.2])
@pytest.mark.parametrize("seed", range(3))
def test_reaches_the_linear_program(tau, seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(80, 4)), rng.standard_t(1.5, size=(80, 3))
    problem = Factors(X, Y, 3, Quantile(tau))
    best = sum(least_quantile(np.column_stack([X, np.ones(80)]), y, tau) for y in Y.T)
    found = problem.exact(problem.fit())
    assert best - 1e-9 <= found <= best * (1 + 1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_outliers_that_make_up_nearly_all_of_the_value_do_not_stop_it_early(seed):
    # A rule relative to the value is content while an entry is still 5e-6 to 4e-5 too high: 1e-9 of
    # the outliers' part is more than all there is to gain.
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 6))
    C = rng.normal(size=(6, 2)) @ rng.normal(size=(2, 5))
    Y = X @ C + rng.normal(size=(300, 5))
    spoilt = rng.random(Y.shape) < 0.1
    Y[spoilt] += 1e7 * rng.choice([-1, 1], spoilt.sum())
    problem = Factors(X, Y, 2, Absolute())

    def fit(**options):
        point = problem.fit(**options).point
        A, D, _ = problem.unpack(point)
        return abs(Y - problem.predict(point)), A @ D.T

    residuals, coefficients = fit()
    best, _ = fit(tol=1e-14, max_iter=5000)
    assert (residuals - best).mean() < 1e-6  # entry by entry: the sums have no such digits
    assert np.linalg.norm(coefficients - C) < 0.1 * np.linalg.norm(C)


@pytest.mark.parametrize("unit", [2.0**-300, 2.0**300])
def test_units_of_the_objective_change_nothing_at_all(unit):
    problem = Factors(*worked_data(), 1, Absolute())
    start, widths = problem.start(), [1.0, 0.1, 0.01]

    def in_units(width):
        objective = problem.at(width)
        return lambda point: tuple(unit * a for a in objective(point))

    plain = minimise_smoothed(problem.at, problem.geometry, start, widths=widths, unit=24.0)
    other = minimise_smoothed(in_units, problem.geometry, start, widths=widths, unit=24.0 * unit)
    assert_array_equal(plain.point, other.point)
    assert other.value == unit * plain.value


def test_a_loss_without_kinks_is_one_stage():
    problem = Factors(*worked_data(), 1, Huber(0.2))
    one = problem.fit(widths=[1.0], max_iter=2000)
    assert one.converged
    assert_allclose(problem.exact(one), 20.0063220, rtol=1e-7)
    assert one.certificate < 1e-4


class Stages:
    """sqrt(x^2 + h^2), and a record of what was asked."""

    def __init__(self):
        self.widths = []

    def at(self, width):
        self.widths.append(width)

        def objective(x):
            root = np.sqrt(x**2 + width**2)
            return float(root.sum()), x / root

        return objective


def test_stages_are_run_in_order_and_steps_counted_over_all():
    stages, seen, balanced = Stages(), [], []

    def rebalance(point):
        balanced.append(point)
        return point

    result = minimise_smoothed(
        stages.at,
        Euclidean(2),
        np.array([3.0, -1.0]),
        widths=[1.0, 0.1, 0.01],
        rebalance=rebalance,
        callback=seen.append,
    )
    assert stages.widths == [1.0, 0.1, 0.01]
    assert len(balanced) == 2
    assert [step.n_iter for step in seen] == list(range(1, result.n_iter + 1))
    assert result.converged
    assert_allclose(result.value, 0.02, rtol=1e-6)  # the last stage's function at its minimum


def test_max_iter_is_of_each_stage_and_the_last_one_decides():
    result = minimise_smoothed(
        Stages().at, Euclidean(2), np.array([3.0, -1.0]), widths=[1.0, 0.5], max_iter=1
    )
    assert (result.n_iter, result.converged, result.reason) == (2, False, Reason.MAX_ITER)


def test_a_stage_that_is_cut_short_is_told_though_the_last_one_converges():
    def objective_at(width):
        steep = np.array(
            [1.0, 1e6 if width == 1.0 else 1.0]
        )  # one step is enough for the last alone
        return lambda x: (float(steep @ x**2) / 2, steep * x)

    start = np.array([1.0, 1.0])
    result = minimise_smoothed(objective_at, Euclidean(2), start, widths=[1.0, 0.5], max_iter=2)
    assert (result.converged, result.reason) == (False, Reason.MAX_ITER)
    assert result.certificate < 1e-9  # the last stage is at its minimum
    alone = minimise_smoothed(objective_at, Euclidean(2), start, widths=[0.5], max_iter=2)
    assert alone.converged


def test_callback_and_interrupt_end_all_stages():
    stages = Stages()
    start = np.array([3.0, -1.0])
    result = minimise_smoothed(stages.at, Euclidean(2), start, callback=lambda r: r.n_iter == 2)
    assert (stages.widths, result.n_iter, result.reason) == ([1.0], 2, Reason.CALLBACK)

    def interrupted(result):
        raise KeyboardInterrupt

    stages = Stages()
    result = minimise_smoothed(stages.at, Euclidean(2), start, callback=interrupted)
    assert (stages.widths, result.n_iter, result.reason) == ([1.0], 1, Reason.INTERRUPTED)


def test_same_start_same_result():
    problem = Factors(*worked_data(), 1, Absolute())
    assert_array_equal(problem.fit().point, problem.fit().point)


def test_no_stage_is_refused():
    with pytest.raises(ValueError, match="widths is empty"):
        minimise_smoothed(Stages().at, Euclidean(1), np.ones(1), widths=[])
