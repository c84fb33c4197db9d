"""What does each treatment do to a spectrum?
============================================

The same thirty simulated spectra after every treatment that the library has. A good one makes samples of
equal composition look alike: the number in each title is the share of the variance that is explained by
the composition.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LinearRegression

from isthmus.datasets import make_spectra
from isthmus.features import (
    Baseline,
    Detrend,
    GapDerivative,
    NormalVariate,
    SavitzkyGolay,
    ScatterCorrection,
    Whittaker,
)

FIGURE = Path("isthmus-what-treatments-do.png")


def main():
    spectra = make_spectra(60, scatter=0.2, random_state=0)
    treatments = {
        "as measured": None,
        "Detrend": Detrend(degree=1),
        "Baseline": Baseline(),
        "NormalVariate": NormalVariate(),
        "ScatterCorrection": ScatterCorrection(),
        "ScatterCorrection(2)": ScatterCorrection(2),
        "Whittaker": Whittaker(),
        "SavitzkyGolay, first derivative": SavitzkyGolay(window=15, derivative=1),
        "GapDerivative": GapDerivative(),
    }
    figure, axes = plt.subplots(3, 3, figsize=(13, 8), layout="constrained")
    shares = {}
    for axis, (name, treatment) in zip(axes.flat, treatments.items()):
        X = spectra.data if treatment is None else treatment.fit_transform(spectra.data)
        fitted = LinearRegression().fit(spectra.target, X).predict(spectra.target)
        shares[name] = np.var(fitted, axis=0).sum() / np.var(X, axis=0).sum()
        axis.plot(np.linspace(1100, 2498, X.shape[1]), X[:30].T, lw=0.6)
        axis.set(title=f"{name}: {shares[name]:.2f}")
    figure.savefig(FIGURE, dpi=110)
    before, after = shares["as measured"], shares["NormalVariate"]
    print(f"explained by the composition: as measured {before:.2f}, NormalVariate {after:.2f}")
    print(f"Open {FIGURE} to see the treatments.")


if __name__ == "__main__":
    main()
