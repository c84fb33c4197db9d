"""A fitted search: predictions, intervals, names, the report, and what is told of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from isthmus._linalg import Array
from isthmus._saved import saved
from isthmus._validation import (
    BaseEstimator,
    allow_far_rows,
    check_array,
    check_option,
    finite_answer,
    validate_data,
)
from isthmus.auto.methods.block_search import are_blocks, block_importances, join_known
from isthmus.inspection import Trust, TrustLayer
from isthmus.model_selection import is_auto
from isthmus.reports import write_report

_WHY_NOT = {  # what has a better score than the answer is not the answer
    "accurate": "ahead by less than two standard errors",
    "simple": "less simple, and ahead by less than one standard error",
    "small": "no map of low rank",
}

_OF_METHODS = {  # what a summary tells of each method, and where that is among the results
    "method": "method", "label": "label", "status": "status", "score": "mean_test_score",
    "standard_error": "standard_error", "difference_to_best": "difference_to_best",
    "difference_standard_error": "difference_standard_error", "seconds_a_fit": "mean_fit_time",
}  # fmt: skip


@saved(cv_results_="any", curves_="any", answers_="any", best_score_error_="any")
class FittedSearch(TrustLayer, MultiOutputMixin, RegressorMixin, BaseEstimator):
    """What a search can do once it is fitted."""

    best_estimator_: Any
    best_method_: str
    best_params_: dict[str, Any]
    answers_: dict[str, dict[str, Any]]
    cv_results_: dict[str, Any]
    random_state: int
    # Files of before these parameters were there do not have them.
    prefer: str = "simple"
    treatments: Any = None
    scoring: Any = None
    n_jobs: int | None = None
    verbose: int | None = 0
    blocks: Any = None
    blocks_: dict[str, NDArray] | None = None  # columns of each block by its name
    missing_model_: Any = None

    def set_output(self, *, transform: str | None = None) -> FittedSearch:
        """Return predictions in this form, with the names of the targets.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None, default=None
            Form of predictions and bounds; None leaves it as it is.

        Returns
        -------
        self : object
            The search.
        """
        if transform is not None:
            check_option("transform", transform, ("default", "pandas", "polars"))
            self._output_form = transform
        return self

    def _named(self, values: NDArray, X: Any) -> Any:
        form = getattr(self, "_output_form", "default")
        if form == "default":
            return values
        columns = values.reshape(len(values), -1)
        if form == "pandas":
            import pandas as pd

            index = getattr(X, "index", None)
            return pd.DataFrame(columns, columns=self.target_names_, index=index)
        import polars as pl

        return pl.DataFrame(columns, schema=self.target_names_)

    @property
    def takes_gaps(self) -> bool:
        """Whether new rows may have gaps, as those of the fit had."""
        fills = self.missing_model_ is not None
        return fills or getattr(self.best_estimator_, "missing", "error") == "em"

    def complete_rows(self, rows: Array) -> Array:
        """Fill the gaps of checked rows, where the search does so before the model."""
        return rows if self.missing_model_ is None else self.missing_model_.filled(rows)

    def check_rows(self, rows: Array, predictions: Array | None = None) -> Trust:
        """Check rows, an array with the columns of the fit, and their predictions if they are known."""
        return super().check_rows(self.complete_rows(rows), predictions)

    def predict_rows(self, rows: Array) -> NDArray:
        """Predict checked rows, an array with the columns of the fit."""
        rows = self.complete_rows(rows)
        if not self.takes_gaps and np.isnan(rows).any():
            i, j = np.argwhere(np.isnan(rows))[0]
            names = getattr(self, "feature_names_in_", range(rows.shape[1]))
            raise ValueError(
                f"X: row {i} has no value in column {names[j]!r}, and the model was fitted on complete "
                "rows: fill it, leave the row out, or fit on rows with missing values."
            )
        with allow_far_rows():  # which the domain is asked about
            return finite_answer(self, self.best_estimator_.predict(rows))

    @property
    def rank_(self) -> int | None:
        """Number of components of the chosen model; None where it has none."""
        rank = getattr(self.best_estimator_, "n_components_", self.best_params_.get("n_components"))
        return None if rank is None else int(np.max(rank))

    @property
    def block_importances_(self) -> dict[str, float] | None:
        """Share of each block in the predictions, by its name; None where there is one block only."""
        if self.blocks_ is None:
            return None
        shares = block_importances(self.best_estimator_).tolist()
        return dict(zip(self.blocks_, shares, strict=True))

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

    @property
    def score_name(self) -> str:
        """What scores are called in reports: R2, unless ``scoring`` is something else."""
        if self.scoring is None:
            return "R2"
        return str(getattr(self.scoring, "__name__", self.scoring))

    @property
    def is_judged_in_time(self) -> bool:
        """Whether score and errors are of later rows, predicted from earlier ones."""
        cv = getattr(self, "cv_", None)  # files of earlier versions have none
        return isinstance(cv, str) and cv == "time"

    def training_summary(self) -> dict[str, Any]:
        """What a model file tells about the training, in the types of JSON."""
        check_is_fitted(self)
        return {
            "method": self.best_method_,
            "label": self.method_["label"],
            "params": {key: _json(value) for key, value in self.best_params_.items()},
            "n_components": self.rank_,
            "n_samples": self.n_samples_,
            "scale": bool(self.scale_),
            "cv": [
                {told: _json(self.cv_results_[key][k]) for told, key in _OF_METHODS.items()}
                for k in range(len(self.cv_results_["method"]))
            ],
            "n_splits": self.n_splits_,
            "score_name": self.score_name,
            "baseline_score": self.baseline_score_,
            "prefer": self.prefer,
            "answers": {
                name: {key: _json(value) for key, value in told.items()}
                for name, told in getattr(self, "answers_", {}).items()
            },
            **self.fit_summary(),
            "block_importances": self.block_importances_,
            "seed": self.random_state,
            **getattr(self, "origin_", {}),
        }

    def note_origin(self, **facts: Any) -> None:
        """Keep where the tables came from: it is in the summary, and new tables are read by it."""
        self.origin_ = getattr(self, "origin_", {}) | facts

    def replace_last_step(self, model: Any) -> None:
        """Predict with another model in place of the last step of the chosen one."""
        if hasattr(self.best_estimator_, "steps"):
            name, _ = self.best_estimator_.steps[-1]
            self.best_estimator_.steps[-1] = (name, model)
        else:
            self.best_estimator_ = model

    def _rows(self, X: Any, *, reset: bool = False) -> Array:
        if are_blocks(X):
            return self.complete_rows(join_known(X, self.blocks_, self.n_features_in_))
        rows = validate_data(self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan")
        return rows if reset else self.complete_rows(rows)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text = super().__repr__(N_CHAR_MAX)
        if not hasattr(self, "answers_"):
            return text
        results = self.cv_results_
        order = np.argsort(-np.nan_to_num(results["mean_test_score"], nan=-np.inf), kind="stable")
        others = [k for k in order if results["method"][k] != self.best_method_]
        lines = [text, f"  answer: {self._line(results['method'].index(self.best_method_))}"]
        if is_auto(self.cv) and self.is_judged_in_time:
            lines.append(
                f"  score {self.best_score_:.4f} in later rows, predicted from earlier ones"
            )
        if others and results["status"][others[0]] == "done":
            scores = results["mean_test_score"]
            is_ahead = scores[others[0]] > scores[results["method"].index(self.best_method_)]
            why = f" ({_WHY_NOT[self.prefer]})" if is_ahead else ""
            lines.append(f"  runner-up: {self._line(others[0])}{why}")
        return "\n".join(lines)

    def _line(self, k: int) -> str:
        results = self.cv_results_
        return (
            f"{results['label'][k]}, score {results['mean_test_score'][k]:.4f} "
            f"± {results['standard_error'][k]:.4f} in rows left out"
        )

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {k: v for k, v in state.items() if k not in ("_training", "cv_predictions_")}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _outputs(y: Any) -> Array:
    return check_array(
        y, dtype=np.float64, ensure_2d=False, ensure_all_finite="allow-nan", input_name="y"
    )


def _json(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [_json(entry) for entry in value.ravel()[:100]]
    if isinstance(value, np.integer | int) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, np.floating | float):
        return float(value) if np.isfinite(value) else None
    return value if isinstance(value, str | bool | type(None)) else str(value)
