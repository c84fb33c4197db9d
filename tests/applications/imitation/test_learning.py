"""Oracles: true postures of rendered clips, optimality conditions, a direct search, kernel ridge."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime, minimize
from scipy.spatial.transform import Rotation
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from isthmus import DependencyRegressor, KernelMap
from isthmus.applications.imitation import (
    ConstrainedPosture,
    Imitator,
    View,
    constrained_postures,
    dense_path,
    make_clip,
    pa10,
)
from isthmus.applications.imitation.actor import Scene, actor_mjcf, standing_qpos, turning
from isthmus.applications.imitation.pictures import PictureFeatures
from isthmus.applications.imitation.teaching import point_errors
from isthmus.kernels import check_precomputed
from isthmus.kernels.postures import PoseKernel

ROWS = np.radians([[30, 45, -60, 75, 120, -45, 10], [-100, 20, 80, -110, -200, 60, -30]])


@pytest.fixture
def arm():
    return pa10()


@pytest.fixture
def postures(arm):
    return make_clip(60, random_state=0).postures(arm)


# -- the pose kernel --------------------------------------------------------------------------


def test_value_of_the_pose_kernel(arm):
    assert_allclose(PoseKernel(arm)(ROWS)[0, 1], -0.61921515, atol=1e-8)


@pytest.mark.parametrize("base", ["linear", "gaussian"])
def test_pose_kernel_follows_the_protocol(arm, base):
    k = PoseKernel(arm, base=base)
    q = arm.random_postures(30, 0)
    K = k(q)
    assert_allclose(np.diag(K), k.diag(q))
    assert_allclose(k(q[:5], q), K[:5], atol=1e-12)
    assert np.linalg.eigvalsh(K)[0] > -1e-10
    assert_allclose(clone(k)(q), K)
    assert_allclose((k + k)(q), 2 * K)


@pytest.mark.parametrize("base", ["linear", "gaussian"])
def test_pose_kernel_gradients(arm, base):
    k = PoseKernel(arm, base=base)
    q = arm.random_postures(6, 1)
    W = np.random.default_rng(0).normal(size=(2, 4))
    gradient = k.weighted_gradient(q[:2], q[2:], W)
    for t in range(2):
        numeric = approx_fprime(q[t], lambda z, t=t: (k(z[None], q[2:]) @ W[t])[0], 1e-7)
        assert_allclose(gradient[t], numeric, atol=1e-5)
        numeric = approx_fprime(q[t], lambda z: k.diag(z[None])[0], 1e-7)
        assert_allclose(k.diagonal_gradient(q[:2])[t], numeric, atol=1e-5)


def test_rank_of_the_pose_kernel(arm, postures):
    k = PoseKernel(arm)
    assert np.linalg.matrix_rank(k(arm.random_postures(50, 0)), tol=1e-9) == 9
    assert np.linalg.matrix_rank(k(postures), tol=1e-9) == 6  # with a straight hand
    assert_allclose(k.features(ROWS) @ k.features(ROWS).T, k(ROWS))


def test_bad_weights_are_refused(arm):
    with pytest.raises(ValueError, match=r"weights\[1\] == -1.0, must be >= 0"):
        PoseKernel(arm, weights=(0, -1, 1, 1, 1, 1, 1))(ROWS)
    with pytest.raises(ValueError, match=r"weights has shape \(2,\)"):
        PoseKernel(arm, weights=(1, 1))(ROWS)
    with pytest.raises(ValueError, match="base == 'cubic'"):
        PoseKernel(arm, base="cubic")(ROWS)


def test_a_gram_matrix_must_be_square_and_symmetric():
    with pytest.raises(ValueError):
        check_precomputed(np.ones((3, 2)))
    with pytest.raises(ValueError):
        check_precomputed(np.array([[1.0, 2.0], [0.0, 1.0]]))


# -- pre-images -------------------------------------------------------------------------------


@pytest.fixture
def embedding(arm, postures):
    return KernelMap(kernel=PoseKernel(arm)).fit(postures)


def test_constrained_posture_of_a_true_point(arm, postures, embedding):
    psi = embedding.transform(postures[10:11])[0]
    start = postures[10] + 0.2
    solver = ConstrainedPosture(arm, embedding, lam=1e-9, free=[1, 1, 1, 1, 0, 0, 0])
    start[4:] = 0
    found = solver.solve(psi, arm.clip(start))
    assert solver.misfit(found, psi) < 1e-10
    assert_allclose(arm.points(found), arm.points(postures[10]), atol=1e-5)
    assert_array_equal(found[4:], 0)


def test_constrained_posture_is_a_minimum_within_the_limits(arm, postures, embedding):
    psi = 1.3 * embedding.transform(postures[25:26])[0]
    start = postures[3]
    solver = ConstrainedPosture(arm, embedding, lam=0.1)
    found = solver.solve(psi, start)

    def objective(q):
        scores = embedding.transform(q[None])[0]
        return ((scores - psi) ** 2).sum() + 0.1 * ((q - start) ** 2).sum()

    peer = minimize(objective, found, bounds=arm.limits, method="L-BFGS-B", options={"gtol": 1e-9})
    assert objective(found) <= peer.fun + 1e-7
    assert arm.inside_limits(found)


def test_walking_lowers_the_misfit_step_by_step(arm, postures, embedding):
    psi = embedding.transform(postures[40:41])[0]
    solver = ConstrainedPosture(arm, embedding, lam=0.3)
    way = solver.walk(psi, postures[0])
    misfits = [solver.misfit(q, psi) for q in way]
    assert len(way) > 2 and (np.diff(misfits) < 0).all() and misfits[-1] < 0.05 * misfits[0]
    assert arm.inside_limits(way).all()


def test_streams_begin_each_posture_at_the_last(arm, postures, embedding):
    psi = embedding.transform(postures[:5])
    q = constrained_postures(arm, embedding, psi, postures[0], lam=1e-6)
    assert np.linalg.norm(arm.points(q)[:, 6] - arm.points(postures[:5])[:, 6], axis=1).max() < 0.02
    with pytest.raises(ValueError, match="lam == -1"):
        constrained_postures(arm, embedding, psi, postures[0], lam=-1)
    with pytest.raises(ValueError, match="must be a linear PoseKernel"):
        ConstrainedPosture(arm, KernelMap().fit(postures))


def test_dense_path_passes_known_postures(arm):
    kernel = PoseKernel(arm)
    known = make_clip(400, random_state=3).postures(arm)
    start, end = known[0], known[200]
    straight = dense_path(start, end, known, kernel, max_insertions=0)
    path = dense_path(start, end, known, kernel, threshold=0.25)
    assert len(straight.via) == 0 and straight.worst > 0.25
    assert path.worst < straight.worst and 0 < len(path.via) <= 20
    assert len(np.unique(path.via)) == len(path.via)
    assert_allclose(path.q[[0, -1]], [start, end])
    d = kernel.diag(path.q)[:, None] + kernel.diag(known) - 2 * kernel(path.q, known)
    assert_allclose(np.sqrt(np.maximum(d, 0).min(axis=1).max()), path.worst)
    capped = dense_path(start, end, known, kernel, threshold=0.0, max_insertions=3)
    assert len(capped.via) == 3
    # Every way point is a sample, and each segment has its own 50.
    assert len(path.q) == 49 * (len(path.via) + 1) + 1
    assert_allclose(path.q[49::49][:-1], known[path.via], atol=1e-12)


# -- the imitator -----------------------------------------------------------------------------


class Directions(PictureFeatures):
    """Stands for pictures whose content is known: a view carries its vector in ``person``."""

    def fit(self, views):
        return self

    def vector(self, view):
        return view.person.astype(float)


def told(clip, n_skin=500):
    rows = np.concatenate([clip.upper, clip.fore], axis=1) + 1.0  # histograms are not negative
    return [View(row, np.ones(1), n_skin) for row in rows]


@pytest.mark.parametrize("road", ["histograms", "soft_maps"])
@pytest.mark.parametrize("preimage", ["nearest", "constrained"])
def test_directions_are_learned_by_both_roads(arm, road, preimage):
    train, test = make_clip(1000, random_state=0)[::5], make_clip(300, random_state=5)[::10]
    model = Imitator(
        arm,
        road=road,
        preimage=preimage,
        lam=1e-3,
        features=Directions(),
        library=make_clip(800, random_state=9).postures(arm),
    ).fit(told(train)[::4], train.postures(arm)[::4], told(train)[1::4])
    done = model.predict(told(test))
    errors = point_errors(arm, done.q, test.postures(arm), np.ones(30, dtype=bool))
    assert errors.tip < 0.6 * errors.constant_tip
    assert arm.inside_limits(done.q).all() and done.reliable.all()
    assert isinstance(model.model_, DependencyRegressor) and 1 <= model.n_components_ <= 6
    assert model.predict(told(train)[:1]).distance.max() < 1e-6


def test_pictures_that_tell_nothing_hold_the_last_posture(arm):
    clip = make_clip(60, random_state=0)
    model = Imitator(arm, road="soft_maps", features=Directions()).fit(
        told(clip), clip.postures(arm)
    )
    views = told(clip)[:6]
    views[2] = View(views[2].person, np.ones(1), 10)  # hardly any skin
    views[0] = View(np.zeros(6), np.ones(1), 500)  # nobody
    done = model.predict(views, start=np.full(7, 0.1))
    assert_array_equal(done.reliable, [False, True, False, True, True, True])
    assert_array_equal(done.q[0], np.full(7, 0.1))
    assert_array_equal(done.q[2], done.q[1])
    assert done.distance[2] == np.inf


def test_options_of_the_imitator_are_checked(arm):
    clip = make_clip(20, random_state=0)
    views, q = told(clip), clip.postures(arm)
    for options, message in (
        ({"road": "magic"}, "road == 'magic'"),
        ({"preimage": "magic"}, "preimage == 'magic'"),
        ({"lam": -1.0}, "lam == -1"),
        ({"n_components": 0}, "n_components == 0, must be >= 1"),
    ):
        with pytest.raises(ValueError, match=message):
            Imitator(arm, features=Directions(), **options).fit(views, q)
    with pytest.raises(ValueError, match="20 views and 3 postures"):
        Imitator(arm, features=Directions()).fit(views, q[:3])


def test_the_imitator_is_an_estimator(arm):
    model = Imitator(arm, road="soft_maps", lam=0.3, features=Directions())
    again = clone(model)
    assert again is not model and again.get_params()["lam"] == 0.3
    with pytest.raises(NotFittedError):
        again.predict(told(make_clip(3, random_state=0)))
    with pytest.raises(NotFittedError):
        again.compress()


# -- the rendered actor -----------------------------------------------------------------------


def test_the_actor_points_where_it_should(renderer):
    import mujoco

    scene = Scene()
    model = mujoco.MjModel.from_xml_string(actor_mjcf(scene))
    data = mujoco.MjData(model)
    upper, fore = np.array([-0.6, -0.64, 0.48]), np.array([0.0, -0.6, 0.8])
    data.qpos[:] = standing_qpos(scene, upper, fore)
    mujoco.mj_kinematics(model, data)
    shoulder, elbow, hand = (data.body(n).xpos for n in ("RightArm", "RightForeArm", "RightHand"))
    assert_allclose((elbow - shoulder) / np.linalg.norm(elbow - shoulder), upper, atol=1e-6)
    assert_allclose((hand - elbow) / np.linalg.norm(hand - elbow), fore, atol=1e-6)
    assert shoulder[0] < 0 < data.body("LeftArm").xpos[0]  # the right is -X
    assert 1.2 < shoulder[2] < 1.6 and data.body("Head").xpos[2] > shoulder[2]


def test_a_whole_body_is_filmed_as_its_motion_has_it(renderer):
    """A motion that turns the arms as the standing person does gives the same picture."""
    from isthmus.applications.imitation import Film, Motion, Scene
    from isthmus.applications.imitation.actor import standing_qpos

    scene = Scene(noise=0.0)
    skeleton = scene.skeleton
    upper, fore = np.array([-0.8, -0.6, 0.0]), np.array([0.0, -0.6, 0.8])
    values = np.zeros((2, skeleton.n_channels))
    turns = standing_qpos(scene, upper, fore)[7:].reshape(-1, 4)
    joints = [name for name in skeleton.names if not name.endswith("_end")]
    for name in ("LeftArm", "RightArm", "RightForeArm"):
        quaternion = np.roll(turns[joints.index(name) - 1], -1)
        begin = sum(len(c) for c in skeleton.channels[: skeleton.index(name)])
        values[1, begin : begin + 3] = Rotation.from_quat(quaternion).as_euler("ZYX", degrees=True)
    with Film(scene) as film:
        wanted = film.arm_frame(upper, fore)
        motion = Motion(skeleton, values, 1 / 30)
        spread, same = film.motion_frame(motion, 0), film.motion_frame(motion, 1)
    off = np.abs(same.astype(int) - wanted).max(axis=2)
    assert (off > 2).mean() < 1e-3  # rounding moves pixels of outlines
    assert (np.abs(spread.astype(int) - wanted).max(axis=2) > 30).mean() > 0.01  # the T pose


def test_the_shortest_turn():
    rng = np.random.default_rng(0)
    for a, b in [*rng.normal(size=(5, 2, 3)), ([1, 0, 0], [-1, 0, 0])]:
        a, b = np.asarray(a, float), np.asarray(b, float)
        assert_allclose(
            turning(a, b).apply(a / np.linalg.norm(a)), b / np.linalg.norm(b), atol=1e-7
        )


def test_learned_imitation_of_an_unseen_rendered_clip(lesson):
    taught, clip, _, views = lesson
    arm = taught.imitator.arm
    done = taught.imitator.predict(views)
    errors = point_errors(arm, done.q, clip.postures(arm), np.ones(len(clip), dtype=bool))
    assert errors.tip < 0.3 and errors.tip < 0.6 * errors.constant_tip
    assert_array_equal(done.q[:, 4:], 0)  # no label ever bent the wrist
    small = taught.imitator.compress()
    fewer = point_errors(arm, small.predict(views).q, clip.postures(arm), np.ones(len(clip), bool))
    n = taught.imitator.model_.to_expansion().n_points
    assert small.model_.to_expansion().n_points <= n // 3
    assert abs(fewer.tip - errors.tip) < 0.05


def test_the_chain_of_the_thesis_on_rendered_pictures(lesson):
    from isthmus.applications.imitation import watch

    taught, clip, _, views = lesson
    arm = taught.imitator.arm
    seen = watch(taught.camera, taught.label_images)[0]
    model = Imitator(arm, library=taught.imitator.library_).fit(seen, taught.labels, views)
    errors = point_errors(arm, model.predict(views).q, clip.postures(arm), np.ones(len(clip), bool))
    assert errors.tip < 0.8 * errors.constant_tip


def test_a_stream_with_an_empty_room(lesson):
    from isthmus.applications.imitation import watch

    taught, _, images, _ = lesson
    views, shown = watch(taught.camera, [images[0], taught.background, images[1]])
    done = taught.imitator.predict(views)
    assert_array_equal(shown, [True, False, True])
    assert_array_equal(done.reliable, shown)
    assert_array_equal(done.q[1], done.q[0])
