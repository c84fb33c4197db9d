"""Pre-image among objects that the user names, the same for all targets or each target its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isthmus._linalg import Array
from isthmus._saved import saved
from isthmus.kernels import gram, gram_diagonal, is_precomputed, take
from isthmus.preimages.base import RankingPreimage, rank_all, smallest
from isthmus.preimages.targets import Targets


@saved(candidates_="m", matrix_="m n", diagonal_="m")
class CandidateSearch(RankingPreimage):
    r"""Choose the best of given candidates by the full loss, or the k best.

    .. math::
        \min_{z \in C} k(z, z) - 2 \sum_i G_i k(x_i, z) + G'KG

    The candidates need not have been fitted: a dictionary of words, a catalogue of molecules, all
    postures a robot can reach, [B2006]_ Sec. 3.1. Each target may have a list of its own, as in the
    identification of metabolites, [BPDR2016]_: a spectrum predicts a point of the feature space of
    molecules, and those of the right mass are ranked. Kernel values of ``objects`` with the points of
    the expansion are computed once, in fit; a target then costs one product.

    Parameters
    ----------
    objects : sequence of objects, default=None
        Candidates for all targets; None: the fitted objects. ``inverse(Z, candidates=...)`` gives, for each
        target, the indices of the allowed candidates, or a list of objects of its own.

    Examples
    --------
    >>> from isthmus.features import KernelMap
    >>> from isthmus.kernels import SequenceKernel
    >>> from isthmus.preimages import CandidateSearch
    >>> words = ["banana", "bandana", "cabana", "canada"]
    >>> embedding = KernelMap(kernel=SequenceKernel(0.2)).fit(words)
    >>> search = CandidateSearch(["panama", "bahamas"]).fit(
    ...     words, embedding.transform(words), embedding
    ... )
    >>> search.inverse(embedding.transform(["banana"]))
    ['panama']
    """

    def __init__(self, objects: Any = None) -> None:
        self.objects = objects

    def _prepare(self) -> None:
        if is_precomputed(self.kernel_):
            raise ValueError(
                "CandidateSearch needs kernel values of its candidates, but the kernel is "
                "'precomputed': use Nearest(), which ranks the fitted objects."
            )
        if self.objects is not None and len(self.objects) == 0:
            raise ValueError(
                "objects is empty: name at least one candidate, or None for the fitted ones."
            )
        given = self.objects_ if self.objects is None else self.objects
        numeric = hasattr(self.objects_, "shape") and not hasattr(given, "shape")
        self.candidates_ = np.asarray(given, dtype=self.objects_.dtype) if numeric else given
        self.matrix_ = gram(self.kernel_, self.candidates_, self.embedding_.points_)
        self.diagonal_ = gram_diagonal(self.kernel_, self.candidates_)

    def _ranked(
        self, targets: Targets, n_best: int, candidates: Any = None, **options: Any
    ) -> tuple[list[Any], Array]:
        if candidates is None:
            values = self.diagonal_ - 2.0 * targets.coef @ self.matrix_.T
            values = np.maximum(values + targets.squared_norms[:, None], 0.0)
            order, best = smallest(values, n_best)
            return [take(self.candidates_, places) for places in order], best
        self._check_candidates(candidates, len(targets))
        answers = []
        losses = np.empty((len(targets), n_best))
        for t, own in enumerate(candidates):
            answers_t, losses[t] = self._one(targets.subset(slice(t, t + 1)), own, n_best, t)
            answers.append(answers_t)
        return answers, losses

    def _check_candidates(self, candidates: Any, n_targets: int) -> None:
        if not hasattr(candidates, "__len__") or isinstance(candidates, str):
            raise ValueError(
                f"candidates == {candidates!r}, must be a list with one list per target: of objects, or of "
                "indices of the fitted candidates."
            )
        if len(candidates) != n_targets:
            raise ValueError(
                f"candidates has {len(candidates)} lists, must have {n_targets}: one per target."
            )
        for t, own in enumerate(candidates):
            if not hasattr(own, "__len__") or isinstance(own, str):
                raise ValueError(
                    f"candidates[{t}] == {own!r}, must be a list of objects, or of indices."
                )
            if len(own) == 0:
                raise ValueError(f"candidates[{t}] is empty: name at least one.")
            n = len(self.diagonal_)
            if _are_numbers(own) and not (0 <= min(own) and max(own) < n):
                wrong = min(own) if min(own) < 0 else max(own)
                raise ValueError(
                    f"candidates[{t}] has the index {wrong}, must be >= 0 and < {n}: there are {n}."
                )

    def _one(self, target: Targets, own: Any, n_best: int, t: int) -> tuple[list[Any], Array]:
        if _are_numbers(own):
            index = np.asarray(own)
            values = self.diagonal_[index] - 2.0 * self.matrix_[index] @ target.coef[0]
            values = np.maximum(values + target.squared_norms[0], 0.0)
            objects = [self.candidates_[i] for i in index]
        else:
            objects = list(own)
            try:
                values = target.losses(own)[0]
            except (TypeError, ValueError) as error:
                raise ValueError(
                    f"candidates[{t}] has something that the kernel does not take: {error}"
                ) from error
        places = rank_all(values, n_best)
        return [objects[i] for i in places], values[places]


def _are_numbers(own: Sequence[Any]) -> bool:
    return all(isinstance(item, (int, np.integer)) for item in own)
