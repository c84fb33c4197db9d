"""Oracles: known postures whose tips are the targets, finite differences, optimality, two solvers."""

import os
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime

from isthmus.applications.imitation import (
    Markers,
    follow,
    pa10,
    plane_map,
    posture_normals,
    reachable_targets,
    track,
    transfer,
)
from isthmus.applications.imitation.clip_transfer import MARKERS, at_rest, natural_map
from isthmus.applications.imitation.clips import joint_positions, markers_from_positions
from isthmus.applications.imitation.execution import CONTROLLER
from isthmus.applications.imitation.mapping import normal_jacobian
from isthmus.datasets import load_mocap

real_data = pytest.mark.skipif(
    not os.environ.get("ISTHMUS_DATA"), reason="ISTHMUS_DATA names no directory with the real data"
)
LEFT, REFERENCE = np.array([-0.3, 0.1, 0.05]), np.array([0.1, -0.2, 0.7])
START = np.radians([40, 60, 10, -80, 5, 10, 0])


@pytest.fixture
def arm():
    return pa10()


@pytest.fixture
def task(arm):
    """A movement that the arm can do: targets and normals of known postures."""
    s = np.linspace(0, 1, 12)[:, None]
    wave = np.radians([25, -20, 30, 25, 10, -15, 0]) * np.sin(2 * np.pi * s)
    q = START + wave
    p = arm.points(q)
    return p[:, 6], posture_normals(LEFT, p[:, 2], REFERENCE), q


def letter():
    """A drawing in the person's x-z plane, wider than tall, with a clear right and up."""
    t = np.linspace(0, 1, 40)
    return np.stack([0.3 * t, 0.02 * np.zeros(40) + 1.0, 0.1 * np.sin(5 * t)], axis=1)


# -- mapping ----------------------------------------------------------------------------------


def test_plane_map_is_a_similarity_that_begins_at_the_target():
    drawing = letter()
    u, v, target = [0, 1.0, 0], [0, 0.3, 1.0], [0.5, 0.1, 0.2]
    mapping = plane_map(drawing, target, u, v, scale=2.0, right=[1, 0, 0], up=[0, 0, 1])
    moved = mapping(drawing)
    assert_allclose(moved[0], target)
    assert_allclose(mapping.rotation @ mapping.rotation.T, np.eye(3), atol=1e-14)
    assert_allclose(np.linalg.det(mapping.rotation), 1)
    steps, moved_steps = np.diff(drawing, axis=0), np.diff(moved, axis=0)
    assert_allclose(np.linalg.norm(moved_steps, axis=1), 2 * np.linalg.norm(steps, axis=1))
    assert_allclose(moved_steps @ [0, 1, 0], 2 * steps[:, 0], atol=1e-14)  # right is u
    assert_allclose(moved_steps @ [0, 0, 1], 2 * steps[:, 2], atol=1e-14)  # up is v made orthogonal


def test_hints_keep_writing_from_being_mirrored():
    flipped = letter()[::-1]  # another order of samples, other signs of the principal axes
    for drawing in (letter(), flipped, letter() * [0.1, 1, 5]):  # the last is taller than wide
        mapping = plane_map(drawing, [0, 0, 0], [1, 0, 0], [0, 0, 1], right=[1, 0, 0], up=[0, 0, 1])
        assert_allclose(mapping.rotation, np.eye(3), atol=1e-12)
    with pytest.warns(UserWarning, match="mirrored: give the hints"):
        plane_map(letter(), [0, 0, 0], [1, 0, 0], [0, 0, 1])


def test_planes_that_are_none_are_refused():
    with pytest.raises(ValueError, match=r"u == .* are parallel"):
        plane_map(letter(), [0, 0, 0], [1, 0, 0], [-2, 0, 0], right=[1, 0, 0], up=[0, 0, 1])
    line = np.outer(np.linspace(0, 1, 9), [1.0, 2, 3])
    with pytest.raises(ValueError, match=r"lies on a line .* give both hints"):
        plane_map(line, [0, 0, 0], [1, 0, 0], [0, 1, 0])
    assert (
        plane_map(line, [0, 0, 0], [1, 0, 0], [0, 1, 0], right=[1, 0, 0], up=[0, 0, 1]).scale == 1
    )


def test_normals_of_collinear_points_are_refused_with_their_names():
    a, b = np.zeros((3, 3)), np.ones((3, 3))
    b[0] = [1, 0, 0]
    with pytest.raises(ValueError, match=r"left shoulder, elbow and reference .* at sample 1"):
        posture_normals(a, b, np.array([[0, 1.0, 0], [2, 2, 2], [0, 1, 0]]))


def test_normal_jacobian_by_finite_differences_has_rank_one(arm):
    elbow, J = arm.points(START)[2], arm.jacobian(START, "elbow")
    n, slope = normal_jacobian(LEFT, elbow, REFERENCE, J)

    def normal(q):
        return posture_normals(LEFT, arm.points(q)[2], REFERENCE)[0]

    assert_allclose(n, normal(START))
    assert_allclose(slope, approx_fprime(START, normal, 1e-7), atol=1e-6)
    assert np.linalg.matrix_rank(slope, tol=1e-9) == 1


# -- following --------------------------------------------------------------------------------


def test_slsqp_reaches_every_target_inside_the_limits(arm, task):
    targets, normals, _ = task
    done = follow(arm, targets, normals, LEFT, REFERENCE, START)
    assert done.converged.all() and done.tip_error.max() < 1e-6
    assert arm.inside_limits(done.q).all()
    assert done.normal_error.max() < 0.1
    assert_allclose(np.linalg.norm(arm.points(done.q)[:, 6] - targets, axis=1), done.tip_error)


def test_the_first_posture_satisfies_the_optimality_conditions(arm, task):
    targets, normals, _ = task
    q = follow(arm, targets, normals, LEFT, REFERENCE, START, alpha=0.3).q[0]
    n, slope = normal_jacobian(LEFT, arm.points(q)[2], REFERENCE, arm.jacobian(q, "elbow"))
    gradient = -2 * slope.T @ (normals[0] - n) + 0.6 * (q - START)
    J = arm.jacobian(q)
    multipliers = np.linalg.lstsq(J.T, gradient, rcond=None)[0]
    assert arm.inside_limits(q, tol=-1e-3)  # no limit is active
    assert_allclose(J.T @ multipliers, gradient, atol=2e-5)


def test_trust_qp_finds_the_same_minima(arm, task):
    pytest.importorskip("daqp")
    targets, normals, _ = task
    a = follow(arm, targets, normals, LEFT, REFERENCE, START)
    b = follow(arm, targets, normals, LEFT, REFERENCE, START, solver="trust_qp")
    assert b.converged.all()
    assert_allclose(b.normal_error, a.normal_error, atol=3e-5)
    assert_allclose(b.q, a.q, atol=1e-3)


def test_gauss_newton_solves_a_smooth_task(arm, task):
    targets, normals, _ = task
    done = follow(arm, targets, normals, LEFT, REFERENCE, START, alpha=1.0, solver="gauss_newton")
    assert done.converged.all() and arm.inside_limits(done.q).all()


def test_unreachable_targets_are_flagged_and_the_rest_goes_on(arm, task):
    targets, normals, _ = task
    targets = targets.copy()
    targets[4] *= 1.2 / np.linalg.norm(targets[4])
    targets[5] *= 0.1 / np.linalg.norm(targets[5])
    assert_array_equal(np.flatnonzero(~reachable_targets(arm, targets)), [4, 5])
    done = follow(arm, targets, normals, LEFT, REFERENCE, START)
    assert not done.converged[4] and not done.converged[5]
    assert done.converged[[0, 1, 2, 3]].all() and done.converged[8:].all()
    assert arm.inside_limits(done.q).all()
    assert_allclose(done.tip_error[4], 1.2 - 1.03, atol=2e-3)  # as near as the reach allows


def test_a_first_target_out_of_reach_is_refused(arm, task):
    targets, normals, _ = task
    with pytest.raises(ValueError, match=r"targets\[0\].* reaches 0.271 to 1.030"):
        follow(arm, targets * 3, normals, LEFT, REFERENCE, START)


def test_bad_arguments_are_refused(arm, task):
    targets, normals, _ = task
    with pytest.raises(ValueError, match=r"alpha == -0.1"):
        follow(arm, targets, normals, LEFT, REFERENCE, START, alpha=-0.1)
    with pytest.raises(ValueError, match="solver == 'magic', must be one of 'slsqp'"):
        follow(arm, targets, normals, LEFT, REFERENCE, START, solver="magic")
    with pytest.raises(ValueError, match=r"start\[3\] == 9.0 is outside the limits .* E1"):
        follow(arm, targets, normals, LEFT, REFERENCE, [0, 0, 0, 9.0, 0, 0, 0])
    with pytest.raises(ValueError, match=r"start.*NaN"):
        follow(arm, targets, normals, LEFT, REFERENCE, np.full(7, np.nan))
    with pytest.raises(ValueError, match="unit vectors"):
        follow(arm, targets, 2 * normals, LEFT, REFERENCE, START)
    with pytest.raises(ValueError, match="targets has shape"):
        follow(arm, targets[:1], normals[:1], LEFT, REFERENCE, START)


def test_the_comparison_controller_tracks_and_is_named_as_a_stand_in(arm, task):
    targets, _, q = task
    done = track(arm, targets, q[0])
    assert done.converged.all() and arm.inside_limits(done.q).all()
    assert np.isnan(done.normal_error).all()
    assert "stands in for" in CONTROLLER


# -- people -----------------------------------------------------------------------------------


def synthetic_markers(n=15):
    """A person facing -Y, z up, whose right hand circles in front."""
    t = np.linspace(0, 2 * np.pi, n)
    finger = np.stack([-0.3 + 0.12 * np.cos(t), -0.42 + 0 * t, 1.3 + 0.12 * np.sin(t)], axis=1)
    elbow = np.stack([-0.38 + 0.02 * np.cos(t), -0.2 + 0 * t, 1.15 + 0.02 * np.sin(t)], axis=1)
    ones = np.ones((n, 1))
    return Markers(ones * [0.18, 0, 1.4], ones * [-0.18, 0, 1.4], elbow, finger)


def test_transfer_of_a_circle(arm):
    moved = transfer(arm, synthetic_markers())
    run = moved.execution
    assert run.converged.all() and arm.inside_limits(run.q).all()
    assert run.normal_error.mean() < 0.2
    centre = moved.targets[:-1].mean(axis=0)
    radius = np.linalg.norm(moved.targets - centre, axis=1)
    assert_allclose(radius, 0.12 * moved.mapping.scale, rtol=0.02)
    # Base axes: x right, y down, z forward. The hand is in front and lower than the shoulder.
    assert moved.targets[:, 2].min() > 0.5 and centre[1] > 0 and centre[0] > 0


def test_a_constant_normal_is_an_option(arm):
    moved = transfer(arm, synthetic_markers(), constant_normal=True)
    assert np.ptp(moved.normals, axis=0).max() == 0
    assert moved.execution.converged.all()


def test_a_walking_person_is_held_by_the_shoulder():
    markers = synthetic_markers()
    drift = np.linspace(0, 2, 15)[:, None] * [1.0, 0.5, 0]
    walking = Markers(*(getattr(markers, name) + drift for name in MARKERS[:4]))
    assert_allclose(at_rest(walking).finger, markers.finger)


def test_markers_must_agree():
    with pytest.raises(ValueError, match="different lengths"):
        Markers(np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((4, 3)))
    one = np.zeros((3, 3))
    above = Markers(one, one, one + 1, one + 2)
    with pytest.raises(ValueError, match="above each other"):
        natural_map(pa10(), above, scale=1.0)


def writing_on_a_plane(begin, turn, n_samples):
    """The markers of 79_31, and the map of its writing to a plane in front of the arm."""
    clips = load_mocap("arm")
    rows = np.linspace(150, 450, n_samples).astype(int)
    markers = markers_from_positions(joint_positions(clips.joint_names, clips.positions[rows]))
    u, v = [np.cos(turn), 0, -np.sin(turn)], [0, -1.0, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mapping = plane_map(markers.finger, begin, u, v, scale=1.2, right=[-1, 0, 0], up=[0, 0, 1])
    return markers, mapping


@real_data
@pytest.mark.parametrize("turn", [0.0, 0.5])
def test_real_chalkboard_writing(arm, turn):
    """79_31 on planes in front of the arm: every sample to 1e-6 m."""
    markers, mapping = writing_on_a_plane([0.1, 0.1, 0.62], turn, 25)
    run = transfer(arm, markers, mapping).execution
    assert run.converged.all() and run.tip_error.max() < 1e-6
    assert arm.inside_limits(run.q).all()


@real_data
@pytest.mark.parametrize(
    ("begin", "turn"),
    [
        ((0.1, 0.1, 0.62), 0.5),
        ((0.3, 0.1, 0.55), 0.5),
        ((0.35, 0.2, 0.45), 0.5),
        ((0.0, 0.25, 0.6), -0.4),
    ],
)
@pytest.mark.parametrize("solver", ["slsqp", "trust_qp", "gauss_newton"])
def test_every_solver_follows_where_limits_are_met(arm, begin, turn, solver):
    """Planes on which joints run into their limits, and steps into each other's way."""
    if solver == "trust_qp":
        pytest.importorskip("daqp", reason="trust_qp needs the extra `imitation`")
    markers, mapping = writing_on_a_plane(begin, turn, 12)
    start = transfer(arm, markers[:2], mapping).start  # one for all
    left, elbow = mapping(markers.left_shoulder), mapping(markers.elbow)
    normals = posture_normals(left, elbow, mapping.target)
    run = follow(
        arm,
        mapping(markers.finger),
        normals,
        left.mean(axis=0),
        mapping.target,
        start,
        alpha=0.01,
        solver=solver,
    )
    assert run.converged.all() and run.tip_error.max() < 1e-6
    assert arm.inside_limits(run.q).all()
