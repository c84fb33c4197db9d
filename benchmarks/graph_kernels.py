"""Which kernel of graphs classifies best? Nested cross-validation, every choice on training folds.

A support vector machine on MUTAG, PTC (male rats) and ENZYMES. Ten outer folds; inside each training fold
three inner ones choose the rounds of refinement (or the stopping probability), whether a Gaussian of the
kernel's distances is taken and how wide, and C. ``chosen there`` also chooses the kernel inside the
training folds, so that its figure is one that a user gets without knowing which kernel suits. ``majority``
is the accuracy of the largest class.

    ISTHMUS_DATA=... python benchmarks/graph_kernels.py --sets mutag --repeats 1
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from _common import commit, machine, versions
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from isthmus.datasets import load_graphs
from isthmus.kernels import (
    Cycles,
    GraphKernel,
    ShortestPath,
    WeisfeilerLehman,
    WeisfeilerLehmanAssignment,
    WeisfeilerLehmanWasserstein,
)

CHOSEN = "chosen there"
ROUNDS = (1, 3, 5)
STOPS = (0.1, 0.2, 0.4)
CYCLE = 6  # most nodes of a ring
COSTS = 10.0 ** np.arange(0, 3)
WIDTHS = (1.0, 4.0)  # multiples of the median rule's gamma
INNER_FOLDS = 3

Matrices = Callable[[NDArray], list[NDArray]]
"""From training rows to the Gram matrices of all graphs among which is chosen."""


def plain(kernels: list[Any], graphs: list[Any]) -> Matrices:
    """The kernels, and Gaussians of their distances, whose widths are those of training graphs."""
    fixed = [kernel(graphs) for kernel in kernels]
    squared = [np.maximum(K.diagonal()[:, None] + K.diagonal() - 2.0 * K, 0.0) for K in fixed]

    def matrices(train: NDArray) -> list[NDArray]:
        found = list(fixed)
        for D in squared:
            among = D[np.ix_(train, train)][np.triu_indices(len(train), 1)]
            one = np.exp(-D / (2.0 * (float(np.median(among)) or 1.0)))
            found += [one**width for width in WIDTHS]
        return found

    return matrices


def families(graphs: list[Any]) -> dict[str, tuple[Matrices, float]]:
    """Build the contestants: names, what they choose among, and the seconds of their Gram matrices."""
    assignments = [WeisfeilerLehmanAssignment(h, normalise=True) for h in ROUNDS]
    kernels: dict[str, list[Any]] = {
        "GraphKernel": [GraphKernel(s, normalise=True, tol=1e-6) for s in STOPS],
        "GraphKernel, refine=1": [
            GraphKernel(s, refine=1, normalise=True, tol=1e-6) for s in STOPS
        ],
        "WeisfeilerLehman": [WeisfeilerLehman(h, normalise=True) for h in ROUNDS],
        "WeisfeilerLehmanAssignment": assignments,
        "WeisfeilerLehmanWasserstein": [WeisfeilerLehmanWasserstein(h) for h in ROUNDS],
        "ShortestPath": [ShortestPath(normalise=True)],
        "WeisfeilerLehmanAssignment + Cycles": [
            one + Cycles(CYCLE, normalise=True) for one in assignments
        ],
    }
    found = {}
    for name, own in kernels.items():
        begin = time.process_time()
        matrices = plain(own, graphs)
        found[name] = matrices, time.process_time() - begin
    return found


def inner_hits(K: NDArray, y: NDArray, cost: float, seed: int) -> int:
    """Count the right answers of inner cross-validation on a square matrix of training rows."""
    folds = StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=seed)
    return sum(right(K, y, cost, a, b).sum() for a, b in folds.split(y[:, None], y))


def right(K: NDArray, y: NDArray, cost: float, train: NDArray, test: NDArray) -> NDArray:
    machine = SVC(kernel="precomputed", C=cost).fit(K[np.ix_(train, train)], y[train])
    return machine.predict(K[np.ix_(test, train)]) == y[test]


def nested_accuracies(
    contestants: dict[str, Matrices], y: NDArray, seed: int
) -> dict[str, tuple[float, list[str]]]:
    """Accuracy in per cent over ten outer folds of each contestant and of their choice; what it took."""
    hits = dict.fromkeys([*contestants, CHOSEN], 0)
    taken: list[str] = []
    for train, test in StratifiedKFold(10, shuffle=True, random_state=seed).split(y[:, None], y):
        square, best = np.ix_(train, train), (-1, "", 0)
        for name, matrices in contestants.items():
            pairs = [(K, cost) for K in matrices(train) for cost in COSTS]
            scores = [inner_hits(K[square], y[train], cost, seed) for K, cost in pairs]
            K, cost = pairs[int(np.argmax(scores))]
            own = int(right(K, y, cost, train, test).sum())
            hits[name] += own
            best = max(best, (max(scores), name, own), key=lambda found: found[0])
        hits[CHOSEN] += best[2]
        taken.append(best[1])
    return {name: (100.0 * count / len(y), taken) for name, count in hits.items()}


@cache
def built(name: str) -> tuple[dict[str, tuple[Matrices, float]], NDArray]:
    """Build the contestants of a set once: their Gram matrices depend on no fold."""
    bunch = load_graphs(name)
    return families(bunch.data), np.asarray(bunch.target)


def measure(name: str, seed: int) -> dict[str, dict[str, Any]]:
    """Return the accuracy and the seconds of each contestant, with folds of one draw."""
    contestants, y = built(name)
    found = nested_accuracies({family: one[0] for family, one in contestants.items()}, y, seed)
    majority = 100.0 * np.unique(y, return_counts=True)[1].max() / len(y)
    return {
        "majority": {"accuracy": majority},
        **{
            family: {"accuracy": found[family][0], "seconds": seconds}
            for family, (_, seconds) in contestants.items()
        },
        CHOSEN: {"accuracy": found[CHOSEN][0], "taken": Counter(found[CHOSEN][1])},
    }


def rows(name: str, found: list[dict[str, dict[str, Any]]]) -> Iterator[tuple[str, ...]]:
    """Return one row per contestant: mean and, of several draws, standard deviation."""
    for family, first in found[0].items():
        values = [one[family]["accuracy"] for one in found]
        is_varied = len(values) > 1 and family != "majority"
        spread = f" ± {np.std(values, ddof=1):.1f}" if is_varied else ""
        seconds = f"{first['seconds']:.1f}" if "seconds" in first else ""
        yield name, family, f"{np.mean(values):.1f}{spread}", seconds


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", default=["mutag", "ptc_mr", "enzymes"])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(f"{machine()}; {versions()}; commit {commit()}; {options.repeats} repeats\n")
    print("| set | kernel | accuracy | seconds of Gram matrices |\n|---|---|---|---|")
    for name in options.sets:
        found = [measure(name, seed) for seed in range(options.repeats)]
        for row in rows(name, found):
            print("| " + " | ".join(row) + " |", flush=True)
        print(f"{name}: taken {sum((Counter(one[CHOSEN]['taken']) for one in found), Counter())}")


if __name__ == "__main__":
    main()
