"""How fast is Stiefel regression? Ratios against pymanopt and against a floor, all within one run.

robust   absolute and Huber loss against pymanopt's optimisers on the same criterion
squared  the closed form against the same optimisers from a random point
floor    the closed form against the matrix products and the decomposition it cannot do without

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

    python benchmarks/stiefel.py --only robust --repeats 3 --limit 60
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pymanopt
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
    Task,
    closed_form_start,
    race,
    random_start,
)
from linear_fit import EIGENSOLVERS, RANK_SHAPES, floor_of
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from isthmus import ReducedRankRegression, StiefelRegression
from isthmus.losses import Absolute, Huber, Loss, Squared

SHAPES = [(2000, 50, 20, 5), (5000, 200, 100, 10), (500, 1000, 50, 10)]
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


# -- the command ------------------------------------------------------------------------------


def answer(doc: str | None, questions: Iterable[Callable[[Settings], Iterator[Row]]]) -> None:
    """Ask what the command line names; the scripts on Stiefel regression share its options."""
    named = {question.__name__: question for question in questions}
    parser = contest_parser(doc, named, repeats=3, threads=[1])
    add = parser.add_argument
    add("--limit", type=float, default=60.0, help="most seconds of one attempt of a peer")
    add("--condition", type=float, default=30.0, help="condition number of the inputs")
    asked = parser.parse_args()
    settings = Settings(asked.repeats, asked.threads, asked.limit, asked.condition)
    warnings.simplefilter("ignore")  # the table says what does not converge
    ask({name: named[name] for name in asked.only}, settings, not asked.no_record)


if __name__ == "__main__":
    answer(__doc__, (robust, squared, floor))
