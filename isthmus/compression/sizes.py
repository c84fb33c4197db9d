"""Compressed models of every size, and the size that is taken."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus._linalg import Array, spreads
from isthmus.compression.models import predicts_classes, wrap_model
from isthmus.compression.path import CompressionPath
from isthmus.compression.refit import OutputFit
from isthmus.compression.select import Problem
from isthmus.compression.thresholds import class_thresholds
from isthmus.expansion import Expansion
from isthmus.kernels import Pursuit

_WITHIN = 1.01  # sizes whose validation error is within one per cent of the best are as good
_SIZES_TRIED = 40  # on the validation rows, in equal ratios


@dataclass
class SmallModels:
    """Expansions of any size up to the one that was run to."""

    model: Any
    full: Expansion
    problem: Problem
    points: Any  # in the order of choice
    pursuit: Pursuit
    fit: OutputFit | None  # None keeps the nearest functions
    labelled: tuple[Any, Any] | None = None  # rows and labels that set thresholds

    def expansion(self, size: int) -> Expansion:
        """Return the expansion of the first ``size`` points."""
        coef, intercept = self._coefficients(size)
        points = self.points[:size]
        if self.full.coef.ndim == 1:
            coef, intercept = coef[:, 0], intercept[0]
        small = Expansion(points, coef, self.problem.kernel, intercept)
        if self.labelled is not None and predicts_classes(self.model):
            small.intercept = class_thresholds(self.model, small, *self.labelled)
        return small

    def _coefficients(self, size: int) -> tuple[Array, Array]:
        if self.fit is not None:
            return self.fit.coefficients(size)
        n_outputs = self.problem.coef.shape[1]
        intercept = np.array(np.broadcast_to(self.full.intercept, (n_outputs,)))
        return self.pursuit.coefficients(size), intercept


def size_by_tolerance(path: CompressionPath, tol: float) -> int:
    """Return the smallest size whose error is within a tolerance, or the largest."""
    errors = path.errors if path.output_errors is None else path.output_errors
    good = np.flatnonzero(errors <= tol)
    return int(good[0]) if len(good) and good[0] > 0 else int(path.sizes[-1])


def size_by_validation(small: SmallModels, path: CompressionPath, validation: Any) -> int:
    """Return the smallest size whose validation error is as good as the best."""
    X, y = validation
    largest = int(path.sizes[-1])
    sizes = np.unique(np.geomspace(1, largest, min(largest, _SIZES_TRIED)).round().astype(int))
    errors = []
    for size in sizes:
        errors.append(_validation_error(finish(small.model, small.expansion(size), path), X, y))
    path.validation_sizes = sizes
    path.validation_errors = np.array(errors)
    path.full_validation_error = _validation_error(small.model, X, y)
    return int(sizes[np.flatnonzero(path.validation_errors <= _WITHIN * min(errors))[0]])


def _validation_error(model: Any, X: Any, y: Any) -> float:
    if predicts_classes(model):
        return float(np.mean(model.predict(X) != np.asarray(y)))
    for name in ("predict", "transform"):
        if hasattr(model, name):
            return _squared_error(np.asarray(getattr(model, name)(X)), y)
    return _squared_error(model(X), y)


def _squared_error(values: Array, y: Any) -> float:
    """Mean over the outputs; several in units of their variances, so that none counts by its unit."""
    truth = np.asarray(y, dtype=np.float64).reshape(len(values), -1)
    unit = spreads(truth) if truth.shape[1] > 1 else 1.0
    return float((((values.reshape(truth.shape) - truth) / unit) ** 2).mean())


def finish(model: Any, small: Expansion, path: CompressionPath) -> Any:
    """Return the model with an expansion in place of its own, and with its path."""
    path = copy.copy(path)
    path.n_points = small.n_points
    if isinstance(model, Expansion):
        result: Any = small
    elif hasattr(model, "with_inner_expansion"):
        result = model.with_inner_expansion(small)
    elif hasattr(model, "with_expansion"):
        result = model.with_expansion(small)
    else:
        result = wrap_model(model, small)
    result.compression_ = path
    return result


def expansion_of(model: Any) -> Expansion:
    """Return the expansion to compress; of low-rank models the r functions before the output loadings."""
    is_low_rank = hasattr(model, "inner_expansion")
    return Expansion.from_model(model.inner_expansion() if is_low_rank else model)


def finish_empty(model: Any, expansion: Expansion) -> Any:
    """Return the model without points, for functions that are constant."""
    constant = Expansion(
        expansion.points[:0], expansion.coef[:0], expansion.kernel, expansion.intercept
    )
    path = CompressionPath(0, expansion.n_points, np.zeros(1, dtype=np.intp), np.zeros(1))
    return finish(model, constant, path)
