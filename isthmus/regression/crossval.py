"""Cross-validation of every number of components and ridge weight for about the price of one fit."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import KFold

from isthmus.linalg import Array, power_of_two
from isthmus.parallel import thread_map
from isthmus.regression.folds import fold_tasks
from isthmus.regression.folds.path import FoldPath, RefitPath
from isthmus.regression.folds.refit import Task
from isthmus.regression.folds.split import Rows, Split

_MAX_RANKS = 50
_RELATIVE_ALPHAS = (0.0, *np.logspace(-8, 2, 21))


@dataclass
class PathScores:
    """Scores of a grid: ``scores[name]`` is (n_alphas, n_ranks, n_splits)."""

    ranks: list[int]
    alphas: list[Any]
    scores: dict[str, Array]
    seconds: Array = field(default_factory=lambda: np.zeros(0))  # a split, (n_splits,)


def path_scores(
    estimator: Any,
    X: Any,
    Y: NDArray,
    weights: Array | None,
    splits: Sequence[Split],
    ranks: list[int],
    alphas: list[Any],
    scorers: dict[str, Any],
    *,
    y_is_1d: bool,
    progress: Callable[[int, int], None] | None = None,
) -> PathScores:
    """Score every rank and ridge weight on every split.

    ``scorers`` maps names to scikit-learn scorers or to the names of those that are computed from the
    residuals of all ranks at once ("r2", "neg_mean_squared_error", "neg_root_mean_squared_error").
    """
    shape = (len(alphas), len(ranks), len(splits))
    result = PathScores(ranks, alphas, {name: np.full(shape, np.nan) for name in scorers})
    result.seconds = np.zeros(len(splits))

    def work(task: Task) -> int:
        begin, done = time.perf_counter(), 0
        for i, paths in task():
            test = splits[i].test
            w = None if weights is None else weights[test]
            for a, path in enumerate(paths):
                values = _score_path(path, X, Y, test, w, ranks, scorers, y_is_1d)
                for name, value in values.items():
                    result.scores[name][a, :, i] = value
            now = time.perf_counter()
            result.seconds[i], begin, done = now - begin, now, done + 1
        return done

    done = 0
    with warnings.catch_warnings():  # fewer components in a fold are no news
        warnings.filterwarnings("ignore", message="n_components")
        for finished in thread_map(work, _tasks(estimator, X, Y, weights, splits, ranks, alphas)):
            done += finished
            if progress is not None:
                progress(done, len(splits))
    return result


def _tasks(
    estimator: Any,
    X: Any,
    Y: NDArray,
    weights: Array | None,
    splits: Sequence[Split],
    ranks: list[int],
    alphas: list[Any],
) -> list[Task]:
    """Pieces of work, each of which yields splits with a path for every ridge weight."""
    if estimator.missing == "em" or "auto" in alphas or not estimator._is_nested():
        pieces = [partial(_refitted, estimator, X, Y, weights, s, ranks, alphas) for s in splits]
        return [partial(_numbered, i, piece) for i, piece in enumerate(pieces)]
    units = power_of_two(X), power_of_two(Y)
    if units != (1.0, 1.0):  # huge or tiny data, brought into the range of their squares
        X, Y = X / units[0], Y / units[1]
        alphas = [alpha and alpha / units[0] ** 2 for alpha in alphas]
    tasks = fold_tasks(estimator, Rows(X, Y, weights), splits, max(ranks), alphas)
    return tasks if units[1] == 1.0 else [partial(_rescaled, task, units[1]) for task in tasks]


def _numbered(i: int, piece: Callable[[], list[Any]]) -> Iterator[tuple[int, list[Any]]]:
    yield i, piece()


def _rescaled(task: Task, unit: float) -> Iterator[tuple[int, list[Any]]]:
    for i, paths in task():
        yield i, [path.scaled(unit) for path in paths]


def _refitted(
    estimator: Any,
    X: Any,
    Y: NDArray,
    weights: Array | None,
    split: Split,
    ranks: list[int],
    alphas: list[Any],
) -> list[Any]:
    """A fit for every ridge weight, and rank if need be, for what has no faster road."""
    train, test = split.train, split.test
    w = None if weights is None else weights[train]
    nested = estimator._is_nested()
    paths: list[FoldPath | RefitPath] = []
    for alpha in alphas:
        fixed = {} if alpha is None else {"alpha": alpha}
        fitted = {}
        for rank in [max(ranks)] if nested else ranks:
            model = clone(estimator).set_params(n_components=rank, **fixed)
            model.fit(X[train], Y[train], w)
            fitted[rank] = np.asarray(model.predict(X[test]), dtype=np.float64)
        if nested:
            loadings = model.y_loadings_ * model.y_scale_[:, None]
            scores = np.asarray(model.transform(X[test]), dtype=np.float64)
            paths.append(FoldPath(scores, loadings, model.y_mean_))
        else:
            paths.append(RefitPath(fitted))
    return paths


# -- scores -----------------------------------------------------------------------------------


def _score_path(
    path: Any,
    X: Any,
    Y: NDArray,
    test: NDArray,
    weights: Array | None,
    ranks: list[int],
    scorers: dict[str, Any],
    y_is_1d: bool,
) -> dict[str, Array]:
    quick = {name: scorer for name, scorer in scorers.items() if isinstance(scorer, str)}
    values = {}
    if quick:
        squares = path.errors(Y[test], weights, ranks)
        for name, score in quick.items():
            values[name] = _SCORES[score](squares, Y[test], weights)
    for name, scorer in scorers.items():
        if name not in quick:
            values[name] = _ask(scorer, path, X[test], Y[test], weights, ranks, y_is_1d)
    return values


def _r2(errors: Array, Y: NDArray, weights: Array | None) -> Array:
    if len(Y) < 2:
        message = "R^2 score is not well-defined with less than two samples."
        warnings.warn(message, UndefinedMetricWarning, stacklevel=2)
        return np.full(len(errors), np.nan)
    total = np.average((Y - np.average(Y, axis=0, weights=weights)) ** 2, axis=0, weights=weights)
    varies = total != 0
    # An output that does not vary scores 1 where it is met and 0 elsewhere, as in scikit-learn.
    scores = np.where(errors == 0, 1.0, 0.0)
    scores[:, varies] = 1.0 - errors[:, varies] / total[varies]
    return scores.mean(axis=1)


_SCORES: dict[str, Callable[[Array, NDArray, Array | None], Array]] = {
    "r2": _r2,
    "neg_mean_squared_error": lambda errors, Y, weights: -errors.mean(axis=1),
    "neg_root_mean_squared_error": lambda errors, Y, weights: -np.sqrt(errors).mean(axis=1),
}
QUICK_SCORES = tuple(_SCORES)


class _Fixed(RegressorMixin, BaseEstimator):
    """Stands in for a fitted regressor when a scorer asks for its predictions."""

    def __init__(self, prediction: Array) -> None:
        self.prediction = prediction

    def predict(self, X: Any) -> Array:
        return self.prediction


def _ask(
    scorer: Any,
    path: Any,
    X: Any,
    Y: NDArray,
    weights: Array | None,
    ranks: list[int],
    y_is_1d: bool,
) -> Array:
    """Any scorer of ``(estimator, X, y)``, once for each rank."""
    takes_weights = "sample_weight" in signature(scorer).parameters
    extra = {"sample_weight": weights} if weights is not None and takes_weights else {}
    values = []
    truth = Y[:, 0] if y_is_1d else Y
    for rank in ranks:
        prediction = path.predict(rank)
        fixed = _Fixed(prediction[:, 0] if y_is_1d else prediction)
        values.append(scorer(fixed, X, truth, **extra))
    return np.array(values, dtype=np.float64)


# -- choices ----------------------------------------------------------------------------------


def default_ranks(estimator: Any, n_train: int, p: int, q: int) -> list[int]:
    """1..what the shape allows, at most fifty, evenly spaced on a logarithmic scale beyond."""
    most = min(n_train - 1, p, q) if estimator._ridge_path else min(n_train - 1, p, _MAX_RANKS)
    most = max(most, 1)
    if most <= _MAX_RANKS:
        return list(range(1, most + 1))
    return sorted({round(float(r)) for r in np.geomspace(1, most, _MAX_RANKS)})


def default_alphas(X: Any, weights: Array | None, scale: bool) -> list[float]:
    """Zero and 1e-8 .. 100 times the squared norm of the centred (scaled) inputs."""
    norm = _squared_norm(X, weights, scale)
    return [float(norm * a) for a in _RELATIVE_ALPHAS]


def _squared_norm(X: Any, weights: Array | None, scale: bool, n_steps: int = 30) -> float:
    """||X||_2^2 of centred columns by power iteration: a scale for a grid, no more."""
    w = np.ones(X.shape[0]) if weights is None else weights
    mean = (X.T @ w) / w.sum()
    squares = (X.multiply(X) if sparse.issparse(X) else X**2).T @ w - w.sum() * mean**2
    varies = squares > 1e-14 * w.sum() * mean**2
    factor = varies / (np.sqrt(np.where(varies, squares, 1.0) / w.sum()) if scale else 1.0)
    v, norm = factor.copy(), 0.0
    for _ in range(n_steps):
        length = np.linalg.norm(v)
        if length == 0:
            return 0.0
        u = v / length * factor
        t = X @ u - mean @ u
        v = (X.T @ (w * t) - mean * (w @ t)) * factor
        norm = float(w @ t**2)
    return norm


def best_index(scores: Array, ranks: Sequence[int], alphas: Sequence[Any], rule: str) -> int:
    """The chosen candidate of a flattened (alpha, rank) grid of scores, (n_candidates, n_splits).

    "min" takes the best mean; "one_se" the simplest candidate (fewest components, then the largest
    ridge weight) whose mean is within one standard error of the best.
    """
    mean = scores.mean(axis=1)
    if np.isnan(mean).all():
        return 0
    best = int(np.nanargmax(mean))
    if rule == "min":
        return best
    spread = scores[best].std(ddof=1) if scores.shape[1] > 1 else 0.0
    good = np.flatnonzero(mean >= mean[best] - spread / np.sqrt(scores.shape[1]))

    def simplicity(candidate: int) -> tuple[int, float]:
        a, r = divmod(candidate, len(ranks))
        return ranks[r], -(alphas[a] if isinstance(alphas[a], (int, float)) else 0.0)

    return min(good.tolist(), key=simplicity)


def choose_components(estimator: Any, X: Any, Y: NDArray, weights: Array | None) -> int:
    """Number of components by five-fold cross-validation of R2: what "auto" stands for."""
    n, p = X.shape
    splits = [Split(train, test, n) for train, test in KFold(min(5, n)).split(X)]
    ranks = default_ranks(estimator, min(split.n_train for split in splits), p, Y.shape[1])
    scorer = {"score": "r2" if n >= 10 else "neg_mean_squared_error"}
    alphas = [getattr(estimator, "alpha", None)]
    found = path_scores(
        estimator, X, Y, weights, splits, ranks, alphas, scorer, y_is_1d=Y.shape[1] == 1
    )
    return ranks[best_index(found.scores["score"][0], ranks, alphas, "min")]
