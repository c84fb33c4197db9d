"""Which kernel of graphs classifies best? Nested cross-validation, every choice on training folds.

A support vector machine on MUTAG, PTC (male rats) and ENZYMES. Ten outer folds; inside each training fold
three inner ones choose the rounds of refinement, C and, for Gaussians, the multiple of the median rule's
width, whose distances are those of training graphs. ``chosen`` also chooses the kernel there, so that its
figure is one that a user gets without knowing which kernel suits. ``majority`` is the accuracy of the
largest class.

    ISTHMUS_DATA=... python benchmarks/graph_kernels.py --sets mutag --repeats 1
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from _common import commit, machine, versions
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from isthmus.datasets import load_graphs
from isthmus.kernels import (
    Cycles,
    ShortestPath,
    WeisfeilerLehman,
    WeisfeilerLehmanAssignment,
    WeisfeilerLehmanWasserstein,
)

ROUNDS = range(6)
CYCLE = 6  # most nodes of a ring
COSTS = 10.0 ** np.arange(-1, 4)
WIDTHS = (0.25, 1.0, 4.0)  # multiples of the median rule's gamma
INNER_FOLDS = 3

Matrices = Callable[[NDArray], Iterator[NDArray]]
"""From training rows to the Gram matrices of all graphs among which is chosen."""


def as_they_are(kernels: list[Any], graphs: list[Any]) -> Matrices:
    fixed = [kernel(graphs) for kernel in kernels]
    return lambda train: iter(fixed)


def gaussians(kernels: list[Any], graphs: list[Any]) -> Matrices:
    """The kernel ``Gaussian(kernel)``, from distances that are computed once."""
    squared = []
    for kernel in kernels:
        K = kernel(graphs)
        squared.append(np.maximum(K.diagonal()[:, None] + K.diagonal() - 2.0 * K, 0.0))

    def matrices(train: NDArray) -> Iterator[NDArray]:
        for D in squared:
            among = D[np.ix_(train, train)][np.triu_indices(len(train), 1)]
            one = np.exp(-D / (2.0 * (float(np.median(among)) or 1.0)))
            yield from (one**width for width in WIDTHS)

    return matrices


def all_of(parts: list[Matrices]) -> Matrices:
    return lambda train: (K for part in parts for K in part(train))


def families(graphs: list[Any], rounds: Iterable[int]) -> dict[str, Matrices]:
    """Build the contestants: names and what they choose among."""
    subtrees = [WeisfeilerLehman(h, normalise=True) for h in rounds]
    assignments = [WeisfeilerLehmanAssignment(h, normalise=True) for h in rounds]
    transports = [WeisfeilerLehmanWasserstein(h) for h in rounds]
    paths = [ShortestPath(normalise=True)]
    rings = [one + Cycles(CYCLE, normalise=True) for one in assignments]
    found = {
        "WeisfeilerLehman": as_they_are(subtrees, graphs),
        "WeisfeilerLehmanAssignment": as_they_are(assignments, graphs),
        "ShortestPath": as_they_are(paths, graphs),
        "Gaussian(WeisfeilerLehman)": gaussians(subtrees, graphs),
        "Gaussian(WeisfeilerLehmanAssignment)": gaussians(assignments, graphs),
        "Gaussian(WeisfeilerLehmanWasserstein)": gaussians(transports, graphs),
        "Gaussian(ShortestPath)": gaussians(paths, graphs),
        "Gaussian(WeisfeilerLehmanAssignment + Cycles)": gaussians(rings, graphs),
    }
    return found | {"chosen": all_of(list(found.values()))}


def inner_hits(K: NDArray, y: NDArray, cost: float, seed: int) -> int:
    """Count the right answers of inner cross-validation on a square matrix of training rows."""
    folds = StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=seed)
    return sum(right(K, y, cost, a, b).sum() for a, b in folds.split(y[:, None], y))


def right(K: NDArray, y: NDArray, cost: float, train: NDArray, test: NDArray) -> NDArray:
    machine = SVC(kernel="precomputed", C=cost).fit(K[np.ix_(train, train)], y[train])
    return machine.predict(K[np.ix_(test, train)]) == y[test]


def nested_accuracy(matrices: Matrices, y: NDArray, seed: int) -> float:
    """Accuracy in per cent over ten outer folds."""
    hits = 0
    for train, test in StratifiedKFold(10, shuffle=True, random_state=seed).split(y[:, None], y):
        candidates = [(K, cost) for K in matrices(train) for cost in COSTS]
        square = np.ix_(train, train)
        scores = [inner_hits(K[square], y[train], cost, seed) for K, cost in candidates]
        K, cost = candidates[int(np.argmax(scores))]
        hits += right(K, y, cost, train, test).sum()
    return 100.0 * hits / len(y)


def rows(
    name: str, repeats: int, rounds: Iterable[int], only: list[str] | None
) -> Iterator[tuple[str, str, str, str]]:
    bunch = load_graphs(name)
    y = np.asarray(bunch.target)
    majority = 100.0 * np.unique(y, return_counts=True)[1].max() / len(y)
    yield name, "majority", f"{majority:.1f}", ""
    for family, matrices in families(bunch.data, rounds).items():
        if only and family not in only:
            continue
        begin = time.process_time()
        found = [nested_accuracy(matrices, y, seed) for seed in range(repeats)]
        took = (time.process_time() - begin) / repeats
        spread = f" ± {np.std(found, ddof=1):.1f}" if repeats > 1 else ""
        yield name, family, f"{np.mean(found):.1f}{spread}", f"{took:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", default=["mutag", "ptc_mr"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rounds", nargs="+", type=int, default=list(ROUNDS))
    parser.add_argument("--only", nargs="+", help="names of the kernels")
    options = parser.parse_args()
    print(f"{machine()}; {versions()}; commit {commit()}; {options.repeats} repeats\n")
    print("| set | kernel | accuracy | processor seconds per repeat |\n|---|---|---|---|")
    for name in options.sets:
        for row in rows(name, options.repeats, options.rounds, options.only):
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
