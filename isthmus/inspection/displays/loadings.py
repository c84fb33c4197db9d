"""What a component is made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._validation import check_option
from isthmus.inspection._model import latent_part
from isthmus.inspection.displays.columns import column_names, draw_columns


class LoadingsDisplay:
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

    def __init__(self, loadings: NDArray, *, names: Any = None) -> None:
        self.loadings = loadings
        self.names = names

    @classmethod
    def compute(
        cls, model: Any, *, side: str = "x", n_shown: int = 3, names: Any = None
    ) -> LoadingsDisplay:
        """The numbers without the picture."""
        part = latent_part(model)[0]
        check_option("side", side, ("x", "y"))
        loadings = part.x_loadings_ if side == "x" else part.y_loadings_
        names = column_names(model, names) if side == "x" else names
        return cls(np.asarray(loadings, dtype=float).T[:n_shown], names=names)

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None, **options: Any) -> LoadingsDisplay:
        """Draw the loadings of the first components.

        Parameters
        ----------
        model : fitted latent regression, or a search, classifier or pipeline of one
        ax : matplotlib axes, default=None
        **options :
            ``side`` ("x" or "y"), ``n_shown``, ``names`` of the columns.

        Returns
        -------
        display : LoadingsDisplay
        """
        return cls.compute(model, **options).plot(ax)

    def plot(self, ax: Any = None) -> LoadingsDisplay:
        """Draw the picture, in ``ax`` if it is given."""
        labels = [f"component {k + 1}" for k in range(len(self.loadings))]
        self.figure_, self.ax_ = draw_columns(ax, self.loadings, self.names, labels)
        self.ax_.set(ylabel="loading")
        return self
