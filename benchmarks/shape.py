"""How large is the library, how tangled, and how far does one call walk through it?

Each row has a limit, which is the number of the commit before or lower, and a goal. The script fails if a
row is above its limit. A limit falls with what is removed; a commit that raises one says what it bought.

*Code* is lines of tokens without comments, blank lines and docstrings; the *core* is the package without
``papers`` and ``applications``. A *deep import* names a file of another room, or of its sub-package, in
place of a package. A *walk* is the functions that a second call enters, and in how many files; names that
begin with ``<`` are not counted.

    python benchmarks/shape.py [--quick]        # --quick: what can be read from the source
"""

from __future__ import annotations

import argparse
import ast
import io
import os
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "isthmus"
GUESTS = {"papers", "applications"}
FOLD_MAKERS = r"(?<!class )\b(\w*KFold|check_cv|cross_val_\w+|TimeSeriesSplit|LeaveOneOut)\("
BANNED = set(
    "streamed stages problem given models scores paths chains splits fitted trust held_out crossval "
    "samples".split()
)
UNIT_PLUMBING = r"\b(power_of_two|weight_unit|graded_units|output_units|Units)\b"


class Row(NamedTuple):
    name: str
    measure: Callable[[], float]
    limit: float
    goal: float
    held: bool = False
    quick: bool = True


@cache
def sources() -> dict[str, tuple[Path, str]]:
    """Dotted names of all modules, with path and text."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = path, path.read_text("utf-8")
    return found


@cache
def tree(name: str) -> ast.Module:
    return ast.parse(sources()[name][1])


def room(name: str) -> str:
    return f"{name}.".split(".")[1]


def core() -> list[str]:
    return [name for name in sources() if room(name) not in GUESTS]


def code_lines(text: str) -> int:
    skipped = {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    }
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in skipped:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            lines -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return len(lines)


def core_code() -> int:
    return sum(code_lines(sources()[name][1]) for name in core())


def is_file(name: str) -> bool:
    return name in sources() and sources()[name][0].name != "__init__.py"


def deep_imports() -> Iterator[str]:
    """Imports that name a file of another room, or a file as a name."""
    for name in sources():
        for node in ast.walk(tree(name)):
            if isinstance(node, ast.Import):
                named = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                base = node.module or ""
                named = [base] if is_file(base) else [f"{base}.{a.name}" for a in node.names]
            else:
                continue
            for target in named:
                # A room that is one file (isthmus._validation) is its own door.
                if target.count(".") > 1 and is_file(target) and room(target) != room(name):
                    yield f"{name}:{node.lineno} {target}"


def fold_makers() -> list[str]:
    return [name for name in core() if re.search(FOLD_MAKERS, sources()[name][1])]


def repeated_classes() -> list[str]:
    """Classes of one name in several files of the core; private ones too."""
    found = Counter(
        node.name for name in core() for node in ast.walk(tree(name)) if type(node) is ast.ClassDef
    )
    return [name for name, times in found.items() if times > 1]


def repeated_files() -> list[str]:
    """Files of the core with a banned name that another file of the core has too."""
    stems = Counter(
        name.rsplit(".", 1)[1] for name in core() if name.count(".") > 1 and is_file(name)
    )
    return [
        n for n in core() if is_file(n) and (s := n.rsplit(".", 1)[1]) in BANNED and stems[s] > 1
    ]


def unit_plumbing() -> int:
    return sum(
        bool(re.search(UNIT_PLUMBING, line))
        for n in core()
        for line in sources()[n][1].splitlines()
    )


def names_of_tests() -> int:
    """Names that tests of the core import from files, other than the file they are named after."""
    found = set()
    for path in (ROOT / "tests").rglob("*.py"):
        if GUESTS & set(path.parts):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if (
                isinstance(node, ast.ImportFrom)
                and is_file(node.module or "")
                and node.module.count(".") > 1
            ):
                if path.stem != f"test_{node.module.rsplit('.', 1)[1]}":
                    found |= {(path, node.module, alias.name) for alias in node.names}
    return len(found)


def public_names() -> int:
    import importlib

    rooms = {room(n) for n in core()} - {"", "datasets"}
    doors = [importlib.import_module(f"isthmus.{r}") for r in rooms if not r.startswith("_")]
    return len(set().union(*(getattr(door, "__all__", ()) for door in doors)))


def top_level_names() -> int:
    import isthmus

    return len(isthmus.__all__)


def walk(job: Callable[[], object]) -> tuple[int, int]:
    """Functions of the package that a second call of ``job`` enters, and the number of their files."""
    job()
    seen = set()

    def note(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(PACKAGE)) and code.co_name[0] != "<":
            seen.add((code.co_filename, code.co_qualname))

    sys.setprofile(note)
    try:
        job()
    finally:
        sys.setprofile(None)
    return len(seen), len({file for file, _ in seen})


def entered(job: Callable[[], object]) -> int:
    """Calls of functions of Python and C while ``job`` runs: a clock that no other process disturbs."""
    count = 0

    def note(frame, event, _):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        job()
    finally:
        sys.setprofile(None)
    return count


def words(n: int) -> tuple[list[str], list[str]]:
    """Words of three to eight letters, and the same with letters exchanged for others."""
    import numpy as np

    rng = np.random.default_rng(0)
    found: dict[str, None] = {}
    while len(found) < n:
        found["".join(rng.choice(list("abcdefghij"), rng.integers(3, 9)))] = None
    return list(found), [w.translate(str.maketrans("abcdefghij", "ABKDEFGHIJ")) for w in found]


def fit_words(n: int) -> object:
    from isthmus import DependencyRegressor

    return DependencyRegressor().fit(*words(n))


def cliff() -> float:
    """Operations of a fit of n + 1 strings over those of n, the largest at a few n from 5 to 200."""
    largest = 0.0
    fit_words(35)
    for n in (5, 12, 20, 29, 30, 39, 59, 60, 100, 199):
        ratios = entered(lambda n=n: fit_words(n + 1)) / entered(lambda n=n: fit_words(n))
        largest = max(largest, ratios)
    return largest


def table(n: int, p: int, q: int):
    import numpy as np

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    return X, np.tanh(X[:, :3] @ rng.normal(size=(3, q))) + 0.3 * rng.normal(size=(n, q))


@cache
def walk_pls() -> tuple[int, int]:
    from isthmus import PLS

    X, Y = table(60, 12, 3)
    return walk(lambda: PLS(3).fit(X, Y))


@cache
def walk_auto() -> tuple[int, int]:
    import warnings

    from isthmus import fit_auto

    X, Y = table(100, 20, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return walk(lambda: fit_auto(X, Y))


@cache
def walk_command() -> tuple[int, int]:
    import contextlib
    import tempfile

    import numpy as np

    from isthmus.cli import main

    X, Y = table(100, 20, 3)
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        np.savetxt(
            here / "X.csv",
            X,
            delimiter=",",
            header=",".join(f"x{j}" for j in range(20)),
            comments="",
        )
        np.savetxt(here / "Y.csv", Y, delimiter=",", header="a,b,c", comments="")

        def job() -> None:
            with (
                contextlib.redirect_stdout(io.StringIO()),
                contextlib.redirect_stderr(io.StringIO()),
            ):
                with contextlib.suppress(SystemExit):
                    files = f"{here}/X.csv", f"{here}/Y.csv"
                    main(["fit", *files, "-o", f"{here}/m.isthmus", "--report", f"{here}/r.html"])

        return walk(job)


def peak() -> float:
    """Megabytes at the peak of a search over 22 ridge weights and 20 ranks by pooled errors."""
    import tracemalloc

    import numpy as np

    from isthmus import ComponentSearchCV, ReducedRankRegression

    X, Y = table(2000, 200, 20)
    search = ComponentSearchCV(
        ReducedRankRegression(),
        n_components=range(1, 21),
        alpha=np.logspace(-3, 4, 22),
        rule="pooled",
    )
    search.fit(X[:300], Y[:300])
    tracemalloc.start()
    search.fit(X, Y)
    return tracemalloc.get_traced_memory()[1] / 1e6


def rows() -> list[Row]:
    """What is measured, its limit today and its goal. Rows that are *held* must reach their goal."""
    return [
        Row("deep imports", lambda: len(list(deep_imports())), 0, 0, held=True),
        Row("files of the core that make folds", lambda: len(fold_makers()), 16, 3, held=True),
        Row(
            "classes that have the name of another",
            lambda: len(repeated_classes()),
            11,
            0,
            held=True,
        ),
        Row(
            "files with an empty name that others share",
            lambda: len(repeated_files()),
            38,
            0,
            held=True,
        ),
        Row("lines of code, core", core_code, 41828, 40074, held=True),
        Row("files, core", lambda: len(core()), 445, 350),
        Row("lines that name the plumbing of extreme units", unit_plumbing, 79, 10),
        Row("names that tests import from files", names_of_tests, 377, 190),
        Row("public names", public_names, 122, 145),
        Row("names of isthmus itself", top_level_names, 25, 32),
        Row("PLS(3).fit: functions", lambda: walk_pls()[0], 26, 27, held=True),
        Row("fit_auto, 100 x 20 -> 3: functions", lambda: walk_auto()[0], 475, 400, quick=False),
        Row("fit_auto: files", lambda: walk_auto()[1], 81, 68, quick=False),
        Row("isthmus fit: functions", lambda: walk_command()[0], 800, 700, quick=False),
        Row("isthmus fit: files", lambda: walk_command()[1], 135, 112, quick=False),
        Row("25 words: functions", lambda: walk(lambda: fit_words(25))[0], 167, 210, quick=False),
        Row("50 words: functions", lambda: walk(lambda: fit_words(50))[0], 232, 210, quick=False),
        Row("one more string, operations at most", cliff, 24, 1.3, held=True, quick=False),
        Row("pooled search, 440 parameters: peak in MB", peak, 572, 40, held=True, quick=False),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="only what is read from the source")
    quick = parser.parse_args().quick
    above = []
    print(f"{'':<48}{'now':>9}{'limit':>9}{'goal':>9}")
    for row in rows():
        if quick and not row.quick:
            continue
        now = row.measure()
        mark = "" if now <= row.goal else "  held" if row.held else "  told"
        print(f"{row.name:<48}{now:>9.5g}{row.limit:>9.5g}{row.goal:>9.5g}{mark}", flush=True)
        if now > row.limit:
            above.append(row.name)
    if above:
        sys.exit(f"above their limits: {', '.join(above)}")


if __name__ == "__main__":
    main()
