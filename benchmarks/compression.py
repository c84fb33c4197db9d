"""How small can a fitted kernel model become, at what cost, and how much faster does it predict?

Kernel ridge of 3000 rows (abalone, kin8nm, pumadyn) and of 1200 digits, the same for many widths and ridge
weights, support vector machines (USPS, letter), and the greedy pursuit against the penalties l1 and l0.
Times are of one run and compared within it. Needs the environment variable ISTHMUS_DATA.

    ISTHMUS_DATA=... python benchmarks/compression.py --write docs/compression.md
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
import warnings
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from _common import Row, best_times, print_header, print_row, print_summary, record, versions
from sklearn.datasets import load_digits
from sklearn.kernel_ridge import KernelRidge
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from isthmus import compress
from isthmus.datasets import load_letter, load_table, load_usps
from isthmus.kernels import median_gamma
from isthmus.kernels.selection import METHODS as SELECTIONS
from isthmus.papers.kernel_dependency_thesis.reduced_set_tables import (
    PENALTY_SETS,
    penalty_paths,
    penalty_problem,
)

N_RIDGE = 3000
MOST_LOSS = {"abalone": 0.02, "kin8nm": 0.06, "pumadyn": 0.06}
PREDICTION_SPEED, PURSUIT_SPEED, SVC_POINTS = 7.0, 15.0, 0.3
ALPHAS = (1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0)
DECADES = (1e-3, 1e-2, 1e-1, 1.0)
GRID_ALPHAS, GRID_WIDTHS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0), (0.3, 1.0, 3.0)
TWO_INPUTS = "pumadyn, two inputs"
PARTS = ("ridge", "grid", "machines", "penalties", "draws")
DRAWS, DRAW_ALPHAS = (*range(100, 105), *range(300, 308)), (1e-3, 3e-3, 1e-2)
SAME_ERROR = 1.001  # a tenth of a per cent: less than another draw of the test rows makes


def side_by_side(model: Any, small: Any, X: Any, repeats: int = 5) -> tuple[float, float]:
    """Milliseconds of both predictions, in turns, so that a busy moment meets both."""
    jobs = {"slow": lambda: model.predict(X), "fast": lambda: small.predict(X)}
    times = best_times(jobs, repeats)
    return 1e3 * times["slow"], 1e3 * times["fast"]


# -- kernel ridge ------------------------------------------------------------------------------


def ridge_model(name: str, alphas: tuple[float, ...] = ALPHAS) -> tuple[KernelRidge, Any, Any]:
    """Fitted to 3000 rows; width by the median rule, ridge weight by 1000 of them held out."""
    X, y, n = _rows(name)
    gamma, part = median_gamma(X[:n], random_state=0), 2 * n // 3

    def held_out(alpha: float) -> float:
        model = KernelRidge(kernel="rbf", gamma=gamma, alpha=alpha).fit(X[:part], y[:part])
        return float(((model.predict(X[part:n]) - y[part:n]) ** 2).mean())

    alpha = min(alphas, key=held_out)
    model = KernelRidge(kernel="rbf", gamma=gamma, alpha=alpha).fit(X[:n], y[:n])
    return model, X[n:], y[n:]


def _rows(name: str) -> tuple[Any, Any, int]:
    """Rows in an order of chance, standardised, and how many of them to fit to."""
    if name == "digits":  # scikit-learn's, ten outputs
        bunch = load_digits()
        order = np.random.default_rng(0).permutation(len(bunch.data))
        return bunch.data[order] / 16, np.eye(10)[bunch.target[order]], 1200
    bunch = load_table(name.partition(",")[0])
    order = np.random.default_rng(0).permutation(len(bunch.data))
    X = StandardScaler().fit_transform(bunch.data)[order]
    y = (bunch.target[order] - bunch.target.mean()) / bunch.target.std()
    return (X[:, _best_pair(X[:400], y[:400])] if name == TWO_INPUTS else X), y, N_RIDGE


def _best_pair(X: Any, y: Any) -> list[int]:
    """The two inputs with the least leave-one-out error of kernel ridge, of all pairs."""
    squares = [np.subtract.outer(x, x) ** 2 for x in X.T]

    def left_out(pair: tuple[int, int]) -> float:
        K = np.exp(-0.5 * (squares[pair[0]] + squares[pair[1]]))
        inverse = np.linalg.inv(K + 0.3 * np.eye(len(K)))
        return float(((inverse @ y / inverse.diagonal()) ** 2).mean())

    return list(min(combinations(range(len(squares)), 2), key=left_out))


def ridge_lines(rows: list[Row]) -> list[str]:
    lines = [
        "| set | ridge weight | full error | method | points | test error | rise | compressed in "
        "| predicts faster |",
        "|---" * 9 + "|",
    ]
    for name in (*MOST_LOSS, TWO_INPUTS, "digits"):
        lines += _one_set(name, ALPHAS, _sizes(), rows)
        if name in MOST_LOSS:  # another grid of ridge weights gives another model: both must do
            lines += _one_set(name, DECADES, [("greedy", 300)], rows)
    return lines


def grid_lines(rows: list[Row]) -> list[str]:
    """Rise of the test error at a tenth of the points, of the pursuit alone and as it is by default."""
    heads = " | ".join(f"{alpha:g}" for alpha in GRID_ALPHAS)
    lines = [f"| set | width | {heads} |", "|---" * (len(GRID_ALPHAS) + 2) + "|"]
    for name in MOST_LOSS:
        X, y, n = _rows(name)
        gamma = median_gamma(X[:n], random_state=0)
        for width in GRID_WIDTHS:
            cells = [_rises(X, y, n, width * gamma, alpha) for alpha in GRID_ALPHAS]
            lines.append(f"| {name} | {width:g} x | " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
    return lines


def draw_lines(rows: list[Row]) -> list[str]:
    """The same at the median width for other training rows of kin8nm, used to set no default."""
    lines = ["| draw | " + " | ".join(f"{alpha:g}" for alpha in DRAW_ALPHAS) + " |"]
    lines.append("|---" * (len(DRAW_ALPHAS) + 1) + "|")
    X, y, n = _rows("kin8nm")
    gamma = median_gamma(X[:n], random_state=0)
    for seed in DRAWS:
        order = np.random.default_rng(seed).permutation(len(X))
        cells = [_rises(X[order], y[order], n, gamma, alpha) for alpha in DRAW_ALPHAS]
        lines.append(f"| {seed} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    return lines


def _rises(X: Any, y: Any, n: int, gamma: float, alpha: float) -> str:
    model = KernelRidge(kernel="rbf", gamma=gamma, alpha=alpha).fit(X[:n], y[:n])
    errors = [
        float(((fitted.predict(X[n:]) - y[n:]) ** 2).mean())
        for fitted in (model, compress(model, n // 10, exchange=False), compress(model, n // 10))
    ]
    alone, default = (100 * (error / errors[0] - 1) for error in errors[1:])
    return f"{errors[0]:.3f}: {alone:+.1f}, {default:+.1f} %"


def _one_set(
    name: str, alphas: tuple[float, ...], sizes: list[tuple[str, int]], rows: list[Row]
) -> list[str]:
    model, X, y = ridge_model(name, alphas)
    full, n = float(((model.predict(X) - y) ** 2).mean()), len(model.X_fit_)
    lines, errors = [], {}
    for label, size in sizes:
        method, _, selection = label.partition(", ")
        begin = time.perf_counter()
        options = {"method": method, "selection": selection or "uniform", "random_state": 0}
        small = compress(model, size, **options)
        took = time.perf_counter() - begin
        errors[label, size] = error = float(((small.predict(X) - y) ** 2).mean())
        slow, fast = side_by_side(model, small, X)
        rise = 100 * (error / full - 1)
        lines.append(
            f"| {name} | {model.alpha:g} | {full:.4f} | {label} | {size} | {error:.4f} | {rise:+.2f} % "
            f"| {took:.2f} s | {slow / fast:.1f} x |"
        )
        print(lines[-1], flush=True)
        if size == n // 10 and method != "landmarks" and name in MOST_LOSS:
            note = f"test error {rise:+.2f} %, bound {100 * MOST_LOSS[name]:+.0f} %"
            row = Row(
                f"kernel ridge predicts, {name}, {method}",
                f"{n} -> {size}, alpha={model.alpha:g}",
                1,
                fast,
                slow,
                1 / PREDICTION_SPEED,
                peer="all points",
                note=note if error <= (1 + MOST_LOSS[name]) * full else f"MISSED {note}",
            )
            rows.append(row)
            print_row(row)
    rows += _halves(name, errors)
    return lines


def _halves(name: str, errors: dict[tuple[str, int], float]) -> list[Row]:
    """Test errors, times 10^4, of moving points against twice as many greedy ones."""
    rows = []
    for (label, size), error in errors.items():
        if label != "construct" or ("greedy", 2 * size) not in errors:
            continue
        row = Row(
            f"error with half the points, {name}",
            f"{size} against {2 * size}",
            1,
            1e4 * error,
            1e4 * errors["greedy", 2 * size],
            SAME_ERROR,
            peer="greedy",
            note="mean squared test errors, times 10^4",
        )
        rows.append(row)
        print_row(row)
    return rows


def _sizes() -> list[tuple[str, int]]:
    return [
        *(("greedy", size) for size in (300, 100, 50)),
        *(("construct", size) for size in (150, 50, 25)),
        *((f"landmarks, {name}", 300) for name in SELECTIONS),
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
    for name, n_train in PENALTY_SETS:
        expansion, sizes = penalty_problem(name, n_train)
        N = expansion.n_points
        took, errors = {}, {}
        for method, (seconds, errors_at) in penalty_paths(expansion, sizes).items():
            took[method], errors[method] = seconds, errors_at[-1]
            lines.append(
                f"| {name} | {N} | {method} | {1e3 * took[method]:.0f} ms | {errors[method]:.4f} |"
            )
            print(lines[-1], flush=True)
        begin = time.perf_counter()
        for size in sizes:
            small = compress(expansion, int(size))
        milliseconds = 1e3 * (time.perf_counter() - begin)
        lines.append(
            f"| {name} | {N} | greedy, exchange and refit of each size | {milliseconds:.0f} ms "
            f"| {small.compression_.errors[-1]:.4f} |"
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
    if len(parts) < len(PARTS):
        kept = re.findall(r"(?:^\|.*\n)+", path.read_text("utf-8"), flags=re.MULTILINE)
        parts = dict(zip(PARTS, (table.strip() for table in kept))) | parts
    ridge, grid, machines, penalties, draws = (parts[name] for name in PARTS)
    return f"""# Compression: how small, how fast

Written by [`benchmarks/compression.py`](../benchmarks/compression.py); times are ratios within one run,
on one thread. {versions()}.

## Kernel ridge of {N_RIDGE} rows

Inputs standardised, RBF kernel of the median width, ridge weight by held-out rows: of half decades for the
long tables, of decades for the line after them, since the bounds must not depend on the model. The
error is the mean squared error of standardised outputs on the rows that remain. `greedy` chooses points,
`construct` lets them move from there, `landmarks` takes them without a look at the functions; all are
refitted on the outputs. Points that move need half as many: compare `construct` with `greedy` of twice the
size; 25 on pumadyn with all its inputs are the exception. `digits` are scikit-learn's, 1200 rows, one
output a class.

{ridge}

On pumadyn a kernel of equal width in all 32 inputs learns next to nothing, whatever its points. With the
two inputs whose leave-one-out error is the least of all pairs it learns, and half the points do there too.

## Other widths and ridge weights

The same rows, a tenth of the points: the error of the full model, then by how much it rises with the
pursuit's points alone and with the exchange of points that is the default; both with the refit and its
ridge. Widths are gamma in units of the median rule, ridge weights are in columns. A tenth of the points is
not enough for kin8nm where the kernel is narrow and the ridge small: there `construct` is the way.

{grid}

## Support vector machines

All pairs of classes together, a third of the support vectors, no labels looked at.

{machines}

## Greedy pursuit against penalties

Support vector machines of two classes, ten sizes up to a quarter of the points. One pursuit gives all
ten; penalties are solved for each, and so is the exchange of points, which looks at outputs rather than
at the distance of functions shown here.

{penalties}

## Other draws of the rows

Kernel ridge of {N_RIDGE} other rows of kin8nm, median width, a tenth of the points, cells as in the second
table, ridge weights in columns. These draws were used to set nothing: how the exchange is done was chosen
on others, by the distance from the full model. At a ridge weight of 0.001 the rise is about five and a
half per cent on average, and six of the thirteen draws are beyond six per cent, by less than one; from
0.003 on all are within.

{draws}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="write the tables to this file")
    parser.add_argument(
        "--only", help="of ridge,grid,machines,penalties,draws; the other tables are kept"
    )
    parser.add_argument("--no-record", action="store_true", help="do not append to results.csv")
    options = parser.parse_args()
    if not os.environ.get("ISTHMUS_DATA"):
        sys.exit("ISTHMUS_DATA is not set: this benchmark needs the real data sets.")
    warnings.simplefilter("ignore")
    print_header()
    rows: list[Row] = []
    questions = dict(
        zip(PARTS, (ridge_lines, grid_lines, machine_lines, penalty_lines, draw_lines))
    )
    chosen = list(questions) if options.only is None else options.only.split(",")
    parts = {name: "\n".join(questions[name](rows)) for name in chosen}
    print_summary(rows)
    if options.write:
        options.write.write_text(document(parts, options.write), "utf-8")
    if not options.no_record:
        record(rows)


if __name__ == "__main__":
    main()
