"""How many landmarks does a kernel map need?
==========================================

Kernel ridge regression on two thousand rows, exact and through growing numbers of landmarks that are
chosen in two ways. The figure shows the test error against the number of landmarks.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from isthmus import Landmarks

FIGURE = Path("isthmus-how-many-landmarks.png")


def main():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(1500, 3))
    y = np.sin(2 * X[:, 0]) * X[:, 1] + np.cos(X[:, 2]) + 0.1 * rng.normal(size=1500)
    train, test = slice(0, 1000), slice(1000, None)
    exact = KernelRidge(kernel="rbf", gamma=0.5, alpha=0.1).fit(X[train], y[train])
    floor = np.sqrt(((exact.predict(X[test]) - y[test]) ** 2).mean())
    sizes = [10, 20, 40, 80, 160, 320]
    figure, axes = plt.subplots(figsize=(6.5, 4), layout="constrained")
    for selection in ("uniform", "cholesky"):
        errors = []
        for m in sizes:
            features = Landmarks(m, kernel="rbf", gamma=0.5, selection=selection, random_state=0)
            model = make_pipeline(features, Ridge(0.1)).fit(X[train], y[train])
            errors.append(np.sqrt(((model.predict(X[test]) - y[test]) ** 2).mean()))
        axes.plot(sizes, errors, "o-", label=f"landmarks, {selection}")
    axes.axhline(floor, color="0.6", label="all 1000 rows")
    axes.set(xlabel="landmarks", ylabel="test error", xscale="log", yscale="log")
    axes.legend()
    print(f"error with all rows {floor:.3f}, with 320 landmarks {errors[-1]:.3f}")
    figure.savefig(FIGURE, dpi=110)
    print(f"Open {FIGURE} to see how the error falls.")


if __name__ == "__main__":
    main()
