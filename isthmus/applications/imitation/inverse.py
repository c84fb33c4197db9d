"""Inverse kinematics as a regression problem: from where elbow and tip are to the joints."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.applications.imitation.arm import SerialArm
from isthmus.applications.imitation.shoulder_elbow import pa10

Array = NDArray[np.float64]


def make_inverse_kinematics(
    n_samples: int = 5000,
    *,
    arm: SerialArm | None = None,
    branch: str = "full",
    random_state: Any = None,
) -> tuple[Array, Array]:
    """Draw postures and return ``X`` (elbow and tip, 6 columns) and ``Y`` (the joints).

    Over the full range the map is not a function: postures with the same elbow and tip differ by up
    to 350 degrees in a joint, and nothing can be learned. ``branch="single"`` halves the first and third
    joint, takes one sign of the second and fourth and leaves the wrist straight. [BGFS2004]_ Sec. 6.1.

    Parameters
    ----------
    n_samples : int, default=5000
        Number of postures; the experiment learns from the first 500.
    arm : SerialArm, default=None
        With seven joints and an elbow; None is the PA-10.
    branch : {"full", "single"}, default="full"
        See above.
    random_state : int or Generator, default=None
        Of the postures.
    """
    if branch not in ("full", "single"):
        raise ValueError(f"branch == {branch!r}, must be 'full' or 'single'.")
    arm = pa10() if arm is None else arm
    q = arm.random_postures(n_samples, random_state)
    if branch == "single":
        q[:, [0, 2]] /= 2
        q[:, 1] = np.abs(q[:, 1])
        q[:, 3] = -np.abs(q[:, 3])
        q[:, 4:] = 0.0
    points = arm.points(q)
    places = [points[:, arm.point_index(name)] for name in ("elbow", "tip")]
    return np.hstack(places), q
