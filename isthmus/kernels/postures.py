"""A kernel of robot postures: how near are the points of two arms?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.kernels.base import VectorKernel, as_vectors


class PoseKernel(VectorKernel):
    r"""Inner products of the points of an arm, :math:`k(q, q') = \sum_k \lambda_k \kappa(p_k(q), p_k(q'))`.

    The base kernel :math:`\kappa` is the inner product, whose feature map is explicit: the stacked
    :math:`\sqrt{\lambda_k} p_k(q)` (:meth:`features`); or a Gaussian :math:`\exp(-|p - p'|^2 / (2 w^2))`.
    [B2006]_ Sec. 6.2.

    Parameters
    ----------
    arm : object
        Has ``points(q)`` of shape (n, n_points, 3), and ``jacobians(q)`` of shape
        (n, n_points, 3, n_joints) where gradients are wanted.
    weights : sequence of float, default=(0, 0, 1, 1, 1, 1, 1)
        :math:`\lambda_k \ge 0`. The default counts elbow and wrist of a PA-10 twice, its tip once.
    base : {"linear", "gaussian"}, default="linear"
        The base kernel.
    width : float, default=0.5
        Width w of the Gaussian in metres.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.applications.imitation import pa10
    >>> k = PoseKernel(pa10())
    >>> q = np.radians([[0, 90, 0, -90, 0, 0, 0]])
    >>> k(q).round(4).item(), k.features(q).shape
    (1.8489, (1, 21))
    """

    has_input_gradient = True

    def __init__(
        self,
        arm: Any,
        weights: Any = (0, 0, 1, 1, 1, 1, 1),
        base: str = "linear",
        width: float = 0.5,
    ):
        self.arm = arm
        self.weights = weights
        self.base = base
        self.width = width

    def features(self, X: Any) -> NDArray:
        """The explicit map of the linear base kernel, (n, 3 n_points)."""
        points = self.arm.points(as_vectors(X)) * np.sqrt(self._weights())[:, None]
        return points.reshape(len(points), -1)

    def feature_jacobians(self, X: Any) -> NDArray:
        """Derivatives of the explicit map, (n, 3 n_points, n_joints)."""
        J = self.arm.jacobians(as_vectors(X)) * np.sqrt(self._weights())[:, None, None]
        return J.reshape(len(J), -1, J.shape[-1])

    def diag(self, X: Any) -> NDArray:
        if self.base == "gaussian":
            return np.full(len(as_vectors(X)), self._weights().sum())
        return (self.features(X) ** 2).sum(axis=1)

    def _operands(self, X: NDArray, Y: NDArray | None) -> tuple[NDArray, NDArray]:
        if self.base == "linear":
            A = self.features(X)
            return A, A if Y is None else self.features(Y)
        A = self._flat(X)
        return A, A if Y is None else self._flat(Y)

    def _flat(self, X: Any) -> NDArray:
        points = self.arm.points(as_vectors(X))
        self._weights()
        return points.reshape(len(points), -1)

    def _fill(self, A: NDArray, B: NDArray, out: NDArray) -> None:
        if self.base == "linear":
            np.matmul(A, B.T, out=out)
            return
        out[...] = 0.0
        for k, weight in enumerate(self._weights()):
            if weight:
                out += weight * self._bell(A, B, k)

    def _bell(self, A: NDArray, B: NDArray, k: int) -> NDArray:
        a, b = A[:, 3 * k : 3 * k + 3], B[:, 3 * k : 3 * k + 3]
        squares = ((a[:, None] - b[None]) ** 2).sum(axis=2)
        return np.exp(squares / (-2 * self.width**2))

    def weighted_gradient(self, Z: NDArray, X: NDArray, W: NDArray) -> NDArray:
        Z = as_vectors(Z)
        if self.base == "linear":
            pull = np.asarray(W) @ self.features(X)
            return np.einsum("tf,tfj->tj", pull, self.feature_jacobians(Z))
        A, B = self._flat(Z), self._flat(X)
        J = self.arm.jacobians(Z)
        gradient = np.zeros_like(Z)
        for k, weight in enumerate(self._weights()):
            if weight:
                share = weight * np.asarray(W) * self._bell(A, B, k) / self.width**2
                a, b = A[:, 3 * k : 3 * k + 3], B[:, 3 * k : 3 * k + 3]
                pull = share @ b - share.sum(axis=1)[:, None] * a
                gradient += np.einsum("ti,tij->tj", pull, J[:, k])
        return gradient

    def diagonal_gradient(self, Z: NDArray) -> NDArray:
        Z = as_vectors(Z)
        if self.base == "gaussian":
            return np.zeros_like(Z)
        return 2 * np.einsum("tf,tfj->tj", self.features(Z), self.feature_jacobians(Z))

    def _weights(self) -> NDArray:
        if self.base not in ("linear", "gaussian"):
            raise ValueError(f"base == {self.base!r}, must be 'linear' or 'gaussian'.")
        if not 0 < self.width < np.inf:
            raise ValueError(f"width == {self.width}, must be a finite number > 0.")
        weights = np.asarray(self.weights, dtype=np.float64)
        n = len(self.arm.limits)
        if weights.shape != (n,) or not np.isfinite(weights).all():
            raise ValueError(f"weights has shape {weights.shape}, must be ({n},) and finite.")
        if weights.min() < 0:
            raise ValueError(f"weights[{int(weights.argmin())}] == {weights.min()}, must be >= 0.")
        return weights
