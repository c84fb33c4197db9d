"""The singular value decomposition of the centred inputs, by the cheapest road that keeps its digits.

Principal components and reduced rank regression are both read off it. With ``X = U diag(d) B'`` it
holds ``d^2``, ``diag(d) U'Y`` and B.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from isthmus.linalg import EPS, GRAM_RANK_TOL, Array, rank_tolerance
from isthmus.linalg.eigen import descending_eigh
from isthmus.problems.forms import Form, GramForm, InaccurateGram, MomentForm, RowForm

RIDGE_SAFE = 1e-8
"""A Gram matrix is trusted where the ridge weight is at least this fraction of ||X||^2 ..."""
SPECTRUM_SAFE = 1e-4
"""... or where no squared singular value that is used is a smaller fraction of it than this."""

WHITE_SAFE = 1e-6
"""Where squared singular values fall by less than this, directions from a Gram matrix are orthonormal."""

_SQUARED_DIGITS = 1e-8
_TIED = 1e-8  # of the first singular value of the fit: such a difference says nothing
_SMALL = 1_000_000
"""Up to this n p min(n, p) the singular value decomposition of X is a matter of milliseconds."""


@dataclass
class Spectrum:
    """Squared singular values (descending), ``diag(d) U'Y`` and the basis B."""

    squares: Array  # d^2, (m,)
    cross: Array  # diag(d) U'Y, (m, q)
    basis: Array  # B (p, m); in the coordinates of the samples U diag(1/d) (n, m)
    solver: str  # "moments", "dual" or "svd"

    @property
    def norm(self) -> float:
        """Largest squared singular value, ||X||_2^2."""
        return float(self.squares[0]) if self.squares.size else 0.0

    def truncated(self, rank: int) -> Spectrum:
        return Spectrum(self.squares[:rank], self.cross[:rank], self.basis[:, :rank], self.solver)


def cheapest_form(n: int, p: int) -> type[Form]:
    """Rows where their own decomposition costs nothing, else the smaller Gram matrix."""
    if n * p * min(n, p) <= _SMALL:
        return RowForm
    return MomentForm if p <= n else GramForm


def spectrum_of(form: Form) -> Spectrum:
    """Decompose X'X, XX' or the rows themselves."""
    if isinstance(form, MomentForm):
        squares, B = descending_eigh(form.xx)
        return Spectrum(squares, B.T @ form.xy, B, "moments")
    if isinstance(form, GramForm):
        squares, U = descending_eigh(form.gram)
        keep = squares > len(squares) * EPS * squares[0]
        d, U = np.sqrt(squares[keep]), U[:, keep]
        return Spectrum(d**2, d[:, None] * (U.T @ form.Y), U / d, "dual")
    U, d, Bt = np.linalg.svd(form.X, full_matrices=False)
    keep = d > rank_tolerance(len(form.X), len(form.frame.x_scale)) * d[0]
    U, d, Bt = U[:, keep], d[keep], Bt[keep]
    return Spectrum(d**2, d[:, None] * (U.T @ form.Y), Bt.T, "svd")


def whitening_of(form: RowForm) -> Spectrum:
    """The decomposition of rows in whose coordinates a descent is to go.

    The directions must be orthonormal, their singular values are needed to few digits only: the smaller
    Gram matrix serves wherever X is not nearly collinear.
    """
    n, p = form.X.shape
    if p <= n:
        moments = MomentForm(form.frame, form.X.T @ form.X, form.xy, form.y_squares)
        spectrum = spectrum_of(moments)
        safe = spectrum.squares[-1] > WHITE_SAFE * spectrum.norm
    else:
        spectrum = spectrum_of(form.gram_form)
        # Centred rows are dependent: what is left of the last direction is rounding error.
        spectrum = spectrum.truncated(min(len(spectrum.squares), n - 1))
        safe = bool(spectrum.squares.size) and spectrum.squares[-1] > WHITE_SAFE * spectrum.norm
        if safe:
            spectrum.basis = form.X.T @ spectrum.basis
    return spectrum if safe else spectrum_of(form)


def numerical_rank(spectrum: Spectrum) -> int:
    """Number of singular values that are not rounding errors of their road."""
    if spectrum.solver == "svd":
        return len(spectrum.squares)
    return int(np.count_nonzero(spectrum.squares > GRAM_RANK_TOL * spectrum.norm))


def check_digits(spectrum: Spectrum, used: int, alpha: float = 0.0) -> None:
    """Raise ``InaccurateGram`` where squaring X has cost digits that the answer needs.

    ``used`` squared singular values matter. Without a ridge the relative error of the fit by the Gram
    road is near 1e-8 at condition number 1e4 and total at 1e8, where the SVD still has nine digits.
    """
    if spectrum.solver == "svd" or spectrum.norm == 0.0 or alpha >= RIDGE_SAFE * spectrum.norm:
        return
    if len(spectrum.squares) < used or spectrum.squares[used - 1] < SPECTRUM_SAFE * spectrum.norm:
        raise InaccurateGram


def is_tied(sigma: Array, r: int) -> bool:
    """Whether the singular values r and r + 1 of the fit are equal, so that the best map is not unique."""
    return 0 < r < len(sigma) and bool(sigma[r - 1] - sigma[r] <= _TIED * sigma[0])


def tie_breaking(
    sigma: Array, r: int, norms: Callable[[slice], Array]
) -> tuple[slice, Array] | None:
    """Where the best map of rank r is not unique, the basis whose first directions have small maps.

    ``sigma`` falls; directions that tie with the last one kept are turned so that those with the
    smallest coefficients come first, as the faintest ridge would have it. ``norms`` gives, for the
    columns of a slice, the inner products of their coefficients.
    """
    if not is_tied(sigma, r):
        return None
    tied = np.flatnonzero(np.abs(sigma - sigma[r - 1]) <= _TIED * sigma[0])
    block = slice(int(tied[0]), int(tied[-1]) + 1)
    return block, np.linalg.eigh(norms(block))[1]


def lacks_digits(squares: Array) -> bool:
    """Whether squared singular values, largest first, fall too far for their directions to be trusted."""
    return bool(squares.size and squares[-1] < _SQUARED_DIGITS * squares[0])
