"""Does the posterior mode under Laplacian noise resist outliers that grow?

Two inputs, two outputs, a map of rank one, five hundred rows for learning and as many for testing:
figure 2.7 of [B2006]. Two outputs are moved in opposite directions along the minor principal axis of
the outputs, by ever more. Partial least squares and the squared loss follow them. The mode of the
posterior with a Laplacian likelihood, found directly, stays where it was; so does the posterior mean,
which comes with intervals.

The figure, saved as ``isthmus-outliers.png``, shows the outputs with the outliers, and the relative
error of the predictions on the test rows against the size of the outliers.
"""

import warnings
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

from isthmus import PLS, BayesianStiefelRegression, StiefelRegression

FIGURE = Path("isthmus-outliers.png")
N_ROWS, NOISE_VARIANCE = 500, 0.1
SIZES = [0.0, 1.0, 3.0, 10.0, 30.0, 60.0, 100.0]


def make_data(rng):
    """Collinear inputs, a random map of rank one, Gaussian noise: training and test rows."""
    turn = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    X = (rng.normal(size=(2 * N_ROWS, 2)) * [1.0, 0.2]) @ turn.T
    coef = np.outer(rng.normal(size=2), rng.normal(size=2))
    clean = X @ coef
    Y = clean + np.sqrt(NOISE_VARIANCE) * rng.normal(size=clean.shape)
    return X[:N_ROWS], Y[:N_ROWS], X[N_ROWS:], clean[N_ROWS:]


def with_outliers(Y, rows, size):
    """Two outputs moved in opposite directions along the minor axis."""
    minor = np.linalg.svd(Y - Y.mean(axis=0), full_matrices=False)[2][-1]
    moved = Y.copy()
    moved[rows[0]] += size * minor
    moved[rows[1]] -= size * minor
    return moved


def fits(X, Y):
    """Coefficients and intercepts of each method."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a short chain is enough for a point
        laplace = BayesianStiefelRegression(
            1, likelihood="laplace", n_chains=2, n_warmup=100, n_draws=150, thin=1, random_state=0
        ).fit(X, Y)
    pls = PLS(1, scale=False).fit(X, Y)
    squared = StiefelRegression(1, alpha=0.0).fit(X, Y)
    return {
        "PLS": (pls.coef_, pls.intercept_),
        "squared loss": (squared.coef_, squared.intercept_),
        "Laplacian mode": (laplace.coef_mode_, laplace.intercept_mode_),
        "Laplacian mean": (laplace.coef_, laplace.intercept_),
    }


def main():
    rng = np.random.default_rng(4)
    X, Y, X_test, clean = make_data(rng)
    # At the two ends of the inputs, so that a fit that answers to them has to tilt.
    along = X @ np.linalg.svd(X, full_matrices=False)[2][0]
    rows = [along.argmax(), along.argmin()]
    errors = {}
    for size in SIZES:
        for name, (coef, intercept) in fits(X, with_outliers(Y, rows, size)).items():
            miss = np.linalg.norm(X_test @ coef.T + intercept - clean) / np.linalg.norm(clean)
            errors.setdefault(name, []).append(miss)
    print(f"{'relative error, times that without outliers':<44} {'largest':>8}")
    for name, values in errors.items():
        print(f"{name:<44} {max(values) / values[0]:>8.3f}")

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    moved = with_outliers(Y, rows, SIZES[3])
    left.plot(*Y.T, ".", ms=3, color="0.6", label="outputs")
    left.plot(*moved[rows].T, "rx", ms=9, label=f"outliers, t = {SIZES[3]:g}")
    left.set(
        xlabel="first output", ylabel="second output", title="Two outliers along the minor axis"
    )
    left.legend()
    for name, values in errors.items():
        right.plot(SIZES, values, "o-", ms=4, label=name)
    right.set(xlabel="size t of the outliers", ylabel="relative error on test rows", yscale="log")
    right.legend()
    right.grid(alpha=0.3)
    figure.savefig(FIGURE, dpi=120)
    print(f"Open {FIGURE} to see who follows the outliers.")


if __name__ == "__main__":
    main()
