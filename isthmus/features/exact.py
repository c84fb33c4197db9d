"""The exact form of a kernel map: eigenvectors of the whole Gram matrix."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.features.spectrum import choose_rank
from isthmus.kernels import center_train, gram
from isthmus.kernels.checks import check_gram_finite, check_precomputed, check_psd
from isthmus.kernels.composite import is_psd
from isthmus.kernels.wrappers import is_precomputed
from isthmus.linalg import column_signs
from isthmus.linalg.eigen import leading_or_all_pairs, smallest_ritz_value
from isthmus.validation import check_memory

DOUBLE_ROWS = 5000  # float32 eigenproblems up to this size are solved in float64


def fit_exact(model: Any, X: Any) -> NDArray:
    """Set the fitted attributes of a kernel map; return the training coordinates."""
    n = len(X)
    remedy = "method='landmarks' takes n x n_landmarks numbers."
    check_memory(3 * 8.0 * n * n, f"The eigendecomposition of {n} x {n} numbers", remedy)
    K = _gram(model, X)
    dtype = K.dtype
    K = K.astype(np.float64, copy=False) if n <= DOUBLE_ROWS else K
    if K is X:  # precomputed: the caller's matrix is not centred in place
        K = K.copy()
    diagonal, noise = K.diagonal().astype(np.float64), _noise(K, dtype)
    if model.center:
        K, row_means, mean = center_train(K, copy=False)
        lengths = K.diagonal().astype(np.float64)
    else:
        row_means, mean, lengths = np.zeros(n), 0.0, diagonal
    values, vectors = _spectrum(model, K, dtype)
    r = choose_rank(
        values,
        model.n_components,
        trace=float(np.maximum(values, 0).sum()) if len(values) == n else float(lengths.sum()),
        tol=model._rank_tol(dtype),
        noise=noise,
    )
    values, vectors = values[:r].astype(np.float64), vectors[:, :r]
    roots = np.sqrt(values)
    scores = vectors * (roots * column_signs(vectors))
    model.eigenvalues_ = values
    model.dual_coef_ = (scores / values).astype(dtype)
    model.row_means_, model.mean_ = row_means, mean
    model.mean_coef_ = np.full(n, 1.0 / n if model.center else 0.0)
    model.residual_ = np.maximum(lengths - np.einsum("ij,ij->i", scores, scores), 0.0)
    model.points_ = np.arange(n) if is_precomputed(model.kernel_) else X
    return scores.astype(dtype)


def _gram(model: Any, X: Any) -> NDArray:
    K = gram(model.kernel_, X, n_jobs=model.n_jobs)
    if not is_psd(model.kernel_) and not is_precomputed(model.kernel_):
        K = check_precomputed(K, copy=False)
    check_gram_finite(K, model.kernel_)
    return K


def _noise(K: NDArray, dtype: Any) -> float:
    """Largest eigenvalue that centring a constant matrix may leave by rounding."""
    return 8.0 * len(K) * float(np.finfo(dtype).eps) * float(np.abs(K.diagonal()).max(initial=0))


def _spectrum(model: Any, K: NDArray, dtype: Any) -> tuple[NDArray, NDArray]:
    asked = model.n_components
    r = int(asked) if isinstance(asked, Integral) else None
    values, vectors = leading_or_all_pairs(K, r)
    clip = model.indefinite == "clip"
    if len(values) == len(K):
        check_psd(float(values[-1]), float(values[0]), dtype, clip=clip)
    elif not is_psd(model.kernel_):
        check_psd(smallest_ritz_value(K), float(values[0]), dtype, clip=clip)
    return values, vectors
