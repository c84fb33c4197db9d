"""Jokes rated by people: gaps of the table are filled, for known jokes and for new ones."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from isthmus.datasets import load_jester
from isthmus.regression import RatingsRegressor

Row = tuple[str, ...]
PEOPLE = 1000
RATINGS_HEAD: Row = ("method", "error, known jokes", "error, new jokes", "s to fit")
RATINGS = """\
Jester: the first 1000 of 5000 people, 100 jokes, ratings from -10 to 10. Twenty jokes are new: none of
their ratings is seen; of the others a fifth of the ratings is held out. Mean absolute error, mean and
standard deviation of three draws. New jokes are known by their words alone (counts of 437 words, cosine
kernel), so that little can be learned of them from eighty others. `RatingsRegressor(kernel="cosine")`, all
else default; its choices are made on the ratings that it sees."""


def errors(seed: int) -> dict[str, tuple[float, float, float]]:
    """Mean absolute errors of known and new jokes, and seconds."""
    bunch = load_jester()
    Y = bunch.target[:, :PEOPLE]
    rng = np.random.default_rng(seed)
    seen = ~np.isnan(Y)
    new = np.zeros_like(seen)
    new[rng.permutation(len(Y))[:20]] = True
    known = seen & ~new & (rng.random(Y.shape) < 0.2)
    new &= seen
    table = np.where(known | new, np.nan, Y)
    begin = time.process_time()
    model = RatingsRegressor(kernel="cosine").fit(bunch.data, table)
    took = time.process_time() - begin
    overall = float(np.nanmean(table))
    users = np.broadcast_to(model.user_means_, Y.shape)
    items = np.broadcast_to(model.item_means_[:, None], Y.shape)

    def error(P: NDArray, where: NDArray) -> float:
        return float(np.abs(P - Y)[where].mean())

    nobody = np.full(Y.shape, overall)
    return {
        "overall mean": (error(nobody, known), error(nobody, new), 0.0),
        "mean of the joke": (error(items, known), np.nan, 0.0),
        "mean of the person": (error(users, known), error(users, new), 0.0),
        "both means": (error(users + items - overall, known), np.nan, 0.0),
        "RatingsRegressor": (error(model.completed_, known), error(model.completed_, new), took),
    }


def rating_rows(seeds: int = 3) -> Iterator[Row]:
    found = [errors(seed) for seed in range(seeds)]
    for method in found[0]:
        values = np.array([f[method] for f in found])
        shown = [
            "-" if np.isnan(v).any() else f"{v.mean():.3f} ± {v.std():.3f}" for v in values.T[:2]
        ]
        yield method, *shown, f"{values[:, 2].mean():.0f}"
