"""The two factors of a fitted map, as a solver hands them to its estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import Array
from isthmus.problems import Form


@dataclass
class Factors:
    """The two factors of T in the standardised frame, with what explains them.

    Columns along the features are (p, k), or (n, k) in the coordinates of the samples.
    """

    rotations: Array  # T = X rotations
    y_loadings: Array  # (q, k); Y is predicted by T y_loadings'
    weights: Array | None  # unit columns along the features; None: those of the rotations
    x_cross: Array | None  # X'T; None: the rotations times the diagonal of gram
    y_cross: Array  # T'Y, (k, q)
    gram: Array  # T'T, (k, k)
    solver: str
    mix: Array | None = None  # rotations = weights @ mix, where that is cheaper to lift
    principal: bool = False  # the rotations are eigenvectors of X'X
    scores: Array | None = None  # T where it came for free
    warning: str | None = None

    @classmethod
    def empty(cls, n_features: int, n_targets: int, solver: str) -> Factors:
        none = np.zeros((n_features, 0))
        y_none = np.zeros((n_targets, 0))
        return cls(none, y_none, none, none, y_none.T, np.zeros((0, 0)), solver)

    @classmethod
    def of_map(cls, form: Form, rotations: Array, y_loadings: Array, solver: str) -> Factors:
        """Factors of any map, with the products that explain them."""
        x_cross = form.product(rotations)
        y_cross = form.inner(rotations, form.xy)
        gram = form.inner(rotations, x_cross)
        return cls(rotations, y_loadings, None, x_cross, y_cross, gram, solver)

    def silence(self, x_constant: NDArray, y_constant: NDArray) -> None:
        """Exact zeros for columns that do not vary, where a decomposition leaves 1e-17."""
        if x_constant.any():
            self.rotations = self.rotations.copy()
            self.rotations[x_constant] = 0.0
            if self.x_cross is not None:
                self.x_cross = self.x_cross.copy()
                self.x_cross[x_constant] = 0.0
        if y_constant.any():
            self.y_loadings = self.y_loadings.copy()
            self.y_loadings[y_constant] = 0.0

    def turn(self, M: Array, inverse: Array) -> None:
        """Show the same map in another basis: rotations become ``rotations @ M``."""
        self.x_cross = self.along_scores @ M
        self.rotations = self.rotations @ M
        self.y_loadings = self.y_loadings @ inverse.T
        self.y_cross, self.gram = M.T @ self.y_cross, M.T @ self.gram @ M
        self.scores = None if self.scores is None else self.scores @ M
        self.weights, self.mix, self.principal = None, None, False

    def lift(self, to_features: Callable[[Array], Array]) -> None:
        """From the coordinates of the samples, or of a basis, to those of the features."""
        if self.principal:
            self.rotations, self.x_cross = to_features(self.rotations), None
            return
        names = ["x_cross"] if self.mix is not None else ["x_cross", "rotations"]
        names += [] if self.weights is None else ["weights"]
        lifted = to_features(np.hstack([getattr(self, name) for name in names]))
        for name, columns in zip(names, np.split(lifted, len(names), axis=1), strict=True):
            setattr(self, name, columns)
        if self.mix is not None and self.weights is not None:
            self.rotations = self.weights @ self.mix

    @property
    def along_scores(self) -> Array:
        """X'T, (p, k)."""
        if self.x_cross is None:
            return self.rotations * self.gram.diagonal()
        return self.x_cross
