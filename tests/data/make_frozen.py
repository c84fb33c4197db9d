"""Write ``frozen.npz``: what the searches and the regression between structures answered before a redesign.

    python tests/data/make_frozen.py

``tests/test_frozen.py`` compares the code of today with it where versions, processor kernels and platform
are those in the file. A line that may change is written anew, in a commit that says why.
"""

from __future__ import annotations

import os
import platform
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from threadpoolctl import threadpool_info

from isthmus import (
    PCR,
    PLS,
    ComponentSearchCV,
    DependencyRegressor,
    ManifoldPLS,
    MethodSearchCV,
    ReducedRankRegression,
    StiefelRegression,
)
from isthmus.kernels.graphs.graph import as_graph
from isthmus.preimages import LogPool

FILE = Path(__file__).parent / "frozen.npz"
METHODS = (
    "pls pcr ridge reduced_rank lasso stiefel kernel rough_kernel process treated_process log_process "
    "chain trees boosting block_pls block_ridge"
).split()
RULES = ("auto", "best", "one_se", "pooled", "pooled_one_se", "randomization")
MAPS = (PCR(), PLS(), ReducedRankRegression(), StiefelRegression(), ManifoldPLS())


def environment() -> list[str]:
    """What the last digits depend on."""
    cores = {info.get("architecture", "") for info in threadpool_info()}
    versions = [f"{m.__name__} {m.__version__}" for m in (np, scipy, sklearn)]
    return [*versions, f"Python {sys.version_info[0]}.{sys.version_info[1]}", platform.machine(),
            platform.system(), *sorted(cores)]  # fmt: skip


def plain(n: int, p: int, q: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(1, 1, (n, p)) @ (np.eye(p) + 0.3 * rng.normal(size=(p, p)))
    Y = X[:, :3] @ rng.normal(size=(3, q)) + np.sin(X[:, [0]]) + 0.5 * rng.normal(size=(n, q))
    return X, Y + np.arange(q)


def spectra(n: int) -> tuple[np.ndarray, np.ndarray]:
    from isthmus.datasets import make_spectra

    made = make_spectra(n, random_state=0)
    return made.data[:, ::8], made.target[:, :2]


def tables() -> dict[str, tuple[Any, Any, dict[str, Any], dict[str, Any]]]:
    """X, Y, arguments of the search, arguments of its fit."""
    rng = np.random.default_rng(1)
    X, Y = plain(40, 6, 2)
    wide, wide_outputs = plain(36, 60, 3, 2)
    gaps_x, gaps_y = X.copy(), Y.copy()
    gaps_x[rng.random(X.shape) < 0.05] = np.nan
    gaps_y[rng.random(Y.shape) < 0.1] = np.nan
    drift = X + np.linspace(0, 2, 40)[:, None]
    heavy = Y + 0.3 * rng.standard_cauchy(Y.shape)
    many, many_outputs = plain(600, 5, 2, 3)
    return {
        "plain": (X, Y, {}, {}),
        "wide": (wide, wide_outputs, {}, {}),
        "spectra": (*spectra(40), {}, {}),
        "blocks": (wide, wide_outputs, {"blocks": [slice(0, 10), slice(10, 60)]}, {}),
        "gaps in X": (gaps_x, Y, {}, {}),
        "gaps in Y": (X, gaps_y, {}, {}),
        "weights": (X, Y, {}, {"sample_weight": rng.integers(1, 4, 40).astype(float)}),
        "groups": (X, Y, {}, {"groups": np.arange(40) // 4}),
        "time": (drift, Y, {"cv": "time"}, {}),
        "heavy tails": (X, heavy, {}, {}),
        "positive": (np.exp(X / 2), np.exp(Y), {}, {}),
        "classes": (X, (Y > Y.mean(axis=0)).astype(float), {}, {}),
        "one output": (X, Y[:, 0], {}, {}),
        "600 rows": (many, many_outputs, {}, {}),
    }


def methods_of(name: str) -> tuple[str, ...]:
    """Names of the methods whose left-out predictions are kept for a table."""
    return ("pls", "ridge", "kernel") if name == "600 rows" else tuple(METHODS)


def of_methods(name: str) -> Iterator[tuple[str, np.ndarray]]:
    """Left-out predictions of every method, and what the search says of the blend."""
    X, Y, options, params = tables()[name]
    for method in methods_of(name):
        try:
            search = MethodSearchCV(method, **options).fit(X, Y, **params)
        except ValueError:  # a method that this table refuses
            continue
        yield f"{name}/{method}", search.cv_predictions_
    some = (
        ["block_pls", "block_ridge"]
        if "blocks" in options
        else ["pls", "ridge", "reduced_rank", "kernel"]
    )
    search = MethodSearchCV(some, **options).fit(X, Y, **params)
    blend = search.best_estimator_
    yield f"{name}/weights", np.asarray(getattr(blend, "weights_", ()), dtype=float)
    yield f"{name}/errors", search.residual_quantiles_
    yield f"{name}/limits", limits(search)
    yield f"{name}/notices", np.array([len(search.notices_)])


def limits(search: MethodSearchCV) -> np.ndarray:
    """What the domain says of rows of its own kind and of rows that are far."""
    rows = np.linspace(-3, 3, 4)[:, None] * np.ones(search.n_features_in_)
    return np.asarray(search.check(rows).distance, dtype=float)


def of_maps(name: str) -> Iterator[tuple[str, np.ndarray]]:
    """Scores of the search for components, under every rule."""
    X, Y, _, params = tables()[name]
    for model in MAPS:
        for rule in RULES:
            search = ComponentSearchCV(model, n_components=4, rule=rule).fit(X, Y, **params)
            key = f"{name}/{type(model).__name__}/{rule}"
            yield key, np.append(search.cv_results_["mean_test_score"], search.best_index_)


def words() -> tuple[list[str], list[str], list[str]]:
    rng = np.random.default_rng(0)
    made = ["".join(rng.choice(list("abcd"), rng.integers(3, 6))) for _ in range(60)]
    made = list(dict.fromkeys(made))
    return made[:36], [w.translate(str.maketrans("abcd", "ABKD")) for w in made[:36]], made[36:44]


def of_structures() -> Iterator[tuple[str, np.ndarray]]:
    inputs, outputs, new = words()
    for name, options in {
        "open": {"candidates": None},
        "LogPool": {"candidates": LogPool()},
    }.items():
        yield (
            f"words/{name}",
            np.array(DependencyRegressor(**options).fit(inputs, outputs).predict(new)),
        )
    X, Y = plain(50, 4, 2, 5)
    yield "vectors", DependencyRegressor().fit(X[:40], Y[:40]).predict(X[40:])
    rng = np.random.default_rng(4)
    graphs, edges = [], []
    for _ in range(24):
        n = int(rng.integers(4, 8))
        A = np.triu(rng.random((n, n)) < 0.4, 1)
        edges.append(A | A.T)
        graphs.append(as_graph((rng.choice(list("CNO"), n).tolist(), A | A.T)))
    sizes = np.array([[len(g.labels), np.sum(A) / 2] for g, A in zip(graphs, edges)], dtype=float)
    yield "graphs", DependencyRegressor().fit(graphs[:20], sizes[:20]).predict(graphs[20:])


def parts() -> dict[str, Any]:
    """Names of the parts, and what computes each."""
    found: dict[str, Any] = {name: (lambda name=name: of_methods(name)) for name in tables()}
    complete = ("plain", "wide", "spectra", "weights", "one output")
    found |= {f"maps of {name}": (lambda name=name: of_maps(name)) for name in complete}
    return found | {"structures": of_structures}


def answers(part: str) -> dict[str, np.ndarray]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dict(parts()[part]())


if __name__ == "__main__":
    import time

    os.environ.setdefault("OMP_NUM_THREADS", "1")
    kept = {"environment": np.array(environment())}
    for part in parts():
        begin = time.perf_counter()
        kept |= {f"{part}: {key}": value for key, value in answers(part).items()}
        print(f"{part:<24}{time.perf_counter() - begin:8.1f} s", flush=True)
    np.savez_compressed(FILE, **kept)
