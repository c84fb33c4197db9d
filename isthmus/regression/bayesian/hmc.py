"""Hamiltonian Monte Carlo over a posterior in any variables."""

from __future__ import annotations

import numpy as np

from isthmus._geometry import EuclideanFlow
from isthmus._solvers import DualAveraging, Flow, Parts, hmc_step, warmup_windows
from isthmus.regression.bayesian.draws import ChainDraws, Recorder, Start
from isthmus.regression.bayesian.posteriors import Posterior

_MAX_STEPS = 32  # of a trajectory: bounds the cost of a draw where steps are short
_LENGTH = 2.0  # of the longest trajectory, in deviations: a quarter turn is pi / 2
# Steps swing less than with 0.05 of [HG2014]_, so that the mean of their logarithms, which is kept, is
# less on the small side: acceptance 0.85, not 0.90, after 500 steps towards a target of 0.8.
_GAMMA = 0.1
# Draws without a trajectory that are tried, and how often they must be taken to do without one.
_TRIALS, _OFTEN = 50, 0.25


def hmc_chain(
    posterior: Posterior,
    mode: Start,
    start: Start,
    n_warmup: int,
    n_draws: int,
    rng: np.random.Generator,
    thin: int = 1,
) -> ChainDraws:
    """Hamiltonian Monte Carlo; step length and masses of flat parts are found during warm-up.

    The first masses are those of the mode: masses from where a chain happens to start would not leave
    the posterior as it is.
    """
    rank = start.left.shape[1]
    recorder = Recorder(posterior.problem, posterior.prior, n_draws, rank, rng, thin)
    if _can_redraw(posterior, start, rng):
        return _redrawn_chain(posterior, start, n_warmup, n_draws * thin, recorder, rng)
    flows = posterior.flows(mode)
    point = posterior.pack(start)
    value, gradient = posterior(point)
    tuner = DualAveraging(0.2, gamma=_GAMMA)
    windows = set(warmup_windows(n_warmup))
    seen: list[Parts] = []
    accepted, n_divergent = 0.0, 0
    for i in range(n_warmup + n_draws * thin):
        length = rng.uniform(0.3, 1.0) * _LENGTH
        n_steps = int(np.clip(np.ceil(length / tuner.step), 1, _MAX_STEPS))
        move = hmc_step(
            posterior, flows, point, value, gradient, step=tuner.step, n_steps=n_steps, rng=rng
        )
        point, value, gradient = move.point, move.log_density, move.gradient
        flipped = posterior.flip(point, value, rng)
        if flipped is not None:
            point, value = flipped
        if posterior.refresh(point, rng) or flipped is not None:
            value, gradient = posterior(point)
        if i < n_warmup:
            tuner.update(move.accept)
            seen.append(point)
            if i + 1 in windows:
                if not posterior.has_fixed_masses:
                    _reweigh(flows, seen)
                seen = []
                tuner = DualAveraging(tuner.settle(), gamma=_GAMMA)
            if i + 1 == n_warmup:
                tuner.settle()
            continue
        accepted = accepted + move.accept
        n_divergent = n_divergent + move.divergent
        left, right, noise, b = posterior.unpack(point)
        recorder.add(left, right, noise, b)
    return recorder.finish({"hmc": accepted / (n_draws * thin)}, n_divergent)


def _can_redraw(posterior: Posterior, start: Start, rng: np.random.Generator) -> bool:
    """Whether draws without a trajectory are taken often enough, seen in some that are thrown away."""
    point, accepted = posterior.pack(start), []
    for _ in range(_TRIALS):
        accept = posterior.redraw(point, rng)
        if accept is None:
            return False
        accepted.append(accept)
    return float(np.mean(accepted)) >= _OFTEN


def _redrawn_chain(
    posterior: Posterior,
    start: Start,
    n_warmup: int,
    n_steps: int,
    recorder: Recorder,
    rng: np.random.Generator,
) -> ChainDraws:
    point, accepted = posterior.pack(start), 0.0
    for i in range(n_warmup + n_steps):
        accept = posterior.redraw(point, rng)
        if i >= n_warmup:
            accepted += accept or 0.0
            recorder.add(*posterior.unpack(point))
    return recorder.finish({"redraw": accepted / n_steps})


def _reweigh(flows: list[Flow], seen: list[Parts]) -> None:
    """Variances of flat parts from the draws of a window, drawn a little towards the old ones."""
    for j, flow in enumerate(flows):
        if isinstance(flow, EuclideanFlow):
            values = np.stack([parts[j] for parts in seen])
            n = len(values)
            variance = (n * values.var(axis=0) + 5 * flow.variance) / (n + 5)
            flows[j] = EuclideanFlow(np.maximum(variance, 1e-12))
