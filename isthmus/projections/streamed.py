"""Projections of a source: landmarks and slices of a sample, then moments of the features of all rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import Array, spreads
from isthmus._validation import check_enough_samples
from isthmus.features import draw_sample
from isthmus.problems import Moments, Rows
from isthmus.problems.streams import near_moments
from isthmus.projections.features import MomentProblem, find_peaks, take_larger
from isthmus.projections.problem import OutputSide
from isthmus.projections.rows import OF_KERNELS, InputFeatures, KernelSide
from isthmus.regression import check_targets

Features = Callable[[NDArray], Array]


class SourceProblem(MomentProblem):
    """The moments of features of both sides of a source, in one pass; a second one for signs."""

    def __init__(
        self,
        source: Rows,
        inputs: InputFeatures,
        outputs: OutputSide,
        of_outputs: Features,
        method: str,
    ) -> None:
        self.F, self.outputs, self.method = inputs, outputs, method
        self.rounding = inputs.rounding, OF_KERNELS
        width = 1 if inputs.landmarks is None else inputs.n_landmarks
        self.rows = source.map(_of_new(inputs), width)
        moments = self.rows.merged(partial(_moments_of, of_outputs), Moments.merge)
        assert moments is not None
        self.whole = moments

    def peaks(self, mean: Array, coef: Array) -> Array:
        return np.asarray(self.rows.merged(partial(find_peaks, mean, coef), take_larger))


def _moments_of(outputs: Features, F: NDArray, Y: NDArray, w: Array | None) -> Moments:
    if w is not None and (w != 1).any():
        raise ValueError(
            "projections of Rows take no sample_weight: leave it out, or fit rows in memory."
        )
    G = outputs(Y)
    return near_moments(F, G, None, Moments(F.shape[1], G.shape[1]))


def prepare(
    projection: Any, source: Rows, seed: int
) -> tuple[SourceProblem, KernelSide, OutputSide]:
    """Return the problem of a projection, and both sides of a sample of the rows."""
    name = type(projection).__name__
    if projection.alpha == "cv" or projection.n_components == "auto" or projection.cv is not None:
        raise ValueError(
            f"{name} takes Rows without cross-validation: give numbers for alpha and n_components, "
            "chosen on a sample of the rows, and cv=None."
        )
    if projection.solver not in ("auto", "features"):
        raise ValueError(
            f"solver == {projection.solver!r} needs all rows at once: with Rows use solver='features'."
        )
    X, Y, _ = draw_sample(source, int(projection.n_landmarks), seed)
    check_targets(Y)
    inputs = projection._input_side(X)
    check_enough_samples(inputs.n)
    y = Y[:, 0] if source.y_is_1d else Y
    outputs = projection._output_side(y, inputs)
    m = projection._landmarks(inputs.n)
    selection = projection.selection
    features = InputFeatures(inputs, m, seed, selection)
    outputs.take_landmarks(m, seed, selection)
    of_outputs: Features
    if outputs.features is not None:
        of_outputs = _of_new(outputs.features)
    elif hasattr(projection, "slice_labels_"):
        of_outputs = _slice_rule(Y, projection.slice_labels_)
        del projection.slice_labels_  # of the sample
    else:
        of_outputs = _as_float64
    problem = SourceProblem(source, features, outputs, of_outputs, projection.eigenproblem)
    projection._name_columns(source, X.shape[1])
    return problem, inputs, outputs


def _as_float64(values: Any) -> Array:
    return np.asarray(values, dtype=np.float64)


def _of_new(features: InputFeatures) -> Features:
    """Features of rows that are not in the sample."""
    landmarks = features.landmarks
    if landmarks is None:
        return _as_float64
    return lambda rows: _as_float64(landmarks.transform(_as_float64(rows)))


def _slice_rule(Y: NDArray, labels: NDArray) -> Features:
    """Indicators of a sample's slices for new outputs: intervals of one output, else the nearest mean."""
    n_slices = int(labels.max()) + 1
    if Y.shape[1] == 1:
        order = np.argsort([Y[labels == j].min() for j in range(n_slices)])
        ends = np.array([Y[labels == j].max() for j in order])

        def slices(new: NDArray) -> Array:
            places = np.minimum(np.searchsorted(ends, new[:, 0]), n_slices - 1)
            return np.eye(n_slices)[order[places]]

        return slices
    unit = spreads(np.asarray(Y, dtype=np.float64))
    means = np.array([(Y[labels == j] / unit).mean(axis=0) for j in range(n_slices)])

    def nearest(new: NDArray) -> Array:
        distances = (means**2).sum(axis=1) - 2 * (new / unit) @ means.T
        return np.eye(n_slices)[distances.argmin(axis=1)]

    return nearest
