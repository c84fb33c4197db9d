"""How good is what an estimator chooses by itself, called alone?

Every public map, projection and classifier by its default call, on the tables of ``_alone_tables.py``,
beside what users of scikit-learn would call: ``RidgeCV`` with 41 weights, a grid of 36 ``KernelRidge``,
``RidgeClassifierCV``, and ten neighbours on three coordinates of PLS. A cell is a table with a number of
training rows, its error the mean over draws. Shown are the geometric mean over the cells of the error over
that of the peer, the worst cell, and processor seconds over the peer's, all within one run.

    ISTHMUS_DATA=... python benchmarks/defaults_alone.py [--groups maps kernels] [--tables corn ...]
        [--only Dependency ...] [--draws 3] [--held-back] [--results FILE] [--write docs/defaults.md]

Half of the tables are held back: nothing was tuned on them, and ``--held-back`` runs them too. With
``--results`` what the file has is not run again, so that a run can be made in parts. ``--tables`` and
``--only`` take beginnings of names.
"""

from __future__ import annotations

import argparse
import inspect
import json
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from _alone_tables import Table, class_draw, class_tables, draw, tables
from _common import commit, machine, markdown, versions, write
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeClassifierCV, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor

import isthmus
from isthmus import regression

FIRST_SEED = 50
WEIGHTS = np.logspace(-5, 5, 41)
FEW_ROWS = 70  # of tables on which posteriors and KDR, which take minutes, are judged

Model = Callable[[], Any]


@dataclass(frozen=True)
class Group:
    """Estimators that are judged alike: the peer first."""

    title: str
    said: str
    models: dict[str, Model]
    error: Callable[[Any, Any], float]
    tables: Callable[[bool], Iterator[Table]]
    draw: Callable[..., Any]
    slow: tuple[str, ...] = ()


# -- what is called -----------------------------------------------------------------------------


def ridge() -> Any:
    return RidgeCV(WEIGHTS)


def grid() -> Any:
    values = {"alpha": np.logspace(-4, 1, 6), "gamma": np.logspace(-3.5, 0, 6)}
    return GridSearchCV(KernelRidge(kernel="rbf"), values, cv=5)


class Halves:
    """A map from two blocks: the first half of the columns, and the second."""

    def __init__(self, cls: Any) -> None:
        self.cls = cls

    def fit(self, X: Any, Y: Any) -> Any:
        half = (X.shape[1] + 1) // 2
        blocks = [slice(0, half), slice(half, X.shape[1])]
        return self.cls([b for b in blocks if b.stop > b.start]).fit(X, Y)


class Coordinates:
    """Ten neighbours on three supervised coordinates."""

    def __init__(self, cls: Any) -> None:
        self.cls = cls

    def fit(self, X: Any, Y: Any) -> Coordinates:
        has_kernel = "kernel" in inspect.signature(self.cls).parameters
        self.map = self.cls(3 if has_kernel else min(3, X.shape[1])).fit(X, Y)
        self.near = KNeighborsRegressor(10).fit(self.map.transform(X), Y)
        return self

    def predict(self, X: Any) -> Any:
        return self.near.predict(self.map.transform(X))


def squares(P: Any, D: Any) -> float:
    return float(((np.asarray(P).reshape(D.shape) - D) ** 2).mean())


def mistakes(P: Any, y: Any) -> float:
    return float((P != y).mean()) + 1.0 / len(y)  # one more: none at all would have no ratio


MAPS: dict[str, Model] = {
    "RidgeCV": ridge,
    **{
        f"{name}({word!r})" if word else f"{name}()": lambda cls=cls, word=word: (
            cls(word) if word else cls()
        )
        for name, words in {
            "ReducedRankRegression": ("", "auto"),
            "StiefelRegression": ("", "auto"),
            "ManifoldPLS": ("", "auto"),
            "PLS": ("", "auto"),
            "PCR": ("", "auto"),
            "OPLS": ("", "auto"),
            "SparseFactors": ("",),
            "BayesianStiefelRegression": ("",),
        }.items()
        for word in words
        for cls in [getattr(regression, name)]
    },
    **{
        f"{name}() of halves": lambda name=name: Halves(getattr(regression, name))
        for name in ("BlockRidge", "MultiblockPLS", "SequentialPLS")
    },
}
KERNELS: dict[str, Model] = {
    "grid of KernelRidge": grid,
    "RidgeCV": ridge,
    "DependencyRegressor()": isthmus.DependencyRegressor,
}
PROJECTIONS: dict[str, Model] = {
    f"{name}(3)": lambda name=name: Coordinates(getattr(isthmus, name))
    for name in ("PLS", "COIR", "KernelCCA", "MORP", "KernelSIR", "SIR", "KDR")
}
CLASSIFIERS: dict[str, Model] = {
    "RidgeClassifierCV": lambda: RidgeClassifierCV(WEIGHTS),
    "LDA": LinearDiscriminantAnalysis,
    "IndicatorClassifier()": lambda: isthmus.IndicatorClassifier(),  # type: ignore[call-arg]
    **{
        f"IndicatorClassifier({name}('auto'))": lambda name=name: isthmus.IndicatorClassifier(
            getattr(isthmus, name)("auto")
        )
        for name in ("ReducedRankRegression", "PLS", "ManifoldPLS")
    },
}
GROUPS = {
    "maps": Group(
        "Linear maps", "squared error", MAPS, squares, tables, draw, ("BayesianStiefelRegression()",)
    ),
    "kernels": Group("Kernel ridge", "squared error", KERNELS, squares, tables, draw),
    "projections": Group(
        "Projections", "squared error of ten neighbours", PROJECTIONS, squares, tables, draw, ("KDR(3)",)
    ),
    "classes": Group(
        "Classifiers", "share of wrong answers", CLASSIFIERS, mistakes, class_tables, class_draw
    ),
}  # fmt: skip


# -- the run ----------------------------------------------------------------------------------

Key = tuple[str, str, int, int, str]  # group, table, training rows, draw, model


class Results:
    """Errors and seconds of every run, kept in a file if there is one."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.found: dict[Key, dict[str, Any]] = {}
        if path and path.exists():
            for line in path.read_text("utf-8").splitlines():
                row = json.loads(line)
                self.found[self._key(row)] = row

    @staticmethod
    def _key(row: dict[str, Any]) -> Key:
        return row["group"], row["table"], row["n"], row["draw"], row["model"]

    def add(self, row: dict[str, Any]) -> None:
        self.found[self._key(row)] = row
        if self.path:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")


def judge(make: Model, group: Group, rows: Any) -> dict[str, Any]:
    """Fit one estimator and predict: its error and seconds, or why it refused."""
    A, C, B, D = rows
    target = B[:, 0] if B.ndim == 2 and B.shape[1] == 1 else B
    begin = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            predicted = make().fit(A, target).predict(C)
    except (ValueError, TypeError, ArithmeticError, np.linalg.LinAlgError) as error:
        return {"refused": f"{type(error).__name__}: {error}"[:300]}
    seconds = time.process_time() - begin
    return {"error": group.error(predicted, D), "seconds": seconds, "q": int(np.size(target[0]))}


def wanted(name: str, beginnings: list[str] | None) -> bool:
    return not beginnings or any(name.lower().startswith(b.lower()) for b in beginnings)


def run(given: Any, results: Results) -> None:
    """Run what is asked for and not there yet; print every cell."""
    for name in given.groups:
        group = GROUPS[name]
        peers = (
            ("grid of KernelRidge", "RidgeCV") if name == "kernels" else (next(iter(group.models)),)
        )
        models = {
            m: make for m, make in group.models.items() if m in peers or wanted(m, given.only)
        }
        print(
            f"== {group.title}: {group.said}\n{'':31}n  "
            + " ".join(f"{m[-22:]:>22}" for m in models)
        )
        for table in group.tables(given.held_back):
            if not wanted(table.name, given.tables):
                continue
            try:
                X, Y = table.load()
            except (FileNotFoundError, ModuleNotFoundError) as missing:
                print(f"{table.name}: left out, {missing}")
                continue
            for n in table.sizes:
                for k in range(given.draws):
                    rows = group.draw(X, Y, n, FIRST_SEED + k)
                    for model, make in models.items():
                        key = name, table.name, n, k, model
                        if key in results.found or (
                            model in group.slow and len(rows[0]) > FEW_ROWS
                        ):
                            continue
                        labels = dict(zip(("group", "table", "n", "draw", "model"), key))
                        results.add(labels | judge(make, group, rows))
                cells = [mean_error(results, name, table.name, n, m, given.draws) for m in models]
                print(f"{table.name:28}{n:5}" + " ".join(f"{e:22.4f}" for e in cells), flush=True)


def mean_error(results: Results, *key: Any) -> float:
    """The mean over draws; not a number where one is missing."""
    group, table, n, model, draws = key
    rows = [results.found.get((group, table, n, k, model), {}) for k in range(draws)]
    return float(np.mean([row.get("error", np.nan) for row in rows]))


# -- the tables of the page ---------------------------------------------------------------------


@dataclass
class Cell:
    table: Table
    n: int
    errors: dict[str, float]
    seconds: dict[str, float]


def cells(given: Any, results: Results, name: str) -> list[Cell]:
    """Errors and seconds of every table and number of rows."""
    group, found = GROUPS[name], []
    for table in group.tables(given.held_back):
        for n in table.sizes:
            if not wanted(table.name, given.tables):
                continue
            errors, seconds = {}, {}
            for model in group.models:
                e = mean_error(results, name, table.name, n, model, given.draws)
                if np.isfinite(e):
                    errors[model] = e
                    keys = [(name, table.name, n, k, model) for k in range(given.draws)]
                    seconds[model] = float(np.mean([results.found[k]["seconds"] for k in keys]))
            found.append(Cell(table, n, errors, seconds))
    return found


def summary(
    results: Results, name: str, found: list[Cell], peer: str, *, better: str = ""
) -> list[list[str]]:
    """One line per model: mean and worst over the peer, or over the better of two."""
    lines = []
    for model in GROUPS[name].models:
        own = [c for c in found if model in c.errors and peer in c.errors]
        if model == peer or (better and model == better):
            continue
        if not own:
            if raised := refused(results, name, model, found):
                lines.append([f"`{model}`", *["-"] * 4, f"refused {raised}"])
            continue
        floor = [min(c.errors[peer], c.errors[better]) if better else c.errors[peer] for c in own]
        ratios = np.array([c.errors[model] / f for c, f in zip(own, floor)])
        worst = own[int(ratios.argmax())]
        times = [sum(c.seconds[m] for c in own) for m in (model, peer)]
        planted = [r for r, c in zip(ratios, own) if c.table.planted]
        lines.append([
            f"`{model}`" if "(" in model else model,
            f"{geometric(ratios):.3f}",
            f"{geometric(planted):.2f}" if planted else "-",
            f"{ratios.max():.2f} ({worst.table.name}, {worst.n})",
            f"{times[0] / times[1]:.2g}",
            str(len(own)) + (f", refused {c}" if (c := refused(results, name, model, found)) else ""),
        ])  # fmt: skip
    return lines


def refused(results: Results, name: str, model: str, found: list[Cell]) -> int:
    """In how many cells an estimator raised."""
    rows = results.found.values()
    cells = {
        (r["table"], r["n"])
        for r in rows
        if (r["group"], r["model"]) == (name, model) and "refused" in r
    }
    return sum((c.table.name, c.n) in cells for c in found)


def geometric(ratios: Any) -> float:
    return float(np.exp(np.log(ratios).mean()))


def page(given: Any, results: Results) -> str:
    """What the run found, as a page."""
    parts = [HEAD]
    for name in given.groups:
        group, peer = GROUPS[name], next(iter(GROUPS[name].models))
        every = cells(given, results, name)
        seen = {t.name for t in group.tables(False)}
        kinds = {"Tables that were looked at": [c for c in every if c.table.name in seen]}
        if given.held_back:
            kinds["Tables held back"] = [c for c in every if c.table.name not in seen]
        parts += [f"## {group.title}", f"The {group.said}, over that of {peer}."]
        for title, chosen in kinds.items():
            head = ["called", "mean", "planted ranks", "worst (table, rows)", "seconds", "cells"]
            lines = summary(results, name, chosen, peer)
            if name == "kernels":
                both = summary(results, name, chosen, peer, better="RidgeCV")
                lines += [[f"{row[0]}, over the better of both", *row[1:]] for row in both]
            if name == "classes":
                head.remove("planted ranks")
                lines = [[*row[:2], *row[3:]] for row in lines]
            parts += [f"{title}:", markdown(head, lines)]
    draws = f"{given.draws} draws" if given.draws > 1 else "one draw"
    parts.append(f"Measured with {versions()}; {machine()}; commit {commit()}; {draws}.")
    return "\n\n".join(parts) + "\n"


HEAD = """# Defaults, alone

Made by `benchmarks/defaults_alone.py`: every estimator as it is called without a number, on tables of 14
to 400 training rows, beside what users of scikit-learn would call: `RidgeCV` with 41 weights, a grid of
36 `KernelRidge`, ten neighbours on three coordinates of PLS, `RidgeClassifierCV`. Inputs, and outputs
that are numbers, are standardised by the training rows. A cell is a table with a number of training rows,
its error the mean over draws of these. Shown are the geometric mean over the cells of the error over the
peer's (below 1 the default is better), the same over the tables with a planted rank, the worst cell, and
the processor time over the peer's. Tables held back were not looked at while the defaults were made.

`ReducedRankRegression`, `StiefelRegression` and `ManifoldPLS`, one map, are as good as `RidgeCV`, and
better where a rank is planted and `"auto"` finds it. Components without a ridge, `PLS("auto")` and
`PCR("auto")`, miss some percent, more on smooth spectra and where rows are few; so does the posterior, on
smooth spectra most. Calls without `"auto"` whose number of components is fixed, such as `PLS()`, are here
too: two components are what they mean, not a choice, and `PCR()`, all components, is least squares.
`OPLS` is the map of `PLS`, and `KernelCCA` has here the coordinates of `COIR`.

`BayesianStiefelRegression()` and `KDR(3)` are judged on tables of at most 70 training rows. An error of a
classifier counts one wrong answer more than there is, so that none at all has a ratio. The tecator table
was recorded on a Tecator Infratec Food and Feed Analyzer."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--groups", nargs="+", choices=GROUPS, default=list(GROUPS))
    parser.add_argument("--tables", nargs="+", help="beginnings of their names")
    parser.add_argument(
        "--only", nargs="+", help="beginnings of the estimators' names; peers always run"
    )
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--held-back", action="store_true", help="run the tables held back too")
    parser.add_argument("--results", type=Path, help="file of runs, continued if it is there")
    parser.add_argument("--write", type=Path, help="page to write")
    given = parser.parse_args()
    results = Results(given.results)
    run(given, results)
    text = page(given, results)
    print(text)
    if given.write:
        write(text, given.write)


if __name__ == "__main__":
    main()
