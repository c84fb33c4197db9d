"""Which of two instruments carries the information?
===================================================

A few process values and a long spectrum describe the same samples. The output depends on both. Put side
by side and scaled alike, three hundred wavelengths drown four process values; models that know the blocks
do not.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_score

from isthmus import PLS
from isthmus.regression import BlockRidge, MultiblockPLS, SequentialPLS, join_blocks

FIGURE = Path("isthmus-two-blocks.png")


def main():
    rng = np.random.default_rng(0)
    n = 80
    process = rng.normal(size=(n, 4))
    amounts = rng.normal(size=(n, 6))
    grid = np.linspace(0, 1, 300)
    peaks = np.exp(-(((grid - np.linspace(0.1, 0.9, 6)[:, None]) / 0.05) ** 2))
    spectra = amounts @ peaks + 0.3 * rng.normal(size=(n, 300))
    y = process @ [1.0, -0.7, 0.4, 0.0] + amounts[:, 2] - 0.5 * amounts[:, 4]
    y += 0.2 * rng.normal(size=n)
    X, blocks = join_blocks(process, spectra)
    models = {
        "spectra alone, PLS": (PLS(4), spectra),
        "process alone, PLS": (PLS(4), process),
        "columns side by side, PLS": (PLS(4), X),
        "multiblock PLS": (MultiblockPLS(blocks, n_components=4), X),
        "sequential PLS": (SequentialPLS(blocks, n_components=[3, 3]), X),
        "ridge weight per block": (BlockRidge(blocks), X),
    }
    scores = {}
    for name, (model, rows) in models.items():
        scores[name] = cross_val_score(model, rows, y, cv=5).mean()
        print(f"{name:28s}{scores[name]:6.2f}")

    banded = BlockRidge(blocks).fit(X, y)
    sequential = SequentialPLS(blocks, n_components=[3, 3]).fit(X, y)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    left.barh(list(scores)[::-1], list(scores.values())[::-1])
    left.set(xlabel="cross-validated R2")
    places = np.arange(2)
    right.bar(places - 0.2, banded.block_importances_, 0.4, label="ridge weight per block")
    right.bar(places + 0.2, sequential.block_explained_variance_, 0.4, label="sequential PLS")
    right.set(
        xticks=places, xticklabels=["process", "spectra"], ylabel="share of the variance of y"
    )
    right.legend()
    figure.savefig(FIGURE, dpi=110)
    side, apart = scores["columns side by side, PLS"], scores["ridge weight per block"]
    print(f"R2: side by side {side:.2f}, weight per block {apart:.2f}")
    print(f"Open {FIGURE} to see the share of each block.")


if __name__ == "__main__":
    main()
