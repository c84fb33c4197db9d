r"""The mode of the posterior, found directly.

.. math::
    \max_{\operatorname{rank} C \le r,\, b,\, \tau} \; p(Y \mid XC + b, \tau)\,
    e^{-\|C\|_F^2 / 2v}\, p(\log \tau)

with respect to the uniform measure on maps of rank r: a ridge, in closed form for Gaussian noise and by
descent otherwise. The priors on factors or singular values have no finite density with respect to that
measure (it grows without bound as a singular value goes to 0), so that their own mode would be 0
whatever the data; of them only the variance is used here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from isthmus.linalg import Array
from isthmus.losses import Absolute, Loss, robust_scale
from isthmus.regression.bayesian.draws import Start
from isthmus.regression.bayesian.likelihoods import Likelihood, ScaledLoss, evaluation
from isthmus.regression.bayesian.problem import Prior, Problem
from isthmus.regression.rank_descent import Penalty, RankProblem, descend_factors, shaken

_ROUNDS = 4
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
    return mode if likelihood.name == "gaussian" else _descend(problem, likelihood, prior, mode)


def _gaussian_mode(problem: Problem, prior: Prior, rank: int) -> Start:
    """Closed form for the map given the noise, and for the noise given the map, in turn."""
    q = problem.n_targets
    shape = problem.degrees / 2 + prior.noise_shape
    tau2 = (problem.best_residual(rank) / 2 + prior.noise_rate) / shape
    tau2 = max(tau2, 1e-12 * max(problem.total, 1e-300) / problem.degrees)
    for _ in range(_ROUNDS):
        alpha = prior.precision * tau2
        root = np.sqrt(problem.squares + alpha)[:, None]
        P, sigma, Qt = np.linalg.svd(problem.cross / root, full_matrices=False)
        left, right = P[:, :rank] * sigma[:rank] / root, Qt[:rank].T
        gap = np.sqrt(problem.squares)[:, None] * (left @ right.T)
        gap = gap - problem.cross / problem.roots[:, None]
        rss = problem.rest + float((gap * gap).sum())
        tau2 = max((rss / 2 + prior.noise_rate) / shape, 1e-300)
    return Start(left, right, np.zeros(q), float(np.sqrt(tau2)))


def _descend(problem: Problem, likelihood: Likelihood, prior: Prior, start: Start) -> Start:
    assert problem.rows is not None and problem.Y is not None
    A, D, b = start.left, start.right, start.intercept
    noise = robust_scale(problem.Y - problem.rows @ A @ D.T) if likelihood.has_scale else 1.0
    kind = RankProblem if problem.intercept else _Fixed
    rounds = _DESCENTS if likelihood.has_scale else 1
    for step in range(rounds):
        loss, alpha = _criterion(likelihood, prior, noise)
        curvature = loss.typical_curvature(noise)
        g = 1.0 / np.sqrt(problem.squares + max(alpha / curvature, 1e-12 * problem.squares.max()))
        task = kind(problem.rows * g, g, problem.Y, problem.row_weights, loss, Penalty(alpha))
        (A, D, b), result = descend_factors(task, (A / g[:, None], D, b), **_OPTIONS)
        if not loss.is_smooth and step == rounds - 1:
            (A, D, b), _ = shaken(task, (A, D, b), result, dict(_OPTIONS))
        A = g[:, None] * A
        noise = _noise_mode(problem, likelihood, prior, Start(A, D, b, noise))
    return Start(A, D, b, noise)


def _criterion(likelihood: Likelihood, prior: Prior, noise: float) -> tuple[Loss, float]:
    """Loss and ridge weight whose sum is the log posterior up to a factor."""
    if isinstance(likelihood.loss, Absolute):  # times b: its own prox and smoothing apply
        return likelihood.loss, prior.precision * noise
    if not likelihood.has_scale:
        return likelihood.loss, prior.precision
    return ScaledLoss(likelihood.loss, noise), prior.precision


def _noise_mode(problem: Problem, likelihood: Likelihood, prior: Prior, at: Start) -> float:
    if not likelihood.has_scale:
        return 1.0
    value_of = evaluation(problem, likelihood).value
    power = likelihood.power

    def minus_log(log_tau: float) -> float:
        noise_prior = power * prior.noise_shape * log_tau
        noise_prior += prior.noise_rate * float(np.exp(-power * log_tau))
        return noise_prior - value_of(at.left, at.right, at.intercept, log_tau)

    middle = np.log(max(at.noise, 1e-12))
    found = minimize_scalar(minus_log, bounds=(middle - 6, middle + 6), method="bounded")
    return float(np.exp(found.x))


def scattered(mode: Start, rank: int, rng: np.random.Generator) -> Start:
    """A start of a chain: the mode with balanced factors, shaken."""
    left, right = mode.left, mode.right
    k, q = len(left), len(right)
    U, s, Vt = np.linalg.svd(left @ right.T, full_matrices=False)
    m = min(rank, len(s))
    size = max(float(s[0]) if len(s) else 0.0, 1e-2)
    root = np.sqrt(np.maximum(s[:m], 1e-3 * size))
    A, D = np.zeros((k, rank)), np.zeros((q, rank))
    A[:, :m], D[:, :m] = U[:, :m] * root, Vt[:m].T * root
    A = A + 0.1 * np.sqrt(size / max(k, 1)) * rng.standard_normal(A.shape)
    D = D + 0.1 * np.sqrt(size / max(q, 1)) * rng.standard_normal(D.shape)
    noise = mode.noise * float(np.exp(0.2 * rng.standard_normal()))
    return Start(A, D, mode.intercept.copy(), noise)
