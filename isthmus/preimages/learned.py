"""Pre-images by regression from coordinates to objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from sklearn.base import clone

from isthmus._linalg import Array, spreads
from isthmus._validation import check_memory, check_option
from isthmus.kernels import RBF, gram
from isthmus.kernels.resolve import resolve_kernel
from isthmus.preimages.base import Preimage
from isthmus.preimages.targets import Targets, parts

_ALPHAS = (1e-3, 1e-2, 3e-2, 1e-1)


class Learned(Preimage):
    r"""Learn a kernel ridge regression from the scores to the objects, [BWS2004]_, [B2006]_ Sec. 3.2.4.

    .. math::
        z(b) = \bar x + \sum_i \kappa(b, b_i) B_i, \qquad B = (\mathbf{K} + \alpha I)^{-1} (X - \bar x),

    with an RBF kernel :math:`\kappa` whose width is the median of the scores' distances, or, with
    ``regression="linear"``, ridge regression on the scores themselves. It works for every kernel of vectors
    and is their default. It also corrects systematic errors in predicted scores:
    ``DependencyRegressor`` trains it on out-of-fold predictions.

    Parameters
    ----------
    regression : {"kernel", "linear"}, default="kernel"
        Kernel ridge (cost of a fit ``n^3 / 3``) or ridge (``n r^2``).
    alpha : float or sequence of floats, default=(0.001, 0.01, 0.03, 0.1)
        Ridge weight; among several the one with the least leave-one-out error is chosen. For
        ``"linear"`` it is relative to the mean variance of the scores times the number of objects.
    gamma : float, default=None
        Width of the RBF kernel on the scores; None: the median rule.
    refine : Preimage, default=None
        Another method that starts from the answers, for instance ``FixedPoint()``.
    random_state : int or RandomState, default=0
        Seed for the 1000 rows that the median rule uses of more.

    Attributes
    ----------
    alpha_ : float
        The chosen ridge weight.
    loo_errors_ : ndarray of shape (n_alphas,)
        Root mean squared leave-one-out errors, in units of each column's standard deviation.
    """

    _needs_embedding = False

    def __init__(
        self,
        regression: str = "kernel",
        *,
        alpha: float | Sequence[float] = _ALPHAS,
        gamma: float | None = None,
        refine: Preimage | None = None,
        random_state: Any = 0,
    ) -> None:
        self.regression = regression
        self.alpha = alpha
        self.gamma = gamma
        self.refine = refine
        self.random_state = random_state

    def _check_embedding(self) -> None:
        """Nothing to check: any kernel will do, a precomputed one too."""

    def _prepare(self) -> None:
        check_option("regression", self.regression, ("kernel", "linear"))
        alphas = np.atleast_1d(np.asarray(self.alpha, dtype=np.float64))
        if alphas.ndim != 1 or not len(alphas) or not (alphas > 0).all():
            raise ValueError(f"alpha == {self.alpha!r}, must be positive numbers.")
        self.offset_ = np.asarray(self.objects_, dtype=np.float64).mean(axis=0)
        if len(self.objects_) == 1:
            return
        if self.regression == "kernel":
            self._fit_kernel(alphas)
        else:
            self._fit_linear(alphas)
        if self.refine is not None:
            self.refine_ = clone(self.refine).fit(self.objects_, self.coordinates_, self.embedding_)

    def check_rows(self, n: int) -> None:
        """Refuse so many rows that the fit cannot fit into memory."""
        if self.regression == "kernel":
            remedy = "preimage=Learned('linear') takes less, as do fewer rows."
            check_memory(16.0 * n * n, f"The learned pre-image of {n} rows", remedy)

    def _fit_kernel(self, alphas: Array) -> None:
        self.check_rows(len(self.coordinates_))
        if self.gamma is None and np.ptp(self.coordinates_, axis=0).max(initial=0.0) == 0:
            self.score_kernel_ = RBF(1.0)  # all scores alike: any width will do
        else:
            self.score_kernel_ = resolve_kernel(
                "rbf", self.coordinates_, gamma=self.gamma, random_state=self.random_state
            )
        K = gram(self.score_kernel_, self.coordinates_)
        Y = np.asarray(self.objects_, dtype=np.float64) - self.offset_
        fits = [_ridge_with_loo(K, Y, alpha) for alpha in alphas]
        self._choose(alphas, fits)

    def _fit_linear(self, alphas: Array) -> None:
        self.score_mean_ = self.coordinates_.mean(axis=0)
        S = self.coordinates_ - self.score_mean_
        Y = np.asarray(self.objects_, dtype=np.float64) - self.offset_
        U, s, Vt = np.linalg.svd(S, full_matrices=False)
        scale = max(float((s**2).mean()), np.finfo(float).tiny) if len(s) else 1.0
        fits = []
        for alpha in alphas:
            shrink = s / (s**2 + alpha * scale)
            coef = Vt.T @ (shrink[:, None] * (U.T @ Y))
            leverage = ((U * (s * shrink)) * U).sum(axis=1) + 1.0 / len(Y)
            residual = (Y - S @ coef) / np.maximum(1.0 - leverage, 1e-10)[:, None]
            fits.append((coef, _size(residual, Y)))
        self._choose(alphas, fits)

    def _choose(self, alphas: Array, fits: list[tuple[Array, float]]) -> None:
        self.loo_errors_ = np.array([error for _, error in fits])
        best = int(self.loo_errors_.argmin())
        self.alpha_, self.dual_coef_ = float(alphas[best]), fits[best][0]

    def _known_options(self) -> set[str]:
        return set() if self.refine is None else self.refine._known_options() - {"start", "n_best"}

    def _targets(self, Z: Array) -> Targets:
        if self.refine is None:  # the expansion is asked for only where a loss is
            return _ScoresFirst(self, Z)
        return super()._targets(Z)

    def _invert(self, targets: Targets, **options: Any) -> Array:
        if targets.scores is None:
            raise ValueError("Learned works on scores: give inverse(Z), not an expansion.")
        Z = targets.scores
        answers = np.empty((len(Z), self.objects_.shape[1]))
        for part in parts(len(Z), len(self.coordinates_)):
            if self.regression == "kernel":
                answers[part] = (
                    gram(self.score_kernel_, Z[part], self.coordinates_) @ self.dual_coef_
                )
            else:
                answers[part] = (Z[part] - self.score_mean_) @ self.dual_coef_
        answers += self.offset_
        if self.refine is not None:
            return self.refine_._invert(targets, start=answers, **options)
        return answers

    def _loss(self, targets: Targets, answers: Any) -> Array:
        assert targets.scores is not None
        return super()._loss(super()._targets(targets.scores), answers)


class _ScoresFirst(Targets):
    """Targets of which only the scores are needed: their expansion would cost more than the answer."""

    def __init__(self, method: Preimage, scores: Array) -> None:
        super().__init__(method.kernel_, [], np.empty((len(scores), 0)), scores)


def _ridge_with_loo(K: Array, Y: NDArray, alpha: float) -> tuple[Array, float]:
    """``(K + alpha I)^-1 Y`` and the leave-one-out error, which is ``B_i / inverse_ii``."""
    A = np.array(K, order="F")
    A[np.diag_indices_from(A)] += alpha
    factor, info = lapack.dpotrf(A, lower=1, overwrite_a=1, clean=0)
    if info:  # repeated scores and a tiny ridge
        raise ValueError(f"alpha == {alpha} is too small for these scores: raise it.")
    B, _ = lapack.dpotrs(factor, Y, lower=1)
    inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
    residual = B / inverse.diagonal()[:, None]
    return B, _size(residual, Y)


def _size(residual: Array, Y: NDArray) -> float:
    return float(np.sqrt(((residual / spreads(Y)) ** 2).mean()))
