"""Statistics of Markov chains: has it converged, and how many independent draws is it worth?"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri
from scipy.stats import rankdata

from isthmus._linalg import Array

# The tails that R-hat and effective draws are judged on besides the bulk, as in rank-normalised R-hat.
TAILS = (0.05, 0.95)


def split_rhat(draws: ArrayLike) -> Array:
    r"""Rank-normalised split :math:`\hat R` of [VGSCB2021]_ Sec. 4: the larger of bulk and tail.

    Parameters
    ----------
    draws : array of shape (n_chains, n_draws, ...)
        Draws of one or many quantities.

    Returns
    -------
    rhat : ndarray of shape (...)
        Near 1 where the chains agree; above 1.01 they have not mixed. NaN for a quantity that
        never changes.
    """
    halves = _split(np.asarray(draws, dtype=float))
    folded = np.abs(halves - np.median(halves, axis=(0, 1)))
    return np.maximum(_rhat(_normal_scores(halves)), _rhat(_normal_scores(folded)))


def bulk_ess(draws: ArrayLike) -> Array:
    """Effective sample size of the rank-normalised split chains, (n_chains, n_draws, ...) -> (...)."""
    return _ess(_normal_scores(_split(np.asarray(draws, dtype=float))))


def tail_ess(draws: ArrayLike) -> Array:
    """Smaller effective sample size of the 5 % and 95 % quantiles, (n_chains, n_draws, ...) -> (...)."""
    halves = _split(np.asarray(draws, dtype=float))
    quantiles = np.quantile(halves, TAILS, axis=(0, 1))
    return np.minimum(*(_ess((halves <= quantile).astype(float)) for quantile in quantiles))


def mean_ess(draws: ArrayLike) -> Array:
    """Effective sample size for the mean, without ranks, (n_chains, n_draws, ...) -> (...)."""
    return _ess(_split(np.asarray(draws, dtype=float)))


def _split(draws: Array) -> Array:
    """Each chain in two halves: one that drifts disagrees with itself."""
    if draws.ndim < 2:
        raise ValueError(f"draws has shape {draws.shape}, must be (n_chains, n_draws, ...)")
    if draws.shape[1] < 4:
        raise ValueError(f"draws has {draws.shape[1]} draws per chain, at least 4 are needed")
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, -half:]])


def _normal_scores(draws: Array) -> Array:
    m, n = draws.shape[:2]
    ranks = rankdata(draws.reshape(m * n, -1), axis=0)
    return ndtri((ranks - 0.375) / (m * n + 0.25)).reshape(draws.shape)


def _rhat(draws: Array) -> Array:
    n = draws.shape[1]
    within = draws.var(axis=1, ddof=1).mean(axis=0)
    between = draws.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.sqrt((n - 1) / n + between / within)


def _ess(draws: Array) -> Array:
    """Geyer's initial monotone sequence over the chains together, [VGSCB2021]_ eq. 10-13."""
    m, n = draws.shape[:2]
    flat = draws.reshape(m, n, -1)
    constant = np.ptp(flat, axis=(0, 1)) == 0
    centred = flat - flat.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, n=2 * n, axis=1)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2, n=2 * n, axis=1)[:, :n].real / n
    within = covariance[:, 0].mean(axis=0) * n / (n - 1)
    total = within * (n - 1) / n + (flat.mean(axis=1).var(axis=0, ddof=1) if m > 1 else 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        rho = 1 - (within - covariance.mean(axis=0)) / total
    rho[0] = 1.0
    pairs = rho[: n - n % 2].reshape(n // 2, 2, -1).sum(axis=1)
    # Pairs are positive and falling for a reversible chain: what follows the first negative is noise.
    alive = np.logical_and.accumulate(np.nan_to_num(pairs, nan=-1.0) > 0, axis=0)
    pairs = np.minimum.accumulate(np.where(alive, pairs, 0.0), axis=0)
    # Half of the pair that ended the sum is kept, which matters for chains that swing.
    end = np.minimum(2 * alive.sum(axis=0), n - 1)
    last = np.maximum(np.nan_to_num(rho[end, np.arange(rho.shape[1])]), 0.0)
    tau = np.maximum(2 * pairs.sum(axis=0) - 1 + last, 1 / np.log10(m * n))
    ess = np.where(constant, np.nan, m * n / tau)
    return ess.reshape(draws.shape[2:])
