"""Exact pre-images for kernels of the inner product."""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus._linalg import Array
from isthmus.preimages.base import Preimage
from isthmus.preimages.forms import DotForm, require_dot_form
from isthmus.preimages.targets import Targets


class Exact(Preimage):
    r"""Read the coordinates of the pre-image off the expansion, for kernels that can be inverted.

    For :math:`k(x, y) = f(x'y)` with invertible :math:`f` and an orthonormal basis :math:`e_1, e_2, \dots`

    .. math::
        z = \sum_i f^{-1}\Bigl(\sum_j G_j f(x_j'e_i)\Bigr) e_i,

    [B2006]_ Sec. 3.1. It is exact if the target is an image, ``Psi = phi(z)``; otherwise the answer
    depends on the basis, and another method should be used. Even powers lose the sign and are refused.
    """

    def _prepare(self) -> None:
        self._form()

    def _form(self) -> DotForm:
        return require_dot_form(self.kernel_, type(self).__name__, invertible=True)

    def _invert(self, targets: Targets, **options: Any) -> Array:
        # x_j'e_i is an entry of x_j: the basis is that of the coordinates.
        points = np.asarray(targets.points, dtype=np.float64)
        form = self._form()
        assert form.inverse is not None
        return form.inverse(targets.coef @ form.value(points))
