"""A fitted linear map of low rank: predicting, transforming, and the maps of smaller rank."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import (
    ClassNamePrefixFeaturesOutMixin,
    MultiOutputMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from isthmus._linalg import Array, row_blocks
from isthmus._saved import saved
from isthmus._validation import (
    BaseEstimator,
    allow_far_rows,
    check_array,
    finite_answer,
    validate_data,
)
from isthmus.problems.streams import FittedToBlocks, as_rows, by_blocks, maps_blocks, score_source
from isthmus.regression.far_rows import warn_if_far

FLOATS = (np.float64, np.float32)
# Entries of X that are centred at a time: they stay in cache.
_PREDICT_BLOCK = 2**17


@saved(
    x_mean_="p", x_scale_="p", _x_rest="p", coef_="q p|p", intercept_="q|", y_mean_="q|1",
    y_scale_="q|1", x_rotations_="p r", x_weights_="p r", x_loadings_="p r", y_loadings_="q r|1 r",
    score_gram_="r r", _nesting="r r", output_scale_="q|1", x_explained_variance_ratio_="any",
    y_explained_variance_ratio_="any",
)  # fmt: skip
class FittedMap(
    FittedToBlocks,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    MultiOutputMixin,
    RegressorMixin,
    BaseEstimator,
):
    """What every latent-variable regression does once it is fitted."""

    # Whether directions come from the inverse of a covariance, all of whose columns fit the training rows.
    _inverts_covariance = False

    missing: str
    n_components_: int
    x_mean_: Array
    x_scale_: Array
    y_mean_: Array
    y_scale_: Array
    x_rotations_: Array
    x_loadings_: Array
    y_loadings_: Array
    coef_: Array
    intercept_: Any
    _x_rest: Array  # what rounding took from x_mean_
    # Turns the basis shown into one whose first columns are maps of smaller rank
    _nesting: Array | None
    _y_is_1d: bool

    @by_blocks
    def predict(self, X: ArrayLike) -> NDArray:
        """Predict outputs.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features), or Rows
            Inputs. Of ``Rows`` the predictions are yielded block by block.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            ``X @ coef_.T + intercept_``, in the shape of the ``y`` that was fitted.

        Warns
        -----
        OutsideDomainWarning
            If eight rows or more as a whole lie far from those of the fit, as spectra of another instrument
            do. Which rows, and why, is told by :class:`~isthmus.inspection.Trusted`.
        """
        rows = self._check_new(X)
        if not sparse.issparse(rows):
            warn_if_far(self, rows, stacklevel=3)
        Y = self._affine(rows, np.atleast_2d(self.coef_).T) + self.y_mean_
        Y = (Y[:, 0] if self._y_is_1d else Y).astype(rows.dtype, copy=False)
        return finite_answer(self, Y)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return R2 of the predictions, averaged over the outputs.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features), or Rows
            Inputs. Of ``Rows`` and Dask collections sums alone are kept.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Outputs.
        sample_weight : array of shape (n_samples,), default=None
            Weight of each row.

        Returns
        -------
        score : float
            At most 1.
        """
        source = as_rows(X, y, sample_weight)
        if source is None:
            with allow_far_rows():  # a score tells by itself that rows are predicted badly
                return float(super().score(X, y, sample_weight))
        check_is_fitted(self, "coef_")
        return score_source(self, source, len(self.y_mean_))

    def _enlarge_outputs(self, unit: Array) -> None:
        """Multiply all outputs of the map by ``unit``, where it was fitted to outputs divided by it."""
        self.y_mean_ = self.y_mean_ * unit
        self.y_scale_ = self.y_scale_ * unit
        if self._y_is_1d:
            self.coef_ = self.coef_ * unit[0]
            self.intercept_ = float(self.intercept_ * unit[0])
        else:
            self.coef_ = self.coef_ * unit[:, None]
            self.intercept_ = self.intercept_ * unit

    @by_blocks
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
        finite_answer(self, path.transpose(1, 0, 2))
        return (path[:, :, 0] if self._y_is_1d else path).astype(rows.dtype, copy=False)

    @property
    def coef_path_(self) -> NDArray:
        """Coefficients of 1..``n_components_`` components, (n_components_[, n_targets], n_features)."""
        check_is_fitted(self, "coef_")
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

    @maps_blocks
    def transform(self, X: ArrayLike) -> NDArray:
        """Return the scores of the inputs.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features), or Rows
            Inputs. Of ``Rows`` the result is ``Rows`` of the scores.

        Returns
        -------
        T : ndarray of shape (n_samples, n_components_)
            ``((X - x_mean_) / x_scale_) @ x_rotations_``.
        """
        rows = self._check_new(X)
        T = self._affine(rows, self.x_rotations_ / self.x_scale_[:, None])
        return finite_answer(self, T.astype(rows.dtype, copy=False))

    def inverse_transform(self, X: ArrayLike) -> NDArray:
        """Return inputs that have the given scores: the least squares reconstruction.

        Parameters
        ----------
        X : array of shape (n_samples, n_components_)
            Scores.

        Returns
        -------
        X_original : ndarray of shape (n_samples, n_features)
            ``(X @ x_loadings_.T) * x_scale_ + x_mean_``.
        """
        check_is_fitted(self, "coef_")
        T = check_array(X, dtype=FLOATS, input_name="X", ensure_min_features=0)
        if T.shape[1] != self.n_components_:
            raise ValueError(
                f"X has {T.shape[1]} columns of scores, but this {type(self).__name__} has "
                f"{self.n_components_} components."
            )
        original = (T @ self.x_loadings_.T) * self.x_scale_ + self.x_mean_
        return original.astype(T.dtype, copy=False)

    def y_scores(self, y: ArrayLike) -> NDArray:
        """Return the scores of the outputs: their least squares coordinates along ``y_loadings_``.

        Parameters
        ----------
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Outputs.

        Returns
        -------
        U : ndarray of shape (n_samples, n_components_)
            Minimum norm coordinates where there are more components than targets.
        """
        check_is_fitted(self, "coef_")
        Y = check_array(y, dtype=FLOATS, ensure_2d=False, input_name="y")
        Y = Y.reshape(len(Y), -1)
        if Y.shape[1] != len(self.y_mean_):
            raise ValueError(f"y has {Y.shape[1]} targets, expected {len(self.y_mean_)}.")
        Z = (Y - self.y_mean_) / self.y_scale_
        return (Z @ np.linalg.pinv(self.y_loadings_.T)).astype(Y.dtype, copy=False)

    def _check_new(self, X: Any) -> Any:
        check_is_fitted(self, "coef_")
        model = getattr(self, "missing_model_", None)
        try:
            X = validate_data(
                self,
                X,
                reset=False,
                accept_sparse="csr" if model is None else False,
                dtype=FLOATS,
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
