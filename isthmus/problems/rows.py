"""The problem held as rows: all digits of X."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from isthmus._linalg import (
    EPS,
    LARGEST_SQUARE,
    Array,
    column_scales,
    out_of_range,
    power_of_two,
    sample_divisor,
    weight_unit,
)
from isthmus.problems.form import FoldForms, Form, Spectrum
from isthmus.problems.frame import (
    NO_UNITS,
    Frame,
    Units,
    frame_of,
    in_range,
    output_units,
)
from isthmus.problems.splits import CheckedRows, Split
from isthmus.problems.sums import Moments

# A mean this many deviations away is centred twice.
_FAR_MEAN = 1e3
# A mean at most this many deviations away costs half a digit where only products are centred.
_NEAR_MEAN = 4.0
# Rows of this many entries and fewer are copied: in cache that costs little, and keeps the last digit.
_WORTH_NO_COPY = 2**17
# A vector that keeps this share of its square is made orthogonal to others in one round.
_KEPT_SQUARE = 0.25


@dataclass
class RowForm(Form):
    """The standardised rows, each times the root of its weight.

    Where the means are small beside the deviations, the user's rows serve as they are and only the
    products with them are centred and scaled; ``X`` makes the copy when somebody asks for it.
    """

    frame: Frame
    Y: Array
    x_squares: Array
    y_squares: Array
    held: Array  # X, or the rows of the user
    factor: Array | None = None  # what a column of the user's centred rows is multiplied by
    is_condensed: bool = False
    data: CheckedRows | None = None

    @classmethod
    def from_moments(cls, moments: Moments, scale: bool | str, units: Units = NO_UNITS) -> RowForm:
        """The problem of the few rows that stand for all: its solution is that of all rows."""
        frame, x_factor, y_factor, y_squares = frame_of(moments, scale, units)
        X, Y = moments.few_rows()
        x_squares = moments.xx.diagonal() * x_factor**2
        return cls(frame, Y * y_factor, x_squares, y_squares, X * x_factor, is_condensed=True)

    @classmethod
    def from_rows(cls, X: Any, Y: NDArray, weights: Array | None, scale: bool | str) -> RowForm:
        if sparse.issparse(X):  # centred, they would be dense: few at a time are
            return cls.from_moments(*in_range(Moments.of_checked, X, Y, weights, scale))
        unit = 1.0
        weight = float(len(X))
        described = None
        scales_inputs = bool(scale) and not isinstance(scale, str)
        if weights is not None:
            unit = weight_unit(weights)
            weights = weights / unit
            weight = float(weights.sum())
        elif X.size > _WORTH_NO_COPY:
            described = _describe(X, scales_inputs)
        Ys, y_mean, _, y_scale, y_squares = _standardise(
            Y, weights, bool(scale), partial(output_units, scale=scale)
        )
        if described is None:
            held, x_mean, x_rest, x_scale, x_squares = _standardise(X, weights, scales_inputs)
            factor = None
        else:
            held, x_rest = X, np.zeros(X.shape[1])
            x_mean, x_scale, x_squares, factor = described
        frame = Frame(x_mean, x_scale, y_mean, y_scale, weight, len(X), x_rest, unit)
        return cls(frame, Ys, x_squares, y_squares, held, factor)

    @classmethod
    def folds(cls, rows: CheckedRows, scale: bool | str, splits: Sequence[Split]) -> RowFolds:
        return RowFolds(rows, scale)

    @property
    def X(self) -> Array:
        """The standardised rows themselves, (n, p)."""
        if self.factor is not None:
            self.held = self.held - self.frame.x_mean
            if (self.factor != 1.0).any():
                self.held *= self.factor
            self.factor = None
        return self.held

    def times(self, r: Array) -> Array:
        """X r, (n,) or (n, k)."""
        if self.factor is None:
            return self.held @ r
        r = (r.T * self.factor).T
        return self.held @ r - self.frame.x_mean @ r

    def along(self, T: Array) -> Array:
        """T'X for T of shape (n,) or (n, k), which is faster than X'T."""
        if self.factor is None:
            return T.T @ self.held
        H = T.T @ self.held
        H -= np.multiply.outer(T.sum(axis=0), self.frame.x_mean)
        H *= self.factor
        return H

    @cached_property
    def xy(self) -> Array:
        return self.along(self.Y).T

    def product(self, R: Array) -> Array:
        return self.along(self.times(R)).T

    def spectrum(self) -> Spectrum:
        U, d, Bt = np.linalg.svd(self.X, full_matrices=False)
        rank = int(np.count_nonzero(d > EPS * max(self.X.shape) * d.max(initial=0.0)))
        d = d[:rank]
        return Spectrum(d**2, d[:, None] * (U[:, :rank].T @ self.Y), Bt[:rank].T, "svd")

    def exactly(self) -> RowForm:
        return self

    def in_units(self, x_unit: Array, y_unit: Array) -> RowForm:
        """The same problem with columns divided by units; only its spectrum is of use."""
        squares = self.x_squares / x_unit**2, self.y_squares / y_unit**2
        return RowForm(self.frame, self.Y / y_unit, *squares, self.X / x_unit)


class RowFolds(FoldForms):
    """Every fold from its own rows."""

    def without(self, split: Split) -> RowForm:
        form = RowForm.from_rows(*self.rows.take(split.train), self.scale)
        form.data = self.rows
        return form


class ScoreStack:
    """Scores of a stack of problems as vectors, each made orthogonal to those before it.

    The matrices of many small problems are multiplied in one call, since the call itself takes longer than
    the product.

    Parameters
    ----------
    X : ndarray of shape (n_problems, n_samples, n_features)
        Centred rows; rows of zeros fill up problems with fewer.
    Y : ndarray of shape (n_problems, n_samples, n_targets)
    n_components : int
    """

    known_to = 0.0  # vectors have the digits that their problem needs

    def __init__(self, X: Array, Y: Array, n_components: int) -> None:
        b, n, p = X.shape
        self.X, self.Y = X, Y
        self.cross = Y.transpose(0, 2, 1) @ X
        self.directions = np.zeros((b, n_components, p))
        self.x_cross = np.zeros((b, n_components, p))
        self.weights = np.zeros((b, n_components, p))
        self.units = np.zeros((b, n_components, n))
        self.lengths = np.ones((b, n_components))

    def add(self, w: Array, S: Array, i: int) -> tuple[Array, Array]:
        """Make score i that of the directions w (b, p); return t't, (b,), and Y't, (b, q)."""
        w, _ = _off_each(w, self.weights[:, :i])
        w = w / np.maximum(np.linalg.norm(w, axis=1), np.finfo(float).tiny)[:, None]
        self.weights[:, i] = w
        t, overlaps = _off_each(times_each(self.X, w), self.units[:, :i])
        lengths = np.linalg.norm(t, axis=1)
        found = lengths > 0  # ``primal_pls`` has ended what is only rounding error
        self.lengths[found, i] = lengths[found]
        t *= found[:, None]
        self.units[:, i] = t / self.lengths[:, i, None]
        # One column of R^-1 by substitution, so that r has all digits that R has.
        behind = (overlaps / self.lengths[:, :i])[:, None, :] @ self.directions[:, :i]
        self.directions[:, i] = (w - behind[:, 0]) * found[:, None]
        self.x_cross[:, i] = (t[:, None, :] @ self.X)[:, 0]
        outputs = np.zeros((len(t), S.shape[1]))
        outputs[:, : self.Y.shape[2]] = (t[:, None, :] @ self.Y)[:, 0]
        return (lengths * found) ** 2, outputs


def off(v: Array, basis: Array) -> tuple[Array, Array]:
    """What is left of a vector off orthonormal rows, and its products with them.

    What is left of a vector that all but vanishes is rounding error, orthogonal to nothing, before the
    second round.
    """
    overlaps = basis @ v
    if not len(basis):
        return v, overlaps
    left = v - overlaps @ basis
    if left @ left < _KEPT_SQUARE * (v @ v):
        more = basis @ left
        left -= more @ basis
        overlaps += more
    return left, overlaps


def _off_each(v: Array, basis: Array) -> tuple[Array, Array]:
    """The same for a stack of vectors, (b, m), and of orthonormal rows, (b, i, m), in one round."""
    overlaps = times_each(basis, v)
    return v - times_each(basis.transpose(0, 2, 1), overlaps), overlaps


def times_each(A: Array, x: Array) -> Array:
    """A x for a stack of matrices, (b, m, p), and of vectors, (b, p)."""
    return (A @ x[:, :, None])[:, :, 0]


# -- standardising ----------------------------------------------------------------------------


def _describe(A: NDArray, scale: bool) -> tuple[Array, Array, Array, Array] | None:
    """Means, scales, squares and factors of the columns, where it is enough to centre products."""
    if A.dtype != np.float64:
        return None
    n = float(len(A))
    with np.errstate(over="ignore", invalid="ignore"):
        mean = (np.ones(len(A)) @ A) / n
        squares = np.einsum("ij,ij->j", A, A) - n * mean**2
    if out_of_range(squares) or not (n * mean**2 <= _NEAR_MEAN**2 * squares).all():
        return None
    scales, live = column_scales(squares, mean, n, scale)
    return mean, scales, live * squares / scales**2, live / scales


def _standardise(
    A: NDArray,
    weights: Array | None,
    scale: bool,
    units_of: Callable[[NDArray], Array] | None = None,
) -> tuple[Array, Array, Array, Array, Array]:
    """Standardised weighted columns, their means (rounded, and the rest), scales and squares.

    ``units_of`` gives the units of columns that are too large or too small to be squared; None: one for
    all of them.
    """
    w = np.ones(len(A)) if weights is None else weights
    weight = float(len(A) if weights is None else w.sum())
    rest = np.zeros(A.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        mean = (w @ A) / weight
        Z = A - mean
        if weights is not None:
            Z *= np.sqrt(weights)[:, None]
        squares = np.einsum("ij,ij->j", Z, Z)
        farthest = weight * (mean * mean).max()
    # Columns that vary, by numbers in range, about means that have digits left for their deviations.
    least = max(farthest / _FAR_MEAN**2, 1.0 / LARGEST_SQUARE)
    if squares.min() > least and squares.max() < LARGEST_SQUARE:
        if not scale:
            return Z, mean, rest, np.ones(A.shape[1]), squares
        divisor = sample_divisor(weight)
        scales = np.sqrt(squares / divisor)
        Z *= 1.0 / scales
        return Z, mean, rest, scales, np.full(A.shape[1], divisor)
    if out_of_range(squares, each=units_of is not None):
        units = np.full(A.shape[1], power_of_two(A)) if units_of is None else units_of(A)
        if (units != 1.0).any():
            Z, mean, rest, scales, squares = _standardise(A / units, weights, scale)
            return Z, mean * units, rest * units, scales * units, squares
    is_far = mean**2 * weight > _FAR_MEAN**2 * squares
    if is_far.any():  # the mean has few digits left for the spread
        root = np.sqrt(w)
        rest = (root @ Z) / weight
        Z -= rest if weights is None else root[:, None] * rest
        squares = np.einsum("ij,ij->j", Z, Z)
    scales, live = column_scales(squares, mean, weight, scale)
    if scale:
        Z *= 1.0 / scales
        squares = squares / scales**2
    if not live.all():
        Z[:, ~live] = 0.0
        squares = squares * live
    return Z, mean, rest, scales, squares
