"""What would people say of things that they have not rated?
============================================================

Sixty items, two hundred people, and a table of ratings with half of its entries missing. The people
share a few tastes. The gaps are filled by the means of people and items, and by a model of few latent
dimensions; an item that nobody has rated yet is judged by its features.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from isthmus.papers.morp import RatingsRegressor

FIGURE = Path("isthmus-fill-a-table-of-ratings.png")


def main():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(60, 5))
    tastes = np.tanh(features @ rng.normal(size=(5, 3))) + 0.3 * rng.normal(size=(60, 3))
    ratings = 5 + 2 * tastes @ rng.normal(size=(3, 200)) + 0.5 * rng.normal(size=(60, 200))
    table = np.where(rng.random(ratings.shape) < 0.5, ratings, np.nan)
    new = np.arange(60) >= 50
    table[new] = np.nan  # ten items that nobody has rated

    model = RatingsRegressor().fit(features, table)
    overall = np.nanmean(table)
    means = model.user_means_ + np.where(new, overall, model.item_means_)[:, None] - overall
    gaps = np.isnan(table) & ~new[:, None]
    rows = np.broadcast_to(new[:, None], table.shape)
    errors = {
        name: [np.abs(filled - ratings)[where].mean() for where in (gaps, rows)]
        for name, filled in {"means": means, "RatingsRegressor": model.completed_}.items()
    }

    figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
    for axis, shown, title in zip(axes, (table, model.completed_), ("given", "completed")):
        axis.imshow(shown[:, :60], cmap="coolwarm", vmin=-2, vmax=12)
        axis.set(title=title, xlabel="people", ylabel="items")
    places = np.arange(2)
    for k, (name, values) in enumerate(errors.items()):
        axes[2].bar(places + 0.4 * k - 0.2, values, 0.4, label=name)
    axes[2].set(xticks=places, xticklabels=["gaps", "new items"], ylabel="mean absolute error")
    axes[2].legend()
    figure.savefig(FIGURE, dpi=110)
    by_means, by_model = errors["means"][0], errors["RatingsRegressor"][0]
    print(f"error in the gaps: means {by_means:.2f}, model {by_model:.2f}")
    print(f"Open {FIGURE} to see the table.")


if __name__ == "__main__":
    main()
