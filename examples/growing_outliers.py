"""Does the posterior mode under Laplacian noise resist outliers that grow?

Two inputs, two outputs, a map of rank one, five hundred rows for learning and as many for testing:
figure 2.7 of [B2006]. Two outputs, of rows chosen at random, are moved in opposite directions along the
minor principal axis of the outputs, by ever more; errors are means over ten such pairs of rows.
Partial least squares and the squared loss follow the outliers. The mode of the posterior with a
Laplacian likelihood, found directly, stays where it was.

The figure, saved as ``isthmus-outliers.png``, shows the outputs with one pair of outliers, and the
relative error of the predictions on the test rows, over that without outliers, against the size of the
outliers: mean, and the range over the pairs.
"""

import warnings
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

from isthmus import PLS, BayesianStiefelRegression, StiefelRegression

FIGURE = Path("isthmus-outliers.png")
N_ROWS, NOISE_VARIANCE = 500, 0.1
N_PAIRS = 10
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
        warnings.simplefilter("ignore")  # the mode needs no chain
        laplace = BayesianStiefelRegression(
            1, likelihood="laplace", n_chains=1, n_warmup=0, n_draws=1, random_state=0
        ).fit(X, Y)
    pls = PLS(1, scale=False).fit(X, Y)
    squared = StiefelRegression(1, alpha=0.0).fit(X, Y)
    return {
        "PLS": (pls.coef_, pls.intercept_),
        "squared loss": (squared.coef_, squared.intercept_),
        "Laplacian mode": (laplace.coef_mode_, laplace.intercept_mode_),
    }


def growth_of_errors(X, Y, X_test, clean, pairs):
    """Errors over those without outliers: an array of shape (pairs, sizes) for each method."""

    def errors(outputs):
        return {
            name: np.linalg.norm(X_test @ coef.T + intercept - clean)
            for name, (coef, intercept) in fits(X, outputs).items()
        }

    alone = errors(Y)
    found = [[errors(with_outliers(Y, rows, size)) for size in SIZES[1:]] for rows in pairs]
    return {
        name: np.array([[1.0, *(one[name] / alone[name] for one in row)] for row in found])
        for name in alone
    }


def draw(Y, rows, growth):
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    moved = with_outliers(Y, rows, SIZES[3])
    left.plot(*Y.T, ".", ms=3, color="0.6", label="outputs")
    left.plot(*moved[rows].T, "rx", ms=9, label=f"outliers, t = {SIZES[3]:g}")
    left.set(
        xlabel="first output", ylabel="second output", title="Two outliers along the minor axis"
    )
    left.legend()
    for (name, values), mark in zip(growth.items(), "osd"):
        (line,) = right.plot(SIZES, values.mean(axis=0), f"{mark}-", ms=4, label=name)
        low, high = values.min(axis=0), values.max(axis=0)
        right.fill_between(SIZES, low, high, color=line.get_color(), alpha=0.15, lw=0)
    right.set(
        xlabel="size t of the outliers",
        ylabel="error on test rows, times that without outliers",
        title=f"Mean and range over {len(values)} random pairs",
        yscale="log",
    )
    right.legend()
    right.grid(alpha=0.3)
    figure.savefig(FIGURE, dpi=120)


def main():
    rng = np.random.default_rng(4)
    X, Y, X_test, clean = make_data(rng)
    pairs = [rng.choice(N_ROWS, 2, replace=False) for _ in range(N_PAIRS)]
    growth = growth_of_errors(X, Y, X_test, clean, pairs)
    print(f"{'error over that without outliers, mean of pairs':<48} {'largest':>8}")
    for name, values in growth.items():
        print(f"{name:<48} {values.mean(axis=0).max():>8.3f}")
    print(f"of any pair, the Laplacian mode: {growth['Laplacian mode'].max():.3f}")
    draw(Y, pairs[0], growth)
    print(f"Open {FIGURE} to see who follows the outliers.")


if __name__ == "__main__":
    main()
