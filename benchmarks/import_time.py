"""How long does ``import isthmus`` take, and the help of the command?

The floor is ``import sklearn.linear_model``, which every use of the library needs in the end. Each is
imported in a process of its own, in turns; the best of several counts. ``import isthmus`` alone must
stay under twice the floor, and so must the import of all that ``from isthmus import PLS`` needs.

    python benchmarks/import_time.py [--repeats 7]
"""

import argparse
import subprocess
import sys
import time

FLOOR = "import sklearn.linear_model"
JOBS = {
    "import isthmus": "import isthmus",
    "from isthmus import PLS": "from isthmus import PLS",
    "from isthmus import fit_auto": "from isthmus import fit_auto",
    "isthmus fit --help": "from isthmus.cli import main; main(['fit', '--help'])",
}
BOUNDS = {"import isthmus": 2.0, "from isthmus import PLS": 2.0}


def seconds(code):
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def measure(repeats):
    """Best times of the empty interpreter, the floor and each job, in turns."""
    jobs = {"an empty program": "", FLOOR: FLOOR, **JOBS}
    best = dict.fromkeys(jobs, float("inf"))
    for _ in range(repeats):
        for name, code in jobs.items():
            best[name] = min(best[name], seconds(code))
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7)
    best = measure(parser.parse_args().repeats)
    start = best.pop("an empty program")
    floor = best[FLOOR] - start
    print(f"Python's own start is taken off: {1e3 * start:.0f} ms")
    print(f"{'job':<32}{'ms':>8}{'x floor':>10}{'bound':>8}")
    for name, value in best.items():
        ratio = (value - start) / floor
        bound = f"{BOUNDS[name]:.1f}" if name in BOUNDS else ""
        print(f"{name:<32}{1e3 * (value - start):>8.0f}{ratio:>10.2f}{bound:>8}")
    late = [name for name, bound in BOUNDS.items() if best[name] - start > bound * floor]
    if late:
        sys.exit(f"slower than their bounds: {', '.join(late)}")


if __name__ == "__main__":
    main()
