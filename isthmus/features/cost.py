"""What is computed exactly and what by landmarks: a bound on operations, and the memory that is free."""

from __future__ import annotations

import warnings

from isthmus._validation import check_count, memory_shortage

OPERATIONS = 9.0 * 3000**3
"""Most floating-point operations of an exact solution, some ten seconds of one core.

An eigendecomposition counts as 9 n^3 and is exact up to 3000 rows; a Cholesky factorisation counts as
n^3 / 3 and is exact up to 9000. Counts do not depend on the machine, nor on the cost of kernel values.
"""
EIGEN_OPERATIONS = 9.0  # times n^3
EIGEN_BYTES = 3 * 8.0  # times n^2: the Gram matrix, its eigenvectors and their work space
FEW_LANDMARKS = 500
_LANDMARK_SHARE = 0.75
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
    warnings.warn(
        f"{what} needs {n_bytes / 2**30:.1f} GiB and {free / 2**30:.1f} GiB are free: landmarks are used. "
        "solver='landmarks' gives the same model on every machine.",
        UserWarning,
        stacklevel=3,
    )
    return False


def count_landmarks(asked: int | str, n: int | None) -> int:
    """Return how many landmarks take the place of ``n`` rows; ``n=None`` if the user asked for them.

    Three quarters of the rows that an eigendecomposition may have, 2250: not more operations than that at
    the row where they begin, and a quarter of the 9000 rows where they replace a Cholesky factor.
    """
    if asked != "auto":
        return check_count("n_landmarks", asked)
    if n is None:
        return FEW_LANDMARKS
    largest = round((OPERATIONS / EIGEN_OPERATIONS) ** (1 / 3))
    wanted = max(1, int(_LANDMARK_SHARE * min(n, largest)))
    row_bytes = 8.0 * _LANDMARK_ARRAYS * n
    free = memory_shortage(row_bytes * wanted)
    if free is None:
        return wanted
    number = max(1, int(free / row_bytes))
    warnings.warn(
        f"{wanted} landmarks of {n} rows need {row_bytes * wanted / 2**30:.1f} GiB and "
        f"{free / 2**30:.1f} GiB are free: n_landmarks='auto' takes {number}.",
        UserWarning,
        stacklevel=3,
    )
    return number
