"""A generator of candidates: align, classify every place, and list the most probable outputs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from isthmus._linalg import Array
from isthmus._solvers import best_paths
from isthmus._validation import BaseEstimator, check_option
from isthmus.kernels.sequences import Alphabet, Ints, are_vectors, as_sequences, plain
from isthmus.preimages.generators.alignment import cut
from isthmus.preimages.generators.generator import Generator, merge
from isthmus.preimages.generators.order import content_order, copy_groups
from isthmus.preimages.generators.places import PlaceClassifier
from isthmus.preimages.generators.windows import SymbolWindows, VectorWindows

_TRIALS = 500  # rows on which C is chosen; the best C changes little with their number
_TRIAL_PLACES = 8000  # and their symbols: a protein has as many as thirty words


class AlignedClassifier(Generator, BaseEstimator):
    r"""Propose the outputs that a classifier of aligned places finds most probable.

    Every symbol of an input produces a chunk of the output, found by alignment (where every output is as
    long as its input, the symbols themselves). Logistic regression, one for each input symbol,
    predicts the chunk of a place from the symbols around it, the words through it and the chunk before it:

    .. math::
        p(y \mid x) = \sum_{c_1 \ldots c_m = y} \; \prod_i p(c_i \mid c_{i-1}, x_{i-r} \ldots x_{i+r})

    The chunks of a symbol are those that it had in training. A symbol that was never seen stays silent if
    some symbols do, and otherwise has every chunk as often as it occurs. The k most probable chains are
    found exactly by Viterbi's recursion with k entries per chunk, among the chunks whose probability
    reaches ``prune`` at their place after some chunk. Chains that spell the same output are added up.

    Parameters
    ----------
    window : int, default=4
        Symbols on either side of a place that the classifier sees; for sequences of vectors or pictures
        at most one on either side.
    max_length : int, default=4
        Length of the longest words through a place that are features.
    max_chunk : int or "auto", default="auto"
        Length of the longest chunk of outputs of one input symbol. "auto": 1 where all lengths are equal,
        otherwise the least of 2 to 4 with which 99 % of the rows have an alignment.
    C : float or sequence of float, default=(0.03, 0.3, 1.0, 3.0)
        Inverse ridge weight of the logistic regression. Several: the one of the largest likelihood on a
        held-out quarter of at most 500 rows.
    chain : bool or "auto", default="auto"
        Whether the classifier sees the chunk before. Without it the places are independent. A chunk that
        nearly always repeats the one before carries errors on, place by place: "auto" tries both on the
        held-out rows of ``C`` if every output is as long as its input, and otherwise sees it.
    prune : float, default=1e-4
        Least probability of a chunk that is considered; 0: all.
    max_iter : int, default=200
        Most iterations of the logistic regression.

    Attributes
    ----------
    places_ : object
        The classifiers of places; ``places_.kinds`` has one for each input symbol.
    labels_ : list of tuple
        The chunks.
    C_ : float
        The inverse ridge weight.
    chain_ : bool
        Whether the classifier sees the chunk before.

    Examples
    --------
    >>> from isthmus.preimages import AlignedClassifier
    >>> words = ["ax", "xa", "cab", "back", "tax", "cat", "act", "bat", "tack"]
    >>> sounds = ["Aks", "ksA", "kAb", "bAk", "tAks", "kAt", "Akt", "bAt", "tAk"]
    >>> found, log_p = AlignedClassifier().fit(words, sounds).candidates(["bax"], 2)[0]
    >>> found[0]
    'bAks'
    """

    def __init__(
        self,
        window: int = 4,
        *,
        max_length: int = 4,
        max_chunk: int | str = "auto",
        C: Any = (0.03, 0.3, 1.0, 3.0),
        chain: bool | str = "auto",
        prune: float = 1e-4,
        max_iter: int = 200,
    ) -> None:
        self.window = window
        self.max_length = max_length
        self.max_chunk = max_chunk
        self.C = C
        self.chain = chain
        self.prune = prune
        self.max_iter = max_iter

    # -- fit -----------------------------------------------------------------------------------

    def fit(self, X: Sequence[Any], y: Sequence[Any]) -> AlignedClassifier:
        """Align inputs and outputs, and fit the classifiers of places.

        Parameters
        ----------
        X : sequence of sequences
            Strings, lists of tokens, integer arrays, or arrays with one vector or picture per place.
        y : sequence of sequences
            Outputs.

        Returns
        -------
        self : object
            The fitted generator.
        """
        X, y = as_sequences(X), as_sequences(y, "y")
        if are_vectors(X[0]) and not all(len(a) == len(b) for a, b in zip(X, y)):
            raise ValueError(
                "Inputs are sequences of vectors, which have no symbols to align: outputs must be as long "
                "as their inputs."
            )
        chunks = cut(X, y, self.max_chunk)
        self._alphabet = Alphabet(y)  # knows of what kind the answers are
        # Rows without an alignment are left out.
        X = [x for x, own in zip(X, chunks) if own is not None]
        found = [own for own in chunks if own is not None]
        numbers: dict[tuple[Any, ...], int] = {}
        labels = [np.array([numbers.setdefault(c, len(numbers)) for c in row]) for row in found]
        self.labels_ = list(numbers)
        self._windows: Any = (
            VectorWindows(min(self.window, 1))
            if are_vectors(X[0])
            else SymbolWindows(self.window, self.max_length)
        )
        choices = [float(value) for value in np.atleast_1d(self.C)]
        self.chain_ = self.chain is not False
        self.C_ = self._choose(X, labels, choices) if len(choices) > 1 else choices[0]
        if isinstance(self.chain, str):
            check_option("chain", self.chain, ("auto",))
            self.chain_ = self._choose_chain(X, labels)
        self._windows.fit(X)
        self.places_ = self._fit_places(X, labels, self.C_)
        return self

    def _choose(self, X: list[Any], labels: list[Ints], choices: list[float]) -> float:
        """Return the C of the largest likelihood on rows that were not fitted."""
        held, kept = self._split(X, labels)
        if not len(held):
            return choices[len(choices) // 2]
        self._windows.fit([X[i] for i in kept])
        features, groups = self._features([X[i] for i in held])
        before, target = self._targets([labels[i] for i in held])
        values = []
        for C in choices:
            places = self._fit_places([X[i] for i in kept], [labels[i] for i in kept], C)
            values.append(places.log_likelihood(features, groups, before, target))
        return choices[int(np.argmax(values))]

    def _split(self, X: list[Any], labels: list[Ints]) -> tuple[Ints, Ints]:
        """Return rows that are held out for choices, a quarter, and rows that are fitted then.

        Neither depends on the order of rows, and inputs that are held out are not fitted.
        """
        order = content_order(X, labels)[:_TRIALS]
        symbols = np.cumsum([len(X[i]) for i in order])
        order = order[: max(8, int(np.searchsorted(symbols, _TRIAL_PLACES)))]
        n_held = len(order) // 4
        groups = copy_groups([X[i] for i in order])
        if n_held and groups[-1] > 0:  # unless all are copies of one
            n_held = int(np.searchsorted(groups, max(groups[n_held], 1)))
        return order[:n_held], order[n_held:]

    def _choose_chain(self, X: list[Any], labels: list[Ints]) -> bool:
        """Return whether held-out outputs have at most as many wrong places with a chain as without."""
        held, kept = self._split(X, labels)
        if not len(held) or any(len(chunk) != 1 for chunk in self.labels_):
            return True
        self._windows.fit([X[i] for i in kept])
        truth = [[self.labels_[label][0] for label in labels[i]] for i in held]
        wrong = []
        for chain in (True, False):
            self.chain_ = chain
            self.places_ = self._fit_places(
                [X[i] for i in kept], [labels[i] for i in kept], self.C_
            )
            found = self.candidates([X[i] for i in held], 1)
            wrong.append(
                sum(
                    plain(a) != b
                    for (answers, _), own in zip(found, truth)
                    for a, b in zip(answers[0], own)
                )
            )
        return wrong[0] <= wrong[1]

    def _fit_places(self, X: list[Any], labels: list[Ints], C: float) -> PlaceClassifier:
        silent = self.labels_.index(()) if () in self.labels_ else None
        places = PlaceClassifier(len(self.labels_), silent, C=C, max_iter=self.max_iter)
        return places.fit(*self._features(X), *self._targets(labels), self._windows.n_groups)

    def _features(self, X: Sequence[Any]) -> tuple[Any, Ints]:
        return self._windows.transform(X), self._windows.groups(X)

    def _targets(self, labels: list[Ints]) -> tuple[Ints, Ints]:
        """The chunk before and the chunk of all places; before the first, and without a chain, is none."""
        none = np.array([len(self.labels_)])
        before = np.concatenate([np.append(none, row[:-1]) for row in labels])
        return before if self.chain_ else np.full_like(before, none[0]), np.concatenate(labels)

    # -- candidates ----------------------------------------------------------------------------

    def candidates(self, X: Sequence[Any], n_best: int = 30) -> list[tuple[list[Any], Array]]:
        check_is_fitted(self)
        X = as_sequences(X)
        scores = self.places_.scores(*self._features(X))
        ends = np.cumsum([0, *map(len, X)])
        return [self._one(scores[a:b], n_best) for a, b in pairwise(ends)]

    def _one(self, scores: list[Any], n_best: int) -> tuple[list[Any], Array]:
        """The best outputs of one input, from the scores of its places."""
        least = np.log(self.prune) if self.prune > 0 else -np.inf
        before = np.array([len(self.labels_)])
        chain, kept, reach = [], [], []
        for place in scores:
            step = place.log_probabilities(before if self.chain_ else before[:0])
            best = step.max(axis=0)  # of every chunk after the one that favours it most
            inside = best >= min(least, best.max())
            chain.append(step[:, inside])
            kept.append(place.labels[inside])
            reach.append(best)
            before = kept[-1]
        if not self.chain_:
            chain[1:] = [
                np.broadcast_to(step, (len(a), step.shape[1])) for a, step in zip(kept, chain[1:])
            ]
        paths, values = best_paths(chain[0][0], chain[1:], n_best)
        outputs = []
        for path in paths:
            chunks = [self.labels_[kept[i][label]] for i, label in enumerate(path)]
            outputs.append(tuple(token for chunk in chunks for token in chunk))
        if not any(outputs):  # nothing but empty chunks
            outputs = [self._one_chunk(scores, reach)]
            values = values[:1]
        return merge(outputs, values, self._alphabet)

    def _one_chunk(self, scores: list[Any], reach: list[Array]) -> tuple[Any, ...]:
        """The most probable chunk that is not empty."""
        found = [
            (value, label)
            for place, best in zip(scores, reach)
            for label, value in zip(place.labels, best)
            if len(self.labels_[label])
        ]
        if found:
            return self.labels_[max(found)[1]]
        return next(c for c in self.labels_ if c)
