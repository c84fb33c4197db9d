"""Which inputs go with a score: the S-plot of O-PLS-DA."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isthmus._validation import validate_data
from isthmus.inspection._model import latent_part
from isthmus.inspection.displays._axes import Display, axes_for
from isthmus.inspection.displays.columns import column_names

_NAME = (0.12, 0.05)  # width and height of a name, as shares of the picture


@dataclass(eq=False)
class SPlotDisplay(Display):
    """Covariance and correlation of each input with the predictive score, [WJSMT2008]_.

    Inputs at the two ends of the S carry the score reliably: much of it, and with little noise.

    Parameters
    ----------
    covariance, correlation : ndarray of shape (n_features,)
    names : sequence of str or None
        Names of the columns.

    Attributes
    ----------
    ax_, figure_ :
        Of matplotlib, once drawn.
    """

    covariance: NDArray
    correlation: NDArray
    _: KW_ONLY
    names: Any = None

    @classmethod
    def compute(
        cls, model: Any, X: ArrayLike, *, component: int = 0, names: Any = None
    ) -> SPlotDisplay:
        """Compute the S-plot of a fitted model, usually an ``OPLS`` of centred, unscaled inputs.

        Parameters
        ----------
        model : fitted latent regression, or a search, classifier or pipeline of one
        X : array of shape (n_samples, n_features)
            The rows of the fit.
        component : int, default=0
            The score; 0 is the predictive one of ``OPLS``.
        names : sequence of str, default=None
            Names of the columns; None asks the model.

        Returns
        -------
        display : SPlotDisplay
        """
        names = column_names(model, names)
        model, X = latent_part(model, X)
        score = np.asarray(model.transform(X), dtype=float)[:, component]
        rows = validate_data(model, X, reset=False, dtype=np.float64)
        score = score - score.mean()
        centred = rows - rows.mean(axis=0)
        covariance = score @ centred / (len(rows) - 1)
        lengths = np.linalg.norm(score) * np.linalg.norm(centred, axis=0) / (len(rows) - 1)
        # A constant column has no correlation.
        correlation = np.divide(covariance, lengths, out=np.zeros(len(lengths)), where=lengths > 0)
        return cls(covariance, correlation, names=names)

    def _apart(self) -> list[int]:
        """Inputs from the largest covariance down whose names would not be written over each other."""
        extent = np.ptp(self.covariance) or 1.0
        at = np.column_stack([self.covariance / extent / _NAME[0], self.correlation / 2 / _NAME[1]])
        kept: list[int] = []
        for j in np.argsort(-np.abs(self.covariance), kind="stable").tolist():
            if all(np.abs(at[j] - at[k]).max() > 1 for k in kept):
                kept.append(j)
        return kept

    def plot(self, ax: Any = None, *, n_named: int = 5) -> SPlotDisplay:
        """Draw the picture, with the names of the inputs of largest covariance where there is room."""
        self.figure_, self.ax_ = axes_for(ax)
        self.ax_.scatter(self.covariance, self.correlation, s=8)
        if self.names is not None:
            for j in self._apart()[:n_named]:
                at = (self.covariance[j], self.correlation[j])
                # To the middle, so that no name leaves the picture.
                side = "right" if at[0] > 0 else "left"
                self.ax_.annotate(
                    str(self.names[j]), at, xytext=(-5 if at[0] > 0 else 5, 0), ha=side, va="center",
                    textcoords="offset points",
                )  # fmt: skip
        self.ax_.axhline(0, lw=0.6, color="gray")
        self.ax_.axvline(0, lw=0.6, color="gray")
        self.ax_.set(xlabel="covariance with the score", ylabel="correlation", ylim=(-1.05, 1.05))
        return self
