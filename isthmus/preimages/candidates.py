"""Pre-image among objects that the user names."""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus.linalg import Array
from isthmus.preimages.base import RankingPreimage, Targets, is_precomputed, smallest, take


class Candidates(RankingPreimage):
    r"""The best of given candidates by the full loss, or the k best with their losses.

    .. math::
        \min_{z \in C} k(z, z) - 2 \sum_i G_i k(x_i, z) + G'KG.

    The candidates need not have been fitted: a dictionary of words, a catalogue of molecules, all
    postures a robot can reach. [B2006]_ Sec. 3.1.

    Parameters
    ----------
    objects : sequence of objects, default=None
        The candidates. None means the fitted objects, as in :class:`Nearest`.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.features import KernelMap
    >>> from isthmus.preimages import Candidates
    >>> X = np.arange(6.0).reshape(-1, 1)
    >>> embedding = KernelMap("rbf", gamma=0.5).fit(X)
    >>> method = Candidates([[0.5], [1.5], [2.5]]).fit(X, embedding.transform(X), embedding)
    >>> method.inverse(embedding.transform([[1.4]]))
    array([[1.5]])
    """

    _needs_embedding = True

    def __init__(self, objects: Any = None) -> None:
        self.objects = objects

    def _prepare(self) -> None:
        if self.objects is not None and len(self.objects) == 0:
            raise ValueError(
                "objects is empty: name at least one candidate, or None for the fitted ones."
            )
        if is_precomputed(self.kernel_):
            raise ValueError(
                "Candidates needs kernel values of its candidates, but the kernel is 'precomputed': use "
                "Nearest(), which ranks the fitted objects."
            )
        given = self.objects_ if self.objects is None else self.objects
        numeric = hasattr(self.objects_, "shape") and not hasattr(given, "shape")
        self.candidates_ = np.asarray(given, dtype=self.objects_.dtype) if numeric else given

    def _ranked(self, targets: Targets, n_best: int, **options: Any) -> tuple[list[Any], Array]:
        order, values = smallest(targets.losses(self.candidates_), n_best)
        return [take(self.candidates_, places) for places in order], values
