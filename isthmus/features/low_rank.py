"""Kernel maps from explicit features: the principal components of landmark or Fourier features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from isthmus._linalg import column_signs
from isthmus.features.axes import KernelAxes, MapOptions, choose_rank
from isthmus.features.cost import EIGEN_OPERATIONS, is_share, most_landmarks, share_for_ridge
from isthmus.features.fourier import FourierFeatures
from isthmus.features.landmarks import Landmarks
from isthmus.kernels import gram_diagonal, length


def fit_landmarks(kernel: Any, X: Any, options: MapOptions) -> KernelAxes:
    """Find the axes in the span of landmarks."""
    lengths = gram_diagonal(kernel, X).astype(np.float64)
    landmarks, F = landmark_features(kernel, X, lengths, options)
    return _fit_features(kernel, landmarks, F, lengths, options)


def landmark_features(
    kernel: Any, X: Any, lengths: NDArray, options: MapOptions
) -> tuple[Landmarks, NDArray]:
    """Choose landmarks, as many as a ridge asks for if there is one; return them and the features."""
    number = options.n_landmarks
    most = most_landmarks(length(X), EIGEN_OPERATIONS)
    if options.ridge is not None:
        counted = lengths if options.sample_weight is None else lengths * options.sample_weight
        number, most = share_for_ridge(options.ridge, float(counted.sum())), int(number)
    landmarks = unfitted_landmarks(number, kernel, options)
    tell = options.ridge is None
    landmarks._fit(X, most, tell=tell, sample_weight=options.sample_weight)
    return landmarks, landmarks._features(X)


def unfitted_landmarks(number: int | float, kernel: Any, options: MapOptions) -> Landmarks:
    """Return landmarks with the options of a map."""
    return Landmarks(
        number,
        kernel,
        selection=options.map.selection,
        indefinite=options.map.indefinite,
        random_state=options.map.random_state,
        n_jobs=options.map.n_jobs,
    )


def fit_fourier(kernel: Any, X: Any, options: MapOptions) -> KernelAxes:
    """Find the axes in the span of random Fourier features."""
    waves = fourier_features(kernel, X, options)
    F = waves.transform(X)
    return _fit_features(kernel, waves, F, np.ones(len(F)), options)


def fourier_features(kernel: Any, X: Any, options: MapOptions) -> FourierFeatures:
    """Draw as many Fourier features as there would be landmarks."""
    if is_share(options.n_landmarks):  # of the trace, which does not tell their number
        raise ValueError(
            f"n_landmarks == {options.n_landmarks}, must be an integer for solver='fourier'."
        )
    number = int(options.n_landmarks)
    return FourierFeatures(number, kernel, random_state=options.map.random_state).fit(X)


def _fit_features(
    kernel: Any, features: Any, F: NDArray, lengths: NDArray, options: MapOptions
) -> KernelAxes:
    means = _means(F, options)
    values, axes, scores = _principal_axes(kernel, F, means, options)
    # The means are zero without centring.
    centred = lengths + (means @ means - 2.0 * (F @ means))
    return KernelAxes(
        scores=scores,
        residual=np.maximum(centred - np.einsum("ij,ij->i", scores, scores), 0.0),
        **describe_axes(features, means, values, axes, F.dtype),
    )


def describe_axes(
    features: Any, means: NDArray, values: NDArray, axes: NDArray, dtype: Any
) -> dict[str, Any]:
    """Return what a map keeps of axes in the space of features."""
    found = {"eigenvalues": values, "mean": float(means @ means)}
    if isinstance(features, FourierFeatures):
        return found | {
            "features": features,
            "feature_means": means.astype(dtype),
            "components": axes.astype(dtype),
        }
    L = features.factor_
    return found | {
        "trace_error": getattr(features, "trace_error_", None),
        "points": features.points_,
        "dual_coef": solve_triangular(L, axes, lower=True, trans="T").astype(dtype),
        "row_means": L @ means,
        "mean_coef": solve_triangular(L, means, lower=True, trans="T"),
    }


def _means(F: NDArray, options: MapOptions) -> NDArray:
    if options.map.center and options.sample_weight is not None:
        return np.asarray(options.shares(len(F)) @ F)
    if options.map.center:
        return F.mean(axis=0, dtype=np.float64)
    return np.zeros(F.shape[1])


def _principal_axes(
    kernel: Any, F: NDArray, means: NDArray, options: MapOptions
) -> tuple[NDArray, NDArray, NDArray]:
    """Return the leading eigenvalues and eigenvectors of ``F'F``, centred, and the coordinates."""
    n, m = F.shape
    weights = options.sample_weight
    Fw = F if weights is None else F * np.sqrt(weights)[:, None]
    if m <= n:
        second = (Fw.T @ Fw).astype(np.float64)
        total = float(second.trace())
        second -= (n if weights is None else float(weights.sum())) * np.outer(means, means)
    else:
        Fc = F.astype(np.float64) - means
        Fc = Fc if weights is None else Fc * np.sqrt(weights)[:, None]
        second = Fc @ Fc.T
        total = float((Fw.astype(np.float64) ** 2).sum())
    values, axes = leading_axes(kernel, second, total, F.dtype, options)
    if m > n:
        axes = Fc.T @ (axes / np.sqrt(values))
    scores = F @ axes.astype(F.dtype)
    scores -= (means @ axes).astype(F.dtype)
    flips = column_signs(scores)
    scores *= flips.astype(F.dtype)
    return values, axes * flips, scores


def leading_axes(
    kernel: Any, second: NDArray, total: float, dtype: Any, options: MapOptions
) -> tuple[NDArray, NDArray]:
    """Return the eigenvalues of second moments that are kept, largest first, and their vectors."""
    values, vectors = np.linalg.eigh(second)
    values, vectors = values[::-1], vectors[:, ::-1]
    r = choose_rank(
        values,
        options.map.n_components,
        kernel=kernel,
        trace=float(np.maximum(values, 0).sum()),
        tol=options.rank_tol(dtype),
        noise=8.0 * float(np.finfo(dtype).eps) * total,
        remedy=" Raise n_landmarks for more.",
    )
    return values[:r].copy(), vectors[:, :r]
