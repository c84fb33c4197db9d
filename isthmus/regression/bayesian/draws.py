"""The start of a chain, and its draws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isthmus._linalg import Array
from isthmus.regression.bayesian.noise import Noise
from isthmus.regression.bayesian.problem import Prior, Problem


@dataclass
class Start:
    """Factors, intercept and noise in the coordinates of a problem."""

    left: Array  # (k, r)
    right: Array  # (q, r)
    intercept: Array  # (q,)
    noise: Noise


@dataclass
class ChainDraws:
    """Draws of one chain, factors in standardised inputs and outputs."""

    left: Array  # (n_draws, p, r)
    right: Array  # (n_draws, q, r)
    intercept: Array  # (n_draws, q)
    noise: Array  # (n_draws, q), scales
    acceptance: dict[str, float]
    n_divergent: int = 0
    covariance: Array | None = None  # (n_draws, q, q), of the noise


class Recorder:
    """Keep every ``thin``-th draw; directions in which X does not vary are drawn from the prior."""

    def __init__(
        self,
        problem: Problem,
        prior: Prior,
        n_draws: int,
        rank: int,
        rng: np.random.Generator,
        thin: int = 1,
    ) -> None:
        p, q = problem.n_features, problem.n_targets
        self.problem, self.rng, self.count = problem, rng, 0
        self.thin, self.calls = thin, 0
        self.null_deviation = np.sqrt(prior.variance)
        k = problem.basis.shape[1]
        self.inner = np.empty((n_draws, k, rank))
        self.right = np.empty((n_draws, q, rank))
        self.intercept = np.zeros((n_draws, q))
        self.noise = np.empty((n_draws, q))
        self.covariance = np.empty((n_draws, q, q)) if prior.noise == "full" else None
        self.has_null = k < p
        self.draws_intercept = problem.intercept  # unless it comes with the draws

    def add(self, left: Array, right: Array, noise: Noise, intercept: Array | None = None) -> None:
        self.calls += 1
        if self.calls % self.thin:
            return
        i = self.count
        self.inner[i], self.right[i], self.noise[i] = left, right, noise.deviations
        if self.covariance is not None:
            self.covariance[i] = noise.covariance
        if intercept is not None:
            self.intercept[i] = intercept
            self.draws_intercept = False
        self.count += 1

    def finish(
        self, acceptance: dict[str, float] | None = None, n_divergent: int = 0
    ) -> ChainDraws:
        basis = self.problem.basis
        left = np.einsum("pk,dkr->dpr", basis, self.inner, optimize=True)
        if self.has_null:
            shape = (len(left), len(basis), left.shape[2])
            null = self.null_deviation * self.rng.standard_normal(shape)
            left += null - basis @ (basis.T @ null)
        if self.draws_intercept:  # integrated out: Gaussian about the means
            z = self.rng.standard_normal(self.intercept.shape) / np.sqrt(self.problem.weight)
            if self.covariance is None:
                self.intercept = self.noise * z
            else:
                self.intercept = (np.linalg.cholesky(self.covariance) @ z[:, :, None])[:, :, 0]
        return ChainDraws(
            left,
            self.right,
            self.intercept,
            self.noise,
            acceptance or {},
            n_divergent,
            self.covariance,
        )


def flat(draws: Array) -> Array:
    """Chains one after the other."""
    return draws.reshape(-1, *draws.shape[2:])
