"""Which treatment lets a calibration forget the baseline?
=======================================================

Spectra of two substances on a baseline that tilts and shifts from sample to sample, with few samples.
Each treatment is put before the same partial least squares and judged by cross-validation at every number
of components.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from isthmus import PLS
from isthmus.features.treatments import Detrend, SavitzkyGolay

FIGURE = Path("isthmus-treat-spectra.png")


def main():
    rng = np.random.default_rng(0)
    grid = np.linspace(0, 1, 150)
    peaks = np.exp(-(((grid - np.array([[0.35], [0.6]])) / 0.06) ** 2))
    amounts = rng.uniform(size=(40, 2))
    waves = np.stack([np.cos(k * grid + k) for k in range(6)])
    spectra = (
        amounts @ peaks + 2 * rng.normal(size=(40, 6)) @ waves + 0.01 * rng.normal(size=(40, 150))
    )
    treatments = {
        "none": Detrend(degree=0),
        "quadratic taken away": Detrend(degree=2),
        "first derivative": SavitzkyGolay(window=9, degree=2, derivative=1),
        "second derivative": SavitzkyGolay(window=15, degree=3, derivative=2),
    }
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    left.plot(grid, spectra[:8].T, lw=0.8)
    left.set(title="spectra as measured", xlabel="wavelength")
    best = {}
    for name, treatment in treatments.items():
        scores = [
            cross_val_score(
                make_pipeline(treatment, PLS(k, scale=False)), spectra, amounts, cv=5
            ).mean()
            for k in range(1, 8)
        ]
        best[name] = scores[1]
        right.plot(range(1, 8), np.clip(scores, -0.2, 1), "o-", label=name)
    right.set(xlabel="components", ylabel="cross-validated R2")
    right.legend()
    print(
        f"two components: none {best['none']:.2f}, second derivative {best['second derivative']:.2f}"
    )
    figure.savefig(FIGURE, dpi=110)
    print(f"Open {FIGURE} to compare the treatments.")


if __name__ == "__main__":
    main()
