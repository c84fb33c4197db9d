"""What a component is made of."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._validation import check_option
from isthmus.inspection._model import latent_part
from isthmus.inspection.displays._axes import Display
from isthmus.inspection.displays.columns import column_names, draw_columns


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

    def plot(self, ax: Any = None) -> LoadingsDisplay:
        """Draw the picture, in ``ax`` if it is given."""
        labels = [f"component {k + 1}" for k in range(len(self.loadings))]
        self.figure_, self.ax_ = draw_columns(ax, self.loadings, self.names, labels)
        self.ax_.set(ylabel="loading")
        return self
