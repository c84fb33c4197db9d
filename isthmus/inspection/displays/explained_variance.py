"""How much each component explains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isthmus.inspection._model import latent_part
from isthmus.inspection.displays._axes import Display
from isthmus.inspection.variance import explained_variance


@dataclass(eq=False)
class ExplainedVarianceDisplay(Display):
    """Share of the variance of inputs and outputs that the components explain, summed up.

    Parameters
    ----------
    x, y : ndarray of shape (n_components,)
        Shares of each component.

    Attributes
    ----------
    ax_, figure_ :
        Of matplotlib, once drawn.
    """

    x: NDArray
    y: NDArray | None = None

    @classmethod
    def compute(
        cls, model: Any, X: ArrayLike | None = None, y: ArrayLike | None = None
    ) -> ExplainedVarianceDisplay:
        """Compute the explained variance of a fitted latent regression.

        Parameters
        ----------
        model : fitted latent regression, or a search, classifier or pipeline of one
        X, y : arrays, default=None
            Rows to ask about; None is those of the fit.

        Returns
        -------
        display : ExplainedVarianceDisplay
        """
        model, X = latent_part(model, X)
        if X is None:
            return cls(model.x_explained_variance_ratio_, model.y_explained_variance_ratio_)
        shares = explained_variance(model, X, y)
        return cls(shares.x, shares.y)

    def _draw(self, ax: Any) -> None:
        at = np.arange(1, len(self.x) + 1)
        ax.plot(at, np.cumsum(self.x), "o-", ms=4, label="inputs")
        if self.y is not None:
            ax.plot(at, np.cumsum(self.y), "s-", ms=4, label="outputs")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set(xlabel="number of components", ylabel="share of variance explained")
        ax.legend()
