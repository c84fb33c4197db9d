"""Predictions and scores of Dask collections, which stay lazy."""

from __future__ import annotations

import uuid
import warnings
from typing import Any

import numpy as np
from dask.dataframe.dispatch import make_meta
from dask.delayed import delayed
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils.validation import check_is_fitted

from isthmus.problems.streams.blockwise import check_names
from isthmus.problems.streams.dask_chunks import as_plain, is_frame
from isthmus.problems.streams.dask_rows import DaskRows


def map_lazily(estimator: Any, method: str, X: Any, *args: Any, **options: Any) -> Any:
    """Call a method of a fitted estimator for each chunk: an array gives an array, a frame a frame.

    Nothing is computed but the results for two rows of ones, which tell the shape and the dtype.
    """
    check_is_fitted(estimator)
    _check_output(estimator)
    source = DaskRows(X)
    check_names(estimator, source)
    X = source.chunks.X
    example = _example(estimator, method, X, args, options)
    call = _Call(method, args, options, example, _names(estimator, method, example))
    model = delayed(estimator, pure=False)  # each worker receives it once
    if is_frame(X):
        meta = call.framed(example, make_meta(X).index[:0])
        return X.map_partitions(call, model, meta=meta, enforce_metadata=False, token=method)
    return X.map_blocks(
        call,
        model,
        dtype=example.dtype,
        meta=example,
        chunks=(X.chunks[0], *((size,) for size in example.shape[1:])),
        drop_axis=1 if example.ndim == 1 else None,
        name=f"{method}-{uuid.uuid4().hex}",
    )


class _Call:
    """Calls a method for one chunk, and names the chunk in errors."""

    def __init__(
        self, method: str, args: tuple, options: dict, example: NDArray, names: list[str]
    ) -> None:
        self.method, self.args, self.options = method, args, options
        self.example, self.names = example, names
        self.token = uuid.uuid4().hex

    def __dask_tokenize__(self) -> str:
        return self.token

    def __call__(self, X: Any, model: Any, block_id: Any = None, partition_info: Any = None) -> Any:
        is_part = partition_info is not None
        found = self.example
        if X.shape[0]:
            number = partition_info["number"] if is_part else block_id[0]
            rows = X if is_part else as_plain(X)
            try:
                with warnings.catch_warnings():  # the example has warned of them once
                    warnings.filterwarnings(
                        "ignore", message="X (has|does not have valid) feature names"
                    )
                    found = np.asarray(
                        getattr(model, self.method)(rows, *self.args, **self.options)
                    )
            except ValueError as error:
                raise ValueError(f"chunk {number}: {error}") from error
        return self.framed(found, X.index) if is_part else found

    def framed(self, values: NDArray, index: Any) -> Any:
        """Return values with their column names and the index of the rows."""
        import pandas as pd

        if values.ndim == 1:
            return pd.Series(values, index=index, name=self.names[0])
        return pd.DataFrame(values, index=index, columns=self.names)


def _names(estimator: Any, method: str, example: NDArray) -> list[str]:
    """Names of the columns that a method returns."""
    n_columns = 1 if example.ndim == 1 else example.shape[1]
    if method == "transform":
        names = list(estimator.get_feature_names_out())
        assert len(names) == n_columns
        return names
    if method == "inverse_transform" and hasattr(estimator, "feature_names_in_"):
        return list(estimator.feature_names_in_)
    names = list(getattr(estimator, "_target_names", []))
    if method == "predict" and len(names) == n_columns:
        return names
    return ["y"] if example.ndim == 1 else [f"y{i}" for i in range(n_columns)]


def _example(estimator: Any, method: str, X: Any, args: tuple, options: dict) -> NDArray:
    """The result for no rows, cut from those for one row and for two rows of ones."""
    for n_rows in (1, 2):
        rows: Any = np.ones((n_rows, X.shape[1]), dtype=None if is_frame(X) else X.dtype)
        if is_frame(X):
            import pandas as pd

            rows = pd.DataFrame(rows, columns=X.columns).astype(X.dtypes)
        found = getattr(estimator, method)(rows, *args, **options)
        if not isinstance(found, np.ndarray) or found.dtype == object or len(found) != n_rows:
            raise TypeError(
                f"{type(estimator).__name__}.{method} does not return one row of numbers for each row, "
                "which lazy results need: call .compute() on X first."
            )
    return found[:0]


def _check_output(estimator: Any) -> None:
    """Refuse to let scikit-learn turn a lazy collection into a table."""
    configured = getattr(estimator, "_sklearn_output_config", {})
    output = configured.get("transform") or get_config()["transform_output"]
    if output != "default":
        raise ValueError(
            f"transform_output == {output!r} would bring a Dask collection into memory: a Dask data frame "
            "comes back as one with names anyway, so call set_output(transform='default')."
        )
