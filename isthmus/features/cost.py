"""What is computed exactly and what by landmarks: a bound on operations, and the memory that is free."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from isthmus._validation import check_count, memory_shortage, warn

OPERATIONS = 9.0 * 3000**3
"""Most floating-point operations of an exact solution, some ten seconds of one core.

An eigendecomposition counts as 9 n^3 and is exact up to 3000 rows; a Cholesky factorisation counts as
n^3 / 3 and is exact up to 9000. Counts do not depend on the machine, nor on the cost of kernel values.
"""
EIGEN_OPERATIONS = 9.0  # times n^3
FACTOR_OPERATIONS = 1.0 / 3.0  # times n^3, of a Cholesky factor
EIGEN_BYTES = 3 * 8.0  # times n^2: the Gram matrix, its eigenvectors and their work space
FEW_LANDMARKS = 500  # of a source whose number of rows is not known
_LANDMARK_SHARE = 0.75  # of the rows of an exact solution at the same cost
_RIDGE_SHARE = 0.1  # of the ridge weight: what is left out stays small beside it
_LEAST_ERROR = 1e-12  # of a trace: less is rounding
_LANDMARK_ARRAYS = 4  # features, coordinates, and as much again by the regression after them


def can_decompose(n: int) -> bool:
    """Return whether the Gram matrix of ``n`` rows is decomposed, rather than that of landmarks."""
    what = f"The eigendecomposition of {n} x {n} numbers"
    return is_affordable(EIGEN_OPERATIONS * float(n) ** 3, EIGEN_BYTES * n * n, what)


def is_affordable(operations: float, n_bytes: float, what: str) -> bool:
    """Return whether exact work is within the bound and fits into memory.

    Only the memory depends on the machine, so a shortage is told.
    """
    if operations > OPERATIONS:
        return False
    free = memory_shortage(n_bytes)
    if free is None:
        return True
    warn(
        f"{what} needs {n_bytes / 2**30:.1f} GiB and {free / 2**30:.1f} GiB are free: landmarks are used. "
        "solver='landmarks' gives the same model on every machine.",
    )
    return False


def is_share(value: Any) -> bool:
    """Return whether a number of landmarks is given as the share of the trace that they explain."""
    return isinstance(value, Real) and not isinstance(value, Integral) and 0 < float(value) < 1


def share_for_ridge(alpha: float, trace: float) -> float:
    """Return the share of the trace that landmarks should explain before a ridge regression.

    Eigenvalues that they leave out sum up to a tenth of the ridge weight, against which each is weighed.
    """
    error = _RIDGE_SHARE * alpha / trace if trace > 0 else 1.0
    return 1.0 - min(max(error, _LEAST_ERROR), 0.1)


def most_landmarks(n: int, operations: float, memory: float | None = None) -> int:
    """Return how many landmarks may be taken for a stated error.

    ``operations`` times their cube are within the bound, and n x m numbers are within the free memory, or
    m x m within ``memory`` bytes where the rows do not have to fit.
    """
    most = round((OPERATIONS / operations) ** (1 / 3))
    if memory is not None:
        return max(1, min(most, math.isqrt(int(memory / (8.0 * _LANDMARK_ARRAYS)))))
    return _landmarks_in_memory(most, n)


def _landmarks_in_memory(most: int, n: int) -> int:
    """Return as many of ``most`` landmarks of n rows as fit into memory."""
    row_bytes = 8.0 * _LANDMARK_ARRAYS * n
    free = memory_shortage(row_bytes * most)
    return most if free is None else max(1, min(most, int(free / row_bytes)))


def count_landmarks(asked: int | float | str, n: int | None) -> int | float:
    """Return how many landmarks take the place of ``n`` rows; ``n=None`` if the user asked for them.

    A share of the trace is returned as it is. ``"auto"`` is three quarters of the rows that an
    eigendecomposition may have, 2250: not more operations than that at the row where they begin, and a
    quarter of the 9000 rows where they replace a Cholesky factor. A ridge regression takes no more.
    """
    if is_share(asked):
        return float(asked)
    if isinstance(asked, float):
        allowed = "an integer >= 1, a fraction in (0, 1) or 'auto'"
        raise ValueError(f"n_landmarks == {asked!r}, must be {allowed}.")
    if asked != "auto":
        return check_count("n_landmarks", asked)
    if n is None:
        return FEW_LANDMARKS
    largest = round((OPERATIONS / EIGEN_OPERATIONS) ** (1 / 3))
    wanted = max(1, int(_LANDMARK_SHARE * min(n, largest)))
    number = _landmarks_in_memory(wanted, n)
    if number < wanted:
        warn(
            f"{wanted} landmarks of {n} rows need {8.0 * _LANDMARK_ARRAYS * n * wanted / 2**30:.1f} GiB, "
            f"more than is free: n_landmarks='auto' takes {number}.",
        )
    return number
