"""The rows, the model and its predictions, as the sections of a report ask for them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import Array
from isthmus.inspection import FiguresOfMerit, ParityDisplay, figures_of_merit, positions, unit_of
from isthmus.model_selection import is_auto
from isthmus.regression import LatentRegression
from isthmus.reports.kernel_models import expansion_model

# A page with more points and outputs than these is slow to open and no clearer.
_MOST_POINTS = 2000
_MOST_OUTPUTS = 25


@dataclass
class ReportData:
    """Everything that the sections draw from."""

    search: Any
    X: Array
    Y: Array
    cv_predictions: Array | None
    row_names: Any
    image_shape: tuple[int, int] | None
    output_image_shape: tuple[int, int] | None
    command: str | None

    def __post_init__(self) -> None:
        self.n, self.p = self.X.shape
        self.q = self.Y.shape[1]
        for name, shape, size in (
            ("image_shape", self.image_shape, self.p),
            ("output_image_shape", self.output_image_shape, self.q),
        ):
            if shape is not None and shape[0] * shape[1] != size:
                raise ValueError(f"{name} == {shape}, its product must be {size} columns.")
        if self.row_names is None:
            self.row_names = [f"row {i + 1}" for i in range(self.n)]
        if len(self.row_names) != self.n:
            raise ValueError(f"row_names has {len(self.row_names)} names for {self.n} rows.")

    @cached_property
    def model(self) -> Any:
        """The model whose components are shown: the chosen one, or a map of low rank."""
        return self.search.shown_estimator_

    @property
    def note_on_model(self) -> list[str]:
        """A sentence for sections about components, if the chosen model has none."""
        if self.model is self.search.best_estimator_:
            return []
        return [
            "Shown for a low-rank map fitted next to the chosen model, which has no components."
        ]

    @property
    def is_search(self) -> bool:
        """Whether methods were compared; otherwise it is one model with its domain and intervals."""
        return hasattr(self.search, "best_method_")

    @property
    def classes(self) -> dict[str, Any] | None:
        """Column and labels of an output of classes; None for amounts."""
        return getattr(self.search, "origin_", {}).get("classes")

    @property
    def is_latent(self) -> bool:
        return isinstance(self.model, LatentRegression)

    @property
    def is_kernel(self) -> bool:
        return expansion_model(self.model) is not None

    @cached_property
    def predictions(self) -> Array:
        if self.cv_predictions is not None:
            return self.cv_predictions
        return np.asarray(self.search.predict_rows(self.X), dtype=float).reshape(self.n, -1)

    @property
    def is_validation(self) -> bool:
        """Whether the rows are others than those of the fit, for all that is known."""
        return self.cv_predictions is None

    @cached_property
    def trust(self) -> Any:
        """How far the rows are from those of the fit; None for a model that does not know."""
        if getattr(self.search, "domain_", None) is None:
            return None
        return self.search.check_rows(self.X)

    @cached_property
    def figures_of_merit(self) -> FiguresOfMerit:
        # Rows that no fold left out, the first ones of folds in time, have no prediction.
        return figures_of_merit(
            np.where(np.isnan(self.predictions), np.nan, self.Y), np.nan_to_num(self.predictions)
        )

    @property
    def kind(self) -> str:
        """How the predictions were made, in words."""
        if self.cv_predictions is None:
            return "rows predicted by the saved model, which is no test if it was trained on them"
        if self.is_in_time:
            return "later rows predicted by models fitted to earlier ones"
        return "each row predicted by a model fitted without it (cross-validation)"

    @property
    def score_name(self) -> str:
        """What the scores are: R2, or what the user asked for."""
        return str(getattr(self.search, "score_name", "R2"))

    @property
    def is_in_time(self) -> bool:
        """Whether score and errors are of later rows predicted from earlier ones."""
        return bool(getattr(self.search, "is_judged_in_time", False))

    @property
    def compares_in_time(self) -> bool:
        """Whether the methods were compared so too: then the user asked for it."""
        return self.is_in_time and not is_auto(self.search.cv)

    @property
    def score_error(self) -> float:
        """Standard error of the score of the chosen method."""
        if hasattr(self.search, "best_score_error_"):
            return self.search.best_score_error_
        results = self.search.cv_results_
        return results["standard_error"][results["method"].index(self.search.best_method_)]

    @property
    def has_feature_names(self) -> bool:
        return hasattr(self.search, "feature_names_in_")

    @cached_property
    def feature_names(self) -> list[str]:
        if not self.has_feature_names:
            return [f"x{j}" for j in range(self.p)]
        return [str(name) for name in self.search.feature_names_in_]

    @cached_property
    def _axis(self) -> tuple[Array, bool]:
        names = self.feature_names if self.has_feature_names else None
        at, _, is_curve = positions(names, self.p)
        # Unscaled columns without names are taken for a curve: a search scales tables and leaves curves.
        domain = getattr(self.search, "domain_", None)
        scaled = self.search.scale_ if self.is_search else domain is None or not domain.curve
        return at, is_curve or (names is None and not scaled)

    @property
    def column_positions(self) -> Array:
        """Where the inputs stand on an axis."""
        return self._axis[0]

    @property
    def column_label(self) -> str:
        """Title of the axis of the inputs: their unit, if their names have one."""
        if self.has_feature_names:
            return unit_of(self.feature_names)
        return "input"

    @property
    def is_curve(self) -> bool:
        """Whether the inputs are points of a curve."""
        return self._axis[1]

    @cached_property
    def complete(self) -> Array:
        """Inputs without holes: filled as the model does, or by means of the columns."""
        if not np.isnan(self.X).any():
            return self.X
        # What the model itself sees; means are only for pictures of models that refuse holes.
        for owner in (self.search, self.model):
            filler = getattr(owner, "missing_model_", None)
            if filler is not None:
                return np.asarray(filler.filled(self.X))
        return np.where(np.isnan(self.X), np.nan_to_num(np.nanmean(self.X, axis=0)), self.X)

    @cached_property
    def by_output(self) -> list[ParityDisplay]:
        names = self.search.target_names_
        return [
            ParityDisplay(self.Y[:, j], self.predictions[:, j], name=names[j])
            for j in range(self.q)
        ]

    @cached_property
    def shown_outputs(self) -> list[tuple[str, int]]:
        """Outputs of the selectors: worst, median and best first, then others."""
        # The selectors begin with what a reader looks for first.
        order = np.argsort([display.r2 for display in self.by_output], kind="stable")
        names = self.search.target_names_
        if self.q == 1:
            return [(names[0], 0)]
        firsts = {"worst": order[0], "median": order[(self.q - 1) // 2], "best": order[-1]}
        labels: dict[int, str] = {}
        for word, j in firsts.items():
            labels.setdefault(int(j), f"{names[j]} ({word})")
        evenly = range(self.q) if self.q <= _MOST_OUTPUTS else order[
            np.unique(np.linspace(0, self.q - 1, _MOST_OUTPUTS).astype(int))
        ]  # fmt: skip
        for j in evenly:
            labels.setdefault(int(j), names[j])
        return [(label, j) for j, label in labels.items()]

    @cached_property
    def shown_rows(self) -> NDArray:
        """Rows that are drawn: all of them, or an even choice of many."""
        if self.n <= _MOST_POINTS:
            return np.arange(self.n)
        # Evenly over the order of the rows, so that drift stays visible.
        return np.linspace(0, self.n - 1, _MOST_POINTS).astype(int)

    def names_of(self, rows: NDArray | list[int]) -> list[str]:
        return [str(self.row_names[i]) for i in rows]
