"""Loaders of pictures: faces, objects and digits. Whose they are: ``registry.py``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from isthmus._validation import check_option
from isthmus.datasets.registry import FACES, OBJECTS, USPS, DataSet
from isthmus.datasets.store import read_arrays

# What stands for white in the files: bytes, or grey levels in sixteenths of a byte.
_WHITE_BYTE, _WHITE_SIXTEENTHS = 255.0, 4080.0
# The file holds thousandths as integers, -1 to 1 after division.
_USPS_UNIT = 1000.0


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
    check_option("name", name, tuple(FACES))
    names = {"yale": ("subject", "condition", "condition_names"), "orl": ("subject",), "cbcl": ()}
    arrays = read_arrays(FACES[name], only=("images", *names[name]))
    extra: dict[str, Any] = {}
    if name == "yale":
        extra["condition"] = arrays["condition"].astype(np.intp)
        extra["condition_names"] = [str(label) for label in arrays["condition_names"]]
    images = arrays["images"] / _WHITE_BYTE
    return _bunch(FACES[name], images, arrays.get("subject"), **extra)


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
    check_option("name", name, tuple(OBJECTS))
    if name == "eth80":
        return _eth80(masks)
    if masks:
        raise ValueError("masks == True, but coil20 has no masks: only eth80 has them.")
    arrays = read_arrays(OBJECTS[name], only=("images16", "object", "angle_deg"))
    return _bunch(
        OBJECTS[name],
        arrays["images16"] / _WHITE_SIXTEENTHS,
        arrays["object"],
        object=arrays["object"].astype(np.intp),
        angle_deg=arrays["angle_deg"].astype(np.float64),
    )


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
    arrays = read_arrays(USPS, only=("X_train", "y_train", "X_test", "y_test"))
    X = np.concatenate([arrays["X_train"], arrays["X_test"]]) / _USPS_UNIT
    digits = np.concatenate([arrays["y_train"], arrays["y_test"]])
    train = np.arange(len(arrays["X_train"]))
    return _bunch(USPS, X.reshape(-1, 16, 16), digits, train_index=train)


def _eth80(masks: bool) -> Bunch:
    names = ["gray64", "category", "category_names", "object", "polar_deg", "azimuth_deg"]
    arrays = read_arrays(OBJECTS["eth80"], only=names + ["mask64"] * masks)
    extra: dict[str, Any] = {}
    if masks:
        extra["masks"] = np.unpackbits(arrays["mask64"], axis=-1).astype(bool)
    return _bunch(
        OBJECTS["eth80"],
        arrays["gray64"] / _WHITE_BYTE,
        arrays["category"],
        target_names=[str(label) for label in arrays["category_names"]],
        object=arrays["object"].astype(np.intp),
        polar_deg=arrays["polar_deg"].astype(np.float64),
        azimuth_deg=arrays["azimuth_deg"].astype(np.float64),
        **extra,
    )


def _bunch(row: DataSet, images: NDArray, target: NDArray | None, **extra: Any) -> Bunch:
    return Bunch(
        data=images.reshape(len(images), -1),
        images=images,
        target=None if target is None else target.astype(np.intp),
        DESCR=row.description,
        **extra,
    )
