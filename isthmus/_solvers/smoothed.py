"""Minimise what has kinks through a sequence of smooth problems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from isthmus._solvers.descent import DECREASE_WINDOW, StopRule, descend
from isthmus._solvers.lbfgs import QuasiNewton
from isthmus._solvers.line_search import wolfe
from isthmus._solvers.problem import GeometryLike, Objective, Problem
from isthmus._solvers.progress import Progress
from isthmus._solvers.result import Array, Callback, Reason, SolverResult

# A tenth at a time: the minimum of one stage is close to that of the next.
WIDTHS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
_SMOOTHED_PAIRS = 20  # pairs that L-BFGS keeps
_GRADIENT_TOL = 1e-12  # norm of the gradient, in units of the objective, at which a stage ends


def minimise_smoothed(
    objective_at: Callable[[float], Objective],
    geometry: GeometryLike,
    start: Array,
    *,
    widths: Sequence[float] = WIDTHS,
    unit: float = 1.0,
    max_iter: int = 500,
    tol: float = 1e-9,
    rebalance: Callable[[Array], Array] | None = None,
    verbose: int = 0,
    callback: Callback | None = None,
) -> SolverResult:
    r"""Minimise by L-BFGS a sequence of smooth functions that tend to the one that is meant.

    .. math:: x_k = \arg\min_x f_{h_k}(x) \quad \text{from } x_{k-1},
              \qquad h_1 > h_2 > \dots > h_m

    Each stage starts where the last one ended, so that the sharp last function is met near its
    minimum. A loss without kinks is one stage.

    Stopping rules are absolute, in units of ``unit``: relative to the value they would stop far too
    early where a few outliers make up nearly all of it, and their part cannot be fitted away.

    Parameters
    ----------
    objective_at : callable
        ``objective_at(width)`` returns a function of a point: value and partial derivatives.
    geometry : Geometry
        Where the points live.
    start : ndarray
        First point, on the geometry.
    widths : sequence of float, default=(1, 0.1, ..., 1e-5)
        Widths of the smoothing, from wide to narrow, in the units of the residuals.
    unit : float, default=1.0
        The value of the objective that counts as 1 for the tolerances: for a loss of n x q
        residuals of a robust scale s about ``n * q * loss.typical_curvature(s) * s**2``.
    max_iter : int, default=500
        Largest number of steps of each stage.
    tol : float, default=1e-9
        A stage ends when ten steps together decrease the value by no more than ``tol * unit``.
    rebalance : callable, default=None
        Maps a point to an equivalent one, between stages: for example to factors of equal size.
    verbose : int, default=0
        1 shows every tenth step, 2 every step.
    callback : callable, default=None
        Called with the :class:`SolverResult` so far after every step; it may return True to stop.

    Returns
    -------
    SolverResult
        Value and certificate are those of the last stage's function; ``n_iter`` counts all stages.
    """
    if not len(widths):
        raise ValueError("widths is empty: at least one stage is needed")
    stop = StopRule(
        max_iter,
        gradient_size=_GRADIENT_TOL * unit,
        decrease_size=tol * unit,
        window=DECREASE_WINDOW,
    )
    done, point, cut = 0, start, False
    for stage, width in enumerate(widths):
        if stage and rebalance is not None:
            point = rebalance(point)
        progress = Progress(f"L-BFGS width {width:.0e}", verbose, _count_from(callback, done))
        problem = Problem(objective_at(width), geometry)
        result = descend(problem, point, QuasiNewton(_SMOOTHED_PAIRS), wolfe, stop, progress)
        done, point = done + result.n_iter, result.point
        cut = cut or result.reason is Reason.MAX_ITER
        if result.reason in (Reason.CALLBACK, Reason.INTERRUPTED):
            break
    if cut and result.converged:  # a wide stage that was cut short may have left the way too early
        result = replace(result, converged=False, reason=Reason.MAX_ITER)
    return replace(result, n_iter=done)


def _count_from(callback: Callback | None, done: int) -> Callback | None:
    """Return a callback that counts the steps of earlier stages too."""
    if callback is None:
        return None
    return lambda result: callback(replace(result, n_iter=done + result.n_iter))
