"""Summaries of draws: the mean map, its best factors, and the numbers by which chains are judged."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import ROUNDING, Array
from isthmus.problems import Form
from isthmus.regression.bayesian.problem import Problem
from isthmus.regression.factors import Factors

_WATCHED = 400  # entries of the map whose chains are judged


def mean_map(left: Array, right: Array, problem: Problem) -> Array:
    """Return the posterior mean (p, q) of draws of factors, in the user's units.

    Along directions in which X does not vary it is exactly 0, the prior mean.
    """
    n_draws, p, r = left.shape
    by_feature = left.transpose(1, 0, 2).reshape(p, n_draws * r)
    mean = by_feature @ right.transpose(0, 2, 1).reshape(n_draws * r, -1)
    seen = problem.basis[:, problem.squares > 0]
    inside = seen @ (seen.T @ (mean * problem.x_unit[:, None] / n_draws))
    return inside / problem.x_unit[:, None]


def best_factors(mean: Array, form: Any, rank: int, solver: str) -> Factors:
    """Return the best map of a rank for the posterior mean, in the frame of the base class."""
    frame = form.frame
    C = mean * frame.x_scale[:, None] / frame.y_scale
    U, s, Vt = np.linalg.svd(C, full_matrices=False)
    keep = s[:rank] > ROUNDING * max(float(s[0]) if len(s) else 0.0, np.finfo(float).tiny)
    W, s, V = U[:, :rank][:, keep], s[:rank][keep], Vt[:rank][keep].T
    return Factors.of_map(form, W, V * s, solver)


def output_products(form: Form, Y: NDArray, weights: Array | None) -> Array:
    """Return Y'Y in the frame of a form."""
    frame = form.frame
    Z = (Y - frame.y_mean) / frame.y_scale
    return Z.T @ (Z if weights is None else weights[:, None] * Z)


def watched_draws(left: Array, right: Array, noise: Array, covariance: Array | None) -> Array:
    """Return draws (n_chains, n_draws, m) of entries of the map and of the noise."""
    p, q = left.shape[2], right.shape[2]
    i, j = _watched_entries(p, q)
    draws = [np.einsum("cdmr,cdmr->cdm", left[:, :, i], right[:, :, j]), noise]
    if covariance is not None:
        i, j = _watched_entries(q, q)
        draws.append(covariance[:, :, i[i > j], j[i > j]])
    return np.concatenate(draws, axis=2)


def _watched_entries(p: int, q: int) -> tuple[Array, Array]:
    """Rows and columns of the entries that are judged: all, or evenly spread ones."""
    places = np.unique(np.linspace(0, p * q - 1, min(p * q, _WATCHED)).astype(int))
    return np.divmod(places, q)
