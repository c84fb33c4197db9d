"""One block of the sequential Stiefel regression: a fit to the block with a pull towards the last map.

[BGFS2004]_ Sec. 4.5 writes gamma for the weight of the pull.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cholesky, solve_triangular, svd

from isthmus._linalg import Array
from isthmus.losses import Loss, Squared, robust_scale, robust_scales
from isthmus.regression.rank_descent import (
    Penalty,
    RankProblem,
    descend_factors,
    singular_form,
)
from isthmus.regression.scales import winsorise

_DEFAULT_PULL = 0.5  # of the block's mean squared singular value
_LEAST_SCALE = 1e-3  # of what there is to explain of an output: an exact fit has no scale
_RECENT, _RECENT_ROWS = 256, 16  # residuals, and rows, kept for their scale: a row alone has none


@dataclass
class ProximalState:
    """All that is kept between blocks: means, and the map ``A V'`` by its factors.

    For losses other than the squared also how well the intercepts are known, and the last residuals.
    """

    A: Array  # (p, r)
    V: Array  # (q, r)
    x_mean: Array
    y_mean: Array  # the intercept at x_mean
    information: Array  # of the intercepts: rows that tell of them, in units of the curvature, (q,)
    recent: Array  # residuals of the last rows, (m, q)
    weight: float = 0.0
    n_samples: int = 0
    n_blocks: int = 0

    @classmethod
    def empty(cls, n_features: int, n_targets: int) -> ProximalState:
        none = np.zeros((n_features, 0)), np.zeros((n_targets, 0))
        means = np.zeros(n_features), np.zeros(n_targets)
        return cls(*none, *means, np.zeros(n_targets), np.zeros((0, n_targets)))


def oriented_factors(state: ProximalState) -> tuple[Array, Array, Array]:
    """Singular vectors and values W, s, V of the last map; the largest entry of each w is positive."""
    if not state.A.shape[1]:
        return state.A, np.zeros(0), state.V
    W, s, V = singular_form(state.A, state.V)
    signs = np.where(np.abs(W).max(axis=0) == W.max(axis=0), 1.0, -1.0)
    return W * signs, s, V * signs


def proximal_step(
    state: ProximalState,
    X: Array,
    Y: Array,
    weights: Array | None,
    *,
    loss: Loss,
    rank: int | None,
    strength: float | None,
    growing: bool,
    max_iter: int,
    tol: float,
    output_weight: Array | None = None,
) -> tuple[int, float]:
    """Move the state by one block; return the steps taken and the block's objective.

    Means are running means, so that the blocks need not be centred.
    """
    w = np.ones(len(X)) if weights is None else weights
    share = float(w.sum()) / (state.weight + float(w.sum()))
    x_mean = state.x_mean + share * (w @ X / w.sum() - state.x_mean)
    new = replace(
        state,
        x_mean=x_mean,
        weight=state.weight + float(w.sum()),
        n_samples=state.n_samples + len(X),
        n_blocks=state.n_blocks + 1,
    )
    Xc = X - x_mean
    r = min(X.shape[1], Y.shape[1]) if rank is None else min(rank, X.shape[1], Y.shape[1])
    pull = _pull_weight(Xc, w, strength) * (new.n_blocks if growing else 1)
    easy = winsorise(Y, loss, weights) if not isinstance(loss, Squared) else Y
    y_mean = state.y_mean + share * (w @ easy / w.sum() - state.y_mean)
    E = _span(Xc, state.A)
    root = np.sqrt(w)[:, None]
    closed = isinstance(loss, Squared) and output_weight is None
    if not closed:
        # In the directions of the block themselves the descent knows the curvature of each.
        E = E @ np.linalg.eigh((Xc @ E * root).T @ (Xc @ E * root))[1]
    rows, A0 = Xc @ E, E.T @ state.A
    moves = pull > 0.0 and r > 0  # a block at the mean says nothing about the map
    block = _Block(rows, Y, w, A0, state.V, pull if moves else 0.0)
    unit = np.ones(Y.shape[1]) if loss.has_units else block.output_units(easy - y_mean)
    A, V = A0, state.V
    if moves:
        targets, V0 = (easy - y_mean) / unit * root, state.V / unit[:, None]
        A, V = proximal_block(rows * root, targets, A0, V0, pull, r)
        V = V * unit[:, None]
    n_iter = 1
    if closed:
        objective = _objective(rows * root, (Y - y_mean) * root, A, V, A0, state.V, pull)
    else:
        first = easy if state.n_blocks == 0 else None
        A, V, y_mean, n_iter, objective = _step_of_loss(
            state, new, block, (A, V, y_mean), first, loss, output_weight, (max_iter, tol)
        )
    new.A, new.V, new.y_mean = E @ A, V, y_mean
    state.__dict__.update(new.__dict__)  # at once: a block that fails leaves no trace
    return n_iter, objective


@dataclass
class _Block:
    """Rows in the coordinates of a step, with the map they pull away from."""

    rows: Array
    Y: Array
    w: Array
    A0: Array
    V0: Array
    pull: float

    def output_units(self, targets: Array) -> Array:
        """Root mean square of what the last map leaves of each output; 1 where it leaves nothing."""
        left = targets - self.rows @ self.A0 @ self.V0.T
        units = np.sqrt(self.w @ left**2 / self.w.sum())
        return np.where(units > 0, units, 1.0)

    def left_out(self, residual: Array) -> Array:
        """Residuals that a row would have had without itself: those of the fit over 1 - h."""
        if self.pull == 0.0:
            return residual
        H = self.rows.T @ (self.rows * self.w[:, None]) + self.pull * np.eye(self.rows.shape[1])
        half = solve_triangular(cholesky(H, lower=True), self.rows.T, lower=True)
        return residual / (1.0 - np.minimum((half**2).sum(axis=0), 0.99))[:, None]


def _step_of_loss(
    state: ProximalState,
    new: ProximalState,
    block: _Block,
    start: tuple[Array, Array, Array],
    first: Array | None,
    loss: Loss,
    output_weight: Array | None,
    limits: tuple[int, float],
) -> tuple[Array, Array, Array, int, float]:
    r"""A step under a loss without a closed form, proximal in the map and in the intercepts.

    .. math::
        \min_{C, b} \sum_i L(y_i, C^\top x_i + b) + \tfrac{c \gamma}{2} \|C - C_0\|_F^2
        + \sum_j \tfrac{\eta_j}{2} (b_j - b_{0j})^2

    The curvature c of the loss makes :math:`\gamma` a share of what a block weighs, whatever the units.
    The intercepts stand for all rows so far: :math:`\eta_j` is their information, the sum of the second
    derivatives of the loss over them, which for the squared loss makes the step the running mean. Free,
    the intercept of a block of one row would take the whole row. The first block is held by one row's
    worth at the location of its start, without which a single label has no finite intercept.
    """
    A, V, b = start
    w = None if (block.w == 1.0).all() else block.w
    scales = np.ones(len(b))
    if not loss.has_link:
        residual = block.left_out(block.Y - block.rows @ A @ V.T - b)
        kept = max(_RECENT // residual.shape[1], _RECENT_ROWS)
        residual = residual[block.w > 0]
        pooled = np.vstack([state.recent, residual])[-max(kept, len(residual)) :]
        new.recent = pooled[-kept:]
        if loss.has_units:
            scale = robust_scale(pooled)
            loss = loss.resolve(pooled)
        else:
            scales = np.maximum(
                robust_scales(pooled), _LEAST_SCALE * block.output_units(block.Y - b)
            )
            scale = 1.0
            loss = loss.resolve(pooled / scales, scale=1.0)
    else:
        scale = 1.0
    if first is None:
        b0 = state.y_mean + (new.x_mean - state.x_mean) @ (state.A @ state.V.T)
    else:
        b0 = block.w @ first / block.w.sum()
    Y, b, b0 = block.Y / scales, b / scales, b0 / scales
    curvature = _curvature(loss, Y, b0, scale)
    one_row = 1.0 if output_weight is None else output_weight
    eta = curvature * np.maximum(state.information, one_row)
    if block.pull == 0.0:  # intercepts alone
        A = np.zeros((len(A), 1))
        V = np.zeros((len(b), 1))
    g = 1.0 / np.sqrt(block.w @ block.rows**2 + (block.pull or 1.0))
    last = (block.A0 / g[:, None], block.V0 / scales[:, None])
    problem = RankProblem(
        block.rows * g,
        g,
        Y,
        w,
        loss,
        Penalty(curvature * block.pull, last, (eta, b0)),
        output_weight,
    )
    (A_new, V_new, b), result = descend_factors(
        problem,
        (A / g[:, None], V / scales[:, None], b),
        max_iter=limits[0],
        tol=limits[1],
        verbose=0,
        scale=scale,
        coarse=True,
    )
    result.raise_interrupt()
    if block.pull == 0.0:
        A_new, V_new = last
    objective = problem.objective(A_new, V_new, b)
    predicted = problem.rows @ A_new @ V_new.T + b
    new.information = state.information + _information(problem, predicted, scale) / curvature
    found = (g[:, None] * A_new, V_new * scales[:, None], b * scales)
    return *found, max(result.n_iter, 1), objective


def _curvature(loss: Loss, Y: Array, b: Array, scale: float) -> float:
    """Second derivative of the loss to expect: that between residuals of -scale and scale.

    Where predictions go through a link, that at the intercepts, and no less than is typical.
    """
    at = b[None] if loss.has_link else Y[:1]
    slopes = [loss.gradient(Y[:1], at + h) for h in (scale, -scale)]
    found = float((slopes[0] - slopes[1]).mean()) / (2 * scale)
    typical = loss.typical_curvature(scale)
    if loss.has_link:
        return max(found, typical)
    return found if found > 0 else typical


def _information(problem: RankProblem, predicted: Array, width: float) -> Array:
    """Second derivatives of the loss summed over the rows, (q,), as differences over a width."""
    ahead, behind = (
        problem.loss.gradient(problem.Y, predicted + h, problem.weights, problem.output_weight)
        for h in (width, -width)
    )
    return np.maximum((ahead - behind).sum(axis=0), 0.0) / (2 * width)


def proximal_block(
    X: Array, Y: Array, A: Array, V: Array, pull: float, rank: int
) -> tuple[Array, Array]:
    r"""Factors of the best map of a rank for one block, near the last map :math:`A V^\top`.

    .. math::
        \min_{\operatorname{rank} C \le r} \|Y - XC\|_F^2 + \gamma \|C - A V^\top\|_F^2

    Reduced rank regression on the block stacked on :math:`\sqrt\gamma I`, in closed form;
    :math:`\gamma` is ``pull``.
    """
    L = cholesky(X.T @ X + pull * np.eye(X.shape[1]), lower=True)
    Z = solve_triangular(L, X.T @ Y + pull * (A @ V.T), lower=True)
    P, sigma, Qt = svd(Z, full_matrices=False)
    return solve_triangular(L, P[:, :rank] * sigma[:rank], lower=True, trans="T"), Qt[:rank].T


def _pull_weight(Xc: Array, w: Array, strength: float | None) -> float:
    if strength is not None:
        return float(strength)
    # A block with fewer rows than inputs has its squares in as many directions as it has rows.
    directions = min(np.count_nonzero(w), Xc.shape[1])
    return _DEFAULT_PULL * float(w @ (Xc**2).sum(axis=1)) / directions


def _span(Xc: Array, A: Array) -> Array:
    """Orthonormal basis of the rows of a block and the last map: all action is in it."""
    p = Xc.shape[1]
    if len(Xc) + A.shape[1] >= p:
        return np.eye(p)
    return np.linalg.qr(np.hstack([Xc.T, A]))[0]


def _objective(X: Array, Y: Array, A: Array, V: Array, A0: Array, V0: Array, pull: float) -> float:
    C = A @ V.T
    return 0.5 * float(((Y - X @ C) ** 2).sum() + pull * ((C - A0 @ V0.T) ** 2).sum())
