"""Pre-images of words at places: the best path, with a certificate."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from isthmus._linalg import Array
from isthmus._solvers import best_paths
from isthmus._validation import check_count, warn
from isthmus.kernels import PositionKernel
from isthmus.kernels.sequences import Alphabet, Ints
from isthmus.preimages.base import RankingPreimage, rank_all
from isthmus.preimages.sizes import check_sizes
from isthmus.preimages.targets import Targets


class PathSearch(RankingPreimage):
    r"""Find the sequence whose image is nearest to a point, exactly, for ``PositionKernel``.

    .. math::
        \min_z \|\Psi\|^2 - 2 \langle \Psi, \phi(z) \rangle + k(z, z)

    For a given size m the inner product is a sum over neighbouring symbols, so that Viterbi's recursion
    lists sequences by falling inner product. ``k(z, z)`` is at least the number of words, ``m + (m - 1)``:
    a word that occurs twice adds to it. The list ends when the loss with this bound in place of
    ``k(z, z)`` is not below the best loss that was found, which is then the least of all. With ``width=0``
    this is the first entry.

    Parameters
    ----------
    max_paths : int, default=4096
        Longest list; a warning says when a loss could not be shown to be the least.

    Examples
    --------
    >>> from isthmus.features import KernelMap
    >>> from isthmus.kernels import PositionKernel
    >>> from isthmus.preimages import PathSearch
    >>> words = ["banana", "bandana", "cabana", "canada"]
    >>> embedding = KernelMap(kernel=PositionKernel(), preimage=PathSearch()).fit(words)
    >>> embedding.inverse_transform(embedding.transform(["banana"]))
    ['banana']
    """

    predicts_sizes = True

    def __init__(self, max_paths: int = 4096) -> None:
        self.max_paths = max_paths

    def _prepare(self) -> None:
        kernel = self.kernel_
        if not isinstance(kernel, PositionKernel) or kernel.normalise:
            raise ValueError(
                f"PathSearch needs PositionKernel(normalise=False), not {kernel!r}: use SequenceSearch()."
            )
        check_count("max_paths", self.max_paths)
        points = kernel._convert(self.embedding_.points_, "points")
        self.alphabet_ = Alphabet(points)
        corpus = self.alphabet_.encode(points)
        self.point_lengths_ = corpus.lengths
        self._words = kernel.words_at_places(corpus, int(corpus.lengths.max()))

    def _ranked(
        self,
        targets: Targets,
        n_best: int,
        sizes: Any = None,
        expected: Any = None,
        **options: Any,
    ) -> tuple[list[Any], Array]:
        """``sizes``: for each target the size, or the sizes, that its answer may have; ``expected``: for
        each target the size that a regression predicts. Without them, all sizes that were fitted.
        """
        low = int(self.point_lengths_.min())
        high = int(self.point_lengths_.max())
        if sizes is None and expected is not None:
            sizes = np.clip(np.rint(expected), low, high)
        elif sizes is None:
            sizes = [np.arange(low, high + 1)] * len(targets)
        allowed = check_sizes(sizes, len(targets))
        answers = []
        losses = np.empty((len(targets), n_best))
        unsure = 0
        for t, norm in enumerate(targets.squared_norms):
            tables = self._tables(targets.coef[t], int(allowed[t].max()))
            found = [self._one(tables, int(m), n_best) for m in np.unique(allowed[t])]
            unsure += not all(sure for _, _, sure in found)
            objects = [z for part, _, _ in found for z in part]
            values = np.concatenate([part for _, part, _ in found]) + norm
            order = rank_all(values, n_best)
            answers.append([self.alphabet_.decode(objects[i]) for i in order])
            losses[t] = np.maximum(values[order], 0.0)
        if unsure:
            warn(
                f"For {unsure} of {len(targets)} targets max_paths == {self.max_paths} was reached before "
                "the answer was proved optimal: raise it, or use a smaller width.",
                ConvergenceWarning,
            )
        return answers, losses

    def _tables(self, coef: Array, longest: int) -> list[Array]:
        """``<Psi, word at place>`` for symbols (places, V) and pairs (places, V, V)."""
        n_places = int(self.point_lengths_.max())
        V = len(self.alphabet_)
        weights = self.kernel_.place_weights(n_places, longest)
        tables = []
        for length, F in enumerate(self._words, start=1):
            values = (F.T @ coef).reshape(-1, n_places) @ weights
            tables.append(values.T.reshape((longest,) + (V,) * length))
        return tables

    def _one(self, tables: list[Array], m: int, n_best: int) -> tuple[list[Ints], Array, bool]:
        """The best sequences of one size, what of their losses depends on them, and whether it is sure."""
        symbols = tables[0][:m]
        pairs = tables[1] if len(tables) > 1 else np.zeros((m,) + (symbols.shape[1],) * 2)
        steps = [pairs[j - 1] + symbols[j][None, :] for j in range(1, m)]
        bound = m + (m - 1 if len(tables) > 1 else 0)
        k = n_best
        while True:
            k = min(k, max(self.max_paths, n_best))
            paths, inner = best_paths(symbols[0], steps, k)
            own = self.kernel_._diagonal(paths)
            values = own - 2.0 * inner
            order = np.argsort(values, kind="stable")[:n_best]
            # Nothing beyond the list can have a lower loss than this.
            sure = len(paths) < k or bound - 2.0 * inner[-1] >= values[order[-1]] - 1e-12 * bound
            if sure or k >= self.max_paths:
                return [paths[i] for i in order], values[order], sure
            k *= 8
