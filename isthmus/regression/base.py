"""What all latent-variable regressions share: fit in the cheapest form, explain, fold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length

from isthmus._linalg import Array, column_signs, inverse_root
from isthmus._validation import (
    check_count,
    check_enough_samples,
    check_number,
    check_option,
    check_weights,
    validate_data,
    warn,
)
from isthmus.problems import (
    FoldForms,
    FoldPath,
    Form,
    Frame,
    GramForm,
    MissingModel,
    MomentForm,
    Moments,
    RowForm,
    Rows,
    Split,
    expected_form,
    pairs,
)
from isthmus.problems.streams import as_rows
from isthmus.regression.chosen import Numbers, choose_numbers
from isthmus.regression.crossval import Task, fold_paths
from isthmus.regression.factors import Factors
from isthmus.regression.fitted import FLOATS, FittedMap
from isthmus.regression.streamed import check_targets, fit_source

# Up to this n p min(n, p) the decomposition of X costs less than that of its Gram matrix and a ridge
# system cost together; from there on squares are up to twice as fast.
_SMALL_PROBLEM = 100_000


def _takes_blocks(self: LatentRegression) -> bool:
    if self.missing == "em" or self._leaves_open():
        raise AttributeError(
            "partial_fit needs numbers and missing='error': 'auto' and 'em' need all rows at once."
        )
    return True


class LatentRegression(FittedMap, ABC):
    """A linear map of low rank, regressor and transformer at once; subclasses say how it is found."""

    _min_components = 1
    _choices: dict[str, tuple[str, ...]] = {"missing": ("error", "em")}  # values of parameters
    _ridge_path = False  # every ridge weight follows from one spectrum
    # A method of a subclass that shows the map in another basis than the nested one: the matrix that turns
    # rotations into it, (k, k), and its inverse.
    _turn: Callable[[Factors], tuple[Array, Array] | None] | None = None
    _needs_full_yy = False  # whether a fit to moments needs the products of different outputs

    n_components: Any
    scale: bool | str
    missing: str
    max_iter: int
    tol: float

    # -- what a subclass says ------------------------------------------------------------------

    @abstractmethod
    def _solve(self, form: Form, n_components: int | None) -> tuple[Form, Factors]:
        """Factors of a standardised problem, in the coordinates of the form that comes with them.

        That is the given one, or ``form.exactly()`` if the given one has lost digits that are needed.
        """

    def _cheapest_form(self, n: int, p: int, n_components: int | None) -> type[Form]:
        """The form in which a problem of this shape is solved first.

        Rows where their own decomposition costs nothing, else the smaller Gram matrix.
        """
        if n * p * min(n, p) <= _SMALL_PROBLEM:
            return RowForm
        # As many centred rows as columns have a null space.
        return MomentForm if p < n else GramForm

    def _fold_form(self, n: int, p: int, n_components: int) -> type[Form]:
        """The form in which the folds of a cross-validation are solved first."""
        return self._cheapest_form(n, p, n_components)

    def _solve_path(
        self, form: Form, n_components: int, alphas: list[Any]
    ) -> tuple[Form, Array, list[Array]]:
        """Return the form that was solved, rotations of all ridge weights side by side, and y_loadings
        of each; of one weight for estimators without a ridge.
        """
        form, factors = self._solve(form, n_components)
        return form, factors.rotations, [factors.y_loadings]

    def _is_nested(self) -> bool:
        """Whether the maps of all smaller ranks follow from one fit."""
        return True

    def _check_parameters(self) -> int | None:
        for name, options in self._choices.items():
            check_option(name, getattr(self, name), options)
        if not isinstance(self.scale, (bool, np.bool_)) and self.scale != "y":
            raise ValueError(
                f"scale == {self.scale!r}, must be True or False, or 'y' for outputs alone."
            )
        if hasattr(self, "max_iter"):  # samplers have neither
            check_count("max_iter", self.max_iter)
            check_number("tol", self.tol, ">= 0 and finite")
        given = self.n_components
        if given is None or (isinstance(given, str) and given == "auto"):
            return None
        return check_count("n_components", given, self._min_components, allowed="'auto', None")

    # -- fitting -------------------------------------------------------------------------------

    def _leaves_open(self) -> bool:
        """Whether a number is to be chosen."""
        return isinstance(self.n_components, str) or isinstance(getattr(self, "alpha", None), str)

    def _choose(self, choose: Callable[..., Numbers], *data: Any) -> int | None:
        """Choose what is "auto" from rows or moments; return the number of components."""
        return choose(self, *data).n_components

    def fit(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> LatentRegression:
        """Fit the map.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features), or Rows
            Inputs. NaN is allowed with ``missing="em"``. ``Rows`` hold inputs, outputs and weights, and are
            read block by block, once.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Outputs. NaN is allowed with ``missing="em"``.
        sample_weight : array of shape (n_samples,), default=None
            Weight of each row; a whole number counts as that many copies of the row.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        source = None if isinstance(X, np.ndarray) else as_rows(X, y, sample_weight)
        if source is not None:
            fit_source(self, source)
            return self
        n_components = self._check_parameters()
        rows, Y, weights = self._check_rows(X, y, sample_weight, reset=True, to_fit=True)
        self.n_iter_ = 1
        # Those of an earlier fit would pass for parts of this one.
        for name in ("moments_", "missing_model_", "_target_names"):
            self.__dict__.pop(name, None)
        if self._leaves_open():
            n_components = self._choose(choose_numbers, rows, Y, weights)
        if self.missing == "em":
            self._fit_expected(rows, Y, weights, n_components)
        else:
            self._store(*self._fit_rows(rows, Y, weights, n_components), rows, weights)
        return self

    @available_if(_takes_blocks)
    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> LatentRegression:
        """Take in a block of rows, of which moments are kept; the fit is that of all rows so far.

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
        self.moments_ = copy(self.moments_)  # changed in place; those before may be put back
        self._before_block(rows.shape[0])
        self.moments_._take(rows, Y, weights)
        self.n_iter_ = 1
        self._fit_moments(self.moments_, n_components)
        return self

    def _fit_moments(self, moments: Moments, n_components: int | None) -> None:
        """Fit to moments alone."""
        self._store(*self._solve(MomentForm.from_moments(moments, self.scale), n_components))

    def _fit_source_moments(self, source: Rows, moments: Moments, n_components: int | None) -> None:
        """Fit to the moments of all rows of a source."""
        check_targets(moments.xy)
        check_enough_samples(moments.n_samples)
        self._name_columns(source, len(moments.xx))
        self.n_iter_ = 1
        self.__dict__.pop("missing_model_", None)
        self._fit_moments(moments, n_components)
        self.__dict__.pop("moments_", None)

    def _name_columns(self, source: Rows, n_features: int) -> None:
        """Set what the checks of new rows and the shape of predictions go by."""
        super()._name_columns(source, n_features)
        self._y_is_1d = source.y_is_1d

    def _before_block(self, n_rows: int) -> None:
        """What a subclass does to its moments before a block, all checks passed, is taken in."""

    def _fit_rows(
        self, X: Any, Y: NDArray, weights: Array | None, n_components: int | None
    ) -> tuple[Form, Factors]:
        # Centred rows would be dense, so sparse ones are summed whatever their shape.
        kind: type[Form] = MomentForm
        if not sparse.issparse(X):
            kind = self._cheapest_form(X.shape[0], X.shape[1], n_components)
        return self._solve(kind.from_rows(X, Y, weights, self.scale), n_components)

    def _fit_expected(
        self, X: NDArray, Y: NDArray, weights: Array | None, n_components: int | None
    ) -> None:
        form, model = self._expected_form(X, Y, weights, n_components)
        self.missing_model_ = model
        self.n_iter_ = model.n_iter
        # For the sign rule, what is missing counts as its mean.
        observed = np.where(np.isnan(X), form.frame.x_mean, X)
        self._store(*self._solve(form, n_components), observed)

    def _expected_form(
        self, X: NDArray, Y: NDArray, weights: Array | None, n_components: int | None
    ) -> tuple[Form, MissingModel]:
        """The problem in the expected moments of incomplete rows, and the model of their gaps.

        The number of components decides of its form alone, so that one model serves all of them.
        """
        n, p = X.shape
        cheapest = self._cheapest_form(max(n, p + 1), p, n_components)
        # Without a ridge, moments of wide rows seldom have the digits.
        kind = MomentForm if cheapest is MomentForm and not self._ridge_path else RowForm
        return expected_form(kind, X, Y, weights, self.scale, self.max_iter, self.tol)

    def _check_rows(
        self, X: Any, y: Any, sample_weight: Any, reset: bool, to_fit: bool = False
    ) -> tuple[Any, NDArray, Array | None]:
        """Checked rows, outputs and weights; of all rows ``to_fit``, those that have a weight."""
        finite: Any = "allow-nan" if self.missing == "em" else True
        x_checks = {
            "accept_sparse": False if self.missing == "em" else "csr",
            "dtype": FLOATS,
            "ensure_all_finite": finite,
            "ensure_min_samples": 2 if to_fit else 1,  # one row is its own mean
        }
        y_checks = {"dtype": FLOATS, "ensure_2d": False, "ensure_all_finite": finite}
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
        Y = y.reshape(len(y), -1)
        weights = None if sample_weight is None else check_weights(sample_weight, X)
        if to_fit and weights is not None and not weights.all():
            X, Y, weights = X[weights > 0], Y[weights > 0], weights[weights > 0]
            check_enough_samples(len(Y))
        return X, Y, weights

    def _store(
        self, form: Form, factors: Factors, X: Any | None = None, weights: Array | None = None
    ) -> None:
        """Keep the fitted map; ``X`` are the training rows where there are any, for the sign rule."""
        # From the coordinates of the form to those of the features, and to the basis that is shown.
        if form.is_dual:
            factors.scores = factors.along_scores  # X'T in the coordinates of the samples
        if form.is_dual or form.basis is not None:
            factors.lift(form.to_features)
        if factors.warning:
            warn(factors.warning)
        turn = None if self._turn is None else self._turn(factors)
        if turn is not None:
            factors.turn(*turn)
        if not (form.x_squares.all() and form.y_squares.all()):
            factors.silence(form.x_squares == 0, form.y_squares == 0)
        rotations = factors.rotations / form.frame.x_scale[:, None]  # in the units of centred rows
        # The training score of largest absolute value is positive; without rows the weight, of any length.
        if factors.scores is not None and weights is None:  # they carry weights, the rule does not
            signs = column_signs(factors.scores)
        elif X is None:
            signs = column_signs(factors.rotations if factors.weights is None else factors.weights)
        else:
            # A'X' is faster than X A, since rows are stored together.
            T = X @ rotations if sparse.issparse(X) else (rotations.T @ X.T).T
            signs = column_signs(T, form.frame.x_mean @ rotations)

        self._nesting = None if turn is None else turn[0] * signs
        self.n_components_ = len(signs)
        self.solver_ = factors.solver
        self._store_map(form.frame, rotations, factors.y_loadings)
        self._store_components(form, factors, signs)

    def _store_map(self, frame: Frame, rotations: Array, y_loadings: Array) -> None:
        """Keep means, scales and the map, which does not depend on the signs of its factors."""
        self.x_mean_ = frame.x_mean
        self.x_scale_ = frame.x_scale
        self._x_rest = frame.x_rest
        self.y_mean_ = frame.y_mean
        self.y_scale_ = frame.y_scale
        self.weight_ = frame.weight * frame.weight_unit
        self.n_samples_ = frame.n_samples
        coef = (y_loadings * frame.y_scale[:, None]) @ rotations.T
        intercept = frame.y_mean - coef @ frame.x_mean - coef @ frame.x_rest
        self.coef_ = coef[0] if self._y_is_1d else coef
        self.intercept_ = float(intercept[0]) if self._y_is_1d else intercept

    def _store_components(self, form: Form, factors: Factors, signs: Array) -> None:
        """Keep weights and loadings, and the share of the variance that each component explains."""
        x_cross, gram, Q = factors.x_cross, factors.gram, factors.y_loadings
        # Principal components are their own weights and loadings.
        self.x_rotations_ = self.x_weights_ = self.x_loadings_ = factors.rotations * signs
        if factors.weights is not None:
            self.x_weights_ = factors.weights * signs
        elif not factors.principal:
            self.x_weights_ = self.x_rotations_ / np.linalg.norm(factors.rotations, axis=0)
        self.y_loadings_ = Q * signs
        self.score_gram_ = gram * (signs[:, None] * signs)
        if form.frame.weight_unit != 1.0:
            with np.errstate(over="ignore"):  # infinite for weights out of range of their squares
                self.score_gram_ *= form.frame.weight_unit

        # The squares of X and Y that each further component explains: of
        # ||Y||^2 - ||Y - TQ'||^2 = 2 <T'Y, Q'> - <T'T, Q'Q> the part of its last component.
        y_squares = 2 * np.einsum("kq,qk->k", factors.y_cross, Q)
        if np.count_nonzero(gram) == len(gram):  # orthogonal scores, of PLS and of PCR
            x_squares = gram.diagonal()
            y_squares -= x_squares * np.einsum("qk,qk->k", Q, Q)
            if x_cross is not None:
                loadings = x_cross / x_squares
                self.x_loadings_ = loadings * signs
                x_squares = np.einsum("pk,pk->k", loadings, x_cross)
        else:
            y_squares -= np.einsum("jk,jk->j", gram * (Q.T @ Q), pairs(len(gram)))
            inverse = inverse_root(gram)
            V = inverse @ factors.along_scores.T  # X' along orthonormal scores
            self.x_loadings_ = V.T @ (inverse * signs)
            x_squares = np.einsum("kp,kp->k", V, V)
        y_total = form.y_squares.sum()
        self.x_explained_variance_ratio_ = x_squares / form.x_squares.sum()
        self.y_explained_variance_ratio_ = y_squares / y_total if y_total > 0 else 0.0 * signs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.missing != "em"
        tags.input_tags.allow_nan = self.missing == "em"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    # -- folds ---------------------------------------------------------------------------------

    def _fold_tasks(
        self, folds: FoldForms, splits: Sequence[Split], n_components: int, alphas: list
    ) -> list[Task]:
        """Independent pieces of work, each of which yields splits with their paths."""

        def task(i: int, split: Split) -> list[tuple[int, list[FoldPath]]]:
            form = folds.without(split)
            return [(i, fold_paths(self, form, split.test, n_components, alphas))]

        return [partial(task, i, split) for i, split in enumerate(splits)]
