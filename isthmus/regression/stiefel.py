"""Stiefel regression: maps of low rank under any loss, batch and online."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if

from isthmus.linalg import Array
from isthmus.losses import Squared, get_loss
from isthmus.problems.frame import ridge_in_units, scales_x
from isthmus.regression.callbacks import (
    CallbackSupportMixin,
    begin_fit,
    end_fit,
    step_hook,
    with_callbacks,
)
from isthmus.regression.factors import Factors
from isthmus.regression.loss_fit import LossFit
from isthmus.regression.online import ProximalFit
from isthmus.regression.optimum import RankConstrained
from isthmus.validation import check_flag, check_number, check_option, check_verbose

_SOLVERS = ("auto", "exact", "lbfgs", "paper")
_STARTS = ("exact", "pls", "ridge", "identity")


def _takes_blocks(self: StiefelRegression) -> bool:
    if self.n_components == "auto" or (self.online == "exact" and not self._is_exact()):
        raise AttributeError(
            f"partial_fit with online='exact' needs a fixed n_components and the closed form of the "
            f"squared loss, got loss={self.loss!r} and solver={self.solver!r}: use online='proximal'."
        )
    return True


def _has_path(self: StiefelRegression) -> bool:
    if not self._is_exact() or hasattr(self, "_proximal"):
        raise AttributeError(
            "predict_path and coef_path_: only the closed form of the squared loss, fitted to all rows, "
            "has the maps of all ranks; fit again with the rank that is asked for."
        )
    return True


class StiefelRegression(LossFit, ProximalFit, CallbackSupportMixin, RankConstrained):
    r"""Multi-output regression under a rank constraint with the loss of your choice.

    .. math::
        \min_{\operatorname{rank} C \le r, \, b} \; \sum_i L(\Sigma^{-1} y_i, \Sigma^{-1} (C x_i + b))
        + \tfrac{\alpha}{2} \|\Sigma^{-1} C\|_F^2, \qquad C = V \operatorname{diag}(s) W^\top

    with orthonormal W and V, [BGFS2004]_ Sec. 4, [B2006]_ ch. 2. The diagonal of :math:`\Sigma`, the
    ``output_scale_``, has a robust scale of the residuals of each output, so that neither its unit nor its
    noise moves the fit of another. It is 1 for the squared loss, for losses with a link, for losses of
    your own, and for losses with a number in the units of y, such as ``Huber(delta=2.0)``: under a rank
    constraint these depend on the units of the outputs, the squared loss unless ``scale=True``.

    For the squared loss (half the squared error) the global optimum is known in closed form and is what
    is returned, the map of ``ReducedRankRegression``. For other losses L-BFGS descends over balanced
    factors in whitened coordinates, from the closed form for a winsorised copy of y. Losses with kinks are
    solved exactly by an interior-point method where the rank does not bind, and to their kinks where there
    are at most 10 000 entries of y; more are rounded ever more sharply. There minima may differ: with more
    inputs than half the rows, several starts and exchanges of components are tried, and the best kept.

    Parameters
    ----------
    n_components : int, "auto" or None, default=None
        Rank r; None is no constraint, 0 the loss' location alone, "auto" is for the squared loss.
    loss : str, Loss or pair of functions, default="squared"
        "squared", "absolute", "huber", "huber_rows", "epsilon_insensitive", "quantile", "log_cosh",
        "logistic", "poisson", a loss of ``isthmus.losses`` with its parameters, or functions
        ``(value, gradient)`` of ``(Y, Y_pred)``. A number such as delta of ``Huber(delta=2.0)`` is in the
        units of y, and the same for all outputs; left out, it is in units of ``output_scale_``.
    alpha : float or "auto", default="auto"
        Ridge weight on the scale of ``Ridge``, for outputs in units of ``output_scale_``. "auto" is
        ``1e-6 ||X||_2^2`` times the curvature of the loss, free of all units. ``online="proximal"`` has no
        ridge: its pull towards the last map, which starts at zero, takes that place.
    init : {"exact", "pls", "ridge", "identity"} or array (n_targets, n_features), default="exact"
        Start of the iterations; what an array lacks in rank is filled up by the closed form for what it
        leaves. Other starts are only tried beside "exact". "identity" is the papers' and may be a saddle.
    solver : {"auto", "exact", "lbfgs", "paper"}, default="auto"
        "auto" is the closed form for the squared loss and L-BFGS otherwise; "paper" follows geodesics
        downhill as the papers do, for the absolute loss through their hyperbolic tangent.
    output_weight : array of shape (n_targets,) or None, default=None
        Weight of each output in the loss, besides its scale. With it the squared loss is iterated like the
        others: the ridge does not know of weights, and there is no closed form for both.
    scale : bool or "y", default=False
        Whether columns of X (and for the squared loss y) are divided by their standard deviations; "y":
        those of y alone. Not with ``online="proximal"``.
    online : {"exact", "proximal"}, default="exact"
        What ``partial_fit`` keeps. "exact": moments, n_features**2 numbers, the fit is that of all rows
        (squared loss). "proximal": the last map alone, (n_features + n_targets) r numbers, and for losses
        other than the squared 256 residuals for their scale; each block, of one row or many, pulls the
        map towards its own fit, and the intercept by what it weighs among all rows. The pull is as
        strong along every input: inputs of unlike units are to be standardised first.
    gamma : float or None, default=None
        Weight of the pull of "proximal" towards the last map, in units of X'X of a block (times the
        curvature of the loss, 1 for "squared" and "huber"): larger is slower. None is half the sum of the
        block's squares, shared out over its directions, the fewer of its rows and inputs.
    gamma_growth : {"constant", "linear"}, default="constant"
        Whether gamma is multiplied by the number of the block.
    forget : float, default=1.0
        Factor a row, in (0, 1], by which "exact" discounts what it has seen before.
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
        init: Any = "exact",
        solver: str = "auto",
        output_weight: Any = None,
        scale: bool | str = False,
        online: str = "exact",
        gamma: float | None = None,
        gamma_growth: str = "constant",
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
        self.solver = solver
        self.output_weight = output_weight
        self.scale = scale
        self.online = online
        self.gamma = gamma
        self.gamma_growth = gamma_growth
        self.forget = forget
        self.warm_start = warm_start
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose

    # -- parameters ----------------------------------------------------------------------------

    def _is_exact(self) -> bool:
        closed = self.solver in ("auto", "exact") and self.output_weight is None
        return closed and isinstance(get_loss(self.loss), Squared)

    def _check_parameters(self) -> int | None:
        loss = get_loss(self.loss)
        check_option("solver", self.solver, _SOLVERS)
        check_option("online", self.online, ("exact", "proximal"))
        check_option("gamma_growth", self.gamma_growth, ("constant", "linear"))
        if self.solver == "exact" and not isinstance(loss, Squared):
            raise ValueError(
                f"solver == 'exact' with loss == {self.loss!r}: only the squared loss has a closed form, "
                "use solver='auto'."
            )
        if self.solver == "exact" and self.output_weight is not None:
            raise ValueError(
                "solver == 'exact' has no closed form with output_weight: use solver='auto'."
            )
        if isinstance(self.init, str):
            check_option("init", self.init, _STARTS)
        else:
            self._check_init()
        check_number("forget", self.forget, "> 0 and <= 1", high=1.0, strict=True)
        if self.gamma is not None:
            check_number("gamma", self.gamma, "> 0 and finite, or None", strict=True)
        check_flag("warm_start", self.warm_start)
        check_verbose(self.verbose)
        if self.n_components == "auto" and not self._is_exact():
            raise ValueError(
                "n_components == 'auto' is for the squared loss: give a number, or search with "
                "ComponentSearchCV."
            )
        return super()._check_parameters()

    def _check_init(self) -> None:
        try:
            finite = np.isfinite(np.asarray(self.init, dtype=np.float64)).all()
            if self.init is None:
                raise TypeError
        except (TypeError, ValueError):
            names = ", ".join(map(repr, _STARTS))
            raise ValueError(
                f"init == {self.init!r}, must be one of {names} or an array (n_targets, n_features)."
            ) from None
        if not finite:
            raise ValueError("init has NaN or infinite entries, all must be finite.")

    def _is_nested(self) -> bool:
        return self._is_exact()

    # -- batch ---------------------------------------------------------------------------------

    @with_callbacks
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> StiefelRegression:
        """Fit the map.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Inputs; sparse for the squared loss only.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Outputs.
        sample_weight : array of shape (n_samples,), default=None
            Weight of each row; a whole number counts as that many copies of the row.

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
        if self._interrupted:  # the last complete step is kept
            raise KeyboardInterrupt
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
        return self._fit_loss(X, np.asarray(Y, dtype=np.float64), weights, n_components)

    def _turn(self, factors: Factors) -> Array | None:
        """From the nested basis to the singular vectors of the map."""
        if not factors.y_loadings.shape[1]:
            return None
        R = np.linalg.qr(factors.rotations, mode="r")
        U, _, _ = np.linalg.svd(R @ factors.y_loadings.T, full_matrices=False)
        return np.asarray(np.linalg.solve(R, U[:, : len(R)]), dtype=np.float64)

    def _store(self, form: Any, factors: Factors, X: Any = None, weights: Any = None) -> None:
        super()._store(form, factors, X, weights)
        if self.loss_.has_link:
            # The map is on another scale than y: it explains no share of its variance.
            self.y_explained_variance_ratio_ = np.full(self.n_components_, np.nan)
        s = np.linalg.norm(self.y_loadings_, axis=0)
        # Without scaling the frame has one unit on each side, a power of two.
        x_unit = 1.0 if scales_x(self.scale) else self.x_scale_[0]
        y_unit = 1.0 if self.scale and self._is_exact() else self.y_scale_[0]
        self.singular_values_ = s * (y_unit / x_unit)
        self.y_rotations_ = self.y_loadings_ / np.where(s > 0, s, 1.0)
        if self._is_exact():
            ridge = ridge_in_units(self.alpha_, form.frame.ridge_unit(self.scale))
            objective = _squared_objective(form, factors, ridge) * form.frame.weight_unit
            self.objective_ = objective * y_unit * y_unit

    # -- online --------------------------------------------------------------------------------

    @available_if(_takes_blocks)
    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> StiefelRegression:
        """Take in a block of rows.

        With ``online="exact"`` the fit is that of all rows seen, discounted by ``forget``; with
        ``online="proximal"`` the map moves from the last one towards the block's own.

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
            if self.scale:
                raise ValueError(
                    f"scale == {self.scale!r} with online == 'proximal', must be False: the deviations of "
                    "the columns are not known from blocks; standardise X beforehand, or use "
                    "online='exact'."
                )
            return self._partial_fit_proximal(X, y, sample_weight)
        self.loss_ = get_loss(self.loss)
        super().partial_fit(X, y, sample_weight)
        self.__dict__.pop("_proximal", None)
        return self

    def _before_block(self, n_rows: int) -> None:
        if self.forget < 1:
            self.moments_.discount(self.forget**n_rows)

    # -- use -----------------------------------------------------------------------------------

    def predict(self, X: ArrayLike) -> NDArray:
        """Predict outputs, on the scale of the targets.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            ``X @ coef_.T + intercept_``; for the logistic and Poisson losses probabilities and rates.
        """
        linear = super().predict(X)
        if isinstance(self.loss_, Squared):
            return linear
        return self.loss_.inverse_link(linear).astype(linear.dtype, copy=False)

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

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._is_exact()
        return tags


def _squared_objective(form: Any, factors: Factors, alpha: float) -> float:
    """Half of ||Y - XC||^2 + alpha ||C||^2, from the products that the factors carry."""
    Q = factors.y_loadings
    fitted = 2 * (factors.y_cross * Q.T).sum() - (factors.gram * (Q.T @ Q)).sum()
    coef = ((factors.rotations.T @ factors.rotations) * (Q.T @ Q)).sum()
    return 0.5 * float(form.y_squares.sum() - fitted + alpha * coef)
