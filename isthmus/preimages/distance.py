"""Pre-images from distances to neighbours (multidimensional scaling), all targets at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import Array
from isthmus._validation import check_count, check_option
from isthmus.kernels import gram_diagonal
from isthmus.preimages.base import Preimage
from isthmus.preimages.fixed_point import warn_hopeless
from isthmus.preimages.forms import DistanceForm, kernel_form
from isthmus.preimages.targets import Targets, parts

_CUTOFF = 1e-8  # of a neighbourhood's Gram matrix, relative: duplicates count once


class Distance(Preimage):
    r"""Place the pre-image at the right distances from its nearest fitted points.

    A distance in feature space gives one in input space if the kernel can be inverted; for the RBF
    kernel

    .. math::
        |z - x_i|^2 = -\log(1 - D_i / 2) / \gamma,\qquad D_i = 2 - 2 c_i / |\Psi|,\quad
        c_i = \langle\Psi, \phi(x_i)\rangle .

    With the s nearest points, centred as rows of :math:`X`, the answer is the shortest solution of
    :math:`X z = (d^0 - d)/2`, minus its mean, found by the s x s Gram matrix; [KT2004]_, [B2006]_
    Sec. 3.2.3. Exact if the target is an image and the neighbours span the space.

    Parameters
    ----------
    n_neighbours : int, default=10
        Number of neighbours, at most the number of fitted points.
    metric : {"cosine", "full"}, default="cosine"
        ``D = 2 - 2 c / |Psi|``, or ``D = 1 - 2 c + |Psi|^2``, for a kernel that is one at distance
        zero. Only for kernels of the distance.
    """

    def __init__(self, n_neighbours: int = 10, *, metric: str = "cosine") -> None:
        self.n_neighbours = n_neighbours
        self.metric = metric

    def _prepare(self) -> None:
        check_count("n_neighbours", self.n_neighbours)
        check_option("metric", self.metric, ("cosine", "full"))
        form = kernel_form(self.kernel_)
        if form is None or not form.is_invertible:
            raise ValueError(
                "Distance needs a kernel whose values determine distances: RBF, L2Laplacian, "
                f"RationalQuadratic, Linear, Polynomial of odd degree; kernel == {self.kernel_}: use "
                "Learned() or Gradient()."
            )
        self._diagonal: Array = gram_diagonal(self.kernel_, self.objects_)

    def _invert(self, targets: Targets, **options: Any) -> Array:
        answers = np.empty((len(targets), self.objects_.shape[1]))
        for part in parts(len(targets), len(self.objects_)):
            answers[part] = self._invert_block(targets.subset(part))
        return answers

    def _invert_block(self, targets: Targets) -> Array:
        norms = targets.squared_norms
        smallest = float(norms.min())
        if smallest <= 1e-14 * float(self._diagonal.max()):
            raise ValueError(
                f"Target {int(norms.argmin())} has |Psi|^2 == {smallest:.3g}: the angle to a zero "
                "vector is undefined. Use Learned() or Nearest() for it."
            )
        losses = self._fitted_losses(targets)
        correlations = 0.5 * (self._diagonal + norms[:, None] - losses)
        squared = self._input_distances(correlations, norms)
        s = min(int(self.n_neighbours), len(self.objects_))
        neighbours = np.argpartition(squared, s - 1, axis=1)[:, :s]
        answers = _place(self.objects_, neighbours, np.take_along_axis(squared, neighbours, axis=1))
        hopeless = (correlations <= 0).all(axis=1)
        if isinstance(kernel_form(self.kernel_), DistanceForm) and hopeless.any():
            warn_hopeless(int(hopeless.sum()))
            answers[hopeless] = self._nearest_objects(losses[hopeless])
        return answers

    def _input_distances(self, correlations: Array, norms: Array) -> Array:
        form = kernel_form(self.kernel_)
        assert form is not None
        inverse = form.inverse
        if isinstance(form, DistanceForm):
            if self.metric == "cosine":
                lengths = np.sqrt(norms / form.scale)
                return inverse(correlations / lengths[:, None])
            return inverse(0.5 * (form.scale + 2.0 * correlations - norms[:, None]))
        # |z|^2 + |x|^2 - 2 z'x, each read off a kernel value.
        squared = inverse(norms)[:, None] + inverse(self._diagonal) - 2.0 * inverse(correlations)
        return np.maximum(squared, 0.0)


def _place(objects: NDArray, neighbours: NDArray, squared: Array) -> Array:
    """The point at the given squared distances from its neighbours, for every row of the batch."""
    X = np.asarray(objects[neighbours], dtype=np.float64)  # (t, s, d)
    mean = X.mean(axis=1)
    X -= mean[:, None, :]
    rhs = 0.5 * ((X**2).sum(axis=2) - squared)
    rhs -= rhs.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(X @ X.transpose(0, 2, 1))
    large = values > _CUTOFF * values[:, -1:]
    inverse = np.where(large, 1.0 / np.where(large, values, 1.0), 0.0)
    weights = np.einsum("tij,tj,tkj,tk->ti", vectors, inverse, vectors, rhs, optimize=True)
    return np.einsum("ti,tid->td", weights, X) + mean
