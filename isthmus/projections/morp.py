"""Multi-output regularised projection: inputs and outputs reconstructed together."""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus._linalg import Array
from isthmus._validation import check_number, check_option
from isthmus.projections.base import KernelProjection, OutputSide
from isthmus.projections.coir import kernel_outputs
from isthmus.projections.couplings import Mixture
from isthmus.projections.held_out import VectorJudge
from isthmus.projections.missing import MISSING, drop_empty, fill_by_ridge, fill_outputs
from isthmus.projections.rows import KernelSide, check_y, holds_names


class MORP(KernelProjection):
    r"""Find coordinates that reconstruct inputs and outputs: multi-output regularised projection.

    .. math::
        K M K a = \lambda (K^2 + \alpha K) a, \qquad M = (1 - \beta) K + \beta L, \qquad
        \psi(x) = \sqrt\lambda \sum_i a_i k(x_i, x)

    with the Gram matrices ``K`` of the inputs and ``L`` of the outputs, centred and brought to trace
    ``n``, [YYT2005]_ with the ridge put where it keeps the outputs: the printed form loses them as soon
    as there are more rows than inputs and outputs (it is in ``isthmus.papers.morp``). ``beta=0`` and
    ``alpha=0`` is kernel principal components; ``beta=1`` with a linear output kernel is reduced-rank
    kernel ridge regression.

    Several outputs are compared in their own units, so that an output with small values has little
    weight. If their units are not comparable, divide them by their standard deviations first.

    Parameters
    ----------
    n_components : int, float or "auto", default=2
        Number of coordinates; a fraction of the sum of the eigenvalues; "auto" chooses it by
        cross-validation.
    kernel : kernel object, str, callable or "precomputed", default="rbf"
        Similarity of two inputs.
    kernel_y : kernel object, str, callable or "precomputed", default="linear"
        Similarity of two outputs, which may be structured objects.
    beta : float, default=0.5
        Weight of the outputs, from 0 (unsupervised) to 1 (outputs alone).
    alpha : float, "auto" or "cv", default="auto"
        Ridge weight for the Gram matrix of trace n; "auto" and "cv" as in :class:`COIR`.
    missing : {"error", "mean", "ridge", "zero"}, default="error"
        What to do with NaN in ``y``: refuse it; put the mean of what is observed of an output; put
        that, fit, regress each output on the coordinates where it is observed, and fit once more
        with the predictions; or put zero as [YYT2005]_. Outputs without any observed entry are
        dropped with a warning.
    n_components_impute : int, default=10
        Coordinates of the first fit of ``missing="ridge"``.
    score_scale : {"eigenvalue", "unit", "raw"}, default="raw"
        "raw" gives the coordinates psi above; for the others see :class:`SIR`.
    solver : {"auto", "dense", "factor", "krylov", "features"}, default="auto"
        As in :class:`COIR`.
    n_landmarks, selection, cv, gamma, random_state, n_jobs :
        As in :class:`COIR`.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        In descending order.
    held_out_score_, held_out_scores_, cv_results_, points_, dual_coef_, offset_, kernel_, kernel_y_ :
        As in :class:`COIR`. If outputs are missing, the observed entries are scored and gaps are filled
        from the training rows of each fold alone, which takes one more fit per fold. The score of a
        row averages the observed outputs of its ten nearest rows: with half of the outputs missing it
        is about 0.1 lower than with all of them, with 80 % missing 0.2 to 0.5 lower. Compare models
        only on the same missing entries.
    alpha_, solver_, n_components_ :
        The values that were used.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.projections import MORP
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 5))
    >>> labels = (X @ rng.normal(size=(5, 8)) > 0).astype(float)
    >>> MORP(n_components=3).fit(X, labels).transform(X).shape
    (60, 3)
    """

    eigenproblem = "generalised"

    def __init__(
        self,
        n_components: Any = 2,
        kernel: Any = "rbf",
        *,
        kernel_y: Any = "linear",
        beta: float = 0.5,
        alpha: Any = "auto",
        missing: str = "error",
        n_components_impute: int = 10,
        score_scale: str = "raw",
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
        self.beta = beta
        self.alpha = alpha
        self.missing = missing
        self.n_components_impute = n_components_impute
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
        check_option("missing", self.missing, MISSING)
        check_number("beta", self.beta, "in [0, 1]", high=1.0)

    def _output_side(self, y: Any, inputs: KernelSide) -> OutputSide:
        holes = None
        if self.missing != "error" and not holds_names(y, self.kernel_y):
            as_it_came = check_y(y, inputs.n, type(self).__name__, allow_nan=True)
            as_it_came = as_it_came.reshape(inputs.n, -1).astype(np.float64)
            y = self._fill_holes(as_it_came, inputs)
            holes = as_it_came if np.isnan(as_it_came).any() else None
        side, judge = kernel_outputs(self, y, inputs.n, inputs.weights)
        if holes is not None:  # what was put there is no output to be told
            judge = VectorJudge(holes, inputs.weights)
        self.kernel_y_ = side.kernel
        coupling = Mixture(float(self.beta))
        if side.linear and not side.precomputed:
            return OutputSide(coupling, judge, T=side.rows, holes=holes)
        return OutputSide(coupling, judge, side=side, holes=holes)

    def _fill_holes(self, Y: Array, inputs: KernelSide) -> Array:
        if not np.isnan(Y).any():
            return Y
        Y = drop_empty(Y)
        if self.missing != "ridge":
            return fill_outputs(Y, self.missing, inputs.weights)
        start = fill_outputs(Y, "mean", inputs.weights)
        first = MORP(
            self.n_components_impute,
            self.kernel_,
            kernel_y=self.kernel_y,
            beta=self.beta,
            alpha="auto" if self.alpha == "cv" else self.alpha,
            score_scale="unit",
            solver=self.solver,
            n_landmarks=self.n_landmarks,
            selection=self.selection,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        first.fit(inputs.rows, start, inputs.weights)
        return fill_by_ridge(first.transform(inputs.rows), Y, start, inputs.weights)

    def _raw_scaling(self, n: int, eigenvalues: Array) -> Array:
        return np.sqrt(eigenvalues / n)
