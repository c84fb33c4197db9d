"""Can a regression map name digits?
===================================

Classes are written as indicator vectors and predicted by a map of low rank; the largest entry names the
class. The generalised Grassmann PLS and plain PLS need components; at most nine of them, for ten classes,
say anything.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from isthmus import PLS, ManifoldPLS
from isthmus.regression import IndicatorClassifier

FIGURE = Path("isthmus-faces-of-classes.png")


def main():
    X, y = load_digits(return_X_y=True)
    X = X / 16
    parts = train_test_split(X, y, train_size=600, random_state=0, stratify=y)
    X_train, X_test, y_train, y_test = parts
    ranks = range(1, 10)
    errors = {}
    for name, make in {"PLS": PLS, "ManifoldPLS": ManifoldPLS}.items():
        errors[name] = [
            1 - IndicatorClassifier(make(rank)).fit(X_train, y_train).score(X_test, y_test)
            for rank in ranks
        ]
    model = IndicatorClassifier(ManifoldPLS(9)).fit(X_train, y_train)
    Z = model.estimator_.transform(X_test)

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    for name, values in errors.items():
        left.plot(ranks, 100 * np.array(values), "o-", label=name)
    left.set(xlabel="components", ylabel="test error, %", ylim=(0, None))
    left.legend()
    points = right.scatter(Z[:, 0], Z[:, 1], c=y_test, cmap="tab10", s=10)
    right.set(title="new digits in the first two of nine coordinates", xticks=[], yticks=[])
    figure.colorbar(points, ax=right, ticks=range(10))
    figure.savefig(FIGURE, dpi=110)
    print(f"right with nine components: {100 * (1 - errors['ManifoldPLS'][-1]):.1f} %")
    print(f"Open {FIGURE} to see the classes.")


if __name__ == "__main__":
    main()
