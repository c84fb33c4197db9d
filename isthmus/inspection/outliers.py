"""Rows to look at: extreme within the model (T2), outside it (Q), pulling at it (leverage)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from isthmus._linalg import Array
from isthmus.inspection._model import (
    check_level,
    check_rows,
    orthonormal_scores,
    row_weights,
    standardise,
)
from isthmus.regression import LatentRegression

# Below this power of Jackson and Mudholkar the normal approximation fails; a scaled chi-square is used.
_SMALLEST_POWER = 0.1


@dataclass(frozen=True)
class OutlierStatistic:
    """A statistic of each row and the limit that ordinary rows pass with probability ``1 - level``.

    Attributes
    ----------
    values : ndarray of shape (n_samples,)
    limit : float
    level : float
    """

    values: Array
    limit: float
    level: float

    @property
    def outlying(self) -> np.ndarray:
        """Rows above the limit, a boolean array."""
        return self.values > self.limit


def hotelling_t2(
    model: LatentRegression, X: ArrayLike, *, level: float = 0.95, training: bool = False
) -> OutlierStatistic:
    r"""Compute Hotelling's T2, the squared Mahalanobis distance of the scores from their mean.

    .. math::
        T^2_i = (n - 1)\, t_i^\top (T^\top T)^{-1} t_i, \qquad
        \text{limit} = \frac{k (n^2 - 1)}{n (n - k)} F_{k,\, n-k}

    with the scores of the training rows in ``T``, ``k`` components and ``n`` training rows (their
    total weight). The limit is exact for a *new* row if the scores are Gaussian and their
    directions do not depend on the rows; a row of the fit has
    :math:`T^2 \sim \frac{(n-1)^2}{n} \mathrm{Beta}(\frac k2, \frac{n-k-1}2)` ([TYM1992]_).

    Parameters
    ----------
    model : fitted PCR, PLS, ReducedRankRegression, StiefelRegression or ManifoldPLS
    X : array-like of shape (n_samples, n_features)
        Rows to judge.
    level : float, default=0.95
        Share of ordinary rows below the limit.
    training : bool, default=False
        Whether ``X`` are the rows of the fit: the limit is then that of the Beta law.

    Returns
    -------
    statistic : OutlierStatistic
    """
    check_level(level)
    X = check_rows(model, X)
    k, n = model.n_components_, model.weight_
    if k == 0:
        return OutlierStatistic(np.zeros(len(X)), 0.0, level)
    if n <= k + training:
        raise ValueError(
            f"The training rows have total weight {n:g}, must be > {k + training} for a limit of "
            f"{k} components; weights count rows here, so rescale them or keep fewer components."
        )
    S = orthonormal_scores(model, standardise(model, X) @ model.x_rotations_)
    limit = t2_limit(n, k, level, training=training)
    return OutlierStatistic((n - 1) * (S**2).sum(axis=1), limit, level)


def t2_limit(n: float, k: int, level: float, *, training: bool) -> float:
    """Limit of T2 in ``k`` directions from ``n`` rows, for those rows or for new ones."""
    if training:
        return float((n - 1) ** 2 / n * stats.beta.ppf(level, k / 2, (n - k - 1) / 2))
    return float(k * (n**2 - 1) / (n * (n - k)) * stats.f.ppf(level, k, n - k))


def q_residuals(
    model: LatentRegression,
    X: ArrayLike,
    X_train: ArrayLike | None = None,
    *,
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
) -> OutlierStatistic:
    r"""Compute Q, or squared prediction error: the squared distance of a row from the model's subspace.

    .. math::
        Q_i = \|z_i - P t_i\|^2, \qquad
        \text{limit} = \theta_1 \Bigl[ 1 + \frac{c\, h_0 \sqrt{2 \theta_2}}{\theta_1}
        + \frac{\theta_2 h_0 (h_0 - 1)}{\theta_1^2} \Bigr]^{1 / h_0}, \qquad
        h_0 = 1 - \frac{2 \theta_1 \theta_3}{3 \theta_2^2}

    with ``z`` in the model's means and scales, ``c`` the normal quantile and :math:`\theta_m =
    \operatorname{tr} \Sigma^m` of the covariance :math:`\Sigma` of the residuals of the training
    rows ([JM1979]_). They are divided by ``n - 1 - k``: the fit has taken ``k`` directions out of
    them. Where :math:`h_0 < 0.1`, which a few large eigenvalues and many small ones bring about, a
    shifted chi-square with the same three cumulants takes over ([I1961]_): the power would leave
    0.2 % instead of 1 % above a 99 % limit.

    Gaussian residuals are assumed. Of new rows of low-rank Gaussian data 4 to 7 % were seen above
    the 95 % limit for n = 50 to 500 and p = 8 to 50, 8 % at n = 30, and 1 to 6 % for n = 50 and
    p = 200. The rows of the fit themselves pass it less often.

    Parameters
    ----------
    model : fitted PCR, PLS, ReducedRankRegression, StiefelRegression or ManifoldPLS
    X : array-like of shape (n_samples, n_features)
        Rows to judge.
    X_train : array-like of shape (n_training_samples, n_features), default=None
        The rows of the fit, from which the limit comes; the model does not keep them. None says
        that ``X`` are these rows.
    level : float, default=0.95
        Share of ordinary rows below the limit.
    sample_weight : array-like of shape (n_training_samples,), default=None
        Weights of the training rows.

    Returns
    -------
    statistic : OutlierStatistic

    Examples
    --------
    >>> from isthmus import PLS
    >>> from isthmus.datasets import make_low_rank_regression
    >>> from isthmus.inspection import q_residuals
    >>> X, Y, _ = make_low_rank_regression(100, 8, 3, collinearity=1.0, random_state=0)
    >>> model = PLS(3).fit(X, Y)
    >>> strange = X[:3].copy()
    >>> strange[1, 4] += 2
    >>> q_residuals(model, strange, X).outlying
    array([False,  True, False])
    """
    check_level(level)
    E = _residuals(model, X)
    E_train = E if X_train is None else _residuals(model, X_train)
    weights = row_weights(sample_weight, E_train)
    dof = weights.sum() - 1 - model.n_components_
    if dof <= 0:
        raise ValueError(
            f"{weights.sum():g} training rows leave {dof:g} degrees of freedom after "
            f"{model.n_components_} components, must be > 0: keep fewer components."
        )
    values = np.linalg.svd(E_train * np.sqrt(weights)[:, None], compute_uv=False) ** 2 / dof
    return OutlierStatistic((E**2).sum(axis=1), _quadratic_form_quantile(values, level), level)


def leverage(
    model: LatentRegression, X: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> Array:
    r"""Compute the leverage of rows in the regression on the scores.

    .. math::
        h_i = w_i \Bigl( \frac1n + t_i^\top (T^\top T)^{-1} t_i \Bigr)

    with the training scores ``T`` (weighted by :math:`w`) and ``n`` their total weight. Over the
    training rows it sums to ``k + 1``. Where the scores do not depend on ``y`` (PCR), and for PLS
    with all components, it is the diagonal of the hat matrix; otherwise the one given the scores.

    Parameters
    ----------
    model : fitted PCR, PLS, ReducedRankRegression, StiefelRegression or ManifoldPLS
    X : array-like of shape (n_samples, n_features)
        Rows of the fit, or new ones.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights :math:`w_i` of these rows; None means 1.

    Returns
    -------
    leverage : ndarray of shape (n_samples,)
    """
    X = check_rows(model, X)
    weights = row_weights(sample_weight, X)
    S = orthonormal_scores(model, standardise(model, X) @ model.x_rotations_)
    return weights * (1 / model.weight_ + (S**2).sum(axis=1))


def _residuals(model: LatentRegression, X: ArrayLike) -> Array:
    Z = standardise(model, check_rows(model, X))
    return Z - (Z @ model.x_rotations_) @ model.x_loadings_.T


def _quadratic_form_quantile(eigenvalues: Array, level: float) -> float:
    """Quantile of a sum of chi-squares with these weights, from its first three cumulants."""
    first, second, third = ((eigenvalues**m).sum() for m in (1, 2, 3))
    if second == 0:
        return 0.0
    h = 1 - 2 * first * third / (3 * second**2)
    if h < _SMALLEST_POWER:  # a few large weights and many small: no power makes it normal
        # A chi-square with the same first three cumulants, shifted and scaled.
        dof = second**3 / third**2
        return float(first + (stats.chi2.ppf(level, dof) - dof) * third / second)
    # Jackson and Mudholkar: the h-th power of the sum is nearly normal.
    bracket = 1 + second * h * (h - 1) / first**2
    bracket += stats.norm.ppf(level) * h * np.sqrt(2 * second) / first
    return float(first * max(bracket, 0.0) ** (1 / h))
