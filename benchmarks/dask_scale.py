"""What does a fit on a Dask cluster cost over the plain products X'X and X'Y of dask.array?

A LocalCluster of two processes with one thread each. Times are of the processors, client and workers
together, so that other work on the machine counts little: each the best of several turns taken
alternately.
The peer of float32 rows is the product in float64, which is what the sums of a fit are.

    python benchmarks/dask_scale.py --repeats 5
    python benchmarks/dask_scale.py --only overhead,equal

overhead   rows in the memory of the workers: fit over the plain products, bound 1.3
kernel     landmark features over the same products of lazy features, bound 1.5
equal      the largest difference of predictions to the fit in memory, bound 1e-10
killed     SIGKILL of a worker in mid-fit: the largest difference of the fit, bound 0
memory     the peak memory of a worker over its limit while twice the limits of all workers pass through
lazy       seconds until ten million predictions are described, and kB that have come to the client
ray        the recipe of docs/dask.md, where Ray is installed: difference to the fit in memory
"""

from __future__ import annotations

import argparse
import os
import pickle
import resource
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from functools import reduce
from typing import Any

import dask
import dask.array as da
import numpy as np
from _common import machine, versions
from dask.distributed import Client, LocalCluster, wait

from isthmus import PLS, Landmarks, Moments, ReducedRankRegression

ROOM = 3 * 2**30  # bytes of a worker, but for the question of memory
LIMIT = 500 * 2**20
SHAPES = [(200_000, 200, 20, 50_000), (800_000, 50, 5, 200_000)]


def processor_seconds(client: Client) -> float:
    return time.process_time() + sum(client.run(time.process_time).values())


def contest(client: Client, jobs: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Best processor seconds of each job."""
    best = dict.fromkeys(jobs, np.inf)
    for _ in range(repeats):
        for name, job in jobs.items():
            begin = processor_seconds(client)
            job()
            best[name] = min(best[name], processor_seconds(client) - begin)
    return best


def tell(question: str, shape: str, value: float, bound: float, note: str) -> None:
    verdict = "yes" if value <= bound else "NO"
    print(f"{question:<10} {shape:<28} {value:10.3g} {bound:8.3g} {verdict:>4}  {note}", flush=True)


def tiled(block_id: Any, rows: int, p: int) -> np.ndarray:
    """Cheaply made rows, the same whenever a chunk is computed again."""
    few = np.random.default_rng(block_id[0]).normal(2, 1, size=(1000, p))
    return np.tile(few, (rows // 1000, 1))


def rows_of(n: int, p: int, q: int, size: int) -> tuple[Any, Any]:
    chunks = ((size,) * (n // size), (p,))
    X = da.map_blocks(tiled, rows=size, p=p, chunks=chunks, dtype=float, meta=np.empty((0, 0)))
    return X, X[:, :q] + 0.1 * X[:, -q:] ** 2


def overhead(client: Client, repeats: int) -> None:
    for n, p, q, size in SHAPES:
        for dtype in ("float64", "float32"):
            X, Y = dask.persist(*(part.astype(dtype) for part in rows_of(n, p, q, size)))
            wait([X, Y])

            def plain(X: Any = X, Y: Any = Y) -> Any:
                X, Y = X.astype(float), Y.astype(float)
                return dask.compute(X.T @ X, X.T @ Y)

            def ours(X: Any = X, Y: Any = Y) -> Any:
                return ReducedRankRegression(3, alpha=1.0).fit(X, Y)

            best = contest(client, {"plain": plain, "ours": ours}, repeats)
            note = f"fit {best['ours']:.2f} s, products {best['plain']:.2f} s"
            tell("overhead", f"{n} x {p} x {q} {dtype}", best["ours"] / best["plain"], 1.3, note)


def kernel(client: Client, repeats: int) -> None:
    n, p, q, size, m = 60_000, 20, 3, 10_000, 300
    X, Y = dask.persist(*rows_of(n, p, q, size))
    wait([X, Y])
    landmarks = Landmarks(m, random_state=0).fit(X)

    def plain() -> Any:
        F = landmarks.transform(X)
        return dask.compute(F.T @ F, F.T @ Y)

    def ours() -> Any:
        return ReducedRankRegression(3, alpha=1.0).fit(landmarks.transform(X), Y)

    best = contest(client, {"plain": plain, "ours": ours}, repeats)
    note = f"fit {best['ours']:.2f} s, features and products {best['plain']:.2f} s"
    tell("kernel", f"{n} x {p} x {q}, m={m}", best["ours"] / best["plain"], 1.5, note)


def equal(client: Client, repeats: int) -> None:
    X, Y = rows_of(40_000, 50, 5, 4000)
    here = dask.compute(X, Y, scheduler="synchronous")
    for model in (PLS(5), ReducedRankRegression(3, alpha=1.0)):
        expected = model.fit(*here).predict(here[0])
        found = model.fit(X, Y).predict(X).compute()
        difference = float(np.abs(found - expected).max() / np.abs(expected).max())
        tell("equal", type(model).__name__, difference, 1e-10, "relative to the largest prediction")


def late(chunk: Any) -> Any:
    time.sleep(0.2)
    return chunk


def killed(client: Client, repeats: int) -> None:
    X, Y = rows_of(30_000, 20, 3, 1000)
    expected = PLS(3).fit(X, Y).coef_
    victim = next(iter(client.run(os.getpid).values()))
    timer = threading.Timer(1.5, os.kill, (victim, signal.SIGKILL))
    timer.start()
    found = PLS(3).fit(X.map_blocks(late, dtype=float, meta=np.empty((0, 0))), Y).coef_
    timer.join()
    client.wait_for_workers(2)
    gone = victim not in client.run(os.getpid).values()
    note = "the worker was lost" if gone else "NO WORKER WAS LOST"
    tell("killed", "30000 x 20 x 3", float(np.abs(found - expected).max()), 0.0, note)


def peak_bytes() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def memory(client: Client, repeats: int) -> None:
    before, workers = client.run(peak_bytes), set(client.run(os.getpid).values())
    n, p = 2_600_000, 100
    X, Y = rows_of(n, p, 3, 10_000)
    PLS(3).fit(X, Y)
    peak = max(client.run(peak_bytes).values())
    same = workers == set(client.run(os.getpid).values())
    note = (
        f"{8e-9 * n * p:.1f} GB of rows; peak {peak / 2**20:.0f} MiB, {max(before.values()) / 2**20:.0f} "
        f"before; {'no worker' if same else 'A WORKER WAS'} restarted"
    )
    tell("memory", f"limit {LIMIT >> 20} MiB each", peak / LIMIT, 1.0, note)


def lazy(client: Client, repeats: int) -> None:
    X, Y = rows_of(20_000, 20, 3, 2000)
    model = PLS(3).fit(X, Y)
    many = rows_of(10_000_000, 20, 3, 10_000)[0]
    begin, rss = time.perf_counter(), peak_bytes()
    predicted = model.predict(many)
    took, grown = time.perf_counter() - begin, peak_bytes() - rss
    note = f"{predicted.shape}, {predicted.dtype}, {predicted.npartitions} chunks, {grown / 2**20:.1f} MiB"
    tell("lazy", "10000000 x 20 x 3", took, 5.0, note)


def ray_sums(batch: Any, inputs: Any = ("a", "b", "c"), targets: Any = ("oil", "starch")) -> Any:
    X, Y = (np.column_stack([batch[name] for name in names]) for names in (inputs, targets))
    return {"moments": [pickle.dumps(Moments.from_data(X, Y))]}


def ray(client: Client, repeats: int) -> None:
    try:
        import pandas as pd
        import ray as engine
    except ImportError:
        print("ray        not installed")
        return
    engine.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    rng = np.random.default_rng(0)
    table = rng.normal(size=(100_000, 5)) @ rng.normal(size=(5, 5))
    with tempfile.TemporaryDirectory() as folder:
        names = ["a", "b", "c", "oil", "starch"]
        pd.DataFrame(table, columns=names).to_parquet(f"{folder}/rows.parquet")
        parts = engine.data.read_parquet(folder)
        parts = parts.map_batches(ray_sums, batch_size=65536, batch_format="numpy")
        sums = (pickle.loads(row["moments"]) for row in parts.iter_rows())
        model = PLS(2).fit(reduce(Moments.merge, sums))
    expected = PLS(2).fit(table[:, :3], table[:, 3:]).coef_
    tell("ray", "100000 x 3 x 2", float(np.abs(model.coef_ - expected).max()), 1e-10, "")


QUESTIONS = (overhead, kernel, equal, killed, lazy, ray)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", type=lambda text: text.split(","), default=[])
    settings = parser.parse_args()
    print(f"{machine()}; {versions()}; dask {dask.__version__}")
    print(f"{'question':<10} {'shape':<28} {'value':>10} {'bound':>8} {'in':>4}", flush=True)
    for limit, questions in ((ROOM, QUESTIONS), (LIMIT, (memory,))):
        wanted = [q for q in questions if not settings.only or q.__name__ in settings.only]
        if wanted:
            with (
                LocalCluster(
                    n_workers=2, threads_per_worker=1, memory_limit=limit, dashboard_address=None
                ) as cluster,
                Client(cluster) as client,
            ):
                for question in wanted:
                    question(client, settings.repeats)


if __name__ == "__main__":
    main()
