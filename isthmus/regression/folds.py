"""Maps fitted without each fold, for much less than a fit a fold.

What a training fold needs to know of its rows is what is left of the whole when the held-out rows
are taken away: moments where p <= n, a part of one Gram matrix where n < p. Centring and scaling
are redone inside each fold. Where taking away would cost digits, the fold is fitted from its rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve

from isthmus.linalg import Array, descending_eigh
from isthmus.moments import Moments
from isthmus.regression.forms import (
    Frame,
    GramForm,
    InaccurateGram,
    MomentForm,
    RowForm,
    column_scales,
)
from isthmus.regression.pls_algorithms import primal_pls, rank_tolerance
from isthmus.regression.spectrum import RIDGE_SAFE, SPECTRUM_SAFE

# A column that keeps less than this share of its variance in a fold has lost too many digits.
_KEPT_VARIANCE = 1e-6
# Smallest pivot, relative to one, of what held-out rows leave of the ridge solution.
_PIVOT = 1e-6
_BATCH_BYTES = 2**25
_PARTS_BYTES = 2**28



class Split:
    """Training and test rows; of n rows of which one is left out, only that one is kept."""

    def __init__(self, train: NDArray, test: NDArray, n_samples: int) -> None:
        train, self.test = np.asarray(train), np.asarray(test)
        self.n_samples, self.n_train = n_samples, len(train)
        inside = np.zeros(n_samples, dtype=bool)
        inside[train] = True
        self.repeats_rows = bool(inside.sum() < len(train))  # as a bootstrap does
        complete = len(train) + len(test) == n_samples and not self.repeats_rows
        self.is_partition = bool(complete and not inside[test].any())
        self._train = None if self.is_partition else train

    @property
    def train(self) -> NDArray:
        return _outside(self.test, self.n_samples) if self._train is None else self._train

    @property
    def held_out(self) -> NDArray:
        """All rows that are not trained on."""
        return self.test if self._train is None else _outside(self._train, self.n_samples)


def _outside(rows: NDArray, n: int) -> NDArray:
    outside = np.ones(n, dtype=bool)
    outside[rows] = False
    return np.flatnonzero(outside)


@dataclass
class FoldPath:
    """Predictions for the test rows of a fold with 1..k components: y_mean + cumulated t_i l_i'."""

    scores: Array  # (n_test, k)
    loadings: Array  # (q, k), in the user's units
    y_mean: Array


@dataclass
class Rows:
    """The checked rows of a cross-validation."""

    X: Any
    Y: NDArray
    weights: Array | None

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape

    def weight_of(self, rows: NDArray) -> Array | None:
        return None if self.weights is None else self.weights[rows]

    def take(self, rows: NDArray) -> tuple[Any, NDArray, Array | None]:
        return self.X[rows], self.Y[rows], self.weight_of(rows)


def fold_paths(
    estimator: Any, rows: Rows, splits: Sequence[Split], n_components: int, alphas: list
) -> Iterator[tuple[int, list[FoldPath]]]:
    """Yield ``(split, paths)``, one path for each ridge weight, in any order of the splits."""
    n, p = rows.shape
    kind = MomentForm if sparse.issparse(rows.X) else estimator._cheapest_form(n, p, n_components)
    if kind is not RowForm and estimator._ridge_path and not estimator.scale:
        folds: _Folds = _RidgeFolds(estimator, rows, n_components, alphas)
    elif kind is MomentForm:
        folds = _MomentFolds(estimator, rows, n_components, alphas)
    elif kind is GramForm:
        folds = _GramFolds(estimator, rows, n_components, alphas)
    else:
        folds = _Folds(estimator, rows, n_components, alphas)
    yield from folds.paths(splits)


class _Folds:
    """Every fold fitted from its own rows."""

    def __init__(self, estimator: Any, rows: Rows, n_components: int, alphas: list) -> None:
        self.estimator, self.rows = estimator, rows
        self.n_components, self.alphas = n_components, alphas
        self.scale = estimator.scale

    def paths(self, splits: Sequence[Split]) -> Iterator[tuple[int, list[FoldPath]]]:
        for i, split in enumerate(splits):
            yield i, self.path(split)

    def path(self, split: Split) -> list[FoldPath]:
        try:
            return self.fast_path(split)
        except InaccurateGram:
            return self.exact_path(split)

    def fast_path(self, split: Split) -> list[FoldPath]:
        raise InaccurateGram

    def exact_path(self, split: Split) -> list[FoldPath]:
        make = MomentForm.from_rows if sparse.issparse(self.rows.X) else RowForm.from_rows
        form = make(*self.rows.take(split.train), self.scale)
        return self.solve(form, self.standardised(form.frame, split.test), exact=True)

    def standardised(self, frame: Frame, test: NDArray) -> Array:
        X = self.rows.X[test]
        return frame.x(X.toarray() if sparse.issparse(X) else X)

    def solve(self, form: Any, coordinates: Array, exact: bool = False) -> list[FoldPath]:
        """Paths for test rows given in the coordinates of the form."""
        frame = form.frame
        pairs = self.estimator._solve_path(form, self.n_components, self.alphas, exact)
        scores = coordinates @ np.hstack([R for R, _ in pairs])  # one product for all ridge weights
        ends = np.cumsum([R.shape[1] for R, _ in pairs])[:-1]
        return [
            FoldPath(T, Q * frame.y_scale[:, None], frame.y_mean)
            for T, (_, Q) in zip(np.split(scores, ends, axis=1), pairs, strict=True)
        ]


class _MomentFolds(_Folds):
    """Folds by taking moments away; many small folds of PLS at once."""

    def __init__(self, estimator: Any, rows: Rows, n_components: int, alphas: list) -> None:
        super().__init__(estimator, rows, n_components, alphas)
        self.parts: dict[int, Moments] = {}  # moments of held-out rows, by the first of them

    @cached_property
    def whole(self) -> Moments:
        return self.moments(slice(None))

    def moments(self, rows: Any) -> Moments:
        X, Y, weights = self.rows.take(rows)
        return Moments(X.shape[1], Y.shape[1], full_yy=False)._sum(X, Y, weights)

    def prepare(self, splits: Sequence[Split]) -> None:
        """Where the test rows are a partition, the whole is the sum of its parts."""
        n, p = self.rows.shape
        tests = np.concatenate([split.test for split in splits])
        complete = len(tests) == n and len(np.unique(tests)) == n
        complete &= all(split.is_partition for split in splits)
        if complete and len(splits) * 8 * p**2 <= _PARTS_BYTES and len(splits) < n / 2:
            self.parts = {int(split.test[0]): self.moments(split.test) for split in splits}
            self.whole = reduce(Moments.merge, self.parts.values())

    def paths(self, splits: Sequence[Split]) -> Iterator[tuple[int, list[FoldPath]]]:
        self.prepare(splits)
        n, p = self.rows.shape
        batched = self.estimator._batches_folds and not sparse.issparse(self.rows.X)
        batched &= not any(split.repeats_rows for split in splits)
        largest = max(n - split.n_train for split in splits)
        if not batched or 8 * (largest + 1) > p or len(splits) < 4:
            yield from super().paths(splits)
            return
        per_fold = 8 * p * (4 * self.n_components + 2 * self.rows.Y.shape[1] + 2 * largest)
        size = max(1, _BATCH_BYTES // per_fold)
        for start in range(0, len(splits), size):
            yield from self.batch(start, splits[start : start + size])

    def fast_path(self, split: Split) -> list[FoldPath]:
        held_out = split.held_out
        if len(held_out) > split.n_train or split.repeats_rows:
            moments = self.moments(split.train)
        else:
            part = self.parts.get(int(held_out[0])) if len(held_out) else None
            moments = self.whole.subtract(self.moments(held_out) if part is None else part)
            kept = moments.xx.diagonal() >= _KEPT_VARIANCE * self.whole.xx.diagonal()
            if not (kept.all() and (moments.yy >= _KEPT_VARIANCE * self.whole.yy).all()):
                moments = self.moments(split.train)
        form = MomentForm.from_moments(moments, self.scale)
        coordinates = self.standardised(form.frame, split.test)
        return self.solve(form, coordinates, exact=sparse.issparse(self.rows.X))

    def batch(
        self, start: int, splits: Sequence[Split]
    ) -> Iterator[tuple[int, list[FoldPath]]]:
        r"""PLS without few rows each, a stack of folds at once.

        With the held-out rows F, centred at the mean of all and times the root of their weights, and
        their sum s over the root of the weight that is left as one more row, what is left is
        :math:`X^\top X - F^\top F`: the product with it is one matrix product for all folds.
        """
        whole, p = self.whole, self.rows.shape[1]
        F, G, weight = self.held_out(splits)
        shift = -F[:, -1] / np.sqrt(weight)[:, None]  # mean of the fold less that of all
        y_shift = -G[:, -1] / np.sqrt(weight)[:, None]
        squares = whole.xx.diagonal() - np.einsum("bmp,bmp->bp", F, F)
        y_squares = whole.yy - np.einsum("bmq,bmq->bq", G, G)
        lost = (squares < _KEPT_VARIANCE * whole.xx.diagonal()).any(axis=1)
        lost |= (y_squares < _KEPT_VARIANCE * whole.yy).any(axis=1)
        x_scale, live = column_scales(squares, whole.x_mean, weight[:, None], self.scale)
        y_scale, y_live = column_scales(y_squares, whole.y_mean, weight[:, None], self.scale)
        factor, y_factor = live / x_scale, y_live / y_scale
        cross = whole.xy - F.transpose(0, 2, 1) @ G
        cross *= factor[:, :, None] * y_factor[:, None, :]

        def product(r: Array) -> tuple[Array, Array]:
            u = r * factor
            h = u @ whole.xx
            h -= ((F @ u[:, :, None]).transpose(0, 2, 1) @ F)[:, 0]
            h *= factor
            return h, np.einsum("bp,bp->b", r, h)

        path = primal_pls(
            cross,
            product,
            self.n_components,
            tol=rank_tolerance(self.rows.shape[0], p),
            simpls=self.estimator.algorithm == "simpls",
        )
        norm = np.linalg.norm(whole.xx * np.outer(factor.max(axis=0), factor.max(axis=0)))
        lost |= path.digits_lost(norm)
        for b, split in enumerate(splits):
            if lost[b]:
                yield start + b, self.path(split)
                continue
            Z = whole.centred(self.rows.X[split.test], whole.y_mean)[0]
            Z -= shift[b]
            Z *= factor[b]
            loadings = path.y_loadings[b].T * y_scale[b][:, None]
            fold = FoldPath(Z @ path.rotations[b].T, loadings, whole.y_mean + y_shift[b])
            yield start + b, [fold]

    def held_out(self, splits: Sequence[Split]) -> tuple[Array, Array, Array]:
        """Held-out rows of each fold, padded with zeros, with their sum as the last row."""
        whole, p = self.whole, self.rows.shape[1]
        sets = [split.held_out for split in splits]
        m, q = max(map(len, sets)), self.rows.Y.shape[1]
        F, G, weight = np.zeros((len(sets), m + 1, p)), np.zeros((len(sets), m + 1, q)), []
        for b, out in enumerate(sets):
            X, Y, w = self.rows.take(out)
            root = np.ones((len(out), 1)) if w is None else np.sqrt(w)[:, None]
            Xc, Yc = whole.centred(X, Y)
            F[b, : len(out)], G[b, : len(out)] = Xc * root, Yc * root
            left = whole.weight - float((root**2).sum())
            F[b, -1] = root[:, 0] @ F[b, : len(out)] / np.sqrt(left)
            G[b, -1] = root[:, 0] @ G[b, : len(out)] / np.sqrt(left)
            weight.append(left)
        return F, G, np.array(weight)


class _GramFolds(_Folds):
    """Folds by parts of the Gram matrix of all rows; it is made anew for each only if scaled."""

    def __init__(self, estimator: Any, rows: Rows, n_components: int, alphas: list) -> None:
        super().__init__(estimator, rows, n_components, alphas)
        n = rows.shape[0]
        self.w = np.ones(n) if rows.weights is None else rows.weights
        self.x_mean = (self.w @ rows.X) / self.w.sum()
        self.Xc = rows.X - self.x_mean
        self.Xc -= (self.w @ self.Xc) / self.w.sum()
        self.squares = self.w @ self.Xc**2
        self.gram = None if self.scale else self.Xc @ self.Xc.T

    def fast_path(self, split: Split) -> list[FoldPath]:
        train, test = split.train, split.test
        w, Y = self.w[train], self.rows.Y[train]
        weight = float(w.sum())
        x_scale, gram = np.ones(self.rows.shape[1]), self.gram
        if gram is None:
            x_scale, live = self.scales(split, weight)
            Z = self.Xc * (live / x_scale)
            gram = Z @ Z.T
        y_mean = (w @ Y) / weight
        Yc = (Y - y_mean) * np.sqrt(w)[:, None]
        y_squares = np.einsum("ij,ij->j", Yc, Yc)
        y_scale, y_live = column_scales(y_squares, y_mean, weight, self.scale)
        Yc *= y_live / y_scale
        K, K_test = _centre(gram, train, test, w / weight)
        if K.diagonal().max() < _KEPT_VARIANCE * gram.diagonal()[train].max():
            raise InaccurateGram  # the mean of all rows is far from that of the fold
        root = np.sqrt(w)
        K *= root[:, None] * root
        frame = Frame(
            self.x_mean, x_scale, y_mean, y_scale, weight, len(train), np.zeros_like(x_scale)
        )
        form = GramForm(frame, K, Yc, y_squares * y_live / y_scale**2)
        return self.solve(form, K_test * root)

    def scales(self, split: Split, weight: float) -> tuple[Array, NDArray]:
        """Scales of the columns over the training rows."""
        few_out = 2 * split.n_train >= split.n_samples and not split.repeats_rows
        rows = split.held_out if few_out else split.train
        part, w = self.Xc[rows], self.w[rows]
        # Sums over the training and the held-out rows are opposite, so either will do.
        squares, sums = w @ part**2, w @ part
        if few_out:
            squares = self.squares - squares
        squares -= sums**2 / weight
        if (squares < _KEPT_VARIANCE * self.squares).any():
            raise InaccurateGram
        return column_scales(squares, self.x_mean, weight, self.scale)


class _RidgeFolds(_Folds):
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
        self.fallback = (_MomentFolds if primal else _GramFolds)(
            estimator, rows, n_components, alphas
        )
        self.rank = min(n - 1, p)
        self.w = np.ones(n) if rows.weights is None else rows.weights
        self.weight = float(self.w.sum())
        self.y_mean = (self.w @ rows.Y) / self.weight

    def paths(self, splits: Sequence[Split]) -> Iterator[tuple[int, list[FoldPath]]]:
        if all(self.is_large(split) for split in splits):
            yield from self.fallback.paths(splits)
            return
        self.decompose()
        yield from super().paths(splits)

    def is_large(self, split: Split) -> bool:
        """Whether the system of the size of the fold costs more than one of the size of X'X."""
        return 2 * (split.n_samples - split.n_train + 1) > self.rank

    def decompose(self) -> None:
        root = np.sqrt(self.w)[:, None]
        if isinstance(self.fallback, _MomentFolds):
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
        m = self.M - A.T @ G
        root = np.sqrt(self.w[test])[:, None]
        y_mean = self.y_mean - G[-1] / np.sqrt(left)
        paths = []
        for i, alpha in enumerate(self.alphas):
            try:
                fitted, inner = self.held_out_fit(A, m, alpha)
            except InaccurateGram:
                paths.append(self.one_alpha(i).path(split)[0])
                continue
            Q = descending_eigh(inner)[1][:, : self.n_components]
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

    def held_out_fit(self, A: Array, m: Array, alpha: float) -> tuple[Array, Array]:
        """A c and m'c."""
        norm = self.squares[0]
        if alpha < RIDGE_SAFE * norm and self.squares[-1] < SPECTRUM_SAFE * norm:
            raise InaccurateGram
        g = 1.0 / np.sqrt(self.squares + alpha)  # the root of E keeps the products symmetric
        Ag, mg = A * g, m * g[:, None]
        S = np.eye(len(A)) - Ag @ Ag.T
        try:
            factor = cho_factor(S, lower=True, check_finite=False)
        except np.linalg.LinAlgError as error:
            raise InaccurateGram from error
        if factor[0].diagonal().min() ** 2 < _PIVOT:
            raise InaccurateGram
        a = Ag @ mg
        fitted = cho_solve(factor, a, check_finite=False)
        return fitted, mg.T @ mg + a.T @ fitted

    def one_alpha(self, i: int) -> _Folds:
        folds = type(self.fallback).__new__(type(self.fallback))
        folds.__dict__.update(self.fallback.__dict__, alphas=[self.alphas[i]])
        return folds


def _centre(gram: Array, train: NDArray, test: NDArray, share: Array) -> tuple[Array, Array]:
    """Gram matrices train x train and test x train about the weighted mean of the training rows."""
    K, K_test = gram[np.ix_(train, train)], gram[np.ix_(test, train)]
    mean = K @ share
    middle = share @ mean
    K -= mean[:, None]
    K -= mean
    K += middle
    K_test -= (K_test @ share)[:, None]
    K_test -= mean
    K_test += middle
    return K, K_test
