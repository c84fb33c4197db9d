"""What a pre-image must know of a kernel: a function of the inner product, or of the distance.

``DotForm``: ``k(x, y) = f(x'y)``. ``DistanceForm``: ``k(x, y) = h(|x - y|^2)``, ``h`` falling. Both come
with the derivative and, where there is one, the inverse function. A kernel that is not in the table
here simply has no such form, and the methods that need one say so. A positive constant times such a
kernel has the form of the kernel, scaled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import ConstantKernel, Product, RationalQuadratic

from isthmus._linalg import Array
from isthmus.kernels.distances import PROFILE_FLOOR, EuclideanKernel
from isthmus.kernels.products import DotProductKernel, Exponential

Function = Callable[[Array], Array]


@dataclass(frozen=True)
class DotForm:
    """``k(x, y) = value(x'y)``. ``inverse`` is None where a value does not tell its argument."""

    value: Function
    derivative: Function
    inverse: Function | None


@dataclass(frozen=True)
class DistanceForm:
    """``k(x, y) = value(|x - y|^2)``, ``at_zero`` at zero; ``slope`` is minus its derivative."""

    value: Function
    slope: Function
    inverse: Function
    at_zero: float = 1.0


# -- constants ---------------------------------------------------------------------------------


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


def _times(v: Array, function: Function, scale: float) -> Array:
    return scale * function(v)


def _of_part(v: Array, function: Function, scale: float) -> Array:
    return function(v / scale)


def _scaled(function: Function, scale: float) -> Function:
    return function if scale == 1.0 else partial(_times, function=function, scale=scale)


def _unscaled(function: Function, scale: float) -> Function:
    return function if scale == 1.0 else partial(_of_part, function=function, scale=scale)


# -- inner products ----------------------------------------------------------------------------


def dot_form(kernel: Any) -> DotForm | None:
    """The kernel as a function of the inner product, None where it is none."""
    scale, kernel = without_constant(kernel)
    if not isinstance(kernel, DotProductKernel) or not scale > 0:
        return None
    degree = getattr(kernel, "degree", 1)
    inverse = kernel.profile_inverse if degree % 2 == 1 else None  # even powers lose the sign
    if isinstance(kernel, Exponential):
        inverse = partial(_clipped_inverse, kernel=kernel)
    return DotForm(
        _scaled(kernel.profile, scale),
        _scaled(kernel.profile_derivative, scale),
        None if inverse is None else _unscaled(inverse, scale),
    )


def _clipped_inverse(v: Array, kernel: Exponential) -> Array:
    return kernel.profile_inverse(
        np.maximum(v, PROFILE_FLOOR)
    )  # a sum that is no image may be negative


def require_dot_form(kernel: Any, method: str, *, invertible: bool = False) -> DotForm:
    """The form of the kernel, or an error that names what the method can do."""
    form = dot_form(kernel)
    if form is None:
        raise ValueError(
            f"{method} is for kernels f(x'y) (Linear, Polynomial of odd degree, exponential), "
            f"kernel == {kernel}: use Learned(), FixedPoint() or Gradient()."
        )
    if invertible and form.inverse is None:
        raise ValueError(
            f"{method} needs an invertible kernel f(x'y); degree == "
            f"{without_constant(kernel)[1].degree} loses the sign: choose an odd degree, or use "
            "Learned() or Gradient()."
        )
    return form


# -- distances ---------------------------------------------------------------------------------


def _rational(d: Array, gamma: float, alpha: float) -> Array:
    return (1.0 + gamma * d / alpha) ** -alpha


def _rational_slope(d: Array, gamma: float, alpha: float) -> Array:
    return gamma * (1.0 + gamma * d / alpha) ** (-alpha - 1.0)


def _rational_inverse(v: Array, gamma: float, alpha: float) -> Array:
    return (np.clip(v, PROFILE_FLOOR, 1.0) ** (-1.0 / alpha) - 1.0) * alpha / gamma


def distance_form(kernel: Any) -> DistanceForm | None:
    """The kernel as a function of the squared distance, None where it is none."""
    scale, kernel = without_constant(kernel)
    if not scale > 0:
        return None
    value: Function
    slope: Function
    inverse: Function
    if isinstance(kernel, EuclideanKernel):
        value, inverse = kernel.profile, kernel.profile_inverse
        slope = _scaled(kernel.profile_derivative, -1.0)
    elif isinstance(kernel, RationalQuadratic):  # scikit-learn's, d / (2 alpha length^2)
        numbers = {"gamma": 0.5 / kernel.length_scale**2, "alpha": kernel.alpha}
        value = partial(_rational, **numbers)
        slope = partial(_rational_slope, **numbers)
        inverse = partial(_rational_inverse, **numbers)
    else:
        return None
    return DistanceForm(
        _scaled(value, scale), _scaled(slope, scale), _unscaled(inverse, scale), scale
    )
