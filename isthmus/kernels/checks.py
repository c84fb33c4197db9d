"""Is this matrix a Gram matrix? Symmetry and positive semi-definiteness, with the figures."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

SYMMETRY_TOL = 1e-8
PSD_TOL = {"float64": 1e-6, "float32": 1e-3}
INDEFINITE = 0.05


def check_precomputed(K: Any, *, copy: bool = True) -> NDArray:
    """Return a square matrix of kernel values, symmetric to the last digit.

    It must be symmetric to 1e-8 of its largest absolute value (1e-5 in float32).
    """
    K = np.array(K, copy=copy or None)
    K = K if K.dtype in (np.float32, np.float64) else K.astype(np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"A precomputed kernel matrix has shape {K.shape}, must be square.")
    _check_finite(K)
    tol = SYMMETRY_TOL if K.dtype == np.float64 else 1e-5
    largest, scale = float(np.abs(K - K.T).max(initial=0)), float(np.abs(K).max(initial=0))
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


def check_psd(smallest: float, largest: float, dtype: Any, *, clip: bool = False) -> None:
    """Warn about or refuse a smallest eigenvalue that is too far below zero.

    Below ``-1e-6`` of the largest (1e-3 in float32) a warning: eigenvalues are clipped at zero,
    which changes the kernel. Below ``-0.05`` of it an error, unless ``clip`` is asked for.
    """
    tol = PSD_TOL[np.dtype(dtype).name]
    if smallest >= -tol * max(largest, 0.0) and largest >= 0:
        return
    figures = f"its smallest eigenvalue is {smallest:.3g}, its largest {largest:.3g}"
    if smallest < -INDEFINITE * largest and not clip:
        raise ValueError(
            f"The kernel matrix is not positive semi-definite: {figures}. Use another kernel, or "
            "ask for the negative eigenvalues to be set to zero with indefinite='clip'."
        )
    warnings.warn(
        f"The kernel matrix is not positive semi-definite: {figures}. Negative eigenvalues are set "
        "to zero, which changes the kernel.",
        UserWarning,
        stacklevel=3,
    )
