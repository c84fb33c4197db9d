"""When should a prediction not be believed?
===========================================

A calibration meets three kinds of new spectra: samples like the old ones, samples with an unknown
substance, and samples that are far outside the range of the training set. Distances inside the model (T2)
and from it (Q) tell them apart, without a single reference value.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from isthmus import PLS
from isthmus.datasets import make_spectra
from isthmus.inspection import Trusted, hotelling_t2, q_residuals

FIGURE = Path("isthmus-when-not-to-believe.png")


def main():
    spectra = make_spectra(140, random_state=0)
    X, Y, nm = spectra.data, spectra.target, spectra.wavelengths
    train, new = X[:100], X[100:]
    trusted = Trusted(PLS(6, scale=False)).fit(train, Y[:100])
    model = trusted.estimator_
    kinds = {
        "like the old ones": new[:20],
        "an unknown substance": new[20:30] + 0.02 * np.exp(-(((nm - 1600) / 15) ** 2)),
        "out of range": train.mean(axis=0) + 6 * (new[30:] - train.mean(axis=0)),
    }
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    flagged = {}
    for name, rows in kinds.items():
        t2, q = hotelling_t2(model, rows), q_residuals(model, rows, train)
        left.loglog(t2.values / t2.limit, q.values / q.limit, "o", label=name, alpha=0.7)
        right.plot(nm, rows[:3].T, lw=0.8)
        flagged[name] = 100 * np.mean(trusted.check(rows).outside)
        print(f"{name:22s}{flagged[name]:4.0f} % outside")
    left.axhline(1, color="black", lw=0.8)
    left.axvline(1, color="black", lw=0.8)
    left.set(xlabel="T2 over its limit", ylabel="Q over its limit")
    left.legend()
    right.set(title="three spectra of each kind", xlabel="wavelength, nm")
    figure.savefig(FIGURE, dpi=110)
    like, unknown = flagged["like the old ones"], flagged["an unknown substance"]
    print(f"outside: like the old ones {like:.0f} %, unknown substance {unknown:.0f} %")
    print(f"Open {FIGURE} to see the distances.")


if __name__ == "__main__":
    main()
