"""The candidates of a search, what scores them, and the table of results."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import check_scoring, get_scorer
from sklearn.pipeline import Pipeline

from isthmus._linalg import Array
from isthmus._validation import check_alpha, check_rank, warn
from isthmus.problems import QUICK_SCORES, OutputMean
from isthmus.regression import LatentRegression, PathScores, default_alphas, default_ranks


def candidate_ranks(given: Any, model: Any, shape: tuple[int, int, int]) -> list[int]:
    """Return the numbers of components to try; ``shape`` is (training rows, inputs, outputs)."""
    least = model._min_components
    if given is None:
        return default_ranks(model, *shape)
    if isinstance(given, Integral):
        most = check_rank(given, minimum=max(least, 1))
        assert most is not None
        return list(range(1, most + 1))
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ValueError(f"n_components == {given!r}, must be None, an int or a sequence of ints.")
    ranks = [check_rank(rank, minimum=least) for rank in given]
    if not ranks or None in ranks:
        raise ValueError(f"n_components == {given!r}, must list at least one int.")
    return [int(rank) for rank in ranks if rank is not None]


def candidate_alphas(given: Any, model: Any, X: Any, weights: Array | None) -> list[Any]:
    """Return the ridge weights to try; ``[None]`` if the model has none."""
    if not hasattr(model, "alpha"):
        if given is not None:
            warn(
                f"alpha == {given!r} is not used: {type(model).__name__} has no ridge weight.",
            )
        return [None]
    if given is None:
        return default_alphas(X, weights, model.scale)
    values = np.atleast_1d(np.asarray(given, dtype=object)).tolist()
    if not values:
        raise ValueError("alpha is empty: give at least one ridge weight.")
    return [check_alpha(value) for value in values]


def named_scorings(scoring: Any) -> tuple[dict[str, Any], bool]:
    """Return ``scoring`` by name, and whether there are several."""
    if isinstance(scoring, list | tuple | set):
        return {name: name for name in scoring}, True
    if isinstance(scoring, dict):
        return dict(scoring), True
    return {"score": scoring}, False


def make_scorers(
    estimator: Any, named: dict[str, Any], default: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the scorers for the engine, by name where it has a shortcut, and those for the user."""
    engine: dict[str, Any] = {}
    public: dict[str, Any] = {}
    for name, scoring in named.items():
        scoring = default if scoring is None else scoring
        is_name = isinstance(scoring, str)
        # A fitted search only scores new rows, for which Q2 is R2.
        public[name] = get_scorer("r2" if scoring == "q2" else scoring) if is_name else scoring
        if not callable(public[name]):
            check_scoring(estimator, scoring=scoring)  # raises scikit-learn's error
        engine[name] = OutputMean(public[name]) if is_name else public[name]
        if is_name and scoring in QUICK_SCORES:
            engine[name] = scoring
    return engine, public


def candidate_params(alphas: list[Any], ranks: list[int], prefix: str) -> list[dict[str, Any]]:
    """Return the parameters of all candidates, in the order of scikit-learn's ``ParameterGrid``."""
    found = []
    for alpha in alphas:
        fixed = {} if alpha is None else {f"{prefix}alpha": alpha}
        found += [{**fixed, f"{prefix}n_components": rank} for rank in ranks]
    return found


def results_table(found: PathScores, prefix: str) -> dict[str, Any]:
    """Return scikit-learn's ``cv_results_``; the time of a fold is shared evenly by its candidates."""
    params = candidate_params(found.alphas, found.ranks, prefix)
    results: dict[str, Any] = {}
    share = found.seconds / len(params)
    results["mean_fit_time"] = np.full(len(params), share.mean())
    results["std_fit_time"] = np.full(len(params), share.std())
    results["mean_score_time"] = results["std_score_time"] = np.zeros(len(params))
    for name in params[0]:
        values = np.array([candidate[name] for candidate in params])
        results[f"param_{name}"] = np.ma.array(values, mask=np.zeros(len(params), dtype=bool))
    results["params"] = params
    for name, scores in found.scores.items():
        flat = scores.reshape(len(params), -1)
        for i in range(flat.shape[1]):
            results[f"split{i}_test_{name}"] = flat[:, i]
        results[f"mean_test_{name}"] = flat.mean(axis=1)
        results[f"std_test_{name}"] = flat.std(axis=1)
        results[f"rank_test_{name}"] = _rank(results[f"mean_test_{name}"])
    return results


def _rank(means: Array) -> NDArray:
    order = np.where(np.isnan(means), -np.inf, means)
    better = (order[None, :] > order[:, None]).sum(axis=1)
    return (1 + better).astype(np.int32)


def known_columns(model: Any) -> dict[str, Any]:
    """Return the attributes by which a fitted model knows its columns."""
    names = ("n_features_in_", "feature_names_in_")
    return {name: getattr(model, name) for name in names if hasattr(model, name)}


def find_regression(estimator: Any) -> tuple[Any, str]:
    """Return the regression that has components, and the prefix of its parameters."""
    is_pipeline = isinstance(estimator, Pipeline)
    name, last = estimator.steps[-1] if is_pipeline else ("", estimator)
    if not isinstance(last, LatentRegression):
        place = "the last step of the pipeline" if is_pipeline else "estimator"
        raise TypeError(
            f"{place} is a {type(last).__name__}, expected a latent regression such as PCR, PLS or "
            "ReducedRankRegression; scikit-learn's GridSearchCV searches any other."
        )
    return last, f"{name}__" if is_pipeline else ""
