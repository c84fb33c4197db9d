"""Arguments of ``compress``: checks, limits, and the matrix of a precomputed kernel."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from isthmus._linalg import Array
from isthmus._validation import check_count, check_option
from isthmus.expansion import Expansion
from isthmus.kernels import METHODS as SELECTIONS
from isthmus.kernels import check_precomputed

METHODS = ("auto", "greedy", "rank", "landmarks", "construct")
DEFAULT_TOL = 1e-3  # relative squared error, where neither a size nor a tolerance is given


def check_arguments(
    method: str, refit: Any, tol: Any, n_points: Any, N: int, chunk_size: Any
) -> None:
    """Raise ValueError if an argument is out of bounds; ``N`` is the number of points."""
    check_option("method", method, METHODS)
    if refit is not None:
        check_option("refit", refit, ("outputs",))
    if n_points is not None:
        if isinstance(n_points, bool) or not isinstance(n_points, Integral):
            raise ValueError(f"n_points == {n_points!r}, must be an integer or None.")
        if not 1 <= int(n_points) <= N:
            raise ValueError(
                f"n_points == {n_points}, must be between 1 and {N}, the number of points."
            )
    if tol is not None and not (isinstance(tol, Real) and 0 <= float(tol) < 1):
        raise ValueError(f"tol == {tol!r}, must be a number in [0, 1).")
    if chunk_size is not None:
        check_count("chunk_size", chunk_size, 2)
        if method not in ("auto", "greedy", "construct"):
            raise ValueError(f"chunk_size is for method='greedy', method == {method!r}.")


def check_selection(selection: str, method: str, n_points: Any, validation: Any) -> None:
    """Raise ValueError if landmarks cannot be selected in this way."""
    check_option("selection", selection, SELECTIONS)
    if method != "landmarks" and selection != "uniform":
        raise ValueError(f"selection is for method='landmarks', method == {method!r}.")
    if selection == "kmeans" and n_points is None and validation is None:
        raise ValueError("selection == 'kmeans' needs the number of centres: give n_points.")


def size_limits(
    n_points: int | None, tol: float | None, validation: Any, N: int, method: str
) -> tuple[int, float | None]:
    """Return the largest number of points, and the error at which to stop, or None."""
    if n_points is not None:
        return int(n_points), None if tol is None else float(tol)
    if method == "rank":
        return N, None
    if validation is not None:
        return max(1, N // 2), None
    return N, DEFAULT_TOL if tol is None else float(tol)


def matrix_of_points(expansion: Expansion, model: Any, X: Any) -> Array | None:
    """Return the kernel matrix of the points, if the kernel is precomputed."""
    if not expansion.is_precomputed:
        return None
    matrix = getattr(model, "X_fit_", None) if X is None else X
    if matrix is None:
        raise ValueError(
            "The kernel is precomputed and the model does not keep its matrix: give the square matrix "
            "of the training rows as X."
        )
    matrix = np.asarray(matrix, dtype=np.float64)
    if (
        matrix.ndim != 2
        or matrix.shape[0] != matrix.shape[1]
        or len(matrix) <= np.max(expansion.points)
    ):
        raise ValueError(
            f"X has shape {matrix.shape}, must be the square kernel matrix of the training rows."
        )
    return check_precomputed(matrix[np.ix_(expansion.points, expansion.points)], copy=False)
