"""How fast is one linear fit? Ratios against named peers and floors, all within one run.

fit    PLS against ikpls (the faster of its two NumPy algorithms) and against scikit-learn
floor  one fit against the matrix products and the eigendecomposition it cannot do without

A ratio is our time over the peer's, each the best of several turns taken alternately; its bound
is what the library promises. "max difference" is between our numbers and the peer's: the predictions.
scikit-learn runs at its default tolerance, where its iteration is still some way from what both
converge to; a tighter one would only make it slower.

    python benchmarks/linear_fit.py --only fit --repeats 5
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from _common import (
    Row,
    ask,
    contest,
    contest_parser,
    describe,
    largest_difference,
    low_rank_data,
)
from ikpls.numpy import PLS as ImprovedKernelPLS
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.cross_decomposition import PLSRegression
from threadpoolctl import threadpool_limits

from isthmus import PCR, PLS, ReducedRankRegression

PLS_SHAPES = [(10000, 500, 10, 30), (2000, 1000, 50, 30), (500, 4000, 15, 20), (200, 20000, 5, 20)]
RANK_SHAPES = [(10000, 500, 50), (2000, 1000, 50), (500, 4000, 50), (10000, 500, 10)]
N_FOLDS, N_RANKS = 10, 30
MODELS = {"PLS": PLS(20), "PCR": PCR(20), "reduced rank": ReducedRankRegression()}
MOST_FEATURES_SQUARED = 4000  # ikpls's second algorithm holds X'X: too large beyond this


@dataclass
class Settings:
    """What the command line asks for."""

    repeats: int
    threads: list[int]


def row_of(
    question: str, shape: str, threads: int, times: tuple[float, float], bound: float, **extra
) -> Row:
    """A line of the table from the seconds of ours and of the peer."""
    return Row(question, shape, threads, 1e3 * times[0], 1e3 * times[1], bound, **extra)


def ikpls_algorithms(p: int) -> tuple[int, ...]:
    return (1, 2) if p <= MOST_FEATURES_SQUARED else (1,)


def fit(settings: Settings) -> Iterator[Row]:
    """One PLS fit."""
    for n, p, q, k in PLS_SHAPES:
        X, Y = low_rank_data(n, p, q)
        for threads in settings.threads:
            with threadpool_limits(threads):
                yield fit_against_ikpls(X, Y, k, threads, settings.repeats)
                if p <= MOST_FEATURES_SQUARED:
                    yield fit_against_sklearn(X, Y, k, threads, settings.repeats)


def fit_against_ikpls(X: NDArray, Y: NDArray, k: int, threads: int, repeats: int) -> Row:
    peers = {
        algorithm: ImprovedKernelPLS(algorithm=algorithm, ddof=1)
        for algorithm in ikpls_algorithms(X.shape[1])
    }
    jobs = {
        f"ikpls {algorithm}": lambda model=model: model.fit(X, Y, k)
        for algorithm, model in peers.items()
    }
    model = PLS(k)
    ours, theirs, winner = contest(lambda: model.fit(X, Y), jobs, repeats)
    predicted = peers[int(winner[-1])].predict(X, n_components=k)
    return row_of(
        "PLS fit vs ikpls",
        describe(*X.shape, Y.shape[1], k),
        threads,
        (ours, theirs),
        1.1,
        difference=largest_difference(model.predict(X), predicted),
        peer=winner,
    )


def fit_against_sklearn(X: NDArray, Y: NDArray, k: int, threads: int, repeats: int) -> Row:
    model, peer = PLS(k), PLSRegression(k)
    jobs = {"PLSRegression": lambda: peer.fit(X, Y)}
    ours, theirs, winner = contest(lambda: model.fit(X, Y), jobs, repeats)
    return row_of(
        "PLS fit vs scikit-learn",
        describe(*X.shape, Y.shape[1], k),
        threads,
        (ours, theirs),
        0.05,
        difference=largest_difference(model.predict(X), peer.predict(X)),
        peer=winner,
    )


EIGENSOLVERS = {
    "numpy eigh": np.linalg.eigh,
    "scipy eigh": lambda A: scipy.linalg.eigh(A, check_finite=False),
    "scipy eigh, evd": lambda A: scipy.linalg.eigh(A, check_finite=False, driver="evd"),
}


def floor(settings: Settings) -> Iterator[Row]:
    """One fit beside what it cannot do without."""
    for n, p, q in RANK_SHAPES:
        X, Y = low_rank_data(n, p, q)
        for threads in settings.threads:
            with threadpool_limits(threads):
                for name, reference in REFERENCES.items():
                    yield fit_against_floor(name, reference, X, Y, threads, settings.repeats)


def fit_against_floor(
    name: str,
    reference: Callable[[NDArray, NDArray], NDArray],
    X: NDArray,
    Y: NDArray,
    threads: int,
    repeats: int,
) -> Row:
    jobs = {key: lambda eigh=eigh: floor_of(X, Y, eigh) for key, eigh in EIGENSOLVERS.items()}
    model = clone(MODELS[name]).set_params(n_components=N_RANKS)
    ours, theirs, winner = contest(lambda: model.fit(X, Y), jobs, repeats)
    return row_of(
        f"{name} fit vs floor",
        describe(*X.shape, Y.shape[1]),
        threads,
        (ours, theirs),
        1.5,
        difference=largest_difference(model.predict(X), reference(X, Y)),
        peer=f"products and {winner}",
    )


def floor_of(X: NDArray, Y: NDArray, eigh: Callable[[NDArray], object]) -> None:
    """The smaller of X'X and XX', X'Y, and one eigendecomposition; not even centred."""
    gram = X.T @ X if X.shape[1] <= len(X) else X @ X.T
    _ = X.T @ Y
    eigh(gram)


def reduced_rank_by_svd(X: NDArray, Y: NDArray) -> NDArray:
    """Fitted values of the ridge (weight one), projected on their leading directions."""
    Xc, Yc = X - X.mean(axis=0), Y - Y.mean(axis=0)
    U, d, _ = np.linalg.svd(Xc, full_matrices=False)
    Z = (d / np.sqrt(d**2 + 1.0))[:, None] * (U.T @ Yc)
    Q = np.linalg.svd(Z, full_matrices=False)[2][:N_RANKS]
    fitted = U @ ((d**2 / (d**2 + 1.0))[:, None] * (U.T @ Yc))
    return fitted @ Q.T @ Q + Y.mean(axis=0)


def pcr_by_svd(X: NDArray, Y: NDArray) -> NDArray:
    """Projection of the outputs on the leading left singular vectors of the inputs."""
    U = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[0][:, :N_RANKS]
    return U @ (U.T @ (Y - Y.mean(axis=0))) + Y.mean(axis=0)


REFERENCES = {"reduced rank": reduced_rank_by_svd, "PCR": pcr_by_svd}


# -- the command ------------------------------------------------------------------------------

QUESTIONS = {question.__name__: question for question in (fit, floor)}


def arguments() -> argparse.Namespace:
    parser = contest_parser(__doc__, QUESTIONS, repeats=5, threads=[1, 2])
    return parser.parse_args()


def main() -> None:
    asked = arguments()
    settings = Settings(asked.repeats, asked.threads)
    # Peers that do not converge say so a thousand times, in their processes too.
    warnings.simplefilter("ignore")
    os.environ["PYTHONWARNINGS"] = "ignore"
    ask({name: QUESTIONS[name] for name in asked.only}, settings, not asked.no_record)


if __name__ == "__main__":
    main()
