"""Oracles: finite differences, dense matrices, a dense programme, closed forms, limits sample by sample."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime, lsq_linear, minimize

from isthmus.applications.imitation import (
    ArmClip,
    Markers,
    Retargeter,
    make_clip,
    pa10,
    read_urdf,
    to_urdf,
    track,
    transfer,
)
from isthmus.applications.imitation.clip_solver import (
    PathLimits,
    assemble,
    solve_path,
)
from isthmus.applications.imitation.clips import MOUNTING
from isthmus.applications.imitation.clock import interval_times, read_clock, sampled
from isthmus.applications.imitation.goals import MOUNTINGS
from isthmus.applications.imitation.limb_task import Goal, LimbTask, angle_between
from isthmus.applications.imitation.streaming import SinglePosture, solve_box

EASY = {"directions": 1.0, "hand": 0.5, "tip": 2.0, "normal": 0.7}


@pytest.fixture(scope="module")
def clip():
    slow = make_clip(120, random_state=3)
    return ArmClip("slow", slow.upper, slow.fore, fps=10.0)


def unit(rng, n):
    x = rng.standard_normal((n, 3))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def markers_of(clip, side="right", lengths=(0.3, 0.25, 0.1), hand=None, turn=0.0):
    """Markers of a person with these limbs who has turned by an angle and walked off."""
    n = len(clip)
    sign = -1.0 if side == "right" else 1.0
    hand = clip.fore if hand is None else hand
    shoulder = np.tile([0.18 * sign, 0, 1.4], (n, 1))
    elbow = shoulder + lengths[0] * clip.upper
    wrist = elbow + lengths[1] * clip.fore
    other = shoulder * [-1, 1, 1]
    left, right = (other, shoulder) if side == "right" else (shoulder, other)
    c, s = np.cos(turn), np.sin(turn)
    R = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    places = [
        x @ R.T + [1.0, 2.0, 0] for x in (left, right, elbow, wrist + lengths[2] * hand, wrist)
    ]
    return Markers(*places, side=side)


# -- parts ------------------------------------------------------------------------------------


def test_residuals_have_the_derivatives_that_finite_differences_have():
    rng = np.random.default_rng(0)
    arm = read_urdf(to_urdf(pa10(base_offset=0.2)))
    retargeter = Retargeter(arm, weights=EASY)
    task = LimbTask(arm, retargeter.places, EASY, np.array([0, 0.6, 0.8]))
    goal = Goal(
        *(unit(rng, 1) for _ in range(4)),
        tip=rng.standard_normal((1, 3)),
        normal=unit(rng, 1),
        left=np.array([-0.3, 0.1, 0.05]),
        reference=np.array([0.1, -0.2, 0.7]),
    )
    for q in arm.random_postures(5, 1):
        r, J = task.rows(q[None], goal)
        numeric = approx_fprime(q, lambda x: task.rows(x[None], goal)[0][0], 1e-7)
        assert r.shape == (1, 18)
        assert_allclose(J[0], numeric, atol=3e-6)
        cost, slope, _ = task.comfort(q)
        assert_allclose(2 * slope, approx_fprime(q, lambda x: task.comfort(x)[0], 1e-7), atol=1e-6)
        assert cost >= 0


def test_a_single_posture_is_one_of_many():
    for arm in (pa10(base_offset=0.3), read_urdf(to_urdf(pa10()))):
        places = Retargeter(arm).places
        single = SinglePosture(arm, places)
        for q in arm.random_postures(10, 0):
            for ours, theirs in zip(single(q), arm.limb(q[None], places)):
                assert_allclose(ours, theirs, atol=1e-14)


def test_the_band_is_the_dense_matrix():
    rng = np.random.default_rng(0)
    n, m = 6, 3
    H = rng.standard_normal((n, m, m))
    H = H @ H.transpose(0, 2, 1)
    w1, w2 = rng.uniform(size=(n - 1, m)), rng.uniform(size=(n - 2, m))
    dense = np.zeros((n * m, n * m))
    for i in range(n):
        dense[i * m : i * m + m, i * m : i * m + m] = H[i]
    for order, w in ((1, w1), (2, w2)):
        D = np.kron(np.diff(np.eye(n), n=order, axis=0), np.eye(m))
        dense += D.T @ np.diag(w.ravel()) @ D
    band = assemble(H, w1, w2)
    for d in range(2 * m + 1):
        assert_allclose(band[d, : n * m - d], np.diagonal(dense, -d), atol=1e-14)


def test_limits_that_bind_give_the_minimum_of_a_dense_programme():
    rng = np.random.default_rng(1)
    n, m = 7, 2
    H = rng.standard_normal((n, m, m))
    H = H @ H.transpose(0, 2, 1) + 0.1 * np.eye(m)
    g = rng.standard_normal((n, m))
    limits = PathLimits(np.full(m, -0.8), np.full(m, 0.6), np.full(m, 0.3), np.full(m, 0.2))

    def rows(q):
        turned = np.einsum("nij,nj->ni", H, q)
        return (q * (turned + 2 * g)).sum(axis=1) + 100.0 / n, turned + g, H

    found = solve_path(rows, np.zeros((n, m)), 0.05, limits, tol=1e-5)
    again = solve_path(rows, found, 0.05, limits, tol=1e-5)
    assert found.converged and again.converged and again.n_iter < found.n_iter / 2
    ours = found.q
    assert limits.inside(ours)
    D1, D2 = (np.kron(np.diff(np.eye(n), n=k, axis=0), np.eye(m)) for k in (1, 2))
    A = np.vstack([np.eye(n * m), D1, D2])
    high = np.concatenate([np.full(n * m, 0.6), np.full(len(D1), 0.3), np.full(len(D2), 0.2)])
    low = np.concatenate([np.full(n * m, -0.8), -high[n * m :]])

    def value(x):
        rows = x.reshape(n, m)
        return (
            (g * rows).sum()
            + 0.5 * np.einsum("ni,nij,nj", rows, H, rows)
            + 0.025 * ((D2 @ x) ** 2).sum()
        )

    peer = minimize(
        value,
        np.zeros(n * m),
        constraints=[
            {"type": "ineq", "fun": lambda x: A @ x - low, "jac": lambda x: A},
            {"type": "ineq", "fun": lambda x: high - A @ x, "jac": lambda x: -A},
        ],
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert peer.success
    # The duality gap ends at a thousandth of the cost, which has 100 added.
    for x in (ours, again.q):
        assert -1e-9 < 2 * (value(x.ravel()) - peer.fun) < 1e-3 * found.value


def test_a_path_without_limits_is_the_dense_least_squares_solution():
    rng = np.random.default_rng(2)
    n, m = 12, 2
    wanted = rng.standard_normal((n, m)).cumsum(axis=0)
    free = np.full(m, np.inf)

    def rows(q):
        r = q - wanted
        return (r * r).sum(axis=1), r, np.tile(np.eye(m), (n, 1, 1))

    found = solve_path(rows, np.zeros((n, m)), 3.0, PathLimits(-free, free, free, free), tol=1e-9)
    D = np.diff(np.eye(n), n=2, axis=0)
    assert found.converged
    assert_allclose(found.q, np.linalg.solve(np.eye(n) + 3 * D.T @ D, wanted), atol=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_a_programme_in_a_box(seed):
    rng = np.random.default_rng(seed)
    A, b = rng.standard_normal((9, 5)), rng.standard_normal(9)
    low, high = -rng.uniform(0, 0.3, 5), rng.uniform(0, 0.3, 5)
    ours = solve_box(A.T @ A, -A.T @ b, low, high)
    peer = lsq_linear(A, b, (low, high), tol=1e-14, method="bvls").x
    assert_allclose(ours, peer, atol=1e-8)


# -- whole clips ------------------------------------------------------------------------------


def assert_within_limits(arm, q, dt, velocity, acceleration):
    assert arm.inside_limits(q, tol=1e-12).all()
    assert (np.abs(np.diff(q, axis=0)) <= velocity * dt * (1 + 1e-9)).all()
    assert (np.abs(np.diff(q, n=2, axis=0)) <= acceleration * dt**2 * (1 + 1e-6)).all()


def test_directions_are_those_of_the_closed_form(clip):
    arm = pa10()
    done = Retargeter(arm, mounting="forward", smoothing=0.0, velocity=50.0).retarget(clip)
    exact = arm.points(clip.postures(arm))
    goal_u, goal_v = clip.upper @ MOUNTING, clip.fore @ MOUNTING
    closed = [angle_between(exact[:, 2], goal_u), angle_between(exact[:, 4] - exact[:, 2], goal_v)]
    assert done.converged and done.reached.all()
    assert np.degrees(np.mean(done.errors["upper"])) < np.degrees(closed[0].mean()) + 0.3
    assert np.degrees(np.mean(done.errors["fore"])) < np.degrees(closed[1].mean()) + 0.3


@pytest.mark.parametrize("limits", [(1.0, 4.0), (3.0, np.inf), (0.5, 2.0)])
@pytest.mark.parametrize("smoothing", [0.0, 0.03])
def test_no_sample_exceeds_a_limit(clip, limits, smoothing):
    arm = pa10()
    velocity, acceleration = limits
    rate = None if np.isinf(acceleration) else acceleration
    retargeter = Retargeter(arm, velocity=velocity, acceleration=rate, smoothing=smoothing)
    for speed in (1.0, 0.2):  # at the clip's pace, and five times as fast as that
        done = retargeter.retarget(clip, slowdown=speed)
        assert_within_limits(arm, done.q, done.dt, velocity, acceleration)
    slow = retargeter.retarget(clip, slowdown="auto")
    assert_within_limits(arm, slow.q, slow.dt, velocity, acceleration)
    assert slow.dt == 1 / clip.fps and slow.slowdown >= 1 - 1e-9
    assert slow.errors["fore"].mean() <= done.errors["fore"].mean()


def test_the_clock_is_slow_only_where_limits_bind():
    n, dt, free = 60, 0.1, np.full(2, np.inf)
    q = np.zeros((n, 2))
    q[30:40, 0] = np.linspace(0, 9, 10)  # 10 rad/s for a second
    q[40:, 0] = 9.0
    times = interval_times(q, dt, np.array([2.0, np.inf]), free)
    assert_allclose(times[:27], dt)
    assert_allclose(times[42:], dt)
    assert (times[30:39] >= 0.5).all() and times.sum() < 5.1 + 12 * 0.52
    places = read_clock(times, dt)
    assert places[0] == 0 and places[-1] == n - 1 and (np.diff(places) > 0).all()
    assert (
        np.abs(np.diff(sampled(q, places)[:, 0])).max() < 1.25 * 2.0 * dt
    )  # its spline swings a little
    assert_allclose(read_clock(np.full(n - 1, dt), dt), np.arange(n), atol=1e-9)
    gentle = interval_times(q, dt, free, np.array([8.0, np.inf]))
    speed = np.diff(q[:, 0]) / gentle
    assert (np.abs(np.diff(speed)) * 2 / (gentle[1:] + gentle[:-1]) < 8.0 * 1.0001).all()
    assert_allclose(gentle[:10], dt)


def test_a_clip_keeps_its_pace_but_for_one_quick_stretch(clip):
    """The middle is five times as quick, beyond the limits."""
    places = np.concatenate([np.arange(40), np.arange(40, 80, 5), np.arange(80, 120)])
    quick = ArmClip("quick", clip.upper[places], clip.fore[places], clip.fps)
    retargeter = Retargeter(pa10(), velocity=1.6)
    done = retargeter.retarget(quick, slowdown="auto")
    wanted = retargeter.goal(quick).between(done.clock * clip.fps)
    assert_allclose(retargeter.task.errors(done.q, wanted)["upper"], done.errors["upper"])
    assert_allclose(np.linalg.norm(wanted.upper, axis=1), 1.0)
    middle = (done.clock > 3.9) & (done.clock < 4.8)
    assert np.median(done.pace[middle[1:]]) > 1.3 * np.median(done.pace[~middle[1:]])
    assert np.degrees(done.errors["upper"].mean()) < 2
    full = retargeter.retarget(quick)
    assert full.slowdown == pytest.approx(1.0) and len(full.q) == len(quick)
    assert full.errors["upper"].mean() > 1.5 * done.errors["upper"].mean()


@pytest.mark.parametrize("objective", ["tip", "weighted"])
def test_a_tip_that_is_asked_for_is_met(clip, objective):
    arm = pa10()
    retargeter = Retargeter(arm, objective=objective, velocity=20.0)
    markers = markers_of(clip, turn=0.7)
    done = retargeter.retarget(markers, clip.fps)
    assert done.errors["tip"].max() < 1e-4
    assert done.reached.all() and done.converged
    u, v = clip.upper @ retargeter.mounting, clip.fore @ retargeter.mounting
    target = 0.45 * u + 0.58 * v  # each limb with the arm's own length, the hand along the forearm
    tip = arm.points(done.q)[:, 6]
    assert_allclose(tip, target, atol=1e-4)


def test_a_tip_that_the_limits_keep_away_is_given_more_time():
    made = make_clip(120, random_state=5)
    fast = ArmClip("fast", made.upper, made.fore, fps=10.0)
    retargeter = Retargeter(pa10(), objective="weighted", velocity=1.0)
    done = retargeter.retarget(fast, slowdown="auto")
    assert np.mean(done.reachable & ~done.reached) <= 0.005
    assert_within_limits(retargeter.arm, done.q, done.dt, 1.0, np.inf)
    full = retargeter.retarget(fast)
    assert np.mean(full.reachable & ~full.reached) > 0.02


def test_the_normals_of_the_thesis_are_an_objective(clip):
    markers = markers_of(clip)
    arm = pa10()
    done = Retargeter(arm, objective="normal", mounting="forward", velocity=20.0).retarget(
        markers, clip.fps
    )
    old = transfer(arm, markers[:3])
    reach = np.linalg.norm(old.mapping(markers.finger), axis=1)
    inside = (reach > arm.reach[0] + 0.05) & (reach < arm.reach[1] - 0.02)
    assert done.errors["tip"][inside].max() < 1e-3
    assert np.median(done.errors["normal"]) < 0.05


def test_heading_and_place_of_the_person_do_not_matter(clip):
    arm = pa10()
    retargeter = Retargeter(arm)
    straight, turned = (retargeter.goal(markers_of(clip, turn=angle)) for angle in (0.0, 2.1))
    assert_allclose(straight.upper, turned.upper, atol=1e-12)
    assert_allclose(straight.upper, clip.upper @ MOUNTINGS["side"], atol=1e-12)


def test_a_left_arm_is_the_mirror_of_a_right_one(clip):
    mirror = np.array([-1.0, 1, 1])
    mirrored = ArmClip("left", clip.upper * mirror, clip.fore * mirror, clip.fps)
    arm = pa10()
    left = Retargeter(arm, side="left").retarget(markers_of(mirrored, "left"), clip.fps)
    for name in ("upper", "fore"):
        assert np.degrees(left.errors[name].mean()) < 2
    with pytest.raises(ValueError, match="markers are of the left arm"):
        Retargeter(arm).retarget(markers_of(mirrored, "left"), clip.fps)


def test_the_hand_follows_where_markers_show_it(clip):
    rng = np.random.default_rng(0)
    hand = clip.fore + 0.3 * unit(rng, 1)
    hand /= np.linalg.norm(hand, axis=1, keepdims=True)
    arm = pa10()
    done = Retargeter(arm, velocity=20.0).retarget(markers_of(clip, hand=hand), clip.fps)
    assert np.degrees(done.errors["hand"].mean()) < 3
    places = markers_of(clip, hand=hand)
    thumb = places.wrist + 0.05 * np.cross(clip.upper, clip.fore) + 0.02 * clip.upper
    with_thumb = Markers(
        places.left_shoulder,
        places.right_shoulder,
        places.elbow,
        places.finger,
        places.wrist,
        thumb,
    )
    done = Retargeter(arm, velocity=50.0, palm=[0, 1, 0]).retarget(with_thumb, clip.fps)
    assert np.degrees(np.median(done.errors["palm"])) < 10


def test_unreachable_samples_are_told_and_nothing_jumps(clip):
    arm = pa10()
    upper = clip.upper.copy()
    upper[40:60] = [1.0, 0, 0]  # through the trunk to the left: beyond the second joint's range
    strange = ArmClip("strange", upper, clip.fore, clip.fps)
    done = Retargeter(arm, velocity=2.0).retarget(strange)
    assert not done.reachable[40:60].any() and not done.reached[40:60].any()
    assert_within_limits(arm, done.q, done.dt, 2.0, np.inf)


def test_straight_elbows_and_the_pole_are_passed_smoothly():
    t = np.linspace(-0.5, 0.5, 101)
    M = MOUNTINGS["forward"]
    over_pole = np.stack([np.sin(t), 1e-9 + 0 * t, np.cos(t)], axis=1)  # through the first axis
    clip = ArmClip("pole", over_pole @ M.T, over_pole @ M.T, fps=30.0)
    done = Retargeter(pa10(), mounting="forward").retarget(clip)
    assert np.degrees(done.errors["upper"].max()) < 2
    assert np.abs(done.velocity).max() < 1.0  # the directions turn by 0.3 rad/s


def test_an_arm_from_a_file_does_what_the_table_does(clip):
    arm, read = pa10(), read_urdf(to_urdf(pa10()))
    for name in ("upper", "fore"):
        ours = Retargeter(arm).retarget(clip).errors[name]
        theirs = Retargeter(read).retarget(clip).errors[name]
        assert_allclose(ours, theirs, atol=1e-6)
    moved = transfer(read, markers_of(clip)[:4])
    assert moved.execution.converged.all()
    reached = track(read, moved.targets, moved.start).converged
    assert (moved.execution.converged | ~reached).all()


# -- sample by sample -------------------------------------------------------------------------


@pytest.mark.parametrize("acceleration", [None, 5.0])
def test_a_stream_follows_within_the_limits(clip, acceleration):
    arm = pa10()
    retargeter = Retargeter(arm, velocity=1.5, acceleration=acceleration)
    markers = markers_of(clip)
    retargeter.reset(np.zeros(7))
    rows = []
    for i in range(len(clip)):
        names = ("left_shoulder", "right_shoulder", "elbow", "wrist")
        rows.append(retargeter.step({name: getattr(markers, name)[i] for name in names}, 0.1))
    q = np.array([np.zeros(7), *(row.q for row in rows)])
    assert_within_limits(arm, q, 0.1, 1.5, np.inf if acceleration is None else acceleration)
    late = [row.errors["fore"] for row in rows[40:]]
    assert np.degrees(np.median(late)) < (3 if acceleration is None else 8)
    assert rows[-1].reached == (max(rows[-1].errors.values()) <= np.radians(2))


def test_a_stream_at_rest_meets_its_goal(clip):
    retargeter = Retargeter(pa10())
    goal = retargeter.goal(clip)[60:61]
    for _ in range(40):
        row = retargeter.step(goal, 0.05)
    assert row.reached
    assert np.abs(row.velocity).max() < 1e-2


# -- messages ---------------------------------------------------------------------------------


def test_what_is_wrong_with_markers_is_named(clip):
    good = markers_of(clip)
    retargeter = Retargeter(pa10())

    def changed(name, values):
        return Markers(**{k: values if k == name else v for k, v in good._given()})

    bad = good.elbow.copy()
    bad[7] = good.right_shoulder[7]
    with pytest.raises(ValueError, match=r"upper arm has length .* at sample 7"):
        retargeter.retarget(changed("elbow", bad), 10)
    bad = good.wrist.copy()
    bad[[5, 9]] = np.nan
    with pytest.raises(ValueError, match=r"wrist .* NaN or infinite in 2 samples, the first is 5"):
        changed("wrist", bad)
    millimetres = Markers(**{k: 1000 * v for k, v in good._given()})
    with pytest.raises(ValueError, match=r"550 m from shoulder to wrist, .* metres"):
        retargeter.retarget(millimetres, 10)
    with pytest.raises(ValueError, match="1 sample, must have at least 2"):
        retargeter.retarget(good[:1], 10)
    with pytest.raises(ValueError, match="fps == None"):
        retargeter.retarget(good)
    with pytest.raises(ValueError, match="marker 'wrists' is unknown"):
        retargeter.step({"wrists": np.zeros(3)}, 0.1)
    with pytest.raises(ValueError, match="dt == 0"):
        retargeter.step(retargeter.goal(clip)[:1], 0)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"objective": "x"}, "objective == 'x'"),
        ({"side": "both"}, "side == 'both'"),
        ({"mounting": "down"}, "mounting == 'down'"),
        ({"mounting": 2 * np.eye(3)}, "must be a .3, 3. rotation"),
        ({"weights": {"nose": 1}}, "weights has 'nose'"),
        ({"velocity": -1}, "velocity == -1"),
        ({"elbow": "knee"}, "point == 'knee'"),
        ({"elbow": "wrist"}, "lengths"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        Retargeter(pa10(), **options)
