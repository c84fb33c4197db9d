"""Leading eigenpairs of symmetric matrices: one, a few, many of a large matrix, or all."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, eigvalsh_tridiagonal, lapack
from scipy.sparse.linalg import ArpackError, eigsh

from isthmus.linalg import Array

# Above this order bisection for one eigenvector (SciPy) beats all of them (NumPy); SciPy has linear algebra
# threads of its own, which wait for NumPy's, so that calls to both in turn are slow.
_ONE_VECTOR_ORDER = 100
_PANEL = 64  # columns of reflectors that LAPACK applies at once
BLOCK = 8
RESIDUAL_TOL = 1e-13
_ALIKE = 1e-8  # of the largest: eigenvalues that differ by less coincide
_SMALL = 500  # below this order all eigenpairs cost no more
_FEW = 8  # a part of the spectrum is few if it is less than one in this many
_CHECK_EVERY, _CHECK_LATEST = (
    3,
    6,
)  # blocks between two looks at the residuals: at first, and at most


def leading_eigenvector(A: Array) -> tuple[Array, Array]:
    """Largest eigenvalue and its unit eigenvector of each symmetric matrix in a stack (..., m, m)."""
    m = A.shape[-1]
    if m == 1:
        return A[..., 0, 0], np.ones(A.shape[:-1])
    if m <= _ONE_VECTOR_ORDER:
        values, vectors = np.linalg.eigh(A)
        return values[..., -1], vectors[..., :, -1]
    stack = A.reshape(-1, m, m)
    pairs = [eigh(a, subset_by_index=[m - 1, m - 1]) for a in stack]
    values = np.array([value[0] for value, _ in pairs]).reshape(A.shape[:-2])
    vectors = np.array([vector[:, 0] for _, vector in pairs]).reshape(A.shape[:-1])
    return values, vectors


def descending_eigh(A: Array) -> tuple[Array, Array]:
    """Eigenvalues (clipped at zero) and eigenvectors of a Gram matrix, largest first."""
    values, vectors = np.linalg.eigh(A)
    return np.maximum(values[::-1], 0.0), vectors[:, ::-1]


def largest_eigenvalue(A: Array) -> float:
    """Largest eigenvalue of a Gram matrix, to ten digits."""
    if len(A) <= _ONE_VECTOR_ORDER or not A.any():
        return float(np.linalg.eigvalsh(A)[-1])
    try:
        # A start that moves with the order of the columns, so that the answer does not depend on it.
        start = A.sum(axis=1) + A.diagonal()
        return float(eigsh(A, k=1, v0=start, tol=1e-10, return_eigenvectors=False)[0])
    except ArpackError:  # no convergence
        return float(np.linalg.eigvalsh(A)[-1])


def leading_pairs(A: Array, r: int | None = None) -> tuple[Array, Array]:
    """The r largest eigenpairs of a symmetric matrix, largest first; all of them for None."""
    n = len(A)
    few = r is not None and r < n // 4
    values, vectors = eigh(A, subset_by_index=[n - r, n - 1] if few else None)  # type: ignore[operator]
    values, vectors = values[::-1], vectors[:, ::-1]
    return (values, vectors) if r is None else (values[:r], vectors[:, :r])


class Tridiagonal:
    """``A = Q T Q'`` of a symmetric matrix of order two or more, with a tridiagonal T.

    Systems with ``A + shift I`` then cost next to nothing, at a third of the price of eigenvectors.
    """

    def __init__(self, A: Array) -> None:
        work = int(lapack.dsytrd_lwork(len(A), lower=1)[0])
        reflectors, self.diagonal, self.off, tau, _ = lapack.dsytrd(A.T, lower=1, lwork=work)
        self._panels = [
            _panel(reflectors[i + 1 :, i : min(i + _PANEL, len(tau))], tau[i : i + _PANEL])
            for i in range(0, len(tau), _PANEL)
        ]

    def into(self, M: Array) -> Array:
        """``Q' M``."""
        out = M.copy()
        for V, W in self._panels:
            out[-len(V) :] -= V @ (W.T @ out[-len(V) :])
        return out

    def back(self, M: Array) -> Array:
        """``Q M``."""
        out = M.copy()
        for V, W in reversed(self._panels):
            out[-len(V) :] -= W @ (V.T @ out[-len(V) :])
        return out

    def extremes(self) -> tuple[float, float]:
        """The smallest and the largest eigenvalue."""
        last = len(self.diagonal) - 1
        found = [
            eigvalsh_tridiagonal(self.diagonal, self.off, select="i", select_range=(i, i))
            for i in (0, last)
        ]
        return float(found[0][0]), float(found[1][0])

    def times(self, M: Array) -> Array:
        """``T M``."""
        out = self.diagonal[:, None] * M
        out[:-1] += self.off[:, None] * M[1:]
        out[1:] += self.off[:, None] * M[:-1]
        return out

    def solve(self, shift: float, M: Array) -> Array:
        """``(T + shift I)^-1 M`` of a positive definite one; LinAlgError otherwise."""
        *_, found, failed = lapack.dptsv(self.diagonal + shift, self.off, M)
        if failed:
            raise np.linalg.LinAlgError("the shifted matrix is not positive definite")
        return np.asarray(found, dtype=np.float64)


def _panel(reflectors: Array, tau: Array) -> tuple[Array, Array]:
    r"""``V, W`` with :math:`I - W V^\top` the product of some of LAPACK's reflectors [SV1989]_.

    So they are applied by NumPy's products, during which other threads run.
    """
    V = np.tril(reflectors, -1)
    np.fill_diagonal(V, 1.0)
    V[:, tau == 0.0] = 0.0  # nothing to reflect
    T = np.triu(V.T @ V, 1)
    np.fill_diagonal(T, 1.0 / np.where(tau == 0.0, 1.0, tau))
    return V, V @ np.linalg.inv(T)


def leading_or_all_pairs(K: Array, r: int | None = None) -> tuple[Array, Array]:
    """Eigenvalues, largest first, and eigenvectors of a symmetric matrix: the first ``r``, or all.

    All come back too where they cost no more than ``r`` of them; the smallest then tells how far
    ``K`` is from being positive semi-definite.
    """
    n = len(K)
    if r is not None and n >= _SMALL and r * _FEW <= n:
        found = block_lanczos(K, r)
        if found is not None:
            return found
    values, vectors = np.linalg.eigh(K)
    return values[::-1], vectors[:, ::-1]


def block_lanczos(
    K: Array, r: int, *, block: int = BLOCK, tol: float = RESIDUAL_TOL, limit: int | None = None
) -> tuple[Array, Array] | None:
    """The ``r`` largest eigenvalues and their vectors, or None where they do not come soon.

    Krylov spaces of a block of vectors, orthogonalised in full, with thick restarts [WS2000]_: a
    product of the matrix with a block costs little more than one with a single vector, because
    both wait for the matrix to come from memory. Every pair returned has a residual
    ``|K u - l u|`` of at most ``tol`` times the largest eigenvalue. The start is fixed, so that
    the same matrix gives the same pairs. Where as many eigenvalues coincide as the block has
    columns there may be more of them, and None is returned. ``limit`` bounds the
    number of columns multiplied.
    """
    n = len(K)
    tol = max(tol, 4.0 * float(np.finfo(K.dtype).eps))
    limit = n // 2 if limit is None else limit  # beyond that all pairs are cheaper
    room = max(r + 8 * block, 4 * r, min(8 * r, n // 5))  # a wider basis costs more than it saves
    space = _Space(K, min(n - block, room), block)
    V = space.fresh()
    looks = _Looks(tol)
    for step in range(1, limit // block + 1):
        if not space.has_room():
            space.restart(max(2 * r, r + block))
        V = space.extend(V)
        if space.size >= r + block and step >= looks.due and looks.at(step, space.residual(r)):
            values, vectors = space.pairs(r)
            alike = max(_ALIKE, 10.0 * float(np.finfo(K.dtype).eps))
            return None if _crowded(values, block, alike) else (values, vectors)
    return None


class _Looks:
    """When to look at the residuals, which takes all Ritz vectors: seldom while they are far off."""

    def __init__(self, tol: float) -> None:
        self.tol, self.due = tol, 0
        self.last: tuple[int, float] | None = None

    def at(self, step: int, residual: float) -> bool:
        """Whether the residual will do; otherwise half of the way to where it would at its pace."""
        if residual <= self.tol:
            return True
        wait = _CHECK_EVERY
        if self.last is not None and residual < self.last[1]:
            pace = np.log(self.last[1] / residual) / (step - self.last[0])
            wait = int(np.clip(0.5 * np.log(residual / self.tol) / pace, 1, _CHECK_LATEST))
        self.last, self.due = (step, residual), step + wait
        return False


def _crowded(values: Array, block: int, alike: float) -> bool:
    """Whether a whole block of values agrees: a block sees no more copies of an eigenvalue than that."""
    values = values[values > 1e-10 * values[0]]
    if len(values) < block:
        return False
    gaps = values[: len(values) - block + 1] - values[block - 1 :]
    return bool((gaps <= alike * values[0]).any())


def smallest_ritz_value(K: Array, steps: int = 5) -> float:
    """An upper bound of the smallest eigenvalue, close to it where that is well below zero."""
    block = min(BLOCK, len(K) // 8)
    space = _Space(np.asarray(K, dtype=np.float64), steps * block, block)
    V = space.fresh()
    for _ in range(steps):
        V = space.extend(V)
    return float(space.eigen()[0][-1])


class _Space:
    """An orthonormal basis Q, the matrix T = Q'KQ on it, and the block with which it grows."""

    def __init__(self, K: Array, capacity: int, block: int):
        self.K, self.block, self.capacity = K, block, capacity
        self.Q = np.empty((len(K), capacity), order="F")
        self.T = np.zeros((capacity, capacity))
        self.size = 0
        self.norm = 0.0  # of K, from below
        self.coupling = np.zeros((block, block))
        self.rng = np.random.default_rng(0)

    def has_room(self) -> bool:
        return self.size + self.block <= self.capacity

    def fresh(self) -> Array:
        """A random block to begin with."""
        return np.linalg.qr(self.rng.standard_normal((len(self.K), self.block)))[0]

    def extend(self, V: Array) -> Array:
        """Add a block to the basis; return the next one."""
        new = slice(self.size, self.size + self.block)
        self.Q[:, new] = V
        self.size = new.stop
        Q = self.Q[:, : self.size]
        V = V.astype(self.K.dtype, copy=False)
        # K is symmetric, and a few rows times K go faster than K times a few columns.
        W = (V.T @ self.K).T.astype(np.float64, copy=False)
        C = Q.T @ W
        self.T[: self.size, new] = C
        self.T[new, : self.size] = C.T
        self.norm = max(self.norm, float(np.linalg.norm(C, axis=0).max()))
        W -= Q @ C
        V, self.coupling = self._orthonormal(W)
        return V

    def _orthonormal(self, W: Array) -> tuple[Array, Array]:
        """QR of a block outside the basis; directions that are empty become random ones."""
        Q = self.Q[:, : self.size]
        V, R = _qr(W)
        empty = np.abs(R.diagonal()) <= 1e-14 * self.norm
        if empty.any():
            V[:, empty] = self.rng.standard_normal((len(V), int(empty.sum())))
            R[empty] = 0.0
            V -= Q @ (Q.T @ V)
            V = np.linalg.qr(V)[0]
        V -= Q @ (Q.T @ V)  # a short block was mostly rounding before it was stretched
        V, S = _qr(V)
        return V, S @ R

    def eigen(self) -> tuple[Array, Array]:
        """Ritz values, largest first, and their vectors in the basis."""
        values, vectors = np.linalg.eigh(self.T[: self.size, : self.size])
        self._ritz = values[::-1], vectors[:, ::-1]
        return self._ritz

    def residual(self, r: int) -> float:
        """Largest ``|K u - l u| / |K|`` of the leading pairs: only the next block is outside."""
        _, vectors = self.eigen()
        last = vectors[self.size - self.block :, :r]
        return float(np.linalg.norm(self.coupling @ last, axis=0).max() / max(self.norm, 1e-300))

    def pairs(self, r: int) -> tuple[Array, Array]:
        """The leading Ritz values and vectors, as of the last look at them."""
        values, vectors = self._ritz
        return values[:r].copy(), self.Q[:, : len(values)] @ vectors[:, :r]

    def restart(self, k: int) -> None:
        """Keep the k leading Ritz vectors only."""
        self.eigen()
        values, U = self.pairs(k)
        self.Q[:, :k] = U
        self.T[...] = 0.0
        np.fill_diagonal(self.T[:k, :k], values)
        self.size = k


def _qr(W: Array) -> tuple[Array, Array]:
    """Thin QR by Cholesky where the columns are far from dependent: two products."""
    try:
        L = np.linalg.cholesky(W.T @ W)
        if L.diagonal().min() > 1e-6 * L.diagonal().max():
            return W @ np.linalg.inv(L).T, np.asarray(L.T, dtype=np.float64)
    except np.linalg.LinAlgError:
        pass
    Q, R = np.linalg.qr(W)
    return Q, np.asarray(R, dtype=np.float64)
