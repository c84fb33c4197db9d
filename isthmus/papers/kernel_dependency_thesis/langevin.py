"""The matrix Langevin law, the normal law of the Stiefel manifold, [B2006]_ Sec. 2.5.2.

The thesis names it as the natural proposal and avoids it because it cannot be drawn directly; by rejection
it can. ``geodesic_proposal`` of ``sampler.py`` is what the thesis takes instead.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, ive

from isthmus._geometry import Stiefel
from isthmus._linalg import Array


def von_mises_fisher(direction: ArrayLike, rng: np.random.Generator) -> Array:
    r"""Draw a unit vector with density :math:`\propto e^{f'x}` on the sphere, by rejection [W1994]_."""
    f = np.asarray(direction, dtype=float)
    d, kappa = len(f), float(np.linalg.norm(f))
    if kappa == 0.0:
        x = rng.standard_normal(d)
        return x / np.linalg.norm(x)
    mean = f / kappa
    if d == 1:
        return mean if rng.random() < 1 / (1 + np.exp(-2 * kappa)) else -mean
    cosine = _vmf_cosine(d, kappa, rng)
    side = rng.standard_normal(d)
    side -= mean * (mean @ side)
    side /= np.linalg.norm(side)
    return cosine * mean + np.sqrt(max(0.0, 1 - cosine**2)) * side


def _vmf_cosine(d: int, kappa: float, rng: np.random.Generator) -> float:
    """Cosine of the angle to the mean direction."""
    b = (d - 1) / (2 * kappa + np.sqrt(4 * kappa**2 + (d - 1) ** 2))
    x0 = (1 - b) / (1 + b)
    c = kappa * x0 + (d - 1) * np.log(1 - x0**2)
    while True:
        z = rng.beta((d - 1) / 2, (d - 1) / 2)
        w = (1 - (1 + b) * z) / (1 - (1 - b) * z)
        if kappa * w + (d - 1) * np.log(1 - x0 * w) - c >= np.log(rng.random()):
            return float(w)


def matrix_langevin(F: ArrayLike, rng: np.random.Generator, *, max_tries: int = 100_000) -> Array:
    r"""Draw a point of St(n, r) with density :math:`\propto e^{\operatorname{tr} F'X}`, by rejection.

    Columns are drawn one after the other, each from the von Mises-Fisher law on what the earlier
    ones leave free; the product of their normalising constants decides on acceptance ([H2009]_
    Sec. 2.2). The draws are independent and exact. Acceptance falls where F has several large
    singular values of which the directions compete.

    Parameters
    ----------
    F : array of shape (n_rows, n_columns)
        The mode is its polar factor, its singular values are the concentrations.
    rng : numpy.random.Generator
        Source of randomness.
    max_tries : int, default=100000
        Proposals before giving up with an error.
    """
    F = np.asarray(F, dtype=float)
    n, r = F.shape
    Stiefel(n, r)  # checks the shape
    U, d, Vt = np.linalg.svd(F, full_matrices=False)
    H = U * d
    bound = sum(_log_bessel(n - j, d[j]) for j in range(r))
    for _ in range(max_tries):
        X, mass = np.zeros((n, r)), 0.0
        for j in range(r):
            free = np.linalg.qr(X[:, :j], mode="complete")[0][:, j:] if j else np.eye(n)
            h = free.T @ H[:, j]
            X[:, j] = free @ von_mises_fisher(h, rng)
            mass += _log_bessel(n - j, float(np.linalg.norm(h)))
        if np.log(rng.random()) < mass - bound:
            return X @ Vt
    raise RuntimeError(
        f"no proposal of {max_tries} was accepted: the concentrations {d.round(1).tolist()} are too "
        "large for rejection, use hmc_step with a StiefelFlow."
    )


def _log_bessel(dimension: int, kappa: float) -> float:
    """Logarithm of the mean of exp(f'x) over the unit sphere, increasing in kappa = ||f||."""
    if kappa < 1e-10:
        return 0.0
    order = dimension / 2 - 1
    if dimension == 1:
        return float(np.logaddexp(kappa, -kappa) - np.log(2))
    bessel = np.log(ive(order, kappa)) + kappa
    return float(gammaln(order + 1) + order * np.log(2 / kappa) + bessel)
