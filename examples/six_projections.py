"""Which supervised projection shows the output?
===============================================

Ten inputs, of which one curved combination matters. Six methods project them to two coordinates: linear
ones (SIR, KDR), kernel ones (kernel SIR, COIR, MORP, kernel CCA). Each picture shows rows that were not
fitted.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import KNeighborsRegressor

from isthmus import COIR, MORP, SIR, KernelCCA, KernelSIR
from isthmus.projections import KDR

FIGURE = Path("isthmus-six-projections.png")


def main():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(500, 6))
    y = X[:, 0] ** 2 + X[:, 1] ** 2 + 0.05 * rng.normal(size=500)  # a ring: no slope anywhere
    train, test = slice(0, 300), slice(300, None)
    methods = {
        "SIR": SIR(2),
        "KDR": KDR(2, random_state=0),
        "kernel SIR": KernelSIR(2),
        "COIR": COIR(2),
        "MORP": MORP(2),
        "kernel CCA": KernelCCA(2),
    }
    figure, axes = plt.subplots(2, 3, figsize=(12, 7), layout="constrained")
    scores = {}
    for axis, (name, method) in zip(axes.flat, methods.items()):
        method.fit(X[train], y[train])
        Z, new = method.transform(X[train]), method.transform(X[test])
        scores[name] = KNeighborsRegressor(10).fit(Z, y[train]).score(new, y[test])
        axis.scatter(new[:, 0], new[:, -1], c=y[test], s=12)
        axis.set(title=f"{name}, R2 {scores[name]:.2f}", xticks=[], yticks=[])
        print(f"{name:12s}{scores[name]:6.2f}")
    figure.savefig(FIGURE, dpi=110)
    print(f"R2 of new rows: SIR {scores['SIR']:.2f}, COIR {scores['COIR']:.2f}")
    print(f"Open {FIGURE} to see the projections.")


if __name__ == "__main__":
    main()
