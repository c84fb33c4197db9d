"""Do a few points keep kernel PCA?
================================

Three clouds in the plane and their kernel principal components. The same components with five per cent of
the points: chosen by greedy pursuit, or at random. The figure shows contours of the first component.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import KernelPCA

from isthmus import compress

FIGURE = Path("isthmus-small-kernel-pca.png")


def main():
    rng = np.random.default_rng(0)
    centres = np.array([[-0.5, -0.1], [0.0, 0.7], [0.5, 0.1]])
    X = np.concatenate([centre + 0.15 * rng.normal(size=(200, 2)) for centre in centres])
    axis = np.linspace(-1, 1.2, 40)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1)
    full = KernelPCA(8, kernel="rbf", gamma=10.0).fit(X)
    models = {
        "all 600 points": full,
        "30, greedy pursuit": compress(full, 30),
        "30, at random": compress(full, 30, method="landmarks", random_state=0),
    }
    true = full.transform(grid.reshape(-1, 2))
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
    gaps = []
    for ax, (name, model) in zip(axes, models.items()):
        Z = model.transform(grid.reshape(-1, 2))
        gaps.append(np.linalg.norm(Z - true) / np.linalg.norm(true))
        ax.contourf(axis, axis, Z[:, 0].reshape(40, 40), levels=12)
        ax.plot(*X[::4].T, "w.", ms=2)
        ax.set(title=f"{name}: {100 * gaps[-1]:.1f} % off", xticks=[], yticks=[])
    print(f"relative difference: greedy {gaps[1]:.3f}, random {gaps[2]:.3f}")
    figure.savefig(FIGURE, dpi=110)
    print(f"Open {FIGURE} to compare the contours.")


if __name__ == "__main__":
    main()
