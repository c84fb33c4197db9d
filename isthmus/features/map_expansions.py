"""A kernel map as functions of kernel values: expansions of its coordinates, and others in their place."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from isthmus.expansion import Expansion
from isthmus.kernels import gram, is_precomputed, length

_MEAN_RIDGE = 1e-10  # of the mean diagonal: equal points would make the system singular


class MapExpansions:
    """The methods of a fitted kernel map that turn points of its space into sums over its points."""

    kernel_: Any
    points_: Any
    center: bool
    solver_: str
    n_components_: int
    dual_coef_: NDArray
    eigenvalues_: NDArray
    row_means_: NDArray
    mean_coef_: Any  # None where the kernel values of points that are left are not known
    offset_: NDArray
    _is_weighted: bool = False

    def expand(self, Z: Any) -> NDArray:
        r"""Return coefficients ``G`` (t, n_points) of the points with coordinates ``Z`` (t, n_components_).

        :math:`\Psi = \bar\phi + \sum_j b_j v_j = \sum_i G_i \phi(x_i)`. The mean is in it: in the
        exact form the entries of each centred row sum to 1.
        """
        check_is_fitted(self)
        Z = np.atleast_2d(np.asarray(Z))
        self._check_width(Z)
        self._refuse_fourier("expand")
        return Z @ self._coef().T + self._mean_coef("expand")

    def collapse(self, W: Any) -> tuple[NDArray, NDArray]:
        """Return ``coef, offset`` with ``transform(x) @ W = gram(kernel_, x, points_) @ coef + offset``."""
        check_is_fitted(self)
        self._refuse_fourier("collapse")
        coef = self._coef() @ np.asarray(W)
        offset = -(self.row_means_ @ coef)
        if hasattr(self, "offset_"):
            offset = offset + self.offset_ @ np.asarray(W)
        return coef, offset

    def to_expansion(self) -> Expansion:
        """Return the coordinates as functions ``sum_i a_i k(x_i, x) + b``."""
        check_is_fitted(self)
        coef, offset = self.collapse(np.eye(self.n_components_))
        is_exact = self.solver_ == "exact" and not self._is_weighted
        values = self.dual_coef_ * self.eigenvalues_ - offset if is_exact else None
        return Expansion(self.points_, coef, self.kernel_, offset, values=values)

    def with_expansion(self, expansion: Expansion) -> Any:
        """Return a copy whose coordinates are other functions, usually of fewer points.

        ``inverse_transform`` stays that of the original, with the samples that it needs.

        Parameters
        ----------
        expansion : Expansion
            One function per component, with this map's kernel.

        Returns
        -------
        other : KernelMap
            A fitted map; ``offset_`` is what its coordinates have beside those of its axes.
        """
        check_is_fitted(self)
        self._refuse_fourier("with_expansion")
        coef = expansion.coef.reshape(expansion.n_points, -1)
        if coef.shape[1] != self.n_components_:
            raise ValueError(
                f"expansion has {coef.shape[1]} outputs, must have {self.n_components_}, one per component."
            )
        other = copy(self)
        for name in ("offset_", "compression_"):
            other.__dict__.pop(name, None)
        other.solver_ = "landmarks"  # points that stand for others, the means known apart
        other.points_, other.dual_coef_ = expansion.points, coef
        other.row_means_, other.mean_coef_ = self._mean_at(expansion.points)
        offset = expansion.intercept + other.row_means_ @ coef
        # Few coefficients may be large: they stay in float64, the coordinates do not.
        before = self.offset_ if hasattr(self, "offset_") else self.dual_coef_
        other.offset_ = offset.astype(before.dtype)
        return other

    def _mean_at(self, points: Any) -> tuple[NDArray, NDArray | None]:
        """``<mean, phi(z)>`` at other points, and the nearest vector to the mean in their span."""
        n = length(points)
        if not self.center or not n:
            return np.zeros(n), np.zeros(n)
        if is_precomputed(self.kernel_):
            places = {int(point): place for place, point in enumerate(self.points_)}
            return self.row_means_[[places[int(point)] for point in points]], None
        means = np.asarray(gram(self.kernel_, points, self.points_), dtype=np.float64)
        means = means @ self.mean_coef_
        K = np.asarray(gram(self.kernel_, points), dtype=np.float64)
        K[np.diag_indices_from(K)] += _MEAN_RIDGE * max(float(K.trace()) / n, 1e-300)
        return means, np.linalg.solve(K, means)

    def _mean_coef(self, name: str) -> NDArray:
        if self.mean_coef_ is None:
            raise ValueError(
                f"{name} needs kernel values of the points that are left, and the kernel is "
                "precomputed: use the map before compression."
            )
        return self.mean_coef_

    def _coef(self) -> NDArray:
        """Coefficients of the axes on the points themselves."""
        if self.solver_ == "exact" and self.center:
            total = self.dual_coef_.sum(axis=0)
            return self.dual_coef_ - self.mean_coef_[:, None].astype(total.dtype) * total
        return self.dual_coef_

    def _check_width(self, Z: NDArray) -> None:
        if Z.shape[1] != self.n_components_:
            raise ValueError(f"Z has {Z.shape[1]} columns, must have {self.n_components_}.")

    def _refuse_fourier(self, name: str) -> None:
        if self.solver_ == "fourier":
            raise ValueError(
                f"{name} needs points; random Fourier features have none: use solver='landmarks'."
            )
