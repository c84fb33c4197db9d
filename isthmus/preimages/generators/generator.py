"""The protocol of a generator of candidates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from isthmus._linalg import Array
from isthmus.kernels.sequences import Alphabet


class Generator(ABC):
    """Proposals of outputs for an input, each with a log-probability: the protocol of a generator.

    Any scikit-learn estimator with these two methods can be one, whether it inherits from this class or
    not; inputs and outputs may be of any kind. What is asked of it:

    - ``fit(X, y)`` learns from pairs and returns the generator. It must forget what it learned before:
      :class:`~isthmus.DependencyRegressor` clones and fits it anew without the rows that it is
      then asked about.
    - ``candidates(X, n_best)`` returns one pair for each input: a list of at least one output, of the same
      kind as ``y``, best first and each once, and an array of their log-probabilities. These need not add
      up to one; only their differences within an input count.
    - A ``fit`` that cannot learn from such rows raises ``ValueError``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.base import BaseEstimator
    >>> from isthmus import DependencyRegressor
    >>> from isthmus.preimages import Generator
    >>> class Endings(Generator, BaseEstimator):
    ...     def fit(self, X, y):
    ...         return self
    ...
    ...     def candidates(self, X, n_best=30):
    ...         return [([x + "s", x + "es"], np.log([0.7, 0.3])) for x in X]
    >>> words = ["cat", "box", "dog", "fox", "cow", "wax", "hen", "mix"]
    >>> plurals = ["cats", "boxes", "dogs", "foxes", "cows", "waxes", "hens", "mixes"]
    >>> DependencyRegressor(candidates=Endings()).fit(words, plurals).predict(["fax", "bat"])
    ['faxes', 'bats']
    """

    @abstractmethod
    def fit(self, X: Any, y: Any) -> Any:
        """Learn from pairs of inputs and outputs."""

    @abstractmethod
    def candidates(self, X: Sequence[Any], n_best: int = 30) -> list[tuple[list[Any], Array]]:
        """Return candidates and their log-probabilities, best first, at most ``n_best`` for each input."""


def merge(
    outputs: Sequence[tuple[Any, ...]], values: Array, alphabet: Alphabet
) -> tuple[list[Any], Array]:
    """Return every output once, with its log-probabilities added up, best first; empty ones left out."""
    sums: dict[tuple[Any, ...], float] = {}
    for output, value in zip(outputs, values):
        if len(output):
            sums[output] = float(np.logaddexp(sums.get(output, -np.inf), value))
    order = sorted(sums, key=lambda output: -sums[output])
    return [alphabet.spell(output) for output in order], np.array([sums[o] for o in order])
