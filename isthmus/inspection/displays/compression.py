"""Size against error and speed of a compressed model."""

from __future__ import annotations

import timeit
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.compression import CompressionPath
from isthmus.expansion import Expansion
from isthmus.inspection.displays._axes import Display
from isthmus.kernels import take


@dataclass(eq=False)
class CompressionDisplay(Display):
    """Error and speed of a compressed model at every number of points.

    Parameters
    ----------
    sizes, errors : ndarray
        Number of points and what they leave, relative: of the outputs where they were refitted, else
        of the functions.
    n_points : int
        The size that was taken.
    n_points_full : int
        The size of the original.
    validation : tuple (sizes, errors, full error) or None
        Errors on validation rows, where they were asked for.
    speed : tuple (sizes, ratios) or None
        How many times faster than the original predictions are.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.svm import SVR
    >>> from isthmus import compress
    >>> from isthmus.inspection import CompressionDisplay
    >>> X, y = load_diabetes(return_X_y=True)
    >>> small = compress(SVR().fit(X, y), 50)
    >>> display = CompressionDisplay.from_estimator(small, X)
    >>> display.ax_.get_xlabel()
    'number of points'
    """

    sizes: NDArray
    errors: NDArray
    n_points: int
    n_points_full: int
    validation: tuple[NDArray, NDArray, float] | None = None
    speed: tuple[NDArray, NDArray] | None = None

    @classmethod
    def compute(cls, estimator: Any, X: Any = None) -> CompressionDisplay:
        """Compute the numbers of the picture from a model that ``compress`` returned.

        Parameters
        ----------
        estimator : compressed model
            It has ``compression_``.
        X : array or sequence, default=None
            Rows on which predictions are timed; None: no times.

        Returns
        -------
        display : CompressionDisplay
            Nothing is drawn yet.
        """
        path: CompressionPath = getattr(estimator, "compression_", None)  # type: ignore[assignment]
        if path is None:
            raise ValueError(
                f"{type(estimator).__name__} was not compressed: give what isthmus.compress returns."
            )
        errors = path.errors if path.output_errors is None else path.output_errors
        validation: Any = None
        if path.validation_sizes is not None:
            validation = path.validation_sizes, path.validation_errors, path.full_validation_error
        speed = None if X is None else _speed(Expansion.from_model(estimator), path, X)
        return cls(path.sizes, errors, path.n_points, path.n_points_full, validation, speed)

    def _draw(self, ax: Any) -> None:
        shown = self.sizes > 0
        # The axis is logarithmic, and the error of all points is zero.
        floor = max(float(self.errors.max()) * 1e-16, np.finfo(float).tiny)
        ax.plot(self.sizes[shown], np.maximum(self.errors[shown], floor), label="relative error")
        ax.axvline(self.n_points, color="0.6", linestyle=":", label=f"{self.n_points} points")
        if self.validation is not None:
            sizes, errors, full = self.validation
            ax.plot(sizes, errors, marker=".", label="validation error")
            if np.isfinite(full):
                ax.axhline(full, color="C1", linestyle="--", label="validation, all points")
        ax.set(xlabel="number of points", ylabel="error", yscale="log", xscale="log")
        ax.set_title(f"{self.n_points_full} points compressed")
        handles, labels = ax.get_legend_handles_labels()
        if self.speed is not None:
            other = ax.twinx()
            (line,) = other.plot(*self.speed, color="C2", linestyle="-.")
            other.set(ylabel="times faster", yscale="log")
            handles, labels = [*handles, line], [*labels, "speed"]
        ax.legend(handles, labels, loc="best", fontsize="small")


def _speed(small: Expansion, path: CompressionPath, X: Any) -> tuple[NDArray, NDArray]:
    """Best of three evaluations at some sizes against as many points as the original had."""

    def seconds(size: int) -> float:
        # What counts is the number of points, not where they are.
        index = np.resize(np.arange(small.n_points), size)
        expansion = Expansion(take(small.points, index), small.coef[index], small.kernel)
        return min(timeit.repeat(lambda: expansion(X), number=1, repeat=3))

    sizes = np.unique(np.geomspace(1, max(path.n_points, 1), 8).round().astype(int))
    full = seconds(path.n_points_full)
    return sizes, np.array([full / seconds(int(size)) for size in sizes])
