"""Which inputs matter."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from numpy.typing import NDArray

from isthmus.inspection._model import latent_part
from isthmus.inspection.displays._axes import Display
from isthmus.inspection.displays.columns import column_names, draw_columns
from isthmus.inspection.importance import vip


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

    def plot(self, ax: Any = None) -> VIPDisplay:
        """Draw the picture, in ``ax`` if it is given."""
        self.figure_, self.ax_ = draw_columns(ax, self.importance, self.names)
        self.ax_.axhline(1, ls="--", lw=1, color="gray")
        self.ax_.set(ylabel="VIP")
        return self
