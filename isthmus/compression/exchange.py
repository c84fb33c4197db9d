"""Exchange of points: each chosen one against the candidate that would do better in its place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from isthmus.linalg import Array

_JITTER = 1e-13  # of the mean diagonal: keeps the inverses of nearly dependent points in bounds
_FLOOR = 1e-12  # of its squared length: a candidate with less left is no candidate
_WORTH = 1.001  # an exchange gains a thousandth of what its point explains, or is not made
_SETTLED = 0.02  # a sweep that exchanges fewer than this part of the points is the last


@dataclass
class _State:
    """Chosen candidates and what is left of targets and candidates without them."""

    chosen: NDArray[np.intp]  # (r,)
    P: Array  # (r, r): inverse of the Gram matrix of the chosen
    rows: Array  # (r, m): Gram matrix of the chosen with all candidates
    C: Array  # (m, p): correlations of what is left of the targets with the candidates
    squared: Array  # (m,): squared norms of the rows of C
    d: Array  # (m,): squared lengths of what is left of the candidates


def exchange_points(M: Array, c: Array, start: NDArray, *, max_sweeps: int = 2) -> NDArray:
    r"""Exchange chosen vectors, one at a time, for others that bring their span nearer to targets.

    Leaving out a chosen vector raises the squared error by :math:`|b_j|^2 / P_{jj}`, b its coefficients and
    P the inverse Gram matrix; the best other one then lowers it by :math:`\max_i |C_i|^2 / d_i`, the rule
    of the pursuit. Those that explain least go first. ``4 m r`` operations an exchange, by rank-one
    updates of P; sequential replacement, [M2002]_.

    Parameters
    ----------
    M : array of shape (m, m)
        Inner products of the candidates.
    c : array of shape (m, p)
        Inner products of the candidates with the targets.
    start : array of shape (r,)
        The candidates chosen so far.
    max_sweeps : int, default=2
        Most sweeps through the chosen ones.

    Returns
    -------
    chosen : array of shape (r,)
        As many candidates, whose span is at least as near to the targets.
    """
    M = M.copy()
    M[np.diag_indices_from(M)] += _JITTER * float(M.trace()) / len(M)
    best, chosen = _explained(M, c, start), start
    for _ in range(max_sweeps):
        trial, n_exchanges = _sweep(_begin(M, c, chosen), M, c)
        explained = _explained(M, c, trial)
        if not explained > best:  # rounding, or nothing was gained
            break
        best, chosen = explained, trial
        if n_exchanges < _SETTLED * len(start):
            break
    return chosen


def _explained(M: Array, c: Array, chosen: NDArray) -> float:
    """Squared length of the targets' projection on the chosen, from a fresh factor."""
    factor = cho_factor(M[np.ix_(chosen, chosen)])
    return float((c[chosen] * cho_solve(factor, c[chosen])).sum())


def _begin(M: Array, c: Array, chosen: NDArray) -> _State:
    rows = M[chosen]
    P = cho_solve(cho_factor(rows[:, chosen]), np.eye(len(chosen)))
    C = c - rows.T @ (P @ c[chosen])
    d = M.diagonal() - np.einsum("ij,ij->j", rows, P @ rows)
    return _State(chosen.copy(), P, rows, C, np.einsum("ij,ij->i", C, C), d)


def _sweep(state: _State, M: Array, c: Array) -> tuple[NDArray, int]:
    """Try every chosen candidate once; the chosen ones afterwards and how many are new."""
    floor = _FLOOR * M.diagonal()
    free = np.ones(len(M))
    free[state.chosen] = 0.0
    B = state.P @ c[state.chosen]
    n_exchanges = 0
    for j in np.argsort((B**2).sum(axis=1) / state.P.diagonal(), kind="stable"):
        u = state.P[j] / np.sqrt(state.P[j, j])
        e, t = u @ state.rows, u @ c[state.chosen]
        loss = float(t @ t)
        d = state.d + e**2
        squared = state.squared + e * (2.0 * (state.C @ t) + loss * e)
        gain = free * squared / np.maximum(d, floor)
        i = int(gain.argmax())
        if gain[i] <= _WORTH * loss or d[i] <= floor[i]:
            continue
        free[state.chosen[j]], free[i] = 1.0, 0.0
        state.C += np.outer(e, t)
        state.d = d
        _replace(state, M, int(j), i)
        n_exchanges += 1
    return state.chosen, n_exchanges


def _replace(state: _State, M: Array, j: int, i: int) -> None:
    """Candidate i in place of the j-th chosen one, which C and d have already been freed of."""
    P = state.P
    P -= np.outer(P[j], P[j]) / P[j, j]
    P[j] = P[:, j] = 0.0
    q = P @ M[state.chosen, i]
    left = state.d[i]
    row = (M[i] - q @ state.rows) / np.sqrt(left)
    t = state.C[i] / np.sqrt(left)
    P += np.outer(q, q) / left
    P[j] = P[:, j] = -q / left
    P[j, j] = 1.0 / left
    state.C -= np.outer(row, t)
    state.d = np.maximum(state.d - row**2, 0.0)
    state.squared = np.einsum("ij,ij->i", state.C, state.C)
    state.rows[j], state.chosen[j] = M[i], i
