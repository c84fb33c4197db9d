"""From predicted points of the pose kernel's space back to postures the arm can take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isthmus.applications.imitation.arm import SerialArm
from isthmus.applications.imitation.checks import check_joints, check_non_negative
from isthmus.kernels import PoseKernel, gram_diagonal

Array = NDArray[np.float64]

# Pull towards the current posture, and how far in feature space a path may stray from its target.
LAM = 0.1
PATH_THRESHOLD = 0.25


class ConstrainedPosture:
    r"""The posture nearest to a predicted point, near the current one and inside the limits.

    .. math::
        \min_q |V'(\phi(q) - \bar\phi) - \psi|^2 + \lambda |q - q_0|^2, \qquad l \le q \le h

    With the linear pose kernel :math:`V'\phi(q)` is affine in the arm's points, so damped steps of
    Gauss and Newton apply; [B2006]_ Sec. 6.2.2. Repeating with :math:`q_0` replaced by the answer
    walks to the point in small steps.

    Parameters
    ----------
    arm : SerialArm
        The arm.
    embedding : KernelMap
        Fitted to postures with a linear :class:`~isthmus.kernels.postures.PoseKernel`.
    lam : float, default=0.1
        Weight of staying near.
    free : array-like of bool, shape (n_joints,), default=None
        Joints that may move; None means all. A wrist that no label ever bent is better left alone:
        it would only make up for errors of the prediction.
    max_iter, tol : int, float, default=50, 1e-9
        Most steps, and the relative gain at which they end.
    """

    def __init__(
        self,
        arm: SerialArm,
        embedding: Any,
        *,
        lam: float = LAM,
        free: ArrayLike | None = None,
        max_iter: int = 50,
        tol: float = 1e-9,
    ):
        kernel = embedding.kernel_
        if not isinstance(kernel, PoseKernel) or kernel.base != "linear":
            raise ValueError(f"embedding has kernel {kernel!r}, must be a linear PoseKernel.")
        self.arm, self.kernel = arm, kernel
        self.max_iter, self.tol = max_iter, tol
        self.lam = check_non_negative(lam, "lam")
        self.free = (
            np.ones(arm.n_joints, dtype=bool) if free is None else np.asarray(free, dtype=bool)
        )
        coef, self.offset = embedding.collapse(np.eye(embedding.n_components_))
        self.axes = kernel.features(embedding.points_).T @ coef  # (3 n_points, n_components)

    def misfit(self, q: Array, psi: Array) -> float:
        """The first term."""
        return float(((self._scores(q) - psi) ** 2).sum())

    def _scores(self, q: Array) -> Array:
        return (self.kernel.features(q[None]) @ self.axes + self.offset)[0]

    def solve(self, psi: Array, start: Array) -> Array:
        """The posture for one predicted point, from the current posture."""
        low, high = self.arm.limits.T
        q, damping = start, 1e-3
        rest = psi - self._scores(q)
        value = float(rest @ rest)
        for _ in range(self.max_iter):
            J = self.axes.T @ self.kernel.feature_jacobians(q[None])[0]
            gradient = J.T @ rest - self.lam * (q - start)
            # Joints at a limit that want to leave the box stay where they are.
            blocked = ((q <= low) & (gradient < 0)) | ((q >= high) & (gradient > 0))
            free = self.free & ~blocked
            if not free.any() or np.abs(gradient[free]).max() < 1e-10:
                break
            H = J[:, free].T @ J[:, free] + self.lam * np.eye(int(free.sum()))
            trial, after, new = self._shorter(q, start, psi, H, gradient, free, value, damping)
            if trial is None:
                break
            gain = value - new
            q = trial
            rest = after
            value = new
            damping = max(damping / 5, 1e-12)
            if gain <= self.tol * value:
                break
        return q

    def _shorter(
        self,
        q: Array,
        start: Array,
        psi: Array,
        H: Array,
        gradient: Array,
        free: NDArray[np.bool_],
        value: float,
        damping: float,
    ) -> tuple[Any, Any, float]:
        """A damped step that lowers the objective, or None where there is none."""
        while damping < 1e8:
            step = np.zeros_like(q)
            step[free] = np.linalg.solve(H + damping * np.eye(len(H)), gradient[free])
            trial = self.arm.clip(q + step)
            rest = psi - self._scores(trial)
            new = float(rest @ rest) + self.lam * float(((trial - start) ** 2).sum())
            if new < value - 1e-14 * max(value, 1.0):
                return trial, rest, new
            damping = 10 * max(damping, 1e-6)
        return None, None, value

    def walk(self, psi: Array, start: Array, *, max_steps: int = 20, tol: float = 1e-4) -> Array:
        """Intermediate postures to a point, ``q_0 <- q``; each lowers the misfit or is the last."""
        way = [self.arm.clip(start)]
        for _ in range(max_steps):
            after = self.solve(psi, way[-1])
            if self.misfit(after, psi) > self.misfit(way[-1], psi) - tol**2:
                break
            way.append(after)
        return np.array(way)


def constrained_postures(
    arm: SerialArm,
    embedding: Any,
    psi: ArrayLike,
    start: ArrayLike,
    *,
    lam: float = LAM,
    free: ArrayLike | None = None,
    tol: float = 1e-9,
) -> Array:
    """Postures for a stream of predicted points (n, n_components), each from the one before."""
    solver = ConstrainedPosture(arm, embedding, lam=lam, free=free, tol=tol)
    q = arm.clip(check_joints(start, arm.n_joints, "start")[0][0])
    out = []
    for row in np.atleast_2d(np.asarray(psi, dtype=np.float64)):
        q = solver.solve(row, q)
        out.append(q)
    return np.array(out)


@dataclass(frozen=True)
class DensePath:
    """A path through known country: ``q`` (n, n_joints), the postures passed, the worst distance left."""

    q: Array
    via: NDArray[np.intp]
    worst: float


def dense_path(
    start: ArrayLike,
    end: ArrayLike,
    library: ArrayLike,
    kernel: PoseKernel,
    *,
    threshold: float = PATH_THRESHOLD,
    n_samples: int = 50,
    max_insertions: int = 20,
) -> DensePath:
    """Join two postures by a path that stays near known ones.

    The straight joint path is sampled; while the worst sample is further than ``threshold`` from the
    library in the kernel's distance, the library posture nearest to it is put in as a way point,
    each at most once; [B2006]_ Sec. 6.2.2, with the caps without which it need not stop.

    Parameters
    ----------
    start, end : array-like of shape (n_joints,)
        The postures.
    library : array-like of shape (n, n_joints)
        Postures a person takes.
    kernel : PoseKernel
        Its distance is used.
    threshold : float, default=0.25
        Greatest distance that is accepted.
    n_samples, max_insertions : int
        Samples of each segment, both ends included, and greatest number of way points.
    """
    n_joints = kernel.arm.n_joints
    first = check_joints(start, n_joints, "start")[0][0]
    last = check_joints(end, n_joints, "end")[0][0]
    known, _ = check_joints(library, n_joints, "library")
    points, via = [first, last], [-1, -1]
    free = np.ones(len(known), dtype=bool)
    while True:
        path, part = _sample(np.array(points), n_samples)
        distances = _distances(kernel, path, known)
        worst = int(distances.min(axis=1).argmax())
        left = float(distances[worst].min())
        if left <= threshold or len(points) - 2 >= max_insertions or not free.any():
            break
        chosen = int(np.where(free, distances[worst], np.inf).argmin())
        free[chosen] = False
        points.insert(int(part[worst]) + 1, known[chosen])
        via.insert(int(part[worst]) + 1, chosen)
    return DensePath(path, np.array(via[1:-1], dtype=np.intp), left)


def _sample(points: Array, n: int) -> tuple[Array, NDArray[np.intp]]:
    """Samples along way points, n on each leg with both its ends, and the leg each belongs to."""
    legs = len(points) - 1
    at = np.linspace(0, legs, legs * (n - 1) + 1)
    q = np.stack([np.interp(at, np.arange(len(points)), column) for column in points.T], axis=1)
    return q, np.minimum(np.arange(len(at)) // (n - 1), legs - 1).astype(np.intp)


def _distances(kernel: PoseKernel, A: Array, B: Array) -> Array:
    squares = gram_diagonal(kernel, A)[:, None] + gram_diagonal(kernel, B)[None] - 2 * kernel(A, B)
    return np.sqrt(np.maximum(squares, 0))
