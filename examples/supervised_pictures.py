"""Two coordinates of fifteen inputs that tell of the output: and of rows that were not seen?
==========================================================================================

The ``curves`` of the papers on inverse regression: fifteen Gaussian inputs, and an output that depends
on two directions of them. Three projections to the plane, each shown with its training rows and with rows
that it has not seen:

1. Kernel principal components never look at the output, and show nothing of it.
2. COIR with next to no ridge lays out the training rows in perfect order. It is a lie: of new rows it knows
   nothing.
3. COIR with the ridge that cross-validation chose shows less order and means it.

``SubspaceDisplay`` draws training and held-out rows apart and puts the held-out R2 into the title;
``held_out_score_`` of a projection with ``cv=5`` is the same by cross-validation, without rows to spare.
The figure is saved as ``isthmus-subspace.png``.
"""

from pathlib import Path

from matplotlib import pyplot as plt
from sklearn.neighbors import KNeighborsRegressor

from isthmus import COIR, KernelMap
from isthmus.datasets import make_curves
from isthmus.inspection import SubspaceDisplay

FIGURE = Path("isthmus-subspace.png")
N_TRAIN, N_TEST, SEED = 300, 300, 0


def training_r2(model, X, y):
    """What a picture of the training rows alone would suggest."""
    Z = model.transform(X)
    return KNeighborsRegressor(10).fit(Z, y).score(Z, y)


def main():
    X, y, _ = make_curves(N_TRAIN + N_TEST, random_state=SEED)
    X, X_new, y, y_new = X[:N_TRAIN], X[N_TRAIN:], y[:N_TRAIN], y[N_TRAIN:]
    models = {
        "kernel PCA": KernelMap(2),
        "COIR, hardly a ridge": COIR(alpha=1e-6 * N_TRAIN, cv=5),
        "COIR, ridge by cross-validation": COIR(alpha="cv"),
    }
    figure, axes = plt.subplots(1, 3, figsize=(15, 4.6), layout="constrained")
    print(f"{'':33s}training   held out   by cross-validation")
    for (name, model), panel in zip(models.items(), axes):
        model.fit(X, y)
        shown = SubspaceDisplay.from_estimator(model, X, y, X_new, y_new, ax=panel)
        panel.set_title(f"{name}\n{panel.get_title()}")
        own = getattr(model, "held_out_score_", float("nan"))
        print(f"{name:33s}{training_r2(model, X, y):8.2f}   {shown.r2[0]:8.2f}   {own:8.2f}")
    figure.savefig(FIGURE, dpi=110)
    print(f"Open {FIGURE} to see the three pictures.")


if __name__ == "__main__":
    main()
