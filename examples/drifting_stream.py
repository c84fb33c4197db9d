"""What should a map remember of a stream whose truth drifts?
==========================================================

Rows arrive in blocks of twenty and none is kept. For a hundred blocks they come from one map of rank
three; or, from the middle on, from a map that turns slowly into another. Two kinds of memory are
offered by ``partial_fit``:

- ``online="exact"`` keeps moments, so that the map is at any time the best fit to all rows so far.
  ``forget=0.99`` lets each row count one per cent less with every row that follows: a memory of about
  a hundred rows.
- ``online="proximal"`` keeps nothing but the last map and goes from there towards each block. The pull
  ``pull`` says how slowly: constant, or growing with the blocks, which averages the noise away.

As long as nothing changes, to remember everything is best and a growing pull comes next; to forget has
its price. Once the map drifts, whoever does not forget is lost: the moments of all rows most of all,
and any pull that is or has grown too strong. ``forget`` and a moderate constant pull follow, and pay
for it when all is quiet.

The figure, saved as ``drifting_stream.png``, shows the excess risk after each block: the squared error
of predictions beyond that of the true map. The table has its value after the last block. Both are
means of three streams.
"""

from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

from isthmus import StiefelRegression

FIGURE = Path("drifting_stream.png")
N_FEATURES, N_TARGETS, RANK = 10, 8, 3
N_BLOCKS, BLOCK_ROWS, N_STREAMS = 100, 20, 3
SPREADS = np.geomspace(1.0, 0.15, N_FEATURES)  # standard deviations of the inputs
NOISE = 0.5
DRIFT_FROM, TURN = 50, 0.9  # the block from which the map turns, by this angle in all
METHODS = {
    "exact": {"online": "exact"},
    "exact, forget=0.99": {"online": "exact", "forget": 0.99},
    "proximal, pull=10": {"online": "proximal", "pull": 10.0},
    "proximal, pull=100": {"online": "proximal", "pull": 100.0},
    "proximal, pull growing": {"online": "proximal", "pull": 1.0, "pull_growth": "linear"},
}


def true_maps(rng, turn):
    """The map behind each block, (n_targets, n_features) and of rank three at any time."""
    V = np.linalg.qr(rng.normal(size=(N_TARGETS, RANK)))[0]
    first, second = rng.normal(size=(2, RANK, N_FEATURES))
    share = np.clip((np.arange(N_BLOCKS) - DRIFT_FROM) / (N_BLOCKS - 1 - DRIFT_FROM), 0.0, 1.0)
    return [V @ (np.cos(angle) * first + np.sin(angle) * second) for angle in turn * share]


def stream(maps, rng):
    """Blocks of rows, each from its own map."""
    for coef in maps:
        X = SPREADS * rng.normal(size=(BLOCK_ROWS, N_FEATURES))
        yield X, X @ coef.T + NOISE * rng.normal(size=(BLOCK_ROWS, N_TARGETS))


def excess_risks(options, seed, turn):
    """Excess risk after each block: the mean square of what separates two linear predictions."""
    rng = np.random.default_rng(seed)
    maps = true_maps(rng, turn)
    model, risks = StiefelRegression(RANK, alpha=0.0, **options), []
    for coef, (X, Y) in zip(maps, stream(maps, rng)):
        model.partial_fit(X, Y)
        slopes, offsets = model.coef_ - coef, model.intercept_  # the true intercept is zero
        risks.append(((SPREADS * slopes) ** 2).sum() + (offsets**2).sum())
    return risks


def mean_risks(turn):
    """Mean over the streams for every method, (n_blocks,)."""
    return {
        name: np.mean([excess_risks(options, seed, turn) for seed in range(N_STREAMS)], axis=0)
        for name, options in METHODS.items()
    }


def show(stationary, drifting):
    print(f"{'excess risk at the end':<26} {'stationary':>10} {'drifting':>10}")
    for name in METHODS:
        print(f"{name:<26} {stationary[name][-1]:>10.3f} {drifting[name][-1]:>10.3f}")


def draw(stationary, drifting):
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), sharey=True, layout="constrained")
    blocks = np.arange(N_BLOCKS) + 1
    for ax, title, risks in zip(axes, ("One map", "A map that drifts"), (stationary, drifting)):
        for name, values in risks.items():
            ax.semilogy(blocks, values, ls="-" if name.startswith("exact") else "--", label=name)
        ax.set(title=title, xlabel=f"blocks of {BLOCK_ROWS} rows seen")
    axes[0].set_ylabel("excess risk")
    axes[1].axvspan(DRIFT_FROM + 1, N_BLOCKS, color="0.93")
    axes[1].text(DRIFT_FROM + 3, 0.01, "drift")
    for ax in axes:
        ax.grid(alpha=0.3)
    axes[0].legend(loc="upper right")
    figure.savefig(FIGURE, dpi=120)


def main():
    stationary, drifting = mean_risks(turn=0.0), mean_risks(turn=TURN)
    show(stationary, drifting)
    draw(stationary, drifting)
    print(f"Open {FIGURE} to see which memories follow.")


if __name__ == "__main__":
    main()
