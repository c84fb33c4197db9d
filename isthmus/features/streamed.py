"""Feature maps of a source: landmarks of a sample of its rows, axes from the moments of their features."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from isthmus._linalg import Array, column_signs
from isthmus.features.axes import choose_rank
from isthmus.features.cost import EIGEN_OPERATIONS, most_landmarks
from isthmus.features.fourier import FourierFeatures
from isthmus.features.landmarks import Landmarks
from isthmus.features.low_rank import number_of_waves
from isthmus.features.sampling import draw_sample
from isthmus.kernels.gram import gram
from isthmus.problems import Moments
from isthmus.problems.streams.sources import Rows


@dataclass(frozen=True)
class StreamedMap:
    """A ``KernelMap`` of a source: its fitted attributes, and what they follow from."""

    attributes: dict[str, Any]
    moments: Moments  # of the features and of y
    means: Array  # of the features
    axes: Array  # in the space of the features
    n_features: int  # columns of the source


def fit_map(kernel_map: Any, source: Rows) -> StreamedMap:
    """Find the axes of a ``KernelMap``, in one pass after the sample."""
    solver = "landmarks" if kernel_map.solver == "auto" else kernel_map.solver
    if solver == "exact":
        raise ValueError(
            "solver == 'exact' needs all rows at once: Rows take 'landmarks' or 'fourier'."
        )
    if kernel_map.preimage is not None:
        raise ValueError("preimage needs all rows at once: Rows take preimage=None.")
    options = kernel_map._options()
    X, _, _ = draw_sample(source, options.n_landmarks, options.random_state)
    kernel = kernel_map._resolve(X)
    features: Any
    if solver == "landmarks":
        features = Landmarks(
            options.n_landmarks,
            kernel,
            selection=options.selection,
            indefinite=options.indefinite,
            random_state=options.random_state,
            n_jobs=options.n_jobs,
        )._fit(X, most_landmarks(1, EIGEN_OPERATIONS, source.memory))
    else:
        waves = number_of_waves(options)
        features = FourierFeatures(waves, kernel, random_state=options.random_state).fit(X)
    if solver == "landmarks" and X.dtype == np.float32:
        moments = _moments_in_span(source, features)
    else:
        moments = source.map(features.transform, features._n_features_out).moments(squares=True)
    means, values, axes = _principal_axes(kernel, moments, options, X.dtype)
    found = {
        "kernel_": kernel,
        "solver_": solver,
        "eigenvalues_": values,
        "mean_": float(means @ means),
        "n_components_": len(values),
    }
    if hasattr(features, "trace_error_"):
        found["trace_error_"] = features.trace_error_
    if solver == "landmarks":
        L = features.factor_
        found["points_"] = features.points_
        found["dual_coef_"] = solve_triangular(L, axes, lower=True, trans="T").astype(X.dtype)
        found["row_means_"] = L @ means
        found["mean_coef_"] = solve_triangular(L, means, lower=True, trans="T")
    else:
        found["features_"] = features
        found["feature_means_"] = means.astype(X.dtype)
        found["components_"] = axes.astype(X.dtype)
    return StreamedMap(found, moments, means, axes, X.shape[1])


def _moments_in_span(source: Rows, landmarks: Landmarks) -> Moments:
    """Sum kernel values in float64 and turn the sums, instead of every row, into the basis.

    That squares the condition number of the landmarks, which is harmless for values that are rounded to
    float32 anyway: each row in the basis would have errors as large.
    """
    values = partial(_kernel_values, landmarks.kernel_, landmarks.points_)
    moments = source.map(values, landmarks.n_components_).moments(squares=True)
    L = landmarks.factor_
    half = solve_triangular(L, moments.xx, lower=True)
    second = solve_triangular(L, half.T, lower=True)
    moments.xx = (second + second.T) / 2.0
    moments.xy = solve_triangular(L, moments.xy, lower=True)
    mean = solve_triangular(L, moments.x_mean, lower=True)
    moments._x_mean = mean, np.zeros_like(mean)
    return moments


def _kernel_values(kernel: Any, points: Any, X: Any) -> Any:
    return gram(kernel, X, points)


def _principal_axes(
    kernel: Any, moments: Moments, options: Any, dtype: Any
) -> tuple[Array, Array, Array]:
    second, means = moments.xx, moments.x_mean
    total = float(second.trace()) + moments.weight * float(means @ means)
    if not options.center:
        second = second + moments.weight * np.outer(means, means)
        means = np.zeros_like(means)
    values, vectors = np.linalg.eigh(second)
    values, vectors = values[::-1], vectors[:, ::-1]
    r = choose_rank(
        values,
        options.n_components,
        kernel=kernel,
        trace=float(np.maximum(values, 0).sum()),
        tol=options.rank_tol(dtype),
        noise=8.0 * float(np.finfo(dtype).eps) * total,
        remedy=" Raise n_landmarks for more.",
    )
    axes = vectors[:, :r]
    return means, values[:r].copy(), axes * column_signs(axes)
