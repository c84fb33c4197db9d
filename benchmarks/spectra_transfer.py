"""How well does a calibration move to another instrument, from ten standards?

Rows are predicted from spectra of the second instrument, by a calibration on the first. The yardstick is
recalibration: all training rows measured on the second instrument too. Settings of ``InstrumentTransfer``
were chosen on corn, m5 to mp5; the other pairs and the simulated instruments were kept aside. Outer folds
are drawn several times; cells are relative errors (RMSEP over the standard deviation of the output, mean of
the outputs) with the standard deviation over the draws. Needs the environment variable ISTHMUS_DATA.

    ISTHMUS_DATA=... python benchmarks/spectra_transfer.py [--draws 3]
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable

from numpy.typing import NDArray
from sklearn.base import clone
from spectra_methods import cell, relative_errors, search, show

from isthmus import PLS, ComponentSearchCV
from isthmus.datasets import load_nir, make_spectra
from isthmus.features import InstrumentTransfer, SavitzkyGolay
from isthmus.model_selection import kennard_stone
from isthmus.regression import SlopeBias, spike

N_STANDARDS = 10
CORN = (("m5", "mp5"), ("m5", "mp6"), ("mp5", "mp6"), ("mp6", "m5"))


def pairs() -> dict[str, tuple[NDArray, NDArray, NDArray]]:
    """Spectra of the first and of the second instrument, and the outputs."""
    corn = {name: load_nir("corn", instrument=name) for name in ("m5", "mp5", "mp6")}
    found = {f"corn, {a} to {b}": (corn[a].data, corn[b].data, corn[a].target) for a, b in CORN}
    first = make_spectra(80, random_state=0)
    second = make_spectra(80, instrument="secondary", random_state=0)
    found["simulated"] = (first.data, second.data, first.target)
    return found


def transfer(draws: int) -> None:
    """Print the table: each pair of instruments, errors and their ratio to recalibration with all rows."""
    derive = SavitzkyGolay(15, 2, 1)
    lines: dict[str, list[str]] = {}
    cases = pairs()
    for name, (X, Z, Y) in cases.items():
        X, Z = derive.fit_transform(X), derive.transform(Z)
        found = {
            label: relative_errors(way, Y, draws)
            for label, way in ways_of_transfer(X, Z, Y).items()
        }
        full = found["recalibration with all rows"].mean()
        for label, errors in found.items():
            lines.setdefault(label, []).extend([cell(errors), f"{errors.mean() / full:.2f}"])
            print(f"{name}, {label}: {lines[label][-2:]}", file=sys.stderr, flush=True)
    head = [text for name in cases for text in (name, "ratio")]
    show("Transfer between instruments, first derivative", head, lines)


def ways_of_transfer(X: NDArray, Z: NDArray, Y: NDArray) -> dict[str, Callable[..., NDArray]]:
    """Predictions for rows of Z, the secondary instrument, by a calibration on X and in other ways."""

    def standards(train: NDArray) -> NDArray:
        return train[kennard_stone(X[train], N_STANDARDS)]

    def moved(step: InstrumentTransfer) -> Callable[..., NDArray]:
        def predict(train: NDArray, test: NDArray, j: int) -> NDArray:
            rows = standards(train)
            fitted = clone(step).fit(Z[rows], X[rows])
            return search().fit(X[train], Y[train, j]).predict(fitted.transform(Z[test]))

        return predict

    def plain(train: NDArray, test: NDArray, j: int) -> NDArray:
        return search().fit(X[train], Y[train, j]).predict(Z[test])

    def recalibrated(train: NDArray, test: NDArray, j: int) -> NDArray:
        return search().fit(Z[train], Y[train, j]).predict(Z[test])

    def from_standards(train: NDArray, test: NDArray, j: int) -> NDArray:
        rows = standards(train)
        model = ComponentSearchCV(PLS(scale="y"), n_components=5, cv=5, rule="pooled_one_se")
        return model.fit(Z[rows], Y[rows, j]).predict(Z[test])

    def corrected(train: NDArray, test: NDArray, j: int) -> NDArray:
        rows = standards(train)
        model = search().fit(X[train], Y[train, j])
        return SlopeBias(model).fit(Z[rows], Y[rows, j]).predict(Z[test])

    def spiked(train: NDArray, test: NDArray, j: int) -> NDArray:
        rows = standards(train)
        both, y, weights = spike(X[train], Y[train, j], Z[rows], Y[rows, j])
        return search().fit(both, y, sample_weight=weights).predict(Z[test])

    published = InstrumentTransfer(alpha=0.0, n_components=2, identity=False)
    return {
        "recalibration with all rows": recalibrated,
        "no transfer": plain,
        "InstrumentTransfer, 10 standards": moved(InstrumentTransfer()),
        "the same, all columns (direct)": moved(InstrumentTransfer(None)),
        "PDS as published, 2 components": moved(published),
        "slope and bias, 10 standards": corrected,
        "spiking, 10 standards": spiked,
        "recalibration with the 10 standards": from_standards,
    }


def main() -> None:
    """Run all pairs."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--draws", type=int, default=3, help="number of draws of the outer folds")
    warnings.filterwarnings("ignore", message="n_components")  # fewer exist in a small fold
    transfer(parser.parse_args().draws)


if __name__ == "__main__":
    main()
