"""Generators of candidates that need no alignment: a list of objects, and the answers of neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from isthmus._linalg import TIE, Array
from isthmus._validation import BaseEstimator
from isthmus.kernels import SequenceKernel, gram, owned, take
from isthmus.kernels.sequences import Alphabet, plain
from isthmus.preimages.generators.generator import Generator, merge
from isthmus.preimages.generators.order import first_of_each

_EDIT = 0.1  # probability of an edited answer, all edits of it together, against the answer itself
_LONGEST_EDITED = (
    50  # symbols: a longer answer has thousands of edits, none of them worth a place in a list
)


class Dictionary(Generator, BaseEstimator):
    """Propose the objects of a list, whatever the input, equally probable.

    Parameters
    ----------
    objects : sequence of objects, default=None
        The candidates; None: the outputs that were fitted, each once.
    """

    def __init__(self, objects: Any = None) -> None:
        self.objects = objects

    def fit(self, X: Any, y: Any) -> Dictionary:
        """Take the objects, or else the outputs ``y``; ``X`` is not used."""
        given = owned(list(y if self.objects is None else self.objects))
        if not given:
            raise ValueError("objects is empty: name at least one candidate.")
        self.objects_ = given
        if self.objects is None:
            self.objects_ = [given[i] for i in first_of_each(given)]
        return self

    def candidates(self, X: Sequence[Any], n_best: int = 30) -> list[tuple[list[Any], Array]]:
        """Return all objects for each input, however many."""
        check_is_fitted(self)
        even = np.full(len(self.objects_), -np.log(len(self.objects_)))
        return [(self.objects_, even) for _ in X]


class NeighbourAnswers(Generator, BaseEstimator):
    """Propose the outputs of the nearest inputs, and sequences one edit away from them.

    The probability of an answer is the share of its neighbours' kernel values. Edits are deletions of a
    symbol and replacements of a symbol by one that another neighbour's answer has at the same place,
    counted from the beginning or from the end; all edits of an answer share a tenth of its probability.

    Parameters
    ----------
    kernel : kernel, default=None
        Similarity of inputs; None: ``SequenceKernel(0.3, normalise=True)``.
    n_neighbours : int, default=10
        Number of neighbours; inputs as similar as the last of them count too, up to twice as many.
    edits : bool, default=True
        Whether to propose edited answers. Outputs that are not sequences, or longer than 50 symbols, have
        none.
    """

    def __init__(self, kernel: Any = None, *, n_neighbours: int = 10, edits: bool = True) -> None:
        self.kernel = kernel
        self.n_neighbours = n_neighbours
        self.edits = edits

    def fit(self, X: Any, y: Any) -> NeighbourAnswers:
        """Keep the pairs of inputs ``X`` and outputs ``y``."""
        check_consistent_length(X, y)
        self.X_, self.y_ = owned(X), owned(y)
        self.kernel_ = SequenceKernel(0.3, normalise=True) if self.kernel is None else self.kernel
        self._sequences = all(isinstance(z, (str, list, tuple)) for z in self.y_)
        self._alphabet = Alphabet(self.y_) if self._sequences else None
        return self

    def candidates(self, X: Sequence[Any], n_best: int = 30) -> list[tuple[list[Any], Array]]:
        check_is_fitted(self)
        K = gram(self.kernel_, X, self.X_)
        return [self._one(row, n_best) for row in K]

    def _one(self, row: Array, n_best: int) -> tuple[list[Any], Array]:
        near = np.argsort(-row, kind="stable")[: 2 * self.n_neighbours + 1]
        # The place of a row does not decide which of equally similar ones are neighbours.
        last = row[near[: self.n_neighbours][-1]] - TIE * float(np.abs(row).max())
        n_near = np.count_nonzero(row[near] >= last)
        near = near[: n_near if n_near <= 2 * self.n_neighbours else self.n_neighbours]
        shares = np.maximum(row[near], 1e-12 * max(float(np.abs(row).max()), 1e-300))
        values = np.log(shares / shares.sum())
        answers = [self.y_[i] for i in near]
        if self._alphabet is None:
            first = first_of_each(answers)[:n_best]
            return take(answers, first), values[first]
        answers = [tuple(map(plain, answer)) for answer in answers]
        outputs = list(answers)
        weights = list(values)
        for answer, value in zip(answers, values) if self.edits else ():
            if len(answer) > _LONGEST_EDITED:
                continue
            edited = _edits(answer, answers)
            outputs += edited
            weights += [value + np.log(_EDIT / len(edited))] * len(edited)
        found, log_p = merge(outputs, np.array(weights), self._alphabet)
        return found[:n_best], log_p[:n_best]


def _edits(answer: tuple[Any, ...], others: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    found = {answer[:i] + answer[i + 1 :] for i in range(len(answer))} if len(answer) > 1 else set()
    for other in others:
        for i in range(len(answer)):
            for j in (i, len(other) - len(answer) + i):
                if 0 <= j < len(other) and other[j] != answer[i]:
                    found.add((*answer[:i], other[j], *answer[i + 1 :]))
    return sorted(found, key=repr) or [answer]
