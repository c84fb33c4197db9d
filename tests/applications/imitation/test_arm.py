"""Oracles: verified postures, MuJoCo, Pinocchio, a plain matrix product, finite differences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime
from sklearn.kernel_ridge import KernelRidge

from isthmus.applications.imitation import (
    SerialArm,
    dexterity,
    kinetic_energy,
    make_inverse_kinematics,
    mass_matrices,
    pa10,
    read_urdf,
    to_mjcf,
    to_urdf,
)

# Degrees; elbow, wrist, tip in metres; largest and smallest singular value of the tip's Jacobian.
POSTURES = [
    ((0, 0, 0, 0, 0, 0, 0), (0, 0, 0.45), (0, 0, 0.95), (0, 0, 1.03), 1.184778460, 0),
    ((0, 90, 0, 0, 0, 0, 0), (0.45, 0, 0), (0.95, 0, 0), (1.03, 0, 0), 1.184778460, 0),
    ((90, 90, 0, 0, 0, 0, 0), (0, 0.45, 0), (0, 0.95, 0), (0, 1.03, 0), 1.184778460, 0),
    (
        (0, 90, 0, -90, 0, 0, 0),
        (0.45, 0, 0),
        (0.45, 0, 0.5),
        (0.45, 0, 0.58),
        0.891238923,
        0.295623378,
    ),
    (
        (0, 0, 0, 90, 0, 0, 0),
        (0, 0, 0.45),
        (0.5, 0, 0.45),
        (0.58, 0, 0.45),
        0.891238923,
        0.295623378,
    ),
    (
        (0, 0, 0, 90, 0, 90, 0),
        (0, 0, 0.45),
        (0.5, 0, 0.45),
        (0.5, 0, 0.37),
        0.743123063,
        0.312198836,
    ),
    (
        (30, 45, -60, 75, 120, -45, 10),
        (0.275567596063, 0.159099025767, 0.318198051534),
        (0.711820084261, -0.071993395882, 0.238951227007),
        (0.736124091282, -0.148207266360, 0.238078765309),
        0.954708526,
        0.244516472,
    ),
    (
        (-100, 20, 80, -110, -200, 60, -30),
        (-0.026726028576, -0.151570839975, 0.422861679354),
        (-0.458935061143, 0.061880769499, 0.290069501194),
        (-0.461053842221, 0.113057792743, 0.228616892961),
        0.717133230,
        0.131123874,
    ),
    (
        (177, 94, 174, 137, 255, 165, 255),
        (-0.448288615529, 0.023493810818, -0.031390413185),
        (-0.109492103594, -0.029954798332, 0.332422958862),
        (-0.166681712642, -0.041769302249, 0.277744205089),
        0.445789635,
        0.297573128,
    ),
]
ALPHA_DISTAL = np.radians([-90, 90, -90, 90, -90, 90, 0])
LENGTHS = [0, 0, 0.45, 0, 0.5, 0, 0.08]


@pytest.fixture
def arm():
    return pa10()


@pytest.fixture
def q(arm):
    return arm.random_postures(40, random_state=0)


def matrix_product(arm, q):
    """Frames by 4x4 products of the proximal table, written from its definition."""
    alpha = np.radians([0, -90, 90, -90, 90, -90, 90])
    T, out = np.eye(4), []
    for angle, twist, d in zip(q, alpha, LENGTHS):
        c, s, ca, sa = np.cos(angle), np.sin(angle), np.cos(twist), np.sin(twist)
        A = [
            [c, -s, 0, 0],
            [s * ca, c * ca, -sa, -sa * d],
            [s * sa, c * sa, ca, ca * d],
            [0, 0, 0, 1],
        ]
        T = T @ np.array(A)
        out.append(T)
    return np.array(out)


@pytest.mark.parametrize(("degrees", "elbow", "wrist", "tip", "largest", "smallest"), POSTURES)
def test_verified_postures(arm, degrees, elbow, wrist, tip, largest, smallest):
    q = np.radians(degrees)
    assert_allclose(arm.points(q)[[2, 3, 4, 5, 6]], [elbow, elbow, wrist, wrist, tip], atol=1e-9)
    measures = dexterity(arm, q[None])
    assert_allclose([measures.sigma_max[0], measures.sigma_min[0]], [largest, smallest], atol=1e-9)


def test_frames_are_the_matrix_product_and_rigid(arm, q):
    frames = arm.frames(q)
    assert_allclose(frames, [matrix_product(arm, row) for row in q], atol=1e-15)
    R = frames[..., :3, :3]
    assert_allclose(R @ np.swapaxes(R, -1, -2), np.broadcast_to(np.eye(3), R.shape), atol=1e-12)
    assert_allclose(np.linalg.det(R), 1, atol=1e-12)
    assert_array_equal(frames[..., :3, 3], arm.points(q))


def test_lengths_and_reach(arm, q):
    p = arm.points(q)
    assert_allclose(np.linalg.norm(p[:, 2], axis=1), 0.45)
    assert_allclose(np.linalg.norm(p[:, 4] - p[:, 2], axis=1), 0.5)
    assert_allclose(np.linalg.norm(p[:, 6] - p[:, 4], axis=1), 0.08)
    distance = np.linalg.norm(arm.points(arm.random_postures(50_000, 1))[:, 6], axis=1)
    assert_allclose(arm.reach, (0.2712703, 1.03), atol=1e-6)
    assert arm.reach[0] <= distance.min() < 0.3 and distance.max() <= arm.reach[1]


def test_the_last_joint_and_two_directions_are_invisible(arm, q):
    assert_array_equal(arm.jacobian(q)[:, :, 6], 0)
    J = arm.jacobians(q)
    both = np.concatenate([J[:, 2], J[:, 6]], axis=1)
    assert_array_equal(np.linalg.matrix_rank(both, tol=1e-9), 5)


def test_jacobians_by_finite_differences(arm, q):
    for row, J in zip(q[:5], arm.jacobians(q[:5])):
        numeric = approx_fprime(row, lambda x: arm.points(x).ravel(), 1e-7)
        assert_allclose(J.reshape(21, 7), numeric, atol=1e-6)


def test_jacobian_forms_agree(arm, q):
    points, J = arm.points_and_jacobian(q, "elbow")
    assert_array_equal(points, arm.points(q))
    assert_array_equal(J, arm.jacobians(q)[:, 2])
    assert_array_equal(arm.jacobian(q[0]), arm.jacobians(q)[0, 6])


def test_blocks_do_not_matter(arm):
    q = arm.random_postures(4500, 2)
    assert_array_equal(arm.points(q)[4100], arm.points(q[4100]))
    assert_array_equal(arm.jacobians(q)[2001], arm.jacobians(q[2001]))


def test_distal_table_has_the_same_points_and_last_frame(arm, q):
    other = SerialArm.from_dh(ALPHA_DISTAL, LENGTHS, limits=arm.limits, convention="distal")
    assert_allclose(other.points(q), arm.points(q), atol=1e-15)
    assert_allclose(other.frames(q)[:, 6], arm.frames(q)[:, 6], atol=1e-15)
    assert np.abs(other.frames(q)[:, 1] - arm.frames(q)[:, 1]).max() > 0.1
    assert_allclose(other.jacobians(q), arm.jacobians(q), atol=1e-15)


def test_a_planar_arm_of_two_links():
    arm = SerialArm.from_dh([0, 0], [0, 0], [1.0, 0.5], limits=[3, 3], convention="distal")
    a, b = 0.3, 0.9
    tip = [np.cos(a) + 0.5 * np.cos(a + b), np.sin(a) + 0.5 * np.sin(a + b), 0]
    assert_allclose(arm.points([a, b])[-1], tip)
    assert arm.reach == (0.0, 1.5)


def test_base_offset_lifts_points_and_nothing_else(arm, q):
    lifted = pa10(base_offset=0.317)
    assert_allclose(lifted.points(q) - arm.points(q), np.broadcast_to([0, 0, 0.317], (40, 7, 3)))
    assert_allclose(lifted.jacobians(q), arm.jacobians(q), atol=1e-15)
    assert lifted.reach == arm.reach


def test_lengths_and_limits_are_arguments():
    arm = pa10(lengths=(0.45, 0.48, 0.07), limits=np.full(7, 1.0))
    assert_allclose(np.linalg.norm(arm.points(np.zeros(7))[-1]), 1.0)
    assert_array_equal(arm.limits, np.tile([-1.0, 1.0], (7, 1)))


# -- posture from directions ------------------------------------------------------------------


def test_posture_from_directions_is_the_inverse_inside_the_limits(arm):
    rng = np.random.default_rng(0)
    low = np.radians([-170, 5, -170, -130])
    high = np.radians([170, 90, 170, -5])
    q = np.zeros((200, 7))
    q[:, :4] = rng.uniform(low, high, size=(200, 4))
    p = arm.points(q)
    assert_allclose(arm.posture_from_directions(p[:, 2], p[:, 4] - p[:, 2]), q, atol=3e-14)


def test_posture_points_along_the_directions(arm):
    rng = np.random.default_rng(1)
    u, v = rng.normal(size=(2, 300, 3))
    u[:, 2] = np.abs(u[:, 2])
    q = arm.posture_from_directions(u, v)
    p = arm.points(q)
    free = (np.abs(q[:, 0]) < 3) & (np.abs(q[:, 2]) < 3) & (q[:, 3] > np.radians(-136))
    assert free.sum() > 150
    u, v = u / np.linalg.norm(u, axis=1)[:, None], v / np.linalg.norm(v, axis=1)[:, None]
    assert_allclose((p[:, 2] / 0.45)[free], u[free], atol=1e-12)
    assert_allclose(((p[:, 4] - p[:, 2]) / 0.5)[free], v[free], atol=1e-12)
    assert arm.inside_limits(q).all()


def test_undefined_angles_keep_the_value_before(arm):
    u = np.array([[0, 0, 1.0], [1, 1, 0.2], [0, 0, 1]])
    v = np.array([[0, 0, 1.0], [0, 1, 0], [0, 0, 1]])
    q = arm.posture_from_directions(u, v)
    assert_array_equal(q[0], 0)
    assert q[2, 0] == q[1, 0] and q[2, 2] == q[1, 2]
    with pytest.raises(ValueError, match=r"u.0. has length zero"):
        arm.posture_from_directions([0, 0, 0], [0, 0, 1])


# -- model files ------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [0.0, 0.317])
def test_mujoco_agrees(q, offset):
    mujoco = pytest.importorskip("mujoco")
    arm = pa10(base_offset=offset)
    model = mujoco.MjModel.from_xml_string(to_mjcf(arm))
    data = mujoco.MjData(model)
    assert_allclose(model.jnt_range, arm.limits)
    jac = np.empty((3, 7))
    for row in q:
        data.qpos[:] = row
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        assert_allclose(data.xpos[1:], arm.points(row), atol=2e-15)
        mujoco.mj_jacBody(model, data, jac, None, 7)
        assert_allclose(jac, arm.jacobian(row), atol=2e-15)


def test_pinocchio_agrees(arm, q):
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromXML(to_urdf(arm))
    data = model.createData()
    for row in q:
        pin.forwardKinematics(model, data, row)
        theirs = [data.oMi[k + 1].translation for k in range(7)]
        assert_allclose(theirs, arm.points(row), atol=2e-15)


def test_urdf_round_trip(arm, q, tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(to_urdf(pa10(base_offset=0.3)))
    back = read_urdf(path)
    assert_allclose(back.points(q), arm.points(q) + np.array([0, 0, 0.3]), atol=1e-15)
    assert_array_equal(back.limits, arm.limits)
    assert back.names == arm.names
    distal = SerialArm.from_dh(
        ALPHA_DISTAL, LENGTHS, 0.1, limits=arm.limits, offset=0.3, convention="distal"
    )
    again = read_urdf(to_urdf(distal))
    assert_allclose(again.frames(q), distal.frames(q), atol=1e-14)


def test_urdf_with_another_axis_fixed_joints_and_branches():
    text = """<robot name="r"><link name="a"/><link name="b"/><link name="c"/><link name="d"/>
    <joint name="f" type="fixed"><parent link="a"/><child link="b"/><origin xyz="0 0 1"/></joint>
    <joint name="h" type="continuous"><parent link="b"/><child link="c"/><axis xyz="0 1 0"/></joint>
    <joint name="e" type="fixed"><parent link="c"/><child link="d"/><origin xyz="1 0 0"/></joint>
    </robot>"""
    arm = read_urdf(text)
    assert_allclose(arm.points([np.pi / 2])[0], [0, 0, 0], atol=1e-15)  # about y, x turns to -z
    branch = text.replace(
        "</robot>",
        '<joint name="g" type="prismatic"><parent link="c"/><child link="x"/></joint></robot>',
    )
    with pytest.raises(ValueError, match="ends in d, x: name one as tip"):
        read_urdf(branch)
    assert_allclose(read_urdf(branch, tip="d").points([0.0]), arm.points([0.0]))
    with pytest.raises(ValueError, match="'g' has type 'prismatic'"):
        read_urdf(branch, tip="x")


# -- dexterity --------------------------------------------------------------------------------


def test_dexterity(arm):
    q = np.radians([POSTURES[6][0], POSTURES[7][0], POSTURES[0][0]])
    d = dexterity(arm, q, dt=0.1)
    assert_allclose(d.closeness_to_limits[0], 0.493426076, atol=1e-9)
    assert_allclose(d.condition[0], 0.954708526 / 0.244516472, rtol=1e-8)
    assert d.condition[2] == np.inf
    sigma = np.linalg.svd(arm.jacobian(q[0]), compute_uv=False)
    assert_allclose(d.manipulability[0], sigma.prod())
    assert_allclose(d.speed, [0, *np.linalg.norm(np.diff(q, axis=0), axis=1) / 0.1])
    ends = dexterity(arm, arm.limits.T).limit_vector
    assert_allclose(ends, [np.full(7, -0.5), np.full(7, 0.5)])


def test_kinetic_energy_lies_between_its_bounds(arm, q):
    pytest.importorskip("mujoco")
    v = np.random.default_rng(3).normal(size=q.shape)
    K = kinetic_energy(arm, q, v)
    values = np.linalg.eigvalsh(mass_matrices(arm, q))
    half = (v**2).sum(axis=1) / 2
    assert (values[:, 0] > 0).all()
    assert (values[:, 0] * half <= K + 1e-12).all() and (K <= values[:, -1] * half + 1e-12).all()
    assert_allclose(kinetic_energy(arm, q, 2 * v), 4 * K)


# -- inverse kinematics ------------------------------------------------------------------------


@pytest.mark.parametrize(("branch", "low", "high"), [("full", 0.9, 1.1), ("single", 0.0, 0.25)])
def test_only_a_single_branch_can_be_learned(branch, low, high):
    X, Y = make_inverse_kinematics(1500, branch=branch, random_state=0)
    assert X.shape == (1500, 6) and Y.shape == (1500, 7)
    arm = pa10()
    assert arm.inside_limits(Y).all()
    assert_allclose(arm.points(Y)[:, [2, 6]].reshape(1500, 6), X)
    mean = Y[:500].mean(axis=0)
    model = KernelRidge(kernel="rbf", gamma=1.0, alpha=1e-2 if branch == "single" else 10.0)
    error = ((model.fit(X[:500], Y[:500] - mean).predict(X[500:]) + mean - Y[500:]) ** 2).sum(
        axis=1
    )
    baseline = ((mean - Y[500:]) ** 2).sum(axis=1).mean()
    assert_allclose(baseline, 24.9 if branch == "full" else 2.26, rtol=0.05)
    assert low < error.mean() / baseline < high


def test_an_unknown_branch_is_refused():
    with pytest.raises(ValueError, match="branch == 'half'"):
        make_inverse_kinematics(5, branch="half")


# -- errors -----------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.zeros(6), np.zeros((2, 8)), np.zeros((1, 1, 7))])
def test_joints_of_another_shape_are_refused(arm, bad):
    with pytest.raises(ValueError, match=r"q has shape .*must be \(7,\) or \(n, 7\)"):
        arm.points(bad)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_joints_that_are_not_finite_are_refused(arm, value):
    q = np.zeros((3, 7))
    q[1, 2] = value
    for function in (arm.points, arm.jacobians, arm.frames):
        with pytest.raises(ValueError, match="NaN or infinite"):
            function(q)


def test_postures_outside_the_limits_are_computed(arm):
    q = np.full(7, 10.0)
    assert not arm.inside_limits(q)
    assert np.isfinite(arm.points(q)).all()


def test_bad_tables_are_refused(arm):
    with pytest.raises(ValueError, match="convention == 'other'"):
        SerialArm.from_dh([0.0], [1.0], limits=[1.0], convention="other")
    with pytest.raises(ValueError, match="low < high"):
        SerialArm.from_dh([0.0], [1.0], limits=[[1.0, -1.0]])
    with pytest.raises(ValueError, match="named points are 'tip', 'elbow'"):
        arm.jacobian(np.zeros(7), "knee")
