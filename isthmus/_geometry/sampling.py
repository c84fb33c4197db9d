"""Random points of the Stiefel manifold: uniform, and near a point."""

from __future__ import annotations

import numpy as np

from isthmus._geometry.base import Array
from isthmus._geometry.stiefel import Stiefel


def uniform_stiefel(n_rows: int, n_columns: int, rng: np.random.Generator) -> Array:
    """Draw a point of St(n, r) from the uniform (invariant) law, [M2007]_."""
    return Stiefel(n_rows, n_columns).random_point(rng)


def geodesic_proposal(point: Array, scale: float, rng: np.random.Generator) -> Array:
    r"""Return the end of the geodesic that leaves ``point`` along a Gaussian tangent.

    The tangent is isotropic in the canonical metric: the entries of :math:`V'D` above the diagonal and of
    :math:`V_\perp' D` are independent :math:`N(0, \sigma^2)`. The proposal is symmetric with respect to
    the uniform measure ([B2006]_ Sec. 2.5.2, with the tangent part alone).
    """
    geometry = Stiefel(*point.shape)
    return geometry.exp(point, scale * geometry.random_tangent(point, rng))
