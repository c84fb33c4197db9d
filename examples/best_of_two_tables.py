"""Which method is best for these two tables?
============================================

``fit_auto`` compares methods by nested cross-validation and keeps the best one or a blend of several.
Here the outputs are smooth functions of a few of the inputs, with noise. Rows that it has never seen
check the scores that it reports.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import RidgeCV

from isthmus import fit_auto

FIGURE = Path("isthmus-best-of-two-tables.png")


def main():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(320, 6))
    Y = np.column_stack([np.sin(X[:, 0]) + X[:, 1] * X[:, 2], X[:, 3] + 0.3 * X[:, 4] ** 2])
    Y += 0.2 * rng.normal(size=Y.shape)
    train, test = slice(0, 120), slice(120, None)
    search = fit_auto(X[train], Y[train], cv=3, verbose=0, random_state=0)
    results = search.cv_results_
    own = search.score(X[test], Y[test])
    ridge = RidgeCV(np.geomspace(1e-3, 1e3, 13)).fit(X[train], Y[train]).score(X[test], Y[test])

    figure, axis = plt.subplots(figsize=(8, 4), layout="constrained")
    ran = np.flatnonzero(np.isfinite(results["mean_test_score"]))[::-1]
    labels, values, errors = (
        [results[key][k] for k in ran] for key in ("label", "mean_test_score", "standard_error")
    )
    axis.barh(labels, values, xerr=errors)
    axis.axvline(own, color="black", ls="--", label="the answer, on new rows")
    axis.set(xlabel="cross-validated R2", xlim=(0, 1))
    axis.legend()
    figure.savefig(FIGURE, dpi=110)
    print(f"R2 on new rows: ridge {ridge:.2f}, the answer {own:.2f}")
    print(f"Open {FIGURE} to see the methods.")


if __name__ == "__main__":
    main()
