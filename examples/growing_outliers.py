"""Does the posterior mode under Laplacian noise resist outliers that grow?
========================================================================

Two inputs, two outputs, a map of rank one, five hundred rows for learning and as many for testing:
figure 2.7 of [B2006]. Two outputs, of rows chosen at random, are moved in opposite directions along the
minor principal axis of the outputs, by ever more; errors are means over four such pairs of rows.
Partial least squares and the squared loss follow the outliers. The mode of the posterior with a
Laplacian likelihood, found directly, stays where it was.

The figure, saved as ``isthmus-outliers.png``, shows the outputs with one pair of outliers, and the
relative error of the predictions on the test rows, over that without outliers, against the size of the
outliers: mean, and the range over the pairs.
"""

import warnings
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

from isthmus.papers.kernel_dependency_thesis.linear_maps import (
    N_ROWS,
    SIZES,
    make_outlier_data,
    measure_growth,
    move_outliers,
)

FIGURE = Path("isthmus-outliers.png")
N_PAIRS = 4


def draw(Y, rows, growth):
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    moved = move_outliers(Y, rows, SIZES[3])
    left.plot(*Y.T, ".", ms=3, color="0.6", label="outputs")
    left.plot(*moved[rows].T, "rx", ms=9, label=f"outliers, t = {SIZES[3]:g}")
    left.set(
        xlabel="first output", ylabel="second output", title="Two outliers along the minor axis"
    )
    left.legend()
    for (name, values), mark in zip(growth.items(), "osd"):
        (line,) = right.plot(SIZES, values.mean(axis=0), f"{mark}-", ms=4, label=name)
        low, high = values.min(axis=0), values.max(axis=0)
        right.fill_between(SIZES, low, high, color=line.get_color(), alpha=0.15, lw=0)
    right.set(
        xlabel="size t of the outliers",
        ylabel="error on test rows, times that without outliers",
        title=f"Mean and range over {len(values)} random pairs",
        yscale="log",
    )
    right.legend()
    right.grid(alpha=0.3)
    figure.savefig(FIGURE, dpi=120)


def main():
    rng = np.random.default_rng(4)
    X, Y, X_test, clean = make_outlier_data(rng)
    pairs = [rng.choice(N_ROWS, 2, replace=False) for _ in range(N_PAIRS)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the mode needs no chain
        growth = measure_growth(X, Y, X_test, clean, pairs)
    print(f"{'error over that without outliers, mean of pairs':<48} {'largest':>8}")
    for name, values in growth.items():
        print(f"{name:<48} {values.mean(axis=0).max():>8.3f}")
    print(f"of any pair, the Laplacian mode: {growth['Laplacian mode'].max():.3f}")
    draw(Y, pairs[0], growth)
    print(f"Open {FIGURE} to see who follows the outliers.")


if __name__ == "__main__":
    main()
