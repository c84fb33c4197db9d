"""Beam search for sequences: prefixes that promise most, with exact losses throughout."""

from __future__ import annotations

import numpy as np

from isthmus._linalg import Array
from isthmus.kernels.sequences import Ints
from isthmus.preimages.ngram_index import NgramTarget
from isthmus.preimages.sequence_moves import stack_padded


def beam_search(target: NgramTarget, sizes: Ints, width: int) -> tuple[Ints, Ints, Array]:
    """The best sequences of each size: padded codes (n, longest), lengths (n,), losses (n,).

    Adding symbol c to a prefix adds what all suffixes that end with c bring: their weights to the inner
    product, and to the norm the words that they share with earlier ends. A prefix is judged by the
    loss it would have if it were the sum of features of a sequence of the full size. All sizes go side
    by side; the long ones go on when the short ones are done.
    """
    sizes = np.sort(np.asarray(sizes))[::-1]
    m, V = int(sizes[0]), target.n_symbols
    f = np.zeros(m)
    amplitudes = target.index.kernel._amplitudes(m)
    f[: len(amplitudes)] = amplitudes
    sums = np.concatenate([[0.0], np.cumsum(f**2)])
    S = len(sizes)
    codes = np.empty((S, 1, 0), dtype=np.int64)
    node = np.empty((S, 1, 0), dtype=np.int64)
    run = np.empty((S, 1, 0), dtype=np.int64)
    inner = np.zeros((S, 1))
    own = np.zeros((S, 1))
    done: list[tuple[Ints, Array]] = []
    symbols = np.arange(V)
    for t in range(m):
        active = int((sizes > t).sum())
        codes, node, run = codes[:active], node[:active], run[:active]
        inner, own = inner[:active], own[:active]
        W = codes.shape[1]
        e = np.where(sizes[:active] == t + 1, target.index.last, 1.0)[:, None, None]
        # Suffixes of the prefix and the empty one, each with every symbol: (active, W, V, t + 1).
        all_nodes = np.concatenate([node, np.zeros((active, W, 1), dtype=np.int64)], axis=2)
        new_node = target.index.children(all_nodes[:, :, None, :], symbols[:, None])
        gain = (target.weights[new_node] @ f[t::-1]) * e
        shifted = np.concatenate([np.zeros((active, W, 1), dtype=np.int64), run[:, :, :-1]], axis=2)
        shifted = shifted[:, :, :t] + 1
        same = codes[:, :, None, :] == symbols[:, None]
        new_run = np.where(same, shifted[:, :, None, :], 0)
        more = 2.0 * e * sums[new_run].sum(axis=3) + e**2 * sums[t + 1]
        total_inner = inner[:, :, None] + gain
        total_own = own[:, :, None] + more
        score = target.score(total_inner, total_own, sizes[:active, None, None])
        keep = min(width, W * V)
        flat = score.reshape(active, -1)
        best = np.argsort(-flat, axis=1, kind="stable")[:, :keep]
        w, c = best // V, best % V
        s = np.arange(active)[:, None]
        codes = np.concatenate([codes[s, w], c[:, :, None]], axis=2)
        node = new_node[s, w, c]
        run = np.concatenate([new_run[s, w, c], np.full((active, keep, 1), t + 1)], axis=2)
        inner, own = total_inner[s, w, c], total_own[s, w, c]
        for size_index in np.flatnonzero(sizes[:active] == t + 1):
            losses = target.combine(inner[size_index], own[size_index], t + 1)
            done.append((codes[size_index], losses))
    Z, lengths = stack_padded([part for part, _ in done], m)
    losses = np.concatenate([values for _, values in done])
    order = np.argsort(losses, kind="stable")
    return Z[order], lengths[order], losses[order]
