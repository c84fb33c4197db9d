"""Algorithms 2 and 3 of the technical report: gradient descent along geodesics of both factors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from isthmus._geometry import StiefelFlow
from isthmus._linalg import ROUNDING, Array
from isthmus._validation import check_alpha, warn
from isthmus.losses import Absolute, Loss, ResidualLoss, Squared, get_loss
from isthmus.papers.linear import PaperRegression
from isthmus.papers.stiefel_report.tanh_absolute import TanhAbsolute
from isthmus.regression import Penalty, RankProblem, singular_form

# Newton steps for the step lengths of one iteration: two or three find the minimum.
_NEWTON_STEPS = 6
_DIFFERENCE = 1e-3  # of a step length: difference quotients of the slopes along the geodesics
_LEAST_CURVATURE = 1e-2  # of the largest, which a flat or negative direction is given instead
_SUFFICIENT = 1e-4  # share of the promised decrease that a Newton step must keep
_SETTLED = 1e-2  # a Newton step that adds less than this share of the decrease is the last
_FIRST_LENGTH = 1e-2  # of the size of a part of the map: the difference of the first iteration
_PLATEAU = 10  # iterations whose common decrease is judged


class GeodesicStiefelRegression(PaperRegression):
    r"""Multivariate regression with Stiefel constraints as printed in [BGFS2004]_ Sec. 4, [B2006]_ Ch. 2.

    .. math::
        \min_{V, S, W, b} L(Y, X W S V' + b) + \tfrac\alpha2 \|S\|_F^2, \qquad V'V = I,\ W'W = I

    The letters V, S, W are those of the report, which has samples in columns. Each iteration follows
    the geodesics that leave V and W along the negative gradient (Algorithm 1) and the straight line
    that leaves S (and b); the lengths :math:`t_V, t_S, t_W` of the steps minimise the loss together
    (step 2 of Algorithm 2). One common length, however well it is chosen, creeps along the shortest of
    the three. Errata mended: the gradient (4.17) has a wrong sign and no :math:`X'W S`; the geodesic
    uses an orthonormal complement that keeps its rank. The inputs are whitened first, without which a
    gradient needs as many steps as the squared condition number of X.

    :class:`isthmus.StiefelRegression` finds the same map in closed form (squared loss), or by L-BFGS,
    in a hundredth of the time.

    Parameters
    ----------
    n_components : int, default=2
        Rank r, at most the rank of X and the number of outputs.
    loss : str or Loss, default="squared"
        "squared" is Algorithm 2, "absolute" Algorithm 3; other smooth losses work as Algorithm 2.
    alpha : float, default=0.0
        Ridge weight lambda of (4.20).
    init : {"identity"} or array of shape (n_targets, n_features), default="identity"
        Start. "identity" is the report's: V, S and W are leading columns of the identity. It leads to a
        saddle, S = 0, if the first r inputs and outputs have no signal.
    slopes : sequence of float, default=(1, 10, 100, 1000)
        Slopes of the hyperbolic tangent that stands for the sign in Algorithm 3, in units of the
        inverse robust scale of the residuals at the start of each stage.
    max_iter : int, default=1000
        Largest number of iterations of each stage.
    tol : float, default=1e-8
        A stage ends when ten iterations together lower the loss by no more than this share of it.

    Attributes
    ----------
    coef_, intercept_ :
        The map, in the shape of y.
    objective_ : float
        The criterion at the fit, with the loss itself, not its smooth stand-in.
    n_iter_ : int
        Iterations of all stages.

    Examples
    --------
    >>> from isthmus import StiefelRegression
    >>> from isthmus.datasets import make_low_rank_regression
    >>> from isthmus.papers.stiefel_report import GeodesicStiefelRegression
    >>> X, Y, coef = make_low_rank_regression(60, 6, 4, rank=2, random_state=0)
    >>> printed = GeodesicStiefelRegression(2).fit(X, Y)
    >>> closed_form = StiefelRegression(2, alpha=0.0).fit(X, Y)
    >>> bool(printed.objective_ < closed_form.objective_ * (1 + 1e-5))
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        loss: Any = "squared",
        alpha: float = 0.0,
        init: Any = "identity",
        slopes: Sequence[float] = (1.0, 10.0, 100.0, 1000.0),
        max_iter: int = 1000,
        tol: float = 1e-8,
    ) -> None:
        self.n_components = n_components
        self.loss = loss
        self.alpha = alpha
        self.init = init
        self.slopes = slopes
        self.max_iter = max_iter
        self.tol = tol

    def _fit(self, X: Array, Y: Array) -> tuple[Array, Array]:
        check_alpha(self.alpha)
        loss = get_loss(self.loss)
        loss.check_targets(Y)
        x_mean = X.mean(axis=0)
        U, d, basis = np.linalg.svd(X - x_mean, full_matrices=False)
        kept = d > ROUNDING * d.max(initial=0.0)
        U = U[:, kept]
        d = d[kept]
        basis = basis[kept]
        if not d.size:
            raise ValueError("All rows of X are equal: nothing to regress on.")
        g = 1.0 / np.sqrt(d**2 + self.alpha)
        start = self._start(X.shape[1], Y.shape[1])
        A = (basis @ start.left) / g[:, None]
        b = loss.start_targets(Y).mean(axis=0)
        if isinstance(loss, ResidualLoss):
            if not isinstance(loss, Squared):
                b = np.median(Y, axis=0)
            loss = loss.resolve(Y - (U * (d * g)) @ A @ start.right.T - b)
        problem = RankProblem(U * (d * g), g, Y, None, loss, Penalty(self.alpha))
        r = min(self.n_components, len(d), Y.shape[1])
        point = _Map.from_factors(A[:, :r], start.right[:, :r], b)
        self.n_iter_, converged = 0, True
        for smooth_loss in self._stages(problem, point):
            point, n_iter, ended = follow_geodesics(
                problem, smooth_loss, point, max_iter=self.max_iter, tol=self.tol
            )
            self.n_iter_ += n_iter
            converged &= ended
        if not converged:
            warn(
                f"max_iter={self.max_iter} is reached: raise max_iter or tol.",
                ConvergenceWarning,
            )
        self.objective_ = problem.objective(point.left, point.V, point.b)
        coef = (point.V @ (g[:, None] * point.left).T) @ basis
        return coef, point.b - coef @ x_mean

    def _start(self, n_features: int, n_targets: int) -> _Factors:
        r = min(self.n_components, n_features, n_targets)
        if isinstance(self.init, str):
            if self.init != "identity":
                raise ValueError(
                    f"init == {self.init!r}, must be 'identity' or an array (n_targets, n_features)."
                )
            return _Factors(np.eye(n_features, r), np.eye(n_targets, r))
        coef = np.atleast_2d(np.asarray(self.init, dtype=np.float64))
        if coef.shape != (n_targets, n_features):
            raise ValueError(
                f"init has shape {coef.shape}, expected (n_targets, n_features) = "
                f"{(n_targets, n_features)}."
            )
        V, s, Wt = np.linalg.svd(coef, full_matrices=False)
        return _Factors(Wt[:r].T * s[:r], V[:, :r])

    def _stages(self, problem: RankProblem, start: _Map) -> list[Loss]:
        """The loss itself, or for the absolute loss tangents of ever steeper slope."""
        if not isinstance(problem.loss, Absolute):
            if not problem.loss.is_smooth:
                raise ValueError(
                    f"loss == {self.loss!r} has kinks and no smooth stand-in in the report: use "
                    "isthmus.StiefelRegression."
                )
            return [problem.loss]
        scale = problem.scale(start.left, start.V, start.b)
        return [TanhAbsolute(scale / slope) for slope in self.slopes]


@dataclass
class _Factors:
    left: Array
    right: Array


@dataclass
class _Map:
    """A point of the search: V, S and W of the report, with the intercept b."""

    W: Array
    s: Array
    V: Array
    b: Array

    @classmethod
    def from_factors(cls, A: Array, D: Array, b: Array) -> _Map:
        W, s, V = singular_form(A, D)
        return cls(W, s, V, b)

    @property
    def left(self) -> Array:
        return self.W * self.s


class _Geodesics:
    """The loss as a function of the step lengths along the negative gradient of each part."""

    def __init__(self, problem: RankProblem, loss: Loss, start: _Map) -> None:
        self.problem = problem
        self.loss = loss
        self.start = start
        self._flows = StiefelFlow(*start.W.shape), StiefelFlow(*start.V.shape)
        self.value, by_W, by_s, by_V, by_b = self._evaluate(start)
        W_flow, V_flow = self._flows
        self.directions = _Map(
            -W_flow.geometry.gradient(start.W, by_W),
            -by_s,
            -V_flow.geometry.gradient(start.V, by_V),
            -by_b,
        )
        self.slopes = self._along(self.directions, (by_W, by_s, by_V, by_b))

    def _evaluate(self, point: _Map) -> tuple[float, Array, Array, Array, Array]:
        value, by_A, by_V, by_b = self.problem.value_and_gradients(
            self.loss, point.left, point.V, point.b
        )
        return value, by_A * point.s, np.einsum("kr,kr->r", by_A, point.W), by_V, by_b

    @staticmethod
    def _along(velocity: _Map, gradients: tuple[Array, ...]) -> Array:
        parts = velocity.W, velocity.s, velocity.V, velocity.b
        return np.array([np.vdot(v, g) for v, g in zip(parts, gradients)])

    def at(self, lengths: Array) -> tuple[float, Array, _Map]:
        """Return value, its derivatives by the four lengths, and the point."""
        W_flow, V_flow = self._flows
        start, toward = self.start, self.directions
        W, W_velocity = W_flow.move(start.W, toward.W, lengths[0])
        V, V_velocity = V_flow.move(start.V, toward.V, lengths[2])
        point = _Map(W, start.s + lengths[1] * toward.s, V, start.b + lengths[3] * toward.b)
        value, *gradients = self._evaluate(point)
        velocity = _Map(W_velocity, toward.s, V_velocity, toward.b)
        return value, self._along(velocity, tuple(gradients)), point

    def first_lengths(self) -> Array:
        """Lengths that move each part by a small share of its size."""
        sizes = [1.0, np.linalg.norm(self.start.s) or 1.0, 1.0, np.linalg.norm(self.start.b) or 1.0]
        speeds = [
            np.linalg.norm(part)
            for part in (
                self.directions.W,
                self.directions.s,
                self.directions.V,
                self.directions.b,
            )
        ]
        return _FIRST_LENGTH * np.array(sizes) / np.where(np.array(speeds) > 0, speeds, 1.0)


def follow_geodesics(
    problem: RankProblem, loss: Loss, start: _Map, *, max_iter: int, tol: float
) -> tuple[_Map, int, bool]:
    """Repeat step 1 to 6 of Algorithm 2; return the map, the iterations and whether they converged."""
    point, lengths = start, None
    values: list[float] = []
    for iteration in range(max_iter):
        curve = _Geodesics(problem, loss, point)
        values.append(curve.value)
        if len(values) > _PLATEAU and values[-1 - _PLATEAU] - values[-1] <= tol * abs(values[-1]):
            return point, iteration, True
        if lengths is None:
            lengths = curve.first_lengths()
        found = _minimise_lengths(curve, lengths)
        if found is None:  # nothing is left to gain in this precision
            return point, iteration, True
        point, taken = found
        lengths = np.maximum(np.abs(taken), _DIFFERENCE * lengths)
    return point, max_iter, False


def _minimise_lengths(curve: _Geodesics, scale: Array) -> tuple[_Map, Array] | None:
    """Newton's method over the step lengths, from zero; None where no step lowers the loss.

    ``scale`` gives the lengths over which curvatures are measured by differences.
    """
    lengths = np.zeros(4)
    value = curve.value
    slopes = curve.slopes
    point: _Map | None = None
    for _ in range(_NEWTON_STEPS):
        step = _newton_step(curve, lengths, slopes, _DIFFERENCE * scale)
        share = 1.0
        while True:
            new_value, new_slopes, end = curve.at(lengths + share * step)
            if new_value < value + _SUFFICIENT * share * float(slopes @ step):
                break
            share /= 2
            if share < 1e-10:
                return None if point is None else (point, lengths)
        gain = value - new_value
        lengths = lengths + share * step
        value = new_value
        slopes = new_slopes
        point = end
        if gain < _SETTLED * (curve.value - value):
            break
    assert point is not None
    return point, lengths


def _newton_step(curve: _Geodesics, lengths: Array, slopes: Array, differences: Array) -> Array:
    """A descent step with the curvatures in absolute value, each part in its own unit."""
    H = np.empty((4, 4))
    for j, h in enumerate(differences):
        ahead = lengths.copy()
        ahead[j] += h
        H[j] = (curve.at(ahead)[1] - slopes) / h
    H = (H + H.T) / 2
    unit = np.sqrt(np.abs(H.diagonal()))
    unit = np.where(unit > 0, unit, 1.0)
    curvatures, axes = np.linalg.eigh(H / np.outer(unit, unit))
    curvatures = np.maximum(np.abs(curvatures), _LEAST_CURVATURE)
    return -(axes @ ((axes.T @ (slopes / unit)) / curvatures)) / unit
