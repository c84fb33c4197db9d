"""Stiefel regression: maps of low rank under any loss, batch and online."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if

from isthmus._linalg import Array, graded_svd, spreads
from isthmus._solvers import Reason
from isthmus._validation import (
    check_flag,
    check_number,
    check_option,
    check_verbose,
    finite_answer,
    warn,
)
from isthmus.losses import ResidualLoss, Squared, get_loss
from isthmus.problems import ridge_in_units, scales_x
from isthmus.problems.streams import by_blocks
from isthmus.regression.callbacks import (
    CallbackSupportMixin,
    begin_fit,
    end_fit,
    step_hook,
    with_callbacks,
)
from isthmus.regression.chosen import LeaveOneOut, Numbers
from isthmus.regression.factors import Factors
from isthmus.regression.loss_fit import LossFit, LossSettings, check_start, fit_loss
from isthmus.regression.proximal import ProximalRegression
from isthmus.regression.rank_descent import squared_objective
from isthmus.regression.reduced_rank import ReducedRankRegression
from isthmus.regression.scales import winsorise


def _takes_blocks(self: StiefelRegression) -> bool:
    is_open = self.online == "exact" and (self._leaves_open() or not self._is_exact())
    if self.n_components == "auto" or is_open:
        raise AttributeError(
            "partial_fit with online='exact' needs numbers for n_components and alpha and the closed form "
            f"of the squared loss, got alpha={self.alpha!r}, loss={self.loss!r} and "
            f"output_weight={self.output_weight!r}: use online='proximal'."
        )
    return True


def _has_path(self: StiefelRegression) -> bool:
    if not self._is_exact() or hasattr(self, "_proximal"):
        raise AttributeError(
            "predict_path and coef_path_: only the closed form of the squared loss, fitted to all rows, "
            "has the maps of all ranks; fit again with the rank you need."
        )
    return True


class StiefelRegression(CallbackSupportMixin, ProximalRegression):
    r"""Fit multi-output regression under a rank constraint with any loss.

    .. math::
        \min_{\operatorname{rank} C \le r, \, b} \; \sum_i L(\Sigma^{-1} y_i, \Sigma^{-1} (C x_i + b))
        + \tfrac{\alpha}{2} \|\Sigma^{-1} C\|_F^2, \qquad C = V \operatorname{diag}(s) W^\top

    with orthonormal W and V, [BGFS2004]_ Sec. 4, [B2006]_ ch. 2. The diagonal of :math:`\Sigma`, the
    ``output_scale_``, has a robust scale of the residuals of each output, so that neither its unit nor its
    noise moves the fit of another. It is 1 for the squared loss, losses with a link, losses of your own,
    and losses with a number in the units of y, such as ``Huber(delta=2.0)``: under a rank constraint these
    depend on the units of the outputs, the squared loss unless ``scale=True``.

    The squared loss (half the squared error) has a closed form, the map of ``ReducedRankRegression``.
    Other losses are minimised by L-BFGS over balanced factors in whitened coordinates, from the closed
    form for a winsorised copy of y. Losses with kinks are solved exactly by an interior-point method if the
    rank does not bind, and to their kinks if y has at most 10 000 entries; otherwise they are rounded ever
    more sharply. With more inputs than half the rows several starts and exchanges of components are tried.
    The geodesic descent that the papers print is ``isthmus.papers.stiefel_report``.

    Parameters
    ----------
    n_components : int, "auto" or None, default=None
        Rank r; None does not constrain, 0 fits the location alone, "auto" is chosen in five folds.
    loss : str, Loss or pair of functions, default="squared"
        "squared", "absolute", "huber", "huber_rows", "epsilon_insensitive", "quantile", "log_cosh",
        "logistic", "poisson", a loss of ``isthmus.losses`` with its parameters, or functions
        ``(value, gradient)`` of ``(Y, Y_pred)``. A number such as delta of ``Huber(delta=2.0)`` is in the
        units of y; left out, it is in units of ``output_scale_``.
    alpha : float or "auto", default="auto"
        Ridge weight on the scale of ``Ridge``, for outputs in units of ``output_scale_``, chosen as in
        ``ReducedRankRegression``. Other losses take what suits the squared loss for a winsorised copy of
        y (of a sample of ``Rows``), times their curvature. "proximal" has no ridge but its pull.
    init : array of shape (n_targets, n_features) or None, default=None
        Start of the iterations; None is the closed form for a winsorised copy of y, and others beside it.
        If an array has a lower rank, the closed form for what it leaves is added.
    output_weight : array of shape (n_targets,) or None, default=None
        Weight of each output in the loss, besides its scale; with it the squared loss is iterated too.
    scale : bool or "y", default=False
        Whether columns of X (squared loss: and y) are divided by their deviations; "y": those of y alone.
    online : {"exact", "proximal"}, default="exact"
        What ``partial_fit`` keeps. "exact": moments, n_features**2 numbers; the fit is that of all rows,
        discounted by ``forget`` (squared loss). "proximal": the last map alone, and for other losses 256
        residuals for their scale; each block moves the map towards its own fit. Inputs of unlike units
        should be standardised first: the pull is as strong along every input.
    pull : float or None, default=None
        Weight of the pull of "proximal" towards the last map, in units of X'X of a block (times the
        curvature of the loss): larger is slower. None is half the sum of the block's squares, divided by
        the smaller of its numbers of rows and inputs.
    pull_growth : {"constant", "linear"}, default="constant"
        Whether the pull is multiplied by the number of the block.
    forget : float, default=1.0
        Factor per row, in (0, 1], by which "exact" discounts earlier rows.
    warm_start : bool, default=False
        Whether ``fit`` starts from the last map.
    max_iter : int, default=1000
        Largest number of steps (of each stage).
    tol : float, default=1e-7
        A stage ends when ten steps lower the scaled objective by no more than this.
    verbose : int, default=0
        1 shows every tenth step.

    Attributes
    ----------
    coef_ : ndarray of shape (n_targets, n_features) or (n_features,)
        ``y_rotations_ @ diag(singular_values_) @ x_rotations_.T``, where the columns are not scaled.
    x_rotations_, y_rotations_ : ndarray of shape (n_features, n_components_), (n_targets, n_components_)
        W and V, orthonormal columns.
    singular_values_ : ndarray of shape (n_components_,)
        s, decreasing.
    objective_ : float
        The criterion at the fit, in the units of the criterion above.
    output_scale_ : ndarray of shape (n_targets,)
        The diagonal of Sigma; for losses without a closed form, fitted to all rows.
    n_iter_ : int
        Steps taken; 1 for the closed form.
    loss_ : Loss
        The loss with the parameters that were set from the data, in units of ``output_scale_``.
    intercept_, n_components_, x_loadings_, ... :
        As in ``PLS``. ``y_explained_variance_ratio_`` is NaN for losses with a link ("logistic",
        "poisson"); ``coef_path_`` is there for the closed form alone, and after a proximal
        ``partial_fit`` there are no explained variances.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus import StiefelRegression
    >>> from isthmus.datasets import make_low_rank_regression
    >>> X, Y, coef = make_low_rank_regression(200, 8, 5, rank=2, random_state=0)
    >>> Y[3, 1] = 1000.0
    >>> robust = StiefelRegression(2, loss="huber").fit(X, Y)
    >>> squared = StiefelRegression(2).fit(X, Y)
    >>> bool(abs(robust.coef_ - coef).max() < 0.1 < abs(squared.coef_ - coef).max())
    True
    """

    missing = "error"

    def __init__(
        self,
        n_components: Any = None,
        *,
        loss: Any = "squared",
        alpha: Any = "auto",
        init: Any = None,
        output_weight: Any = None,
        scale: bool | str = False,
        online: str = "exact",
        pull: float | None = None,
        pull_growth: str = "constant",
        forget: float = 1.0,
        warm_start: bool = False,
        max_iter: int = 1000,
        tol: float = 1e-7,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.loss = loss
        self.alpha = alpha
        self.init = init
        self.output_weight = output_weight
        self.scale = scale
        self.online = online
        self.pull = pull
        self.pull_growth = pull_growth
        self.forget = forget
        self.warm_start = warm_start
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose

    # -- parameters ----------------------------------------------------------------------------

    def _is_exact(self) -> bool:
        return self.output_weight is None and isinstance(get_loss(self.loss), Squared)

    def _check_parameters(self) -> int | None:
        check_option("online", self.online, ("exact", "proximal"))
        check_option("pull_growth", self.pull_growth, ("constant", "linear"))
        check_start(self.init)
        check_number("forget", self.forget, "> 0 and <= 1", high=1.0, strict=True)
        if self.pull is not None:
            check_number("pull", self.pull, "> 0 and finite, or None", strict=True)
        check_flag("warm_start", self.warm_start)
        check_verbose(self.verbose)
        return super()._check_parameters()

    def _is_nested(self) -> bool:
        return self._is_exact()

    # -- batch ---------------------------------------------------------------------------------

    def _choose(self, choose: Callable[..., Numbers], *data: Any) -> int | None:
        if self._is_exact():
            return super()._choose(choose, *data)
        # Other losses take what suits the squared loss for a winsorised copy of y, in units of its own.
        X, Y, weights = data
        get_loss(self.loss).check_targets(Y)
        easy = winsorise(Y, get_loss(self.loss), weights)
        if isinstance(get_loss(self.loss), ResidualLoss):
            easy = LeaveOneOut(X, Y, weights, self.scale).pulled_in(Y, easy)
        pilot = ReducedRankRegression(self.n_components, alpha=self.alpha, scale=self.scale)
        self._chosen = choose(pilot, X, easy / spreads(easy, weights), weights)
        return self._chosen.n_components

    @with_callbacks
    def fit(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> StiefelRegression:
        """Fit the map.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features), or Rows
            Inputs; sparse for the squared loss only.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Outputs.
        sample_weight : array of shape (n_samples,), default=None
            Weight of each row, as many copies of it. If they sum to less than the rows, ``output_scale_``
            counts rows, otherwise weights.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self.__dict__.pop("_proximal", None)
        last = getattr(self, "coef_", None) if self.warm_start else None
        self._last_coef = None if last is None else np.atleast_2d(last)
        self._interrupted = False
        context = begin_fit(self, X, y)
        self._step_hook = step_hook(self, context)
        try:
            super().fit(X, y, sample_weight)
        finally:
            del self._last_coef, self._step_hook
        end_fit(self, context, X, y)
        return self

    def _fit_rows(
        self, X: Any, Y: NDArray, weights: Array | None, n_components: int | None
    ) -> tuple[Any, Factors]:
        self.loss_ = get_loss(self.loss)
        if self._is_exact():
            return super()._fit_rows(X, Y, weights, n_components)
        if not isinstance(X, np.ndarray):
            raise TypeError(
                f"sparse X needs loss='squared', got loss={self.loss!r}: densify X first."
            )
        self.loss_.check_targets(Y)
        start, start_name = check_start(self.init), "init"
        if self._last_coef is not None:
            start, start_name = self._last_coef, "warm_start: the last map"
        settings = LossSettings(
            self.loss_, self.alpha, self.scale, self.max_iter, self.tol,
            output_weight=self._output_weights(Y.shape[1]),
            start=start, start_name=start_name, verbose=self.verbose, callback=self._step_hook,
        )  # fmt: skip
        Y = np.asarray(Y, dtype=np.float64)
        return self._keep(fit_loss(X, Y, weights, n_components, settings, self._alpha_in_frame))

    def _keep(self, found: LossFit) -> tuple[Any, Factors]:
        """Set what a fit without a closed form has found; return what is stored."""
        self.loss_ = found.loss
        self.objective_ = found.objective
        self.output_scale_ = found.output_scale
        self.alpha_ *= found.ridge_factor
        self._report(found.result)
        return found.form, found.factors

    def _report(self, result: Any) -> None:
        self.n_iter_ = max(result.n_iter, 1)
        self._interrupted = result.reason is Reason.INTERRUPTED
        if not result.converged and not self._interrupted:
            reached = f"max_iter={self.max_iter}, certificate of the end {result.certificate:.1e}"
            told = f"{result.reason} ({reached}): raise max_iter or tol."
            warn(told, ConvergenceWarning)

    def _turn(self, factors: Factors) -> tuple[Array, Array] | None:
        """From the nested basis to the singular vectors of the map."""
        if not factors.y_loadings.shape[1]:
            return None
        R = np.linalg.qr(factors.rotations, mode="r")
        C = R @ factors.y_loadings.T
        U = graded_svd(C, np.linalg.norm(C, axis=0))[0][:, : len(R)]
        return np.asarray(np.linalg.solve(R, U), dtype=np.float64), U.T @ R

    def _store(self, form: Any, factors: Factors, X: Any = None, weights: Any = None) -> None:
        super()._store(form, factors, X, weights)
        if self.loss_.has_link:
            # The map is on another scale than y: it explains no share of its variance.
            self.y_explained_variance_ratio_ = np.full(self.n_components_, np.nan)
        s = np.linalg.norm(self.y_loadings_, axis=0)
        # Without scaling units are powers of two: one for inputs, and one for outputs unless they are so
        # far apart that each component belongs to outputs of one unit.
        x_unit = 1.0 if scales_x(self.scale) else self.x_scale_[0]
        y_units = (
            np.ones(len(self.y_loadings_)) if self.scale and self._is_exact() else self.y_scale_
        )
        self.singular_values_ = s * (y_units[np.abs(self.y_loadings_).argmax(axis=0)] / x_unit)
        self.y_rotations_ = self.y_loadings_ / np.where(s > 0, s, 1.0)
        if self._is_exact():
            ridge = ridge_in_units(self.alpha_, form.frame.ridge_unit(self.scale))
            objective = squared_objective(form, factors, ridge) * form.frame.weight_unit
            with np.errstate(over="ignore"):  # infinite where squares of y are
                self.objective_ = objective * float(y_units.max()) * float(y_units.max())

    # -- online --------------------------------------------------------------------------------

    @available_if(_takes_blocks)
    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> StiefelRegression:
        """Take in a block of rows, as ``online`` says.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Inputs, one row or many.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Outputs.
        sample_weight : array of shape (n_samples,), default=None
            Weight of each row.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._check_parameters()
        if self.online == "proximal":
            self._partial_fit_proximal(X, y, sample_weight)
            return self
        super().partial_fit(X, y, sample_weight)
        self.__dict__.pop("_proximal", None)
        return self

    def _before_block(self, n_rows: int) -> None:
        if self.forget < 1:
            self.moments_.discount(self.forget**n_rows)

    # -- use -----------------------------------------------------------------------------------

    @by_blocks
    def predict(self, X: ArrayLike) -> NDArray:
        """Predict outputs; for the logistic and Poisson losses these are probabilities and rates."""
        linear = super().predict(X)
        if isinstance(self.loss_, Squared):
            return linear
        return finite_answer(self, self.loss_.inverse_link(linear).astype(linear.dtype, copy=False))

    @property
    def coef_path_(self) -> NDArray:
        """Coefficients of the optimal maps of rank 1..``n_components_`` (closed form only)."""
        _has_path(self)
        return super().coef_path_

    @available_if(_has_path)
    def predict_path(self, X: ArrayLike) -> NDArray:
        """Predict with 1, 2, ..., ``n_components_`` components (squared loss).

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        path : ndarray of shape (n_components_, n_samples[, n_targets])
            ``path[i]`` is the prediction of the optimal map of rank ``i + 1``.
        """
        return super().predict_path(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._is_exact()
        return tags
