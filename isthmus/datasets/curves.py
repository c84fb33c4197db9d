"""The synthetic curves of the papers on inverse regression."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils import check_random_state, check_scalar

from isthmus._validation import check_option

Array = NDArray[np.float64]


def make_curves(
    n_samples: int = 300,
    n_features: int = 15,
    *,
    noise_outputs: int = 0,
    noise: float = 1.0,
    offset: float = 5.0,
    directions: str = "axes",
    random_state: int | RandomState | None = None,
) -> tuple[Array, Array, Array]:
    r"""Make the ``curves`` of [KP2008]_ Sec. 4.1: an output that depends on two directions of the inputs.

    .. math::
        y = \operatorname{sign}(b_1^\top x + \epsilon_1)\, \log |b_2^\top x + a_0 + \epsilon_2|, \qquad
        x \sim N(0, I), \quad \epsilon_1, \epsilon_2 \sim N(0, s^2)

    The paper does not state :math:`b_1, b_2, a_0`; here the directions have the entries 1 in the
    first two and 1 in the last two places, [W2008]_ has such, or are drawn from N(0, I), which
    drowns less of the sign in noise; ``a_0`` is 5.

    Parameters
    ----------
    n_samples, n_features : int, default=300, 15
        Numbers of rows and of inputs, at least four inputs.
    noise_outputs : int, default=0
        White noise put beside the output as further outputs; the paper takes 4.
    noise : float, default=1.0
        Standard deviation ``s`` inside the sign and the logarithm.
    offset : float, default=5.0
        The constant ``a_0``.
    directions : {"axes", "random"}, default="axes"
        Sums of two inputs each, or drawn from N(0, I).
    random_state : int, RandomState instance or None, default=None
        The same seed gives the same problem.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,), or (n_samples, 1 + noise_outputs) with noise outputs
    directions : ndarray of shape (2, n_features)
        The two directions, of unit length: the plane that a projection should find.
    """
    check_scalar(n_samples, "n_samples", Integral, min_val=1)
    check_scalar(n_features, "n_features", Integral, min_val=4)
    check_scalar(noise_outputs, "noise_outputs", Integral, min_val=0)
    check_scalar(noise, "noise", Real, min_val=0)
    check_scalar(offset, "offset", Real)
    check_option("directions", directions, ("axes", "random"))
    rng = check_random_state(random_state)
    if directions == "random":
        plane = rng.standard_normal((2, n_features))
    else:
        plane = np.zeros((2, n_features))
        plane[0, :2] = plane[1, -2:] = 1.0
    X = rng.standard_normal((n_samples, n_features))
    inner = X @ plane.T + noise * rng.standard_normal((n_samples, 2))
    y = np.sign(inner[:, 0]) * np.log(np.abs(inner[:, 1] + offset))
    if noise_outputs:
        y = np.column_stack([y, rng.standard_normal((n_samples, noise_outputs))])
    return X, y, plane / np.linalg.norm(plane, axis=1)[:, None]
