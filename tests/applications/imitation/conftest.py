"""One lesson for all tests that need a taught imitator; skipped where nothing can be rendered."""

import numpy as np
import pytest

from isthmus.applications.imitation import make_clip, pa10


@pytest.fixture(scope="session")
def renderer():
    """Skip with the reason where MuJoCo, OpenCV or the graphics library is missing."""
    from isthmus.applications.imitation.extras import check_installed

    try:
        check_installed()
    except ImportError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def lesson(renderer):
    """An imitator by soft maps and an unseen clip, with its pictures' views and true postures."""
    from isthmus.applications.imitation import Film, watch
    from isthmus.applications.imitation.teaching import teach

    arm = pa10()
    taught = teach(arm, [make_clip(1000, random_state=0)], n_labels=60, n_unlabelled=30)
    clip = make_clip(400, random_state=7)[::10]
    with Film(random_state=2) as film:
        images = film.clip_frames(clip)
    views, shown = watch(taught.camera, images)
    assert np.all(shown)
    return taught, clip, images, views
