"""Which wavelengths does a calibration need?
============================================

Three answers for protein in simulated near-infrared spectra: windows judged one by one (interval PLS), a
factor that uses few wavelengths at all (group lasso on its rows), and VIP, which ranks all of them after
the fit. The bands of protein are known here, so the answers can be checked.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from isthmus import PLS
from isthmus.datasets import make_spectra
from isthmus.features import NormalVariate, SavitzkyGolay
from isthmus.inspection import vip
from isthmus.model_selection import interval_pls
from isthmus.regression import SparseFactors

FIGURE = Path("isthmus-which-wavelengths.png")


def main():
    spectra = make_spectra(100, random_state=0)
    protein = spectra.target[:, 1]
    wavelengths = spectra.wavelengths[::2]
    X = SavitzkyGolay(window=11, derivative=2).fit_transform(
        NormalVariate().fit_transform(spectra.data)
    )
    X = X[:, ::2]

    windows = interval_pls(X, protein, 14, n_components=4, cv=5)
    sparse = SparseFactors(1, tol=1e-3).fit(X, protein)
    ranked = vip(PLS(4, scale=False).fit(X, protein))

    figure, axes = plt.subplots(3, 1, figsize=(9, 7.5), sharex=True, layout="constrained")
    axes[0].plot(wavelengths, spectra.pure[1, ::2], color="black")
    axes[0].set(title="spectrum of pure protein; the wavelengths of the sparse factor")
    for place in wavelengths[sparse.selected_]:
        axes[0].axvline(place, color="tab:orange", lw=0.8)
    edges = np.linspace(wavelengths[0], wavelengths[-1], len(windows.rmsecv) + 1)
    axes[1].stairs(windows.rmsecv, edges, fill=True)
    axes[1].axhline(windows.full_rmsecv, color="black", ls="--", label="all wavelengths")
    axes[1].set(title="RMSECV of each window alone", ylabel="% of mass")
    axes[1].legend()
    axes[2].plot(wavelengths, ranked)
    axes[2].axhline(1, color="black", lw=0.8)
    axes[2].set(title="VIP", xlabel="wavelength, nm")
    figure.savefig(FIGURE, dpi=110)
    chosen = int(sparse.selected_.sum())
    score = sparse.score(X, protein)
    print(
        f"{chosen} of {len(wavelengths)} wavelengths explain {score:.3f} of the variance of protein"
    )
    print(f"Open {FIGURE} to see where they are.")


if __name__ == "__main__":
    main()
