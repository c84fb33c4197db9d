"""Oracles: a skeleton whose places are known by hand, a round trip, the real conversions."""

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus.applications.imitation import (
    ArmClip,
    Motion,
    clip_from_motion,
    clip_from_positions,
    load_clips,
    make_clip,
    pa10,
    read_amc,
    read_bvh,
    write_bvh,
)
from isthmus.applications.imitation.actor import standing_person
from isthmus.applications.imitation.bvh import parse_bvh
from isthmus.datasets import load_letters, load_mocap

real_data = pytest.mark.skipif(
    not os.environ.get("ISTHMUS_DATA"), reason="ISTHMUS_DATA names no directory with the real data"
)
TEXT = """HIERARCHY
ROOT hip
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT knee
  {
    OFFSET 1 0 0
    CHANNELS 3 Xrotation Zrotation Yrotation
    End Site
    {
      OFFSET 0 2 0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.05
0 0 0 0 0 0 0 0 0
1 2 3 90 0 0 90 0 0
"""


def random_motion(n=6):
    skeleton = standing_person()
    rng = np.random.default_rng(0)
    values = rng.uniform(-50, 50, size=(n, skeleton.n_channels))
    values[:, :3] = rng.normal(scale=0.1, size=(n, 3))
    return Motion(skeleton, values, 1 / 30)


def test_places_known_by_hand():
    motion = parse_bvh(TEXT.splitlines())
    assert motion.skeleton.names == ("hip", "knee", "knee_end")
    assert motion.fps == 20
    p = motion.positions()
    assert_allclose(p[0], [[0, 0, 0], [1, 0, 0], [1, 2, 0]])
    # About z by 90 degrees x turns to y; then the shin, along y, is turned about x to z.
    assert_allclose(p[1], [[1, 2, 3], [1, 3, 3], [1, 3, 5]], atol=1e-12)


def test_units_and_skipped_frames():
    motion = parse_bvh(TEXT.splitlines(), unit=0.1, skip=1)
    assert_allclose(
        motion.positions(), [[[0.1, 0.2, 0.3], [0.1, 0.3, 0.3], [0.1, 0.3, 0.5]]], atol=1e-12
    )


def test_round_trip(tmp_path):
    motion = random_motion()
    write_bvh(motion, tmp_path / "m.bvh")
    back = read_bvh(tmp_path / "m.bvh")
    assert back.skeleton.names == motion.skeleton.names
    assert_allclose(back.positions(), motion.positions(), atol=1e-6)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "Xrotation Zrotation Yrotation",
            "Xrotation Wrotation Yrotation",
            "line 9: unknown channel 'W",
        ),
        ("0 0 0 0 0 0 0 0 0", "0 0 0 0 0 0 0 0", "line 19: 8 columns, the skeleton has 9"),
        ("OFFSET 1 0 0", "OFFSET 1 zero 0", "line 8: 'zero' is not a number"),
        ("CHANNELS 3", "CHANNELS 4", "line 9: 4 channels declared"),
        ("Frames: 2", "Frames: 3", "declares 3 frames and has 2"),
        ("  OFFSET 0 0 0", "  SHIFT 0 0 0", "line 4: 'SHIFT 0 0 0' is not understood"),
        ("MOTION\n", "", "not understood"),
    ],
)
def test_errors_name_the_line(old, new, message):
    with pytest.raises(ValueError, match=message):
        parse_bvh(TEXT.replace(old, new, 1).splitlines())


# -- ASF and AMC ------------------------------------------------------------------------------

ASF = """# a comment
:version 1.10
:units
  mass 1.0
  length 0.0254
  angle deg
:root
  order TX TY TZ RX RY RZ
  axis XYZ
  position 0 0 0
  orientation 0 0 0
:bonedata
  begin
    id 1
    name thigh
    direction 1 0 0
    length 1
    axis 0 0 0 XYZ
    dof rx ry rz
    limits (-160 20)
           (-70 70)
           (-60 70)
  end
  begin
    id 2
    name shin
    direction 0 1 0
    length 2
    axis 0 0 90 XYZ
    dof rx
  end
:hierarchy
  begin
    root thigh
    thigh shin
  end
"""
AMC = """#!OML:ASF
:FULLY-SPECIFIED
:DEGREES
1
root 0 0 0 0 0 0
thigh 0 0 0
shin 0
2
root 1 2 3 0 0 90
thigh 90 0 90
shin 90
"""


def amc_files(folder, asf=ASF, amc=AMC):
    (folder / "7.asf").write_text(asf)
    (folder / "7_01.amc").write_text(amc)
    return folder / "7_01.amc"


def test_bones_known_by_hand(tmp_path):
    motion = read_amc(amc_files(tmp_path), fps=60)
    assert motion.skeleton.names == ("root", "thigh", "shin", "shin_end")
    assert motion.fps == pytest.approx(60) and motion.unit == 1  # an inch over 0.0254
    p = motion.positions()
    assert_allclose(p[0], [[0, 0, 0], [0, 0, 0], [1, 0, 0], [1, 2, 0]], atol=1e-12)
    # Root: x to y, y to -x. Thigh: first about x (y to z), then about z: its x becomes y, the y of
    # the root, -x of the world. The shin's rx is about its own axis, the thigh's y.
    assert_allclose(p[1, 2], [0, 2, 3], atol=1e-12)
    assert_allclose(p[1, 3], [0, 2, 5], atol=1e-12)  # y to z by the thigh; the shin about itself


def test_an_amc_motion_can_be_written_as_bvh(tmp_path):
    motion = read_amc(amc_files(tmp_path))
    write_bvh(motion, tmp_path / "m.bvh")
    assert_allclose(read_bvh(tmp_path / "m.bvh").positions(), motion.positions(), atol=1e-6)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("dof rx ry rz", "dof rx ry rw", "line 19: unknown channel 'rw'"),
        ("length 2", "length two", "line 28: 'two' are not numbers"),
        ("thigh shin\n", "thigh foot\n", "line 35: bone 'foot' is not in the skeleton"),
        ("    thigh shin\n", "", "bone 'shin' is not in the hierarchy"),
        ("thigh 0 0 0", "thigh 0 0", "line 6: 2 numbers, must be 3"),
        ("shin 0\n", "", "bone 'shin' has 0 values in 1 frames"),
        ("shin 90\n", "foot 90\n", "bone 'foot' is not in the skeleton"),
    ],
)
def test_errors_of_asf_and_amc_name_the_line(tmp_path, old, new, message):
    assert old in ASF + AMC
    path = amc_files(tmp_path, ASF.replace(old, new, 1), AMC.replace(old, new, 1))
    with pytest.raises(ValueError, match=message):
        read_amc(path)


def test_a_missing_skeleton_is_named(tmp_path):
    path = amc_files(tmp_path)
    (tmp_path / "7.asf").rename(tmp_path / "other.asf")
    assert len(read_amc(path).values) == 2  # the only one there is
    (tmp_path / "other.asf").unlink()
    with pytest.raises(FileNotFoundError, match=r"neither 7_01\.asf nor 7\.asf"):
        read_amc(path)


@real_data
def test_amc_of_real_walks(tmp_path):
    """The set holds bones, angles and the places of the bones' far ends, computed elsewhere."""
    with np.load(Path(os.environ["ISTHMUS_DATA"]) / "cmu_mocap_walk.npz") as file:
        walk = {key: file[key] for key in file.files}
    who = list(walk["skeleton_subject"]).index(walk["trial_subject"][0])
    names, rows = [str(name) for name in walk["joint_names"]], slice(0, 200, 40)
    columns = [str(name).rsplit("_", 1) for name in walk["channel_names"]]
    freedoms = {n: [dof for name, dof in columns if name == n] for n in names}
    asf = [
        ":units",
        "  length 0.45",
        "  angle deg",
        ":root",
        "  order TX TY TZ RX RY RZ",
        ":bonedata",
    ]
    for j, name in enumerate(names[1:], start=1):
        asf += ["begin", f"name {name}"]
        asf += [f"direction {' '.join(map(str, walk['bone_direction'][who, j]))}"]
        asf += [f"length {walk['bone_length'][who, j]}"]
        asf += [f"axis {' '.join(map(str, walk['bone_axis_deg'][who, j]))} XYZ"]
        asf += [f"dof {' '.join(freedoms[name])}"] * bool(freedoms[name]) + ["end"]
    asf += [":hierarchy", "begin"]
    asf += [f"{names[parent]} {name}" for name, parent in zip(names[1:], walk["joint_parent"][1:])]
    amc = [":DEGREES"]
    for k, values in enumerate(walk["channels"][rows], start=1):
        amc.append(str(k))
        for name in names:
            own = [str(v) for v, (bone, _) in zip(values, columns) if bone == name]
            amc += [f"{name} {' '.join(own)}"] * bool(own)
    motion = read_amc(amc_files(tmp_path, "\n".join(asf), "\n".join(amc)))
    p, tree = motion.positions(), motion.skeleton
    for j, name in enumerate(names):
        far = [i for i, parent in enumerate(tree.parents) if parent == tree.index(name)]
        at = tree.index(name) if j == 0 else far[0]
        assert_allclose(p[:, at], walk["positions_m"][rows, j], atol=2e-5, err_msg=name)


# -- clips ------------------------------------------------------------------------------------


def test_directions_do_not_depend_on_heading_and_place():
    motion = random_motion()
    names, p = motion.skeleton.names, motion.positions()
    c, s = np.cos(1.1), np.sin(1.1)
    turned = p @ np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]).T + [3, 0, -2]
    a = clip_from_positions("a", names, p, 30)
    b = clip_from_positions("b", names, turned, 30)
    assert_allclose(a.upper, b.upper, atol=1e-12)
    assert_allclose(a.fore, b.fore, atol=1e-12)
    assert_allclose(np.linalg.norm(a.upper, axis=1), 1)


def test_a_standing_person_stretches_the_arms_sideways():
    skeleton = standing_person()
    still = Motion(skeleton, np.zeros((2, skeleton.n_channels)), 1 / 120)
    clip = clip_from_motion(still)
    assert_allclose(clip.upper[0], [-1, 0, 0], atol=1e-12)  # the right is -X
    q = clip.postures(pa10())
    tip = pa10().points(q)[0, 6]
    assert_allclose(tip, [1.03, 0, 0], atol=1e-12)  # x of the base is right
    assert clip.raised().all()


def test_missing_joints_are_named():
    with pytest.raises(ValueError, match=r"no joint for 'left_shoulder'.*hip, knee"):
        clip_from_motion(parse_bvh(TEXT.splitlines()))


def test_shipped_and_generated_clips_fit_the_arm():
    arm = pa10()
    clips = load_clips()
    assert list(clips) == ["79_31", "79_32", "79_43", "79_44", "13_26", "13_27"]
    for clip in [*clips.values(), make_clip(100, random_state=0)]:
        assert_allclose(np.linalg.norm(clip.fore, axis=1), 1, atol=1e-6)
        assert arm.inside_limits(clip.postures(arm)).all()
        assert 0.3 < clip.raised().mean() <= 1
    a, b = make_clip(50, random_state=3), make_clip(50, random_state=3)
    assert_array_equal(a.upper, b.upper)
    assert np.abs(np.diff(make_clip(200, random_state=1).fore, axis=0)).max() < 0.3


def test_an_error_of_three_degrees():
    clip = make_clip(2000, random_state=0)
    other = clip.with_error(3.0, 0)
    angle = np.degrees(np.arccos(np.clip((clip.upper * other.upper).sum(axis=1), -1, 1)))
    assert_allclose(np.sqrt((angle**2).mean()), 3 * np.sqrt(2), rtol=0.05)  # two directions
    assert isinstance(clip[:5], ArmClip) and len(clip[:5]) == 5


@real_data
def test_shipped_clips_are_those_of_the_data_set():
    data = load_mocap("arm")
    rows = slice(data.trial_offsets[2], data.trial_offsets[3])
    clip = clip_from_positions("79_43", data.joint_names, data.positions[rows], data.fps)
    assert_allclose(load_clips()["79_43"].upper, clip.upper, atol=1e-4)


@real_data
@pytest.mark.parametrize(
    ("name", "shape", "trials"), [("arm", (10580, 96), 6), ("walk", (11672, 62), 31)]
)
def test_mocap_loader(name, shape, trials):
    data = load_mocap(name)
    assert data.data.shape == shape
    assert data.positions.shape == (shape[0], len(data.joint_names), 3)
    assert len(data.trial_names) == trials == data.trial[-1] + 1
    assert data.fps == 120 and "mocap.cs.cmu.edu" in data.DESCR
    assert data.joint_parents[0] == -1


@real_data
def test_letters_loader():
    data = load_letters()
    assert data.data.shape == (340, 200, 2) and data.target.max() == 25
    step = np.diff(data.data, axis=1)
    ratio = np.median(
        np.linalg.norm(data.velocities[:, 1:], axis=2) / np.linalg.norm(step, axis=2).clip(1e-9)
    )
    assert 50 < ratio < 200


def test_an_unknown_set_is_refused():
    with pytest.raises(ValueError, match="name == 'run'"):
        load_mocap("run")
