"""The part of Stiefel regression that takes in blocks of rows and keeps nothing but its last map."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import Array
from isthmus.losses import check_user_loss, get_loss
from isthmus.problems import Frame
from isthmus.regression.online import ProximalState, oriented_factors, proximal_step
from isthmus.regression.optimum import RankConstrained

# Fitted by all rows at once, and out of date once a block has moved the map.
_BATCH_ATTRIBUTES = (
    "score_gram_",
    "x_explained_variance_ratio_",
    "y_explained_variance_ratio_",
    "alpha_",
    "moments_",
    "output_scale_",
)


class ProximalRegression(RankConstrained):
    """A rank-constrained regression that can be moved block by block, without keeping moments."""

    loss: Any
    output_weight: Any
    pull: float | None
    pull_growth: str
    max_iter: int
    tol: float
    _nesting: NDArray | None

    def _fit_moments(self, moments: Any, n_components: int | None) -> None:
        self.loss_ = get_loss(self.loss)
        super()._fit_moments(moments, n_components)

    def _partial_fit_proximal(self, X: Any, y: Any, sample_weight: Any) -> None:
        if self.scale:
            raise ValueError(
                f"scale == {self.scale!r} with online == 'proximal', must be False: the deviations of "
                "the columns are not known from blocks; standardise X beforehand, or use "
                "online='exact'."
            )
        first = not hasattr(self, "_proximal")
        rows, Y, weights = self._check_rows(X, y, sample_weight, reset=first)
        rows = rows if isinstance(rows, np.ndarray) else rows.toarray()
        Y = np.asarray(Y, dtype=np.float64)
        self.loss_ = get_loss(self.loss)
        self.loss_.check_targets(Y)
        if first:
            check_user_loss(self.loss_, Y, self.loss_.start_targets(Y))
        output_weight = self._output_weights(Y.shape[1])
        if first:
            self._proximal = ProximalState.empty(rows.shape[1], Y.shape[1])
        elif Y.shape[1] != len(self._proximal.V):
            raise ValueError(
                f"y has {Y.shape[1]} targets, but the blocks before had {len(self._proximal.V)}."
            )
        self._proximal = copy(self._proximal)  # changed in place; the one before may be put back
        self.n_iter_, self.objective_ = proximal_step(
            self._proximal,
            np.asarray(rows, dtype=np.float64),
            Y,
            weights,
            loss=self.loss_,
            rank=self.n_components,
            strength=self.pull,
            growing=self.pull_growth == "linear",
            max_iter=self.max_iter,
            tol=self.tol,
            output_weight=output_weight,
        )
        for name in _BATCH_ATTRIBUTES:
            self.__dict__.pop(name, None)
        self._store_proximal(self._proximal)

    def _store_proximal(self, state: ProximalState) -> None:
        """Set the fitted attributes of a map known by its factors alone."""
        W, s, V = oriented_factors(state)
        p, q = len(state.x_mean), len(state.y_mean)
        frame = Frame(
            state.x_mean.copy(), np.ones(p), state.y_mean.copy(), np.ones(q),
            state.weight, state.n_samples, np.zeros(p),
        )  # fmt: skip
        self.n_components_ = len(s)
        self.solver_ = "proximal"
        self._nesting = None
        self.x_weights_ = self.x_rotations_ = self.x_loadings_ = W
        self.y_rotations_, self.singular_values_ = V, s
        self.y_loadings_ = V * s
        self._store_map(frame, W, self.y_loadings_)

    def _output_weights(self, n_targets: int) -> Array | None:
        if self.output_weight is None:
            return None
        given = np.asarray(self.output_weight, dtype=np.float64)
        if given.shape != (n_targets,):
            raise ValueError(
                f"output_weight has shape {given.shape}, expected (n_targets,) = ({n_targets},)."
            )
        if not (np.isfinite(given).all() and (given >= 0).all() and given.any()):
            raise ValueError(
                f"output_weight == {self.output_weight!r}, must be finite, >= 0 and not all zero."
            )
        return given
