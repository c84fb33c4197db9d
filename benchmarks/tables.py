"""How fast and in how much memory is a large CSV file read, for a fit and for predictions?

A table of 10^6 x 50 numbers is read by ``pyarrow.csv.read_csv``, by Polars, by DuckDB, by the reader of
this package into inputs and outputs as ``isthmus fit`` does, and by ``isthmus predict`` with its results
on the disk. Each runs in a process of its own, in turn, and the best of several rounds counts. Time is
processor time, so that other work on the machine does not count; memory is the peak of the process,
imports included. Shown are ratios: to the time of pyarrow, and to the size of the numbers. The bounds are
1.5 and 2.5.

    python benchmarks/tables.py [--rows 1000000] [--columns 50] [--rounds 2]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

CHILD = """
import json, resource, sys, time
road, folder = sys.argv[1], sys.argv[2]
path = folder + "/table.csv"
if road == "pyarrow":
    import pyarrow.csv as pc
    work = lambda: pc.read_csv(path)
elif road == "pyarrow to NumPy":
    import numpy as np, pyarrow.csv as pc
    work = lambda: np.column_stack([c.to_numpy() for c in pc.read_csv(path).columns])
elif road == "polars":
    import polars as pl
    work = lambda: pl.read_csv(path)
elif road == "duckdb":
    import duckdb
    work = lambda: duckdb.sql(f"select * from read_csv('{path}')").fetchnumpy()
elif road.startswith("fit, read by"):
    from isthmus.tables import engines
    from isthmus.tables.pairs import Reading, read_pair
    engines.has_polars = lambda: road.endswith("polars")
    work = lambda: read_pair(path, None, ["c0", "c1"], Reading())
else:
    import isthmus.auto, isthmus.cli.matching, isthmus.persistence, polars, typer, rich
    from isthmus.cli import main
    def work():
        assert main(["predict", folder + "/m.isthmus", path, "-o", folder + "/out.csv", "-q"]) == 0
wall, cpu = time.perf_counter(), time.process_time()
kept = work()
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
try:  # of this process alone; ru_maxrss begins with that of the process which started it
    status = open("/proc/self/status").read()
    peak = int(status.split("VmHWM:")[1].split()[0]) * 1024
except OSError:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps([wall, cpu, peak]))
"""
ROADS = ["pyarrow", "fit, read by polars", "predict", "polars", "duckdb",
         "pyarrow to NumPy", "fit, read by numpy"]  # fmt: skip


def make(folder: str, rows: int, columns: int) -> None:
    """Write the table, and a model of its columns."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv as pc

    import isthmus

    rng = np.random.default_rng(0)
    A = rng.normal(size=(rows, columns))
    names = [f"c{k}" for k in range(columns)]
    pc.write_csv(pa.table({name: A[:, k] for k, name in enumerate(names)}), f"{folder}/table.csv")
    search = isthmus.MethodSearchCV("pls", cv=2).fit(
        A[:200, 2:], A[:200, :2], feature_names=names[2:], target_names=names[:2]
    )
    isthmus.save(search, f"{folder}/m.isthmus")


def installed(road: str) -> bool:
    """Whether the package of a road is there."""
    try:
        __import__(road.split()[0]) if road[0] in "pd" and road != "predict" else None
    except ImportError:
        return False
    return True


def measure(folder: str, rounds: int) -> dict[str, list[float]]:
    """The best wall time, processor time and peak of every road."""
    best: dict[str, list[float]] = {}
    for _ in range(rounds):
        for road in filter(installed, ROADS):
            done = subprocess.run(
                [sys.executable, "-c", CHILD, road, folder],
                capture_output=True,
                text=True,
                check=True,
            )
            found = json.loads(done.stdout.splitlines()[-1])
            best[road] = [min(pair) for pair in zip(best.get(road, found), found)]
            print(
                f"# {road}: {found[1]:.1f} s, {found[2] / 1e6:.0f} MB", file=sys.stderr, flush=True
            )
    return best


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        make(folder, given.rows, given.columns)
        size = Path(folder, "table.csv").stat().st_size
        best = measure(folder, given.rounds)
    numbers = 8 * given.rows * given.columns
    print(
        f"{given.rows} x {given.columns}: {size / 1e6:.0f} MB of text, {numbers / 1e6:.0f} MB of numbers"
    )
    print(f"{'':<22}{'wall s':>8}{'cpu s':>8}{'x pyarrow':>11}{'peak MB':>9}{'x numbers':>11}")
    for road, (wall, cpu, peak) in best.items():
        ratio = cpu / best["pyarrow"][1]
        print(
            f"{road:<22}{wall:8.1f}{cpu:8.1f}{ratio:11.2f}{peak / 1e6:9.0f}{peak / numbers:11.2f}"
        )


if __name__ == "__main__":
    main()
