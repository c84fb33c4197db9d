"""How small can a fitted kernel model become, at what cost, and how much faster does it predict?

Kernel ridge of 3000 rows (abalone, kin8nm, pumadyn), support vector machines (USPS, letter), and the greedy
pursuit against the penalties l1 and l0. Times are of one run and compared within it. Needs the
environment variable ISTHMUS_DATA.

    ISTHMUS_DATA=... python benchmarks/compression.py --write docs/compression.md
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from _common import Row, best_times, print_header, print_row, print_summary, record, versions
from sklearn.kernel_ridge import KernelRidge
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from isthmus import compress
from isthmus.compression.select import by_l0, by_l1, greedy, make_problem
from isthmus.datasets import load_letter, load_raetsch, load_table, load_usps
from isthmus.expansion import Expansion
from isthmus.kernels import median_gamma

N_RIDGE = 3000
MOST_LOSS = {"abalone": 0.02, "kin8nm": 0.06, "pumadyn": 0.06}
PREDICTION_SPEED, PURSUIT_SPEED, SVC_POINTS = 7.0, 15.0, 0.3
ALPHAS = (1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0)


def side_by_side(model: Any, small: Any, X: Any, repeats: int = 5) -> tuple[float, float]:
    """Milliseconds of both predictions, in turns, so that a busy moment meets both."""
    jobs = {"slow": lambda: model.predict(X), "fast": lambda: small.predict(X)}
    times = best_times(jobs, repeats)
    return 1e3 * times["slow"], 1e3 * times["fast"]


# -- kernel ridge ------------------------------------------------------------------------------


def ridge_model(name: str) -> tuple[KernelRidge, Any, Any]:
    """Fitted to 3000 rows; width by the median rule, ridge weight by 1000 of them held out."""
    bunch = load_table(name)
    order = np.random.default_rng(0).permutation(len(bunch.data))
    X = StandardScaler().fit_transform(bunch.data)[order]
    y = (bunch.target[order] - bunch.target.mean()) / bunch.target.std()
    gamma = median_gamma(X[:N_RIDGE], random_state=0)

    def held_out(alpha: float) -> float:
        model = KernelRidge(kernel="rbf", gamma=gamma, alpha=alpha).fit(X[:2000], y[:2000])
        return float(((model.predict(X[2000:3000]) - y[2000:3000]) ** 2).mean())

    alpha = min(ALPHAS, key=held_out)
    model = KernelRidge(kernel="rbf", gamma=gamma, alpha=alpha).fit(X[:N_RIDGE], y[:N_RIDGE])
    return model, X[N_RIDGE:], y[N_RIDGE:]


def ridge_lines(rows: list[Row]) -> list[str]:
    lines = [
        "| set | full error | method | points | test error | rise | compressed in | predicts faster |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, allowed in MOST_LOSS.items():
        model, X, y = ridge_model(name)
        full = float(((model.predict(X) - y) ** 2).mean())
        for method, size in _sizes():
            begin = time.perf_counter()
            small = compress(model, size, method=method, random_state=0, max_iter=60)
            took = time.perf_counter() - begin
            error = float(((small.predict(X) - y) ** 2).mean())
            slow, fast = side_by_side(model, small, X)
            lines.append(
                f"| {name} | {full:.4f} | {method} | {size} | {error:.4f} "
                f"| {100 * (error / full - 1):+.2f} % | {took:.2f} s | {slow / fast:.1f} x |"
            )
            print(lines[-1], flush=True)
            if method == "greedy" and size == N_RIDGE // 10:
                note = f"test error {100 * (error / full - 1):+.2f} %, bound {100 * allowed:+.0f} %"
                row = Row(
                    f"kernel ridge predicts, {name}",
                    f"{N_RIDGE} -> {size}",
                    1,
                    fast,
                    slow,
                    1 / PREDICTION_SPEED,
                    peer="all points",
                    note=note if error <= (1 + allowed) * full else f"MISSED {note}",
                )
                rows.append(row)
                print_row(row)
    return lines


def _sizes() -> list[tuple[str, int]]:
    return [
        *(("greedy", size) for size in (300, 200, 100, 50, 25)),
        *(("construct", size) for size in (150, 100, 50, 25)),
        ("landmarks", 300),
        ("landmarks", 100),
    ]


# -- support vector machines -------------------------------------------------------------------


def machine(name: str) -> tuple[SVC, Any, Any]:
    if name == "usps":
        bunch, model = load_usps(), SVC(C=10, gamma=1 / 128)
        X = bunch.data
    else:
        bunch, model = load_letter(), SVC(C=10, gamma=0.125)
        X = StandardScaler().fit(bunch.data[bunch.train_index]).transform(bunch.data)
    train = bunch.train_index
    test = np.setdiff1d(np.arange(len(X)), train)
    model.fit(X[train], bunch.target[train])
    return model, X[test], bunch.target[test]


def machine_lines(rows: list[Row]) -> list[str]:
    lines = [
        "| set | support vectors | test error | points | test error | difference | predicts faster |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in ("usps", "letter"):
        model, X_test, y_test = machine(name)
        n = len(model.support_vectors_)
        full = 100 * (1 - model.score(X_test, y_test))
        begin = time.perf_counter()
        small = compress(model, n // 3)
        took = time.perf_counter() - begin
        error = 100 * (1 - small.score(X_test, y_test))
        slow, fast = side_by_side(model, small, X_test, 2)
        lines.append(
            f"| {name} | {n} | {full:.2f} % | {n // 3} | {error:.2f} % | {error - full:+.2f} points | "
            f"{slow / fast:.1f} x |"
        )
        print(lines[-1], f"compressed in {took:.1f} s", flush=True)
        within = abs(error - full) <= SVC_POINTS or error < full
        note = f"test error {error - full:+.2f} points, bound {SVC_POINTS:+.1f}"
        row = Row(
            f"SVC predicts, {name}",
            f"{n} -> {n // 3}",
            1,
            fast,
            slow,
            1.0,
            peer="all support vectors",
            note=note if within else f"MISSED {note}",
        )
        rows.append(row)
        print_row(row)
    return lines


# -- against penalties -------------------------------------------------------------------------


def penalty_lines(rows: list[Row]) -> list[str]:
    """Ten sizes: one greedy run gives them all, the penalties are solved anew for each."""
    lines = [
        "| set | N | method | time | relative error at the largest size |",
        "|---|---|---|---|---|",
    ]
    for name, n_train in (("german", 400), ("image", 600), ("waveform", 400)):
        bunch = load_raetsch(name)
        order = np.random.default_rng(0).permutation(len(bunch.data))[:n_train]
        X, y = bunch.data[order], bunch.target[order]
        expansion = Expansion.from_model(SVC(C=10).fit(X, y))
        problem = make_problem(expansion, None)
        N = len(problem)
        sizes = np.unique(np.linspace(N // 20, N // 4, 10).astype(int))
        took, errors = {}, {}
        for method in ("greedy", "l1", "l0"):
            begin = time.perf_counter()
            if method == "greedy":
                pursuit = greedy(problem, int(sizes[-1]), 0.0, "ols")[1]
            else:
                for size in sizes:
                    pursuit = (by_l1 if method == "l1" else by_l0)(problem, int(size), "ols")[1]
            took[method], errors[method] = time.perf_counter() - begin, pursuit.errors[-1]
            lines.append(
                f"| {name} | {N} | {method} | {1e3 * took[method]:.0f} ms | {errors[method]:.4f} |"
            )
            print(lines[-1], flush=True)
        for method in ("l1", "l0"):
            row = Row(
                f"ten sizes, {name}",
                f"{N} -> {sizes[-1]}",
                1,
                1e3 * took["greedy"],
                1e3 * took[method],
                1 / PURSUIT_SPEED,
                peer=method,
                note=f"error {errors['greedy']:.4f} against {errors[method]:.4f}",
            )
            rows.append(row)
            print_row(row)
    return lines


# -- the document ------------------------------------------------------------------------------


def document(parts: dict[str, str], path: Path) -> str:
    """The text; tables that were not asked for are taken from the file that is there."""
    if len(parts) < 3:
        kept = re.findall(r"(?:^\|.*\n)+", path.read_text("utf-8"), flags=re.MULTILINE)
        parts = (
            dict(zip(("ridge", "machines", "penalties"), (table.strip() for table in kept))) | parts
        )
    ridge, machines, penalties = (parts[name] for name in ("ridge", "machines", "penalties"))
    return f"""# Compression: how small, how fast

Written by [`benchmarks/compression.py`](../benchmarks/compression.py); times are ratios within one run,
on one thread. {versions()}.

## Kernel ridge of {N_RIDGE} rows

Inputs standardised, RBF kernel of the median width, ridge weight by held-out rows. The error is the mean
squared error of standardised outputs on the rows that remain. `greedy` chooses points, `construct` lets
them move from there, `landmarks` draws them at random; all are refitted on the outputs.
Whether moving points save half of them is seen by comparing `construct` with `greedy` of twice the size.

{ridge}

On pumadyn a kernel of equal width in all 32 inputs learns next to nothing, whatever its points.

## Support vector machines

All pairs of classes together, a third of the support vectors, no labels looked at.

{machines}

## Greedy pursuit against penalties

Support vector machines of two classes, ten sizes up to a quarter of the points.

{penalties}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="write the tables to this file")
    parser.add_argument("--only", help="of ridge,machines,penalties; the other tables are kept")
    parser.add_argument("--record", action="store_true", help="append the ratios to results.csv")
    options = parser.parse_args()
    if not os.environ.get("ISTHMUS_DATA"):
        sys.exit("ISTHMUS_DATA is not set: this benchmark needs the real data sets.")
    warnings.simplefilter("ignore")
    print_header()
    rows: list[Row] = []
    questions = {"ridge": ridge_lines, "machines": machine_lines, "penalties": penalty_lines}
    chosen = list(questions) if options.only is None else options.only.split(",")
    parts = {name: "\n".join(questions[name](rows)) for name in chosen}
    print_summary(rows)
    if options.write:
        options.write.write_text(document(parts, options.write), "utf-8")
    if options.record:
        record(rows)


if __name__ == "__main__":
    main()
