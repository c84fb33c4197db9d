"""The exact solver of a kernel map: eigenvectors of the whole Gram matrix."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import column_signs, leading_or_all_pairs, smallest_ritz_value
from isthmus._validation import check_memory
from isthmus.features.axes import KernelAxes, MapOptions, choose_rank
from isthmus.features.cost import EIGEN_BYTES
from isthmus.kernels import (
    center_train,
    check_gram_finite,
    check_precomputed,
    check_psd,
    gram,
    is_precomputed,
    is_psd,
    length,
    owned,
)

DOUBLE_ROWS = 5000  # float32 eigenproblems up to this size are solved in float64


def fit_exact(kernel: Any, X: Any, options: MapOptions) -> KernelAxes:
    """Find the axes by the eigendecomposition of the Gram matrix of ``X``."""
    n, weights = length(X), options.sample_weight
    remedy = "solver='landmarks' takes n x n_landmarks numbers."
    check_memory(EIGEN_BYTES * n * n, f"The eigendecomposition of {n} x {n} numbers", remedy)
    K = _gram(kernel, X, options)
    dtype = K.dtype
    K = K.astype(np.float64, copy=False) if n <= DOUBLE_ROWS else K
    if K is X:  # precomputed: the caller's matrix is not centred in place
        K = K.copy()
    diagonal = K.diagonal().astype(np.float64)
    noise = _noise(K, dtype) * (1.0 if weights is None else float(weights.mean()))
    if options.map.center:
        share = None if weights is None else options.shares(n)
        K, row_means, mean = center_train(K, copy=False, share=share)
        lengths = K.diagonal().astype(np.float64)
    else:
        row_means = np.zeros(n)
        mean = 0.0
        lengths = diagonal
    counted = lengths
    if weights is not None:
        counted = lengths * weights
        root = np.sqrt(weights)
        K *= root[:, None]
        K *= root
    values, vectors = _spectrum(kernel, K, dtype, noise, options)
    del K  # as large as all that follows
    r = choose_rank(
        values,
        options.map.n_components,
        kernel=kernel,
        trace=float(np.maximum(values, 0).sum()) if len(values) == n else float(counted.sum()),
        tol=options.rank_tol(dtype),
        noise=noise,
    )
    values = values[:r].astype(np.float64)
    vectors = vectors[:, :r]
    if weights is not None:  # from eigenvectors of weighted rows to the rows themselves
        vectors = vectors / root[:, None]
    scores = vectors * (np.sqrt(values) * column_signs(vectors))
    del vectors
    duals = scores / values if weights is None else scores * (weights[:, None] / values)
    return KernelAxes(
        scores=scores.astype(dtype, copy=False),
        eigenvalues=values,
        residual=np.maximum(lengths - np.einsum("ij,ij->i", scores, scores), 0.0),
        mean=mean,
        points=np.arange(n) if is_precomputed(kernel) else owned(X),
        dual_coef=duals.astype(dtype, copy=False),
        row_means=row_means,
        mean_coef=options.shares(n),
    )


def _gram(kernel: Any, X: Any, options: MapOptions) -> NDArray:
    K = gram(kernel, X, n_jobs=options.map.n_jobs)
    if not is_psd(kernel) and not is_precomputed(kernel):
        K = check_precomputed(K, copy=False)
    check_gram_finite(K, kernel)
    return K


def _noise(K: NDArray, dtype: Any) -> float:
    """Return the largest eigenvalue that centring a constant matrix may leave by rounding."""
    return 8.0 * len(K) * float(np.finfo(dtype).eps) * float(np.abs(K.diagonal()).max(initial=0))


def _spectrum(
    kernel: Any, K: NDArray, dtype: Any, noise: float, options: MapOptions
) -> tuple[NDArray, NDArray]:
    asked = options.map.n_components
    r = int(asked) if isinstance(asked, Integral) else None
    values, vectors = leading_or_all_pairs(K, r)
    if len(values) == len(K):
        smallest = float(values[-1])
    else:
        smallest = 0.0 if is_psd(kernel) else smallest_ritz_value(K)
    if values[0] > noise and smallest < -noise:  # else rounding, of which the sign says nothing
        check_psd(smallest, float(values[0]), dtype, clip=options.map.indefinite == "clip")
    return values, vectors
