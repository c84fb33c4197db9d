"""The one optimum behind reduced rank, Stiefel and manifold PLS regression under the squared loss.

They are the same map under five names and differ in the basis they show of it, in the ridge and in
what they offer beyond the squared loss. The closed form is written here, once.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from isthmus.linalg import Array, rank_tolerance
from isthmus.linalg.eigen import descending_eigh, largest_eigenvalue
from isthmus.problems.forms import Form, GramForm, RowForm, ridge_in_units
from isthmus.problems.spectrum import (
    RIDGE_SAFE,
    Spectrum,
    cheapest_form,
    check_digits,
    is_tied,
    lacks_digits,
    numerical_rank,
    spectrum_of,
    tie_breaking,
)
from isthmus.regression.base import LatentRegression
from isthmus.regression.factors import Factors
from isthmus.regression.ridge import ridge_optimum
from isthmus.validation import check_alpha

_AUTO_ALPHA = 1e-6


class RankConstrained(LatentRegression):
    r"""Least squares with a ridge under a rank constraint, by the closed form.

    .. math::
        \min_{\operatorname{rank} C \le r} \|Y - XC\|_F^2 + \alpha \|C\|_F^2
    """

    _min_components = 0
    _ridge_path = True

    alpha: Any

    def _check_parameters(self) -> int | None:
        if not (isinstance(self.alpha, str) and self.alpha == "auto"):
            check_alpha(self.alpha, allowed="'auto'")
        return super()._check_parameters()

    def _cheapest_form(self, n: int, p: int, n_components: int | None) -> type[Form]:
        return cheapest_form(n, p)

    def _solve(self, form: Form, n_components: int | None, exact: bool) -> Factors:
        found = self._solve_system(form, n_components)
        if found is not None:
            return found
        spectrum = spectrum_of(form)
        alpha = self._alpha_in_frame(spectrum.norm, form)
        optimum = RankOptimum(form, spectrum, alpha, exact)
        r = optimum.rank if n_components is None else min(n_components, optimum.rank)
        inner, loadings = optimum.factors(r)
        scores = np.sqrt(optimum.squares)[:, None] * inner
        return Factors(
            rotations=optimum.basis @ inner,
            y_loadings=loadings,
            weights=None,
            x_cross=optimum.basis @ (optimum.squares[:, None] * inner),
            y_cross=inner.T @ optimum.cross,
            gram=scores.T @ scores,
            solver=spectrum.solver,
            warning=optimum.tie(r),
        )

    def _solve_system(self, form: Form, n_components: int | None) -> Factors | None:
        """Solve one linear system, if the ridge weight is large enough for it; "auto" needs ||X|| alone."""
        if isinstance(form, RowForm):
            return None
        norm = 0.0
        if self.alpha == "auto":
            norm = largest_eigenvalue(form.gram if isinstance(form, GramForm) else form.xx)
            if not norm > 0:
                return None
        found = ridge_optimum(form, self._alpha_in_frame(norm, form), n_components)
        if found is None:
            return None
        factors, sigma = found
        factors.warning = tie_warning(sigma, factors.y_loadings.shape[1])
        return factors

    def _solve_path(
        self, form: Form, n_components: int, alphas: list[float], exact: bool
    ) -> tuple[Array, list[Array]]:
        unit = form.frame.ridge_unit(self.scale)
        alphas = [ridge_in_units(alpha, unit) for alpha in alphas]
        spectrum = spectrum_of(form)
        pairs = [_leading_pair(form, spectrum, alpha, n_components, exact) for alpha in alphas]
        # One product for all ridge weights; coordinates cut off by a rank decision are zero.
        ends = np.cumsum([A.shape[1] for A, _ in pairs])
        inner = np.zeros((len(spectrum.squares), ends[-1]))
        for (A, _), end in zip(pairs, ends, strict=True):
            inner[: len(A), end - A.shape[1] : end] = A
        return spectrum.basis @ inner, [Q for _, Q in pairs]

    def _alpha_in_frame(self, norm: float, form: Form) -> float:
        """The ridge weight in units of the standardised problem; sets ``alpha_`` in the user's.

        ``norm`` is the largest squared singular value of X.
        """
        unit = form.frame.ridge_unit(self.scale)
        if self.alpha == "auto":
            alpha = _AUTO_ALPHA * norm
            self.alpha_ = min(alpha * unit * unit, sys.float_info.max)
            return alpha
        self.alpha_ = float(self.alpha)
        return ridge_in_units(self.alpha_, unit)


def _leading_pair(
    form: Form, spectrum: Spectrum, alpha: float, n_components: int, exact: bool
) -> tuple[Array, Array]:
    """Rotations along the basis and loadings, through the (q, q) products of the fitted values.

    Squaring them costs digits of directions that carry little, but is much cheaper than the singular
    value decomposition; where a direction that is used carries too little, that is taken.
    """
    if form.xy.shape[1] > len(spectrum.squares):
        optimum = RankOptimum(form, spectrum, alpha, exact)
        return optimum.factors(min(n_components, optimum.rank))
    kept = _kept(form, spectrum, alpha, exact)
    Z = kept.cross / np.sqrt(kept.squares + alpha)[:, None]
    squares, Q = descending_eigh(Z.T @ Z)
    if lacks_digits(squares[:n_components]):
        optimum = RankOptimum(form, spectrum, alpha, exact)
        return optimum.factors(min(n_components, optimum.rank))
    Q = Q[:, :n_components]
    return (kept.cross @ Q) / (kept.squares + alpha)[:, None], Q


def _kept(form: Form, spectrum: Spectrum, alpha: float, exact: bool) -> Spectrum:
    """The part of a spectrum that is used with a ridge weight; raises where it lacks digits."""
    if not exact:
        check_digits(spectrum, min(form.frame.n_samples - 1, len(form.frame.x_scale)), alpha)
    if alpha < RIDGE_SAFE * spectrum.norm or alpha == 0.0:
        return spectrum.truncated(numerical_rank(spectrum))
    return spectrum


class RankOptimum:
    """The closed form for every rank, in coordinates along the basis of a spectrum."""

    def __init__(self, form: Form, spectrum: Spectrum, alpha: float, exact: bool) -> None:
        n, p = form.frame.n_samples, len(form.frame.x_scale)
        spectrum = _kept(form, spectrum, alpha, exact)
        self.squares, self.cross, self.basis = spectrum.squares, spectrum.cross, spectrum.basis
        self.g = 1.0 / np.sqrt(spectrum.squares + alpha)
        Z = self.g[:, None] * spectrum.cross
        self.P, self.sigma, self.Qt = np.linalg.svd(Z, full_matrices=False)
        floor = rank_tolerance(n, p) * np.sqrt(form.y_squares.sum())
        self.rank = int(np.count_nonzero(self.sigma > floor))

    def factors(self, r: int) -> tuple[Array, Array]:
        """Rotations along the basis, (m, r), and loadings, (q, r)."""
        maps, Q = self.g[:, None] * self.P * self.sigma, self.Qt.T
        found = tie_breaking(self.sigma, r, lambda block: maps[:, block].T @ maps[:, block])
        if found is not None:
            block, turn = found
            maps[:, block], Q = maps[:, block] @ turn, Q.copy()
            Q[:, block] = Q[:, block] @ turn
        return maps[:, :r], Q[:, :r]

    def tie(self, r: int) -> str | None:
        """A tie at the last component leaves the best map undetermined."""
        return tie_warning(self.sigma[: self.rank], r)


_SMALLEST_TAKEN = "Of the directions that tie those with the smallest coefficients are taken."


def tie_warning(sigma: Array, r: int, outcome: str = _SMALLEST_TAKEN) -> str | None:
    """What to say where singular values r and r + 1 of the fit are equal; None where they are not."""
    if not is_tied(sigma, r):
        return None
    return (
        f"Singular values {r} and {r + 1} of the fit differ by {sigma[r - 1] - sigma[r]:.1e} only, the "
        f"first being {sigma[0]:.1e}: the best map of rank {r} is not unique. {outcome}"
    )
