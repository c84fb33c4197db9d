"""Proposals from the law that both factors would have if a prior were Gaussian in each of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from isthmus._linalg import Array
from isthmus._solvers import metropolis_accepts
from isthmus.regression.bayesian.noise import Noise
from isthmus.regression.bayesian.problem import Problem


def redraw_factors(
    A: Array,
    D: Array,
    problem: Problem,
    noise: Noise,
    precision: float,
    log_rest: Callable[[Array, Array], float],
    rng: np.random.Generator,
) -> tuple[Array, Array, float]:
    r"""Draw A, then D, each given the other and Gaussian noise, by a Metropolis-Hastings step.

    The density is the likelihood times :math:`e^{-\lambda \|A D'\|^2 / 2 - \|D\|^2 / 2}\, h(A, D)`. Without
    h each factor is normal given the other, however unequal the noise of the outputs is, and is drawn from
    that law; ``log_rest``, log h, decides whether the draw is taken. Returns both factors and the mean
    probability with which they were taken.
    """
    weights, g = noise.scales**-2, problem.squares
    cross = noise.turn(problem.cross)
    rest = log_rest(A, D)
    turned = D if noise.axes is None else noise.axes.T @ D
    weighted = weights[:, None] * turned
    own = np.multiply.outer(g, turned.T @ weighted) + precision * (D.T @ D)
    proposal = _draw_rows(own, cross @ weighted, rng)
    new = log_rest(proposal, D)
    is_taken, accept_A = metropolis_accepts(new - rest, rng)
    if is_taken:
        A, rest = proposal, new
    own = np.multiply.outer(weights, A.T @ (g[:, None] * A)) + precision * (A.T @ A)
    own += np.eye(A.shape[1])
    proposal = _draw_rows(own, weights[:, None] * (cross.T @ A), rng)
    if noise.axes is not None:
        proposal = noise.axes @ proposal
    is_taken, accept_D = metropolis_accepts(log_rest(A, proposal) - rest, rng)
    return A, proposal if is_taken else D, (accept_A + accept_D) / 2


def turn_freely(A: Array, D: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw other factors of the same map: D = P G with orthonormal P and Gaussian P'D."""
    q, r = D.shape
    P, T = np.linalg.qr(D)
    # The entries of D would be standard normal if P were uniform: G'G is then a Wishart matrix.
    root = np.linalg.qr(rng.standard_normal((q, r)), mode="r")
    Q, S = np.linalg.qr(rng.standard_normal((r, r)))
    G = (Q * np.sign(S.diagonal())) @ root
    return np.linalg.solve(G, T @ A.T).T, P @ G


def _draw_rows(precision: Array, linear: Array, rng: np.random.Generator) -> Array:
    """Draw rows with precisions (m, r, r) and linear terms (m, r)."""
    inverse = np.linalg.inv(np.linalg.cholesky(precision))
    half = inverse @ linear[:, :, None] + rng.standard_normal(linear.shape)[:, :, None]
    return np.asarray((inverse.transpose(0, 2, 1) @ half)[:, :, 0])
