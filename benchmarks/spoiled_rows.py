"""Do spoiled training rows switch the alarm off, and what does the cure cost where none are spoiled?

``pairs``: rows of one instrument are the training rows, some of them are spoiled in eleven ways, and
spectra of a second instrument are to be flagged. The yardstick is the fit in which the spoiled rows are
absent, in the same splits. Told are the mean share that is flagged and the lowest split. ``doors`` does the
same through ``Trusted`` and ``fit_auto`` for a part of the damage.

``clean``: random splits of clean tables of 40, 150 and 600 rows. Told are the share of new rows that are
flagged and the coverage of the 95 % intervals, as JSON, so that two commits can be compared
(``--compare old.json``).

    ISTHMUS_DATA=... python benchmarks/spoiled_rows.py pairs
    ISTHMUS_DATA=... python benchmarks/spoiled_rows.py clean --write new.json --compare old.json
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus import PLS, fit_auto
from isthmus.datasets import make_spectra
from isthmus.inspection import Domain, Trusted

SPLITS = 6
SHARES = ("one row", "5 %", "10 %")
CORN = (("m5", "mp5"), ("m5", "mp6"), ("mp5", "mp6"), ("mp6", "mp5"))
SIZES = (40, 150, 600)
N_NEW = 400
TABLES = {
    "mulan_regression.npz": ["atp1d", "atp7d", "oes97", "edm", "enb", "jura", "wq", "rf1", "scm20d"],
    "multilabel.npz": ["scene", "yeast", "emotions", "corel5k"],
}  # fmt: skip

Damage = Callable[[NDArray, np.random.Generator], NDArray]


def spike(X: NDArray, rng: np.random.Generator) -> NDArray:
    """One point of each row is five deviations of the column off."""
    spoiled = X.copy()
    at = rng.integers(X.shape[1], size=len(X))
    spoiled[np.arange(len(X)), at] += 0.5 * np.abs(X).mean()
    return spoiled


def cut(X: NDArray, rng: np.random.Generator) -> NDArray:
    """The first tenth of each curve was not recorded."""
    spoiled = X.copy()
    spoiled[:, : X.shape[1] // 10] = 0
    return spoiled


DAMAGE: dict[str, Damage] = {
    "times 2": lambda X, rng: 2 * X,
    "times 5": lambda X, rng: 5 * X,
    "times 1e6": lambda X, rng: 1e6 * X,
    "times 1 to 10": lambda X, rng: X * rng.uniform(1.5, 10, size=(len(X), 1)),
    "offset": lambda X, rng: X + 0.5 * np.abs(X).mean(),
    "spike": spike,
    "saturated": lambda X, rng: np.minimum(X, np.quantile(X, 0.8, axis=1)[:, None]),
    "cut": cut,
    "noise": lambda X, rng: X + 0.05 * np.abs(X).mean() * rng.standard_normal(X.shape),
    "reversed": lambda X, rng: X[:, ::-1],
    "zero": lambda X, rng: 0 * X,
}


def load(file: str) -> Any:
    return np.load(Path(os.environ["ISTHMUS_DATA"]) / file)


def pairs() -> Iterator[tuple[str, NDArray, NDArray, NDArray]]:
    """Name, spectra of the first and of the second instrument, outputs."""
    nir = load("nir.npz")
    for a, b in CORN:
        yield f"corn {a}>{b}", nir[f"corn_X_{a}"], nir[f"corn_X_{b}"], nir["corn_Y"]
    first, second = (
        make_spectra(100, instrument=name, random_state=0) for name in ("primary", "secondary")
    )
    yield "simulated", first.data, second.data, first.target


def n_spoiled(share: str, n: int) -> int:
    return 1 if share == "one row" else max(1, round(n * float(share[:-2]) / 100))


def flagged(model: Any, second: NDArray) -> float:
    return float(model.check(second).outside.mean())


def domain(X: NDArray, Y: NDArray) -> Domain:
    return Domain.of(PLS(8).fit(X, Y), X)


def trusted(X: NDArray, Y: NDArray) -> Trusted:
    return Trusted(PLS(8), cv=5).fit(X, Y)


def auto(X: NDArray, Y: NDArray) -> Any:
    return fit_auto(X, Y, methods=["pls", "ridge"], cv=5)


def compare(fit: Callable[[NDArray, NDArray], Any], kinds: list[str], splits: int) -> None:
    """Print a line for each pair and share: with the spoiled rows, and without them."""
    print(
        f"{'pair':<16}{'spoiled':<9}{'mean':>7}{'absent':>8}{'ratio':>7}{'lowest':>8}  worst damage"
    )
    for name, first, second, Y in pairs():
        for share in SHARES:
            found: dict[str, list[float]] = {kind: [] for kind in kinds}
            absent = []
            for split in range(splits):
                rng = np.random.default_rng(split)
                rows = rng.permutation(len(first))[: round(0.6 * len(first))]
                k = n_spoiled(share, len(rows))
                absent.append(flagged(fit(first[rows[k:]], Y[rows[k:]]), second))
                for kind in kinds:
                    X = first[rows].copy()
                    X[:k] = DAMAGE[kind](X[:k], rng)
                    found[kind].append(flagged(fit(X, Y[rows]), second))
            means = {kind: float(np.mean(values)) for kind, values in found.items()}
            worst = min(means, key=lambda kind: means[kind])
            mean, without = float(np.mean(list(means.values()))), float(np.mean(absent))
            lowest = min(map(min, found.values()))
            print(
                f"{name:<16}{share:<9}{mean:7.3f}{without:8.3f}{mean / without:7.3f}{lowest:8.2f}  "
                f"{worst} {means[worst]:.3f}",
                flush=True,
            )


def tables() -> Iterator[tuple[str, NDArray, NDArray]]:
    """Clean tables: measurements, counts, categories, words, curves."""
    nir = load("nir.npz")
    for name in ("m5", "mp5", "mp6"):
        yield f"corn {name}", nir[f"corn_X_{name}"], nir["corn_Y"]
    for name in ("tecator", "dough", "gasoline"):
        Y = nir[f"{name}_Y"] if name != "gasoline" else nir["gasoline_y"][:, None]
        yield name, nir[f"{name}_X"], Y
    for file, names in TABLES.items():
        held = load(file)
        for name in names:
            X, Y = held[f"{name}_X"].astype(float), held[f"{name}_Y"].astype(float)
            known = ~np.isnan(X).any(axis=1)
            yield name, X[known], Y[known][:, :4]
    for name, key in (
        ("abalone", "y_rings"),
        ("kin8nm", "y"),
        ("pumadyn32nm", "y"),
        ("sarcos_small", "Y"),
    ):
        held = load(f"{name}.npz")
        Y = held[key].astype(float)
        yield name, held["X"].astype(float), Y.reshape(len(Y), -1)
    held = load("raetsch.npz")
    for name in ("german", "image", "waveform", "flare_solar"):
        yield name, held[f"{name}_X"].astype(float), held[f"{name}_y"].astype(float)[:, None]


def clean(splits: int) -> dict[str, list[float]]:
    """Of each table: share of new rows flagged, coverage, share of training rows set aside, seconds."""
    found = {}
    for name, X, Y in tables():
        for n in SIZES:
            if n + 20 > len(X):
                continue
            told = []
            for split in range(splits):
                order = np.random.default_rng(split).permutation(len(X))
                train, new = order[:n], order[n : n + N_NEW]
                begin = time.perf_counter()
                model = Trusted(PLS(min(8, X.shape[1])), cv=5).fit(X[train], Y[train])
                seconds = time.perf_counter() - begin
                trust = model.check(X[new])
                lower, upper = (
                    np.asarray(b).reshape(len(new), -1) for b in (trust.lower, trust.upper)
                )
                within = ((lower <= Y[new]) & (Y[new] <= upper))[np.isfinite(upper).all(axis=1)]
                aside = sum(each["part"] == "X" for each in getattr(model.domain_, "unusual", ()))
                told.append([trust.outside.mean(), within.mean(), aside / n, seconds])
            found[f"{name} {n}"] = np.mean(told, axis=0).tolist()
            print(
                f"{name + ' ' + str(n):<20}" + "".join(f"{v:9.4f}" for v in found[f"{name} {n}"]),
                flush=True,
            )
    return found


def show_means(found: dict[str, list[float]], old: dict[str, list[float]] | None) -> None:
    both = [("now", found)] if old is None else [("before", old), ("now", found)]
    for label, each in both:
        alarms, coverage, *_ = np.mean(list(each.values()), axis=0)
        print(f"{label}: {len(each)} tables, false alarms {alarms:.4f}, coverage {coverage:.4f}")
    for name, (alarms, coverage, aside, _) in found.items() if old else ():
        moved, covered = alarms - old[name][0], coverage - old[name][1]
        if abs(moved) > 0.02 or abs(covered) > 0.005:
            print(f"  {name}: alarms {moved:+.3f}, coverage {covered:+.4f}, set aside {aside:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("question", nargs="?", default="pairs", choices=["pairs", "doors", "clean"])
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--compare", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.question == "pairs":
        compare(domain, list(DAMAGE), options.splits)
    elif options.question == "doors":
        for door in (trusted, auto):
            print(door.__name__)
            compare(door, ["times 5", "spike"], options.splits)
    else:
        found = clean(options.splits)
        if options.write:
            options.write.write_text(json.dumps(found, indent=1))
        show_means(found, json.loads(options.compare.read_text()) if options.compare else None)


if __name__ == "__main__":
    sys.exit(main())
