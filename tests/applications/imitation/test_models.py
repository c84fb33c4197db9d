"""Oracles: finite differences, MuJoCo and matrix products for arms read from URDF and MJCF."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime

from isthmus.applications.imitation import Retargeter, pa10, read_mjcf, read_urdf, to_urdf
from isthmus.applications.imitation.read_models import read_arm

TORSO = """<robot name="r">
<joint name="lift" type="prismatic"><parent link="floor"/><child link="torso"/><origin xyz="0 0 0.5"/>
  <axis xyz="0 0 1"/><limit lower="0" upper="0.4" velocity="0.1"/></joint>
<joint name="mount" type="fixed"><parent link="torso"/><child link="plate"/>
  <origin xyz="0.1 0 0.2" rpy="0.3 -0.2 0.5"/></joint>
<joint name="a" type="revolute"><parent link="plate"/><child link="one"/><axis xyz="0 1 0"/>
  <limit lower="-2" upper="2" velocity="3"/></joint>
<joint name="b" type="revolute"><parent link="one"/><child link="two"/><origin xyz="0.3 0 0"/>
  <axis xyz="0 1 1"/><limit lower="-1" upper="1.5" velocity="2"/></joint>
<joint name="c" type="revolute"><parent link="two"/><child link="three"/><origin xyz="0.25 0 0"/>
  <axis xyz="0 0 1"/><limit lower="-2" upper="2"/><mimic joint="b" multiplier="-0.5" offset="0.1"/></joint>
<joint name="hand" type="fixed"><parent link="three"/><child link="palm"/>
  <origin xyz="0 0.1 0" rpy="0 0 1"/></joint>
<joint name="nail" type="fixed"><parent link="palm"/><child link="finger"/><origin xyz="0.02 0 0"/></joint>
</robot>"""

MJCF = """<mujoco model="m"><compiler angle="degree"/>
<default><joint range="-100 100" limited="true"/>
 <default class="weak"><joint range="-50 60"/></default></default>
<worldbody><body name="root" pos="0 0 0.3" euler="10 20 30">
 <body name="one" pos="0.1 0 0" quat="0.8 0.6 0 0" childclass="weak">
  <joint name="j1" axis="0 1 1" pos="0.02 0 0.01"/>
  <geom size="0.1"/>
  <body name="two" pos="0.3 0 0" axisangle="0 0 1 40"><joint name="j2" axis="1 0 0"/>
   <joint name="j3" axis="0 1 0" class="main"/><geom size="0.1"/>
   <body name="end" pos="0 0.2 0.1"><geom size="0.1"/></body></body></body></body></worldbody></mujoco>"""


def check_derivatives(arm, n=5):
    places = [arm.place(name) for name in arm.links]
    for q in arm.random_postures(n, 0):
        points, J, R, W = arm.limb(q[None], places)
        for i in range(len(places)):
            numeric = approx_fprime(q, lambda x, i=i: arm.limb(x[None], places)[0][0, i], 1e-7)
            assert_allclose(J[0, i], numeric, atol=1e-6)
        for j in range(arm.n_joints):
            step = 1e-7 * np.eye(arm.n_joints)[j]
            moved = arm.limb((q + step)[None], places)[2][0]
            skew = (moved - R[0]) @ R[0].T / 1e-7
            assert_allclose(W[0, :, j], [skew[2, 1], skew[0, 2], skew[1, 0]], atol=1e-6)
        assert_allclose(points[0, -1], arm.points(q)[-1], atol=1e-14)


def test_a_torso_slides_or_is_held():
    with pytest.raises(ValueError, match=r"'lift' has type 'prismatic': hold it with fixed="):
        read_urdf(TORSO)
    slid, held = read_urdf(TORSO, slides=["lift"]), read_urdf(TORSO, fixed={"lift": 0.25})
    based = read_urdf(TORSO, base="torso")
    assert slid.names == ("lift", "a", "b") and held.names == based.names == ("a", "b")
    q = np.array([0.4, -0.7])
    assert_allclose(slid.points([0.25, *q])[-1], held.points(q)[-1], atol=1e-15)
    assert_allclose(held.points(q)[-1], based.points(q)[-1] + [0, 0, 0.75], atol=1e-15)
    assert_allclose(slid.velocity, [0.1, 3, 2])
    for arm in (slid, held, based):
        check_derivatives(arm)


def test_a_mimic_joint_follows_its_master():
    mimic = read_urdf(TORSO, fixed={"lift": 0.0})
    free = read_urdf(
        TORSO.replace('<mimic joint="b" multiplier="-0.5" offset="0.1"/>', ""), fixed={"lift": 0.0}
    )
    q = mimic.random_postures(20, 1)
    assert_allclose(
        mimic.points(q), free.points(np.column_stack([q, -0.5 * q[:, 1] + 0.1])), atol=1e-14
    )
    again = read_urdf(to_urdf(mimic))
    assert_allclose(again.points(q), mimic.points(q), atol=1e-14)
    with pytest.raises(ValueError, match="'c' mimics 'b', which does not move"):
        read_urdf(TORSO, base="two")


def test_links_behind_fixed_joints_are_points():
    arm = read_urdf(TORSO, fixed={"lift": 0.1})
    names = ["plate", "three", "palm", "finger"]
    points = arm.limb(np.array([[0.3, 0.2]]), [arm.place(name) for name in names])[0][0]
    assert_allclose(points[0], [0.1, 0, 0.8], atol=1e-15)
    lengths = np.linalg.norm(np.diff(points[1:], axis=0), axis=1)
    assert_allclose(lengths, [0.1, 0.02], atol=1e-15)
    with pytest.raises(ValueError, match="'thumb', the named points and links are 'tip', 'torso'"):
        arm.place("thumb")


@pytest.mark.parametrize(
    "old, new, message",
    [
        ('<axis xyz="0 1 0"/>', '<axis xyz="0 0 0"/>', "joint 'a' has the axis .* no direction"),
        (
            '<limit lower="-2" upper="2" velocity="3"/>',
            "",
            "joint 'a' has no limits: write .* or pass limits=",
        ),
        ('lower="-1" upper="1.5"', 'lower="1" upper="1"', "joint 'b' has limits 1.0 to 1.0"),
        (
            'rpy="0.3 -0.2 0.5"',
            'rpy="0.3 -0.2"',
            "joint 'mount': <origin rpy='0.3 -0.2'>, must be th",
        ),
        ('type="revolute"', 'type="planar"', "joint '.' has type 'planar'"),
        ("</robot>", "", "the text is not well-formed XML"),
        ('<robot name="r">', '<robot xmlns:xacro="x" name="${n}">', "xacro macro file: expand it"),
        ('<parent link="plate"/>', "", "joint 'a' has no <parent>"),
    ],
)
def test_what_is_wrong_with_a_urdf_is_named(old, new, message):
    with pytest.raises(ValueError, match=message):
        read_urdf(TORSO.replace(old, new), fixed={"lift": 0.0})


def test_missing_limits_can_be_given():
    text = TORSO.replace('<limit lower="-2" upper="2" velocity="3"/>', "")
    arm = read_urdf(text, fixed={"lift": 0.0}, limits={"a": (-1, 2)})
    assert_allclose(arm.limits[0], [-1, 2])
    with pytest.raises(ValueError, match="limits names 'z'; the chain has a, b, c"):
        read_urdf(TORSO, limits={"z": (0, 1)})
    with pytest.raises(ValueError, match="base == 'sky' is not above 'finger'"):
        read_urdf(TORSO, base="sky")
    with pytest.raises(ValueError, match=r"nowhere.urdf is neither URDF text"):
        read_urdf("nowhere.urdf")


def test_mjcf_is_read_as_mujoco_reads_it(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "m.xml"
    path.write_text(MJCF)
    arm = read_arm(path)
    model = mujoco.MjModel.from_xml_string(MJCF)
    data = mujoco.MjData(model)
    assert arm.names == ("j1", "j2", "j3")
    assert_allclose(arm.limits, model.jnt_range)
    places = [arm.place(name) for name in ("root", "one", "two", "end")]
    for q in arm.random_postures(20, 0):
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        points, _, R, _ = arm.limb(q[None], places)
        assert_allclose(points[0], data.xpos[1:], atol=1e-14)
        assert_allclose(R[0], data.xmat[4].reshape(3, 3), atol=1e-14)
    check_derivatives(arm)
    with pytest.raises(ValueError, match="tip == 'x' is not a body of the model"):
        read_mjcf(MJCF, tip="x")
    with pytest.raises(ValueError, match="joint 'j3' has no limits"):
        read_mjcf(MJCF.replace('range="-100 100" limited="true"', ""))


def test_the_velocities_of_a_urdf_come_back():
    arm = read_urdf(to_urdf(pa10()))
    assert_allclose(arm.velocity, 3.14)
    assert set(arm.links) == {f"link{i}" for i in range(1, 8)}


SIX = """<robot name="six" xmlns:xacro="http://www.ros.org/wiki/xacro"><!-- from <xacro:six/> -->
<link name="base"/>{joints}
<joint name="flange" type="fixed"><parent link="l6"/><child link="tool0"/><origin xyz="0 0 0.05"/></joint>
<joint name="camera" type="fixed"><parent link="l6"/><child link="camera"/></joint>
<joint name="cable" type="fixed"><parent link="base"/><child link="socket"/></joint></robot>"""
HINGE = """<link name="l{k}"/>
<joint name="j{k}" type="revolute"><parent link="{parent}"/><child link="l{k}"/>
<origin xyz="0 0 {way}"/><axis xyz="{axis}"/><limit lower="-2" upper="2" velocity="3"/></joint>"""


def six_joints():
    ways, axes = (0.1, 0.05, 0.43, 0.39, 0.09, 0.08), ("0 0 1", *(3 * ["0 1 0"]), "0 0 1", "0 1 0")
    joints = [
        HINGE.format(k=k, parent=f"l{k - 1}" if k > 1 else "base", way=way, axis=axis)
        for k, (way, axis) in enumerate(zip(ways, axes), start=1)
    ]
    return SIX.format(joints="".join(joints))


def test_the_limbs_of_six_joints_are_the_two_longest():
    """The file was expanded from macros, and ends in a tool, a camera and a socket at its base."""
    arm = read_urdf(six_joints())
    assert arm.n_joints == 6
    assert_allclose(arm.points(np.zeros(6))[-1], [0, 0, 1.19])  # tool0, not the camera
    retargeter = Retargeter(arm)
    assert [k for k, _ in retargeter.places] == [
        1,
        2,
        3,
        5,
    ]  # the hinges at both ends of both limbs
    assert_allclose(retargeter.lengths, [0.43, 0.39, 0.22])
    named = Retargeter(arm, shoulder="l2", elbow="l3", wrist="l4")
    assert_allclose(named.lengths, retargeter.lengths)
    for change, message in (
        (lambda t: t.replace("<link", "<xacro:six/><link", 1), "is a xacro macro file"),
        (lambda t: t.replace('xyz="0 0 0.43"', 'xyz="0 0 ${d}"'), "is a xacro macro file"),
        (lambda t: t.replace('type="revolute"', 'type="fixed"'), "no joint that moves"),
    ):
        with pytest.raises(ValueError, match=message):
            read_urdf(change(six_joints()))
