"""Random Fourier features of kernels of a distance."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state, check_scalar
from sklearn.utils.validation import check_is_fitted

from isthmus._validation import BaseEstimator, finite_answer
from isthmus.features.samples import (
    accepts_sparse,
    check_no_kernel,
    check_samples,
    weighted_samples,
)
from isthmus.features.sampling import draw_sample
from isthmus.kernels import RBF, L2Laplacian, Laplacian, resolve_kernel
from isthmus.problems.streams import FittedToBlocks, as_rows, maps_blocks

NAMES = "rbf, laplacian and l2_laplacian"


class FourierFeatures(
    FittedToBlocks, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    r"""Compute random Fourier features, whose inner products average to the kernel, [RR2007]_.

    .. math::
        F(x) = m^{-1/2} \, [\cos(x^\top W), \sin(x^\top W)]

    ``W`` (p, m) is drawn from the kernel's spectrum: normal with variance ``2 gamma`` for the
    Gaussian kernel, Cauchy for the Laplacian ones. It does not depend on the data; at equal size
    landmarks approximate the kernel better.

    Parameters
    ----------
    n_components : int, default=100
        Number of features, a cosine and a sine per wave; an odd number is rounded up.
    kernel : kernel object or str, default="rbf"
        The Gaussian or one of the Laplacian kernels.
    gamma : float or None, default=None
        Inverse width of a kernel given by name; None is the median rule.
    random_state : int, RandomState or None, default=None
        Seed for the waves.

    Attributes
    ----------
    kernel_ : kernel object
        The kernel with every number set.
    waves_ : ndarray of shape (n_features, m)
        ``W``.
    """

    def __init__(
        self,
        n_components: int = 100,
        kernel: Any = "rbf",
        *,
        gamma: float | None = None,
        random_state: Any = None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> FourierFeatures:
        """Draw the waves; ``X`` only sets the width of the kernel and the number of columns.

        Sparse rows and ``sample_weight`` are as in :meth:`KernelMap.fit`.
        """
        source = as_rows(X, None, sample_weight)
        if source is not None:
            X, _, _ = draw_sample(source, self.n_components, self.random_state)
            self.fit(X)
            self._name_columns(source, X.shape[1])
            return self
        check_no_kernel(self.n_components, type(self).__name__)
        check_scalar(self.n_components, "n_components", Integral, min_val=1)
        X = check_samples(self, X, "rbf", reset=True)
        rng = check_random_state(self.random_state)
        X, weights = weighted_samples("rbf", X, sample_weight)
        self.kernel_ = resolve_kernel(
            self.kernel, X, gamma=self.gamma, random_state=rng, sample_weight=weights
        )
        self.waves_ = _draw(self.kernel_, X.shape[1], (self.n_components + 1) // 2, rng).astype(
            X.dtype
        )
        return self

    @maps_blocks
    def transform(self, X: Any) -> NDArray:
        """Return the features of ``X`` (n_samples, 2 m)."""
        check_is_fitted(self)
        X = check_samples(self, X, "rbf", reset=False)
        half = self.waves_.shape[1]
        F = np.empty((X.shape[0], 2 * half), dtype=X.dtype)
        angles = X @ self.waves_.astype(X.dtype, copy=False)
        np.cos(angles, out=F[:, :half])
        np.sin(angles, out=F[:, half:])
        F *= half**-0.5
        return finite_answer(self, F)

    @property
    def _n_features_out(self) -> int:
        return 2 * int(self.waves_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse = accepts_sparse(self.kernel)
        return tags


def _draw(kernel: Any, p: int, half: int, rng: np.random.RandomState) -> NDArray:
    gamma = getattr(kernel, "gamma", 1.0)
    if isinstance(kernel, RBF):
        return np.sqrt(2.0 * gamma) * rng.standard_normal((p, half))
    if isinstance(kernel, Laplacian):
        return gamma * rng.standard_cauchy((p, half))
    if isinstance(kernel, L2Laplacian):  # multivariate Cauchy: one radius per wave
        radius = np.abs(rng.standard_normal(half))
        return gamma * rng.standard_normal((p, half)) / radius
    raise ValueError(f"Fourier features are for {NAMES}, not for {kernel!r}; use landmarks.")
