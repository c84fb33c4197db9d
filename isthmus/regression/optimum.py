"""The one optimum behind reduced rank, Stiefel and manifold PLS regression under the squared loss.

They are the same map under five names and differ in the basis they show of it, in the ridge and in
what they offer beyond the squared loss. The closed form is written here, once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from isthmus._linalg import EPS, Array, ColumnSizes, descending_eigh
from isthmus._validation import check_alpha
from isthmus.problems import RIDGE_SAFE, Form, Spectrum, ridge_in_units
from isthmus.regression.base import LatentRegression
from isthmus.regression.chosen import Numbers
from isthmus.regression.factors import Factors

# Squared singular values of a fit that fall by more than this have no digits left for their directions.
_SQUARED_DIGITS = 1e-8
# Singular values that differ by less than this fraction of the first are equal.
_EQUAL_SINGULAR = 1e-8


class RankConstrained(LatentRegression):
    r"""Least squares with a ridge under a rank constraint, by the closed form.

    .. math::
        \min_{\operatorname{rank} C \le r} \|Y - XC\|_F^2 + \alpha \|C\|_F^2
    """

    _min_components = 0
    _ridge_path = True
    _inverts_covariance = True

    alpha: Any

    def _check_parameters(self) -> int | None:
        if not (isinstance(self.alpha, str) and self.alpha == "auto"):
            check_alpha(self.alpha, allowed="'auto'")
        return super()._check_parameters()

    def _choose(self, choose: Callable[..., Numbers], *data: Any) -> int | None:
        self._chosen = choose(self, *data)
        return self._chosen.n_components

    def _solve(self, form: Form, n_components: int | None) -> tuple[Form, Factors]:
        alpha = self._alpha_in_frame(form)
        return self._optimum(form, n_components, alpha)

    def _optimum(self, form: Form, n_components: int | None, alpha: float) -> tuple[Form, Factors]:
        """The form that was solved, and its factors; the ridge weight is in units of the problem."""
        if form.is_squared:
            found = system_optimum(form, alpha, n_components)
            if found is not None:
                return form, found
        spectrum = form.spectrum()
        if not spectrum.has_digits(_n_used(form, spectrum), alpha):
            return self._optimum(form.exactly(), n_components, alpha)
        optimum = RankOptimum(form, spectrum, alpha, output_sizes(form))
        r = optimum.rank if n_components is None else min(n_components, optimum.rank)
        inner, loadings = optimum.factors(r)
        scores = np.sqrt(optimum.squares)[:, None] * inner
        factors = Factors(
            rotations=optimum.basis @ inner,
            y_loadings=loadings,
            weights=None,
            x_cross=optimum.basis @ (optimum.squares[:, None] * inner),
            y_cross=inner.T @ optimum.cross,
            gram=scores.T @ scores,
            solver=spectrum.solver,
            warning=tie_warning(optimum.sigma[: optimum.rank], r, optimum.is_graded),
        )
        return form, factors

    def _solve_path(
        self, form: Form, n_components: int, alphas: list[Any]
    ) -> tuple[Form, Array, list[Array]]:
        unit = form.frame.ridge_unit(self.scale)
        if len(alphas) == 1:
            alpha = ridge_in_units(alphas[0], unit)
            form, factors = self._optimum(form, n_components, alpha)
            return form, factors.rotations, [factors.y_loadings]
        spectrum = form.spectrum()
        sizes = output_sizes(form)
        pairs = []
        for given in alphas:
            alpha = ridge_in_units(given, unit)
            if not spectrum.has_digits(_n_used(form, spectrum), alpha):
                return self._solve_path(form.exactly(), n_components, alphas)
            optimum = RankOptimum(form, spectrum, alpha, sizes)
            pairs.append(optimum.factors(min(n_components, optimum.rank)))
        # One product for all ridge weights; coordinates cut off by a rank decision are zero.
        ends = np.cumsum([A.shape[1] for A, _ in pairs])
        inner = np.zeros((len(spectrum.squares), ends[-1]))
        for (A, _), end in zip(pairs, ends, strict=True):
            inner[: len(A), end - A.shape[1] : end] = A
        return form, spectrum.basis @ inner, [Q for _, Q in pairs]

    def _alpha_in_frame(self, form: Form) -> float:
        """The ridge weight, given or just chosen, in units of a standardised problem; it is kept."""
        chosen = self.__dict__.pop("_chosen", None)
        alpha, unit = chosen[1:] if isinstance(self.alpha, str) else (self.alpha, 1.0)
        self.alpha_ = min(float(alpha) * unit * unit, sys.float_info.max)
        return ridge_in_units(alpha, form.frame.ridge_unit(self.scale) / unit)


def system_optimum(form: Form, alpha: float, n_components: int | None) -> Factors | None:
    r"""Factors of the best map of a rank by one linear system, where that keeps its digits.

    A single ridge weight does not need the eigenvectors of X'X. With
    :math:`R = (X^\top X + \alpha I)^{-1} X^\top Y` and the eigenvectors Q of the (q, q) matrix
    :math:`Y^\top X R`, largest first, the optimum is :math:`R Q_r Q_r^\top`. None where this would cost
    digits: where X'X is far from orthogonal and no ridge mends that, where a direction that is used
    carries too little of the fit, or where outputs have very different variances.
    """
    m, q = form.xy.shape
    r = q if n_components is None else min(n_components, q)
    can = 0 < r and q <= m and not output_sizes(form).are_graded
    ridge = form.solve(alpha) if can else None
    if ridge is None:
        return None
    products = form.inner(form.xy, ridge)
    squares, Q = descending_eigh((products + products.T) / 2)
    if lacks_digits(squares[:r]) or squares[r - 1] <= EPS * form.y_squares.sum():
        return None
    sigma = np.sqrt(np.maximum(squares, 0.0))
    turn = tie_breaking(sigma, r, lambda block: _norms(form, ridge @ Q[:, block]))
    if turn is not None:
        Q[:, turn[0]] = Q[:, turn[0]] @ turn[1]
    Q = Q[:, :r]
    factors = Factors.of_map(form, ridge @ Q, Q, "dual" if form.is_dual else "moments")
    factors.warning = tie_warning(sigma, r)
    return factors


def _norms(form: Form, maps: Array) -> Array:
    return form.inner(maps, maps)


def _n_used(form: Form, spectrum: Spectrum) -> int:
    """Directions that rows can have, or expected moments do have."""
    return max(form.n_directions, spectrum.rank)


def _kept(form: Form, spectrum: Spectrum, alpha: float) -> Spectrum:
    """The part of a spectrum that is used with a ridge weight."""
    if alpha < RIDGE_SAFE * spectrum.norm or alpha == 0.0:
        return spectrum.truncated(spectrum.rank)
    return spectrum.truncated(_n_used(form, spectrum))


def output_sizes(form: Form) -> ColumnSizes:
    return ColumnSizes(np.sqrt(form.y_squares))


class RankOptimum:
    """The closed form for every rank, in coordinates along the basis of a spectrum.

    ``sizes`` are those of the outputs, which all ridge weights share.
    """

    def __init__(self, form: Form, spectrum: Spectrum, alpha: float, sizes: ColumnSizes) -> None:
        spectrum = _kept(form, spectrum, alpha)
        self.squares, self.cross, self.basis = spectrum.squares, spectrum.cross, spectrum.basis
        self.g = 1.0 / np.sqrt(spectrum.squares + alpha)
        Z = self.g[:, None] * spectrum.cross
        self.is_graded = sizes.are_graded
        self.P, self.sigma, self.Qt = sizes.svd(Z, form.tolerance)
        floors = form.tolerance * sizes.rounding_units(self.Qt)
        self.rank = int(np.count_nonzero(self.sigma > floors))

    def factors(self, r: int) -> tuple[Array, Array]:
        """Rotations along the basis, (m, r), and loadings, (q, r)."""
        maps, Q = self.g[:, None] * self.P * self.sigma, self.Qt.T
        found = tie_breaking(
            self.sigma, r, lambda block: maps[:, block].T @ maps[:, block], self.is_graded
        )
        if found is not None:
            block, turn = found
            maps[:, block], Q = maps[:, block] @ turn, Q.copy()
            Q[:, block] = Q[:, block] @ turn
        return maps[:, :r], Q[:, :r]


# -- digits and ties --------------------------------------------------------------------------


def lacks_digits(squares: Array) -> bool:
    """Whether squared singular values, largest first, fall too far for their directions to be trusted."""
    return bool(squares.size and squares[-1] < _SQUARED_DIGITS * squares[0])


def _tie_width(sigma: Array, r: int, graded: bool) -> float:
    """Singular values that are nearer than this are equal; graded ones have digits of their own."""
    return _EQUAL_SINGULAR * float(sigma[r - 1] if graded else sigma[0])


def is_tied(sigma: Array, r: int, graded: bool = False) -> bool:
    """Whether the singular values r and r + 1 of the fit are equal, so that the best map is not unique."""
    return 0 < r < len(sigma) and bool(sigma[r - 1] - sigma[r] <= _tie_width(sigma, r, graded))


def tie_breaking(
    sigma: Array, r: int, norms: Callable[[slice], Array], graded: bool = False
) -> tuple[slice, Array] | None:
    """Where the best map of rank r is not unique, the basis whose first directions have small maps.

    ``sigma`` falls; directions that tie with the last one kept are turned so that those with the
    smallest coefficients come first, as the faintest ridge would have it. ``norms`` gives, for the
    columns of a slice, the inner products of their coefficients.
    """
    if not is_tied(sigma, r, graded):
        return None
    tied = np.flatnonzero(np.abs(sigma - sigma[r - 1]) <= _tie_width(sigma, r, graded))
    block = slice(int(tied[0]), int(tied[-1]) + 1)
    return block, np.linalg.eigh(norms(block))[1]


def tie_warning(sigma: Array, r: int, graded: bool = False) -> str | None:
    """What to say where singular values r and r + 1 of the fit are equal; None where they are not."""
    if not is_tied(sigma, r, graded):
        return None
    return (
        f"Singular values {r} and {r + 1} of the fit differ by {sigma[r - 1] - sigma[r]:.1e} only, the "
        f"first being {sigma[0]:.1e}: the best map of rank {r} is not unique. Of the directions that tie "
        "those with the smallest coefficients are taken."
    )
