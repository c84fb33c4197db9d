"""The problem held as X'X and X'Y: tall data, streams and sums of blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from isthmus._linalg import Array, column_scales, descending_eigh
from isthmus.problems.form import (
    GRAM_DIGITS,
    KEPT_VARIANCE,
    FoldForms,
    Remake,
    Spectrum,
    SquaredForm,
)
from isthmus.problems.frame import (
    NO_UNITS,
    Frame,
    Units,
    frame_of,
    in_range,
    scales_x,
)
from isthmus.problems.parallel import thread_map
from isthmus.problems.rows import RowFolds, RowForm, times_each
from isthmus.problems.splits import CheckedRows, Split
from isthmus.problems.sums import Moments

GramProduct = Callable[[Array], Array]
"""Maps directions r (b, p) to X'X r (b, p)."""

# Bytes of a stack of folds, and of the moments of the parts of a partition.
_STACK_BYTES = 2**25
_PARTS_BYTES = 2**28
# FoldForms are stacked where one is so many times smaller than X'X, and if there are so many of them.
_STACK_ORDER = 8
_STACK_LEAST = 4


@dataclass
class MomentForm(SquaredForm):
    """X'X and X'Y of the standardised problem."""

    frame: Frame
    xx: Array
    xy: Array
    y_squares: Array
    remake: Remake | None = None
    data: CheckedRows | None = None

    @property
    def second(self) -> Array:  # type: ignore[override]
        return self.xx

    @property
    def x_squares(self) -> Array:
        return self.xx.diagonal()

    @property
    def has_null_space(self) -> bool:  # type: ignore[override]
        return self.n_directions < len(self.xx)

    @classmethod
    def from_moments(
        cls, moments: Moments, scale: bool | str, units: Units = NO_UNITS
    ) -> MomentForm:
        """Standardise; ``units`` are the powers of two that the data were divided by before."""
        frame, x_factor, y_factor, y_squares = frame_of(moments, scale, units)
        # Without columns that do not vary, unscaled moments serve as they are.
        unchanged = (x_factor == 1.0).all()
        xx = moments.xx if unchanged else moments.xx * x_factor[:, None] * x_factor
        xy = moments.xy * x_factor[:, None] * y_factor
        remake = partial(RowForm.from_moments, moments, scale, units)
        return cls(frame, xx, xy, y_squares, remake)

    @classmethod
    def from_rows(cls, X: Any, Y: NDArray, weights: Array | None, scale: bool | str) -> MomentForm:
        form = cls.from_moments(*in_range(Moments.squares_of, X, Y, weights, scale))
        form.remake = partial(RowForm.from_rows, X, Y, weights, scale)
        return form

    @classmethod
    def folds(cls, rows: CheckedRows, scale: bool | str, splits: Sequence[Split]) -> MomentFolds:
        return MomentFolds(rows, scale, splits)

    def exactly(self) -> RowForm:
        assert self.remake is not None
        form = self.remake()
        form.data = self.data
        return form

    def spectrum(self) -> Spectrum:
        squares, B = descending_eigh(self.xx)
        return Spectrum(squares, B.T @ self.xy, B, "moments")

    def in_units(self, x_unit: Array, y_unit: Array) -> MomentForm:
        """The same problem with columns divided by units; only its spectrum is of use."""
        return replace(
            self,
            xx=self.xx / np.outer(x_unit, x_unit),
            xy=self.xy / np.outer(x_unit, y_unit),
            y_squares=self.y_squares / y_unit**2,
        )


class MomentScores:
    """Scores of a stack of problems of which only products are known: t = X r, X't = X'X r."""

    def __init__(
        self, cross: Array, product: GramProduct, n_components: int, norm: float, n_passes: int
    ) -> None:
        b, _, p = cross.shape
        self.cross = cross  # Y'X, (b, q, p)
        self.product = product
        self.known_to = GRAM_DIGITS * norm  # X'X knows r'X'Xr to eps over its share of norm r'r
        self.n_passes = n_passes
        self.directions = np.zeros((b, n_components, p))
        self.x_cross = np.zeros((b, n_components, p))
        self.inverses = np.zeros((b, n_components))  # 1 / t't

    def add(self, w: Array, S: Array, i: int) -> tuple[Array, Array]:
        """Make score i that of the directions w (b, p); return t't, (b,), and Y't, (b, q).

        ``S`` is what is left of Y'X or, where scores are orthogonal, all of it.
        """
        r = w
        for _ in range(self.n_passes):
            overlaps = times_each(self.x_cross[:, :i], r) * self.inverses[:, :i]  # p_j'r
            r = r - times_each(self.directions[:, :i].transpose(0, 2, 1), overlaps)
        h = self.product(r)
        squares = np.einsum("bp,bp->b", r, h)
        found = squares > 0
        self.inverses[:, i] = found / np.where(found, squares, 1.0)
        self.directions[:, i] = r * found[:, None]
        self.x_cross[:, i] = h * found[:, None]
        return squares * found, times_each(S, self.directions[:, i])


# -- folds ------------------------------------------------------------------------------------


class MomentFolds(FoldForms):
    """Training folds as the moments of the whole less those of the held-out rows."""

    def __init__(self, rows: CheckedRows, scale: bool | str, splits: Sequence[Split]) -> None:
        super().__init__(rows, scale)
        self.parts: dict[int, Moments] = {}  # moments of held-out rows, by the first of them
        if self._are_parts(splits):  # the whole is the sum of its parts
            parts = thread_map(lambda split: self.moments(split.test), splits)
            self.parts = {int(split.test[0]): part for split, part in zip(splits, parts)}
            self.whole = reduce(Moments.merge, self.parts.values())
        else:
            self.whole = self.moments(slice(None))

    def _are_parts(self, splits: Sequence[Split]) -> bool:
        """Whether test rows are a partition of all rows into few parts."""
        n, p = self.rows.shape
        tested = np.zeros(n, dtype=bool)
        for split in splits:
            tested[split.test] = True
        # As many as there are rows, and all of them: none is tested twice.
        complete = sum(len(split.test) for split in splits) == n and bool(tested.all())
        complete &= all(split.is_partition for split in splits)
        return complete and len(splits) * 8 * p**2 <= _PARTS_BYTES and len(splits) < n / 2

    def moments(self, rows: Any) -> Moments:
        return Moments.squares_of(*self.rows.take(rows))

    def without(self, split: Split) -> MomentForm:
        held_out = split.held_out
        if len(held_out) > split.n_train or split.repeats_rows:
            moments = self.moments(split.train)
        else:
            part = self.parts.get(int(held_out[0])) if len(held_out) else None
            moments = self.whole.subtract(self.moments(held_out) if part is None else part)
            if self.lost(moments.xx.diagonal(), moments.yy):
                moments = self.moments(split.train)
        form = MomentForm.from_moments(moments, self.scale)
        form.remake = partial(RowFolds(self.rows, self.scale).without, split)
        form.data = self.rows
        return form

    def lost(self, x_squares: Array, y_squares: Array) -> NDArray:
        """Whether a fold that keeps these squares, (..., p) and (..., q), has lost digits."""
        whole = self.whole
        x_lost = (x_squares < KEPT_VARIANCE * whole.xx.diagonal()).any(axis=-1)
        return np.asarray(x_lost | (y_squares < KEPT_VARIANCE * whole.yy).any(axis=-1))

    def stacks(self, splits: Sequence[Split], n_components: int) -> list[MomentStack]:
        n, p = self.rows.shape
        if sparse.issparse(self.rows.X) or any(split.repeats_rows for split in splits):
            return []
        largest = max(n - split.n_train for split in splits)
        if _STACK_ORDER * (largest + 1) > p or len(splits) < _STACK_LEAST:
            return []
        per_fold = 8 * p * (4 * n_components + 2 * self.rows.Y.shape[1] + 2 * largest)
        size = max(1, _STACK_BYTES // per_fold)
        return [
            MomentStack(self, start, splits[start : start + size])
            for start in range(0, len(splits), size)
        ]


class MomentStack:
    r"""Many problems without few rows each, as one.

    With the held-out rows F, centred at the mean of all and times the root of their weights, and
    their sum s over the root of the weight that is left as one more row, what is left is
    :math:`X^\top X - F^\top F`: the product with it is one matrix product for all folds.
    """

    def __init__(self, folds: MomentFolds, start: int, splits: Sequence[Split]) -> None:
        self.folds, self.start, self.splits = folds, start, splits

    def open(self) -> None:
        """Take the rows out; not before the stack is solved, or all would be in memory at once."""
        whole, scale = self.folds.whole, self.folds.scale
        self.F, G, weight = self._held_out()
        self.shift = -self.F[:, -1] / np.sqrt(weight)[:, None]  # mean of the fold less that of all
        self.y_mean = whole.y_mean - G[:, -1] / np.sqrt(weight)[:, None]
        squares = whole.xx.diagonal() - np.einsum("bmp,bmp->bp", self.F, self.F)
        y_squares = whole.yy - np.einsum("bmq,bmq->bq", G, G)
        self.lost = self.folds.lost(squares, y_squares)
        x_scale, live = column_scales(squares, whole.x_mean, weight[:, None], scales_x(scale))
        self.y_scale, y_live = column_scales(y_squares, whole.y_mean, weight[:, None], bool(scale))
        self.factor = live / x_scale
        self.cross = whole.xy - self.F.transpose(0, 2, 1) @ G
        self.cross *= self.factor[:, :, None] * (y_live / self.y_scale)[:, None, :]

    def product(self, r: Array) -> Array:
        u = r * self.factor
        h = u @ self.folds.whole.xx
        h -= ((self.F @ u[:, :, None]).transpose(0, 2, 1) @ self.F)[:, 0]
        h *= self.factor
        return h

    def new_scores(self, n_components: int) -> MomentScores:
        """Keep the scores of directions, (b, k, p)."""
        largest = self.factor.max(axis=0)
        norm = float(np.linalg.norm(self.folds.whole.xx * np.outer(largest, largest)))
        # One pass, which halves the cost of a step: a fold that needs two is not trusted and fitted alone.
        cross = self.cross.transpose(0, 2, 1)
        return MomentScores(cross, self.product, n_components, norm, n_passes=1)

    def coordinates(self, b: int) -> Array:
        """The test rows of one fold, standardised by its training rows."""
        whole = self.folds.whole
        Z = whole.centred(self.folds.rows.X[self.splits[b].test], whole.y_mean)[0]
        Z -= self.shift[b]
        Z *= self.factor[b]
        return Z

    def _held_out(self) -> tuple[Array, Array, Array]:
        """Held-out rows of each fold, padded with zeros, with their sum as the last row."""
        rows, whole = self.folds.rows, self.folds.whole
        sets = [split.held_out for split in self.splits]
        m = max(map(len, sets)) + 1
        F = np.zeros((len(sets), m, rows.shape[1]))
        G = np.zeros((len(sets), m, rows.Y.shape[1]))
        weight = np.empty(len(sets))
        for b, out in enumerate(sets):
            X, Y, w = rows.take(out)
            root = np.ones((len(out), 1)) if w is None else np.sqrt(w)[:, None]
            Xc, Yc = whole.centred(X, Y)
            F[b, : len(out)], G[b, : len(out)] = Xc * root, Yc * root
            weight[b] = whole.weight - float((root**2).sum())
            F[b, -1] = root[:, 0] @ F[b, : len(out)] / np.sqrt(weight[b])
            G[b, -1] = root[:, 0] @ G[b, : len(out)] / np.sqrt(weight[b])
        return F, G, weight
