"""Maps of low rank under any loss from a source: every step of the descent is a pass over the blocks."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from isthmus._linalg import ROUNDING, Array, descending_eigh
from isthmus.losses import Loss, get_loss, robust_scale
from isthmus.problems import MomentForm, Moments, Rows
from isthmus.regression.chosen import choose_numbers
from isthmus.regression.loss_fit import LossFit
from isthmus.regression.rank_descent import (
    Penalty,
    RankProblem,
    descend_factors,
    map_factors,
)

# Rows on which the start, the scales of the outputs and the parameters of the loss are found.
_START_ROWS = 20_000


class BlockProblem(RankProblem):
    """The problem of all rows of a source; no row is kept."""

    def __init__(
        self,
        source: Rows,
        form: Any,
        basis: Array,
        g: Array,
        scales: Array,
        loss: Loss,
        alpha: float,
    ) -> None:
        frame, q = form.frame, len(scales)
        self.source, self.scales, self.is_checked = source, scales, False
        self.mean = frame.x_mean + frame.x_rest
        self.turn = basis * g / frame.x_scale[:, None]
        # The descent asks for the number of rows and of entries alone.
        Y = np.broadcast_to(0.0, (frame.n_samples, q))
        weights = np.array([frame.weight * frame.weight_unit])
        super().__init__(np.empty((0, len(g))), g, Y, weights, loss, Penalty(alpha))

    def value_and_gradients(
        self, loss: Loss, A: Array, D: Array, b: Array
    ) -> tuple[float, Array, Array, Array]:
        value, grad_A, grad_D = self._penalise(A, D)
        where = (self.mean, self.turn, self.scales, self.output_weight)
        slopes = partial(_slopes, loss, where, (A, D, b), not self.is_checked)
        sums = self.source.merged(slopes, _add)
        self.is_checked = True
        return value + sums[0], grad_A + sums[1], grad_D + sums[2], sums[3]


Slopes = tuple[float, Array, Array, Array]
"""The loss of some rows and its derivatives by A, D and b."""


def _slopes(
    loss: Loss, where: tuple, at: tuple, check: bool, X: Any, Y: Array, w: Array | None
) -> Slopes:
    mean, turn, scales, output_weight = where
    A, D, b = at
    if check:
        loss.check_targets(Y)
    Z = (X - mean) @ turn
    T = Z @ A
    predicted = T @ D.T + b
    part, slope = loss.value_and_gradient(Y / scales, predicted, w, output_weight, out=predicted)
    return part, Z.T @ (slope @ D), slope.T @ T, slope.sum(axis=0)


def _add(a: Slopes, b: Slopes) -> Slopes:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]


def fit_loss_source(model: Any, source: Rows, n_components: int | None) -> LossFit:
    """Fit a ``StiefelRegression`` with a loss that has no closed form.

    The scales of the outputs, the parameters of the loss and the start are those of a fit to a sample of
    the rows; the map minimises the objective of all rows, with the stopping rule of the fit in memory.
    """
    if model.output_weight is not None or not source.can_repeat:
        raise ValueError(
            f"loss={model.loss!r} needs many passes over Rows that can be read again, and no output_weight."
        )
    X, Y, _ = source.sample(_START_ROWS, 0)
    moments = source.moments()
    if model._leaves_open():
        if len(X) < moments.n_samples:  # a choice holds several copies of its rows
            X, Y = X[::2], Y[::2]
        n_components = model._choose(choose_numbers, X, Y, None)
    y = Y[:, 0] if source.y_is_1d else Y
    first = clone(model).set_params(warm_start=False, verbose=0).fit(X, y)
    form: Any = MomentForm.from_moments(moments, model.scale)
    squares, basis = descending_eigh(form.xx)
    kept = squares > ROUNDING * squares[0]
    squares, basis = squares[kept], basis[:, kept]
    loss = first.loss_
    scales = np.asarray(first.output_scale_, dtype=np.float64)
    scale = 1.0
    if get_loss(model.loss).has_units:  # tolerances are in the scale of the residuals
        coef = np.atleast_2d(first.coef_)
        scale = robust_scale(Y - X @ coef.T - first.intercept_) or 1.0
    curvature = loss.typical_curvature(scale)
    alpha = model._alpha_in_frame(form)
    ridge_factor = curvature if model.alpha == "auto" else 1.0
    alpha *= ridge_factor
    g = 1.0 / np.sqrt(squares + alpha / curvature)
    problem = BlockProblem(source, form, basis, g, scales, loss, alpha)
    start = _start(first, form, basis, g, scales, n_components)
    (A, D, b), result = descend_factors(
        problem, start, max_iter=model.max_iter, tol=model.tol, verbose=model.verbose,
        callback=model._step_hook, scale=scale,
    )  # fmt: skip
    objective = problem.value_and_gradients(loss, A, D, b)[0]
    form = _about(form, moments, b * scales)
    factors = map_factors(form, basis @ (g[:, None] * A), D * scales[:, None])
    return LossFit(form, factors, loss, objective, scales, ridge_factor, result)


def _start(
    first: Any, form: Any, basis: Array, g: Array, scales: Array, n_components: int | None
) -> tuple[Array, Array, Array]:
    """The map of the sample in the coordinates of the problem."""
    frame = form.frame
    coef = np.atleast_2d(first.coef_) / scales[:, None]
    C = (basis.T @ (coef * frame.x_scale).T) / g[:, None]  # (k, q)
    most = min(C.shape)
    r = most if n_components is None else min(n_components, most)
    U, s, Vt = np.linalg.svd(C, full_matrices=False)
    intercept = np.atleast_1d(first.intercept_) / scales + coef @ frame.x_mean
    return U[:, :r] * s[:r], Vt[:r].T, intercept


def _about(form: MomentForm, moments: Moments, b: Array) -> MomentForm:
    """Return the form with outputs in their units, about intercepts in place of their means."""
    frame = form.frame
    shift = moments.y_mean - b
    return replace(
        form,
        frame=replace(frame, y_mean=b, y_scale=np.ones(len(b))),
        xy=form.xy * frame.y_scale,
        y_squares=form.y_squares * frame.y_scale**2 + frame.weight * shift**2,
    )
