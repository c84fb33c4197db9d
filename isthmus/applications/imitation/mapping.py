"""From a person's space to the arm's: the plane that is drawn on, and normals of postures."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isthmus.applications.imitation.checks import check_trajectory

Array = NDArray[np.float64]

SCALE_SHARE = 0.93  # of the arm's reach that a stretched human arm is given
_LINE = 1e-9  # second over first singular value of a trajectory that is a line


@dataclass(frozen=True)
class PlaneMap:
    r"""The similarity :math:`\zeta^* = p + s\, T_t T_d^{-1} (\zeta - \zeta(t_1))`.

    Attributes
    ----------
    rotation : ndarray of shape (3, 3)
        ``T_t @ T_d.T``, a rotation.
    scale : float
        Metres of the arm a metre of the person.
    origin, target : ndarray of shape (3,)
        First sample of the trajectory and where it is to be drawn.
    """

    rotation: Array
    scale: float
    origin: Array
    target: Array

    def __call__(self, points: ArrayLike) -> Array:
        """Map points (..., 3)."""
        return self.target + self.scale * (np.asarray(points) - self.origin) @ self.rotation.T

    def directions(self, vectors: ArrayLike) -> Array:
        """Turn vectors (..., 3) without moving or scaling them."""
        return np.asarray(vectors) @ self.rotation.T


def default_scale(reach: float, human_arm_length: float) -> float:
    """Return the scale at which a stretched human arm has 93 % of the robot's reach."""
    return SCALE_SHARE * reach / human_arm_length


def plane_map(
    trajectory: ArrayLike,
    target: ArrayLike,
    u: ArrayLike,
    v: ArrayLike,
    *,
    scale: float = 1.0,
    right: ArrayLike | None = None,
    up: ArrayLike | None = None,
) -> PlaneMap:
    """Map the plane of a drawing onto the plane spanned by ``u`` (right) and ``v`` (up).

    Only the plane comes from the principal axes of the trajectory ([B2006]_ Sec. 5.3): their signs
    and order say nothing, and a flipped one mirrors the writing. Right and up in it come from hints.

    Parameters
    ----------
    trajectory : array-like of shape (n, 3)
        What the person drew; its first sample goes to ``target``.
    target, u, v : array-like of shape (3,)
        Where to begin, and right and up of the plane, in the arm's base frame.
    scale : float, default=1.0
        See :func:`default_scale`.
    right, up : array-like of shape (3,), default=None
        Right and up as the person sees them. Without them the largest component of each
        principal axis is made positive, with a warning.
    """
    values = check_trajectory(trajectory, "trajectory", columns=3)
    if not scale > 0:
        raise ValueError(f"scale == {scale}, must be > 0.")
    to_plane = _frame(*_orthonormal(u, v, "u", "v"))
    from_plane = _frame(*_drawing_axes(values, right, up))
    return PlaneMap(to_plane @ from_plane.T, float(scale), values[0], np.asarray(target, float))


def _frame(first: Array, second: Array) -> Array:
    return np.stack([first, second, np.cross(first, second)], axis=1)


def _orthonormal(u: ArrayLike, v: ArrayLike, first: str, second: str) -> tuple[Array, Array]:
    a = np.asarray(u, dtype=np.float64)
    b = np.asarray(v, dtype=np.float64)
    if a.shape != (3,) or b.shape != (3,):
        raise ValueError(f"{first} has shape {a.shape}, {second} {b.shape}: both must be (3,).")
    if np.linalg.norm(np.cross(a, b)) <= 1e-9 * np.linalg.norm(a) * np.linalg.norm(b):
        raise ValueError(f"{first} == {a} and {second} == {b} are parallel and span no plane.")
    a = a / np.linalg.norm(a)
    b = b - (a @ b) * a
    return a, b / np.linalg.norm(b)


def _drawing_axes(values: Array, right: ArrayLike | None, up: ArrayLike | None) -> tuple:
    centred = values - values.mean(axis=0)
    _, sigma, axes = np.linalg.svd(centred, full_matrices=False)
    if sigma[1] <= _LINE * max(sigma[0], 1e-300):
        if right is None or up is None:
            raise ValueError(
                f"trajectory with shape {values.shape} lies on a line and spans no plane: give both "
                "hints, right and up."
            )
        return _orthonormal(right, up, "right", "up")
    if right is None or up is None:
        warnings.warn(
            "signs and order of principal axes are arbitrary and writing may come out mirrored: "
            "give the hints right and up.",
            stacklevel=3,
        )
        return tuple(axis * np.sign(axis[np.abs(axis).argmax()]) for axis in axes[:2])
    normal = np.cross(axes[0], axes[1])
    right = np.asarray(right, dtype=np.float64)
    flat = right - (right @ normal) * normal
    if np.linalg.norm(flat) < 1e-6 * np.linalg.norm(right):
        raise ValueError(f"right == {right} is perpendicular to the plane of the trajectory.")
    e1 = flat / np.linalg.norm(flat)
    e2 = np.cross(normal, e1)
    return e1, e2 if e2 @ np.asarray(up, dtype=np.float64) > 0 else -e2


# -- normals ----------------------------------------------------------------------------------


def posture_normals(
    first: ArrayLike,
    second: ArrayLike,
    reference: ArrayLike,
    *,
    names: tuple[str, str, str] = ("left shoulder", "elbow", "reference"),
) -> Array:
    r"""Return the unit normals :math:`(a - c) \times (b - c) / |\cdot|` of each sample, (n, 3).

    With a fixed first point and reference a normal can only turn about the line through them: it
    fixes one number of a posture, not the posture.
    """
    a, b, c = (np.atleast_2d(np.asarray(p, dtype=np.float64)) for p in (first, second, reference))
    cross = np.cross(a - c, b - c)
    length = np.linalg.norm(cross, axis=-1, keepdims=True)
    if (length < 1e-12).any():
        sample = int(length.argmin())
        raise ValueError(
            f"{names[0]}, {names[1]} and {names[2]} are collinear or coincide at sample {sample}: "
            "they have no normal."
        )
    return cross / length


def normal_jacobian(
    left: Array, elbow: Array, reference: Array, J_elbow: Array
) -> tuple[Array, Array]:
    r"""Return a normal and its derivative :math:`(I - n n') / |m|\, a \times J`, column by column."""
    a = left - reference
    m = np.cross(a, elbow - reference)
    length = np.linalg.norm(m)
    if length < 1e-12:
        raise ValueError("left shoulder, elbow and reference are collinear: they have no normal.")
    n = m / length
    slope = np.cross(a, J_elbow, axisa=0, axisb=0).T / length  # columns a x J_j
    return n, slope - np.outer(n, n @ slope)
