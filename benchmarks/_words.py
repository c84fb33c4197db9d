"""Sequences predicted from sequences: NETtalk, handwritten words, CB513; accuracy per symbol.

All choices (how inputs and outputs are compared, stopping probabilities, widths, the ridge) are made by
cross-validation of training words alone, see :func:`chosen`; so is the kernel of the nearest neighbour.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.preprocessing import OneHotEncoder

from isthmus import DependencyRegressor, KernelMap
from isthmus.datasets import load_cb513, load_nettalk, load_ocr_words
from isthmus.kernels import SequenceKernel
from isthmus.preimages import CandidateSearch, SequenceSearch

Row = tuple[str, ...]
FOLDS, HELD, KEPT = 3, 60, 1200  # of cross-validation: folds, words asked for in each, words of all
SYMBOLS = ("symbols", "placed", "both")


@dataclass(frozen=True)
class Setting:
    """What is chosen. ``inputs``: the kernel of inputs, ``width`` its parameter; ``placed``: whether
    a symbol of the output is another one at another place; ``stop``: of the output's kernel."""

    inputs: str
    width: float
    placed: bool = True
    stop: float = 0.2
    alpha: float = 0.1

    def __str__(self) -> str:
        outputs = "placed" if self.placed else "symbols"
        return f"{self.inputs} {self.width:g} to {outputs} {self.stop:g}, ridge {self.alpha:g}"


@dataclass
class Task:
    """Words to learn from and words to be asked for, and the kernels that may compare inputs."""

    name: str
    X: list[Any]
    Y: list[str]
    X_test: list[Any]
    Y_test: list[str]
    compare: Callable[[str, float, list[Any], list[Any]], NDArray]
    inputs: tuple[tuple[str, float], ...]
    matrices: dict[tuple[str, float], NDArray] = field(default_factory=dict)

    def gram(self, inputs: str, width: float) -> NDArray:
        key = (inputs, width)
        if key not in self.matrices:
            self.matrices[key] = self.compare(inputs, width, self.X, self.X)
        return self.matrices[key]


# -- one model --------------------------------------------------------------------------------


def placed(word: str) -> list[str]:
    """Symbols that know their place."""
    return [f"{symbol}{place}" for place, symbol in enumerate(word)]


def per_symbol(found: list[str], wanted: list[str]) -> float:
    """Share of the places at which two sequences agree; what is missing is wrong."""
    hits = sum(a == b for x, y in zip(found, wanted) for a, b in zip(x, y))
    return 100 * hits / sum(map(len, wanted))


def neighbours(K: NDArray, Y: list[str], wanted: list[str]) -> float:
    """The output of the nearest input, cut or filled to the size that is known."""
    found = [(Y[i] + "?" * len(w))[: len(w)] for i, w in zip(K.argmax(axis=1), wanted)]
    return per_symbol(found, wanted)


def model(setting: Setting, K: NDArray, Y: list[str], preimage: Any) -> Any:
    outputs = KernelMap(kernel=SequenceKernel(setting.stop), preimage=preimage)
    words = [placed(y) for y in Y] if setting.placed else Y
    return DependencyRegressor(KernelMap(kernel="precomputed"), Ridge(setting.alpha), outputs).fit(
        K, words
    )


def accuracy(
    setting: Setting, K: NDArray, Y: list[str], K_test: NDArray, wanted: list[str]
) -> float:
    """Any string of the known size may be the answer."""
    fit = model(setting, K, Y, SequenceSearch("beam"))
    found = fit.predict(K_test, sizes=[len(word) for word in wanted])
    return per_symbol(["".join(symbol[0] for symbol in word) for word in found], wanted)


def from_dictionary(
    setting: Setting, K: NDArray, Y: list[str], K_test: NDArray, wanted: list[str]
) -> float:
    """The answer is one of the words of training that have the known size, if there is one."""
    words = sorted(set(Y))
    listed = [placed(word) for word in words] if setting.placed else words
    fit = model(setting, K, Y, CandidateSearch(listed))
    every = list(range(len(words)))
    sizes = {len(w): [i for i in every if len(words[i]) == len(w)] or every for w in wanted}
    found = fit.predict(K_test, candidates=[sizes[len(word)] for word in wanted])
    return per_symbol(["".join(symbol[0] for symbol in word) for word in found], wanted)


# -- choices ----------------------------------------------------------------------------------


def _folds(task: Task) -> Iterator[tuple[NDArray, NDArray]]:
    n = min(len(task.X), KEPT)
    for kept, held in KFold(FOLDS, shuffle=True, random_state=0).split(np.zeros(n)):
        yield kept, held[:HELD]


def cross_validated(task: Task, setting: Setting) -> float:
    K, scores = task.gram(setting.inputs, setting.width), []
    for kept, held in _folds(task):
        Y, wanted = [task.Y[i] for i in kept], [task.Y[i] for i in held]
        scores.append(accuracy(setting, K[np.ix_(kept, kept)], Y, K[np.ix_(held, kept)], wanted))
    return float(np.mean(scores))


def chosen(task: Task) -> Setting:
    """One parameter after another, each at the best of those before; training words alone."""
    steps: list[list[dict[str, Any]]] = [
        [{"inputs": kind, "width": width} for kind, width in task.inputs],
        [{"placed": value} for value in (True, False)],
        [{"stop": value} for value in (0.05, 0.1, 0.2, 0.4)],
        [{"alpha": value} for value in (0.01, 0.1, 1.0, 10.0, 100.0)],
    ]
    setting, seen = Setting(*task.inputs[0]), {}
    for changes in steps:
        for change in changes:
            new = replace(setting, **change)
            if new not in seen:
                seen[new] = cross_validated(task, new)
        setting = max(seen, key=lambda key: seen[key])
    return setting


def nearest_inputs(task: Task) -> tuple[str, float]:
    """The kernel of inputs at which the nearest neighbour does best, by the same words."""

    def score(inputs: tuple[str, float]) -> float:
        K = task.gram(*inputs)
        return float(
            np.mean(
                [
                    neighbours(
                        K[np.ix_(held, kept)],
                        [task.Y[i] for i in kept],
                        [task.Y[i] for i in held],
                    )
                    for kept, held in _folds(task)
                ]
            )
        )

    return max(task.inputs, key=score)


# -- rows of the table ------------------------------------------------------------------------


def rows(task: Task, classifier: Callable[[Task], float], listed: bool = False) -> list[Row]:
    setting, inputs = chosen(task), nearest_inputs(task)
    K = task.gram(setting.inputs, setting.width)
    K_test = task.compare(setting.inputs, setting.width, task.X_test, task.X)
    near = neighbours(task.compare(*inputs, task.X_test, task.X), task.Y, task.Y_test)
    beside = (f"{near:.1f}", f"{classifier(task):.1f}")
    ways = {task.name: accuracy}
    if listed:
        ways[f"the same, from the {len(set(task.Y))} words of training"] = from_dictionary
    found = []
    for name, way in ways.items():
        begin = time.perf_counter()
        ours = way(setting, K, task.Y, K_test, task.Y_test)
        took = 1000 * (time.perf_counter() - begin) / len(task.Y_test)
        counts = (str(len(task.X)), str(len(task.X_test)))
        found.append((name, *counts, f"{ours:.1f}", *beside, f"{took:.0f}", str(setting)))
    return found


def windows(words: list[str], reach: int) -> NDArray:
    """One row a symbol: the symbols around it."""
    found = []
    for word in words:
        padded = " " * reach + word + " " * reach
        found += [list(padded[i : i + 2 * reach + 1]) for i in range(len(word))]
    return np.array(found)


def cut(symbols: NDArray, wanted: list[str]) -> list[str]:
    ends = np.cumsum([len(word) for word in wanted])[:-1]
    return ["".join(part) for part in np.split(symbols, ends)]


def by_window(reach: int) -> Callable[[Task], float]:
    """Logistic regression at every place, on the symbols around it."""

    def score(task: Task) -> float:
        encode = OneHotEncoder(handle_unknown="ignore").fit(windows(task.X, reach))
        fit = LogisticRegression(max_iter=300).fit(
            encode.transform(windows(task.X, reach)), list("".join(task.Y))
        )
        found = fit.predict(encode.transform(windows(task.X_test, reach)))
        return per_symbol(cut(found, task.Y_test), task.Y_test)

    return score


def by_picture(task: Task) -> float:
    """Logistic regression of single pictures."""
    flat = [
        np.concatenate([w.reshape(len(w), -1) for w in words]) for words in (task.X, task.X_test)
    ]
    fit = LogisticRegression(max_iter=300, C=0.1).fit(flat[0], list("".join(task.Y)))
    return per_symbol(cut(fit.predict(flat[1]), task.Y_test), task.Y_test)


# -- kernels of inputs ------------------------------------------------------------------------


def string_kernel(inputs: str, stop: float, A: list[str], B: list[str]) -> NDArray:
    """The marginalised kernel of symbols, of symbols that know their places, or the sum."""
    kernel = SequenceKernel(stop, normalise=True)
    total = np.zeros((len(A), len(B)))
    if inputs != "placed":
        total += kernel(A, B)
    if inputs != "symbols":
        total += kernel([placed(w) for w in A], [placed(w) for w in B])
    return total


def picture_kernel(inputs: str, gamma: float, A: list[NDArray], B: list[NDArray]) -> NDArray:
    """A Gaussian of the pictures side by side, or the marginalised kernel with soft labels."""
    if inputs == "side by side":
        places = max(len(w) for w in [*A, *B])
        a, b = (_side_by_side(words, places) for words in (A, B))
        return np.exp(-gamma * _squared_distances(a, b))
    own = [np.array([_walks([w], [w], gamma)[0, 0] for w in words]) for words in (A, B)]
    return _walks(A, B, gamma) / np.sqrt(np.outer(*own))


def _side_by_side(words: list[NDArray], places: int) -> NDArray:
    rows_ = np.zeros((len(words), places * words[0][0].size))
    for row, word in zip(rows_, words):
        row[: word.size] = word.ravel()
    return rows_


def _squared_distances(a: NDArray, b: NDArray) -> NDArray:
    return np.maximum((a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T, 0)


def _walks(A: list[NDArray], B: list[NDArray], gamma: float, stop: float = 0.3) -> NDArray:
    """n-grams of pictures of up to five letters; pictures are alike as a Gaussian of pixels says."""
    a, b = (np.concatenate([w.reshape(len(w), -1) for w in words]) for words in (A, B))
    M = np.exp(-gamma * _squared_distances(a.astype(float), b.astype(float)))
    size_a, size_b = np.array([len(w) for w in A]), np.array([len(w) for w in B])
    inner_a = np.ones(len(a), bool)
    inner_a[np.cumsum(size_a) - 1] = False
    inner_b = np.ones(len(b), bool)
    inner_b[np.cumsum(size_b) - 1] = False
    go_on = (1 - stop) ** 2 * (inner_a[:-1, None] & inner_b[:-1])
    R = stop**2 * M
    for _ in range(4):
        shifted = np.full_like(R, stop**2)
        shifted[:-1, :-1] += go_on * R[1:, 1:]
        R = M * shifted
    sums = np.add.reduceat(
        np.add.reduceat(R, np.cumsum(size_a) - size_a, 0), np.cumsum(size_b) - size_b, 1
    )
    return sums / np.outer(size_a, size_b)


# -- the sets ---------------------------------------------------------------------------------

STRINGS = tuple((kind, stop) for kind in SYMBOLS for stop in (0.1, 0.3))
PICTURES = (
    *(("side by side", gamma) for gamma in (0.001, 0.003, 0.01)),
    *(("n-grams", gamma) for gamma in (0.05, 0.1)),
)


def nettalk(n: int = 3000, n_test: int = 300) -> Task:
    bunch = load_nettalk()
    order = np.random.default_rng(0).permutation(np.flatnonzero(bunch.origin == 0))[: n + n_test]
    X, Y = [bunch.data[i] for i in order], [bunch.target[i] for i in order]
    return Task("NETtalk", X[:n], Y[:n], X[n:], Y[n:], string_kernel, STRINGS)


def cb513(size: int = 12, n: int = 3000, n_test: int = 300) -> Task:
    bunch = load_cb513()

    def pieces(proteins: range, count: int) -> tuple[list[str], list[str]]:
        found = [
            (bunch.data[p][a : a + size], bunch.target[p][a : a + size])
            for p in proteins
            for a in range(0, len(bunch.data[p]) - size + 1, size)
        ]
        picked = np.random.default_rng(0).permutation(len(found))[:count]
        return [found[i][0] for i in picked], [found[i][1] for i in picked]

    name = f"CB513, pieces of {size}"
    train, test = pieces(range(400), n), pieces(range(400, 513), n_test)
    return Task(name, *train, *test, string_kernel, STRINGS)


def handwriting(n_test: int = 300) -> Task:
    bunch = load_ocr_words()
    train = np.flatnonzero(bunch.fold == 0)
    test = np.random.default_rng(0).permutation(np.flatnonzero(bunch.fold != 0))[:n_test]
    parts = [
        [source[i] for i in part] for part in (train, test) for source in (bunch.data, bunch.target)
    ]
    return Task("handwritten words", *parts, picture_kernel, PICTURES)


def sequence_rows() -> Iterator[Row]:
    yield from rows(handwriting(), by_picture, listed=True)
    yield from rows(cb513(), by_window(6))
    yield from rows(nettalk(), by_window(3))
