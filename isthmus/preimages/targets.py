"""Targets of a pre-image: points of a feature space, and the losses of objects against them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from isthmus._linalg import BLOCK, Array, row_blocks
from isthmus.kernels import gram, gram_diagonal, take


def parts(n: int, width: int) -> Iterator[slice]:
    """Slices of ``n`` rows that keep ``rows * width`` under ``BLOCK``."""
    return row_blocks(n, max(1, BLOCK // max(width, 1)))


class Targets:
    """Points ``Psi_t = sum_i coef[t, i] phi(points_i)`` of a feature space, and losses against them.

    Parameters
    ----------
    kernel : kernel
        Its feature space is the one meant.
    points : sequence of n_points objects
        The objects of the expansion.
    coef : array of shape (n_targets, n_points)
        The expansion, one row a target.
    scores : array of shape (n_targets, n_components), default=None
        Coordinates of the targets, where they came as such.
    """

    def __init__(self, kernel: Any, points: Any, coef: Array, scores: Array | None = None) -> None:
        self.kernel = kernel
        self.points = points
        self.coef = coef
        self.scores = scores
        self.norms_from: Callable[[Array], Array] | None = None  # a shorter way to the norms

    @classmethod
    def of_scores(cls, kernel: Any, scores: Array) -> Targets:
        """Targets of which only the scores are needed, or known: their expansion is left out."""
        return cls(kernel, [], np.empty((len(scores), 0)), scores)

    def __len__(self) -> int:
        return len(self.coef)

    def subset(self, rows: Any) -> Targets:
        """Some of the targets."""
        part = Targets(
            self.kernel,
            self.points,
            self.coef[rows],
            None if self.scores is None else self.scores[rows],
        )
        if "squared_norms" in self.__dict__:
            part.__dict__["squared_norms"] = self.squared_norms[rows]
        part.norms_from = self.norms_from
        return part

    def inner(self, objects: Any) -> Array:
        """``<Psi_t, phi(o)>`` for all targets and all objects, (n_targets, n_objects)."""
        return np.concatenate(
            [
                self.coef @ gram(self.kernel, take(objects, part), self.points).T
                for part in parts(len(objects), len(self.points))
            ],
            axis=1,
        )

    @cached_property
    def squared_norms(self) -> Array:
        """``|Psi_t|^2 = G' K G``, (n_targets,)."""
        if self.norms_from is not None and self.scores is not None:
            return self.norms_from(self.scores)
        total = np.zeros(len(self))
        for part in parts(len(self.points), len(self.points)):
            rows = take(self.points, part)
            K = gram(self.kernel, rows, self.points)
            total += np.einsum("ti,ti->t", self.coef[:, part], self.coef @ K.T)
        return np.maximum(total, 0.0)

    def paired_inner(self, objects: Any) -> Array:
        """``<Psi_t, phi(o_t)>``: the t-th target with the t-th object, (n_targets,)."""
        total = np.empty(len(self))
        for part in parts(len(self), len(self.points)):
            rows = take(objects, part)
            total[part] = np.einsum(
                "ti,ti->t", self.coef[part], gram(self.kernel, rows, self.points)
            )
        return total

    def loss(self, objects: Any) -> Array:
        """Full loss of the t-th object against the t-th target, (n_targets,)."""
        values = gram_diagonal(self.kernel, objects) - 2.0 * self.paired_inner(objects)
        return np.maximum(values + self.squared_norms, 0.0)

    def losses(self, objects: Any) -> Array:
        """Full loss of every object against every target, (n_targets, n_objects)."""
        values = gram_diagonal(self.kernel, objects)[None, :] - 2.0 * self.inner(objects)
        return np.maximum(values + self.squared_norms[:, None], 0.0)
