"""Do preconditioned conjugate gradients beat the direct solution of a ridge problem with many landmarks?

Both solve (K_nm' K_nm + alpha K_mm) a = K_nm' y, q outputs at once. The direct road forms K_nm' K_nm, n m^2
operations; the other is FALKON [RCR2017], whose preconditioner takes about 4/3 m^3 operations and each step
4 n m q and the kernel values once more, unless n x m numbers fit into memory. Steps are counted until
the predictions of new rows differ from the direct ones by less than a hundredth of their error. Times are
processor seconds of one thread.

    python benchmarks/conjugate_gradients.py --rows 30000 --landmarks 1000,2000,4000
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from _common import machine, versions
from scipy.linalg import blas, cho_factor, cho_solve, cholesky, solve_triangular

from isthmus.kernels import RBF, gram

STEP = 2000  # rows of a block
JITTER = 1e-10
MOST_STEPS = 150


def direct(blocks: Callable[[], Iterator[Any]], Y: Any, Kmm: Any, alpha: float) -> Any:
    """Return the coefficients by a Cholesky factor of the normal equations."""
    H, right = np.zeros_like(Kmm), 0.0
    for rows, K in blocks():
        H = blas.dsyrk(1.0, K.T, beta=1.0, c=H.T, overwrite_c=True, lower=1).T
        right = right + K.T @ Y[rows]
    H = np.triu(H) + np.triu(H, 1).T + alpha * Kmm
    H[np.diag_indices_from(H)] += JITTER * H.trace() / len(H)
    return cho_solve(cho_factor(H), right)


def falkon(
    blocks: Callable[[], Iterator[Any]], Y: Any, Kmm: Any, alpha: float, tell: Callable[[Any], bool]
) -> Any:
    """Return the coefficients by conjugate gradients; ``tell`` says whether they are good enough."""
    n, m = len(Y), len(Kmm)
    T = cholesky(Kmm + JITTER * m * np.eye(m))
    A = T @ T.T
    A *= n / m
    A[np.diag_indices_from(A)] += alpha
    A = cholesky(A, overwrite_a=True)

    def out(b: Any) -> Any:
        return solve_triangular(T, solve_triangular(A, b))

    def back(w: Any) -> Any:
        return solve_triangular(A, solve_triangular(T, w, trans="T"), trans="T")

    right = 0.0
    for rows, K in blocks():
        right = right + K.T @ Y[rows]
    residual = back(right)
    beta, direction = np.zeros_like(residual), residual
    square = (residual**2).sum(axis=0)
    while True:
        v = out(direction)
        w = alpha * (Kmm @ v)
        for _, K in blocks():
            w += K.T @ (K @ v)
        image = back(w)
        step = square / (direction * image).sum(axis=0)
        beta, residual = beta + step * direction, residual - step * image
        if tell(out(beta)):
            return
        new = (residual**2).sum(axis=0)
        direction, square = residual + new / square * direction, new


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=30_000)
    parser.add_argument("--landmarks", default="1000,2000,4000")
    parser.add_argument("--alpha", default="1,0.01")
    parser.add_argument("--columns", type=int, default=20)
    options = parser.parse_args()
    print(f"{machine()}; {versions()}")
    n, p = options.rows, options.columns
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n + 2000, p))
    Y = np.sin(X[:, :1] + X[:, 1:2]) + X[:, 2:3] * X[:, 3:4]
    Y = Y + 0.1 * rng.normal(size=Y.shape)
    kernel, new, truth = RBF(0.5 / p), X[n:], Y[n:]
    X, Y = X[:n], Y[:n]
    print("n, m, alpha: direct s; CG steps, CG s with K_nm kept, s with K_nm anew; ratios; errors")
    for m in map(int, options.landmarks.split(",")):
        Z = X[rng.choice(n, m, replace=False)]
        begin = time.process_time()
        kept = [(slice(i, i + STEP), gram(kernel, X[i : i + STEP], Z)) for i in range(0, n, STEP)]
        kernel_seconds = time.process_time() - begin
        for alpha in map(float, options.alpha.split(",")):
            contest(kept, Y, gram(kernel, Z), gram(kernel, new, Z), truth, alpha, kernel_seconds)


def contest(
    kept: Any, Y: Any, Kmm: Any, Knew: Any, truth: Any, alpha: float, kernel_seconds: float
) -> None:
    begin = time.process_time()
    expected = Knew @ direct(lambda: iter(kept), Y, Kmm, alpha)
    direct_seconds = time.process_time() - begin + kernel_seconds
    error = float(np.sqrt(((expected - truth) ** 2).mean()))
    n_steps, aside = 0, 0.0

    def good_enough(coef: Any) -> bool:
        nonlocal n_steps, aside
        start = time.process_time()
        n_steps += 1
        far = float(np.sqrt(((Knew @ coef - expected) ** 2).mean()))
        aside += time.process_time() - start
        return far < 0.01 * error or n_steps == MOST_STEPS

    begin = time.process_time()
    falkon(lambda: iter(kept), Y, Kmm, alpha, good_enough)
    seconds = time.process_time() - begin - aside + kernel_seconds
    anew = seconds + n_steps * kernel_seconds
    print(
        f"{len(Y)} {len(Kmm)} {alpha:g}: {direct_seconds:.1f}; {n_steps}, {seconds:.1f}, {anew:.1f}; "
        f"{direct_seconds / seconds:.2f}, {direct_seconds / anew:.2f}; {error:.4f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
