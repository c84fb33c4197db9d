"""The outcome of a solver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from isthmus._linalg import Array


class Reason(StrEnum):
    """Why a solver stopped."""

    GRADIENT = "the gradient is below its tolerance"
    DECREASE = "the decrease is below its tolerance"
    MAX_ITER = "max_iter is reached"
    LINE_SEARCH = "no step along the direction decreases the value"
    CALLBACK = "the callback asked to stop"
    INTERRUPTED = "interrupted from the keyboard"
    RUNNING = "still running"


CONVERGED = (Reason.GRADIENT, Reason.DECREASE)


@dataclass(frozen=True)
class SolverResult:
    """The outcome of a minimisation.

    Attributes
    ----------
    point : ndarray
        The best point that was found.
    value : float
        The objective there.
    certificate : float
        The norm of the Riemannian gradient there: 0 at a stationary point.
    n_iter : int
        Number of steps taken.
    converged : bool
        Whether a tolerance was met.
    reason : Reason
        Why the solver stopped, as a sentence.
    """

    point: Array
    value: float
    certificate: float
    n_iter: int
    converged: bool
    reason: Reason

    def raise_interrupt(self) -> None:
        """Raise the interrupt that ended the loop, where the last complete step is of no use."""
        if self.reason is Reason.INTERRUPTED:
            raise KeyboardInterrupt


Callback = Callable[[SolverResult], Any]
