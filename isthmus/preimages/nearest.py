"""Pre-image among the objects that were fitted."""

from __future__ import annotations

from typing import Any

from isthmus._linalg import Array
from isthmus.kernels import take
from isthmus.preimages.base import RankingPreimage, smallest
from isthmus.preimages.targets import Targets


class Nearest(RankingPreimage):
    r"""Choose the fitted object whose image is nearest to the target.

    .. math::
        \min_i \|\phi(x_i) - \Psi\|^2 = \|R_i - b\|^2 + e_i,

    where :math:`b` are the scores of the target, :math:`R_i` those of the object and :math:`e_i` is the
    squared distance of :math:`\phi(x_i)` from the span of the axes. It takes objects and kernels of any
    kind, precomputed ones too; [B2006]_ Sec. 3.1.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.preimages import Nearest
    >>> words = ["low", "high"]
    >>> Nearest().fit(words, np.array([[0.0], [1.0]])).inverse([[0.2], [0.9]])
    ['low', 'high']
    """

    _needs_embedding = False
    _needs_points = False

    def _ranked(self, targets: Targets, n_best: int, **options: Any) -> tuple[list[Any], Array]:
        order, values = smallest(self._fitted_losses(targets), n_best)
        return [take(self.objects_, places) for places in order], values
