"""Every fold fitted from its own rows: what the faster roads start from and fall back to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from isthmus.linalg import Array, row_blocks
from isthmus.problems.forms import Frame, InaccurateGram, RowForm, scales_x, standardised
from isthmus.problems.paths import FoldPath
from isthmus.problems.splits import Rows, Split

Task = Callable[[], Iterable[tuple[int, list[FoldPath]]]]

# Wide folds are turned into few coordinates where there are at most so many rows a component.
_TURN_PER_COMPONENT = 4
_TURN_BLOCK = 2**19  # entries standardised at a time

KEPT_VARIANCE = 1e-6
"""A column that keeps less than this share of its variance in a fold has lost too many digits."""


class Folds:
    """Every fold fitted from its own rows."""

    def __init__(self, estimator: Any, rows: Rows, n_components: int, alphas: list) -> None:
        self.estimator, self.rows = estimator, rows
        self.n_components, self.alphas = n_components, alphas
        self.scale = estimator.scale

    def tasks(self, splits: Sequence[Split]) -> list[Task]:
        """Independent pieces of work, each of which yields splits with their paths."""
        return [partial(self.task, i, split) for i, split in enumerate(splits)]

    def task(self, i: int, split: Split) -> list[tuple[int, list[FoldPath]]]:
        return [(i, self.path(split))]

    def path(self, split: Split) -> list[FoldPath]:
        try:
            return self.fast_path(split)
        except InaccurateGram:
            return self.exact_path(split)

    def fast_path(self, split: Split) -> list[FoldPath]:
        raise InaccurateGram

    def exact_path(self, split: Split) -> list[FoldPath]:
        if self.is_turned():
            return self.solve(*self.turned(split), exact=True)
        make = RowForm.from_blocks if sparse.issparse(self.rows.X) else RowForm.from_rows
        form = make(*self.rows.take(split.train), self.scale)
        return self.solve(form, self.standardised(form.frame, split.test), exact=True)

    def is_turned(self) -> bool:
        n, p = self.rows.shape
        few = p > 2 * n and n <= _TURN_PER_COMPONENT * self.n_components
        # SIMPLS blows rounding errors up: only the same steps on the same rows give what a refit gives.
        simpls = getattr(self.estimator, "algorithm", None) == "simpls"
        return few and not simpls and not sparse.issparse(self.rows.X)

    def turned(self, split: Split) -> tuple[RowForm, Array]:
        """A wide fold in as many coordinates as it has rows, and its test rows in them.

        An orthogonal turn of the features, the Q of a QR decomposition, changes no fit. Few columns at
        a time are standardised and joined to the R of those before, so that nothing of the size of X
        is made, neither rows nor factors.
        """
        k, Y, weights = split.n_train, self.rows.Y[split.train], self.rows.weight_of(split.train)
        Ys, y_mean, _, y_scale, y_squares = standardised(Y, weights, bool(self.scale))
        m = k + len(split.test)
        R, parts = np.zeros((0, m)), []
        for columns in row_blocks(self.rows.shape[1], max(_TURN_BLOCK // m, m)):
            X = self.rows.X[:, columns]
            Z, mean, rest, scale, squares = standardised(
                X[split.train], weights, scales_x(self.scale), in_range=True
            )
            test = ((X[split.test] - mean) - rest) * ((squares > 0) / scale)
            rows = np.vstack([R, np.hstack([Z.T, test.T])])
            R = np.asarray(np.linalg.qr(rows, mode="r"), dtype=np.float64)
            parts.append((mean, scale, rest, squares))
        x_mean, x_scale, x_rest, x_squares = map(np.concatenate, zip(*parts))
        weight = float(k) if weights is None else float(weights.sum())
        frame = Frame(x_mean, x_scale, y_mean, y_scale, weight, k, x_rest)
        return RowForm(frame, Ys, x_squares, y_squares, R.T[:k]), R.T[k:]

    def standardised(self, frame: Frame, test: NDArray) -> Array:
        X = self.rows.X[test]
        return frame.x(X.toarray() if sparse.issparse(X) else X)

    def solve(self, form: Any, coordinates: Array, exact: bool = False) -> list[FoldPath]:
        """Paths for test rows given in the coordinates of the form."""
        frame = form.frame
        R, loadings = self.estimator._solve_path(form, self.n_components, self.alphas, exact)
        scores = coordinates @ R  # one product for all ridge weights
        ends = np.cumsum([Q.shape[1] for Q in loadings])[:-1]
        return [
            FoldPath(T, Q * frame.y_scale[:, None], frame.y_mean)
            for T, Q in zip(np.split(scores, ends, axis=1), loadings, strict=True)
        ]
