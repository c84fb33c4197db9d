"""Do the published orderings hold on faces, objects and digits? Published numbers beside measured ones.

Yale, ORL, COIL-20 and ETH-80 are classified by regression on indicators of the classes, as in the paper
on PLS over Riemannian manifolds ([CSGHY] Sec. 4); USPS digits are restored and CBCL faces cleaned of
noise online, as in the report on Stiefel regression ([BGFS2004] Sec. 6.2, 6.3). Needs the environment
variable ISTHMUS_DATA, the directory that holds yale_faces.npz, orl_faces.npz, coil20.npz, eth80.npz,
usps.npz and cbcl_faces.npz.

    ISTHMUS_DATA=... python benchmarks/faces.py --write docs/faces.md
"""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
import time
import warnings
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from _common import cited, write
from _faces_page import CHAPTERS

from isthmus.datasets.registry import SETS
from isthmus.papers import sources
from isthmus.papers.riemannian_pls import classify_pictures
from isthmus.papers.stiefel_report import restore_pictures
from isthmus.papers.trials import Outcome

TRIALS = classify_pictures.TRIALS | restore_pictures.TRIALS
SOURCES = SETS["faces"] | SETS["objects"] | {"usps": SETS["single"]["usps"]}

# -- the run --------------------------------------------------------------------------------------

Task = tuple[str, str, int]  # trial, method, draw
Results = dict[str, Outcome]


def run_task(task: Task) -> dict[int, float]:
    name, method, draw = task
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ties and caps of ranks are what is studied here
        return TRIALS[name].judge(method, draw)


def patience(task: Task) -> int:
    """Slow tasks go first, so that no process waits for the last of them."""
    name, method, _ = task
    return -(2 * is_slow(method) + (name in ("usps", "coil20", "cbcl")))


def is_slow(method: str) -> bool:
    return "absolute" in method or "Huber" in method


def run(names: Iterable[str], quick: bool, n_jobs: int) -> Results:
    tasks = [
        (name, method, draw)
        for name in names
        for draw in range(1 if quick else CHAPTERS[name].draws)
        for method in TRIALS[name].methods
    ]
    if quick:  # the descents of the robust losses take most of the time
        tasks = [task for task in tasks if not is_slow(task[1])]
    tasks.sort(key=patience)
    with ProcessPoolExecutor(n_jobs, mp_context=get_context("spawn")) as pool:
        found = dict(zip(tasks, pool.map(run_task, tasks)))
    results = {name: Outcome(TRIALS[name].columns) for name in names}
    for name, outcome in results.items():
        for method in TRIALS[name].methods:
            errors = [found[task] for task in found if task[:2] == (name, method)]
            if errors:
                outcome.errors[method] = errors
    return results


# -- the page -------------------------------------------------------------------------------------

WIDTH = 106
INTRODUCTION = """\
# Faces, objects and digits: published beside measured

Written by [`benchmarks/faces.py`](../benchmarks/faces.py), which counts every number anew.

The paper on PLS over Riemannian manifolds [CSGHY] classifies pictures by regression on indicators; the
report on Stiefel regression [BGFS2004] restores digits and faces. Below are their protocols on the same
data where these are at hand, with the published numbers beside and a sentence where they differ. The
smallest error of a column is in bold.

PCR, SIMPLS, PLS and both manifold models have no ridge, as published. Stiefel regression and ridge
have one where pictures are classified: the weight with which ridge predicts held-out training rows best,
whatever the loss. The Huber loss on indicators turns at 0.1.
"""


def page(results: Results) -> str:
    parts = [INTRODUCTION]
    for name, outcome in results.items():
        chapter = CHAPTERS[name]
        draws = len(next(iter(outcome.errors.values())))
        setting = textwrap.fill(TRIALS[name].setting.format(draws=draws), WIDTH)
        reading = [bullet(line) for line in chapter.reading(outcome)]
        parts += [f"## {chapter.title}\n", setting, "", chapter.table(outcome), "", *reading, ""]
    parts += ["## Whose data they are\n", *(cited(SOURCES[name]) for name in results)]
    return "\n".join(parts) + "\n"


def bullet(line: str) -> str:
    return textwrap.fill(line, WIDTH, initial_indent="- ", subsequent_indent="  ")


# -- the command ----------------------------------------------------------------------------------


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=",".join(TRIALS), help="sets, separated by commas")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the page to this file")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--quick", action="store_true", help="one draw, no robust losses")
    asked = parser.parse_args()
    asked.only = [name.strip() for name in asked.only.split(",")]
    unknown = sorted(set(asked.only) - set(TRIALS))
    if unknown:
        parser.error(f"no set {', '.join(unknown)}; there are {', '.join(TRIALS)}")
    return asked


def main() -> None:
    asked = arguments()
    if not os.environ.get("ISTHMUS_DATA"):
        files = ", ".join(row.file for row in SOURCES.values())
        sys.exit(
            "ISTHMUS_DATA is not set: this benchmark needs real data. Set it to the directory that "
            f"holds {files}, and run again."
        )
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")  # read by the processes that are started below
    for name in asked.only:  # never a page of stand-ins
        if sources.pictures(name)[1].startswith(sources.GENERATED):
            sys.exit(
                f"{SOURCES[name].file} is not in ISTHMUS_DATA: this benchmark needs real data."
            )
    begin = time.perf_counter()
    text = page(run(asked.only, asked.quick, asked.jobs))
    print(text)
    if asked.write:
        write(text, asked.write)
        print(f"written to {asked.write}", file=sys.stderr)
    print(f"{time.perf_counter() - begin:.0f} seconds", file=sys.stderr)


if __name__ == "__main__":
    main()
