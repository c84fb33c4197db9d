"""The eigenproblem by moments of input features and output features, block by block."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from isthmus._linalg import Array, row_blocks
from isthmus.problems import Moments
from isthmus.problems.blocks import BlockMoments
from isthmus.projections.couplings import Coupling
from isthmus.projections.eigen import Axes, ridge_whitening, settle_ties, solve_features
from isthmus.projections.problem import (
    Fit,
    Ridge,
    Rows,
    balance,
    require_variation,
    warn_rank,
)
from isthmus.projections.rows import KernelSide

_ROWS = 4096  # centred at a time


class FeatureProblem:
    """Blocks of rows of input features and output features; only their moments are kept.

    ``folds`` gives the fold of each row, or None for a single one; the moments of a training fold are
    those of the whole minus those of the fold. Of the rows of ``sample`` the features themselves are
    kept, on which folds are judged.
    """

    solver = "features"

    def __init__(
        self,
        blocks: Any,
        coupling: Coupling,
        n: int,
        *,
        method: str = "generalised",
        folds: Rows | None = None,
        sample: Rows | None = None,
        weights: Array | None = None,
    ) -> None:
        self.blocks = blocks
        self.coupling = coupling
        self.method = method
        self.n = n
        self.folds = np.zeros(n, dtype=np.intp) if folds is None else folds
        self.sample = np.empty(0, dtype=np.intp) if sample is None else sample
        self.rounding = blocks.rounding
        self.parts = BlockMoments(blocks(), self.folds, self.sample, weights)
        self.most = min(n - 1, len(self.parts.whole.xx))

    def fit(self) -> FeatureFit:
        """The problem on all rows."""
        return FeatureFit(self, self.parts.whole)

    def without(self, fold: int, *, shared: bool) -> FeatureFit:
        """The problem on all rows but those of a fold, whatever ridge weights follow."""
        return FeatureFit(self, self.parts.without(fold))


class FeatureFit(Fit):
    """Moments of the rows of one fit."""

    solver = "features"

    def __init__(self, problem: FeatureProblem, moments: Moments) -> None:
        self.problem, self.moments = problem, moments
        self.n, self.n_rows = moments.weight, moments.n_samples
        self.xx = moments.xx
        self.trace = float(np.trace(self.xx))
        size = float(self.n * (moments.x_mean @ moments.x_mean)) + self.trace
        require_variation(self.trace, size, "X", problem.rounding[0])
        spread = self.trace_y = float(np.trace(moments.yy))
        size = float(self.n * (moments.y_mean @ moments.y_mean)) + spread
        require_variation(spread, size, "y", problem.rounding[1])
        self.factor_x = factor_y = 1.0
        if problem.coupling.balanced:
            self.factor_x = balance(self.trace, self.n, "X")
            factor_y = balance(spread, self.n, "y")
            self.xx, self.trace = self.factor_x * self.xx, float(self.n)
        yy = moments.yy * factor_y
        root = problem.coupling.root(self.n, moments.y_mean, yy, self.n_rows)
        self.cross = np.sqrt(self.factor_x * factor_y) * (moments.xy @ root)
        weight = problem.coupling.x_weight
        # Of K in F' K F: its square would leave the range of numbers for huge or tiny weights.
        self.root = np.sqrt(weight) * self.xx if weight else None

    def solve(self, ridge: Ridge, r: int | None) -> Axes:
        alpha = ridge.at(self.trace)
        whitening, rank = ridge_whitening(self.xx, alpha)
        self.rank = rank if alpha == 0 else None
        full = min(len(self.xx), self.n_rows - 1)
        if rank < full:
            warn_rank(rank, full)
        method = self.problem.method
        may_tie = alpha == 0 and method == "generalised"
        most = None if may_tie else r
        axes = solve_features(whitening, self.n, self.cross, self.root, method, most)
        if may_tie:
            axes = settle_ties(axes, axes.coef.T @ axes.coef, r)
        axes.coef = axes.coef * np.sqrt(self.factor_x)
        return axes

    def project(self, coef: Array, rows: Rows | None = None) -> Array:
        """Coordinates of the rows that are judged, whose features were kept."""
        F = self.problem.parts.sample
        parts = [(F[rows] - self.moments.x_mean) @ coef for rows in row_blocks(len(F), _ROWS)]
        return np.vstack(parts)

    def deviations(self, coef: Array) -> Array:
        variances = np.einsum("ir,ij,jr->r", coef, self.moments.xx, coef, optimize=True) / self.n
        return np.sqrt(np.maximum(variances, 0.0))

    def expand(self, coef: Array, inputs: KernelSide) -> tuple[Any, Array, Array]:
        features = self.problem.blocks.F
        return features.points, features.collapse(coef), -self.moments.x_mean @ coef

    def signs(self, axes: Axes) -> Array:
        """The rule of ``column_signs`` without all coordinates in memory."""
        mean = self.moments.x_mean
        peaks = (find_peaks(mean, axes.coef, F) for _, F, _ in self.problem.blocks())
        return np.where(reduce(take_larger, peaks) < 0, -1.0, 1.0)


def find_peaks(mean: Array, coef: Array, F: Array, *rest: Any) -> Array:
    """The coordinates of largest size of each axis."""
    z = (F - mean) @ coef
    return np.asarray(z[np.abs(z).argmax(axis=0), np.arange(z.shape[1])])


def take_larger(a: Array, b: Array) -> Array:
    """Of two coordinates of each axis the larger in size."""
    return np.where(np.abs(b) > np.abs(a), b, a)
