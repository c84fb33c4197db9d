"""What a pre-image must know of a kernel: a function of the inner product, or of the distance.

``DotForm``: ``k(x, y) = f(x'y)``. ``DistanceForm``: ``k(x, y) = h(|x - y|^2)``, ``h`` falling. Both come
with the derivative and, where there is one, the inverse function. A kernel that is not in the table
here simply has no such form, and the methods that need one say so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from isthmus.kernels.products import DotProductKernel, Exponential
from isthmus.linalg import Array

Function = Callable[[Array], Array]

FLOOR = 1e-12
"""Smallest argument of a logarithm or a root, [B2006]_ Sec. 3.2.3."""


@dataclass(frozen=True)
class DotForm:
    """``k(x, y) = value(x'y)``. ``inverse`` is None where a value does not tell its argument."""

    value: Function
    derivative: Function
    inverse: Function | None


@dataclass(frozen=True)
class DistanceForm:
    """``k(x, y) = value(|x - y|^2)``, one at zero; ``slope`` is minus its derivative."""

    value: Function
    slope: Function
    inverse: Function


# -- inner products ----------------------------------------------------------------------------


def dot_form(kernel: Any) -> DotForm | None:
    """The kernel as a function of the inner product, None where it is none."""
    if not isinstance(kernel, DotProductKernel):
        return None
    degree = getattr(kernel, "degree", 1)
    inverse = kernel.profile_inverse if degree % 2 == 1 else None  # even powers lose the sign
    if isinstance(kernel, Exponential):
        inverse = partial(_clipped_inverse, kernel=kernel)
    return DotForm(kernel.profile, kernel.profile_derivative, inverse)


def _clipped_inverse(v: Array, kernel: Exponential) -> Array:
    return kernel.profile_inverse(np.maximum(v, FLOOR))  # a sum that is no image may be negative


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
            f"{method} needs a kernel f(x'y) that tells its argument; degree == {kernel.degree} loses "
            "the sign: choose an odd degree, or use Learned() or Gradient()."
        )
    return form


# -- distances ---------------------------------------------------------------------------------


def _rbf(d: Array, gamma: float) -> Array:
    return np.exp(-gamma * d)


def _rbf_slope(d: Array, gamma: float) -> Array:
    return gamma * np.exp(-gamma * d)


def _rbf_inverse(v: Array, gamma: float) -> Array:
    return -np.log(np.clip(v, FLOOR, 1.0)) / gamma


def _laplacian(d: Array, gamma: float) -> Array:
    return np.exp(-gamma * np.sqrt(d))


def _laplacian_slope(d: Array, gamma: float) -> Array:
    root = np.sqrt(d)
    return 0.5 * gamma * np.exp(-gamma * root) / np.maximum(root, 1e-6)


def _laplacian_inverse(v: Array, gamma: float) -> Array:
    return (np.log(np.clip(v, FLOOR, 1.0)) / gamma) ** 2


def _rational(d: Array, gamma: float, alpha: float) -> Array:
    return (1.0 + gamma * d / alpha) ** -alpha


def _rational_slope(d: Array, gamma: float, alpha: float) -> Array:
    return gamma * (1.0 + gamma * d / alpha) ** (-alpha - 1.0)


def _rational_inverse(v: Array, gamma: float, alpha: float) -> Array:
    return (np.clip(v, FLOOR, 1.0) ** (-1.0 / alpha) - 1.0) * alpha / gamma


def distance_form(kernel: Any) -> DistanceForm | None:
    """The kernel as a function of the squared distance, None where it is none."""
    name = type(kernel).__name__
    if name == "RBF" and hasattr(kernel, "gamma"):
        return _distance(_rbf, _rbf_slope, _rbf_inverse, gamma=kernel.gamma)
    if name == "L2Laplacian":
        return _distance(_laplacian, _laplacian_slope, _laplacian_inverse, gamma=kernel.gamma)
    if name == "RationalQuadratic" and hasattr(kernel, "gamma"):
        numbers = {"gamma": kernel.gamma, "alpha": kernel.alpha}
        return _distance(_rational, _rational_slope, _rational_inverse, **numbers)
    return None


def _distance(value: Any, slope: Any, inverse: Any, **numbers: float) -> DistanceForm:
    return DistanceForm(
        partial(value, **numbers), partial(slope, **numbers), partial(inverse, **numbers)
    )
