"""Any multi-output regression of the library, or of scikit-learn, as a classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from isthmus._linalg import Array
from isthmus._validation import (
    BaseEstimator,
    finite_answer,
    inner_router,
    refuse_dask,
    routed_to_inner,
)
from isthmus.regression.base import LatentRegression
from isthmus.regression.chosen import choose_numbers
from isthmus.regression.reduced_rank import ReducedRankRegression


def _share_wrong(
    model: Any, X: Any, indicators: NDArray, sample_weight: NDArray | None = None
) -> float:
    """Share of the rows whose class is not that of the largest prediction."""
    wrong = model.predict(X).argmax(axis=1) != indicators.argmax(axis=1)
    return float(np.average(wrong, weights=sample_weight))


class IndicatorClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    r"""Classify by regression on indicator targets: with ``PLS`` it is PLS-DA.

    Class g of G becomes the g-th unit vector of :math:`\mathbb{R}^G`; the prediction is the class of the
    largest output, [HTF2009]_ Sec. 4.2.

    Parameters
    ----------
    estimator : regressor or None, default=None
        Multi-output regressor, e.g. ``PLS(5)``. None is ``ReducedRankRegression()``: a ridge whose weight
        is chosen by leave-one-out. The rank of a latent regression with ``n_components="auto"`` (and its
        ridge weight, if that is "auto") is chosen here, by the errors of classification of the rows left
        out in five folds, ties by squared errors; ``ComponentSearchCV(PLS())`` and pipelines go by squared
        errors alone.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    estimator_ : regressor
        The fitted regressor; its ``transform`` gives the scores.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from isthmus import PLS, IndicatorClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> plsda = IndicatorClassifier(PLS(2)).fit(X, y)
    >>> bool(plsda.score(X, y) > 0.8)
    True
    >>> plsda.estimator_.transform(X).shape
    (150, 2)
    """

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    def _regressor(self) -> Any:
        return ReducedRankRegression() if self.estimator is None else self.estimator

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, **params: Any
    ) -> IndicatorClassifier:
        """Fit the regressor to the indicators of the classes.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Inputs.
        y : array of shape (n_samples,)
            Class labels.
        sample_weight : array of shape (n_samples,), default=None
            Weight of each row, where the regressor takes weights.
        **params :
            For the fit of the regressor, such as ``groups``.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        if y is None:
            raise ValueError(
                "This IndicatorClassifier estimator requires y to be passed, but the target y is None"
            )
        refuse_dask(X=X, y=y)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"y has {len(self.classes_)} class ({self.classes_}), at least 2 are needed."
            )
        indicators = np.eye(len(self.classes_))[codes]
        given = routed_to_inner(self, "fit", sample_weight=sample_weight, **params)
        self.estimator_ = clone(self._regressor())
        self._choose(X, indicators, given.get("sample_weight"))
        self.estimator_.fit(X, indicators, **given)
        self.n_features_in_ = self.estimator_.n_features_in_
        if hasattr(self.estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.estimator_.feature_names_in_
        return self

    def _choose(self, X: Any, indicators: Array, sample_weight: Any) -> None:
        """Choose a rank that is "auto" by the classes of rows left out, where a path gives all ranks."""
        model = self.estimator_
        if not isinstance(model, LatentRegression) or model.n_components != "auto":
            return
        if model._is_nested():
            model._check_parameters()
            data = model._check_rows(X, indicators, sample_weight, reset=True, to_fit=True)
            rank, alpha, unit = choose_numbers(model, *data, wrong=_share_wrong)
            ridge = {} if alpha is None else {"alpha": alpha * unit * unit}
            model.set_params(n_components=rank, **ridge)

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Predicted indicators.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes)
            The regressor's outputs; for two classes their difference, of shape (n_samples,), which is
            positive where the second class is predicted.
        """
        check_is_fitted(self)
        indicators = finite_answer(self, self.estimator_.predict(X))
        if len(self.classes_) == 2:
            return indicators[:, 1] - indicators[:, 0]
        return indicators

    def predict(self, X: ArrayLike) -> NDArray:
        """Predict classes.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Class labels.
        """
        scores = self.decision_function(X)
        codes = scores > 0 if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[codes.astype(int)]

    def get_metadata_routing(self) -> MetadataRouter:
        """Return where metadata go: to the fit of the regressor."""
        return inner_router(self, "fit")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._regressor())
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags
