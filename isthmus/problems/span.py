"""Incomplete rows that are fewer than their columns, in the space that they span."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import Array, orthonormal_basis, rows_of_moments, triangular_rows
from isthmus.problems.frame import NO_UNITS, Units, frame_of
from isthmus.problems.gaps import GapCovariance
from isthmus.problems.moments import MomentForm
from isthmus.problems.rows import RowForm

# Columns that are looked at first to see that all rows are different.
_KEY_COLUMNS = 8


@dataclass
class SpanForm(MomentForm):
    """Second moments along a basis of the features."""

    squares_of_features: Array | None = None  # (p,)
    basis: Array | None = None

    @property
    def x_squares(self) -> Any:
        return self.squares_of_features


@dataclass
class FilledRows:
    """Filled rows of x and y, and the covariance of their gaps, in place of matrices of second moments."""

    rows: Array  # centred, times the roots of their weights, in units of the columns
    gaps: GapCovariance
    live: NDArray  # columns that vary, which the rows and their gaps have
    spanning: NDArray  # rows that span all rows
    units: Array  # of all columns, (d,)
    x_mean: Array
    y_mean: Array
    weight: float
    n_samples: int

    @property
    def x_rest(self) -> Array:
        """What the means have been rounded by, as in ``Moments``."""
        return np.zeros(len(self.x_mean))

    def form(self, kind: Any, scale: bool | str, units: Units = NO_UNITS) -> SpanForm:
        r"""The problem along the directions that the rows span, as it is solved for complete rows.

        .. math::
            V^\top (X^\top X + C) V, \qquad V^\top (X^\top Y + C_{xy})

        with an orthonormal basis V of the filled rows X and the covariance C of their gaps. What C has
        along other directions is of the gaps alone, and costs a matrix of the order of the columns.
        ``kind`` is not asked for: these moments are few, and rows are made if they lack digits.
        """
        p, q = len(self.x_mean), len(self.y_mean)
        rows, squares = self.rows, np.zeros(p + q)
        if not self.live.all():
            rows = np.zeros((len(self.rows), p + q))
            rows[:, self.live] = self.rows
        squares[self.live] = np.einsum("ij,ij->j", self.rows, self.rows) + self.gaps.diagonal()
        with np.errstate(over="ignore"):  # told by the frame
            squares *= self.units**2
        both = squares[:p], squares[p:]
        frame, x_factor, y_factor, y_squares = frame_of(self, scale, units, both)
        x_unit, y_unit = self.units[:p] * x_factor, self.units[p:] * y_factor
        Y = rows[:, p:] * y_unit
        V, R = orthonormal_basis((rows[self.spanning, :p] * x_unit).T)
        m = V.shape[1]
        inner = np.empty((len(rows), m))  # X V
        inner[self.spanning] = R.T
        others = np.delete(np.arange(len(rows)), self.spanning)
        inner[others] = (rows[others, :p] * x_unit) @ V
        inside = np.zeros((p + q, m + q))
        np.multiply(V, x_unit[:, None], out=inside[:p, :m])
        np.fill_diagonal(inside[p:, m:], y_unit)
        C = self.gaps.within(inside if self.live.all() else inside[self.live])
        squares = squares[:p] * x_factor**2

        def exactly() -> RowForm:
            roots = rows_of_moments(C, np.zeros((m + q, 0)), C.diagonal() > 0)[0][0]
            stacked = np.vstack([inner, roots[:, :m]]), np.vstack([Y, roots[:, m:]])
            rows, outputs = triangular_rows(*stacked)
            form = RowForm(frame, outputs, squares, y_squares, rows, is_condensed=True)
            form.basis = V
            return form

        xx, xy = inner.T @ inner + C[:m, :m], inner.T @ Y + C[:m, m:]
        return SpanForm(frame, xx, xy, y_squares, exactly, squares_of_features=squares, basis=V)


def different_rows(Z: Array) -> NDArray:
    """Rows that are different from each other, all that there are."""
    d = Z.shape[1]
    if d:
        # Rows that differ in some columns are different; few columns are enough, nearly always.
        some = Z[:, :: -(-d // _KEY_COLUMNS)].view(np.uint64)
        # Sums of integers that wrap around are equal for equal rows, and nearly always for these alone.
        factors = np.random.default_rng(0).integers(2**63, size=some.shape[1], dtype=np.uint64)
        keys = np.sort(some @ factors)
        if (keys[1:] != keys[:-1]).all():
            return np.arange(len(Z))
    rows = Z.view(np.dtype((np.void, 8 * d))).ravel().tolist() if d else [b""] * len(Z)
    return np.array(list(dict(zip(reversed(rows), reversed(range(len(Z))))).values()))
