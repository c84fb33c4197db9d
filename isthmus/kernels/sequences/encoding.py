"""Sequences as integers: strings, lists of tokens, integer arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Corpus:
    """Sequences one after another as codes of a common alphabet."""

    symbols: Ints  # (total,)
    offsets: Ints  # (n + 1,)
    n_symbols: int

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> Ints:
        return np.diff(self.offsets)

    @property
    def sequence(self) -> Ints:
        """Which sequence each place belongs to."""
        return np.repeat(np.arange(len(self)), self.lengths)

    @property
    def remaining(self) -> Ints:
        """Number of symbols from each place to the end of its sequence, itself included."""
        return np.repeat(self.offsets[1:], self.lengths) - np.arange(len(self.symbols))

    def padded(self) -> Ints:
        """A matrix (n, longest) with -1 behind the end."""
        width = int(self.lengths.max())
        table = np.full((len(self), width), -1, dtype=np.int64)
        places = np.arange(len(self.symbols)) - np.repeat(self.offsets[:-1], self.lengths)
        table[self.sequence, places] = self.symbols
        return table


def as_sequences(X: Any, name: str = "X") -> list[Any]:
    """A list of sequences: strings, token tuples or integer arrays, none of them empty.

    A two-dimensional integer array has one sequence per row, with negative numbers behind its end.
    """
    if isinstance(X, str):
        raise ValueError(f"{name} is one string; pass a list of sequences, as [{X[:20]!r}].")
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "iuf":
        return _from_rows(X, name)
    sequences = list(X)
    if not sequences:
        raise ValueError(f"{name} is empty: at least one sequence is needed.")
    for index, sequence in enumerate(sequences):
        try:
            length = len(sequence)
        except TypeError:
            raise ValueError(
                f"{name}[{index}] is a {type(sequence).__name__}, not a sequence: strings, lists of "
                "tokens and integer arrays are."
            ) from None
        if length == 0:
            raise ValueError(f"{name}[{index}] is an empty sequence; leave it out.")
    return sequences


def _from_rows(X: NDArray, name: str) -> list[Any]:
    if X.dtype.kind == "f" and not np.array_equal(X, np.rint(X)):
        raise ValueError(f"{name} has entries that are not integers; symbols are integers >= 0.")
    table = X.astype(np.int64)
    lengths = (table >= 0).sum(axis=1)
    if len(table) == 0:
        raise ValueError(f"{name} is empty: at least one sequence is needed.")
    if lengths.min() == 0:
        raise ValueError(f"{name}[{int(lengths.argmin())}] is an empty sequence; leave it out.")
    inside = np.arange(table.shape[1]) < lengths[:, None]
    if ((table >= 0) != inside).any():
        row = int(((table >= 0) != inside).any(axis=1).argmax())
        raise ValueError(f"{name}[{row}] has a negative symbol before its end.")
    return [row[:length] for row, length in zip(table, lengths)]


def encode(*groups: Sequence[Any]) -> tuple[Corpus, ...]:
    """Corpora of several lists of sequences over one alphabet."""
    everything = [sequence for group in groups for sequence in group]
    lengths = np.array([len(sequence) for sequence in everything], dtype=np.int64)
    codes, n_symbols = _codes(everything)
    ends = np.concatenate([[0], np.cumsum(lengths)])
    corpora, first = [], 0
    for group in groups:
        offsets = ends[first : first + len(group) + 1]
        corpora.append(Corpus(codes[offsets[0] : offsets[-1]], offsets - offsets[0], n_symbols))
        first += len(group)
    return tuple(corpora)


def _codes(sequences: list[Any]) -> tuple[Ints, int]:
    if all(isinstance(sequence, str) for sequence in sequences):
        raw = np.frombuffer("".join(sequences).encode("utf-32-le", "surrogatepass"), dtype="<u4")
        alphabet, codes = np.unique(raw, return_inverse=True)
        return codes.astype(np.int64), len(alphabet)
    if all(isinstance(s, np.ndarray) and s.dtype.kind in "iu" and s.ndim == 1 for s in sequences):
        alphabet, codes = np.unique(np.concatenate(sequences), return_inverse=True)
        return codes.astype(np.int64), len(alphabet)
    known: dict[Any, int] = {}
    table = [known.setdefault(plain(token), len(known)) for s in sequences for token in s]
    return np.array(table, dtype=np.int64), len(known)


def plain(token: Any) -> Any:
    """A token as a Python object: NumPy's numbers and strings are equal to Python's."""
    return token.item() if isinstance(token, np.generic) else token


class Alphabet:
    """The tokens of some sequences, in order of appearance, and back from codes to sequences."""

    def __init__(self, sequences: Sequence[Any]) -> None:
        known: dict[Any, int] = {}
        for sequence in sequences:
            for token in sequence:
                known.setdefault(plain(token), len(known))
        self.tokens = list(known)
        self._strings = all(isinstance(sequence, str) for sequence in sequences)
        self._arrays = all(isinstance(sequence, np.ndarray) for sequence in sequences)

    def __len__(self) -> int:
        return len(self.tokens)

    def encode(self, sequences: Sequence[Any]) -> Corpus:
        """Codes of sequences; a token that is not in the alphabet has a code of its own behind it."""
        more = {token: code for code, token in enumerate(self.tokens)}
        codes = [
            more.setdefault(token if type(token) is str else plain(token), len(more))
            for s in sequences
            for token in s
        ]
        lengths = [len(sequence) for sequence in sequences]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return Corpus(np.array(codes, dtype=np.int64), offsets, len(more))

    def decode(self, codes: Ints) -> Any:
        """A sequence of the kind that was seen: a string, an integer array or a list of tokens."""
        return self.spell([self.tokens[code] for code in codes])

    def spell(self, tokens: Sequence[Any]) -> Any:
        """A sequence of tokens in the kind that was seen."""
        if self._strings:
            return "".join(tokens)
        return np.array(tokens) if self._arrays else list(tokens)
