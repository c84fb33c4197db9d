"""A fitted projection: coordinates of new rows, and the expansion in kernel values behind them."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from isthmus._linalg import BLOCK_ROWS, Array, row_blocks
from isthmus._saved import saved
from isthmus._validation import BaseEstimator, finite_answer, validate_data
from isthmus.expansion import Expansion
from isthmus.kernels import gram, length, take
from isthmus.problems.streams import maps_blocks


class SupervisedTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A transformer that is fitted to outputs, one or several."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@saved(points_="n .", dual_coef_=". r", offset_="r", held_out_score_="nan")
class FittedProjection(SupervisedTransformer):
    """What every projection by an eigenproblem does once it is fitted."""

    points_: Any  # what new samples are compared with; None where directions are kept
    dual_coef_: Array
    offset_: Array
    kernel_: Any
    n_components_: int

    def to_expansion(self) -> Expansion:
        """The coordinates as one expansion in kernel values, for :func:`isthmus.compress`."""
        check_is_fitted(self)
        if self.points_ is None:
            raise ValueError(
                f"{type(self).__name__} with a linear kernel keeps directions, not points: there "
                "is nothing to compress."
            )
        return Expansion(self.points_, self.dual_coef_, self.kernel_, self.offset_)

    def with_expansion(self, expansion: Expansion) -> Any:
        """The same projection with other points and coefficients."""
        check_is_fitted(self)
        other = copy.deepcopy(self)
        other.points_, other.dual_coef_ = expansion.points, expansion.coef
        other.kernel_, other.offset_ = expansion.kernel, expansion.intercept
        return other

    @maps_blocks
    def transform(self, X: Any) -> Any:
        """Coordinates of new rows, (n_samples, n_components)."""
        check_is_fitted(self)
        X = self._check_new(X)
        n = length(X)
        Z = np.empty((n, len(self.offset_)))
        for rows in row_blocks(n, BLOCK_ROWS):
            Z[rows] = self._expansion(take(X, rows)) + self.offset_
        return finite_answer(self, Z.astype(self._out_dtype(X), copy=False))

    def _expansion(self, X: Any) -> Array:
        if self.points_ is None:
            return np.asarray((X if issparse(X) else X.astype(np.float64)) @ self.dual_coef_)
        return np.asarray(gram(self.kernel_, X, self.points_), dtype=np.float64) @ self.dual_coef_

    def _check_new(self, X: Any) -> Any:
        sparse = "csr" if self.__sklearn_tags__().input_tags.sparse else False
        return validate_data(
            self, X, dtype=[np.float64, np.float32], reset=False, accept_sparse=sparse
        )

    @staticmethod
    def _out_dtype(X: Any) -> Any:
        if getattr(X, "dtype", None) == np.float32:
            return X.dtype
        return np.float64

    @property
    def _n_features_out(self) -> int:
        return self.n_components_
