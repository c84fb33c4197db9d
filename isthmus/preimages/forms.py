"""What a pre-image must know of a kernel: a function of the inner product, or of the distance.

``DotForm``: ``k(x, y) = f(x'y)``. ``DistanceForm``: ``k(x, y) = h(|x - y|^2)``, ``h`` falling. The kernels
themselves have the function, its derivative and its inverse. A kernel of neither form has none,
and the methods that need one say so. A positive constant times such a kernel has the form of the kernel,
scaled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import ConstantKernel, Product, RationalQuadratic

from isthmus._linalg import Array
from isthmus.kernels import PROFILE_FLOOR, DotProductKernel, EuclideanKernel


@dataclass(frozen=True)
class _Form:
    """``scale`` times a kernel that is a function of one number, its profile."""

    kernel: Any
    scale: float

    def value(self, t: Array) -> Array:
        return np.asarray(self.scale * self.kernel.profile(t))

    def derivative(self, t: Array) -> Array:
        return np.asarray(self.scale * self.kernel.profile_derivative(t))

    def inverse(self, value: Array) -> Array:
        return np.asarray(self.kernel.profile_inverse(value / self.scale))

    @property
    def is_invertible(self) -> bool:
        """Whether a value determines its argument: even powers lose the sign."""
        return getattr(self.kernel, "degree", 1) % 2 == 1


class DotForm(_Form):
    """``k(x, y) = value(x'y)``."""


class DistanceForm(_Form):
    """``k(x, y) = value(|x - y|^2)``, falling, and equal to ``scale`` at zero."""


def kernel_form(kernel: Any) -> DotForm | DistanceForm | None:
    """The kernel as a function of the inner product or of the squared distance, None for others."""
    scale, kernel = without_constant(kernel)
    if not scale > 0:
        return None
    if isinstance(kernel, DotProductKernel):
        return DotForm(kernel, scale)
    if isinstance(kernel, RationalQuadratic):
        kernel = _RationalProfile(0.5 / kernel.length_scale**2, kernel.alpha)
    if isinstance(kernel, EuclideanKernel | _RationalProfile):
        return DistanceForm(kernel, scale)
    return None


def without_constant(kernel: Any) -> tuple[float, Any]:
    """``c, k`` of a kernel ``c k``; the constant is 1 where there is none."""
    scale = 1.0
    while isinstance(kernel, Product):
        if isinstance(kernel.k1, ConstantKernel):
            constant, kernel = kernel.k1, kernel.k2
        elif isinstance(kernel.k2, ConstantKernel):
            constant, kernel = kernel.k2, kernel.k1
        else:
            break
        scale *= float(constant.constant_value)
    return scale, kernel


@dataclass(frozen=True)
class _RationalProfile:
    """The profile of scikit-learn's ``RationalQuadratic``, ``(1 + gamma d / alpha)^-alpha``."""

    gamma: float
    alpha: float

    def profile(self, d: Array) -> Array:
        return (1.0 + self.gamma * d / self.alpha) ** -self.alpha

    def profile_derivative(self, d: Array) -> Array:
        return -self.gamma * (1.0 + self.gamma * d / self.alpha) ** (-self.alpha - 1.0)

    def profile_inverse(self, value: Array) -> Array:
        root = np.clip(value, PROFILE_FLOOR, 1.0) ** (-1.0 / self.alpha)
        return (root - 1.0) * self.alpha / self.gamma
