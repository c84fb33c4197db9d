"""The points of a compression in order, and the fit of every size."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import Array


@dataclass
class CompressionPath:
    """Errors of every size of a compressed expansion, and which was taken.

    Attributes
    ----------
    n_points : int
        The size that was taken.
    n_points_full : int
        The size of the original.
    sizes : ndarray of shape (r + 1,)
        0, 1, .., r.
    errors : ndarray of shape (r + 1,)
        ``E / E_0``, squared distance from the original functions over their squared norm, with the
        nearest functions of each size. Where the kernel is not positive semi-definite there is no such
        distance: squared errors of the outputs at the points over their squares.
    output_errors : ndarray of shape (r + 1,) or None
        Squared errors of the outputs on the training rows over those of a constant, after the refit by
        least squares. With a ridge those of the size that was taken are larger.
    ridge : float
        Weight of the squared norm in the refit of the size that was taken; 0 where none helps.
    indices : ndarray of shape (r,) or None
        Which points of the original, in the order of choice; None where points are new ones.
    validation_sizes, validation_errors : ndarray or None
        Errors on the validation rows: of classes, or mean squared, of several outputs in units of
        their variances.
    full_validation_error : float or None
        That of the original model.
    parts : list of CompressionPath
        Where a classifier has several expansions that are compressed each for itself, their paths. The
        sizes are then those of each, the errors the largest among them.
    """

    n_points: int
    n_points_full: int
    sizes: NDArray[np.intp]
    errors: Array
    output_errors: Array | None = None
    indices: NDArray[np.intp] | None = None
    validation_sizes: NDArray[np.intp] | None = None
    validation_errors: Array | None = None
    full_validation_error: float | None = None
    ridge: float = 0.0
    options: dict[str, Any] = field(default_factory=dict)
    parts: list[CompressionPath] = field(default_factory=list)

    @classmethod
    def of_parts(cls, parts: list[CompressionPath]) -> CompressionPath:
        """The path of a model whose parts were compressed each for itself."""
        largest = max(len(part.sizes) for part in parts)
        outputs = [part.output_errors for part in parts if part.output_errors is not None]
        return cls(
            n_points=max(part.n_points for part in parts),
            n_points_full=max(part.n_points_full for part in parts),
            sizes=np.arange(largest),
            errors=_largest([part.errors for part in parts], largest),
            output_errors=_largest(outputs, largest) if len(outputs) == len(parts) else None,
            options=dict(parts[0].options),
            parts=parts,
        )


def _largest(curves: list[Array], length: int) -> Array:
    """The largest of several curves; one that ends early stays where it ended."""
    return np.max([np.pad(c, (0, length - len(c)), mode="edge") for c in curves], axis=0)
