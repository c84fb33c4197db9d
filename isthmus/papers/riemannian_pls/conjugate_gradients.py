"""Conjugate gradients on a geometry."""

from __future__ import annotations

from isthmus._linalg import Array
from isthmus._solvers import (
    DECREASE_WINDOW,
    Callback,
    Direction,
    GeometryLike,
    Iterate,
    Objective,
    Problem,
    Progress,
    SolverResult,
    Step,
    StopRule,
    descend,
    wolfe,
)


def conjugate_gradient(
    objective: Objective,
    geometry: GeometryLike,
    start: Array,
    *,
    beta: str = "hestenes-stiefel",
    geodesic: bool = False,
    max_iter: int = 1000,
    tol: float = 1e-8,
    decrease_tol: float = 1e-15,
    verbose: int = 0,
    callback: Callback | None = None,
) -> SolverResult:
    r"""Minimise along conjugate directions ([CSGHY]_ Alg. 1 and 2, with their errata mended).

    .. math:: \zeta_i = -\operatorname{grad} f(W_i)
              + \beta_i \, \mathcal T_{W_{i-1} \to W_i}(\zeta_{i-1})

    Parameters
    ----------
    objective : callable
        ``objective(point)`` returns the value and the array of partial derivatives.
    geometry : Geometry
        Where the points live.
    start : ndarray
        First point, on the geometry.
    beta : {"hestenes-stiefel", "fletcher-reeves"}, default="hestenes-stiefel"
        How much of the last direction is kept. The paper's is "fletcher-reeves"; the default
        restarts by itself where the last direction no longer helps.
    geodesic : bool, default=False
        Follow geodesics instead of the cheaper retraction.
    max_iter : int, default=1000
        Largest number of steps.
    tol : float, default=1e-8
        Stop when the gradient's norm has fallen to this share of the first.
    decrease_tol : float, default=1e-15
        Stop when ten steps together decrease the value by no more than this share of it.
    verbose : int, default=0
        1 shows every tenth step, 2 every step.
    callback : callable, default=None
        Called with the :class:`SolverResult` so far after every step; it may return True to stop.
    """
    if beta not in _BETAS:
        raise ValueError(f"beta == {beta!r}, must be one of {sorted(_BETAS)}")
    return descend(
        Problem(objective, geometry, geodesic),
        start,
        _Conjugate(beta),
        wolfe,
        StopRule(max_iter, gradient_share=tol, decrease_share=decrease_tol, window=DECREASE_WINDOW),
        Progress("conjugate gradient", verbose, callback),
    )


class _Conjugate(Direction):
    def __init__(self, beta: str) -> None:
        self._beta = _BETAS[beta]
        self._carried: Array | None = None
        self._last_promise: float | None = None  # length times slope of the last step

    def choose(self, geometry: GeometryLike, current: Iterate) -> Array:
        if self._carried is None:
            return -current.gradient
        return self._carried - current.gradient

    def first_length(self, current: Iterate, slope: float) -> float:
        if self._last_promise is None:
            return 1 / current.norm
        return self._last_promise / slope  # the same promised decrease as the last step's

    def learn(
        self, geometry: GeometryLike, start: Iterate, step: Step, direction: Array, slope: float
    ) -> None:
        carried = geometry.transport(start.point, step.end.point, direction)
        beta = self._beta(geometry, start, step.end, carried, slope)
        self._carried = beta * carried if beta > 0 else None
        self._last_promise = step.length * slope

    def forget(self) -> None:
        self._carried = self._last_promise = None


def _fletcher_reeves(
    geometry: GeometryLike, start: Iterate, end: Iterate, carried: Array, slope: float
) -> float:
    return (end.norm / start.norm) ** 2


def _hestenes_stiefel(
    geometry: GeometryLike, start: Iterate, end: Iterate, carried: Array, slope: float
) -> float:
    old = geometry.transport(start.point, end.point, start.gradient)
    change = end.gradient - old
    curvature = geometry.inner(end.point, change, carried)
    if curvature > 0:
        return geometry.inner(end.point, change, end.gradient) / curvature
    return 0.0


_BETAS = {"fletcher-reeves": _fletcher_reeves, "hestenes-stiefel": _hestenes_stiefel}
