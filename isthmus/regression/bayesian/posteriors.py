"""Posterior densities of a map and its noise, in the variables that a sampler moves.

``FactorPosterior`` has both factors, ``FreeFactorPosterior`` factors of a map with a matrix normal prior,
``DensePosterior`` the map itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from isthmus._geometry import EuclideanFlow
from isthmus._linalg import Array
from isthmus._solvers import Flow, Parts, metropolis_accepts
from isthmus.regression.bayesian.draws import Start
from isthmus.regression.bayesian.gibbs import dense_factors, dense_problem
from isthmus.regression.bayesian.likelihoods import GaussianEvaluation, Likelihood, evaluation
from isthmus.regression.bayesian.noise import Noise, noise_sampler
from isthmus.regression.bayesian.problem import Prior, Problem


class Posterior(ABC):
    """Log posterior density and its partial derivatives.

    The parts are those of the map, then the logarithms of the noise scales and the intercept. Gaussian
    noise is not among them: it is drawn from its law given the map by ``refresh``, and the intercept is
    integrated out. A subclass says what the parts of the map are, and how they give the two factors.
    """

    # Whether masses stay those of the mode. Draws of factors spread along all that give the same map, which
    # says nothing about how far one of them may move while the other stays.
    has_fixed_masses = False

    def __init__(self, problem: Problem, likelihood: Likelihood, prior: Prior) -> None:
        self.problem, self.likelihood, self.prior = problem, likelihood, prior
        self.evaluation = evaluation(problem, likelihood)
        is_gaussian = likelihood.name == "gaussian"
        self.has_scales = likelihood.has_scale and not is_gaussian
        self.has_intercept = problem.intercept and not is_gaussian

    # -- what a subclass says ------------------------------------------------------------------

    @abstractmethod
    def pack_map(self, start: Start) -> Parts:
        """Parts of the map."""

    @abstractmethod
    def factors(self, parts: Parts) -> tuple[Array, Array]:
        """The two factors of the map."""

    @abstractmethod
    def log_prior(self, parts: Parts) -> tuple[float, Parts]:
        """Log density of the parts of the map, and its derivatives."""

    @abstractmethod
    def pull_back(self, parts: Parts, left: Array, right: Array) -> Parts:
        """Derivatives by the parts of the map from those by the two factors."""

    @abstractmethod
    def map_flows(self, start: Start) -> list[Flow]:
        """Motion of the parts of the map, with masses from the curvature at a point."""

    # -- what is common ------------------------------------------------------------------------

    def pack(self, start: Start) -> Parts:
        """All parts; Gaussian noise is kept aside."""
        parts = self.pack_map(start)
        if isinstance(self.evaluation, GaussianEvaluation):
            self.evaluation.noise = start.noise
        if self.has_scales:
            log_tau = np.log(start.noise.scales)
            parts.append(log_tau[:1] if self.prior.noise == "common" else log_tau)
        if self.has_intercept:
            parts.append(start.intercept)
        return parts

    def unpack(self, parts: Parts) -> tuple[Array, Array, Noise, Array | None]:
        left, right = self.factors(parts)
        log_tau, b = self._rest(parts)
        if isinstance(self.evaluation, GaussianEvaluation):
            return left, right, self.evaluation.noise, b
        scales = np.ones(len(right)) if log_tau is None else np.exp(log_tau)
        return left, right, Noise(scales), b

    def refresh(self, parts: Parts, rng: np.random.Generator) -> bool:
        """Draw Gaussian noise from its law given the map; whether there is any."""
        if not isinstance(self.evaluation, GaussianEvaluation):
            return False
        gap = self.evaluation.gap(*self.factors(parts))
        self.evaluation.noise = noise_sampler(self.problem, self.prior, rng)(gap)
        return True

    def redraw(self, parts: Parts, rng: np.random.Generator) -> float | None:
        """Draw map and noise without a trajectory, if that can be; return the acceptance."""
        return None

    def mirror(self, parts: Parts, rng: np.random.Generator) -> Parts | None:
        """Where the map is square and of full rank, another with the other sign of its determinant."""
        return None

    def flip(
        self, parts: Parts, value: float, rng: np.random.Generator
    ) -> tuple[Parts, float] | None:
        """Turn a right singular vector round, if that is accepted: few paths change the sign of det C."""
        proposal = self.mirror(parts, rng)
        if proposal is None:
            return None
        new = self.value(proposal)
        if metropolis_accepts(new - value, rng)[0]:
            return (proposal, new)
        return None

    def value(self, parts: Parts) -> float:
        log_tau, b = self._rest(parts)
        value = self.evaluation.value(*self.factors(parts), b, log_tau)
        return value + self.log_prior(parts)[0] + self._log_noise_prior(parts)[0]

    def __call__(self, parts: Parts) -> tuple[float, Parts]:
        log_tau, b = self._rest(parts)
        value, g_left, g_right, g_b, g_log = self.evaluation.value_and_gradient(
            *self.factors(parts), b, log_tau
        )
        log_prior, slopes = self.log_prior(parts)
        pulled = self.pull_back(parts, g_left, g_right)
        gradient = [own + slope for own, slope in zip(pulled, slopes)]
        noise, g_noise = self._log_noise_prior(parts)
        if self.has_scales:
            assert g_log is not None and g_noise is not None
            total = g_log if len(g_noise) > 1 else g_log.sum(keepdims=True)
            gradient.append(total + g_noise)
        if self.has_intercept:
            gradient.append(np.asarray(g_b))
        return value + log_prior + noise, gradient

    def flows(self, start: Start) -> list[Flow]:
        """Motion of all parts, with masses from the curvature at a point."""
        flows = self.map_flows(start)
        problem, scales = self.problem, start.noise.scales
        if self.has_scales:
            is_common = self.prior.noise == "common"
            count = problem.degrees * (len(scales) if is_common else 1)
            power = self.likelihood.power
            most = np.maximum(count + power * np.asarray(self.prior.noise_shape), 1.0)
            n_scales = 1 if is_common else len(scales)
            flows.append(EuclideanFlow(np.full(n_scales, 1 / (power * most))))
        if self.has_intercept:
            flows.append(EuclideanFlow(scales**2 / problem.weight))
        return flows

    def _rest(self, parts: Parts) -> tuple[Array | None, Array | None]:
        """Logarithms of the scale of each output, and the intercept."""
        b = parts[-1] if self.has_intercept else None
        if not self.has_scales:
            return None, b
        log_tau = parts[-2] if self.has_intercept else parts[-1]
        return np.broadcast_to(log_tau, (self.problem.n_targets,)), b

    def _log_noise_prior(self, parts: Parts) -> tuple[float, Array | None]:
        """Log density of the logarithms of the scales, and its derivative."""
        if not self.has_scales:
            return 0.0, None
        log_tau = parts[-2] if self.has_intercept else parts[-1]
        power, prior = self.likelihood.power, self.prior
        inside = prior.noise_rate * np.exp(-power * log_tau)
        value = -power * prior.noise_shape * log_tau - inside
        return float(value.sum()), power * (inside - prior.noise_shape)


class FactorPosterior(Posterior):
    """Parts A and D, with independent Gaussian entries."""

    def pack_map(self, start: Start) -> Parts:
        return [start.left, start.right]

    def factors(self, parts: Parts) -> tuple[Array, Array]:
        return parts[0], parts[1]

    def log_prior(self, parts: Parts) -> tuple[float, Parts]:
        (left, right), lam = parts[:2], self.prior.precision
        value = -0.5 * lam * float(np.vdot(left, left) + np.vdot(right, right))
        return value, [-lam * left, -lam * right]

    def pull_back(self, parts: Parts, left: Array, right: Array) -> Parts:
        return [left, right]

    def map_flows(self, start: Start) -> list[Flow]:
        lam, g, A = self.prior.precision, self.problem.squares, start.left
        weights = start.noise.deviations**-2
        left = 1 / (np.outer(g, weights @ start.right**2) + lam)
        right = 1 / (np.outer(weights, g @ A**2) + lam)
        return [EuclideanFlow(left), EuclideanFlow(right)]


class FreeFactorPosterior(Posterior):
    r"""Parts A and D of :math:`C = A D'`, for the matrix normal prior where the rank binds.

    With :math:`D = V R'`, V orthonormal, the uniform measure on maps of rank r is
    :math:`|R'A'AR|^{(q-r)/2}\, d(AR)\, dV`. Given the map, R is free: it has the law that makes the entries
    of D standard normal, so that the density of A and D is

    .. math::
        |A'A|^{(q-r)/2}\, |D'D|^{(p+q-r)/2}\, e^{-\lambda \|A D'\|^2 / 2 - \|D\|^2 / 2}

    Unlike on W, s and V, singular values do not repel each other, and each output has a mass of its own.
    """

    def __init__(self, problem: Problem, likelihood: Likelihood, prior: Prior) -> None:
        super().__init__(problem.complete_axes(), likelihood, prior)

    def pack_map(self, start: Start) -> Parts:
        W, s, V = singular_parts(start, self.problem.n_features)
        root = np.sqrt(len(V))  # the length of a column of D
        return [W * np.maximum(s, 1e-3 * max(float(s[0]), 1e-3)) / root, V * root]

    def factors(self, parts: Parts) -> tuple[Array, Array]:
        return parts[0], parts[1]

    def log_prior(self, parts: Parts) -> tuple[float, Parts]:
        (A, D), lam = parts[:2], self.prior.precision
        p, q, r = len(A), len(D), A.shape[1]
        AA, DD = A.T @ A, D.T @ D
        try:
            inverse_A = np.linalg.inv(AA)
            inverse_D = np.linalg.inv(DD)
        except np.linalg.LinAlgError:  # the density is 0 there
            return -np.inf, [np.zeros_like(A), np.zeros_like(D)]
        logs = (q - r) * np.linalg.slogdet(AA)[1] + (p + q - r) * np.linalg.slogdet(DD)[1]
        value = 0.5 * float(logs - lam * (AA * DD).sum() - np.trace(DD))
        slope_A = (q - r) * A @ inverse_A - lam * A @ DD
        return value, [slope_A, (p + q - r) * D @ inverse_D - lam * D @ AA - D]

    def pull_back(self, parts: Parts, left: Array, right: Array) -> Parts:
        return [left, right]

    def map_flows(self, start: Start) -> list[Flow]:
        A, D = self.pack_map(start)
        g, weights = self.problem.squares, start.noise.deviations**-2
        left = np.outer(g, weights @ D**2) + self.prior.precision * len(D)
        return [EuclideanFlow(1 / left), EuclideanFlow(1 / (np.outer(weights, g @ A**2) + 1))]


class DensePosterior(Posterior):
    """The map itself, with independent Gaussian entries: the matrix normal prior at full rank."""

    def __init__(self, problem: Problem, likelihood: Likelihood, prior: Prior) -> None:
        super().__init__(dense_problem(problem), likelihood, prior)

    def pack_map(self, start: Start) -> Parts:
        C = start.left @ start.right.T
        return [np.pad(C, ((0, len(self.problem.squares) - len(C)), (0, 0)))]

    def factors(self, parts: Parts) -> tuple[Array, Array]:
        return dense_factors(parts[0], self.problem)

    def log_prior(self, parts: Parts) -> tuple[float, Parts]:
        C, lam = parts[0], self.prior.precision
        return -0.5 * lam * float(np.vdot(C, C)), [-lam * C]

    def pull_back(self, parts: Parts, left: Array, right: Array) -> Parts:
        return [right.T if self.problem.n_features < self.problem.n_targets else left]

    def map_flows(self, start: Start) -> list[Flow]:
        precision = np.outer(self.problem.squares, start.noise.deviations**-2)
        return [EuclideanFlow(1 / (precision + self.prior.precision))]


def singular_parts(start: Start, n_features: int) -> tuple[Array, Array, Array]:
    """W, s, V of the map of a start, in all of the inputs' space."""
    left = np.pad(start.left, ((0, n_features - len(start.left)), (0, 0)))
    U, s, Vt = np.linalg.svd(left @ start.right.T, full_matrices=False)
    r = left.shape[1]
    return U[:, :r], s[:r], Vt[:r].T.copy()
