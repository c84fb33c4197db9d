"""What a solver of a kernel map is given and what it returns: options in, principal axes out."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._validation import warn

FLOAT32_TOL = 1e-6  # eigenvalues of float32 kernels below this fraction are rounding
NO_DIFFERENCE = (
    "The kernel does not tell any two samples apart: X is constant up to rounding for {kernel}."
)


@dataclass(frozen=True)
class MapOptions:
    """The parameters of a :class:`KernelMap`, and what its solvers know besides."""

    map: Any  # not fitted yet: nothing but its parameters is asked for
    n_landmarks: int | float
    ridge: float | None = None  # weight that the number of landmarks is to follow from
    sample_weight: NDArray | None = None  # positive; None counts all samples alike

    def shares(self, n: int) -> NDArray:
        """Return what each of n samples has of their mean; zeros without centring."""
        if not self.map.center:
            return np.zeros(n)
        if self.sample_weight is None:
            return np.full(n, 1.0 / n)
        return np.asarray(self.sample_weight / self.sample_weight.sum())

    def rank_tol(self, dtype: Any) -> float:
        """Return the fraction of the largest eigenvalue below which others count as zero."""
        if dtype == np.float32:
            return max(self.map.tol, FLOAT32_TOL)
        return self.map.tol


@dataclass(frozen=True)
class KernelAxes:
    """Principal axes in the feature space of a kernel, and the training samples on them.

    Axes are sums over points (``dual_coef``), or directions of explicit features (``components``).
    """

    scores: NDArray
    eigenvalues: NDArray
    residual: NDArray
    mean: float
    trace_error: float | None = None
    points: Any = None
    dual_coef: NDArray | None = None
    row_means: NDArray | None = None
    mean_coef: NDArray | None = None
    features: Any = None
    feature_means: NDArray | None = None
    components: NDArray | None = None

    def attributes(self) -> dict[str, Any]:
        """Return the fitted attributes of the map, by name."""
        state = {f"{name}_": value for name, value in vars(self).items() if value is not None}
        del state["scores_"]
        return state


def choose_rank(
    values: NDArray,
    asked: Any,
    *,
    kernel: Any,
    trace: float,
    tol: float,
    noise: float,
    remedy: str = "",
) -> int:
    """Return how many of the eigenvalues, largest first, are kept.

    ``asked`` is a number, a fraction of ``trace`` or None for all above ``tol`` times the largest.
    ``noise`` is what rounding alone makes of a kernel without any differences.
    """
    if not values[0] > noise:
        raise ValueError(NO_DIFFERENCE.format(kernel=repr(kernel)))
    rank = int((values > tol * values[0]).sum())
    if asked is None:
        return rank
    if isinstance(asked, Integral):
        asked = int(asked)
        if asked > rank:
            warn(
                f"n_components == {asked} is more than the rank {rank} of the kernel matrix: "
                f"{rank} components are returned.{remedy}",
            )
        return min(asked, rank)
    shares = np.cumsum(values[:rank]) / trace
    return min(int(np.searchsorted(shares, float(asked) * (1 - 1e-12))) + 1, rank)
