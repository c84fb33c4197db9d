"""A generator of candidates: align, classify every place, and list the most probable outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import log_softmax
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from isthmus._linalg import Array
from isthmus._solvers.paths import best_paths
from isthmus.kernels.sequences.encoding import Alphabet, Ints, plain
from isthmus.sequences.alignment import align
from isthmus.sequences.generator import Generator, merge
from isthmus.sequences.windows import SymbolWindows, VectorWindows, are_vectors

_MOST_CHUNK = 4  # of "auto": the longest chunk that is tried
_ENOUGH = 0.99  # of "auto": the share of rows that must have an alignment
_TRIALS = 500  # rows on which C is chosen; the best C changes little with their number


class AlignedClassifier(Generator, BaseEstimator):
    r"""Propose the outputs that a classifier of aligned places finds most probable.

    Every symbol of an input produces a chunk of the output (:func:`~isthmus.sequences.align`; where every
    output is as long as its input, the symbols themselves). Logistic regression predicts the chunk of a
    place from the symbols around it, the words through it and the chunk before it:

    .. math::
        p(y \mid x) = \sum_{c_1 \ldots c_m = y} \; \prod_i p(c_i \mid c_{i-1}, x_{i-r} \ldots x_{i+r})

    The k most probable chains are found exactly by Viterbi's recursion with k entries per label, among the
    chunks whose probability reaches ``prune`` at their place after some chunk. Chains that spell the same
    output are added up.

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
    C : float or sequence of float, default=(0.3, 1.0, 3.0)
        Inverse ridge weight of the logistic regression. Several: the one of the largest likelihood on a
        held-out quarter of at most 500 rows.
    chain : bool, default=True
        Whether the classifier sees the chunk before. Without it the places are independent.
    prune : float, default=1e-4
        Least probability of a chunk that is considered; 0: all.
    max_iter : int, default=200
        Most iterations of the logistic regression.

    Attributes
    ----------
    classifier_ : LogisticRegression or None
        The classifier of places; None if there is only one chunk.
    labels_ : list of tuple
        The chunks.
    aligned_ : float
        Share of the rows that have an alignment. The others are left out.
    certainty_ : float
        Mean log-likelihood per place of the alignment's own model, 0 at best. Nan without alignment.
    C_ : float
        The inverse ridge weight.

    Examples
    --------
    >>> from isthmus.sequences import AlignedClassifier
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
        C: Any = (0.3, 1.0, 3.0),
        chain: bool = True,
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
        """Align inputs and outputs, and fit the classifier of places.

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
        self._alphabet = Alphabet(y)  # knows of what kind the answers are
        chunks = self._chunks(X, y)
        rows = [i for i, found in enumerate(chunks) if found is not None]
        self.aligned_ = len(rows) / len(chunks)
        if not rows:
            raise ValueError(
                f"No output can be cut into chunks of at most {self.max_chunk} symbols, one per input "
                "symbol: outputs are too long. Use another generator."
            )
        X = [X[i] for i in rows]
        found = [chunks[i] for i in rows]
        numbers: dict[tuple[Any, ...], int] = {}
        labels = [np.array([numbers.setdefault(c, len(numbers)) for c in row]) for row in found]
        self.labels_ = list(numbers)
        vectors = are_vectors(X[0])
        self._windows: Any = (
            VectorWindows(min(self.window, 1))
            if vectors
            else SymbolWindows(self.window, self.max_length)
        )
        choices = [float(value) for value in np.atleast_1d(self.C)]
        self.C_ = self._choose(X, labels, choices) if len(choices) > 1 else choices[0]
        self._fit_places(X, labels, self.C_)
        return self

    def _chunks(self, X: Sequence[Any], y: Sequence[Any]) -> list[Any]:
        self.certainty_ = float("nan")
        equal = all(len(a) == len(b) for a, b in zip(X, y))
        if equal and self.max_chunk in ("auto", 1):
            return [[(plain(token),) for token in b] for b in y]
        if are_vectors(X[0]):
            raise ValueError(
                "Inputs are sequences of vectors, which have no symbols to align: outputs must be as long "
                "as their inputs."
            )
        longest = self.max_chunk
        if longest == "auto":
            ratios = np.array([len(b) / len(a) for a, b in zip(X, y)])
            longest = next(
                (c for c in range(2, _MOST_CHUNK) if (ratios <= c).mean() >= _ENOUGH), _MOST_CHUNK
            )
        alignment = align(X, y, max_chunk=int(longest))
        if alignment.log_likelihoods:
            places = sum(len(a) for a, found in zip(X, alignment.chunks) if found is not None)
            self.certainty_ = alignment.log_likelihoods[-1] / places
        return [
            None if found is None else [tuple(plain(t) for t in c) for c in found]
            for found in alignment.chunks
        ]

    def _choose(self, X: list[Any], labels: list[Ints], choices: list[float]) -> float:
        """Return the C of the largest likelihood on rows that were not fitted."""
        order = np.random.default_rng(0).permutation(len(X))[:_TRIALS]
        n_held = len(order) // 4
        if n_held < 1:
            return choices[len(choices) // 2]
        held, kept = order[:n_held], order[n_held:]
        held_X, held_labels = [X[i] for i in held], [labels[i] for i in held]
        values = []
        for C in choices:
            self._fit_places([X[i] for i in kept], [labels[i] for i in kept], C)
            values.append(self._likelihood(held_X, held_labels))
        return choices[int(np.argmax(values))]

    def _fit_places(self, X: list[Any], labels: list[Ints], C: float) -> None:
        target = np.concatenate(labels)
        self._seen = np.unique(target)
        self.classifier_: LogisticRegression | None = None
        self._windows.fit(X)
        if len(self._seen) == 1:
            return
        features = self._windows.transform(X)
        self._n_windows = features.shape[1]
        if self.chain:
            before = np.concatenate(
                [np.concatenate([[len(self.labels_)], row[:-1]]) for row in labels]
            )
            shape = (len(before), len(self.labels_) + 1)
            ones = sparse.csr_matrix(
                (np.ones(len(before)), (np.arange(len(before)), before)), shape=shape
            )
            features = sparse.hstack([features, ones], format="csr")
        classifier = LogisticRegression(C=C, max_iter=self.max_iter, tol=1e-3)
        self.classifier_ = classifier.fit(features, target)

    def _likelihood(self, X: list[Any], labels: list[Ints]) -> float:
        total = 0.0
        for row, steps in zip(labels, self._log_probabilities(X)):
            place = np.minimum(np.searchsorted(self._seen, row), len(self._seen) - 1)
            known = self._seen[place] == row
            before = np.concatenate([[len(self._seen)], place[:-1]])
            values = steps[np.arange(len(row)), before, place]
            total += float(np.where(known, values, np.log(1e-6)).sum())
        return total

    # -- candidates ----------------------------------------------------------------------------

    def _log_probabilities(self, X: Sequence[Any]) -> Any:
        """Yield, for each input, log p(chunk | place, chunk before), (places, before, chunks).

        The last "chunk before" is the beginning of the sequence.
        """
        n = len(self._seen)
        if self.classifier_ is None:
            yield from (np.zeros((len(x), 2, 1)) for x in X)
            return
        coef, intercept = self.classifier_.coef_, self.classifier_.intercept_
        if n == 2:  # scikit-learn keeps one row for two classes
            coef = np.vstack([np.zeros_like(coef), coef])
            intercept = np.array([0.0, intercept[0]])
        scores = self._windows.transform(X) @ coef[:, : self._n_windows].T + intercept
        after = np.zeros((n + 1, n))
        if self.chain:
            after = coef[:, self._n_windows :].T[np.append(self._seen, len(self.labels_))]
        ends = np.cumsum([len(x) for x in X])[:-1]
        for part in np.split(np.asarray(scores), ends):
            yield log_softmax(part[:, None, :] + after, axis=2)

    def candidates(self, X: Sequence[Any], n_best: int = 30) -> list[tuple[list[Any], Array]]:
        check_is_fitted(self)
        return [self._one(steps, n_best) for steps in self._log_probabilities(X)]

    def _one(self, steps: Array, n_best: int) -> tuple[list[Any], Array]:
        """The best outputs of one input."""
        least = np.log(self.prune) if self.prune > 0 else -np.inf
        reach = steps.max(axis=1)  # of every chunk after the one that favours it most
        kept = [np.flatnonzero(row >= min(least, row.max())) for row in reach]
        first = steps[0, -1, kept[0]]
        chain = [steps[i][np.ix_(kept[i - 1], kept[i])] for i in range(1, len(kept))]
        paths, values = best_paths(first, chain, n_best)
        outputs = []
        for path in paths:
            chunks = [self.labels_[self._seen[kept[i][label]]] for i, label in enumerate(path)]
            outputs.append(tuple(token for chunk in chunks for token in chunk))
        if not any(outputs):  # nothing but empty chunks: the most probable chunk that is not empty
            outputs, values = [self._one_chunk(reach)], values[:1]
        return merge(outputs, values, self._alphabet)

    def _one_chunk(self, reach: Array) -> tuple[Any, ...]:
        full = [j for j, label in enumerate(self._seen) if len(self.labels_[label])]
        return self.labels_[self._seen[full[int(reach[:, full].max(axis=0).argmax())]]]
