"""Progress of a solver: to the screen and to the caller."""

from __future__ import annotations

from isthmus._solvers.result import Callback, Reason, SolverResult


class Progress:
    """Reports every step to a callback, and some of them to the screen.

    Parameters
    ----------
    name : str
        Name of the solver, printed at the head of each line.
    verbose : int
        0 is silent, 1 shows every tenth step and the last, 2 every step.
    callback : callable or None
        Called with the :class:`SolverResult` so far after every step; it may return True to stop.
    """

    def __init__(self, name: str, verbose: int, callback: Callback | None) -> None:
        self.name = name
        self.verbose = verbose
        self.callback = callback

    def step(self, result: SolverResult) -> bool:
        """Report a step and return whether the callback asks to stop."""
        if self.verbose > 1 or (self.verbose == 1 and result.n_iter % 10 == 0):
            self._show(result)
        return self.callback is not None and bool(self.callback(result))

    def end(self, result: SolverResult) -> SolverResult:
        """Report the outcome and return it."""
        if self.verbose:
            self._show(result)
        return result

    def _show(self, result: SolverResult) -> None:
        line = f"{self.name} {result.n_iter:5d}  value {result.value:.10e}"
        line += f"  gradient {result.certificate:.2e}"
        print(line if result.reason is Reason.RUNNING else f"{line}  {result.reason}", flush=True)
