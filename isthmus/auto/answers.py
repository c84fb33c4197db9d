"""The three answers of a search: the most accurate, the simplest good one, and the smallest."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from isthmus._linalg import Array
from isthmus.auto.blend_trial import BlendTrial
from isthmus.auto.blends import Blend, blend_weights
from isthmus.auto.ladder import LADDER
from isthmus.auto.learning import learning_factors
from isthmus.auto.methods.maps import FoundModel, KernelModel
from isthmus.auto.progress import Progress
from isthmus.auto.trials import Splits, Trial, fit_weighted, simplest_good, standard_error
from isthmus.compression import compress
from isthmus.inspection import ComponentCurveDisplay
from isthmus.problems import is_partition

PREFERENCES = ("accurate", "simple", "small")
_SMALL = ("pls", "pcr", "reduced_rank")  # one map of low rank
_WITHOUT_COMPONENTS = ("blend", "ridge", "lasso", "process", "log_process", "trees", "boosting")
_SURELY_BETTER = (
    2.0  # standard errors by which a method must be better than the blend in the same rows
)
_WORTH_A_KERNEL = 2.0  # squared error of the map over that of the expansion, for the small answer
_TOLERANCE = 1e-3  # relative squared change of a kernel expansion that is compressed
_MOST_TIMED = 500  # rows whose prediction is timed


@dataclass
class Answers:
    """Choose between trials, and fit what was chosen to all rows, each method once.

    Attributes
    ----------
    trials : sequence of Trial
        Methods, from the simplest up.
    members : sequence of Trial
        What a blend is made of.
    blend : BlendTrial or None
    """

    trials: Sequence[Trial]
    members: Sequence[Trial]
    blend: BlendTrial | None
    fitted: dict[str, Any] = field(default_factory=dict)

    def choose(self, prefer: str) -> Trial:
        """Return the trial that a preference asks for."""
        done = [trial for trial in self.trials if trial.is_done]
        simple = self.trials[simplest_good(self.trials)]
        best = max(done, key=lambda trial: trial.score)
        if prefer == "accurate":
            if self.blend is None or _is_better(best, self.blend):
                return best
            return self.blend
        if prefer == "simple":
            return simple
        low = [trial for trial in done if trial.rung.name in _SMALL]
        kernels = [trial for trial in done if trial.rung.name.endswith("kernel")]
        if not low:
            if kernels:
                return max(kernels, key=lambda trial: trial.score)
            return simple
        linear = max(low, key=lambda trial: trial.score)
        if kernels:
            # An expansion holds a hundred times the numbers of a map: it must halve the error.
            kernel = max(kernels, key=lambda trial: trial.score)
            if np.nanmean(linear.losses) > _WORTH_A_KERNEL * np.nanmean(kernel.losses):
                return kernel
        return linear

    def choose_shown(self, chosen: Trial) -> Trial:
        """The chosen method, or the map of low rank if that has no components."""
        if chosen.rung.name in _WITHOUT_COMPONENTS:
            return self.choose("small")
        return chosen

    def has_time(self, trial: Trial, limit: float) -> bool:
        """Whether a trial can be fitted to all rows before the clock shows ``limit``."""
        parts = self.members if trial is self.blend else [trial]
        seconds = [part.refit_seconds for part in parts if part.rung.name not in self.fitted]
        return time.perf_counter() + sum(seconds) <= limit

    def judge_again(
        self, trial: Any, splits: Splits, tell: Progress, limit: float, without: Any = ()
    ) -> Any:
        """Return a chosen trial in other folds, such as those of time, or without some rows.

        None if the clock would show ``limit`` before, or a fold is too small. The weights of a blend in a
        fold are those that its training rows had in the comparison; rows left out have no say in them.
        """
        again = trial.with_splits(splits, without)
        if self.blend is None or trial is not self.blend:
            again.run(tell, limit)
            return again if again.is_done else None
        parts = [self.members[k] for k in self._used(trial)[0]]
        seconds = sum(float(np.nansum(part.fit_seconds)) for part in parts)
        if time.perf_counter() + seconds > limit:
            return None
        runs = [part.with_splits(splits, without) for part in parts]
        for run in runs:
            run.run(tell, limit)
            if not run.is_done:
                return None
        seen = [part.predictions for part in (runs if len(without) else parts)]
        again.blend_as(runs, [seen] * len(again.splits))
        return again

    def learning_factors(self, trial: Trial) -> Array:
        """Return what errors of left-out rows are multiplied by for models of all rows, one per target."""
        if trial.inner is not None or not is_partition(trial.splits, len(trial.X)):
            return np.ones(trial.Y.shape[1])  # new groups and later rows are not learned row by row
        if trial is not self.blend:
            return learning_factors([trial], np.ones((1, trial.Y.shape[1])), self.trials)
        return learning_factors(self.members, self._used(trial)[1], self.trials)

    def fit_shown(self, trial: Trial) -> tuple[Any, Any]:
        """Return the model whose components a report shows, and its search.

        Where treatments of spectra have become part of the coefficients, it is partial least squares
        without them.
        """
        search = self._search(trial)
        model = getattr(search, "best_estimator_", search)
        last = model.steps[-1][1] if isinstance(model, Pipeline) else model
        if isinstance(last, FoundModel) and not isinstance(last, KernelModel):
            pls = next(rung for rung in LADDER if rung.name == "pls")
            search = pls.build(replace(trial.problem, treatments=None, cv=None))
            model = search.fit(trial.X, trial.y).best_estimator_
        return model, search

    def fit(self, trial: Trial, *, small: bool = False) -> tuple[Any, dict[str, Any]]:
        """Fit a chosen trial to all rows; return the model and its settings."""
        if trial is self.blend:
            return self._fit_blend(trial)
        search = self._search(trial)
        model = getattr(search, "best_estimator_", search)
        if small:
            model = _compressed(model)
        return model, dict(getattr(search, "best_params_", {}))

    def _search(self, trial: Trial) -> Any:
        name = trial.rung.name
        if name not in self.fitted:
            folds = None if trial.inner is None else trial.inner(np.arange(len(trial.X)))
            search = trial.rung.build(replace(trial.problem, cv=folds))
            self.fitted[name] = fit_weighted(search, trial.X, trial.y, trial.weights)
        return self.fitted[name]

    def _fit_blend(self, trial: Trial) -> tuple[Any, dict[str, Any]]:
        used, weights = self._used(trial)
        models = []
        for k in used:
            search = self._search(self.members[k])
            models.append(getattr(search, "best_estimator_", search))
        names = [self.members[k].rung.name for k in used]
        settings = {name: float(weights[k].mean()) for name, k in zip(names, used, strict=True)}
        return Blend.of(models, names, weights[used], trial.X.shape[1]), settings

    def _used(self, trial: Trial) -> tuple[list[int], Array]:
        """Members that have weight in the blend, and the weights of all."""
        weights = blend_weights(trial.Y, [t.predictions for t in self.members], trial.weights)
        return [k for k in range(len(self.members)) if weights[k].any()], weights


def _is_better(best: Trial, blend: Trial) -> bool:
    """Whether a method beats the blend by more than two standard errors.

    The best of many methods owes part of its score to luck, most of it with few rows; a blend can
    give a good method all weight by itself. Rows are compared one by one, or folds where rows of one are
    related or the score is not the squared error.
    """
    if best.scoring is None and best.inner is None:
        gains = blend.losses - best.losses
        gains = gains[np.isfinite(gains)]
    else:
        gains = best.scores - blend.scores
    return bool(gains.mean() > _SURELY_BETTER * standard_error(gains))


def describe_answer(trial: Trial, model: Any) -> dict[str, Any]:
    """Tell the error, the size and the speed of an answer."""
    rows = trial.X[np.linspace(0, len(trial.X) - 1, min(len(trial.X), _MOST_TIMED)).astype(int)]
    begin = time.perf_counter()
    model.predict(rows)
    seconds = max(time.perf_counter() - begin, 1e-9)
    return {
        "method": trial.rung.name,
        "label": trial.rung.label,
        "score": trial.score,
        "standard_error": trial.standard_error,
        "numbers": count_numbers(model),
        "rows_per_second": len(rows) / seconds,
    }


def component_curve(search: Any) -> dict[str, Any]:
    """Scores of each number of components of a fitted search; empty where none was searched."""
    if "param_n_components" not in getattr(search, "cv_results_", {}):
        return {}
    return dict(vars(ComponentCurveDisplay.compute(search)))


def count_numbers(thing: Any, seen: set[int] | None = None) -> int:
    """Count the numbers that a fitted model holds in its arrays, each array once."""
    seen = set() if seen is None else seen
    if id(thing) in seen:
        return 0
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        return int(thing.size)
    if isinstance(thing, dict):
        return sum(count_numbers(value, seen) for value in thing.values())
    if isinstance(thing, list | tuple):
        return sum(count_numbers(value, seen) for value in thing)
    return sum(count_numbers(value, seen) for value in getattr(thing, "__dict__", {}).values())


def _compressed(model: Any) -> Any:
    """A kernel expansion with fewer points; another model as it is."""
    if isinstance(model, Pipeline) and isinstance(model.steps[-1][1], KernelModel):
        name, last = model.steps[-1]
        return Pipeline([*model.steps[:-1], (name, _compressed(last))])
    if isinstance(model, KernelModel):
        # With few rows all points are needed, and what is kept of the compression comes on top.
        return min(model, compress(model, tol=_TOLERANCE), key=count_numbers)
    return model
