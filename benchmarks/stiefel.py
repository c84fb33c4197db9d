"""How fast is Stiefel regression? Ratios against pymanopt and against floors, all within one run.

robust   absolute and Huber loss against pymanopt's optimisers on the same criterion
squared  the closed form against the same optimisers from a random point
floor    the closed form against the matrix products and the decomposition it cannot do without
pls      ManifoldPLS in closed form against the paper's conjugate gradients and faster ones
online   partial_fit on blocks against the moments of a block and one decomposition
kinks    one output, default calls, against statsmodels' quantile regression at equal objective
lbfgs    several outputs and losses with kinks against plain L-BFGS on the factors, at equal objective

A ratio is our time over the peer's, and its bound is what the library promises. Our time is that of
a whole fit at its default tolerance. The peer's ends when it first comes within 1e-6 of our
objective, which it is told; where it never does, it is the time that it was given, and the excess it
was left with is in the last column. "max difference" is how far the lowest objective that the peer
saw is above ours, as a share of it: where ours is the higher one by more than 1e-6, the row fails
whatever the times.

pymanopt has two formulations. "W, s, V, b" is the criterion as it is written, Stiefel manifolds for W
and V, in the user's coordinates: the better of conjugate gradients and trust regions counts.
"fixed rank" is its manifold of matrices of rank r with conjugate gradients (trust regions do not
work there), in coordinates in which the inputs are white. Both have analytic derivatives, one
evaluation for value and gradient, our start (winsorised closed form) and our rounding of the absolute
loss, stage by stage. Start and coordinates are part of their time, as they are of ours. For the squared
loss our start would be the answer: there both begin at a random point, in the user's coordinates.

The inputs have condition number 30. With white inputs (--condition 1) gradients point at the answer
and pymanopt does better in the user's coordinates.

    python benchmarks/stiefel.py --only robust,online --repeats 3 --limit 60
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pymanopt
import scipy
from _common import (
    Row,
    ask,
    best_times,
    contest,
    contest_parser,
    describe,
    largest_difference,
    low_rank_data,
    seconds,
)
from _pymanopt import (
    FORMULATIONS,
    SAME,
    WIDTHS,
    Enough,
    Task,
    Watch,
    closed_form_start,
    race,
    random_start,
)
from linear import EIGENSOLVERS, RANK_SHAPES, floor_of
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from isthmus import ManifoldPLS, ReducedRankRegression, StiefelRegression
from isthmus._linalg.eigen import descending_eigh
from isthmus.losses import Absolute, EpsilonInsensitive, Huber, Loss, Quantile, Squared
from isthmus.losses.scale import robust_scale
from isthmus.papers.riemannian_pls import RiemannianPLS
from isthmus.regression.scales import winsorise

SHAPES = [(2000, 50, 20, 5), (5000, 200, 100, 10), (500, 1000, 50, 10)]
PLS_SHAPES = [(2000, 50, 20, 5), (1000, 200, 30, 8), (300, 1000, 20, 5), (100, 2000, 10, 5)]
ONLINE_SHAPE = (200, 20, 10)
BLOCK_ROWS, N_BLOCKS = 100, 20
LOSSES: dict[str, Loss] = {"absolute": Absolute(), "Huber": Huber(1.345)}
OUTLIERS, OUTLIER_SIZE = 0.05, 10.0
ALPHA = 1.0

ROBUST_BOUND, CLOSED_FORM_BOUND, FLOOR_BOUND = 1 / 5, 1 / 50, 1.5
TOLERANCES = (1e-6, 1e-7, 1e-8)


@dataclass
class Settings:
    """What the command line asks for."""

    repeats: int
    threads: list[int]
    limit: float
    condition: float


@dataclass
class ObjectiveRow(Row):
    """A line whose ``difference`` is the peer's objective less ours, as a share of ours."""

    @property
    def within(self) -> bool:
        return self.ratio <= self.bound and self.difference >= -SAME


def stiefel_data(
    shape: tuple[int, ...], condition: float, outliers: float = 0.0
) -> tuple[NDArray, NDArray]:
    """Rows with a signal of rank r as large as the noise; some cells are off by a lot."""
    n, p, q, r = shape
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.standard_normal((p, p)))[0]
    X = (rng.standard_normal((n, p)) * np.geomspace(1.0, 1.0 / condition, p)) @ axes.T
    signal = X @ rng.standard_normal((p, r)) @ rng.standard_normal((r, q))
    Y = signal / signal.std() + rng.standard_normal((n, q))
    hit = rng.random((n, q)) < outliers
    Y[hit] += OUTLIER_SIZE * rng.standard_normal(hit.sum())
    return X + 2.0, Y - 3.0


# -- losses with and without a closed form ----------------------------------------------------


def against_pymanopt(
    name: str, task: Task, threads: int, settings: Settings, note: str = ""
) -> Iterator[Row]:
    """One line a formulation."""
    for formulation, peers in FORMULATIONS.items():
        attempts = race(peers, task, settings.repeats, settings.limit)
        yield ObjectiveRow(
            f"{name} vs {formulation}",
            describe(*task.shape),
            threads,
            1e3 * task.seconds,
            1e3 * attempts[0].seconds,
            task.bound,
            difference=min(attempt.excess for attempt in attempts),
            peer=f"pymanopt {pymanopt.__version__}: " + ", ".join(map(str, attempts)),
            note=note,
        )


def robust(settings: Settings) -> Iterator[Row]:
    """The absolute and the Huber loss, with gross outliers."""
    for shape in SHAPES:
        data = stiefel_data(shape, settings.condition, OUTLIERS)
        for name, loss in LOSSES.items():
            for threads in settings.threads:
                with threadpool_limits(threads):
                    task = Task(shape, *data, loss, ALPHA, closed_form_start, ROBUST_BOUND)
                    note = fit_robustly(task, settings.repeats)
                    yield from against_pymanopt(name, task, threads, settings, note)


def fit_robustly(task: Task, repeats: int) -> str:
    """Enter our seconds and objective; return what a looser tolerance would have cost."""
    model = StiefelRegression(task.rank, loss=task.loss, alpha=task.alpha)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        task.seconds = best_times({"": lambda: model.fit(task.X, task.Y)}, repeats)[""]
    task.objective = model.objective_
    return ("ours stopped at max_iter, " if caught else "") + loosest(model, task)


def loosest(model: StiefelRegression, task: Task) -> str:
    """Our time at the loosest tolerance that is good for the same objective."""
    for tol in TOLERANCES:
        loose = clone(model).set_params(tol=tol)
        took = seconds(lambda loose=loose: loose.fit(task.X, task.Y))
        if loose.objective_ <= task.objective * (1 + SAME):
            return f"ours with tol={tol:g} {took:.2f} s"
    return f"no tol of {TOLERANCES} is good for it"


def squared(settings: Settings) -> Iterator[Row]:
    """The squared loss from a point that is not the answer."""
    for shape in SHAPES:
        X, Y = stiefel_data(shape, settings.condition)
        model = StiefelRegression(shape[-1], alpha=ALPHA)
        for threads in settings.threads:
            with threadpool_limits(threads):
                task = Task(shape, X, Y, Squared(), ALPHA, random_start, CLOSED_FORM_BOUND)
                jobs = {"": lambda model=model, X=X, Y=Y: model.fit(X, Y)}
                task.seconds = best_times(jobs, settings.repeats + 2)[""]
                task.objective = model.objective_
                yield from against_pymanopt("squared", task, threads, settings)


def floor(settings: Settings) -> Iterator[Row]:
    """One closed form beside what it cannot do without, on the shapes of the linear benchmark."""
    for *sizes, rank in SHAPES + [(*shape, 10) for shape in RANK_SHAPES]:
        X, Y = low_rank_data(*sizes, rank=rank)
        for threads in settings.threads:
            with threadpool_limits(threads):
                yield fit_against_floor(X, Y, rank, threads, settings.repeats)


def fit_against_floor(X: NDArray, Y: NDArray, rank: int, threads: int, repeats: int) -> Row:
    model, twin = StiefelRegression(rank, alpha=ALPHA), ReducedRankRegression(rank, alpha=ALPHA)
    jobs = {key: lambda eigh=eigh: floor_of(X, Y, eigh) for key, eigh in EIGENSOLVERS.items()}
    ours, theirs, winner = contest(lambda: model.fit(X, Y), jobs, repeats + 2)
    return Row(
        "squared vs floor",
        describe(*X.shape, Y.shape[1], rank),
        threads,
        1e3 * ours,
        1e3 * theirs,
        FLOOR_BOUND,
        difference=largest_difference(model.coef_, twin.fit(X, Y).coef_),
        peer=f"products and {winner}",
        note=f"by {model.solver_}",
    )


# -- partial least squares on manifolds -------------------------------------------------------


def pls(settings: Settings) -> Iterator[Row]:
    """The closed forms of both models against two versions of the paper's iteration."""
    for shape in PLS_SHAPES:
        data = stiefel_data(shape, settings.condition)
        for manifold in ("grassmann", "product"):
            for threads in settings.threads:
                with threadpool_limits(threads):
                    yield from exact_against_cg(shape, manifold, data, threads, settings.repeats)


def exact_against_cg(
    shape: tuple[int, ...], manifold: str, data: tuple[NDArray, NDArray], threads: int,
    repeats: int,
) -> Iterator[Row]:  # fmt: skip
    exact = ManifoldPLS(shape[-1], manifold=manifold)
    names = {"paper": "the paper's CG", "white": "CG in white coordinates"}
    # What is asked is a bound against the paper's iteration; the other is there to be seen.
    bounds = {"paper": CLOSED_FORM_BOUND, "white": 1.0}
    for coordinates, name in names.items():
        cg = RiemannianPLS(shape[-1], manifold=manifold, coordinates=coordinates, random_state=0)
        ours, theirs, _ = contest(
            lambda: exact.fit(*data), {name: lambda cg=cg: cg.fit(*data)}, repeats
        )
        yield ObjectiveRow(  # both maximise: what the peer lacks is its excess
            f"ManifoldPLS {manifold}",
            describe(*shape),
            threads,
            1e3 * ours,
            1e3 * theirs,
            bounds[coordinates],
            difference=1.0 - cg.objective_ / exact.objective_,
            peer=name,
            note=f"{cg.n_iter_} steps",
        )


# -- online -----------------------------------------------------------------------------------


def online(settings: Settings) -> Iterator[Row]:
    """Blocks of rows: our update beside the moments of a block and one decomposition."""
    p, q, r = ONLINE_SHAPE
    X, Y = stiefel_data((BLOCK_ROWS * N_BLOCKS, p, q, r), settings.condition)
    blocks = [(X[i : i + BLOCK_ROWS], Y[i : i + BLOCK_ROWS]) for i in range(0, len(X), BLOCK_ROWS)]
    modes = {
        "exact": ({"online": "exact"}, FLOOR_BOUND),
        "exact, forget=0.99": ({"online": "exact", "forget": 0.99}, FLOOR_BOUND),
        "proximal": ({"online": "proximal"}, float("inf")),
    }
    for name, (options, bound) in modes.items():
        for threads in settings.threads:
            with threadpool_limits(threads):
                model = StiefelRegression(r, alpha=ALPHA, **options)
                yield stream_against_floor(name, model, blocks, bound, threads, settings.repeats)


def stream_against_floor(
    name: str, model: StiefelRegression, blocks: list[tuple[NDArray, NDArray]], bound: float,
    threads: int, repeats: int,
) -> Row:  # fmt: skip
    fitted: list[StiefelRegression] = []

    def stream() -> None:
        fitted.append(clone(model))
        for block in blocks:
            fitted[-1].partial_fit(*block)

    jobs = {key: lambda eigh=eigh: stream_floor(blocks, eigh) for key, eigh in EIGENSOLVERS.items()}
    ours, theirs, winner = contest(stream, jobs, repeats + 2)
    X, Y = map(np.concatenate, zip(*blocks))
    batch = StiefelRegression(model.n_components, alpha=ALPHA).fit(X, Y)
    is_batch = model.online == "exact" and model.forget == 1
    return Row(
        f"online {name}, a block",
        describe(BLOCK_ROWS, X.shape[1], Y.shape[1], model.n_components),
        threads,
        1e3 * ours / len(blocks),
        1e3 * theirs / len(blocks),
        bound,
        difference=largest_difference(fitted[-1].coef_, batch.coef_) if is_batch else float("nan"),
        peer=f"moments and {winner}",
        note=f"{len(X) / ours:.0f} rows/s",
    )


def stream_floor(blocks: list[tuple[NDArray, NDArray]], eigh: Callable[[NDArray], object]) -> None:
    """The moments of each block, not even centred, and a decomposition of what has come so far."""
    p, q, _ = ONLINE_SHAPE
    xx, xy = np.zeros((p, p)), np.zeros((p, q))
    for X, Y in blocks:
        xx += X.T @ X
        xy += X.T @ Y
        eigh(xx)


# -- losses with kinks, one output ------------------------------------------------------------

KINK_SHAPES = [(100, 5), (1000, 10), (1000, 50)]


def kinks(settings: Settings) -> Iterator[Row]:
    """Default calls of the median and a quantile against the same in statsmodels."""
    for n, p in KINK_SHAPES:
        X, Y = stiefel_data((n, p, 1, 1), settings.condition, OUTLIERS)
        y, Z = Y[:, 0], np.column_stack([X, np.ones(n)])
        for tau in (0.5, 0.1):
            for threads in settings.threads:
                with threadpool_limits(threads):
                    yield median_against_statsmodels(X, y, Z, tau, threads, settings.repeats)


def median_against_statsmodels(
    X: NDArray, y: NDArray, Z: NDArray, tau: float, threads: int, repeats: int
) -> Row:
    import statsmodels.api

    model, loss = StiefelRegression(loss=Quantile(tau)), Quantile(tau)
    peer = statsmodels.api.QuantReg(y, Z)
    ours, theirs, _ = contest(
        lambda: model.fit(X, y), {"QuantReg": lambda: peer.fit(q=tau)}, repeats
    )
    values = loss.value(y, model.predict(X)), loss.value(y, Z @ peer.fit(q=tau).params)
    return ObjectiveRow(
        f"quantile {tau}",
        describe(*X.shape, 1),
        threads,
        1e3 * ours,
        1e3 * theirs,
        1.0,
        difference=values[1] / values[0] - 1.0,
        peer=f"statsmodels {statsmodels.__version__} QuantReg",
    )


# -- losses with kinks, several outputs -------------------------------------------------------

# At most 10^4 entries; the rank binds in all but the first.
FACTOR_SHAPES = [(300, 8, 3, 3), (200, 10, 4, 2), (1000, 20, 5, 3), (60, 30, 5, 2)]
KINKED: dict[str, Loss] = {
    "absolute": Absolute(),
    "quantile": Quantile(0.3),
    "epsilon-insensitive": EpsilonInsensitive(0.5),
}
LBFGS_BOUND = 1.5
LBFGS_SAME = 1e-5  # rounded kinks end about 3e-6 above the optimum


def lbfgs(settings: Settings) -> Iterator[Row]:
    """Kinked losses without a ridge against L-BFGS on rounded kinks, stage by stage."""
    for shape in FACTOR_SHAPES:
        X, Y = stiefel_data(shape, settings.condition, OUTLIERS)
        for name, loss in KINKED.items():
            for threads in settings.threads:
                with threadpool_limits(threads):
                    yield kinks_against_lbfgs(name, loss, X, Y, shape[-1], threads, settings)


def kinks_against_lbfgs(
    name: str, loss: Loss, X: NDArray, Y: NDArray, rank: int, threads: int, settings: Settings
) -> Row:
    model = StiefelRegression(rank, loss=loss, alpha=0.0)
    model.fit(X, Y)
    unit = model.output_scale_
    target = loss_of(model, X, Y)
    ours, theirs, found = np.inf, np.inf, np.inf
    for _ in range(settings.repeats):
        ours = min(ours, seconds(lambda: model.fit(X, Y)))
        took, value = plain_lbfgs(X, Y / unit, rank, model.loss_, target)
        theirs, found = min(theirs, took), min(found, value)
    return ObjectiveRow(
        name,
        describe(*X.shape, Y.shape[1], rank),
        threads,
        1e3 * ours,
        1e3 * theirs,
        LBFGS_BOUND,
        difference=found / target - 1.0,
        peer=f"scipy {scipy.__version__} L-BFGS-B on factors",
    )


def loss_of(model: StiefelRegression, X: NDArray, Y: NDArray) -> float:
    unit = model.output_scale_
    return float(model.loss_.value(Y / unit, model.predict(X) / unit))


def plain_lbfgs(
    X: NDArray, Y: NDArray, rank: int, loss: Loss, target: float
) -> tuple[float, float]:
    """Seconds until within 1e-5 of the target, or to the end, and the lowest value of the loss."""
    watch = Watch(target * (1 + LBFGS_SAME), np.inf)
    model = ReducedRankRegression(rank, alpha=0.0).fit(X, winsorise(Y, loss, None))
    mean = X.mean(axis=0)
    spread, basis = descending_eigh((X - mean).T @ (X - mean))
    Z = (X - mean) @ (basis / np.sqrt(spread))  # as kind to the peer as we are to ourselves
    coef = (np.sqrt(spread)[:, None] * basis.T) @ model.coef_.T
    U, s, Vt = np.linalg.svd(coef, full_matrices=False)
    ends = np.cumsum([len(U) * rank, Y.shape[1] * rank])
    x = np.concatenate([(U * s)[:, :rank].ravel(), Vt[:rank].T.ravel(), Y.mean(axis=0)])

    def split(x: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        A, D, b = np.split(x, ends)
        return A.reshape(-1, rank), D.reshape(-1, rank), b

    def objective(x: NDArray, rounded: Loss) -> tuple[float, NDArray]:
        A, D, b = split(x)
        fitted = (Z @ A) @ D.T + b
        value, slope = rounded.value_and_gradient(Y, fitted, out=np.empty_like(Y))
        with watch.pause():
            watch.see(float(loss.value(Y, fitted)))
        by_A, by_D = Z.T @ (slope @ D), slope.T @ (Z @ A)
        return value, np.concatenate([by_A.ravel(), by_D.ravel(), slope.sum(axis=0)])

    scale = robust_scale(Y - model.predict(X))
    try:
        for width in WIDTHS:
            rounded = loss.smooth(width * scale)
            x = minimize(objective, x, (rounded,), "L-BFGS-B", True, options={"maxiter": 300}).x
    except Enough:
        pass
    return watch.reached or watch.spent, watch.lowest


# -- the command ------------------------------------------------------------------------------

QUESTIONS = {
    question.__name__: question for question in (robust, squared, floor, pls, online, kinks, lbfgs)
}


def arguments() -> argparse.Namespace:
    parser = contest_parser(__doc__, QUESTIONS, repeats=3, threads=[1])
    add = parser.add_argument
    add("--limit", type=float, default=60.0, help="most seconds of one attempt of pymanopt")
    add("--condition", type=float, default=30.0, help="condition number of the inputs")
    return parser.parse_args()


def main() -> None:
    asked = arguments()
    settings = Settings(asked.repeats, asked.threads, asked.limit, asked.condition)
    warnings.simplefilter("ignore")  # the table says what does not converge
    ask({name: QUESTIONS[name] for name in asked.only}, settings, not asked.no_record)


if __name__ == "__main__":
    main()
