"""Does a calibration survive a new instrument?
==============================================

A PLS calibration for protein is made on one simulated spectrometer and used on another, which has shifted
wavelengths, a wider slit and stray light. Ten samples measured on both repair it in three ways: a line
through the predictions, a map between the two instruments, and a recalibration with nothing but the ten.
"""

import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from isthmus import PLS
from isthmus.datasets import make_spectra
from isthmus.features import InstrumentTransfer
from isthmus.inspection import OutsideDomainWarning, rmse
from isthmus.model_selection import kennard_stone
from isthmus.regression import SlopeBias

FIGURE = Path("isthmus-one-instrument-to-another.png")


def main():
    primary = make_spectra(160, random_state=0)
    secondary = make_spectra(160, instrument="secondary", random_state=0)
    protein = primary.target[:, 1]
    train, test = slice(0, 100), slice(100, 160)
    model = PLS(8, scale=False).fit(primary.data[train], protein[train])
    standards = kennard_stone(primary.data[train], 10)

    transfer = InstrumentTransfer().fit(secondary.data[standards], primary.data[standards])
    line = SlopeBias(model).fit(secondary.data[standards], protein[standards])
    ten_only = PLS(3, scale=False).fit(secondary.data[standards], protein[standards])
    with warnings.catch_warnings():  # rightly: these are spectra of another instrument
        warnings.simplefilter("ignore", OutsideDomainWarning)
        unmoved = model.predict(secondary.data[test])
    answers = {
        "the first instrument": model.predict(primary.data[test]),
        "nothing done": unmoved,
        "line through the predictions": line.predict(secondary.data[test]),
        "recalibrated with ten": ten_only.predict(secondary.data[test]),
        "spectra mapped": model.predict(transfer.transform(secondary.data[test])),
    }
    errors = {name: float(rmse(protein[test], found)) for name, found in answers.items()}

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    difference = secondary.data[test] - primary.data[test]
    left.plot(primary.wavelengths, difference[:20].T, color="tab:red", lw=0.5)
    left.plot(
        primary.wavelengths,
        (transfer.transform(secondary.data[test]) - primary.data[test])[:20].T,
        color="tab:blue",
        lw=0.5,
    )
    left.set(
        title="difference to the first instrument: before (red), after (blue)",
        xlabel="wavelength, nm",
    )
    right.barh(list(errors)[::-1], np.array(list(errors.values()))[::-1])
    right.set(xscale="log", xlabel="RMSEP of protein, % of mass")
    figure.savefig(FIGURE, dpi=110)
    before, after = errors["nothing done"], errors["spectra mapped"]
    print(f"RMSEP: nothing done {before:.2f}, spectra mapped {after:.2f}")
    print(f"Open {FIGURE} to compare the repairs.")


if __name__ == "__main__":
    main()
