"""What does a fit of rows on the disk cost over the floor, in time and in memory?

The floor reads the same blocks and forms X'X and X'Y in float64, or kernel values with the landmarks and
their X'X. Each road runs in a process of its own, in turn, and the best of several rounds counts. Time is
processor time, so that other work on the machine does not count; memory is the peak of the process,
imports and mapped pages included. The last two questions are the growth with the rows, and the error of a
kernel regression by 1000 landmarks against the exact one on the rows that the exact one can hold.

Beyond a million rows the first million is written again and again. ``--record`` keeps the points of
the picture in docs/scale.md, which docs/pictures/scale.py draws.

    python benchmarks/scale.py [--rows 1000000] [--rounds 2] [--only memmap,parquet,...]
    python benchmarks/scale.py --rows 10000000 --rounds 1 --only memmap
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

CHILD = """
import json, sys, time
import numpy as np
road, folder, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
STEP, M = 4096, 1000
from isthmus import (ComponentSearchCV, DependencyRegressor, KernelMap, PLS, ReducedRankRegression, Rows)
from isthmus.kernels import RBF, gram
names = ("k", "t") if road.startswith("landmark") else ("x", "y")
X, Y = (np.load(f"{folder}/{name}.npy", mmap_mode="r")[:n] for name in names)
parquet, kernel = folder + "/parts", RBF(0.01)

def forget():
    import mmap
    for array in (X, Y):
        base = array
        while isinstance(base, np.ndarray):
            base = base.base
        base.madvise(mmap.MADV_DONTNEED)

def slices():
    for i in range(0, n, STEP):
        yield np.asarray(X[i : i + STEP], dtype=np.float64), np.asarray(Y[i : i + STEP], dtype=np.float64)
        forget()

def batches():
    import pyarrow.dataset as ds
    data = ds.dataset(parquet, format="parquet")
    for batch in data.to_batches(batch_size=STEP, batch_readahead=1, fragment_readahead=1):
        both = np.column_stack([c.to_numpy() for c in batch.columns]).astype(np.float64)
        yield both[:, :-20], both[:, -20:]

def floor(blocks):
    xx = xy = 0.0
    for A, B in blocks:
        xx, xy = xx + A.T @ A, xy + A.T @ B
    return xx, xy

def kernel_floor():
    Z = np.array(X[:M])
    for i in range(0, n, STEP):
        K = gram(kernel, np.asarray(X[i : i + STEP]), Z).astype(np.float64)
        yield K, np.asarray(Y[i : i + STEP], dtype=np.float64)
        forget()

def from_parquet():
    return Rows.from_parquet(parquet, y=[f"y{j}" for j in range(20)])

inputs = KernelMap(kernel=kernel, n_landmarks=M, random_state=0)
work = {
    "memmap floor": lambda: floor(slices()),
    "memmap": lambda: ReducedRankRegression(5).fit(Rows.from_arrays(X, Y)),
    "parquet floor": lambda: floor(batches()),
    "parquet": lambda: ReducedRankRegression(5).fit(from_parquet()),
    "ten folds": lambda: ComponentSearchCV(PLS(), n_components=30, cv=10).fit(Rows.from_arrays(X, Y)),
    "landmark floor": lambda: floor(kernel_floor()),
    "landmarks": lambda: DependencyRegressor(inputs).fit(Rows.from_arrays(X, Y)),
}[road]
begin = time.process_time()
work()
seconds = time.process_time() - begin
status = open("/proc/self/status").read()
print(json.dumps([seconds, int(status.split("VmHWM:")[1].split()[0]) / 1024]))
"""

# Road, floor, bound of the ratio, bound of the memory in MiB.
QUESTIONS = {
    "memmap": ("memmap floor", 1.3, 500),
    "parquet": ("parquet floor", 1.3, 500),
    "ten folds": ("memmap floor", 1.6, 500),
    "landmarks": ("landmark floor", 1.5, 1000),
}
MILLION = 1_000_000

QUALITY = """
import numpy as np, time
from sklearn.linear_model import Ridge
from isthmus import DependencyRegressor, KernelMap, Rows
from isthmus.kernels import RBF
rng = np.random.default_rng(0)
X = rng.normal(size=(60_000, 6))
Y = np.column_stack([np.sin(X[:, 0] + X[:, 1]), X[:, 2] * X[:, 3]]) + 0.1 * rng.normal(size=(60_000, 2))
new, truth, kernel = X[50_000:], Y[50_000:], RBF(0.05)
def error(model):
    return float(np.sqrt(((model.predict(new) - truth) ** 2).mean()))
few = KernelMap(kernel=kernel, n_landmarks=1000, solver="landmarks", random_state=0)
begin = time.process_time()
many = DependencyRegressor(few, Ridge(0.1)).fit(Rows.from_arrays(X[:50_000], Y[:50_000]))
seconds = time.process_time() - begin
part = DependencyRegressor(few, Ridge(0.1)).fit(Rows.from_arrays(X[:5000], Y[:5000]))
exact = DependencyRegressor(KernelMap(kernel=kernel, solver="exact"), Ridge(0.1)).fit(X[:5000], Y[:5000])
print(f"50 000 rows, 1000 landmarks: {seconds:.1f} s; error on new rows {error(many):.4f}.")
print(f"5 000 rows: exact {error(exact):.4f}, landmarks {error(part):.4f}, "
      f"ratio {error(part) / error(exact):.3f} (bound 1.05).")
"""


def write_rows(folder: Path, n: int, asked: list[str]) -> None:
    """Write the rows as arrays, and as a folder of Parquet files if asked for, block by block."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    coef = rng.normal(size=(200, 5)) @ rng.normal(size=(5, 20)) / 10
    shapes = {}
    if {"memmap", "ten folds", "parquet", "growth"} & set(asked):
        shapes |= {"x": 200, "y": 20}
    if {"landmarks", "growth"} & set(asked):
        shapes |= {"k": 50, "t": 5}
    arrays = {
        name: np.lib.format.open_memmap(folder / f"{name}.npy", "w+", np.float32, (n, width))
        for name, width in shapes.items()
    }
    names = [f"x{j}" for j in range(200)] + [f"y{j}" for j in range(20)]
    (folder / "parts").mkdir()
    for part, start in enumerate(range(0, n, 50_000)):
        rows = slice(start, min(start + 50_000, n))
        if start >= MILLION:
            before = slice(start % MILLION, start % MILLION + rows.stop - start)
            for array in arrays.values():
                array[rows] = array[before]
            continue
        X = rng.normal(1, 1, size=(rows.stop - start, 200)).astype(np.float32)
        Y = (X @ coef + rng.normal(size=(len(X), 20))).astype(np.float32)
        made = {"x": X, "y": Y, "k": X[:, :50], "t": np.sin(X[:, :5])}
        for name, array in arrays.items():
            array[rows] = made[name]
        if "parquet" not in asked:
            continue
        table = pa.table(dict(zip(names, np.vstack([X.T, Y.T]), strict=True)))
        pq.write_table(table, folder / "parts" / f"part{part:04}.parquet", row_group_size=25_000)


def run(road: str, folder: Path, n: int, rounds: int) -> tuple[float, float]:
    """Return the best seconds and the least peak memory of several runs, each in its own process."""
    found = []
    for _ in range(rounds):
        command = [sys.executable, "-c", CHILD, road, str(folder), str(n)]
        found.append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
    return min(seconds for seconds, _ in found), min(peak for _, peak in found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", default=",".join([*QUESTIONS, "growth", "quality"]))
    parser.add_argument("--record", type=Path, help="a JSON file that points are added to")
    options = parser.parse_args()
    asked, n = options.only.split(","), options.rows
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_rows(folder, n, asked)
        record = Record(options.record)
        floors: dict[str, float] = {}
        print(f"{n} rows: road, seconds, over the floor (bound), peak MiB (bound)")
        for road, (floor, bound, memory) in QUESTIONS.items():
            if road not in asked:
                continue
            if floor not in floors:
                floors[floor] = run(floor, folder, n, options.rounds)[0]
                print(f"  {floor:15} {floors[floor]:7.2f}")
            seconds, peak = run(road, folder, n, options.rounds)
            ratio = seconds / floors[floor]
            print(
                f"  {road:15} {seconds:7.2f} {ratio:6.2f} ({bound}) {peak:6.0f} ({memory})",
                flush=True,
            )
            record.add(road, n, seconds, peak)
        if "growth" in asked:
            for road in ("memmap", "landmarks"):
                print_growth(road, folder, n, options.rounds, record)
    if "quality" in asked:
        subprocess.run([sys.executable, "-c", QUALITY], check=True)


class Record:
    """Points of a curve, kept in a file for a picture."""

    def __init__(self, path: Path | None) -> None:
        self.path = path

    def add(self, road: str, n: int, seconds: float, peak: float) -> None:
        if self.path is None:
            return
        points = json.loads(self.path.read_text()) if self.path.exists() else []
        points = [point for point in points if (point["road"], point["rows"]) != (road, n)]
        new = {"road": road, "rows": n, "seconds": round(seconds, 3), "peak_mib": round(peak)}
        points = sorted([*points, new], key=lambda point: (point["road"], point["rows"]))
        self.path.write_text(json.dumps(points, indent=1) + "\n")


def print_growth(road: str, folder: Path, n: int, rounds: int, record: Record) -> None:
    """Print the exponent of the time between a hundredth, a tenth and all of the rows."""
    import numpy as np

    sizes = [n // 100, n // 10, n]
    found = [run(road, folder, size, rounds) for size in sizes]
    seconds = [time for time, _ in found]
    for size, (time, peak) in zip(sizes, found, strict=True):
        record.add(road, size, time, peak)
    overall = np.diff(np.log(seconds)) / np.log(10)
    times = ", ".join(f"{size}: {value:.2f} s" for size, value in zip(sizes, seconds, strict=True))
    print(f"  growth of {road}: {times}; exponents {overall.round(2).tolist()}")


if __name__ == "__main__":
    main()
