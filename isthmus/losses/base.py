"""The contract of every loss, and the one loop that evaluates them all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from isthmus._linalg import Array, row_blocks
from isthmus.losses.checks import check_on_first_use

# Entries a block. An array of this size takes 256 kB, so the few temporaries of a loss stay in
# the cache; whole arrays of 5000 x 100 took four times as long.
LOSS_ENTRIES = 32768


class Loss(ABC):
    r"""Base of the losses: the cost of predictions, summed over samples and outputs.

    .. math::
        L(Y, \hat Y) = \sum_{i j} u_i v_j \, \ell(y_{ij}, \hat y_{ij})

    with ``sample_weight`` :math:`u` and ``output_weight`` :math:`v`, both 1 unless given.

    A loss of your own is a subclass with one method, :meth:`pointwise`. Sums, weights, the
    gradient and the walk through memory are done here. Losses are immutable: :meth:`resolve` and
    :meth:`smooth` return new ones.

    Attributes
    ----------
    is_smooth : bool
        Whether :math:`\ell` is continuously differentiable in the prediction.
    """

    is_smooth: ClassVar[bool] = True

    @abstractmethod
    def pointwise(self, Y: Array, Y_pred: Array) -> tuple[Array, Array]:
        """Return the terms of the loss and their derivatives with respect to ``Y_pred``.

        ``Y`` and ``Y_pred`` are (rows, n_targets) and must not be changed. The terms are one for
        each entry (rows, n_targets) or one for each row (rows,); the derivatives are one for each
        entry. Both must be new arrays: the caller writes into them.
        """

    @property
    def curvature(self) -> float:
        """Upper bound of the second derivative in the prediction; infinite where there is none."""
        return np.inf

    @property
    def has_link(self) -> bool:
        """Whether predictions go through a link, so that the map is not in the units of y."""
        return type(self).inverse_link is not Loss.inverse_link

    def typical_curvature(self, scale: float) -> float:
        """Second derivative to expect at residuals of size ``scale``, for preconditioning."""
        bound = self.curvature
        return bound if np.isfinite(bound) else 1.0 / scale

    @property
    def has_units(self) -> bool:
        """Whether the loss means residuals in the units of y, so that they are not to be rescaled.

        A number given as a parameter, such as Huber's delta, is in these units; left at None it is
        in units of a scale of the residuals.
        """
        return True

    def resolve(
        self,
        residual: ArrayLike,
        sample_weight: ArrayLike | None = None,
        scale: float | None = None,
    ) -> Self:
        """Return the loss with parameters left at None set from the scale of ``residual``.

        ``scale`` is that scale where it is known, as 1 is of residuals in units of their scale.
        """
        return self

    def smooth(self, width: float) -> Loss:
        """Return a differentiable loss that tends to this one as ``width`` tends to 0."""
        if self.is_smooth:
            return self
        raise NotImplementedError(f"{type(self).__name__} has kinks and no smoothed version")

    def check_targets(self, Y: ArrayLike) -> None:
        """Raise ValueError where ``Y`` has values that this loss is not defined for."""
        return None

    def start_targets(self, Y: ArrayLike) -> Array:
        """Return targets whose least squares fit is a sensible start for this loss."""
        return np.asarray(Y, dtype=float)

    def inverse_link(self, Y_pred: ArrayLike) -> Array:
        """Map predictions to the scale of the targets: the identity for losses of residuals."""
        return np.asarray(Y_pred, dtype=float)

    def value(
        self,
        Y: ArrayLike,
        Y_pred: ArrayLike,
        sample_weight: ArrayLike | None = None,
        output_weight: ArrayLike | None = None,
    ) -> float:
        """Return the loss summed over all samples and outputs."""
        return self.value_and_gradient(Y, Y_pred, sample_weight, output_weight)[0]

    def gradient(
        self,
        Y: ArrayLike,
        Y_pred: ArrayLike,
        sample_weight: ArrayLike | None = None,
        output_weight: ArrayLike | None = None,
    ) -> Array:
        """Return the derivative of :meth:`value` with respect to ``Y_pred``, in its shape."""
        return self.value_and_gradient(Y, Y_pred, sample_weight, output_weight)[1]

    def value_and_gradient(
        self,
        Y: ArrayLike,
        Y_pred: ArrayLike,
        sample_weight: ArrayLike | None = None,
        output_weight: ArrayLike | None = None,
        out: Array | None = None,
    ) -> tuple[float, Array]:
        """Return value and gradient in one pass over memory.

        ``out`` receives the gradient; it may be ``Y_pred`` itself, and then nothing of the size
        of the data is allocated.
        """
        targets, predictions = _same_shape(Y, Y_pred)
        check_on_first_use(self, targets, predictions)
        out = np.empty(predictions.shape) if out is None else out
        table, table_pred, gradient = map(_as_table, (targets, predictions, out))
        weights = _vector(sample_weight), _vector(output_weight)
        total = 0.0
        # Losses mend what overflows themselves; a value that is truly too large is inf, in silence.
        with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
            for rows in row_blocks(len(table), max(1, LOSS_ENTRIES // max(1, table.shape[1]))):
                total += self._block(table[rows], table_pred[rows], gradient[rows], rows, *weights)
        return total, out

    def _block(
        self,
        Y: Array,
        Y_pred: Array,
        out: Array,
        rows: slice,
        sample_weight: Array | None,
        output_weight: Array | None,
    ) -> float:
        """Write the weighted gradient of a block of rows to ``out``; return the block's value."""
        terms, slopes = self.pointwise(Y, Y_pred)
        if terms.ndim == 1 and output_weight is not None:
            raise ValueError(
                f"{type(self).__name__} has one term per row: output_weight has no meaning for it"
            )
        if output_weight is not None:
            slopes *= output_weight
            terms = terms @ output_weight
        elif terms.ndim == 2 and sample_weight is not None:
            terms = terms.sum(axis=1)
        if sample_weight is None:
            out[...] = slopes
            return float(terms.sum())
        np.multiply(slopes, sample_weight[rows, None], out=out)
        return float(terms @ sample_weight[rows])


def _same_shape(Y: ArrayLike, Y_pred: ArrayLike) -> tuple[Any, Any]:
    Y, Y_pred = np.asarray(Y), np.asarray(Y_pred)
    if Y.shape != Y_pred.shape:
        raise ValueError(f"Y has shape {Y.shape}, Y_pred has {Y_pred.shape}: they must agree")
    return Y, Y_pred


def _as_table(values: Any) -> Any:
    """Return a view with samples in rows: a vector is one output."""
    return values[:, None] if values.ndim == 1 else values


def _vector(weight: ArrayLike | None) -> Array | None:
    return None if weight is None else np.asarray(weight, dtype=float)
