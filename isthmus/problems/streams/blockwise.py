"""What lets methods of estimators take a source in place of an array."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from isthmus._validation import is_dask
from isthmus.problems.streams.dask_door import dask_result
from isthmus.problems.streams.sources import Rows, as_rows


def by_blocks(method: Callable[..., Any]) -> Any:
    """Let a method of new rows take a source as well: it then yields its results block by block."""

    @wraps(method)
    def call(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        if is_dask(X):
            return dask_result(self, method.__name__, X, *args, **options)
        source = None if isinstance(X, np.ndarray) else as_rows(X)
        if source is None:
            return method(self, X, *args, **options)
        check_names(self, source)
        return source.apply(partial(_call, method, self, args, options))

    return call


def maps_blocks(method: Callable[..., Any]) -> Any:
    """Let ``transform`` take a source as well: it returns a source of the transformed rows.

    That has the same y and sample_weight, so that it can be handed to the next step of a pipeline.
    """

    @wraps(method)
    def call(self: Any, X: Any) -> Any:
        if is_dask(X):
            return dask_result(self, method.__name__, X)
        source = None if isinstance(X, np.ndarray) else as_rows(X)
        if source is None:
            return method(self, X)
        check_is_fitted(self)
        check_names(self, source)
        return source.map(partial(_call, method, self, (), {}), self._n_features_out)

    return call


def score_source(estimator: Any, source: Rows, n_targets: int) -> float:
    """Return the mean R2 of the predictions for a source, in one pass that keeps sums alone."""
    check_names(estimator, source)
    pairs = source.map(partial(_columns, estimator), n_targets).moments()
    shift = pairs.x_mean - pairs.y_mean
    errors = pairs.xx.diagonal() - 2.0 * pairs.xy.diagonal() + pairs.yy + pairs.weight * shift**2
    ratios = np.divide(errors, pairs.yy, where=pairs.yy > 0, out=(errors > 0).astype(np.float64))
    return float(1.0 - ratios.mean())


def _columns(estimator: Any, X: Any) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return estimator.predict(X).reshape(X.shape[0], -1)


class FittedToBlocks:
    """Mixin of estimators that can be fitted to rows in blocks."""

    def _name_columns(self, source: Rows, n_features: int) -> None:
        """Set what scikit-learn's checks of new rows go by."""
        self.n_features_in_ = n_features
        self.__dict__.pop("feature_names_in_", None)
        if source.feature_names is not None:
            self.feature_names_in_ = np.asarray(source.feature_names, dtype=object)
        self.__dict__.pop("_target_names", None)
        if source.target_names:
            self._target_names = list(source.target_names)


def check_names(estimator: Any, source: Rows) -> None:
    """Refuse columns with other names, or in another order, than those fitted."""
    fitted = getattr(estimator, "feature_names_in_", None)
    given = source.feature_names
    if fitted is not None and given is not None and list(fitted) != list(given):
        raise ValueError(
            f"the rows have the columns {given}, but {type(estimator).__name__} was fitted with "
            f"{list(fitted)}."
        )


def _call(method: Any, self: Any, args: Any, options: Any, X: Any) -> Any:
    with warnings.catch_warnings():  # blocks are arrays; the names of the source have been checked
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return method(self, X, *args, **options)
