r"""The cross-entropy method: draw candidates, keep the best, draw nearer to them.

[B2006]_ Sec. 3.4.1 (Algorithm A3.4), after [RK2004]_. A *family* of distributions over codes is handed to
:func:`cross_entropy` together with a loss of codes; what a code means (a graph, a permutation, a
sequence, anything) is the caller's affair.

====================  ==================================================  =====================
family                codes                                               maximum likelihood
====================  ==================================================  =====================
``Bernoulli``         0 or 1 at every place (edges of a graph)            shares of the elite
``InversionCodes``    inversion tables of permutations                    shares of the range
``Categorical``       one of c symbols at every place                     shares of the elite
====================  ==================================================  =====================
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from isthmus._linalg import Array


class Family(ABC):
    """Distributions over codes with an array of ``parameters``, which ``update`` moves to an elite."""

    parameters: Array

    @abstractmethod
    def sample(self, rng: np.random.RandomState, n: int) -> NDArray:
        """Draw codes at random, (n, ...)."""

    @abstractmethod
    def update(self, elite: NDArray, smoothing: float) -> Family:
        """``smoothing`` times the maximum likelihood of the elite, the rest as it was."""


@dataclass(frozen=True)
class Bernoulli(Family):
    r"""Independent zeros and ones, with a prior for few ones.

    .. math::
        v \leftarrow \operatorname{clip}(a F + (1 - a) v - \text{penalty} / 2, \nu, 1 - \nu)

    F is the share of ones in the elite; a Laplacian prior takes half its weight off, [B2006]_ Sec. 3.4.5
    with (41) corrected.
    """

    parameters: Array
    noise: float = 0.0
    penalty: float = 0.0

    def sample(self, rng: np.random.RandomState, n: int) -> NDArray:
        return (rng.random_sample((n, len(self.parameters))) < self.parameters).astype(np.int8)

    def update(self, elite: NDArray, smoothing: float) -> Bernoulli:
        v = smoothing * elite.mean(axis=0) + (1.0 - smoothing) * self.parameters
        return replace(
            self, parameters=np.clip(v - self.penalty / 2.0, self.noise, 1.0 - self.noise)
        )


@dataclass(frozen=True)
class InversionCodes(Family):
    """Inversion tables of permutations of m: entry k is Binomial(m - k, v_k), k = 1 .. m - 1.

    The last entry is always 0 and has no parameter. See :func:`decode_inversions`.
    """

    parameters: Array

    @property
    def trials(self) -> NDArray:
        """``m - k`` of every entry."""
        return np.arange(len(self.parameters), 0, -1)

    def sample(self, rng: np.random.RandomState, n: int) -> NDArray:
        codes = rng.binomial(self.trials, self.parameters, size=(n, len(self.parameters)))
        return np.concatenate([codes, np.zeros((n, 1), dtype=codes.dtype)], axis=1)

    def update(self, elite: NDArray, smoothing: float) -> InversionCodes:
        shares = elite[:, :-1].mean(axis=0) / self.trials
        return InversionCodes(smoothing * shares + (1.0 - smoothing) * self.parameters)


@dataclass(frozen=True)
class Categorical(Family):
    """Independent symbols; ``parameters`` (n_places, n_symbols) has rows that sum to one."""

    parameters: Array
    noise: float = 0.0

    def sample(self, rng: np.random.RandomState, n: int) -> NDArray:
        steps = np.cumsum(self.parameters, axis=1)
        u = rng.random_sample((n, len(steps), 1)) * steps[:, -1:]
        return np.minimum((u >= steps).sum(axis=2), steps.shape[1] - 1)

    def update(self, elite: NDArray, smoothing: float) -> Categorical:
        shares = (elite[:, :, None] == np.arange(self.parameters.shape[1])).mean(axis=0)
        v = smoothing * shares + (1.0 - smoothing) * self.parameters + self.noise
        return replace(self, parameters=v / v.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class CrossEntropyResult:
    """The outcome of a search.

    Attributes
    ----------
    code : ndarray
        The best code that was ever drawn.
    value : float
        Its loss.
    family : Family
        The distribution at the end.
    n_iter, n_evaluations : int
        Rounds, and losses that were computed.
    converged : bool
        Whether the search came to rest before ``max_iter``.
    levels : ndarray of shape (n_iter,)
        Loss of the worst of the elite in every round.
    """

    code: NDArray
    value: float
    family: Family
    n_iter: int
    n_evaluations: int
    converged: bool
    levels: Array


def cross_entropy(
    loss: Callable[[NDArray], Array],
    family: Family,
    *,
    n_samples: int = 200,
    elite: float = 0.1,
    smoothing: float = 0.7,
    max_void: int = 20,
    max_iter: int = 1000,
    tol: float = 1e-6,
    random_state: Any = None,
) -> CrossEntropyResult:
    """Minimise a loss over codes by sampling.

    Parameters
    ----------
    loss : callable
        Losses (n,) of an array of n codes.
    family : Family
        The distribution to begin with.
    n_samples : int, default=200
        Codes drawn in a round.
    elite : float, default=0.1
        Share of them, the best, that the distribution is moved to.
    smoothing : float, default=0.7
        Weight of the new distribution against the old one.
    max_void : int, default=20
        Rounds without a better level before the search ends.
    max_iter : int, default=1000
        Most rounds.
    tol : float, default=1e-6
        The search ends when no parameter moves by more.
    random_state : int, RandomState or None, default=None
        Seed of the draws.

    Returns
    -------
    result : CrossEntropyResult
        The best code ever drawn, not one drawn from the last distribution.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus._solvers.cross_entropy_search import Bernoulli, cross_entropy
    >>> wanted = np.array([1, 0, 1, 1, 0])
    >>> found = cross_entropy(
    ...     lambda codes: np.abs(codes - wanted).sum(axis=1),
    ...     Bernoulli(np.full(5, 0.5)),
    ...     random_state=0,
    ... )
    >>> found.code.tolist()
    [1, 0, 1, 1, 0]
    """
    _check(n_samples, elite, smoothing)
    rng = check_random_state(random_state)
    n_elite = int(np.ceil(elite * n_samples))
    best, value, void, converged = None, np.inf, 0, False
    lowest, levels = np.inf, list[float]()
    while len(levels) < max_iter and not converged:
        codes = family.sample(rng, n_samples)
        values = np.asarray(loss(codes), dtype=np.float64)
        order = np.argsort(values, kind="stable")
        if values[order[0]] < value or best is None:
            best = codes[order[0]].copy()
            value = float(values[order[0]])
        level = float(values[order[n_elite - 1]])
        levels.append(level)
        if level < lowest:
            lowest, void = level, 0
            after = family.update(codes[order[:n_elite]], smoothing)
            converged = float(np.abs(after.parameters - family.parameters).max()) < tol
            family = after
        else:
            void += 1
            converged = void >= max_void
    assert best is not None
    return CrossEntropyResult(
        best, value, family, len(levels), n_samples * len(levels), converged, np.array(levels)
    )


def _check(n_samples: int, elite: float, smoothing: float) -> None:
    if n_samples < 1:
        raise ValueError(f"n_samples == {n_samples}, must be >= 1.")
    if not 0.0 < elite <= 1.0:
        raise ValueError(f"elite == {elite}, must be a number with 0 < elite <= 1.")
    if not 0.0 < smoothing <= 1.0:
        raise ValueError(f"smoothing == {smoothing}, must be a number with 0 < smoothing <= 1.")


# -- permutations -----------------------------------------------------------------------------


def decode_inversions(codes: NDArray) -> NDArray[np.int64]:
    """Places of the sorted elements: element k goes to the ``codes[k]``-th place that is still free.

    Many tables at a time, (n, m) to (n, m); [B2006]_ Sec. 3.4.4, Example E3.4 corrected.
    """
    codes = np.atleast_2d(np.asarray(codes, dtype=np.int64))
    n, m = codes.shape
    places = np.empty((n, m), dtype=np.int64)
    free = np.ones((n, m), dtype=np.int64)
    rows = np.arange(n)
    for k in range(m):
        places[:, k] = (np.cumsum(free, axis=1) > codes[:, k, None]).argmax(axis=1)
        free[rows, places[:, k]] = 0
    return places
