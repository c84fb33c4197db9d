"""Training samples as estimators with a kernel see them: vectors, objects or kernel values."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.gaussian_process.kernels import Kernel as GPKernel

from isthmus._validation import refuse_dask, validate_data
from isthmus.kernels.resolve import kernel_names
from isthmus.kernels.samples import takes_vectors
from isthmus.kernels.wrappers import is_precomputed


def check_samples(estimator: Any, X: Any, kernel: Any, *, reset: bool) -> Any:
    """Vectors and kernel values as a checked array (float32 kept), other objects as a list."""
    refuse_dask(X=X)
    if takes_vectors(kernel, X):
        X = validate_data(
            estimator, X, reset=reset, dtype=[np.float64, np.float32], ensure_all_finite=False
        )
        check_finite(X)
        return X
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


def check_finite(X: NDArray, name: str = "X") -> None:
    """Refuse NaN and infinity, and say where the first is."""
    if np.isfinite(X.sum(dtype=np.float64)):
        return
    bad = ~np.isfinite(X)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ValueError(
            f"Input {name} contains NaN or infinity, first at row {row}, column {column} "
            f"({X[row, column]})."
        )


def set_kernel_tags(tags: Any, kernel: Any) -> Any:
    """Tags of an estimator whose samples are what its kernel takes."""
    tags.input_tags.pairwise = is_precomputed(kernel)
    if not takes_vectors(kernel):
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        tags.input_tags.string = True
        tags.no_validation = True
    return tags
