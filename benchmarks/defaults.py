"""What do default calls cost, beside the same calls of another commit?

``git worktree add FOLDER COMMIT``, then ``python benchmarks/defaults.py FOLDER``. Each commit has a process
of its own with one thread; they take turns. Processor time, medians of five turns and of their ratios.

Against commit 8352768, on two AMD cores shared by other work: single ratios scatter by 0.2, so each is the
median of three runs of the script. 84 of 140 calls take at most 1.1 of the time (median in brackets):

================================  ====================  =============================================
call                              ratio                 what is left
================================  ====================  =============================================
fits below 1 ms                   0.63 to 1.46 (1.03)   scikit-learn's checks, see below
fits from 1 to 2 ms               0.95 to 1.33 (1.20)   the same, centred copies, ||X||^2
PLS, 2 ms and more                0.76 to 1.20 (0.88)
PCR, 2 ms and more                1.00 to 1.20 (1.10)   centred copies, see below
reduced rank, alpha=1, 2 ms       1.02 to 1.21 (1.11)   the same
reduced rank, default, 2 ms       1.13 to 1.30 (1.19)   the same, ||X||^2
Stiefel, alpha=1, 2 ms            1.02 to 1.22 (1.10)   centred copies
Stiefel, default, 2 ms            1.12 to 1.29 (1.19)   the same, ||X||^2
ManifoldPLS, 2 ms and more        1.04 to 1.21 (1.10)   centred copies
predict                           1.04 to 1.23 (1.16)   a look for rows that are far out, 0.01 to 0.07 ms
transform                         0.95 to 1.01 (0.99)
n_components="auto"               0.69 to 1.19 (0.97)
ComponentSearchCV                 0.53 to 1.28 (1.03)   cv_results_; all eigenvectors of X'X in a fold
SIR, COIR, MORP                   0.25 to 0.27
all                               0.25 to 1.46 (1.06)
================================  ====================  =============================================

That commit had checks of its own for float64 arrays, 0.01 ms. ``validate_data`` of scikit-learn 1.9 takes
0.09 to 0.11 ms, half of it to find out that an array is no data frame: all of the difference for fits to 60
rows of 12 columns, whose ratios are 0.90 to 1.13 for PLS and 1.27 to 1.46 for the other methods.

It also summed X'X of rows as they are where means are small, at the cost of up to a digit. Now blocks of
rows are centred first: about 0.5 ms of 5 ms for 10 000 rows of 100 columns.

At that commit the default ridge weight was 1, whatever the units of X; it was 1e-6 ||X||^2 when this table
was made, and is chosen by rows left out now: these defaults stand among the searches. Beside ``RidgeCV``
with 41 weights they take 0.2 to 2.6 times as long, with 60 to 2000 rows.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

Job = Callable[[], object]

TURNS = 5
# Shorter jobs are repeated within a turn until they take so many seconds.
LEAST_SECONDS = 0.01

LINEAR = (
    "PLS()",
    "PLS(10)",
    "PCR()",
    "ReducedRankRegression(alpha=1.0)",
    "StiefelRegression(alpha=1.0)",
    "ManifoldPLS(2, alpha=0.0)",
)
SEARCHES = (
    "PLS('auto')",
    "PCR('auto')",
    "ReducedRankRegression()",
    "StiefelRegression()",
    "ReducedRankRegression('auto')",
    "ComponentSearchCV(PLS())",
    "ComponentSearchCV(PCR())",
    "ComponentSearchCV(ReducedRankRegression())",
)
SHAPES = [
    (60, 12, 1),
    (60, 12, 10),
    (200, 50, 1),
    (200, 50, 10),
    (2000, 60, 10),
    (2000, 200, 10),
    (10_000, 100, 1),
    (10_000, 100, 10),
    (100, 1000, 10),
    (300, 3000, 10),
]
SEARCH_SHAPES = [
    (60, 12, 1),
    (60, 12, 10),
    (200, 50, 10),
    (2000, 60, 10),
    (2000, 200, 10),
    (100, 1000, 10),
]
KERNELS = ("COIR()", "MORP()", "KernelMap(n_components=10)")


def cases() -> Iterator[tuple[str, str, tuple[int, int, int]]]:
    """Yield calls: the estimator, its method and the shape of the data."""
    for shape in SHAPES:
        yield from ((name, "fit", shape) for name in LINEAR)
        yield from (("PLS()", method, shape) for method in ("predict", "transform"))
    for shape in SEARCH_SHAPES:
        yield from ((name, "fit", shape) for name in SEARCHES)
    yield "SIR()", "fit", (10_000, 50, 1)
    yield from ((name, "fit", (400, 10, 3)) for name in KERNELS)


def make_job(name: str, method: str, n: int, p: int, q: int) -> Job:
    """Return a call on rows of a low-rank map with noise."""
    import isthmus
    from isthmus.datasets import make_low_rank_regression

    X, Y, _ = make_low_rank_regression(n, p, q, rank=min(3, q), noise=1.0, random_state=0)
    y = Y[:, 0] if q == 1 else Y

    def make() -> Any:
        return eval(name, vars(isthmus) | {key: getattr(isthmus, key) for key in isthmus.__all__})

    if method == "fit":
        return lambda: make().fit(X, y)
    fitted = getattr(make().fit(X, y), method)
    return lambda: fitted(X)


def seconds(job: Job, repeats: int) -> float:
    begin = time.process_time()
    for _ in range(repeats):
        job()
    return (time.process_time() - begin) / repeats


def serve() -> None:
    """Answer requests, one per line: a case to prepare, or a number of repeats to time."""
    warnings.simplefilter("ignore")
    job: Job = list
    for line in sys.stdin:
        request = json.loads(line)
        if isinstance(request, int):
            print(seconds(job, request), flush=True)
        else:
            job = make_job(*request)
            job()  # warms up
            print(seconds(job, 1), flush=True)


class Commit:
    """A process that imports the package from one folder."""

    def __init__(self, folder: Path) -> None:
        threads = {
            name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        }
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **threads, "PYTHONPATH": str(folder.resolve())},
        )

    def ask(self, request: Any) -> float:
        assert self.process.stdin is not None and self.process.stdout is not None
        print(json.dumps(request), file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path, nargs="?", help="folder with another commit")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return
    if options.before is None:
        parser.error("name a folder with another commit: git worktree add FOLDER COMMIT")
    commits = [Commit(options.before), Commit(Path(__file__).parents[1])]
    print(f"{'call':60}{'before':>9}{'now ms':>9}{'ratio':>7}")
    for name, method, shape in cases():
        call = f"{name}.{method} {'x'.join(map(str, shape))}"
        if options.only not in call:
            continue
        once = [commit.ask([name, method, *shape]) for commit in commits]
        repeats = max(1, int(LEAST_SECONDS / max(*once, 1e-6)))
        turns = [[commit.ask(repeats) for commit in commits] for _ in range(TURNS)]
        before, now = (1e3 * median(times) for times in zip(*turns))
        ratio = median(b / a for a, b in turns)
        print(f"{call:60}{before:9.2f}{now:9.2f}{ratio:7.2f}", flush=True)


if __name__ == "__main__":
    main()
