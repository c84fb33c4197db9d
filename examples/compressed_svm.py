"""How many support vectors does a support vector machine need?
============================================================

Scikit-learn's SVC keeps every training digit near a boundary. ``compress`` keeps the few whose images span
the machine's weight vectors, of all pairs of classes together, and recomputes coefficients and
thresholds. The
figure shows the error and the speed of every smaller size, and the digits that were kept first.
"""

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from isthmus import compress
from isthmus.inspection import CompressionDisplay

FIGURE = Path("isthmus-compressed-svm.png")
N_SHOWN = 24


def draw(small, X):
    """The curve on the left, the first digits on the right."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(11, 4.2), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1.3, 1))
    CompressionDisplay.from_estimator(small, X, ax=left.subplots())
    right.suptitle("the points kept first")
    axes = right.subplots(4, N_SHOWN // 4)
    for picture, ax in zip(small.expansion_.points[:N_SHOWN], axes.ravel()):
        ax.imshow(picture.reshape(8, 8), cmap="gray_r")
        ax.set(xticks=[], yticks=[])
    figure.savefig(FIGURE, dpi=120)


def main():
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X / 16, y, test_size=600, random_state=0, stratify=y)
    machine = SVC(C=10).fit(X, y)
    n = len(machine.support_vectors_)
    print(f"{'points':>8}{'test error':>12}{'relative error':>16}")
    print(f"{n:>8}{100 * (1 - machine.score(X_test, y_test)):>10.2f} %")
    for size in np.unique(np.geomspace(10, n // 3, 6).astype(int)):
        small = compress(machine, int(size))
        loss = small.compression_.output_errors[-1]
        print(f"{size:>8}{100 * (1 - small.score(X_test, y_test)):>10.2f} %{loss:>16.5f}")
    full, third = (100 * (1 - model.score(X_test, y_test)) for model in (machine, small))
    print(f"all support vectors {full:.2f}, a third of them {third:.2f}")
    draw(small, X_test)
    print(f"\nOpen {FIGURE} to see error and speed of every size, and which digits matter.")


if __name__ == "__main__":
    main()
