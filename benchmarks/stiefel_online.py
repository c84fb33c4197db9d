"""How fast is ``partial_fit`` of Stiefel regression, against the moments of a block and one decomposition?

python benchmarks/stiefel_online.py --repeats 3
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from _common import (
    Row,
    contest,
    describe,
    largest_difference,
)
from linear_fit import EIGENSOLVERS
from numpy.typing import NDArray
from sklearn.base import clone
from stiefel import ALPHA, FLOOR_BOUND, Settings, answer, stiefel_data
from threadpoolctl import threadpool_limits

from isthmus import StiefelRegression

ONLINE_SHAPE = (200, 20, 10)
BLOCK_ROWS, N_BLOCKS = 100, 20


def online(settings: Settings) -> Iterator[Row]:
    """Blocks of rows: our update beside the moments of a block and one decomposition."""
    p, q, r = ONLINE_SHAPE
    X, Y = stiefel_data((BLOCK_ROWS * N_BLOCKS, p, q, r), settings.condition)
    blocks = [(X[i : i + BLOCK_ROWS], Y[i : i + BLOCK_ROWS]) for i in range(0, len(X), BLOCK_ROWS)]
    modes = {
        "exact": ({"online": "exact"}, FLOOR_BOUND),
        "exact, forget=0.99": ({"online": "exact", "forget": 0.99}, FLOOR_BOUND),
        "proximal": ({"online": "proximal"}, float("inf")),
    }
    for name, (options, bound) in modes.items():
        for threads in settings.threads:
            with threadpool_limits(threads):
                model = StiefelRegression(r, alpha=ALPHA, **options)
                yield stream_against_floor(name, model, blocks, bound, threads, settings.repeats)


def stream_against_floor(
    name: str, model: StiefelRegression, blocks: list[tuple[NDArray, NDArray]], bound: float,
    threads: int, repeats: int,
) -> Row:  # fmt: skip
    fitted: list[StiefelRegression] = []

    def stream() -> None:
        fitted.append(clone(model))
        for block in blocks:
            fitted[-1].partial_fit(*block)

    jobs = {key: lambda eigh=eigh: stream_floor(blocks, eigh) for key, eigh in EIGENSOLVERS.items()}
    ours, theirs, winner = contest(stream, jobs, repeats + 2)
    X, Y = map(np.concatenate, zip(*blocks))
    batch = StiefelRegression(model.n_components, alpha=ALPHA).fit(X, Y)
    is_batch = model.online == "exact" and model.forget == 1
    return Row(
        f"online {name}, a block",
        describe(BLOCK_ROWS, X.shape[1], Y.shape[1], model.n_components),
        threads,
        1e3 * ours / len(blocks),
        1e3 * theirs / len(blocks),
        bound,
        difference=largest_difference(fitted[-1].coef_, batch.coef_) if is_batch else float("nan"),
        peer=f"moments and {winner}",
        note=f"{len(X) / ours:.0f} rows/s",
    )


def stream_floor(blocks: list[tuple[NDArray, NDArray]], eigh: Callable[[NDArray], object]) -> None:
    """The moments of each block, not even centred, and a decomposition of what has come so far."""
    p, q, _ = ONLINE_SHAPE
    xx, xy = np.zeros((p, p)), np.zeros((p, q))
    for X, Y in blocks:
        xx += X.T @ X
        xy += X.T @ Y
        eigh(xx)


if __name__ == "__main__":
    answer(__doc__, (online,))
