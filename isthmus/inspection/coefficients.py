"""How sure the coefficients are, by refitting on resampled rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from joblib import Parallel, delayed
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from sklearn.utils import check_random_state, check_scalar

from isthmus._linalg import Array
from isthmus._validation import check_memory, check_option
from isthmus.inspection._model import as_fitted, check_level, coef_2d, refit, training_rows
from isthmus.regression import LatentRegression


@dataclass(frozen=True)
class CoefficientIntervals:
    """Confidence intervals, every array in the shape of ``coef_``.

    Attributes
    ----------
    coef, standard_error, lower, upper : ndarray of shape (n_features,) or (n_targets, n_features)
    level : float
    method : str
    """

    coef: Array
    standard_error: Array
    lower: Array
    upper: Array
    level: float
    method: str


def coefficient_intervals(
    model: LatentRegression,
    X: ArrayLike,
    y: ArrayLike,
    *,
    method: str = "jackknife",
    level: float = 0.95,
    n_resamples: int = 1000,
    sample_weight: ArrayLike | None = None,
    random_state: int | RandomState | None = None,
    n_jobs: int | None = None,
) -> CoefficientIntervals:
    r"""Compute confidence intervals of the coefficients by jackknife or bootstrap over rows.

    Jackknife ([ET1993]_ Ch. 11; for PLS [MM2000]_), with the coefficients :math:`b_{(i)}` of the
    fit without row ``i``:

    .. math::
        \mathrm{se}^2 = \frac{n - 1}{n} \sum_i \bigl( b_{(i)} - \bar b_{(\cdot)} \bigr)^2, \qquad
        b \pm t_{n-1}\, \mathrm{se}

    Bootstrap: standard deviation and percentiles over refits on rows drawn with replacement. Both
    assume independent rows, and no more: errors may have unequal variances. Centring, scaling and
    weights of the components are redone in each refit; the number of components is held, so that
    an interval does not include the uncertainty of its choice. The intervals are about the
    coefficients that the same model would find in ever more data; the bias that few components or
    a ridge bring is not in them.

    Parameters
    ----------
    model : fitted PCR, PLS, ReducedRankRegression, StiefelRegression or ManifoldPLS
    X : array-like of shape (n_samples, n_features)
        The rows of the fit.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        The outputs of the fit.
    method : {"jackknife", "bootstrap"}, default="jackknife"
        The jackknife makes one refit per row, the bootstrap ``n_resamples``.
    level : float, default=0.95
        Coverage of each interval (not of all together).
    n_resamples : int, default=1000
        Refits of the bootstrap.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the fit. They stay with their rows; a row is drawn or left out as a whole.
    random_state : int, RandomState instance or None, default=None
        Of the bootstrap. The result does not depend on ``n_jobs``.
    n_jobs : int, default=None
        Refits at a time, as in joblib.

    Returns
    -------
    intervals : CoefficientIntervals

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus import PLS
    >>> from isthmus.inspection import coefficient_intervals
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> y = X @ [2, 0, -1] + 0.5 * rng.normal(size=60)
    >>> found = coefficient_intervals(PLS(3).fit(X, y), X, y)
    >>> (found.lower > 0) | (found.upper < 0)  # zero is outside
    array([ True, False,  True])
    """
    check_option("method", method, ("jackknife", "bootstrap"))
    check_level(level)
    check_scalar(n_resamples, "n_resamples", Integral, min_val=2)
    X, Y, weights = training_rows(model, X, y, sample_weight)
    coef = coef_2d(model).astype(np.float64)
    n_refits = len(X) if method == "jackknife" else n_resamples
    check_memory(
        8.0 * n_refits * coef.size,
        f"The coefficients of {n_refits} refits",
        "use method='bootstrap' with fewer n_resamples, or select inputs first.",
    )
    if method == "jackknife":
        draws: Iterable[NDArray] = (np.delete(np.arange(len(X)), i) for i in range(len(X)))
        coefs = _refits(model, X, Y, weights, draws, n_jobs)
        error = np.sqrt(len(X) - 1) * _deviations(coefs)
        reach = stats.t.ppf((1 + level) / 2, len(X) - 1) * error
        lower, upper = coef - reach, coef + reach
    else:
        # A seed each, drawn beforehand: the draws are the same for any number of jobs.
        seeds = check_random_state(random_state).randint(2**31 - 1, size=n_resamples)
        draws = (np.random.default_rng(seed).integers(len(X), size=len(X)) for seed in seeds)
        coefs = _refits(model, X, Y, weights, draws, n_jobs)
        error = _deviations(coefs, ddof=1)
        lower, upper = np.quantile(coefs, [(1 - level) / 2, (1 + level) / 2], axis=0)
    coef, error, lower, upper = (as_fitted(model, a.T).T for a in (coef, error, lower, upper))
    return CoefficientIntervals(coef, error, lower, upper, level, method)


def _deviations(coefs: Array, ddof: int = 0) -> Array:
    """Standard deviations over the refits; squares of huge or tiny numbers leave the range of numbers."""
    size = np.abs(coefs).max(axis=0)
    size = np.where(size > 0, size, 1.0)
    return np.asarray(size * (coefs / size).std(axis=0, ddof=ddof))


def _refits(
    model: LatentRegression,
    X: Array,
    Y: Array,
    weights: Array | None,
    draws: Iterable[NDArray],
    n_jobs: int | None,
) -> Array:
    """Coefficients (refits, q, p) on each selection of rows."""

    def coefficients(rows: NDArray) -> Array:
        return coef_2d(refit(model, X[rows], Y[rows], None if weights is None else weights[rows]))

    return np.array(Parallel(n_jobs=n_jobs)(delayed(coefficients)(rows) for rows in draws))
