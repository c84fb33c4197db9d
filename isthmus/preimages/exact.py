"""Exact pre-images for kernels of the inner product."""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus._linalg import Array
from isthmus.preimages.base import Preimage
from isthmus.preimages.forms import DotForm, kernel_form
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
        form = kernel_form(self.kernel_)
        if not isinstance(form, DotForm):
            raise ValueError(
                "Exact is for kernels f(x'y) (Linear, Polynomial of odd degree, exponential), "
                f"kernel == {self.kernel_}: use Learned(), FixedPoint() or Gradient()."
            )
        if not form.is_invertible:
            raise ValueError(
                f"Exact needs an invertible kernel f(x'y); degree == {form.kernel.degree} loses the sign: "
                "choose an odd degree, or use Learned() or Gradient()."
            )
        return form

    def _invert(self, targets: Targets, **options: Any) -> Array:
        # x_j'e_i is an entry of x_j: the basis is that of the coordinates.
        points = np.asarray(targets.points, dtype=np.float64)
        form = self._form()
        return form.inverse(targets.coef @ form.value(points))
