"""A generator of candidates: an n-gram model of pairs of input symbols and output chunks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from isthmus._linalg import Array
from isthmus._validation import BaseEstimator
from isthmus.kernels.sequences import Alphabet, as_sequences, plain
from isthmus.preimages.generators.alignment import cut
from isthmus.preimages.generators.generator import Generator, merge

Pair = tuple[Any, tuple[Any, ...]]
_BEGIN: Pair = ("", ("begin",))
_END: Pair = ("", ("end",))
_COUNTED = ("_places", "_counts", "_totals", "_discounts", "_cache")
_MOST_REMEMBERED = 200_000  # histories; a few hundred bytes each


class JointNgrams(Generator, BaseEstimator):
    r"""Propose outputs by a joint n-gram model, [BN2008]_.

    Inputs and outputs are aligned; input symbols with their chunks of output are the words of an n-gram
    model with interpolated Kneser-Ney smoothing, [CG1999]_,

    .. math::
        p(q \mid h) = \frac{\max(c(h q) - D, 0)}{c(h)} + \frac{D \, n(h)}{c(h)} \, p(q \mid h'),

    n(h) the number of different words after h, h' the history without its first word, c the number of
    different words before, for all but the longest histories. A beam search keeps the best chains.

    Parameters
    ----------
    order : int, default=5
        Length of the n-grams.
    max_chunk : int or "auto", default="auto"
        Length of the longest chunk of output of one input symbol. "auto": 1 where all lengths are equal,
        otherwise the least of 2 to 4 with which 99 % of the rows have an alignment.
    beam_width : int, default=60
        Chains that are kept at every symbol.

    Attributes
    ----------
    lines_ : list of list of (token, tuple)
        The aligned rows: input tokens and their chunks.

    Examples
    --------
    >>> from isthmus.preimages import JointNgrams
    >>> words = ["ax", "xa", "cab", "back", "tax", "cat", "act", "bat", "tack"]
    >>> sounds = ["Aks", "ksA", "kAb", "bAk", "tAks", "kAt", "Akt", "bAt", "tAk"]
    >>> found, log_p = JointNgrams(3).fit(words, sounds).candidates(["bax"], 2)[0]
    >>> found[0]
    'bAks'
    """

    def __init__(
        self, order: int = 5, *, max_chunk: int | str = "auto", beam_width: int = 60
    ) -> None:
        self.order = order
        self.max_chunk = max_chunk
        self.beam_width = beam_width

    def fit(self, X: Sequence[Any], y: Sequence[Any]) -> JointNgrams:
        """Align inputs and outputs, and count.

        Parameters
        ----------
        X, y : sequence of sequences
            Inputs and outputs: strings, lists of tokens or integer arrays.

        Returns
        -------
        self : object
            The fitted generator.
        """
        if self.order < 1:
            raise ValueError(f"order == {self.order}, must be >= 1.")
        X, y = as_sequences(X), as_sequences(y, "y")
        chunks = cut(X, y, self.max_chunk)
        self._alphabet = Alphabet(y)
        self.lines_ = [
            list(zip(map(plain, x), found)) for x, found in zip(X, chunks) if found is not None
        ]
        self._tabulate()
        return self

    def _tabulate(self) -> None:
        """Count pairs and n-grams."""
        known: defaultdict[Any, Counter[Pair]] = defaultdict(Counter)
        for line in self.lines_:
            for pair in line:
                known[pair[0]][pair] += 1
        self._places: dict[Any, dict[Pair, int]] = {  # of the pairs of every letter, and of the end
            letter: {pair: i for i, (pair, _) in enumerate(found.most_common())}
            for letter, found in known.items()
        }
        self._places[_END] = {_END: 0}
        self.n_pairs_ = sum(map(len, self._places.values()))
        self._count(self.lines_)
        self._cache: dict[Any, Any] = {}

    def __getstate__(self) -> Any:
        """The aligned rows; what is counted from them is counted again."""
        return {k: v for k, v in super().__getstate__().items() if k not in _COUNTED}

    def _count(self, lines: list[list[Pair]]) -> None:
        """Counts after histories of every length; the shorter ones count different words before."""
        begin = [_BEGIN] * (self.order - 1)
        top: Counter[tuple[Pair, ...]] = Counter()
        for line in lines:
            line = [*begin, *line, _END]
            for i in range(self.order - 1, len(line)):
                top[tuple(line[i - self.order + 1 : i + 1])] += 1
        levels = [top]
        for _ in range(self.order - 1):
            shorter: Counter[tuple[Pair, ...]] = Counter()
            for gram in levels[-1]:
                shorter[gram[1:]] += 1
            levels.append(shorter)
        self._counts: dict[tuple[Pair, ...], dict[Pair, int]] = {}
        self._totals: dict[tuple[Pair, ...], int] = {}
        self._discounts = []
        for level in levels[::-1]:
            seen = Counter(level.values())
            self._discounts.append(seen[1] / (seen[1] + 2 * seen[2]) if seen[1] else 0.5)
            for gram, count in level.items():
                self._counts.setdefault(gram[:-1], {})[gram[-1]] = count
                self._totals[gram[:-1]] = self._totals.get(gram[:-1], 0) + count

    def _probabilities(self, history: tuple[Pair, ...], letter: Any) -> Array:
        """Of the pairs of one letter, remembered: histories come again and again."""
        key = (history, letter)
        if key not in self._cache:
            if len(self._cache) > _MOST_REMEMBERED:
                self._cache.clear()
            self._cache[key] = self._smoothed(history, letter)
        return self._cache[key]

    def _seen(self, history: tuple[Pair, ...]) -> tuple[Pair, ...]:
        """Return the longest end of a history that was counted: what is before it changes nothing."""
        while history and history not in self._totals:
            history = history[1:]
        return history

    def _smoothed(self, history: tuple[Pair, ...], letter: Any) -> Array:
        pairs = self._places.get(letter, {(letter, ()): 0})
        if history:
            lower = self._probabilities(history[1:], letter)
        else:
            lower = np.full(len(pairs), 1.0 / self.n_pairs_)
        total = self._totals.get(history)
        if total is None:
            return lower
        after = self._counts[history]
        D = self._discounts[len(history)]
        values = D * len(after) / total * lower
        for pair in after if len(after) < len(pairs) else pairs:
            if pair in after and pair in pairs:
                values[pairs[pair]] += max(after[pair] - D, 0.0) / total
        return values

    def candidates(self, X: Sequence[Any], n_best: int = 30) -> list[tuple[list[Any], Array]]:
        check_is_fitted(self)
        if not hasattr(self, "_counts"):  # read from a file
            self._tabulate()
        return [self._one([plain(a) for a in x], n_best) for x in as_sequences(X)]

    def _one(self, x: list[Any], n_best: int) -> tuple[list[Any], Array]:
        beam: list[tuple[float, tuple[Pair, ...], tuple[Any, ...]]]
        beam = [(0.0, (_BEGIN,) * (self.order - 1), ())]
        width = max(self.beam_width, n_best)
        for letter in [*x, _END]:
            # A letter that was never seen stays silent.
            pairs = list(self._places.get(letter, [(letter, ())]))
            gains = np.log(np.stack([self._probabilities(h, letter) for _, h, _ in beam]))
            values = (gains + np.array([value for value, _, _ in beam])[:, None]).ravel()
            grown = []
            for place in np.argsort(-values, kind="stable")[:width]:
                _, history, output = beam[place // len(pairs)]
                pair = pairs[place % len(pairs)]
                history = self._seen((*history, pair)[-self.order + 1 :]) if self.order > 1 else ()
                grown.append(
                    (float(values[place]), history, output if letter is _END else output + pair[1])
                )
            beam = grown
        outputs, values = merge(
            [b[2] for b in beam], np.array([b[0] for b in beam]), self._alphabet
        )
        if not outputs:
            outputs = [self._alphabet.spell(self._alphabet.tokens[:1])]
            values = np.zeros(1)
        return outputs[:n_best], values[:n_best]
