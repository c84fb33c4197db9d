"""Finite differences for a loss: does its gradient belong to its value?"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from isthmus.losses.base import Loss

# Rows at which differences are compared; a wrong formula is wrong at nearly all of them.
N_PROBES = 20


def debug_mode() -> bool:
    """Return whether losses check themselves on first use: ``ISTHMUS_DEBUG`` is set, not to 0."""
    return os.environ.get("ISTHMUS_DEBUG", "0") not in ("", "0")


def check_on_first_use(loss: Loss, Y: Any, Y_pred: Any) -> None:
    """In debug mode, check the gradient of ``loss`` once in its life."""
    if "_gradient_checked" in loss.__dict__ or not debug_mode():
        return
    # Through __dict__, because the losses are frozen dataclasses; set first, because the check
    # evaluates the loss.
    loss.__dict__["_gradient_checked"] = True
    try:
        check_gradient(loss, Y, Y_pred)
    except ValueError:
        del loss.__dict__["_gradient_checked"]
        raise


def check_gradient(loss: Loss, Y: ArrayLike, Y_pred: ArrayLike, *, rtol: float = 1e-4) -> None:
    """Raise ValueError unless the gradient of ``loss`` agrees with differences of its value.

    Up to twenty entries, drawn with a fixed seed, are moved by a small step forwards and
    backwards. The gradient has to lie between the two difference quotients: on a smooth piece they
    agree, and at a kink everything between them is a subgradient.
    """
    Y, Y_pred = (np.array(a, dtype=float) for a in (Y, Y_pred))
    Y, Y_pred = (a[:, None] if a.ndim == 1 else a for a in (Y, Y_pred))
    gradient = loss.gradient(Y, Y_pred)
    rng = np.random.default_rng(0)
    for i in rng.permutation(len(Y))[:N_PROBES]:
        j = int(rng.integers(Y.shape[1]))
        backward, forward, noise = _quotients(loss, Y[i : i + 1], Y_pred[i : i + 1], j)
        low = min(backward, forward)
        high = max(backward, forward)
        slack = rtol * max(abs(low), abs(high)) + noise
        if np.isfinite(slack) and not low - slack <= gradient[i, j] <= high + slack:
            raise ValueError(
                f"the gradient of {loss!r} is {gradient[i, j]:.6g} at sample {i}, output {j} "
                f"(target {Y[i, j]:.6g}, prediction {Y_pred[i, j]:.6g}), but differences of its "
                f"value lie between {low:.6g} and {high:.6g}: it must be the derivative with respect to "
                "Y_pred"
            )


def check_user_loss(loss: Loss, Y: Any, near: Any) -> None:
    """Check a loss of the user's own, at the mean of targets ``near`` to predictions."""
    own = (
        type(loss).__module__.startswith("isthmus.losses.")
        and type(loss).__name__ != "FunctionLoss"
    )
    if not own:
        check_gradient(loss, Y, np.broadcast_to(np.mean(near, axis=0), np.shape(Y)))


def _quotients(loss: Loss, y: Any, y_pred: Any, j: int) -> tuple[float, float, float]:
    """Return the backward and the forward difference quotient, and their rounding error."""
    step = 1e-5 * max(np.abs(y - y_pred).max(), 1e-3 * np.abs(y_pred).max(), 1e-8)
    values = []
    for shift in (-step, 0.0, step):
        moved = y_pred.copy()
        moved[0, j] += shift
        values.append(loss.value(y, moved))
    rounding = 1e-14 * max(map(abs, values)) / step + 1e-9
    return (values[1] - values[0]) / step, (values[2] - values[1]) / step, rounding
