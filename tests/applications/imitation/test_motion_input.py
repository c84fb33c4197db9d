"""Oracles: the same arm written in every dialect and format; files read back by other readers."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.applications.imitation import (
    Motion,
    Retargeter,
    SerialArm,
    Skeleton,
    joint_trajectory,
    make_clip,
    markers_from_mediapipe,
    markers_from_smpl,
    pa10,
    read_arm,
    read_markers,
    to_urdf,
    write_bvh,
    write_trajectory,
)
from isthmus.applications.imitation.goals import MOUNTINGS
from isthmus.applications.imitation.joint_names import joint_indices
from isthmus.applications.imitation.mocap_stories import best_mounting
from isthmus.applications.imitation.trajectory_files import trajectory_bytes

CMU = ("Hips", "LeftShoulder", "LeftArm", "RightShoulder", "RightArm", "RightForeArm", "RightHand")
DIALECTS = {
    "cmu": CMU,
    "mixamo": tuple(f"mixamorig:{name}" for name in CMU),
    "elbow": ("Hips", "LCol", "LeftShoulder", "RCol", "RightShoulder", "RightElbow", "RightWrist"),
    "amc": ("root", "lclavicle", "lhumerus", "rclavicle", "rhumerus", "rradius", "rwrist"),
    "vicon": ("C7", "CLAV", "LSHO", "STRN", "RSHO", "RELB", "RWRA"),
    "unreal": (
        "pelvis",
        "clavicle_l",
        "upperarm_l",
        "clavicle_r",
        "upperarm_r",
        "lowerarm_r",
        "hand_r",
    ),
}
PARENTS = (-1, 0, 1, 0, 3, 4, 5)
OFFSETS = np.array(
    [
        [0, 1, 0],
        [0.05, 0.4, 0],
        [0.13, 0, 0],
        [-0.05, 0.4, 0],
        [-0.13, 0, 0],
        [-0.3, 0, 0],
        [-0.25, 0, 0],
    ]
)


def motion(names, unit=1.0, n=40):
    """A person whose right arm swings forwards and bends."""
    channels = (("Xposition", "Yposition", "Zposition", "Zrotation", "Xrotation", "Yrotation"),)
    channels += (("Zrotation", "Xrotation", "Yrotation"),) * 6
    values = np.zeros((n, 6 + 18))
    t = np.linspace(0, 1, n)
    values[:, 6 + 9 + 2] = 20 + 40 * t  # the shoulder about y
    values[:, 6 + 9] = 30 * t
    values[:, 6 + 12 + 2] = 30 + 30 * np.sin(3 * t)  # the elbow
    return Motion(Skeleton(names, PARENTS, OFFSETS, channels), values, 1 / 30, unit)


def test_every_dialect_names_the_same_joints():
    for names in DIALECTS.values():
        found = joint_indices(names)
        assert [found[key] for key in ("left_shoulder", "right_shoulder", "elbow", "wrist")] == [
            2,
            4,
            5,
            6,
        ]
    keys = ("left_shoulder", "right_shoulder", "elbow", "wrist")
    own = joint_indices(("a", "b", "c", "d"), "right", dict(zip(keys, "abcd")))
    assert own == {"left_shoulder": 0, "right_shoulder": 1, "elbow": 2, "wrist": 3}
    with pytest.raises(ValueError, match=r"no joint for 'elbow'.*--joints elbow=NAME"):
        joint_indices(("LeftArm", "RightArm", "RightHand"))
    with pytest.raises(ValueError, match="joint 'x' for elbow is not in the file"):
        joint_indices(CMU, joints={"elbow": "x"})
    with pytest.raises(ValueError, match="joints names 'knee'"):
        joint_indices(CMU, joints={"knee": "Hips"})


@pytest.mark.parametrize("dialect", ["cmu", "mixamo", "elbow"])
@pytest.mark.parametrize("unit", [1.0, 0.01, 0.001])
def test_bvh_in_any_dialect_and_unit(tmp_path, dialect, unit):
    made = motion(DIALECTS[dialect])
    scaled = Motion(made.skeleton, made.values, made.frame_time, unit)
    write_bvh(scaled, tmp_path / "clip.bvh")
    read = read_markers(tmp_path / "clip.bvh")
    places = made.positions()
    assert read.fps == pytest.approx(30)
    for name, joint in (("left_shoulder", 2), ("right_shoulder", 4), ("elbow", 5), ("wrist", 6)):
        x, y, z = places[:, joint].T
        assert_allclose(getattr(read.markers, name), np.stack([x, -z, y], axis=1), atol=1e-8)


def test_arrays_of_smpl_and_mediapipe_are_the_same_person(tmp_path):
    rng = np.random.default_rng(0)
    world = {name: rng.standard_normal((5, 3)) for name in ("ls", "rs", "le", "re", "lw", "rw")}
    smpl, landmarks = np.zeros((5, 24, 3)), np.zeros((5, 33, 4))
    for k, name in enumerate(("ls", "rs", "le", "re", "lw", "rw")):
        x, y, z = world[name].T  # x, y, z with z up
        smpl[:, 16 + k] = np.stack([x, z, -y], axis=1)
        landmarks[:, 11 + k, :3] = np.stack([x, -z, y], axis=1)
    for side, c in (("right", "r"), ("left", "l")):
        for markers in (
            markers_from_smpl(smpl[:, :22], side),
            markers_from_mediapipe(landmarks, side),
        ):
            assert markers.side == side
            assert_allclose(markers.shoulder, world[c + "s"])
            assert_allclose(markers.elbow, world[c + "e"])
            assert_allclose(markers.wrist, world[c + "w"])
    np.savez(tmp_path / "smpl.npz", joints=smpl, fps=60.0)
    np.save(tmp_path / "pose.npy", landmarks)
    assert read_markers(tmp_path / "smpl.npz").fps == 60
    assert_allclose(read_markers(tmp_path / "pose.npy", fps=30).markers.elbow, world["re"])
    with pytest.raises(ValueError, match=r"pose\.npy has no fps"):
        read_markers(tmp_path / "pose.npy")
    with pytest.raises(ValueError, match=r"landmarks has shape \(5, 24, 3\)"):
        markers_from_mediapipe(smpl)
    np.savez(tmp_path / "x.npz", y=smpl, fps=1)
    with pytest.raises(ValueError, match="one array must be called joints"):
        read_markers(tmp_path / "x.npz")
    with pytest.raises(ValueError, match=r"clip.fbx: motion files are \.bvh"):
        read_markers("clip.fbx")


def test_c3d(tmp_path):
    ezc3d = pytest.importorskip("ezc3d")
    rng = np.random.default_rng(0)
    places = 1000 * rng.standard_normal((6, 7, 3))
    made = ezc3d.c3d()
    made["parameters"]["POINT"]["RATE"]["value"] = [100]
    made["parameters"]["POINT"]["UNITS"]["value"] = ["mm"]
    made["parameters"]["POINT"]["LABELS"]["value"] = [f"anna:{x}" for x in DIALECTS["vicon"]]
    points = np.ones((4, 7, 6))
    points[:3] = places.transpose(2, 1, 0)
    made["data"]["points"] = points
    made.write(str(tmp_path / "clip.c3d"))
    read = read_markers(tmp_path / "clip.c3d")
    assert read.fps == 100
    assert_allclose(read.markers.elbow, places[:, 5] / 1000, rtol=1e-6)
    (tmp_path / "bad.c3d").write_bytes(b"no")
    with pytest.raises(ValueError, match="cannot be read as C3D"):
        read_markers(tmp_path / "bad.c3d")


@pytest.mark.parametrize(
    "change, message",
    [
        (
            lambda t: t.replace("Frame Time: 0.0333333333", "Frame Time: 0"),
            "Frame Time: 0.0 is not a time",
        ),
        (lambda t: t[: len(t) - 30], "may be truncated"),
        (lambda t: "\n".join(t.splitlines()[:-5]) + "\n", "declares 40 frames and has 35"),
        (lambda t: t[: t.index("MOTION")], "no line MOTION"),
    ],
)
def test_broken_bvh_files_are_told(tmp_path, change, message):
    write_bvh(motion(CMU), tmp_path / "clip.bvh")
    text = change((tmp_path / "clip.bvh").read_text())
    (tmp_path / "clip.bvh").write_text(text)
    with pytest.raises(ValueError, match=message):
        read_markers(tmp_path / "clip.bvh")


def test_files_that_are_no_motion_are_told(tmp_path):
    (tmp_path / "noise.bvh").write_bytes(bytes(range(256)))
    (tmp_path / "noise.npz").write_bytes(b"PK\x03\x04abc")
    (tmp_path / "noise.urdf").write_bytes(bytes(range(128, 256)))
    for name, message in (
        ("noise.bvh", "is not a text file"),
        ("noise.npz", "cannot be read as an array"),
    ):
        with pytest.raises(ValueError, match=f"{name} {message}"):
            read_markers(tmp_path / name)
    with pytest.raises(ValueError, match=r"noise.urdf is not a text file"):
        read_arm(tmp_path / "noise.urdf")


def test_the_mounting_is_the_one_in_which_the_arm_reaches():
    """The arm turned by a known mounting: with it undone the postures of "side" are there again."""
    clip = make_clip(60, random_state=1)
    arm = pa10()
    turned = MOUNTINGS["up"].T @ MOUNTINGS["side"]
    before = arm.before.copy()
    before[0, :3] = turned @ before[0, :3]
    bent = SerialArm(
        before, arm.after, limits=arm.limits, velocity=arm.velocity, named_points=arm.named_points
    )
    assert best_mounting(arm, clip) == "side"
    assert best_mounting(bent, clip) == "up"
    costs = [
        Retargeter(x, mounting=name).retarget(clip).errors["upper"].mean()
        for x, name in ((arm, "side"), (bent, "up"))
    ]
    assert costs[0] == pytest.approx(costs[1], abs=0.02)


# -- out --------------------------------------------------------------------------------------


def test_trajectories_are_read_back(tmp_path):
    q = pa10().random_postures(4, 0)
    names = pa10().names
    write_trajectory(tmp_path / "q.csv", names, q, 0.25)
    table = np.genfromtxt(tmp_path / "q.csv", delimiter=",", names=True)
    assert table.dtype.names == ("time", *names)
    assert_allclose(table["time"], [0, 0.25, 0.5, 0.75])
    assert_allclose(np.stack([table[name] for name in names], axis=1), q, rtol=1e-8)
    write_trajectory(tmp_path / "q.npz", names, q, 0.25)
    with np.load(tmp_path / "q.npz") as stored:
        assert_allclose(stored["q"], q)
        assert float(stored["dt"]) == 0.25 and tuple(stored["names"]) == names
    write_trajectory(tmp_path / "q.json", names, q, 0.25)
    message = json.loads((tmp_path / "q.json").read_text())
    assert message == joint_trajectory(names, q, 0.25)
    assert message["points"][3]["time_from_start"] == {"sec": 0, "nanosec": 750000000}
    assert_allclose(message["points"][1]["velocities"], (q[2] - q[0]) / 0.5, rtol=1e-7)
    yaml = pytest.importorskip("yaml")
    assert yaml.safe_load(trajectory_bytes(".yaml", names, q, 0.25)) == message
    with pytest.raises(ValueError, match="angles are written as"):
        write_trajectory(tmp_path / "q.txt", names, q, 0.25)


def test_the_command_writes_angles_that_keep_the_limits(tmp_path, monkeypatch, capsys):
    main = pytest.importorskip("isthmus.cli", reason="the extra cli is not installed").main
    monkeypatch.chdir(tmp_path)
    write_bvh(motion(DIALECTS["mixamo"]), "clip.bvh")
    arm = pa10()
    (tmp_path / "arm.urdf").write_text(to_urdf(arm))
    arguments = ["imitate", "--mocap", "clip.bvh", "--arm", "arm.urdf"]
    assert main([*arguments, "-o", "angles.csv"]) == 0
    table = np.genfromtxt("angles.csv", delimiter=",", names=True)
    q = np.stack([table[name] for name in arm.names], axis=1)
    markers = read_markers("clip.bvh").markers
    expected = Retargeter(arm).retarget(markers, 30.0, slowdown="auto")
    assert_allclose(q, expected.q, atol=1e-6)
    assert (np.abs(np.diff(q, axis=0)) <= 3.14 / 30 + 1e-8).all()
    capsys.readouterr()
    assert main([*arguments, "-o", "angles.yaml", "--json", "--slowdown", "2"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["joint_names"] == list(arm.names) and len(said["angles"]) == 40
    assert said["dt"] == pytest.approx(2 / 30)
    for extra, message in (
        (["--joints", "elbow"], "--joints elbow: expected NAME=VALUE, such as elbow=RightForeArm"),
        (["--slowdown", "fast"], "--slowdown fast: must be a number or auto"),
        (["--objective", "nose"], "objective == 'nose'"),
        (["--tip", "hand"], "tip == 'hand' is not a link"),
        (["--unit", "0.001"], "markers must be in metres"),
        (["--fixed", "S1=x"], "--fixed S1=x: must be NAME=NUMBER"),
        (["--limb", "nose=x"], "--limb nose=x: must name shoulder, elbow, wrist"),
        (["--order", "soc"], "--order is for --write"),
        (["--side", "up"], "side == 'up'"),
    ):
        assert main([*arguments, "-o", "angles.csv", *extra]) == 1
        said = capsys.readouterr().err.strip()
        assert message in said and len(said.splitlines()) == 1
