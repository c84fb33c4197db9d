"""Rank, ridge, or both?
=====================

Twenty outputs depend on twenty collinear inputs through a map of rank three. The test error is computed
for every rank and ridge weight, from one decomposition per weight. The figure shows the whole surface
with its minimum.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from isthmus import ReducedRankRegression
from isthmus.datasets import make_kappa_regression

FIGURE = Path("isthmus-rank-and-ridge.png")


def main():
    X, Y, coef = make_kappa_regression(160, kappa=3, rank=3, noise=2.0, random_state=0)
    X_test, clean = X[100:], X[100:] @ coef.T
    alphas = np.logspace(-2, 3, 16)
    errors = np.empty((len(alphas), 20))
    for row, alpha in zip(errors, alphas):
        model = ReducedRankRegression(20, alpha=alpha, scale=False).fit(X[:100], Y[:100])
        row[:] = ((model.predict_path(X_test) - clean) ** 2).mean(axis=(1, 2))
    figure, axes = plt.subplots(figsize=(6.5, 4), layout="constrained")
    picture = axes.pcolormesh(range(1, 21), alphas, np.log10(errors), shading="nearest")
    i, j = np.unravel_index(errors.argmin(), errors.shape)
    axes.plot(j + 1, alphas[i], "r*", ms=14)
    axes.set(xlabel="rank", ylabel="ridge weight", yscale="log")
    figure.colorbar(picture, label="log10 of the test error")
    rank_alone, ridge_alone = errors[0].min(), errors[:, -1].min()
    print(f"rank alone {rank_alone:.3f}, ridge alone {ridge_alone:.3f}, both {errors.min():.3f}")
    figure.savefig(FIGURE, dpi=110)
    print(f"Open {FIGURE} to see the surface and its minimum.")


if __name__ == "__main__":
    main()
