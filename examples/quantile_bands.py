"""Can a map of low rank predict quantiles?
========================================

The noise of six outputs grows with the first input. Maps of rank two are fitted under the quantile loss
at 10 and 90 per cent. The figure shows the band for one output; the band should hold four fifths of new
values.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from isthmus import StiefelRegression
from isthmus.losses import Quantile

FIGURE = Path("isthmus-quantile-bands.png")


def main():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, size=(900, 4))
    coef = rng.normal(size=(4, 1)) @ rng.normal(size=(1, 6))
    spread = 0.1 + X[:, :1]
    Y = X @ coef + spread * rng.normal(size=(900, 6))
    train, new = slice(0, 500), slice(500, None)
    band = []
    for share in (0.1, 0.9):
        model = StiefelRegression(2, loss=Quantile(share)).fit(X[train], Y[train])
        band.append(model.predict(X[new]))
    inside = 100 * ((band[0] < Y[new]) & (Y[new] < band[1])).mean()
    order = np.argsort(X[new, 0])
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    centre = (band[0] + band[1])[:, 0] / 2
    axes.plot(X[new, 0], Y[new][:, 0] - centre, ".", ms=3, color="0.5", label="new values")
    for bound, name in zip(band, ("10 %", "90 %")):
        axes.plot(X[new, 0][order], (bound[:, 0] - centre)[order], ".", ms=3, label=name)
    axes.set(xlabel="first input", ylabel="first output, centre of the band taken away")
    axes.legend()
    print(f"inside the band: {inside:.1f} %")
    figure.savefig(FIGURE, dpi=110)
    print(f"Open {FIGURE} to see the band widen.")


if __name__ == "__main__":
    main()
