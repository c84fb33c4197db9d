"""How fast are points and tip Jacobians of many postures, and how well does the arm follow?

Points of seven frames and the tip's Jacobian of the PA-10, ours in blocks against one block, against
loops over MuJoCo and Pinocchio and against ikpy (points alone); then execution by the solvers, as ratios
to SLSQP, and placements of real writing solved to a micrometre.

    python benchmarks/kinematics.py                        all parts
    python benchmarks/kinematics.py --write docs/imitation.md
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from _common import best_times, largest_difference, machine, versions

from isthmus.applications.imitation import (
    follow,
    pa10,
    plane_map,
    to_mjcf,
    to_urdf,
    transfer,
)
from isthmus.applications.imitation import poses as pose_module
from isthmus.applications.imitation.clips import markers_from_positions
from isthmus.applications.imitation.joint_names import joint_positions
from isthmus.datasets import DatasetNotFoundError, load_mocap

ARM = pa10()


def mujoco_loop(q):
    import mujoco

    model = mujoco.MjModel.from_xml_string(to_mjcf(ARM))
    data = mujoco.MjData(model)

    def run():
        points, jacobian = np.empty((len(q), 7, 3)), np.empty((len(q), 3, 7))
        for i, row in enumerate(q):
            data.qpos[:] = row
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            points[i] = data.xpos[1:]
            mujoco.mj_jacBody(model, data, jacobian[i], None, 7)
        return points, jacobian

    return run


def pinocchio_loop(q):
    import pinocchio as pin

    model = pin.buildModelFromXML(to_urdf(ARM))
    data = model.createData()
    world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED

    def run():
        points, jacobian = np.empty((len(q), 7, 3)), np.empty((len(q), 3, 7))
        for i, row in enumerate(q):
            pin.computeJointJacobians(model, data, row)
            for k in range(7):
                points[i, k] = data.oMi[k + 1].translation
            jacobian[i] = pin.getJointJacobian(model, data, 7, world)[:3]
        return points, jacobian

    return run


def one_block(q):
    def run():
        size = pose_module.BLOCK_ROWS
        pose_module.BLOCK_ROWS = len(q)
        try:
            return ARM.points_and_jacobian(q)
        finally:
            pose_module.BLOCK_ROWS = size

    return run


def speed_part(n: int) -> list[str]:
    q = ARM.random_postures(n, 0)
    jobs = {
        "ours, blocks of 2000": lambda: ARM.points_and_jacobian(q),
        "ours, one block": one_block(q),
    }
    for name, make in (("MuJoCo loop", mujoco_loop), ("Pinocchio loop", pinocchio_loop)):
        try:
            jobs[name] = make(q)
        except ImportError:
            print(f"{name}: not installed")
    best = best_times(jobs, repeats=3)
    ours = best["ours, blocks of 2000"]
    reference = ARM.points_and_jacobian(q)
    lines = ["| road | time, ours = 1 | largest difference, m |", "|---|---|---|"]
    for name, job in jobs.items():
        result = job()
        off = max(largest_difference(a, b) for a, b in zip(result, reference))
        lines.append(f"| {name} | {best[name] / ours:.1f} | {off:.0e} |")
    return [f"{n} postures, seven points and the tip's Jacobian.", "", *lines]


def placements(n_samples: int):
    """Real writing (79_31) on 15 planes: five begins, three turns of the plane."""
    clips = load_mocap("arm")
    rows = np.linspace(150, 450, n_samples).astype(int)
    markers = markers_from_positions(joint_positions(clips.joint_names, clips.positions[rows]))
    for begin in (
        (0.1, 0.1, 0.62),
        (0.3, 0.1, 0.55),
        (0.0, 0.25, 0.6),
        (0.2, -0.1, 0.6),
        (0.35, 0.2, 0.45),
    ):
        for turn in (-0.4, 0.0, 0.5):
            u, v = [np.cos(turn), 0, -np.sin(turn)], [0, -1.0, 0]
            mapping = plane_map(
                markers.finger, begin, u, v, scale=1.2, right=[-1, 0, 0], up=[0, 0, 1]
            )
            yield markers, mapping


def solver_part(n_samples: int) -> list[str]:
    found: dict[tuple[str, float], list] = {}
    for markers, mapping in placements(n_samples):
        first = transfer(ARM, markers[:2], mapping)  # its initial posture serves all
        whole = transfer_problem(markers, mapping)
        for solver, alpha in (
            ("slsqp", 0.01),
            ("slsqp", 0.1),
            ("trust_qp", 0.01),
            ("trust_qp", 0.1),
            ("gauss_newton", 0.01),
            ("gauss_newton", 0.1),
            ("gauss_newton", 1.0),
        ):
            begin = time.process_time()
            try:
                run = follow(ARM, *whole, first.start, alpha=alpha, solver=solver)
            except ValueError:  # the first sample was missed
                run = None
            found.setdefault((solver, alpha), []).append((run, time.process_time() - begin))
    return solver_rows(found, n_samples)


def transfer_problem(markers, mapping):
    from isthmus.applications.imitation import posture_normals

    targets = mapping(markers.finger)
    left = mapping(markers.left_shoulder).mean(axis=0)
    normals = posture_normals(
        mapping(markers.left_shoulder), mapping(markers.elbow), mapping.target
    )
    return targets, normals, left, mapping.target


def solver_rows(found, n_samples: int) -> list[str]:
    base = {
        alpha: sum(t for _, t in runs)
        for (solver, alpha), runs in found.items()
        if solver == "slsqp"
    }
    lines = [
        "| solver | alpha | placements solved | worst tip error, m | mean normal error | time, SLSQP = 1 |",
        "|---|---|---|---|---|---|",
    ]
    for (solver, alpha), runs in found.items():
        done = [run for run, _ in runs if run is not None]
        solved = sum(bool(run.converged.all()) for run in done)
        worst = max((run.tip_error.max() for run in done), default=np.nan)
        normal = np.mean([run.normal_error.mean() for run in done]) if done else np.nan
        ratio = sum(t for _, t in runs) / base.get(alpha, base[0.1])
        lines.append(
            f"| {solver} | {alpha:g} | {solved} of {len(runs)} | {worst:.0e} | {normal:.3f} | {ratio:.2f} |"
        )
    return [f"Writing of 79_31, {n_samples} samples on each of 15 planes.", "", *lines]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=("speed", "solvers"), action="append")
    parser.add_argument("--postures", type=int, default=100_000)
    parser.add_argument("--samples", type=int, default=25)
    parser.add_argument("--write", type=Path, help="replace the tables of this document")
    arguments = parser.parse_args()
    print(f"{machine()}; {versions()}")
    parts = {"speed": lambda: speed_part(arguments.postures)}
    parts["solvers"] = lambda: solver_part(arguments.samples)
    for part, table in parts.items():
        if arguments.part and part not in arguments.part:
            continue
        try:
            lines = table()
        except DatasetNotFoundError as error:
            print(error)
            continue
        print("", *lines, sep="\n", flush=True)
        if arguments.write:
            from imitation import put

            put(arguments.write, part, lines)


if __name__ == "__main__":
    main()
