"""Pairs of objects in an order that their content decides, so that the order of rows does not matter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.kernels.sequences import plain


def identity(thing: Any) -> Any:
    """What equal objects share, and can be looked up."""
    if isinstance(thing, str):
        return thing
    if isinstance(thing, np.ndarray):
        return thing.tobytes(), thing.shape
    if isinstance(thing, (list, tuple)):
        return tuple(map(plain, thing))
    return thing


def copy_groups(X: Sequence[Any]) -> NDArray[np.int64]:
    """Return a number for each object that it shares with its copies alone, in order of appearance."""
    try:
        numbers: dict[Any, int] = {}
        return np.array([numbers.setdefault(identity(x), len(numbers)) for x in X], dtype=np.int64)
    except TypeError:  # objects that cannot be compared all count
        return np.arange(len(X))


def first_of_each(X: Sequence[Any]) -> NDArray[np.intp]:
    """Return the places of objects that are no copies of one before."""
    return np.unique(copy_groups(X), return_index=True)[1]


def content_order(X: Sequence[Any], Y: Sequence[Any]) -> NDArray[np.int64]:
    """Return an order of pairs that is drawn once and does not depend on the one in which they come.

    Equal inputs are next to each other. The names of symbols matter only where symbols are equally
    frequent. Objects that have no order, such as graphs, stay as they come.
    """
    n = len(Y)
    try:
        keys = list(zip(_keys(X), _keys(Y)))
        order = np.array(sorted(range(n), key=keys.__getitem__), dtype=np.int64)
    except (TypeError, ValueError):
        return np.arange(n)
    groups = copy_groups([X[i] for i in order])
    drawn = np.random.default_rng(0).permutation(int(groups.max(initial=-1)) + 1)
    return order[np.argsort(drawn[groups], kind="stable")]


def _keys(things: Sequence[Any]) -> list[Any]:
    """Return what objects are sorted by: of sequences, how many symbols are more frequent than theirs."""
    are_sequences = all(isinstance(thing, (str, list, tuple)) for thing in things)
    things = [identity(thing) for thing in things]
    if not are_sequences:
        return things
    counts = Counter(symbol for thing in things for symbol in thing)
    symbols = sorted(counts, key=lambda symbol: (-counts[symbol], symbol))
    places = {symbol: place for place, symbol in enumerate(symbols)}
    return [tuple(places[symbol] for symbol in thing) for thing in things]
