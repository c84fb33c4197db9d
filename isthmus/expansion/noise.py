"""White noise is part of a sample's kernel with itself alone, never of that with another."""

from __future__ import annotations

from typing import Any

from sklearn.gaussian_process.kernels import Exponentiation, Product, Sum, WhiteKernel

from isthmus.kernels import Constant


def without_noise(kernel: Any) -> Any:
    """The kernel between different samples: ``kernel`` itself if it has no noise term.

    Noise is zero there, so sums lose it, products with it vanish, and powers are those of what is left.
    """
    left = _left(kernel)
    return Constant(0.0) if left is None else left


def _left(kernel: Any) -> Any:
    """What is left of a kernel; None is zero."""
    if isinstance(kernel, WhiteKernel):
        return None
    if isinstance(kernel, Sum | Product):
        first = _left(kernel.k1)
        second = _left(kernel.k2)
        if first is kernel.k1 and second is kernel.k2:
            return kernel
        if first is None or second is None:
            if isinstance(kernel, Product):
                return None
            if second is None:
                return first
            return second
        return type(kernel)(first, second)
    if isinstance(kernel, Exponentiation) and kernel.exponent > 0:
        inner = _left(kernel.kernel)
        if inner is None or inner is kernel.kernel:
            return None if inner is None else kernel
        return type(kernel)(inner, kernel.exponent)
    return kernel
