"""Folds of reduced rank regression: one spectrum of all rows for every fold and ridge weight."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve

from isthmus.linalg import Array
from isthmus.linalg.eigen import descending_eigh
from isthmus.problems.forms import InaccurateGram
from isthmus.problems.paths import FoldPath
from isthmus.problems.spectrum import RIDGE_SAFE, SPECTRUM_SAFE, lacks_digits
from isthmus.problems.splits import Rows, Split
from isthmus.regression.folds.by_gram import GramFolds
from isthmus.regression.folds.by_moments import MomentFolds
from isthmus.regression.folds.refit import Folds, Task

# Smallest pivot, relative to one, of what held-out rows leave of the ridge solution.
_PIVOT = 1e-6


class RidgeFolds(Folds):
    r"""Reduced rank without each fold from one spectrum of all rows, for every ridge weight.

    In the eigenbasis of X'X the held-out rows A (and their sum, as above) leave the ridge solution
    :math:`c = (D^2 + \alpha - A^\top A)^{-1} m` with :math:`A c = (I - A E A^\top)^{-1} A E m`,
    :math:`E = (D^2 + \alpha)^{-1}`: the held-out predictions cost a system of the size of the fold.
    The rank constraint projects them on the leading eigenvectors of :math:`m^\top c`, (q, q).
    """

    def __init__(self, estimator: Any, rows: Rows, n_components: int, alphas: list) -> None:
        super().__init__(estimator, rows, n_components, alphas)
        n, p = rows.shape
        primal = sparse.issparse(rows.X) or p <= n
        kind: Any = MomentFolds if primal else GramFolds
        self.fallback = kind(estimator, rows, n_components, alphas)
        self.rank = min(n - 1, p)
        self.w = np.ones(n) if rows.weights is None else rows.weights
        self.weight = float(self.w.sum())
        # No product, as in the checks of rows: threads of folds come next.
        self.y_mean = (self.w[:, None] * rows.Y).sum(axis=0) / self.weight

    def tasks(self, splits: Sequence[Split]) -> list[Task]:
        if all(self.is_large(split) for split in splits):
            return self.fallback.tasks(splits)
        self.decompose()
        return super().tasks(splits)

    def is_large(self, split: Split) -> bool:
        """Whether the system of the size of the fold costs more than one of the size of X'X."""
        return 2 * (split.n_samples - split.n_train + 1) > self.rank

    def decompose(self) -> None:
        root = np.sqrt(self.w)[:, None]
        if isinstance(self.fallback, MomentFolds):
            whole = self.fallback.whole
            squares, self.B = descending_eigh(whole.xx)
            self.F, M = None, self.B.T @ whole.xy
        else:
            squares, U = descending_eigh(self.fallback.gram * root * root[:, 0])
            self.F = U * np.sqrt(squares)
            M = self.F.T @ ((self.rows.Y - self.y_mean) * root)
        self.squares, self.M = squares[: self.rank], M[: self.rank]

    def path(self, split: Split) -> list[FoldPath]:
        if self.is_large(split) or not split.is_partition:
            return self.fallback.path(split)
        test = split.test
        A, G, left = self.without(test)
        both = np.vstack([A, self.M.T - G.T @ A])  # one symmetric product for all that is needed
        root = np.sqrt(self.w[test])[:, None]
        y_mean = self.y_mean - G[-1] / np.sqrt(left)
        paths = []
        for i, alpha in enumerate(self.alphas):
            try:
                fitted, inner = self.held_out_fit(both, len(A), alpha)
            except InaccurateGram:
                paths.append(self.one_alpha(i).path(split)[0])
                continue
            squares, Q = descending_eigh(inner)
            if lacks_digits(squares[: self.n_components]):
                paths.append(self.one_alpha(i).path(split)[0])
                continue
            Q = Q[:, : self.n_components]
            predicted = fitted[:-1] / root + fitted[-1] / np.sqrt(left)
            paths.append(FoldPath(predicted @ Q, Q, y_mean))
        return paths

    def without(self, test: NDArray) -> tuple[Array, Array, float]:
        """Held-out rows in the eigenbasis and their outputs, weighted, with their sums."""
        w = self.w[test]
        root = np.sqrt(w)[:, None]
        left = self.weight - float(w.sum())
        if self.F is None:
            X = self.rows.X[test]
            X = X.toarray() if sparse.issparse(X) else X
            rows = (self.fallback.whole.centred(X, self.y_mean)[0] * root) @ self.B[:, : self.rank]
        else:
            rows = self.F[test, : self.rank]
        Y = (self.rows.Y[test] - self.y_mean) * root
        sums = [(root[:, 0] @ part / np.sqrt(left))[None] for part in (rows, Y)]
        return np.vstack([rows, sums[0]]), np.vstack([Y, sums[1]]), left

    def held_out_fit(self, both: Array, k: int, alpha: float) -> tuple[Array, Array]:
        """A c and m'c, from the k rows of A and, below them, m'."""
        norm = self.squares[0]
        if alpha < RIDGE_SAFE * norm and self.squares[-1] < SPECTRUM_SAFE * norm:
            raise InaccurateGram
        scaled = both / np.sqrt(self.squares + alpha)  # the root of E keeps the products symmetric
        products = scaled @ scaled.T
        S, a = np.eye(k) - products[:k, :k], products[:k, k:]
        try:
            factor = cho_factor(S, lower=True, check_finite=False)
        except np.linalg.LinAlgError as error:
            raise InaccurateGram from error
        if factor[0].diagonal().min() ** 2 < _PIVOT:
            raise InaccurateGram
        fitted = cho_solve(factor, a, check_finite=False)
        return fitted, products[k:, k:] + a.T @ fitted

    def one_alpha(self, i: int) -> Folds:
        folds = copy(self.fallback)
        folds.alphas = [self.alphas[i]]
        return folds
