"""Predictive deviations of a Gaussian process whose mean has been compressed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from sklearn.gaussian_process import GaussianProcessRegressor

from isthmus._linalg import BLOCK, Array, row_blocks
from isthmus._saved import saved
from isthmus._validation import check_memory
from isthmus.expansion import Expansion
from isthmus.kernels import gram, gram_diagonal, take

_VARIANCE_JITTER = 1e-10  # of the mean variance of a point


@saved(points="n .", root="n n", scale="q")
@dataclass
class Deviations:
    r"""Standard deviations of a process that sees its training rows through few points.

    With points Z, training rows X and their noise :math:`\Lambda`, [QR2005]_ Eq. 20b (the deterministic
    training conditional) has

    .. math::
        v(x) = k(x, x) - k_Z(x)' \bigl( K_{ZZ}^{-1}
        - (K_{ZZ} + K_{ZX} \Lambda^{-1} K_{XZ})^{-1} \bigr) k_Z(x),

    the exact variance if Z are all rows. Far from Z it is that of the prior.
    """

    points: Any
    kernel: Any
    root: Array  # (r, r), root of the difference of the two inverses
    noise: float  # what the model's own kernel adds to each new row
    scale: Array  # of the outputs, (q,)

    @classmethod
    def of(cls, model: Any, expansion: Expansion) -> Deviations | None:
        """Those of a Gaussian process with the points of an expansion; None of other models."""
        if not isinstance(model, GaussianProcessRegressor) or not expansion.n_points:
            return None
        white = _white_noise(model, expansion)
        levels = np.broadcast_to(np.asarray(model.alpha, dtype=np.float64), white.shape) + white
        if not (levels > 0).all():
            return None
        root = _root_of_difference(expansion, model.X_train_, 1.0 / levels)
        scale = np.atleast_1d(np.asarray(model._y_train_std, dtype=np.float64))
        return cls(expansion.points, expansion.kernel, root, float(white[0]), scale)

    @classmethod
    def of_latent(cls, binary: Any, expansion: Expansion) -> Deviations | None:
        """Those of the latent function of two classes: its noise is one over the curvature at the mode."""
        if not expansion.n_points:
            return None
        white = float(_white_noise(binary, expansion)[0])
        curvature = np.asarray(binary.pi_ * (1.0 - binary.pi_), dtype=np.float64)
        root = _root_of_difference(expansion, binary.X_train_, curvature)
        return cls(expansion.points, expansion.kernel, root, white, np.ones(1))

    def covariance(self, X: Any, one_output: bool) -> Array:
        """Covariances (n, n) of new rows, or (n, n, q) for several outputs."""
        n = len(X)
        check_memory(16.0 * n * n, f"The covariance of {n} rows", "predict fewer rows at a time.")
        along = np.asarray(gram(self.kernel, X, self.points), dtype=np.float64) @ self.root
        K = np.asarray(gram(self.kernel, X), dtype=np.float64) - along @ along.T
        K[np.diag_indices(n)] += self.noise
        found = K[:, :, None] * self.scale**2
        return found[:, :, 0] if one_output else found

    def __call__(self, X: Any, one_output: bool) -> Array:
        """Standard deviations (n,), or (n, q) for several outputs."""
        variances = np.asarray(gram_diagonal(self.kernel, X), dtype=np.float64) + self.noise
        for part in row_blocks(len(variances), max(1, BLOCK // len(self.points))):
            k = np.asarray(gram(self.kernel, take(X, part), self.points), dtype=np.float64)
            along = k @ self.root
            variances[part] -= np.einsum("ij,ij->i", along, along)
        found = np.sqrt(np.maximum(variances, 0.0))[:, None] * self.scale
        return found[:, 0] if one_output else found


def _white_noise(model: Any, expansion: Expansion) -> Array:
    """What the model's own kernel adds to each training row, which the expansion's does not."""
    own = np.asarray(model.kernel_.diag(model.X_train_), dtype=np.float64)
    return own - np.asarray(gram_diagonal(expansion.kernel, model.X_train_), dtype=np.float64)


def _root_of_difference(expansion: Expansion, X: Any, precision: Array) -> Array:
    r"""A root of the difference of the two inverses, with the precision of each training row.

    With :math:`K_{ZZ} = L L'` and :math:`L^{-1} K_{ZX} \Lambda^{-1} K_{XZ} L^{-T} = U B U'` the difference
    is :math:`L^{-T} U B (I + B)^{-1} U' L^{-1}`. Of two inverses that are subtracted, points close together
    would leave half of the digits.
    """
    kernel, points = expansion.kernel, expansion.points
    K = np.asarray(gram(kernel, points), dtype=np.float64)
    r = len(K)
    K[np.diag_indices(r)] += _VARIANCE_JITTER * max(float(K.trace()) / r, np.finfo(float).tiny)
    L = cholesky(K, lower=True)
    data = np.zeros((r, r))
    for part in row_blocks(len(precision), max(1, BLOCK // r)):
        across = np.asarray(gram(kernel, take(X, part), points), dtype=np.float64)
        white = solve_triangular(L, across.T, lower=True) * np.sqrt(precision[part])
        data += white @ white.T
    values, vectors = np.linalg.eigh(data)
    shares = np.maximum(values, 0.0) / (1.0 + np.maximum(values, 0.0))
    return np.asarray(solve_triangular(L, vectors * np.sqrt(shares), lower=True, trans="T"))
