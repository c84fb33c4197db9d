"""Number of components and ridge weight by fast cross-validation."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    MetaEstimatorMixin,
    MultiOutputMixin,
    RegressorMixin,
    clone,
)
from sklearn.metrics import check_scoring, get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from isthmus.linalg import Array
from isthmus.problems.scores import QUICK_SCORES, OutputMean
from isthmus.problems.splits import Split, without_empty
from isthmus.regression.base import LatentRegression
from isthmus.regression.crossval import (
    PathScores,
    best_index,
    default_alphas,
    default_ranks,
    default_score,
    path_scores,
)
from isthmus.validation import check_alpha, check_enough_samples, check_option, check_rank


def _refitted(self: ComponentSearchCV) -> bool:
    if self.refit is False:
        raise AttributeError("refit=False: there is no best_estimator_ to ask.")
    return True


class ComponentSearchCV(MetaEstimatorMixin, MultiOutputMixin, RegressorMixin, BaseEstimator):
    r"""Choose the number of components and the ridge weight by cross-validation, all at once.

    The moments of a training fold are those of the whole less those of the fold, so that all folds
    cost one pass over the data; every number of components follows from one fit of a fold and
    every ridge weight from one decomposition. Means and scales are those of the training fold. The
    numbers are those of refitting in every fold, [E2024]_ for the principle. One differs on purpose: an
    output that is constant in the test rows has R2 1 where it is met to rounding and 0 elsewhere, also
    where scikit-learn's R2 divides rounding errors by each other. With ``missing="em"`` each
    fold finds one model of its gaps, by the very steps of a fit to its training rows, and all candidates
    follow from it: they too are those of refitting, to rounding (1e-8 of a score).

    Parameters
    ----------
    estimator : PCR, PLS, ReducedRankRegression or any latent regression of this library
        What to choose for. Its own ``n_components`` and ``alpha`` are not used.
    n_components : int or sequence of int, default=None
        Candidates; an int k stands for 1..k. None: all that the shape of a fold allows, at most 50.
    alpha : float or sequence of float, default=None
        Candidates for the ridge weight, where the estimator has one. None: zero and 21 values from
        1e-8 to 100 times the squared norm of the centred inputs.
    cv : int, splitter or iterable of (train, test), default=5
        Folds, as in scikit-learn: k-fold, grouped, leave-one-out, repeated, time series.
    scoring : str, callable, list or dict, default=None
        One scorer or several, as in scikit-learn, or a callable that returns a dict of scores. None is
        R2, or "q2" where a fold has a single test row, of which there is no R2 (leave-one-out): one less
        the squared error over the variance of the output in all rows, the mean over the outputs, so that
        no output counts by its unit. Sample weights count in the scores too, so that a row of weight
        two is two rows here as well, and one of weight zero none. Of missing targets
        (``missing="em"``) the observed ones are scored: each output by itself, and the mean is taken; a
        callable of your own is given the rows that have all of them. Folds that are left with nothing
        to score are left out.
    rule : {"min", "one_se"}, default="min"
        Best mean score, or the simplest model (fewest components, then largest ``alpha``) within one
        standard error of it.
    refit : bool or str, default=True
        Whether to fit the chosen model to all rows; with several scorers the name of the one to go by.
    verbose : int, default=0
        1 shows a line of progress on long work.

    Attributes
    ----------
    cv_results_ : dict
        Scores of every candidate and split, in the form of scikit-learn's searches.
    best_params_, best_index_, best_score_ :
        The chosen candidate.
    best_estimator_ : estimator
        Fitted to all rows.
    n_splits_, refit_time_, scorer_, multimetric_ :
        As in scikit-learn's searches.

    Examples
    --------
    >>> from isthmus import ComponentSearchCV, PLS
    >>> from isthmus.datasets import make_low_rank_regression
    >>> X, Y, coef = make_low_rank_regression(100, 12, 4, rank=2, random_state=0)
    >>> search = ComponentSearchCV(PLS(), n_components=8, rule="one_se").fit(X, Y)
    >>> search.cv_results_["mean_test_score"].shape
    (8,)
    >>> search.predict(X).shape
    (100, 4)
    """

    multimetric_: bool
    best_params_: dict[str, Any]

    def __init__(
        self,
        estimator: Any,
        *,
        n_components: Any = None,
        alpha: Any = None,
        cv: Any = 5,
        scoring: Any = None,
        rule: str = "min",
        refit: Any = True,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_components = n_components
        self.alpha = alpha
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.refit = refit
        self.verbose = verbose

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> ComponentSearchCV:
        """Score all candidates and fit the chosen one.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Inputs.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Outputs.
        sample_weight : array of shape (n_samples,), default=None
            Weight of each row, in the fits and in the scores.
        groups : array of shape (n_samples,), default=None
            Groups for a grouped splitter.

        Returns
        -------
        self : object
            The fitted search.
        """
        if not isinstance(self.estimator, LatentRegression):
            raise TypeError(
                f"estimator is a {type(self.estimator).__name__}, expected a latent regression such as "
                "PCR, PLS or ReducedRankRegression; scikit-learn's GridSearchCV searches any other."
            )
        check_option("rule", self.rule, ("min", "one_se"))
        model = clone(self.estimator)
        model.set_params(n_components=1)._check_parameters()
        checked, Y, weights = model._check_rows(X, y, sample_weight, reset=True)
        check_enough_samples(checked.shape[0])
        splits = self._splits(checked, Y, groups)
        checked, Y, weights, splits = self._without_empty(checked, Y, weights, splits)
        self.n_features_in_ = model.n_features_in_
        if hasattr(model, "feature_names_in_"):
            self.feature_names_in_ = model.feature_names_in_
        ranks = self._ranks(model, checked, Y, splits)
        alphas = self._alphas(model, checked, weights)
        names, scorers = self._scorers(default_score(Y, splits))
        found = path_scores(
            model, checked, Y, weights, splits, ranks, alphas, names,
            y_is_1d=model._y_is_1d, progress=_progress if self.verbose else None,
        )  # fmt: skip
        self.scorer_ = scorers if self.multimetric_ else scorers["score"]
        if not self.multimetric_ and set(found.scores) != {
            "score"
        }:  # a callable that returns a dict
            self.multimetric_ = True
            self._check_refit(found.scores)
        self.n_splits_ = len(splits)
        self.cv_results_ = _results(found, hasattr(model, "alpha"))
        self._choose(found)
        if self.refit is not False:
            begin = time.perf_counter()
            self.best_estimator_ = clone(self.estimator).set_params(**self.best_params_)
            self.best_estimator_.fit(X, y, sample_weight=sample_weight)
            self.refit_time_ = time.perf_counter() - begin
        return self

    def _splits(self, X: Any, Y: NDArray, groups: Any) -> list[Split]:
        pairs = check_cv(self.cv).split(X, Y, groups)
        splits = [Split(train, test, X.shape[0]) for train, test in pairs]
        if not splits:
            raise ValueError(f"cv == {self.cv!r} gives no split.")
        if any(len(split.test) == 0 for split in splits):
            raise ValueError(f"cv == {self.cv!r} leaves no row to test on in a split.")
        return splits

    def _without_empty(
        self, X: Any, Y: NDArray, weights: Array | None, splits: list[Split]
    ) -> tuple[Any, NDArray, Array | None, list[Split]]:
        X, Y, weights, splits = without_empty(X, Y, weights, splits)
        if not splits:
            raise ValueError(
                f"cv == {self.cv!r} gives no split with a test row that has a weight and a target."
            )
        for split in splits:
            if split.n_train < 2:
                rows = "row" if split.n_train == 1 else "rows"
                raise ValueError(
                    f"cv == {self.cv!r} leaves {split.n_train} {rows} to train on "
                    f"(n_samples={X.shape[0]}), at least 2 are needed: use fewer folds or more rows."
                )
        return X, Y, weights, splits

    def _ranks(self, model: Any, X: Any, Y: NDArray, splits: list) -> list[int]:
        least = model._min_components
        if self.n_components is None:
            n_train = min(split.n_train for split in splits)
            return default_ranks(model, n_train, X.shape[1], Y.shape[1])
        if isinstance(self.n_components, Integral):
            most = check_rank(self.n_components, minimum=max(least, 1))
            assert most is not None
            return list(range(1, most + 1))
        if isinstance(self.n_components, str) or not isinstance(self.n_components, Iterable):
            raise ValueError(
                f"n_components == {self.n_components!r}, must be None, an int or a sequence of ints."
            )
        ranks = [check_rank(rank, minimum=least) for rank in self.n_components]
        if not ranks or None in ranks:
            raise ValueError(f"n_components == {self.n_components!r}, must list at least one int.")
        return [int(rank) for rank in ranks if rank is not None]

    def _alphas(self, model: Any, X: Any, weights: Array | None) -> list[Any]:
        if not hasattr(model, "alpha"):
            if self.alpha is not None:
                warnings.warn(
                    f"alpha == {self.alpha!r} is not used: {type(model).__name__} has no ridge weight.",
                    UserWarning,
                    stacklevel=3,
                )
            return [None]
        if self.alpha is None:
            if model.missing == "em":
                X = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
            return default_alphas(X, weights, model.scale)
        values = np.atleast_1d(np.asarray(self.alpha, dtype=object)).tolist()
        if not values:
            raise ValueError("alpha is empty: give at least one ridge weight.")
        return [check_alpha(value) for value in values]

    def _scorers(self, default: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """What is scored, for the engine and for the user."""
        self.multimetric_ = isinstance(self.scoring, list | tuple | set | dict)
        if self.multimetric_:
            named = self.scoring if isinstance(self.scoring, dict) else {s: s for s in self.scoring}
            self._check_refit(named)
        else:
            named = {"score": self.scoring}
        engine: dict[str, Any] = {}
        public: dict[str, Any] = {}
        for name, scoring in named.items():
            scoring = default if scoring is None else scoring
            is_name = isinstance(scoring, str)
            # Of new rows, which are all that a fitted search is asked for, Q2 is R2.
            public[name] = get_scorer("r2" if scoring == "q2" else scoring) if is_name else scoring
            if not callable(public[name]):
                check_scoring(self.estimator, scoring=scoring)  # raises with scikit-learn's words
            engine[name] = OutputMean(public[name]) if is_name else public[name]
            if is_name and scoring in QUICK_SCORES:
                engine[name] = scoring
        return engine, public

    def _check_refit(self, names: Iterable[str]) -> None:
        if self.refit is not False and self.refit not in names:
            raise ValueError(
                f"refit == {self.refit!r}, must be False or one of the scorers {sorted(names)}."
            )

    def _choose(self, found: PathScores) -> None:
        if self.multimetric_ and self.refit is False:
            return
        scores = found.scores[self.refit if self.multimetric_ else "score"]
        flat = scores.reshape(-1, scores.shape[2])
        self.best_index_ = best_index(flat, found.ranks, found.alphas, self.rule)
        self.best_score_ = float(flat[self.best_index_].mean())
        self.best_params_ = self.cv_results_["params"][self.best_index_]

    @available_if(_refitted)
    def predict(self, X: ArrayLike) -> NDArray:
        """Predict with the chosen model.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Predictions.
        """
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    @available_if(_refitted)
    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Score the chosen model by the scorer it was chosen with.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Inputs.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Outputs.
        sample_weight : array of shape (n_samples,), default=None
            Weight of each row.

        Returns
        -------
        score : float
            The larger the better.
        """
        check_is_fitted(self)
        several = self.multimetric_ and not callable(self.scorer_)
        scorer: Any = self.scorer_[self.refit] if several else self.scorer_
        extra = {} if sample_weight is None else {"sample_weight": sample_weight}
        value = scorer(self.best_estimator_, X, y, **extra)
        return value[self.refit] if isinstance(value, dict) else value

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags


def _results(found: PathScores, has_alpha: bool) -> dict[str, Any]:
    """scikit-learn's ``cv_results_``; time is a fold's, shared evenly by its candidates."""
    params = [
        {"alpha": alpha, "n_components": rank} if has_alpha else {"n_components": rank}
        for alpha in found.alphas
        for rank in found.ranks
    ]
    results: dict[str, Any] = {}
    share = found.seconds / len(params)
    for name, value in (("mean_fit_time", share.mean()), ("std_fit_time", share.std())):
        results[name] = np.full(len(params), value)
    results["mean_score_time"] = results["std_score_time"] = np.zeros(len(params))
    for name in params[0]:
        values = np.ma.masked_all(len(params), dtype=type(params[0][name]))
        for i, candidate in enumerate(params):
            values[i] = candidate[name]
        results[f"param_{name}"] = values
    results["params"] = params
    for name, scores in found.scores.items():
        flat = scores.reshape(len(params), -1)
        for i in range(flat.shape[1]):
            results[f"split{i}_test_{name}"] = flat[:, i]
        results[f"mean_test_{name}"] = mean = flat.mean(axis=1)
        results[f"std_test_{name}"] = flat.std(axis=1)
        order = np.where(np.isnan(mean), -np.inf, mean)
        better = (order[None, :] > order[:, None]).sum(axis=1)
        results[f"rank_test_{name}"] = (1 + better).astype(np.int32)
    return results


def _progress(done: int, total: int) -> None:
    end = "\n" if done == total else ""
    print(f"\rfold {done} of {total}", end=end, file=sys.stderr, flush=True)
