"""Kernel dependency estimation from a source of row blocks: two passes, a sample and the moments."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import Ridge

from isthmus._linalg import Array, spreads
from isthmus._validation import check_enough_samples
from isthmus.dependency.chosen_ridge import WEIGHT_ROWS, choose_stages
from isthmus.dependency.linear_part import in_kernel_units, map_factors, scales_columns
from isthmus.expansion import Expansion
from isthmus.features import KernelMap, rows_within
from isthmus.problems import Moments, Rows
from isthmus.regression import LatentRegression, ReducedRankRegression, check_source, check_targets


def fit_source(model: Any, source: Rows) -> dict[str, Any]:
    """Return the fitted attributes of a ``DependencyRegressor`` with landmarks, outputs being vectors."""
    inputs = KernelMap() if model.inputs is None else clone(model.inputs)
    map_ = _streamed_map(model.map)
    if type(inputs) is not KernelMap:
        raise ValueError(
            f"inputs is a {type(inputs).__name__}, must be a KernelMap with Rows. For "
            "others, fit a pipeline, such as make_pipeline(Landmarks(), PLS())."
        )
    if not model._linear_outputs():
        raise ValueError(
            "outputs with a kernel need all rows at once: fit a sample of them in memory."
        )
    if model.solver == "dual":
        raise ValueError("solver == 'dual' needs all rows at once: Rows take 'auto' or 'stages'.")
    if model.map is None:
        X, Y, _ = source.sample(rows_within(source.memory, WEIGHT_ROWS), 0)
        check_targets(Y)
        given = None if model.inputs is None else inputs
        inputs, ridge = choose_stages(given, X, Y / spreads(Y), None)
        map_.alpha = ridge.alpha
    found = inputs._fit_source(source)
    check_targets(found.moments.xy)
    check_enough_samples(found.moments.n_samples)
    scores = _score_moments(found.moments, found.means, found.axes)
    y_scale = None
    if model.scale_y or scales_columns(map_, inputs):
        y_scale = _spreads(scores)
        scores.xy, scores.yy = scores.xy / y_scale, scores.yy / y_scale**2
        high, low = scores._y_mean
        scores._y_mean = high / y_scale, low / y_scale
    map_ = in_kernel_units(map_, inputs, None)
    map_._y_is_1d = False
    map_.n_iter_ = 1
    map_.n_features_in_ = len(scores.xx)
    map_._fit_moments(scores, map_._check_parameters())
    expansion = y_loadings = None
    intercept = np.zeros(scores.xy.shape[1])
    factors = None if inputs.solver_ == "fourier" else map_factors(map_)
    if factors is not None:
        W, y_loadings, intercept = factors
        coef, offset = inputs.collapse(W)
        expansion = Expansion(inputs.points_, coef, inputs.kernel_, offset)
    single = hasattr(inputs, "dual_coef_") and inputs.dual_coef_.dtype == np.float32
    return {
        "inputs_": inputs,
        "map_": map_,
        "outputs_": None,
        "solver_": "stages",
        "y_scale_": y_scale,
        "expansion_": expansion,
        "y_loadings_": y_loadings,
        "embedding_intercept_": intercept,
        "_single": single,  # whether predictions are float32
    }


def forget_stages(model: Any) -> None:
    """Drop what an earlier fit has set."""
    for name in ("inputs_", "map_", "outputs_", "preimage_", "expansion_", "y_loadings_"):
        model.__dict__.pop(name, None)


def _streamed_map(given: Any) -> Any:
    """Return the map as a regression that fits to moments."""
    if given is None:
        return ReducedRankRegression(alpha=1.0)  # until its weight is chosen
    if type(given) is Ridge:
        if not given.fit_intercept or given.positive or np.ndim(given.alpha):
            raise ValueError(
                f"map == {given!r}: with Rows a Ridge needs fit_intercept=True, one alpha and "
                "positive=False."
            )
        return ReducedRankRegression(alpha=given.alpha)
    if not isinstance(given, LatentRegression) or given._leaves_open():
        raise ValueError(
            f"map == {given!r}: with Rows it must be Ridge, or a latent regression such as PLS or "
            "ReducedRankRegression with numbers for n_components and alpha."
        )
    check_source(given)
    return clone(given)


def _score_moments(moments: Moments, means: Array, axes: Array) -> Moments:
    """The moments of the scores ``(F - means) axes`` from those of the features F."""
    q = moments.xy.shape[1]
    scores = Moments(axes.shape[1], q, full_yy=moments.yy.ndim == 2)
    scores.n_samples, scores.weight = moments.n_samples, moments.weight
    scores._x_mean = (moments.x_mean - means) @ axes, np.zeros(axes.shape[1])
    scores._y_mean = moments._y_mean
    scores.xx = axes.T @ moments.xx @ axes
    scores.xy = axes.T @ moments.xy
    scores.yy = moments.yy
    return scores


def _spreads(moments: Moments) -> Array:
    """Standard deviations of the outputs; 1 for one that does not vary."""
    deviations = np.sqrt(moments.yy / moments.weight)
    return np.where(deviations > 0, deviations, 1.0)


def is_single(samples: Any) -> bool:
    """Return whether samples are float32; objects have no dtype and follow the others."""
    kind = getattr(getattr(samples, "dtype", None), "kind", "O")
    return kind != "f" or samples.dtype == np.float32
