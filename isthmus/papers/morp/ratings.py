"""Preferences of which many are missing: [YYT2005] Sec. 4, with jokes in place of paintings."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from isthmus.papers import sources
from isthmus.papers.experiment import Result, Row, bars, ordering_claim
from isthmus.papers.morp.ratings_regressor import RatingsRegressor


def rating_errors(seed: int, n_people: int | None = None) -> dict[str, tuple[float, float, float]]:
    """Return mean absolute errors of known and of new items, and seconds, for each method.

    A fifth of the items is new: none of their ratings is seen. Of the others a fifth of the ratings is held
    out. ``n_people`` takes the first of the people.
    """
    bunch, _ = sources.ratings()
    Y = bunch.target[:, :n_people]
    rng = np.random.default_rng(seed)
    seen = ~np.isnan(Y)
    new = np.zeros_like(seen)
    new[rng.permutation(len(Y))[: len(Y) // 5]] = True
    known = seen & ~new & (rng.random(Y.shape) < 0.2)
    new &= seen
    table = np.where(known | new, np.nan, Y)
    begin = time.process_time()
    model = RatingsRegressor(kernel="cosine").fit(bunch.data, table)
    took = time.process_time() - begin
    overall = float(np.nanmean(table))
    users = np.where(np.isnan(model.user_means_), overall, model.user_means_)
    users = np.broadcast_to(users, Y.shape)
    items = np.broadcast_to(model.item_means_[:, None], Y.shape)

    def error(predicted: NDArray, where: NDArray) -> float:
        return float(np.abs(predicted - Y)[where].mean())

    nobody = np.full(Y.shape, overall)
    return {
        "overall mean": (error(nobody, known), error(nobody, new), 0.0),
        "mean of the item": (error(items, known), np.nan, 0.0),
        "mean of the person": (error(users, known), error(users, new), 0.0),
        "both means": (error(users + items - overall, known), np.nan, 0.0),
        "RatingsRegressor": (error(model.completed_, known), error(model.completed_, new), took),
    }


def run_ratings(seed: int, quick: bool) -> Result:
    """Run the preference experiment of [YYT2005] Sec. 4 on jokes that people have rated."""
    found = rating_errors(seed, 300 if quick else None)
    known = {method: values[0] for method, values in found.items()}
    return Result(
        data=sources.ratings()[1] + ". The paintings of the paper are not available",
        columns=["error, known items", "error, new items"],
        rows=[Row(method, values[:2]) for method, values in found.items()],
        claims=[
            ordering_claim(["RatingsRegressor", "both means"], known, margin=0.01),
            ordering_claim(["both means", "mean of the item"], known, margin=0.01),
        ],
        notes=[
            "Mean absolute errors. A fifth of the items is new, a fifth of the other ratings is held out. "
            "New items are known by their words alone, which say little of whether a joke is liked."
        ],
        figures=[bars("ratings", "Error of held-out ratings.", known, "mean absolute error")],
        digits=3,
    )
