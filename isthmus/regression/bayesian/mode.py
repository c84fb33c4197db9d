r"""The mode of the posterior, found directly.

.. math::
    \max_{\operatorname{rank} C \le r,\, b,\, \tau} \; p(Y \mid XC + b, \tau)\,
    e^{-\|C\|_F^2 / 2v}\, p(\log \tau)

with respect to the uniform measure on maps of rank r: a ridge. For Gaussian noise it has a closed form
where all outputs share one noise level, and alternating closed forms where they do not; otherwise it is
found by descent. Where a map can interpolate an output, the density grows without bound as its noise goes
to 0: there the noise is that of the fit with one level for all outputs.

The priors on factors or singular values have no finite density with respect to that measure (it grows
without bound as a singular value goes to 0), so that their own mode would be 0 whatever the data; of them
only the variance is used here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from isthmus._linalg import Array
from isthmus.losses import Absolute, Loss, robust_scale
from isthmus.regression.bayesian.draws import Start
from isthmus.regression.bayesian.likelihoods import Likelihood, ScaledLoss
from isthmus.regression.bayesian.noise import Noise, noise_mode
from isthmus.regression.bayesian.problem import Prior, Problem, interpolates
from isthmus.regression.rank_descent import Penalty, RankProblem, descend_factors

_NOISE_ROUNDS = 4  # of one noise level and the map in turn, each a closed form
_MOST_ROUNDS, _SETTLED = (
    300,
    1e-9,
)  # of alternating closed forms, and relative change that ends them
_DESCENTS = 2  # the ridge hardly changes with the noise: the second settles it
_OPTIONS: dict[str, Any] = {"max_iter": 500, "tol": 1e-9, "verbose": 0}


class _Fixed(RankProblem):
    """Without an intercept: it starts at 0 and stays there."""

    def value_and_gradients(
        self, loss: Loss, A: Array, D: Array, b: Array
    ) -> tuple[float, Array, Array, Array]:
        value, grad_A, grad_D, _ = super().value_and_gradients(loss, A, D, b)
        return value, grad_A, grad_D, np.zeros_like(b)


def find_mode(problem: Problem, likelihood: Likelihood, prior: Prior, rank: int) -> Start:
    """The mode, as factors of which the left one has the singular values."""
    mode = _gaussian_mode(problem, prior, rank)
    if likelihood.name == "gaussian":
        return mode
    return _descend(problem, likelihood, prior, mode)


def _gaussian_mode(problem: Problem, prior: Prior, rank: int) -> Start:
    start = _one_level(problem, prior, rank)
    if prior.noise == "common":
        return start
    return _alternate(problem, prior, rank, start)


def _one_level(problem: Problem, prior: Prior, rank: int) -> Start:
    """Closed form for the map given one noise level, and for the level given the map, in turn."""
    q = problem.n_targets
    degrees = q * problem.degrees
    is_common = prior.noise == "common"
    shape = degrees / 2 + (prior.noise_shape if is_common else 0.0)
    rate = float(prior.noise_rate if is_common else np.mean(prior.noise_rate))
    tau2 = (problem.best_residual(rank) / 2 + rate) / shape
    tau2 = max(tau2, 1e-12 * max(float(problem.totals.sum()), 1e-300) / degrees)
    for _ in range(_NOISE_ROUNDS):
        alpha = prior.precision * tau2
        root = np.sqrt(problem.squares + alpha)[:, None]
        P, sigma, Qt = np.linalg.svd(problem.cross / root, full_matrices=False)
        left, right = P[:, :rank] * sigma[:rank] / root, Qt[:rank].T
        gap = _gap(problem, left, right)
        rss = float(problem.rest.sum() + (gap * gap).sum())
        tau2 = max((rss / 2 + rate) / shape, 1e-300)
    return Start(left, right, np.zeros(q), Noise(np.full(q, np.sqrt(tau2))))


def _gap(problem: Problem, left: Array, right: Array) -> Array:
    return np.sqrt(problem.squares)[:, None] * (left @ right.T) - problem.target


def _alternate(problem: Problem, prior: Prior, rank: int, start: Start) -> Start:
    """Each factor given the other and the noise, and the noise given the map, until they stay."""
    A, D = start.left, start.right
    noise = noise_mode(problem, prior, _gap(problem, A, D))
    if not A.size:
        return Start(A, D, start.intercept, noise)
    g, lam = problem.squares[:, None], prior.precision
    roots, target = np.sqrt(g), problem.target
    is_free = not np.any(interpolates(problem, prior.noise, rank))
    C = A @ D.T
    for _ in range(_MOST_ROUNDS):
        along = noise.turn(target)
        weights = 1 / noise.scales**2
        D = np.linalg.qr(noise.turn(D.T).T)[0]
        w, F = np.linalg.eigh(D.T @ (weights[:, None] * D))
        A = np.linalg.qr(roots * (along * weights @ (D @ F)) / (g * w + lam) @ F.T)[0]
        w, F = np.linalg.eigh(A.T @ (g * A))
        D = (along * weights).T @ (roots * A @ F) / (np.outer(weights, w) + lam) @ F.T
        if noise.axes is not None:
            D = noise.axes @ D
        before, C = C, A @ D.T
        deviations = noise.deviations
        if is_free:
            noise = noise_mode(problem, prior, _gap(problem, A, D))
        still = np.abs(C - before).max() <= _SETTLED * np.abs(C).max()
        if still and np.abs(noise.deviations / deviations - 1).max() <= _SETTLED:
            break
    return Start(A, D, start.intercept, noise)


def _descend(problem: Problem, likelihood: Likelihood, prior: Prior, start: Start) -> Start:
    assert problem.rows is not None and problem.Y is not None
    A, D, b = start.left, start.right, start.intercept
    is_common = prior.noise == "common"
    noise = np.ones(len(D))
    if likelihood.has_scale:
        residual = problem.Y - problem.rows @ A @ D.T
        columns = [residual] if is_common else residual.T
        noise = noise * [robust_scale(column, problem.row_weights) for column in columns]
    kind = RankProblem if problem.intercept else _Fixed
    rounds = _DESCENTS if likelihood.has_scale else 1
    for _ in range(rounds):
        loss, alpha, shares = _criterion(likelihood, prior, noise)
        curvature = loss.typical_curvature(_middle(noise))
        g = 1.0 / np.sqrt(problem.squares + max(alpha / curvature, 1e-12 * problem.squares.max()))
        penalty = Penalty(alpha)
        task = kind(problem.rows * g, g, problem.Y, problem.row_weights, loss, penalty, shares)
        (A, D, b), result = descend_factors(task, (A / g[:, None], D, b), **_OPTIONS)
        result.raise_interrupt()
        A = g[:, None] * A
        if likelihood.has_scale:
            residual = problem.Y - problem.rows @ A @ D.T - b
            noise = _scale_modes(problem, likelihood, prior, residual, noise)
    return Start(A, D, b, Noise(noise))


def _middle(noise: Array) -> float:
    return float(np.exp(np.log(noise).mean()))


def _criterion(
    likelihood: Likelihood, prior: Prior, noise: Array
) -> tuple[Loss, float, Array | None]:
    """Loss, ridge weight and weights of the outputs: their sum is the log posterior up to a factor."""
    if isinstance(likelihood.loss, Absolute):  # divided by the scales: its own smoothing applies
        middle = _middle(noise)
        return likelihood.loss, prior.precision * middle, middle / noise
    if not likelihood.has_scale:
        return likelihood.loss, prior.precision, None
    return ScaledLoss(likelihood.loss, noise), prior.precision, None


def _scale_modes(
    problem: Problem, likelihood: Likelihood, prior: Prior, residual: Array, noise: Array
) -> Array:
    """Most likely scales given the map, one output at a time or all together."""
    q, power = problem.n_targets, likelihood.power
    is_common = prior.noise == "common"
    groups = [residual] if is_common else [residual[:, [j]] for j in range(q)]
    shapes, rates = (np.broadcast_to(x, q) for x in (prior.noise_shape, prior.noise_rate))
    found = []
    for j, E in enumerate(groups):
        count = problem.weight * E.shape[1] + power * shapes[j]

        def minus_log(log_tau: float, E: Array = E, j: int = j, count: float = count) -> float:
            u = E * np.exp(-log_tau)
            terms = likelihood.loss.value(u, np.zeros_like(u), problem.row_weights)
            return count * log_tau + rates[j] * float(np.exp(-power * log_tau)) + terms

        middle = np.log(max(noise[j], 1e-12))
        bounds = middle - 6, middle + 6
        found.append(minimize_scalar(minus_log, bounds=bounds, method="bounded").x)
    return np.exp(np.broadcast_to(found, q))


def scatter_start(mode: Start, rank: int, rng: np.random.Generator) -> Start:
    """A start of a chain: the mode with balanced factors, perturbed."""
    left, right = mode.left, mode.right
    k, q = len(left), len(right)
    U, s, Vt = np.linalg.svd(left @ right.T, full_matrices=False)
    m = min(rank, len(s))
    size = max(float(s[0]) if len(s) else 0.0, 1e-2)
    root = np.sqrt(np.maximum(s[:m], 1e-3 * size))
    A = np.zeros((k, rank))
    D = np.zeros((q, rank))
    A[:, :m], D[:, :m] = U[:, :m] * root, Vt[:m].T * root
    A = A + 0.1 * np.sqrt(size / max(k, 1)) * rng.standard_normal(A.shape)
    D = D + 0.1 * np.sqrt(size / max(q, 1)) * rng.standard_normal(D.shape)
    scales = mode.noise.scales * np.exp(0.2 * rng.standard_normal())
    return Start(A, D, mode.intercept.copy(), Noise(scales, mode.noise.axes))
