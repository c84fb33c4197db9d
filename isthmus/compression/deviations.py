"""Predictive deviations of a Gaussian process whose mean has been compressed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.gaussian_process import GaussianProcessRegressor

from isthmus._linalg import Array, row_blocks
from isthmus.expansion import Expansion
from isthmus.kernels import gram
from isthmus.kernels.gram import gram_diagonal, take

_JITTER = 1e-10  # of the mean variance of a point
_BLOCK = 2**22  # kernel values at a time


@dataclass
class Deviations:
    r"""Standard deviations of a process that knows its training rows through few points.

    With points Z, training rows X and their noise :math:`\Lambda`, [QR2005]_ Eq. 20b (the deterministic
    training conditional) has

    .. math::
        v(x) = k(x, x) - k_Z(x)' \bigl( K_{ZZ}^{-1}
        - (K_{ZZ} + K_{ZX} \Lambda^{-1} K_{XZ})^{-1} \bigr) k_Z(x),

    the exact variance if Z are all rows. Far from Z it is that of the prior.
    """

    points: Any
    kernel: Any
    explained: Array  # (r, r), the difference of the two inverses
    noise: float  # what the model's own kernel adds to each new row
    scale: Array  # of the outputs, (q,)

    @classmethod
    def of(cls, model: Any, expansion: Expansion) -> Deviations | None:
        """Those of a Gaussian process with the points of an expansion; None of other models."""
        if not isinstance(model, GaussianProcessRegressor) or not expansion.n_points:
            return None
        kernel, X, points = expansion.kernel, model.X_train_, expansion.points
        own = np.asarray(model.kernel_.diag(X), dtype=np.float64)
        white = own - np.asarray(gram_diagonal(kernel, X), dtype=np.float64)
        levels = np.broadcast_to(np.asarray(model.alpha, dtype=np.float64), white.shape) + white
        if not (levels > 0).all():
            return None
        K = np.asarray(gram(kernel, points), dtype=np.float64)
        r = len(K)
        K[np.diag_indices(r)] += _JITTER * max(float(K.trace()) / r, np.finfo(float).tiny)
        data = np.zeros((r, r))
        for part in row_blocks(len(levels), max(1, _BLOCK // r)):
            across = np.asarray(gram(kernel, take(X, part), points), dtype=np.float64)
            data += across.T @ (across / levels[part][:, None])
        identity = np.eye(r)
        explained = cho_solve(cho_factor(K), identity) - cho_solve(cho_factor(K + data), identity)
        scale = np.atleast_1d(np.asarray(model._y_train_std, dtype=np.float64))
        return cls(points, kernel, explained, float(white[0]), scale)

    def __call__(self, X: Any, one_output: bool) -> Array:
        """Standard deviations (n,), or (n, q) for several outputs."""
        variances = np.asarray(gram_diagonal(self.kernel, X), dtype=np.float64) + self.noise
        for part in row_blocks(len(variances), max(1, _BLOCK // len(self.points))):
            k = np.asarray(gram(self.kernel, take(X, part), self.points), dtype=np.float64)
            variances[part] -= np.einsum("ij,ij->i", k @ self.explained, k)
        found = np.sqrt(np.maximum(variances, 0.0))[:, None] * self.scale
        return found[:, 0] if one_output else found
