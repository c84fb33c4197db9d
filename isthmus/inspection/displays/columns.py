"""Pictures with values for each column of a table: loadings, VIP, coefficients."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from isthmus._validation import check_option
from isthmus.inspection._model import latent_part, split_model
from isthmus.inspection.displays._axes import Display, positions, unit_of
from isthmus.inspection.importance import vip

# More names than this overlap.
_MOST_TICKS = 40


@dataclass(eq=False)
class LoadingsDisplay(Display):
    """Loadings of the inputs or of the outputs on the components, against the names of the columns.

    Parameters
    ----------
    loadings : ndarray of shape (n_shown, n_columns)
    names : sequence of str or None
        Names of the columns; where all are numbers (wavelengths) they are the axis.

    Attributes
    ----------
    ax_, figure_ :
        Of matplotlib, once drawn.
    """

    loadings: NDArray
    _: KW_ONLY
    names: Any = None

    @classmethod
    def compute(
        cls, model: Any, *, side: str = "x", n_shown: int = 3, names: Any = None
    ) -> LoadingsDisplay:
        """Compute the loadings of the first components.

        Parameters
        ----------
        model : fitted latent regression, or a search, classifier or pipeline of one
        side : {"x", "y"}, default="x"
            Loadings of the inputs or of the outputs.
        n_shown : int, default=3
            Number of components.
        names : sequence of str, default=None
            Names of the columns; None asks the model for those of the inputs.

        Returns
        -------
        display : LoadingsDisplay
        """
        part = latent_part(model)[0]
        check_option("side", side, ("x", "y"))
        loadings = part.x_loadings_ if side == "x" else part.y_loadings_
        names = column_names(model, names) if side == "x" else names
        return cls(np.asarray(loadings, dtype=float).T[:n_shown], names=names)

    def _draw(self, ax: Any) -> None:
        labels = [f"component {k + 1}" for k in range(len(self.loadings))]
        draw_columns(ax, self.loadings, self.names, labels)
        ax.set(ylabel="loading")


@dataclass(eq=False)
class VIPDisplay(Display):
    """Variable importance in projection against the names of the columns, with the line at one.

    Parameters
    ----------
    importance : ndarray of shape (n_features,)
    names : sequence of str or None
        Names of the columns; where all are numbers (wavelengths) they are the axis.

    Attributes
    ----------
    ax_, figure_ :
        Of matplotlib, once drawn.
    """

    importance: NDArray
    _: KW_ONLY
    names: Any = None

    @classmethod
    def compute(cls, model: Any, *, names: Any = None) -> VIPDisplay:
        """Compute the importance of the inputs of a fitted latent regression.

        Parameters
        ----------
        model : fitted latent regression, or a search, classifier or pipeline of one
        names : sequence of str, default=None
            Names of the columns; None asks the model.

        Returns
        -------
        display : VIPDisplay
        """
        return cls(vip(latent_part(model)[0]), names=column_names(model, names))

    def _draw(self, ax: Any) -> None:
        draw_columns(ax, self.importance, self.names)
        ax.axhline(1, ls="--", lw=1, color="gray")
        ax.set(ylabel="VIP")


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

    def _draw(self, ax: Any) -> None:
        labels = [f"y{j}" for j in range(len(self.coefficients))]
        if self.targets is not None:
            labels = [str(target) for target in self.targets]
        draw_columns(ax, self.coefficients, self.names, labels)
        ax.set(ylabel="coefficient" if self.measured else "coefficient of the treated curve")


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


def column_names(model: Any, names: Any = None) -> Any:
    """The names that are given, or those of the columns of the fit."""
    return getattr(model, "feature_names_in_", None) if names is None else names


def draw_columns(ax: Any, values: NDArray, names: Any, labels: list[str] | None = None) -> None:
    """Lines if columns are points of a curve, otherwise bars; ``values`` is (m, p)."""
    values = np.atleast_2d(values)
    at, ticks, is_curve = positions(names, values.shape[1])
    for k, row in enumerate(values):
        label = None if labels is None else labels[k]
        if is_curve:
            ax.plot(at, row, lw=1.2, label=label)
        else:
            width = 0.8 / len(values)
            ax.bar(at + (k - (len(values) - 1) / 2) * width, row, width, label=label)
    if not is_curve and len(ticks) <= _MOST_TICKS:
        ax.set_xticks(at, ticks, rotation=90 if max(map(len, ticks)) > 3 else 0)
    ax.axhline(0, lw=0.6, color="gray")
    ax.set_xlabel(unit_of(names))
    if labels is not None and len(values) > 1:
        ax.legend()
