"""How narrow may the strip be through which molecules still pass?
===============================================================

Molecules are mapped to molecules, each to itself, through a linear map of rank r between two feature
spaces: an autoencoder whose middle has r numbers. The pre-image brings them back to a molecule. With all
ranks every molecule returns as itself; with few, as one that the r numbers cannot tell from it.

The molecules are made here: chains and rings of carbon, nitrogen and oxygen with branches. Half of them are
seen in training; the other half are asked for, and may be answered with any molecule of the catalogue.

The figure, saved as ``molecules_through_a_strip.png``, shows which share returns exactly, and how alike
question and answer are, against the rank.
"""

from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

from isthmus import DependencyRegressor, KernelMap, ReducedRankRegression
from isthmus.kernels import Graph, GraphKernel
from isthmus.preimages import CandidateSearch

FIGURE = Path("molecules_through_a_strip.png")
RANKS = (1, 2, 5, 12, 40)


def molecule(rng):
    """A chain or ring of four to seven atoms with one or two branches."""
    n = int(rng.integers(4, 8))
    edges = [(i, i + 1) for i in range(n - 1)] + [(n - 1, 0)] * int(rng.random() < 0.5)
    labels = list(rng.choice(["C", "N", "O"], n, p=[0.7, 0.15, 0.15]))
    for _ in range(int(rng.integers(1, 3))):
        edges.append((int(rng.integers(n)), len(labels)))
        labels.append(str(rng.choice(["C", "O"])))
    return Graph(tuple(str(x) for x in labels), tuple(edges))


def main():
    rng = np.random.default_rng(0)
    molecules = [molecule(rng) for _ in range(120)]
    train, test = molecules[:60], molecules[60:]
    kernel = GraphKernel(0.2, normalise=True)
    own = kernel(test, molecules)
    exact, alike = [], []
    print("rank  exact  likeness")
    for rank in RANKS:
        model = DependencyRegressor(
            KernelMap(kernel=kernel),
            ReducedRankRegression(rank, alpha=1e-4),
            KernelMap(kernel=kernel, preimage=CandidateSearch(molecules)),
        ).fit(train, train)
        answers = model.predict(test)
        values = np.array([own[i, molecules.index(z)] for i, z in enumerate(answers)])
        exact.append(np.mean(values > 1 - 1e-9))
        alike.append(values.mean())
        print(f"{rank:>4}  {exact[-1]:>5.2f}  {alike[-1]:>8.3f}")
    figure, ax = plt.subplots(figsize=(6.5, 4.3), layout="constrained")
    ax.semilogx(RANKS, exact, "o-", label="return exactly")
    ax.semilogx(RANKS, alike, "s--", label="mean likeness of question and answer")
    ax.set(xlabel="rank of the map", ylim=(0, 1.02), xticks=RANKS, xticklabels=RANKS)
    ax.grid(alpha=0.3)
    ax.legend()
    figure.savefig(FIGURE, dpi=120)
    print(f"Open {FIGURE} to see how narrow the strip may be.")


if __name__ == "__main__":
    main()
