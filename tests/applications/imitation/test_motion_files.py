"""Oracles: a skeleton whose places are known by hand, a round trip, the real conversions."""

import os

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
        ("CHANNELS 3", "CHANNELS 4", "line 9: 4 channels promised"),
        ("Frames: 2", "Frames: 3", "promises 3 frames and has 2"),
        ("  OFFSET 0 0 0", "  SHIFT 0 0 0", "line 4: 'SHIFT 0 0 0' is not understood"),
        ("MOTION\n", "", "not understood"),
    ],
)
def test_errors_name_the_line(old, new, message):
    with pytest.raises(ValueError, match=message):
        parse_bvh(TEXT.replace(old, new, 1).splitlines())


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
