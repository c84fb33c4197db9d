"""Regression problems whose answer is known: the planted map comes back with the data."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state, check_scalar

from isthmus._validation import check_option

Array = NDArray[np.float64]


def make_low_rank_regression(
    n_samples: int = 100,
    n_features: int = 20,
    n_targets: int = 10,
    *,
    rank: int = 3,
    collinearity: float = 0.0,
    noise: float = 0.1,
    bias: float | ArrayLike = 0.0,
    random_state: int | RandomState | None = None,
) -> tuple[Array, Array, Array]:
    r"""Make Gaussian inputs of chosen collinearity and their images under a random map of chosen rank.

    .. math::
        X = Z \operatorname{diag}(s) Q^\top, \quad s_i \propto e^{-c\,i}, \quad i = 0, \dots, p - 1,
        \quad Y = X C^\top + b + \text{noise}

    with independent standard normal entries in ``Z``, a uniformly drawn orthogonal ``Q`` and
    :math:`\operatorname{rank} C = r`. Two scales are fixed, so that ``noise`` means the same
    whatever the other arguments: :math:`\sum_i s_i^2 = p` (the inputs have variance one on average)
    and :math:`\operatorname{tr} C \operatorname{cov}(x) C^\top = q` (so have the targets without
    noise).

    Parameters
    ----------
    n_samples, n_features, n_targets : int, default=100, 20, 10
        Numbers of rows, of inputs and of targets.
    rank : int, default=3
        Rank ``r`` of the map, at most ``min(n_features, n_targets)``.
    collinearity : float, default=0.0
        Rate ``c`` at which the spectrum of the inputs decays: each principal direction has a
        standard deviation :math:`e^{-c}` times that of the one before it, so that the covariance of
        the inputs has condition number :math:`e^{2c(p-1)}`. 0 means independent inputs.
    noise : float, default=0.1
        Standard deviation of the Gaussian noise on every target.
    bias : float or array-like of shape (n_targets,), default=0.0
        Intercept of the targets.
    random_state : int, RandomState instance or None, default=None
        The same seed gives the same problem.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    Y : ndarray of shape (n_samples, n_targets)
    coef : ndarray of shape (n_targets, n_features)
        The planted map: ``X @ coef.T + bias`` are the targets without noise.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.datasets import make_low_rank_regression
    >>> X, Y, coef = make_low_rank_regression(50, 8, 5, rank=2, noise=0.0, random_state=0)
    >>> X.shape, Y.shape, int(np.linalg.matrix_rank(coef))
    ((50, 8), (50, 5), 2)
    >>> bool(np.allclose(Y, X @ coef.T))
    True
    """
    _check_sizes(n_samples, n_features, n_targets, rank, noise)
    check_scalar(collinearity, "collinearity", Real, min_val=0)
    intercept = np.asarray(bias, dtype=np.float64)
    if intercept.shape not in ((), (n_targets,)):
        raise ValueError(f"bias.shape == {intercept.shape}, must be () or ({n_targets},).")
    rng = check_random_state(random_state)
    decay = np.exp(-collinearity * np.arange(n_features))
    deviations = decay * np.sqrt(n_features / (decay @ decay))
    # Equal deviations need no rotation: the law is the same, and p x p random numbers are saved.
    basis = _random_orthogonal(rng, n_features) if collinearity > 0 else None
    X = _gaussian_inputs(rng, n_samples, deviations, basis)
    coef = _low_rank(rng, n_targets, n_features, rank)
    coef *= np.sqrt(n_targets) / _root_variance(coef, deviations, basis)
    return X, _noisy_targets(rng, X, coef, noise) + intercept, coef


def make_kappa_regression(
    n_samples: int = 400,
    *,
    kappa: float,
    rank: int | None = None,
    noise: float = 1.0,
    n_features: int = 20,
    n_targets: int = 20,
    random_state: int | RandomState | None = None,
) -> tuple[Array, Array, Array]:
    r"""Make the family of collinear problems of [B2006]_ Sec. 2.6.1 and figure 2.4.

    .. math::
        X = Z \operatorname{diag}(s) Q^\top, \qquad s_i = e^{-i / 2^\kappa}, \quad i = 1, \dots, p,
        \qquad Y = X F^\top + \text{noise}

    with independent standard normal entries in ``Z`` and a uniformly drawn orthogonal ``Q``. Small
    ``kappa`` means collinear inputs; for ``kappa`` of 15 or more the spectrum is flat. The paper
    takes ``kappa`` from 1 to 14, 400 rows to learn from and 100 rows without noise to test on: draw
    500 rows and use ``X[400:] @ coef.T`` as the test targets.

    Parameters
    ----------
    n_samples : int, default=400
        Number of rows.
    kappa : float
        Exponent of the decay: the standard deviation falls to 1/e after :math:`2^\kappa`
        directions.
    rank : int, default=None
        Rank of ``F``. None draws its entries from the standard normal distribution, full rank as in
        the paper; a rank gives a product of two Gaussian factors whose entries have the same
        variance.
    noise : float, default=1.0
        Standard deviation of the Gaussian noise. The paper states variances, 0.1 and 1.
    n_features, n_targets : int, default=20, 20
        Numbers of inputs and of targets.
    random_state : int, RandomState instance or None, default=None
        The same seed gives the same problem.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    Y : ndarray of shape (n_samples, n_targets)
    coef : ndarray of shape (n_targets, n_features)
        The planted map ``F``: ``X @ coef.T`` are the targets without noise.
    """
    _check_sizes(n_samples, n_features, n_targets, rank, noise)
    check_scalar(kappa, "kappa", Real)
    if not np.isfinite(kappa):
        raise ValueError(f"kappa == {kappa}, must be finite; 15 or more is a flat spectrum.")
    rng = check_random_state(random_state)
    deviations = np.exp(-np.arange(1, n_features + 1) / 2.0**kappa)
    X = _gaussian_inputs(rng, n_samples, deviations, _random_orthogonal(rng, n_features))
    if rank is None:
        coef = rng.standard_normal((n_targets, n_features))
    else:
        coef = _low_rank(rng, n_targets, n_features, rank)
    return X, _noisy_targets(rng, X, coef, noise), coef


def make_curves(
    n_samples: int = 300,
    n_features: int = 15,
    *,
    noise_outputs: int = 0,
    noise: float = 1.0,
    offset: float = 5.0,
    directions: str = "axes",
    random_state: int | RandomState | None = None,
) -> tuple[Array, Array, Array]:
    r"""Make the ``curves`` of [KP2008]_ Sec. 4.1: an output that depends on two directions of the inputs.

    .. math::
        y = \operatorname{sign}(b_1^\top x + \epsilon_1)\, \log |b_2^\top x + a_0 + \epsilon_2|, \qquad
        x \sim N(0, I), \quad \epsilon_1, \epsilon_2 \sim N(0, s^2)

    The paper does not state :math:`b_1, b_2, a_0`; here the directions have the entries 1 in the
    first two and 1 in the last two places, [W2008]_ has such, or are drawn from N(0, I), which
    drowns less of the sign in noise; ``a_0`` is 5.

    Parameters
    ----------
    n_samples, n_features : int, default=300, 15
        Numbers of rows and of inputs, at least four inputs.
    noise_outputs : int, default=0
        White noise put beside the output as further outputs; the paper takes 4.
    noise : float, default=1.0
        Standard deviation ``s`` inside the sign and the logarithm.
    offset : float, default=5.0
        The constant ``a_0``.
    directions : {"axes", "random"}, default="axes"
        Sums of two inputs each, or drawn from N(0, I).
    random_state : int, RandomState instance or None, default=None
        The same seed gives the same problem.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,), or (n_samples, 1 + noise_outputs) with noise outputs
    directions : ndarray of shape (2, n_features)
        The two directions, of unit length: the plane that a projection should find.
    """
    check_scalar(n_samples, "n_samples", Integral, min_val=1)
    check_scalar(n_features, "n_features", Integral, min_val=4)
    check_scalar(noise_outputs, "noise_outputs", Integral, min_val=0)
    check_scalar(noise, "noise", Real, min_val=0)
    check_scalar(offset, "offset", Real)
    check_option("directions", directions, ("axes", "random"))
    rng = check_random_state(random_state)
    if directions == "random":
        plane = rng.standard_normal((2, n_features))
    else:
        plane = np.zeros((2, n_features))
        plane[0, :2] = plane[1, -2:] = 1.0
    X = rng.standard_normal((n_samples, n_features))
    inner = X @ plane.T + noise * rng.standard_normal((n_samples, 2))
    y = np.sign(inner[:, 0]) * np.log(np.abs(inner[:, 1] + offset))
    if noise_outputs:
        y = np.column_stack([y, rng.standard_normal((n_samples, noise_outputs))])
    return X, y, plane / np.linalg.norm(plane, axis=1)[:, None]


def _check_sizes(n: int, p: int, q: int, rank: int | None, noise: float) -> None:
    check_scalar(n, "n_samples", Integral, min_val=1)
    check_scalar(p, "n_features", Integral, min_val=1)
    check_scalar(q, "n_targets", Integral, min_val=1)
    if rank is not None:
        check_scalar(rank, "rank", Integral, min_val=1, max_val=min(p, q))
    check_scalar(noise, "noise", Real, min_val=0)


def _gaussian_inputs(rng: RandomState, n: int, deviations: Array, basis: Array | None) -> Array:
    """Rows with the given standard deviations along the columns of a basis."""
    scores = rng.standard_normal((n, len(deviations))) * deviations
    return scores if basis is None else scores @ basis.T


def _root_variance(coef: Array, deviations: Array, basis: Array | None) -> float:
    """Square root of the summed variance of the targets without noise."""
    along_basis = coef if basis is None else coef @ basis
    return float(np.linalg.norm(along_basis * deviations))


def _random_orthogonal(rng: RandomState, p: int) -> Array:
    # Uniform up to the signs of its columns, and those are lost in the symmetric scores.
    return np.linalg.qr(rng.standard_normal((p, p)))[0]


def _low_rank(rng: RandomState, q: int, p: int, rank: int) -> Array:
    """A product of two Gaussian factors, entries of variance one."""
    return rng.standard_normal((q, rank)) @ rng.standard_normal((rank, p)) / np.sqrt(rank)


def _noisy_targets(rng: RandomState, X: Array, coef: Array, noise: float) -> Array:
    return X @ coef.T + noise * rng.standard_normal((len(X), len(coef)))
