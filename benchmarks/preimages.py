"""Which pre-image is the best, which is the fastest, and what do batches gain?

Digits of USPS: noise is taken away by projection on kernel principal components, and coarse digits are made
fine by a dependency model. Every method stands beside scikit-learn's ``KernelPCA.inverse_transform``.
Needs the environment variable ISTHMUS_DATA; without it only the speed of batches is measured, on
scikit-learn's digits.

    ISTHMUS_DATA=... python benchmarks/preimages.py --write docs/preimages.md
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from _common import Row, best_times, print_header, print_row, print_summary, record, versions
from numpy.typing import NDArray
from sklearn.decomposition import KernelPCA
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

from isthmus import DependencyRegressor, KernelMap
from isthmus.kernels import median_gamma
from isthmus.papers.kernel_dependency_thesis.super_resolution import (
    N_OUTPUT_AXES,
    N_TEST,
    N_TRAIN,
    OUT_OF_FOLD,
    coarse,
    digits,
    rmse,
)
from isthmus.preimages import Distance, FixedPoint, Gradient, Learned, Nearest

N_AXES = 100
NOISES = (0.25, 0.5, 1.0)
FACTORS, FRESH = (2, 4), (4, 5, 6)  # splits 0 to 3 were looked at before
STRAIGHT = "ridge straight to pixels"
BETTER_THAN_SKLEARN, FIXED_POINT_SPEED, DISTANCE_SPEED = 1.3, 6.0, 50.0


# -- noise -------------------------------------------------------------------------------------


def methods() -> dict[str, Any]:
    return {
        "learned": Learned(),
        "learned, linear": Learned("linear"),
        "learned, then fixed point": Learned(refine=FixedPoint(neighbour=False)),
        "fixed point": FixedPoint(),
        "fixed point from the input": FixedPoint(),
        "fixed point, pull 0.1": FixedPoint(pull=0.1),
        "gradient": Gradient(tol=1e-5),
        "distance, 10 neighbours": Distance(10),
        "distance, 30 neighbours": Distance(30),
        "nearest": Nearest(),
    }


def noise_lines(X: NDArray, clean: NDArray, rows: list[Row]) -> list[str]:
    gamma = median_gamma(X, random_state=0)
    embedding = KernelMap(N_AXES, gamma=gamma).fit(X)
    scores = embedding.transform(X)
    fitted = {name: method.fit(X, scores, embedding) for name, method in methods().items()}
    rng = np.random.default_rng(1)
    noisy = {noise: clean + noise * rng.normal(size=clean.shape) for noise in NOISES}
    table: dict[str, list[float]] = {"the noisy input": [rmse(noisy[s], clean) for s in NOISES]}
    times: dict[str, float] = {"the noisy input": float("nan")}
    for name, method in fitted.items():
        table[name], times[name] = [], 0.0
        for noise in NOISES:
            Z = embedding.transform(noisy[noise])
            options = {"start": noisy[noise]} if "input" in name or "pull" in name else {}
            begin = time.perf_counter()
            answers = method.inverse(Z, **options)
            times[name] += time.perf_counter() - begin
            table[name].append(rmse(answers, clean))
        print(name, table[name], times[name], flush=True)
    for name, alpha in (("scikit-learn, default", 1.0), ("scikit-learn, alpha=0.1", 0.1)):
        peer = KernelPCA(
            N_AXES, kernel="rbf", gamma=gamma, fit_inverse_transform=True, alpha=alpha
        ).fit(X)
        table[name], times[name] = [], 0.0
        for noise in NOISES:
            Z = peer.transform(noisy[noise])
            begin = time.perf_counter()
            answers = peer.inverse_transform(Z)
            times[name] += time.perf_counter() - begin
            table[name].append(rmse(answers, clean))
    gains = [p / q for p, q in zip(table["scikit-learn, default"], table["learned"])]
    verdict = "better" if gains[0] >= BETTER_THAN_SKLEARN else "MISSED: not 1.3 times better"
    print(f"learned against scikit-learn's default: {gains} times, {verdict}", flush=True)
    lines = [
        "| method | " + " | ".join(f"noise {noise}" for noise in NOISES) + " | time for all |",
        "|---" * (len(NOISES) + 2) + "|",
    ]
    for name, errors in table.items():
        took = "" if np.isnan(times[name]) else f"{1e3 * times[name]:.0f} ms"
        lines.append(f"| {name} | " + " | ".join(f"{e:.3f}" for e in errors) + f" | {took} |")
    lines += ["", "The learned map against scikit-learn's default: "]
    lines[-1] += ", ".join(f"{gain:.2f} times better" for gain in gains) + "."
    return lines


# -- resolution --------------------------------------------------------------------------------


def resolution_errors(factor: int, seeds: list[int]) -> dict[str, NDArray]:
    """Return the errors of every method, one per split; the same inputs, map and ridge weight for all."""
    table: dict[str, list[float]] = {}
    regressions: list[tuple[str, Any, int | None]] = [
        ("learned on true scores", Learned(), None),
        (OUT_OF_FOLD, Learned(), 5),
        ("linear on out-of-fold scores", Learned("linear"), 5),
    ]
    searches: list[tuple[str, Any, int | None]] = [  # slow and far behind: on the first split only
        ("fixed point", FixedPoint(), None),
        ("distance", Distance(), None),
        ("nearest", Nearest(), None),
    ]
    for seed in seeds:
        X, clean = digits(seed)
        A, B = coarse(X, factor), coarse(clean, factor)
        gamma = median_gamma(A, random_state=0)
        held_out = {a: _held_out(A, X, gamma, a) for a in (0.01, 0.03, 0.1, 0.3, 1.0)}
        alpha = sorted(held_out, key=held_out.__getitem__)[0]
        inputs, map_ = KernelMap(gamma=gamma), Ridge(alpha)
        outputs = KernelMap(N_OUTPUT_AXES, gamma=median_gamma(X, random_state=0))
        straight = DependencyRegressor(inputs, map_).fit(A, X).predict(B)
        table.setdefault(STRAIGHT, []).append(rmse(straight, clean))
        peer = KernelRidge(alpha=alpha, kernel="rbf", gamma=gamma).fit(A, X).predict(B)
        table.setdefault("scikit-learn's KernelRidge", []).append(rmse(peer, clean))
        for name, method, cv in regressions if seed else [*regressions, *searches]:
            model = DependencyRegressor(inputs, map_, outputs, cv=cv)
            model.set_params(outputs__preimage=method).fit(A, X)
            table.setdefault(name, []).append(rmse(model.predict(B), clean))
    return {name: np.array(errors) for name, errors in table.items()}


def _held_out(A: NDArray, X: NDArray, gamma: float, alpha: float) -> float:
    model = DependencyRegressor(KernelMap(gamma=gamma), Ridge(alpha)).fit(A[:1000], X[:1000])
    return rmse(model.predict(A[1000:]), X[1000:])


def resolution_lines(rows: list[Row]) -> list[str]:
    """The split that the methods were developed on, and fresh ones, in columns."""
    seen = {factor: resolution_errors(factor, [0]) for factor in FACTORS}
    fresh = {factor: resolution_errors(factor, list(FRESH)) for factor in FACTORS}
    heads = [
        f"{16 // f} x {16 // f}{kind}" for f in FACTORS for kind in (", first split", ", fresh")
    ]
    lines = ["| method | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for name in seen[FACTORS[0]]:
        tables = [errors for f in FACTORS for errors in (seen[f], fresh[f])]
        cells = [f"{errors[name].mean():.4f}" if name in errors else "" for errors in tables]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    lines.append("")
    for factor in FACTORS:
        ratios = fresh[factor][OUT_OF_FOLD] / fresh[factor][STRAIGHT]
        every = ", ".join(f"{ratio:.4f}" for ratio in ratios)
        lines.append(
            f"Out-of-fold scores against ridge straight to pixels, {16 // factor} x {16 // factor}, fresh "
            f"splits one by one: {every} of its error."
        )
        row = Row(
            f"super-resolution, {16 // factor} x {16 // factor} to 16 x 16",
            f"{N_TRAIN} digits, worst of {len(FRESH)} fresh splits",
            1,
            1e4 * fresh[factor][OUT_OF_FOLD][ratios.argmax()],
            1e4 * fresh[factor][STRAIGHT][ratios.argmax()],
            1.0,
            peer=STRAIGHT,
            note="root mean squared errors, times 10^4",
        )
        rows.append(row)
        print_row(row)
    return lines


# -- batches -----------------------------------------------------------------------------------


def textbook_fixed_point(X: NDArray, G: NDArray, gamma: float, start: NDArray) -> NDArray:
    """One target: the iteration as it is printed."""
    z, scale = start.copy(), np.abs(X).max()
    for _ in range(200):
        w = G * np.exp(-gamma * ((X - z) ** 2).sum(axis=1))
        new = w @ X / w.sum()
        if np.abs(new - z).max() < 1e-6 * scale:
            return np.asarray(new)
        z = new
    return z


def textbook_distance(X: NDArray, squared: NDArray, s: int = 10) -> NDArray:
    """One target: multidimensional scaling with a d x d pseudo-inverse, as it is printed."""
    near = np.argsort(squared)[:s]
    N = X[near].T
    centred = N - N.mean(axis=1, keepdims=True)
    d0 = (centred**2).sum(axis=0)
    rhs = d0 - squared[near]
    return np.asarray(
        0.5 * np.linalg.pinv(centred @ centred.T) @ centred @ (rhs - rhs.mean()) + N.mean(axis=1)
    )


def batch_rows(X: NDArray, clean: NDArray) -> list[Row]:
    gamma = median_gamma(X, random_state=0)
    embedding = KernelMap(N_AXES, gamma=gamma).fit(X)
    scores = embedding.transform(X)
    rng = np.random.default_rng(1)
    noisy = clean + 0.5 * rng.normal(size=clean.shape)
    Z = embedding.transform(noisy)
    G = embedding.expand(Z)
    fixed = FixedPoint(neighbour=False).fit(X, scores, embedding)
    distance = Distance(10).fit(X, scores, embedding)
    targets = distance._targets(Z)
    correlations = 0.5 * (1 + targets.squared_norms[:, None] - distance._fitted_losses(targets))
    squared = distance._input_distances(correlations, targets.squared_norms)
    rows = []
    for name, method, alone, speed, options in (
        (
            "fixed point",
            fixed,
            lambda: np.stack([textbook_fixed_point(X, g, gamma, z) for g, z in zip(G, noisy)]),
            FIXED_POINT_SPEED,
            {"start": noisy},
        ),
        (
            "distance",
            distance,
            lambda: np.stack([textbook_distance(X, row) for row in squared]),
            DISTANCE_SPEED,
            {},
        ),
    ):
        together = best_times({"": lambda m=method, o=options: m.inverse(Z, **o)}, 3)[""]
        one_by_one = best_times({"": alone}, 1)[""]
        called = best_times({"": lambda m=method, o=options: _singly(m, Z, o)}, 1)[""]
        rows.append(
            Row(
                f"{name}, a batch",
                f"{len(Z)} targets, {len(X)} x 256",
                1,
                1e3 * together,
                1e3 * one_by_one,
                1 / speed,
                difference=float(np.abs(method.inverse(Z, **options) - alone()).max()),
                peer="one at a time, as printed",
                note=f"ours called one by one: {called / together:.1f} times the batch",
            )
        )
        print_row(rows[-1])
    return rows


def _singly(method: Any, Z: NDArray, options: dict[str, NDArray]) -> NDArray:
    answers = []
    for t in range(len(Z)):
        own = {key: value[t : t + 1] for key, value in options.items()}
        answers.append(method.inverse(Z[t : t + 1], **own))
    return np.concatenate(answers)


# -- the document ------------------------------------------------------------------------------


def document(noise: list[str], resolution: list[str], rows: list[Row]) -> str:
    batches = "\n".join(
        f"- {row.question}: {1 / row.ratio:.1f} times faster than {row.peer} ({row.shape}); {row.note}."
        for row in rows
    )
    return f"""# Pre-images: how good, how fast

Written by [`benchmarks/preimages.py`](../benchmarks/preimages.py). USPS digits, {N_TRAIN} to learn from,
{N_TEST} to be tested on, pixels from -1 to 1. Errors are root mean squares a pixel. {versions()}.

## Noise taken away

Noisy digits are projected on {N_AXES} kernel principal components (RBF, median width) of clean digits,
and brought back by every method. Times are for all {len(NOISES) * N_TEST} pictures on one thread, to be
compared with each other only.

{chr(10).join(noise)}

## Coarse digits made fine

A dependency model from the coarse to the fine picture. The ridge weight is the best for ridge straight to
pixels, on held-out digits. A learned pre-image that was trained on the scores which the map predicts for
digits it has not seen corrects what the map gets wrong; one that was trained on the true scores does not.
The first split was looked at while the methods were developed; the fresh ones are {len(FRESH)} other random
splits of the whole set, so that a fifth of their digits were in the first.

{chr(10).join(resolution)}

## Batches

{batches}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="write the tables to this file")
    parser.add_argument("--no-record", action="store_true", help="do not append to results.csv")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print_header()
    X, clean = digits()
    batches = batch_rows(X, clean)
    rows = list(batches)
    if os.environ.get("ISTHMUS_DATA"):
        noise, resolution = noise_lines(X, clean, rows), resolution_lines(rows)
        if options.write:
            options.write.write_text(document(noise, resolution, batches), "utf-8")
    print_summary(rows)
    if not options.no_record:
        record(rows)


if __name__ == "__main__":
    main()
