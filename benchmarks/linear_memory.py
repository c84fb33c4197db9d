"""How much memory does a linear fit with 100 000 inputs allocate?

python benchmarks/linear_memory.py
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from _common import (
    Row,
    ask,
    contest_parser,
    describe,
    low_rank_data,
)
from threadpoolctl import threadpool_limits

from isthmus import PCR, PLS, ReducedRankRegression

MEMORY_SHAPE = (50, 100_000, 5)
MEMORY_LIMIT_MB = 200.0
MODELS = {"PLS": PLS(20), "PCR": PCR(20), "reduced rank": ReducedRankRegression()}


@dataclass
class Settings:
    """What the command line asks for."""

    repeats: int
    threads: list[int]


def memory(settings: Settings) -> Iterator[Row]:
    """Peak memory of a fit above that of its data. The columns are megabytes, not milliseconds."""
    for name in MODELS:
        for threads in settings.threads:
            # A fresh process each: its peak is that of this one fit.
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                megabytes = pool.submit(peak_of_fit, name, threads).result()
            yield Row(
                f"{name} memory, MB not ms",
                describe(*MEMORY_SHAPE),
                threads,
                megabytes,
                MEMORY_LIMIT_MB,
                1.0,
                peer="the limit",
            )


def peak_of_fit(name: str, threads: int) -> float:
    """Megabytes that a fit needs beyond what is held once its data exist."""
    model = MODELS[name]
    with threadpool_limits(threads):
        model.fit(*low_rank_data(50, 40, 3))  # libraries loaded, buffers made
        n, p, q = MEMORY_SHAPE
        rng = np.random.default_rng(0)
        X = np.empty((n, p))
        rng.standard_normal(out=X)  # nothing but the data itself is allocated
        Y = X[:, :q] + rng.standard_normal((n, q))
        before = resident_megabytes()
        model.fit(X, Y)
        return resident_megabytes(peak=True) - before


def resident_megabytes(peak: bool = False) -> float:
    """Resident memory of this process, now or at its largest."""
    status = Path("/proc/self/status")
    if status.exists():  # unlike getrusage it does not start from the parent's peak
        field = "VmHWM:" if peak else "VmRSS:"
        for line in status.read_text("utf-8").splitlines():
            if line.startswith(field):
                return int(line.split()[1]) / 1024
    import resource  # not on every platform; it knows the largest only

    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


# -- the command ------------------------------------------------------------------------------

QUESTIONS = {question.__name__: question for question in (memory,)}


def arguments() -> argparse.Namespace:
    parser = contest_parser(__doc__, QUESTIONS, repeats=1, threads=[1, 2])
    return parser.parse_args()


def main() -> None:
    asked = arguments()
    settings = Settings(asked.repeats, asked.threads)
    ask({name: QUESTIONS[name] for name in asked.only}, settings, not asked.no_record)


if __name__ == "__main__":
    main()
