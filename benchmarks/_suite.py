"""Run the benchmarks and keep one JSON of what they recorded; compare it with an older one.

    python benchmarks/_suite.py                                    every script, build/bench.json
    python benchmarks/_suite.py --only linear,kernels              some of them
    python benchmarks/_suite.py --compare old.json                 and what changed since
    python benchmarks/_suite.py --no-run --compare old.json new.json   two records, nothing is run

Ratios are of times within one run, so that records of two machines can be compared; times cannot.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from _common import HERE, RESULTS, commit, machine, markdown, versions
from threadpoolctl import threadpool_info

KEY = ("question", "shape", "threads", "peer")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# A ratio within this factor of the older one is noise.
NOISE = 1.15

Record = dict[str, Any]


def scripts() -> dict[str, Path]:
    """Every script; those that begin with an underscore are helpers."""
    return {path.stem: path for path in sorted(HERE.glob("[!_]*.py"))}


def rows_of(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def run(names: list[str]) -> list[str]:
    """Run the scripts one after the other; return the names of those that failed."""
    failed = []
    for name in names:
        print(f"== {name}", flush=True)
        if subprocess.run([sys.executable, str(scripts()[name])]).returncode:
            failed.append(name)
    return failed


def make_record(rows: list[dict[str, str]], failed: list[str]) -> Record:
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "commit": commit(),
        "machine": machine(),
        "versions": versions(),
        "threads": {
            **{name: os.environ.get(name, "") for name in THREADS},
            "pools": [f"{p['internal_api']} {p['num_threads']}" for p in threadpool_info()],
        },
        "failed": failed,
        "rows": rows,
    }


def page(record: Record) -> str:
    """Return the ratios to peers and floors as a page."""
    cells = [
        [row[name] for name in ("question", "shape", "threads", "ratio", "bound", "within", "peer")]
        for row in record["rows"]
    ]
    head = ["question", "shape", "threads", "ratio", "bound", "kept", "peer"]
    kept = sum(row["within"] == "True" for row in record["rows"])
    return "\n".join(
        [
            "# Ratios to peers and floors",
            "",
            f"{record['machine']}; {record['versions']}; commit {record['commit']}; {record['date']}. "
            f"{kept} of {len(cells)} within their bounds."
            + (f" Failed: {', '.join(record['failed'])}." if record["failed"] else ""),
            "",
            markdown(head, cells),
            "",
        ]
    )


def compare(old: Record, new: Record) -> list[str]:
    """Return what changed, the largest slowdown first."""
    before = {tuple(row[k] for k in KEY): float(row["ratio"]) for row in old["rows"]}
    after = {tuple(row[k] for k in KEY): float(row["ratio"]) for row in new["rows"]}
    both = sorted(before.keys() & after.keys(), key=lambda k: -after[k] / before[k])
    lines = []
    for key in both:
        change = after[key] / before[key]
        if change > NOISE or change < 1 / NOISE:
            word = "slower" if change > 1 else "faster"
            factor = max(change, 1 / change)
            told = f"{before[key]:.3g} to {after[key]:.3g}"
            lines.append(f"{factor:.2f} times {word}: {key[0]}, {key[1]} ({key[3]}): {told}")
    lines += [f"new: {key[0]}, {key[1]}" for key in sorted(after.keys() - before.keys())]
    lines += [f"not run: {key[0]}, {key[1]}" for key in sorted(before.keys() - after.keys())]
    if old["machine"] != new["machine"] or old["versions"] != new["versions"]:
        lines.append(f"machine or versions differ: {old['machine']}; {old['versions']}")
    return lines or [f"{len(both)} ratios are within {NOISE:g} times of the older ones."]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("record", nargs="?", type=Path, default=HERE.parent / "build/bench.json")
    parser.add_argument("--only", default=",".join(scripts()), help="scripts, separated by commas")
    parser.add_argument("--compare", type=Path, metavar="OLD", help="an older record")
    parser.add_argument("--no-run", action="store_true", help="read the record, run nothing")
    asked = parser.parse_args()
    if asked.no_run:
        new = json.loads(asked.record.read_text("utf-8"))
    else:
        names = asked.only.split(",")
        unknown = sorted(set(names) - set(scripts()))
        if unknown:
            parser.error(f"no script {', '.join(unknown)}; there are {', '.join(scripts())}")
        already = len(rows_of(RESULTS))
        failed = run(names)
        new = make_record(rows_of(RESULTS)[already:], failed)
        asked.record.parent.mkdir(parents=True, exist_ok=True)
        asked.record.write_text(json.dumps(new, indent=1) + "\n", "utf-8")
        asked.record.with_suffix(".md").write_text(page(new), "utf-8")
        print(f"written: {asked.record} and {asked.record.with_suffix('.md')}")
    if asked.compare:
        print("\n".join(compare(json.loads(asked.compare.read_text("utf-8")), new)))


if __name__ == "__main__":
    main()
