"""Neighbours of a sequence, and descent among them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from isthmus._linalg import Array
from isthmus.kernels.sequences import Ints
from isthmus.preimages.best_seen import BestSeen

Losses = Callable[[Ints, Ints], Array]

_COMPARISONS = 1e9  # some ten seconds an answer


def neighbours(z: Ints, n_symbols: int, sizes: tuple[int, int]) -> tuple[Ints, Ints]:
    """All sequences one substitution, swap, move, insertion or deletion away, padded, and lengths."""
    m = len(z)
    parts = [substitutions(z, n_symbols), _swaps(z), _moves(z)]
    if m + 1 <= sizes[1]:
        parts.append(_insertions(z, n_symbols))
    if m - 1 >= max(sizes[0], 1):
        parts.append(np.array([np.delete(z, i) for i in range(m)]))
    Z, lengths = stack_padded(parts, m + 1)
    _, unique = np.unique(Z, axis=0, return_index=True)
    unique = np.sort(unique)
    itself = (lengths[unique] == m) & (Z[unique, :m] == z).all(axis=1)
    return Z[unique[~itself]], lengths[unique[~itself]]


def stack_padded(parts: list[Ints], width: int) -> tuple[Ints, Ints]:
    """Sequences of several lengths, those of one length a matrix, in one with -1 behind the ends."""
    padded = [np.pad(Z, ((0, 0), (0, width - Z.shape[1])), constant_values=-1) for Z in parts]
    lengths = np.repeat([Z.shape[1] for Z in parts], [len(Z) for Z in parts])
    return np.concatenate(padded), lengths


def substitutions(z: Ints, n_symbols: int) -> Ints:
    """One symbol replaced by another."""
    out = np.repeat(z[None], len(z) * n_symbols, axis=0)
    places = np.repeat(np.arange(len(z)), n_symbols)
    out[np.arange(len(out)), places] = np.tile(np.arange(n_symbols), len(z))
    return out[(out != z).any(axis=1)]


def _swaps(z: Ints) -> Ints:
    i, j = np.triu_indices(len(z), 1)
    differ = z[i] != z[j]
    i, j = i[differ], j[differ]
    out = np.repeat(z[None], len(i), axis=0)
    rows = np.arange(len(i))
    out[rows, i], out[rows, j] = z[j], z[i]
    return out


def _moves(z: Ints) -> Ints:
    """One block from here to there: z = a b c d becomes a c b d, for short blocks b or c."""
    m, out = len(z), []
    for i in range(m):
        for length in (1, 2, 3):
            for j in range(i + length, m):
                k, n = i + length, j + 1
                out.append(np.concatenate([z[:i], z[k:n], z[i:k], z[n:]]))
                k = n - length
                out.append(np.concatenate([z[:i], z[k:n], z[i:k], z[n:]]))
    return np.array(out, dtype=np.int64).reshape(-1, m)


def _insertions(z: Ints, n_symbols: int) -> Ints:
    m = len(z)
    out = np.empty((m + 1, n_symbols, m + 1), dtype=np.int64)
    for i in range(m + 1):
        out[i, :, :i], out[i, :, i + 1 :] = z[:i], z[i:]
        out[i, :, i] = np.arange(n_symbols)
    return out.reshape(-1, m + 1)


class Budget:
    """Comparisons of symbols that the descents of one answer may still make.

    A step from m symbols compares some ``m**2`` neighbours, and each of them costs ``m**2``: without a
    bound 500 symbols would take hours. Counted and not timed, so that the answer is always the same.
    """

    def __init__(self, comparisons: float = _COMPARISONS) -> None:
        self.left = comparisons
        self.is_spent = False

    def allows(self, m: int, n_symbols: int) -> bool:
        """Take the cost of one step; False, and nothing taken, if that is more than is left."""
        n_neighbours = 2 * m * n_symbols + 7 * m * m // 2
        cost = float(n_neighbours) * m * m
        self.is_spent = self.is_spent or cost > self.left
        if not self.is_spent:
            self.left -= cost
        return not self.is_spent


def descend_sequence(
    z: Ints,
    losses: Losses,
    n_symbols: int,
    sizes: tuple[int, int],
    seen: BestSeen,
    budget: Budget,
    max_iter: int = 200,
) -> tuple[Ints, float]:
    """Go to the best neighbour until none is better. ``seen`` is told of all that was looked at."""
    value = float(losses(z[None], np.array([len(z)]))[0])
    for _ in range(max_iter):
        if not budget.allows(len(z), n_symbols):
            break
        Z, lengths = neighbours(z, n_symbols, sizes)
        if not len(Z):  # one symbol and one size: there is no other sequence
            break
        values = losses(Z, lengths)
        note_sequences(seen, Z, lengths, values)
        best = int(values.argmin())
        if values[best] >= value * (1.0 - 1e-12) - 1e-300:
            break
        z = Z[best, : lengths[best]]
        value = float(values[best])
    return z, value


def note_sequences(seen: BestSeen, Z: Ints, lengths: Ints, losses: Array) -> None:
    """Take note of the rows of a padded matrix."""
    seen.add(losses, lambda row: (Z[row, : lengths[row]],))
