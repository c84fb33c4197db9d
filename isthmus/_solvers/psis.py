"""Leave-one-out scores from one posterior: importance weights with a smooth tail."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from isthmus._linalg import Array


@dataclass(frozen=True)
class LeaveOneOut:
    """Expected log predictive density of rows left out one at a time.

    Attributes
    ----------
    pointwise : ndarray of shape (n_rows,)
        Log predictive density of each row given all others.
    pareto_k : ndarray of shape (n_rows,)
        Shape of the tail of its importance weights; above 0.7 the score of the row is not reliable.
    """

    pointwise: Array
    pareto_k: Array

    @property
    def elpd(self) -> float:
        """Sum over rows."""
        return float(self.pointwise.sum())

    @property
    def standard_error(self) -> float:
        return float(np.sqrt(len(self.pointwise) * self.pointwise.var()))


def psis_loo(log_likelihood: ArrayLike) -> LeaveOneOut:
    """Leave-one-out log scores by Pareto smoothed importance sampling, [VGG2017]_ Sec. 2.

    Parameters
    ----------
    log_likelihood : array of shape (n_draws, n_rows)
        Log density of each row under each posterior draw.
    """
    logs = np.asarray(log_likelihood, dtype=float)
    scores = np.empty(logs.shape[1])
    shapes = np.empty(logs.shape[1])
    for i, column in enumerate(logs.T):
        weights, shapes[i] = smooth_weights(-column)
        scores[i] = logsumexp(weights + column)
    return LeaveOneOut(scores, shapes)


def smooth_weights(log_ratios: Array) -> tuple[Array, float]:
    """Normalised log weights whose largest are quantiles of a fitted Pareto law, and its shape."""
    log_weights = log_ratios - log_ratios.max()
    n = len(log_weights)
    n_tail = int(np.ceil(min(0.2 * n, 3 * np.sqrt(n))))
    order = np.argsort(log_weights)
    tail = order[-n_tail:]
    cutoff = log_weights[order[-n_tail - 1]] if n > n_tail else -np.inf
    shape = np.inf
    cutoff = max(cutoff, np.log(np.finfo(float).tiny))
    tail = tail[log_weights[tail] > cutoff]
    if len(tail) > 4:
        excess = np.exp(log_weights[tail]) - np.exp(cutoff)
        shape, scale = fit_pareto(excess)
        if np.isfinite(shape):
            p = (np.arange(len(tail)) + 0.5) / len(tail)
            quantiles = scale * np.expm1(-shape * np.log1p(-p)) / shape
            log_weights[tail] = np.minimum(np.log(quantiles + np.exp(cutoff)), 0.0)
    return log_weights - logsumexp(log_weights), float(shape)


def fit_pareto(excess: Array) -> tuple[float, float]:
    """Shape and scale of the generalised Pareto law of sorted positive values, [ZS2009]_.

    The shape is drawn towards 0.5 as if ten more values had said so, as in [VGG2017]_ Appendix C.
    """
    n = len(excess)
    m = 30 + int(np.sqrt(n))
    b = 1 - np.sqrt(m / (np.arange(1, m + 1) - 0.5))
    b = b / (3 * excess[int(n / 4 + 0.5) - 1]) + 1 / excess[-1]
    k = np.log1p(-b[:, None] * excess).mean(axis=1)
    profile = n * (np.log(-b / k) - k - 1)
    weights = 1 / np.exp(profile - profile[:, None]).sum(axis=1)
    keep = weights >= 10 * np.finfo(float).eps
    b_mean = float((b[keep] * weights[keep]).sum() / weights[keep].sum())
    shape = float(np.log1p(-b_mean * excess).mean())
    scale = -shape / b_mean
    return (n * shape + 10 * 0.5) / (n + 10), scale
