"""Descent on a geometry. Oracles: eigenvalues, closed forms, the gradient at what is returned."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh
from scipy.optimize import rosen, rosen_der

from isthmus._geometry import Euclidean, Stiefel
from isthmus._solvers import Reason
from isthmus._solvers.descent import DECREASE_WINDOW, StopRule, descend
from isthmus._solvers.lbfgs import QuasiNewton
from isthmus._solvers.line_search import wolfe
from isthmus._solvers.problem import Problem
from isthmus._solvers.progress import Progress
from isthmus.papers.riemannian_pls import (
    GeneralisedGrassmann,
    GeneralisedStiefel,
    Grassmann,
    Oblique,
    Product,
    conjugate_gradient,
)
from isthmus.papers.stiefel_report import steepest_descent


def lbfgs(
    objective, geometry, start, *, memory=20, max_iter=1000, tol=1e-8, decrease_tol=1e-15,
    verbose=0, callback=None,
):  # fmt: skip
    """Descend by quasi-Newton directions, as the fits do stage by stage, with the options of the others."""
    stop = StopRule(
        max_iter, gradient_share=tol, decrease_share=decrease_tol, window=DECREASE_WINDOW
    )
    problem, progress = Problem(objective, geometry), Progress("L-BFGS", verbose, callback)
    return descend(problem, start, QuasiNewton(memory), wolfe, stop, progress)


SOLVERS = {
    "lbfgs": lbfgs,
    "cg": conjugate_gradient,
    "cg fletcher-reeves": lambda *a, **k: conjugate_gradient(*a, beta="fletcher-reeves", **k),
    "steepest": lambda *a, **k: steepest_descent(*a, **{"decrease_tol": 0.0, **k}),
    "steepest geodesic": lambda *a, **k: steepest_descent(
        *a, **{"decrease_tol": 0.0, "geodesic": True, **k}
    ),
}
every_solver = pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
fast_solver = pytest.mark.parametrize("solver", [lbfgs, conjugate_gradient])


@pytest.fixture(params=range(2))
def rng(request):
    return np.random.default_rng(request.param)


def spread_matrix(rng, n=12):
    """A symmetric matrix with well separated eigenvalues n, n - 1, ..., 1."""
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    return (Q * np.arange(n, 0, -1.0)) @ Q.T


def minus_trace(M):
    return lambda W: (-np.sum(W * (M @ W)), -2 * M @ W)


def check_certificate(result, objective, geometry, tol):
    """The certificate is the gradient's norm at the returned point, found a second time."""
    value, euclidean = objective(result.point)
    gradient = geometry.gradient(result.point, euclidean)
    assert result.value == value
    assert_allclose(result.certificate, geometry.norm(result.point, gradient), rtol=1e-6)
    assert result.certificate <= tol


@every_solver
@pytest.mark.parametrize(
    "geometry", [Stiefel(12, 3), Stiefel(12, 3, metric="embedded"), Grassmann(12, 3)], ids=repr
)
def test_leading_eigenspace(solver, geometry, rng):
    M = spread_matrix(rng)
    result = solver(minus_trace(M), geometry, geometry.random_point(rng), max_iter=2000)
    assert_allclose(result.value, -(12 + 11 + 10), rtol=1e-10)
    assert result.converged
    check_certificate(result, minus_trace(M), geometry, 1e-5)
    assert_allclose(result.point.T @ result.point, np.eye(3), atol=1e-12)
    leading = np.linalg.eigh(M)[1][:, -3:]
    assert_allclose(result.point @ result.point.T, leading @ leading.T, atol=1e-5)


@every_solver
def test_brockett_finds_the_eigenvectors_themselves(solver, rng):
    M, N = spread_matrix(rng, 6), np.array([3.0, 2.0, 1.0])

    def objective(V):
        return -np.sum(V * N * (M @ V)), -2 * (M @ V) * N

    geometry = Stiefel(6, 3)
    result = solver(objective, geometry, geometry.random_point(rng), max_iter=3000)
    assert_allclose(result.value, -(6 * 3 + 5 * 2 + 4 * 1), rtol=1e-9)
    vectors = np.linalg.eigh(M)[1][:, :-4:-1]
    assert_allclose(abs(vectors.T @ result.point), np.eye(3), atol=1e-4)


@fast_solver
@pytest.mark.parametrize("kind", [GeneralisedStiefel, GeneralisedGrassmann])
def test_generalised_eigenproblem(solver, kind, rng):
    X, Y = rng.normal(size=(40, 8)) * np.logspace(0, -1, 8), rng.normal(size=(40, 5))
    K = X.T @ Y

    def objective(W):
        return -np.sum((K.T @ W) ** 2), -2 * K @ (K.T @ W)

    geometry = kind(X.T @ X, 3)
    result = solver(objective, geometry, geometry.random_point(rng))
    assert_allclose(-result.value, eigh(K @ K.T, X.T @ X, eigvals_only=True)[-3:].sum(), rtol=1e-9)
    check_certificate(result, objective, geometry, 1e-4)


@fast_solver
def test_generalised_eigenproblem_with_fewer_samples_than_features(solver, rng):
    X, Y = rng.normal(size=(9, 20)), rng.normal(size=(9, 4))
    K = X.T @ Y
    geometry = GeneralisedGrassmann.from_data(X, 2)

    def objective(W):
        return -np.sum((K.T @ W) ** 2), -2 * K @ (K.T @ W)

    result = solver(objective, geometry, geometry.random_point(rng))
    U = np.linalg.svd(X, full_matrices=False)[0]
    best = np.sum(np.linalg.svd(U.T @ Y, compute_uv=False)[:2] ** 2)
    assert_allclose(-result.value, best, rtol=1e-9)


X_WORKED = np.array([[1, 0], [0, 1], [1, 1], [2, -1], [-1, 2]], dtype=float)
Y_WORKED = np.array([[1, 2, 0], [0, 1, 1], [2, 2, 1], [3, 3, -1], [-2, 1, 3]], dtype=float)
X_WORKED -= X_WORKED.mean(axis=0)
Y_WORKED -= Y_WORKED.mean(axis=0)


class ReducedRank:
    """Squared error plus ridge of W diag(s) V' on the product of three geometries."""

    def __init__(self, X, Y, rank, alpha, metric="canonical"):
        self.X, self.Y, self.alpha = X, Y, alpha
        (_, p), (_, q) = X.shape, Y.shape
        self.geometry = Product(
            Stiefel(p, rank, metric=metric), Euclidean(rank), Stiefel(q, rank, metric=metric)
        )

    def __call__(self, point):
        W, s, V = self.geometry.unpack(point)
        residual = self.Y - self.X @ (W * s) @ V.T
        value = np.sum(residual**2) + self.alpha * np.sum(s**2)
        G = -2 * self.X.T @ residual
        parts = (
            G @ V * s,
            np.einsum("ij,ij->j", W, G @ V) + 2 * self.alpha * s,
            G.T @ W * s,
        )
        return value, self.geometry.pack(parts)

    def best(self):
        """The closed form: ||Y||^2 minus the leading squared singular values."""
        U, d, _ = np.linalg.svd(self.X, full_matrices=False)
        Z = (d / np.sqrt(d**2 + self.alpha))[:, None] * (U.T @ self.Y)
        rank = self.geometry.factors[1].shape[0]
        return np.sum(self.Y**2) - np.sum(np.linalg.svd(Z, compute_uv=False)[:rank] ** 2)


@pytest.mark.parametrize(
    ("rank", "alpha", "expected"),
    [(1, 0.0, 1.8076295852), (1, 1.0, 4.6070295852), (2, 0.0, 0.8), (2, 1.0, 4.3116883117)],
)
def test_worked_reduced_rank_problems(rank, alpha, expected):
    problem = ReducedRank(X_WORKED, Y_WORKED, rank, alpha)
    assert_allclose(problem.best(), expected, rtol=1e-9)
    start = problem.geometry.random_point(np.random.default_rng(0))
    result = lbfgs(problem, problem.geometry, start)
    assert_allclose(result.value, expected, rtol=1e-9)
    assert result.reason is Reason.GRADIENT


def planted_data(rng):
    """Orthonormal inputs and a map of rank 3 with singular values of one size, and some noise."""
    X = np.linalg.qr(rng.normal(size=(60, 8)))[0]
    W, V = (np.linalg.qr(rng.normal(size=(k, 3)))[0] for k in (8, 6))
    return X, X @ (W * [3.0, 2.5, 2.0]) @ V.T + 0.05 * rng.normal(size=(60, 6))


@every_solver
@pytest.mark.parametrize("metric", ["canonical", "embedded"])
def test_reduced_rank_regression_reaches_the_closed_form(solver, metric, rng):
    problem = ReducedRank(*planted_data(rng), 3, 0.5, metric)
    start = problem.geometry.random_point(rng)
    result = solver(problem, problem.geometry, start, decrease_tol=1e-13)
    assert_allclose(result.value, problem.best(), rtol=1e-8)
    W, _, V = problem.geometry.unpack(result.point)
    assert_allclose(W.T @ W, np.eye(3), atol=1e-12)
    assert_allclose(V.T @ V, np.eye(3), atol=1e-12)


@fast_solver
def test_worked_partial_least_squares_on_manifolds(solver):
    K = X_WORKED.T @ Y_WORKED
    grassmann = GeneralisedGrassmann.from_data(X_WORKED, 1)

    def squares(W):
        return -np.sum((K.T @ W) ** 2), -2 * K @ (K.T @ W)

    result = solver(squares, grassmann, grassmann.random_point(np.random.default_rng(0)))
    assert_allclose(-result.value, 24.5923704148, rtol=1e-9)
    assert_allclose(abs(result.point.ravel()), [0.4368120772, 0.0018593785], atol=1e-6)

    product = Product(GeneralisedStiefel.from_data(X_WORKED, 2), Oblique(3, 2))

    def trace(point):
        W, U = product.unpack(point)
        return -np.sum(W * (K @ U)), -product.pack([K @ U, K.T @ W])

    result = solver(trace, product, product.random_point(np.random.default_rng(0)))
    assert_allclose(-result.value, 7.155417528, rtol=1e-9)


def test_steepest_descent_with_defaults_stops_early_as_the_paper_would(rng):
    problem = ReducedRank(*planted_data(rng), 3, 0.0)
    start = problem.geometry.random_point(rng)
    early = steepest_descent(problem, problem.geometry, start, geodesic=True)
    assert early.reason is Reason.DECREASE
    options = {"decrease_tol": 0.0, "max_iter": early.n_iter + 1}
    late = steepest_descent(problem, problem.geometry, start, geodesic=True, **options)
    assert late.reason is Reason.MAX_ITER and late.value < early.value
    assert_allclose(early.value, problem.best(), rtol=1e-4)


@every_solver
def test_values_never_rise_and_steps_are_counted(solver, rng):
    M, geometry, seen = spread_matrix(rng), Stiefel(12, 3), []
    start = geometry.random_point(rng)
    result = solver(minus_trace(M), geometry, start, callback=seen.append, max_iter=2000)
    values = [minus_trace(M)(start)[0], *(step.value for step in seen)]
    assert np.all(np.diff(values) <= 1e-13 * abs(result.value))
    assert [step.n_iter for step in seen] == list(range(1, result.n_iter + 1))
    assert all(step.reason is Reason.RUNNING and not step.converged for step in seen)
    assert_array_equal(seen[-1].point, result.point)


@every_solver
def test_max_iter_is_respected_and_said(solver, rng):
    M, geometry = spread_matrix(rng), Stiefel(12, 3)
    start = geometry.random_point(rng)
    result = solver(minus_trace(M), geometry, start, max_iter=3)
    assert (result.n_iter, result.converged, result.reason) == (3, False, Reason.MAX_ITER)
    none = solver(minus_trace(M), geometry, start, max_iter=0)
    assert none.n_iter == 0 and not none.converged
    assert_array_equal(none.point, start)


@every_solver
def test_same_start_same_result_to_the_last_bit_and_start_is_left_alone(solver, rng):
    M, geometry = spread_matrix(rng), Stiefel(12, 3)
    start = geometry.random_point(rng)
    kept = start.copy()
    first, second = (solver(minus_trace(M), geometry, start) for _ in range(2))
    assert_array_equal(first.point, second.point)
    assert first.n_iter == second.n_iter
    assert_array_equal(start, kept)


@every_solver
def test_stationary_start_ends_at_once(solver):
    M, geometry = np.diag(np.arange(6, 0, -1.0)), Stiefel(6, 2)
    result = solver(minus_trace(M), geometry, np.eye(6)[:, :2])
    assert (result.n_iter, result.converged, result.reason) == (0, True, Reason.GRADIENT)


@every_solver
def test_start_at_what_was_found_ends_soon(solver, rng):
    M, geometry = spread_matrix(rng), Stiefel(12, 3)
    found = solver(minus_trace(M), geometry, geometry.random_point(rng), max_iter=5000)
    again = solver(minus_trace(M), geometry, found.point)
    assert again.converged
    assert again.n_iter <= 25
    assert again.value <= found.value + 1e-12


@every_solver
def test_callback_can_stop(solver, rng):
    M, geometry = spread_matrix(rng), Stiefel(12, 3)
    start = geometry.random_point(rng)
    result = solver(minus_trace(M), geometry, start, callback=lambda step: step.n_iter == 4)
    assert (result.n_iter, result.converged, result.reason) == (4, False, Reason.CALLBACK)


@every_solver
def test_interrupt_returns_the_last_complete_step(solver, rng):
    M, geometry, seen = spread_matrix(rng), Stiefel(12, 3), []

    def objective(V):
        if len(seen) == 5:
            raise KeyboardInterrupt
        return minus_trace(M)(V)

    result = solver(objective, geometry, geometry.random_point(rng), callback=seen.append)
    assert result.reason is Reason.INTERRUPTED
    assert not result.converged
    assert result.n_iter == 5
    assert_array_equal(result.point, seen[-1].point)


@every_solver
def test_start_that_is_not_finite_is_refused(solver):
    with pytest.raises(ValueError, match="not finite at the start"):
        solver(lambda x: (np.nan, x), Euclidean(2), np.zeros(2))


@every_solver
def test_walls_of_infinity_are_not_crossed(solver):
    def barrier(x):  # - log x - log (1 - x) has its minimum at 1/2 and no value outside
        if np.any(x <= 0) or np.any(x >= 1):
            return np.inf, np.full_like(x, np.nan)
        return float(-np.sum(np.log(x) + np.log1p(-x))), 1 / (1 - x) - 1 / x

    result = solver(barrier, Euclidean(3), np.array([0.01, 0.3, 0.999]))
    assert result.converged
    assert_allclose(result.point, 0.5, atol=1e-4)


@every_solver
def test_wrong_sign_of_the_gradient_is_noticed(solver):
    result = solver(lambda x: (float(x @ x), -2 * x), Euclidean(3), np.ones(3))
    assert result.reason is Reason.LINE_SEARCH
    assert not result.converged
    assert_array_equal(result.point, np.ones(3))


@every_solver
@pytest.mark.parametrize("unit", [1e-100, 1e-8, 1e8, 1e100])
def test_units_of_the_objective_do_not_matter(solver, unit, rng):
    M, geometry = spread_matrix(rng, 6), Stiefel(6, 2)
    start = geometry.random_point(rng)
    result = solver(minus_trace(unit * M), geometry, start, max_iter=2000)
    assert_allclose(result.value / unit, -11, rtol=1e-8)


@fast_solver
def test_rosenbrock(solver):
    result = solver(lambda x: (rosen(x), rosen_der(x)), Euclidean(6), np.full(6, -1.0))
    assert result.converged
    assert min(abs(result.value), abs(result.value - 3.97394)) < 1e-4  # its two minima


@fast_solver
def test_gradient_vanishes_although_the_value_is_mostly_a_constant(solver, rng):
    # The last steps decrease the value by less than its rounding: slopes have to decide.
    d = np.arange(1.0, 11.0)
    result = solver(
        lambda x: (1e6 + float(d @ x**2), 2 * d * x), Euclidean(10), rng.normal(size=10)
    )
    assert result.converged
    assert result.certificate < 5e-6  # by values alone it would be about 4e-5


def test_lbfgs_is_worth_having(rng):
    # Condition 1e4: gradients crawl, conjugate gradients walk, curvature runs.
    d = np.logspace(0, 4, 60)

    def objective(x):
        return float(d @ x**2), 2 * d * x

    start = rng.normal(size=60)
    counts = {
        solver.__name__: solver(objective, Euclidean(60), start, tol=1e-6, max_iter=5000).n_iter
        for solver in (lbfgs, conjugate_gradient)
    }
    slow = steepest_descent(
        objective, Euclidean(60), start, tol=1e-6, decrease_tol=0.0, max_iter=5000
    )
    assert max(counts.values()) < 1000
    assert slow.n_iter > 3 * counts["lbfgs"]


def test_memory_of_one_pair_is_enough_to_converge(rng):
    M, geometry = spread_matrix(rng), Grassmann(12, 3)
    result = lbfgs(minus_trace(M), geometry, geometry.random_point(rng), memory=1)
    assert_allclose(result.value, -33, rtol=1e-10)


def test_geodesic_steps_are_taken_along_geodesics(rng):
    class Watched(Stiefel):
        calls: list = []

        def exp(self, point, tangent):
            self.calls.append("exp")
            return super().exp(point, tangent)

        def retract(self, point, tangent):
            self.calls.append("retract")
            return super().retract(point, tangent)

    geometry = Watched(12, 3)
    start = geometry.random_point(rng)
    for solver in (steepest_descent, conjugate_gradient):
        for geodesic, name in ((True, "exp"), (False, "retract")):
            geometry.calls.clear()
            solver(minus_trace(np.diag(np.arange(12.0))), geometry, start, geodesic=geodesic)
            assert set(geometry.calls[1:]) == {name}  # the first asks whether the start is on it


def test_progress_is_shown_when_asked(rng, capsys):
    M, geometry = spread_matrix(rng), Grassmann(12, 3)
    start = geometry.random_point(rng)
    lbfgs(minus_trace(M), geometry, start)
    assert capsys.readouterr().out == ""
    result = lbfgs(minus_trace(M), geometry, start, verbose=2)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == result.n_iter + 1
    assert lines[-1].endswith(result.reason)
    lbfgs(minus_trace(M), geometry, start, verbose=1)
    assert len(capsys.readouterr().out.splitlines()) == result.n_iter // 10 + 1


def test_unknown_beta_is_refused():
    with pytest.raises(ValueError, match=r"beta == 'x', must be one of \['fletcher-reeves'"):
        conjugate_gradient(rosen, Euclidean(2), np.zeros(2), beta="x")


@pytest.mark.parametrize("solver", [steepest_descent, conjugate_gradient, lbfgs])
@pytest.mark.parametrize(
    "geometry",
    [
        Stiefel(5, 2),
        Grassmann(5, 2),
        Oblique(5, 2),
        GeneralisedStiefel(np.diag(np.arange(1.0, 6.0)), 2),
        Product(Stiefel(5, 2), Euclidean(3)),
    ],
    ids=repr,
)
def test_starts_off_the_geometry_are_refused(solver, geometry):
    rng = np.random.default_rng(0)
    start, target = geometry.random_point(rng), rng.normal(size=geometry.shape)

    def objective(point):
        return float((point * target).sum()), target

    assert solver(objective, geometry, start, max_iter=3).n_iter <= 3
    for bad, match in ((2 * start, "start is off"), (start[:-1], "shape"), (np.nan * start, "NaN")):
        with pytest.raises(ValueError, match=match):
            solver(objective, geometry, bad)
