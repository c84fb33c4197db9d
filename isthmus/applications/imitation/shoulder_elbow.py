"""Arms with a shoulder, an elbow and a wrist in line: the posture from two directions; the PA-10."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isthmus.applications.imitation.arm import SerialArm

Array = NDArray[np.float64]

_PA10_ALPHA = (0, -90, 90, -90, 90, -90, 90)
_PA10_LIMITS = (177, 94, 174, 137, 255, 165, 255)
_PA10_NAMES = ("S1", "S2", "S3", "E1", "E2", "W1", "W2")
PA10_SPEED = 3.14  # rad/s of each joint, as the URDF that is written states


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
        u = np.asarray(u, dtype=np.float64)
        v = np.asarray(v, dtype=np.float64)
        single = u.ndim == 1
        u, v = _unit_rows("u", u), _unit_rows("v", v)
        if u.shape != v.shape:
            raise ValueError(f"u has shape {u.shape} and v {v.shape}, they must be equal.")
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
        velocity=PA10_SPEED,
        names=_PA10_NAMES,
        named_points={"elbow": 2, "wrist": 4, "tip": 6},
        base_offset=base_offset,
        reach=(max(folded - hand, 0.0), upper + fore + hand),
        name="pa10",
    )
    assert isinstance(arm, ShoulderElbowArm)
    return arm


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
    c1 = np.cos(q1)
    s1 = np.sin(q1)
    c2 = np.cos(q2)
    s2 = np.sin(q2)
    x, y = c1 * v[:, 0] + s1 * v[:, 1], c1 * v[:, 1] - s1 * v[:, 0]
    return np.stack([c2 * x - s2 * v[:, 2], y, s2 * x + c2 * v[:, 2]], axis=1)
