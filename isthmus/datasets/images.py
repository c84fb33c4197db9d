"""Loaders of pictures: faces, objects, digits, some with a posture or a view. Whose: ``registry.py``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from isthmus.datasets.store import read_set

# What stands for white in the files: bytes, or grey levels in sixteenths of a byte.
_WHITE_BYTE, _WHITE_SIXTEENTHS = 255.0, 4080.0
# The file holds thousandths as integers, -1 to 1 after division.
_USPS_UNIT = 1000.0
# First rows of the seven sequences of silhouettes.
_BREAKS = (0, 100, 336, 405, 471, 1531, 1769)


def load_faces(name: str) -> Bunch:
    """Load pictures of faces.

    ====  ===================  ========================================
    name  pictures             target
    ====  ===================  ========================================
    yale  165 of 64 x 64       15 persons, each in the same 11 conditions
    orl   400 of 112 x 92      40 persons, 10 pictures each
    cbcl  2429 of 19 x 19      none: the persons are not named
    ====  ===================  ========================================

    The file ``<name>_faces.npz`` is looked for in the directory ``ISTHMUS_DATA``, then in
    :func:`isthmus_data_home`.

    Parameters
    ----------
    name : {"yale", "orl", "cbcl"}
        The set.

    Returns
    -------
    bunch : Bunch
        ``data`` (n_samples, n_pixels), grey levels in [0, 1] (float64); ``images``, the same numbers
        as (n_samples, height, width); ``target``, the person from 0 (None for cbcl); ``DESCR``
        (origin, terms, what to cite). Yale also has ``condition`` (0 to 10) and ``condition_names``.
    """
    more = {"yale": ("subject", "condition", "condition_names"), "orl": ("subject",)}
    arrays, description = read_set("faces", name, ("images", *more.get(name, ())))
    extra: dict[str, Any] = {}
    if name == "yale":
        extra["condition"] = arrays["condition"].astype(np.intp)
        extra["condition_names"] = [str(label) for label in arrays["condition_names"]]
    images = arrays["images"] / _WHITE_BYTE
    person = None if name == "cbcl" else arrays["subject"].astype(np.intp)
    return _bunch(description, images, person, **extra)


def load_objects(name: str, *, masks: bool = False) -> Bunch:
    """Load pictures of objects seen from many sides.

    ======  ====================  =============================================
    name    pictures              target
    ======  ====================  =============================================
    coil20  1440 of 32 x 32       20 objects, 72 views each
    eth80   3280 of 64 x 64       8 categories of 10 objects, 41 views each
    ======  ====================  =============================================

    The file ``<name>.npz`` is looked for in the directory ``ISTHMUS_DATA``, then in
    :func:`isthmus_data_home`.

    Parameters
    ----------
    name : {"coil20", "eth80"}
        The set.
    masks : bool, default=False
        Whether the outlines of the objects are returned too; eth80 alone has them.

    Returns
    -------
    bunch : Bunch
        ``data`` (n_samples, n_pixels), grey levels in [0, 1] (float64); ``images``, the same numbers
        as (n_samples, height, width); ``target``, from 0; ``object``, from 0; ``DESCR`` (origin,
        terms, what to cite). The angles of view are in degrees, as the sets give them: coil20 has
        ``angle_deg``; eth80 has ``polar_deg`` (0 is from above, 90 from the side) and
        ``azimuth_deg``, and besides ``target_names``, the categories, and on request ``masks``
        (n_samples, 64, 64), true on the object.
    """
    if name == "coil20" and masks:
        raise ValueError("masks == True, but coil20 has no masks: only eth80 has them.")
    wanted = ["images16", "object", "angle_deg"]
    if name == "eth80":
        wanted = ["gray64", "category", "category_names", "object", "polar_deg", "azimuth_deg"]
    arrays, description = read_set("objects", name, wanted + ["mask64"] * masks)
    extra: dict[str, Any] = {"object": arrays["object"].astype(np.intp)}
    extra |= {key: arrays[key].astype(np.float64) for key in wanted if key.endswith("_deg")}
    if name == "coil20":
        images = arrays["images16"] / _WHITE_SIXTEENTHS
        return _bunch(description, images, extra["object"], **extra)
    extra["target_names"] = [str(label) for label in arrays["category_names"]]
    if masks:
        extra["masks"] = np.unpackbits(arrays["mask64"], axis=-1).astype(bool)
    category = arrays["category"].astype(np.intp)
    return _bunch(description, arrays["gray64"] / _WHITE_BYTE, category, **extra)


def load_usps() -> Bunch:
    """Load the USPS handwritten digits: 9298 pictures of 16 x 16, the first 7291 for training.

    The file ``usps.npz`` is looked for in the directory ``ISTHMUS_DATA``, then in
    :func:`isthmus_data_home`.

    Returns
    -------
    bunch : Bunch
        ``data`` (9298, 256), on the customary scale from -1 (background) to 1 (ink), float64;
        ``images``, the same numbers as (9298, 16, 16); ``target``, the digit; ``train_index``, the
        customary 7291 rows to learn from; ``DESCR`` (origin, terms, what to cite).
    """
    wanted = ("X_train", "y_train", "X_test", "y_test")
    arrays, description = read_set("single", "usps", wanted)
    X = np.concatenate([arrays["X_train"], arrays["X_test"]]) / _USPS_UNIT
    digits = np.concatenate([arrays["y_train"], arrays["y_test"]]).astype(np.intp)
    train = np.arange(len(arrays["X_train"]))
    return _bunch(description, X.reshape(-1, 16, 16), digits, train_index=train)


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
    wanted = ("X_train", "Y_train", "X_test", "Y_test")
    arrays, description = read_set("single", "silhouette_pose", wanted)
    n = len(arrays["X_train"])
    n_test = len(arrays["X_test"])
    rows = np.arange(n)
    sequence = np.searchsorted(_BREAKS, rows, side="right") - 1
    return Bunch(
        data=np.concatenate([arrays["X_train"], arrays["X_test"]]).astype(np.float64),
        target=np.concatenate([arrays["Y_train"], arrays["Y_test"]]).astype(np.float64),
        train_index=rows,
        sequence=np.concatenate([sequence, np.full(n_test, -1)]),
        DESCR=description,
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
    arrays, description = read_set("single", "statue_face_pose", ("images", *names))
    angles = np.column_stack([arrays[name] for name in names]).astype(np.float64)
    images = arrays["images"].astype(np.float64)
    return _bunch(description, images, angles, target_names=names)


def _bunch(description: str, images: NDArray, target: NDArray | None, **extra: Any) -> Bunch:
    data = images.reshape(len(images), -1)
    return Bunch(data=data, images=images, target=target, DESCR=description, **extra)
