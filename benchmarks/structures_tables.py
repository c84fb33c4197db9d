"""How well are structures classified and predicted? Published beside measured.

graphs     MUTAG, PTC (male rats) and ENZYMES: support vector classification, nested cross-validation
sequences  NETtalk, handwritten words and proteins: nearest neighbour, classifier per place, joint n-gram
           model, open search and candidates
ratings    Jester: a table of ratings is filled, for known jokes and for new ones

    ISTHMUS_DATA=... python benchmarks/structures_tables.py --write docs/structures.md
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from _common import commit, machine, versions
from _ratings import RATINGS, RATINGS_HEAD, rating_rows
from _words import HEAD, METHODS, SEQUENCES, SETS, Row, in_order, sequence_rows, verdict
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from isthmus.datasets import load_graphs
from isthmus.kernels import GraphKernel, WeisfeilerLehman

STOPS = {"mutag": (0.05, 0.1, 0.2, 0.4), "ptc_mr": (0.1, 0.2, 0.4), "enzymes": (0.3,)}
ROUNDS = {"mutag": (0, 1, 2, 3, 4, 5), "ptc_mr": (0, 1, 2, 3, 4), "enzymes": (1, 2, 3)}
REPEATS = {"mutag": 3, "ptc_mr": 1, "enzymes": 1}
INNER_FOLDS = 3
C = 10.0 ** np.arange(0, 4)
PUBLISHED = {  # accuracy in per cent and where it is stated
    "mutag": "87.3 (Wasserstein WL, TGLRB2019); 87.1 (walk kernel, K2022)",
    "ptc_mr": "66.3 (Wasserstein WL, TGLRB2019)",
    "enzymes": "59.1 (Wasserstein WL, TGLRB2019); 55.2 (walk kernel, K2022)",
}


# -- graphs -----------------------------------------------------------------------------------


def gaussian(K: NDArray) -> list[NDArray]:
    """The kernel itself, and a Gaussian of the distances it measures."""
    d = K.diagonal()
    D = np.maximum(d[:, None] + d - 2 * K, 0)
    return [K, np.exp(-D / np.median(D[D > 0]))]


def nested_accuracy(matrices: list[NDArray], y: NDArray, repeats: int) -> tuple[float, float]:
    """Mean over repeats of ten folds; kernel and C are chosen inside each training fold."""
    means = []
    for seed in range(repeats):
        hits = np.zeros(len(y))
        for train, test in StratifiedKFold(10, shuffle=True, random_state=seed).split(
            y[:, None], y
        ):
            best: tuple[float, Any, NDArray] = (-1.0, None, matrices[0])
            for K in matrices:
                inner = StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=seed)
                search = GridSearchCV(SVC(kernel="precomputed"), {"C": C}, cv=inner)
                search.fit(K[np.ix_(train, train)], y[train])
                if search.best_score_ > best[0]:
                    best = (search.best_score_, search, K)
            hits[test] = best[1].predict(best[2][np.ix_(test, train)]) == y[test]
        means.append(100 * hits.mean())
    return float(np.mean(means)), float(np.std(means))


def graph_rows() -> Iterator[Row]:
    for name in STOPS:
        bunch = load_graphs(name)
        families: dict[str, list[Any]] = {
            "GraphKernel": [GraphKernel(s, normalise=True, tol=1e-6) for s in STOPS[name]],
            "WeisfeilerLehman": [WeisfeilerLehman(h, normalise=True) for h in ROUNDS[name]],
        }
        for family, kernels in families.items():
            begin = time.perf_counter()
            matrices = [M for kernel in kernels for M in gaussian(kernel(bunch.data))]
            took = time.perf_counter() - begin
            mean, spread = nested_accuracy(matrices, bunch.target, REPEATS[name])
            shown = f"{mean:.1f} ± {spread:.1f}" if REPEATS[name] > 1 else f"{mean:.1f}"
            yield name, family, shown, f"{took:.1f}", PUBLISHED[name]


# -- the document -----------------------------------------------------------------------------


def table(head: Row, rows: list[Row]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def kept_rows(path: Path | None, which: int) -> list[Row]:
    """Rows of a table of the document as it was, for parts that are not measured again."""
    if path is None or not path.exists():
        return []
    parts = path.read_text("utf-8").split("\n## ")[1:]
    part = parts[which] if which < len(parts) else ""
    lines = [line for line in part.splitlines() if line.startswith("|")][2:]
    return [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]


def document(graphs: list[Row], sequences: list[Row], ratings: list[Row]) -> str:
    return f"""# Sequences and graphs: classified and predicted

Written by `benchmarks/structures_tables.py`. {machine()}; {versions()}; commit {commit()}.

## Graphs: classification

Support vector machine; accuracy in per cent of nested cross-validation: ten outer folds, and inside each
training fold three inner ones that choose the kernel's parameter, whether a Gaussian of its distances is
taken, and C. MUTAG: mean and standard deviation of three repeats; others once.
Seconds are those of all Gram matrices. The published figures are as the papers state them:
Togninalli, Ghisu, Llinares-Lopez, Rieck and Borgwardt, Wasserstein Weisfeiler-Lehman graph kernels
(NeurIPS 2019), and Kriege, Weisfeiler and Leman go walking (NeurIPS 2022).

{table(("set", "kernel", "accuracy", "seconds", "published"), graphs)}

## Sequences: prediction

{SEQUENCES}

{table(HEAD, sequences)}

{verdict(sequences)}

## Ratings: incomplete outputs

{RATINGS}

{table(RATINGS_HEAD, ratings)}
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", default="sequences,graphs,ratings")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--sets", default="; ".join(SETS), help="of sequences, with semicolons")
    parser.add_argument("--methods", default="; ".join(METHODS), help="of sequences, likewise")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    parts = ("graphs", "sequences", "ratings")
    found = {part: kept_rows(options.write, k) for k, part in enumerate(parts)}
    names, methods = (
        [name.strip() for name in given.split(";")] for given in (options.sets, options.methods)
    )
    jobs = {
        "sequences": sequence_rows(names, methods, options.seeds),
        "graphs": graph_rows(),
        "ratings": rating_rows(options.seeds),
    }
    for part, job in jobs.items():
        if part not in options.only.split(","):
            continue
        for row in job:
            print(" | ".join(row), flush=True)
            name = 1 if part == "ratings" else 2  # columns that say which row it is
            found[part] = [r for r in found[part] if r[:name] != row[:name]] + [row]
            if part == "sequences":
                found[part].sort(key=in_order)
            write(options.write, found)  # after every row: a run that is ended has not been in vain


def write(path: Path | None, found: dict[str, list[Row]]) -> None:
    if path is not None:
        path.write_text(
            document(found["graphs"], found["sequences"], found["ratings"]), encoding="utf-8"
        )


if __name__ == "__main__":
    main()
