"""Draw the time and memory of fits beside the cost model of docs/scale.md.

Run from the root of the repository: ``python docs/pictures/scale.py``. It reads ``scale.json``, the points
that ``benchmarks/scale.py --record docs/pictures/scale.json`` has measured, and writes ``scale.png`` beside
this file. The curves are the operations of the model over one rate per road, that of its most rows.
"""

import json
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import pyplot as plt

matplotlib.use("Agg")
HERE = Path(__file__).parent
P, Q, P_KERNEL, Q_KERNEL, M, SAMPLE = 200, 20, 50, 5, 1000, 10_000
# Operations for n rows, from the table of the page: what grows with the rows, and what does not.
ROADS = {
    "memmap": ("reduced rank, p = 200, q = 20", lambda n: n * (P + Q) ** 2 + 10.0 * P**3),
    "ten folds": (
        "PLS, 30 components, ten folds",
        lambda n: n * (P + Q) ** 2 + 11 * 30.0 * 2 * P * (P + Q),
    ),
    "parquet": ("reduced rank from Parquet", lambda n: n * (P + Q) ** 2 + 10.0 * P**3),
    "landmarks": (
        "1000 landmarks, p = 50",
        lambda n: n * M * (2.0 * P_KERNEL + M) + n * (M + Q_KERNEL) ** 2 + 9.0 * M**3,
    ),
}


def main():
    """Draw both panels."""
    points = json.loads((HERE / "scale.json").read_text())
    figure, (time, memory) = plt.subplots(1, 2, figsize=(9.0, 3.6), layout="constrained")
    for color, (road, (label, operations)) in zip(
        "C0 C1 C2 C3".split(), ROADS.items(), strict=True
    ):
        own = sorted((p["rows"], p["seconds"], p["peak_mib"]) for p in points if p["road"] == road)
        if not own:
            continue
        rows, seconds, peaks = np.array(own, dtype=float).T
        rate = operations(rows[-1]) / seconds[-1]
        grid = np.geomspace(1e4, max(1e6, rows[-1]), 50)
        time.loglog(grid, operations(grid) / rate, color=color, lw=1, label=f"{label}, model")
        time.loglog(rows, seconds, "o", color=color)
        memory.semilogx(rows, peaks, "o-", color=color, lw=1, label=label)
    time.set(
        xlabel="rows", ylabel="seconds of one core", title="measured points, curves of the model"
    )
    memory.set(xlabel="rows", ylabel="MiB", ylim=(0, None), title="peak memory of the process")
    time.legend(fontsize=7)
    memory.legend(fontsize=7)
    figure.savefig(HERE / "scale.png", dpi=110)


if __name__ == "__main__":
    main()
