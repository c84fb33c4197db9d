"""Number of components and ridge weight by fast cross-validation."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.base import MetaEstimatorMixin, MultiOutputMixin, RegressorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from isthmus._saved import saved
from isthmus._validation import BaseEstimator, check_enough_samples, check_option
from isthmus.model_selection.candidates import (
    candidate_alphas,
    candidate_ranks,
    find_regression,
    known_columns,
    make_scorers,
    named_scorings,
    results_table,
)
from isthmus.model_selection.pooled import (
    COST_RULE,
    FOLD_ERRORS,
    POOLED_RULES,
    FoldErrors,
    choose,
    pool,
    resolve_rule,
)
from isthmus.model_selection.routing import (
    HandsOnTransforms,
    Routed,
    is_refitted,
    needs_refitting,
    route,
    search_router,
)
from isthmus.model_selection.scoring import (
    Grid,
    rows_of,
    score_by_refits,
    score_pipeline,
    score_rows,
    show_folds,
)
from isthmus.model_selection.splits import drop_empty, make_splits
from isthmus.model_selection.streamed import refit_source, search_source, source_score
from isthmus.problems.streams import as_rows
from isthmus.regression import default_score, split_weights


@saved(cv_results_="any", error_score="any", best_score_="any")
class ComponentSearchCV(
    HandsOnTransforms, MetaEstimatorMixin, MultiOutputMixin, RegressorMixin, BaseEstimator
):
    r"""Choose the number of components and the ridge weight by cross-validation, all at once.

    .. math::
        (k, \alpha) = \arg\max_{k, \alpha} \frac1F \sum_{f=1}^F
        \operatorname{score}(Y_f, X_f B_{-f}(k, \alpha) + b_{-f}(k, \alpha))

    with the map of each training fold, or by another ``rule``. It gives the scores of
    :class:`~sklearn.model_selection.GridSearchCV` for a fraction of the cost. The moments of a training
    fold are those of all rows minus those of the fold, so that all folds cost one pass over the data;
    every number of components follows from one fit per fold and every ridge weight from one
    decomposition. Means and scales are those of the training fold. The scores are those of refitting in
    every fold, [E2024]_ for the principle, with one intended difference: an output that is constant in
    the test rows has R2 1 if it is met to rounding and 0 otherwise. With ``missing="em"`` each fold
    estimates one model of its missing values, and all candidates follow from it: scores equal those of
    refitting to 1e-8.

    Parameters
    ----------
    estimator : PCR, PLS, ReducedRankRegression or any latent regression of this library, or a pipeline
        The estimator to choose for. Its own ``n_components`` and ``alpha`` are not used. The last step of
        a pipeline must be a latent regression; the steps before it are fitted once per fold.
    n_components : int or sequence of int, default=None
        Candidates; an int k stands for 1..k. None: all that the shape of a fold allows, at most 50.
    alpha : float or sequence of float, default=None
        Candidates for the ridge weight, if the estimator has one. None: zero and 21 values from
        1e-8 to 100 times the squared norm of the centred inputs.
    cv : int, "time", splitter or iterable of (train, test), default=5
        Folds, as in scikit-learn; with ``groups`` an int leaves out whole groups, "time" later rows.
    scoring : str, callable, list or dict, default=None
        One scorer or several, as in scikit-learn, or a callable that returns a dict of scores. None is
        R2, or "q2" if a fold has a single test row, for which R2 is undefined (leave-one-out): one minus
        the squared error over the variance of the output in all rows, averaged over the outputs. Missing
        targets (``missing="em"``) are left out: each output is scored on its observed rows, and the mean
        is taken; a callable receives the rows whose targets are complete. Folds without any observed
        target are left out.
    rule : {"auto", "best", "one_se", "pooled", "pooled_one_se", "randomization"}, default="auto"
        "auto" is the minimum of :math:`\log \mathrm{RMSECV}(k) + 0.005\,k / q` for q outputs: of a single
        output each component has to lower the error by half a percent; it is "best" if ``scoring`` is
        given. "best" has the best mean score over the folds; "one_se" is the simplest model (fewest
        components, then largest ``alpha``) within one standard error of it. The others pool the squared
        errors of all left-out rows as R's pls [MW2007]_, whatever ``scoring`` is: the smallest RMSECV; the
        simplest within one standard error of it; or the simplest that a randomization test [V1994]_ at
        level 0.01 does not tell from it. Each error is in units of its output's variance.
    refit : bool, str or callable, default=True
        Whether to fit the chosen model to all rows; with several scorers the name of the one to go by. A
        callable receives ``cv_results_`` and returns the index of the chosen candidate.
    n_jobs : int or None, default=None
        Number of threads for the folds (processes for pipelines). None: the threads of BLAS, and one
        process for pipelines.
    error_score : "raise" or number, default=np.nan
        Score of a fold whose fit or score fails, with a warning. If all folds fail, the error is raised.
    verbose : int, default=0
        1 shows progress.

    Attributes
    ----------
    cv_results_ : dict
        Scores of every candidate and split, in the form of scikit-learn's searches.
    best_params_, best_index_, best_score_ :
        The chosen candidate.
    best_estimator_ : estimator
        Fitted to all rows.
    rmsecv_ : ndarray of shape (n_candidates,) or (n_candidates, n_targets)
        Pooled error of each candidate in units of the outputs, in the order of ``cv_results_``; with a
        pooled rule only.
    n_splits_, refit_time_, scorer_, multimetric_ :
        As in scikit-learn's searches.

    Notes
    -----
    ``sample_weight`` is used in the fits (by the last step of a pipeline) and in the scores: a weight is as
    many copies. With metadata routing it goes where it is requested, as does ``groups``.

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
        rule: str = "auto",
        refit: Any = True,
        n_jobs: int | None = None,
        error_score: Any = np.nan,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_components = n_components
        self.alpha = alpha
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.refit = refit
        self.n_jobs = n_jobs
        self.error_score = error_score
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> ComponentSearchCV:
        """Score all candidates and fit the chosen one.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features), or Rows
            Inputs; for a pipeline whatever its first step takes. ``Rows`` are read once. With an int k as
            ``cv``, row i is in fold i modulo k; scores are those that follow from squared errors; the
            steps of a pipeline before the regression are fitted once, to all rows.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Outputs.
        sample_weight : array of shape (n_samples,), default=None
            Weight of each row; see the notes above.
        groups : array of shape (n_samples,), default=None
            Batches or replicates, of which none is in two folds.

        Returns
        -------
        self : object
            The fitted search.
        """
        check_option("rule", self.rule, ("auto", "best", "one_se", *POOLED_RULES))
        if isinstance(self.error_score, str):
            check_option("error_score", self.error_score, ("raise",))
        model, prefix = find_regression(self.estimator)
        model = clone(model).set_params(n_components=1)
        model._check_parameters()
        named, self.multimetric_ = named_scorings(self.scoring)
        if self.multimetric_:
            self._check_refit(named)
        source = as_rows(X, y, sample_weight)
        if source is not None:
            if groups is not None:
                raise ValueError("groups of Rows: pass a PredefinedSplit of the groups as cv.")
            treated = search_source(self, model, prefix, source, named)
            return self._refit(lambda best: refit_source(best, treated))
        given = {"sample_weight": sample_weight, "groups": groups}
        given = {name: value for name, value in given.items() if value is not None}
        routed = route(self, given, prefix)
        self._score_candidates(model, prefix, X, y, given, routed, named)
        return self._refit(lambda best: best.fit(X, y, **routed.fit_params))

    def _refit(self, fit: Callable[[Any], Any]) -> ComponentSearchCV:
        if self.refit is not False:
            begin = time.perf_counter()
            best = clone(self.estimator).set_params(**self.best_params_)
            if hasattr(self, "_sklearn_output_config"):
                best.set_output(**self._sklearn_output_config)
            self.best_estimator_ = fit(best)
            self.refit_time_ = time.perf_counter() - begin
            self.__dict__.update(known_columns(self.best_estimator_))
        return self

    # -- scores ------------------------------------------------------------------------------------

    def _score_candidates(
        self, model: Any, prefix: str, X: Any, y: Any, given: Any, routed: Routed, named: Any
    ) -> None:
        """Set ``cv_results_`` and the chosen candidate."""
        # Of a pipeline all rows are treated once: candidates left at None depend on the result.
        treatments = self.estimator[:-1] if prefix else None
        treated = X if treatments is None else clone(treatments).fit_transform(X, y)
        weights = given.get("sample_weight")
        checked, Y, weights = model._check_rows(treated, y, weights, reset=True)
        check_enough_samples(len(Y))
        if not prefix:
            self.__dict__.update(known_columns(model))
        all_splits = make_splits(self.cv, X if prefix else checked, Y, routed.groups)
        rows, kept_y, weights_kept, splits = drop_empty(self.cv, checked, Y, weights, all_splits)
        shape = (min(split.n_train for split in splits), rows.shape[1], Y.shape[1])
        ranks = candidate_ranks(self.n_components, model, shape)
        alphas = candidate_alphas(self.alpha, model, rows, weights_kept)
        by_refits = needs_refitting(self.estimator, named, prefix, routed)
        grid = self._grid(model, ranks, alphas, named, default_score(kept_y, splits), by_refits)
        self.__dict__.pop("rmsecv_", None)
        left_out: Any = None
        if by_refits:
            search = score_by_refits(self, X, y, given, all_splits, grid, prefix)
            self.cv_results_, self.n_splits_ = search.cv_results_, search.n_splits_
        else:
            if treatments is None:
                found = score_rows(model, rows, kept_y, weights_kept, splits, grid)
            else:
                samples = X if weights is None else rows_of(X, np.flatnonzero(weights > 0))
                targets = kept_y[:, 0] if model._y_is_1d else kept_y
                found = score_pipeline(
                    treatments, model, samples, targets, weights_kept, splits, grid
                )
            shares = split_weights(splits, weights_kept)
            left_out = self._keep(found, prefix, shares, Y.shape[1])
            if found.squares is not None:
                left_out = pool(found.squares, splits, weights_kept, kept_y)
                self.rmsecv_ = left_out.rmsecv[:, 0] if model._y_is_1d else left_out.rmsecv
        self._choose(ranks, alphas, left_out)

    def _grid(
        self, model: Any, ranks: list[int], alphas: list[Any], named: Any, default: str,
        by_refits: bool = False,
    ) -> Grid:  # fmt: skip
        self._rule = resolve_rule(self.rule, self.scoring, self.refit, by_refits)
        engine, public = make_scorers(self.estimator, named, default)
        if self._rule == COST_RULE:
            engine[FOLD_ERRORS] = "q2"
        self.scorer_ = public if self.multimetric_ else public["score"]
        progress = show_folds if self.verbose else None
        return Grid(
            ranks, alphas, engine, model._y_is_1d, self.n_jobs, self.error_score, progress,
            keep_squares=self._rule in POOLED_RULES and not callable(self.refit),
        )  # fmt: skip

    def _keep(self, found: Any, prefix: str, shares: NDArray, n_targets: int) -> FoldErrors | None:
        """Set the table of results; return the errors of the folds if the rule asks for them."""
        errors = FoldErrors.taken_from(found.scores, shares, n_targets)
        if not self.multimetric_ and set(found.scores) != {"score"}:  # a callable returned a dict
            self.multimetric_ = True
            self._check_refit(found.scores)
        self.n_splits_ = len(shares)
        self.cv_results_ = results_table(found, prefix)
        return errors

    def _check_refit(self, names: Iterable[str]) -> None:
        if self.refit is not False and not callable(self.refit) and self.refit not in names:
            raise ValueError(
                f"refit == {self.refit!r}, must be False or one of the scorers {sorted(names)}, "
                "or a callable."
            )

    def _choose(self, ranks: list[int], alphas: list[Any], left_out: Any) -> None:
        if self.multimetric_ and self.refit is False:
            return
        results = self.cv_results_
        if callable(self.refit):
            self.best_index_ = int(self.refit(results))
            self.best_params_ = results["params"][self.best_index_]
            if not self.multimetric_:
                self.best_score_ = float(results["mean_test_score"][self.best_index_])
            return
        name = self.refit if self.multimetric_ else "score"
        scores = [results[f"split{i}_test_{name}"] for i in range(self.n_splits_)]
        self.best_index_ = choose(self._rule, np.column_stack(scores), left_out, ranks, alphas)
        self.best_score_ = float(results[f"mean_test_{name}"][self.best_index_])
        self.best_params_ = results["params"][self.best_index_]

    # -- the chosen model --------------------------------------------------------------------------

    @available_if(is_refitted)
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

    @available_if(is_refitted)
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
        if (found := source_score(self, scorer, X, y, sample_weight)) is not None:
            return found
        extra: dict[str, Any] = {} if sample_weight is None else {"sample_weight": sample_weight}
        if extra and get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "score", **extra)
            extra = dict(routed[f"scorer_{self.refit}" if several else "scorer"].score)
        value = scorer(self.best_estimator_, X, y, **extra)
        return value[self.refit] if isinstance(value, dict) else value

    def get_metadata_routing(self) -> MetadataRouter:
        """Return where metadata go: the fits, the scorers and the splitter."""
        return search_router(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.transformer_tags = inner.transformer_tags
        return tags
