"""The coefficients of a map on the axis of the columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from isthmus.inspection.displays.columns import draw_columns


class CoefficientsDisplay:
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

    def __init__(
        self,
        coefficients: NDArray,
        *,
        names: Any = None,
        targets: Any = None,
        measured: bool = True,
    ) -> None:
        self.coefficients = coefficients
        self.names = names
        self.targets = targets
        self.measured = measured

    @classmethod
    def compute(cls, model: Any, *, names: Any = None, targets: Any = None) -> CoefficientsDisplay:
        """The numbers without the picture."""
        check_is_fitted(model)
        if names is None:
            names = getattr(model, "feature_names_in_", None)
        coefficients, measured = measured_coefficients(model)
        return cls(coefficients, names=names, targets=targets, measured=measured)

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None, **options: Any) -> CoefficientsDisplay:
        """Draw the coefficients of a fitted linear model.

        Parameters
        ----------
        model : fitted linear model, or a search, classifier, pipeline or blend of such
            Behind linear treatments (``SavitzkyGolay``, ``Detrend``, scalers) the coefficients are those of
            the measured columns; behind others (``NormalVariate``) those of the treated curve.
        ax : matplotlib axes, default=None
        **options :
            ``names`` of the columns, ``targets``: names of the outputs.

        Returns
        -------
        display : CoefficientsDisplay
        """
        return cls.compute(model, **options).plot(ax)

    def plot(self, ax: Any = None) -> CoefficientsDisplay:
        """Draw."""
        labels = [f"y{j}" for j in range(len(self.coefficients))]
        if self.targets is not None:
            labels = [str(target) for target in self.targets]
        self.figure_, self.ax_ = draw_columns(ax, self.coefficients, self.names, labels)
        self.ax_.set(ylabel="coefficient" if self.measured else "coefficient of the treated curve")
        return self


def measured_coefficients(model: Any) -> tuple[NDArray, bool]:
    """Return coefficients (n_targets, n_columns), and whether they are those of measured columns."""
    for name in ("best_estimator_", "estimator_"):  # of a search, of a classifier
        if hasattr(model, name):
            return measured_coefficients(getattr(model, name))
    if hasattr(model, "estimators_") and hasattr(model, "weights_"):  # a blend
        parts = [measured_coefficients(part) for part in model.estimators_]
        if not all(measured for _, measured in parts):
            raise TypeError(
                "model blends curves that are treated in different ways, not all of them linear, and has "
                "no coefficients of the measured columns: fit with treatments=None, or one method."
            )
        return sum(w[:, None] * part for w, (part, _) in zip(model.weights_, parts)), True
    if not isinstance(model, Pipeline):
        if not hasattr(model, "coef_"):
            raise TypeError(f"model is a {type(model).__name__}, which has no coefficients.")
        return np.atleast_2d(np.asarray(model.coef_, dtype=float)), True
    coefficients, _ = measured_coefficients(model[-1])
    for _, step in reversed(model.steps[:-1]):
        if step is None or step == "passthrough":
            continue
        if hasattr(step, "operator_"):
            coefficients = coefficients @ step.operator_
        elif hasattr(step, "with_mean") and hasattr(step, "scale_"):  # StandardScaler
            coefficients = coefficients if step.scale_ is None else coefficients / step.scale_
        else:
            return coefficients, False
    return coefficients, True
