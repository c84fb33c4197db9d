"""What do default calls cost, beside one eigendecomposition of the smaller Gram matrix of their inputs?

Processor time, medians of five turns that alternate with the floor, so that only ratios within one run are
compared. ``--save FILE`` keeps the ratios; ``--before FILE`` prints those of another commit beside them.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import rbf_kernel

from isthmus import (
    COIR,
    MORP,
    PCR,
    PLS,
    SIR,
    ComponentSearchCV,
    KernelMap,
    ManifoldPLS,
    ReducedRankRegression,
)
from isthmus.datasets import make_low_rank_regression

Job = Callable[[], object]

TURNS = 5
# Shorter jobs are repeated within a turn until they take so many seconds.
LEAST_SECONDS = 0.02

LINEAR = {
    "PLS()": PLS,
    "PLS(10)": lambda: PLS(10),
    "PCR()": PCR,
    "ReducedRankRegression()": ReducedRankRegression,
    "ManifoldPLS()": ManifoldPLS,
    "ComponentSearchCV(PLS())": lambda: ComponentSearchCV(PLS()),
    "ComponentSearchCV(PCR())": lambda: ComponentSearchCV(PCR()),
    "ComponentSearchCV(ReducedRankRegression())": lambda: ComponentSearchCV(
        ReducedRankRegression()
    ),
}
SHAPES = [(60, 12, 3), (10_000, 100, 10), (2000, 200, 20), (200, 2000, 20)]
KERNEL = {"COIR()": COIR, "MORP()": MORP, "KernelMap(10)": lambda: KernelMap(n_components=10)}


def gram_eigenvectors(X: NDArray) -> object:
    return np.linalg.eigh(X.T @ X if X.shape[1] <= X.shape[0] else X @ X.T)


def kernel_eigenvectors(X: NDArray) -> object:
    return np.linalg.eigh(rbf_kernel(X))


def cases() -> Iterator[tuple[str, Job, Job]]:
    for n, p, q in SHAPES:
        X, Y, _ = make_low_rank_regression(n, p, q, rank=3, noise=1.0, random_state=0)
        for name, make in LINEAR.items():
            yield (
                f"{name} {n}x{p}x{q}",
                lambda make=make, X=X, Y=Y: make().fit(X, Y),
                lambda X=X: gram_eigenvectors(X),
            )
    X, Y, _ = make_low_rank_regression(10_000, 50, 1, rank=1, random_state=0)
    yield "SIR() 10000x50x1", lambda: SIR().fit(X, Y[:, 0]), lambda: gram_eigenvectors(X)
    for n in (400, 1000):
        Z, T, _ = make_low_rank_regression(n, 10, 3, rank=2, random_state=0)
        for name, make in KERNEL.items():
            yield (
                f"{name} {n}x10x3",
                lambda make=make, Z=Z, T=T: make().fit(Z, T),
                lambda Z=Z: kernel_eigenvectors(Z),
            )


def seconds(job: Job, repeats: int) -> float:
    begin = time.process_time()
    for _ in range(repeats):
        job()
    return (time.process_time() - begin) / repeats


def contest(ours: Job, floor: Job) -> tuple[float, float]:
    """Medians of the times of both, in seconds."""
    once = [seconds(job, 1) for job in (ours, floor)]
    once = [seconds(job, 1) for job in (ours, floor)]  # the first turn warms up
    repeats = [max(1, int(LEAST_SECONDS / max(t, 1e-6))) for t in once]
    turns = [[seconds(job, k) for job, k in zip((ours, floor), repeats)] for _ in range(TURNS)]
    mine, theirs = zip(*turns)
    return median(mine), median(theirs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", type=Path, help="file for the ratios")
    parser.add_argument("--before", type=Path, help="ratios of another commit")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    options = parser.parse_args()
    before = json.loads(options.before.read_text()) if options.before else {}
    found = {}
    print(f"{'call':62}{'ms':>9}{'floor ms':>10}{'ratio':>8}{'before':>8}{'change':>8}")
    for name, ours, floor in cases():
        if options.only not in name:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mine, theirs = contest(ours, floor)
        found[name] = mine / theirs
        line = f"{name:62}{1e3 * mine:9.2f}{1e3 * theirs:10.2f}{mine / theirs:8.2f}"
        if name in before:
            line += f"{before[name]:8.2f}{found[name] / before[name]:8.2f}"
        print(line, flush=True)
    if options.save:
        options.save.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
