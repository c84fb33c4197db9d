"""The methods in the outer folds, the table of their scores, and the simplest good one."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.auto.ladder import Problem, Rung
from isthmus.linalg import Array

Progress = Callable[[str, int, int], None]  # of a label, the folds done and the number of folds
Splits = Sequence[tuple[NDArray, NDArray]]  # rows to train on, rows left out


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
    """

    def __init__(self, rung: Rung, X: Array, y: Array, splits: Splits, problem: Problem) -> None:
        self.rung, self.X, self.y, self.splits, self.problem = rung, X, y, splits, problem
        self.Y = y.reshape(len(y), -1)
        self.scores = np.full(len(splits), np.nan)
        self.predictions = np.full(self.Y.shape, np.nan)
        self.fit_seconds = np.full(len(splits), np.nan)
        self.predict_seconds = 0.0
        self.status = "not begun"

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
        return float(_standard_error(self.scores)) if self.is_done else np.nan

    @property
    def rows_per_second(self) -> float:
        """Rows predicted in a second; NaN where not all were predicted."""
        return len(self.X) / self.predict_seconds if self.is_done else np.nan

    def run(self, tell: Progress, limit: float) -> None:
        """Fit and predict in every fold, until the clock shows ``limit``."""
        variances = _variances(self.Y)
        n_splits = len(self.splits)
        for i, (train, test) in enumerate(self.splits):
            if time.perf_counter() > limit:
                self.status = "given up at the time limit" if i else "no time left"
                return
            tell(self.rung.label, i, n_splits)
            try:
                predicted = self._fold(i, train, test)
            except (ValueError, np.linalg.LinAlgError, MemoryError, FloatingPointError) as error:
                self.status = str(error).splitlines()[0] if str(error) else type(error).__name__
                return
            self.predictions[test] = predicted
            self.scores[i] = _explained(self.Y[test], predicted, variances)
        tell(self.rung.label, n_splits, n_splits)
        self.status = "done" if np.isfinite(self.scores).all() else "no score"

    def _fold(self, i: int, train: NDArray, test: NDArray) -> Array:
        model = self.rung.build(replace(self.problem, n_samples=len(train)))
        begin = time.perf_counter()
        model.fit(self.X[train], self.y[train])
        fitted = time.perf_counter()
        predicted = model.predict(self.X[test])
        self.predict_seconds += time.perf_counter() - fitted
        self.fit_seconds[i] = fitted - begin
        return np.asarray(predicted).reshape(len(test), -1)


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
    folds = {
        f"split{i}_test_score": np.array([trial.scores[i] for trial in trials])
        for i in range(differences.shape[1])
    }
    return {
        "method": [trial.rung.name for trial in trials],
        "label": [trial.rung.label for trial in trials],
        "status": [trial.status for trial in trials],
        "mean_test_score": np.array([trial.score for trial in trials]),
        "standard_error": np.array([trial.standard_error for trial in trials]),
        "mean_fit_time": np.array([_finite_mean(trial.fit_seconds) for trial in trials]),
        "rows_per_second": np.array([trial.rows_per_second for trial in trials]),
        "difference_to_best": differences.mean(axis=1),
        "difference_standard_error": _standard_error(differences),
        **folds,
    }


def baseline_score(Y: Array, splits: Splits) -> float:
    """What predicting the mean of the training rows scores."""
    variances = _variances(Y)
    scores = [
        _explained(Y[test], np.nanmean(Y[train], axis=0), variances) for train, test in splits
    ]
    return float(np.mean(scores))


def _explained(observed: Array, predicted: Array, variances: Array) -> float:
    """Share of the variance that is explained, the mean over the outputs that vary."""
    varies = variances > 0
    errors = np.nanmean((observed - predicted) ** 2, axis=0)
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


def _variances(Y: Array) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.nan_to_num(np.nanvar(Y, axis=0))


def _differences(trials: Sequence[Trial]) -> Array:
    """Scores less those of the best method, fold by fold: what all find hard in a fold cancels."""
    scores = np.array(
        [trial.scores if trial.is_done else np.nan * trial.scores for trial in trials]
    )
    return scores - scores[int(np.nanargmax(scores.mean(axis=1)))]


def _standard_error(folds: Array) -> Any:
    """Of the mean along the last axis; zero of a single fold."""
    n = folds.shape[-1]
    return folds.std(axis=-1, ddof=1) / np.sqrt(n) if n > 1 else 0 * folds[..., 0]


def _finite_mean(values: Array) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else float("nan")
