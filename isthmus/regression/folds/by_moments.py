"""Folds of tall data: the moments of the whole less those of the held-out rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial, reduce
from typing import Any

import numpy as np
from scipy import sparse

from isthmus.linalg import Array, rank_tolerance
from isthmus.problems.forms import MomentForm, column_scales, scales_x
from isthmus.problems.parallel import thread_map
from isthmus.problems.paths import FoldPath, MomentPath
from isthmus.problems.splits import Rows, Split
from isthmus.problems.sums import Moments
from isthmus.regression.folds.refit import KEPT_VARIANCE, Folds, Task
from isthmus.regression.pls_algorithms import GRAM_DIGITS, MomentScores, primal_pls

_BATCH_BYTES = 2**25
_PARTS_BYTES = 2**28


class MomentFolds(Folds):
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
            parts = thread_map(lambda split: self.moments(split.test), splits)
            self.parts = {int(split.test[0]): part for split, part in zip(splits, parts)}
            self.whole = reduce(Moments.merge, self.parts.values())
        else:
            self.whole  # noqa: B018  computed before threads ask for it

    def tasks(self, splits: Sequence[Split]) -> list[Task]:
        self.prepare(splits)
        n, p = self.rows.shape
        batched = self.estimator._batches_folds and not sparse.issparse(self.rows.X)
        batched &= not any(split.repeats_rows for split in splits)
        largest = max(n - split.n_train for split in splits)
        if not batched or 8 * (largest + 1) > p or len(splits) < 4:
            return super().tasks(splits)
        per_fold = 8 * p * (4 * self.n_components + 2 * self.rows.Y.shape[1] + 2 * largest)
        size = max(1, _BATCH_BYTES // per_fold)
        return [
            partial(self.batch, start, splits[start : start + size])
            for start in range(0, len(splits), size)
        ]

    def fast_path(self, split: Split) -> list[FoldPath]:
        held_out, part = split.held_out, None
        if len(held_out) > split.n_train or split.repeats_rows:
            moments = self.moments(split.train)
        else:
            part = self.parts.get(int(held_out[0])) if len(held_out) else None
            part = self.moments(held_out) if part is None else part
            moments = self.whole.subtract(part)
            kept = moments.xx.diagonal() >= KEPT_VARIANCE * self.whole.xx.diagonal()
            if not (kept.all() and (moments.yy >= KEPT_VARIANCE * self.whole.yy).all()):
                moments = self.moments(split.train)
        form = MomentForm.from_moments(moments, self.scale)
        if self.estimator._ridge_path and split.is_partition and part is not None:
            return self.moment_paths(form, moments, part, split)
        coordinates = self.standardised(form.frame, split.test)
        return self.solve(form, coordinates)

    def moment_paths(
        self, form: MomentForm, moments: Moments, part: Moments, split: Split
    ) -> list[Any]:
        """Paths of many ridge weights, whose errors follow from the moments of the test rows."""
        frame, w = form.frame, part.weight
        whole, loadings = self.estimator._solve_path(form, self.n_components, self.alphas, False)
        dx, dy = part.mean_difference(moments)  # mean of the test rows less that of the others
        factor = (form.xx.diagonal() > 0) / frame.x_scale
        R = whole * factor[:, None]
        HR, CR, shift = part.xx @ R / w, R.T @ part.xy / w, dx @ R
        squares = part.yy / w + dy**2
        ends = np.cumsum([Q.shape[1] for Q in loadings])
        paths = []
        for Q, end in zip(loadings, ends, strict=True):
            own = slice(end - Q.shape[1], end)
            paths.append(
                MomentPath(
                    whole[:, own],
                    Q * frame.y_scale[:, None],
                    frame.y_mean,
                    R[:, own].T @ HR[:, own] + np.outer(shift[own], shift[own]),
                    CR[own] + np.outer(shift[own], dy),
                    squares,
                    partial(self.standardised, frame, split.test),
                )
            )
        return paths

    def batch(self, start: int, splits: Sequence[Split]) -> Iterator[tuple[int, list[FoldPath]]]:
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
        lost = (squares < KEPT_VARIANCE * whole.xx.diagonal()).any(axis=1)
        lost |= (y_squares < KEPT_VARIANCE * whole.yy).any(axis=1)
        x_scale, live = column_scales(squares, whole.x_mean, weight[:, None], scales_x(self.scale))
        y_scale, y_live = column_scales(y_squares, whole.y_mean, weight[:, None], bool(self.scale))
        factor, y_factor = live / x_scale, y_live / y_scale
        cross = whole.xy - F.transpose(0, 2, 1) @ G
        cross *= factor[:, :, None] * y_factor[:, None, :]

        def product(r: Array) -> Array:
            u = r * factor
            h = u @ whole.xx
            h -= ((F @ u[:, :, None]).transpose(0, 2, 1) @ F)[:, 0]
            h *= factor
            return h

        path = primal_pls(
            cross,
            MomentScores(product, (len(splits), self.n_components, p), n_passes=1),
            self.n_components,
            tol=rank_tolerance(self.rows.shape[0], p),
            simpls=self.estimator.algorithm == "simpls",
        )
        norm = np.linalg.norm(whole.xx * np.outer(factor.max(axis=0), factor.max(axis=0)))
        lost |= path.shares(norm) < GRAM_DIGITS
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
