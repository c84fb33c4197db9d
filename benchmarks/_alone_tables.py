"""The tables on which default calls are judged: names, where they come from, and what is trained on.

Half of them are held back: they are not looked at while a default is made, and run with a switch only. Six
have a planted rank, without which a rule that ignores the rank looks best.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets

MOST_OUTPUTS = 40
MOST_NEW_ROWS = 800

Pair = tuple[NDArray, NDArray]


@dataclass(frozen=True)
class Table:
    """Inputs and outputs, made when they are asked for, and numbers of training rows."""

    name: str
    load: Callable[[], Pair]
    sizes: tuple[int, ...]  # of training rows; of rows per class in a table of classes
    planted: bool = False


def _data(name: str) -> Any:
    home = os.environ.get("ISTHMUS_DATA")
    if not home:
        raise FileNotFoundError("ISTHMUS_DATA is not set")
    return np.load(Path(home) / f"{name}.npz")


# -- pictures and movements -------------------------------------------------------------------


def _pool(images: NDArray, k: int) -> NDArray:
    """Means of squares of k x k pixels."""
    n, h, w = images.shape
    cut = images[:, : h // k * k, : w // k * k].astype(float)
    return cut.reshape(n, h // k, k, w // k, k).mean((2, 4))


def _halves(images: NDArray) -> Pair:
    """The left half of pictures, and the right one."""
    n, _, w = images.shape
    images = images.astype(float)
    return images[:, :, : w // 2].reshape(n, -1), images[:, :, w // 2 :].reshape(n, -1)


def _pictures(name: str, key: str, k: int = 1) -> Callable[[], Pair]:
    return lambda: _halves(_pool(_data(name)[key], k))


def _usps() -> Pair:
    d = _data("usps")
    return np.r_[d["X_train"], d["X_test"]].astype(float), np.r_[d["y_train"], d["y_test"]]


def _channels(name: str, step: int) -> Callable[[], Pair]:
    """Thirty channels of a movement, and the others."""

    def load() -> Pair:
        rows = _data(name)["channels"][::step].astype(float)
        rows = rows[:, rows.std(axis=0) > 1e-6]
        order = np.random.default_rng(0).permutation(rows.shape[1])
        return rows[:, order[:30]], rows[:, order[30:]]

    return load


def _silhouettes() -> Pair:
    d = _data("silhouette_pose")
    return np.r_[d["X_train"], d["X_test"]], np.r_[d["Y_train"], d["Y_test"]]


def _statue() -> Pair:
    d = _data("statue_face_pose")
    return _flat(_pool(d["images"], 2)), np.c_[d["pan"], d["tilt"], d["light"]]


def _turned() -> Pair:
    """Pictures of objects, and how each looks a quarter turn further."""
    d = _data("coil20")
    images = _flat(_pool(d["images16"], 4)).reshape(20, 72, -1)
    return images.reshape(1440, -1), np.roll(images, -18, axis=1).reshape(1440, -1)


def _strokes() -> Pair:
    """The first half of a written letter, and the second."""
    places = _data("writing_letters")["positions"][:, ::5].astype(float)
    return _flat(places[:, :20]), _flat(places[:, 20:])


def _flat(rows: NDArray) -> NDArray:
    return rows.reshape(len(rows), -1).astype(float)


# -- numbers ----------------------------------------------------------------------------------


def _named(file: str, inputs: str, outputs: str) -> Callable[[], Pair]:
    def load() -> Pair:
        d = _data(file)
        return np.nan_to_num(d[inputs].astype(float)), d[outputs].astype(float)

    return load


def _mulan(name: str) -> Callable[[], Pair]:
    return _named("mulan_regression", f"{name}_X", f"{name}_Y")


def _labels(name: str) -> Callable[[], Pair]:
    return _named("multilabel", f"{name}_X", f"{name}_Y")


def _waves() -> Pair:
    """Sine and cosine of one input."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, (900, 1))
    return x, np.c_[np.sin(2 * x), np.cos(2 * x)] + 0.1 * rng.normal(size=(900, 2))


def _schools() -> Pair:
    """Pupils above and below the median in the schools of California, from statsmodels."""
    from statsmodels.datasets import star98

    table = star98.load().data
    return table.iloc[:, 2:].to_numpy(float), table.iloc[:, :2].to_numpy(float)


def _visits() -> Pair:
    """Visits to doctors under plans of insurance, from statsmodels."""
    from statsmodels.datasets import randhie

    rows = randhie.load().data.to_numpy(float)
    return rows[:, 1:], rows[:, :1]


def _jokes() -> Pair:
    """Words of jokes, and what people who rated all of them thought of each."""
    d = _data("jester5k")
    ratings = d["ratings_x100"].astype(float)
    whole = ratings[(ratings != 32767).all(axis=1)]
    return d["joke_word_counts"].astype(float), whole.T


def _planted(
    p: int, q: int, rank: int, noise: float, decay: float, n: int = 1200
) -> Callable[[], Pair]:
    """Outputs of a map of low rank with noise; standard deviations of inputs fall like ``j^-decay``."""

    def load() -> Pair:
        rng = np.random.default_rng([p, q, rank])
        Q = np.linalg.qr(rng.normal(size=(p, p)))[0]
        X = rng.normal(size=(n, p)) * np.arange(1.0, p + 1) ** -decay @ Q
        Y = X @ rng.normal(size=(p, rank)) @ rng.normal(size=(rank, q))
        Y /= Y.std(axis=0)
        return X + 2, Y + noise * rng.normal(size=Y.shape) - 3

    return load


def _table(name: str, load: Any, *sizes: int, **more: Any) -> Table:
    return Table(name, load, sizes, **more)


_SEEN = [
    _table("friedman1", lambda: datasets.make_friedman1(900, noise=1.0, random_state=0), 150, 400),
    _table("diabetes", lambda: datasets.load_diabetes(return_X_y=True), 150, 300),
    _table("sine and cosine", _waves, 60, 200),
    _table("ORL halves", _pictures("orl_faces", "images", 4), 100, 250),
    _table("CBCL halves", _pictures("cbcl_faces", "images"), 60, 150),
    _table("USPS halves", lambda: _halves(_usps()[0].reshape(-1, 16, 16)), 150, 400),
    _table("silhouettes", _silhouettes, 60, 150),
    _table("arm channels", _channels("cmu_mocap_arm", 1), 150, 400),
    *(_table(k, _labels(k), 150, 400) for k in ("corel5k", "yeast", "emotions")),
    *(
        _table(k, _mulan(k), 60, 150)
        for k in ("oes97", "atp1d", "atp7d", "rf1", "scm20d", "wq", "jura")
    ),
    _table("edm", _mulan("edm"), 60, 110),
    _table("corn m5", _named("nir", "corn_X_m5", "corn_Y"), 50),
    _table("tecator", _named("nir", "tecator_X", "tecator_Y"), 60, 150),
    _table("sarcos", _named("sarcos_small", "X", "Y"), 60, 150),
    _table("planted rank 2, little noise", _planted(20, 12, 2, 0.5, 0.0), 60, 200, planted=True),
    _table("planted rank 3, wide", _planted(150, 20, 3, 1.0, 0.5), 100, planted=True),
    _table("planted rank 1, much noise", _planted(30, 25, 1, 3.0, 0.0), 150, planted=True),
]
_HELD_BACK = [
    _table("abalone", _named("abalone", "X", "y_rings"), 150, 400),
    _table("kin8nm", _named("kin8nm", "X", "y"), 150, 400),
    _table("pumadyn32nm", _named("pumadyn32nm", "X", "y"), 150, 400),
    _table("friedman2", lambda: datasets.make_friedman2(900, noise=100, random_state=0), 60, 200),
    _table("friedman3", lambda: datasets.make_friedman3(900, noise=0.1, random_state=0), 60, 200),
    _table("linnerud", lambda: datasets.load_linnerud(return_X_y=True), 14),
    _table("schools", _schools, 60, 200),
    _table("visits", _visits, 200, 400),
    _table("enb", _mulan("enb"), 60, 200),
    _table("scene", _labels("scene"), 150, 400),
    _table("corn mp5", _named("nir", "corn_X_mp5", "corn_Y"), 50),
    _table("dough", _named("nir", "dough_X", "dough_Y"), 45),
    _table("gasoline", _named("nir", "gasoline_X", "gasoline_y"), 40),
    _table("yarn", _named("nir", "yarn_X", "yarn_y_density"), 20),
    _table("statue", _statue, 60, 200),
    _table("Yale halves", _pictures("yale_faces", "images", 4), 100),
    _table("ETH-80 halves", _pictures("eth80", "gray64", 4), 150, 400),
    _table("COIL-20 turned", _turned, 150, 400),
    _table("digits halves", lambda: _halves(datasets.load_digits().images), 100, 300),
    _table("walk channels", _channels("cmu_mocap_walk", 1), 150, 400),
    _table("strokes", _strokes, 60, 200),
    _table("jokes", _jokes, 60),
    _table("planted rank 3, little noise", _planted(25, 15, 3, 0.5, 0.0), 60, 200, planted=True),
    _table("planted rank 2, wide", _planted(120, 30, 2, 1.0, 0.5), 100, planted=True),
    _table("planted rank 4, much noise", _planted(40, 40, 4, 2.0, 0.0), 150, planted=True),
]


def tables(held_back: bool) -> Iterator[Table]:
    """The tables of numbers that are looked at, and those held back if asked for."""
    yield from _SEEN
    yield from _HELD_BACK if held_back else ()


# -- classes ----------------------------------------------------------------------------------


def _faces(name: str, k: int) -> Callable[[], Pair]:
    return lambda: (_flat(_pool(_data(name)["images"], k)), _data(name)["subject"])


def _two(name: str) -> Callable[[], Pair]:
    return _named("raetsch", f"{name}_X", f"{name}_y")


def _views() -> Pair:
    d = _data("coil20")
    return _flat(_pool(d["images16"], 4)), d["object"]


def _categories() -> Pair:
    d = _data("eth80")
    return _flat(_pool(d["gray64"], 8)), d["category"]


def _letters() -> Pair:
    d = _data("writing_letters")
    return _flat(d["positions"][:, ::10].astype(float)), d["letter"]


def _enzymes() -> Pair:
    """Means of the attributes of the nodes of a protein, and the class of its reaction."""
    d = _data("enzymes")
    sums = np.add.reduceat(d["node_attributes"].astype(float), d["node_offsets"][:-1], axis=0)
    return sums / np.diff(d["node_offsets"])[:, None], d["graph_labels"]


def _bundled(load: Any) -> Callable[[], Pair]:
    return lambda: load(return_X_y=True)


_CLASSES = [
    _table("USPS digits", _usps, 10, 60),
    _table("ORL faces", _faces("orl_faces", 4), 3, 6),
    _table("iris", _bundled(datasets.load_iris), 10, 30),
    _table("wine", _bundled(datasets.load_wine), 5, 20),
    _table("breast cancer", _bundled(datasets.load_breast_cancer), 20, 100),
    _table("letters", _named("letter", "X", "y"), 10, 40),
    _table("german", _two("german"), 30, 100),
    _table("waveform", _two("waveform"), 20, 100),
]
_CLASSES_HELD_BACK = [
    _table("Yale faces", _faces("yale_faces", 4), 4, 7),
    _table("COIL-20 objects", _views, 5, 15),
    _table("ETH-80 categories", _categories, 10, 50),
    _table("written letters", _letters, 3, 7),
    _table("digits", _bundled(datasets.load_digits), 5, 30),
    _table("enzymes", _enzymes, 15, 50),
    _table("banana", _two("banana"), 30, 100),
    _table("image segments", _two("image"), 30, 100),
]


def class_tables(held_back: bool) -> Iterator[Table]:
    """The tables of classes that are looked at, and those held back if asked for."""
    yield from _CLASSES
    yield from _CLASSES_HELD_BACK if held_back else ()


# -- draws ------------------------------------------------------------------------------------

Draw = tuple[NDArray, NDArray, NDArray, NDArray]


def draw(X: NDArray, Y: NDArray, n: int, seed: int) -> Draw:
    """Training and new rows, standardised by the training rows; outputs that do not vary left out."""
    Y = np.asarray(Y, dtype=float).reshape(len(X), -1)
    Y = Y[:, Y.std(axis=0) > 1e-9]
    Y = Y[:, :: max(1, Y.shape[1] // MOST_OUTPUTS)]
    order = np.random.default_rng(seed).permutation(len(X))
    train, new = order[:n], order[n : n + MOST_NEW_ROWS]
    Y = Y[:, Y[train].std(axis=0) > 1e-9]
    return *_standardised(X, train, new), *_standardised(Y, train, new)  # type: ignore[return-value]


def class_draw(X: NDArray, y: NDArray, n: int, seed: int) -> Draw:
    """So many training rows of each class, and new ones."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))
    train = np.concatenate([order[y[order] == c][:n] for c in np.unique(y)])
    new = np.setdiff1d(order, train)
    new = rng.permutation(new)[:MOST_NEW_ROWS]
    A, C = _standardised(X, train, new)
    return A, C, y[train], y[new]


def _standardised(Z: NDArray, train: NDArray, new: NDArray) -> Pair:
    Z = np.asarray(Z, dtype=float)
    mean, unit = Z[train].mean(axis=0), Z[train].std(axis=0)
    unit[unit < 1e-9] = 1.0
    return (Z[train] - mean) / unit, (Z[new] - mean) / unit
