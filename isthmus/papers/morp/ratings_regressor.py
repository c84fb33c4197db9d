"""Regression with incomplete outputs: a table of ratings is filled, for known items and for new ones."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import PredefinedSplit
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from isthmus._linalg import ROUNDING, Array
from isthmus._saved import saved
from isthmus._validation import (
    BaseEstimator,
    check_alpha,
    check_array,
    check_count,
    check_enough_samples,
    finite_answer,
    validate_data,
)
from isthmus.kernels import content_places, deal_by_content, gram, resolve_kernel
from isthmus.problems import MissingModel, fit_missing
from isthmus.regression import dual_ridge

_LATENT = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)  # numbers of latent dimensions that are tried
_RISES = 2  # as many larger numbers were worse: no larger one is tried
_HELD = 0.1  # share of the ratings that the choice is made by, ...
_ENOUGH_RATINGS = 20_000  # ... in five draws if there are fewer than these
_RELATIVE_ALPHAS = np.logspace(-3, 3, 13)  # times the mean of the centred kernel's diagonal


@saved(points_="n p", dual_coef_="n q", intercept_="q", noise_variance_="nan")
class RatingsRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):
    r"""Predict ratings of items from their features, and fill the gaps of a table of ratings.

    Rows are items, outputs are users; most users have rated few of the items, and NaN is in the gaps: the
    preference experiment of [YYT2005]_ Sec. 4. Two questions are answered:

    - *Items that somebody has rated.* The ratings of a user are a draw from one normal law of few latent
      dimensions, :math:`y_u \sim N(m, W W^\top + s^2 I)`, [TB1999]_, fitted by expectation maximisation
      to the observed entries. ``completed_`` has the conditional means, given what the user has rated, in
      the gaps.
    - *New items.* Kernel ridge regression of the completed table on the features of the items,

      .. math:: \hat y_u(x) = b_u + \sum_i k(x, x_i) A_{iu},

      which shares its ridge weight among users and is the mean of a user's completed ratings if the
      features tell nothing.

    The number of latent dimensions is chosen by ratings that were held out, the ridge weight by items that
    were held out with all their ratings, from the table and from the model of the gaps. The squared errors
    of all ratings count alike, so that users must rate on one scale: in other units of the ratings of some,
    the choice may be another.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of latent dimensions; "auto": the best of 1, 2, 3, 4, 6, ... 64 on a tenth of the ratings
        (five times a tenth if there are fewer than 20 000).
    kernel : kernel object, str or callable, default="rbf"
        Similarity of the features of two items.
    alpha : float or "auto", default="auto"
        Ridge weight on the scale of scikit-learn's ``Ridge``; "auto": by cross-validation.
    cv : int, default=5
        Number of folds of items, which are dealt to them by their features, copies together.
    max_iter : int, default=500
        Most iterations of expectation maximisation.
    tol : float, default=1e-4
        Relative change of the log-likelihood at which it stops.
    random_state : int, RandomState or None, default=0
        Seed for the held-out ratings and the folds.

    Attributes
    ----------
    completed_ : ndarray of shape (n_samples, n_targets) or (n_samples,)
        The table with its gaps filled. Items without any rating are predicted from their features. The
        ratings of a user who has rated nothing are those of an average user.
    user_means_, item_means_ : ndarray of shape (n_targets,), (n_samples,)
        Means of the observed ratings, the simplest predictions; NaN if there are none.
    n_components_ : int
        Number of latent dimensions; 0 if nothing was missing.
    alpha_ : float
        The ridge weight.
    alphas_, cv_errors_ : ndarray
        The weights that were tried, and the mean squared errors of held-out items, if ``alpha="auto"``.
    n_iter_ : int
        Iterations of the last expectation maximisation; 1 without gaps.
    noise_variance_ : float
        Of the ratings about their latent dimensions, in units of the variances of items; NaN without gaps.
    dual_coef_, intercept_, points_, kernel_ :
        The function of the features: coefficients (n_known_items, n_targets), constant terms, features
        of the items that have ratings, and the kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.papers.morp import RatingsRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(30, 4))  # features of items
    >>> Y = X @ rng.normal(size=(4, 50)) + 3.0  # what fifty users think of them
    >>> Y += 0.3 * rng.normal(size=Y.shape)
    >>> table = np.where(rng.random(Y.shape) < 0.5, Y, np.nan)
    >>> model = RatingsRegressor().fit(X, table)
    >>> gaps = np.isnan(table)
    >>> bool(np.corrcoef(model.completed_[gaps], Y[gaps])[0, 1] > 0.9)
    True
    """

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        kernel: Any = "rbf",
        alpha: float | str = "auto",
        cv: int = 5,
        max_iter: int = 500,
        tol: float = 1e-4,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.alpha = alpha
        self.cv = cv
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    # -- fit -----------------------------------------------------------------------------------

    def fit(self, X: ArrayLike, y: ArrayLike) -> RatingsRegressor:
        """Fill the table and fit the regression on features.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Features of the items.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Ratings, one row per item and one column per user; NaN: not rated.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, Y = self._check(X, y)
        rng = check_random_state(self.random_state)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Mean of empty slice", RuntimeWarning)
            self.user_means_, self.item_means_ = np.nanmean(Y, axis=0), np.nanmean(Y, axis=1)
        known = ~np.isnan(Y).all(axis=1)
        seen = Y[known]
        self.points_ = X[known]
        self.n_components_ = self._choose_components(seen, rng)
        filled, model = self._fill(seen, self.n_components_)
        self.n_iter_ = 1 if model is None else model.n_iter
        self.noise_variance_ = float("nan") if model is None else model.noise_variance
        self.kernel_ = resolve_kernel(self.kernel, self.points_)
        K = gram(self.kernel_, self.points_)
        self.alpha_ = self._choose_alpha(K, seen, filled, rng)
        self.dual_coef_, self.intercept_ = _solve(K, filled, self.alpha_)
        completed = np.empty_like(Y)
        completed[known] = filled
        if not known.all():
            completed[~known] = self._predict(X[~known])
        self.completed_ = completed[:, 0] if self._is_1d else completed
        return self

    def _check(self, X: Any, y: Any) -> tuple[Array, Array]:
        if y is None:
            raise ValueError(
                "This RatingsRegressor estimator requires y to be passed, but the target y is None."
            )
        if self.n_components != "auto":
            check_count("n_components", self.n_components)
        if self.alpha != "auto":
            check_alpha(self.alpha, allowed="'auto'")
        check_count("cv", self.cv, 2)
        X = validate_data(self, X, dtype=np.float64)
        Y = check_array(
            y, dtype=np.float64, ensure_2d=False, ensure_all_finite="allow-nan", input_name="y"
        )
        check_consistent_length(X, Y)
        check_enough_samples(len(X))
        self._is_1d = Y.ndim == 1
        Y = Y.reshape(len(Y), -1)
        if (~np.isnan(Y)).any(axis=1).sum() < 2:
            raise ValueError("y has ratings of fewer than two items: nothing can be learned.")
        return X, Y

    def _fill(self, Y: Array, n_latent: int) -> tuple[Array, MissingModel | None]:
        """The table with conditional means in its gaps, and their model; every item is rated."""
        if not np.isnan(Y).any():
            return Y, None
        rated = ~np.isnan(Y).all(axis=0)
        rows = Y.T[rated]
        _, model = fit_missing(
            rows, None, rows.shape[1], n_latent=n_latent, max_iter=self.max_iter, tol=self.tol
        )
        return model.filled(Y.T).T, model

    def _try_to_fill(self, Y: Array, n_latent: int) -> Array:
        """Return the filled table of a trial."""
        with warnings.catch_warnings():
            # Trials are compared by their errors; the fit itself tells if it has not converged.
            warnings.simplefilter("ignore", ConvergenceWarning)
            return self._fill(Y, n_latent)[0]

    def _choose_components(self, Y: Array, rng: Any) -> int:
        """The number of latent dimensions that tells held-out ratings best."""
        if not np.isnan(Y).any():
            return 0
        most = max(min(Y.shape) - 1, 1)
        if self.n_components != "auto":
            return min(int(self.n_components), most)
        draws = [
            draw for _ in range(self._n_draws(Y)) if (draw := self._held_ratings(Y, rng)).any()
        ]
        if not draws:
            return 1
        errors: list[float] = []
        tried = sorted({min(c, most) for c in _LATENT})
        for n_latent in tried:
            wrong = [
                (self._try_to_fill(np.where(held, np.nan, Y), n_latent) - Y)[held] for held in draws
            ]
            errors.append(float((np.concatenate(wrong) ** 2).mean()))
            if len(errors) - int(np.argmin(errors)) > _RISES:
                break
        return tried[int(np.argmin(errors))]

    def _n_draws(self, Y: Array) -> int:
        return 5 if np.count_nonzero(~np.isnan(Y)) < _ENOUGH_RATINGS else 1

    def _held_ratings(self, Y: Array, rng: Any) -> NDArray:
        """A tenth of the ratings; some of every item and every user stay."""
        places = np.ix_(content_places(self.points_), content_places(Y.T))  # not those of the table
        held = ~np.isnan(Y) & (rng.uniform(size=Y.shape)[places] < _HELD)
        held &= (np.isnan(Y) | held).mean(axis=1, keepdims=True) < 1.0
        held &= (np.isnan(Y) | held).mean(axis=0) < 1.0
        return held

    def _choose_alpha(self, K: Array, Y: Array, filled: Array, rng: Any) -> float:
        """The ridge weight that tells the ratings of held-out items best."""
        if self.alpha != "auto":
            return float(self.alpha)
        size = float(K.diagonal().mean())
        scale = size - float(K.mean())
        if scale <= ROUNDING * size:  # the features tell nothing; rounding may even be negative
            scale = 1.0
        alphas = _RELATIVE_ALPHAS * scale
        errors = np.zeros(len(alphas))
        gaps = np.isnan(Y).any()
        folds = PredefinedSplit(deal_by_content(self.points_, self.cv, rng, Y))
        for rest, held in folds.split():
            table = filled[rest]
            if gaps:  # what the held-out items tell of the gaps must not be in them
                table = self._try_to_fill(Y[rest], self.n_components_)
            for a, alpha in enumerate(alphas):
                coef, intercept = _solve(K[np.ix_(rest, rest)], table, alpha)
                wrong = K[np.ix_(held, rest)] @ coef + intercept - Y[held]
                errors[a] += np.nansum(wrong**2)
        self.alphas_, self.cv_errors_ = alphas, errors / np.count_nonzero(~np.isnan(Y))
        return float(alphas[int(errors.argmin())])

    # -- prediction ----------------------------------------------------------------------------

    def _predict(self, X: Array) -> Array:
        return np.asarray(gram(self.kernel_, X, self.points_) @ self.dual_coef_ + self.intercept_)

    def predict(self, X: ArrayLike) -> NDArray:
        """Predict the ratings of new items by all users.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Features of the items.

        Returns
        -------
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Ratings.
        """
        check_is_fitted(self)
        Y = self._predict(validate_data(self, X, reset=False, dtype=np.float64))
        return finite_answer(self, Y[:, 0] if self._is_1d else Y)

    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """Return R2 of the observed ratings, averaged over the users whose ratings differ."""
        Y = check_array(
            y, dtype=np.float64, ensure_2d=False, ensure_all_finite="allow-nan", input_name="y"
        )
        wrong = Y.reshape(len(Y), -1) - np.reshape(self.predict(X), (len(Y), -1))
        Y = Y.reshape(len(Y), -1)
        varies = np.array([len(np.unique(column[~np.isnan(column)])) > 1 for column in Y.T])
        if not varies.any():
            return float("nan")
        wrong, Y = wrong[:, varies], Y[:, varies]
        total = np.nansum((Y - np.nanmean(Y, axis=0)) ** 2, axis=0)
        return float(np.mean(1.0 - np.nansum(wrong**2, axis=0) / total))


def _solve(K: Array, Y: Array, alpha: float) -> tuple[Array, Array]:
    solved = dual_ridge(K, Y, max(alpha, 1e-12 * float(K.diagonal().mean())))
    if solved is None:
        raise ValueError(
            f"alpha == {alpha:g} is too small for this kernel: its matrix is singular. Use 'auto'."
        )
    return solved.dual_coef, solved.intercept
