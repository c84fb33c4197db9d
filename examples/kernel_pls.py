"""Is kernel PLS a new algorithm, or a pipeline of two old steps?
==============================================================

Partial least squares finds a few directions of the inputs that go along with the outputs. It is linear:
on a ring, where the output depends on the distance from the middle and on the angle, no direction does.
A kernel method would be PLS in the feature space of a kernel, and the usual text derives it anew, with
deflated Gram matrices. But ``KernelMap`` gives coordinates of that space in which inner products are the
kernel's, so that ``make_pipeline(KernelMap(...), PLS(...))`` is kernel PLS.

1. The dual algorithm is written out below. The pipeline gives its predictions, up to rounding.
2. The number of components and the width of the kernel are those of a pipeline, so that a grid search
   finds them.
3. The scores are kernel directions that matter for the outputs: two of them unroll the ring.

The figure is saved as ``isthmus-kernel-pls.png``.
"""

from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KernelCenterer

from isthmus import PLS, KernelMap
from isthmus.kernels import RBF

FIGURE = Path("isthmus-kernel-pls.png")
N_TRAIN, N_TEST, NOISE = 200, 1000, 0.05
SEED = 0


def ring(n, rng):
    """Points of a ring; the outputs are the radius and the double angle's sine."""
    radius, angle = rng.uniform(0.5, 1.5, n), rng.uniform(-np.pi, np.pi, n)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    Y = np.column_stack([radius, np.sin(2 * angle)])
    return X, Y + NOISE * rng.normal(size=Y.shape)


def dual_kernel_pls(K, Kt, Y, n_components):
    """The text book: each score is K u, then K and Y lose what it explains."""
    centerer = KernelCenterer()
    Kc = centerer.fit_transform(K)
    E, F = Kc.copy(), Y - Y.mean(axis=0)
    T, U = [], []
    for _ in range(n_components):
        weights = np.linalg.eigh(F.T @ E @ F)[1][:, -1]
        u = F @ weights
        t = E @ u
        t /= np.linalg.norm(t)
        rest = np.eye(len(t)) - np.outer(t, t)
        E, F = rest @ E @ rest, rest @ F
        T.append(t)
        U.append(u)
    T, U = np.array(T).T, np.array(U).T
    coef = U @ np.linalg.solve(T.T @ Kc @ U, T.T @ (Y - Y.mean(axis=0)))
    return centerer.transform(Kt) @ coef + Y.mean(axis=0)


def difference_from_dual(train, test, n_components=5, gamma=1.0):
    """Largest difference between the predictions of the two roads."""
    kernel = RBF(gamma)
    model = make_pipeline(KernelMap(kernel=kernel), PLS(n_components, scale=False)).fit(*train)
    dual = dual_kernel_pls(kernel(train[0]), kernel(test[0], train[0]), train[1], n_components)
    return float(np.abs(model.predict(test[0]) - dual).max())


def choose(train):
    """Width and number of components by cross-validation, as of any pipeline."""
    pipeline = make_pipeline(KernelMap(), PLS(scale=False))
    grid = {"kernelmap__gamma": [0.1, 0.3, 1.0, 3.0], "pls__n_components": [2, 5, 10, 20]}
    return GridSearchCV(pipeline, grid, cv=5).fit(*train)


def draw_inputs(ax, X, Y):
    points = ax.scatter(*X.T, c=Y[:, 1], s=8, cmap="coolwarm")
    ax.figure.colorbar(points, ax=ax, label="second output")
    ax.set(aspect="equal", xlabel="x1", ylabel="x2", title="Inputs, coloured by an output")


def draw_scores(ax, model, X, Y):
    scores = model.transform(X)
    points = ax.scatter(scores[:, 0], scores[:, 1], c=Y[:, 1], s=8, cmap="coolwarm")
    ax.figure.colorbar(points, ax=ax, label="second output")
    ax.set(xlabel="score 1", ylabel="score 2", title="Scores of new points")


def draw_predictions(ax, truth, predictions):
    for colour, (name, (prediction, score)) in zip(("0.6", "C0"), predictions.items()):
        label = f"{name}: R2 = {score:.2f}"
        ax.plot(truth.ravel(), prediction.ravel(), ".", ms=3, color=colour, label=label)
    ax.axline((0, 0), slope=1, color="k", lw=1)
    ax.set(xlabel="output", ylabel="predicted", title="New points")
    ax.legend()


def main():
    rng = np.random.default_rng(SEED)
    train, test = ring(N_TRAIN, rng), ring(N_TEST, rng)
    print(f"pipeline and dual algorithm differ by {difference_from_dual(train, test):.1e}")
    search = choose(train)
    linear = PLS(2, scale=False).fit(*train)
    chosen = search.best_params_
    print(f"gamma {chosen['kernelmap__gamma']}, {chosen['pls__n_components']} components")
    scores = linear.score(*test), search.score(*test)
    print(f"R2 on new points: PLS {scores[0]:.3f}, kernel PLS {scores[1]:.3f}")
    figure, axes = plt.subplots(1, 3, figsize=(14, 4.2), layout="constrained")
    draw_inputs(axes[0], *test)
    draw_scores(axes[1], search.best_estimator_, *test)
    predictions = {
        "PLS": (linear.predict(test[0]), scores[0]),
        "kernel PLS": (search.predict(test[0]), scores[1]),
    }
    draw_predictions(axes[2], test[1], predictions)
    figure.savefig(FIGURE, dpi=120)
    print(f"Open {FIGURE} to see the ring, its scores and the predictions.")


if __name__ == "__main__":
    main()
