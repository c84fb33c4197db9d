"""Posterior density under half normal singular values, in two factors of the map."""

from __future__ import annotations

import numpy as np

from isthmus._linalg import Array, descending_eigh
from isthmus._solvers import Parts
from isthmus.regression.bayesian.draws import Start
from isthmus.regression.bayesian.likelihoods import GaussianEvaluation
from isthmus.regression.bayesian.posteriors import FreeFactorPosterior, singular_parts
from isthmus.regression.bayesian.redraws import redraw_factors, turn_freely

# Degrees of freedom that the free scale of D has beside the number of outputs: with fewer it is at times so
# small that A changes faster than any step.
_EXTRA = 12


class IndependentFactorPosterior(FreeFactorPosterior):
    r"""The same parts for singular values that are independent of each other and of the directions.

    With respect to the uniform measure on maps of rank r half normal singular values have the density

    .. math::
        \prod_i s_i^{2r - p - q} \prod_{i < j} |s_i^2 - s_j^2|^{-1}\, e^{-\lambda \sum s_i^2 / 2}

    D has some more degrees of freedom than above. Where the noise of outputs differs, one row of C is known
    much better than the others: a thin curved sheet for W, s and V, a row of D here.
    """

    has_fixed_masses = True

    def refresh(self, parts: Parts, rng: np.random.Generator) -> bool:
        """Draw the scale of D, which the map leaves free, as well."""
        D = parts[1]
        free = D.shape[1] * (len(D) + _EXTRA)  # degrees of freedom of its square
        scale = np.sqrt(2 * rng.standard_gamma(free / 2) / np.vdot(D, D))
        parts[0], parts[1] = parts[0] / scale, D * scale
        super().refresh(parts, rng)
        return True

    def redraw(self, parts: Parts, rng: np.random.Generator) -> float | None:
        if not isinstance(self.evaluation, GaussianEvaluation):
            return None
        A, D = turn_freely(parts[0], parts[1], rng)
        own = self.problem, self.evaluation.noise, self.prior.precision
        parts[0], parts[1], accept = redraw_factors(A, D, *own, self._log_rest, rng)
        super().refresh(parts, rng)
        return accept

    def _log_rest(self, A: Array, D: Array) -> float:
        """Return what the log prior has beside Gaussian factors and extra degrees of freedom.

        Their squares cancel those of the prior, so that no slope and no singular vector is needed.
        """
        p, r = A.shape
        R, T = (np.asarray(np.linalg.qr(factor, mode="r")) for factor in (A, D))
        diagonals = np.abs([R.diagonal(), T.diagonal()])
        if not diagonals.all():
            return -np.inf
        log_A, log_D = np.log(diagonals).sum(axis=1)
        value = (r - p) * float(log_A) + r * float(log_D)
        if r == 1:  # no second singular value to repel
            return value
        squares = np.linalg.svd(R @ T.T, compute_uv=False) ** 2
        gaps = np.subtract.outer(squares, squares)
        gaps.flat[:: r + 1] = 1.0
        with np.errstate(divide="ignore"):
            logs = float(np.log(np.abs(gaps)).sum()) / 2
        return value - logs if squares[-1] > 0.0 else -np.inf

    def mirror(self, parts: Parts, rng: np.random.Generator) -> Parts | None:
        A, D = parts[:2]
        if not len(A) == len(D) == A.shape[1]:
            return None
        v = np.linalg.svd(A @ D.T)[2][int(rng.integers(len(D)))]
        return [A, D - 2 * np.outer(v, v @ D), *parts[2:]]

    def pack_map(self, start: Start) -> Parts:
        W, s, V = singular_parts(start, self.problem.n_features)
        # Outputs with little noise fix combinations of the columns of A: make each a column of its own.
        turn = descending_eigh(V.T @ (V / start.noise.deviations[:, None] ** 2))[1]
        root = np.sqrt(len(V) + _EXTRA)
        return [(W * s) @ turn / root, V @ turn * root]

    def log_prior(self, parts: Parts) -> tuple[float, Parts]:
        (A, D), lam = parts[:2], self.prior.precision
        p, r = A.shape
        Q, R = np.linalg.qr(A)
        P, T = np.linalg.qr(D)
        U, s, Zt = np.linalg.svd(R @ T.T)
        # A factor that has lost its rank, or a step so wrong that the map overflows, has no density.
        if not (s[-1] > 0.0 and R.diagonal().all() and T.diagonal().all()):
            return -np.inf, [np.zeros_like(A), np.zeros_like(D)]
        W, V, squares = Q @ U, P @ Zt.T, s * s
        gaps = np.subtract.outer(squares, squares)
        gaps.flat[:: r + 1] = 1.0
        with np.errstate(divide="ignore"):
            inverse = 1.0 / gaps
            logs = float(np.log(np.abs(gaps)).sum()) / 2
        inverse.flat[:: r + 1] = 0.0
        log_A = 2 * float(np.log(np.abs(R.diagonal())).sum())
        log_D = 2 * float(np.log(np.abs(T.diagonal())).sum())
        value = 0.5 * ((r - p) * log_A + (r + _EXTRA) * log_D) - logs
        value -= 0.5 * float(lam * squares.sum() + np.vdot(D, D))
        slopes = -s * (lam + 2 * inverse.sum(axis=1))  # by the singular values
        inner = (W * slopes) @ V.T
        slope_A = (r - p) * Q @ np.linalg.inv(R).T + inner @ D
        slope_D = (r + _EXTRA) * P @ np.linalg.inv(T).T - D + inner.T @ A
        return value, [slope_A, slope_D]
