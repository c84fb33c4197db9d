"""Kernel canonical correlation analysis: coordinates of both sides."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from isthmus._linalg import BLOCK_ROWS, Array, row_blocks
from isthmus.kernels import gram, take
from isthmus.problems import Moments
from isthmus.problems.streams import as_rows
from isthmus.projections.base import OutputSide
from isthmus.projections.coir import COIR
from isthmus.projections.couplings import OutputSmoother
from isthmus.projections.eigen import ridge_gram
from isthmus.projections.rows import (
    KernelSide,
    check_y,
    class_names,
    output_vectors,
)


class KernelCCA(COIR):
    r"""Find coordinates of inputs and outputs that correlate: kernel CCA, with a ridge on both sides.

    .. math::
        \rho = \operatorname{svd}\!\left(S_x^{1/2} S_y^{1/2}\right), \qquad
        S_x = K (K + \alpha I)^{-1}, \quad S_y = L (L + \alpha_y I)^{-1}

    The input side is :class:`COIR` with ``eigenproblem="generalised"``; the output side is the same with
    the roles exchanged, [KP2008]_ Sec. 3. Without a ridge two kernels of full rank correlate perfectly on
    any data.

    Several outputs are compared in their own units, so that an output with small values has little
    weight. If their units are not comparable, divide them by their standard deviations first.

    Parameters
    ----------
    n_components, kernel, kernel_y, alpha, alpha_y, score_scale, solver, n_landmarks, selection :
        As in :class:`COIR`. ``alpha`` and ``alpha_y`` must be positive.
    cv, gamma, random_state, n_jobs :
        As in :class:`COIR`.

    Attributes
    ----------
    correlations_ : ndarray of shape (n_components,)
        Canonical correlations rho of the regularised problem, in descending order.
    eigenvalues_ : ndarray of shape (n_components,)
        Their squares.
    held_out_score_, held_out_scores_, cv_results_, points_, dual_coef_, offset_, kernel_, kernel_y_ :
        As in :class:`COIR`.
    alpha_, solver_, n_components_ :
        As in :class:`COIR`.
    y_points_, y_dual_coef_, y_offset_ :
        The same for the outputs, see :meth:`transform_y`.
    y_classes_ : list of lists or None
        Names of the classes of each output; None if outputs are numbers or objects.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.projections import KernelCCA
    >>> rng = np.random.default_rng(0)
    >>> t = rng.uniform(0, 6, size=80)
    >>> X, Y = np.c_[np.cos(t), np.sin(t)], np.c_[t, t**2]
    >>> model = KernelCCA().fit(X, Y)
    >>> model.transform_y(Y).shape
    (80, 2)
    """

    eigenproblem = "generalised"

    def __init__(
        self,
        n_components: Any = 2,
        kernel: Any = "rbf",
        *,
        kernel_y: Any = "rbf",
        alpha: Any = "auto",
        alpha_y: Any = "auto",
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
        self.score_scale = score_scale
        self.solver = solver
        self.n_landmarks = n_landmarks
        self.selection = selection
        self.cv = cv
        self.gamma = gamma
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name in ("alpha", "alpha_y"):
            value = getattr(self, name)
            if not isinstance(value, str) and value == 0:
                raise ValueError(
                    f"{name} == 0, must be > 0: without a ridge on both sides every correlation is 1."
                )

    def _fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        if as_rows(X, y, sample_weight) is not None:
            raise ValueError("KernelCCA does not take Rows: fit a sample of the rows in memory.")
        fit, inputs, outputs = super()._fit(X, y, sample_weight)
        self.correlations_ = np.sqrt(self.eigenvalues_)
        if fit.solver == "features":
            z = self._scores(inputs)
            weights = inputs.weights
            cross = np.zeros((len(fit.moments.y_mean), z.shape[1]))
            for rows, _, T in fit.problem.blocks():
                own = z[rows] if weights is None else z[rows] * weights[rows][:, None]
                cross += (T - fit.moments.y_mean).T @ own
            self._explicit_outputs(outputs, fit.moments, cross, _spread(z, weights))
        else:
            z = fit.project_own(self.dual_coef_)
            if outputs.T is None:
                self._kernel_outputs(fit, outputs, z)
            else:
                moments = Moments.squares_of(z, outputs.T, fit.weights, full_yy=True)
                self._explicit_outputs(outputs, moments, moments.xy.T, _spread(z, fit.weights))
        return fit, inputs, outputs

    def _scores(self, inputs: KernelSide) -> Array:
        parts = [
            self._expansion(take(inputs.rows, rows)) for rows in row_blocks(inputs.n, BLOCK_ROWS)
        ]
        return np.vstack(parts) + self.offset_

    # z_y = S_y z_x / rho, up to the scale of the coordinates

    def _explicit_outputs(
        self, outputs: OutputSide, moments: Moments, cross: Array, spread: Array
    ) -> None:
        """Coordinates of outputs that are features, from their products with those of the inputs."""
        mean, yy = moments.y_mean, moments.yy
        root = outputs.coupling.root(moments.weight, mean, yy, moments.n_samples)
        coef = root @ (root.T @ cross)
        variances = np.einsum("ir,ij,jr->r", coef, yy, coef) / moments.weight
        coef = coef * (spread / np.sqrt(variances))
        self.y_points_ = None
        self.y_dual_coef_ = coef
        self.y_offset_ = -mean @ coef
        if outputs.features is not None:
            self.y_points_ = outputs.features.points
            self.y_dual_coef_ = outputs.features.collapse(coef)

    def _kernel_outputs(self, fit: Any, outputs: OutputSide, z: Array) -> None:
        """The same of outputs that have a Gram matrix."""
        coupling, share = outputs.coupling, fit.centre.share
        assert isinstance(coupling, OutputSmoother) and outputs.side is not None
        ridge = ridge_gram(fit.L, coupling.ridge.at(fit.trace_y))
        coef = ridge.solve(fit.root * z)
        own = fit.L @ coef / fit.root
        coef = coef * fit.root * (_spread(z, fit.weights) / _spread(own, fit.weights))
        self.y_dual_coef_ = coef - share[:, None] * coef.sum(axis=0)
        self.y_points_ = outputs.side.points
        self.y_offset_ = -fit.centre_y.means @ self.y_dual_coef_

    def _output_side(self, y: Any, inputs: KernelSide) -> OutputSide:
        outputs = super()._output_side(y, inputs)
        self.y_classes_ = None
        if outputs.side is None or outputs.side.vectors:
            self.y_classes_ = class_names(check_y(y, inputs.n, type(self).__name__))
        return outputs

    def transform_y(self, y: Any) -> Array:
        """Return coordinates of outputs, with the standard deviations of those of the inputs."""
        check_is_fitted(self)
        if self.y_points_ is None or isinstance(self.y_points_, np.ndarray):
            Y = output_vectors(check_y(y, len(y), type(self).__name__), self.y_classes_)
            if self.y_points_ is None:
                return Y @ self.y_dual_coef_ + self.y_offset_
            values = gram(self.kernel_y_, Y, self.y_points_)
        else:
            values = gram(self.kernel_y_, list(y), self.y_points_)
        return np.asarray(values) @ self.y_dual_coef_ + self.y_offset_


def _spread(z: Array, weights: Array | None) -> Array:
    """Standard deviation of each column."""
    mean = np.average(z, axis=0, weights=weights)
    return np.sqrt(np.average((z - mean) ** 2, axis=0, weights=weights))
