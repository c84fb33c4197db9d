"""The comparison of methods by nested cross-validation, and the answers that follow from it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isthmus._linalg import Array
from isthmus.auto.answers import PREFERENCES, Answers, component_curve, describe_answer
from isthmus.auto.blend_trial import BlendTrial
from isthmus.auto.fitted import FittedSearch, _outputs
from isthmus.auto.given import (
    GivenRows,
    check_settings,
    problem_of,
    require_values,
)
from isthmus.auto.ladder import BLEND, MEAN, rungs_for
from isthmus.auto.methods.block_search import join_inputs
from isthmus.auto.problem import Problem
from isthmus.auto.progress import Leaderboard, Progress
from isthmus.auto.splits import inner_folds, outer_splits
from isthmus.auto.trials import Trial, baseline_score, each_warning_once, results_table
from isthmus.auto.trust import order_of, unit_model
from isthmus.inspection import FitRows, Order, names_of_outputs
from isthmus.model_selection import is_auto
from isthmus.problems import limit_threads

_FEWEST_TO_RACE = 100  # a first fold of fewer than twenty rows says too little to stop a method


class MethodSearchCV(FittedSearch):
    r"""Compare a ladder of methods by nested cross-validation and fit the best answer.

    Each method chooses its own numbers (components, ridge weight, kernel width) in inner folds of
    the training rows of an outer fold, where columns are centred and scaled too; the rows that are
    left out are predicted once. A fold's score is

    .. math::
        1 - \frac1q \sum_j \frac{\overline{(y_j - \hat y_j)^2}}{\operatorname{var} y_j}

    with the variances of all rows. Three answers follow, all of them judged on the same rows left out:
    the most accurate, the best of the methods and of their convex blend, whose weights in a fold are found
    from what the methods predict in the other folds (with fewer than 40 rows by models that have not seen
    the fold either, so that its score is fair), [B1996]_, [LPH2007]_; the simplest, which is the first
    method of the ladder within one standard error of the best, [HTF2009]_ Sec. 7.10; and the smallest, one
    map of low rank.

    Parameters
    ----------
    methods : "auto", str or sequence of str, default="auto"
        Names of rungs of the ladder: "pls", "pcr", "ridge", "reduced_rank", "stiefel", ... "auto"
        tries all that the data allow.
    prefer : {"accurate", "simple", "small"}, default="accurate"
        Which answer is fitted: the blend, unless one method is better by two standard errors;
        the simplest method within one standard error of the best; or one map of low rank, a kernel
        expansion compressed.
    cv : "auto", int, "time", splitter or iterable of (train, test), default="auto"
        Outer folds. A number is shuffled k-fold, at most one fold per two rows, and k-fold of groups if
        ``groups`` are given to ``fit``. What a row is decides its fold, not its place, and copies are left
        out together; but leaves of trees, evidence of Gaussian processes and standard errors count rows,
        so that a weight is not always as many copies. "time" trains on rows before those that are
        predicted. "auto" is five. If neighbouring rows then have similar errors (one false alarm in a
        thousand tables) and no output is sorted or holds classes, ``fit`` warns, and score and intervals of
        the answer are those of later rows predicted from earlier ones. "time" also chooses the answer by
        them.
    n_components : int or "auto", default="auto"
        Rank of the map, or its choice by cross-validation.
    loss : str, default="huber"
        Loss of the methods that take one.
    kernel : str, default="auto"
        Kernel of the kernel method. "auto" compares RBF, Laplacian and exponential kernels.
    scale : bool or "auto", default="auto"
        Whether columns of X are divided by their standard deviations. "auto" does so unless the columns
        are points of a curve (their names are numbers, or neighbours are all but equal). Those of y
        always are: no choice depends on the units of the outputs.
    treatments : "auto", dict, sequence of transformers or None, default="auto"
        Bank of treatments of curves, from which the methods choose in inner folds. "auto" is a bank of
        smoothing, derivatives and scatter corrections if the columns are points of a curve, else none.
    blocks : dict of name and columns, or list of columns, default=None
        Columns of each source of inputs, for the methods "pls" and "ridge" of blocks; ``fit`` takes a dict
        of X too.
    scoring : str or callable, default=None
        Score of the outer folds, as in scikit-learn. None is the share of the variance above.
    time_limit : float or None, default=None
        Seconds for everything. A method is skipped or given up if it would leave no time to fit the
        answer to all rows, as its own folds and those of the methods before it tell; the first method
        always completes.
    n_jobs : int or None, default=None
        Outer folds that run side by side.
    random_state : int, default=0
        Seed for the folds and other random choices.
    verbose : int or None, default=0
        1 writes a leaderboard to standard error. None does so if a person is watching: in a terminal or
        a notebook.

    Attributes
    ----------
    best_estimator_ : estimator
        The chosen method, fitted to all rows.
    best_method_, best_index_, best_params_ :
        The choice.
    best_score_, best_score_error_ : float
        Score of the choice in the folds of ``cv_``, and its standard error.
    method_ : dict
        Label, paragraph, equation and literature of the chosen method.
    answers_ : dict
        For each preference: ``method``, ``label``, ``score``, ``standard_error``, ``numbers`` (that the
        model holds) and ``rows_per_second``.
    shown_estimator_ : estimator
        The model whose components the report shows: the chosen one, or the map of low rank
        if that has none.
    cv_results_ : dict
        For each method, the blend last: ``params``, ``rank_test_score``, ``mean_test_score``,
        ``std_test_score``, ``split{i}_test_score``, ``mean_fit_time`` as in scikit-learn's searches, and
        ``method``, ``label``, ``status``, ``standard_error``, ``difference_to_best``,
        ``difference_standard_error`` (fold by fold, from the best mean), ``rows_per_second``.
    domain_ : Domain
        What ``check`` and ``predict_interval`` know of the training rows; limits are those of the rows
        left out in the outer folds.
    notices_ : tuple of str
        What a person should know of the fit: rows that look ordered, rows that stand out.
    excluded_, scores_without_unusual_ : tuple
        Rows left out by ``exclude``; scores in folds without the rows that the notice names, and with them.
    cv_ : "time" or as given
        The outer folds of ``best_score_`` and of the errors of the answer; ``cv_results_`` compares in
        those that were given.
    curves_ : dict
        For the chosen method: scores of every number of components, with standard errors.
    baseline_score_ : float
        What predicting the mean of the training rows scores.
    residual_quantiles_ : ndarray of shape (m, n_targets)
        Sorted absolute errors of the left-out rows, for intervals, less what models of all rows gain.
    cv_predictions_ : ndarray of shape (n_samples, n_targets)
        Each row predicted by the chosen method without it, NaN for rows that were left out of the fit; not
        kept in a saved model.
    missing_model_ : MissingModel or None
        What fills gaps in X, if there were any in the fit.
    target_names_ : list of str
    scale_ : bool
    seconds_ : float

    Examples
    --------
    >>> from isthmus import MethodSearchCV
    >>> from isthmus.datasets import make_low_rank_regression
    >>> X, Y, _ = make_low_rank_regression(60, 8, 3, rank=2, noise=0.3, random_state=0)
    >>> search = MethodSearchCV(methods=["pls", "reduced_rank"], cv=5).fit(X, Y)
    >>> search.best_method_
    'blend'
    >>> search.predict(X).shape
    (60, 3)
    """

    def __init__(
        self,
        methods: Any = "auto",
        *,
        prefer: str = "accurate",
        cv: Any = "auto",
        n_components: Any = "auto",
        loss: str = "huber",
        kernel: str = "auto",
        scale: Any = "auto",
        treatments: Any = "auto",
        blocks: Any = None,
        scoring: Any = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: int = 0,
        verbose: int | None = 0,
    ) -> None:
        self.methods = methods
        self.prefer = prefer
        self.cv = cv
        self.n_components = n_components
        self.loss = loss
        self.kernel = kernel
        self.scale = scale
        self.treatments = treatments
        self.blocks = blocks
        self.scoring = scoring
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        progress: Progress | None = None,
        feature_names: Sequence[str] | None = None,
        target_names: Sequence[str] | None = None,
        on_interrupt: str = "keep",
        exclude: Any = None,
        keep: Any = None,
        row_names: Sequence[str] | None = None,
        **params: Any,
    ) -> MethodSearchCV:
        """Compare, choose and fit.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features), or dict of these
            Inputs; gaps (NaN) are filled, in a fold by what its training rows tell. A dict holds blocks
            by their names.
        y : array or frame of shape (n_samples,) or (n_samples, n_targets)
            Outputs; rows without any, or without weight, are left out, and single gaps are filled for
            training alone.
        progress : callable of (label, folds done, folds), default=None
            Told what is under way.
        feature_names, target_names, row_names : sequence of str, default=None
            Names of the columns, or None to ask the frames, and of the rows, numbered from 0 for None.
        on_interrupt : {"keep", "raise"}, default="keep"
            Whether an interrupt (Ctrl-C) ends the comparison and keeps the best found so far, if a method
            is done.
        exclude, keep : sequence of int or str, default=None
            Rows, by number or name: left out of everything; part of the domain even if they stand out.
        **params :
            ``sample_weight`` of shape (n_samples,), in the fits and in the scores; methods that take no
            weights are skipped. ``groups`` of shape (n_samples,): rows of a group are never parted.

        Returns
        -------
        self : object
            The fitted search.
        """
        begin = time.perf_counter()
        check_settings(self, on_interrupt)
        limit = np.inf if self.time_limit is None else begin + self.time_limit
        names = names_of_outputs(y, target_names)
        X, self.blocks_, feature_names = join_inputs(X, self.blocks, feature_names)
        rows, Y = self._check(X, y)
        if feature_names is not None:
            self.feature_names_in_ = np.array(feature_names, dtype=object)
        self.target_names_ = names or [f"y{j}" for j in range(Y.shape[1])]
        self._training = rows.copy(), Y.copy()
        fitted = self._choose_rows(exclude, keep, row_names, len(rows))
        given = GivenRows.of(rows, Y, params, fitted.numbers)
        fitted.numbers = np.flatnonzero(given.kept)
        require_values(given.X, given.Y, getattr(self, "feature_names_in_", None), names)
        board = Leaderboard(self.verbose, progress, self.time_limit)
        ends = () if on_interrupt == "raise" else (KeyboardInterrupt,)
        with limit_threads(len(rows)), each_warning_once():
            given.fill_gaps()
            self.missing_model_ = None if given.filler is None else given.filler.model
            problem = problem_of(self, given.X, given.Y)
            self.scale_ = problem.scale
            answers = self._compare(given, problem, board, limit, on_interrupt)
            chosen = answers.choose(self.prefer)
            self._fit_answers(answers, chosen, board, limit)
            order, later = order_of(chosen, given.groups is not None), None
            if is_auto(self.cv) and order is not None and order.asks_for_time:
                board.say(
                    "the rows look ordered: the answer once more, later rows from earlier ones"
                )
                with suppress(*ends):
                    in_time = outer_splits("time", given.X, given.Y, None, 0)
                    later = answers.judge_again(chosen, in_time, board, limit)
            self._judge(chosen, later, order, answers.learning_factors(chosen), fitted)

            def score_without(places: NDArray) -> tuple[float, float] | None:
                rest = answers.judge_again(chosen, chosen.splits, board, limit, places)
                return None if rest is None else (rest.score, chosen.score)

            self._note_unusual(fitted, score_without, ends)
            self.cv_predictions_ = given.spread((later or chosen).predictions)
        self.seconds_ = time.perf_counter() - begin
        return self

    def _check(self, X: Any, y: Any) -> tuple[Array, Array]:
        if y is None:
            raise ValueError(
                "This MethodSearchCV estimator requires y to be passed, but the target y is None."
            )
        rows = self._rows(X, reset=True)
        outputs = _outputs(y)
        self._y_is_1d = outputs.ndim == 1
        Y = outputs.reshape(len(outputs), -1)
        if len(rows) != len(Y):
            raise ValueError(f"X has {len(rows)} rows and y has {len(Y)}: they must be the same.")
        return rows, Y

    def _compare(
        self,
        given: GivenRows,
        problem: Problem,
        board: Leaderboard,
        limit: float,
        on_interrupt: str,
    ) -> Answers:
        """Run every method in the outer folds, then blend those that may be."""
        rungs = rungs_for(self.methods, problem)
        X, Y, groups = given.X, given.Y, given.groups
        splits = outer_splits(given.among_kept(self.cv), X, Y, groups, self.random_state)
        as_given = Y[:, 0] if self._y_is_1d else Y
        blends = self.prefer == "accurate" and len(rungs) > 1
        options = {
            "weights": given.weights, "inner": inner_folds(self.cv, groups),
            "scoring": self.scoring, "filler": given.filler,
        }  # fmt: skip
        trials = [
            Trial(rung, X, as_given, splits, problem, is_blended=blends and rung.is_blended(problem),
                  **options)
            for rung in rungs
        ]  # fmt: skip
        may_race = blends and self.scoring is None and len(X) >= _FEWEST_TO_RACE
        try:
            for k, trial in enumerate(trials):
                done = [other for other in trials[:k] if other.is_done]
                races = may_race and trial.rung.may_stop
                rivals = [other for other in done if other.is_blended] if races else []
                # What is left once the methods that are done are fitted to all rows.
                left = limit - sum(other.refit_seconds for other in done) if k else np.inf
                trial.run(board, left, rivals)
                board.add(trial)
        except KeyboardInterrupt:
            if on_interrupt == "raise" or not any(trial.is_done for trial in trials):
                raise
            for trial in trials:
                if trial.status == "not begun":
                    trial.status = "interrupted"
        members = [t for t in trials if t.is_done and t.is_blended]
        blend = None
        if len(members) > 1:
            mean = Trial(MEAN, X, as_given, splits, problem, is_blended=True, **options)
            mean.run(lambda *told: None, np.inf)
            members.append(mean)
            blend = BlendTrial(BLEND, X, as_given, splits, problem, **options)
            left = limit - sum(member.refit_seconds for member in members)
            blend.blend(members, left, keep=on_interrupt == "keep")
            board.add(blend)
        return Answers(trials, members, blend)

    def _fit_answers(
        self, answers: Answers, chosen: Trial, board: Leaderboard, limit: float
    ) -> None:
        """Fit the answer that is preferred, and the others where there is time."""
        n = len(chosen.splits)
        board(f"{chosen.rung.label}, all rows", n, n)
        self.best_estimator_, self.best_params_ = answers.fit(chosen, small=self.prefer == "small")
        self.answers_ = {self.prefer: describe_answer(chosen, self.best_estimator_)}
        shown = answers.choose_shown(chosen)
        if answers.has_time(shown, limit):
            self.shown_estimator_, search = answers.fit_shown(shown)
        else:
            self.shown_estimator_, search = self.best_estimator_, None
        self.curves_ = component_curve(search)
        for prefer in PREFERENCES:
            other = answers.choose(prefer)
            if prefer != self.prefer and answers.has_time(other, limit):
                model, _ = answers.fit(other, small=prefer == "small")
                self.answers_[prefer] = describe_answer(other, model)
        self.answers_ = {name: self.answers_[name] for name in PREFERENCES if name in self.answers_}
        self.best_method_ = chosen.rung.name
        self.method_ = chosen.rung.as_dict()
        if chosen is answers.blend:
            for trial in answers.members:
                if trial.rung.name in self.best_estimator_.names_:
                    self.method_["references"] += list(trial.rung.references)
        trials = [*answers.trials, *([] if answers.blend is None else [answers.blend])]
        self.best_index_ = trials.index(chosen)
        self.cv_results_ = results_table(trials)
        self.n_samples_ = len(chosen.X)

    def _judge(
        self, chosen: Trial, later: Trial | None, order: Order | None, factors: Array, fitted: FitRows
    ) -> None:  # fmt: skip
        """Keep score, errors and domain of the chosen method, and warn of ordered rows.

        Ordered rows are judged where later ones are predicted from earlier ones; the limits of the domain
        are still those of shuffled folds, so that a row like none before it is flagged.
        """
        judged = chosen if later is None else later
        self.cv_ = self.cv if later is None else "time"
        self.best_score_ = judged.score
        self.best_score_error_ = judged.standard_error
        self.baseline_score_ = baseline_score(judged)
        self.n_splits_ = len(judged.splits)
        in_time = None if later is None else (later.predictions, later.splits)
        self._keep_domain(
            unit_model(self.best_estimator_, chosen.problem), fitted, chosen.X, chosen.given,
            chosen.predictions, chosen.splits, in_time, factors if later is None else 1.0,
        )  # fmt: skip
        self._note_order(order, None if later is None else (later.score, chosen.score))
