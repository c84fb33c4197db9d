"""The best candidates that a search over objects has looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from isthmus._linalg import Array

# Candidates are sorted out once there are so many times more than are kept.
_SLACK = 4


class BestSeen:
    """The best candidates that were looked at, each once, as tuples of arrays.

    ``keep`` of them are certain to be the best of all; ``lowest`` is the smallest loss.
    """

    def __init__(self, keep: int) -> None:
        self.keep = keep
        self.lowest = np.inf
        self._known: dict[bytes, tuple[float, tuple[Any, ...]]] = {}

    def __len__(self) -> int:
        return len(self._known)

    def add(self, losses: Array, candidate: Callable[[int], tuple[Any, ...]]) -> None:
        """Take note of candidates by their place among the losses; infinite ones are not allowed."""
        for row in np.argsort(losses, kind="stable")[: self.keep]:
            if not np.isfinite(losses[row]):
                break
            arrays = candidate(row)
            key = b"".join(array.tobytes() for array in arrays)
            if key not in self._known:
                self._known[key] = (float(losses[row]), tuple(array.copy() for array in arrays))
                self.lowest = min(self.lowest, float(losses[row]))
        if len(self._known) > _SLACK * self.keep:
            kept = sorted(self._known.items(), key=lambda item: item[1][0])[: self.keep]
            self._known = dict(kept)

    def best(self, n: int) -> list[tuple[float, tuple[Any, ...]]]:
        """Return the n best: losses and candidates."""
        return sorted(self._known.values(), key=lambda item: item[0])[:n]
