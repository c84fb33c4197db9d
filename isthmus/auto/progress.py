"""What is under way, for a person: a leaderboard that grows."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

Progress = Callable[[str, int, int], None]  # of a label, the folds done and the number of folds


class Leaderboard:
    """Tell a callable what is under way, and write a line per method to standard error if asked to.

    Parameters
    ----------
    verbose : int or None
        None writes lines if a person is watching.
    progress : callable of (label, folds done, folds) or None
        Told of every fold.
    time_limit : float or None
        Seconds, for the time left.
    """

    def __init__(
        self, verbose: int | None, progress: Progress | None, time_limit: float | None
    ) -> None:
        self.speaks = is_watched() if verbose is None else bool(verbose)
        self.progress = progress
        self.time_limit = time_limit
        self.begin = time.perf_counter()
        self.best: tuple[float, str] | None = None

    def __call__(self, label: str, done: int, total: int) -> None:
        """Tell what is under way."""
        if self.progress is not None:
            self.progress(label, done, total)

    def say(self, text: str) -> None:
        """Write a line of text."""
        if self.speaks:
            print(text, file=sys.stderr, flush=True)

    def add(self, trial: Any) -> None:
        """Add a line: the method, its score or why there is none, and the best so far."""
        if not self.speaks:
            return
        label = trial.rung.label
        said = trial.status
        if trial.is_done:
            said = f"{trial.score:.4f} ± {trial.standard_error:.4f}"
            if self.best is None or trial.score > self.best[0]:
                self.best = (trial.score, label)
        spent = time.perf_counter() - self.begin
        line = f"{spent:7.1f} s  {label:<40} {said}"
        if self.best is not None:
            line += f"  (best: {self.best[1]})"
        if self.time_limit is not None:
            line += f"  {max(self.time_limit - spent, 0):.0f} s left"
        print(line, file=sys.stderr, flush=True)


def is_watched() -> bool:
    """Whether a person is watching: standard error is a terminal, or this is a notebook."""
    shell = sys.modules.get("IPython")
    if shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell":
        return True
    return bool(sys.stderr is not None and sys.stderr.isatty())
