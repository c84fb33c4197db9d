"""Serial arms: points, frames and Jacobians of many postures at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isthmus.applications.imitation.checks import check_joints, check_rates
from isthmus.applications.imitation.poses import (
    apply_pose,
    blocks,
    lengths,
    rotation_x,
    rotation_z,
    translation,
    turn_speeds,
)

Array = NDArray[np.float64]
Place = tuple[int, Array]  # the joint that carries a point (-1: the base), the point in its frame


class SerialArm:
    r"""A chain of hinges (or slides, along z), each between two fixed transforms.

    .. math::
        F_k(q) = \prod_{j \le k} A_j R_z(q_j) C_j, \qquad p_k(q) = F_k(q)_{1:3,4}

    A proximal Denavit-Hartenberg link has :math:`A = R_x(\alpha) T_x(a) T_z(d)` and :math:`C = I`, a
    distal one :math:`A = I` and :math:`C = T_z(d) T_x(a) R_x(\alpha)`; see [B2006]_ Sec. 6.2.1, where
    the two are mixed up. Metres and radians; frames are right-handed and a pose maps coordinates
    of its own frame to those of the base.

    Parameters
    ----------
    before, after : array-like of shape (n_joints, 4, 4)
        The fixed transforms :math:`A_j` and :math:`C_j`. :meth:`from_dh` makes them from a table.
    limits : array-like of shape (n_joints, 2)
        Lowest and highest angle of each joint.
    velocity, acceleration : array-like of shape (n_joints,), default=None
        Greatest speed (rad/s) and acceleration (rad/s^2) of each joint; None is no limit.
    names : sequence of str, default=None
        Names of the joints.
    named_points : dict of str to int, default=None
        Names of points of interest, as numbers of frames from 0. ``"tip"`` is the last by default.
    links : dict of str to (int, array-like of shape (3,)), default=None
        Further named points: the number of a frame (-1 is the base) and a place in it. Files of
        models give the origins of all their links.
    slides : sequence of int, default=()
        Elements of the chain that move along z instead of turning about it.
    drive, drive_offset : array-like of shape (n_links, n_joints), (n_links,), default=None
        Where an element of the chain mimics a joint: ``elements = drive @ q + drive_offset``. None
        means that each element is its own joint.
    base_offset : float, default=0.0
        Added to z of every point, and to nothing else.
    reach : tuple of float, default=None
        Least and greatest distance of the tip from the base's origin (without the offset). None
        means zero and the sum of all link lengths.
    name : str, default="arm"
        Name in model files.
    """

    def __init__(
        self,
        before: ArrayLike,
        after: ArrayLike,
        *,
        limits: ArrayLike,
        velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        named_points: Mapping[str, int] | None = None,
        links: Mapping[str, tuple[int, ArrayLike]] | None = None,
        slides: Sequence[int] = (),
        drive: ArrayLike | None = None,
        drive_offset: ArrayLike = 0.0,
        base_offset: float = 0.0,
        reach: tuple[float, float] | None = None,
        name: str = "arm",
    ):
        self.before = np.asarray(before, dtype=np.float64)
        self.after = np.asarray(after, dtype=np.float64)
        n = len(self.before)
        if n < 1 or self.before.shape != (n, 4, 4) or self.after.shape != (n, 4, 4):
            raise ValueError(
                f"before has shape {self.before.shape} and after {self.after.shape}, both must be "
                "(n_joints, 4, 4) with at least one joint."
            )
        self.n_links, self.slides = n, tuple(slides)
        self.drive = None if drive is None else np.asarray(drive, dtype=np.float64)
        self.drive_offset = np.broadcast_to(np.asarray(drive_offset, dtype=np.float64), (n,))
        m = n if self.drive is None else self.drive.shape[-1]
        if self.drive is not None and self.drive.shape != (n, m):
            raise ValueError(f"drive has shape {self.drive.shape}, must be ({n}, n_joints).")
        self.limits = np.asarray(limits, dtype=np.float64)
        if self.limits.shape != (m, 2) or not np.all(self.limits[:, 0] < self.limits[:, 1]):
            raise ValueError(
                f"limits has shape {self.limits.shape}, must be ({m}, 2) with low < high in each row."
            )
        self.n_joints = m
        self.velocity = check_rates(velocity, m, "velocity")
        self.acceleration = check_rates(acceleration, m, "acceleration")
        self.names = tuple(names) if names is not None else tuple(f"j{i + 1}" for i in range(m))
        self.named_points = {"tip": n - 1} | dict(named_points or {})
        self.links = {key: (k, np.asarray(x, float)) for key, (k, x) in (links or {}).items()}
        self.base_offset = float(base_offset)
        longest = float(lengths(self.before).sum() + lengths(self.after).sum())
        if self.slides:
            longest += float(
                np.abs(self._elements(self.limits.T)[:, self.slides]).max(axis=0).sum()
            )
        self.reach = (0.0, longest) if reach is None else (float(reach[0]), float(reach[1]))
        self.name = name

    @classmethod
    def from_dh(
        cls,
        alpha: ArrayLike,
        d: ArrayLike,
        a: ArrayLike = 0.0,
        *,
        limits: ArrayLike,
        offset: ArrayLike = 0.0,
        convention: str = "proximal",
        **options: Any,
    ) -> SerialArm:
        """Make an arm from a table of twists, offsets along and lengths across the axes.

        Parameters
        ----------
        alpha, d, a, offset : array-like of shape (n_joints,)
            Twist, length along z, length along x and angle at ``q == 0`` of each link.
        limits : array-like of shape (n_joints,) or (n_joints, 2)
            Symmetric limits, or low and high.
        convention : {"proximal", "distal"}, default="proximal"
            Craig's form (twist first) or the older one (twist last).
        **options
            Handed to the constructor.
        """
        if convention not in ("proximal", "distal"):
            raise ValueError(f"convention == {convention!r}, must be 'proximal' or 'distal'.")
        alpha = np.atleast_1d(np.asarray(alpha, dtype=np.float64))
        columns = [np.broadcast_to(np.asarray(c, dtype=np.float64), alpha.shape) for c in (d, a)]
        turns = np.broadcast_to(np.asarray(offset, dtype=np.float64), alpha.shape)
        twists = np.array([rotation_x(angle) for angle in alpha])
        shifts = np.array([translation(x, 0.0, z) for z, x in zip(*columns)])
        zero = np.array([rotation_z(angle) for angle in turns])
        eye = np.broadcast_to(np.eye(4), twists.shape)
        low_high = np.asarray(limits, dtype=np.float64)
        if low_high.ndim == 1:
            low_high = np.stack([-low_high, low_high], axis=1)
        if convention == "proximal":
            return cls(twists @ shifts @ zero, eye, limits=low_high, **options)
        return cls(zero, shifts @ twists, limits=low_high, **options)

    # -- kinematics ---------------------------------------------------------------------------

    def points(self, q: ArrayLike) -> Array:
        """Return the origins of all frames, (n, n_links, 3); (n_links, 3) for a single posture."""
        q, single = check_joints(q, self.n_joints)
        out = np.empty((len(q), self.n_links, 3))
        for rows in blocks(len(q)):
            self._walk(q[rows], points=out[rows])
        return out[0] if single else out

    def frames(self, q: ArrayLike) -> Array:
        """Return the poses of all frames, (n, n_links, 4, 4)."""
        q, single = check_joints(q, self.n_joints)
        out = np.zeros((len(q), self.n_links, 4, 4))
        out[..., 3, 3] = 1.0
        for rows in blocks(len(q)):
            self._walk(q[rows], points=out[rows, :, :3, 3], rotations=out[rows, :, :3, :3])
        return out[0] if single else out

    def jacobians(self, q: ArrayLike) -> Array:
        r"""Return the derivatives of all points, (n, n_links, 3, n_joints).

        Column j of point k is :math:`z_j \times (p_k - p_j)` for :math:`j \le k` and zero after it.
        """
        q, single = check_joints(q, self.n_joints)
        n, m = len(q), self.n_links
        out = np.zeros((n, m, 3, m))
        for rows in blocks(n):
            points, axes, pivots = self._axes(q[rows])
            for k in range(m):
                turn_speeds(axes, pivots, points[k], k + 1, out[rows, k], self.slides)
        out = self._driven(out)
        return out[0] if single else out

    def points_and_jacobian(self, q: ArrayLike, point: int | str = "tip") -> tuple[Array, Array]:
        """Return all points (n, n_links, 3) and the Jacobian of one of them (n, 3, n_joints)."""
        k = self.point_index(point)
        q, single = check_joints(q, self.n_joints)
        n, m = len(q), self.n_links
        out = np.empty((n, m, 3))
        jacobian = np.zeros((n, 3, m))
        for rows in blocks(n):
            points, axes, pivots = self._axes(q[rows])
            out[rows] = np.moveaxis(points, 2, 0)
            turn_speeds(axes, pivots, points[k], k + 1, jacobian[rows], self.slides)
        jacobian = self._driven(jacobian)
        return (out[0], jacobian[0]) if single else (out, jacobian)

    def limb(self, q: Array, places: Sequence[Place]) -> tuple[Array, Array, Array, Array]:
        """Return places and their derivatives, the last one's rotation and its angular velocities.

        Parameters
        ----------
        q : ndarray of shape (n, n_joints)
            Postures.
        places : sequence of (int, ndarray of shape (3,))
            Points, as :meth:`place` returns them.

        Returns
        -------
        points, jacobians : ndarray of shape (n, n_places, 3), (n, n_places, 3, n_joints)
            The points and their derivatives.
        rotation, turning : ndarray of shape (n, 3, 3), (n, 3, n_joints)
            Rotation of the frame that carries the last place, and the angular velocity of that frame
            per unit of each joint's velocity.
        """
        n = len(q)
        m = self.n_links
        last = places[-1][0]
        points = np.empty((n, len(places), 3))
        jacobians = np.zeros((n, len(places), 3, m))
        rotation = np.empty((n, 3, 3))
        turning = np.zeros((n, 3, m))
        for rows in blocks(n):
            size = len(q[rows])
            origins, axes, pivots = np.empty((3, m, 3, size))
            turns = np.empty((size, m, 3, 3))
            self._walk(q[rows], np.moveaxis(origins, 2, 0), turns, axes, pivots)
            for i, (k, offset) in enumerate(places):
                if k < 0:
                    points[rows, i] = offset + np.array([0, 0, self.base_offset])
                    continue
                x = origins[k] + (turns[:, k] @ offset).T if offset.any() else origins[k]
                points[rows, i] = x.T
                turn_speeds(axes, pivots, x, k + 1, jacobians[rows, i], self.slides)
            rotation[rows] = turns[:, last]
            turning[rows, :, : last + 1] = np.moveaxis(axes[: last + 1], 2, 0).swapaxes(1, 2)
        turning[:, :, list(self.slides)] = 0.0
        return points, self._driven(jacobians), rotation, self._driven(turning)

    def jacobian(self, q: ArrayLike, point: int | str = "tip") -> Array:
        """Return the Jacobian of one point, (n, 3, n_joints)."""
        return self.points_and_jacobian(q, point)[1]

    def point_index(self, point: int | str) -> int:
        """The number of a point, given by number or by name."""
        if isinstance(point, str):
            if point not in self.named_points:
                known = ", ".join(map(repr, self.named_points))
                raise ValueError(f"point == {point!r}, the named points are {known}.")
            return self.named_points[point]
        return range(self.n_links)[point]

    def place(self, point: int | str) -> Place:
        """Return the frame that carries a point, given by number, name or link, and its place in it."""
        if isinstance(point, str) and point not in self.named_points:
            if point not in self.links:
                known = ", ".join(map(repr, [*self.named_points, *self.links]))
                raise ValueError(f"point == {point!r}, the named points and links are {known}.")
            return self.links[point]
        return self.point_index(point), np.zeros(3)

    # -- limits -------------------------------------------------------------------------------

    def clip(self, q: ArrayLike) -> Array:
        """Return the nearest angles inside the limits."""
        return np.clip(np.asarray(q, dtype=np.float64), self.limits[:, 0], self.limits[:, 1])

    def inside_limits(self, q: ArrayLike, tol: float = 1e-12) -> NDArray[np.bool_]:
        """Whether each posture keeps all limits."""
        q = np.asarray(q, dtype=np.float64)
        low, high = self.limits.T
        return np.all((q >= low - tol) & (q <= high + tol), axis=-1)

    def random_postures(self, n: int, random_state: Any = None) -> Array:
        """Draw postures uniformly inside the limits."""
        rng = np.random.default_rng(random_state)
        return rng.uniform(self.limits[:, 0], self.limits[:, 1], size=(n, self.n_joints))

    # -- inside -------------------------------------------------------------------------------

    def _elements(self, q: Array) -> Array:
        """The angle or shift of each element of the chain."""
        return q if self.drive is None else q @ self.drive.T + self.drive_offset

    def _driven(self, jacobian: Array) -> Array:
        return jacobian if self.drive is None else jacobian @ self.drive

    def _axes(self, q: Array) -> tuple[Array, Array, Array]:
        """Points, axes of turning and points on them, each (n_joints, 3, rows)."""
        m, n = self.n_links, len(q)
        points, axes, pivots = np.empty((3, m, 3, n))
        self._walk(q, points=np.moveaxis(points, 2, 0), axes=axes, pivots=pivots)
        return points, axes, pivots

    def _walk(
        self,
        q: Array,
        points: Array,
        rotations: Array | None = None,
        axes: Array | None = None,
        pivots: Array | None = None,
    ) -> None:
        """Go along the chain with the three columns of the rotation, (3, rows) each.

        Zeros and ones of the fixed transforms cost nothing, so quarter turns are renamings.
        """
        values = self._elements(q).T
        cosines = np.cos(values)
        sines = np.sin(values)
        columns = list(np.repeat(np.eye(3)[:, :, None], len(q), axis=2))
        p = np.zeros((3, len(q)))
        p[2] = self.base_offset
        for j in range(self.n_links):
            columns, p = apply_pose(self.before[j], columns, p)
            if axes is not None and pivots is not None:
                axes[j], pivots[j] = columns[2], p
            x, y, z = columns
            if j in self.slides:
                p = p + values[j] * z
            else:
                c, s = cosines[j], sines[j]
                columns = [c * x + s * y, c * y - s * x, z]
            columns, p = apply_pose(self.after[j], columns, p)
            points[:, j] = p.T
            if rotations is not None:
                for i in range(3):
                    rotations[:, j, :, i] = columns[i].T
