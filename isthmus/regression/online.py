"""One block of the sequential Stiefel regression: a fit to the block with a pull towards the last map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular, svd

from isthmus.linalg import Array
from isthmus.losses import Loss, Squared, get_loss
from isthmus.regression.rank_descent import (
    Penalty,
    RankProblem,
    descend_factors,
    singular_form,
    winsorised,
)

_DEFAULT_PULL = 0.5


@dataclass
class ProximalState:
    """All that is kept between blocks: means, and the map ``A V'`` by its factors."""

    A: Array  # (p, r)
    V: Array  # (q, r)
    x_mean: Array
    y_mean: Array  # the intercept at x_mean
    weight: float = 0.0
    n_samples: int = 0
    n_blocks: int = 0

    @classmethod
    def empty(cls, n_features: int, n_targets: int) -> ProximalState:
        none = np.zeros((n_features, 0)), np.zeros((n_targets, 0))
        return cls(*none, np.zeros(n_features), np.zeros(n_targets))


class ProximalFit:
    """The part of an estimator that takes in blocks and keeps nothing but its last map."""

    _nesting: Any

    def _partial_fit_proximal(self: Any, X: Any, y: Any, sample_weight: Any) -> Any:
        first = not hasattr(self, "_proximal")
        rows, Y, weights = self._check_rows(X, y, sample_weight, reset=first)
        self.loss_ = get_loss(self.loss)
        self.loss_.check_targets(Y)
        if first:
            self._proximal = ProximalState.empty(rows.shape[1], Y.shape[1])
        elif Y.shape[1] != self._proximal.V.shape[0]:
            raise ValueError(
                f"y has {Y.shape[1]} targets, but the blocks before had {self._proximal.V.shape[0]}."
            )
        dense = rows if isinstance(rows, np.ndarray) else rows.toarray()
        report = proximal_step(
            self._proximal,
            np.asarray(dense, dtype=np.float64),
            np.asarray(Y, dtype=np.float64),
            weights,
            loss=self.loss_,
            rank=self.n_components,
            gamma=self.gamma,
            growing=self.gamma_growth == "linear",
            max_iter=self.max_iter,
            tol=self.tol,
            output_weight=self._output_weights(Y.shape[1]),
        )
        self.n_iter_, self.objective_ = report
        self._keep_proximal()
        return self

    def _keep_proximal(self: Any) -> None:
        """Fitted attributes of a map known by its factors alone."""
        state = self._proximal
        p, q = len(state.x_mean), len(state.y_mean)
        if state.A.shape[1]:
            W, s, V = singular_form(state.A, state.V)
        else:
            W, s, V = state.A, np.zeros(0), state.V
        signs = np.where(np.abs(W).max(axis=0) == W.max(axis=0), 1.0, -1.0) if s.size else s
        W, V = W * signs, V * signs
        self.n_components_, self.solver_ = len(s), "proximal"
        self.x_mean_, self.y_mean_ = state.x_mean.copy(), state.y_mean.copy()
        self.x_scale_, self.y_scale_ = np.ones(p), np.ones(q)
        self._x_rest, self._nesting = np.zeros(p), None
        self.weight_, self.n_samples_ = state.weight, state.n_samples
        self.x_weights_ = self.x_rotations_ = self.x_loadings_ = W
        self.y_rotations_, self.singular_values_, self.y_loadings_ = V, s, V * s
        coef = self.y_loadings_ @ W.T
        self.coef_ = coef[0] if self._y_is_1d else coef
        intercept = self.y_mean_ - coef @ self.x_mean_
        self.intercept_ = float(intercept[0]) if self._y_is_1d else intercept


def proximal_step(
    state: ProximalState,
    X: Array,
    Y: Array,
    weights: Array | None,
    *,
    loss: Loss,
    rank: int | None,
    gamma: float | None,
    growing: bool,
    max_iter: int,
    tol: float,
    output_weight: Array | None = None,
) -> tuple[int, float]:
    """Move the state by one block; return the steps taken and the block's objective.

    Means are running means, so that the blocks need not be centred.
    """
    w = np.ones(len(X)) if weights is None else weights
    state.n_blocks, state.n_samples = state.n_blocks + 1, state.n_samples + len(X)
    state.weight += float(w.sum())
    share = float(w.sum()) / state.weight
    state.x_mean = state.x_mean + share * (w @ X / w.sum() - state.x_mean)
    Xc = X - state.x_mean
    r = min(X.shape[1], Y.shape[1]) if rank is None else min(rank, X.shape[1], Y.shape[1])
    pull = _pull(Xc, w, gamma) * (state.n_blocks if growing else 1)
    easy = winsorised(Y, loss, weights) if not isinstance(loss, Squared) else Y
    y_mean = state.y_mean + share * (w @ easy / w.sum() - state.y_mean)
    if pull == 0.0 or r == 0:  # a block at the mean says nothing about the map
        state.y_mean = y_mean
        return 1, 0.5 * float(w @ ((easy - y_mean) ** 2).sum(axis=1))
    E = _span(Xc, state.A)
    rows, A0 = Xc @ E, E.T @ state.A
    root = np.sqrt(w)[:, None]
    A, V = proximal_block(rows * root, (easy - y_mean) * root, A0, state.V, pull, r)
    n_iter = 1
    if isinstance(loss, Squared) and output_weight is None:
        objective = _objective(rows * root, (Y - y_mean) * root, A, V, A0, state.V, pull)
    else:
        loss = loss.resolve(Y - rows @ A @ V.T - y_mean, weights)
        penalty = Penalty(pull, (A0, state.V))
        problem = RankProblem(rows, np.ones(E.shape[1]), Y, weights, loss, penalty, output_weight)
        (A, V, b), result = descend_factors(
            problem, (A, V, y_mean), max_iter=max_iter, tol=tol, verbose=0
        )
        n_iter, objective = max(result.n_iter, 1), problem.objective(A, V, b)
        y_mean = state.y_mean + share * (b - state.y_mean)
    state.A, state.V, state.y_mean = E @ A, V, y_mean
    return n_iter, objective


def proximal_block(
    X: Array, Y: Array, A: Array, V: Array, gamma: float, rank: int
) -> tuple[Array, Array]:
    r"""Factors of the best map of a rank for one block, near the last map :math:`A V^\top`.

    .. math::
        \min_{\operatorname{rank} C \le r} \|Y - XC\|_F^2 + \gamma \|C - A V^\top\|_F^2

    Reduced rank regression on the block stacked on :math:`\sqrt\gamma I`, in closed form.
    """
    L = cholesky(X.T @ X + gamma * np.eye(X.shape[1]), lower=True)
    Z = solve_triangular(L, X.T @ Y + gamma * (A @ V.T), lower=True)
    P, sigma, Qt = svd(Z, full_matrices=False)
    return solve_triangular(L, P[:, :rank] * sigma[:rank], lower=True, trans="T"), Qt[:rank].T


def _pull(Xc: Array, w: Array, gamma: float | None) -> float:
    if gamma is not None:
        return float(gamma)
    # A block with fewer rows than inputs has its squares in as many directions as it has rows.
    directions = min(np.count_nonzero(w), Xc.shape[1])
    return _DEFAULT_PULL * float(w @ (Xc**2).sum(axis=1)) / directions


def _span(Xc: Array, A: Array) -> Array:
    """Orthonormal basis of the rows of a block and the last map: all action is in it."""
    p = Xc.shape[1]
    if len(Xc) + A.shape[1] >= p:
        return np.eye(p)
    return np.linalg.qr(np.hstack([Xc.T, A]))[0]


def _objective(X: Array, Y: Array, A: Array, V: Array, A0: Array, V0: Array, gamma: float) -> float:
    C = A @ V.T
    return 0.5 * float(((Y - X @ C) ** 2).sum() + gamma * ((C - A0 @ V0.T) ** 2).sum())
