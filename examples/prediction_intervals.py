"""Do prediction intervals hold what they promise?
===============================================

A calibration is fitted to sixty rows, and intervals of several levels are asked for on a thousand new
ones. The figure compares the level that was asked for with the share of new values inside, and shows
forty of the intervals.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from isthmus import PLS
from isthmus.inspection import prediction_interval

FIGURE = Path("isthmus-prediction-intervals.png")


def main():
    rng = np.random.default_rng(0)
    latent = rng.normal(size=(1060, 3))
    X = latent @ rng.normal(size=(3, 30)) + 0.1 * rng.normal(size=(1060, 30))
    y = latent @ rng.normal(size=3) + 0.5 * rng.normal(size=1060)
    train, new = slice(0, 60), slice(60, None)
    model = PLS(3).fit(X[train], y[train])
    levels = [0.5, 0.68, 0.8, 0.9, 0.95, 0.99]
    inside = []
    for level in levels:
        bounds = prediction_interval(model, X[train], y[train], X[new], level=level)
        inside.append(((bounds.lower < y[new]) & (y[new] < bounds.upper)).mean())
        if level == 0.9:
            shown = bounds
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    left.plot([0.4, 1], [0.4, 1], color="0.7")
    left.plot(levels, inside, "o-")
    left.set(xlabel="level asked for", ylabel="share of new values inside")
    order = np.argsort(y[new][:40])
    right.vlines(range(40), shown.lower[:40][order], shown.upper[:40][order], lw=3, alpha=0.4)
    right.plot(range(40), y[new][:40][order], "k.")
    right.set(xlabel="new rows", ylabel="value, 90 % interval")
    print(f"inside the 90 % intervals: {100 * inside[3]:.1f} %")
    figure.savefig(FIGURE, dpi=110)
    print(f"Open {FIGURE} to see levels and intervals.")


if __name__ == "__main__":
    main()
