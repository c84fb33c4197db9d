"""Covariance operator inverse regression: kernel SIR without slices."""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus._linalg import Array, require_squares
from isthmus._validation import check_number
from isthmus.kernels import looks_like_vectors, needs_vectors
from isthmus.projections.base import KernelProjection, OutputSide, seed_of
from isthmus.projections.couplings import OutputSmoother
from isthmus.projections.eigen import Ridge
from isthmus.projections.held_out import VectorJudge
from isthmus.projections.rows import (
    OF_ROWS,
    KernelSide,
    check_lengths,
    check_y,
    output_vectors,
    require_variation,
)
from isthmus.projections.slices import is_categorical

# Share of the trace; with 0 an output kernel of full rank makes G the identity.
AUTO_ALPHA_Y = 1e-2


def kernel_outputs(
    estimator: Any, y: Any, n: int, weights: Array | None = None
) -> tuple[KernelSide, VectorJudge | None]:
    """Return the outputs with their kernel, and a judge if they are vectors."""
    kernel = estimator.kernel_y
    name = type(estimator).__name__
    seed = seed_of(estimator.random_state)
    if isinstance(kernel, str) and kernel == "precomputed":
        L = check_y(y, n, name)
        if L.shape != (n, n):
            raise ValueError(
                f"y has shape {L.shape}, a precomputed output kernel must be ({n}, {n})."
            )
        L = L if L.dtype == np.float32 else L.astype(np.float64)
        return KernelSide.make(L, kernel, None, weights), None
    if needs_vectors(kernel) or (looks_like_vectors(y) and not is_categorical(np.asarray(y))):
        y = check_y(y, n, name)
        if y.dtype.kind == "c":
            raise ValueError("Complex data not supported: y is complex.")
        Y = output_vectors(y)
        require_squares("y", Y)
        side = KernelSide.make(Y, kernel, None, weights, random_state=seed)
        return side, VectorJudge(Y, weights)
    if y is None:
        check_y(y, n, name)
    y = list(y)
    check_lengths(n, len(y))
    return KernelSide.make(y, kernel, estimator.n_jobs, weights, random_state=seed), None


class COIR(KernelProjection):
    r"""Find coordinates of the inputs that outputs explain: covariance operator inverse regression.

    .. math::
        F^\top G F\, b = \lambda (F^\top F + \alpha I)\, b, \qquad G = L (L + \alpha_y I)^{-1}

    with features ``F`` of the inputs and the Gram matrix ``L`` of the outputs, both centred, [KP2008]_
    Sec. 3.1. Outputs may be many, noisy, or not vectors at all. It is the input side of kernel canonical
    correlation analysis, :math:`\lambda = \rho^2`, and becomes :class:`KernelSIR` as :math:`\alpha_y \to
    0` where ``L`` has a block of ones for each slice.

    Several outputs are compared in their own units, so that an output with small values has little
    weight. If their units are not comparable, divide them by their standard deviations first.

    Parameters
    ----------
    n_components : int, float or "auto", default=2
        Number of coordinates; a fraction of the sum of the eigenvalues; "auto" chooses it by
        cross-validation.
    kernel : kernel object, str, callable or "precomputed", default="rbf"
        Similarity of two inputs.
    kernel_y : kernel object, str, callable or "precomputed", default="rbf"
        Similarity of two outputs. With "precomputed", ``y`` is their square matrix; with a kernel of
        objects, ``y`` is a list of them. Parameters are set in a kernel object: ``RBF(0.5)``.
    alpha : float, "auto" or "cv", default="auto"
        Ridge weight of the inputs. "auto": the one with which ridge regression of the outputs on the input
        kernel has the least error of rows left out one by one (of at most 1000 rows; outputs count in
        units of their standard deviations). "cv": the best of twelve fractions of the trace of the
        centred Gram matrix, from 1e-6 to 0.3, by cross-validation of the coordinates, which takes several
        times as long. The best differs by four orders of magnitude between data sets.
    alpha_y : float or "auto", default="auto"
        Ridge weight of the outputs; "auto" is 1e-2 of the trace. 0 needs an output kernel of less than
        full rank.
    eigenproblem, score_scale, cv :
        As in :class:`SIR`.
    solver : {"auto", "dense", "factor", "krylov", "features"}, default="auto"
        "auto": dense up to 500 rows, a block Krylov space up to 3000, landmark features of both sides
        beyond; outputs with a linear kernel or few labels need one Cholesky factor.
    n_landmarks : int, default=500
        Number of landmarks of ``solver="features"``, on each side.
    selection : {"auto", "uniform", "kmeans", "cholesky", "leverage"}, default="auto"
        Choice of the landmarks, as in :class:`~isthmus.features.Landmarks`; for outputs that are not
        vectors "auto" replaces "kmeans".
    gamma : float or None, default=None
        Inverse width of an input kernel given by name; None is the median rule.
    random_state : int, RandomState or None, default=None
        Seed for landmarks, the median rule and the folds.
    n_jobs : int or None, default=None
        Number of threads for Gram matrices.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Squared canonical correlations (``eigenproblem="generalised"``), in descending order.
    held_out_score_ : float
        R2 of nearest-neighbour regression on the coordinates of held-out rows, averaged over outputs
        and folds; in the feature space of the output kernel if outputs are not vectors. NaN without
        folds. With more than 20 000 rows, a sample of 20 000 is scored. Kernel widths, landmarks
        and the ridge weight of ``alpha="auto"`` are those of all rows.
    held_out_scores_, cv_results_ :
        As in :class:`SIR`.
    points_, dual_coef_, offset_, kernel_ :
        ``gram(kernel_, X, points_) @ dual_coef_ + offset_`` are the coordinates.
    alpha_, alpha_y_, solver_, n_components_, kernel_y_ :
        The values that were used.

    Examples
    --------
    >>> from isthmus.datasets import make_curves
    >>> from isthmus.projections import COIR
    >>> X, y, plane = make_curves(300, noise_outputs=4, random_state=0)
    >>> COIR(alpha="cv").fit(X, y).transform(X).shape
    (300, 2)
    """

    def __init__(
        self,
        n_components: Any = 2,
        kernel: Any = "rbf",
        *,
        kernel_y: Any = "rbf",
        alpha: Any = "auto",
        alpha_y: Any = "auto",
        eigenproblem: str = "generalised",
        score_scale: str = "eigenvalue",
        solver: str = "auto",
        n_landmarks: int = 500,
        selection: str = "auto",
        cv: int | None = None,
        gamma: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.kernel_y = kernel_y
        self.alpha = alpha
        self.alpha_y = alpha_y
        self.eigenproblem = eigenproblem
        self.score_scale = score_scale
        self.solver = solver
        self.n_landmarks = n_landmarks
        self.selection = selection
        self.cv = cv
        self.gamma = gamma
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[Any, KernelSide, OutputSide]:
        fit, inputs, outputs = super()._fit(X, y, sample_weight)
        smoother: Any = outputs.coupling
        self.alpha_y_ = smoother.ridge.at(fit.trace_y)
        return fit, inputs, outputs

    def _output_side(self, y: Any, inputs: KernelSide) -> OutputSide:
        side, judge = kernel_outputs(self, y, inputs.n, inputs.weights)
        self.kernel_y_ = side.kernel
        coupling = self._smoother()
        if side.linear and side.rows.shape[1] < inputs.n // 2:
            Y = side.rows - side.rows.mean(axis=0)
            require_variation(float((Y**2).sum()), float((side.rows**2).sum()), "y", OF_ROWS)
            return OutputSide(coupling, judge, T=side.rows)
        return OutputSide(coupling, judge, side=side)

    def _smoother(self) -> OutputSmoother:
        if isinstance(self.alpha_y, str) and self.alpha_y == "auto":
            return OutputSmoother(Ridge(AUTO_ALPHA_Y, True))
        alpha_y = check_number("alpha_y", self.alpha_y, ">= 0 and finite, or 'auto'")
        return OutputSmoother(Ridge(alpha_y, False))
