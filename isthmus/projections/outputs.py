"""The outputs of a projection, and blocks of features of both sides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import Array, row_blocks
from isthmus.projections.couplings import Coupling
from isthmus.projections.held_out import Judge, VectorJudge
from isthmus.projections.problem import OF_KERNELS, OF_ROWS
from isthmus.projections.rows import BLOCK_ROWS, InputFeatures, KernelSide


@dataclass
class OutputSide:
    """What a projection makes of its outputs: features or a Gram matrix, and how to judge."""

    coupling: Coupling
    judge: Judge | None
    T: Array | None = None  # features of all rows
    side: KernelSide | None = None  # else samples and a kernel
    features: Any = None  # landmarks of the outputs, once they were needed
    most: int | None = None  # most components the outputs allow, with the reason
    reason: str = ""
    holes: Array | None = None  # outputs as they came, where some are missing and were filled in


class FeatureBlocks:
    """Blocks of input and output features, made anew on every walk unless ``keep`` says otherwise."""

    def __init__(
        self,
        inputs: KernelSide,
        outputs: OutputSide,
        n_landmarks: int,
        seed: int,
        selection: str,
        keep: bool,
    ) -> None:
        self.n, self.outputs, self.weights = inputs.n, outputs, inputs.weights
        self.F = InputFeatures(inputs, n_landmarks, seed, selection, keep=keep)
        side = outputs.side
        if side is not None:
            # Outputs of which there are no means have no k-means either.
            selection = "auto" if selection == "kmeans" and not side.vectors else selection
            outputs.features = InputFeatures(side, n_landmarks, seed, selection, keep=keep)
            outputs.coupling.check_landmarks(outputs.features.n_landmarks, n_landmarks)
        self.rounding = (_rounding(self.F), _rounding(outputs.features))

    def __call__(self) -> Iterator[tuple[slice, Array, Array]]:
        for rows in row_blocks(self.n, BLOCK_ROWS):
            yield rows, self.F(rows), self.output_features(rows)

    def output_features(self, rows: slice | NDArray) -> Array:
        if self.outputs.T is not None:
            return self.outputs.T[rows]
        return np.asarray(self.outputs.features(rows))

    def judge(self, sample: NDArray) -> Judge:
        """The judge of some of the rows."""
        judge = self.outputs.judge
        if judge is None:
            weights = None if self.weights is None else self.weights[sample]
            return VectorJudge(self.output_features(sample), weights)
        return judge.take(sample)


def _rounding(features: Any) -> float:
    """What rounding leaves of rows that do not differ: landmarks are made of kernel values."""
    return OF_ROWS if getattr(features, "landmarks", None) is None else OF_KERNELS
