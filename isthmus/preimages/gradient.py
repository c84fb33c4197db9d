"""Pre-images by descent on the full loss, within constraints."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space
from scipy.optimize import LinearConstraint, linprog, minimize
from sklearn.exceptions import ConvergenceWarning

from isthmus._linalg import Array
from isthmus._saved import saved
from isthmus._validation import warn
from isthmus.kernels import gram, gram_diagonal
from isthmus.preimages.base import Preimage
from isthmus.preimages.batch_descent import Objective, minimise_batch
from isthmus.preimages.fixed_point import _as_rows
from isthmus.preimages.targets import Targets

_AGREE = 1e-9  # by how much equalities may miss each other, in units of the data


@saved(
    objects_="n c",
    lower_="-inf c",
    upper_="inf c",
    _box="any",
    bounds="any",
    _pull="c",
    _centre="c",
)
class Gradient(Preimage):
    r"""Minimise the full loss by descent, with a box, linear constraints and a pull.

    .. math::
        \min_z\ k(z, z) - 2 \sum_i G_i k(x_i, z) + \mu |z - z_0|^2
        \quad\text{subject to}\quad l \le z \le u,\ \ a \le A z \le b,

    [B2006]_ Sec. 3.2.1, with the analytic gradient of the kernel, which it must have. All targets are
    minimised together by limited-memory BFGS, in the null space of equalities if there are any;
    inequalities, or equalities within a box, are solved one target at a time by sequential quadratic
    programming. Steps and tolerances are in units of the fitted objects' spread, so that
    their units do not matter; constraints that no point meets are refused in fit.

    Parameters
    ----------
    bounds : tuple (lower, upper), default=None
        A box: two numbers or two arrays of shape (n_features,), infinite for no bound.
    constraints : LinearConstraint or sequence of them, default=None
        ``scipy.optimize.LinearConstraint(A, lb, ub)``; equal bounds are equalities.
    pull : float or array of shape (n_features,), default=0.0
        Weight of the squared distance from ``anchor``, an argument of :meth:`inverse`: for a
        robot, the current posture.
    neighbour : bool, default=True
        Whether to start from the nearest fitted object too and keep the better answer.
    max_iter : int, default=200
        Most iterations.
    tol : float, default=1e-6
        Largest entry of the gradient at the end, in units of the kernel over the data's scale.
    """

    def __init__(
        self,
        *,
        bounds: tuple[Any, Any] | None = None,
        constraints: Any = None,
        pull: Any = 0.0,
        neighbour: bool = True,
        max_iter: int = 200,
        tol: float = 1e-6,
    ) -> None:
        self.bounds = bounds
        self.constraints = constraints
        self.pull = pull
        self.neighbour = neighbour
        self.max_iter = max_iter
        self.tol = tol

    def _prepare(self) -> None:
        if not getattr(self.kernel_, "has_input_gradient", False):
            raise ValueError(
                f"Gradient needs a kernel with a gradient, kernel == {self.kernel_}: use Learned() or "
                "Nearest()."
            )
        d = self.objects_.shape[1]
        low, high = (-np.inf, np.inf) if self.bounds is None else self.bounds
        self.lower_ = np.broadcast_to(np.asarray(low, dtype=np.float64), (d,))
        self.upper_ = np.broadcast_to(np.asarray(high, dtype=np.float64), (d,))
        if not (self.lower_ <= self.upper_).all():
            j = int(np.flatnonzero(~(self.lower_ <= self.upper_))[0])
            raise ValueError(
                f"bounds: lower[{j}] == {self.lower_[j]} > upper[{j}] == {self.upper_[j]}."
            )
        self._pull = np.broadcast_to(np.asarray(self.pull, dtype=np.float64), (d,))
        if not (self._pull >= 0).all():
            raise ValueError(f"pull == {self.pull}, must be >= 0.")
        self._matrix, self._low, self._high = _stack(self.constraints, d)
        X = np.asarray(self.objects_, dtype=np.float64)
        self._centre = X.mean(axis=0)
        self._unit = float(np.sqrt(((X - self._centre) ** 2).mean())) or 1.0
        widest = float(np.abs(X - self._centre).max()) or 1.0
        self._height = float(np.abs(gram_diagonal(self.kernel_, self.objects_)).mean()) or 1.0
        self._threshold = self.tol * self._unit / widest
        self._to_units()
        if self._matrix is not None:
            _require_feasible(self._matrix, self._low, self._high, self._box)

    @property
    def _box(self) -> tuple[Array, Array]:
        """The box for ``u``, ``z = centre + unit u``."""
        low, high = ((end - self._centre) / self._unit for end in (self.lower_, self.upper_))
        return low, high

    def _to_units(self) -> None:
        """Constraints for ``u``, ``z = centre + unit u``; each row of length one."""
        if self._matrix is None:
            return
        lengths = self._unit * np.linalg.norm(self._matrix, axis=1)
        lengths[lengths == 0] = 1.0
        at_centre = self._matrix @ self._centre
        self._low = (self._low - at_centre) / lengths
        self._high = (self._high - at_centre) / lengths
        self._matrix = self._matrix * (self._unit / lengths)[:, None]

    def _invert(
        self,
        targets: Targets,
        start: Any = None,
        anchor: Any = None,
        **options: Any,
    ) -> Array:
        shape = (len(targets), self.objects_.shape[1])
        if anchor is not None:
            anchor = _as_rows(anchor, "anchor", *shape)
        elif self._pull.any():
            raise ValueError("pull > 0 needs the point to be pulled to: inverse(Z, anchor=...).")
        objective = self._in_units(self._objective(targets, anchor))
        start = _as_rows(self.objects_.mean(axis=0) if start is None else start, "start", *shape)
        best, values, settled = self._minimise(objective, (start - self._centre) / self._unit)
        if self.neighbour:
            nearest = self._nearest_objects(self._fitted_losses(targets))
            start = (nearest - self._centre) / self._unit
            other, other_values, other_settled = self._minimise(objective, start)
            better = other_values < values
            best[better], settled[better] = other[better], other_settled[better]
        if not settled.all():
            warn(
                f"{(~settled).sum()} of {len(targets)} targets did not converge in "
                f"max_iter={self.max_iter} steps: raise max_iter or tol.",
                ConvergenceWarning,
            )
        return np.clip(self._centre + self._unit * best, self.lower_, self.upper_)

    def _objective(self, targets: Targets, anchor: Array | None) -> Objective:
        kernel, points = self.kernel_, targets.points

        def objective(Z: Array, rows: Array) -> tuple[Array, Array]:
            G = targets.coef[rows]
            value = gram_diagonal(kernel, Z) - 2.0 * np.einsum(
                "ti,ti->t", G, gram(kernel, Z, points)
            )
            slope = kernel.diagonal_gradient(Z) - 2.0 * kernel.weighted_gradient(Z, points, G)
            if anchor is not None:
                apart = Z - anchor[rows]
                value = value + (self._pull * apart**2).sum(axis=1)
                slope = slope + 2.0 * self._pull * apart
            return value, slope

        return objective

    def _in_units(self, objective: Objective) -> Objective:
        """The same of ``u``, ``z = centre + unit u``, in heights of the kernel."""

        def scaled(U: Array, rows: Array) -> tuple[Array, Array]:
            with np.errstate(over="ignore", invalid="ignore"):  # such a step is taken back
                value, slope = objective(self._centre + self._unit * U, rows)
                return value / self._height, slope * (self._unit / self._height)

        return scaled

    def _minimise(self, objective: Objective, start: Array) -> tuple[Array, Array, NDArray]:
        """Points, values, and whether each settled."""
        if self._matrix is None:
            return minimise_batch(objective, start, *self._box, self.max_iter, self._threshold)
        if np.isfinite(self._box).any() or not np.array_equal(self._low, self._high):
            return self._one_by_one(objective, start)
        return self._in_null_space(objective, start)

    def _in_null_space(self, objective: Objective, start: Array) -> tuple[Array, Array, NDArray]:
        N = null_space(self._matrix)
        base = start - (start @ self._matrix.T - self._low) @ np.linalg.pinv(self._matrix).T

        def reduced(U: Array, rows: Array) -> tuple[Array, Array]:
            value, slope = objective(base[rows] + U @ N.T, rows)
            return value, slope @ N

        free = np.full(N.shape[1], np.inf)
        zero = np.zeros((len(start), N.shape[1]))
        U, *rest = minimise_batch(reduced, zero, -free, free, self.max_iter, self._threshold)
        return base + U @ N.T, *rest

    def _one_by_one(self, objective: Objective, start: Array) -> tuple[Array, Array, NDArray]:
        equal = self._low == self._high
        rules = [  # SciPy warns of equalities and inequalities in one
            LinearConstraint(self._matrix[rows], self._low[rows], self._high[rows])
            for rows in (equal, ~equal)
            if rows.any()
        ]
        box = list(zip(*self._box))
        points = start.copy()
        values = np.empty(len(start))
        settled = np.ones(len(start), dtype=bool)
        for t in range(len(start)):
            row = np.array([t])

            def single(z: Array, row: Array = row) -> tuple[float, Array]:
                value, slope = objective(z[None, :], row)
                return float(value[0]), slope[0]

            found = minimize(
                single,
                np.clip(start[t], *self._box),
                jac=True,
                bounds=box,
                constraints=rules,
                method="SLSQP",
                options={"maxiter": self.max_iter, "ftol": 1e-14},
            )
            points[t], values[t], settled[t] = found.x, found.fun, found.success
        return points, values, settled


def _stack(constraints: Any, d: int) -> tuple[Any, Any, Any]:
    """All linear constraints as one matrix with lower and upper bounds."""
    if constraints is None:
        return None, None, None
    rows = [constraints] if isinstance(constraints, LinearConstraint) else list(constraints)
    parts = []
    for rule in rows:
        A = np.atleast_2d(np.asarray(rule.A, dtype=np.float64))
        if A.shape[1] != d:
            raise ValueError(f"constraints: A has {A.shape[1]} columns, must have {d}.")
        low, high = (
            np.broadcast_to(np.asarray(b, dtype=float), (len(A),)) for b in (rule.lb, rule.ub)
        )
        parts.append((A, low, high))
    A, low, high = (np.concatenate([part[i] for part in parts]) for i in range(3))
    return A, low, high


def _require_feasible(A: Array, low: Array, high: Array, box: tuple[Array, Array]) -> None:
    """Refuse constraints that contradict each other or the box."""
    if not ((low <= high).all() and _equalities_agree(A, low, high) and _meet(A, low, high, box)):
        within = " within bounds" if np.isfinite(box).any() else ""
        raise ValueError(
            f"constraints: no point meets all {len(A)} of them{within}. Take one away, or widen lb and "
            "ub."
        )


def _equalities_agree(A: Array, low: Array, high: Array) -> bool:
    equal = low == high
    point = np.linalg.lstsq(A[equal], low[equal], rcond=None)[0]
    missed = np.abs(A[equal] @ point - low[equal]).max(initial=0.0)
    return bool(missed <= _AGREE * max(1.0, np.abs(low[equal]).max(initial=0.0)))


def _meet(A: Array, low: Array, high: Array, box: tuple[Array, Array]) -> bool:
    """Whether a linear programme finds a point; 2 is its word for there is none."""
    equal = low == high
    above = ~equal & np.isfinite(high)
    below = ~equal & np.isfinite(low)
    found = linprog(
        np.zeros(A.shape[1]),
        A_ub=np.vstack([A[above], -A[below]]),
        b_ub=np.concatenate([high[above], -low[below]]),
        A_eq=A[equal],
        b_eq=low[equal],
        bounds=np.column_stack(box),
    )
    return bool(found.status != 2)
