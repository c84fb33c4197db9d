"""The linear maps in extended precision, by their definitions, and errors of fits in units of eps.

A fit has a backward error of m eps if it is the exact answer to data that differ from the given ones by m
units in the last place. That difference cannot be seen, its effect can: the exact answer to data that were
moved at random by one eps differs from the exact answer to the data themselves by some amount, and the
error of a fit is counted in these amounts. So a problem that has no digits by itself asks for none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LONG = np.longdouble
EPS = float(np.finfo(float).eps)
HAS_EXTENDED = bool(np.finfo(LONG).eps < 1e-18)

Exact = Callable[[NDArray, NDArray], NDArray]
"""From centred, scaled and weighted X (n, p) and Y (n, q) to the map (p, q), all in long double."""


# -- a problem and how far an answer may be from it -------------------------------------------


@dataclass
class Problem:
    """Rows, their weights, and what is perturbed: columns by their own sizes or by the largest."""

    X: NDArray
    Y: NDArray
    weights: NDArray | None = None

    def solve(self, exact: Exact, scale: bool, X: NDArray, Y: NDArray) -> NDArray:
        """The map (p, q) in the user's units."""
        root, x_mean, y_mean = self._centres(X, Y)
        A, B = (X - x_mean) * root, (Y - y_mean) * root
        x_scale = y_scale = LONG(1)
        if scale:
            x_scale, y_scale = (np.sqrt((Z**2).sum(axis=0)) for Z in (A, B))
        return exact(A / x_scale, B / y_scale) * y_scale / np.reshape(x_scale, (-1, 1))

    def _centres(self, X: NDArray, Y: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        w = np.ones(len(X), dtype=LONG) if self.weights is None else self.weights.astype(LONG)
        w = w / w.sum()
        return np.sqrt(w)[:, None], w @ X, w @ Y

    def reference(
        self, exact: Exact, scale: bool, at: NDArray | None = None, n_moves: int = 3
    ) -> Reference:
        """The exact answer and what one eps of the data does to it; predictions are for rows ``at``."""
        X, Y = self.X.astype(LONG), self.Y.astype(LONG)
        _, x_mean, y_mean = self._centres(X, Y)
        rows = (X if at is None else at.astype(LONG)) - x_mean
        A, B = X - x_mean, Y - y_mean
        truth = self.solve(exact, scale, X, Y)
        moves = [(_move(A, scale, seed), _move(B, True, seed)) for seed in range(n_moves)]
        shifts = np.array([self.solve(exact, scale, X + E, Y + F) for E, F in moves]) - truth
        # An answer is rounded, also where the data hardly move it.
        rounding = EPS * (np.abs(B).max(axis=0) + np.abs(y_mean)) * np.sqrt(LONG(len(rows)))
        return Reference(
            truth,
            y_mean + rows @ truth,
            _size(shifts) + EPS * _size(truth[None]),
            _size(rows @ shifts) + rounding,
        )


@dataclass
class Reference:
    """Exact coefficients (p, q) and predictions (m, q), and what one eps of the data does to them."""

    coef: NDArray
    predictions: NDArray
    coef_unit: NDArray
    unit: NDArray

    def error(self, predictions: NDArray, coef: NDArray | None = None) -> float:
        """The larger backward error of predictions and of coefficients, in units of eps."""
        errors = _size((predictions - self.predictions)[None]) / self.unit
        if coef is not None:
            errors = np.maximum(errors, _size((coef - self.coef)[None]) / self.coef_unit)
        return float(errors.max()) if np.isfinite(errors).all() else float("inf")


def _size(A: NDArray) -> NDArray:
    """Root mean square over moves of the norm of each output, (q,)."""
    return np.sqrt((A**2).sum(axis=1).mean(axis=0))


def _move(A: NDArray, by_column: bool, seed: int) -> NDArray:
    """A random matrix of norm one eps beside A, or columns of one eps beside those of A."""
    G = np.random.default_rng(seed).standard_normal(A.shape).astype(LONG)
    if by_column:
        return EPS * G / np.sqrt((G**2).sum(axis=0)) * np.sqrt((A**2).sum(axis=0))
    return EPS * G * (_norm(A) / _norm(G))


def _norm(A: NDArray) -> LONG:
    return LONG(np.linalg.norm(A.astype(float), 2))


# -- the maps ---------------------------------------------------------------------------------


def svd(A: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Singular value decomposition by one-sided Jacobi rotations: U, d (falling) and V."""
    if A.shape[0] < A.shape[1]:
        V, d, U = svd(A.T)
        return U, d, V
    U, V = A.copy(), np.eye(A.shape[1], dtype=LONG)
    eps = np.finfo(LONG).eps
    for _ in range(60):
        turned = False
        for j in range(1, U.shape[1]):
            for i in range(j):
                a, b, c = U[:, i] @ U[:, i], U[:, j] @ U[:, j], U[:, i] @ U[:, j]
                if abs(c) <= 4 * eps * np.sqrt(a * b):
                    continue
                turned = True
                zeta = (b - a) / (2 * c)
                t = (1 if zeta >= 0 else -1) / (abs(zeta) + np.sqrt(1 + zeta**2))
                cosine = 1 / np.sqrt(1 + t**2)
                G = np.array([[cosine, cosine * t], [-cosine * t, cosine]])
                U[:, [i, j]] = U[:, [i, j]] @ G
                V[:, [i, j]] = V[:, [i, j]] @ G
        if not turned:
            break
    d = np.sqrt((U**2).sum(axis=0))
    order = np.argsort(-d)
    U, d, V = U[:, order], d[order], V[:, order]
    return U / np.where(d > 0, d, 1), d, V


def rank_of(d: NDArray, most: int) -> int:
    """How many singular values are more than what rounding leaves of none, in long double."""
    return int(min(most, np.count_nonzero(d > 1e-17 * d[0])))


def pcr(k: int) -> Exact:
    """Least squares on k principal components."""

    def exact(X: NDArray, Y: NDArray) -> NDArray:
        U, d, V = svd(X)
        r = rank_of(d, min(k, len(X) - 1))
        return V[:, :r] / d[:r] @ (U[:, :r].T @ Y)

    return exact


def reduced_rank(r: int, alpha: float = 0.0) -> Exact:
    """The best map of rank r with a ridge of alpha times the squared norm of X."""

    def exact(X: NDArray, Y: NDArray) -> NDArray:
        U, d, V = svd(X)
        k = rank_of(d, len(X) - 1)
        U, d, V = U[:, :k], d[:k], V[:, :k]
        g = 1 / np.sqrt(d**2 + alpha * d[0] ** 2)
        P, sigma, Q = svd((g * d)[:, None] * (U.T @ Y))
        return (V * g) @ (P[:, :r] * sigma[:r]) @ Q[:, :r].T

    return exact


def pls(k: int, simpls: bool = False) -> Exact:
    """Partial least squares: deflate X, or project X'Y off the loadings, by the book."""

    def exact(X: NDArray, Y: NDArray) -> NDArray:
        n, p = X.shape
        T, W, V, R = (np.zeros((m, 0), dtype=LONG) for m in (n, p, p, p))
        for _ in range(min(k, n - 1, p)):
            rest = _off(Y, T)
            S = X.T @ (Y if simpls else rest)
            w = svd(_off(S, V) if simpls else S)[0][:, 0]
            w = _off(w, V if simpls else W)
            w = _off(w, W)  # the same nested spaces, in a basis that keeps its digits
            length = np.sqrt(w @ w)
            if length == 0:  # nothing is left of X'Y: the components so far fit Y
                break
            W = np.column_stack([W, w / length])
            t = _off(X @ W[:, -1], T)
            T = np.column_stack([T, t / np.sqrt(t @ t)])
            v = _off(X.T @ T[:, -1], V)
            V = np.column_stack([V, v / np.sqrt(v @ v)])
        R = T.T @ (X @ W)
        z = T.T @ Y
        for i in range(len(R) - 1, -1, -1):
            z[i] = (z[i] - R[i, i + 1 :] @ z[i + 1 :]) / R[i, i]
        return W @ z

    return exact


def _off(A: NDArray, basis: NDArray) -> NDArray:
    """A less its part along orthonormal columns."""
    for _ in range(2):
        A = A - basis @ (basis.T @ A)
    return A


# -- data -------------------------------------------------------------------------------------


def falling_spectrum(
    n: int,
    p: int,
    q: int,
    condition: float,
    *,
    mean: float = 0.0,
    noise: float = 0.1,
    seed: int = 0,
) -> tuple[NDArray, NDArray]:
    """Rows whose centred singular values fall by a factor, with outputs that need all of them.

    ``mean`` is how many of their deviations the columns are from zero.
    """
    rng = np.random.default_rng(seed)
    m = min(n - 1, p)
    U = rng.standard_normal((n, m))
    U = np.linalg.qr(U - U.mean(axis=0))[0]
    V = np.linalg.qr(rng.standard_normal((p, m)))[0]
    X = (U * np.geomspace(1, 1 / condition, m)) @ V.T
    Y = U @ rng.standard_normal((m, q)) + noise * rng.standard_normal((n, q))
    X = X + mean * X.std(axis=0) * rng.uniform(0.5, 1, p)
    return X, Y + mean * Y.std(axis=0)
