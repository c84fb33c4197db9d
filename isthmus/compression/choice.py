"""Whether points should move: by functions of the same kind at rows that neither fit has seen."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from isthmus._linalg import Array
from isthmus._validation import N_FOLDS
from isthmus.compression.output_rows import OutputRows
from isthmus.compression.refit import OutputFit
from isthmus.compression.select import Problem
from isthmus.expansion import Expansion
from isthmus.kernels import gram
from isthmus.preimages import ranks

_POOR = 0.05  # of the outputs' squares: a pursuit that leaves less is not worth moving
_MOVING_WORK = 2e10  # operations, a few seconds: beyond it points stay where they are
_FEWEST = 20  # rows


def may_move(problem: Problem, points: Any, rows: OutputRows, error: float, most: int) -> bool:
    """Whether it is possible, and worth its time, to move points in at most ``most`` steps."""
    vectors = isinstance(points, np.ndarray) and points.ndim == 2 and len(points)
    smooth = getattr(problem.kernel, "has_input_gradient", False)
    if not vectors or not smooth or problem.indefinite or rows.expansion.is_precomputed:
        return False
    if issparse(rows.rows):
        return False
    n, (r, d) = len(rows.outputs), points.shape
    return n >= _FEWEST and error > _POOR and float(n) * r * (r + d) * most <= _MOVING_WORK


def part_function(rows: OutputRows) -> tuple[Expansion, Any, Array]:
    """Return the functions without a fifth of their points, the rows that are left, and those points.

    Points that move have so many numbers to set that they can meet every row they are fitted at, and at a
    point of its own a narrow kernel has a spike that fresh rows do not have. The functions without
    some points have no spikes there, so these are fresh rows of other functions of the same kind.
    """
    whole = rows.expansion
    points = np.asarray(whole.points)
    held = ranks(points, whole.coef.reshape(len(points), -1)) % N_FOLDS == N_FOLDS // 2
    part = Expansion(points[~held], whole.coef[~held], whole.kernel, whole.intercept)
    if rows.own:
        return part, None, points[held]
    known = {row.tobytes() for row in points[held]}
    given = np.asarray(rows.rows, dtype=points.dtype)
    return part, given[[row.tobytes() not in known for row in given]], points[held]


def error_at(kernel: Any, points: Any, fit: OutputFit, rows: Array, outputs: Array) -> float:
    """Return the squared error of a fit at new rows."""
    coef, intercept = fit.coefficients(len(points))
    K = np.asarray(gram(kernel, rows, points), dtype=np.float64)
    return float(((K @ coef + intercept - outputs) ** 2).sum())
