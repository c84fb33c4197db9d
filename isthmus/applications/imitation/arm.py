"""Serial arms: points, frames and Jacobians of many postures at once; the Mitsubishi PA-10."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isthmus.applications.imitation.checks import check_joints

Array = NDArray[np.float64]

BLOCK_ROWS = 2000  # the working set of a block stays in the second-level cache
_PA10_ALPHA = (0, -90, 90, -90, 90, -90, 90)
_PA10_LIMITS = (177, 94, 174, 137, 255, 165, 255)
_PA10_NAMES = ("S1", "S2", "S3", "E1", "E2", "W1", "W2")


class SerialArm:
    r"""A chain of hinges, each between two fixed transforms.

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
    names : sequence of str, default=None
        Names of the joints.
    named_points : dict of str to int, default=None
        Names of points of interest, as numbers of frames from 0. ``"tip"`` is the last by default.
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
        names: Sequence[str] | None = None,
        named_points: dict[str, int] | None = None,
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
        self.limits = np.asarray(limits, dtype=np.float64)
        if self.limits.shape != (n, 2) or not np.all(self.limits[:, 0] < self.limits[:, 1]):
            raise ValueError(
                f"limits has shape {self.limits.shape}, must be ({n}, 2) with low < high in each row."
            )
        self.n_joints = n
        self.names = tuple(names) if names is not None else tuple(f"j{i + 1}" for i in range(n))
        self.named_points = {"tip": n - 1} | dict(named_points or {})
        self.base_offset = float(base_offset)
        longest = float(_lengths(self.before).sum() + _lengths(self.after).sum())
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
        """Return the origins of all frames, (n, n_joints, 3); (n_joints, 3) for a single posture."""
        q, single = check_joints(q, self.n_joints)
        out = np.empty((len(q), self.n_joints, 3))
        for rows in _blocks(len(q)):
            self._walk(q[rows], points=out[rows])
        return out[0] if single else out

    def frames(self, q: ArrayLike) -> Array:
        """Return the poses of all frames, (n, n_joints, 4, 4)."""
        q, single = check_joints(q, self.n_joints)
        out = np.zeros((len(q), self.n_joints, 4, 4))
        out[..., 3, 3] = 1.0
        for rows in _blocks(len(q)):
            self._walk(q[rows], points=out[rows, :, :3, 3], rotations=out[rows, :, :3, :3])
        return out[0] if single else out

    def jacobians(self, q: ArrayLike) -> Array:
        r"""Return the derivatives of all points, (n, n_joints, 3, n_joints).

        Column j of point k is :math:`z_j \times (p_k - p_j)` for :math:`j \le k` and zero after it.
        """
        q, single = check_joints(q, self.n_joints)
        n, m = q.shape
        out = np.zeros((n, m, 3, m))
        for rows in _blocks(n):
            points, axes, pivots = self._axes(q[rows])
            for k in range(m):
                _turn_speeds(axes, pivots, points[k], k + 1, out[rows, k])
        return out[0] if single else out

    def points_and_jacobian(self, q: ArrayLike, point: int | str = "tip") -> tuple[Array, Array]:
        """Return all points (n, n_joints, 3) and the Jacobian of one of them (n, 3, n_joints)."""
        k = self.point_index(point)
        q, single = check_joints(q, self.n_joints)
        n, m = q.shape
        out, jacobian = np.empty((n, m, 3)), np.zeros((n, 3, m))
        for rows in _blocks(n):
            points, axes, pivots = self._axes(q[rows])
            out[rows] = np.moveaxis(points, 2, 0)
            _turn_speeds(axes, pivots, points[k], k + 1, jacobian[rows])
        return (out[0], jacobian[0]) if single else (out, jacobian)

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
        return range(self.n_joints)[point]

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

    def _axes(self, q: Array) -> tuple[Array, Array, Array]:
        """Points, axes of turning and points on them, each (n_joints, 3, rows)."""
        m, n = self.n_joints, len(q)
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
        cosines, sines = np.cos(q.T), np.sin(q.T)
        columns = list(np.repeat(np.eye(3)[:, :, None], len(q), axis=2))
        p = np.zeros((3, len(q)))
        p[2] = self.base_offset
        for j in range(self.n_joints):
            columns, p = _apply(self.before[j], columns, p)
            if axes is not None and pivots is not None:
                axes[j], pivots[j] = columns[2], p
            c, s = cosines[j], sines[j]
            x, y, z = columns
            columns = [c * x + s * y, c * y - s * x, z]
            columns, p = _apply(self.after[j], columns, p)
            points[:, j] = p.T
            if rotations is not None:
                for i in range(3):
                    rotations[:, j, :, i] = columns[i].T


class ShoulderElbowArm(SerialArm):
    """An arm with a ball-like shoulder, an elbow and a wrist in line, as the PA-10.

    Its posture follows in closed form from the directions of upper arm and forearm.
    """

    def posture_from_directions(self, u: ArrayLike, v: ArrayLike) -> Array:
        r"""Return postures whose upper arm points along ``u`` and forearm along ``v``, hand straight.

        .. math::
            q_1 = \operatorname{atan2}(u_y, u_x),\; q_2 = \arccos u_z,\;
            b = (R_z(q_1) R_y(q_2))' v,\; q_3 = \operatorname{atan2}(-b_y, -b_x),\; q_4 = -\arccos b_z

        and zeros, clipped to the limits. Of the two branches this one keeps the third joint away
        from its limits for human arms. Where an angle is undefined (``u`` along z, a straight
        elbow) the value of the previous row is kept, zero in the first.

        Parameters
        ----------
        u, v : array-like of shape (n, 3) or (3,)
            Directions shoulder to elbow and elbow to wrist in the base frame; any length.
        """
        u, v = np.asarray(u, dtype=np.float64), np.asarray(v, dtype=np.float64)
        single = u.ndim == 1
        u, v = _unit_rows("u", u), _unit_rows("v", v)
        if u.shape != v.shape:
            raise ValueError(f"u has shape {u.shape} and v {v.shape}, they must be alike.")
        low, high = self.limits.T
        across = np.hypot(u[:, 0], u[:, 1])
        q1 = _keep_previous(np.arctan2(u[:, 1], u[:, 0]), across > 1e-12)
        q1 = np.clip(q1, low[0], high[0])
        # atan2 instead of arccos: exact near the poles too
        q2 = np.clip(np.arctan2(across, u[:, 2]), low[1], high[1])
        b = _turned_back(q1, q2, v)
        across = np.hypot(b[:, 0], b[:, 1])
        q3 = _keep_previous(np.arctan2(-b[:, 1], -b[:, 0]), across > 1e-12)
        q = np.zeros((len(u), self.n_joints))
        q[:, :4] = np.stack([q1, q2, q3, -np.arctan2(across, b[:, 2])], axis=1)
        q = self.clip(q)
        return q[0] if single else q


def pa10(
    *,
    lengths: Sequence[float] = (0.450, 0.500, 0.080),
    limits: ArrayLike | None = None,
    base_offset: float = 0.0,
) -> ShoulderElbowArm:
    """Make the seven-joint Mitsubishi PA-10, its origin at the shoulder.

    Parameters
    ----------
    lengths : sequence of float, default=(0.45, 0.5, 0.08)
        Upper arm, forearm and hand in metres. Another variant has 0.48 and 0.07 at the end.
    limits : array-like of shape (7,) or (7, 2), default=None
        Limits in radians, symmetric or low and high. None means 177, 94, 174, 137, 255, 165 and
        255 degrees, as public simulation models have them.
    base_offset : float, default=0.0
        Height of the shoulder above the origin; public models have 0.315 to 0.317.

    Examples
    --------
    >>> import numpy as np
    >>> arm = pa10()
    >>> arm.points(np.radians([0, 90, 0, -90, 0, 0, 0])).round(3)[[2, 4, 6]].tolist()
    [[0.45, 0.0, 0.0], [0.45, 0.0, 0.5], [0.45, 0.0, 0.58]]
    """
    upper, fore, hand = (float(length) for length in lengths)
    bounds = np.radians(_PA10_LIMITS) if limits is None else np.asarray(limits, dtype=np.float64)
    elbow = bounds[3] if bounds.ndim == 1 else np.abs(bounds[3]).max()
    folded = np.sqrt(upper**2 + fore**2 + 2 * upper * fore * np.cos(min(elbow, np.pi)))
    arm = ShoulderElbowArm.from_dh(
        np.radians(_PA10_ALPHA),
        [0, 0, upper, 0, fore, 0, hand],
        limits=bounds,
        names=_PA10_NAMES,
        named_points={"elbow": 2, "wrist": 4, "tip": 6},
        base_offset=base_offset,
        reach=(max(folded - hand, 0.0), upper + fore + hand),
        name="pa10",
    )
    assert isinstance(arm, ShoulderElbowArm)
    return arm


# -- fixed transforms -------------------------------------------------------------------------


def rotation_x(angle: float) -> Array:
    """Turn about x as a pose; quarter turns are exact."""
    c, s = _cosine_sine(angle)
    return np.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1.0]])


def rotation_z(angle: float) -> Array:
    """Turn about z as a pose; quarter turns are exact."""
    c, s = _cosine_sine(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])


def translation(x: float, y: float, z: float) -> Array:
    """Shift as a pose."""
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def _cosine_sine(angle: float) -> tuple[float, float]:
    quarter = angle / (np.pi / 2)
    if abs(quarter - round(quarter)) < 1e-15:  # cos(pi/2) is 6e-17 in floating point
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[round(quarter) % 4]
    return float(np.cos(angle)), float(np.sin(angle))


def _lengths(poses: Array) -> Array:
    return np.linalg.norm(poses[:, :3, 3], axis=1)


# -- along the chain --------------------------------------------------------------------------


def _apply(pose: Array, columns: list[Array], p: Array) -> tuple[list[Array], Array]:
    """Columns and origin of ``F @ pose`` from those of ``F``."""
    if pose[:3, 3].any():
        p = p + _combine(pose[:3, 3], columns)
    return [_combine(pose[:3, i], columns) for i in range(3)], p


def _combine(coefficients: Array, columns: list[Array]) -> Array:
    terms = [
        column if c == 1.0 else c * column
        for c, column in zip(coefficients.tolist(), columns)
        if c != 0.0
    ]
    if not terms:
        return np.zeros_like(columns[0])
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _turn_speeds(axes: Array, pivots: Array, point: Array, n: int, out: Array) -> None:
    """Write ``z_j x (p - p_j)`` of the first n joints into out (rows, 3, n_joints)."""
    arms = point - pivots[:n]
    z = axes[:n]
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        out[:, i, :n] = (z[:, j] * arms[:, k] - z[:, k] * arms[:, j]).T


def _blocks(n: int) -> Iterator[slice]:
    return (slice(start, min(start + BLOCK_ROWS, n)) for start in range(0, n, BLOCK_ROWS))


# -- directions -------------------------------------------------------------------------------


def _unit_rows(name: str, vectors: Array) -> Array:
    vectors = np.atleast_2d(vectors)
    if vectors.ndim != 2 or vectors.shape[1] != 3 or not np.isfinite(vectors).all():
        raise ValueError(f"{name} has shape {vectors.shape}, must be (n, 3) and finite.")
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    if (length < 1e-12).any():
        raise ValueError(f"{name}[{int(length.argmin())}] has length zero: it has no direction.")
    return vectors / length


def _keep_previous(values: Array, known: NDArray[np.bool_]) -> Array:
    """Replace unknown entries by the last known one before, by zero where there is none."""
    last = np.maximum.accumulate(np.where(known, np.arange(len(values)), -1))
    return np.where(last >= 0, values[np.maximum(last, 0)], 0.0)


def _turned_back(q1: Array, q2: Array, v: Array) -> Array:
    """``(Rz(q1) Ry(q2))' v`` of each row."""
    c1, s1, c2, s2 = np.cos(q1), np.sin(q1), np.cos(q2), np.sin(q2)
    x, y = c1 * v[:, 0] + s1 * v[:, 1], c1 * v[:, 1] - s1 * v[:, 0]
    return np.stack([c2 * x - s2 * v[:, 2], y, s2 * x + c2 * v[:, 2]], axis=1)
