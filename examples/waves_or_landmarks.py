"""Random waves or landmarks?
===========================

Both replace an n x n kernel matrix by a few features. Random Fourier features never look at the data;
landmarks are taken from it. The error of the kernel itself, and of a ridge regression on the features,
against the number of features.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge

from isthmus import Landmarks
from isthmus.features import FourierFeatures
from isthmus.kernels import RBF, gram

FIGURE = Path("isthmus-waves-or-landmarks.png")


def main():
    rng = np.random.default_rng(0)
    latent = rng.normal(size=(1500, 3))
    X = np.tanh(latent @ rng.normal(size=(3, 20))) + 0.05 * rng.normal(size=(1500, 20))
    y = np.sin(2 * latent[:, 0]) + latent[:, 1] * latent[:, 2] + 0.05 * rng.normal(size=1500)
    train, test = X[:1000], X[1000:]
    kernel = RBF(gamma=0.1)
    exact = gram(kernel, test, test)
    sizes = [20, 40, 80, 160, 320]
    kernel_errors, errors = {}, {}
    makers = {
        "random waves": lambda m: FourierFeatures(m, kernel=kernel, random_state=0),
        "landmarks": lambda m: Landmarks(m, kernel=kernel, random_state=0),
    }
    for name, make in makers.items():
        kernel_errors[name], errors[name] = [], []
        for size in sizes:
            features = make(size).fit(train)
            Z, Z_new = features.transform(train), features.transform(test)
            found = Z_new @ Z_new.T
            kernel_errors[name].append(np.linalg.norm(found - exact) / np.linalg.norm(exact))
            errors[name].append(1 - Ridge(1e-2).fit(Z, y[:1000]).score(Z_new, y[1000:]))

    figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    for axis, found, title in zip(
        axes, (kernel_errors, errors), ("error of the kernel", "unexplained variance of new rows")
    ):
        for name, values in found.items():
            axis.loglog(sizes, values, "o-", label=name)
        axis.set(title=title, xlabel="features")
        axis.legend()
    figure.savefig(FIGURE, dpi=110)
    waves, marks = errors["random waves"][-1], errors["landmarks"][-1]
    print(f"unexplained with 320 features: waves {waves:.3f}, landmarks {marks:.3f}")
    print(f"Open {FIGURE} to compare them.")


if __name__ == "__main__":
    main()
