"""How much faster than a dense eigendecomposition are the forms of the supervised projections?

Kernel SIR by one Cholesky factor, COIR by a block Krylov space, both by landmarks, each against the dense
form in the same run, with the error beside the time; then the cost of the landmark form as the number of
rows grows, and its memory.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/projections.py
"""

from __future__ import annotations

import argparse
import tracemalloc

import numpy as np
from _common import Row, best_times, print_header, print_row, print_summary, record, seconds
from numpy.typing import NDArray
from scipy.linalg import eigh, subspace_angles
from sklearn.neighbors import KNeighborsRegressor
from threadpoolctl import threadpool_limits

from isthmus import COIR, KernelSIR
from isthmus.datasets import load_usps, make_curves
from isthmus.kernels import RBF, center_train, gram, median_gamma


def dense_axes(K: NDArray, G: NDArray, alpha: float, r: int) -> tuple[NDArray, NDArray]:
    """The textbook road: all eigenvectors of ``K``, then all of ``S^(1/2) G S^(1/2)``."""
    values, U = eigh(K)
    values = np.maximum(values, 0.0)
    weights = np.sqrt(values / (values + alpha))
    M = weights[:, None] * (U.T @ G @ U) * weights
    found, w = eigh(M)
    z = U @ (weights[:, None] * w[:, ::-1][:, :r])
    return found[::-1][:r], z


def dense_kernel_sir(X: NDArray, labels: NDArray, gamma: float, r: int) -> tuple[NDArray, NDArray]:
    K = center_train(gram(RBF(gamma), X))[0]
    C = np.eye(labels.max() + 1)[labels]
    G = C / C.sum(axis=0) @ C.T
    return dense_axes(K, G, 1e-3 * np.trace(K), r)


def dense_coir(X: NDArray, Y: NDArray, gx: float, gy: float, r: int) -> tuple[NDArray, NDArray]:
    K, L = (center_train(gram(RBF(g), A))[0] for g, A in ((gx, X), (gy, Y)))
    values, V = eigh(L)
    values = np.maximum(values, 0.0)
    G = V * (values / (values + 1e-2 * values.sum())) @ V.T
    return dense_axes(K, G, 1e-3 * np.trace(K), r)


def compare(question: str, shape: str, bound: float, ours, dense, X, repeats: int) -> Row:
    """Times in turns; eigenvalue error and angle of the leading coordinates beside them."""
    kept = {}
    jobs = {"ours": lambda: kept.update(ours=ours()), "dense": lambda: kept.update(dense=dense())}
    best = best_times(jobs, repeats)
    model, (values, z) = kept["ours"], kept["dense"]
    error = float(np.abs(model.eigenvalues_ - values).max())
    r = len(values) // 2
    sine = float(np.sin(subspace_angles(model.transform(X)[:, :r], z[:, :r])).max())
    ratio = best["dense"] / best["ours"]
    note = f"{ratio:.1f} times faster; largest sine of the first {r} coordinates {sine:.0e}"
    return Row(
        question,
        shape,
        1,
        1e3 * best["ours"],
        1e3 * best["dense"],
        1 / bound,
        error,
        "dense form",
        note,
    )


def exact_forms(repeats: int) -> list[Row]:
    X, Y, _ = make_curves(2000, 20, noise_outputs=4, random_state=0)
    labels = np.argsort(np.argsort(Y[:, 0])) * 50 // len(X)
    gx, gy = median_gamma(X, random_state=0), median_gamma(Y, random_state=0)
    sir = KernelSIR(n_components=30, gamma=gx, n_slices=50, slices="classes", cv=None)
    coir = COIR(n_components=30, gamma=gx, kernel_y=RBF(gy), cv=None)
    return [
        compare(
            "kernel SIR, one Cholesky factor",
            "n=2000, 50 slices, r=30",
            25.0,
            lambda: sir.fit(X, labels),
            lambda: dense_kernel_sir(X, labels, gx, 30),
            X,
            repeats,
        ),
        compare(
            "COIR, block Krylov",
            "n=2000, r=30",
            8.0,
            lambda: coir.fit(X, Y),
            lambda: dense_coir(X, Y, gx, gy, 30),
            X,
            repeats,
        ),
    ]


def landmarks(repeats: int) -> list[Row]:
    """400 landmarks against the dense form, with the change of a nearest-neighbour error."""
    from projections_tables import rms, scratches

    try:
        images = load_usps().images[:4000]
    except OSError:
        print("no digits: ISTHMUS_DATA is not set; the landmarks are left out", flush=True)
        return []
    Y, Y_test = images[:2000].reshape(2000, -1), images[2000:].reshape(2000, -1)
    X, X_test = (
        scratches(part, k).reshape(2000, -1)
        for k, part in enumerate((images[:2000], images[2000:]))
    )
    gx, gy = median_gamma(X, random_state=0), median_gamma(Y, random_state=0)
    options = {"n_components": 30, "gamma": gx, "kernel_y": RBF(gy), "cv": None, "random_state": 0}
    few = COIR(solver="features", n_landmarks=400, **options)
    exact = COIR(**options)
    best = best_times(
        {
            "few": lambda: few.fit(X, Y),
            "exact": lambda: exact.fit(X, Y),
            "dense": lambda: dense_coir(X, Y, gx, gy, 30),
        },
        repeats,
    )
    errors = [
        rms(Y_test, KNeighborsRegressor(1).fit(m.transform(X), Y).predict(m.transform(X_test)))
        for m in (few, exact)
    ]
    note = f"NN error {errors[0]:.2f} instead of {errors[1]:.2f}"
    rows = []
    for name, peer, bound in (("dense form", "dense", 40.0), ("block Krylov", "exact", 1.0)):
        ratio = best[peer] / best["few"]
        rows.append(
            Row(
                "COIR, 400 landmarks",
                "n=2000, p=q=256, r=30",
                1,
                1e3 * best["few"],
                1e3 * best[peer],
                1 / bound,
                float(np.abs(few.eigenvalues_ - exact.eigenvalues_).max()),
                name,
                f"{ratio:.1f} times faster; {note}",
            )
        )
    return rows


def growth(repeats: int, sizes: tuple[int, ...] = (12500, 25000, 50000, 100000)) -> list[Row]:
    """Exponent of the cost of the landmark form in the number of rows, and its memory."""
    X, Y, _ = make_curves(sizes[-1], 15, noise_outputs=4, random_state=0)
    model = COIR(n_components=5, n_landmarks=400, solver="features", cv=None, random_state=0)
    times = []
    for n in sizes:
        best = min(seconds(lambda n=n: model.fit(X[:n], Y[:n])) for _ in range(repeats))
        times.append(best)
    exponent = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    tracemalloc.start()
    model.fit(X, Y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    n, m = sizes[-1], 400
    shape = f"n={sizes[0]} to {n}, m=400"
    steps = ", ".join(f"{t:.2f} s" for t in times)
    return [
        Row(
            "exponent of time in n",
            shape,
            1,
            exponent,
            1.0,
            1.1,
            note=f"exponent {exponent:.3f} (0.9 to 1.1 asked for); {steps}",
        ),
        Row(
            "memory, in n m numbers",
            f"n={n}, m=400",
            1,
            peak / 8.0,
            float(n * m),
            4.0,
            note=f"peak {peak / 2**20:.0f} MiB, both sides have {m} features",
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=3)
    sections = {"forms": exact_forms, "landmarks": landmarks, "growth": growth}
    parser.add_argument("--only", nargs="*", choices=list(sections), default=list(sections))
    parser.add_argument("--record", action="store_true", help="append to results.csv")
    arguments = parser.parse_args()
    rows: list[Row] = []
    print_header()
    with threadpool_limits(1):
        for name in arguments.only:
            for row in sections[name](arguments.repeats):
                rows.append(row)
                print_row(row)
    print_summary(rows)
    if arguments.record:
        record(rows)


if __name__ == "__main__":
    main()
