"""The form in which the paper prints its kernel problem: a parallel sum of two Gram matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from isthmus._linalg import GRAM_RANK_TOL, Array, leading_pairs
from isthmus._saved import saved
from isthmus._validation import (
    BaseEstimator,
    check_alpha,
    check_count,
    check_enough_samples,
    check_number,
    validate_data,
)
from isthmus.kernels import center_train, gram, resolve_kernel


@saved(points_="n .", dual_coef_=". r", offset_="r")
class InverseMORP(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Multi-output regularised projection by (14) of [YYT2005]_, corrected.

    .. math::
        M (\gamma M + K)^{-1} K v = \lambda v, \qquad M = (1 - \beta) K + \beta L, \qquad
        \psi(x) = \sqrt\lambda \, v^\top K^+ k(\cdot, x)

    on the range of K, with the Gram matrices K of the inputs and L of the outputs centred and brought to
    trace n. The matrix is the parallel sum of M and :math:`K / \gamma`; the paper leaves out the pseudo
    inverse and the range. With a gamma of zero it is what M leaves on the range of K,
    :math:`(U' M^+ U)^{-1}`: the outputs are lost if there are more rows than inputs and outputs.

    :class:`isthmus.MORP` puts the ridge where it keeps the outputs.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.
    kernel : kernel object, str or callable, default="rbf"
        Similarity of two inputs.
    kernel_y : kernel object, str or callable, default="linear"
        Similarity of two outputs.
    beta : float, default=0.5
        Weight of the outputs, from 0 (unsupervised) to 1 (outputs alone).
    gamma : float, default=1e-3
        Weight of the regularisation of the paper (not the width of a kernel).

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Decreasing.
    points_, dual_coef_, offset_ : ndarray
        ``transform(X)`` is ``k(X, points_) @ dual_coef_ + offset_``.
    """

    def __init__(
        self,
        n_components: int = 2,
        kernel: Any = "rbf",
        *,
        kernel_y: Any = "linear",
        beta: float = 0.5,
        gamma: float = 1e-3,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.kernel_y = kernel_y
        self.beta = beta
        self.gamma = gamma

    def fit(self, X: ArrayLike, y: ArrayLike) -> InverseMORP:
        """Fit the coordinates to ``X`` (n_samples, n_features) and ``y`` (n_samples[, n_targets])."""
        check_count("n_components", self.n_components)
        check_alpha(self.gamma)
        check_number("beta", self.beta, "in [0, 1]", high=1.0)
        if self.gamma == 0 and self.beta == 1:
            raise ValueError("gamma == 0 with beta == 1 has no solution: change one of them.")
        rows, targets = validate_data(
            self, X, y, multi_output=True, y_numeric=True, dtype=np.float64
        )
        check_enough_samples(len(rows))
        n = len(rows)
        Y = np.asarray(targets, dtype=np.float64).reshape(n, -1)
        self.kernel_: Any = resolve_kernel(self.kernel, rows)
        inputs = np.asarray(gram(self.kernel_, rows), dtype=np.float64)
        outputs = np.asarray(gram(resolve_kernel(self.kernel_y, Y), Y), dtype=np.float64)
        K, row_means, _ = center_train(inputs)
        L = center_train(outputs)[0]
        factor = _balance(K, float(np.trace(inputs)), "X")
        _balance(L, float(np.trace(outputs)), "y")
        eigenvalues, v = self._solve(K, (1 - self.beta) * K + self.beta * L)
        self.eigenvalues_ = eigenvalues
        # psi = sqrt(lambda) a' k with a = K^+ v, for kernel values before balancing.
        values, U = _range(K)
        coef = U @ ((U.T @ v) / values[:, None]) * (factor * np.sqrt(eigenvalues))
        self.points_: Array = rows.copy()
        # Columns of coef sum to zero, being in the range of a centred matrix: no other mean is needed.
        self.dual_coef_: Array = coef
        self.offset_: Array = -row_means @ coef
        return self

    def _solve(self, K: Array, M: Array) -> tuple[Array, Array]:
        """Leading eigenvalues and eigenvectors (n, r) of the parallel sum."""
        if self.gamma > 0:
            V = _range(K + M)[1]  # where gamma M + K is regular
            Mv, Kv = V.T @ M @ V, V.T @ K @ V
            P = Mv @ np.linalg.solve(self.gamma * Mv + Kv, Kv)
        else:
            V = _range(K)[1]
            values, U = _range(M)
            inside = U.T @ V
            P = np.linalg.inv(inside.T @ (inside / values[:, None]))
        r = min(self.n_components, len(_range(K)[0]))
        eigenvalues, v = leading_pairs((P + P.T) / 2, r)
        return eigenvalues, V @ v

    def transform(self, X: ArrayLike) -> NDArray:
        """Return the coordinates of ``X`` (n_samples, n_features)."""
        check_is_fitted(self)
        rows = validate_data(self, X, reset=False, dtype=np.float64)
        return np.asarray(gram(self.kernel_, rows, self.points_)) @ self.dual_coef_ + self.offset_

    @property
    def _n_features_out(self) -> int:
        return self.dual_coef_.shape[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags


def _balance(gram_matrix: Array, size: float, side: str) -> float:
    """Bring a centred Gram matrix to trace n, in place; return the factor.

    ``size`` is its trace before centring, next to which rounding errors are judged.
    """
    n = len(gram_matrix)
    trace = float(np.trace(gram_matrix))
    if not trace > GRAM_RANK_TOL * size:
        raise ValueError(f"{side} is constant: its kernel values are all equal.")
    gram_matrix *= n / trace
    return n / trace


def _range(symmetric: Array) -> tuple[Array, Array]:
    """Positive eigenvalues of a matrix, decreasing, and their eigenvectors."""
    values, vectors = np.linalg.eigh((symmetric + symmetric.T) / 2)
    keep = values > GRAM_RANK_TOL * max(float(values[-1]), 0.0)
    return values[keep][::-1], vectors[:, keep][:, ::-1]
