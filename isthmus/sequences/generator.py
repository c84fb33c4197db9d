"""The protocol of a generator of candidates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from isthmus._linalg import Array
from isthmus.kernels.sequences.encoding import Alphabet


class Generator(ABC):
    """Proposals of outputs for an input, each with a log-probability.

    Any scikit-learn estimator with these two methods can be one; the outputs may be of any kind.
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
