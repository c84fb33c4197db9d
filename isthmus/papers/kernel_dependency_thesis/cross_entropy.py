"""The cross-entropy method as printed, [B2006]_ Sec. 3.4: Algorithm A3.4 with every family of its codes.

``isthmus.preimages`` uses the search, with its families of graphs, symbols and permutations; the rest of
what the thesis prints is here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import Array
from isthmus._solvers import (
    Bernoulli,
    Categorical,
    CrossEntropyResult,
    Family,
    InversionCodes,
    cross_entropy,
    decode_inversions,
)

__all__ = [
    "Bernoulli",
    "Categorical",
    "CrossEntropyResult",
    "Gaussian",
    "InversionCodes",
    "cross_entropy",
    "decode_inversions",
    "inversion_table",
]


@dataclass(frozen=True)
class Gaussian(Family):
    """Independent normal numbers; ``parameters`` (2, n_places) has means and standard deviations."""

    parameters: Array
    noise: float = 0.0

    def sample(self, rng: np.random.RandomState, n: int) -> NDArray:
        mean, deviation = self.parameters
        return mean + deviation * rng.standard_normal((n, len(mean)))

    def update(self, elite: NDArray, smoothing: float) -> Gaussian:
        fitted = np.stack([elite.mean(axis=0), elite.std(axis=0) + self.noise])
        return replace(self, parameters=smoothing * fitted + (1.0 - smoothing) * self.parameters)


def inversion_table(values: Any) -> NDArray[np.int64]:
    """Code of the order of a sequence: entry k counts what is larger and left of its k-th smallest.

    Ties are taken from left to right. For "Kernels" (sorted K e e l n r s) it is 0 0 2 2 1 0 0,
    [B2006]_ Sec. 3.4.4, Example E3.3.
    """
    order = np.argsort(np.asarray(values), kind="stable")
    later = np.arange(len(order))
    return np.array([(order[k + 1 :] < order[k]).sum() for k in later], dtype=np.int64)
