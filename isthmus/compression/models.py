"""Compressed models of scikit-learn: estimators that fit another one and keep its few points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    OutlierMixin,
    RegressorMixin,
    TransformerMixin,
    clone,
    is_classifier,
)
from sklearn.utils.multiclass import _ovr_decision_function
from sklearn.utils.validation import check_array, check_is_fitted

from isthmus.expansion import Expansion
from isthmus.linalg import Array


class Compressed(BaseEstimator):
    """A kernel model of scikit-learn with fewer points.

    :func:`isthmus.compress` returns one that is fitted. As an estimator of its own it fits ``estimator``
    and then compresses it, so that the number of points can be searched for.

    Parameters
    ----------
    estimator : estimator
        The model to be compressed.
    n_points : int, default=None
        How many points to keep.
    tol : float, default=None
        Relative squared error that may be left.
    method : str, default="greedy"
        As in :func:`isthmus.compress`.

    Attributes
    ----------
    expansion_ : Expansion
        What predicts.
    compression_ : CompressionPath
        Errors of every smaller size.
    """

    def __init__(
        self,
        estimator: Any,
        n_points: int | None = None,
        *,
        tol: float | None = None,
        method: str = "greedy",
    ) -> None:
        self.estimator = estimator
        self.n_points = n_points
        self.tol = tol
        self.method = method

    def fit(self, X: Any, y: Any = None) -> Compressed:
        """Fit the estimator, then keep its points that matter."""
        from isthmus.compression.compress import compress  # it makes objects of this class

        model = clone(self.estimator).fit(X, y) if y is not None else clone(self.estimator).fit(X)
        size = (
            None
            if self.n_points is None
            else min(self.n_points, Expansion.from_model(model).n_points)
        )
        small = compress(model, size, tol=self.tol, method=self.method, X=X, y=y)
        self.__dict__.update({k: v for k, v in vars(small).items() if k.endswith("_")})
        return self

    def _take_over(self, model: Any, expansion: Expansion) -> None:
        """Keep of a fitted model what is needed beside its expansion."""
        self.expansion_ = expansion
        for name in ("classes_", "n_features_in_", "feature_names_in_", "offset_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))

    def to_expansion(self) -> Expansion:
        """The functions behind the predictions."""
        check_is_fitted(self, "expansion_")
        return self.expansion_

    def with_expansion(self, expansion: Expansion) -> Compressed:
        """The same model with another expansion."""
        other = clone(self)
        other.__dict__.update({k: v for k, v in vars(self).items() if k.endswith("_")})
        other.expansion_ = expansion
        return other

    def _values(self, X: Any) -> Array:
        check_is_fitted(self, "expansion_")
        if isinstance(self.expansion_.points, np.ndarray) or hasattr(X, "shape"):
            X = check_array(X, dtype=(np.float64, np.float32))
            width = getattr(self, "n_features_in_", X.shape[1])
            if X.shape[1] != width:
                raise ValueError(
                    f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {width} features "
                    "as input."
                )
        return self.expansion_(X)


class CompressedRegressor(RegressorMixin, Compressed):
    """A compressed ``KernelRidge``, ``SVR``, ``NuSVR`` or ``GaussianProcessRegressor`` (the mean)."""

    def predict(self, X: Any) -> Array:
        """Predict outputs."""
        return self._values(X)


class CompressedClassifier(ClassifierMixin, Compressed):
    """A compressed ``SVC``, ``NuSVC`` or ``GaussianProcessClassifier``."""

    def decision_function(self, X: Any) -> Array:
        """Values of the decision functions: one a row for two classes, else one a class."""
        values = self._values(X)
        n = len(self.classes_)
        if values.ndim == 1 or not self._in_pairs():
            return values
        if getattr(self.estimator, "decision_function_shape", "ovr") == "ovo":
            return values
        return np.asarray(_ovr_decision_function(values < 0, -values, n))

    def predict(self, X: Any) -> NDArray:
        """Predict classes; of pairs of classes, by votes as libsvm does."""
        values = self._values(X)
        if values.ndim == 1:
            return self.classes_[(values > 0).astype(int)]
        if not self._in_pairs():
            return self.classes_[values.argmax(axis=1)]
        n = len(self.classes_)
        votes = np.zeros((len(values), n), dtype=int)
        first, second = np.triu_indices(n, 1)
        for k, (i, j) in enumerate(zip(first, second)):
            votes[:, i] += values[:, k] > 0
            votes[:, j] += values[:, k] <= 0
        return self.classes_[votes.argmax(axis=1)]

    def _in_pairs(self) -> bool:
        n, columns = len(self.classes_), self.expansion_.n_outputs
        return type(self.estimator).__name__ in ("SVC", "NuSVC") and columns == n * (n - 1) // 2


class CompressedOutlierDetector(OutlierMixin, Compressed):
    """A compressed ``OneClassSVM``."""

    def decision_function(self, X: Any) -> Array:
        """Signed distance from the boundary, positive inside."""
        return self._values(X)

    def score_samples(self, X: Any) -> Array:
        """The decision function without its offset."""
        return self._values(X) + self.offset_

    def predict(self, X: Any) -> NDArray:
        """1 for inliers, -1 for outliers."""
        return np.where(self._values(X) >= 0, 1, -1)


class CompressedTransformer(TransformerMixin, Compressed):
    """A compressed ``KernelPCA``."""

    def transform(self, X: Any) -> Array:
        """Project on the components."""
        return self._values(X)


def wrap_model(model: Any, expansion: Expansion) -> Compressed:
    """A fitted model of scikit-learn with another expansion."""
    wrapper = _kind(model)(clone(model), expansion.n_points)
    wrapper._take_over(model, expansion)
    return wrapper


def _kind(model: Any) -> type[Compressed]:
    if is_classifier(model):
        return CompressedClassifier
    if isinstance(model, OutlierMixin):
        return CompressedOutlierDetector
    return CompressedRegressor if hasattr(model, "predict") else CompressedTransformer
