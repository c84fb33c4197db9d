r"""One eigenproblem for all supervised projections, in four forms of equal answer.

.. math::
    S^{1/2} G S^{1/2} u = \lambda u, \qquad
    S = K (K + \alpha I)^{-1} = F (F^\top F + \alpha I)^{-1} F^\top

with centred features ``F``, their Gram matrix ``K = F F'`` and a matrix ``G`` of the outputs. The
coordinates are linear in the features, ``z = F b`` or ``z = K beta``. What ``G`` is, is said in
``couplings.py``; which form is taken, in ``problem.py``.

==================  ==========================================  =====================================
form                what it needs                               cost
==================  ==========================================  =====================================
``solve_features``  moments of m features                       ``n m^2``, in blocks of rows
``solve_factor``    ``G = Q Q'`` with few columns p             one Cholesky factor, ``2 n^2 p``
``solve_krylov``    products with ``S`` and ``G``               two Cholesky factors, a few blocks
``solve_dense``     the eigendecomposition of ``K``             ten Cholesky factors and more
==================  ==========================================  =====================================

``method="generalised"`` is the problem above, scaled so that ``b'(F'F + alpha I) b = n``;
``method="inverse"`` takes the unit eigenvectors ``v`` of ``F' G F / n`` and
``b = (F'F / n + alpha / n)^{-1} v``, as [KP2008]_ Sec. 2.2 prints it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from isthmus._linalg import GRAM_RANK_TOL, Array, inverse_factor, leading_pairs

Apply = Callable[[Array], Array]
# A block this much wider than the answer converges where eigenvalues crowd.
EXTRA_COLUMNS = 10
# The last depth is taken as it is.
MAX_BLOCKS = 10
# Between two depths the Ritz values may move by this fraction of the largest.
RITZ_TOL = 1e-6
# Ritz values below this fraction of the largest are rounding, not components.
EIGENVALUE_TOL = 1e-10
# Eigenvalues of one have lost as many digits as the Gram matrix that was inverted.
TIED_TO_ONE = 1e-6


@dataclass
class Axes:
    """Leading eigenvalues, falling, and coefficients of the coordinates in raw scale."""

    eigenvalues: Array
    coef: Array  # (m, r) for features, (n, r) for a Gram matrix
    total: float  # sum of all eigenvalues, nan where only the leading ones are known

    def head(self, r: int | float) -> Axes:
        """The first r components, or as many as have a fraction r of the sum of all eigenvalues."""
        if isinstance(r, float):
            shares = np.cumsum(self.eigenvalues) / self.total
            r = int(np.searchsorted(shares, r - 1e-12)) + 1
        return Axes(self.eigenvalues[:r], self.coef[:, :r], self.total)


@dataclass(frozen=True)
class Ridge:
    """A ridge weight: a number, or a fraction of the trace of the centred Gram matrix."""

    value: float
    relative: bool

    def at(self, trace: float) -> float:
        return self.value * trace if self.relative else self.value


def settle_ties(axes: Axes, norms: Array) -> None:
    """Order coordinates that outputs explain wholly, all of eigenvalue one, by the norms of directions.

    Without a ridge such coordinates are a space, of which rounding would choose a basis. The limit of ever
    smaller ridges is that of the shortest directions first. ``norms`` holds products of the directions of
    all axes.
    """
    tied = int((axes.eigenvalues > 1.0 - TIED_TO_ONE).sum())
    if tied > 1:
        turn = np.linalg.eigh(norms[:tied, :tied])[1]
        axes.coef[:, :tied] = axes.coef[:, :tied] @ turn


def rank_of(eigenvalues: Array) -> int:
    """Number of eigenvalues that are not zero to rounding."""
    if not len(eigenvalues) or eigenvalues[0] <= 0:
        return 0
    return int((eigenvalues > EIGENVALUE_TOL * eigenvalues[0]).sum())


# -- inputs -----------------------------------------------------------------------------------


class RidgeGram:
    """Centred Gram matrix with a ridge: products with ``K``, ``S`` and ``(K + alpha I)^-1``."""

    def __init__(self, K: Array, alpha: float, weight: float | None = None) -> None:
        self.K = K
        self.alpha = alpha
        self.n = len(K)
        self.weight = self.n if weight is None else weight  # of all rows
        A = K.copy().T  # symmetric; in LAPACK's order, so that it is not copied again
        A.flat[:: self.n + 1] += alpha
        self._factor = cho_factor(A, lower=True, overwrite_a=True, check_finite=False)

    def solve(self, V: Array) -> Array:
        """``(K + alpha I)^-1 V``."""
        return cho_solve(self._factor, V, check_finite=False)

    def smooth(self, V: Array) -> Array:
        """``S V`` without a product with ``K``."""
        return V - self.alpha * self.solve(V)

    def times(self, V: Array) -> Array:
        """``K V``."""
        return self.K @ V


class EigenGram:
    """The same by one eigendecomposition, which serves every ridge weight."""

    def __init__(self, K: Array, alpha: float = 0.0, weight: float | None = None) -> None:
        self.K = K
        self.alpha = alpha
        self.n = len(K)
        self.weight = self.n if weight is None else weight
        values, vectors = leading_pairs(K)
        self.rank = int((values > GRAM_RANK_TOL * max(values[0], 0.0)).sum())
        self.values = values[: self.rank]
        self.vectors = vectors[:, : self.rank]

    def at(self, alpha: float) -> EigenGram:
        """Another ridge weight, the same decomposition."""
        other = object.__new__(EigenGram)
        other.__dict__.update(self.__dict__, alpha=alpha)
        return other

    def _filter(self, V: Array, weights: Array) -> Array:
        return self.vectors @ (weights[:, None] * (self.vectors.T @ V))

    def solve(self, V: Array) -> Array:
        """``(K + alpha I)^-1 V`` on the range of ``K``; the pseudo-inverse for alpha = 0."""
        return self._filter(V, 1.0 / (self.values + self.alpha))

    def smooth(self, V: Array) -> Array:
        return self._filter(V, self.values / (self.values + self.alpha))

    def times(self, V: Array) -> Array:
        return self._filter(V, self.values)


def ridge_gram(K: Array, alpha: float, weight: float | None = None) -> RidgeGram | EigenGram:
    """By a Cholesky factor, or on the range of ``K`` where there is no ridge, or one below rounding."""
    if alpha > 0:
        try:
            return RidgeGram(K, alpha, weight)
        except LinAlgError:  # or a kernel that is not positive
            pass
    return EigenGram(K, alpha, weight)


# -- forms ------------------------------------------------------------------------------------


def solve_dense(inputs: EigenGram, G: Array, method: str, r: int | None = None) -> Axes:
    """Form 4: in the eigenbasis of ``K``, where features are ``U sqrt(l)``."""
    values, U, n = inputs.values, inputs.vectors, inputs.weight
    GU = U.T @ (G @ U)
    ridge = values + inputs.alpha
    weights = np.sqrt(values / ridge) if method == "generalised" else np.sqrt(values / n)
    M = weights[:, None] * GU * weights
    # The solver reads one half of M; the mean of both halves does not depend on which.
    eigenvalues, w = leading_pairs((M + M.T) / 2, r)
    scale = np.sqrt(n / ridge) if method == "generalised" else n / ridge
    # beta = U b / sqrt(l)
    return Axes(eigenvalues, U @ ((scale / np.sqrt(values))[:, None] * w), float(np.trace(M)))


def solve_factor(
    inputs: RidgeGram | EigenGram, Q: Array, method: str, r: int | None = None
) -> Axes:
    """Form 2: ``G = Q Q'`` with few columns, a problem of their number."""
    P = Q.T @ (inputs.smooth(Q) if method == "generalised" else inputs.times(Q) / inputs.weight)
    eigenvalues, u = leading_pairs((P + P.T) / 2, r)
    # Directions are divided by the roots of their eigenvalues, which rounding must not decide.
    kept = max(rank_of(eigenvalues), 1)
    eigenvalues, u = eigenvalues[:kept], u[:, :kept]
    u = u * np.sqrt(inputs.weight / np.maximum(eigenvalues, np.finfo(float).tiny))
    return Axes(eigenvalues, inputs.solve(Q @ u), float(np.trace(P)))


def solve_krylov(
    inputs: RidgeGram | EigenGram, apply_G: Apply, method: str, r: int, rng: np.random.Generator
) -> Axes:
    """Form 3: block Krylov space of ``G S``, then Rayleigh-Ritz on ``(SY' G SY, Y' SY)``.

    Blocks are added until the Ritz values asked for have settled. Every basis block is
    orthonormalised twice against all earlier ones.
    """
    S = inputs.smooth if method == "generalised" else inputs.times
    n = inputs.n
    width = min(r + EXTRA_COLUMNS, inputs.n)
    block = np.linalg.qr(apply_G(rng.standard_normal((n, width))))[0]
    Y = block
    SY = S(block)
    GSY = np.empty((n, 0))
    before = np.full(r, np.inf)
    for depth in range(1, MAX_BLOCKS + 1):
        GSY = np.hstack([GSY, apply_G(SY[:, GSY.shape[1] :])])
        values, c = _ritz(SY, GSY, Y)
        now = np.zeros(r)
        now[: min(r, len(values))] = values[:r]
        room = n - Y.shape[1]
        has_settled = np.abs(now - before).max() <= RITZ_TOL * max(now[0], 0.0)
        if has_settled or room == 0 or depth == MAX_BLOCKS:
            break
        before = now
        block = _new_directions(GSY[:, -block.shape[1] :], Y)[:, :room]
        Y = np.hstack([Y, block])
        SY = np.hstack([SY, S(block)])
    y = Y @ c[:, :r]
    total = inputs.weight
    scale = np.sqrt(total) if method == "generalised" else total
    eigenvalues = values[:r] if method == "generalised" else values[:r] / total
    return Axes(eigenvalues, scale * inputs.solve(y), float("nan"))


def _new_directions(V: Array, Y: Array) -> Array:
    # Once leaves rounding errors as large as what is left of nearly dependent columns.
    for _ in range(2):
        V = np.linalg.qr(V - Y @ (Y.T @ V))[0]
    return V


def _ritz(SY: Array, GSY: Array, Y: Array) -> tuple[Array, Array]:
    A, B = SY.T @ GSY, Y.T @ SY
    values, W = eigh((B + B.T) / 2)
    kept = values > GRAM_RANK_TOL * values[-1]  # directions in the null space of S
    W = W[:, kept] / np.sqrt(values[kept])
    M = W.T @ ((A + A.T) / 2) @ W
    ritz, c = leading_pairs(M)
    return ritz, W @ c


def solve_features(
    whitening: Array,
    n: float,
    cross: Array,
    root: Array | None,
    method: str,
    r: int | None = None,
) -> Axes:
    """Form 1: ``F' G F = cross cross' + root' root``, with ``whitening`` of :func:`ridge_whitening`."""
    if method == "generalised":
        B = whitening.T @ cross
        half = None if root is None else root @ whitening
    else:
        B = cross / np.sqrt(n)
        half = None if root is None else root / np.sqrt(n)
    extra = None if half is None else half.T @ half
    eigenvalues, w, total = _leading_of_sum(B, extra, r)
    if method == "generalised":
        return Axes(eigenvalues, np.sqrt(n) * (whitening @ w), total)
    return Axes(eigenvalues, n * (whitening @ (whitening.T @ w)), total)


def _leading_of_sum(B: Array, extra: Array | None, r: int | None) -> tuple[Array, Array, float]:
    """Leading eigenpairs of ``B B' + extra``; through ``B' B`` where that is the smaller."""
    if extra is not None or B.shape[1] >= B.shape[0]:
        M = B @ B.T
        if extra is not None:
            M += extra
        eigenvalues, w = leading_pairs((M + M.T) / 2, r)
        return eigenvalues, w, float(np.trace(M))
    P = B.T @ B
    eigenvalues, u = leading_pairs(P, r)
    kept = max(rank_of(eigenvalues), 1)
    safe = np.sqrt(np.maximum(eigenvalues[:kept], np.finfo(float).tiny))
    return eigenvalues[:kept], B @ u[:, :kept] / safe, float(np.trace(P))


def ridge_whitening(xx: Array, alpha: float) -> tuple[Array, int]:
    """``W`` with ``W'(xx + alpha I) W = I``, and the rank of what it spans.

    Without a ridge, on the range of ``xx``: the pseudo-inverse, the limit of ever smaller ridges. Columns
    are brought to one scale first, so that the rank does not depend on their units.
    """
    if alpha > 0:
        try:
            A = xx.copy()
            A.flat[:: len(A) + 1] += alpha
            return inverse_factor(A), len(A)
        except LinAlgError:  # a ridge below rounding is no ridge
            pass
    norms = np.sqrt(np.maximum(xx.diagonal(), 0.0))
    norms[norms <= np.finfo(float).eps * norms.max(initial=0.0)] = np.inf  # constant columns
    values, vectors = leading_pairs(xx / norms[:, None] / norms)
    kept = values > GRAM_RANK_TOL * values[0]
    whitening = vectors[:, kept] / np.sqrt(values[kept]) / norms[:, None]
    live = np.isfinite(norms)
    if kept.sum() < live.sum():
        # In one scale the shortest directions are others than in the units of the columns.
        basis = np.linalg.qr(np.where(live, norms, 0.0)[:, None] * vectors[:, kept])[0]
        whitening = basis @ (basis.T @ whitening)
    return whitening, int(kept.sum())
