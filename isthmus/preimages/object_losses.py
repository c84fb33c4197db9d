"""Losses of a few objects against one expansion, without a kernel matrix where n-grams allow it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isthmus._linalg import Array
from isthmus.kernels import gram, gram_diagonal
from isthmus.kernels.sequences import Ints, NgramKernel
from isthmus.preimages.ngram_index import NgramIndex


class ObjectLosses:
    """``k(z, z) - 2 sum_i G_i k(x_i, z)``: what of the full loss depends on the object.

    Kernels of n-grams keep one table of all n-grams of the points: a call then costs the n-grams of the
    objects alone. Other kernels are evaluated.
    """

    def __init__(self, kernel: Any, points: Any) -> None:
        self.kernel = kernel
        self.points = points
        counted = isinstance(kernel, NgramKernel) and getattr(kernel, "label_kernel", None) is None
        self.index: Any = NgramIndex(kernel, points) if counted else None

    def __call__(self, coef: Array, objects: Sequence[Any]) -> Array:
        """Return the losses of the objects against one expansion, or several: (..., n_objects)."""
        if self.index is not None:
            corpus = self.index.alphabet.encode(objects)
            if corpus.n_symbols == len(self.index.alphabet):  # otherwise a symbol is new
                return self._counted(coef, corpus.padded(), corpus.lengths)
        inner = coef @ gram(self.kernel, objects, self.points).T
        return np.asarray(gram_diagonal(self.kernel, objects) - 2.0 * inner)

    def _counted(self, coef: Array, Z: Ints, lengths: Ints) -> Array:
        targets = [self.index.target(row, 0.0) for row in np.atleast_2d(coef)]
        own = targets[0].own(Z, lengths)  # the same for all
        losses = [-target.score(target.inner(Z, lengths), own, lengths) for target in targets]
        return losses[0] if np.ndim(coef) == 1 else np.array(losses)
