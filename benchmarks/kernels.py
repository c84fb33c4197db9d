"""How fast are kernels and feature maps? Ratios against scikit-learn, all within one run.

gram       Gram matrix of the Gaussian kernel against rbf_kernel
map        50 of 3000 kernel principal components against KernelPCA with its best eigensolver
landmarks  how time and memory of landmark features grow with the number of rows

A ratio is our time over the peer's, each the best of several turns taken alternately; its bound
is what the library promises. A solver of KernelPCA counts as a peer only if its eigenpairs are
as good as ours: ``|K u - l u|`` at most 1e-10 of the largest eigenvalue; those that are left out
are named. "max difference" of gram is between the matrices, of map between the coordinates of the
training rows. The rows of landmarks are no times: the exponent of n in the processor time, from
12 500 to 100 000 rows, and the peak memory in units of the n x m features themselves.

    python benchmarks/kernels.py --only gram,map --repeats 5
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator

import numpy as np
from _common import (
    Row,
    contest,
    largest_difference,
    print_header,
    print_row,
    print_summary,
    record,
)
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.decomposition import KernelPCA
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

from isthmus import KernelMap, Landmarks
from isthmus.kernels import RBF, center_train, gram, median_gamma

N, P, COMPONENTS = 3000, 256, 50
SOLVERS = ("arpack", "dense", "randomized")
ACCURACY = 1e-10
LANDMARKS = 400
SIZES = (12_500, 25_000, 50_000, 100_000)


# -- gram -------------------------------------------------------------------------------------------


def gram_rows(repeats: int) -> Iterator[Row]:
    """The Gram matrix of one set of rows, and of two."""
    X = np.random.default_rng(0).standard_normal((N, P))
    gamma = 0.5 / P
    for name, other in (("square", None), ("rectangular", X[: N // 2] + 0.5)):
        ours, theirs, peer = contest(
            lambda other=other: gram(RBF(gamma), X, other),  # type: ignore[misc]
            {"rbf_kernel": lambda other=other: rbf_kernel(X, other, gamma)},  # type: ignore[misc]
            repeats,
        )
        difference = largest_difference(gram(RBF(gamma), X, other), rbf_kernel(X, other, gamma))
        shape = f"{N} x {N if other is None else len(other)}, p={P}"
        yield Row(f"gram rbf, {name}", shape, 1, 1e3 * ours, 1e3 * theirs, 1.1, difference, peer)


# -- map --------------------------------------------------------------------------------------------


def map_data() -> dict[str, NDArray]:
    """Rows whose spectra fall fast and slowly."""
    rng = np.random.default_rng(0)
    digits = load_digits().data
    low_rank = rng.standard_normal((N, 10)) @ rng.standard_normal((10, P))
    return {
        "digits, twice": np.vstack([digits, digits + rng.standard_normal(digits.shape)])[:N],
        "ten directions": low_rank + 0.1 * rng.standard_normal((N, P)),
        "white noise": rng.standard_normal((N, P)),
    }


def map_rows(repeats: int) -> Iterator[Row]:
    """Exact kernel principal components."""
    for name, X in map_data().items():
        gamma = median_gamma(X, random_state=0)
        ours = KernelMap(COMPONENTS, gamma=gamma, solver="exact").fit(X)
        peers, left_out = accurate_peers(X, gamma)
        seconds, theirs, solver = contest(
            lambda X=X, gamma=gamma: KernelMap(COMPONENTS, gamma=gamma).fit(X),  # type: ignore[misc]
            {s: (lambda model=model, X=X: model.fit(X)) for s, model in peers.items()},  # type: ignore[misc]
            repeats,
        )
        difference = largest_difference(
            np.abs(ours.transform(X)), np.abs(peers[solver].fit(X).transform(X))
        )
        shape = f"{N} x {X.shape[1]}, r={COMPONENTS}"
        note = f"left out: {', '.join(left_out)}" if left_out else ""
        yield Row(
            f"KernelMap, {name}",
            shape,
            1,
            1e3 * seconds,
            1e3 * theirs,
            0.7,
            difference,
            solver,
            note,
        )


def accurate_peers(X: NDArray, gamma: float) -> tuple[dict[str, KernelPCA], list[str]]:
    """The solvers of KernelPCA whose eigenpairs are good, and those that are not, with the figure."""
    Kc = center_train(gram(RBF(gamma), X), copy=False)[0]
    good, left_out = {}, []
    for solver in SOLVERS:
        model = KernelPCA(
            COMPONENTS, kernel="rbf", gamma=gamma, eigen_solver=solver, random_state=0
        ).fit(X)
        U, values = model.eigenvectors_, model.eigenvalues_
        residual = np.linalg.norm(Kc @ U - U * values, axis=0).max() / values[0]
        if residual <= ACCURACY:
            good[solver] = model
        else:
            left_out.append(f"{solver} ({residual:.0e})")
    return good, left_out


# -- landmarks --------------------------------------------------------------------------------------


def landmark_rows(repeats: int) -> Iterator[Row]:
    """Growth with the number of rows."""
    X = np.random.default_rng(0).standard_normal((max(SIZES), 20))
    models = {
        "Landmarks": Landmarks(LANDMARKS, gamma=0.02, random_state=0),
        "KernelMap, landmarks": KernelMap(
            30, gamma=0.02, solver="landmarks", n_landmarks=LANDMARKS, random_state=0
        ),
    }
    for name, model in models.items():
        jobs = {str(n): (lambda n=n, model=model: model.fit_transform(X[:n])) for n in SIZES}  # type: ignore[misc]
        # Each size by itself: pages that a run of the same size has just left cost next to nothing, fresh
        # ones of a virtual machine half as much as all the rest.
        times = {n: best_cpu_times({n: job}, repeats)[n] for n, job in jobs.items()}
        exponent = np.polyfit(np.log(SIZES), np.log([times[str(n)] for n in SIZES]), 1)[0]
        shape = f"n to {max(SIZES)}, m={LANDMARKS}"
        note = ", ".join(f"{n}: {1e3 * times[str(n)]:.0f} ms" for n in SIZES)
        yield Row(f"{name}: exponent of n", shape, 1, exponent, 1.0, 1.1, peer="linear", note=note)
        tracemalloc.start()
        model.fit_transform(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        features = 8.0 * max(SIZES) * LANDMARKS
        yield Row(
            f"{name}: memory, MB", shape, 1, peak / 1e6, features / 1e6, 2.0, peer="n m numbers"
        )


def best_cpu_times(jobs: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Best processor seconds of each job: on a busy machine long jobs suffer more than short ones."""
    best = dict.fromkeys(jobs, float("inf"))
    for _ in range(repeats):
        for name, job in jobs.items():
            begin = time.process_time()
            job()
            best[name] = min(best[name], time.process_time() - begin)
    return best


QUESTIONS: dict[str, Callable[[int], Iterator[Row]]] = {
    "gram": gram_rows,
    "map": map_rows,
    "landmarks": landmark_rows,
}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--only",
        type=lambda text: text.split(","),
        default=list(QUESTIONS),
        help="questions to ask",
    )
    parser.add_argument("--repeats", type=int, default=5, help="turns of each contestant")
    parser.add_argument("--no-record", action="store_true", help="leave results.csv alone")
    return parser.parse_args()


def main() -> None:
    asked = arguments()
    warnings.simplefilter("ignore")
    print_header()
    rows = []
    with threadpool_limits(1):
        for name in asked.only:
            for row in QUESTIONS[name](asked.repeats):
                print_row(row)
                rows.append(row)
    print_summary(rows)
    if not asked.no_record:
        record(rows)


if __name__ == "__main__":
    main()
