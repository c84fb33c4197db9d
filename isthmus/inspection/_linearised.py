"""How the coefficients move with the outputs, to first order: the Jacobian of a fit by refits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from numpy.random import RandomState
from sklearn.utils import check_random_state

from isthmus._linalg import EPS, Array, power_of_two
from isthmus.inspection._model import coef_2d, refit
from isthmus.regression import LatentRegression

_STEP = 1e-5  # of each output's norm: central differences then err by about 1e-10 either way


@dataclass(frozen=True)
class Probes:
    """In how many directions the outputs are moved at most, and how the refits are run."""

    n_max: int
    random_state: int | RandomState | None
    n_jobs: int | None

    def directions(self, rank: int, n_targets: int) -> Array:
        """Moves (m, rank, q) whose outer products sum to one: a basis, or a random part of one.

        The part is scaled up, so that the sum is one in the mean.
        """
        size = rank * n_targets
        if size <= self.n_max:
            basis = np.eye(size)
        else:
            normal = check_random_state(self.random_state).standard_normal((size, self.n_max))
            basis = np.linalg.qr(normal)[0].T * np.sqrt(size / self.n_max)
        return basis.reshape(-1, rank, n_targets)


@dataclass(frozen=True)
class Linearised:
    """A fit to first order in its outputs.

    ``slopes`` (m, q, p) are the changes of the coefficients by independent errors of size
    ``error_scale`` (q,), so that the squared change of a prediction, summed over them, is its
    variance. ``dof`` (q,) is the trace of the Jacobian J of each target, ``residual_dof`` the
    smaller of ``weight - dof`` and the squared norm of I - J, but not less than least squares leaves.
    """

    weight: float
    error_scale: Array
    slopes: Array
    dof: Array
    residual_dof: Array


def linearise(
    model: LatentRegression, X: Array, Y: Array, weights: Array, probes: Probes
) -> Linearised:
    """Move the outputs of the fit and see how its coefficients follow."""
    unit = power_of_two(Y)  # squares of huge or tiny outputs leave the range of numbers
    Y = Y / unit
    y_mean = model.y_mean_ / unit
    coef = coef_2d(model) / unit
    roots = np.sqrt(weights)[:, None]
    centred = X - model.x_mean_
    # A fit sees Y through X'Y: only moves in the range of X change it, and the mean, known apart.
    # (Scaled targets are seen through their deviations too; that small part is left out.)
    U, d, Vt = np.linalg.svd(roots * centred, full_matrices=False)
    keep = d > max(X.shape) * EPS * d.max(initial=0.0)
    residuals = roots * (Y - y_mean - centred @ coef.T)
    scale = np.sqrt((residuals**2).sum(axis=0) / weights.sum())
    scale[scale <= 8 * EPS * np.abs(y_mean)] = 0.0  # a constant target, but for rounding
    norms = np.sqrt(weights @ (Y - y_mean) ** 2)

    directions = probes.directions(int(keep.sum()), Y.shape[1])
    to_rows = U[:, keep] / roots
    moves = (to_rows @ direction * scale for direction in directions)  # (n, q) each
    slopes = _slopes(model, X, Y, weights, moves, norms, probes.n_jobs)
    followed = np.einsum("rp,mqp->mrq", (d[:, None] * Vt)[keep], slopes)
    size = np.where(scale > 0, scale, 1.0)
    trace = 1 + (directions * followed).sum(axis=(0, 1)) / size  # one for the mean
    squares = 1 + ((followed / size) ** 2).sum(axis=(0, 1))
    weight = float(weights.sum())
    # For a projection both are the same. The second is the expected square of the residuals, less
    # than the first for a ridge; where J is large (PLS, late components) it is not to be trusted.
    left = np.minimum(weight - trace, weight - 2 * trace + squares)
    # A fit in the range of X leaves at least the residuals of least squares.
    left = np.maximum(left, weight - 1 - keep.sum())
    return Linearised(weight, scale * unit, slopes * unit, trace, left)


def _slopes(
    model: LatentRegression,
    X: Array,
    Y: Array,
    weights: Array,
    moves: Iterable[Array],
    norms: Array,
    n_jobs: int | None,
) -> Array:
    """Change of the coefficients per move of the outputs (m, q, p), by central differences."""
    shape = coef_2d(model).shape
    each = np.where(norms > 0, norms, np.inf)  # a constant target does not move

    def slope(move: Array) -> Array:
        size = np.linalg.norm(move / each)  # by the unit of each output
        if size == 0:
            return np.zeros(shape)
        step = _STEP / size
        ahead, behind = (coef_2d(refit(model, X, Y + h * move, weights)) for h in (step, -step))
        return (ahead - behind) / (2 * step)

    slopes = Parallel(n_jobs=n_jobs)(delayed(slope)(move) for move in moves)
    return np.array(slopes).reshape(-1, *shape)
