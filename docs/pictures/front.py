"""Draw the picture of the front page: damaged digits, the strip in between, restored digits.

Run from the root of the repository: ``python docs/pictures/front.py``. It writes ``front.png`` beside
this file.
"""

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from isthmus import ComponentSearchCV, KernelMap, ReducedRankRegression

matplotlib.use("Agg")
N_TRAIN, NOISE, BRIGHTEST, SEED = 900, 2.0, 16.0, 0
FIGURE = Path(__file__).with_name("front.png")


def damage(pictures):
    """Switch off the same random half of the pixels everywhere and add noise to the others."""
    rng = np.random.default_rng(SEED)
    dead = rng.permutation(pictures.shape[1])[: pictures.shape[1] // 2]
    damaged = pictures + NOISE * rng.standard_normal(pictures.shape)
    damaged[:, dead] = 0.0
    return damaged


def mosaic(ax, pictures, title):
    """Show twenty pictures as a sheet of four by five."""
    sheet = pictures.reshape(5, 4, 8, 8)
    sheet = np.pad(sheet, ((0, 0), (0, 0), (0, 1), (0, 1)), constant_values=-BRIGHTEST / 16)
    ax.imshow(sheet.swapaxes(1, 2).reshape(45, 36), cmap="gray_r", vmin=0, vmax=BRIGHTEST)
    ax.set_title(title, fontsize=11)
    ax.axis("off")


def main():
    clean, label = load_digits(return_X_y=True)
    X, X_test, Y, Y_test, _, label = train_test_split(
        damage(clean), clean, label, train_size=N_TRAIN, stratify=label, random_state=SEED
    )
    search = ComponentSearchCV(
        ReducedRankRegression(),
        n_components=range(1, 65),
        alpha=np.logspace(-4, 0, 9),
        rule="one_se",
    )
    model = make_pipeline(KernelMap(kernel="rbf"), search).fit(X, Y)
    restored = model.predict(X_test)
    features = model[0].transform(X_test)
    strip = model[-1].best_estimator_.transform(features)[:, :2]
    rank = model[-1].best_params_["n_components"]

    figure, axes = plt.subplots(
        1, 3, figsize=(10, 4.1), width_ratios=[1, 1.6, 1], layout="constrained"
    )
    shown = np.concatenate([np.flatnonzero(label == digit)[:2] for digit in range(10)])
    mosaic(axes[0], X_test[shown], "X: half of the pixels dead,\nthe others noisy")
    points = axes[1].scatter(*strip.T, c=label, cmap="tab10", s=9, linewidths=0)
    axes[1].set(xticks=[], yticks=[], xlabel="first coordinate", ylabel="second coordinate")
    axes[1].set_title(f"the strip: two of its {rank} coordinates", fontsize=11)
    axes[1].legend(
        *points.legend_elements(), ncols=10, loc="upper center", fontsize=7, frameon=False,
        handletextpad=0.0, columnspacing=0.6, bbox_to_anchor=(0.5, 1.01),
    )  # fmt: skip
    mosaic(axes[2], restored[shown], "Y: predicted for digits\nthat it has never seen")
    figure.savefig(FIGURE, dpi=110)
    error = np.sqrt(np.mean((restored - Y_test) ** 2))
    print(f"{FIGURE.name}: rank {rank}, root mean square error {error:.2f} per pixel of 0 to 16")


if __name__ == "__main__":
    main()
