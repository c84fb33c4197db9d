"""Which rule chooses the number of components best, and with how few of them?

Three quarters of the rows of each set are trained on, six draws. Five folds of these, dealt by content,
give the errors of rows left out for every number of components and ridge weight; the other quarter gives
the error that counts. All rules choose from the same folds. Cells are the mean over the sets of the error,
in percent of that of the best mean score, and the mean number of components. Six sets have a planted rank,
since on real tables the rank itself is worth little, and two have forty outputs or more, where a charge for
each component that does not know their number shows. The price of half a percent, with one output, was
chosen with the real tables and the first two planted ranks; the sets of many outputs and the other planted
ones were added afterwards.

    ISTHMUS_DATA=... python benchmarks/component_rules.py [--draws 6] [--sets corn_m5 gasoline ...]
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes
from sklearn.model_selection import PredefinedSplit

from isthmus import PCR, PLS, ReducedRankRegression
from isthmus.datasets import make_low_rank_regression, make_spectra
from isthmus.kernels.distinct import deal_by_content
from isthmus.model_selection.pooled import PooledErrors, choose_pooled
from isthmus.problems import Split
from isthmus.regression.crossval import best_index, default_alphas, default_ranks, path_scores

# Rows, inputs, outputs, rank and noise.
PLANTED = ((100, 40, 5, 3, 1.0), (100, 40, 5, 3, 0.3), (80, 20, 10, 2, 1.0), (120, 60, 12, 3, 2.0),
           (150, 100, 20, 2, 2.0), (60, 15, 6, 1, 1.0))  # fmt: skip
MULAN = ("atp1d", "atp7d", "oes97", "edm", "enb", "jura", "wq", "scm20d", "rf1")
MOST_ROWS = 600


def tables() -> dict[str, tuple[NDArray, NDArray, bool]]:
    """Inputs, outputs, and whether the inputs are a curve."""
    home = Path(os.environ["ISTHMUS_DATA"])
    nir, mulan = np.load(home / "nir.npz"), np.load(home / "mulan_regression.npz")
    found = {f"corn_{k}": (nir[f"corn_X_{k}"], nir["corn_Y"], True) for k in ("m5", "mp5", "mp6")}
    found["dough"] = nir["dough_X"], nir["dough_Y"], True
    found["gasoline"] = nir["gasoline_X"], nir["gasoline_y"], True
    found["yarn"] = nir["yarn_X"], nir["yarn_y_density"], True
    found["tecator"] = nir["tecator_X"][:215], nir["tecator_Y"][:215], True
    for seed, n, noise in ((0, 120, 2e-4), (1, 120, 2e-4), (2, 60, 2e-3)):
        spectra = make_spectra(n, noise=noise, random_state=seed)
        found[f"simulated_{seed}"] = spectra.data, spectra.target, True
    for name in MULAN:
        X, Y = mulan[f"{name}_X"], mulan[f"{name}_Y"]
        whole = np.flatnonzero(np.isfinite(X).all(axis=1) & np.isfinite(Y).all(axis=1))
        if len(whole) > MOST_ROWS:
            whole = whole[np.random.default_rng(0).permutation(len(whole))[:MOST_ROWS]]
        found[name] = X[whole], Y[whole], False
    found["diabetes"] = *load_diabetes(return_X_y=True), False
    for seed, (n, p, q, rank, noise) in enumerate(PLANTED):
        X, Y, _ = make_low_rank_regression(n, p, q, rank=rank, noise=noise, random_state=seed)
        found[f"planted_{seed}"] = X, Y, False
    digits = np.load(home / "usps.npz")["X_train"][:400].reshape(-1, 16, 16)
    found["halves of digits"] = *(h.reshape(400, -1) for h in np.split(digits, 2, axis=2)), False
    faces = np.load(home / "orl_faces.npz")
    pictures = faces["images"][:, ::8, ::8].reshape(400, -1)
    found["forty persons"] = pictures[::2], np.eye(40)[faces["subject"][::2]], False
    return {
        name: (np.asarray(X, float), np.asarray(Y, float).reshape(len(X), -1), curve)
        for name, (X, Y, curve) in found.items()
    }


def candidates(model: Any, X: NDArray, Y: NDArray, seed: int) -> dict[str, Any]:
    """Scores and squared errors of rows left out, and errors of new rows, of every candidate."""
    order = np.random.default_rng(seed).permutation(len(X))
    train, test = np.split(order, [3 * len(X) // 4])
    train.sort()
    A, B = X[train], Y[train]
    deal = PredefinedSplit(deal_by_content(A, 5, Y=B))
    folds = [Split(a, b, len(train)) for a, b in deal.split()]
    ranks = default_ranks(model, min(f.n_train for f in folds), X.shape[1], Y.shape[1])
    alphas: list[Any] = default_alphas(A, None, True) if hasattr(model, "alpha") else [None]
    options: dict[str, Any] = {"y_is_1d": Y.shape[1] == 1, "keep_squares": True}
    inner = path_scores(model, A, B, None, folds, ranks, alphas, {"score": "r2"}, **options)
    outer = path_scores(
        model, X, Y, None, [Split(train, test, len(X))], ranks, alphas, {"score": "r2"}, **options
    )
    unit = np.where(B.var(axis=0) > 0, B.var(axis=0), 1.0)
    assert inner.squares is not None and outer.squares is not None
    rows = np.concatenate([(part / unit).mean(axis=-1) for part in inner.squares], axis=2)
    return {
        "ranks": ranks, "alphas": alphas, "scores": inner.scores["score"].reshape(-1, 5),
        "rows": rows.reshape(-1, len(train)), "outputs": Y.shape[1],
        "errors": np.sqrt((outer.squares[0] / unit).mean(axis=(2, 3))).ravel(),
    }  # fmt: skip


def by_score(rule: str) -> Callable[[dict[str, Any]], int]:
    return lambda c: best_index(c["scores"], c["ranks"], c["alphas"], rule)


def by_rows(rule: str) -> Callable[[dict[str, Any]], int]:
    def choose(c: dict[str, Any]) -> int:
        weights = np.full(c["rows"].shape[1], 1 / c["rows"].shape[1])
        pooled = PooledErrors(c["rows"], weights, np.empty(0))
        return choose_pooled(pooled, c["ranks"], c["alphas"], rule)

    return choose


def by_cost(price: float, *, per_output: bool = True) -> Callable[[dict[str, Any]], int]:
    def choose(c: dict[str, Any]) -> int:
        cost = np.log(np.maximum(c["rows"].mean(axis=1), 1e-16)) / 2
        own = price / c["outputs"] if per_output else price
        return int((cost + own * np.tile(c["ranks"], len(c["alphas"]))).argmin())

    return choose


RULES = {
    "best mean score": by_score("best"),
    "one standard error of it": by_score("one_se"),
    "least pooled RMSECV": by_rows("pooled"),
    "one standard error of it, pooled (onesigma)": by_rows("pooled_one_se"),
    "randomization test, 0.01": by_rows("randomization"),
    "0.25 % a component and output": by_cost(0.0025),
    "0.5 % a component and output (default)": by_cost(0.005),
    "1 % a component and output": by_cost(0.01),
    "2 % a component and output": by_cost(0.02),
    "0.5 % a component, whatever the outputs": by_cost(0.005, per_output=False),
    "best on the new rows (unknown)": lambda c: int(c["errors"].argmin()),
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--draws", type=int, default=6)
    parser.add_argument("--sets", nargs="+")
    given = parser.parse_args()
    found: dict[tuple[str, str], list[Any]] = defaultdict(list)
    kinds: dict[str, Any] = {
        "PLS": PLS,
        "PLS, one output": PLS,
        "PCR": PCR,
        "reduced rank": ReducedRankRegression,
    }
    for name, (X, Y, curve) in tables().items():
        if given.sets and name not in given.sets:
            continue
        for kind, cls in kinds.items():
            if Y.shape[1] == 1 and kind in ("PLS, one output", "reduced rank"):
                continue
            parts = (
                [Y[:, [j]] for j in range(min(Y.shape[1], 4))] if kind.endswith("output") else [Y]
            )
            draws = range((given.draws + 1) // 2 if kind.endswith("output") else given.draws)
            model = cls(1, scale="y" if curve else True)
            tried = [candidates(model, X, part, seed) for part in parts for seed in draws]
            for rule, choose in RULES.items():
                picks = [choose(c) for c in tried]
                best = [RULES["best mean score"](c) for c in tried]
                logs = [
                    np.log(c["errors"][i] / c["errors"][b]) for c, i, b in zip(tried, picks, best)
                ]
                number = [c["ranks"][i % len(c["ranks"])] for c, i in zip(tried, picks)]
                found[rule, kind].append((np.mean(logs), np.mean(number)))
    print(f"| rule | {' | '.join(kinds)} |\n|---|{'---|' * len(kinds)}")
    for rule in RULES:
        cells = []
        for kind in kinds:
            logs, number = np.mean(found[rule, kind] or [(np.nan, np.nan)], axis=0)
            cells.append(f"{100 * np.expm1(logs):+.1f} %, {number:.1f}")
        print(f"| {rule} | {' | '.join(cells)} |")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="n_components")
        main()
