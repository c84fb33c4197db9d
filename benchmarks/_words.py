"""Sequences predicted from sequences: five methods on every set, the same words for all.

Settings are chosen by cross-validation of training words alone. ``NETtalk``: letter for letter;
``NETtalk, sounds only``: silent places deleted, so that lengths differ and nothing says what belongs to
what; ``handwriting``: pictures to letters, one fold to train and nine to test; ``CB513``: residues to
secondary structure, one of seven folds to test.
"""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.preprocessing import OneHotEncoder

from isthmus import DependencyRegressor, KernelMap
from isthmus.datasets import load_cb513, load_nettalk, load_ocr_words
from isthmus.kernels import PositionKernel, SequenceKernel, VectorSequenceKernel, gram
from isthmus.preimages import AlignedClassifier, JointNgrams

Ranked = list[list[Any]]
HELD = 100  # words that are asked for in a fold of cross-validation


@dataclass
class Task:
    """Words to learn from and words to be asked for."""

    name: str
    X: list[Any]
    Y: list[str]
    X_test: list[Any]
    Y_test: list[str]
    aligned: bool  # as many symbols out as in
    pictures: bool = False


# -- figures ----------------------------------------------------------------------------------


def edits(a: str, b: str) -> int:
    """Levenshtein's distance."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


def wrong(found: str, wanted: str, aligned: bool) -> int:
    """Wrong symbols: place by place where there is one symbol per place, else edits."""
    if aligned and len(found) == len(wanted):
        return sum(a != b for a, b in zip(found, wanted))
    return edits(found, wanted)


def error(ranked: Ranked, wanted: list[str], aligned: bool) -> float:
    total = sum(wrong(r[0], w, aligned) for r, w in zip(ranked, wanted))
    return 100 * total / sum(map(len, wanted))


# -- kernels of inputs ------------------------------------------------------------------------


def input_kernels(task: Task) -> list[Any]:
    if task.pictures:
        widths = ((0, 0.02), (1, 0.01), (1, 0.005), (3, 0.005))
        return [VectorSequenceKernel(gamma, reach=reach) for reach, gamma in widths]
    plain = [SequenceKernel(stop, normalise=True) for stop in (0.1, 0.3)]
    placed = PositionKernel(width=0.5, normalise=True)
    return [*plain, placed, plain[1] + placed]


# -- methods: fit, then rank -------------------------------------------------------------------

Method = Callable[[Task], tuple[Callable[[list[Any]], Ranked], str]]


def _folds(n: int) -> Iterator[tuple[NDArray, NDArray]]:
    for kept, held in KFold(3, shuffle=True, random_state=0).split(np.zeros(n)):
        yield kept, held[:HELD]


def _held_out(task: Task, fit: Callable[[list[Any], list[str]], Any]) -> float:
    """Mean error of held-out training words."""
    errors = []
    for kept, held in _folds(len(task.X)):
        rank = fit([task.X[i] for i in kept], [task.Y[i] for i in kept])
        wanted = [task.Y[i] for i in held]
        errors.append(error(rank([task.X[i] for i in held]), wanted, task.aligned))
    return float(np.mean(errors))


def nearest(task: Task) -> Any:
    def fit(kernel: Any) -> Any:
        def of(X: list[Any], Y: list[str]) -> Any:
            def rank(new: list[Any]) -> Ranked:
                order = np.argsort(-gram(kernel, new, X), axis=1, kind="stable")[:, :10]
                return [[Y[i] for i in row] for row in order]

            return rank

        return of

    best = min(input_kernels(task), key=lambda kernel: _held_out(task, fit(kernel)))
    return fit(best)(task.X, task.Y), repr(best)


def by_place(task: Task) -> Any:
    """Logistic regression on the symbols around (three on either side) or on the picture, one by one."""
    if not task.aligned:
        plain = AlignedClassifier(3, max_length=1, chain=False).fit(task.X, task.Y)
        return lambda new: [found for found, _ in plain.candidates(new, 10)], f"C {plain.C_:g}"

    def features(words: list[Any]) -> Any:
        if task.pictures:
            return np.concatenate([w.reshape(len(w), -1) for w in words])
        lines = [" " * 3 + word + " " * 3 for word in words]
        return np.array([list(line[i : i + 7]) for line in lines for i in range(len(line) - 6)])

    def fit(C: float) -> Any:
        def of(X: list[Any], Y: list[str]) -> Any:
            rows = features(X)
            encode = None if task.pictures else OneHotEncoder(handle_unknown="ignore").fit(rows)
            model = LogisticRegression(C=C, max_iter=500, tol=1e-3)
            model.fit(rows if encode is None else encode.transform(rows), list("".join(Y)))

            def rank(new: list[Any]) -> Ranked:
                rows = features(new)
                found = model.predict(rows if encode is None else encode.transform(rows))
                parts = np.split(found, np.cumsum([len(word) for word in new])[:-1])
                return [["".join(part)] for part in parts]

            return rank

        return of

    C = min((0.01, 0.1, 1.0), key=lambda value: _held_out(task, fit(value)))
    return fit(C)(task.X, task.Y), f"C {C:g}"


def joint(task: Task) -> Any:
    model = JointNgrams(5).fit(task.X, task.Y)
    return lambda new: [found for found, _ in model.candidates(new, 10)], "order 5"


def open_search(task: Task) -> Any:
    """Any string may be the answer; of the size of its input where there is one symbol per place."""

    def fit(kernel: Any, alpha: float) -> Any:
        def of(X: list[Any], Y: list[str]) -> Any:
            # Without places, pieces of an answer are found and put together in the wrong order.
            outputs = KernelMap(kernel=PositionKernel(width=0.0 if task.aligned else 1.0))
            model = DependencyRegressor(KernelMap(kernel=kernel), Ridge(alpha), outputs).fit(X, Y)

            def rank(new: list[Any]) -> Ranked:
                sizes = {"sizes": [len(x) for x in new]} if task.aligned else {}
                return model.predict(new, n_best=10, **sizes)

            return rank

        return of

    part = Task(task.name, task.X[:800], task.Y[:800], [], [], task.aligned, task.pictures)
    best = min(input_kernels(task), key=lambda kernel: _held_out(part, fit(kernel, 0.01)))
    alpha = min((0.01, 0.1, 1.0), key=lambda a: _held_out(part, fit(best, a)))
    return fit(best, alpha)(task.X, task.Y), f"{best!r}, ridge {alpha:g}"


def with_candidates(task: Task) -> Any:
    """The default call."""
    model = DependencyRegressor().fit(task.X, task.Y)
    ranking = model.candidates_
    if ranking is None:
        return lambda new: model.predict(new, n_best=10), "open search"
    told = f"{type(ranking.generator_).__name__}, ridge {ranking.alpha_:g}, weight {ranking.weight_:.2g}"
    return lambda new: model.predict(new, n_best=10), told


METHODS: dict[str, Method] = {
    "nearest neighbour": nearest,
    "classifier per place": by_place,
    "joint n-gram": joint,
    "ours, open": open_search,
    "ours, candidates": with_candidates,
}


# Not run: places have no symbols to pair (pictures); nothing of a protein is known by its place (CB513).
LEFT_OUT = {("handwriting", "joint n-gram"), ("CB513", "ours, open")}
# With more words only the two that are to be compared, and an open search has too many n-grams.
LARGE = "NETtalk, sounds only, 8000 words"


def methods_of(name: str) -> list[str]:
    if name == LARGE:
        return ["joint n-gram", "ours, candidates"]
    return [method for method in METHODS if (name, method) not in LEFT_OUT]


def measure(name: str, seed: int, method: str) -> dict[str, Any]:
    """Fit and ask one method; in a process of its own, whose memory is its own."""
    task = SETS[name](seed)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.process_time()
    rank, told = METHODS[method](task)
    fitted = time.process_time()
    ranked = rank(task.X_test)
    ended = time.process_time()
    return {
        "training": len(task.X),
        "test": len(task.X_test),
        "exact": 100 * np.mean([r[0] == w for r, w in zip(ranked, task.Y_test)]),
        "symbols": error(ranked, task.Y_test, task.aligned),
        "top": 100 * np.mean([w in r[:10] for r, w in zip(ranked, task.Y_test)]),
        "listed": max(map(len, ranked)) > 1,
        "ms": 1000 * (ended - fitted) / len(task.X_test),
        "fit": fitted - begin,
        "memory": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024,
        "told": told,
    }


def measure_alone(name: str, seed: int, method: str) -> dict[str, Any]:
    """Measure in a process of its own; seeds are counted from the first that nobody looked at."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        return pool.submit(measure, name, FIRST_SEED + seed, method).result()


# -- the sets ---------------------------------------------------------------------------------

FIRST_SEED = 20  # other splits than those that were looked at while methods were made


def nettalk(n: int = 3000, n_test: int = 1000, seed: int = 0, silent: bool = True) -> Task:
    bunch = load_nettalk()
    regular = np.flatnonzero(bunch.origin == 0)
    order = np.random.default_rng(seed).permutation(regular)[: n + n_test]
    X, Y = [bunch.data[i] for i in order], [bunch.target[i] for i in order]
    if not silent:
        Y = [y.replace("-", "") for y in Y]
    return Task("NETtalk", X[:n], Y[:n], X[n:], Y[n:], silent)


def handwriting(seed: int) -> Task:
    """One fold to train, another one for every seed, and all others to test."""
    bunch = load_ocr_words()
    own = bunch.fold == seed % 10
    parts = [
        [source[i] for i in np.flatnonzero(part)]
        for part in (own, ~own)
        for source in (bunch.data, bunch.target)
    ]
    parts[0], parts[2] = ([x.astype(float) for x in part] for part in (parts[0], parts[2]))
    return Task("handwriting", *parts, True, True)


def proteins(seed: int) -> Task:
    """Six of seven folds to train, the seventh to test."""
    bunch = load_cb513()
    order = np.random.default_rng(0).permutation(len(bunch.data))
    held = np.zeros(len(order), dtype=bool)
    held[order[seed % 7 :: 7]] = True
    parts = [
        [str(source[i]) for i in np.flatnonzero(part)]
        for part in (~held, held)
        for source in (bunch.data, bunch.target)
    ]
    return Task("CB513", *parts, True)


SETS: dict[str, Callable[[int], Task]] = {
    "NETtalk": lambda seed: nettalk(seed=seed),
    "NETtalk, sounds only": lambda seed: nettalk(seed=seed, silent=False),
    LARGE: lambda seed: nettalk(8000, 2000, seed, silent=False),
    "handwriting": handwriting,
    "CB513": proteins,
}
