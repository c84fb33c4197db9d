"""Oracles: painted pictures whose answer is known, invariances, a rendered actor."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from isthmus.applications.imitation import (
    Camera,
    Codebook,
    Histograms,
    NoActorError,
    SkinModel,
    SoftMaps,
    foreground,
    region,
    shape_contexts,
    watch,
)
from isthmus.applications.imitation.pictures import skin_histograms
from isthmus.applications.imitation.vision import contour_points, crop, hull_points
from isthmus.kernels import HistogramIntersection

cv2 = pytest.importorskip("cv2", reason="opencv is not installed")
SKIN, SHIRT, WALL = (220, 160, 130), (60, 100, 160), (180, 190, 180)


def painted(hand=(30, 40), shift=(0, 0), noise=0, person=True):
    """A person of rectangles: trunk, head, and an arm that ends in a hand."""
    rng = np.random.default_rng(0)
    image = np.full((160, 160, 3), WALL, dtype=np.uint8)
    dx, dy = shift
    if person:
        cv2.rectangle(image, (65 + dx, 60 + dy), (95 + dx, 140 + dy), SHIRT, -1)
        cv2.circle(image, (80 + dx, 45 + dy), 12, SKIN, -1)
        cv2.line(image, (66 + dx, 68 + dy), (hand[0] + dx, hand[1] + dy), SKIN, 7)
    if noise:
        image = np.clip(image + rng.normal(scale=noise, size=image.shape), 0, 255).astype(np.uint8)
    return image


@pytest.fixture
def background():
    return painted(person=False)


@pytest.fixture
def skin():
    rng = np.random.default_rng(1)
    return SkinModel.from_pixels(np.array(SKIN) + rng.normal(scale=3, size=(40, 3)))


def test_foreground_is_the_person(background):
    mask = foreground(painted(noise=3), background)
    truth = (painted() != background).any(axis=2)
    assert (mask != truth).mean() < 0.01


def test_regions_hold_the_person(background):
    mask = foreground(painted(), background)
    left, top, right, bottom = region(mask)
    assert mask[top:bottom, left:right].sum() == mask.sum()
    assert (
        mask[top].any()
        and mask[:, left].any()
        and mask[bottom - 1].any()
        and mask[:, right - 1].any()
    )
    a = region(mask, "torso")
    b = region(foreground(painted(hand=(25, 100)), background), "torso")
    assert max(abs(x - y) for x, y in zip(a, b)) <= 3  # the box does not follow the arm
    assert a[0] < left and a[1] < top


def test_a_box_that_sticks_out_is_filled_with_nothing():
    mask = np.ones((20, 20), dtype=np.uint8)
    out = crop(mask, (-20, 0, 20, 20), 40)
    assert_array_equal(out[:, :20], 0)
    assert_array_equal(out[:, 20:], 1)


def test_skin_is_found_inside_the_person_alone(background, skin):
    image = painted(noise=2)
    cv2.rectangle(image, (130, 5), (150, 15), SKIN, -1)  # skin-coloured, and part of the background
    room = background.copy()
    cv2.rectangle(room, (130, 5), (150, 15), SKIN, -1)
    person = foreground(image, room)
    found = skin.mask(image, person)
    truth = (painted() == SKIN).all(axis=2)
    assert found[truth].mean() > 0.6 and found[~truth].mean() < 0.02
    assert found[5:16, 130:151].sum() == 0


def test_the_share_of_skin_pixels_is_that_of_the_threshold():
    rng = np.random.default_rng(0)
    cov = np.diag([30.0, 40.0, 50.0])
    pixels = rng.multivariate_normal(SKIN, cov, size=4000)
    model = SkinModel.from_pixels(pixels)
    assert_allclose(np.linalg.inv(model.precision), np.cov(pixels.T, bias=True) + 4 * np.eye(3))
    away = rng.multivariate_normal(SKIN, cov + 4 * np.eye(3), size=4000) - model.mean
    inside = np.einsum("ni,ij,nj->n", away, model.precision, away) < 11.345
    assert abs(inside.mean() - 0.99) < 0.006


def test_skin_histograms_count_every_pixel_twice():
    mask = np.zeros((100, 100), dtype=np.uint8)
    mask[12:15, 95:99] = 1
    h = skin_histograms(mask)
    assert_array_equal(np.flatnonzero(h), [9, 11])
    assert h[:10].sum() == h[10:].sum() == 12


# -- shape ------------------------------------------------------------------------------------


def test_context_of_a_corner():
    contexts = shape_contexts([(0, 0), (10, 0), (0, 10), (10, 10)])
    assert_array_equal(np.flatnonzero(contexts[0]), [12, 16, 17])
    assert contexts[0].sum() == 3


def test_contexts_by_a_loop():
    rng = np.random.default_rng(0)
    points = rng.uniform(0, 100, size=(12, 2))
    distances = cdist(points, points)
    mean = distances.sum() / (12 * 11)
    expected = np.zeros((12, 30))
    for i in range(12):
        for j in range(12):
            ring = int(np.log(1 + distances[i, j] / mean) / 0.3)
            if i != j and ring < 5:
                dx, dy = points[j] - points[i]
                angle = np.arctan2(-dy, dx) % (2 * np.pi)
                expected[i, 6 * ring + int(angle / (np.pi / 3))] += 1
    assert_array_equal(shape_contexts(points), expected)


def test_contexts_do_not_change_with_shift_and_scale():
    points = np.random.default_rng(2).integers(0, 50, size=(30, 2)).astype(float)
    assert_array_equal(shape_contexts(points), shape_contexts(4 * points + [8, -16]))


def test_contour_points_are_evenly_spaced():
    mask = np.zeros((60, 60), dtype=np.uint8)
    mask[10:50, 20:40] = 1
    points = contour_points(mask, 50)
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    assert_allclose(steps, steps.mean(), rtol=0.35)
    assert points[:, 0].min() == 20 and points[:, 1].max() == 49
    hull = hull_points(mask, 10)
    assert len(hull) == 10 and len(np.unique(hull, axis=0)) == 10


def test_codebook_covers_its_sample_with_few_centres():
    rng = np.random.default_rng(0)
    contexts = rng.integers(0, 8, size=(300, 30)).astype(float)
    book = Codebook.fit(contexts, max_centres=40, random_state=0)
    assert 1 < len(book.centres) <= 40
    h = book.histogram(contexts[:25])
    assert h.sum() == 25
    nearest = [np.abs(book.centres - c).sum(axis=1).argmin() for c in contexts[:25]]
    assert_array_equal(h, np.bincount(nearest, minlength=len(book.centres)))


# -- vectors ----------------------------------------------------------------------------------


def views(background, skin, hands=((30, 40), (40, 100), (20, 70), (60, 120))):
    camera = Camera(background, skin)
    return watch(camera, [painted(hand, noise=2) for hand in hands])[0]


def test_the_kernel_of_the_vectors_is_the_sum_of_the_kernels(background, skin):
    seen = views(background, skin)
    features = Histograms(beta=0.3).fit(seen)
    X = features.transform(seen)
    k = HistogramIntersection()
    colour, shape = X[:, :20], X[:, 20:] / 0.3
    assert_allclose(k(X), k(colour) + 0.3 * k(shape))
    assert_allclose(shape.sum(axis=1), 1)
    assert_allclose(colour.sum(axis=1).mean(), 2)


def test_a_picture_without_skin_stays_zero_in_colour(background, skin):
    seen = views(background, skin)
    features = Histograms().fit(seen)
    bare = painted()
    bare[(bare == SKIN).all(axis=2)] = SHIRT
    vector = features.vector(Camera(background, skin).view(bare))
    assert vector[:20].sum() == 0 and vector[20:].sum() > 0


def test_tight_views_do_not_change_with_a_shift(background, skin):
    camera = Camera(background, skin)
    a, b = camera.view(painted()), camera.view(painted(shift=(8, 6)))
    assert_array_equal(a.person, b.person)
    assert_array_equal(SoftMaps().vector(a), SoftMaps().vector(b))
    assert SoftMaps().vector(a).shape == (512,)


def test_coloured_light_is_undone_by_the_background(background, skin):
    tint = np.array([1.0, 0.8, 0.6])
    warm, warm_room = ((im * tint).astype(np.uint8) for im in (painted(), background))
    truth = Camera(background, skin).view(painted()).n_skin
    assert Camera(warm_room, skin).view(warm).n_skin < 0.2 * truth
    balanced = Camera(warm_room, skin, reference=background)
    assert balanced.view(warm).n_skin > 0.9 * truth


# -- errors -----------------------------------------------------------------------------------


def test_light_that_changed_since_the_background_was_taken(background, skin):
    """A channel that is dimmed is brought back: the views are nearly those of the old light."""
    image = painted(noise=2)
    dimmed = np.round(image * [1.0, 0.8, 0.6]).astype(np.uint8)
    wanted = Camera(background, skin).view(image)
    off = Camera(background, skin).view(dimmed)
    seen = Camera(background, skin, follow_light=True).view(dimmed)
    assert (seen.person != wanted.person).mean() < 0.02 < (off.person != wanted.person).mean()
    assert abs(seen.n_skin - wanted.n_skin) < 0.1 * wanted.n_skin
    with pytest.raises(ValueError, match="must be equal"):
        Camera(background, skin, follow_light=True).view(image[:50])


def test_the_box_at_the_trunk_grows_with_the_person(background):
    mask = foreground(painted(), background)
    half = cv2.resize(mask, (80, 80), interpolation=cv2.INTER_NEAREST)
    assert (
        np.abs(np.subtract(region(mask, "torso"), np.multiply(2, region(half, "torso")))).max() <= 6
    )


def test_maps_without_skin_see_the_outline_alone(background, skin):
    view = Camera(background, skin).view(painted())
    both, alone = SoftMaps().vector(view), SoftMaps(skin=False).vector(view)
    assert_array_equal(alone, both[256:])
    assert SoftMaps().uses_skin and not SoftMaps(skin=False).uses_skin


def test_images_of_another_kind_are_refused(background):
    with pytest.raises(ValueError, match=r"image has shape \(80, 160, 3\) and background"):
        foreground(background[:80], background)
    with pytest.raises(ValueError, match="uint8 RGB"):
        foreground(background.astype(float), background)
    with pytest.raises(ValueError, match=r"background has shape .* uint8 RGB"):
        foreground(background, background[..., 0])


def test_nobody_is_an_error_and_an_empty_view_in_streams(background, skin):
    with pytest.raises(NoActorError, match="0 pixels, a person has at least 50"):
        foreground(background, background)
    seen, shown = watch(Camera(background, skin), [painted(), background])
    assert_array_equal(shown, [True, False])
    assert seen[1].n_skin == 0 and not seen[1].person.any()


def test_too_few_skin_pixels_are_refused():
    with pytest.raises(ValueError, match="n >= 4"):
        SkinModel.from_pixels(np.zeros((3, 3)))
    with pytest.raises(ValueError, match=r"\(500, 3\) is outside the 160 x 160"):
        SkinModel.from_places(painted(), [(500, 3)])
    assert_allclose(SkinModel.from_places(painted(), [(80, 45)]).mean, SKIN)


def test_points_without_a_shape_are_refused():
    with pytest.raises(ValueError, match="n >= 2 edge points"):
        shape_contexts([[1.0, 2.0]])
    with pytest.raises(ValueError, match="all 5 edge points coincide"):
        shape_contexts(np.ones((5, 2)))


def test_negative_histograms_are_refused():
    with pytest.raises(ValueError, match="must be >= 0"):
        HistogramIntersection()([[1.0, -1.0]])


def test_options_are_checked():
    with pytest.raises(ValueError, match="roi == 'face'"):
        region(np.ones((5, 5), dtype=np.uint8), "face")
    with pytest.raises(ValueError, match="points == 'all'"):
        Histograms(points="all")
