"""Maps of low rank under any loss: descent over their factors in whitened coordinates.

The closed form of the squared loss is the start; from there L-BFGS goes down in balanced factors, through
ever sharper versions of a loss with kinks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd

from isthmus._geometry import Euclidean
from isthmus._linalg import Array, ColumnSizes, graded_svd, is_graded
from isthmus._solvers import SolverResult, minimise_smoothed
from isthmus.losses import Loss, robust_scale
from isthmus.problems import Form
from isthmus.regression.factors import Factors

_WIDTHS = tuple(10.0**-i for i in range(1, 7))  # of the rounding of kinks, in robust scales
# A map with more numbers than this share of the entries of Y fits a good part of them exactly, and the
# way there is long: smaller steps of the width and a tenth of the tolerance, for the same accuracy.
_CROWDED_MAP = 0.05
_FINE_WIDTHS = tuple(10.0 ** (-i / 2) for i in range(2, 13))

# Components that carry less than this share of the largest are not given larger units than it.
_LEAST_COMPONENT_SHARE = 1e-3

# Singular values of a map below this many of what they are known relative to are rounding errors.
_LEAST_COMPONENT = 1e-14

_FEW = 10_000  # entries of Y up to which steps cost next to nothing


@dataclass
class Penalty:
    """``alpha / 2 ||C - pull||^2``: a ridge, or a pull towards another map given by its factors.

    ``hold`` adds ``sum_j eta_j / 2 (b_j - b0_j)^2``, the same for the intercepts.
    """

    alpha: float
    pull: tuple[Array, Array] | None = None  # (k, r0) in the problem's coordinates, (q, r0)
    hold: tuple[Array, Array] | None = None  # weights eta and intercepts b0, (q,) each


class RankProblem:
    r"""Minimise a loss over maps of rank r and intercepts, in coordinates of the inputs.

    .. math::
        \min_{A, D, b} \sum_i L(y_i, Z_i A D^\top + b)
        + \tfrac{\alpha}{2} \|G (A D^\top - A_0 D_0^\top)\|_F^2

    ``rows`` is Z (n, k), the inputs in their own principal coordinates divided by ``1 / g``; C is
    ``basis diag(g) A D'``. Products go through the r columns, so that an evaluation costs
    ``4 n k r + 4 n q r`` operations.
    """

    def __init__(
        self,
        rows: Array,
        g: Array,
        Y: Array,
        weights: Array | None,
        loss: Loss,
        penalty: Penalty,
        output_weight: Array | None = None,
    ) -> None:
        self.rows, self.g, self.Y, self.weights = rows, g, Y, weights
        self.loss, self.penalty, self.output_weight = loss, penalty, output_weight

    def value_and_gradients(
        self, loss: Loss, A: Array, D: Array, b: Array
    ) -> tuple[float, Array, Array, Array]:
        T = self.rows @ A
        predicted = T @ D.T
        predicted += b
        value, slope = loss.value_and_gradient(
            self.Y, predicted, self.weights, self.output_weight, out=predicted
        )
        gradient_A = self.rows.T @ (slope @ D)
        gradient_D = slope.T @ T
        extra, extra_A, extra_D = self._penalise(A, D)
        held, held_b = self._hold(b)
        value += extra + held
        return value, gradient_A + extra_A, gradient_D + extra_D, slope.sum(axis=0) + held_b

    def _hold(self, b: Array) -> tuple[float, Any]:
        if self.penalty.hold is None:
            return 0.0, 0.0
        eta, b0 = self.penalty.hold
        slope = eta * (b - b0)
        return 0.5 * float(slope @ (b - b0)), slope

    def _penalise(self, A: Array, D: Array) -> tuple[float, Any, Any]:
        alpha, pull = self.penalty.alpha, self.penalty.pull
        if alpha == 0.0:
            return 0.0, 0.0, 0.0
        # Through products of order r, because C of order p x q may not fit into memory.
        GA = self.g[:, None] ** 2 * A
        AA, DD = A.T @ GA, D.T @ D
        value = (AA * DD).sum()
        grad_A = GA @ DD
        grad_D = D @ AA
        if pull is not None:
            A0, D0 = pull
            GA0, cross = self.g[:, None] ** 2 * A0, D0.T @ D
            value += ((A0.T @ GA0) * (D0.T @ D0)).sum() - 2 * ((GA0.T @ A) * cross).sum()
            grad_A -= GA0 @ cross
            grad_D -= D0 @ (GA0.T @ A)
        return 0.5 * alpha * float(value), alpha * grad_A, alpha * grad_D

    def scale(self, A: Array, D: Array, b: Array) -> float:
        """Robust scale of the residuals."""
        return robust_scale(self.Y - (self.rows @ A) @ D.T - b, self.weights)

    def objective(self, A: Array, D: Array, b: Array) -> float:
        """The criterion itself, without any smoothing."""
        predicted = (self.rows @ A) @ D.T + b
        loss = self.loss.value(self.Y, predicted, self.weights, self.output_weight)
        return loss + self._penalise(A, D)[0] + self._hold(b)[0]


def descend_factors(
    problem: RankProblem,
    start: tuple[Array, Array, Array],
    *,
    max_iter: int,
    tol: float,
    verbose: int,
    callback: Any = None,
    scale: float | None = None,
    coarse: bool = False,
) -> tuple[tuple[Array, Array, Array], SolverResult]:
    """L-BFGS over balanced factors and intercepts; stages of smoothing for a loss with kinks.

    ``coarse`` rounds kinks to a thousandth of the scale and no further, for maps that move on.
    """
    A, D, b = start
    k, q, r = len(A), len(D), A.shape[1]
    ends = (k * r, (k + q) * r)
    scale = problem.scale(A, D, b) if scale is None else scale
    weight = len(problem.Y) if problem.weights is None else float(problem.weights.sum())
    outputs = q if problem.output_weight is None else float(problem.output_weight.sum())
    unit = weight * outputs * problem.loss.typical_curvature(scale) * scale**2
    units = np.empty(ends[1] + q)

    def split(point: Array) -> tuple[Array, Array, Array]:
        parts = np.split(point * units, ends)
        return parts[0].reshape(k, r), parts[1].reshape(q, r), parts[2]

    def join(A: Array, D: Array, b: Array) -> Array:
        """The point of balanced factors, and the units in which all variables count alike."""
        (A, D), s = balance(A, D), np.zeros(r)
        if A.size:
            s = np.maximum(
                np.linalg.norm(D, axis=0) ** 2, _LEAST_COMPONENT_SHARE * (D**2).sum(axis=0).max()
            )
        # Rows are orthonormal columns, so column i of a factor has the curvature s_i, that of the
        # other; the intercept meets a column of ones.
        columns = scale / np.sqrt(np.where(s > 0, s, scale))
        units[: ends[1]] = np.tile(columns, k + q)
        units[ends[1] :] = scale / np.sqrt(weight)
        return np.concatenate([A.ravel(), D.ravel(), b]) / units

    def objective_at(width: float) -> Any:
        loss = problem.loss if problem.loss.is_smooth else problem.loss.smooth(width)

        def objective(point: Array) -> tuple[float, Array]:
            with np.errstate(over="ignore", invalid="ignore"):  # too long a step of a line search
                value, *gradients = problem.value_and_gradients(loss, *split(point))
                return value, np.concatenate([g.ravel() for g in gradients]) * units

        return objective

    widths: tuple[float, ...] = (1.0,)
    if coarse and not problem.loss.is_smooth:
        widths = tuple(scale * width for width in _WIDTHS[:3])
    elif not problem.loss.is_smooth:
        crowded = len(units) > _CROWDED_MAP * problem.Y.size
        widths = tuple(scale * width for width in (_FINE_WIDTHS if crowded else _WIDTHS))
        if problem.Y.size <= _FEW:
            tol = 0.01 * tol
        elif crowded:
            tol = 0.1 * tol
    result = minimise_smoothed(
        objective_at,
        Euclidean(len(units)),
        join(A, D, b),
        widths=widths,
        unit=unit,
        max_iter=max_iter,
        tol=tol,
        rebalance=lambda point: join(*split(point)),
        verbose=verbose,
        callback=callback,
    )
    return split(result.point), result


def balance(A: Array, D: Array) -> tuple[Array, Array]:
    """Factors of the same product with the singular values shared evenly."""
    if not A.size:  # inputs that do not vary have no coordinates
        return A, D
    W, s, V = singular_form(A, D)
    return W * np.sqrt(s), V * np.sqrt(s)


def singular_form(A: Array, D: Array) -> tuple[Array, Array, Array]:
    """Thin singular value decomposition of A D', at the cost of its factors."""
    Qa, Ra = np.linalg.qr(A)
    norms = np.linalg.norm(D, axis=1)
    if is_graded(norms):
        U, s, Vt = graded_svd(Ra @ D.T, norms)
        return Qa @ U, s, Vt.T
    Qd, Rd = np.linalg.qr(D)
    U, s, Vt = svd(Ra @ Rd.T)
    return Qa @ U, s, Qd @ Vt.T


def map_factors(form: Form, A: Array, D: Array) -> Factors:
    """Factors of the map A D', in singular form, for the base class."""
    if A.shape[1]:
        W, s, V = singular_form(A, D)
        known_to = ColumnSizes(np.linalg.norm(V * s, axis=1)).rounding_units(V.T)
        keep = s > _LEAST_COMPONENT * known_to
        W, s, V = W[:, keep], s[keep], V[:, keep]
    else:
        W, s, V = A, np.zeros(0), D
    return Factors.of_map(form, W, V * s, "lbfgs")


def check_finite(values: NDArray, loss: Loss) -> None:
    """Raise FloatingPointError if a fit has overflowed."""
    if not np.isfinite(values).all():
        raise FloatingPointError(f"{loss!r} left the range of float64: rescale X or y.")


def squared_objective(form: Any, factors: Factors, alpha: float) -> float:
    """Half of ||Y - XC||^2 + alpha ||C||^2, from the products that the factors carry."""
    Q = factors.y_loadings
    products = Q.T @ Q
    fitted = 2 * np.vdot(factors.y_cross, Q.T) - np.vdot(factors.gram, products)
    coef = np.vdot(factors.rotations.T @ factors.rotations, products)
    return 0.5 * float(form.y_squares.sum() - fitted + alpha * coef)
