"""What in the spectra has nothing to do with the output?
========================================================

O-PLS turns the components of PLS so that the first one predicts and the others hold variation that is
unrelated to the output, here the path length and the baseline. The predictions stay those of PLS. The
S-plot shows which wavelengths carry the predictive component reliably.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from isthmus import PLS
from isthmus.datasets import make_spectra
from isthmus.inspection import SPlotDisplay
from isthmus.regression import OPLS

FIGURE = Path("isthmus-predictive-and-orthogonal.png")


def main():
    spectra = make_spectra(100, scatter=0.02, random_state=0)
    fat = spectra.target[:, 2]
    plain = PLS(6, scale=False).fit(spectra.data, fat)
    turned = OPLS(6, scale=False).fit(spectra.data, fat)
    scores = {"PLS": plain.transform(spectra.data), "O-PLS": turned.transform(spectra.data)}

    figure, axes = plt.subplots(1, 3, figsize=(14, 4.2), layout="constrained")
    correlations = {}
    for axis, (name, T) in zip(axes, scores.items()):
        points = axis.scatter(T[:, 0], T[:, 1], c=fat, s=20)
        axis.set(title=name, xlabel="score 1", ylabel="score 2")
        correlations[name] = abs(np.corrcoef(T[:, 0], fat)[0, 1])
    figure.colorbar(points, ax=axes[1], label="fat, % of mass")
    SPlotDisplay.from_estimator(turned, spectra.data, ax=axes[2])
    figure.savefig(FIGURE, dpi=110)
    difference = abs(plain.predict(spectra.data) - turned.predict(spectra.data)).max()
    print(f"the predictions differ by {difference:.0e}")
    print(
        f"first score and fat correlate: PLS {correlations['PLS']:.2f}, O-PLS {correlations['O-PLS']:.2f}"
    )
    print(f"Open {FIGURE} to see the turned components.")


if __name__ == "__main__":
    main()
