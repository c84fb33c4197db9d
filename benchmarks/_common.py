"""What the benchmarks share: contests within one run, one table, one file of results."""

from __future__ import annotations

import argparse
import csv
import os
import platform
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_info

import isthmus
from isthmus.datasets.registry import DataSet

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results.csv"
PACKAGES = ("numpy", "scipy", "scikit-learn", "ikpls", "joblib")

# A contestant that has taken this long is not asked again: its time is long enough to be exact.
BUDGET_SECONDS = 20.0
# After its first turn a peer this many times slower than the fastest peer is out.
HOPELESS = 2.0

Job = Callable[[], object]


@dataclass
class Row:
    """One line of the table. ``difference`` is the largest, between our numbers and the peer's."""

    question: str
    shape: str
    threads: int
    ours_ms: float
    peer_ms: float
    bound: float
    difference: float = float("nan")
    peer: str = ""
    note: str = ""

    @property
    def ratio(self) -> float:
        return self.ours_ms / self.peer_ms

    @property
    def within(self) -> bool:
        return self.ratio <= self.bound

    def cells(self) -> list[str]:
        """The columns of the table, as text."""
        return [
            self.question,
            self.shape,
            str(self.threads),
            _milliseconds(self.ours_ms),
            _milliseconds(self.peer_ms),
            f"{self.ratio:.3g}",
            f"{self.bound:g}",
            "yes" if self.within else "NO",
            "-" if np.isnan(self.difference) else f"{self.difference:.0e}",
            "; ".join(part for part in (self.peer, self.note) if part),
        ]


# -- time -------------------------------------------------------------------------------------


def seconds(job: Job) -> float:
    """Time of one call."""
    begin = time.perf_counter()
    job()
    return time.perf_counter() - begin


def best_times(jobs: Mapping[str, Job], repeats: int) -> dict[str, float]:
    """Best time of each job.

    The jobs take turns, so that a busy moment of the machine meets all of them.
    """
    best = dict.fromkeys(jobs, float("inf"))
    spent = dict.fromkeys(jobs, 0.0)
    for _ in range(repeats):
        for name, job in jobs.items():
            if spent[name] < BUDGET_SECONDS:
                took = seconds(job)
                spent[name] += took
                best[name] = min(best[name], took)
    return best


def contest(ours: Job, peers: Mapping[str, Job], repeats: int) -> tuple[float, float, str]:
    """Seconds of ours and of the fastest peer, and the name of that peer."""
    first = {name: seconds(job) for name, job in peers.items()}  # warms up as well
    fastest = min(first.values())
    hopeful = {name: job for name, job in peers.items() if first[name] <= HOPELESS * fastest}
    seconds(ours)
    best = best_times({"": ours, **hopeful}, repeats)
    winner = min(hopeful, key=lambda name: min(best[name], first[name]))
    return best[""], min(best[winner], first[winner]), winner


# -- data -------------------------------------------------------------------------------------


def low_rank_data(n: int, p: int, q: int, *, rank: int = 10, seed: int = 0) -> tuple[NDArray, ...]:
    """Gaussian inputs and outputs with a signal of low rank, both off centre."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    rank = min(rank, p, q)
    coef = rng.standard_normal((p, rank)) @ rng.standard_normal((rank, q)) / np.sqrt(p * rank)
    Y = X @ coef + rng.standard_normal((n, q))
    X += 2.0
    Y -= 3.0
    return X, Y


def largest_difference(a: NDArray, b: NDArray) -> float:
    """The largest absolute difference."""
    return float(np.abs(np.asarray(a) - np.asarray(b)).max())


# -- the table --------------------------------------------------------------------------------

COLUMNS = {
    "question": 34,
    "shape": 23,
    "threads": 7,
    "ours ms": 9,
    "peer ms": 9,
    "ratio": 8,
    "bound": 6,
    "within": 6,
    "max difference": 14,
    "peer": 0,
}


def print_header() -> None:
    """Print the machine, the versions and the head of the table."""
    print(f"{machine()}; {versions()}; commit {commit()}")
    print(_line(list(COLUMNS)), flush=True)
    print(_line(["-" * max(width, 4) for width in COLUMNS.values()]), flush=True)


def print_row(row: Row) -> None:
    """Print one line of the table."""
    print(_line(row.cells()), flush=True)


def print_summary(rows: list[Row]) -> None:
    """Print how many bounds were kept."""
    print(f"{sum(row.within for row in rows)} of {len(rows)} within their bounds")


def describe(n: int, p: int, q: int, k: int | None = None) -> str:
    return f"{n} x {p} x {q}" + ("" if k is None else f", k={k}")


def _line(cells: list[str]) -> str:
    return " | ".join(f"{cell:<{COLUMNS[name]}}" for name, cell in zip(COLUMNS, cells)).rstrip()


def _milliseconds(value: float) -> str:
    return f"{value:.1f}" if value < 1000 else f"{value:.0f}"


# -- the record -------------------------------------------------------------------------------


def record(rows: Iterable[Row], path: Path = RESULTS) -> None:
    """Append the rows to the file of results, with what they depend on."""
    where = {
        "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "commit": commit(),
        "versions": versions(),
        "cpu": machine(),
    }
    lines = [where | _fields(row) for row in rows]
    if not lines:
        return
    is_new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(lines[0]))
        if is_new:
            writer.writeheader()
        writer.writerows(lines)


def _fields(row: Row) -> dict[str, object]:
    return {
        "question": row.question,
        "shape": row.shape,
        "threads": row.threads,
        "ours_ms": f"{row.ours_ms:.3f}",
        "peer_ms": f"{row.peer_ms:.3f}",
        "ratio": f"{row.ratio:.4g}",
        "bound": f"{row.bound:g}",
        "within": row.within,
        "max_difference": f"{row.difference:.1e}",
        "peer": row.peer,
        "note": row.note,
    }


def commit() -> str:
    """The commit of this checkout, with a mark where the library differs from it."""
    try:
        name = _git("rev-parse", "--short", "HEAD")
        changed = _git("status", "--porcelain", "--", "../isthmus", "*.py")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{name}-changed" if changed else name


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=HERE, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def versions() -> str:
    """Versions of the library, of what it stands on and of its peers."""
    found = [f"isthmus {isthmus.__version__}", f"Python {platform.python_version()}"]
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    libraries = {
        f"{pool['internal_api']} {pool['version']}"
        for pool in threadpool_info()
        if pool["user_api"] == "blas"
    }
    return ", ".join(found + sorted(libraries))


def machine() -> str:
    """The processor and the number of its cores."""
    return f"{_processor()}, {os.cpu_count()} cores"


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


# -- the command ------------------------------------------------------------------------------


def contest_parser(
    description: str | None, questions: Mapping[str, object], *, repeats: int, threads: list[int]
) -> argparse.ArgumentParser:
    """What every contest can be asked on the command line."""

    def names(text: str) -> list[str]:
        chosen = [name.strip() for name in text.split(",") if name.strip()]
        unknown = sorted(set(chosen) - set(questions))
        if unknown:
            known = ", ".join(questions)
            raise argparse.ArgumentTypeError(f"no question {', '.join(unknown)}; there are {known}")
        return chosen

    def numbers(text: str) -> list[int]:
        return [int(part) for part in text.split(",")]

    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--only", type=names, default=list(questions), help="questions, separated by commas")
    add("--repeats", type=int, default=repeats, help="turns of each contestant; the best counts")
    add("--threads", type=numbers, default=threads, help="numbers of threads, as 1,2")
    add("--no-record", action="store_true", help=f"do not append to {RESULTS.name}")
    return parser


def ask(questions: Mapping[str, Callable[[Any], Iterable[Row]]], settings: Any, keep: bool) -> None:
    """Put the questions one after the other; print every answer, and record it as it comes."""
    rows: list[Row] = []
    print_header()
    for question in questions.values():
        for row in question(settings):
            print_row(row)
            rows.append(row)
            if keep:
                record([row])
    print_summary(rows)


# -- pages ------------------------------------------------------------------------------------

# The owner asks to be named with the instrument wherever results are published.
INSTRUMENTS = {"tecator": "recorded on a Tecator Infratec Food and Feed Analyzer. "}


def cited(row: DataSet) -> str:
    return f"- {row.name}: {INSTRUMENTS.get(row.name, '')}{row.origin} {row.cite}"


def write(text: str, path: Path) -> None:
    """Write under a temporary name, then rename: readers see all of it or none."""
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
    ) as file:
        try:
            file.write(text)
            file.close()
            os.chmod(file.name, 0o644)
            os.replace(file.name, path)
        except BaseException:
            file.close()
            Path(file.name).unlink(missing_ok=True)
            raise


def markdown(head: list[str], lines: list[list[str]]) -> str:
    """Return a table."""
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
