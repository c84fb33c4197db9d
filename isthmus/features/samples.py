"""Training samples as estimators with a kernel see them: vectors, objects or kernel values."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.gaussian_process.kernels import Kernel as GPKernel

from isthmus._validation import BaseEstimator, check_weights, refuse_dask, validate_data
from isthmus.kernels import (
    NAMES,
    is_precomputed,
    kernel_names,
    take,
    takes_sparse_rows,
    takes_vectors,
)


def check_samples(estimator: Any, X: Any, kernel: Any, *, reset: bool) -> Any:
    """Vectors and kernel values as a checked array (float32 kept), other objects as a list."""
    refuse_dask(X=X)
    if takes_vectors(kernel, X):
        X = validate_data(
            estimator,
            X,
            reset=reset,
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            accept_sparse=False if is_precomputed(kernel) else "csr",
        )
        check_finite(X)
        return X
    if isinstance(X, str):
        raise ValueError(f"X is one string; give a list of samples, as [{X[:20]!r}].")
    samples = X if isinstance(X, np.ndarray) else list(X)
    if len(samples) == 0:
        raise ValueError("Found an empty list of samples, at least 1 is required.")
    return samples


def check_component_number(value: Any, owner: str) -> None:
    """Check for an integer >= 1, a fraction in (0, 1] or None."""
    check_no_kernel(value, owner)
    if value is None:
        return
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if is_number and (int(value) >= 1 if isinstance(value, Integral) else 0 < float(value) <= 1):
        return
    raise ValueError(
        f"n_components == {value!r}, must be an integer >= 1, a fraction in (0, 1] or None."
    )


def check_no_kernel(n_components: Any, owner: str) -> None:
    """Refuse a kernel in the place of ``n_components``, which comes first."""
    is_name = isinstance(n_components, str) and n_components in kernel_names()
    if is_name or isinstance(n_components, GPKernel) or callable(n_components):
        raise ValueError(
            f"n_components == {n_components!r}, must be a number: the kernel is the second argument. "
            f"Write {owner}(kernel={n_components!r})."
        )


def check_finite(X: Any, name: str = "X") -> None:
    """Refuse NaN and infinity, and say where the first is."""
    values: NDArray = X.data if issparse(X) else X
    if np.isfinite(values.sum(dtype=np.float64)):
        return
    bad = ~np.isfinite(values)
    if bad.any():
        if issparse(X):
            places = X.tocoo()
            row = places.row[bad.argmax()]
            column = places.col[bad.argmax()]
        else:
            row, column = np.argwhere(bad)[0]
        raise ValueError(
            f"Input {name} contains NaN or infinity, first at row {row}, column {column} "
            f"({X[row, column]})."
        )


def accepts_sparse(kernel: Any) -> bool:
    """Whether a kernel, given by name or as an object, takes rows of a sparse matrix."""
    if isinstance(kernel, str):
        return kernel in NAMES and takes_sparse_rows(NAMES[kernel]())
    return isinstance(kernel, GPKernel) and takes_sparse_rows(kernel)


def weighted_samples(kernel: Any, X: Any, sample_weight: Any, *more: Any) -> tuple[Any, ...]:
    """Samples that count, their weights (None for all alike) and what else belongs to them.

    Samples of zero weight are left out: a fit without them is the same fit.
    """
    weights = check_weights(sample_weight, X)
    if weights is None or weights.all():
        return X, weights, *more
    if is_precomputed(kernel):
        raise ValueError(
            f"sample_weight[{int(weights.argmin())}] == 0: a precomputed kernel matrix has a row and a "
            "column of every sample. Leave out those of samples that do not count."
        )
    kept = np.flatnonzero(weights)
    return take(X, kept), weights[kept], *(take(part, kept) for part in more)


def set_kernel_tags(tags: Any, kernel: Any) -> Any:
    """Tags of an estimator whose samples are what its kernel takes."""
    tags.input_tags.pairwise = is_precomputed(kernel)
    tags.input_tags.sparse = accepts_sparse(kernel)
    if not takes_vectors(kernel):
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        tags.input_tags.string = True
        tags.no_validation = True
    return tags


class KernelFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What takes samples of a kernel to coordinates."""

    kernel: Any
    n_components_: int

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return set_kernel_tags(tags, self.kernel)
