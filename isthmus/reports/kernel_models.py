"""What takes the place of scores and loadings in the report of a kernel model."""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus._linalg import Array
from isthmus.inspection import INSIDE_LEVEL, OutlierStatistic, ScoresDisplay, t2_limit

_MOST_NUMBERS = 2e7  # of the gradients of all functions at the rows that are asked
# Rows at which importances are averaged, which leaves errors of about 6 %.
_ROWS_AVERAGED = 300


def expansion_model(model: Any) -> Any:
    """The step of a model that is a kernel expansion, or None."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    return last if getattr(last, "expansion_", None) is not None else None


def before_the_kernel(model: Any, X: Array) -> Array:
    """Rows as the kernel sees them, behind the scaler."""
    return np.asarray(model[:-1].transform(X)) if hasattr(model, "steps") else X


def kernel_scores(model: Any, X: Array, *, training: bool) -> ScoresDisplay:
    r"""Rows in the plane of the two main directions of the functions of an expansion, with T2.

    The functions are :math:`f(x) = \sum_i c_i k(x_i, x)`, one per component of the map. Their values at
    the points of the expansion give mean, directions and spread; T2 is the squared Mahalanobis
    distance in them, with the limits of :func:`isthmus.inspection.hotelling_t2`. The few points of a
    compressed model are no sample of anything: then the rows themselves take their place.
    """
    step = expansion_model(model)
    rows = before_the_kernel(model, X)
    expansion = step.expansion_
    is_small = hasattr(step, "compression_")
    training = training or is_small
    values, at_points = (
        np.asarray(expansion(Z)).reshape(len(Z), -1)
        for Z in (rows, rows if is_small else expansion.points)
    )
    mean = at_points.mean(axis=0)
    _, s, V = np.linalg.svd(at_points - mean, full_matrices=False)
    # Directions with less than 1e-8 of the largest spread are rounding; T2 would divide by them.
    k = int((s > 1e-8 * max(s[0], 1e-300)).sum())
    n = len(at_points)
    if k == 0 or n <= k + 2:
        raise ValueError(f"{n} points are too few for a limit of {k} functions.")
    T = (values - mean) @ V[:k].T
    t2 = (n - 1) * ((T / s[:k]) ** 2).sum(axis=1)
    limit = t2_limit(n, k, INSIDE_LEVEL, training=training)
    second = min(1, k - 1)
    in_plane = t2_limit(n, 2, INSIDE_LEVEL, training=False)
    radii = np.sqrt(in_plane / (n - 1)) * s[[0, second]]
    return ScoresDisplay(
        np.column_stack([T[:, 0], T[:, 1] if second else 0 * T[:, 0]]),
        components=(0, second),
        t2=OutlierStatistic(t2, limit, INSIDE_LEVEL),
        radii=(float(radii[0]), float(radii[1]) if second else 0.0),
    )


def sensitivity(model: Any, X: Array, spread: Array) -> Array | None:
    r"""Return how much the predictions change with each input; None where the kernel has no gradient.

    .. math::
        s_j^2 \propto \operatorname{var}(x_j) \, \frac1n \sum_i \sum_k
        \Bigl( \frac{\partial \hat y_k(x_i) / \partial x_j}{\operatorname{std} y_k} \Bigr)^2

    scaled so that the squares have mean one, as those of VIP have.

    Parameters
    ----------
    model : fitted pipeline or kernel model
    X : ndarray of shape (n_samples, n_features)
        Complete rows at which the gradients are taken, an even choice of at most 300.
    spread : ndarray of shape (n_targets,)
        Standard deviations of the outputs.
    """
    step = expansion_model(model)
    expansion = step.expansion_
    kernel = expansion.kernel
    if not getattr(kernel, "has_input_gradient", False):
        return None
    Z = before_the_kernel(model, X)
    coef = np.asarray(expansion.coef, dtype=float).reshape(len(expansion.points), -1)
    most = int(min(_ROWS_AVERAGED, max(_MOST_NUMBERS // (coef.shape[1] * Z.shape[1]), 1), len(Z)))
    rows = Z[np.linspace(0, len(Z) - 1, most).astype(int)]
    gradients = np.stack(
        [
            kernel.weighted_gradient(rows, expansion.points, np.tile(column, (most, 1)))
            for column in coef.T
        ]
    )
    loadings = getattr(step, "y_loadings_", None)
    V = np.eye(coef.shape[1]) if loadings is None else np.asarray(loadings)
    if getattr(step, "y_scale_", None) is not None:
        V = V * step.y_scale_[:, None]
    if len(V) != len(spread):  # functions of another space than that of the outputs
        V = np.eye(coef.shape[1])
        spread = np.ones(coef.shape[1])
    V = V[spread > 0] / spread[spread > 0, None]
    squares = np.einsum("ktd,kl,ltd->d", gradients, V.T @ V, gradients, optimize=True)
    squares *= Z.var(axis=0)
    mean = squares.mean()
    if mean > 0:
        return np.sqrt(np.maximum(squares, 0.0) / mean)
    return np.zeros(Z.shape[1])
