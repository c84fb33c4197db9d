"""Jokes rated by people: gaps of the table are filled, for known jokes and for new ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.papers.morp.ratings import rating_errors

PEOPLE = 1000
RATINGS_HEAD = ["method", "error, known jokes", "error, new jokes", "s to fit"]
RATINGS = """\
Jester: the first 1000 of 5000 people, 100 jokes, ratings from -10 to 10. Twenty jokes are new: none of
their ratings is seen; of the others a fifth of the ratings is held out. Mean absolute error, of the first
draw or mean and standard deviation of several. New jokes are known by their words alone (counts of 437
words, cosine kernel), so that little can be learned of them from eighty others.
`RatingsRegressor(kernel="cosine")`, all else default; its choices are made on the ratings that it sees."""


def measure_ratings(seed: int) -> dict[str, tuple[float, float, float]]:
    return rating_errors(seed, PEOPLE)


def rating_rows(found: list[dict[str, Any]]) -> Iterator[list[str]]:
    for method in found[0] if found else ():
        values = np.array([f[method] for f in found])
        yield [method, *map(_shown, values.T[:2]), f"{values[:, 2].mean():.0f}"]


def _shown(values: NDArray) -> str:
    if np.isnan(values).any():
        return "-"
    return f"{values.mean():.3f}" + (f" ± {values.std():.3f}" if len(values) > 1 else "")
