"""Pictures with the posture or the view that they show."""

from __future__ import annotations

import numpy as np
from sklearn.utils import Bunch

from isthmus.datasets.registry import SILHOUETTES, STATUE
from isthmus.datasets.store import read_arrays

# First rows of the seven sequences.
_BREAKS = (0, 100, 336, 405, 471, 1531, 1769)


def load_silhouette_pose() -> Bunch:
    """Load silhouettes of a moving person with the places of 21 points of the body.

    The file ``silhouette_pose.npz`` is looked for in the directory ``ISTHMUS_DATA``, then in
    :func:`isthmus_data_home`.

    Returns
    -------
    bunch : Bunch
        ``data`` (2345, 100), histograms of shape contexts, each row sums to 100; ``target`` (2345, 63),
        21 points x 3 coordinates (the first two points coincide and never move); ``train_index``, the
        first 1927 rows; ``sequence``, the number of the sequence of each training row, -1 for test
        rows; ``DESCR`` (origin, terms, what to cite).
    """
    arrays = read_arrays(SILHOUETTES, only=("X_train", "Y_train", "X_test", "Y_test"))
    n, n_test = len(arrays["X_train"]), len(arrays["X_test"])
    rows = np.arange(n)
    sequence = np.searchsorted(_BREAKS, rows, side="right") - 1
    return Bunch(
        data=np.concatenate([arrays["X_train"], arrays["X_test"]]).astype(np.float64),
        target=np.concatenate([arrays["Y_train"], arrays["Y_test"]]).astype(np.float64),
        train_index=rows,
        sequence=np.concatenate([sequence, np.full(n_test, -1)]),
        DESCR=SILHOUETTES.description,
    )


def load_statue_face_pose() -> Bunch:
    """Load 698 rendered pictures of a statue's head with two view angles and a light angle.

    The file ``statue_face_pose.npz`` is looked for in the directory ``ISTHMUS_DATA``, then in
    :func:`isthmus_data_home`.

    Returns
    -------
    bunch : Bunch
        ``data`` (698, 1024), grey levels in [0, 1] (float64); ``images``, the same numbers as (698, 32,
        32); ``target`` (698, 3), standardised; ``target_names``, pan, tilt and light; ``DESCR`` (origin,
        terms, what to cite).
    """
    names = ["pan", "tilt", "light"]
    arrays = read_arrays(STATUE, only=("images", *names))
    images = arrays["images"].astype(np.float64)
    return Bunch(
        data=images.reshape(len(images), -1),
        images=images,
        target=np.column_stack([arrays[name] for name in names]).astype(np.float64),
        target_names=names,
        DESCR=STATUE.description,
    )
