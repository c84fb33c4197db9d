"""Sequences of vectors or pictures, compared place by place."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import Array
from isthmus._validation import check_count
from isthmus.kernels.base import GammaKernel
from isthmus.kernels.distances import RBF
from isthmus.kernels.structured import StructuredKernel


def are_vectors(sequence: Any) -> bool:
    """Return whether the places of a sequence hold vectors or pictures, not symbols."""
    return isinstance(sequence, np.ndarray) and sequence.ndim >= 2


class VectorSequenceKernel(GammaKernel, StructuredKernel):
    r"""Gaussian kernel of what is seen at the same place, summed over the places.

    .. math::
        k(x, y) = \sum_i \exp \Bigl( -\gamma \sum_{|l| \le r} \|x_{i+l} - y_{i+l}\|^2 \Bigr)

    over the places i that both sequences have; beyond its ends a sequence stays as it is at the end. For
    pictures of the letters of a word, or the postures of a movement.

    Parameters
    ----------
    gamma : float or None, default=None
        Inverse width. None: set by the median rule when an estimator sees data.
    reach : int, default=1
        Neighbours r of a place, on either side, that are compared with it.
    normalise : bool, default=True
        Whether to normalise every sequence to unit length.
    gamma_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
        Where an optimiser of hyperparameters may look.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.kernels import VectorSequenceKernel
    >>> rising = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    >>> VectorSequenceKernel(0.5, reach=0)([rising], [rising[:2], rising[::-1]]).round(2)
    array([[0.82, 0.42]])
    """

    def __init__(
        self,
        gamma: float | None = None,
        *,
        reach: int = 1,
        normalise: bool = True,
        gamma_bounds: Any = (1e-5, 1e5),
    ) -> None:
        self.gamma = gamma
        self.reach = reach
        self.normalise = normalise
        self.gamma_bounds = gamma_bounds

    def windows(self, X: Any, name: str = "X") -> list[Array]:
        """Return every sequence with the neighbours of a place beside it, (n_places, n_numbers) each."""
        reach = check_count("reach", self.reach, minimum=0)
        found: list[Array] = []
        for index, given in enumerate(X):
            places = np.asarray(given, dtype=np.float64)
            if places.ndim < 2 or not places.size:
                raise ValueError(
                    f"{name}[{index}] has shape {places.shape}, must be an array with one vector or "
                    "picture per place, (n_places, n_numbers)."
                )
            places = places.reshape(len(places), -1)
            if not np.isfinite(places).all():
                raise ValueError(f"{name}[{index}] has NaN or infinity.")
            if found and (2 * reach + 1) * places.shape[1] != found[0].shape[1]:
                raise ValueError(
                    f"{name}[{index}] has {places.shape[1]} numbers per place, {name}[0] has "
                    f"{found[0].shape[1] // (2 * reach + 1)}: they must be the same."
                )
            ends = [places[:1]] * reach, [places[-1:]] * reach
            longer = np.concatenate([*ends[0], places, *ends[1]])
            steps = range(2 * reach + 1)
            found.append(np.hstack([longer[k : k + len(places)] for k in steps]))
        return found

    def _check(self) -> None:
        self._known_gamma()

    def _convert(self, X: Any, name: str) -> list[Array]:
        return self.windows(X, name)

    def _matrix(self, X: list[Array], Y: list[Array] | None) -> Array:
        at_place = RBF(self.gamma)
        K = np.zeros((len(X), len(X if Y is None else Y)))
        for j in range(max(map(len, X))):
            rows, A = _at(X, j)
            if Y is None:
                K[np.ix_(rows, rows)] += at_place(A)
                continue
            columns, B = _at(Y, j)
            if len(columns):
                K[np.ix_(rows, columns)] += at_place(A, B)
        return K

    def _matrix_and_slopes(self, X: list[Array]) -> tuple[Array, Array]:
        at_place = RBF(self.gamma)
        K = np.zeros((len(X), len(X)))
        slopes = np.zeros((len(X), len(X), 1))
        for j in range(max(map(len, X))):
            rows, A = _at(X, j)
            own, own_slopes = at_place(A, eval_gradient=True)
            K[np.ix_(rows, rows)] += own
            slopes[np.ix_(rows, rows)] += own_slopes
        return K, slopes

    def _diagonal(self, X: list[Array]) -> Array:
        return np.array([float(len(x)) for x in X])


def _at(X: list[Array], place: int) -> tuple[NDArray[np.intp], Array]:
    """Numbers of the sequences that have this place, and what they have there."""
    rows = np.array([i for i, x in enumerate(X) if len(x) > place], dtype=np.intp)
    return rows, np.array([X[i][place] for i in rows])
