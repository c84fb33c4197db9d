"""Does the error of a DependencyRegressor fall with every further row, and its time grow evenly?

Nested training sets of 500 to 50 000 rows, closer together where landmarks take over from the exact
solution, and one test set. From one size to the next

- the error (median over fits, whose kernel widths are drawn) may not rise by more than two per cent;
- the processor time has a stated exponent. The exact solution takes n^3, so a step that begins there may
  take (n2 / n1)^3. m landmarks take n m^2 and their choice m^3: a step between two such fits may take
  n2 / n1 times max(1, m2 / m1)^3. Where landmarks take over, the median time may not grow by more. Any
  other step is a jump if every fit of the larger size takes longer than is allowed from every fit of the
  smaller one: of five fits each, by chance at most once in 252 steps. Nor may the median time fall by more
  than half.

Sizes take turns, so that a busy minute of the machine does not fall on one of them. ``waves`` has as many
rows as are asked for: sines of eight inputs, with noise.

    ISTHMUS_DATA=... python benchmarks/no_cliffs.py --sets kin8nm letter waves
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

import numpy as np
from _common import commit, machine, versions
from numpy.typing import NDArray
from sklearn.linear_model import Ridge

from isthmus import DependencyRegressor, KernelMap
from isthmus.datasets import load_letter, load_table

SIZES = (
    500,
    1000,
    2000,
    3000,
    3500,
    5000,
    7000,
    8000,
    8500,
    8800,
    9200,
    9600,
    10_500,
    12_000,
    14_000,
)
SIZES += (20_000, 30_000, 50_000)
MAY_RISE, MAY_FALL = 1.02, 0.5
LEAST_TIME = 0.5  # seconds: below it the clock tells little


@dataclass
class Size:
    """What several fits of one number of rows took and reached."""

    n: int
    landmarks: int = 0  # none: solved exactly
    errors: list[float] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    told: set[str] = field(default_factory=set)

    def __str__(self) -> str:
        kind = f"{self.landmarks} landmarks" if self.landmarks else "exactly"
        times = f"{median(self.times):.2f} | {min(self.times):.2f} to {max(self.times):.2f}"
        return f"{self.n} | {kind} | {median(self.errors):.4f} | {times} | {'; '.join(sorted(self.told))}"

    def may_grow(self, before: Size) -> float:
        """Return by how much the time may grow from a smaller size."""
        ratio = self.n / before.n
        if not before.landmarks or not self.landmarks:
            return ratio**3
        return ratio * max(1.0, self.landmarks / before.landmarks) ** 3

    def problems(self, before: Size) -> list[str]:
        """Say what is wrong with the step from a smaller size."""
        found = []
        if median(self.errors) > MAY_RISE * median(before.errors):
            found.append("error rises")
        if median(before.times) > LEAST_TIME:
            is_switch = bool(self.landmarks) != bool(before.landmarks)
            least, most = (median, median) if is_switch else (min, max)
            if least(self.times) > self.may_grow(before) * most(before.times):
                found.append("time jumps")
            if median(self.times) < MAY_FALL * median(before.times):
                found.append("time falls")
        return found


def rows(name: str, n_test: int = 1000) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Standardised inputs and outputs in random order, the test rows first."""
    rng = np.random.default_rng(0)
    if name == "waves":
        X = rng.uniform(-2.0, 2.0, size=(max(SIZES) + n_test, 8))
        A = 0.5 * rng.normal(size=(8, 3))  # of twice as many waves nothing would be learned
        Y = np.sin(X @ A) + 0.1 * rng.normal(size=(len(X), 3))
    elif name == "letter":
        bunch = load_letter()
        X, classes = bunch.data, np.unique(bunch.target, return_inverse=True)[1]
        Y = np.eye(classes.max() + 1)[classes]
    else:
        bunch = load_table(name)
        X, Y = bunch.data, np.asarray(bunch.target, dtype=float).reshape(len(bunch.data), -1)
    order = rng.permutation(len(X))
    X, Y = X[order], Y[order]
    X, Y = (X - X.mean(axis=0)) / X.std(axis=0), (Y - Y.mean(axis=0)) / Y.std(axis=0)
    return X[n_test:], Y[n_test:], X[:n_test], Y[:n_test]


def measure(name: str, least: int, most: int, repeats: int) -> list[Size]:
    """Fit every size of one set several times."""
    X, Y, X_test, Y_test = rows(name)
    sizes = [Size(n) for n in SIZES if least <= n <= min(len(X), most)]
    for _ in range(repeats):
        for size in sizes:
            begin = time.process_time()
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                model = DependencyRegressor(KernelMap(), Ridge()).fit(X[: size.n], Y[: size.n])
            size.times.append(time.process_time() - begin)
            wrong = model.predict(X_test) - Y_test
            size.errors.append(float(np.sqrt((wrong**2).mean())))
            size.landmarks = 0 if model.solver_ == "dual" else model.expansion_.n_points
            size.told |= {str(one.message).split(":")[0][:60] for one in told}
    return sizes


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", default=["kin8nm", "letter", "waves"])
    parser.add_argument("--least", type=int, default=min(SIZES), help="fewest training rows")
    parser.add_argument("--most", type=int, default=max(SIZES), help="most training rows")
    parser.add_argument("--repeats", type=int, default=5, help="fits per size")
    options = parser.parse_args()
    print(f"{machine()}; {versions()}; commit {commit()}; {options.repeats} fits per size\n")
    print("| set | rows | solved | error | processor s | from to | told |\n" + "| --- " * 7 + "|")
    problems = []
    for name in options.sets:
        sizes = measure(name, options.least, options.most, options.repeats)
        print("\n".join(f"| {name} | {size} |" for size in sizes), flush=True)
        for before, size in pairwise(sizes):
            step = f"{name}, {before.n} to {size.n} rows: "
            problems += [step + problem for problem in size.problems(before)]
    print("\n" + ("\n".join(problems) or "No rise of the error, no jump of the time."))


if __name__ == "__main__":
    main()
