"""Cross-validation of every number of components and ridge weight for about the price of one fit."""

from __future__ import annotations

import math
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from isthmus._linalg import EPS, Array, column_scales, power_of_two, weight_unit
from isthmus._validation import allow_far_rows, warn
from isthmus.problems import (
    CheckedRows,
    FoldPath,
    Form,
    MomentForm,
    Moments,
    RefitPath,
    Split,
    TestRows,
    output_units,
    ridge_in_units,
    scales_x,
    score_path,
    thread_map,
    unit_of_seen,
)

Task = Callable[[], Iterable[tuple[int, list[FoldPath]]]]
"""Work that yields splits with their paths, one for each ridge weight."""

_MAX_RANKS = 50  # beyond, ranks are spaced on a logarithmic scale
# Up to so many columns their second moments cost less than the passes of a power iteration.
_MOMENT_COLUMNS = 500
_NORM_STEPS = 30  # give a norm to a few per cent, enough to place a grid
# Share of the RMSECV of one output that a further component has to gain; docs/spectra.md has the table.
COMPONENT_GAIN = 0.005
_RELATIVE_ALPHAS = (0.0, *np.logspace(-8, 2, 21))


@dataclass
class PathScores:
    """Scores of a grid: ``scores[name]`` is (n_alphas, n_ranks, n_splits)."""

    ranks: list[int]
    alphas: list[Any]
    scores: dict[str, Array]
    seconds: Array  # a split, (n_splits,)
    squares: list[Array] | None = None  # squared errors of a split, (n_alphas, n_ranks, n_test, q)


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
    keep_squares: bool = False,
) -> PathScores:
    """Score every rank and ridge weight on every split.

    ``keep_squares`` keeps the squared errors of all test rows beside the scores.

    ``scorers`` maps names to scikit-learn scorers or to the names of those that are computed from the
    residuals of all ranks at once ("r2", "q2", "neg_mean_squared_error", ...). A single
    scorer that returns a dict stands for as many as that has entries.
    """
    shape = (len(alphas), len(ranks), len(splits))
    result = PathScores(ranks, alphas, {}, np.zeros(len(splits)))
    if keep_squares:
        result.squares = [np.empty(0)] * len(splits)
    asks = not all(isinstance(scorer, str) for scorer in scorers.values())
    has_gaps = bool(estimator.missing == "em" and np.isnan(Y).any())
    scale = weight_unit(weights)
    if weights is not None and scale != 1.0:  # huge or tiny weights, brought into range
        weights = weights / scale
        alphas = [_ridge_in_units(alpha, math.sqrt(scale)) for alpha in alphas]
    tasks, unit = _tasks(estimator, CheckedRows(X, Y, weights), splits, ranks, alphas)
    whole = TestRows(None, Y, weights, y_is_1d, has_gaps, unit)
    overall = whole.variances if "q2" in scorers.values() else None

    def work(task: Task) -> int:
        begin, done = time.perf_counter(), 0
        for i, paths in task():
            test = splits[i].test
            w = None if weights is None else weights[test]
            rows = TestRows(X[test] if asks else None, Y[test], w, y_is_1d, has_gaps, unit, overall)
            if result.squares is not None:
                errors = [[path.predict(k) - rows.in_units for k in ranks] for path in paths]
                result.squares[i] = np.square(errors) * unit * unit
            for a, path in enumerate(paths):
                for name, value in score_path(path, rows, ranks, scorers).items():
                    if name not in result.scores:  # several threads may come here at once
                        result.scores.setdefault(name, np.full(shape, np.nan))
                    result.scores[name][a, :, i] = value
            now = time.perf_counter()
            result.seconds[i], begin, done = now - begin, now, done + 1
        return done

    done = 0
    with warnings.catch_warnings():  # fewer components in a fold are no news
        warnings.filterwarnings("ignore", message="n_components")
        for finished in thread_map(work, tasks):
            done += finished
            if progress is not None:
                progress(done, len(splits))
    return result


def _tasks(
    estimator: Any, rows: CheckedRows, splits: Sequence[Split], ranks: list[int], alphas: list[Any]
) -> tuple[list[Task], Array]:
    """Work that yields splits with a path for every ridge weight, and the units of its outputs."""
    if not estimator._is_nested():
        tasks = _fold_by_fold(_refitted, estimator, rows, splits, ranks, alphas)
        return tasks, np.ones(rows.Y.shape[1])
    gappy = estimator.missing == "em"
    x_unit = unit_of_seen(rows.X) if gappy else power_of_two(rows.X)
    y_units = output_units(rows.Y, estimator.scale)
    if x_unit != 1.0 or (y_units != 1.0).any():  # brought into the range of their squares
        rows = CheckedRows(rows.X / x_unit, rows.Y / y_units, rows.weights)
        if not scales_x(estimator.scale):  # the ridge on scaled columns knows no units
            alphas = [_ridge_in_units(alpha, x_unit) for alpha in alphas]
    if gappy:
        return _fold_by_fold(_expected, estimator, rows, splits, ranks, alphas), y_units
    return fold_tasks(estimator, rows, splits, max(ranks), alphas), y_units


def _fold_by_fold(
    paths: Callable[..., list[Any]],
    estimator: Any,
    rows: CheckedRows,
    splits: Sequence[Split],
    *grid: Any,
) -> list[Task]:
    """Work that finds the paths of each fold by itself."""

    def task(i: int) -> list[tuple[int, list[Any]]]:
        return [(i, paths(estimator, rows, splits[i], *grid))]

    return [partial(task, i) for i in range(len(splits))]


def fold_tasks(
    estimator: Any, rows: CheckedRows, splits: Sequence[Split], n_components: int, alphas: list
) -> list[Task]:
    """Work on the folds, each taken away from a form of the whole."""
    n, p = rows.shape
    kind = MomentForm if sparse.issparse(rows.X) else estimator._fold_form(n, p, n_components)
    folds = kind.folds(rows, estimator.scale, splits)
    return estimator._fold_tasks(folds, splits, n_components, alphas)


def fold_paths(
    estimator: Any, form: Form, test: NDArray, n_components: int, alphas: list[Any]
) -> list[FoldPath]:
    """Predictions for test rows, of every number of components and ridge weight."""
    form, R, loadings = estimator._solve_path(form, n_components, alphas)
    scores = R.T @ form.coordinates(test).T  # one product for all ridge weights
    ends = np.cumsum([Q.shape[1] for Q in loadings])[:-1]
    return [
        FoldPath(T.T, Q * form.frame.y_scale[:, None], form.frame.y_mean)
        for T, Q in zip(np.split(scores, ends), loadings, strict=True)
    ]


def _expected(
    estimator: Any, rows: CheckedRows, split: Split, ranks: list[int], alphas: list[Any]
) -> list[FoldPath]:
    """Paths of a fit by expectation-maximisation, one for each ridge weight.

    The model of the gaps is the one that a fit to the training rows finds, step by step; it serves all
    numbers of components and ridge weights.
    """
    form, model = estimator._expected_form(*rows.take(split.train), max(ranks))
    form.data = CheckedRows(model.filled(rows.X[split.test]), rows.Y, None)
    everything = np.arange(len(split.test))
    return fold_paths(estimator, form, everything, max(ranks), alphas)


def _ridge_in_units(alpha: Any, unit: float) -> Any:
    """As ``ridge_in_units``; None, where there is no ridge, knows no units."""
    return None if alpha is None else ridge_in_units(alpha, unit)


def _refitted(
    estimator: Any, rows: CheckedRows, split: Split, ranks: list[int], alphas: list[Any]
) -> list[RefitPath]:
    """A fit for every ridge weight and rank, where the maps of smaller ranks do not follow from one."""
    paths = []
    for alpha in alphas:
        fixed = {} if alpha is None else {"alpha": alpha}
        predictions = {}
        for rank in ranks:
            model = clone(estimator).set_params(n_components=rank, **fixed)
            model.fit(*rows.take(split.train))
            with allow_far_rows():
                predictions[rank] = np.asarray(model.predict(rows.X[split.test]), dtype=np.float64)
        paths.append(RefitPath(predictions))
    return paths


# -- choices ----------------------------------------------------------------------------------


def default_ranks(estimator: Any, n_train: int, p: int, q: int) -> list[int]:
    """1..what the shape allows, at most fifty, evenly spaced on a logarithmic scale beyond."""
    most = min(n_train - 1, p, q) if estimator._ridge_path else min(n_train - 1, p, _MAX_RANKS)
    most = max(most, 1)
    if most <= _MAX_RANKS:
        return list(range(1, most + 1))
    return sorted({round(float(r)) for r in np.geomspace(1, most, _MAX_RANKS)})


def default_alphas(X: Any, weights: Array | None, scale: bool | str) -> list[float]:
    """Zero and 1e-8 .. 100 times the squared norm of the centred (scaled) inputs, gaps at their means."""
    unit = weight_unit(weights)
    if not sparse.issparse(X) and np.isnan(X).any():
        X = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    x_unit = power_of_two(X.data if sparse.issparse(X) else X)
    weights = weights if weights is None else weights / unit
    if x_unit != 1.0:  # brought into the range of its squares
        X = X / x_unit
    if scales_x(scale):
        x_unit = 1.0
    if X.shape[1] <= min(X.shape[0], _MOMENT_COLUMNS):
        moments = Moments.squares_of(X, np.empty((X.shape[0], 0)), weights)
        return relative_alphas(moment_norm(moments, scale) * unit, x_unit)
    w = np.ones(X.shape[0]) if weights is None else weights
    mean = (X.T @ w) / w.sum()
    squares = (X.multiply(X) if sparse.issparse(X) else X**2).T @ w - w.sum() * mean**2
    varies = squares > 1e-14 * w.sum() * mean**2  # half of the digits, lost in the difference

    def product(u: Array) -> Array:
        t = X @ u - mean @ u
        return X.T @ (w * t) - mean * (w @ t)

    return relative_alphas(_power_norm(product, squares, varies, w.sum(), scale) * unit, x_unit)


def moment_norm(moments: Moments, scale: bool | str) -> float:
    """||X||_2^2 of the centred (scaled) inputs of moments: a scale for a grid, no more."""
    squares = moments.xx.diagonal()
    varies = column_scales(squares, moments.x_mean, moments.weight, False)[1]
    return _power_norm(partial(np.matmul, moments.xx), squares, varies, moments.weight, scale)


def relative_alphas(norm: float, x_unit: float = 1.0) -> list[float]:
    """The default ridge weights for inputs of a squared norm, in units whose square may be out of range."""
    largest = sys.float_info.max
    alphas = [min(float(norm * a) * x_unit * x_unit, largest) for a in _RELATIVE_ALPHAS]
    if x_unit != 1.0 and norm > 0 and (alphas[1] == 0.0 or alphas[-1] == largest):
        warn(
            f"X has entries of about {x_unit:.0e}: ridge weights in units of their squares are out of the "
            "range of float64, so that not all of them are tried. Divide X by a constant.",
        )
    return alphas


def _power_norm(
    product: Callable[[Array], Array],
    squares: Array,
    varies: NDArray,
    weight: float,
    scale: bool | str,
) -> float:
    """Largest eigenvalue of a product with columns that vary, by power iteration."""
    factor = varies.astype(np.float64)
    if scales_x(scale):
        # Population deviations, to which a ridge on scaled columns applies (``Frame.ridge_unit``).
        factor /= np.sqrt(np.where(varies, squares, 1.0) / weight)
    v, norm = factor.copy(), 0.0
    for _ in range(_NORM_STEPS):
        length = np.linalg.norm(v)
        if length == 0:
            return 0.0
        u = v / length * factor
        h = product(u)
        norm = float(u @ h)
        v = h * factor
    return norm


def best_index(scores: Array, ranks: Sequence[int], alphas: Sequence[Any], rule: str) -> int:
    """The chosen candidate of a flattened (alpha, rank) grid of scores, (n_candidates, n_splits).

    "best" takes the best mean; "one_se" the simplest candidate (fewest components, then the largest
    ridge weight) whose mean is within one standard error of the best.
    """
    mean = scores.mean(axis=1)
    if np.isnan(mean).all():
        raise ValueError(
            "every candidate has the score NaN, so none can be chosen: R2 needs at least two test "
            "rows in every fold. Use fewer folds or, for example, scoring='neg_mean_squared_error'."
        )
    best = int(np.nanargmax(mean))
    if rule == "best":
        return best
    spread = scores[best].std(ddof=1) if scores.shape[1] > 1 else 0.0
    good = np.flatnonzero(mean >= mean[best] - spread / np.sqrt(scores.shape[1]))
    return simplest(good, ranks, alphas)


def least_cost_index(
    errors: Array, shares: Array, ranks: Sequence[int], alphas: Sequence[Any], n_targets: int
) -> int:
    """The candidate of a flattened (alpha, rank) grid of the default rule.

    The minimum of ``log(RMSECV) + COMPONENT_GAIN * rank / n_targets``, ties to the simplest: of a single
    output every further component has to lower the pooled error of the rows left out by half a percent,
    of forty as many components as outputs may cost as much. ``errors`` (n_candidates, n_splits) are mean
    squares in units of the variances of the outputs, ``shares`` the weights of the splits.
    """
    means = errors @ (shares / shares.sum())
    if np.isnan(means).all():
        raise ValueError("every candidate has a pooled error of NaN, so that none can be chosen.")
    # What is missed by less than this is met: rounding is no gain.
    logs = np.log(np.maximum(means, EPS)) / 2
    cost = logs + COMPONENT_GAIN / n_targets * np.tile(np.asarray(ranks), len(alphas))
    least = np.nanmin(cost)
    return simplest(np.flatnonzero(cost <= least + 1e-12), ranks, alphas)


def simplest(candidates: NDArray, ranks: Sequence[int], alphas: Sequence[Any]) -> int:
    """Return the candidate of a flattened (alpha, rank) grid with fewest components and largest ridge."""

    def simplicity(candidate: int) -> tuple[int, float]:
        a, r = divmod(candidate, len(ranks))
        return ranks[r], -(alphas[a] if isinstance(alphas[a], (int, float)) else 0.0)

    return min(candidates.tolist(), key=simplicity)


def default_score(Y: NDArray, splits: Sequence[Split]) -> str:
    """R2; the share of all rows' variance where a fold has a single test row, of which there is none."""
    fewest = min(len(split.test) for split in splits)
    if np.isnan(Y).any():
        fewest = min(int((~np.isnan(Y[split.test])).sum(axis=0).max()) for split in splits)
    return "r2" if fewest > 1 else "q2"


def split_weights(splits: Sequence[Split], weights: Array | None) -> Array:
    """Weight of the test rows of each split."""
    return np.array(
        [float(len(s.test)) if weights is None else weights[s.test].sum() for s in splits]
    )
