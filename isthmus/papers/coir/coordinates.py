"""Supervised coordinates and what is predicted from them, on the data of [KP2008]."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.neighbors import KNeighborsRegressor

from isthmus.datasets import make_curves
from isthmus.features import KernelMap
from isthmus.kernels import RBF, gram, median_gamma
from isthmus.papers import sources
from isthmus.projections import COIR, MORP, SIR, KernelCCA, KernelSIR

IMAGE, SILHOUETTE = "scratched image itself", "silhouette itself"

# -- regressions on coordinates ---------------------------------------------------------------


def nearest(Z: NDArray, Y: NDArray, Z_new: NDArray) -> NDArray:
    """The output of the nearest training row, as in the paper."""
    return KNeighborsRegressor(1).fit(Z, Y).predict(Z_new)


def smooth(Z: NDArray, Y: NDArray, Z_new: NDArray) -> NDArray:
    """Gaussian-process regression (kernel ridge).

    Width and ridge by closed-form leave-one-out on at most 700 rows, the ridge scaled to all rows.
    """
    mean = Y.mean(axis=0)
    base = median_gamma(Z, random_state=0)
    # One eigendecomposition per width: all rows would take minutes.
    few = np.random.default_rng(0).permutation(len(Z))[:700]
    best = (np.inf, 0.0, 0.0)
    for width in (0.1, 0.3, 1.0, 3.0):
        values, U = np.linalg.eigh(gram(RBF(base * width), Z[few]))
        UY, squares = U.T @ (Y[few] - mean), U**2
        for alpha in (1e-4, 1e-3, 1e-2, 1e-1, 1.0):
            shrink = 1.0 / (np.maximum(values, 0) + alpha)
            loo = (U @ (shrink[:, None] * UY)) / (squares @ shrink)[:, None]
            best = min(best, (float((loo**2).mean()), base * width, alpha))
    kernel = RBF(best[1])
    K = gram(kernel, Z) + best[2] * np.eye(len(Z))
    return gram(kernel, Z_new, Z) @ solve(K, Y - mean, assume_a="pos") + mean


class Tuned:
    """The exact form, with the ridge that cross-validation chooses for 400 landmarks."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: NDArray, Y: NDArray) -> Any:
        # Folds of the exact form would take as many decompositions as there are folds.
        scout = clone(self.model).set_params(
            alpha="cv", solver="features", n_landmarks=400, random_state=0
        )
        scout.fit(X, Y)
        self.held_out_score_ = scout.held_out_score_
        self.found = (
            clone(self.model).set_params(alpha=scout.alpha_, cv=None, random_state=0).fit(X, Y)
        )
        return self.found

    def transform(self, X: NDArray) -> NDArray:
        return self.found.transform(X)


def rms(Y: NDArray, prediction: NDArray) -> float:
    """Root mean squared distance of whole outputs."""
    return float(np.sqrt(((Y - prediction) ** 2).sum(axis=1).mean()))


def both(Z: NDArray, Y: NDArray, Z_new: NDArray, Y_new: NDArray) -> tuple[float, float]:
    return rms(Y_new, nearest(Z, Y, Z_new)), rms(Y_new, smooth(Z, Y, Z_new))


# -- the figures and tables -----------------------------------------------------------------------


def curve_scores(noise_outputs: int, seed: int) -> dict[str, tuple[float, float]]:
    """Return held-out and training R2 of the true output from two coordinates, [KP2008] Fig. 1."""
    X, Y, _ = make_curves(1300, noise_outputs=noise_outputs, directions="random", random_state=seed)
    y = Y if Y.ndim == 1 else Y[:, 0]
    train, test = slice(0, 300), slice(300, 1300)
    found = {}
    spaces: dict[str, Any] = {
        "COIR": COIR(alpha="cv", random_state=seed),
        "kernel SIR, 5 slices": KernelSIR(alpha="cv", n_slices=5, random_state=seed),
        "kernel SIR, 20 slices": KernelSIR(alpha="cv", n_slices=20, random_state=seed),
        "SIR (linear), 10 slices": SIR(2, random_state=seed),
        "kernel PCA": KernelMap(2),
    }
    for name, model in spaces.items():
        Z = model.fit(X[train], Y[train]).transform(X)
        near = KNeighborsRegressor(10).fit(Z[train], y[train])
        found[name] = (near.score(Z[test], y[test]), near.score(Z[train], y[train]))
    return found


def silhouette_errors(n_components: int, step: int = 1) -> dict[str, tuple[float, float, float]]:
    """Return errors of nearest neighbour and GP, and the R2 held out in the fit; [KP2008] Table 1.

    ``step`` learns from every so many training rows only.
    """
    bunch, _ = sources.silhouettes()
    X, Y = bunch.data, bunch.target
    train = np.zeros(len(X), dtype=bool)
    train[bunch.train_index[::step]] = True
    test = np.ones(len(X), dtype=bool)
    test[bunch.train_index] = False
    spaces: dict[str, Any] = {
        "COIR": Tuned(COIR(n_components=n_components)),
        "kernel SIR, 20 slices": Tuned(KernelSIR(n_components=n_components, n_slices=20)),
        "kernel PCA": KernelMap(n_components),
    }
    found = {}
    for name, model in spaces.items():
        Z = model.fit(X[train], Y[train]).transform(X)
        held = getattr(model, "held_out_score_", float("nan"))
        found[name] = (*both(Z[train], Y[train], Z[test], Y[test]), held)
    found[SILHOUETTE] = (*both(X[train], Y[train], X[test], Y[test]), float("nan"))
    return found


def statue_scores(n_components: int, seed: int = 0) -> dict[str, NDArray]:
    """Return the R2 of pan, tilt and light, in the place of the head poses of [KP2008] Sec. 4.2."""
    bunch, _ = sources.statue()
    X, Y = bunch.data, bunch.target
    order = np.random.default_rng(seed).permutation(len(X))
    train, test = order[:500], order[500:]
    spaces: dict[str, Any] = {
        "COIR": Tuned(COIR(n_components=n_components)),
        "kernel CCA, linear outputs": Tuned(
            KernelCCA(n_components=n_components, kernel_y="linear")
        ),
        "kernel SIR, 20 slices": Tuned(KernelSIR(n_components=n_components, n_slices=20)),
        "MORP": Tuned(MORP(n_components=n_components)),
        "kernel PCA": KernelMap(n_components),
    }
    found = {}
    for name, model in spaces.items():
        Z = model.fit(X[train], Y[train]).transform(X)
        near = KNeighborsRegressor(5).fit(Z[train], Y[train]).predict(Z[test])
        found[name] = np.asarray(r2_score(Y[test], near, multioutput="raw_values"))
    return found


def scratched_digits(n: int, seed: int) -> tuple[NDArray, ...]:
    """Return scratched and clean digits to learn from, then to test on."""
    bunch, _ = sources.digits()
    rng = np.random.default_rng(seed)
    train = rng.permutation(bunch.train_index)[:n]
    # Test rows are those of the set, never of the training part.
    test = np.setdiff1d(np.arange(len(bunch.data)), bunch.train_index)[:n]
    clean = bunch.images
    flat = [clean[rows].reshape(len(rows), -1) for rows in (train, test)]
    noisy = [
        scratches(clean[rows], seed + 1 + k).reshape(len(rows), -1)
        for k, rows in enumerate((train, test))
    ]
    return noisy[0], flat[0], noisy[1], flat[1]


def digit_errors(
    n: int = 2000, seed: int = 0, *, every: bool = True
) -> dict[str, tuple[float, float]]:
    """Return errors of nearest neighbour and GP on scratched digits, [KP2008] Table 2."""
    X, Y, X_test, Y_test = scratched_digits(n, seed)
    spaces: dict[str, Any] = {
        "COIR": Tuned(COIR(n_components=30)),
        "kernel SIR, 50 slices": Tuned(KernelSIR(n_components=30, n_slices=50)),
        "kernel PCA": KernelMap(30),
    }
    if every:
        spaces |= {
            "COIR, raw inverse scale": Tuned(
                COIR(n_components=30, eigenproblem="inverse", score_scale="raw")
            ),
            "COIR, 400 landmarks": COIR(
                n_components=30, solver="features", n_landmarks=400, alpha="cv"
            ),
            "kernel SIR, 200 slices": Tuned(KernelSIR(n_components=30, n_slices=200)),
        }
    found = {}
    for name, model in spaces.items():
        Z = model.fit(X, Y).transform(X)
        found[name] = both(Z, Y, model.transform(X_test), Y_test)
    found[IMAGE] = both(X, Y, X_test, Y_test)
    return found


def scratches(images: NDArray, seed: int) -> NDArray:
    """One random line through each digit, one to three pixels thick, of full ink."""
    rng = np.random.default_rng(seed)
    rows, columns = np.mgrid[:16, :16]
    scratched = images.copy()
    for image in scratched:
        angle = rng.uniform(0, np.pi)
        thickness = rng.uniform(0.5, 1.5)
        centre = rng.uniform(3, 12, size=2)
        distance = np.abs(
            (rows - centre[0]) * np.cos(angle) + (columns - centre[1]) * np.sin(angle)
        )
        image[distance <= thickness] = 1.0
    return scratched
