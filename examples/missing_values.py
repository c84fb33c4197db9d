"""What do missing values cost?
============================

A growing share of all inputs and outputs is taken away at random. Filling in column means is compared
with expected moments (``missing="em"``), which also knows how uncertain the filled values are. The figure
shows R2 on complete new rows against the share that is missing.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.impute import SimpleImputer

from isthmus import PLS

FIGURE = Path("isthmus-missing-values.png")


def main():
    rng = np.random.default_rng(0)
    latent = rng.normal(size=(400, 4))
    X = latent @ rng.normal(size=(4, 20)) + 0.3 * rng.normal(size=(400, 20))
    Y = latent @ rng.normal(size=(4, 5)) + 0.1 * rng.normal(size=(400, 5))
    shares = [0.0, 0.1, 0.2, 0.3, 0.4]
    scores = {"column means": [], "expected moments": []}
    for share in shares:
        A, B = X[:300].copy(), Y[:300].copy()
        A[rng.uniform(size=A.shape) < share] = np.nan
        B[rng.uniform(size=B.shape) < share] = np.nan
        filled = [SimpleImputer().fit_transform(Z) for Z in (A, B)]
        scores["column means"].append(PLS(4).fit(*filled).score(X[300:], Y[300:]))
        scores["expected moments"].append(PLS(4, missing="em").fit(A, B).score(X[300:], Y[300:]))
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for name, values in scores.items():
        axes.plot(shares, values, "o-", label=name)
    axes.set(xlabel="share of entries that are missing", ylabel="R2 on new rows")
    axes.legend()
    means, moments = (values[-1] for values in scores.values())
    print(f"R2 with 40 % missing: means {means:.3f}, moments {moments:.3f}")
    figure.savefig(FIGURE, dpi=110)
    print(f"Open {FIGURE} to see what each share costs.")


if __name__ == "__main__":
    main()
