"""Where sample weights and groups go: by scikit-learn's metadata routing, or to fits and scores alike."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from typing import Any

from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.metrics import check_scoring, get_scorer
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from isthmus.model_selection.candidates import named_scorings
from isthmus.model_selection.splits import splitter_of


@dataclass(frozen=True)
class Routed:
    """Parameters of the fits, whether the scores are weighted, and groups of the splitter."""

    fit_params: dict[str, Any]
    score_is_weighted: bool
    groups: Any


def routing_is_enabled() -> bool:
    """Return whether scikit-learn's metadata routing is switched on."""
    return bool(get_config()["enable_metadata_routing"])


def takes_groups(model: Any) -> bool:
    """Return whether a fit of the model takes groups."""
    if routing_is_enabled():
        return bool(get_routing_for_object(model).consumes("fit", ["groups"]))
    return "groups" in signature(model.fit).parameters


def route(search: Any, given: dict[str, Any], prefix: str) -> Routed:
    """Return where the metadata of a fit go; ``prefix`` is that of the regression in a pipeline."""
    if not routing_is_enabled():
        weighted = "sample_weight" in given
        fit_params = {f"{prefix}sample_weight": given["sample_weight"]} if weighted else {}
        return Routed(fit_params, weighted, given.get("groups"))
    routed = process_routing(search, "fit", **given)
    scorers = [name for name in routed if name.startswith("scorer")]
    weighted = any("sample_weight" in routed[name].score for name in scorers)
    return Routed(dict(routed.estimator.fit), weighted, routed.splitter.split.get("groups"))


def needs_refitting(estimator: Any, named: dict[str, Any], prefix: str, routed: Routed) -> bool:
    """Return whether every candidate must be fitted in every fold: what the fast path does not cover."""
    if bool(routed.fit_params) != routed.score_is_weighted:  # the fast path weighs both or none
        return True
    if not prefix:
        return False
    if routed.fit_params and routing_is_enabled():  # other steps may have asked for them too
        return True
    # A callable may look at the inputs themselves, not at what the steps before make of them.
    has_callable = any(not isinstance(value, str | None) for value in named.values())
    return has_callable or bool(get_tags(estimator).input_tags.pairwise)


def search_router(search: Any) -> MetadataRouter:
    """Return the router of a search: to its estimator, its scorers and its splitter."""
    router = MetadataRouter(owner=type(search).__name__)
    router.add(estimator=search.estimator, method_mapping=_mapping(fit="fit"))
    named, several = named_scorings(search.scoring)
    for name, scoring in named.items():
        scorer = check_scoring(search.estimator) if scoring is None else scoring
        if isinstance(scorer, str):
            scorer = get_scorer("r2" if scorer == "q2" else scorer)
        place = f"scorer_{name}" if several else "scorer"
        router.add(**{place: scorer}, method_mapping=_mapping(fit="score", score="score"))
    router.add(splitter=splitter_of(search.cv, 10), method_mapping=_mapping(fit="split"))
    return router


def _mapping(**pairs: str) -> MethodMapping:
    mapping = MethodMapping()
    for caller, callee in pairs.items():
        mapping.add(caller=caller, callee=callee)
    return mapping


def is_refitted(search: Any) -> bool:
    """Return True if a search fits its choice to all rows; raise what ``hasattr`` asks for otherwise."""
    if search.refit is False:
        raise AttributeError("refit=False: best_estimator_ does not exist.")
    return True


def hands_on(name: str) -> Any:
    """Return a check that the chosen estimator has a method."""

    def check(search: Any) -> bool:
        is_refitted(search)
        getattr(getattr(search, "best_estimator_", search.estimator), name)  # raises AttributeError
        return True

    return check


class HandsOnTransforms:
    """What a search offers as a transformer, if the chosen estimator is one."""

    best_estimator_: Any
    fit: Any

    @available_if(hands_on("transform"))
    def transform(self, X: ArrayLike) -> Any:
        """Return the scores of the chosen model, (n_samples, n_components)."""
        check_is_fitted(self)
        return self.best_estimator_.transform(X)

    @available_if(hands_on("transform"))
    def fit_transform(self, X: ArrayLike, y: ArrayLike, **params: Any) -> Any:
        """Fit the search and return the scores of the chosen model."""
        return self.fit(X, y, **params).transform(X)

    @available_if(hands_on("inverse_transform"))
    def inverse_transform(self, X: ArrayLike) -> Any:
        """Return inputs from scores of the chosen model."""
        check_is_fitted(self)
        return self.best_estimator_.inverse_transform(X)

    @available_if(hands_on("get_feature_names_out"))
    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns that ``transform`` gives."""
        check_is_fitted(self)
        return self.best_estimator_.get_feature_names_out(input_features)

    @available_if(hands_on("set_output"))
    def set_output(self, *, transform: str | None = None) -> Any:
        """Set what ``transform`` returns: "pandas", "polars" or "default"; None changes nothing."""
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}
            if hasattr(self, "best_estimator_"):
                self.best_estimator_.set_output(transform=transform)
        return self
