"""Every fold fitted from its own rows: what the faster roads start from and fall back to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from isthmus.linalg import Array
from isthmus.regression.folds.path import FoldPath
from isthmus.regression.folds.split import Rows, Split
from isthmus.regression.forms import Frame, InaccurateGram, MomentForm, RowForm

Task = Callable[[], Iterable[tuple[int, list[FoldPath]]]]

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
        make = MomentForm.from_rows if sparse.issparse(self.rows.X) else RowForm.from_rows
        form = make(*self.rows.take(split.train), self.scale)
        return self.solve(form, self.standardised(form.frame, split.test), exact=True)

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
