"""How well does a calibration move to another instrument, from ten standards?

Rows are predicted from spectra of the second instrument, by a calibration on the first. The yardstick is
recalibration: all training rows measured on the second instrument too. Settings of ``InstrumentTransfer``
were chosen on corn, m5 to mp5; the other pairs and the simulated instruments were kept aside, except that
the pull to the interpolated spectrum was built while the pairs with other columns were looked at. These
differ by a shift of wavelengths, a wider slit, a gain, stray light and the number of columns; where a way
needs the columns of the first instrument, the spectra are interpolated. Outer folds
are drawn several times; cells are relative errors (RMSEP over the standard deviation of the output, mean of
the outputs) with the standard deviation over the draws. Needs the environment variable ISTHMUS_DATA.

A second table asks which rows are believed after the transfer (``Trusted.after_transfer``): the share of
good rows that are flagged with the domain of the first instrument and with their own, coverage of the 95 %
intervals of unflagged rows, and the share of rows with a foreign band of two spreads that are flagged, on
the first instrument and after the transfer. Three quarters of the rows are for training.

    ISTHMUS_DATA=... python benchmarks/spectra_transfer.py [errors] [trust] [--draws 3]
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from _spectra_page import put_table
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.preprocessing import FunctionTransformer
from spectra import spoil
from spectra_methods import cell, relative_errors, search, show

from isthmus import PLS, ComponentSearchCV
from isthmus.datasets import load_nir, make_spectra
from isthmus.features import InstrumentTransfer, SavitzkyGolay
from isthmus.inspection import Trusted
from isthmus.model_selection import kennard_stone
from isthmus.regression import SlopeBias, spike

N_STANDARDS = 10
CORN = (("m5", "mp5"), ("m5", "mp6"), ("mp5", "mp6"), ("mp6", "mp5"), ("mp6", "m5"))
# Number of columns, shift in nm, slit in nm, gain, stray light.
OTHERS = (
    (700, 6.0, 20.0, 1.0, 0.01),
    (300, 1.0, 12.0, 1.02, 0.003),
    (1400, 2.0, 14.0, 0.97, 0.005),
)


def pairs() -> dict[str, tuple[NDArray, NDArray, NDArray]]:
    """Spectra of the first and of the second instrument, and the outputs."""
    corn = {name: load_nir("corn", instrument=name) for name in ("m5", "mp5", "mp6")}
    found = {f"corn, {a} to {b}": (corn[a].data, corn[b].data, corn[a].target) for a, b in CORN}
    first = make_spectra(80, random_state=0)
    second = make_spectra(80, instrument="secondary", random_state=0)
    found["simulated"] = (first.data, second.data, first.target)
    for p, *settings in OTHERS:
        label = f"simulated, {p} columns, shift {settings[0]:g} nm"
        found[label] = (first.data, measure(first, p, *settings), first.target)
    return found


def measure(first: Any, p: int, shift: float, slit: float, gain: float, stray: float) -> NDArray:
    """Spectra as a poorer instrument with p columns would give them, with noise of its own."""
    places = np.linspace(first.wavelengths[0], first.wavelengths[-1], p) + shift
    steps = np.diff(first.wavelengths)[0] * np.arange(-40, 41)
    blur = np.exp(-4 * np.log(2) * (steps / slit) ** 2)
    padded = np.pad(first.data, ((0, 0), (40, 40)), mode="edge")
    wide = np.array([np.convolve(row, blur / blur.sum(), "valid") for row in padded])
    seen = np.array([np.interp(places, first.wavelengths, row) for row in wide])
    seen = -np.log10((1 - stray) * 10.0 ** (-gain * seen) + stray)
    return seen + 3e-4 * np.random.default_rng(0).standard_normal(seen.shape)


def interpolate(Z: NDArray, p: int) -> NDArray:
    """Spectra at p evenly spaced places of their range."""
    if Z.shape[1] == p:
        return Z
    at, known = np.linspace(0, 1, p), np.linspace(0, 1, Z.shape[1])
    return np.array([np.interp(at, known, row) for row in Z])


def transfer(draws: int, write: bool) -> None:
    """Print the table: each pair of instruments, errors and their ratio to recalibration with all rows."""
    derive = SavitzkyGolay(15, 2, 1)
    lines: dict[str, list[str]] = {}
    cases = pairs()
    for name, (X, Z, Y) in cases.items():
        X, Z = derive.fit_transform(X), clone(derive).fit_transform(Z)
        found = {
            label: relative_errors(way, Y, draws)
            for label, way in ways_of_transfer(X, Z, Y).items()
        }
        full = found["recalibration with all rows"].mean()
        for label, errors in found.items():
            lines.setdefault(label, []).append(f"{cell(errors)} ({errors.mean() / full:.2f})")
            print(f"{name}, {label}: {lines[label][-1]}", file=sys.stderr, flush=True)
    show("transfer", list(cases), lines, write)


def ways_of_transfer(X: NDArray, Z: NDArray, Y: NDArray) -> dict[str, Callable[..., NDArray]]:
    """Predictions for rows of Z, the secondary instrument, by a calibration on X and in other ways."""

    S = interpolate(Z, X.shape[1])

    known: dict[Any, Any] = {}  # what several ways ask for

    def once(key: Any, make: Callable[[], Any]) -> Any:
        if key not in known:
            known[key] = make()
        return known[key]

    def standards(train: NDArray) -> NDArray:
        return once(train.tobytes(), lambda: train[kennard_stone(X[train], N_STANDARDS)])

    def calibration(train: NDArray, j: int) -> Any:
        return once((train.tobytes(), j), lambda: search().fit(X[train], Y[train, j]))

    def moved(step: InstrumentTransfer) -> Callable[..., NDArray]:
        def predict(train: NDArray, test: NDArray, j: int) -> NDArray:
            rows = standards(train)
            key = train.tobytes(), repr(step)
            fitted = once(key, lambda: clone(step).fit(Z[rows], X[rows]))
            return calibration(train, j).predict(fitted.transform(Z[test]))

        return predict

    def plain(train: NDArray, test: NDArray, j: int) -> NDArray:
        return calibration(train, j).predict(S[test])

    def recalibrated(train: NDArray, test: NDArray, j: int) -> NDArray:
        return search().fit(Z[train], Y[train, j]).predict(Z[test])

    def from_standards(train: NDArray, test: NDArray, j: int) -> NDArray:
        rows = standards(train)
        model = ComponentSearchCV(PLS(scale="y"), n_components=5, cv=5, rule="pooled_one_se")
        return model.fit(Z[rows], Y[rows, j]).predict(Z[test])

    def corrected(train: NDArray, test: NDArray, j: int) -> NDArray:
        rows = standards(train)
        return SlopeBias(calibration(train, j)).fit(S[rows], Y[rows, j]).predict(S[test])

    def spiked(train: NDArray, test: NDArray, j: int) -> NDArray:
        rows = standards(train)
        both, y, weights = spike(X[train], Y[train, j], S[rows], Y[rows, j])
        return search().fit(both, y, sample_weight=weights).predict(S[test])

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


def trust(draws: int, write: bool) -> None:
    """Print which rows are believed after a transfer."""
    lines = [
        "| pair | flagged before | flagged after | covered, unflagged | withheld | narrow band, first "
        "| narrow band, after | broad band, first | broad band, after |",
        "|" + "---|" * 9,
    ]
    for label, step in (("", SavitzkyGolay(15, 2, 1)), (", untreated", FunctionTransformer())):
        for name, (X, Z, Y) in pairs().items():
            found = np.mean([_believed(X, Z, Y, step, seed) for seed in range(draws)], axis=0)
            cells = " | ".join(f"{value:.2f}" for value in found)
            lines.append(f"| {name}{label} | {cells} |")
            print(lines[-1], file=sys.stderr, flush=True)
    put_table("trust after transfer", lines, write)


def _believed(X: NDArray, Z: NDArray, Y: NDArray, treat: Any, seed: int) -> list[float]:
    """Shares of one draw, in the order of the table."""
    train, test = np.split(np.random.default_rng(seed).permutation(len(X)), [3 * len(X) // 4])
    spoiled = [
        spoil(A[test], float(np.median(A[train].std(axis=0))), np.random.default_rng(seed))
        for A in (X, Z)
    ]
    X, Z = clone(treat).fit_transform(X), clone(treat).fit_transform(Z)
    model = Trusted(search()).fit(X[train], Y[train])
    rows = train[kennard_stone(X[train], N_STANDARDS)]
    step = InstrumentTransfer().fit(Z[rows], X[rows])
    moved = Trusted.after_transfer(model, step, Z[rows], X[rows])
    before, after = model.check(step.transform(Z[test])), moved.check(Z[test])
    known = Y[test][~after.outside]
    lower, upper = after.lower[~after.outside], after.upper[~after.outside]
    shares = [
        before.outside.mean(), after.outside.mean(), ((lower <= known) & (known <= upper)).mean(),
        np.isinf(after.upper).any(axis=1).mean(),
    ]  # fmt: skip
    for band in ("band of 2 spreads, narrow", "band of 2 spreads, broad"):
        shares += [
            judge.check(clone(treat).fit_transform(each[band])).outside.mean()
            for judge, each in zip((model, moved), spoiled, strict=True)
        ]
    return shares


SECTIONS = {"errors": transfer, "trust": trust}


def main() -> None:
    """Run all pairs."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("sections", nargs="*", metavar="section", help=", ".join(SECTIONS))
    parser.add_argument("--draws", type=int, default=3, help="number of draws of the outer folds")
    parser.add_argument("--write", action="store_true", help="put the table into docs/spectra.md")
    warnings.filterwarnings("ignore", message="n_components")  # fewer exist in a small fold
    given = parser.parse_args()
    for name in given.sections or SECTIONS:
        SECTIONS[name](given.draws, given.write)


if __name__ == "__main__":
    main()
