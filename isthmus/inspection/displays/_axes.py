"""Where a picture is drawn; matplotlib is imported here, when something is drawn, and nowhere else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from isthmus.inspection.axis import places_of


class Display(ABC):
    """A picture: its numbers, and how they are drawn."""

    figure_: Any = None
    ax_: Any = None

    @classmethod
    @abstractmethod
    def compute(cls, *arguments: Any, **options: Any) -> Self:
        """Compute the numbers of the picture."""

    def plot(self, ax: Any = None) -> Self:
        """Draw the picture, in ``ax`` if it is given."""
        self.figure_, self.ax_ = axes_for(ax)
        self._draw(self.ax_)
        return self

    def _draw(self, ax: Any) -> None:
        """Draw in axes; a picture with several of them, or with options, has a ``plot`` of its own."""
        raise NotImplementedError

    @classmethod
    def from_estimator(cls, *arguments: Any, ax: Any = None, **options: Any) -> Self:
        """Compute the numbers and draw them.

        Parameters
        ----------
        *arguments, **options :
            As in ``compute``.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : Display
            The picture, with ``ax_`` and ``figure_``.
        """
        return cls.compute(*arguments, **options).plot(ax)


def axes_for(ax: Any = None, **size: Any) -> tuple[Any, Any]:
    """The figure and the axes to draw in, new ones if none are given."""
    if ax is not None:
        return ax.figure, ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("Pictures need matplotlib: pip install 'isthmus[plot]'.") from error
    figure, ax = plt.subplots(layout="constrained", **size)
    return figure, ax


def positions(names: Any, n: int) -> tuple[Any, list[str], bool]:
    """Where columns stand on an axis: at their numbers, where their names are numbers.

    Returns positions, names, and whether the positions are numbers that mean something.
    """
    labels = [str(j) for j in range(n)] if names is None else [str(name) for name in names]
    found = places_of(names)
    if found is not None:
        return found[0], labels, True
    # More than 30 unnamed columns are drawn as a curve: bars would have no readable labels.
    return np.arange(n, dtype=float), labels, names is None and n > 30


def unit_of(names: Any) -> str:
    """The unit of columns that are places on an axis; otherwise what they are."""
    found = places_of(names)
    return "input" if found is None or not found[1] else found[1]
