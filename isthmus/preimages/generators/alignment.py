"""Monotone alignment of two sequences by expectation maximisation, many pairs at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length

from isthmus._linalg import BLOCK, Array
from isthmus.kernels.sequences import Alphabet, Ints, plain

_FLOOR = 1e-12  # least share of a chunk: a pair that needs a rare one stays aligned
_MOST_CHUNK = 4  # of "auto": the longest chunk that is tried
_ALIGNED_SHARE = 0.99  # of "auto": the share of rows that must have an alignment

Chunks = list[tuple[Any, ...]]
"""An output in pieces, one per input symbol."""


@dataclass
class Alignment:
    """Alignment of the symbols of inputs with chunks of outputs.

    Attributes
    ----------
    chunks : list of (list of tuple, or None)
        For each pair, the chunk of output tokens of every input symbol, in order; their concatenation is
        the output. None where no alignment exists.
    probabilities : dict of (input token, chunk) to float
        Probability of a chunk given the input token.
    log_likelihoods : list of float
        Log-likelihood of the outputs given the inputs, at every iteration.
    """

    chunks: list[Chunks | None]
    probabilities: dict[tuple[Any, tuple[Any, ...]], float]
    log_likelihoods: list[float]


def align(
    X: Sequence[Any], Y: Sequence[Any], *, max_chunk: int = 2, max_iter: int = 30, tol: float = 1e-4
) -> Alignment:
    r"""Find which symbols of the outputs belong to which symbol of the inputs.

    Every symbol of an input produces a chunk of 0 to ``max_chunk`` symbols of the output, in order and
    independently, with a probability that depends on the symbol:

    .. math::
        p(y \mid x) = \sum_{c_1 c_2 \ldots c_m = y} \; \prod_i p(c_i \mid x_i)

    The sum is over all ways to cut y into m chunks. Expectation maximisation begins with all of them
    equally likely; [RY1998]_, and [JKS2007]_ for chunks. As every input symbol has one chunk, the number of
    factors is fixed and long chunks have no advantage. The alignment is the most probable one.

    Parameters
    ----------
    X, Y : sequence of n sequences
        Inputs and outputs.
    max_chunk : int, default=2
        Length of the longest chunk.
    max_iter : int, default=30
        Most iterations.
    tol : float, default=1e-4
        Stop when the log-likelihood per input symbol rises by less.

    Returns
    -------
    alignment : Alignment
        Chunks and their probabilities.

    Examples
    --------
    >>> from isthmus.preimages.generators import align
    >>> found = align(["ax", "xa", "a", "cha", "hac"], ["Aks", "ksA", "A", "kA", "Ak"])
    >>> found.chunks[0], found.chunks[3]
    ([('A',), ('k', 's')], [('k',), (), ('A',)])
    """
    inputs, outputs = Alphabet(X), Alphabet(Y)
    blocks, n_chunks = _blocks(inputs.encode(X), outputs.encode(Y), max_chunk, len(outputs))
    keys = np.unique(np.concatenate([np.zeros(0, np.int64), *(b.keys() for b in blocks)]))
    if not len(keys):
        return Alignment([None] * len(X), {}, [])
    for block in blocks:
        block.number(keys)
    letter_of = keys // n_chunks
    # All ways to cut a word are equally likely. One more entry, zero, for steps that leave the output.
    p = np.append(1.0 / np.bincount(letter_of)[letter_of], 0.0)
    n_places = sum(int(block.sizes[block.feasible].sum()) for block in blocks)
    history: list[float] = []
    for _ in range(max_iter):
        counts, total = np.zeros(len(keys)), 0.0
        for block in blocks:
            expected, value = block.expect(p)
            counts += expected
            total += value
        history.append(total)
        totals = np.bincount(letter_of, counts)
        p[:-1] = np.maximum(counts / totals[letter_of], _FLOOR)
        if len(history) > 1 and total - history[-2] < tol * n_places:
            break
    found: list[Chunks | None] = [None] * len(X)
    for block in blocks:
        for row, ends in block.best(p):
            cuts = [0, *ends]
            found[row] = [tuple(Y[row][a:b]) for a, b in pairwise(cuts)]
    words = [_chunk(int(key % n_chunks), outputs) for key in keys]
    table = {
        (inputs.tokens[letter], word): float(value)
        for letter, word, value in zip(letter_of, words, p[:-1])
    }
    return Alignment(found, table, history)


def cut(X: Sequence[Any], Y: Sequence[Any], max_chunk: int | str) -> list[Chunks | None]:
    """Return the chunks of all outputs: symbol by symbol where all lengths are equal, otherwise aligned.

    "auto" is then 1; asked for longer chunks, equal lengths are aligned like others. None is a row
    without an alignment. Tokens compare and print as Python's own.
    """
    check_consistent_length(X, Y)
    equal = all(len(a) == len(b) for a, b in zip(X, Y))
    if equal and max_chunk in ("auto", 1):
        return [[(plain(token),) for token in b] for b in Y]
    longest = longest_chunk(X, Y, max_chunk)
    alignment = align(X, Y, max_chunk=longest)
    chunks = [
        None if found is None else [tuple(plain(t) for t in c) for c in found]
        for found in alignment.chunks
    ]
    if not any(found is not None for found in chunks):
        raise ValueError(
            f"No output can be cut into chunks of at most {longest} symbols, one per input symbol: outputs "
            "are too long. Use another generator."
        )
    return chunks


def longest_chunk(X: Sequence[Any], Y: Sequence[Any], max_chunk: int | str) -> int:
    """The length of the longest chunk: "auto" is the least with which nearly all rows have an alignment."""
    if max_chunk != "auto":
        return int(max_chunk)
    ratios = np.array([len(b) / len(a) for a, b in zip(X, Y)])
    longest = range(2, _MOST_CHUNK)
    return next((c for c in longest if (ratios <= c).mean() >= _ALIGNED_SHARE), _MOST_CHUNK)


def _chunk(code: int, outputs: Alphabet) -> tuple[Any, ...]:
    """The tokens of a chunk: digits of its code, counted from one."""
    tokens = []
    while code:
        code, digit = divmod(code, len(outputs) + 1)
        tokens.append(outputs.tokens[digit - 1])
    return tuple(tokens[::-1])


def _blocks(A: Any, B: Any, max_chunk: int, n_symbols: int) -> tuple[list[_Block], int]:
    base = n_symbols + 1
    n_chunks = base**max_chunk
    if max_chunk < 1 or n_chunks * max(A.n_symbols, 1) > 2**62:
        raise ValueError(
            f"max_chunk == {max_chunk}, must be >= 1 and so small that chunks of {n_symbols} symbols can "
            "be counted in 64 bits."
        )
    letters, symbols = A.padded(), B.padded()
    order = np.lexsort((B.lengths, A.lengths))  # alike in size, so that little is padded
    width = (max_chunk + 1) * (symbols.shape[1] + 1) * letters.shape[1]
    step = max(1, BLOCK // width)
    parts = [order[i : i + step] for i in range(0, len(order), step)]
    return [
        _Block(r, letters, symbols, A.lengths, B.lengths, max_chunk, base) for r in parts
    ], n_chunks


class _Block:
    """Pairs of similar sizes; arrays are indexed by pair, input place and end of the chunk."""

    def __init__(
        self,
        rows: Ints,
        letters: Ints,
        symbols: Ints,
        n_in: Ints,
        n_out: Ints,
        longest: int,
        base: int,
    ) -> None:
        self.rows, self.sizes, self.ends = rows, n_in[rows], n_out[rows]
        self.feasible = self.ends <= longest * self.sizes
        letters = letters[rows, : self.sizes.max()]
        symbols = symbols[rows, : self.ends.max()]
        J = symbols.shape[1]
        self.longest = longest
        codes = [np.zeros((len(rows), J + 1), np.int64)]
        code = np.zeros((len(rows), J + 1), np.int64)
        for length in range(1, longest + 1):  # the chunk of this length that ends before place j
            code = code.copy()
            code[:, length:] += (symbols[:, : J + 1 - length] + 1) * base ** (length - 1)
            code[:, :length] = -1
            codes.append(code)
            code = np.where(code < 0, 0, code)
        i = np.arange(letters.shape[1])[:, None]
        j = np.arange(J + 1)
        self.ids = []
        for length, code in enumerate(codes):
            before, left = j - length, self.ends[:, None, None] - j
            inside = (before >= 0) & (before <= longest * i) & (left >= 0)
            inside = inside & (left <= longest * (self.sizes[:, None, None] - i - 1))
            inside &= self.feasible[:, None, None]
            key = letters[:, :, None] * base**longest + code[:, None, :]
            self.ids.append(np.where(inside & (letters >= 0)[:, :, None], key, -1))

    def keys(self) -> Ints:
        """Pairs of a letter and a chunk that some alignment has."""
        found = np.unique(np.concatenate([ids.ravel() for ids in self.ids]))
        return found[found >= 0]

    def number(self, keys: Ints) -> None:
        """Replace pairs by their places among ``keys``; the place behind the last means none."""
        self.ids = [np.where(i >= 0, np.searchsorted(keys, i), len(keys)) for i in self.ids]

    def _shifted(self, values: Array, length: int, fill: float) -> Array:
        out = np.full_like(values, fill)
        out[:, length:] = values[:, : values.shape[1] - length]
        return out

    def expect(self, p: Array) -> tuple[Array, float]:
        """Expected uses of every pair, and the log-likelihood, by the forward-backward recursion."""
        n, m, width = self.ids[0].shape
        forward = np.zeros((m + 1, n, width))
        forward[0, :, 0] = 1.0
        log_likelihood = np.zeros(n)
        for i in range(m):  # scaled to sum one: long sequences do not underflow
            new = sum(
                self._shifted(forward[i], length, 0.0) * p[ids[:, i]]
                for length, ids in enumerate(self.ids)
            )
            alive = (i < self.sizes) & self.feasible
            scale = np.where(alive, np.asarray(new).sum(axis=1), 1.0)
            log_likelihood += np.log(np.where(scale > 0, scale, 1.0))
            forward[i + 1] = np.where(
                alive[:, None], new / np.where(scale > 0, scale, 1.0)[:, None], forward[i]
            )
        counts = np.zeros(len(p))
        last = np.zeros((n, width))
        last[np.arange(n), self.ends] = 1.0
        backward = last
        for i in range(m - 1, -1, -1):
            alive = (i < self.sizes) & self.feasible
            uses = [
                self._shifted(forward[i], length, 0.0) * p[ids[:, i]] * backward
                for length, ids in enumerate(self.ids)
            ]
            total = np.asarray(sum(uses)).sum(axis=1)
            share = np.where(alive & (total > 0), 1.0 / np.where(total > 0, total, 1.0), 0.0)
            new = np.zeros((n, width))
            for length, ids in enumerate(self.ids):
                counts += np.bincount(
                    ids[:, i].ravel(), (uses[length] * share[:, None]).ravel(), len(p)
                )
                step = p[ids[:, i]] * backward
                new[:, : width - length] += step[:, length:]
            norm = new.sum(axis=1)
            new = new / np.where(norm > 0, norm, 1.0)[:, None]
            backward = np.where(alive[:, None], new, last)
        return counts[:-1], float(log_likelihood.sum())

    def best(self, p: Array) -> list[tuple[int, list[int]]]:
        """For each pair that can be aligned, its row and the ends of its chunks."""
        n, m, width = self.ids[0].shape
        with np.errstate(divide="ignore"):
            log_p = np.log(p)
        value = np.full((n, width), -np.inf)
        value[:, 0] = 0.0
        back = np.zeros((m, n, width), dtype=np.int64)
        for i in range(m):
            ways = np.stack(
                [
                    self._shifted(value, k, -np.inf) + log_p[ids[:, i]]
                    for k, ids in enumerate(self.ids)
                ]
            )
            back[i] = ways.argmax(axis=0)
            value = np.where((i < self.sizes)[:, None], ways.max(axis=0), value)
        found = []
        for row in np.flatnonzero(self.feasible):
            j, ends = int(self.ends[row]), []
            for i in range(int(self.sizes[row]) - 1, -1, -1):
                ends.append(j)
                j -= int(back[i, row, j])
            found.append((int(self.rows[row]), ends[::-1]))
        return found
