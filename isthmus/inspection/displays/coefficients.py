"""The coefficients of a map on the axis of the columns."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from isthmus.inspection._model import split_model
from isthmus.inspection.displays._axes import Display
from isthmus.inspection.displays.columns import column_names, draw_columns


@dataclass(eq=False)
class CoefficientsDisplay(Display):
    """Coefficients against the names of the columns, wavelengths for spectra.

    Parameters
    ----------
    coefficients : ndarray of shape (n_targets, n_columns)
    names : sequence of str or None
        Names of the columns; where all are numbers (wavelengths) they are the axis.
    targets : sequence of str or None
        Names of the outputs.
    measured : bool, default=True
        Whether the coefficients apply to the columns as measured; otherwise to treated ones.

    Attributes
    ----------
    ax_, figure_ :
        Of matplotlib, once drawn.
    """

    coefficients: NDArray
    _: KW_ONLY
    names: Any = None
    targets: Any = None
    measured: bool = True

    @classmethod
    def compute(cls, model: Any, *, names: Any = None, targets: Any = None) -> CoefficientsDisplay:
        """Compute the coefficients of a fitted linear model.

        Parameters
        ----------
        model : fitted linear model, or a search, classifier, pipeline or blend of such
            Behind linear treatments (``SavitzkyGolay``, ``Detrend``, scalers) the coefficients are those of
            the measured columns; behind others (``NormalVariate``) those of the treated curve.
        names, targets : sequence of str, default=None
            Names of the columns and of the outputs.

        Returns
        -------
        display : CoefficientsDisplay
        """
        check_is_fitted(model)
        coefficients, measured = measured_coefficients(model)
        names = column_names(model, names)
        return cls(coefficients, names=names, targets=targets, measured=measured)

    def plot(self, ax: Any = None) -> CoefficientsDisplay:
        """Draw the picture, in ``ax`` if it is given."""
        labels = [f"y{j}" for j in range(len(self.coefficients))]
        if self.targets is not None:
            labels = [str(target) for target in self.targets]
        self.figure_, self.ax_ = draw_columns(ax, self.coefficients, self.names, labels)
        self.ax_.set(ylabel="coefficient" if self.measured else "coefficient of the treated curve")
        return self


def measured_coefficients(model: Any) -> tuple[NDArray, bool]:
    """Return coefficients (n_targets, n_columns), and whether they are those of measured columns."""
    before, last = split_model(model)
    if hasattr(last, "estimators_") and hasattr(last, "weights_"):  # a blend
        parts = [measured_coefficients(part) for part in last.estimators_]
        if not all(measured for _, measured in parts):
            raise TypeError(
                "model blends curves that are treated in different ways, not all of them linear, and has "
                "no coefficients of the measured columns: fit with treatments=None, or one method."
            )
        coefficients = sum(w[:, None] * part for w, (part, _) in zip(last.weights_, parts))
    elif hasattr(last, "coef_"):
        coefficients = np.atleast_2d(np.asarray(last.coef_, dtype=float))
    else:
        raise TypeError(f"model is a {type(last).__name__}, which has no coefficients.")
    for step in reversed(before):
        if hasattr(step, "operator_"):
            # Coefficients b of treated rows X A' are b A of the measured ones.
            coefficients = coefficients @ step.operator_
        elif hasattr(step, "with_mean") and hasattr(step, "scale_"):  # StandardScaler
            coefficients = coefficients if step.scale_ is None else coefficients / step.scale_
        else:
            return coefficients, False
    return coefficients, True
