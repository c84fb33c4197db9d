"""What comes in: inputs and outputs as arrays, lists of objects or ready Gram matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.gaussian_process.kernels import Kernel as GPKernel

from isthmus._linalg import Array
from isthmus._validation import check_array, check_weights
from isthmus.features import Landmarks
from isthmus.kernels import (
    Linear,
    Precomputed,
    center_train,
    check_gram_finite,
    check_precomputed,
    gram,
    is_precomputed,
    is_psd,
    length,
    looks_like_vectors,
    missing_part,
    owned,
    resolve_kernel,
    take,
)
from isthmus.problems import checked_folds
from isthmus.projections.slices import is_categorical

OF_KERNELS, OF_ROWS = 1e-13, 1e-26
"""Rounding of a sum of squares: centred in kernel values, or in the rows before they are squared."""


def require_variation(trace: float, scale: float, side: str, rounding: float = OF_KERNELS) -> None:
    """Refuse a side whose centred Gram matrix is zero to rounding."""
    if not trace > rounding * scale:
        what = {"X": "the input kernel", "y": "the output kernel"}[side]
        raise ValueError(
            f"{side} is constant: {what} is the same for all samples (the centred Gram matrix has "
            "zero trace)."
        )


@dataclass
class KernelSide:
    """One side of a kernel projection: its samples and the kernel between them."""

    rows: Any  # array, list of objects, or the square matrix of a precomputed kernel
    kernel: Any
    n_jobs: int | None = None
    weights: Array | None = None  # positive; None counts all samples alike

    @classmethod
    def make(
        cls,
        rows: Any,
        kernel: Any,
        n_jobs: int | None = None,
        weights: Array | None = None,
        **options: Any,
    ) -> KernelSide:
        """Resolve the kernel with the samples."""
        found = resolve_kernel(kernel, rows, sample_weight=weights, **options)
        if isinstance(found, Precomputed):
            rows = check_precomputed(rows)
            found = Precomputed(len(rows))
        return cls(rows, found, n_jobs, weights)

    @property
    def n(self) -> int:
        return length(self.rows)

    @property
    def precomputed(self) -> bool:
        return isinstance(self.kernel, Precomputed)

    @property
    def vectors(self) -> bool:
        """Whether samples are rows of numbers, of which there are means."""
        return not self.precomputed and isinstance(self.rows, np.ndarray) and self.rows.ndim == 2

    @property
    def linear(self) -> bool:
        return type(self.kernel) is Linear

    @property
    def indefinite(self) -> bool:
        """Whether nothing is known of the signs of the eigenvalues."""
        return not is_psd(self.kernel)

    @property
    def precision(self) -> Any:
        """The dtype that kernel values have digits of."""
        if getattr(self.rows, "dtype", None) == np.float32:
            return np.float32
        return np.float64

    def gram(self) -> Array:
        K = gram(self.kernel, self.rows, n_jobs=self.n_jobs)
        return np.asarray(K, dtype=np.float64)

    def output_gram(self) -> Array:
        """The matrix, made positive semi-definite once centred where the kernel need not be so.

        What is added sums to zero along rows, so that their means stay the kernel's.
        """
        L = self.gram()
        if not self.indefinite:
            return L
        check_gram_finite(L, self.kernel)
        share = None if self.weights is None else self.weights / self.weights.sum()
        centred = center_train(L, share=share)[0]
        missing = missing_part(
            centred, self.precision, name="output kernel matrix, centred,", can_clip=False
        )
        return L if missing is None else L + missing

    @property
    def points(self) -> Any:
        """What new samples are compared with; a precomputed kernel has numbers of columns."""
        return np.arange(self.n) if self.precomputed else owned(self.rows)


class InputFeatures:
    """Landmark features of a side's rows; for a linear kernel with few inputs the inputs themselves.

    ``keep`` computes those of all rows at once; otherwise they are made anew whenever asked for.
    """

    def __init__(
        self,
        side: KernelSide,
        n_landmarks: int,
        seed: int,
        selection: str = "auto",
        *,
        keep: bool = False,
    ) -> None:
        self.side = side
        self.landmarks: Landmarks | None = None
        self._kept: NDArray | None = None
        if side.linear and side.rows.shape[1] <= max(n_landmarks, side.n // 2):
            self._kept = side.rows
            return
        self.landmarks = Landmarks(
            n_landmarks, side.kernel, selection=selection, random_state=seed, n_jobs=side.n_jobs
        )
        self.landmarks.fit(side.rows, sample_weight=side.weights)
        if keep:
            self._kept = self.landmarks._features(side.rows)

    def __call__(self, rows: slice | NDArray) -> Array:
        """Features of some of the side's rows."""
        if self._kept is not None:
            some: Any = self._kept[rows]
            return np.asarray(some.toarray() if issparse(some) else some, dtype=np.float64)
        assert self.landmarks is not None
        F = self.landmarks.transform(take(self.side.rows, rows))
        return np.asarray(F, dtype=np.float64)

    @property
    def points(self) -> Any:
        """The landmarks; None where there are none."""
        return None if self.landmarks is None else self.landmarks.points_

    @property
    def rounding(self) -> float:
        """What rounding leaves of rows that do not differ: landmarks are made of kernel values."""
        return OF_ROWS if self.landmarks is None else OF_KERNELS

    @property
    def n_landmarks(self) -> int:
        """How many landmarks do not depend on the others; 0 where there are none."""
        return 0 if self.landmarks is None else self.landmarks.n_components_

    def collapse(self, coef: Array) -> Array:
        """From coefficients of features to coefficients of kernel values ``k(x, points)``."""
        if self.landmarks is None:
            return coef
        return self.landmarks.collapse(coef)[0]


def counted_rows(
    projection: Any, X: Any, y: Any, sample_weight: Any
) -> tuple[Any, Any, Array | None, Any]:
    """Return both sides without rows of zero weight, the weights, and the folds of ``cv``."""
    if not hasattr(X, "shape") and not hasattr(X, "__len__"):
        X = np.asarray(X)
    folds = checked_folds(projection.cv, length(X))
    weights = None if sample_weight is None else check_weights(sample_weight, X)
    if weights is None or weights.all():
        return X, y, weights, folds
    if any(is_precomputed(getattr(projection, name, None)) for name in ("kernel", "kernel_y")):
        raise ValueError(
            f"sample_weight[{int(weights.argmin())}] == 0: a precomputed kernel matrix has a row and a "
            "column of every sample. Leave out those of samples that do not count."
        )
    kept = np.flatnonzero(weights)
    if isinstance(folds, np.ndarray):
        folds = np.unique(folds[kept], return_inverse=True)[1]
    return _take_rows(X, kept), None if y is None else _take_rows(y, kept), weights[kept], folds


def _take_rows(samples: Any, places: NDArray) -> Any:
    """Some rows of an array, a frame, a sparse matrix or a list."""
    if hasattr(samples, "iloc"):  # data frames keep the names of their columns
        return samples.iloc[places]
    if not hasattr(samples, "shape") and not hasattr(samples, "__len__"):
        samples = np.asarray(samples)
    return take(samples, places)


# -- outputs ----------------------------------------------------------------------------------


def check_y(y: Any, n: int, name: str, *, allow_nan: bool = False) -> NDArray:
    """Outputs as an array (n,) or (n, q) of numbers or of names."""
    if y is None:
        raise ValueError(
            f"This {name} estimator requires y to be passed, but the target y is None."
        )
    if not hasattr(y, "shape"):
        y = np.asarray(y)
    y = check_array(
        y,
        ensure_2d=False,
        dtype=None,
        ensure_all_finite="allow-nan" if allow_nan else True,
        input_name="y",
        ensure_min_samples=0,
        ensure_min_features=0,
    )
    if y.ndim > 2:
        raise ValueError(f"y has {y.ndim} dimensions, must have 1 or 2.")
    check_lengths(n, len(y))
    if y.dtype.kind == "O":
        try:
            y = y.astype(np.float64)
        except (TypeError, ValueError):
            pass
    return y


def check_lengths(n: int, m: int) -> None:
    """Inputs and outputs must go in pairs."""
    if n != m:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n}, y has {m}."
        )


def holds_names(y: Any, kernel: Any) -> bool:
    """Whether outputs are objects or names of classes, in which NaN marks no hole."""
    if isinstance(kernel, GPKernel) and not kernel.requires_vector_input:
        return not looks_like_vectors(y)
    try:
        np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        return True
    return False


def class_names(y: NDArray) -> list[list[Any]] | None:
    """The classes of each output whose values are names; None for numbers."""
    if not is_categorical(y):
        return None
    return [np.unique(c).tolist() for c in y.reshape(len(y), -1).T]


def output_vectors(y: NDArray, classes: list[list[Any]] | None = None) -> Array:
    """Numbers as they are, (n, q); names as indicators of the classes, unknown ones of none."""
    classes = class_names(y) if classes is None else classes
    columns = y.reshape(len(y), -1)
    if classes is None:
        return columns.astype(np.float64)
    found = [
        np.equal.outer(c.astype(object), np.array(names, dtype=object))
        for c, names in zip(columns.T, classes)
    ]
    return np.hstack(found).astype(np.float64)
