"""The first coordinates of a supervised projection, coloured by the outputs."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import r2_score
from sklearn.neighbors import KNeighborsRegressor

from isthmus.inspection.displays._axes import Display, axes_for

# As in the score that chooses ridge weights of projections.
_COLOURED_NEIGHBOURS = 10


@dataclass(eq=False)
class SubspaceDisplay(Display):
    """Coordinates of training and of held-out rows, one panel for each output.

    A projection can separate its training rows by chance; only rows that were not in the fit show whether
    the layout means anything. So both are shown apart, and the title of each panel has the R2 with which
    nearest neighbours on the training coordinates predict the held-out output.

    Parameters
    ----------
    train, held_out : ndarray of shape (n_samples, 2) or (n_samples, 3)
        Coordinates; ``held_out`` may have no rows.
    train_y, held_out_y : ndarray of shape (n_samples, n_targets)
        Outputs, the colours.
    r2 : ndarray of shape (n_targets,)
        Held-out R2 of each output, NaN without held-out rows.
    names : list of str
        Names of the outputs.
    score : float
        The projection's own ``held_out_score_``, shown where no rows were held out here.

    Attributes
    ----------
    axes_, figure_ :
        Of matplotlib, once drawn; one axes a panel.
    """

    train: NDArray
    train_y: NDArray
    held_out: NDArray
    held_out_y: NDArray
    _: KW_ONLY
    r2: NDArray
    names: list[str]
    score: float = float("nan")

    @classmethod
    def compute(
        cls,
        model: Any,
        X: ArrayLike,
        y: ArrayLike,
        X_held_out: ArrayLike | None = None,
        y_held_out: ArrayLike | None = None,
        *,
        dimensions: int = 2,
        outputs: list[int] | None = None,
        names: list[str] | None = None,
    ) -> SubspaceDisplay:
        """Compute the first coordinates of rows.

        Parameters
        ----------
        model : fitted SIR, KernelSIR, COIR, MORP, KernelCCA, KDR or any transformer
        X, y : arrays
            Rows of the fit and their outputs, numbers.
        X_held_out, y_held_out : arrays, default=None
            Rows that were not in the fit, and their outputs.
        dimensions : {2, 3}, default=2
            Number of coordinates.
        outputs : list of int, default=None
            Outputs that have a panel, from 0; None is all of them.
        names : list of str, default=None
            Names of all outputs.

        Returns
        -------
        display : SubspaceDisplay
        """
        if dimensions not in (2, 3):
            raise ValueError(f"dimensions == {dimensions!r}, must be 2 or 3.")
        if (X_held_out is None) != (y_held_out is None):
            raise ValueError("X_held_out and y_held_out must be given together.")
        Z = np.asarray(model.transform(X), dtype=float)
        Y = _columns(y, len(Z))
        if X_held_out is None:
            Z_new = np.empty((0, Z.shape[1]))
            Y_new = np.empty((0, Y.shape[1]))
        else:
            Z_new = np.asarray(model.transform(X_held_out), dtype=float)
            Y_new = _columns(y_held_out, len(Z_new))
        labels = names or ([f"y{j}" for j in range(Y.shape[1])] if Y.shape[1] > 1 else ["y"])
        chosen = list(range(Y.shape[1])) if outputs is None else list(outputs)
        Y = Y[:, chosen]
        Y_new = Y_new[:, chosen]
        labels = [labels[j] for j in chosen]
        return cls(
            _pad(Z, dimensions),
            Y,
            _pad(Z_new, dimensions),
            Y_new,
            r2=_held_out_r2(Z, Y, Z_new, Y_new),
            names=labels,
            score=float(getattr(model, "held_out_score_", np.nan)),
        )

    def plot(self, ax: Any = None) -> SubspaceDisplay:
        """Draw the picture, in ``ax`` if it is given: one axes, or a list with one per output."""
        n = len(self.names)
        three = self.train.shape[1] == 3
        if ax is None:
            options = {"subplot_kw": {"projection": "3d"}} if three else {}
            self.figure_, found = axes_for(
                ncols=n, figsize=(4.6 * n, 4.2), squeeze=False, **options
            )
            self.axes_ = list(found.ravel())
        else:
            self.axes_ = list(np.atleast_1d(np.asarray(ax, dtype=object)).ravel())
            self.figure_ = self.axes_[0].figure
        if len(self.axes_) != n:
            raise ValueError(f"ax has {len(self.axes_)} axes, must have {n}: one for each output.")
        for j, panel in enumerate(self.axes_):
            self._panel(panel, j)
        return self

    def _panel(self, panel: Any, j: int) -> None:
        values = np.concatenate([self.train_y[:, j], self.held_out_y[:, j]])
        shared = {"cmap": "viridis", "vmin": np.nanmin(values), "vmax": np.nanmax(values)}
        drawn = panel.scatter(
            *self.train.T, c=self.train_y[:, j], s=14, alpha=0.45, label="training", **shared
        )
        if len(self.held_out):
            panel.scatter(
                *self.held_out.T,
                c=self.held_out_y[:, j],
                s=34,
                marker="^",
                edgecolors="black",
                linewidths=0.5,
                label="held out",
                **shared,
            )
        panel.set(title=self._title(j), xlabel="coordinate 1", ylabel="coordinate 2")
        if self.train.shape[1] == 3:
            panel.set_zlabel("coordinate 3")
        panel.legend(loc="best", fontsize="small")
        self.figure_.colorbar(drawn, ax=panel, label=self.names[j])

    def _title(self, j: int) -> str:
        if len(self.held_out):
            return f"{self.names[j]}: held-out R2 {self.r2[j]:.2f}"
        if np.isfinite(self.score):
            return f"{self.names[j]}: held-out R2 {self.score:.2f} (cross-validated, all outputs)"
        return f"{self.names[j]}: training rows only, not judged"


def _columns(y: Any, n: int) -> NDArray:
    Y = np.asarray(y)
    if Y.dtype.kind in "OSU":  # names: their numbers are the colours
        Y = np.unique(Y, return_inverse=True)[1].reshape(Y.shape)
    if len(Y) != n:
        raise ValueError(f"y has {len(Y)} rows, X has {n}: they must agree.")
    return Y.reshape(n, -1).astype(float)


def _pad(Z: NDArray, dimensions: int) -> NDArray:
    """The first coordinates; zeros where there are fewer."""
    missing = max(0, dimensions - Z.shape[1])
    return np.pad(Z[:, :dimensions], [(0, 0), (0, missing)])


def _held_out_r2(Z: NDArray, Y: NDArray, Z_new: NDArray, Y_new: NDArray) -> NDArray:
    """From all coordinates of the model, not only from those that are shown."""
    if len(Z_new) < 2:
        return np.full(Y.shape[1], np.nan)
    near = KNeighborsRegressor(min(_COLOURED_NEIGHBOURS, len(Z))).fit(Z, Y)
    predicted = near.predict(Z_new).reshape(Y_new.shape)
    return np.atleast_1d(r2_score(Y_new, predicted, multioutput="raw_values"))
