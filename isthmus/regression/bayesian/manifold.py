r"""Sampling :math:`C = W \operatorname{diag}(s) V'` on its manifold, and both factors by momentum.

Variables are s and the noise scale :math:`\tau` through their logarithms. A random walk on
:math:`\log s` is symmetric in :math:`\log s`, not in s: the density of the logarithm has the factor s,
the Hastings term that [B2006]_ Sec. 2.5.2 leaves out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus.geometry.flows import EuclideanFlow, StiefelFlow
from isthmus.geometry.sampling import geodesic_proposal
from isthmus.linalg import Array
from isthmus.regression.bayesian.draws import ChainDraws, Recorder, Start
from isthmus.regression.bayesian.likelihoods import Likelihood, evaluation
from isthmus.regression.bayesian.problem import Prior, Problem
from isthmus.solvers.mcmc import (
    AcceptanceTuner,
    DualAveraging,
    Flow,
    Parts,
    hmc_step,
    metropolis_accepts,
    warmup_windows,
)

_MAX_STEPS = 32
_LENGTH = 2.0  # of the longest trajectory, in deviations: a quarter turn is pi / 2
# Steps swing less than with 0.05 of [HG2014]_, so that the mean of their logarithms, which is kept, is
# less on the small side: acceptance 0.85, not 0.90, after 500 steps towards a target of 0.8.
_GAMMA = 0.1
_TARGETS = {"V": 0.35, "W": 0.35, "s": 0.35, "tau": 0.44, "b": 0.35}


class Posterior:
    """Log posterior density and its partial derivatives.

    A subclass says what the parts are, and how they give the two factors.
    """

    def __init__(self, problem: Problem, likelihood: Likelihood, prior: Prior) -> None:
        self.problem, self.likelihood, self.prior = problem, likelihood, prior
        self.evaluation = evaluation(problem, likelihood)
        # For Gaussian noise the intercept is integrated out.
        self.has_intercept = problem.intercept and likelihood.name != "gaussian"

    def log_noise_prior(self, log_tau: float) -> tuple[float, float]:
        """Log density of log tau and its derivative."""
        if not self.likelihood.has_scale:
            return -0.5 * log_tau**2, -log_tau  # not used: any proper law will do
        power, prior = self.likelihood.power, self.prior
        inside = prior.noise_rate * float(np.exp(-power * log_tau))
        value = -power * prior.noise_shape * log_tau - inside
        return value, power * (inside - prior.noise_shape)

    def noise_variance(self) -> float:
        """Variance of log tau about its mode, given the map."""
        if not self.likelihood.has_scale:
            return 1.0
        power = self.likelihood.power
        return 1 / (power * max(self.problem.degrees + power * self.prior.noise_shape, 1.0))

    def noise_of(self, log_tau: float) -> float:
        return float(np.exp(log_tau)) if self.likelihood.has_scale else 1.0


class FactorPosterior(Posterior):
    """Parts A, D, log tau and, where it is not integrated out, the intercept."""

    def pack(self, start: Start) -> Parts:
        parts = [start.left, start.right, np.array([np.log(start.noise)])]
        return [*parts, start.intercept] if self.has_intercept else parts

    def unpack(self, parts: Parts) -> tuple[Array, Array, float, Array | None]:
        b = parts[3] if self.has_intercept else None
        return parts[0], parts[1], self.noise_of(float(parts[2][0])), b

    def __call__(self, parts: Parts) -> tuple[float, Parts]:
        left, right, log_tau = parts[0], parts[1], float(parts[2][0])
        b = parts[3] if self.has_intercept else None
        value, g_left, g_right, g_b, g_log = self.evaluation.value_and_gradient(
            left, right, b, log_tau
        )
        lam = self.prior.precision
        noise, g_noise = self.log_noise_prior(log_tau)
        value += noise - 0.5 * lam * float(np.vdot(left, left) + np.vdot(right, right))
        gradient = [g_left - lam * left, g_right - lam * right, np.array([g_log + g_noise])]
        return value, [*gradient, np.asarray(g_b)] if self.has_intercept else gradient

    def flows(self, start: Start) -> list[Flow]:
        """Masses from the curvature at the start."""
        problem, tau2 = self.problem, start.noise**2
        lam, g = self.prior.precision, problem.squares
        A, D = start.left, start.right
        left = 1 / (np.outer(g, (D**2).sum(axis=0)) / tau2 + lam)
        right = 1 / ((g[:, None] * A**2).sum(axis=0) / tau2 + lam)
        flows: list[Flow] = [
            EuclideanFlow(left),
            EuclideanFlow(np.broadcast_to(right, D.shape).copy()),
            EuclideanFlow(np.full(1, self.noise_variance())),
        ]
        if self.has_intercept:
            flows.append(EuclideanFlow(np.full(len(D), tau2 / problem.weight)))
        return flows


class ManifoldPosterior(Posterior):
    """Parts W, V, log s, log tau and, where it is not integrated out, the intercept.

    ``hastings=False`` leaves out the densities' change of variables from s and tau to their
    logarithms, as the thesis does: a negative control, not a sampler of anything asked for.
    """

    def __init__(
        self, problem: Problem, likelihood: Likelihood, prior: Prior, hastings: bool = True
    ) -> None:
        super().__init__(problem.completed(), likelihood, prior)
        self.hastings = hastings

    def pack(self, start: Start) -> Parts:
        left = np.pad(start.left, ((0, self.problem.n_features - len(start.left)), (0, 0)))
        U, s, Vt = np.linalg.svd(left @ start.right.T, full_matrices=False)
        r = start.left.shape[1]
        s = np.maximum(s[:r], 1e-3 * max(float(s[0]), 1e-3))
        if r > 1:  # equal singular values have density 0 under the matrix normal law
            s = s * (1 + 1e-3 * np.arange(r, 0, -1))
        parts = [U[:, :r], Vt[:r].T.copy(), np.log(s), np.array([np.log(start.noise)])]
        return [*parts, start.intercept] if self.has_intercept else parts

    def unpack(self, parts: Parts) -> tuple[Array, Array, float, Array | None]:
        b = parts[4] if self.has_intercept else None
        return parts[0] * np.exp(parts[2]), parts[1], self.noise_of(float(parts[3][0])), b

    def log_prior(self, log_s: Array) -> tuple[float, Array]:
        """Log density of log s and its derivative."""
        s, lam = np.exp(log_s), self.prior.precision
        value, slope = -0.5 * lam * float((s * s).sum()), -lam * s * s
        if self.hastings:
            value, slope = value + float(log_s.sum()), slope + 1.0
        if self.prior.kind == "matrix_normal":
            power = self.problem.n_features + self.problem.n_targets - 2 * len(s)
            value, slope = value + power * float(log_s.sum()), slope + power
            i, j = np.triu_indices(len(s), 1)
            gaps = s[i] ** 2 - s[j] ** 2
            with np.errstate(divide="ignore"):
                value += float(np.log(np.abs(gaps)).sum())
                np.add.at(slope, i, 2 * s[i] ** 2 / gaps)
                np.add.at(slope, j, -2 * s[j] ** 2 / gaps)
        return value, slope

    def log_tau_prior(self, log_tau: float) -> tuple[float, float]:
        value, slope = self.log_noise_prior(log_tau)
        return (value, slope) if self.hastings else (value - log_tau, slope - 1)

    def value(self, parts: Parts) -> float:
        left, right, _, b = self.unpack(parts)
        log_tau = float(parts[3][0])
        value = self.evaluation.value(left, right, b, log_tau)
        return value + self.log_prior(parts[2])[0] + self.log_tau_prior(log_tau)[0]

    def __call__(self, parts: Parts) -> tuple[float, Parts]:
        W, V, log_s, log_tau = parts[0], parts[1], parts[2], float(parts[3][0])
        s = np.exp(log_s)
        b = parts[4] if self.has_intercept else None
        value, g_left, g_right, g_b, g_log = self.evaluation.value_and_gradient(
            W * s, V, b, log_tau
        )
        prior, g_s = self.log_prior(log_s)
        noise, g_noise = self.log_tau_prior(log_tau)
        g_s = g_s + (W * g_left).sum(axis=0) * s
        gradient = [g_left * s, g_right, g_s, np.array([g_log + g_noise])]
        if self.has_intercept:
            gradient.append(np.asarray(g_b))
        return value + prior + noise, gradient

    def flows(self, start: Start) -> list[Flow]:
        problem, tau2 = self.problem, start.noise**2
        W, V, log_s = self.pack(start)[:3]
        s2 = np.exp(2 * log_s)
        along = (problem.squares[:, None] * W**2).sum(axis=0) * s2 / tau2
        across = float(problem.squares.mean() * s2.mean() / tau2)
        flows: list[Flow] = [
            StiefelFlow(len(W), W.shape[1], 1 / np.sqrt(1 + across)),
            StiefelFlow(len(V), V.shape[1], 1 / np.sqrt(1 + float(along.mean()))),
            EuclideanFlow(1 / (1 + along)),
            EuclideanFlow(np.full(1, self.noise_variance())),
        ]
        if self.has_intercept:
            flows.append(EuclideanFlow(np.full(len(V), tau2 / problem.weight)))
        return flows

    def flip(self, parts: Parts, value: float, rng: np.random.Generator) -> tuple[Parts, float]:
        """Turn one column of V round: no path on the manifold changes the sign of det C."""
        W, V = parts[0], parts[1]
        if not len(W) == len(V) == W.shape[1]:
            return parts, value
        turned = V.copy()
        turned[:, int(rng.integers(V.shape[1]))] *= -1
        proposal = [W, turned, *parts[2:]]
        new = self.value(proposal)
        taken, _ = metropolis_accepts(new - value, rng)
        return (proposal, new) if taken else (parts, value)


def hmc_chain(
    posterior: FactorPosterior | ManifoldPosterior,
    start: Start,
    n_warmup: int,
    n_draws: int,
    rng: np.random.Generator,
    thin: int = 1,
) -> ChainDraws:
    """Hamiltonian Monte Carlo; step length and masses of flat parts are found during warm-up."""
    flows, point = posterior.flows(start), posterior.pack(start)
    value, gradient = posterior(point)
    tuner, windows = DualAveraging(0.2, gamma=_GAMMA), set(warmup_windows(n_warmup))
    seen: list[Parts] = []
    rank = start.left.shape[1]
    recorder = Recorder(posterior.problem, posterior.prior, n_draws, rank, rng, thin)
    accepted, n_divergent = 0.0, 0
    for i in range(n_warmup + n_draws * thin):
        length = rng.uniform(0.3, 1.0) * _LENGTH
        n_steps = int(np.clip(np.ceil(length / tuner.step), 1, _MAX_STEPS))
        move = hmc_step(
            posterior, flows, point, value, gradient, step=tuner.step, n_steps=n_steps, rng=rng
        )
        point, value, gradient = move.point, move.log_density, move.gradient
        if isinstance(posterior, ManifoldPosterior) and len(point[0]) == len(point[1]) == rank:
            point, value = posterior.flip(point, value, rng)
            value, gradient = posterior(point)
        if i < n_warmup:
            tuner.update(move.accept)
            seen.append(point)
            if i + 1 in windows:
                _reweigh(flows, seen)
                seen, tuner = [], DualAveraging(tuner.settle(), gamma=_GAMMA)
            if i + 1 == n_warmup:
                tuner.settle()
            continue
        accepted, n_divergent = accepted + move.accept, n_divergent + move.divergent
        left, right, noise, b = posterior.unpack(point)
        recorder.add(left, right, noise, b)
    return recorder.finish({"hmc": accepted / (n_draws * thin)}, n_divergent)


def _reweigh(flows: list[Flow], seen: list[Parts]) -> None:
    """Variances of flat parts from the draws of a window, drawn a little towards the old ones."""
    for j, flow in enumerate(flows):
        if isinstance(flow, EuclideanFlow):
            values = np.stack([parts[j] for parts in seen])
            n = len(values)
            variance = (n * values.var(axis=0) + 5 * flow.variance) / (n + 5)
            flows[j] = EuclideanFlow(np.maximum(variance, 1e-12))


def thesis_chain(
    posterior: ManifoldPosterior,
    start: Start,
    n_warmup: int,
    n_draws: int,
    rng: np.random.Generator,
    thin: int = 1,
) -> ChainDraws:
    """The Metropolised Gibbs sampler of [B2006]_ A2.7: V, W, s, tau in turn, by random walks.

    V and W move along geodesics in Gaussian directions, which is symmetric with respect to the
    uniform measure. The step lengths settle during warm-up.
    """
    problem, tau = posterior.problem, start.noise
    parts, value = posterior.pack(start), 0.0
    value = posterior.value(parts)
    size = float(np.exp(2 * parts[2]).mean() * max(problem.squares.mean(), 1e-12))
    small = min(0.5, tau / np.sqrt(size))
    names = {"V": 1, "W": 0, "s": 2, "tau": 3} | ({"b": 4} if posterior.has_intercept else {})
    tuners = {name: AcceptanceTuner(small, _TARGETS[name]) for name in names}
    counts = dict.fromkeys(names, 0.0)
    rank = start.left.shape[1]
    recorder = Recorder(problem, posterior.prior, n_draws, rank, rng, thin)
    for i in range(n_warmup + n_draws * thin):
        for name, place in names.items():
            proposal = list(parts)
            proposal[place] = _proposed(name, parts[place], tuners[name].step, rng)
            with np.errstate(over="ignore", invalid="ignore"):  # too far: refused below
                new = posterior.value(proposal)
            taken, accept = metropolis_accepts(new - value, rng)
            if taken:
                parts, value = proposal, new
            if i < n_warmup:
                tuners[name].update(accept)
            else:
                counts[name] += accept / (n_draws * thin)
        parts, value = posterior.flip(parts, value, rng)
        if i >= n_warmup:
            left, right, noise, b = posterior.unpack(parts)
            recorder.add(left, right, noise, b)
    return recorder.finish(counts)


def _proposed(name: str, part: Any, step: float, rng: np.random.Generator) -> Array:
    if name not in ("V", "W"):
        return part + step * rng.standard_normal(part.shape)
    return part if part.shape == (1, 1) else geodesic_proposal(part, step, rng)
