r"""The noise of the outputs: one scale for all, one for each, or a covariance.

Given the map, Gaussian noise has a known law: an inverse gamma law of each squared scale, or an inverse
Wishart law of the covariance, whose diagonal has those inverse gamma laws.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtri

from isthmus._linalg import Array
from isthmus.regression.bayesian.problem import Prior, Problem


@dataclass(slots=True)  # one is made for each draw: frozen ones take three times as long
class Noise:
    """Scales along axes of the outputs; without axes those of the outputs themselves."""

    scales: Array  # (q,)
    axes: Array | None = None  # (q, q), orthonormal columns

    def turn(self, A: Array) -> Array:
        """Columns that are outputs, along the axes."""
        return A if self.axes is None else A @ self.axes

    @property
    def deviations(self) -> Array:
        """Scale of each output."""
        if self.axes is None:
            return self.scales
        return np.sqrt((self.axes**2) @ self.scales**2)

    @property
    def covariance(self) -> Array:
        axes = np.eye(len(self.scales)) if self.axes is None else self.axes
        return (axes * self.scales**2) @ axes.T


def noise_sampler(
    problem: Problem, prior: Prior, rng: np.random.Generator
) -> Callable[[Array], Noise]:
    """A function that draws Gaussian noise from its law given the gap of a map."""
    q, rest, rate = problem.n_targets, problem.rest, prior.noise_rate
    degrees = problem.degrees * (q if prior.noise == "common" else 1)
    shape = degrees / 2 + prior.noise_shape

    def draw_scales(gap: Array) -> Noise:
        squares = rest + np.add.reduce(gap * gap)
        return Noise(np.sqrt((squares / 2 + rate) / rng.standard_gamma(shape, q)))

    def draw_common(gap: Array) -> Noise:
        squares = rest.sum() + np.vdot(gap, gap)
        return Noise(np.full(q, np.sqrt((squares / 2 + rate) / rng.standard_gamma(shape))))

    if prior.noise == "full":
        return lambda gap: _draw_covariance(problem, prior, gap, rng)
    return draw_common if prior.noise == "common" else draw_scales


def _draw_covariance(problem: Problem, prior: Prior, gap: Array, rng: np.random.Generator) -> Noise:
    """Inverse Wishart, by Bartlett's decomposition of the precision."""
    scatter, degrees = scatter_and_degrees(problem, prior, gap)
    q = len(scatter)
    B = np.tril(rng.standard_normal((q, q)), -1)
    B.flat[:: q + 1] = np.sqrt(2 * rng.standard_gamma((degrees - np.arange(q)) / 2))
    L, failed = dpotrf(scatter, lower=1)
    if failed:
        raise np.linalg.LinAlgError(
            "the residuals of the outputs are linearly dependent: leave out outputs, or give noise_prior "
            "a positive rate."
        )
    axes, roots, _ = np.linalg.svd(dtrtri(L, lower=1)[0].T @ B)  # of the precision
    return Noise(1 / roots, axes)


def noise_mode(problem: Problem, prior: Prior, gap: Array) -> Noise:
    """Most likely Gaussian noise given the map, with respect to the scale-free measure."""
    q = problem.n_targets
    if prior.noise == "full":
        scatter, degrees = scatter_and_degrees(problem, prior, gap)
        squares, axes = np.linalg.eigh(scatter / degrees)
        least = np.finfo(float).eps * max(float(squares[-1]), np.finfo(float).tiny)
        return Noise(np.sqrt(np.maximum(squares, least)), axes)
    squares = (problem.rest + (gap * gap).sum(axis=0)) / 2
    shape = problem.degrees / 2
    if prior.noise == "common":
        squares = np.full(q, squares.sum())
        shape = q * shape
    return Noise(np.sqrt((squares + prior.noise_rate) / (shape + prior.noise_shape)))


def scatter_and_degrees(problem: Problem, prior: Prior, gap: Array) -> tuple[Array, float]:
    """Matrix and degrees of freedom of the inverse Wishart law."""
    assert problem.scatter is not None
    q = problem.n_targets
    scatter = problem.scatter + gap.T @ gap
    scatter.flat[:: q + 1] += 2 * prior.noise_rate
    return scatter, problem.degrees + 2 * float(np.max(prior.noise_shape)) + q - 1
