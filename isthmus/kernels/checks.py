"""Is this matrix a Gram matrix? Symmetry and positive semi-definiteness, with the figures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigvalsh, lapack

from isthmus._linalg import largest_eigenvalue
from isthmus._validation import warn

# Shares of the largest value that rounding in the making of a matrix can reach.
SYMMETRY_TOL = 1e-8
PSD_TOL = {"float64": 1e-6, "float32": 1e-3}
# Share of the largest eigenvalue beyond which clipping would make another kernel.
INDEFINITE = 0.05
CHEAP_ORDER = 500
"""Up to so many rows eigenvalues are cheap."""
ROUGH = 1e-3
"""Accuracy of an eigenvalue that others are only compared with."""
_CLIP = "ask for the negative eigenvalues to be set to zero with indefinite='clip'."
_CUT = "set the negative eigenvalues of a precomputed matrix to zero first."


def check_precomputed(K: Any, *, copy: bool = True) -> NDArray:
    """Return a square matrix of kernel values, symmetric to the last digit.

    It must be symmetric to 1e-8 of its largest absolute value (1e-5 in float32).
    """
    K = np.array(K) if copy else np.asarray(K)
    K = K if K.dtype in (np.float32, np.float64) else K.astype(np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"A precomputed kernel matrix has shape {K.shape}, must be square.")
    _check_finite(K)
    # float32 has seven digits, and sums lose some of them.
    tol = SYMMETRY_TOL if K.dtype == np.float64 else 1e-5
    largest = float(np.abs(K - K.T).max(initial=0))
    scale = float(np.abs(K).max(initial=0))
    if largest > tol * scale:
        raise ValueError(
            f"A precomputed kernel matrix is not symmetric: the largest difference K[i, j] - K[j, i] "
            f"is {largest:.3g}, must be <= {tol:g} times the largest entry {scale:.3g}."
        )
    return (K + K.T) * K.dtype.type(0.5) if largest else K


def check_gram_finite(K: NDArray, kernel: Any) -> None:
    """Refuse NaN and infinity that a kernel returned."""
    if not np.isfinite(K.sum(dtype=np.float64)):  # an overflowing sum is looked at again
        _check_finite(K, f" from {kernel!r}")


def _check_finite(K: NDArray, source: str = "") -> None:
    bad = ~np.isfinite(K)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ValueError(
            f"The kernel matrix{source} contains NaN or infinity, first at [{row}, {column}] "
            f"({K[row, column]})."
        )


def check_psd(
    smallest: float,
    largest: float,
    dtype: Any,
    *,
    clip: bool = False,
    name: str = "kernel matrix",
    can_clip: bool = True,
) -> None:
    """Warn about or refuse a smallest eigenvalue that is too far below zero.

    Below ``-1e-6`` of the largest (1e-3 in float32) a warning: eigenvalues are clipped at zero,
    which changes the kernel. Below ``-0.05`` of it an error, unless ``clip`` is asked for, which
    ``can_clip`` says the caller offers.
    """
    tol = PSD_TOL[np.dtype(dtype).name]
    if smallest >= -tol * max(largest, 0.0) and largest >= 0:
        return
    figures = f"its smallest eigenvalue is {smallest:.3g}, its largest {largest:.3g}"
    if smallest < -INDEFINITE * largest and not clip:
        raise ValueError(
            f"The {name} is not positive semi-definite: {figures}. Use another kernel, or "
            f"{_CLIP if can_clip else _CUT}"
        )
    warn(
        f"The {name} is not positive semi-definite: {figures}. Negative eigenvalues are set "
        "to zero, which changes the kernel.",
    )


def extreme_eigenvalues(K: NDArray, dtype: Any = np.float64) -> tuple[float, float]:
    """The smallest and the largest eigenvalue; zero for a smallest that :func:`check_psd` lets pass.

    Beyond a few hundred rows one Cholesky factor, shifted by what is let pass, tells whether any
    eigenvalue lies below: iterations towards an end where eigenvalues crowd would not settle.
    """
    if len(K) > CHEAP_ORDER:
        largest = largest_eigenvalue(K, ROUGH)
        A = np.array(K, dtype=np.float64, order="F")
        # Shifted by what is let pass, so that the factorisation fails for worse ones alone.
        A.flat[:: len(A) + 1] += PSD_TOL[np.dtype(dtype).name] * max(largest, 0.0)
        if largest > 0 and not lapack.dpotrf(A, lower=1, overwrite_a=1, clean=0)[1]:
            return 0.0, largest
    values = eigvalsh(K)
    return float(values[0]), float(values[-1])


def missing_part(K: NDArray, dtype: Any = np.float64, **options: Any) -> NDArray | None:
    """What makes a symmetric matrix positive semi-definite when added; None if it already is.

    Warns and raises as :func:`check_psd`, whose options these are.
    """
    smallest, largest = extreme_eigenvalues(K, dtype)
    check_psd(smallest, largest, dtype, **options)
    if smallest >= -PSD_TOL[np.dtype(dtype).name] * largest:
        return None
    values, vectors = np.linalg.eigh(K)
    below = vectors[:, values < 0]
    return np.asarray((below * -values[values < 0]) @ below.T)
