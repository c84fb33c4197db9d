"""Model files as the sub-commands use them."""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus.cli.app import InputError
from isthmus.cli.planning import check_file
from isthmus.inspection import Trusted, TrustLayer


def load_search(path: str, trusted_key: str | None = None) -> Any:
    """A model that ``isthmus fit`` has written; with a key, that its holder has signed."""
    from isthmus.auto import MethodSearchCV

    model = load_model(path, trusted_key)
    if isinstance(model, MethodSearchCV):
        return model
    kind = type(getattr(model, "estimator_", model)).__name__
    raise InputError(
        f"{path} holds a {kind}, fitted in blocks or in Python: isthmus predict and isthmus report take "
        "it, this command needs a model that isthmus fit has fitted in memory (see its --memory)."
    )


def load_model(path: str, trusted_key: str | None = None) -> Any:
    """Any model of a file that predicts numbers from rows of numbers."""
    from isthmus.auto import MethodSearchCV
    from isthmus.persistence import load

    check_file(path, "a model file")
    model = load(path, trusted_key=trusted_key)
    if isinstance(model, MethodSearchCV | Trusted):
        return model
    return PlainModel(model, path)


class PlainModel(TrustLayer):
    """An estimator that was saved as it is: without a domain, and perhaps without names."""

    def __init__(self, model: Any, path: str) -> None:
        self.estimator_ = model
        self.n_features_in_ = getattr(model, "n_features_in_", None)
        if self.n_features_in_ is None or not hasattr(model, "predict"):
            raise InputError(
                f"{path} holds a {type(model).__name__}, which cannot predict from a table of numbers: "
                "use it in Python with isthmus.load."
            )
        if hasattr(model, "feature_names_in_"):
            self.feature_names_in_ = model.feature_names_in_
        # Earlier versions kept these of a table that was fitted in blocks.
        self.domain_ = getattr(model, "domain_", None)
        self.residual_quantiles_ = getattr(model, "residual_quantiles_", None)
        if self.residual_quantiles_ is not None:
            self.n_samples_ = len(self.residual_quantiles_)
            self.best_score_ = model.best_score_
        example = np.asarray(self.predict_rows(np.zeros((1, self.n_features_in_))))
        if example.dtype.kind not in "biuf":
            raise InputError(
                f"{path} holds a {type(model).__name__}, whose outputs are not numbers: use it in Python "
                "with isthmus.load."
            )
        names = [f"y{j}" for j in range(example.size)]
        self.target_names_ = list(getattr(model, "target_names_", names))
