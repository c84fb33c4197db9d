"""The problem held as rows: all digits of X."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import lapack

from isthmus.linalg import Array, rank_tolerance, weight_unit
from isthmus.linalg.eigen import descending_eigh
from isthmus.problems.form import Folds, Form, Spectrum
from isthmus.problems.frame import (
    NO_UNITS,
    Frame,
    Units,
    describe,
    frame_of,
    in_range,
    scales_x,
    standardised,
)
from isthmus.problems.splits import Rows, Split
from isthmus.problems.sums import Moments

# Where squared singular values fall by less than this, directions from a Gram matrix are orthonormal.
_WHITE_SAFE = 1e-6
# A vector that keeps this share of its square is made orthogonal to others in one round.
_KEPT = 0.25


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
    data: Rows | None = None

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
        unit = weight_unit(weights)
        weights = weights if weights is None or unit == 1.0 else weights / unit
        Ys, y_mean, _, y_scale, y_squares = standardised(Y, weights, bool(scale))
        described = None if weights is not None else describe(X, scales_x(scale))
        if described is None:
            held, x_mean, x_rest, x_scale, x_squares = standardised(X, weights, scales_x(scale))
            factor = None
        else:
            held, x_rest = X, np.zeros(X.shape[1])
            x_mean, x_scale, x_squares, factor = described
        weight = float(len(X)) if weights is None else float(weights.sum())
        frame = Frame(x_mean, x_scale, y_mean, y_scale, weight, len(X), x_rest, unit)
        return cls(frame, Ys, x_squares, y_squares, held, factor)

    @classmethod
    def folds(cls, rows: Rows, scale: bool | str, splits: Sequence[Split]) -> RowFolds:
        return RowFolds(rows, scale)

    @property
    def X(self) -> Array:
        """The standardised rows themselves, (n, p)."""
        if self.factor is not None:
            self.held = self.held - self.frame.x_mean
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
        keep = d > rank_tolerance(len(self.X), len(self.frame.x_scale)) * d[0]
        U, d, Bt = U[:, keep], d[keep], Bt[keep]
        return Spectrum(d**2, d[:, None] * (U.T @ self.Y), Bt.T, "svd")

    def whitening(self) -> Spectrum:
        """The decomposition of rows in whose coordinates a descent is to go.

        The directions must be orthonormal, their singular values are needed to few digits only: the
        smaller Gram matrix serves wherever X is not nearly collinear.
        """
        X, Y = self.X, self.Y
        n, p = X.shape
        squares, V = descending_eigh(X.T @ X if p <= n else X @ X.T)
        if (
            p > n
        ):  # centred rows are dependent: what is left of the last direction is rounding error
            squares, V = squares[: n - 1], V[:, : n - 1]
        if not squares.size or squares[-1] <= _WHITE_SAFE * squares[0]:
            return self.spectrum()
        if p <= n:
            return Spectrum(squares, V.T @ self.xy, V, "moments")
        d = np.sqrt(squares)
        return Spectrum(squares, d[:, None] * (V.T @ Y), X.T @ (V / d), "dual")

    def exactly(self) -> RowForm:
        return self

    def in_units(self, x_unit: Array, y_unit: Array) -> RowForm:
        """The same problem with columns divided by units; only its spectrum is of use."""
        squares = self.x_squares / x_unit**2, self.y_squares / y_unit**2
        return RowForm(self.frame, self.Y / y_unit, *squares, self.X / x_unit)

    def new_scores(self, n_components: int) -> RowScores:
        """Keep the scores of directions as vectors."""
        return RowScores(self, n_components, self.tolerance)


class RowFolds(Folds):
    """Every fold from its own rows."""

    def without(self, split: Split) -> RowForm:
        form = RowForm.from_rows(*self.rows.take(split.train), self.scale)
        form.data = self.rows
        return form


class RowScores:
    """Scores of one problem as vectors, each made orthogonal to those before it.

    With orthonormal weights W and unit scores T, X W = T R holds to rounding whatever the condition of
    X, with R upper triangular: all components are the least squares of a QR decomposition.
    """

    solver = "rows"

    def __init__(self, rows: RowForm, n_components: int, tol: float) -> None:
        self.rows = rows
        self.n_outputs = rows.Y.shape[1]
        self.x_cross = np.zeros((1, n_components, len(rows.xy)))
        self.units = np.zeros((n_components, len(rows.Y)))
        self.triangle = np.zeros((n_components, n_components))
        self.smallest = tol * np.sqrt(rows.x_squares.sum())

    def add(self, w: Array, i: int) -> Array:
        """Make score i that of the direction w (1, p); return its square, (1,)."""
        t, overlaps = off(self.rows.times(w[0]), self.units[:i])
        square = float(t @ t)
        length = sqrt(square)
        if length <= self.smallest:
            return np.zeros(1)
        self.triangle[:i, i] = overlaps
        self.triangle[i, i] = length
        np.divide(t, length, out=self.units[i])
        self.x_cross[0, i] = self.rows.along(t)
        return np.array([square])

    def outputs(self, S: Array, i: int) -> Array:
        """Y't of score i, (1, q)."""
        products = np.zeros((1, S.shape[1]))
        np.dot(self.units[i] * self.triangle[i, i], self.rows.Y, out=products[0, : self.n_outputs])
        return products

    def rotations(self, weights: Array) -> Array:
        """Directions with t = X r, (1, k, p): W R^-1 times the lengths of the scores."""
        found = int(np.count_nonzero(self.triangle.diagonal()))
        triangle = self.triangle[:found, :found]
        rotations = np.zeros_like(weights)
        if found:
            inverse = lapack.dtrtri(triangle)[0]
            rotations[0, :found] = (inverse * triangle.diagonal()).T @ weights[0, :found]
        return rotations

    def has_digits(self, rotations: Array, norms: Array) -> NDArray:
        """Whether each problem of a stack has the digits that its scores need: vectors have."""
        return np.ones(1, dtype=bool)

    def vectors(self, found: int) -> Array | None:
        """The scores of the user's rows, (n, found)."""
        if self.rows.is_condensed:
            return None
        return self.units[:found].T * self.triangle.diagonal()[:found]


def off(v: Array, basis: Array) -> tuple[Array, Array]:
    """What is left of a vector off orthonormal rows, and its products with them.

    What is left of a vector that all but vanishes is rounding error, orthogonal to nothing, before the
    second round.
    """
    overlaps = basis @ v
    left = v - overlaps @ basis
    if left @ left < _KEPT * (v @ v):
        more = basis @ left
        left -= more @ basis
        overlaps += more
    return left, overlaps
