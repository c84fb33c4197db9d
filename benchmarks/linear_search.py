"""How fast is the choice of the number of components? Ratios against named peers, all within one run.

cv          every number of components in 10 folds, against ikpls's fast cross-validation
gridsearch  the same against GridSearchCV over scikit-learn's PLSRegression
loo         leave-one-out against ikpls
rank        30 ranks x 20 ridge weights x 10 folds against a single fit

A ratio is our time over the peer's, each the best of several turns taken alternately; its bound
is what the library promises. "max difference" is between our numbers and the peer's: mean
squared errors of a cross-validation.

    python benchmarks/linear_search.py --only cv --repeats 5
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
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
from ikpls.fast_cross_validation.numpy import PLS as FastCrossValidation
from linear_fit import PLS_SHAPES, RANK_SHAPES, ikpls_algorithms, row_of
from numpy.typing import NDArray
from sklearn.cross_decomposition import PLSRegression
from sklearn.model_selection import KFold, LeaveOneOut
from threadpoolctl import threadpool_limits

from isthmus import PLS, ComponentSearchCV, ReducedRankRegression

N_FOLDS, N_RANKS = 10, 30
ALPHAS = np.logspace(-2, 4, 20)
SCORING = "neg_mean_squared_error"


@dataclass
class Settings:
    """What the command line asks for."""

    repeats: int
    threads: list[int]
    full: bool


def search(cv: object, n_components: int = N_RANKS) -> ComponentSearchCV:
    return ComponentSearchCV(PLS(), n_components=n_components, cv=cv, scoring=SCORING, refit=False)


def split_errors(found: ComponentSearchCV, n_splits: int) -> NDArray:
    """Mean squared errors, (n_splits, n_candidates)."""
    return -np.array([found.cv_results_[f"split{i}_test_score"] for i in range(n_splits)])


def mean_squares(Y: NDArray, path: NDArray) -> NDArray:
    """Mean squared error for every number of components: what ikpls is asked to report."""
    return ((Y - path) ** 2).mean(axis=(1, 2))


def ikpls_cross_validate(
    X: NDArray, Y: NDArray, folds: NDArray, algorithm: int, n_jobs: int
) -> NDArray:
    """Mean squared errors of ikpls, (n_splits, N_RANKS)."""
    model = FastCrossValidation(algorithm=algorithm, ddof=1)
    with contextlib.redirect_stdout(io.StringIO()):
        found = model.cross_validate(X, Y, N_RANKS, folds, mean_squares, n_jobs=n_jobs, verbose=0)
    return np.array([found[fold] for fold in sorted(found)])


def ikpls_candidates(p: int, threads: int) -> list[tuple[int, int]]:
    """Pairs of algorithm and number of processes that ikpls may choose from."""
    return [
        (algorithm, n_jobs) for algorithm in ikpls_algorithms(p) for n_jobs in sorted({1, threads})
    ]


def ikpls_name(algorithm: int, n_jobs: int) -> str:
    return f"ikpls {algorithm}" + (f", {n_jobs} processes" if n_jobs > 1 else "")


def fold_numbers(n: int) -> NDArray:
    numbers = np.empty(n, dtype=int)
    for i, (_, test) in enumerate(KFold(N_FOLDS).split(numbers)):
        numbers[test] = i
    return numbers


def cv(settings: Settings) -> Iterator[Row]:
    """Every number of components in ten folds."""
    for n, p, q, _ in PLS_SHAPES:
        X, Y = low_rank_data(n, p, q)
        for threads in settings.threads:
            with threadpool_limits(threads):
                yield cv_against_ikpls(X, Y, threads, settings.repeats)


def cv_against_ikpls(X: NDArray, Y: NDArray, threads: int, repeats: int) -> Row:
    folds, found = fold_numbers(len(X)), {}

    def peer(candidate: tuple[int, int]) -> None:
        found[ikpls_name(*candidate)] = ikpls_cross_validate(X, Y, folds, *candidate)

    jobs = {
        ikpls_name(*candidate): lambda candidate=candidate: peer(candidate)
        for candidate in ikpls_candidates(X.shape[1], threads)
    }
    model = search(KFold(N_FOLDS))
    ours, theirs, winner = contest(lambda: model.fit(X, Y), jobs, repeats)
    return row_of(
        "10-fold search vs ikpls",
        describe(*X.shape, Y.shape[1], N_RANKS),
        threads,
        (ours, theirs),
        1.0,
        difference=largest_difference(split_errors(model, N_FOLDS), found[winner]),
        peer=winner,
    )


def gridsearch(settings: Settings) -> Iterator[Row]:
    """The same search by refitting scikit-learn's PLS for every candidate in every fold."""
    for n, p, q, _ in PLS_SHAPES:
        X, Y = low_rank_data(n, p, q)
        for threads in settings.threads:
            with threadpool_limits(threads):
                yield cv_against_gridsearch(X, Y, threads, settings.repeats)


def cv_against_gridsearch(X: NDArray, Y: NDArray, threads: int, repeats: int) -> Row:
    model = search(KFold(N_FOLDS))
    ours = best_times({"": lambda: model.fit(X, Y)}, repeats)[""]
    measured = [1, 10, 20, N_RANKS]
    cells = [gridsearch_cell(X, Y, k) for k in measured]
    # The time of a fit grows smoothly with its components: interpolate the candidates between.
    times = np.interp(np.arange(1, N_RANKS + 1), measured, [took for took, _ in cells])
    errors = [error for _, error in cells]
    return row_of(
        "10-fold search vs GridSearchCV",
        describe(*X.shape, Y.shape[1], N_RANKS),
        threads,
        (ours, N_FOLDS * float(times.sum())),
        0.01,
        difference=largest_difference(split_errors(model, 1)[0, np.array(measured) - 1], errors),
        peer="PLSRegression",
        note=f"extrapolated from {len(measured)} of {N_FOLDS * N_RANKS} fits",
    )


def gridsearch_cell(X: NDArray, Y: NDArray, k: int) -> tuple[float, float]:
    """Seconds and mean squared error of one candidate in the first fold."""
    train, test = next(KFold(N_FOLDS).split(X))
    errors = []

    def cell() -> None:
        model = PLSRegression(k).fit(X[train], Y[train])
        errors.append(float(((Y[test] - model.predict(X[test])) ** 2).mean()))

    return seconds(cell), errors[0]


def loo(settings: Settings) -> Iterator[Row]:
    """Every number of components without each row."""
    n, p, q, _ = PLS_SHAPES[0]
    X, Y = low_rank_data(n, p, q)
    for threads in settings.threads:
        with threadpool_limits(threads):
            yield loo_against_ikpls(X, Y, threads, settings)


def loo_against_ikpls(X: NDArray, Y: NDArray, threads: int, settings: Settings) -> Row:
    model = search(LeaveOneOut())
    ours = best_times({"": lambda: model.fit(X, Y)}, settings.repeats)[""]
    candidates = ikpls_candidates(X.shape[1], threads)
    first = {pair: single_fold_seconds(X, Y, pair, (10, 40), 1) for pair in candidates}
    hopeful = [pair for pair in candidates if first[pair] <= 2 * min(first.values())]
    times = {
        pair: single_fold_seconds(X, Y, pair, (100, 300), settings.repeats) for pair in hopeful
    }
    winner = min(hopeful, key=times.__getitem__)
    theirs, note = len(X) * times[winner], "extrapolated from 300 folds"
    if settings.full:
        folds = np.arange(len(X))
        theirs, note = seconds(lambda: ikpls_cross_validate(X, Y, folds, *winner)), ""
    some = ikpls_cross_validate(X, Y, few_single_folds(len(X), 100), *winner)[:100]
    return row_of(
        "leave-one-out vs ikpls",
        describe(*X.shape, Y.shape[1], N_RANKS),
        threads,
        (ours, theirs),
        1.0,
        difference=largest_difference(split_errors(model, 100), some),
        peer=ikpls_name(*winner),
        note=note,
    )


def few_single_folds(n: int, m: int) -> NDArray:
    """Folds of one row each for the first m rows, and one fold of all the others."""
    return np.minimum(np.arange(n), m)


def single_fold_seconds(
    X: NDArray, Y: NDArray, pair: tuple[int, int], counts: tuple[int, int], repeats: int
) -> float:
    """Seconds that one more fold costs; what is paid once is left out, in favour of the peer."""
    jobs = {
        str(m): lambda m=m: ikpls_cross_validate(X, Y, few_single_folds(len(X), m), *pair)
        for m in counts
    }
    few, many = best_times(jobs, repeats).values()
    return max(many - few, 1e-9) / (counts[1] - counts[0])


def rank(settings: Settings) -> Iterator[Row]:
    """All ranks and ridge weights in ten folds, for the price of a few fits."""
    for n, p, q in RANK_SHAPES:
        X, Y = low_rank_data(n, p, q)
        for threads in settings.threads:
            with threadpool_limits(threads):
                yield grid_against_one_fit(X, Y, threads, settings.repeats)


def grid_against_one_fit(X: NDArray, Y: NDArray, threads: int, repeats: int) -> Row:
    model = ComponentSearchCV(
        ReducedRankRegression(),
        n_components=N_RANKS,
        alpha=ALPHAS,
        cv=KFold(N_FOLDS),
        scoring=SCORING,
        refit=False,
    )
    single = ReducedRankRegression(alpha=1.0)
    jobs = {"one fit": lambda: single.fit(X, Y)}
    ours, theirs, winner = contest(lambda: model.fit(X, Y), jobs, repeats)
    return row_of(
        f"{N_RANKS} ranks x {len(ALPHAS)} alphas x {N_FOLDS} folds",
        describe(*X.shape, Y.shape[1]),
        threads,
        (ours, theirs),
        6.0,
        difference=difference_from_refits(model, X, Y),
        peer=winner,
    )


def difference_from_refits(model: ComponentSearchCV, X: NDArray, Y: NDArray) -> float:
    """Errors of the grid beside those of refitting, in the corners of one fold."""
    train, test = next(KFold(N_FOLDS).split(X))
    scores = model.cv_results_["split0_test_score"].reshape(len(ALPHAS), N_RANKS)
    gaps = []
    for a in (0, len(ALPHAS) - 1):
        for r in (1, N_RANKS):
            refit = ReducedRankRegression(r, alpha=ALPHAS[a]).fit(X[train], Y[train])
            error = ((Y[test] - refit.predict(X[test])) ** 2).mean()
            gaps.append(abs(error + scores[a, r - 1]))
    return max(gaps)


# -- the command ------------------------------------------------------------------------------

QUESTIONS = {question.__name__: question for question in (cv, gridsearch, loo, rank)}


def arguments() -> argparse.Namespace:
    parser = contest_parser(__doc__, QUESTIONS, repeats=5, threads=[1, 2])
    add = parser.add_argument
    add("--full", action="store_true", help="let ikpls do all of leave-one-out (minutes)")
    return parser.parse_args()


def main() -> None:
    asked = arguments()
    settings = Settings(asked.repeats, asked.threads, asked.full)
    # Peers that do not converge say so a thousand times, in their processes too.
    warnings.simplefilter("ignore")
    os.environ["PYTHONWARNINGS"] = "ignore"
    ask({name: QUESTIONS[name] for name in asked.only}, settings, not asked.no_record)


if __name__ == "__main__":
    main()
