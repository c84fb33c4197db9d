"""How dexterous is a posture: closeness to limits, singular values, speed, kinetic energy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isthmus.applications.imitation.arm import SerialArm
from isthmus.applications.imitation.checks import check_joints
from isthmus.applications.imitation.extras import need
from isthmus.applications.imitation.model_files import to_mjcf

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Dexterity:
    """Measures of each posture of a movement, [B2006]_ Sec. 5.5 with its signs put right.

    Attributes
    ----------
    limit_vector : ndarray of shape (n, n_joints)
        ``(q - middle) / (high - low)``: 0 in the middle, 1/2 in size at a limit.
    closeness_to_limits : ndarray of shape (n,)
        Its norm; it grows towards the limits.
    sigma_min, sigma_max : ndarray of shape (n,)
        Extreme singular values of the tip's Jacobian.
    condition : ndarray of shape (n,)
        Their ratio; infinite at a singular posture.
    manipulability : ndarray of shape (n,)
        Product of the singular values.
    speed : ndarray of shape (n,)
        ``|q_i - q_{i-1}| / dt``, zero in the first row.
    """

    limit_vector: Array
    closeness_to_limits: Array
    sigma_min: Array
    sigma_max: Array
    condition: Array
    manipulability: Array
    speed: Array


def dexterity(arm: SerialArm, q: ArrayLike, dt: float = 1.0) -> Dexterity:
    """Measure the dexterity of postures (n, n_joints) that follow each other after ``dt`` seconds."""
    q, _ = check_joints(q, arm.n_joints)
    if not dt > 0:
        raise ValueError(f"dt == {dt}, must be > 0.")
    low, high = arm.limits.T
    vector = (q - (low + high) / 2) / (high - low)
    sigma: Array = np.linalg.svd(arm.jacobian(q), compute_uv=False).astype(np.float64)
    smallest, largest = sigma[:, -1], sigma[:, 0]
    singular = smallest < 1e-12
    condition = np.where(singular, np.inf, largest / np.where(singular, 1.0, smallest))
    steps = np.linalg.norm(np.diff(q, axis=0, prepend=q[:1]), axis=1)
    return Dexterity(
        limit_vector=vector,
        closeness_to_limits=np.linalg.norm(vector, axis=1),
        sigma_min=smallest,
        sigma_max=largest,
        condition=condition,
        manipulability=sigma.prod(axis=1),
        speed=steps / dt,
    )


def kinetic_energy(arm: SerialArm, q: ArrayLike, velocity: ArrayLike) -> Array:
    r"""Return :math:`K = \frac12 v' D(q) v` of each row, D by MuJoCo for links of even density."""
    q, _ = check_joints(q, arm.n_joints)
    v, _ = check_joints(velocity, arm.n_joints, "velocity")
    if q.shape != v.shape:
        raise ValueError(f"velocity has shape {v.shape}, must be that of q, {q.shape}.")
    return 0.5 * np.einsum("ni,nij,nj->n", v, mass_matrices(arm, q), v)


def mass_matrices(arm: SerialArm, q: ArrayLike) -> Array:
    """Return the inertia matrices D(q), (n, n_joints, n_joints), by MuJoCo."""
    q, _ = check_joints(q, arm.n_joints)
    mujoco = need("mujoco")
    model = mujoco.MjModel.from_xml_string(to_mjcf(arm))
    data = mujoco.MjData(model)
    out = np.empty((len(q), arm.n_joints, arm.n_joints))
    basis = np.eye(arm.n_joints)
    for i, row in enumerate(q):
        data.qpos[:] = row
        mujoco.mj_fwdPosition(model, data)
        for j in range(arm.n_joints):
            mujoco.mj_mulM(model, data, out[i, j], basis[j])
    return out
