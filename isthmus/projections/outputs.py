"""What a projection makes of its outputs."""

from __future__ import annotations

from dataclasses import dataclass

from isthmus._linalg import Array
from isthmus.projections.couplings import Coupling
from isthmus.projections.held_out import Judge
from isthmus.projections.rows import InputFeatures, KernelSide


@dataclass
class OutputSide:
    """The outputs of a projection: features or a Gram matrix, and how to judge."""

    coupling: Coupling
    judge: Judge | None
    T: Array | None = None  # features of all rows
    side: KernelSide | None = None  # else samples and a kernel
    features: InputFeatures | None = None  # landmarks of these, once they were needed
    most: int | None = None  # most components the outputs allow, with the reason
    reason: str = ""
    holes: Array | None = None  # outputs as they came, where some are missing and were filled in

    def take_landmarks(self, n: int, seed: int, selection: str, *, keep: bool = False) -> None:
        """Make features of samples that have a kernel."""
        if self.side is None:
            return
        # Outputs of which there are no means have no k-means either.
        selection = "auto" if selection == "kmeans" and not self.side.vectors else selection
        self.features = InputFeatures(self.side, n, seed, selection, keep=keep)
        self.coupling.check_landmarks(self.features.n_landmarks, n)
