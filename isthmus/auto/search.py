"""The comparison of methods by nested cross-validation, and the choice of the simplest good one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.model_selection import KFold, check_cv
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from isthmus.auto.intervals import half_widths, sorted_errors
from isthmus.auto.ladder import Problem, rungs_for
from isthmus.auto.trials import (
    Progress,
    Splits,
    Trial,
    baseline_score,
    each_warning_once,
    results_table,
    simplest_good,
)
from isthmus.linalg import Array
from isthmus.plotting import ComponentCurveDisplay
from isthmus.reports import write_report
from isthmus.validation import check_rank

_FEWEST_ROWS = 5


class MethodSearchCV(MultiOutputMixin, RegressorMixin, BaseEstimator):
    r"""Compare a ladder of methods by nested cross-validation and fit the simplest good one.

    Each method chooses its own numbers (components, ridge weight, kernel width) in inner folds of
    the training rows of an outer fold, where columns are centred and scaled too; the rows that are
    left out are predicted once. A fold's score is

    .. math::
        1 - \frac1q \sum_j \frac{\overline{(y_j - \hat y_j)^2}}{\operatorname{var} y_j}

    with the variances of all rows. The simplest method (first on the ladder) whose mean score is within
    one standard error of the best is fitted to all rows, [HTF2009]_ Sec. 7.10.

    Parameters
    ----------
    methods : "auto", str or sequence of str, default="auto"
        Names of rungs of the ladder: "pls", "pcr", "ridge", "reduced_rank", "stiefel", ... "auto"
        tries all that the data allow.
    cv : int, splitter or None, default=10
        Outer folds; a number is shuffled k-fold, at most one fold a two rows.
    n_components : int or "auto", default="auto"
        Rank of the map, or its choice by cross-validation.
    loss : str, default="huber"
        Loss of the methods that take one.
    kernel : str, default="rbf"
        Kernel of the methods that take one.
    scale : bool or "auto", default="auto"
        Whether columns of X are divided by their standard deviations. "auto" does so unless the columns
        are points of a curve (their names are numbers, or neighbours are all but equal). Those of y
        always are: no choice depends on the units of the outputs.
    time_limit : float or None, default=None
        Seconds. No method is begun after it, and one that is under way is given up; the first always
        ends.
    random_state : int, default=0
        Of the folds and whatever else is drawn.

    Attributes
    ----------
    best_estimator_ : estimator
        The chosen method, fitted to all rows.
    best_method_, best_index_, best_params_, best_score_ :
        The choice.
    method_ : dict
        Label, paragraph, equation and literature of the chosen method.
    cv_results_ : dict
        For each method: ``method``, ``label``, ``status``, ``mean_test_score``,
        ``standard_error``, ``difference_to_best`` and ``difference_standard_error`` (fold by fold, from
        the method of the best mean), ``split{i}_test_score``, ``mean_fit_time``, ``rows_per_second``.
    curves_ : dict
        For the chosen method: scores of every number of components, with standard errors.
    baseline_score_ : float
        What predicting the mean of the training rows scores.
    residual_quantiles_ : ndarray of shape (m, n_targets)
        Sorted absolute errors of the left-out rows, for intervals.
    cv_predictions_ : ndarray of shape (n_samples, n_targets)
        Each row predicted by the chosen method without it; not kept in a saved model.
    target_names_ : list of str
    scale_ : bool
    seconds_ : float

    Examples
    --------
    >>> from isthmus import MethodSearchCV
    >>> from isthmus.datasets import make_low_rank_regression
    >>> X, Y, _ = make_low_rank_regression(60, 8, 3, rank=2, noise=0.3, random_state=0)
    >>> search = MethodSearchCV(methods=["pls", "reduced_rank"], cv=5).fit(X, Y)
    >>> search.best_method_ in ("pls", "reduced_rank")
    True
    >>> search.predict(X).shape
    (60, 3)
    """

    def __init__(
        self,
        methods: Any = "auto",
        *,
        cv: Any = 10,
        n_components: Any = "auto",
        loss: str = "huber",
        kernel: str = "rbf",
        scale: Any = "auto",
        time_limit: float | None = None,
        random_state: int = 0,
    ) -> None:
        self.methods = methods
        self.cv = cv
        self.n_components = n_components
        self.loss = loss
        self.kernel = kernel
        self.scale = scale
        self.time_limit = time_limit
        self.random_state = random_state

    # -- fitting -------------------------------------------------------------------------------

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        progress: Progress | None = None,
        feature_names: Sequence[str] | None = None,
        target_names: Sequence[str] | None = None,
    ) -> MethodSearchCV:
        """Compare, choose and fit.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Inputs; NaN where the methods asked for allow it.
        y : array or frame of shape (n_samples,) or (n_samples, n_targets)
            Outputs.
        progress : callable of (label, folds done, folds), default=None
            Told what is under way.
        feature_names, target_names : sequence of str, default=None
            Names of the columns; None asks the frames.

        Returns
        -------
        self : object
            The fitted search.
        """
        begin = time.perf_counter()
        limit = np.inf if self.time_limit is None else begin + self.time_limit
        names = getattr(y, "columns", None) if target_names is None else target_names
        rows, Y = self._check(X, y)
        if feature_names is not None:
            self.feature_names_in_ = np.array(feature_names, dtype=object)
        self.target_names_ = (
            [f"y{j}" for j in range(Y.shape[1])] if names is None else [str(name) for name in names]
        )
        problem = self._problem(rows, Y)
        self.scale_ = problem.scale
        rungs = rungs_for(self.methods, problem)
        splits = self._splits(rows)
        tell = progress if progress is not None else _silent
        as_given = Y[:, 0] if self._y_is_1d else Y
        trials = [Trial(rung, rows, as_given, splits, problem) for rung in rungs]
        with each_warning_once():
            for k, trial in enumerate(trials):
                trial.run(tell, limit if k else np.inf)
            self.best_index_ = simplest_good(trials)
            self._fit_chosen(trials[self.best_index_], tell)
        self._keep(trials)
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
        if len(rows) < _FEWEST_ROWS:
            raise ValueError(
                f"n_samples={len(rows)}: at least {_FEWEST_ROWS} rows are needed to compare methods."
            )
        return rows, Y

    def _rows(self, X: Any, *, reset: bool = False) -> Array:
        return validate_data(self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan")

    def _problem(self, X: Array, Y: Array) -> Problem:
        rank = None if self.n_components == "auto" else check_rank(self.n_components, minimum=1)
        if self.scale != "auto" and not isinstance(self.scale, bool | np.bool_):
            raise ValueError(f"scale == {self.scale!r}, must be True, False or 'auto'.")
        names = getattr(self, "feature_names_in_", None)
        scale = not _is_curve(X, names) if self.scale == "auto" else bool(self.scale)
        missing = bool(np.isnan(X).any() or np.isnan(Y).any())
        return Problem(
            n_samples=len(X), n_features=X.shape[1], n_targets=Y.shape[1], scale=scale,
            missing=missing, n_components=rank, loss=self.loss, kernel=self.kernel,
            random_state=self.random_state,
        )  # fmt: skip

    def _splits(self, X: Array) -> Splits:
        if isinstance(self.cv, int | np.integer) and not isinstance(self.cv, bool):
            if self.cv < 2:
                raise ValueError(f"cv == {self.cv}, must be >= 2.")
            n_splits = min(int(self.cv), len(X) // 2)
            splitter: Any = KFold(n_splits, shuffle=True, random_state=self.random_state)
        else:
            splitter = check_cv(self.cv)
        return list(splitter.split(X))

    def _fit_chosen(self, chosen: Trial, tell: Progress) -> None:
        n = len(chosen.splits)
        tell(f"{chosen.rung.label}, all rows", n, n)
        fitted = chosen.rung.build(chosen.problem).fit(chosen.X, chosen.y)
        self.best_estimator_ = getattr(fitted, "best_estimator_", fitted)
        self.best_params_ = dict(getattr(fitted, "best_params_", {}))
        self.best_method_ = chosen.rung.name
        self.method_ = chosen.rung.as_dict()
        self.curves_ = component_curve(fitted)

    def _keep(self, trials: list[Trial]) -> None:
        chosen = trials[self.best_index_]
        self.cv_results_ = results_table(trials)
        self.best_score_ = chosen.score
        self.baseline_score_ = baseline_score(chosen.Y, chosen.splits)
        self.n_splits_ = len(chosen.splits)
        self.n_samples_ = len(chosen.X)
        self.residual_quantiles_ = sorted_errors(np.abs(chosen.Y - chosen.predictions))
        self.cv_predictions_ = chosen.predictions
        self._training = (chosen.X, chosen.Y)

    # -- using the model -----------------------------------------------------------------------

    def predict(self, X: ArrayLike) -> NDArray:
        """Predict with the chosen model.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Predictions.
        """
        check_is_fitted(self)
        return self.predict_rows(self._rows(X))

    def predict_rows(self, rows: Array) -> NDArray:
        """Predict checked rows, an array with the columns of the fit."""
        return self.best_estimator_.predict(rows)

    def predict_interval(self, X: ArrayLike, level: float = 0.95) -> tuple[NDArray, NDArray]:
        """Bounds between which a new output lies with about the given probability.

        The half width is a quantile of the absolute errors of the rows left out in cross-validation,
        so that it holds for any method and any distribution of errors as long as new rows come from
        where the old ones came from. Bounds are infinite where there are too few rows for the level.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Inputs.
        level : float, default=0.95
            Probability for one output of one row.

        Returns
        -------
        lower, upper : ndarray in the shape of ``predict``
        """
        return self._around(self.predict(X), level)

    def interval_rows(self, rows: Array, level: float = 0.95) -> tuple[NDArray, NDArray]:
        """Bounds for checked rows, an array with the columns of the fit."""
        return self._around(self.predict_rows(rows), level)

    def _around(self, centre: NDArray, level: float) -> tuple[NDArray, NDArray]:
        widths = half_widths(self.residual_quantiles_, self.n_samples_, level)
        width = widths[0] if centre.ndim == 1 else widths
        return centre - width, centre + width

    @property
    def rank_(self) -> int | None:
        """Number of components of the chosen model; None where it has none."""
        rank = getattr(self.best_estimator_, "n_components_", self.best_params_.get("n_components"))
        return None if rank is None else int(rank)

    def report(
        self, path: Any, X: ArrayLike | None = None, y: ArrayLike | None = None, **options: Any
    ) -> None:
        """Write the report, one HTML file that works without network.

        Parameters
        ----------
        path : path
            The file.
        X, y : arrays or frames, default=None
            Other data to report on. None is the training data, with predictions of rows left out; a
            loaded model has them no more.
        **options :
            ``row_names``, ``image_shape``, ``output_image_shape``, ``command``, ``title``; see
            ``isthmus.reports.write_report``.
        """
        check_is_fitted(self)
        if (X is None) != (y is None):
            raise ValueError("give both X and y, or neither.")
        predictions = None
        if X is None:
            if not hasattr(self, "_training"):
                raise ValueError("a loaded model has no training data: give X and y to report on.")
            (rows, Y), predictions = self._training, self.cv_predictions_
        else:
            rows, Y = self._rows(X), _outputs(y)
            Y = Y.reshape(len(Y), -1)
            if Y.shape != (len(rows), len(self.target_names_)):
                raise ValueError(
                    f"y has shape {Y.shape}, expected {(len(rows), len(self.target_names_))}."
                )
        write_report(path, self, rows, Y, cv_predictions=predictions, **options)

    def training_summary(self) -> dict[str, Any]:
        """What a model file tells about the training, in the types of JSON."""
        check_is_fitted(self)
        results = self.cv_results_
        names = getattr(self, "feature_names_in_", None)
        return {
            "method": self.best_method_,
            "label": self.method_["label"],
            "params": {key: _json(value) for key, value in self.best_params_.items()},
            "n_components": self.rank_,
            "n_samples": self.n_samples_,
            "n_features": int(self.n_features_in_),
            "n_targets": len(self.target_names_),
            "feature_names": None if names is None else [str(name) for name in names],
            "target_names": self.target_names_,
            "scale": bool(self.scale_),
            "cv": [
                {
                    "method": results["method"][k],
                    "label": results["label"][k],
                    "status": results["status"][k],
                    "score": _json(results["mean_test_score"][k]),
                    "standard_error": _json(results["standard_error"][k]),
                    "difference_to_best": _json(results["difference_to_best"][k]),
                    "difference_standard_error": _json(results["difference_standard_error"][k]),
                    "seconds_a_fit": _json(results["mean_fit_time"][k]),
                }
                for k in range(len(results["method"]))
            ],
            "n_splits": self.n_splits_,
            "score": self.best_score_,
            "baseline_score": self.baseline_score_,
            "seed": self.random_state,
            **getattr(self, "origin_", {}),
        }

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {k: v for k, v in state.items() if k not in ("_training", "cv_predictions_")}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def fit_auto(
    X: ArrayLike,
    y: ArrayLike,
    *,
    cv: Any = 10,
    time_limit: float | None = None,
    report: Any = None,
    progress: Progress | None = None,
    **options: Any,
) -> MethodSearchCV:
    """From two tables to a model: compare the ladder of methods, choose, fit, and write a report.

    Parameters
    ----------
    X, y : arrays or frames
        Inputs (n_samples, n_features) and outputs (n_samples[, n_targets]).
    cv : int or splitter, default=10
        Outer folds of the comparison.
    time_limit : float or None, default=None
        Seconds for the comparison.
    report : path or None, default=None
        Where to write the report.
    progress : callable of (label, folds done, folds), default=None
        Told what is under way.
    **options :
        Of :class:`MethodSearchCV`: ``methods``, ``n_components``, ``loss``, ``kernel``, ``scale``,
        ``random_state``.

    Returns
    -------
    search : MethodSearchCV
        With ``best_estimator_``, ``cv_results_``, ``predict`` and ``report(path)``.

    Examples
    --------
    >>> from isthmus import fit_auto
    >>> from isthmus.datasets import make_low_rank_regression
    >>> X, Y, _ = make_low_rank_regression(60, 8, 3, rank=2, noise=0.3, random_state=0)
    >>> fit_auto(X, Y, cv=5, methods=["pls", "ridge"]).best_estimator_.coef_.shape
    (3, 8)
    """
    search = MethodSearchCV(cv=cv, time_limit=time_limit, **options).fit(X, y, progress=progress)
    if report is not None:
        search.report(report)
    return search


def component_curve(search: Any) -> dict[str, Any]:
    """Scores of each number of components of a fitted search; empty where none was searched."""
    if "param_n_components" not in getattr(search, "cv_results_", {}):
        return {}
    return dict(vars(ComponentCurveDisplay.compute(search)))


def _silent(label: str, done: int, total: int) -> None:
    """Tell nobody."""


def _outputs(y: Any) -> Array:
    return check_array(
        y, dtype=np.float64, ensure_2d=False, ensure_all_finite="allow-nan", input_name="y"
    )


def _is_curve(X: Array, names: Any) -> bool:
    """Whether the columns are points of a curve: numbers for names, or neighbours all but equal."""
    if names is not None and len(names) > 4:
        try:
            numbers = np.array([float(name) for name in names])
            steps = np.diff(numbers)
            if (steps > 0).all() or (steps < 0).all():
                return True
        except ValueError:
            pass
    if X.shape[1] < 20 or len(X) < 3 or np.isnan(X).any():
        return False
    Z = X - X.mean(axis=0)
    norms = np.linalg.norm(Z, axis=0)
    norms[norms == 0] = 1.0
    near = (Z[:, 1:] * Z[:, :-1]).sum(axis=0) / (norms[1:] * norms[:-1])
    return bool(np.median(near) > 0.98)


def _json(value: Any) -> Any:
    if isinstance(value, np.integer | int) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, np.floating | float):
        return float(value) if np.isfinite(value) else None
    return value if isinstance(value, str | bool | type(None)) else str(value)
