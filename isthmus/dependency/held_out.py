"""Choice of a generator, a ridge and the weight of log-probabilities, on rows that were held out."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from isthmus._linalg import TIE, Array
from isthmus.dependency.row_weights import factorise, row_weights
from isthmus.kernels import gram, gram_diagonal, length, take
from isthmus.kernels.sequences import plain
from isthmus.preimages import ObjectLosses
from isthmus.preimages.generators import content_order, copy_groups, identity

# Weights of the log-probability, in units of the ratio of the spreads of losses and log-probabilities
# among the candidates of a row; infinity leaves the order of the generator as it is.
_WEIGHTS = (0.0, *(2.0 ** np.arange(-5, 4)), np.inf)
_FOLDS = 3  # each of them fits the generator once more
_MOST_REGRESSED = 4000  # of the kernel regression: 128 MB a matrix, half a minute a fit
# Rows of a fold that are asked for: shares are then known to about one per cent
_MOST_ANSWERS = 500
_MOST_SYMBOLS = 10_000  # and their symbols: a protein takes as long as thirty words


def rows_of_regression(X: Any, y: Any) -> NDArray[np.int64]:
    """All rows, or as many as a kernel regression takes, in order."""
    n = len(y)
    if n <= _MOST_REGRESSED:
        return np.arange(n)
    return np.sort(content_order(X, y)[:_MOST_REGRESSED])


def total(losses: Array, log_p: Array, weight: float) -> Array:
    """What is minimised: the loss minus the weighted log-probability."""
    return -log_p if np.isinf(weight) else losses - weight * log_p


def choose(distances: Mapping[str, Array]) -> str:
    """Return the first name that no later one beats by a standard error of the mean difference."""
    names = list(distances)
    best = names[0]
    for name in names[1:]:
        gain = distances[best] - distances[name]
        if gain.mean() > gain.std() / np.sqrt(len(gain)):
            best = name
    return best


def _splits(X: Any, y: Any) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return rows that are kept and held out, dealt by content; those with one input are held together."""
    order = content_order(X, y)
    groups = copy_groups([X[i] for i in order])
    if groups[-1] == 0:  # nothing can be held out unless copies are parted
        groups = np.arange(len(order))
    fold = groups % min(_FOLDS, int(groups[-1]) + 1)
    return [(order[fold != i], order[fold == i]) for i in range(int(fold.max()) + 1)]


class HeldOut:
    """Folds of the training rows, and what is found for those that are held out."""

    def __init__(self, X: Any, y: Any, rows: Any, n_candidates: int) -> None:
        self.X, self.y, self.rows, self.n_candidates = X, y, rows, n_candidates
        # Those asked for are rows of the regression: their kernel values are there already.
        splits = [(kept, held[np.isin(held, rows)]) for kept, held in _splits(X, y)]
        self.folds = [(kept, self._some(held)) for kept, held in splits if len(held)]
        self.by_place = all(_n_symbols(a) == _n_symbols(b) for a, b in zip(X, y))
        self._proposed: dict[tuple[int, int], Any] = {}

    def _some(self, held: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return as many of the held-out rows as are asked for, one at least."""
        symbols = np.cumsum([_n_symbols(self.X[i]) for i in held])
        return held[: min(_MOST_ANSWERS, max(1, int(np.searchsorted(symbols, _MOST_SYMBOLS))))]

    def propose_fold(self, generator: Any, fold: int) -> list[tuple[list[Any], Array]]:
        """What the generator, fitted to the rest, proposes for the held-out rows of a fold; found once."""
        key = id(generator), fold
        if key not in self._proposed:
            kept, held = self.folds[fold]
            fitted = clone(generator).fit(take(self.X, kept), take(self.y, kept))
            self._proposed[key] = propose(fitted, take(self.X, held), self.n_candidates)
        return self._proposed[key]

    def compare(self, generators: Mapping[str, Any], kernel_y: Any) -> dict[str, Array]:
        """Return distances of first answers from the truth in one fold; some may be unable to fit."""
        truth = [self.y[i] for i in self.folds[0][1]]
        found: dict[str, Array] = {}
        for name, generator in generators.items():
            try:
                proposals = self.propose_fold(generator, 0)
            except ValueError:  # there is no alignment
                if name == list(generators)[-1] and not found:
                    raise
                continue
            found[name] = self.apart(kernel_y, truth, [objects[:1] for objects, _ in proposals])
        return found

    def apart(self, kernel_y: Any, truth: list[Any], lists: list[Any]) -> Array:
        """How far all objects of each true output are from it.

        Where every output is as long as its input, that is the number of wrong places over the mean
        length: a kernel of words finds objects near that have the right words at other places.
        """
        if not self.by_place:
            return _distances(kernel_y, truth, lists)
        wrong = [_wrong_places(t, z) for t, own in zip(truth, lists) for z in own]
        return np.array(wrong) / np.mean([len(t) for t in truth])

    def table(
        self, generator: Any, kernel_x: Any, kernel_y: Any, alphas: list[float], weight: Any
    ) -> tuple[float, float, dict[str, Any]]:
        """The best ridge and weight, and the held-out figures of all of them."""
        K = gram(kernel_x, take(self.X, self.rows))
        parts = [
            self._fold(generator, K, kernel_y, alphas, fold) for fold in range(len(self.folds))
        ]
        losses, log_p, distance, exact, sizes = (
            np.concatenate(column, axis=-1) for column in zip(*parts)
        )
        starts = np.append(0, np.cumsum(sizes))
        owner = np.repeat(np.arange(len(sizes)), sizes)
        weights = np.array([float(weight)]) if weight != "cv" else np.array(_WEIGHTS)
        if weight == "cv":
            spread = _spread(log_p, owner)
            if spread <= TIE * np.abs(log_p).max():  # rounding errors of equal probabilities
                weights = np.zeros(1)
            else:
                weights = weights * (_spread(losses[len(alphas) // 2], owner) / spread or 1.0)
        figures = np.empty((2, len(alphas), len(weights)))
        for a, loss in enumerate(losses):
            for w, value in enumerate(weights):
                picked = _best_of_each(total(loss, log_p, value), starts)
                figures[:, a, w] = distance[picked].mean(), exact[picked].mean()
        best_a, best_w = middle_of_best(figures[0])
        shown = {
            "loss": figures[0],
            "exact": figures[1],
            "alpha": np.array(alphas),
            "weight": weights,
            "covered": float((np.bincount(owner, exact) > 0).mean()),
        }
        return alphas[best_a], float(weights[best_w]), shown

    def _fold(
        self, generator: Any, K: Array, kernel_y: Any, alphas: list[float], fold: int
    ) -> tuple[Any, ...]:
        """Losses (alphas, candidates), log-probabilities, distances, hits, and candidates per row."""
        kept, held = self.folds[fold]
        proposals = self.propose_fold(generator, fold)
        place = {row: i for i, row in enumerate(self.rows)}
        near = np.array([place[row] for row in kept if row in place])
        asked = np.array([place[row] for row in held])
        images = ObjectLosses(kernel_y, take(self.y, self.rows[near]))
        systems = (factorise(K[np.ix_(near, near)], alpha) for alpha in alphas)
        G = np.stack([row_weights(system, K[np.ix_(asked, near)]) for system in systems], axis=1)
        losses = [images(own, objects) for own, (objects, _) in zip(G, proposals)]
        truth = [self.y[i] for i in held]
        return (
            np.concatenate(losses, axis=1),
            np.concatenate([log_p for _, log_p in proposals]),
            self.apart(kernel_y, truth, [objects for objects, _ in proposals]),
            np.array(
                [
                    identity(t) == identity(z)
                    for t, (found, _) in zip(truth, proposals)
                    for z in found
                ]
            ),
            np.array([len(objects) for objects, _ in proposals]),
        )


def middle_of_best(losses: Array) -> tuple[int, int]:
    """Return ridge and weight of the least loss, (n_alphas, n_weights).

    Few rows leave many as good: then the ridge with most of them, and the middle of its weights, since the
    ends lie beside weights that are worse.
    """
    tied = losses <= losses.min() * (1 + 1e-9)
    row = int(tied.sum(axis=1).argmax())
    columns = np.flatnonzero(tied[row])
    return row, int(columns[len(columns) // 2])


def propose(generator: Any, X: Any, n_best: int) -> list[tuple[list[Any], Array]]:
    """Return candidates and log-probabilities of a fitted generator, which may be the user's own."""
    proposals = list(generator.candidates(X, n_best))
    name = type(generator).__name__
    if len(proposals) != length(X):
        raise ValueError(
            f"{name}.candidates returned {len(proposals)} pairs for {length(X)} inputs: one per input "
            "is needed."
        )
    for place, (objects, log_p) in enumerate(proposals):
        if not len(objects) or len(objects) != len(log_p):
            raise ValueError(
                f"{name}.candidates returned {len(objects)} outputs and {len(log_p)} log-probabilities "
                f"for input {place}: at least one output is needed, and as many log-probabilities."
            )
    return proposals


def _n_symbols(sequence: Any) -> int:
    """Length of a sequence; 0 of an object that has none, such as a graph."""
    if isinstance(sequence, (str, list, tuple, np.ndarray)):
        return len(sequence)
    return 0


def _wrong_places(truth: Any, answer: Any) -> int:
    """Number of places at which an answer has another symbol than the true output, or only one has any."""
    differ = sum(plain(a) != plain(b) for a, b in zip(truth, answer))
    return differ + abs(len(truth) - len(answer))


def _distances(kernel: Any, truth: list[Any], lists: list[Any], size: int = 8) -> Array:
    """``|phi(t) - phi(z)|^2`` for all objects z of each true output t, by small blocks of rows."""
    parts = []
    for i in range(0, len(truth), size):
        some, own = truth[i : i + size], lists[i : i + size]
        objects = [z for objects in own for z in objects]
        owner = np.repeat(np.arange(len(some)), [len(objects) for objects in own])
        cross = gram(kernel, objects, some)[np.arange(len(objects)), owner]
        parts.append(
            gram_diagonal(kernel, objects) + gram_diagonal(kernel, some)[owner] - 2 * cross
        )
    return np.maximum(np.concatenate(parts), 0.0)


def _best_of_each(values: Array, starts: Any) -> list[int]:
    """Place of the least value of every row; ties go to the more probable candidate, which is first."""
    return [int(a + values[a:b].argmin()) for a, b in pairwise(starts)]


def _spread(values: Array, owner: Any) -> float:
    """Standard deviation within rows."""
    counts = np.bincount(owner)
    means = np.bincount(owner, values) / counts
    return float(np.sqrt(((values - means[owner]) ** 2).mean()))
