"""A gallery of pictures: what went in, what each method gave back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.inspection.displays._axes import axes_for


@dataclass
class PreimageDisplay:
    """Rows of pictures, one row per method, one column per target, with the losses below.

    Parameters
    ----------
    pictures : mapping of names to arrays of shape (n_targets, n_pixels)
        The rows, from the top down.
    shape : tuple (height, width)
        Of one picture.
    losses : mapping of names to arrays of shape (n_targets,), default=None
        What is written below the pictures of a row.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_digits
    >>> from isthmus import KernelMap
    >>> from isthmus.inspection import PreimageDisplay
    >>> from isthmus.preimages import FixedPoint, Learned
    >>> X = load_digits().data[:200]
    >>> display = PreimageDisplay.from_estimator(
    ...     KernelMap(20), X, X[:5], {"learned": Learned(), "fixed point": FixedPoint()}
    ... )
    >>> list(display.pictures)
    ['given', 'learned', 'fixed point']
    """

    pictures: Mapping[str, NDArray]
    shape: tuple[int, int]
    losses: Mapping[str, NDArray] | None = None
    figure_: Any = field(default=None, init=False, repr=False)
    axes_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def compute(
        cls,
        estimator: Any,
        X: NDArray,
        given: NDArray,
        methods: Mapping[str, Any],
        *,
        shape: tuple[int, int] | None = None,
    ) -> PreimageDisplay:
        """Project pictures on the axes of a kernel map and bring them back by every method.

        Parameters
        ----------
        estimator : KernelMap
            Not fitted.
        X : array of shape (n_samples, n_pixels)
            Pictures to learn from.
        given : array of shape (n_targets, n_pixels)
            Pictures to be projected.
        methods : mapping of names to pre-image methods
            What is compared.
        shape : tuple (height, width), default=None
            Of a picture; None: square.

        Returns
        -------
        display : PreimageDisplay
            Nothing is drawn yet.
        """
        scores = estimator.fit_transform(X)
        Z = estimator.transform(given)
        pictures = {"given": np.asarray(given)}
        losses = {}
        for name, method in methods.items():
            fitted = method.fit(X, scores, estimator)
            pictures[name], losses[name] = fitted.inverse(Z, return_loss=True)
        return cls(pictures, _shape(shape, np.shape(given)[1]), losses)

    @classmethod
    def from_estimator(cls, *arguments: Any, **options: Any) -> PreimageDisplay:
        """Compute and draw; arguments as in :meth:`compute`."""
        return cls.compute(*arguments, **options).plot()

    def plot(self) -> PreimageDisplay:
        """Draw the gallery in a new figure."""
        n_rows = len(self.pictures)
        n_columns = len(next(iter(self.pictures.values())))
        size = (1.0 * n_columns + 1.5, 1.15 * n_rows)
        self.figure_, self.axes_ = axes_for(
            nrows=n_rows, ncols=n_columns, figsize=size, squeeze=False
        )
        first = np.asarray(next(iter(self.pictures.values())))
        low = float(first.min())
        high = float(first.max())
        for (name, pictures), line in zip(self.pictures.items(), self.axes_):
            line[0].set_ylabel(name, rotation=0, ha="right", va="center")
            for t, (picture, ax) in enumerate(zip(pictures, line)):
                ax.imshow(np.reshape(picture, self.shape), cmap="gray_r", vmin=low, vmax=high)
                ax.set(xticks=[], yticks=[])
                if self.losses is not None and name in self.losses:
                    ax.set_xlabel(f"{self.losses[name][t]:.2g}", fontsize="x-small")
        return self


def _shape(shape: tuple[int, int] | None, n_pixels: int) -> tuple[int, int]:
    if shape is None:
        side = round(np.sqrt(n_pixels))
        shape = (side, side)
    if shape[0] * shape[1] != n_pixels:
        raise ValueError(
            f"shape == {shape}, must have {n_pixels} pixels: give shape=(height, width)."
        )
    return shape
