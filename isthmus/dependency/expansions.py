"""A fitted dependency regressor as an expansion, and with another one in its place."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from isthmus._linalg import Array
from isthmus.expansion import Expansion


class ExpansionMixin:
    """The methods of a dependency regressor that :func:`isthmus.compress` uses."""

    map: Any
    outputs_: Any
    expansion_: Expansion | None
    y_loadings_: Array | None
    y_scale_: Array | None
    embedding_intercept_: Array
    _y_is_1d: bool

    def _in_units(self, Y: Any) -> Any:
        """Convert scaled outputs to the units of the user."""
        return Y if self.y_scale_ is None else Y * self.y_scale_

    def to_expansion(self) -> Expansion:
        """Return functions whose values are those of ``predict`` if the output kernel is linear.

        With any other output kernel the values are those of ``predict_embedding``.
        """
        inner = self.inner_expansion()
        coef = inner.coef.reshape(inner.n_points, -1)
        constant = inner.intercept
        values = None if inner.values is None else inner.values.reshape(coef.shape)
        if self.y_loadings_ is not None:
            V = self.y_loadings_
            constant = np.broadcast_to(constant, (V.shape[1],)) @ V.T
            coef = coef @ V.T
            values = None if values is None else values @ V.T
        constant = constant + self.embedding_intercept_
        coef = self._in_units(coef)
        constant = self._in_units(constant)
        values = None if values is None else self._in_units(values)
        if self.outputs_ is None and self._y_is_1d:
            coef, constant = coef[:, 0], constant[0]
            values = None if values is None else values[:, 0]
        return Expansion(inner.points, coef, inner.kernel, constant, values=values)

    def with_expansion(self, expansion: Expansion) -> Any:
        """Return the fitted model with other functions in place of those of :meth:`to_expansion`."""
        self.inner_expansion()
        q = len(self.embedding_intercept_)
        if expansion.n_outputs != q:
            raise ValueError(f"expansion has {expansion.n_outputs} outputs, must have {q}.")
        other = copy.copy(self)
        coef = expansion.coef.reshape(-1, q)
        constant = np.broadcast_to(expansion.intercept, (q,))
        other.expansion_ = Expansion(expansion.points, coef, expansion.kernel)
        other.y_scale_ = None  # they are in the units of the outputs
        other.y_loadings_, other.embedding_intercept_ = None, np.array(constant)
        return other

    def inner_expansion(self) -> Expansion:
        """Return the r functions that phi and T collapsed into, which :func:`isthmus.compress` shrinks.

        Their values times ``y_loadings_.T``, plus ``embedding_intercept_``, are the output scores of
        outputs divided by ``y_scale_``.
        """
        check_is_fitted(self)
        if self.expansion_ is None:
            raise ValueError(
                f"{type(self.map).__name__} is not a linear map of kernel coordinates, so there is no "
                "expansion."
            )
        return self.expansion_

    def with_inner_expansion(self, expansion: Expansion) -> Any:
        """Return the fitted model with other functions, as many as before, ahead of the loadings."""
        old = self.inner_expansion()
        if expansion.n_outputs != old.n_outputs:
            raise ValueError(
                f"expansion has {expansion.n_outputs} outputs, must have {old.n_outputs}."
            )
        other = copy.copy(self)
        other.expansion_ = expansion
        return other
