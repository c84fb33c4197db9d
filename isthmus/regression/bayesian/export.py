"""Draws in the form that ArviZ reads."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def inference_data(model: Any, X: ArrayLike | None, y: ArrayLike | None) -> Any:
    """An ``arviz.InferenceData`` of a fitted model; with data also likelihood and predictions."""
    try:
        import arviz
    except ImportError as error:
        raise ImportError(
            "to_inference_data needs ArviZ: pip install 'isthmus[bayes]' (arviz)."
        ) from error
    posterior = {
        "coef": model.coef_draws_,
        "intercept": model.intercept_draws_,
        "noise_scale": model.noise_draws_,
        "singular_values": _singular_values(model),
    }
    features = [
        str(name) for name in getattr(model, "feature_names_in_", range(model.n_features_in_))
    ]
    coords = {
        "feature": features,
        "target": list(range(len(model.y_mean_))),
        "component": list(range(model.n_components_)),
    }
    dims = {
        "coef": ["target", "feature"],
        "intercept": ["target"],
        "noise_scale": ["target"],
        "singular_values": ["component"],
    }
    groups: dict[str, Any] = {"posterior": posterior, "coords": coords, "dims": dims}
    if X is not None and y is not None:
        shape = model.noise_draws_.shape[:2]
        logs = model.log_likelihood(X, y)
        groups["log_likelihood"] = {"y": logs.reshape(*shape, -1)}
        new = model.sample_y(X, n_samples=shape[0] * shape[1], random_state=0)
        groups["posterior_predictive"] = {
            "y": np.moveaxis(new, -1, 0).reshape(*shape, len(logs[0]), -1)
        }
        groups["observed_data"] = {"y": np.asarray(y, dtype=float).reshape(len(logs[0]), -1)}
    return arviz.from_dict(**groups)


def _singular_values(model: Any) -> Any:
    s = model.subspaces().singular_values
    return s.reshape(*model.noise_draws_.shape[:2], -1)
