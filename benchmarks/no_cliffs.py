"""Does the error of the default DependencyRegressor fall with every further row, and its time grow evenly?

Nested training sets of 500 to 50 000 rows, one test set. From one size to the next the error may not rise
by more than two per cent, and the time, in processor seconds, may not grow by more than 15 % beyond the
third power of the number of rows (the cost of the exact solution) and not fall by more than half. The 15 %
are for the clock: it errs by a share, whether the next size is near or far. ``waves`` has as many rows as
are asked for: a sum of sines of eight inputs, with noise.

    ISTHMUS_DATA=... python benchmarks/no_cliffs.py --sets kin8nm letter waves
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from _common import commit, machine, versions
from numpy.typing import NDArray

from isthmus import DependencyRegressor
from isthmus.datasets import load_letter, load_sarcos, load_table

SIZES = (500, 1000, 2000, 3000, 3500, 5000, 7000, 8500, 9500, 12_000, 20_000, 30_000, 50_000)
MAY_RISE, MAY_GROW, MAY_FALL = 1.02, 1.15, 0.5
LEAST_TIME = 0.5  # seconds: below it the clock tells little


def rows(name: str, n_test: int = 1000) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Standardised inputs and outputs in random order, the test rows first."""
    rng = np.random.default_rng(0)
    if name == "waves":
        X = rng.uniform(-2.0, 2.0, size=(max(SIZES) + n_test, 8))
        A = rng.normal(size=(8, 3))
        Y = np.sin(X @ A) + 0.1 * rng.normal(size=(len(X), 3))
    elif name == "letter":
        bunch = load_letter()
        X, classes = bunch.data, np.unique(bunch.target, return_inverse=True)[1]
        Y = np.eye(classes.max() + 1)[classes]
    else:
        bunch = load_sarcos() if name == "sarcos" else load_table(name)
        X, Y = bunch.data, np.asarray(bunch.target, dtype=float).reshape(len(bunch.data), -1)
    order = rng.permutation(len(X))
    X, Y = X[order], Y[order]
    X, Y = (X - X.mean(axis=0)) / X.std(axis=0), (Y - Y.mean(axis=0)) / Y.std(axis=0)
    return X[n_test:], Y[n_test:], X[:n_test], Y[:n_test]


def table(name: str, least: int, most: int, repeats: int) -> list[str]:
    """Lines of one set, and what is wrong with them; the time is the best of several fits."""
    X, Y, X_test, Y_test = rows(name)
    before: tuple[int, float, float] | None = None
    problems = []
    for n in [size for size in SIZES if least <= size <= min(len(X), most)]:
        times = []
        for _ in range(repeats):
            begin = time.process_time()
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                model = DependencyRegressor().fit(X[:n], Y[:n])
            times.append(time.process_time() - begin)
        took = min(times)
        error = float(np.sqrt(((model.predict(X_test) - Y_test) ** 2).mean()))
        kind = (
            model.solver_ if model.solver_ == "dual" else f"{model.expansion_.n_points} landmarks"
        )
        note = "; ".join(str(one.message).split(":")[0][:60] for one in told)
        print(f"| {name} | {n} | {kind} | {error:.4f} | {took:.2f} | {note} |", flush=True)
        if before is not None:
            if error > MAY_RISE * before[1]:
                problems.append(
                    f"{name}: error {before[1]:.4f} at {before[0]} rows, {error:.4f} at {n}"
                )
            jumps = took > MAY_GROW * before[2] * (n / before[0]) ** 3
            if before[2] > LEAST_TIME and (jumps or took < MAY_FALL * before[2]):
                problems.append(
                    f"{name}: {before[2]:.2f} s at {before[0]} rows, {took:.2f} s at {n}"
                )
        before = n, error, took
    return problems


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", default=["kin8nm", "letter", "sarcos", "waves"])
    parser.add_argument("--least", type=int, default=min(SIZES), help="fewest training rows")
    parser.add_argument("--most", type=int, default=max(SIZES), help="most training rows")
    parser.add_argument(
        "--repeats", type=int, default=1, help="fits per size: the best time counts"
    )
    options = parser.parse_args()
    print(f"{machine()}; {versions()}; commit {commit()}\n")
    print(
        "| set | rows | solved by | error | processor seconds | told |\n|---|---|---|---|---|---|"
    )
    problems = [
        line
        for name in options.sets
        for line in table(name, options.least, options.most, options.repeats)
    ]
    print("\n" + ("\n".join(problems) or "No rise of the error, no jump of the time."))


if __name__ == "__main__":
    main()
