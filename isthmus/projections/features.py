"""The eigenproblem by moments of input features and output features, block by block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import BLOCK_ROWS, Array, row_blocks
from isthmus.problems import BlockMoments, Moments
from isthmus.projections.eigen import Axes, ridge_whitening, solve_features
from isthmus.projections.held_out import Judge, VectorJudge, judged_rows
from isthmus.projections.problem import Fit, OutputSide, Rows
from isthmus.projections.rows import (
    OF_ROWS,
    InputFeatures,
    KernelSide,
    require_variation,
)

# Features of all rows are kept up to 1 GiB and made anew in every walk beyond.
_KEPT_BYTES = 2**30


class MomentProblem(ABC):
    """Features of both sides, of which only moments are kept."""

    F: InputFeatures
    outputs: OutputSide
    method: str
    whole: Moments  # of all rows
    rounding: tuple[float, float]  # what it leaves of rows that do not differ, on each side
    sample: Array  # features of the rows that are judged

    @property
    def most(self) -> int:
        """Largest number of components."""
        return min(self.whole.n_samples - 1, len(self.whole.xx))

    def fit(self) -> FeatureFit:
        """The problem on all rows."""
        return FeatureFit(self, self.whole)

    @abstractmethod
    def peaks(self, mean: Array, coef: Array) -> Array:
        """The coordinates of largest size of each axis, among all rows."""


class FeatureProblem(MomentProblem):
    """Rows in memory, their features made in blocks.

    ``folds`` gives the fold of each row, or None for a single one; the moments of a training fold are
    those of the whole minus those of the fold. With folds the features of the judged rows are kept.
    """

    def __init__(
        self,
        inputs: KernelSide,
        outputs: OutputSide,
        n_landmarks: int,
        *,
        method: str,
        selection: str,
        seed: int,
        folds: Rows | None,
    ) -> None:
        n = inputs.n
        self.n, self.outputs, self.method = n, outputs, method
        self.weights = inputs.weights
        keep = 8.0 * n * n_landmarks <= _KEPT_BYTES
        self.F = InputFeatures(inputs, n_landmarks, seed, selection, keep=keep)
        outputs.take_landmarks(n_landmarks, seed, selection, keep=keep)
        of_outputs = OF_ROWS if outputs.features is None else outputs.features.rounding
        self.rounding = self.F.rounding, of_outputs
        sample = np.empty(0, dtype=np.intp) if folds is None else judged_rows(n, seed)
        folds = np.zeros(n, dtype=np.intp) if folds is None else folds
        self.parts = BlockMoments(self.blocks(), folds, sample, self.weights)
        self.whole, self.sample = self.parts.whole, self.parts.sample

    def blocks(self) -> Iterator[tuple[slice, Array, Array]]:
        """Rows and their input and output features."""
        for rows in row_blocks(self.n, BLOCK_ROWS):
            yield rows, self.F(rows), self._output_features(rows)

    def _output_features(self, rows: slice | NDArray) -> Array:
        if self.outputs.features is not None:
            return self.outputs.features(rows)
        assert self.outputs.T is not None
        return self.outputs.T[rows]

    def judge(self, sample: Rows) -> Judge:
        """The judge of some of the rows."""
        if self.outputs.judge is not None:
            return self.outputs.judge.take(sample)
        weights = None if self.weights is None else self.weights[sample]
        return VectorJudge(self._output_features(sample), weights)

    def without(self, fold: int, *, shared: bool) -> FeatureFit:
        """The problem on all rows but those of a fold, whatever ridge weights follow."""
        return FeatureFit(self, self.parts.without(fold))

    def peaks(self, mean: Array, coef: Array) -> Array:
        return reduce(take_larger, (find_peaks(mean, coef, F) for _, F, _ in self.blocks()))


class FeatureFit(Fit):
    """Moments of the rows of one fit."""

    solver = "features"

    def __init__(self, problem: MomentProblem, moments: Moments) -> None:
        self.problem, self.moments = problem, moments
        self.n, self.n_rows = moments.weight, moments.n_samples
        self.trace = self._spread(moments.xx, moments.x_mean, "X", problem.rounding[0])
        self.trace_y = self._spread(moments.yy, moments.y_mean, "y", problem.rounding[1])
        self.xx, yy = moments.xx, moments.yy
        coupling = problem.outputs.coupling
        factor_x = factor_y = 1.0
        if coupling.balanced:
            factor_x, factor_y = self.n / self.trace, self.n / self.trace_y
            self.xx, yy = factor_x * self.xx, factor_y * yy
            self.trace = self.n
        self.unit = np.sqrt(factor_x)
        self.full_rank = min(len(self.xx), self.n_rows - 1)
        root = coupling.root(self.n, moments.y_mean, yy, self.n_rows)
        self.cross = np.sqrt(factor_x * factor_y) * (moments.xy @ root)
        weight = coupling.x_weight
        # Of K in F' K F: its square would leave the range of numbers for huge or tiny weights.
        self.root = np.sqrt(weight) * self.xx if weight else None

    def _spread(self, squares: Array, mean: Array, side: str, rounding: float) -> float:
        """The sum of the centred squares of one side."""
        spread = float(np.trace(squares))
        require_variation(spread, float(self.n * (mean @ mean)) + spread, side, rounding)
        return spread

    def _solve(self, alpha: float, r: int | None) -> tuple[Axes, int]:
        whitening, rank = ridge_whitening(self.xx, alpha)
        method = self.problem.method
        return solve_features(whitening, self.n, self.cross, self.root, method, r), rank

    def _norms(self, coef: Array) -> Array:
        return coef.T @ coef

    def project(self, coef: Array, rows: Rows) -> Array:
        F = self.problem.sample
        parts = [(F[some] - self.moments.x_mean) @ coef for some in row_blocks(len(F), BLOCK_ROWS)]
        return np.vstack(parts)

    def deviations(self, coef: Array) -> Array:
        variances = np.einsum("ir,ij,jr->r", coef, self.moments.xx, coef, optimize=True) / self.n
        return np.sqrt(np.maximum(variances, 0.0))

    def expand(self, coef: Array, inputs: KernelSide) -> tuple[Any, Array, Array]:
        features = self.problem.F
        return features.points, features.collapse(coef), -self.moments.x_mean @ coef

    def signs(self, axes: Axes) -> Array:
        """The rule of ``column_signs`` without all coordinates in memory."""
        return np.where(self.problem.peaks(self.moments.x_mean, axes.coef) < 0, -1.0, 1.0)


def find_peaks(mean: Array, coef: Array, F: Array, *rest: Any) -> Array:
    """The coordinates of largest size of each axis."""
    z = (F - mean) @ coef
    return np.asarray(z[np.abs(z).argmax(axis=0), np.arange(z.shape[1])])


def take_larger(a: Array, b: Array) -> Array:
    """Of two coordinates of each axis the larger in size."""
    return np.where(np.abs(b) > np.abs(a), b, a)
