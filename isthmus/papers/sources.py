"""Data of the papers where they are at hand, otherwise stand-ins that are generated."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter
from sklearn.utils import Bunch

from isthmus.datasets import (
    SETS,
    DatasetNotFoundError,
    load_faces,
    load_jester,
    load_multilabel,
    load_objects,
    load_raetsch,
    load_silhouette_pose,
    load_statue_face_pose,
    load_table,
    load_usps,
)

GENERATED = "generated"
"""Begins the sentence on data that are not those of the paper."""


@cache
def _load(family: str, name: str) -> tuple[Bunch, str]:
    loader, stand_in = _FAMILIES[family]
    label = name or family
    try:
        return loader(name), f"loaded: {label}"
    except DatasetNotFoundError:
        bunch, what = stand_in(name)
        return bunch, f"{GENERATED} in place of {label}, which was not found: {what}"


def faces(name: str) -> tuple[Bunch, str]:
    """Return Yale, ORL or CBCL faces, and where they are from."""
    return _load("faces", name)


def objects(name: str) -> tuple[Bunch, str]:
    """Return COIL-20 or ETH-80 views, and where they are from."""
    return _load("objects", name)


def digits() -> tuple[Bunch, str]:
    """Return USPS digits, and where they are from."""
    return _load("usps", "")


def pictures(name: str) -> tuple[Bunch, str]:
    """Return the pictures of this name, whatever they show, and where they are from."""
    if name == "usps":
        return digits()
    return objects(name) if name in SETS["objects"] else faces(name)


def silhouettes() -> tuple[Bunch, str]:
    """Return silhouettes with postures, and where they are from."""
    return _load("silhouettes", "")


def statue() -> tuple[Bunch, str]:
    """Return pictures of a head with its pose, and where they are from."""
    return _load("statue", "")


def labels(name: str) -> tuple[Bunch, str]:
    """Return a multi-label set, and where it is from."""
    return _load("labels", name)


def two_classes(name: str) -> tuple[Bunch, str]:
    """Return one of the two-class benchmarks, and where it is from."""
    return _load("two classes", name)


def table(name: str) -> tuple[Bunch, str]:
    """Return a table with one real output, and where it is from."""
    return _load("table", name)


def ratings() -> tuple[Bunch, str]:
    """Return items, their features and their ratings by people, and where they are from."""
    return _load("ratings", "jester")


# -- stand-ins ------------------------------------------------------------------------------------


def _smooth(rng: np.random.Generator, n: int, side: int, width: float) -> NDArray:
    """Smooth random pictures with entries of variance one."""
    noise = rng.standard_normal((n, side, side))
    pictures = np.stack([gaussian_filter(one, width, mode="wrap") for one in noise])
    return np.asarray(pictures / pictures.std(axis=(1, 2), keepdims=True))


def _make_faces(name: str) -> tuple[Bunch, str]:
    n_classes, n_each, side = {"yale": (15, 11, 32), "orl": (40, 10, 28), "cbcl": (1, 2429, 19)}[
        name
    ]
    rng = np.random.default_rng(0)
    rows, columns = np.mgrid[:side, :side] / (side - 1) - 0.5
    looks = _smooth(rng, 12, side, side / 10)  # expressions that all persons share
    pictures, target = [], []
    for person, own in enumerate(_smooth(rng, n_classes, side, side / 12)):
        for _ in range(n_each):
            angle = rng.uniform(0, 2 * np.pi)
            light = 1.6 * rng.uniform(0, 1) * (rows * np.sin(angle) + columns * np.cos(angle))
            look = np.tensordot(rng.standard_normal(12), looks, 1) * 0.3
            scale = 0.0 if n_classes == 1 else 0.5
            noise = 0.2 * rng.standard_normal((side, side))
            pictures.append(scale * own + 3 * light + look + noise)
            target.append(person)
    images = 0.5 + 0.15 * np.array(pictures)
    return _picture_bunch(images, target), f"smooth random pictures, {n_classes} x {n_each}"


def _make_objects(name: str) -> tuple[Bunch, str]:
    rng = np.random.default_rng(0)
    if name == "coil20":
        images, target = [], []
        turn = np.arange(72) * np.pi / 36
        waves = np.stack([f(k * turn) for k in range(1, 9) for f in (np.cos, np.sin)], axis=1)
        waves /= np.repeat(np.arange(1, 9), 2) ** 0.5
        for label in range(20):
            parts = _smooth(rng, 16, 24, 2.0)
            views = 0.8 * _smooth(rng, 1, 24, 2.0) + np.tensordot(waves, parts, 1) * 0.5
            images.append(views)
            target += [label] * 72
        pictures = 0.5 + 0.15 * np.concatenate(images)
        return _picture_bunch(pictures, target), "20 smooth random objects, 72 views each"
    images, target, instance = [], [], []
    for category in range(8):
        shared = _smooth(rng, 8, 64, 5.0)
        for thing in range(10):
            own = shared + 1.1 * _smooth(rng, 8, 64, 5.0)
            images.append(rng.standard_normal((41, 8)) @ own.reshape(8, -1))
            target += [category] * 41
            instance += [10 * category + thing] * 41
    pictures = 0.5 + 0.05 * np.concatenate(images).reshape(-1, 64, 64)
    bunch = _picture_bunch(pictures, target)
    bunch["object"] = np.array(instance)
    return bunch, "8 categories of 10 random subspaces, 41 views each"


def _make_digits(_: str) -> tuple[Bunch, str]:
    from sklearn.datasets import load_digits

    small = load_digits()
    images = np.repeat(np.repeat(small.images / 8 - 1, 2, axis=1), 2, axis=2)
    # Neighbouring pixels of a doubled digit are equal: blur them, and add shifted copies.
    images = np.stack([gaussian_filter(one, 0.7) for one in images])
    moved = [np.roll(images, shift, axis=(1, 2)) for shift in ((0, 1), (1, 0), (0, -1))]
    pictures = np.concatenate([images, *moved])
    order = np.random.default_rng(0).permutation(len(pictures))
    bunch = _picture_bunch(pictures[order], np.tile(small.target, 4)[order])
    bunch["train_index"] = np.arange(len(order) * 3 // 4)
    return bunch, "scikit-learn's 8 x 8 digits, enlarged to 16 x 16 and shifted"


def _make_silhouettes(_: str) -> tuple[Bunch, str]:
    rng = np.random.default_rng(0)
    n = 2345
    t = np.cumsum(rng.normal(0.15, 0.05, size=n))
    slow = gaussian_filter(rng.standard_normal((n, 3)), (25, 0)) * 8
    latent = np.column_stack([np.sin(t), np.cos(t), np.sin(2 * t), slow])
    Y = 8 * latent @ rng.standard_normal((6, 63))
    # What a silhouette shows: nonlinear, and much of it is nuisance.
    hidden = np.tanh(latent @ rng.standard_normal((6, 100)) + rng.standard_normal(100))
    X = hidden + 0.5 * rng.standard_normal((n, 4)) @ rng.standard_normal((4, 100))
    X += 0.15 * rng.standard_normal(X.shape)
    return (
        Bunch(data=X, target=Y, train_index=np.arange(1927)),
        "a walk of 6 latent angles, seen through 100 nonlinear features",
    )


def _make_statue(_: str) -> tuple[Bunch, str]:
    rng = np.random.default_rng(0)
    pose = rng.uniform(-1, 1, size=(698, 3))
    rows, columns = np.mgrid[:24, :24] / 11.5 - 1
    pictures = []
    for pan, tilt, light in pose:
        eyes = np.exp(-((columns - 0.5 * pan - 0.3) ** 2 + (rows - 0.5 * tilt) ** 2) / 0.05)
        eyes += np.exp(-((columns - 0.5 * pan + 0.3) ** 2 + (rows - 0.5 * tilt) ** 2) / 0.05)
        head = (columns**2 + rows**2 < 0.8) * (0.6 + 0.4 * light * columns)
        pictures.append(head - 0.4 * eyes)
    X = np.array(pictures).reshape(698, -1) + 0.02 * rng.standard_normal((698, 576))
    return (
        Bunch(data=X, target=pose, target_names=["pan", "tilt", "light"]),
        "a drawn head with two dark eyes and a light from the side",
    )


def _make_labels(name: str) -> tuple[Bunch, str]:
    rng = np.random.default_rng(len(name))
    n, q = 1200, {"yeast": 14}.get(name, 6)
    latent = rng.standard_normal((n, 4))
    nuisance = rng.standard_normal((n, 14))
    X = latent @ rng.standard_normal((4, 60)) * 0.7 + nuisance @ rng.standard_normal((14, 60))
    X = np.tanh(X / 4) + 0.1 * rng.standard_normal(X.shape)
    weights = rng.standard_normal((4, q))
    Y = (latent @ weights + 0.5 * rng.standard_normal((n, q)) > 0.6).astype(int)
    return Bunch(data=X, target=Y), f"{q} labels of 4 of 18 latent numbers, 60 inputs"


def _make_two_classes(name: str) -> tuple[Bunch, str]:
    rng = np.random.default_rng(len(name))
    X = rng.standard_normal((1500, 10))
    y = np.sign(np.sin(1.5 * X[:, 0]) + 0.6 * X[:, 1] * X[:, 2] + 0.5 * rng.standard_normal(1500))
    return Bunch(data=X, target=y), "two classes of a nonlinear function of three inputs"


def _make_table(name: str) -> tuple[Bunch, str]:
    rng = np.random.default_rng(len(name))
    X = rng.standard_normal((4000, 8))
    smooth = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] / 2 + X[:, 3:6].sum(axis=1) / 3
    y = smooth + (0.7 if name == "abalone" else 0.2) * rng.standard_normal(4000)
    return Bunch(
        data=X, target=y
    ), "4000 rows of a smooth function of six of eight inputs, with noise"


def _make_ratings(_: str) -> tuple[Bunch, str]:
    rng = np.random.default_rng(0)
    words = rng.poisson(0.3, size=(100, 120)).astype(float)
    taste = words @ rng.standard_normal((120, 6)) / 6 + rng.standard_normal((100, 6))
    liking = taste @ rng.standard_normal((6, 600)) + rng.standard_normal(600)
    Y = np.clip(2 * liking + 2 * rng.standard_normal(liking.shape), -10, 10)
    Y[rng.random(Y.shape) < 0.3] = np.nan
    return Bunch(data=words, target=Y), "100 items, 600 people, six tastes, 70 % rated"


def _picture_bunch(images: NDArray, target: object) -> Bunch:
    flat = images.reshape(len(images), -1)
    return Bunch(data=flat, images=images, target=np.asarray(target))


_FAMILIES: dict[str, tuple[Callable[[str], Bunch], Callable[[str], tuple[Bunch, str]]]] = {
    "faces": (load_faces, _make_faces),
    "objects": (load_objects, _make_objects),
    "usps": (lambda _: load_usps(), _make_digits),
    "silhouettes": (lambda _: load_silhouette_pose(), _make_silhouettes),
    "statue": (lambda _: load_statue_face_pose(), _make_statue),
    "labels": (load_multilabel, _make_labels),
    "two classes": (load_raetsch, _make_two_classes),
    "table": (load_table, _make_table),
    "ratings": (lambda _: load_jester(), _make_ratings),
}
