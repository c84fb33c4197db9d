"""The problem held as the Gram matrix XX': wide data and kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import EPS, Array, column_scales, descending_eigh, row_blocks
from isthmus.problems.form import KEPT_VARIANCE, FoldForms, Form, Remake, Spectrum, SquaredForm
from isthmus.problems.frame import Frame, scales_x
from isthmus.problems.rows import RowFolds, RowForm
from isthmus.problems.splits import CheckedRows, Split

_COLUMN_ENTRIES = 2**21  # entries of a few columns of X


@dataclass
class GramForm(SquaredForm):
    """K = XX' and Y of the standardised problem, rows times the root of their weights.

    A direction X'a is held as a.
    """

    frame: Frame
    gram: Array
    Y: Array
    y_squares: Array
    remake: Remake
    centre: Centre | None = None

    is_dual = True
    depends = True

    @classmethod
    def from_rows(cls, X: Any, Y: NDArray, weights: Array | None, scale: bool | str) -> GramForm:
        return cls.of(RowForm.from_rows(X, Y, weights, scale))

    @classmethod
    def of(cls, rows: RowForm) -> GramForm:
        """The Gram matrix of standardised rows."""
        return cls(rows.frame, rows.X @ rows.X.T, rows.Y, rows.y_squares, rows.exactly)

    @classmethod
    def folds(cls, rows: CheckedRows, scale: bool | str, splits: Sequence[Split]) -> GramFolds:
        return GramFolds(rows, scale)

    @property
    def second(self) -> Array:  # type: ignore[override]
        return self.gram

    @property
    def xy(self) -> Array:
        """X'Y in the coordinates of the samples: Y itself."""
        return self.Y

    @property
    def x_squares(self) -> Array:
        return self.exactly().x_squares

    def exactly(self) -> RowForm:
        return self.remake()

    def inner(self, A: Array, B: Array) -> Array:
        return A.T @ (self.gram @ B)

    def to_features(self, A: Array) -> Array:
        return self.exactly().X.T @ A

    def spectrum(self) -> Spectrum:
        squares, U = descending_eigh(self.gram)
        keep = squares > len(squares) * EPS * squares[0]
        d, U = np.sqrt(squares[keep]), U[:, keep]
        return Spectrum(d**2, d[:, None] * (U.T @ self.Y), U / d, "dual")

    def coordinates(self, rows: NDArray) -> Array:
        assert self.centre is not None
        return self.centre.coordinates(rows) * np.sqrt(self.centre.weights)


class Centre:
    """A Gram matrix of all rows, seen from the weighted mean of some of them."""

    def __init__(self, gram: Array, rows: NDArray, weights: Array | None = None) -> None:
        self.gram, self.rows = gram, rows
        self.weights = np.ones(len(rows)) if weights is None else weights
        self.share = self.weights / self.weights.sum()
        K = gram[np.ix_(rows, rows)]
        self.means = K @ self.share
        self.middle = float(self.share @ self.means)
        K -= self.means[:, None]
        K -= self.means
        K += self.middle
        self.inside = K

    def coordinates(self, rows: NDArray) -> Array:
        """Products of any rows with those inside."""
        K = self.gram[np.ix_(rows, self.rows)]
        K -= (K @ self.share)[:, None]
        K -= self.means
        K += self.middle
        return K


class GramFolds(FoldForms):
    """Folds by parts of the Gram matrix of all rows; it is made anew for each only if scaled."""

    def __init__(self, rows: CheckedRows, scale: bool | str) -> None:
        super().__init__(rows, scale)
        self.w = np.ones(rows.shape[0]) if rows.weights is None else rows.weights
        self.x_mean = (self.w @ rows.X) / self.w.sum()
        self.Xc = rows.X - self.x_mean
        # Twice: the rounded mean of a far column leaves a rest that enters every product.
        self.Xc -= (self.w @ self.Xc) / self.w.sum()
        self.squares = np.hstack([self.w @ part**2 for part in self._column_blocks()])
        self.gram = None if scales_x(scale) else self.Xc @ self.Xc.T

    def _column_blocks(self, factor: Array | None = None) -> Iterator[Array]:
        """Few columns of the centred rows at a time, so that no copy of all of them is made."""
        n, p = self.Xc.shape
        # At least n columns, or adding up the n x n products would cost as much as forming them.
        for columns in row_blocks(p, max(_COLUMN_ENTRIES // n, n)):
            part = self.Xc[:, columns]
            yield part if factor is None else part * factor[columns]

    def without(self, split: Split) -> Form:
        exactly = partial(RowFolds(self.rows, self.scale).without, split)
        train = split.train
        w, Y = self.w[train], self.rows.Y[train]
        weight = float(w.sum())
        x_scale = np.ones(self.rows.shape[1])
        gram = self.gram
        if gram is None:
            squares = self._squares_left(split, weight)
            if (squares < KEPT_VARIANCE * self.squares).any():
                return exactly()
            x_scale, live = column_scales(squares, self.x_mean, weight, True)
            gram = np.zeros((len(self.Xc), len(self.Xc)))
            for Z in self._column_blocks(live / x_scale):
                gram += Z @ Z.T
        centre = Centre(gram, train, w)
        K = centre.inside
        if K.diagonal().max() < KEPT_VARIANCE * gram.diagonal()[train].max():
            return exactly()  # the mean of all rows is far from that of the fold
        root = np.sqrt(w)
        K *= root[:, None] * root
        y_mean = (w @ Y) / weight
        Yc = (Y - y_mean) * root[:, None]
        y_squares = np.einsum("ij,ij->j", Yc, Yc)
        y_scale, y_live = column_scales(y_squares, y_mean, weight, bool(self.scale))
        Yc *= y_live / y_scale
        frame = Frame(self.x_mean, x_scale, y_mean, y_scale, weight, len(w), np.zeros_like(x_scale))
        return GramForm(frame, K, Yc, y_squares * y_live / y_scale**2, exactly, centre)

    def _squares_left(self, split: Split, weight: float) -> Array:
        """Centred squares of the columns over the training rows."""
        few_out = 2 * split.n_train >= split.n_samples and not split.repeats_rows
        rows = split.held_out if few_out else split.train
        part, w = self.Xc[rows], self.w[rows]
        # Sums over the training and the held-out rows are opposite, so either will do.
        squares, sums = w @ part**2, w @ part
        if few_out:
            squares = self.squares - squares
        return squares - sums**2 / weight
