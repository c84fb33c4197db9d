"""Whether points should move: by the outputs at rows that neither fit has seen."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.neighbors import NearestNeighbors

from isthmus._linalg import Array
from isthmus.compression.output_rows import OutputRows
from isthmus.compression.refit import OutputFit
from isthmus.compression.select import Problem
from isthmus.kernels import gram

_POOR = 0.05  # of the outputs' squares: a pursuit that leaves less is not worth moving
_MOST_WORK = 2e10  # operations, a few seconds: beyond it points stay where they are
_FEWEST = 20  # rows
_NEIGHBOURS = 5


def may_move(problem: Problem, points: Any, rows: OutputRows, error: float, most: int) -> bool:
    """Whether it is possible, and worth its time, to move points in at most ``most`` steps."""
    vectors = isinstance(points, np.ndarray) and points.ndim == 2 and len(points)
    smooth = getattr(problem.kernel, "has_input_gradient", False)
    if not vectors or not smooth or problem.indefinite or rows.expansion.is_precomputed:
        return False
    if issparse(rows.rows):
        return False
    n, (r, d) = len(rows.outputs), points.shape
    return n >= _FEWEST and error > _POOR and float(n) * r * (r + d) * most <= _MOST_WORK


def between_rows(rows: Any) -> Array:
    """As many new rows: each has half of its columns of a row, the others of one of its neighbours.

    Points that move have so many numbers to set that they can meet every row they are fitted at: the error
    there says nothing, and a support vector has a value unlike those of fresh rows near it. The
    functions are known everywhere, so held-out rows can be made.
    """
    X, rng = np.asarray(rows, dtype=np.float64), np.random.default_rng(0)
    k = min(_NEIGHBOURS, len(X) - 1)
    near = NearestNeighbors(n_neighbors=k + 1).fit(X).kneighbors(X)[1][:, 1:]
    other = X[near[np.arange(len(X)), rng.integers(k, size=len(X))]]
    return np.where(rng.uniform(size=X.shape) < 0.5, X, other)


def error_between(
    problem: Problem, points: Any, fit: OutputFit, rows: Array, outputs: Array
) -> float:
    """Squared error of a fit at new rows."""
    coef, intercept = fit.coefficients(len(points))
    K = np.asarray(gram(problem.kernel, rows, points), dtype=np.float64)
    return float(((K @ coef + intercept - outputs) ** 2).sum())
