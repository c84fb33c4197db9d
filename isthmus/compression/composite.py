"""Models that hold kernel models: pipelines, searches, classifiers made of several."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from isthmus._validation import check_count
from isthmus.compression.models import CompressedClassifier, predicts_classes, wrap_parts
from isthmus.compression.path import CompressionPath
from isthmus.expansion import Expansion, has_common_expansion
from isthmus.kernels import take


def holds_models(model: Any) -> bool:
    """Whether a model is a pipeline, a search or several classifiers, compressed through its parts."""
    if hasattr(model, "to_expansion") and not isinstance(model, CompressedClassifier):
        return False
    is_held = isinstance(model, Pipeline | CalibratedClassifierCV)
    return is_held or _is_search(model) or _has_parts(model)


def compress_inside(
    compress: Callable[..., Any], model: Any, n_points: int | None, **options: Any
) -> Any:
    """Compress what a model holds, with the arguments of :func:`isthmus.compress`.

    A pipeline comes back with its last step compressed and copies of the others; of a search its best
    model; of several classifiers in one each is compressed for itself.
    """
    if _is_search(model):
        return compress(_best(model), n_points, **options)
    if isinstance(model, Pipeline):
        return _pipeline(compress, model, n_points, **options)
    if isinstance(model, CalibratedClassifierCV):
        return _compress_calibrated(compress, model, n_points, **options)
    return _classifiers(compress, model, n_points, **options)


def count_points(model: Any) -> int:
    """Return the number of points of a model; of several expansions, the largest."""
    if _is_search(model):
        return count_points(_best(model))
    if isinstance(model, Pipeline):
        return count_points(model.steps[-1][1])
    if isinstance(model, CalibratedClassifierCV):
        return max(count_points(part.estimator) for part in model.calibrated_classifiers_)
    if _has_parts(model):
        return max(count_points(part) for part in _parts(model)[0])
    return Expansion.from_model(model).n_points


# -- searches and pipelines --------------------------------------------------------------------


def _is_search(model: Any) -> bool:
    is_known = isinstance(model, GridSearchCV | RandomizedSearchCV)
    return is_known or hasattr(model, "best_estimator_") or hasattr(model, "cv_results_")


def _best(search: Any) -> Any:
    check_is_fitted(search)
    if not hasattr(search, "best_estimator_"):
        raise ValueError(
            f"{type(search).__name__} has no best_estimator_, as with refit=False: give it refit=True, or "
            "compress a model of your own."
        )
    return search.best_estimator_


def _pipeline(
    compress: Callable[..., Any], model: Pipeline, n_points: int | None, **options: Any
) -> Pipeline:
    check_is_fitted(model)
    before = copy.deepcopy(model[:-1])  # a later fit must not change the original's steps
    if options["X"] is not None:
        options["X"] = _transform(before, options["X"])
    if options["validation"] is not None:
        X, y = options["validation"]
        options["validation"] = _transform(before, X), y
    name, last = model.steps[-1]
    small = Pipeline([*before.steps, (name, compress(last, n_points, **options))])
    small.set_params(memory=model.memory, verbose=model.verbose)
    small.compression_ = small.steps[-1][1].compression_
    return small


def _transform(before: Pipeline, X: Any) -> Any:
    return before.transform(X) if len(before.steps) else X


def _compress_calibrated(
    compress: Callable[..., Any],
    model: CalibratedClassifierCV,
    n_points: int | None,
    **options: Any,
) -> CalibratedClassifierCV:
    """The model with its classifiers compressed; what turns their values into probabilities stays."""
    check_is_fitted(model)
    parts = []
    for part in model.calibrated_classifiers_:
        part = copy.copy(part)
        kernel_model = getattr(part.estimator, "estimator", part.estimator)  # inside a frozen one
        known = part.estimator if holds_models(part.estimator) else kernel_model
        size = None if n_points is None else min(n_points, count_points(known))
        part.estimator = compress(known, size, **options)
        parts.append(part)
    small = copy.copy(model)
    small.calibrated_classifiers_ = parts
    small.compression_ = CompressionPath.of_parts([part.estimator.compression_ for part in parts])
    return small


# -- several classifiers in one ----------------------------------------------------------------


def _has_parts(model: Any) -> bool:
    if isinstance(model, CompressedClassifier):
        return hasattr(model, "estimators_")
    if isinstance(model, GaussianProcessClassifier):
        return hasattr(model, "base_estimator_") and not has_common_expansion(model)
    return isinstance(model, OneVsRestClassifier | OneVsOneClassifier)


def _parts(model: Any) -> tuple[list[Any], str]:
    """The classifiers of two classes, and what they tell apart."""
    if isinstance(model, CompressedClassifier):
        return list(model.estimators_), model.multi_class_
    if isinstance(model, GaussianProcessClassifier):
        return list(model.base_estimator_.estimators_), model.multi_class
    check_is_fitted(model)
    if (
        getattr(model, "multilabel_", False)
        or getattr(model, "pairwise_indices_", None) is not None
    ):
        raise ValueError(
            f"{type(model).__name__} for several labels per row, or one_vs_one with a precomputed kernel, "
            "is not compressed as a whole: compress each of its estimators_."
        )
    if not all(predicts_classes(part) for part in model.estimators_):
        raise ValueError(
            f"{type(model).__name__} of {type(model.estimators_[0]).__name__} is not compressed: its parts "
            "must be classifiers."
        )
    is_rest = isinstance(model, OneVsRestClassifier)
    return list(model.estimators_), "one_vs_rest" if is_rest else "one_vs_one"


def _classifiers(
    compress: Callable[..., Any], model: Any, n_points: int | None, **options: Any
) -> CompressedClassifier:
    parts, multi_class = _parts(model)
    counts = [count_points(part) for part in parts]
    if n_points is not None and check_count("n_points", n_points) > max(counts):
        raise ValueError(
            f"n_points == {n_points}, must be between 1 and {max(counts)}, the most points of a class."
        )
    small = []
    for k, (part, count) in enumerate(zip(parts, counts)):
        size = None if n_points is None else min(n_points, count)
        own = options | _own_rows(model.classes_, k, len(parts), multi_class, options)
        small.append(compress(part, size, **own))
    return wrap_parts(model, small, multi_class, n_points)


def _own_rows(
    classes: Any, k: int, n_parts: int, multi_class: str, options: dict[str, Any]
) -> dict[str, Any]:
    """Rows and labels of one part.

    Thresholds are set for pairs alone, since between one and the rest the largest value counts.
    """
    label = partial(_label_rows, classes, k, n_parts, multi_class)
    own: dict[str, Any] = {"y": None}
    if options["validation"] is not None:
        own["validation"] = label(*options["validation"])
    if options["X"] is not None and options["y"] is not None:
        if multi_class == "one_vs_one" or n_parts == 1:
            own["X"], own["y"] = label(options["X"], options["y"])
    return own


def _label_rows(
    classes: Any, k: int, n_parts: int, multi_class: str, X: Any, y: Any
) -> tuple[Any, Any]:
    y = np.asarray(y)
    if n_parts == 1:
        return X, (y == classes[1]).astype(int)
    if multi_class == "one_vs_rest":
        return X, (y == classes[k]).astype(int)
    first, second = np.triu_indices(len(classes), 1)
    rows = np.flatnonzero((y == classes[first[k]]) | (y == classes[second[k]]))
    X = X.to_numpy() if hasattr(X, "to_numpy") else X
    return take(X, rows), (y[rows] == classes[second[k]]).astype(int)
