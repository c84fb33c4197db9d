"""Ridge regression in a feature space: all weights and all folds from one eigendecomposition.

With the centred and weighted Gram matrix :math:`U D U^\\top` the hat matrix of a ridge weight is
:math:`H = s s^\\top + U \\operatorname{diag}(d / (d + \\alpha)) U^\\top`, where ``s`` is the unpenalised
constant. The residuals of a fold that is left out follow without refitting, exactly:
:math:`(I - H_{ff})^{-1} (y - H y)_f`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from isthmus._linalg import ROUNDING, Array

Folds = Sequence[tuple[NDArray, NDArray]]
ALPHAS = np.logspace(-11, 1, 19)  # ridge weights, relative to the largest eigenvalue
_RANK = 1e-13  # eigenvalues below, relative to the largest, are rounding
_MOST_PRODUCTS = 2e9  # products of a singular value decomposition; beyond, moments are decomposed
_STACKED_MATRICES = 50_000  # numbers in the matrices of the ridge weights that are solved together
_WIDE_FOLD = 2.0  # a fold this many times larger than the rank is refitted from its moments


class Distinct:
    """Rows without their copies: one of each group, with the weight and the mean output of all.

    A copy that stays would tell all of the one that is left out, and no ridge would be the best. Of more
    than ``most`` groups some are drawn by their numbers.

    Attributes
    ----------
    places, weights : ndarray of shape (n_distinct,)
        A row of each group that is kept, in the order of rows if all are, and the weights of the groups.
    """

    def __init__(self, groups: NDArray, weights: Array | None, most: int | None = None) -> None:
        _, first, self._group_of = np.unique(groups, return_index=True, return_inverse=True)
        self._kept = np.argsort(first)
        if most is not None and len(first) > most:
            self._kept = np.random.default_rng(0).permutation(len(first))[:most]
        own = np.ones(len(groups)) if weights is None else weights
        sums: Array = np.bincount(self._group_of, own).astype(np.float64)
        self._shares = own / sums[self._group_of]
        self.places, self.weights = first[self._kept], sums[self._kept]

    def means(self, Y: Array) -> Array:
        """Return the mean of each group that is kept, (n_distinct, q)."""
        found = [np.bincount(self._group_of, self._shares * y) for y in Y.T]
        return np.asarray(np.stack(found, axis=1)[self._kept], dtype=np.float64)

    def for_all(self, Z: Array) -> Array:
        """Return rows of all groups, (n_distinct, q), for every row of theirs."""
        return np.asarray(Z[np.argsort(self._kept)[self._group_of]])


@dataclass
class RidgeSpectrum:
    """A centred, weighted Gram matrix by its eigenvectors and eigenvalues.

    Attributes
    ----------
    basis, values : ndarray of shape (n_samples, rank), (rank,)
        Eigenvectors and eigenvalues of the Gram matrix with rows and columns times ``root``.
    root : ndarray of shape (n_samples,)
        Square roots of the weights, which have mean one.
    """

    basis: Array
    values: Array
    root: Array

    @classmethod
    def of_gram(cls, K: Array, weights: Array | None = None) -> RidgeSpectrum:
        """Decompose the Gram matrix of a kernel."""
        root = _root(len(K), weights)
        share = root**2 / len(K)
        means = K @ share
        centred = K - means - means[:, None] + share @ means
        values, basis = eigh(root[:, None] * centred * root, check_finite=False)
        return cls._without_constant(basis, values, root)

    @classmethod
    def of_rows(cls, Z: Array, weights: Array | None = None) -> RidgeSpectrum:
        """Decompose the linear kernel of rows, through the smaller of their two Gram matrices."""
        n, p = Z.shape
        root = _root(n, weights)
        rows = root[:, None] * (Z - root**2 @ Z / n)
        if p >= n:
            values, basis = eigh(rows @ rows.T, check_finite=False)
            return cls._without_constant(basis, values, root)
        if float(n) * p**2 > _MOST_PRODUCTS:
            values, vectors = eigh(rows.T @ rows, check_finite=False)
            vectors, values = _kept(vectors, values)
            return cls._without_constant(rows @ (vectors / np.sqrt(values)), values, root)
        left, singular, _ = np.linalg.svd(rows, full_matrices=False)
        return cls._without_constant(left[:, ::-1], singular[::-1] ** 2, root)

    @classmethod
    def _without_constant(cls, basis: Array, values: Array, root: Array) -> RidgeSpectrum:
        """Take the constant out of the eigenvectors: small ones have it by rounding."""
        basis, values = _kept(basis, values)
        constant = root / np.linalg.norm(root)
        basis -= np.outer(constant, constant @ basis)
        return cls(basis, values, root)

    @property
    def alphas(self) -> Array:
        """Ridge weights worth trying."""
        return ALPHAS * (self.values[-1] if len(self.values) else 1.0)

    def center(self, Y: Array) -> tuple[Array, Array]:
        """Return the weighted means of the outputs and the outputs without them, times ``root``."""
        means = self.root**2 @ Y / len(Y)
        return means, self.root[:, None] * (Y - means)

    def dual_coef(self, Y: Array, alpha: Array) -> Array:
        """Return the coefficients of the rows, for a ridge weight per target; they sum to zero."""
        projected = self.basis.T @ self.center(Y)[1]
        return self.root[:, None] * (
            self.basis @ (projected / (self.values[:, None] + alpha[None, :]))
        )

    def left_out(self, Y: Array, folds: Folds, alphas: Array) -> Iterator[Array]:
        """Yield, for each ridge weight, predictions of every row without its fold.

        Rows that no fold leaves out are NaN.
        """
        if not is_partition(folds, len(Y)) or _largest(folds) > _WIDE_FOLD * len(self.values):
            yield from self._refitted(Y, folds, alphas)
            return
        targets = self.center(Y)[1]
        projected = self.basis.T @ targets
        constant = self.root / np.linalg.norm(self.root)
        blocks = [self.basis[test] for _, test in folds]
        fixed = [np.eye(len(test)) - np.outer(constant[test], constant[test]) for _, test in folds]
        # Small folds: many ridge weights in one call, whose own time would count.
        at_once = max(1, _STACKED_MATRICES // max(_largest(folds) ** 2, len(Y) * Y.shape[1]))
        for begin in range(0, len(alphas), at_once):
            own = np.asarray(alphas)[begin : begin + at_once]
            shares = self.values / (self.values + own[:, None])
            residuals = targets - self.basis @ (shares[:, :, None] * projected)
            predicted = np.tile(Y, (len(own), 1, 1))
            for (_, test), block, rest in zip(folds, blocks, fixed, strict=True):
                kept = rest - (block * shares[:, None, :]) @ block.T
                off = np.linalg.solve(kept, residuals[:, test])
                predicted[:, test] -= off / self.root[test, None]
            yield from predicted

    def left_out_each(self, Y: Array, folds: Folds, alpha: Array) -> Array:
        """Return predictions of every row without its fold, for a ridge weight per target."""
        found = np.empty(Y.shape)
        alphas = np.unique(alpha)
        for own, predicted in zip(alphas, self.left_out(Y, folds, alphas), strict=True):
            found[:, alpha == own] = predicted[:, alpha == own]
        return found

    def left_out_singly(self, Y: Array, alpha: Array) -> Array:
        """Return predictions of every row without that row, for a ridge weight per target."""
        return Y - self._singly(Y)(alpha) / self.root[:, None]

    def best_singly(self, Y: Array, alphas: Array) -> tuple[float, Array]:
        """Return the weight of the least squared error of rows left out singly, and their residuals.

        It is one weight for all outputs, of equals the largest.
        """
        residuals = self._singly(Y)
        errors = np.array([np.square(residuals(np.array([alpha]))).sum() for alpha in alphas])
        best = alphas[errors <= errors.min() * (1 + ROUNDING)].max()
        return float(best), residuals(np.array([best])) / self.root[:, None]

    def _singly(self, Y: Array) -> Callable[[Array], Array]:
        """Return residuals of rows left out singly, times ``root``, as a function of the ridge weights.

        Written with what a ridge *leaves* of a direction: one minus a leverage has no digits where the
        leverage is near one, and a floor under it would favour no ridge at all.
        """
        targets = self.center(Y)[1]
        projected = self.basis.T @ targets
        squares = self.basis**2
        off = targets - self.basis @ projected
        rest = 1.0 - self.root**2 / (self.root @ self.root) - squares.sum(axis=1)
        rest = np.maximum(rest, 0.0)[:, None]
        fills = len(self.values) == len(Y) - 1  # nothing is off the basis, and the weight cancels
        if fills:
            off, rest = np.zeros_like(off), np.zeros_like(rest)

        def residuals(alpha: Array) -> Array:
            left = (1.0 if fills else alpha) / (self.values[:, None] + alpha)
            return np.asarray((self.basis @ (left * projected) + off) / (squares @ left + rest))

        return residuals

    def _refitted(self, Y: Array, folds: Folds, alphas: Array) -> Iterator[Array]:
        """Left-out predictions by a decomposition for each fold, for folds of any form."""
        rows = self.basis * np.sqrt(self.values) / self.root[:, None]
        paths = [_fold_path(rows, Y, self.root**2, fold) for fold in folds]
        for alpha in alphas:
            predicted = np.full(Y.shape, np.nan)
            for (_, test), (means, left, values, right) in zip(folds, paths, strict=True):
                predicted[test] = means + left @ (right / (values + alpha)[:, None])
            yield predicted


def _fold_path(rows: Array, Y: Array, weights: Array, fold: Any) -> tuple[Array, ...]:
    """Factors of the ridge predictions of the test rows of a fold."""
    train, test = fold
    share = weights[train] / weights[train].sum()
    means, centre = share @ Y[train], share @ rows[train]
    root = np.sqrt(weights[train])[:, None]
    Z = root * (rows[train] - centre)
    targets = root * (Y[train] - means)
    if len(train) < rows.shape[1]:
        values, vectors = eigh(Z @ Z.T, check_finite=False)
        vectors, values = _kept(vectors, values)
        return means, (rows[test] - centre) @ (Z.T @ vectors), values, vectors.T @ targets
    values, vectors = eigh(Z.T @ Z, check_finite=False)
    vectors, values = _kept(vectors, values)
    return means, (rows[test] - centre) @ vectors, values, vectors.T @ (Z.T @ targets)


def _root(n: int, weights: Array | None) -> Array:
    if weights is None:
        return np.ones(n)
    return np.sqrt(weights * (n / weights.sum()))


def _kept(basis: Array, values: Array) -> tuple[Array, Array]:
    """Leave out what is rounding; eigenvalues are in ascending order."""
    top = values[-1] if len(values) else 0.0
    keep = values > max(_RANK * top, np.finfo(float).tiny)
    return np.ascontiguousarray(basis[:, keep]), values[keep]


def is_partition(folds: Folds, n: int) -> bool:
    """Whether every row is left out once and each fold trains on all others."""
    tested = np.concatenate([test for _, test in folds])
    whole = len(tested) == n and len(np.unique(tested)) == n
    return whole and all(len(train) + len(test) == n for train, test in folds)


def _largest(folds: Folds) -> int:
    return max(len(test) for _, test in folds)
