"""Compressed models of scikit-learn: estimators that fit another one and keep its few points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import (
    ClassifierMixin,
    OutlierMixin,
    RegressorMixin,
    TransformerMixin,
    clone,
    is_classifier,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from isthmus._linalg import Array
from isthmus._saved import saved
from isthmus._validation import BaseEstimator, finite_answer, validate_data
from isthmus.compression.deviations import Deviations
from isthmus.compression.path import CompressionPath
from isthmus.compression.probabilities import (
    from_latent,
    from_pairs,
    latent_deviations,
    normalise,
    sigmoid_parameters,
)
from isthmus.compression.thresholds import tells_pairs_apart
from isthmus.expansion import Expansion, is_latent_binary
from isthmus.kernels import takes_sparse_rows


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
    method : str, default="auto"
        As in :func:`isthmus.compress`.

    Attributes
    ----------
    estimator_ : estimator
        The kernel model itself, without what was fitted: of a search, its best.
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
        method: str = "auto",
    ) -> None:
        self.estimator = estimator
        self.n_points = n_points
        self.tol = tol
        self.method = method

    def fit(self, X: Any, y: Any = None) -> Compressed:
        """Fit the estimator, then keep its points that matter."""
        from isthmus.compression.composite import count_points
        from isthmus.compression.reduction import compress  # it makes objects of this class

        model = clone(self.estimator).fit(X, y) if y is not None else clone(self.estimator).fit(X)
        size = None if self.n_points is None else min(self.n_points, count_points(model))
        small = compress(model, size, tol=self.tol, method=self.method, X=X, y=y)
        if not isinstance(small, Compressed):
            raise TypeError(
                f"estimator == {type(model).__name__} compresses to a {type(small).__name__}, which this "
                "class cannot wrap: call isthmus.compress, or wrap the kernel model inside it."
            )
        for name in ("expansion_", "estimators_", "deviations_", "latent_", "sigmoids_"):
            self.__dict__.pop(name, None)
        self.__dict__.update({k: v for k, v in vars(small).items() if k.endswith("_")})
        return self

    def _take_over(self, model: Any) -> None:
        """Keep of a fitted model what is needed beside its expansion."""
        if hasattr(model, "_sklearn_output_config"):
            self._sklearn_output_config = dict(model._sklearn_output_config)
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
        for name in ("deviations_", "latent_"):
            other.__dict__.pop(name, None)  # they are those of the points before
        return other

    def _values(self, X: Any) -> Array:
        check_is_fitted(self, "expansion_")
        return finite_answer(self, self.expansion_(self._check_rows(X)))

    def _check_rows(self, X: Any) -> Any:
        if not _takes_numbers(self.expansion_):
            return X
        sparse = "csr" if takes_sparse_rows(self.expansion_.kernel) else False
        return validate_data(
            self, X, reset=False, dtype=(np.float64, np.float32), accept_sparse=sparse
        )


@saved(expansion___coef="n q|n", deviations___scale="q|1")
class CompressedRegressor(RegressorMixin, Compressed):
    """A compressed ``KernelRidge``, ``SVR``, ``NuSVR`` or ``GaussianProcessRegressor``.

    Of a Gaussian process the mean is compressed, and ``deviations_`` has the variances of a process that
    knows its training rows through the points that are left.
    """

    deviations_: Deviations | None = None

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        """Predict outputs; of a Gaussian process, if asked for, their deviations or covariances too."""
        values = self._values(X)
        if return_std and return_cov:
            raise RuntimeError("return_std and return_cov cannot both be True.")
        if not return_std and not return_cov:
            return values
        if self.deviations_ is None:
            raise ValueError(
                f"return_{'std' if return_std else 'cov'}=True needs a compressed "
                f"GaussianProcessRegressor with noise: {type(self.estimator_).__name__} has no deviations."
            )
        ask = self.deviations_ if return_std else self.deviations_.covariance
        return values, ask(self._check_rows(X), values.ndim == 1)


class CompressedClassifier(ClassifierMixin, Compressed):
    """A compressed ``SVC``, ``NuSVC`` or ``GaussianProcessClassifier``.

    Where the classes or pairs of classes of a ``GaussianProcessClassifier`` have kernels or points of their
    own, and in a ``OneVsRestClassifier`` or ``OneVsOneClassifier``, each function is compressed for itself:
    ``estimators_`` holds them, one per estimator of the model; ``expansion_`` does not exist.

    Of a Gaussian process the latent mean is kept, whose sign decides between two classes and whose largest
    value between one and the rest. scikit-learn compares probabilities between one and the rest, which
    differ from the largest mean in a few rows near a boundary.

    ``predict_proba`` is there if the model had it: by the latent variance of a process that knows its
    training rows through the points that are left, or by the sigmoids of ``SVC(probability=True)``.

    Attributes
    ----------
    estimators_ : list of CompressedClassifier
        One an estimator, where each has its own expansion.
    multi_class_ : {"one_vs_rest", "one_vs_one"}
        What they tell apart.
    """

    latent_: list[Deviations] | None = None
    sigmoids_: tuple[Array, Array] | None = None

    def decision_function(self, X: Any) -> Array:
        """Return decision values: one per row for two classes, otherwise one per class."""
        values = self._values(X)
        shape = getattr(self.estimator_, "decision_function_shape", "ovr")
        if values.ndim == 1 or shape == "ovo":
            return values
        return self._by_class(values)

    def predict(self, X: Any) -> NDArray:
        """Predict classes; of pairs of classes, by votes."""
        values = self._values(X)
        if values.ndim == 1:
            return self.classes_[(values > 0).astype(int)]
        by_votes = tells_pairs_apart(self) and not hasattr(self, "estimators_")
        if not by_votes or self.estimator_.break_ties:
            return self.classes_[self._by_class(values).argmax(axis=1)]
        # As libsvm does: votes alone, the first class among equals.
        n = len(self.classes_)
        return self.classes_[_per_class(values > 0, values <= 0, n).argmax(axis=1)]

    @available_if(lambda self: self._has_probabilities())
    def predict_proba(self, X: Any) -> Array:
        """Return probabilities of the classes, (n_samples, n_classes)."""
        if hasattr(self, "estimators_"):
            likely = np.column_stack([part.predict_proba(X)[:, 1] for part in self.estimators_])
        elif self.sigmoids_ is not None:
            return from_pairs(self._values(X), *self.sigmoids_, len(self.classes_))
        else:
            assert self.latent_ is not None
            means = self._values(X).reshape(-1, len(self.latent_))
            rows = self._check_rows(X)
            spreads = np.column_stack([part(rows, True) for part in self.latent_])
            likely = from_latent(means, spreads)
        if likely.shape[1] == 1:
            return np.column_stack([1.0 - likely, likely])
        return normalise(likely)

    def _has_probabilities(self) -> bool:
        if hasattr(self, "estimators_"):
            each = all(part._has_probabilities() for part in self.estimators_)
            return each and (len(self.estimators_) == 1 or self.multi_class_ == "one_vs_rest")
        return self.sigmoids_ is not None or self.latent_ is not None

    def _by_class(self, values: Array) -> Array:
        """One value a class from those of every function; libsvm counts its first class positive."""
        n = len(self.classes_)
        if hasattr(self, "estimators_"):
            if self.multi_class_ == "one_vs_rest":
                return values
            return _votes(values <= 0, -values, n)
        if not tells_pairs_apart(self):
            return values
        return _votes(values >= 0, values, n)

    def to_expansion(self) -> Expansion:
        """The functions behind the predictions, where they share their points."""
        if hasattr(self, "estimators_"):
            raise ValueError(
                "Each class has its own points, so the model is not one expansion: use those of "
                "estimators_."
            )
        return super().to_expansion()

    def _values(self, X: Any) -> Array:
        if not hasattr(self, "estimators_"):
            return super()._values(X)
        columns = [part.decision_function(X) for part in self.estimators_]
        return columns[0] if len(columns) == 1 else np.stack(columns, axis=1)


@saved(offset_="1|")
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

    def get_feature_names_out(self, input_features: Any = None) -> NDArray:
        """Names of the components, those of the model that was compressed: ``kernelpca0``, .."""
        check_is_fitted(self, "expansion_")
        prefix = type(self.estimator_).__name__.lower()
        names = [f"{prefix}{i}" for i in range(self.expansion_.n_outputs)]
        return np.asarray(names, dtype=object)


def wrap_model(model: Any, expansion: Expansion) -> Compressed:
    """A fitted model of scikit-learn with another expansion."""
    wrapper = _kind(model)(clone(model), expansion.n_points)
    wrapper._take_over(model)
    wrapper.estimator_, wrapper.expansion_ = clone(model), expansion
    if isinstance(wrapper, CompressedRegressor):
        wrapper.deviations_ = Deviations.of(model, expansion)
    if isinstance(wrapper, CompressedClassifier):
        wrapper.latent_ = latent_deviations(model, expansion)
        wrapper.sigmoids_ = sigmoid_parameters(model)
    return wrapper


def wrap_parts(
    model: Any, parts: list[CompressedClassifier], multi_class: str, n_points: int | None
) -> CompressedClassifier:
    """A fitted classifier of several classes whose functions are compressed each for itself."""
    wrapper = CompressedClassifier(
        model.estimator if isinstance(model, Compressed) else clone(model), n_points
    )
    wrapper._take_over(model)
    wrapper.estimator_ = clone(wrapper.estimator)
    wrapper.estimators_, wrapper.multi_class_ = parts, multi_class
    wrapper.compression_ = CompressionPath.of_parts([part.compression_ for part in parts])
    return wrapper


def predicts_classes(model: Any) -> bool:
    """Whether a model is a classifier; functions alone, an Expansion, are none."""
    known = hasattr(model, "__sklearn_tags__") and is_classifier(model)
    return known or is_latent_binary(model)


def _kind(model: Any) -> type[Compressed]:
    if predicts_classes(model):
        return CompressedClassifier
    if isinstance(model, OutlierMixin):
        return CompressedOutlierDetector
    if hasattr(model, "predict"):
        return CompressedRegressor
    return CompressedTransformer


def _votes(first_wins: NDArray[np.bool_], margins: Array, n_classes: int) -> Array:
    """Votes of pairs of classes, with ties broken by the summed margins, as scikit-learn has them.

    The sums are drawn together to less than a third, so that they never outweigh a vote.
    """
    votes = _per_class(first_wins, ~first_wins, n_classes)
    sums = _per_class(margins, -margins, n_classes)
    return votes + sums / (3 * (np.abs(sums) + 1))


def _per_class(first: NDArray, second: NDArray, n_classes: int) -> Array:
    """Add the columns of pairs: those of ``first`` to the first class of a pair, and so on."""
    total = np.zeros((len(first), n_classes))
    for k, (i, j) in enumerate(zip(*np.triu_indices(n_classes, 1))):
        total[:, i] += first[:, k]
        total[:, j] += second[:, k]
    return total


def _takes_numbers(expansion: Expansion) -> bool:
    """Whether samples are rows of numbers, not objects."""
    points = expansion.points
    if expansion.is_precomputed:
        return True
    is_table = issparse(points) or (isinstance(points, np.ndarray) and points.ndim == 2)
    return is_table and points.dtype.kind in "fiub"
