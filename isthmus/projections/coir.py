"""Covariance operator inverse regression: kernel SIR without slices."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from isthmus.projections.base import KernelProjection, OutputSide
from isthmus.projections.couplings import OutputSmoother
from isthmus.projections.held_out import VectorJudge
from isthmus.projections.problem import OF_ROWS, require_variation
from isthmus.projections.rows import (
    KernelSide,
    check_lengths,
    check_y,
    looks_like_vectors,
    needs_vectors,
    output_vectors,
)
from isthmus.projections.slices import is_categorical

AUTO_ALPHA_Y = 1e-2


def kernel_outputs(
    estimator: Any, y: Any, n: int, *, allow_nan: bool = False
) -> tuple[KernelSide, VectorJudge | None]:
    """Outputs with their kernel, and a judge where they are vectors."""
    kernel, params = estimator.kernel_y, getattr(estimator, "kernel_y_params", None)
    name = type(estimator).__name__
    gamma = getattr(estimator, "gamma_y", None)
    if isinstance(kernel, str) and kernel == "precomputed":
        L = check_y(y, n, name)
        if L.shape != (n, n):
            raise ValueError(
                f"y has shape {L.shape}, a precomputed output kernel must be ({n}, {n})."
            )
        L = L if L.dtype == np.float32 else L.astype(np.float64)
        return KernelSide.make(L, kernel), None
    if needs_vectors(kernel) or (looks_like_vectors(y) and not is_categorical(np.asarray(y))):
        y = check_y(y, n, name, allow_nan=allow_nan)
        if y.dtype.kind == "c":
            raise ValueError("Complex data not supported: y is complex.")
        Y = output_vectors(y)
        return KernelSide.make(Y, kernel, None, gamma=gamma, kernel_params=params), VectorJudge(Y)
    if y is None:
        check_y(y, n, name)
    y = list(y)
    check_lengths(n, len(y))
    side = KernelSide.make(y, kernel, estimator.n_jobs, gamma=gamma, kernel_params=params)
    return side, None


class COIR(KernelProjection):
    r"""Covariance operator inverse regression: coordinates of the inputs that the outputs explain.

    .. math::
        F^\top G F\, b = \lambda (F^\top F + \alpha I)\, b, \qquad G = L (L + \alpha_y I)^{-1}

    with features ``F`` of the inputs and the Gram matrix ``L`` of the outputs, both centred, [KP2008]_
    Sec. 3.1. Outputs may be many, noisy, or not vectors at all. It is the input side of kernel canonical
    correlation analysis, :math:`\lambda = \rho^2`, and becomes :class:`KernelSIR` as :math:`\alpha_y \to
    0` where ``L`` has a block of ones for each slice.

    Several outputs are compared as they are, so that one in small units counts for little: divide them by
    their standard deviations first where their units mean nothing.

    Parameters
    ----------
    kernel : kernel object, str, callable or "precomputed", default="rbf"
        How alike two inputs are.
    n_components : int, float or "cv", default=2
        Number of coordinates; a fraction of the sum of the eigenvalues; or the number of best
        held-out score.
    kernel_y : kernel object, str, callable or "precomputed", default="rbf"
        How alike two outputs are. With "precomputed", ``y`` is their square matrix; with a kernel of
        objects, ``y`` is a list of them.
    alpha : float, "auto" or "cv", default="auto"
        Ridge weight of the inputs. "auto" is 1e-3 of the trace of their centred Gram matrix; "cv"
        takes the best of twelve fractions from 1e-6 to 0.3. The best differs by four orders of
        magnitude between sets.
    alpha_y : float or "auto", default="auto"
        Ridge weight of the outputs; "auto" is 1e-2 of the trace. 0 asks for an output kernel of
        less than full rank.
    method : {"generalized", "inverse"}, default="generalized"
        As in :class:`SIR`.
    scale : {"eigenvalue", "unit", "raw"}, default="eigenvalue"
        As in :class:`SIR`.
    solver : {"auto", "dense", "factor", "krylov", "features"}, default="auto"
        Form of the eigenproblem. "auto": dense up to 500 rows, a block Krylov space up to 3000,
        landmark features of both sides beyond; outputs with a linear kernel or few labels take one
        Cholesky factor.
    n_landmarks : int, default=400
        Landmarks of the feature form, on each side.
    selection : {"auto", "uniform", "kmeans", "cholesky", "leverage"}, default="auto"
        How they are chosen, as in :class:`~isthmus.features.Landmarks`; outputs of which there
        are no means take "auto" instead of "kmeans".
    cv : int or None, default=5
        Folds for ``held_out_score_`` and for the choices "cv"; None: no score.
    gamma, degree, coef0, kernel_params :
        Parameters of an input kernel given by name; ``gamma=None`` is the median rule.
    gamma_y, kernel_y_params :
        Parameters of an output kernel given by name.
    random_state : int, RandomState or None, default=None
        For landmarks, the median rule and the folds; None is a fixed seed.
    n_jobs : int or None, default=None
        For Gram matrices.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Squared canonical correlations (``method="generalized"``), falling.
    held_out_score_ : float
        R2 of nearest-neighbour regression on the coordinates of rows held out, averaged over outputs
        and folds; in the feature space of the output kernel where outputs are no vectors. Beyond 20 000
        rows a sample of so many is judged; kernel widths and landmarks are those of all rows.
    held_out_scores_, cv_results_ :
        As in :class:`SIR`.
    points_, dual_coef_, offset_, kernel_ :
        ``gram(kernel_, X, points_) @ dual_coef_ + offset_`` are the coordinates.
    alpha_, alpha_y_, solver_, n_components_, kernel_y_ :
        What was used.

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
        kernel: Any = "rbf",
        n_components: Any = 2,
        *,
        kernel_y: Any = "rbf",
        alpha: Any = "auto",
        alpha_y: Any = "auto",
        method: str = "generalized",
        scale: str = "eigenvalue",
        solver: str = "auto",
        n_landmarks: int = 400,
        selection: str = "auto",
        cv: int | None = 5,
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        kernel_params: dict[str, Any] | None = None,
        gamma_y: float | None = None,
        kernel_y_params: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.kernel_y = kernel_y
        self.alpha = alpha
        self.alpha_y = alpha_y
        self.method = method
        self.scale = scale
        self.solver = solver
        self.n_landmarks = n_landmarks
        self.selection = selection
        self.cv = cv
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.gamma_y = gamma_y
        self.kernel_y_params = kernel_y_params
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, X: Any, y: Any) -> tuple[Any, KernelSide, OutputSide]:
        fit, inputs, outputs = super()._fit(X, y)
        smoother: Any = outputs.coupling
        self.alpha_y_ = smoother.ridge(fit.trace_y)
        return fit, inputs, outputs

    def _output_side(self, y: Any, inputs: KernelSide) -> OutputSide:
        side, judge = kernel_outputs(self, y, inputs.n)
        self.kernel_y_ = side.kernel
        coupling = self._smoother()
        if side.linear and side.rows.shape[1] < inputs.n // 2:
            Y = side.rows - side.rows.mean(axis=0)
            require_variation(float((Y**2).sum()), float((side.rows**2).sum()), "y", OF_ROWS)
            return OutputSide(coupling, judge, T=side.rows)
        return OutputSide(coupling, judge, side=side)

    def _smoother(self) -> OutputSmoother:
        if isinstance(self.alpha_y, str):
            if self.alpha_y != "auto":
                raise ValueError(f"alpha_y == {self.alpha_y!r}, must be a number >= 0 or 'auto'.")
            return OutputSmoother(AUTO_ALPHA_Y, True)
        if isinstance(self.alpha_y, bool) or not isinstance(self.alpha_y, Real):
            raise ValueError(f"alpha_y == {self.alpha_y!r}, must be a number >= 0 or 'auto'.")
        if not 0.0 <= float(self.alpha_y) < np.inf:
            raise ValueError(f"alpha_y == {self.alpha_y}, must be a finite number >= 0.")
        return OutputSmoother(float(self.alpha_y), False)
