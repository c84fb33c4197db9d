"""Kernel maps from explicit features: the principal components of landmark or Fourier features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from isthmus.features.fourier import FourierFeatures
from isthmus.features.landmarks import Landmarks
from isthmus.features.spectrum import choose_rank
from isthmus.kernels import gram_diagonal
from isthmus.linalg import column_signs


def fit_features(model: Any, X: Any) -> NDArray:
    """Set the fitted attributes of a kernel map; return the training coordinates."""
    features: Landmarks | FourierFeatures
    if model.method_ == "landmarks":
        features = _landmarks(model)
        F = features._fit_features(X)
    else:
        features = _fourier(model, X)
        F = features.transform(X)
    means = F.mean(axis=0, dtype=np.float64) if model.center else np.zeros(F.shape[1])
    axes, scores = _principal_axes(model, F, means)
    if isinstance(features, Landmarks):
        model.points_ = features.points_
        L = features.factor_
        model.dual_coef_ = solve_triangular(L, axes, lower=True, trans="T").astype(F.dtype)
        model.row_means_ = L @ means
        model.mean_coef_ = solve_triangular(L, means, lower=True, trans="T")
        lengths = gram_diagonal(model.kernel_, X).astype(np.float64)
    else:
        model.features_, model.feature_means_ = features, means.astype(F.dtype)
        model.components_ = axes.astype(F.dtype)
        lengths = np.ones(len(X))
    model.mean_ = float(means @ means)
    if model.center:
        lengths += model.mean_ - 2.0 * (F @ means)
    model.residual_ = np.maximum(lengths - np.einsum("ij,ij->i", scores, scores), 0.0)
    return scores


def _principal_axes(model: Any, F: NDArray, means: NDArray) -> tuple[NDArray, NDArray]:
    """Leading eigenvectors of ``F'F``, centred, and the coordinates; sets ``eigenvalues_``."""
    n, m = F.shape
    if m <= n:
        second = (F.T @ F).astype(np.float64)
        total = float(second.trace())
        second -= n * np.outer(means, means)
    else:
        Fc = F.astype(np.float64) - means
        second = Fc @ Fc.T
        total = float((F.astype(np.float64) ** 2).sum())
    values, vectors = np.linalg.eigh(second)
    values, vectors = values[::-1], vectors[:, ::-1]
    r = choose_rank(
        values,
        model.n_components,
        trace=float(np.maximum(values, 0).sum()),
        tol=model._rank_tol(F.dtype),
        noise=8.0 * float(np.finfo(F.dtype).eps) * total,
        remedy=" More need a larger n_landmarks.",
    )
    model.eigenvalues_ = values[:r].copy()
    axes = vectors[:, :r] if m <= n else Fc.T @ (vectors[:, :r] / np.sqrt(values[:r]))
    scores = F @ axes.astype(F.dtype)
    scores -= (means @ axes).astype(F.dtype)
    flips = column_signs(scores)
    scores *= flips.astype(F.dtype)
    return axes * flips, scores


def _landmarks(model: Any) -> Landmarks:
    return Landmarks(
        model.kernel_,
        model.n_landmarks,
        selection=model.selection,
        indefinite=model.indefinite,
        random_state=model.random_state,
        n_jobs=model.n_jobs,
    )


def _fourier(model: Any, X: Any) -> FourierFeatures:
    n_waves = max(1, model.n_landmarks // 2)  # two features a wave
    return FourierFeatures(model.kernel_, n_waves, random_state=model.random_state).fit(X)
