"""Checks of one block of a source; the caller names the block."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from isthmus._linalg import Array
from isthmus._validation import check_weights


def three_parts(block: Any) -> tuple[Any, Any, Any]:
    """Return inputs, outputs and weights of a block, None for what it has not."""
    if not isinstance(block, tuple | list) or not 1 <= len(block) <= 3:
        raise ValueError(
            f"a block is a {type(block).__name__}, expected a tuple (X,), (X, y) or "
            "(X, y, sample_weight)."
        )
    X, y, w = (*block, None, None)[:3]
    for name, part in (("y", y), ("sample_weight", w)):
        if part is not None and n_rows_of(part) != n_rows_of(X):
            raise ValueError(f"X has {n_rows_of(X)} rows and {name} has {n_rows_of(part)}.")
    return X, y, w


def n_rows_of(X: Any) -> int:
    """Return the number of rows of an array, a table or a list."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def cut_rows(values: Any, rows: slice) -> Any:
    """Return some rows of an array, a table or a list; None of None."""
    if values is None:
        return None
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    return values[rows]


def as_floats(values: Any, name: str) -> Any:
    """Return values as float32 or float64, dense or CSR."""
    if sparse.issparse(values):
        values = values.tocsr()
        data = values.data
    else:
        values = data = np.asarray(values)
    if data.dtype.kind not in "fiub":
        raise ValueError(f"{name} holds {data.dtype}, expected numbers.")
    if data.dtype not in (np.float32, np.float64):
        values = values.astype(np.float64)
    return values


def check_floats(values: Any, name: str, columns: list[str] | None) -> Any:
    """Return values as float32 or float64, dense or CSR; refuse what is not finite."""
    values = as_floats(values, name)
    data = values.data if sparse.issparse(values) else values
    with np.errstate(over="ignore", invalid="ignore"):
        total = data.sum()
    if not np.isfinite(total) and not np.isfinite(data).all():
        raise ValueError(_where_not_finite(values, name, columns))
    return values


def _where_not_finite(values: Any, name: str, columns: list[str] | None) -> str:
    if sparse.issparse(values):
        values = values.toarray()
    values = values.reshape(len(values), -1)
    row, column = np.argwhere(~np.isfinite(values))[0].tolist()
    kind = "NaN" if np.isnan(values[row, column]) else "infinity"
    called = f" ({columns[column]!r})" if columns else ""
    return f"{name} has {kind} in row {row} of the block, column {column}{called}."


def check_block_weights(w: Any, X: Any) -> Array:
    """Return the weights of a block; all may be zero, for there are other blocks."""
    weights = np.asarray(w, dtype=np.float64)
    if not weights.any():
        if weights.shape != (X.shape[0],):
            raise ValueError(f"sample_weight.shape == {weights.shape}, must be {(X.shape[0],)}.")
        return weights
    checked = check_weights(weights, X)
    assert checked is not None
    return checked
