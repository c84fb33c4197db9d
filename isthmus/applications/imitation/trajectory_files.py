"""Joint angles over time as files: NPZ, CSV, and ROS JointTrajectory as YAML or JSON."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isthmus.applications.imitation.checks import check_joints

Array = NDArray[np.float64]

FORMATS = (".npz", ".csv", ".yaml", ".yml", ".json")


def joint_trajectory(names: Sequence[str], q: ArrayLike, dt: float) -> dict[str, Any]:
    """Return the message ``trajectory_msgs/JointTrajectory`` of ROS 2 as a dictionary.

    Velocities are central differences; the first and last sample are at rest only if the movement is.
    """
    q, _ = check_joints(q, len(names))
    if not 0 < dt < np.inf:
        raise ValueError(f"dt == {dt}, must be a positive number of seconds.")
    speed = np.gradient(q, dt, axis=0) if len(q) > 1 else np.zeros_like(q)
    points = []
    for i, (row, rate) in enumerate(zip(q, speed)):
        nanoseconds = round(i * dt * 1e9)
        points.append(
            {
                "positions": [float(f"{x:.9g}") for x in row],
                "velocities": [float(f"{x:.9g}") for x in rate],
                "time_from_start": {
                    "sec": nanoseconds // 10**9,
                    "nanosec": nanoseconds % 10**9,
                },
            }
        )
    return {"joint_names": list(names), "points": points}


def trajectory_bytes(kind: str, names: Sequence[str], q: ArrayLike, dt: float) -> bytes:
    """Return the file of a kind (``.csv``, ``.npz``, ``.json``, ``.yaml``): seconds and radians."""
    if kind not in FORMATS:
        raise ValueError(f"angles are written as {', '.join(FORMATS)}, not as {kind!r}.")
    rows, _ = check_joints(q, len(names))
    if kind == ".npz":
        out = io.BytesIO()
        np.savez_compressed(out, q=rows, dt=dt, names=np.array(list(names)))
        return out.getvalue()
    if kind == ".csv":
        lines = [",".join(["time", *names])]
        lines += [
            ",".join([f"{i * dt:.9g}", *(f"{x:.9g}" for x in row)]) for i, row in enumerate(rows)
        ]
        return ("\n".join(lines) + "\n").encode()
    message = joint_trajectory(names, rows, dt)
    if kind == ".json":
        return (json.dumps(message) + "\n").encode()
    return _yaml(message).encode()


def _yaml(message: dict[str, Any]) -> str:
    """The message as YAML; lists of numbers are JSON, which is YAML too."""
    lines = [f"joint_names: {json.dumps(message['joint_names'])}", "points:"]
    for point in message["points"]:
        lines.append(f"  - positions: {json.dumps(point['positions'])}")
        lines.append(f"    velocities: {json.dumps(point['velocities'])}")
        lines.append(f"    time_from_start: {json.dumps(point['time_from_start'])}")
    return "\n".join(lines) + "\n"


def write_trajectory(path: str | Path, names: Sequence[str], q: ArrayLike, dt: float) -> None:
    """Write joint angles (radians) that follow each other after ``dt`` seconds, by the file's suffix."""
    Path(path).write_bytes(trajectory_bytes(Path(path).suffix.lower(), names, q, dt))
