"""Distances of a row from training rows: to a subspace, to neighbours, in feature space, out of ranges."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, solve_triangular
from scipy.spatial.distance import cdist

from isthmus._linalg import EPS, ROUNDING, Array, leading_pairs, power_of_two
from isthmus._saved import saved
from isthmus.inspection.axis import places_of
from isthmus.kernels import gram, gram_diagonal

_MOST_OF_PLANE = 50  # of a plane: what is beyond counts as beside it
_NO_SPREAD_BESIDE = 1e-6  # of the spread of a column: less than this beside a plane says nothing


@saved(mean="c", scale="c", noise="c", rotations="c k", loadings="c k", whitening="k k")
class Subspace:
    """A plane through the training rows: T2 within it, Q to it, in the frame of a model.

    Attributes
    ----------
    mean, scale : ndarray of shape (n_features,)
        A scale of zero leaves a column out.
    rotations, loadings : ndarray of shape (n_features, k)
        Scores are ``z @ rotations``, rows are described by ``scores @ loadings.T``.
    whitening : ndarray of shape (k, k)
        Turns scores so that their covariance over the training rows is one.
    noise : ndarray of shape (n_features,) or None
        Spread of what rows leave beside the plane in each column; None in files of before it was kept.
    """

    noise: Array | None = None

    def __init__(
        self, mean: Array, scale: Array, rotations: Array, loadings: Array, whitening: Array,
        noise: Array | None = None,
    ) -> None:  # fmt: skip
        self.mean, self.scale, self.noise = mean, scale, noise
        self.rotations, self.loadings, self.whitening = rotations, loadings, whitening

    @property
    def has_residuals(self) -> bool:
        """Whether there is anything beside the plane."""
        return self.loadings.shape[1] < np.count_nonzero(self.scale)

    def standardise(self, X: Array) -> Array:
        used = self.scale > 0
        return np.where(used, (X - self.mean) / np.where(used, self.scale, 1.0), 0.0)

    def scores(self, Z: Array) -> Array:
        """Scores of standardised rows, of unit covariance."""
        return Z @ self.rotations @ self.whitening

    def beside(self, Z: Array) -> Array:
        """What standardised rows leave beside the plane."""
        return Z - (Z @ self.rotations) @ self.loadings.T

    def residuals(self, Z: Array) -> Array:
        """The same in its usual spreads, if they are known."""
        if self.noise is None:
            return self.beside(Z)
        residuals = self.beside(Z) / self.noise
        # A column that rows left out have nothing beside the plane in leaves rounding there.
        is_rounding = (self.noise <= _NO_SPREAD_BESIDE) & (np.abs(residuals) < 1)
        return np.where(is_rounding, 0.0, residuals)

    def statistics(self, X: Array) -> dict[str, Array]:
        """T2 and, where there is anything beside the plane, Q and the largest part of it."""
        Z = self.standardise(X)
        found = {}
        if self.loadings.shape[1]:
            found["T2"] = (self.scores(Z) ** 2).sum(axis=1)
        if self.has_residuals:
            R2 = self.residuals(Z) ** 2
            found["Q"], found["peak"] = R2.sum(axis=1), R2.max(axis=1)
        return found

    def contributions(self, x: Array, statistic: str) -> Array:
        """Return how much each column adds to T2 or Q of one row."""
        z = self.standardise(x[None])
        if statistic != "T2":
            return self.residuals(z)[0] ** 2
        pull = self.rotations @ self.whitening @ self.scores(z)[0]
        return np.abs(z[0] * pull)


class PrincipalAxes:
    """The leading principal axes of some rows, from which a plane of any number of them is taken.

    Columns are divided by their standard deviations.
    """

    def __init__(self, X: Array) -> None:
        units = np.array([power_of_two(column) for column in X.T])  # the squares of 1e200 overflow
        self.mean = (X / units).mean(axis=0) * units
        deviation = (X / units).std(axis=0, ddof=1) * units
        live = deviation > 8 * EPS * np.abs(self.mean)
        self.scale = np.where(live, deviation, 0.0)
        none = np.zeros((X.shape[1], 0))
        self._standardise = Subspace(self.mean, self.scale, none, none, np.eye(0)).standardise
        Z = self._standardise(X)
        is_tall = len(Z) > Z.shape[1]
        # Squares have the digits: axes below ROUNDING of the largest variance are not used.
        values, vectors = leading_pairs(Z.T @ Z if is_tall else Z @ Z.T, _MOST_OF_PLANE)
        kept = values > ROUNDING * values.max(initial=0.0)
        values, vectors = values[kept], vectors[:, kept]
        self.axes = vectors if is_tall else (Z.T @ vectors) / np.sqrt(values)
        self.variances, self.total = values / (len(X) - 1), float((Z**2).sum()) / (len(X) - 1)
        self.n_live = int(live.sum())
        self.n_rows = len(X)

    @property
    def most(self) -> int:
        """Largest number of axes that leave something to estimate what is beside them."""
        room = self.n_rows - 2 if self.n_live >= self.n_rows - 1 else self.n_live
        return max(0, min(len(self.variances), room))

    def plane(self, k: int) -> Subspace:
        whitening = np.diag(1 / np.sqrt(self.variances[:k]))
        axes = np.ascontiguousarray(self.axes[:, :k])
        rounding = np.full(len(axes), _NO_SPREAD_BESIDE)
        return Subspace(self.mean, self.scale, axes, axes, whitening, rounding)

    def log_likelihoods(self, X: Array, most: int) -> Array:
        r"""Log-likelihood of other rows, summed, for 0 to ``most`` axes, [TB1999]_.

        Rows are Gaussian with the variances of the axes, and with one variance beside them.
        """
        Z = self._standardise(X)
        T2 = (Z @ self.axes[:, :most]) ** 2
        variances = self.variances[:most]
        inside = np.cumsum(T2.sum(axis=0) / variances + len(X) * np.log(variances))
        beside = (Z**2).sum() - np.concatenate([[0.0], np.cumsum(T2.sum(axis=0))])
        left = self.total - np.concatenate([[0.0], np.cumsum(variances)])
        free = self.n_live - np.arange(most + 1)
        noise = np.maximum(left, ROUNDING * self.total) / np.maximum(free, 1)
        beside = np.where(free > 0, beside / noise + len(X) * free * np.log(noise), 0.0)
        return -0.5 * (np.concatenate([[0.0], inside]) + beside)


class Neighbours:
    """Distance to the nearest training row, in scores of unit covariance."""

    def __init__(self, points: Array) -> None:
        self.points = points

    def values(self, scores: Array) -> Array:
        return cdist(scores, self.points).min(axis=1)


@saved(points="n .", norms="n")
class FeatureDistance:
    r"""Squared distance in feature space from the span of training rows, and to the nearest of them.

    The first is :math:`k(x, x) - k_x^\top (K + \epsilon I)^{-1} k_x`, the second :math:`k(x, x) + k(x_i,
    x_i) - 2 k(x, x_i)`, both with the training rows or a part of them, the landmarks.
    """

    def __init__(self, kernel: Any, X: Array) -> None:
        self.kernel, self.points = kernel, X
        self.norms = np.asarray(gram_diagonal(kernel, X), dtype=np.float64)

    @cached_property
    def _factor(self) -> Array:
        K = np.asarray(gram(self.kernel, self.points), dtype=np.float64)
        K[np.diag_indices(len(K))] += np.sqrt(EPS) * K.trace() / len(K)
        return np.tril(cho_factor(K, lower=True)[0])

    def __getstate__(self) -> dict[str, Any]:
        """Leave the factor out, which is larger than what it is made of."""
        return {name: value for name, value in vars(self).items() if name != "_factor"}

    def statistics(self, X: Array) -> dict[str, Array]:
        K = np.asarray(gram(self.kernel, X, self.points), dtype=np.float64)
        norms = gram_diagonal(self.kernel, X)
        inside = (solve_triangular(self._factor, K.T, lower=True) ** 2).sum(axis=0)
        nearest = (norms[:, None] + self.norms - 2 * K).min(axis=1)
        return {
            "span": np.maximum(norms - inside, 0.0),
            "nearest": np.sqrt(np.maximum(nearest, 0.0)),
        }


@saved(lower="c", upper="c", has_two_values="c")
class Ranges:
    """The range of each input; 1 is the end of a range, seen from its middle.

    A column of two values has all of them at its ends: of its excess only what is beyond 1 counts.
    """

    has_two_values: NDArray | None = None  # of each column; None in files of before it was kept

    def __init__(self, X: Array) -> None:
        # Outputs may have gaps, which these two pass over.
        self.lower = np.fmin.reduce(X, axis=0)
        self.upper = np.fmax.reduce(X, axis=0)
        self.has_two_values = ((X == self.lower) | (X == self.upper) | np.isnan(X)).all(axis=0)

    def excess(self, X: Array) -> Array:
        """Distance from the middle of each range, in halves of its width."""
        half = (self.upper - self.lower) / 2
        middle = (self.upper + self.lower) / 2
        live = half > 8 * EPS * np.abs(middle)
        off = np.abs(X - middle) / np.where(live, half, 1.0)
        if self.has_two_values is not None:
            live = live & ~(self.has_two_values & (off < 1 + 8 * EPS))
        return np.where(live & np.isfinite(off), off, 0.0)

    def values(self, X: Array) -> Array:
        return self.excess(X).max(axis=1, initial=0.0)

    def outside(self, x: Array, limit: float) -> NDArray:
        """Columns of one row that are farther out than a limit, the farthest first."""
        excess = self.excess(x[None])[0]
        order = np.argsort(-excess, kind="stable")
        return order[excess[order] > limit]


def is_curve(X: Array, names: Any) -> bool:
    """Whether the columns are points of a curve: numbers for names, or neighbours all but equal."""
    found = places_of(names)
    if found is not None and len(found[0]) > 4:
        steps = np.diff(found[0])
        if (steps > 0).all() or (steps < 0).all():
            return True
    if X.shape[1] < 20 or len(X) < 3 or np.isnan(X).any():
        return False
    Z = X - X.mean(axis=0)
    norms = np.linalg.norm(Z, axis=0)
    norms[norms == 0] = 1.0
    near = (Z[:, 1:] * Z[:, :-1]).sum(axis=0) / (norms[1:] * norms[:-1])
    return bool(np.median(near) > 0.98)


def stretch(contributions: Array) -> tuple[int, int]:
    """Return the stretch of a curve about the largest contribution in which they exceed half of it."""
    width = max(1, len(contributions) // 50)
    smooth = np.convolve(contributions, np.ones(width) / width, mode="same")
    peak = int(smooth.argmax())
    below = smooth < smooth[peak] / 2
    left = np.flatnonzero(below[:peak])
    right = np.flatnonzero(below[peak:])
    low = 0 if not len(left) else int(left[-1]) + 1
    high = len(below) - 1 if not len(right) else peak + int(right[0]) - 1
    return low, high
