"""pymanopt as a peer of Stiefel regression: the same criterion, the same start, the same stages.

``FORMULATIONS`` are the ways to put the criterion to it, each with the optimisers that are tried;
``race`` lets them run until they have our objective or no time left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import pymanopt
from numpy.typing import NDArray
from pymanopt.manifolds import Euclidean, FixedRankEmbedded, Product, Stiefel
from pymanopt.manifolds.fixed_rank import _FixedRankPoint, _FixedRankTangentVector
from pymanopt.optimizers import ConjugateGradient, TrustRegions
from pymanopt.optimizers.line_search import AdaptiveLineSearcher

from isthmus import ReducedRankRegression
from isthmus._linalg.eigen import descending_eigh
from isthmus.losses import Huber, Loss, Squared
from isthmus.losses.scale import robust_scale
from isthmus.regression.scales import winsorise

SAME = 1e-6  # objectives that differ by less than this share are the same
WIDTHS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5)  # of the rounded absolute loss, in robust scales
STAGE_STEPS, STAGE_GRADIENT = 300, 1e-6
PATIENCE = 1.1  # a peer is given as much time as settles the question, and a tenth more, ...
LEAST_SECONDS = 3.0  # ... and no less than this

Point = tuple[NDArray, NDArray, NDArray, NDArray]  # W (k, r), s (r,), V (q, r), b (q,)


# -- the clock --------------------------------------------------------------------------------


class Enough(Exception):
    """The peer is there, or out of time."""


@dataclass
class Watch:
    """The clock of a peer. It stands still while we look where the peer is."""

    target: float
    limit: float
    begin: float = field(default_factory=time.perf_counter)
    paused: float = 0.0
    reached: float | None = None
    lowest: float = float("inf")

    @property
    def spent(self) -> float:
        return time.perf_counter() - self.begin - self.paused

    @contextmanager
    def pause(self) -> Iterator[None]:
        begin = time.perf_counter()
        yield
        self.paused += time.perf_counter() - begin

    def see(self, value: float) -> None:
        """Take note of an objective; once there, the peer goes on for as long again."""
        self.lowest = min(self.lowest, value)
        if self.reached is None and value <= self.target * (1 + SAME):
            self.reached = self.spent
            self.limit = min(self.limit, 2 * self.reached)
        self.check()

    def check(self) -> None:
        if self.spent > self.limit:
            raise Enough


# -- the criterion ----------------------------------------------------------------------------


@dataclass
class Coordinates:
    """Inputs Z = Xc B diag(g), in which the map is C = B diag(g) W diag(s) V'."""

    Z: NDArray
    g: NDArray
    basis: NDArray | None = None  # None: the user's own
    b_unit: float = 1.0

    @classmethod
    def users(cls, X: NDArray) -> Coordinates:
        return cls(X - X.mean(axis=0), np.ones(X.shape[1]))

    @classmethod
    def white(cls, X: NDArray, ridge: float) -> Coordinates:
        Xc = X - X.mean(axis=0)
        n, p = Xc.shape
        squares, U = descending_eigh(Xc.T @ Xc if p <= n else Xc @ Xc.T)
        keep = squares > 1e-10 * squares[0]
        squares, U = squares[keep], U[:, keep]
        basis = U if p <= n else Xc.T @ (U / np.sqrt(squares))
        g = 1.0 / np.sqrt(squares + ridge)
        rows = Xc @ (basis * g) if p <= n else U * (np.sqrt(squares) * g)
        return cls(rows, g, basis, 1.0 / np.sqrt(n))

    def point(self, C: NDArray, b: NDArray, rank: int) -> Point:
        """W, s, V, b of a map in the user's coordinates."""
        M = C if self.basis is None else (self.basis.T @ C) / self.g[:, None]
        W, s, Vt = np.linalg.svd(M, full_matrices=False)
        return W[:, :rank].copy(), s[:rank].copy(), Vt[:rank].T.copy(), b / self.b_unit


class Criterion:
    """``sum rho(y - V diag(s) W'z - b) + alpha / 2 ||C||^2`` and its derivatives.

    Value and gradient at a point share one evaluation, as they do in our own solver.
    """

    def __init__(
        self, inside: Coordinates, Y: NDArray, loss: Loss, alpha: float, watch: Watch
    ) -> None:
        self.inside, self.Y, self.meant, self.alpha, self.watch = inside, Y, loss, alpha, watch
        self.loss, self.width, self._last = loss, 0.0, None
        self.slope = np.empty_like(Y)

    def sharpen(self, width: float) -> None:
        """Round the kinks of the loss, where it has any, to this width."""
        if not self.meant.is_smooth:
            self.loss, self.width, self._last = self.meant.smooth(width), width, None

    def _visit(self, W: NDArray, s: NDArray, V: NDArray, b: NDArray) -> None:
        if W is self._last:  # every retraction makes a new W
            return
        self._last, self.T = W, self.inside.Z @ W
        self.predicted = (self.T * s) @ V.T
        self.predicted += b * self.inside.b_unit
        value, _ = self.loss.value_and_gradient(self.Y, self.predicted, out=self.slope)
        penalty = 0.5 * self.alpha * float(((self.inside.g[:, None] * W * s) ** 2).sum())
        self.value = value + penalty
        with self.watch.pause():
            if not self.meant.is_smooth:
                value = self.meant.value(self.Y, self.predicted)
        self.watch.see(value + penalty)

    def cost(self, *point: NDArray) -> float:
        self._visit(*point)
        return self.value / self.Y.size

    def gradient(self, W: NDArray, s: NDArray, V: NDArray, b: NDArray) -> Point:
        self._visit(W, s, V, b)
        by_A = self._by_A(W * s, self.slope @ V)  # A = W diag(s)
        by_b = self.slope.sum(axis=0) * self.inside.b_unit
        return self._scaled(by_A * s, (W * by_A).sum(axis=0), (self.slope.T @ self.T) * s, by_b)

    def hessian(
        self, W: NDArray, s: NDArray, V: NDArray, b: NDArray,
        dW: NDArray, ds: NDArray, dV: NDArray, db: NDArray,
    ) -> Point:  # fmt: skip
        """Derivative of the gradient along (dW, ds, dV, db)."""
        self._visit(W, s, V, b)
        self.watch.check()
        dT = self.inside.Z @ dW
        bent = (dT * s + self.T * ds) @ V.T + (self.T * s) @ dV.T + db * self.inside.b_unit
        bent *= self._curvature()
        by_A = self._by_A(W * s, self.slope @ V)
        d_by_A = self._by_A(dW * s + W * ds, bent @ V + self.slope @ dV)
        return self._scaled(
            d_by_A * s + by_A * ds,
            (dW * by_A + W * d_by_A).sum(axis=0),
            (bent.T @ self.T + self.slope.T @ dT) * s + (self.slope.T @ self.T) * ds,
            bent.sum(axis=0) * self.inside.b_unit,
        )

    def _by_A(self, A: NDArray, through_V: NDArray) -> NDArray:
        return self.inside.Z.T @ through_V + self.alpha * self.inside.g[:, None] ** 2 * A

    def _curvature(self) -> NDArray | float:
        """Second derivative of the loss."""
        if isinstance(self.meant, Squared):
            return 1.0
        e = self.Y - self.predicted
        if isinstance(self.meant, Huber):
            return np.abs(e) <= self.meant.delta
        return self.width**2 / (e * e + self.width**2) ** 1.5

    def _scaled(self, *derivatives: NDArray) -> Point:
        return tuple(derivative / self.Y.size for derivative in derivatives)


class FixedRank(FixedRankEmbedded):
    """pymanopt's manifold without the division by differences of singular values."""

    def euclidean_to_riemannian_gradient(self, point, euclidean_gradient):
        u, s, vt = point
        du, _, dvt = euclidean_gradient
        M = (u.T @ du) / s
        return _FixedRankTangentVector(du / s - u @ M, M, dvt.T / s - vt.T @ (vt @ (dvt.T / s)))


def on_stiefel(criterion: Criterion, start: Point) -> tuple[pymanopt.Problem, list]:
    """The criterion over W, s, V and b, and the start."""
    W, s, V, b = start
    manifold = Product([Stiefel(*W.shape), Euclidean(len(s)), Stiefel(*V.shape), Euclidean(len(b))])
    wrap = pymanopt.function.numpy(manifold)
    problem = pymanopt.Problem(
        manifold,
        wrap(lambda *point: criterion.cost(*point)),
        euclidean_gradient=wrap(lambda *point: criterion.gradient(*point)),
        euclidean_hessian=wrap(lambda *both: criterion.hessian(*both)),
    )
    return problem, list(start)


def on_fixed_rank(criterion: Criterion, start: Point) -> tuple[pymanopt.Problem, list]:
    """The criterion over matrices of rank r and b, and the start."""
    W, s, V, b = start
    manifold = Product([FixedRank(len(W), len(V), len(s)), Euclidean(len(b))])
    wrap = pymanopt.function.numpy(manifold)

    def gradient(u: NDArray, s: NDArray, vt: NDArray, b: NDArray) -> Point:
        by_W, by_s, by_V, by_b = criterion.gradient(u, s, vt.T, b)
        return by_W, by_s, by_V.T, by_b

    problem = pymanopt.Problem(
        manifold,
        wrap(lambda u, s, vt, b: criterion.cost(u, s, vt.T, b)),
        euclidean_gradient=wrap(gradient),
    )
    return problem, [_FixedRankPoint(W, s, V.T.copy()), b]


# -- a peer at work ---------------------------------------------------------------------------


@dataclass
class Peer:
    """One of pymanopt's optimisers on one of the two formulations."""

    name: str
    optimiser: type
    formulate: Callable[[Criterion, Point], tuple[pymanopt.Problem, list]]
    white: bool = False


FORMULATIONS = {
    "W, s, V, b": [
        Peer("CG", ConjugateGradient, on_stiefel),
        Peer("trust regions", TrustRegions, on_stiefel),
    ],
    "fixed rank": [Peer("CG", ConjugateGradient, on_fixed_rank, white=True)],
}


@dataclass
class Task:
    """A fit of ours that peers are to repeat: what is fitted, how well, in how many seconds."""

    shape: tuple[int, ...]
    X: NDArray
    Y: NDArray
    loss: Loss
    alpha: float
    start: Callable[[Task, bool], tuple[Coordinates, Point, float]]
    bound: float
    objective: float = float("nan")
    seconds: float = float("inf")

    @property
    def rank(self) -> int:
        return self.shape[-1]

    @property
    def patience(self) -> float:
        return max(PATIENCE * self.seconds / self.bound, LEAST_SECONDS)


def closed_form_start(task: Task, white: bool) -> tuple[Coordinates, Point, float]:
    """Coordinates, our start in them, and the robust scale of its residuals."""
    X, Y, loss = task.X, task.Y, task.loss
    model = ReducedRankRegression(task.rank, alpha=task.alpha).fit(X, winsorise(Y, loss, None))
    scale = robust_scale(Y - model.predict(X))
    ridge = task.alpha / loss.typical_curvature(scale)
    inside = Coordinates.white(X, ridge) if white else Coordinates.users(X)
    C = model.coef_.T
    return inside, inside.point(C, model.intercept_ + X.mean(axis=0) @ C, task.rank), scale


def random_start(task: Task, white: bool) -> tuple[Coordinates, Point, float]:
    """The user's coordinates and a point of no merit: the closed form would be the answer."""
    rng = np.random.default_rng(0)
    _, p, q, r = task.shape
    W, V = (np.linalg.qr(rng.standard_normal((m, r)))[0] for m in (p, q))
    return Coordinates.users(task.X), (W, np.ones(r), V, task.Y.mean(axis=0)), 1.0


@dataclass
class Attempt:
    """What a peer achieved, and in how many seconds."""

    name: str
    seconds: float
    arrived: bool
    excess: float  # lowest objective over ours, less one

    @property
    def order(self) -> tuple[bool, float, float]:
        """Sorts the better attempts first."""
        if self.arrived:
            return False, self.seconds, self.excess
        return True, self.excess, self.seconds

    def __str__(self) -> str:
        state = "" if self.arrived else f" not there, excess {self.excess:.0e}"
        return f"{self.name}{state} ({self.seconds:.2f} s)"


def chase(peer: Peer, task: Task, limit: float) -> Attempt:
    """Let a peer run until it has our objective or no time left."""
    watch = Watch(task.objective, limit)
    inside, start, scale = task.start(task, peer.white)
    criterion = Criterion(inside, task.Y, task.loss, task.alpha, watch)
    problem, point = peer.formulate(criterion, start)
    widths = (1.0,) if task.loss.is_smooth else WIDTHS
    try:
        for width in widths:
            criterion.sharpen(scale * width)
            optimiser = optimiser_for_stage(peer.optimiser, limit, is_last=width == widths[-1])
            point = optimiser.run(problem, initial_point=point).point
    except Enough:
        pass
    arrived = watch.reached is not None
    took = watch.reached if arrived else watch.spent
    return Attempt(peer.name, took, arrived, watch.lowest / task.objective - 1)


def optimiser_for_stage(
    optimiser: type, limit: float, is_last: bool
) -> ConjugateGradient | TrustRegions:
    """An optimiser that ends a stage early, and the last one only where it can do no more."""
    options = {
        "verbosity": 0,
        "max_time": limit,
        "max_iterations": 10**6 if is_last else STAGE_STEPS,
        "max_cost_evaluations": 10**9,
        "min_gradient_norm": 1e-14 if is_last else STAGE_GRADIENT,
        "min_step_size": 1e-14,
    }
    if optimiser is ConjugateGradient:  # its own line search gives up after ten halvings
        options["line_searcher"] = AdaptiveLineSearcher(max_iterations=40)
    return optimiser(**options)


def race(peers: list[Peer], task: Task, repeats: int, limit: float) -> list[Attempt]:
    """Attempts of all peers, the best first; none is given twice the time of the best so far."""
    limit = min(limit, task.patience)
    attempts: list[Attempt] = []
    for peer in peers:
        turns: list[Attempt] = []
        while len(turns) < repeats and sum(a.seconds for a in turns) < LEAST_SECONDS:
            turns.append(chase(peer, task, limit))
        best = min(turns, key=lambda attempt: attempt.order)
        attempts.append(best)
        if best.arrived:
            limit = min(limit, 2 * best.seconds)
    return sorted(attempts, key=lambda attempt: attempt.order)
