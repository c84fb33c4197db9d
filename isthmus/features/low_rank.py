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
from isthmus.kernels.gram import gram_diagonal, length


def fit_landmarks(kernel: Any, X: Any, options: MapOptions) -> KernelAxes:
    """Find the axes in the span of landmarks."""
    lengths = gram_diagonal(kernel, X).astype(np.float64)
    landmarks, F = landmark_features(kernel, X, lengths, options)
    means = _means(F, options)
    values, axes, scores = _principal_axes(kernel, F, means, options)
    L = landmarks.factor_
    return KernelAxes(
        scores=scores,
        eigenvalues=values,
        residual=_residual(lengths, F, means, scores),
        mean=float(means @ means),
        trace_error=getattr(landmarks, "trace_error_", None),
        points=landmarks.points_,
        dual_coef=solve_triangular(L, axes, lower=True, trans="T").astype(F.dtype),
        row_means=L @ means,
        mean_coef=solve_triangular(L, means, lower=True, trans="T"),
    )


def landmark_features(
    kernel: Any, X: Any, lengths: NDArray, options: MapOptions
) -> tuple[Landmarks, NDArray]:
    """Choose landmarks, as many as a ridge asks for if there is one; return them and the features."""
    number, most = options.n_landmarks, most_landmarks(length(X), EIGEN_OPERATIONS)
    if options.ridge is not None:
        counted = lengths if options.sample_weight is None else lengths * options.sample_weight
        number, most = share_for_ridge(options.ridge, float(counted.sum())), int(number)
    landmarks = Landmarks(
        number,
        kernel,
        selection=options.selection,
        indefinite=options.indefinite,
        random_state=options.random_state,
        n_jobs=options.n_jobs,
    )
    tell = options.ridge is None
    landmarks._fit(X, most, tell=tell, sample_weight=options.sample_weight)
    return landmarks, landmarks._features(X)


def fit_fourier(kernel: Any, X: Any, options: MapOptions) -> KernelAxes:
    """Find the axes in the span of random Fourier features."""
    waves = FourierFeatures(
        number_of_waves(options), kernel, random_state=options.random_state
    ).fit(X)
    F = waves.transform(X)
    means = _means(F, options)
    values, axes, scores = _principal_axes(kernel, F, means, options)
    return KernelAxes(
        scores=scores,
        eigenvalues=values,
        residual=_residual(np.ones(len(F)), F, means, scores),
        mean=float(means @ means),
        features=waves,
        feature_means=means.astype(F.dtype),
        components=axes.astype(F.dtype),
    )


def number_of_waves(options: MapOptions) -> int:
    """Return the number of Fourier features, which no share of the trace can tell."""
    if is_share(options.n_landmarks):
        raise ValueError(
            f"n_landmarks == {options.n_landmarks}, must be an integer for solver='fourier'."
        )
    return int(options.n_landmarks)


def _means(F: NDArray, options: MapOptions) -> NDArray:
    if options.center and options.sample_weight is not None:
        return np.asarray(options.shares(len(F)) @ F)
    return F.mean(axis=0, dtype=np.float64) if options.center else np.zeros(F.shape[1])


def _residual(lengths: NDArray, F: NDArray, means: NDArray, scores: NDArray) -> NDArray:
    """Return the squared distances from the axes; the means are zero without centring."""
    centred = lengths + (means @ means - 2.0 * (F @ means))
    return np.maximum(centred - np.einsum("ij,ij->i", scores, scores), 0.0)


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
    values, vectors = np.linalg.eigh(second)
    values, vectors = values[::-1], vectors[:, ::-1]
    r = choose_rank(
        values,
        options.n_components,
        kernel=kernel,
        trace=float(np.maximum(values, 0).sum()),
        tol=options.rank_tol(F.dtype),
        noise=8.0 * float(np.finfo(F.dtype).eps) * total,
        remedy=" Raise n_landmarks for more.",
    )
    axes = vectors[:, :r] if m <= n else Fc.T @ (vectors[:, :r] / np.sqrt(values[:r]))
    scores = F @ axes.astype(F.dtype)
    scores -= (means @ axes).astype(F.dtype)
    flips = column_signs(scores)
    scores *= flips.astype(F.dtype)
    return values[:r].copy(), axes * flips, scores
