"""Feature maps of a source: landmarks of a sample of its rows, axes from the moments of their features."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from isthmus._linalg import Array, column_signs
from isthmus.features.cost import EIGEN_OPERATIONS, most_landmarks
from isthmus.features.landmarks import Landmarks
from isthmus.features.low_rank import (
    describe_axes,
    fourier_features,
    leading_axes,
    unfitted_landmarks,
)
from isthmus.features.sampling import draw_sample
from isthmus.kernels import gram
from isthmus.problems import Moments, Rows


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
    X, _, _ = draw_sample(source, options.n_landmarks, options.map.random_state)
    kernel = kernel_map._resolve(X)
    features: Any
    if solver == "landmarks":
        most = most_landmarks(1, EIGEN_OPERATIONS, source.memory)
        features = unfitted_landmarks(options.n_landmarks, kernel, options)._fit(X, most)
    else:
        features = fourier_features(kernel, X, options)
    if solver == "landmarks" and X.dtype == np.float32:
        moments = _moments_in_span(source, features)
    else:
        moments = source.map(features.transform, features._n_features_out).moments(squares=True)
    means, values, axes = _principal_axes(kernel, moments, options, X.dtype)
    kept = describe_axes(features, means, values, axes, X.dtype)
    found = {f"{name}_": value for name, value in kept.items() if value is not None}
    found |= {"kernel_": kernel, "solver_": solver, "n_components_": len(values)}
    return StreamedMap(found, moments, means, axes, X.shape[1])


def _moments_in_span(source: Rows, landmarks: Landmarks) -> Moments:
    """Sum kernel values in float64 and turn the sums, instead of every row, into the basis.

    That squares the condition number of the landmarks, which is harmless for values that are rounded to
    float32 anyway: each row in the basis would have errors as large.
    """
    values = partial(gram, landmarks.kernel_, Y=landmarks.points_)
    moments = source.map(values, landmarks.n_components_).moments(squares=True)
    L = landmarks.factor_
    half = solve_triangular(L, moments.xx, lower=True)
    second = solve_triangular(L, half.T, lower=True)
    moments.xx = (second + second.T) / 2.0
    moments.xy = solve_triangular(L, moments.xy, lower=True)
    mean = solve_triangular(L, moments.x_mean, lower=True)
    moments._x_mean = mean, np.zeros_like(mean)
    return moments


def _principal_axes(
    kernel: Any, moments: Moments, options: Any, dtype: Any
) -> tuple[Array, Array, Array]:
    second, means = moments.xx, moments.x_mean
    total = float(second.trace()) + moments.weight * float(means @ means)
    if not options.map.center:
        second = second + moments.weight * np.outer(means, means)
        means = np.zeros_like(means)
    values, axes = leading_axes(kernel, second, total, dtype, options)
    return means, values, axes * column_signs(axes)
