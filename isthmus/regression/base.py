"""What all latent-variable regressions share: fit in the cheapest form, predict, transform, explain."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    MultiOutputMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from isthmus.linalg import Array, column_signs, row_blocks, safe_cholesky, weight_unit
from isthmus.problems.forms import (
    Form,
    Frame,
    GramForm,
    InaccurateGram,
    MomentForm,
    RowForm,
    Units,
)
from isthmus.problems.missing import MissingModel, expected_moments
from isthmus.problems.sums import Moments
from isthmus.regression.crossval import choose_components
from isthmus.regression.factors import Factors
from isthmus.validation import (
    check_count,
    check_enough_samples,
    check_number,
    check_option,
    check_rank,
    check_scale,
    check_weights,
)

_FLOATS = (np.float64, np.float32)
_PREDICT_BLOCK = 2**17  # entries of X centred at a time: stays in cache


def _takes_blocks(self: LatentRegression) -> bool:
    if self.missing == "em" or self.n_components == "auto":
        raise AttributeError(
            "partial_fit needs a fixed n_components and missing='error': n_components='auto' and "
            "missing='em' need all rows at once."
        )
    return True


class LatentRegression(
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    MultiOutputMixin,
    RegressorMixin,
    BaseEstimator,
    ABC,
):
    """A linear map of low rank, regressor and transformer at once.

    Subclasses say how the two factors of the map are found (``_solve``), which form of the problem is
    the cheapest start (``_cheapest_form``), and their smallest number of components.
    """

    _min_components = 1
    _ridge_path = False  # every ridge weight follows from one spectrum
    _batches_folds = False  # many small folds can be solved as one stack

    n_components: Any
    scale: bool | str
    missing: str
    max_iter: int
    tol: float

    # -- what a subclass says ------------------------------------------------------------------

    @abstractmethod
    def _solve(self, form: Form, n_components: int | None, exact: bool) -> Factors:
        """Factors of a standardised problem, in the coordinates of its form.

        Where a Gram matrix has lost digits it raises ``InaccurateGram``, unless ``exact`` says that
        there is no better form to go to.
        """

    @abstractmethod
    def _cheapest_form(self, n: int, p: int, n_components: int | None) -> type[Form]:
        """The form in which a problem of this shape is solved first."""

    def _fold_form(self, n: int, p: int, n_components: int) -> type[Form]:
        """The form in which the folds of a cross-validation are solved first."""
        return self._cheapest_form(n, p, n_components)

    def _solve_path(
        self, form: Form, n_components: int, alphas: list[float], exact: bool
    ) -> tuple[Array, list[Array]]:
        """Rotations of all ridge weights side by side, and y_loadings of each; one where there is none."""
        factors = self._solve(form, n_components, exact)
        return factors.rotations, [factors.y_loadings]

    def _is_nested(self) -> bool:
        """Whether the maps of all smaller ranks follow from one fit."""
        return True

    def _turn(self, factors: Factors) -> Array | None:
        """Another basis in which the map is to be shown, (k, k); None keeps the nested one."""
        return None

    def _check_parameters(self) -> int | None:
        check_option("missing", self.missing, ("error", "em"))
        check_scale(self.scale)
        if hasattr(self, "max_iter"):  # samplers have neither
            check_count("max_iter", self.max_iter)
            check_number("tol", self.tol, ">= 0 and finite")
        if isinstance(self.n_components, str):
            check_option("n_components", self.n_components, ("auto",))
            return None
        return check_rank(self.n_components, minimum=self._min_components, allowed="'auto', None")

    # -- fitting -------------------------------------------------------------------------------

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> LatentRegression:
        """Fit the map.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Inputs. NaN is allowed with ``missing="em"``.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Outputs. NaN is allowed with ``missing="em"``.
        sample_weight : array of shape (n_samples,), default=None
            Weight of each row; a whole number counts as that many copies of the row.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        n_components = self._check_parameters()
        rows, Y, weights = self._check_rows(X, y, sample_weight, reset=True)
        if weights is not None and not weights.all():
            rows, Y, weights = rows[weights > 0], Y[weights > 0], weights[weights > 0]
        check_enough_samples(rows.shape[0])
        self.n_iter_ = 1
        self.__dict__.pop("moments_", None)
        self.__dict__.pop("missing_model_", None)
        if self.n_components == "auto":
            n_components = choose_components(self, rows, Y, weights)
        if self.missing == "em":
            self._fit_expected(rows, Y, weights, n_components)
        else:
            form, factors = self._fit_rows(rows, Y, weights, n_components)
            self._store(form, factors, rows, weights)
        return self

    @available_if(_takes_blocks)
    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> LatentRegression:
        """Take in a block of rows; the fit is that of all rows seen since the first call.

        Only moments are kept, ``n_features**2`` numbers, whatever the number of rows.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
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
        n_components = self._check_parameters()
        first = not hasattr(self, "moments_")
        rows, Y, weights = self._check_rows(X, y, sample_weight, reset=first)
        if first:
            self.__dict__.pop("missing_model_", None)  # of a fit before, which took NaN
            self.moments_ = Moments(rows.shape[1], Y.shape[1])
        elif Y.shape[1] != self.moments_.xy.shape[1]:
            raise ValueError(
                f"y has {Y.shape[1]} targets, but the blocks before had {self.moments_.xy.shape[1]}."
            )
        self._before_block(rows.shape[0])  # nothing is forgotten for a block that is refused
        self.moments_._take(rows, Y, weights)
        self.n_iter_ = 1
        self._store(*self._fit_moments(n_components))
        return self

    def _fit_moments(self, n_components: int | None) -> tuple[MomentForm | RowForm, Factors]:
        """Solve from the moments of all blocks: from their squares, or from the rows they stand for."""
        try:
            form = MomentForm.from_moments(self.moments_, self.scale)
            return form, self._solve(form, n_components, exact=False)
        except InaccurateGram:
            rows = RowForm.from_moments(self.moments_, self.scale)
            return rows, self._solve_few_rows(rows, n_components)

    def _solve_few_rows(self, form: RowForm, n_components: int | None) -> Factors:
        """Solve for rows that are not those of the user: their scores mean nothing."""
        factors = self._solve(form, n_components, exact=True)
        factors.scores = None
        return factors

    def _before_block(self, n_rows: int) -> None:
        """What a subclass does to its moments before a block, all checks passed, is taken in."""
        return None

    def _fit_rows(
        self, X: Any, Y: NDArray, weights: Array | None, n_components: int | None
    ) -> tuple[MomentForm | RowForm, Factors]:
        # Centred rows would be dense, so sparse ones are summed whatever their shape.
        is_sparse = sparse.issparse(X)
        kind = self._cheapest_form(X.shape[0], X.shape[1], n_components)
        try:
            if kind is MomentForm or is_sparse:
                form = MomentForm.from_rows(X, Y, weights, self.scale)
                return form, self._solve(form, n_components, exact=False)
            rows = RowForm.from_rows(X, Y, weights, self.scale)
            if kind is GramForm:
                factors = self._solve(rows.gram_form, n_components, exact=False)
                factors.scores = factors.along_scores  # X'T in the coordinates of the samples
                factors.lift(rows.X)
                return rows, factors
        except InaccurateGram:
            if is_sparse:
                rows = RowForm.from_blocks(X, Y, weights, self.scale)
                return rows, self._solve_few_rows(rows, n_components)
            if kind is MomentForm:
                rows = RowForm.from_rows(X, Y, weights, self.scale)
        return rows, self._solve(rows, n_components, exact=True)

    def _fit_expected(
        self, X: NDArray, Y: NDArray, weights: Array | None, n_components: int | None
    ) -> None:
        form, model = self._expected_form(X, Y, weights)
        self.missing_model_ = model
        self.n_iter_ = model.n_iter
        self._store(form, self._solve_few_rows(form, n_components), model.filled(X))

    def _expected_form(
        self, X: NDArray, Y: NDArray, weights: Array | None
    ) -> tuple[RowForm, MissingModel]:
        """The problem in the expected moments of incomplete rows, and the model of their gaps.

        Neither knows of the number of components, so that one serves all of them.
        """
        units = Units(weight=weight_unit(weights))
        weights = weights if weights is None else weights / units.weight
        moments, model = expected_moments(X, Y, weights, max_iter=self.max_iter, tol=self.tol)
        return RowForm.from_moments(moments, self.scale, units), model

    def _check_rows(
        self, X: Any, y: Any, sample_weight: Any, reset: bool
    ) -> tuple[Any, NDArray, Array | None]:
        finite: Any = "allow-nan" if self.missing == "em" else True
        x_checks = {
            "accept_sparse": False if self.missing == "em" else "csr",
            "dtype": _FLOATS,
            "ensure_all_finite": finite,
        }
        y_checks = {"dtype": _FLOATS, "ensure_2d": False, "ensure_all_finite": finite}
        try:
            separately = (x_checks, y_checks)
            X, y = validate_data(self, X, y, reset=reset, validate_separately=separately)
        except ValueError as error:
            raise self._with_hint(error) from error
        check_consistent_length(X, y)
        if y.ndim > 2:
            raise ValueError(f"y has {y.ndim} dimensions, expected 1 or 2.")
        if reset:
            self._y_is_1d = y.ndim == 1
        return X, y.reshape(len(y), -1), check_weights(sample_weight, X)

    def _store(
        self,
        form: MomentForm | RowForm,
        factors: Factors,
        X: Any | None = None,
        weights: Array | None = None,
    ) -> None:
        """Keep the fitted map; ``X`` are the training rows where there are any, for the sign rule."""
        frame = form.frame
        if factors.warning:
            warnings.warn(factors.warning, UserWarning, stacklevel=3)
        turn = self._turn(factors)
        if turn is not None:
            factors.turn(turn)
        factors.silence(form.x_squares == 0, form.y_squares == 0)
        signs = _signs(frame, factors, X, weights)
        factors.flip(signs)
        self._nesting = None if turn is None else turn * signs
        self.x_mean_, self.x_scale_ = frame.x_mean, frame.x_scale
        self._x_rest = frame.x_rest
        self.y_mean_, self.y_scale_ = frame.y_mean, frame.y_scale
        self.weight_, self.n_samples_ = frame.weight * frame.weight_unit, frame.n_samples
        self.n_components_ = factors.rotations.shape[1]
        self.solver_ = factors.solver
        self.x_weights_, self.x_rotations_ = factors.unit_weights, factors.rotations
        self.y_loadings_ = factors.y_loadings
        with np.errstate(
            over="ignore"
        ):  # infinite for weights that are out of range of their squares
            self.score_gram_ = factors.gram * frame.weight_unit
        self._explain(form, factors)
        coef = (self.y_loadings_ * self.y_scale_[:, None]) @ (
            self.x_rotations_ / self.x_scale_[:, None]
        ).T
        self.coef_ = coef[0] if self._y_is_1d else coef
        intercept = self.y_mean_ - coef @ self.x_mean_ - coef @ self._x_rest
        self.intercept_ = float(intercept[0]) if self._y_is_1d else intercept

    def _explain(self, form: MomentForm | RowForm, factors: Factors) -> None:
        """Loadings, and the share of the variances that each further component explains."""
        k = self.n_components_
        self.x_loadings_ = np.zeros_like(factors.rotations)
        self.x_explained_variance_ratio_ = np.zeros(k)
        self.y_explained_variance_ratio_ = np.zeros(k)
        if k == 0:
            return
        if factors.principal:
            self.x_loadings_ = factors.rotations
            explained = factors.gram.diagonal()
        else:
            inverse = np.linalg.inv(safe_cholesky(factors.gram))
            V = inverse @ factors.along_scores.T  # X' along orthonormal scores
            self.x_loadings_ = (inverse.T @ V).T
            explained = np.einsum("kp,kp->k", V, V)
        self.x_explained_variance_ratio_ = explained / form.x_squares.sum()
        # ||Y||^2 - ||Y - TQ'||^2 = 2 <T'Y, Q'> - <T'T, Q'Q>, each split by its last component.
        Q = factors.y_loadings
        overlap = np.tril(factors.gram * (Q.T @ Q))
        squares = 2 * overlap.sum(axis=1) - overlap.diagonal()
        gain = 2 * np.einsum("kq,qk->k", factors.y_cross, Q) - squares
        total = form.y_squares.sum()
        self.y_explained_variance_ratio_ = gain / total if total > 0 else np.zeros(k)

    # -- using the map -------------------------------------------------------------------------

    def predict(self, X: ArrayLike) -> NDArray:
        """Predict outputs.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            ``X @ coef_.T + intercept_``, in the shape of the ``y`` that was fitted.
        """
        rows = self._check_new(X)
        Y = self._affine(rows, np.atleast_2d(self.coef_).T) + self.y_mean_
        return (Y[:, 0] if self._y_is_1d else Y).astype(rows.dtype, copy=False)

    def predict_path(self, X: ArrayLike) -> NDArray:
        """Predict with 1, 2, ..., ``n_components_`` components.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        path : ndarray of shape (n_components_, n_samples[, n_targets])
            ``path[i]`` is the prediction of the map with ``i + 1`` components.
        """
        rows = self._check_new(X)
        rotations, loadings = self._path_factors()
        steps = self._affine(rows, rotations).T[:, :, None] * loadings.T[:, None, :]
        path = np.cumsum(steps, axis=0, out=steps) + self.y_mean_
        return (path[:, :, 0] if self._y_is_1d else path).astype(rows.dtype, copy=False)

    @property
    def coef_path_(self) -> NDArray:
        """Coefficients of 1..``n_components_`` components, (n_components_[, n_targets], n_features)."""
        check_is_fitted(self)
        rotations, loadings = self._path_factors()
        steps = loadings.T[:, :, None] * rotations.T[:, None, :]
        path = np.cumsum(steps, axis=0, out=steps)
        return path[:, 0] if self._y_is_1d else path

    def _path_factors(self) -> tuple[Array, Array]:
        """Factors in the user's units of which the first r columns are the map with r components."""
        rotations: Array = self.x_rotations_
        loadings: Array = self.y_loadings_
        if self._nesting is not None:
            rotations = np.linalg.solve(self._nesting.T, rotations.T).T.astype(np.float64)
            loadings = loadings @ self._nesting.T
        return rotations / self.x_scale_[:, None], loadings * self.y_scale_[:, None]

    def transform(self, X: ArrayLike) -> NDArray:
        """Scores of the inputs.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        T : ndarray of shape (n_samples, n_components_)
            ``((X - x_mean_) / x_scale_) @ x_rotations_``.
        """
        rows = self._check_new(X)
        T = self._affine(rows, self.x_rotations_ / self.x_scale_[:, None])
        return T.astype(rows.dtype, copy=False)

    def inverse_transform(self, X: ArrayLike) -> NDArray:
        """Inputs that have the given scores: the least squares reconstruction.

        Parameters
        ----------
        X : array of shape (n_samples, n_components_)
            Scores.

        Returns
        -------
        X_original : ndarray of shape (n_samples, n_features)
            ``(X @ x_loadings_.T) * x_scale_ + x_mean_``.
        """
        check_is_fitted(self)
        T = check_array(X, dtype=_FLOATS, input_name="X", ensure_min_features=0)
        if T.shape[1] != self.n_components_:
            raise ValueError(
                f"X has {T.shape[1]} columns of scores, but this {type(self).__name__} has "
                f"{self.n_components_} components."
            )
        original = (T @ self.x_loadings_.T) * self.x_scale_ + self.x_mean_
        return original.astype(T.dtype, copy=False)

    def y_scores(self, y: ArrayLike) -> NDArray:
        """Scores of the outputs: their least squares coordinates along ``y_loadings_``.

        Parameters
        ----------
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Outputs.

        Returns
        -------
        U : ndarray of shape (n_samples, n_components_)
            Minimum norm coordinates where there are more components than targets.
        """
        check_is_fitted(self)
        Y = check_array(y, dtype=_FLOATS, ensure_2d=False, input_name="y")
        Y = Y.reshape(len(Y), -1)
        if Y.shape[1] != len(self.y_mean_):
            raise ValueError(f"y has {Y.shape[1]} targets, expected {len(self.y_mean_)}.")
        Z = (Y - self.y_mean_) / self.y_scale_
        return (Z @ np.linalg.pinv(self.y_loadings_.T)).astype(Y.dtype, copy=False)

    def _check_new(self, X: Any) -> Any:
        check_is_fitted(self)
        model = getattr(self, "missing_model_", None)
        try:
            X = validate_data(
                self,
                X,
                reset=False,
                accept_sparse="csr" if model is None else False,
                dtype=_FLOATS,
                ensure_all_finite=True if model is None else "allow-nan",
            )
        except ValueError as error:
            raise self._with_hint(error) from error
        return X if model is None else model.filled(X)

    def _with_hint(self, error: ValueError) -> ValueError:
        """The error of a check; where it is about NaN, with what can be done about them."""
        first = str(error).split("\n")[0]
        if "contains NaN" not in first:
            return error
        if "missing" in self.get_params(deep=False):
            return ValueError(
                f"{first}\nNaN is refused unless missing='em' is asked for, which fits by "
                "expectation-maximisation."
            )
        return ValueError(
            f"{first}\nNaN is refused: leave out or fill those rows, or take a model with missing='em' "
            "(PCR, PLS, ReducedRankRegression)."
        )

    def _affine(self, X: Any, A: Array) -> Array:
        """(X - x_mean_) @ A in float64; centred first, or a large mean would cost digits."""
        if sparse.issparse(X):
            return X @ A - (self.x_mean_ @ A + self._x_rest @ A)
        out = np.empty((X.shape[0], A.shape[1]))
        for rows in row_blocks(X.shape[0], max(64, _PREDICT_BLOCK // max(X.shape[1], 1))):
            np.matmul(X[rows] - self.x_mean_, A, out=out[rows])
        out -= self._x_rest @ A
        return out

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.missing != "em"
        tags.input_tags.allow_nan = self.missing == "em"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _signs(frame: Frame, factors: Factors, X: Any | None, weights: Array | None) -> Array:
    """The training score of largest absolute value is positive; without rows, the weight."""
    if (
        factors.scores is not None and weights is None
    ):  # scores carry the weights, the rule does not
        return column_signs(factors.scores)
    if X is None:
        return column_signs(factors.unit_weights)
    A = factors.rotations / frame.x_scale[:, None]
    if sparse.issparse(X):
        return column_signs(X @ A - frame.x_mean @ A)
    scores = A.T @ X.T  # long rows, which memory likes
    scores -= (frame.x_mean @ A)[:, None]
    return column_signs(scores.T)
