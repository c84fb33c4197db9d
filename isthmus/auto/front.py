"""From two tables to a model in one call."""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isthmus.auto.given import are_classes, check_classes, require_numbers
from isthmus.auto.progress import Progress, is_watched
from isthmus.auto.search import MethodSearchCV
from isthmus.inspection import names_of_outputs
from isthmus.regression import IndicatorClassifier
from isthmus.tables import Pair, Reading, pick_labels, read_pair


def fit_auto(
    X: Any,
    y: Any = None,
    *,
    cv: Any = "auto",
    prefer: str = "accurate",
    time_limit: float | None = None,
    report: Any = None,
    progress: Progress | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    verbose: int | None = None,
    exclude: Any = None,
    keep: Any = None,
    **options: Any,
) -> Any:
    """Compare the ladder of methods on two tables, choose, fit, and write a report.

    Parameters
    ----------
    X : array, frame or path
        Inputs (n_samples, n_features). A path is read as the command ``isthmus fit`` reads it: CSV,
        spreadsheets, Parquet, Feather and NumPy files, with row names and units recognised.
    y : array, frame, path or list of str
        Outputs (n_samples[, n_targets]). One output of text, of truth values or of the type "category"
        of pandas holds classes. If X is a path: a second path, or the names of the columns of the first
        table to predict.
    cv : "auto", int, "time" or splitter, default="auto"
        Outer folds of the comparison. "auto" is five shuffled folds; if the rows look ordered, score and
        intervals are those of later rows predicted from earlier ones.
    prefer : {"accurate", "simple", "small"}, default="accurate"
        Which answer is fitted.
    time_limit : float or None, default=None
        Seconds for everything.
    report : path or None, default=None
        Where to write the report.
    progress : callable of (label, folds done, folds), default=None
        Told what is under way.
    sample_weight, groups : arrays of shape (n_samples,), default=None
        Weights of the rows; rows of a group are never parted.
    verbose : int or None, default=None
        1 shows a leaderboard, 0 is silent; None shows it if a person is watching.
    exclude, keep : sequence of int or str, default=None
        Rows, by number or name, that are left out of everything, and rows that are part of the domain even
        if they stand out.
    **options :
        Of :class:`MethodSearchCV`: ``methods``, ``n_components``, ``loss``, ``kernel``, ``scale``,
        ``treatments``, ``scoring``, ``n_jobs``, ``random_state``; of its ``fit``: ``feature_names``,
        ``target_names``, ``row_names``.

    Returns
    -------
    search : MethodSearchCV
        With ``best_estimator_``, ``cv_results_``, ``predict`` and ``report(path)``. For classes an
        :class:`~isthmus.IndicatorClassifier` whose ``estimator_`` is the search.

    Examples
    --------
    >>> from isthmus import fit_auto
    >>> from isthmus.datasets import make_low_rank_regression
    >>> X, Y, _ = make_low_rank_regression(60, 8, 3, rank=2, noise=0.3, random_state=0)
    >>> fit_auto(X, Y, cv=5, methods=["pls", "ridge"]).best_estimator_.coef_.shape
    (3, 8)
    """
    if isinstance(X, str | os.PathLike):
        pair = _read(X, y, is_watched() if verbose is None else bool(verbose))
        options = {
            "feature_names": pair.feature_names,
            "target_names": pair.target_names,
            "row_names": pair.ids,
            **options,
        }
        X, y = pair.X, pair.Y
        if "classes" in pair.origin:
            y = np.array(pick_labels(pair.Y, pair.origin["classes"]["labels"]))
            options["target_names"] = [pair.origin["classes"]["column"]]
    require_numbers("X", X)
    names = {key: options.pop(key, None) for key in ("feature_names", "target_names")}
    params: dict[str, Any] = {
        "progress": progress, "groups": groups,
        "exclude": exclude, "keep": keep, "row_names": options.pop("row_names", None),
    }  # fmt: skip
    search = MethodSearchCV(cv=cv, prefer=prefer, time_limit=time_limit, verbose=verbose, **options)
    if are_classes(y):
        if sample_weight is not None:
            raise ValueError("sample_weight was given with classes, which take none: leave it out.")
        classifier = fit_classes(search, X, y, names["target_names"], **params)
        if report is not None:
            classifier.estimator_.report(report)
        return classifier
    require_numbers("y", y)
    search.fit(X, y, sample_weight=sample_weight, **names, **params)
    if report is not None:
        search.report(report)
    return search


def _read(X: str | os.PathLike[str], y: Any, speaks: bool) -> Pair:
    """Read inputs and outputs from one or two files, and say what was decided if asked to."""

    def tell(sentence: str) -> None:
        if speaks:
            print(sentence, file=sys.stderr)

    if isinstance(y, str | os.PathLike):
        return read_pair(os.fspath(X), os.fspath(y), [], Reading(tell=tell))
    return read_pair(os.fspath(X), None, list(y or []), Reading(tell=tell))


def fit_classes(
    search: MethodSearchCV, X: ArrayLike, y: ArrayLike, target_names: Any = None, **params: Any
) -> IndicatorClassifier:
    """Answer classes by regression on their indicators, with the accuracy in rows left out."""
    labels = check_classes(y)
    column = (names_of_outputs(y, target_names) or ["class"])[0]
    classes = [str(label) for label in np.unique(labels)]
    names = [f"{column}={label}" for label in classes]
    classifier = IndicatorClassifier(search).fit(X, labels, target_names=names, **params)
    found = classifier.estimator_.cv_predictions_
    known = np.isfinite(found).all(axis=1)
    guessed = classifier.classes_[found[known].argmax(axis=1)]
    classifier.cv_accuracy_ = float((guessed == labels[known]).mean())
    classifier.estimator_.note_origin(classes={"column": column, "labels": classes})
    return classifier
