"""One problem, several forms: what a solver may ask of the centred, scaled and weighted data.

A form is *how the second moments are reached*. A solver asks for X'Y, for products with X'X, for a ridge
solution or for the spectrum; a form answers from rows, from X'X or from XX'. What is asked for in the
space of the features comes back in the coordinates of the form: a Gram matrix holds a direction X'a as a.

A form may lack the digits that an answer needs, since squaring X squares its condition number. It says so
when asked (``Spectrum.has_digits``; None for a solution), and ``exactly`` gives the same problem in a form
that has them all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from isthmus._linalg import EPS, GRAM_RANK_TOL, Array
from isthmus.problems.frame import Frame
from isthmus.problems.splits import CheckedRows, Split, dense_rows

if TYPE_CHECKING:
    from isthmus.problems.rows import RowForm

RIDGE_SAFE = 5e-7
"""A Gram matrix is trusted where the ridge weight is at least this fraction of ||X||^2 ..."""
SPECTRUM_SAFE = 1e-4
"""... or where no squared singular value that is used is a smaller fraction of it than this."""
NULL_SAFE = 1e-3
"""The least such fraction where X'X has a null space.

X'Y has nothing but rounding errors there, and a fit has them over the ridge weight, not over its root.
"""
GRAM_DIGITS = 1e-6
"""A squared score norm below this fraction of its bound has lost too many digits in a Gram matrix.

X is then a thousand times shorter along one direction that is used than along another, and a fit from
the Gram matrix is off as if X had been known to a thousand units in the last place.
"""
KEPT_VARIANCE = 1e-6
"""A column that keeps less than this share of its variance in a fold has lost too many digits."""

# Random right-hand sides that ask how large an inverse is, and steps that find a norm.
_PROBES = 8
_POWER_STEPS = 4


@dataclass
class Spectrum:
    """The singular value decomposition ``X = U diag(d) B'``, with ``d`` falling."""

    squares: Array  # d^2, (m,)
    cross: Array  # diag(d) U'Y, (m, q)
    basis: Array  # B (p, m); in the coordinates of the samples U diag(1/d) (n, m)
    solver: str  # "moments", "dual" or "svd"

    @property
    def norm(self) -> float:
        """Largest squared singular value, ||X||_2^2."""
        return float(self.squares[0]) if self.squares.size else 0.0

    @property
    def is_squared(self) -> bool:
        """Whether it is that of X'X or XX', which hold half of the digits of X."""
        return self.solver != "svd"

    @property
    def rank(self) -> int:
        """Number of singular values that are not rounding errors."""
        if not self.is_squared:
            return len(self.squares)
        return int(np.count_nonzero(self.squares > GRAM_RANK_TOL * self.norm))

    def truncated(self, rank: int) -> Spectrum:
        return Spectrum(self.squares[:rank], self.cross[:rank], self.basis[:, :rank], self.solver)

    def has_digits(self, used: int, alpha: float = 0.0) -> bool:
        """Whether a fit with ``used`` squared singular values and a ridge weight can be read off.

        Without a ridge the relative error of a fit from X'X is near 1e-8 at condition number 1e4 and
        total at 1e8, where the decomposition of X itself still has nine digits.
        """
        safe = RIDGE_SAFE if len(self.squares) <= used else NULL_SAFE
        if not self.is_squared or self.norm == 0.0 or alpha >= safe * self.norm:
            return True
        return len(self.squares) >= used and bool(
            self.squares[used - 1] >= SPECTRUM_SAFE * self.norm
        )


class Form(ABC):
    """The standardised problem, by one way to its second moments."""

    frame: Frame
    xy: Any  # X'Y in the coordinates of the form, (m, q)
    x_squares: Any  # diagonal of X'X, (p,)
    y_squares: Array  # diagonal of Y'Y, (q,)
    data: CheckedRows | None  # all rows, of which the form may leave out a fold

    is_squared = False  # X'X or XX' is held, and half of the digits of X
    is_dual = False  # directions are held in the coordinates of the samples, X'a as a
    is_condensed = False  # held as few rows that stand for those of the user
    basis: Array | None = None  # directions A are held in the coordinates of a basis, (p, m)

    @property
    def n_directions(self) -> int:
        """Most components that centred rows can have."""
        return min(self.frame.n_samples - 1, len(self.frame.x_scale))

    @property
    def tolerance(self) -> float:
        """Below this fraction of the leading one, a singular value is rounding error."""
        return EPS * max(self.frame.n_samples, len(self.frame.x_scale))

    @classmethod
    @abstractmethod
    def from_rows(cls, X: Any, Y: NDArray, weights: Array | None, scale: bool | str) -> Form:
        """Standardise the rows of a user."""

    @classmethod
    @abstractmethod
    def folds(cls, rows: CheckedRows, scale: bool | str, splits: Sequence[Split]) -> FoldForms:
        """The problems that are left when folds are taken away."""

    @abstractmethod
    def product(self, R: Array) -> Array:
        """X'X times directions."""

    @abstractmethod
    def spectrum(self) -> Spectrum:
        """All singular values and directions of X."""

    @abstractmethod
    def exactly(self) -> RowForm:
        """The same problem in the form that has all digits."""

    def solve(self, alpha: float) -> Array | None:
        """(X'X + alpha I)^-1 X'Y by one linear system; None where that would cost digits."""
        return None

    def inner(self, A: Array, B: Array) -> Array:
        """Inner products of directions."""
        return A.T @ B

    def to_features(self, A: Array) -> Array:
        """Directions in the space of the features, (p, k)."""
        return A if self.basis is None else self.basis @ A

    def coordinates(self, rows: NDArray) -> Array:
        """Some rows of ``data`` in the coordinates of the form: ``@ directions`` are their scores."""
        assert self.data is not None
        Z = self.frame.x(dense_rows(self.data.X[rows]))
        return Z if self.basis is None else Z @ self.basis


class SquaredForm(Form):
    """A form that holds a symmetric matrix ``second``, X'X or XX'."""

    is_squared = True
    second: Array
    depends = False  # whether centred rows make ``second`` singular
    has_null_space = False  # whether there are fewer rows than ``second`` has columns

    def product(self, R: Array) -> Array:
        return self.second @ R

    def solve(self, alpha: float) -> Array | None:
        second, cross = self.second, self.xy
        m = len(second)
        shifted = second.copy()
        shifted.flat[:: m + 1] += alpha
        safe = NULL_SAFE if self.has_null_space else RIDGE_SAFE
        trace = float(second.trace())
        # No eigenvalue is larger than the trace: a ridge that is safe beside that needs no norm.
        norm = trace if alpha >= safe * trace else _rough_norm(shifted)
        if norm == 0.0:
            return None
        if alpha > 0 and alpha >= norm * safe:
            # Symmetric, so that its transpose is it as LAPACK stores matrices: nothing is copied.
            *_, ridge, info = lapack.dposv(shifted.T, cross, overwrite_a=1)
            return None if info else np.asarray(ridge, dtype=np.float64)
        if self.depends:
            # Centred rows sum to zero, and so do those of Y: along that direction any matrix will do.
            if np.abs(second.sum(axis=1)).max() > m * EPS * trace:
                return None  # weighted rows, which depend in another way
            shifted += trace / m**2
        probes = np.random.default_rng(0).normal(size=(m, _PROBES))
        *_, solved, info = lapack.dposv(shifted.T, np.hstack([cross, probes]), overwrite_a=1)
        if info:
            return None
        # The mean square over the probes is the sum of 1/d^4, at least that of the smallest d.
        # Times the norm it knows no units, whose fourth powers float64 may not hold.
        condition = np.linalg.norm(norm * solved[:, -_PROBES:]) / np.sqrt(_PROBES)
        has_digits = condition * SPECTRUM_SAFE < 1.0
        if has_digits:
            return np.asarray(solved[:, :-_PROBES], dtype=np.float64)
        return None


def _rough_norm(A: Array) -> float:
    """A largest eigenvalue to a digit, by a few steps of power iteration."""
    x = np.random.default_rng(0).normal(size=len(A))
    norm = 1.0
    for _ in range(_POWER_STEPS):
        x = A @ (x / norm)
        largest = float(np.abs(x).max(initial=0.0))
        if largest == 0.0:
            return 0.0
        norm = largest * float(np.linalg.norm(x / largest))  # squares may be out of range
    return norm


class FoldForms(ABC):
    """All rows of a cross-validation, from which one fold after the other is taken away."""

    def __init__(self, rows: CheckedRows, scale: bool | str) -> None:
        self.rows, self.scale = rows, scale

    @abstractmethod
    def without(self, split: Split) -> Form:
        """The problem of the training rows, means and scales redone."""

    def stacks(self, splits: Sequence[Split], n_components: int) -> list[Any]:
        """Many small folds to be solved at once; empty where each is better solved by itself."""
        return []


Remake = Callable[[], "RowForm"]
"""Makes a problem anew from rows."""
