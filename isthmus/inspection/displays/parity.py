"""Predicted against observed."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isthmus._validation import check_option
from isthmus.inspection.displays._axes import axes_for


@dataclass(eq=False)
class ParityDisplay:
    """Predicted against observed values of one output, or their residuals.

    Parameters
    ----------
    observed, predicted : ndarray of shape (n_samples,)
    name : str
        Of the output.

    Attributes
    ----------
    r2, rmse : float
    ax_, figure_ :
        Of matplotlib, once drawn.
    """

    observed: NDArray
    predicted: NDArray
    _: KW_ONLY
    name: str = "y"

    @property
    def residual(self) -> NDArray:
        """Observed minus predicted."""
        return self.observed - self.predicted

    @property
    def rmse(self) -> float:
        """Root mean squared error; missing values are left out."""
        return float(np.sqrt(np.nanmean(self.residual**2)))

    @property
    def r2(self) -> float:
        """Share of the variance that is explained; 0 for a constant output that is missed."""
        total = float(np.nanvar(self.observed))
        error = float(np.nanmean(self.residual**2))
        return 1 - error / total if total > 0 else float(error == 0)

    @classmethod
    def compute(cls, y: ArrayLike, y_pred: ArrayLike, *, target: int = 0, name: str = "y") -> Any:
        """Compute the numbers of the picture."""
        Y, P = (np.asarray(a, dtype=float).reshape(len(np.asarray(a)), -1) for a in (y, y_pred))
        if Y.shape != P.shape:
            raise ValueError(f"y has shape {Y.shape} and y_pred {P.shape}: they must be the same.")
        return cls(Y[:, target], P[:, target], name=name)

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        y_pred: ArrayLike,
        *,
        ax: Any = None,
        kind: str = "parity",
        **options: Any,
    ) -> ParityDisplay:
        """Draw given predictions, for example those of left-out rows.

        Parameters
        ----------
        y, y_pred : array of shape (n_samples,) or (n_samples, n_targets)
        ax : matplotlib axes, default=None
        kind : {"parity", "residuals"}, default="parity"
        **options :
            ``target`` (column) and ``name`` of the output.

        Returns
        -------
        display : ParityDisplay
        """
        return cls.compute(y, y_pred, **options).plot(ax, kind=kind)

    @classmethod
    def from_estimator(
        cls, model: Any, X: ArrayLike, y: ArrayLike, **options: Any
    ) -> ParityDisplay:
        """Draw the predictions of a fitted model.

        Parameters
        ----------
        model : fitted regressor
        X, y : arrays
            Preferably rows that were not in the fit.
        **options :
            As in ``from_predictions``.

        Returns
        -------
        display : ParityDisplay
        """
        return cls.from_predictions(y, model.predict(X), **options)

    def plot(self, ax: Any = None, *, kind: str = "parity") -> ParityDisplay:
        """Draw the picture, in ``ax`` if it is given."""
        check_option("kind", kind, ("parity", "residuals"))
        self.figure_, self.ax_ = axes_for(ax)
        if kind == "parity":
            self.ax_.scatter(self.observed, self.predicted, s=16)
            both = np.concatenate([self.observed, self.predicted])
            ends = [np.nanmin(both), np.nanmax(both)]
            self.ax_.plot(ends, ends, "--", lw=1, color="gray")
            self.ax_.set(xlabel=f"{self.name}, observed", ylabel=f"{self.name}, predicted")
        else:
            self.ax_.scatter(self.predicted, self.residual, s=16)
            self.ax_.axhline(0, ls="--", lw=1, color="gray")
            self.ax_.set(xlabel=f"{self.name}, predicted", ylabel="observed - predicted")
        self.ax_.set_title(f"R2 {self.r2:.3f}, RMSE {self.rmse:.3g}")
        return self
