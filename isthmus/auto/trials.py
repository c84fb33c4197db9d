"""The methods in the outer folds, the table of their scores, and the simplest good one."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from inspect import signature
from itertools import combinations
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import get_scorer

from isthmus._linalg import Array
from isthmus._validation import allow_far_rows
from isthmus.auto.blends import blend_weights
from isthmus.auto.clock import OutOfTime, until
from isthmus.auto.gap_filler import GapFiller
from isthmus.auto.problem import Problem, Rung
from isthmus.auto.progress import Progress
from isthmus.inspection import without_rows

Splits = Sequence[tuple[NDArray, NDArray]]  # rows to train on, rows left out
# A method that may be stopped ends after the first fold with less weight in its blend than the first, or,
# if it is never blended, with more than so many times the least error.
_LEAST_TO_GO_ON = 0.1
_FAR_BEHIND = 1.6


class Trial:
    """One method in all outer folds.

    Parameters
    ----------
    rung : Rung
        The method.
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Outputs, which the method is given in this shape.
    splits : sequence of (train, test)
    problem : Problem
        Of all rows; a fold's has the number of its own.
    weights : ndarray of shape (n_samples,), default=None
        Weight of each row, in the fits and in the scores.
    inner : callable of the training rows, default=None
        Inner folds of an outer one; None leaves them to the problem.
    scoring : str or callable, default=None
        As in scikit-learn; None is the share of the variance that is explained.
    is_blended : bool, default=False
        Whether a blend may use it.
    filler : GapFiller, default=None
        Fills the rows of a fold, if ``X`` had gaps; ``X`` itself is complete.

    Attributes
    ----------
    scores, fit_seconds : ndarray of shape (n_splits,)
        NaN in folds that were not reached.
    predictions : ndarray of shape (n_samples, n_targets)
        Each row predicted without it.
    predict_seconds : float
        Of all folds together.
    status : str
        "done", or why not.
    learning : list of ndarray of shape (n_targets,)
        Of each fold, how much smaller errors are with all rows but one than with those of an inner fold;
        empty for methods that do not know.
    """

    def __init__(
        self, rung: Rung, X: Array, y: Array, splits: Splits, problem: Problem, *,
        weights: Array | None = None, inner: Callable[[NDArray], Any] | None = None,
        scoring: Any = None, is_blended: bool = False, filler: GapFiller | None = None,
    ) -> None:  # fmt: skip
        self.rung, self.X, self.splits, self.problem = rung, X, splits, problem
        self.weights, self.inner, self.scoring = weights, inner, scoring
        self.is_blended, self.filler = is_blended, filler
        self.given = y  # judged by what is known of it, fitted to what is complete
        self.y = y if filler is None else filler.outputs.reshape(y.shape)
        self.Y = y.reshape(len(y), -1)
        self.scores = np.full(len(splits), np.nan)
        self.predictions = np.full(self.Y.shape, np.nan)
        self.fit_seconds = np.full(len(splits), np.nan)
        self.predict_seconds = 0.0
        self.status = "not begun"
        self.learning: list[Array] = []

    def with_splits(self, splits: Splits, without: Any = ()) -> Self:
        """Return the same method in other outer folds, without some rows, not run yet."""
        given = self.given.copy()
        given[list(without)] = np.nan
        return type(self)(
            self.rung, self.X, given, without_rows(splits, without), self.problem,
            weights=self.weights, inner=self.inner, scoring=self.scoring,
            is_blended=self.is_blended, filler=self.filler,
        )  # fmt: skip

    @property
    def is_done(self) -> bool:
        return self.status == "done"

    @property
    def score(self) -> float:
        """Mean over the folds; NaN where not all of them were reached."""
        return float(self.scores.mean()) if self.is_done else np.nan

    @property
    def standard_error(self) -> float:
        """Of the score; NaN where there is none."""
        return float(standard_error(self.scores)) if self.is_done else np.nan

    @property
    def losses(self) -> Array:
        """Squared error of each row left out, in units of the variances, times its weight."""
        variances = _variances(self.Y, self.weights)
        varies = variances > 0
        squares = (self.Y - self.predictions)[:, varies] ** 2 / variances[varies]
        known = np.isfinite(squares)
        with np.errstate(invalid="ignore"):  # a row without any output has no loss: NaN
            losses = np.where(known, squares, 0.0).sum(axis=1) / known.sum(axis=1)
        if self.weights is None:
            return losses
        return losses * (self.weights / self.weights.mean())

    @property
    def rows_per_second(self) -> float:
        """Rows predicted in a second; NaN where not all were predicted."""
        if self.is_done:
            return len(self.X) / max(self.predict_seconds, 1e-9)
        return np.nan

    def run(self, tell: Progress, limit: float, rivals: Sequence[Trial] = ()) -> None:
        """Fit and predict in every fold, and be able to fit all rows before the clock shows ``limit``.

        A method that adds next to nothing to its ``rivals`` in the first fold is stopped there.
        """
        n_splits = len(self.splits)
        n_jobs = effective_n_jobs(self.problem.n_jobs)
        for begin in range(0, n_splits, n_jobs):
            to_come = (n_splits - begin + n_jobs - 1) // n_jobs * self._longest()
            if time.perf_counter() + to_come + self.refit_seconds > limit:
                self.status = "given up at the time limit" if begin else "no time left"
                return
            tell(self.rung.label, begin, n_splits)
            folds = range(begin, min(begin + n_jobs, n_splits))
            try:
                self._run_folds(folds, limit)
            except OutOfTime:
                self.status = "given up at the time limit"
                return
            except (ValueError, np.linalg.LinAlgError, MemoryError, FloatingPointError) as error:
                self.status = str(error).splitlines()[0] if str(error) else type(error).__name__
                return
            if begin == 0 and rivals and self._adds_nothing(rivals):
                self.status = "stopped: adds nothing in the first fold"
                return
        tell(self.rung.label, n_splits, n_splits)
        self.status = "done" if np.isfinite(self.scores).all() else "no score"

    def _longest(self) -> float:
        """Seconds of the longest fold so far."""
        done = self.fit_seconds[np.isfinite(self.fit_seconds)]
        return float(done.max(initial=0.0))

    @property
    def refit_seconds(self) -> float:
        """What fitting all rows takes at most, from the folds: time grows as the cube of the rows."""
        fewest = min(len(train) for train, _ in self.splits)
        return self._longest() * (len(self.X) / fewest) ** 3

    def _adds_nothing(self, rivals: Sequence[Trial]) -> bool:
        """Whether the first fold is predicted as well without this method."""
        if not self.is_blended:
            least = 1 - max(trial.scores[0] for trial in rivals)
            return bool(1 - self.scores[0] > _FAR_BEHIND * least)
        _, test = self.splits[0]
        weights = None if self.weights is None else self.weights[test]
        found = [trial.predictions[test] for trial in [*rivals, self]]
        return float(blend_weights(self.Y[test], found, weights)[-1].max()) < _LEAST_TO_GO_ON

    def _run_folds(self, folds: range, limit: float) -> None:
        """Folds side by side: threads, since what takes time are matrices and trees."""
        if len(folds) == 1:
            found = [self._fold(i, *self.splits[i], limit) for i in folds]
        else:
            found = Parallel(len(folds), prefer="threads")(
                delayed(self._fold)(i, *self.splits[i], limit) for i in folds
            )
        for i, predicted in zip(folds, found, strict=True):
            test = self.splits[i][1]
            self.predictions[test] = predicted
            self.scores[i] = self.score_of(test, predicted)

    def score_of(self, test: NDArray, predicted: Array) -> float:
        """Score predictions of test rows."""
        weights = None if self.weights is None else self.weights[test]
        if self.scoring is None:
            return _explained(self.Y[test], predicted, _variances(self.Y, self.weights), weights)
        scorer = get_scorer(self.scoring) if isinstance(self.scoring, str) else self.scoring
        whole = ~np.isnan(self.Y[test]).any(axis=1)  # scorers take no NaN
        observed = self.given[test][whole]
        told = _Told().fit(predicted[whole].reshape(observed.shape))
        return float(scorer(told, self.X[test][whole], observed))

    def _fold(self, i: int, train: NDArray, test: NDArray, limit: float) -> Array:
        with until(limit):
            predicted, self.fit_seconds[i], seconds, model = self._fit_and_predict(train, test)
        self.predict_seconds += seconds
        if hasattr(model, "learning_"):
            self.learning.append(model.learning_)
        return predicted

    def _fit_and_predict(self, train: NDArray, test: NDArray) -> tuple[Array, float, float, Any]:
        """Return predictions of the test rows, the seconds that the fit and they took, and the model."""
        own = None if self.inner is None else self.inner(train)
        problem = replace(self.problem, n_samples=len(train), cv=own, n_jobs=None)
        model = self.rung.build(problem)
        weights = None if self.weights is None else self.weights[train]
        if self.filler is None:
            rows, others, outputs = self.X[train], self.X[test], self.y[train]
        else:
            rows, others, outputs = self.filler.fold(train, test)
            outputs = outputs.reshape(self.y[train].shape)
        begin = time.perf_counter()
        fit_weighted(model, rows, outputs, weights)
        fitted = time.perf_counter()
        with allow_far_rows():
            predicted = model.predict(_as_trained(others, rows))
        seconds = time.perf_counter() - fitted
        return np.asarray(predicted).reshape(len(test), -1), fitted - begin, seconds, model

    def without_pairs(self) -> list[Array]:
        """Return, for each fold, its training rows predicted by models that saw neither fold.

        The rows of the fold itself are NaN.
        """
        found = [np.full(self.Y.shape, np.nan) for _ in self.splits]
        for a, b in combinations(range(len(self.splits)), 2):
            (train, one), other = self.splits[a], self.splits[b][1]
            both = np.concatenate([one, other])
            predicted = self._fit_and_predict(np.setdiff1d(train, other), both)[0]
            found[a][other], found[b][one] = predicted[len(one) :], predicted[: len(one)]
        return found


def _as_trained(rows: Array, train: Array) -> Array:
    """Rows with the training value in each column that does not vary among the training rows.

    A fit knows nothing of such a column, as of a category that only the rows left out have: encoded
    inside the fold, it would not be there.
    """
    return np.where((train == train[0]).all(axis=0), train[0], rows)


class _Told(RegressorMixin, BaseEstimator):
    """An estimator that predicts what it was told, for a scorer of scikit-learn."""

    def fit(self, predicted: Array) -> _Told:
        self.predicted_ = predicted
        return self

    def predict(self, X: Array) -> Array:
        return self.predicted_


def fit_weighted(model: Any, X: Array, y: Array, weights: Array | None) -> Any:
    """Fit with weights of rows, or say that the method takes none."""
    if weights is None:
        return model.fit(X, y)
    if "sample_weight" not in signature(model.fit).parameters:
        raise ValueError("takes no sample weights")
    return model.fit(X, y, sample_weight=weights)


def simplest_good(trials: Sequence[Trial]) -> int:
    """The first trial whose score is within one standard error of the best, [HTF2009]_ Sec. 7.10."""
    done = [trial for trial in trials if trial.is_done]
    if not done:
        first = trials[0]
        raise ValueError(f"no method could be fitted; {first.rung.label}: {first.status}")
    best = max(done, key=lambda trial: trial.score)
    bound = best.score - best.standard_error
    return next(k for k, trial in enumerate(trials) if trial.score >= bound)


def results_table(trials: Sequence[Trial]) -> dict[str, Any]:
    """The columns of ``MethodSearchCV.cv_results_``, one entry a method."""
    differences = _differences(trials)
    scores = np.array([trial.score for trial in trials])
    folds = {
        f"split{i}_test_score": np.array([trial.scores[i] for trial in trials])
        for i in range(differences.shape[1])
    }
    return {
        "method": [trial.rung.name for trial in trials],
        "label": [trial.rung.label for trial in trials],
        "status": [trial.status for trial in trials],
        "params": [{"method": trial.rung.name} for trial in trials],
        "mean_test_score": scores,
        "std_test_score": np.array(
            [trial.scores.std() if trial.is_done else np.nan for trial in trials]
        ),
        "rank_test_score": _ranks(scores),
        "standard_error": np.array([trial.standard_error for trial in trials]),
        "mean_fit_time": np.array([_finite_mean(trial.fit_seconds) for trial in trials]),
        "rows_per_second": np.array([trial.rows_per_second for trial in trials]),
        "difference_to_best": differences.mean(axis=1),
        "difference_standard_error": standard_error(differences),
        **folds,
    }


def baseline_score(trial: Trial) -> float:
    """Score predicting the mean of the training rows."""
    scores = []
    for train, test in trial.splits:
        rows = trial.Y[train]
        weights = None if trial.weights is None else trial.weights[train]
        means = _mean_of_known(rows, weights)
        scores.append(trial.score_of(test, np.tile(means, (len(test), 1))))
    return float(np.mean(scores))


def _explained(
    observed: Array, predicted: Array, variances: Array, weights: Array | None = None
) -> float:
    """Share of the variance that is explained, the mean over the outputs that vary."""
    varies = variances > 0
    errors = _mean_of_known((observed - predicted) ** 2, weights)
    return float(1 - np.nanmean(errors[varies] / variances[varies]))


@contextmanager
def each_warning_once() -> Iterator[None]:
    """Hold warnings back and say each once: folds repeat them, with other numbers in them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    said = set()
    for warning in caught:
        text = str(warning.message)
        if text.startswith("n_components"):  # ranks that a fold is too small for
            continue
        key = (warning.category, re.sub(r"[-+.\de]*\d", "#", text))
        if key not in said:
            said.add(key)
            warnings.warn_explicit(text, warning.category, warning.filename, warning.lineno)


def _variances(Y: Array, weights: Array | None = None) -> Array:
    return np.nan_to_num(_mean_of_known((Y - _mean_of_known(Y, weights)) ** 2, weights))


def _mean_of_known(values: Array, weights: Array | None) -> Array:
    """Means of the columns over what is known of them; NaN where nothing is."""
    shares = ~np.isnan(values) * (1.0 if weights is None else weights[:, None])
    with np.errstate(invalid="ignore"):
        return (shares * np.where(shares > 0, values, 0.0)).sum(axis=0) / shares.sum(axis=0)


def _differences(trials: Sequence[Trial]) -> Array:
    """Scores less those of the best method, fold by fold: what all find hard in a fold cancels."""
    scores = np.array(
        [trial.scores if trial.is_done else np.nan * trial.scores for trial in trials]
    )
    return scores - scores[int(np.nanargmax(scores.mean(axis=1)))]


def standard_error(folds: Array) -> Any:
    """Of the mean along the last axis; zero of a single fold."""
    n = folds.shape[-1]
    if n > 1:
        return folds.std(axis=-1, ddof=1) / np.sqrt(n)
    return 0 * folds[..., 0]


def _ranks(scores: Array) -> NDArray:
    """Places from the best score on, as in scikit-learn; what has no score comes last."""
    known = np.where(np.isfinite(scores), scores, -np.inf)
    return np.array([1 + int((known > score).sum()) for score in known], dtype=np.int32)


def _finite_mean(values: Array) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else float("nan")
