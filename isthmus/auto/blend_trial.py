"""The blend of the methods in the outer folds."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from isthmus._linalg import Array
from isthmus.auto.blends import blend_weights
from isthmus.auto.clock import OutOfTime, until
from isthmus.auto.trials import Trial
from isthmus.problems import is_partition

# Fewer rows: weights of a fold from models that saw its rows make its error too small, by 3 % with 24 rows
# and by nothing that can be seen with 48.
_FEW_ROWS = 40


class BlendTrial(Trial):
    """The blend of other trials; its weights in a fold are those of the rows that other folds leave out."""

    def blend(self, trials: Sequence[Trial], limit: float = np.inf, keep: bool = True) -> None:
        """Blend trials that are done.

        Rows that come later in time than those of a fold are not among its training rows, and have no
        say in its weights. Few rows are predicted by models that have not seen the fold either, unless the
        clock shows ``limit`` before, or the user interrupts and wants to ``keep`` what there is.
        """
        self.blend_as(trials, self._seen(trials, limit, keep))

    def blend_as(self, trials: Sequence[Trial], seen: Sequence[Sequence[Array]]) -> None:
        """Blend with weights that, for each fold, what was ``seen`` of its training rows decides."""
        for i, (train, test) in enumerate(self.splits):
            weights = None if self.weights is None else self.weights[train]
            own = blend_weights(self.Y[train], [part[train] for part in seen[i]], weights)
            predicted = sum(w * t.predictions[test] for w, t in zip(own, trials, strict=True))
            self.predictions[test] = predicted
            self.scores[i] = self.score_of(test, np.asarray(predicted))
            self.fit_seconds[i] = sum(trial.fit_seconds[i] for trial in trials)
        self.predict_seconds = sum(trial.predict_seconds for trial in trials)
        self.status = "done" if np.isfinite(self.scores).all() else "no score"

    def _seen(self, trials: Sequence[Trial], limit: float, keep: bool) -> list[list[Array]]:
        """For each fold, what the trials predict of its training rows."""
        as_they_are = [[trial.predictions for trial in trials]] * len(self.splits)
        if len(self.X) >= _FEW_ROWS or not is_partition(self.splits, len(self.X)):
            return as_they_are
        pairs = []
        try:
            with until(limit):
                for trial in trials:
                    seconds = len(self.splits) ** 2 / 2 * float(np.nanmax(trial.fit_seconds))
                    if time.perf_counter() + seconds > limit:
                        return as_they_are
                    pairs.append(trial.without_pairs())
        except (OutOfTime, ValueError, np.linalg.LinAlgError):  # time is up, or rows are too few
            return as_they_are
        except KeyboardInterrupt:
            if not keep:
                raise
            return as_they_are
        return [[part[i] for part in pairs] for i in range(len(self.splits))]
