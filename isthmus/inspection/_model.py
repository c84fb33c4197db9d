"""What every diagnostic reads from a fitted model: its frame, its scores, a refit."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_triangular
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from isthmus._linalg import Array
from isthmus._validation import check_array, check_weights, validate_data
from isthmus.losses import Loss
from isthmus.regression import LatentRegression


def check_model(model: Any) -> None:
    """Refuse what is not a fitted latent-variable regression."""
    if not isinstance(model, LatentRegression):
        raise TypeError(
            f"model is a {type(model).__name__}, must be a fitted PCR, PLS, ReducedRankRegression, "
            f"StiefelRegression or ManifoldPLS; {_inside(model)}."
        )
    check_is_fitted(model)


def split_model(model: Any) -> tuple[list[Any], Any]:
    """Transformers before a model, and the model in a search, a classifier or a pipeline."""
    for name in ("best_estimator_", "estimator_"):
        while hasattr(model, name):
            model = getattr(model, name)
    if not isinstance(model, Pipeline):
        return [], model
    before = [step for _, step in model.steps[:-1] if step not in (None, "passthrough")]
    further, last = split_model(model.steps[-1][1])
    return before + further, last


def latent_part(model: Any, X: Any = None) -> tuple[Any, Any]:
    """Return the latent regression in a search, a classifier or a pipeline, and rows as it sees them."""
    before, last = split_model(model)
    check_model(last)
    for step in before if X is not None else []:
        X = step.transform(X)
    return last, X


def _inside(model: Any) -> str:
    """Where the regression is in something that holds one."""
    for name in ("best_estimator_", "estimator_"):
        if isinstance(getattr(model, name, None), (LatentRegression, BaseEstimator)):
            return f"hand in its {name}"
    return "of a pipeline hand in the last step and transformed inputs"


def check_batch(model: LatentRegression, what: str) -> None:
    """Refuse a map that was moved by blocks and knows nothing of its rows but their means."""
    if getattr(model, "solver_", None) == "proximal":
        raise ValueError(
            f"{what}, and partial_fit with online='proximal' keeps nothing of its rows but the last map: "
            "use online='exact', or fit to all rows."
        )


def has_link(model: LatentRegression) -> bool:
    """Whether predictions go through a link function, as log-odds and logarithms of rates do."""
    loss: Loss | None = getattr(model, "loss_", None)
    return loss is not None and loss.has_link


def on_scale_of_y(model: LatentRegression, linear: Array) -> Array:
    """Outputs from the values of the linear map."""
    return model.loss_.inverse_link(linear) if has_link(model) else linear


def check_rows(model: LatentRegression, X: ArrayLike) -> Array:
    """Inputs in float64, with the columns that the model was fitted on."""
    check_model(model)
    try:
        return validate_data(model, X, reset=False, dtype=np.float64)
    except ValueError as error:
        raise _complete_rows(error) from error


def check_targets(model: LatentRegression, X: Array, y: ArrayLike) -> Array:
    """Outputs in float64 and two dimensions, as many rows as ``X``."""
    try:
        Y = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
    except ValueError as error:
        raise _complete_rows(error) from error
    check_consistent_length(X, Y)
    Y = Y.reshape(len(Y), -1)
    if Y.shape[1] != len(model.y_mean_):
        raise ValueError(f"y has {Y.shape[1]} targets, the model {len(model.y_mean_)}.")
    return Y


def _complete_rows(error: ValueError) -> ValueError:
    first = str(error).split("\n")[0]
    if "contains NaN" not in first:
        return error
    return ValueError(f"{first} Diagnostics take complete rows: leave out or fill those with NaN.")


def check_level(level: float) -> None:
    if isinstance(level, bool) or not isinstance(level, Real) or not 0 < level < 1:
        raise ValueError(f"level == {level!r}, must be a number between 0 and 1, such as 0.95.")


def training_rows(
    model: LatentRegression, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[Array, Array, Array | None]:
    """Checked training data; rows without weight are left out, so that they are not counted."""
    X = check_rows(model, X)
    Y = check_targets(model, X, y)
    weights = check_weights(sample_weight, X)
    if weights is None:
        return X, Y, None
    keep = weights > 0
    return X[keep], Y[keep], weights[keep]


def standardise(model: LatentRegression, X: Array) -> Array:
    """Inputs in the frame in which the model's loadings and rotations live."""
    return (X - model.x_mean_) / model.x_scale_


def orthonormal_scores(model: LatentRegression, T: Array) -> Array:
    r"""Scores turned so that on the training rows :math:`S^\top W S = I`, one component after
    another.

    Then :math:`t^\top (T^\top W T)^{-1} t = \|s\|^2`.
    """
    check_batch(model, "the scores of the training rows are needed")
    if model.n_components_ == 0:
        return np.zeros((len(T), 0))
    L = np.linalg.cholesky(model.score_gram_)
    return solve_triangular(L, T.T, lower=True).T


def as_fitted(model: LatentRegression, Y: Array) -> Array:
    """Drop the axis of a single target, the last one, if the model was fitted to a 1-D ``y``."""
    return Y[..., 0] if np.ndim(model.coef_) == 1 else Y


def refit(
    model: LatentRegression, X: Array, Y: Array, weights: Array | None = None
) -> LatentRegression:
    """The same model on other rows, with the number of components that was chosen before."""
    check_batch(model, "refits to parts of the rows are needed")
    new = clone(model)
    if isinstance(model.n_components, str):
        new.set_params(n_components=max(model.n_components_, model._min_components))
    return new.fit(X, as_fitted(model, Y), sample_weight=weights)


def row_weights(sample_weight: ArrayLike | None, X: Array) -> Array:
    """Checked weights, one per row; ones if none are given."""
    weights = check_weights(sample_weight, X)
    return np.ones(len(X)) if weights is None else weights


def coef_2d(model: LatentRegression) -> NDArray:
    return np.atleast_2d(model.coef_)


def names_of_outputs(y: Any, names: Any) -> list[str] | None:
    """Names of outputs: those given, the columns of a frame, or the name of a series."""
    own = getattr(y, "name", None)
    sources = names, getattr(y, "columns", None), None if own in (None, "") else [own]
    found = next((each for each in sources if each is not None), None)
    return None if found is None else [str(name) for name in found]


def count_components(model: Any) -> int | None:
    """Number of components, if the model has them."""
    n = getattr(model, "n_components_", None)
    return None if n is None else int(np.max(n))


def r2_of_errors(errors: Array, Y: Array) -> float:
    """R2 of these errors, the mean over the outputs that vary."""
    with np.errstate(divide="ignore", invalid="ignore"):  # an output may be constant
        left = np.nanmean(errors**2, axis=0) / np.nanvar(Y, axis=0)
    return float(1 - left[np.isfinite(left)].mean()) if left.any() else 1.0
