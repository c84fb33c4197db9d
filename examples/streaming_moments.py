"""Is a map that sees its rows in blocks the same as one that sees them all at once?
=================================================================================

For the squared loss all that a linear map needs to know of the data is in its first and second
moments. So a million rows can pass by in blocks, none of them kept: ``partial_fit`` holds p x p
numbers and, after every block, the very map that a fit to all rows so far would give. The inputs lie
a thousand standard deviations from zero on purpose; sums of squares about zero would lose six digits
there, moments about a running mean do not.

The same holds for moments that were taken on two machines and merged. The figure, saved as
``isthmus-streaming.png``, shows how the map settles on the planted one as rows go by, and how far it
is from the fit to all of them.
"""

import time
from itertools import islice
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

from isthmus import Moments, ReducedRankRegression

FIGURE = Path("isthmus-streaming.png")
N_ROWS, N_BLOCKS = 1_000_000, 50
N_FEATURES, N_TARGETS, RANK = 16, 6, 3
OFFSET, NOISE = 1000.0, 1.0
CHECKPOINTS = (1, 5, 20, N_BLOCKS)


def planted_map(rng):
    left, right = rng.normal(size=(N_TARGETS, RANK)), rng.normal(size=(RANK, N_FEATURES))
    return left @ right / np.sqrt(RANK * N_FEATURES)


def blocks(coef):
    """The rows, block by block: a file that does not fit in memory would be read like this."""
    for seed in range(N_BLOCKS):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(N_ROWS // N_BLOCKS, N_FEATURES)) + OFFSET
        yield X, X @ coef.T + NOISE * rng.normal(size=(len(X), N_TARGETS))


def relative(a, b):
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))


def stream(coef):
    """The model after all blocks, its error after each, and its map at the checkpoints."""
    model = ReducedRankRegression(RANK, alpha=0.0)
    errors, maps = [], {}
    for i, (X, Y) in enumerate(blocks(coef), start=1):
        model.partial_fit(X, Y)
        errors.append(relative(model.coef_, coef))
        if i in CHECKPOINTS:
            maps[i] = model.coef_
    return model, errors, maps


def fits_at_once(coef):
    """Fits to all rows up to each checkpoint, which need them in memory."""
    X, Y = (np.concatenate(parts) for parts in zip(*blocks(coef)))
    size = N_ROWS // N_BLOCKS
    model = ReducedRankRegression(RANK, alpha=0.0)
    return {i: model.fit(X[: i * size], Y[: i * size]).coef_ for i in CHECKPOINTS}


def merged_halves(coef):
    """Moments of every second block, as two machines would have taken them, put together."""
    first, second = (Moments.from_blocks(islice(blocks(coef), start, None, 2)) for start in (0, 1))
    return first.merge(second)


def draw(errors, differences):
    seen = (np.arange(N_BLOCKS) + 1) * (N_ROWS // N_BLOCKS)
    figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
    ax.loglog(seen, errors, label="partial_fit to the planted map")
    ax.loglog(
        seen, errors[0] * np.sqrt(seen[0] / seen), "k:", label="one over the root of the rows"
    )
    checkpoints = [seen[i - 1] for i in differences]
    ax.loglog(checkpoints, list(differences.values()), "o", label="partial_fit to fit at once")
    ax.set(xlabel="rows seen", ylabel="relative difference of the maps", ylim=(1e-16, 1))
    ax.set_title("Rows in blocks, and all at once")
    ax.legend()
    figure.savefig(FIGURE, dpi=120)


def main():
    coef = planted_map(np.random.default_rng(12345))
    begin = time.perf_counter()
    model, errors, maps = stream(coef)
    took = time.perf_counter() - begin
    print(f"{model.n_samples_} rows in {N_BLOCKS} blocks: {took:.1f} s with their making")
    at_once = fits_at_once(coef)
    differences = {i: relative(maps[i], at_once[i]) for i in CHECKPOINTS}
    print(f"largest difference from the fit to all rows at once: {max(differences.values()):.0e}")
    merged = merged_halves(coef)
    print(f"moments of two halves, merged: {relative(merged.xx, model.moments_.xx):.0e} apart")
    draw(errors, differences)
    print(f"Open {FIGURE} to see the map settle.")


if __name__ == "__main__":
    main()
