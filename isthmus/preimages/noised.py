r"""A learned pre-image for scores of unknown noise: one regression on scores of objects at every level.

An object with noise has other scores than without: those of an RBF kernel shrink towards the point where
all distant objects meet. So scores tell how noisy their object was, and a regression that was trained at
all levels answers each as the mean of the objects behind it,

.. math::
    \min_f \sum_\ell w_\ell \sum_i |x_i - f(b(x_i + \ell\, \sigma\, \epsilon_{i\ell}))|^2 + \alpha \|f\|^2,

with standard deviations :math:`\sigma` of the columns. Each level counts by one over its error, so
that large errors, which no regression can avoid, do not decide alone.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from isthmus._linalg import Array
from isthmus._validation import N_FOLDS
from isthmus.kernels import gram, landmark_factor

LEVELS = (0.0, 0.125, 0.25, 0.5, 1.0)
"""Noise in units of the columns' standard deviations: none, and up to as much as the objects vary."""
ALPHAS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)  # ridge weights that are tried, decades
MOST_CENTRES = 1000  # of the regression: n x 1000 numbers, and n 1000^2 operations a level
_LEAST_NOISE_ERROR = (
    1e-3  # of the largest: an error below it does not make its level count for more
)


class NoisedRegression:
    """Kernel ridge regression on scores at all levels, and its errors for held-out objects.

    Parameters
    ----------
    kernel : kernel object
        Of two scores.
    levels : list of arrays of shape (n_samples, n_components)
        Scores of the objects, without noise first.
    Y : array of shape (n_samples, n_features)
        Objects, centred.
    unit : array of shape (n_features,)
        Standard deviations of the columns.
    places : array of shape (n_samples,)
        An order of the objects that does not depend on that of their rows.
    weights : array of shape (n_samples,) or None
        How much each counts.
    """

    def __init__(
        self,
        kernel: object,
        levels: list[Array],
        Y: Array,
        unit: Array,
        places: NDArray,
        weights: Array | None,
    ) -> None:
        self.kernel, self.levels, self.Y, self.unit = kernel, levels, Y, unit
        self.places = places
        self.weights = np.ones(len(Y)) if weights is None else weights

    def compare(self, alphas: Array) -> tuple[Array, Array]:
        """Return the held-out error of every ridge weight, and how much each level counts."""
        shares = np.full(len(self.levels), 1.0 / len(self.levels))
        out = self.places % N_FOLDS == N_FOLDS // 2
        held = np.flatnonzero(out)
        rest = np.flatnonzero(~out)
        features, _ = self._basis(rest)
        known = [features(Z[rest]) for Z in self.levels]
        asked = [features(Z[held]) for Z in self.levels]
        errors = self._errors(self._solve(known, rest, shares, alphas), asked, held)
        reached = errors.min(axis=0)
        shares = 1.0 / np.maximum(reached, _LEAST_NOISE_ERROR * reached.max())
        shares /= shares.sum()
        errors = self._errors(self._solve(known, rest, shares, alphas), asked, held)
        # Logarithms: a level where all errors are large is one of several, not the one that decides.
        means = np.exp(np.log(np.maximum(errors, np.finfo(float).tiny)).mean(axis=1) / 2)
        return means, shares

    def fit(self, alpha: float, shares: Array) -> tuple[Array, Array]:
        """Return the scores that are centres and their coefficients."""
        everything = np.arange(len(self.Y))
        features, to_centres = self._basis(everything)
        known = [features(Z) for Z in self.levels]
        coef = self._solve(known, everything, shares, np.array([alpha]))[0]
        return to_centres(coef)

    def _basis(
        self, rows: NDArray
    ) -> tuple[Callable[[Array], Array], Callable[[Array], tuple[Array, Array]]]:
        """Features of scores in the span of some of the rows, and the way back to kernel values."""
        order = rows[np.argsort(self.places[rows])]
        some = np.linspace(0, len(order) - 1, min(len(order), MOST_CENTRES)).astype(np.intp)
        centres = self.levels[0][order[some]]
        L, kept = landmark_factor(gram(self.kernel, centres))
        centres = centres[kept]

        def features(Z: Array) -> Array:
            K = gram(self.kernel, Z, centres)
            return np.asarray(solve_triangular(L, K.T, lower=True, check_finite=False).T)

        def to_centres(coef: Array) -> tuple[Array, Array]:
            turned = solve_triangular(L, coef, lower=True, trans="T", check_finite=False)
            return centres, np.asarray(turned)

        return features, to_centres

    def _solve(
        self, known: list[Array], rows: NDArray, shares: Array, alphas: Array
    ) -> list[Array]:
        m, w = known[0].shape[1], self.weights[rows][:, None]
        A = np.zeros((m, m))
        b = np.zeros((m, self.Y.shape[1]))
        for F, share in zip(known, shares, strict=True):
            weighted = share * w * F
            A += weighted.T @ F
            b += weighted.T @ self.Y[rows]
        found = []
        for alpha in alphas:
            ridge = A.copy()
            ridge.flat[:: m + 1] += alpha
            found.append(cho_solve(cho_factor(ridge, lower=True, overwrite_a=True), b))
        return found

    def _errors(self, solutions: list[Array], asked: list[Array], held: NDArray) -> Array:
        """Mean squared errors of held-out objects, (alphas, levels), in units of the variances."""
        truth, w = self.Y[held], self.weights[held]
        return np.array(
            [
                [
                    np.average((((F @ coef - truth) / self.unit) ** 2).mean(axis=1), weights=w)
                    for F in asked
                ]
                for coef in solutions
            ]
        )
