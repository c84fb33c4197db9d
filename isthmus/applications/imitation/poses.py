"""Fixed poses, and steps along a chain of them for many postures at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

BLOCK_ROWS = 2000  # the working set of a block stays in the second-level cache


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


def lengths(poses: Array) -> Array:
    return np.linalg.norm(poses[:, :3, 3], axis=1)


def rotation_from_rpy(roll: float, pitch: float, yaw: float) -> Array:
    """Return the rotation of URDF's fixed-axis roll, pitch and yaw."""
    (cr, cp, cy), (sr, sp, sy) = np.cos([roll, pitch, yaw]), np.sin([roll, pitch, yaw])
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def rpy_from_pose(pose: Array) -> tuple[float, float, float]:
    """Return the roll, pitch and yaw of a pose."""
    R = pose[:3, :3]
    pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
    if np.hypot(R[0, 0], R[1, 0]) < 1e-12:  # pitch of a quarter turn: only one angle is left
        return float(np.arctan2(-R[1, 2], R[1, 1])), float(pitch), 0.0
    return float(np.arctan2(R[2, 1], R[2, 2])), float(pitch), float(np.arctan2(R[1, 0], R[0, 0]))


def turn_z_to(axis: Array) -> Array:
    """Return a turn that takes z to an axis, as a pose; the identity for z itself."""
    axis = axis / np.linalg.norm(axis)
    pose = np.eye(4)
    if np.allclose(axis, (0, 0, 1), atol=1e-15):
        return pose
    helper = np.eye(3)[np.abs(axis).argmin()]
    x = np.cross(helper, axis)
    x /= np.linalg.norm(x)
    pose[:3, :3] = np.stack([x, np.cross(axis, x), axis], axis=1)
    return pose


def apply_pose(pose: Array, columns: list[Array], p: Array) -> tuple[list[Array], Array]:
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


def turn_speeds(
    axes: Array, pivots: Array, point: Array, n: int, out: Array, slides: tuple[int, ...] = ()
) -> None:
    """Write ``z_j x (p - p_j)`` of the first n joints into out (rows, 3, n_joints); z_j for slides."""
    arms = point - pivots[:n]
    z = axes[:n]
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        out[:, i, :n] = (z[:, j] * arms[:, k] - z[:, k] * arms[:, j]).T
    for joint in slides:
        if joint < n:
            out[:, :, joint] = z[joint].T


def blocks(n: int) -> Iterator[slice]:
    return (slice(start, min(start + BLOCK_ROWS, n)) for start in range(0, n, BLOCK_ROWS))
