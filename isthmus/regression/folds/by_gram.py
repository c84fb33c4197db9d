"""Folds of wide data: parts of the Gram matrix of all rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.linalg import Array, row_blocks
from isthmus.problems.forms import Frame, GramForm, InaccurateGram, column_scales, scales_x
from isthmus.problems.paths import FoldPath
from isthmus.problems.splits import Rows, Split
from isthmus.regression.folds.refit import KEPT_VARIANCE, Folds

_BLOCK = 2**21  # entries


class GramFolds(Folds):
    """Folds by parts of the Gram matrix of all rows; it is made anew for each only if scaled."""

    def __init__(self, estimator: Any, rows: Rows, n_components: int, alphas: list) -> None:
        super().__init__(estimator, rows, n_components, alphas)
        n = rows.shape[0]
        self.w = np.ones(n) if rows.weights is None else rows.weights
        self.x_mean = (self.w @ rows.X) / self.w.sum()
        self.Xc = rows.X - self.x_mean
        self.Xc -= (self.w @ self.Xc) / self.w.sum()
        self.squares = np.hstack([self.w @ part**2 for part in self.column_blocks()])
        self.gram = None if scales_x(self.scale) else self.Xc @ self.Xc.T

    def column_blocks(self, factor: Array | None = None) -> Iterator[Array]:
        """Few columns of the centred rows at a time, so that no copy of all of them is made."""
        n, p = self.Xc.shape
        for columns in row_blocks(p, max(_BLOCK // n, n)):
            part = self.Xc[:, columns]
            yield part if factor is None else part * factor[columns]

    def fast_path(self, split: Split) -> list[FoldPath]:
        train, test = split.train, split.test
        w, Y = self.w[train], self.rows.Y[train]
        weight = float(w.sum())
        x_scale, gram = np.ones(self.rows.shape[1]), self.gram
        if gram is None:
            x_scale, live = self.scales(split, weight)
            gram = np.zeros((len(self.Xc), len(self.Xc)))
            for Z in self.column_blocks(live / x_scale):
                gram += Z @ Z.T
        y_mean = (w @ Y) / weight
        Yc = (Y - y_mean) * np.sqrt(w)[:, None]
        y_squares = np.einsum("ij,ij->j", Yc, Yc)
        y_scale, y_live = column_scales(y_squares, y_mean, weight, bool(self.scale))
        Yc *= y_live / y_scale
        K, K_test = _centre(gram, train, test, w / weight)
        if K.diagonal().max() < KEPT_VARIANCE * gram.diagonal()[train].max():
            raise InaccurateGram  # the mean of all rows is far from that of the fold
        root = np.sqrt(w)
        K *= root[:, None] * root
        frame = Frame(
            self.x_mean, x_scale, y_mean, y_scale, weight, len(train), np.zeros_like(x_scale)
        )
        form = GramForm(frame, K, Yc, y_squares * y_live / y_scale**2)
        return self.solve(form, K_test * root)

    def scales(self, split: Split, weight: float) -> tuple[Array, NDArray]:
        """Scales of the columns over the training rows."""
        few_out = 2 * split.n_train >= split.n_samples and not split.repeats_rows
        rows = split.held_out if few_out else split.train
        part, w = self.Xc[rows], self.w[rows]
        # Sums over the training and the held-out rows are opposite, so either will do.
        squares, sums = w @ part**2, w @ part
        if few_out:
            squares = self.squares - squares
        squares -= sums**2 / weight
        if (squares < KEPT_VARIANCE * self.squares).any():
            raise InaccurateGram
        return column_scales(squares, self.x_mean, weight, True)


def _centre(gram: Array, train: NDArray, test: NDArray, share: Array) -> tuple[Array, Array]:
    """Gram matrices train x train and test x train about the weighted mean of the training rows."""
    K, K_test = gram[np.ix_(train, train)], gram[np.ix_(test, train)]
    mean = K @ share
    middle = share @ mean
    K -= mean[:, None]
    K -= mean
    K += middle
    K_test -= (K_test @ share)[:, None]
    K_test -= mean
    K_test += middle
    return K, K_test
