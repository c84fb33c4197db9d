"""What lies half way between two sequences, or between two molecules?
===================================================================

In the feature space of a kernel the answer is a straight line. To see it, every point of the line must be
brought back to an object: the pre-image problem. Here two automata speak sequences of their own kind;
nine sequences are found between one of each, and each is compared with the best that the data have to
offer, the nearest sequence that was spoken. Then the same between two small molecules, atom by atom and
bond by bond.

The found sequences are nearer to the line than any that was spoken, most of all in the middle, where nobody
speaks. Of graphs only the ends are images: the points between are met as well as whole atoms and bonds
allow.

The figure, saved as ``between_sequences_and_graphs.png``, shows both paths in the first two
coordinates, and the losses along them. The published experiment is [B2006] Sec. 3.5.
"""

from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

from isthmus import KernelMap
from isthmus.kernels import Graph, GraphKernel, SequenceKernel
from isthmus.preimages import GraphSearch, Nearest, SequenceSearch

FIGURE = Path("between_sequences_and_graphs.png")
SHARES = np.linspace(0, 1, 11)
N_EACH = 80


def automaton(rng):
    """Start probabilities and transitions of five states, some of which are missing."""
    T = rng.random((5, 5)) * (rng.random((5, 5)) > 0.4) + 1e-3
    start = rng.random(5)
    return start / start.sum(), T / T.sum(axis=1, keepdims=True)


def spoken(machine, rng):
    states = [rng.choice(5, p=machine[0])]
    for _ in range(rng.integers(10, 16) - 1):
        states.append(rng.choice(5, p=machine[1][states[-1]]))
    return "".join("abcde"[s] for s in states)


def along(objects, kernel, search, first, last):
    """Objects found between two of the given ones, and the losses of both methods."""
    embedding = KernelMap(kernel=kernel).fit(objects)
    scores = embedding.transform(objects)
    Z = np.outer(1 - SHARES, scores[first]) + np.outer(SHARES, scores[last])
    found, losses = search.fit(objects, scores, embedding).inverse(Z, return_loss=True)
    others = [i for i in range(len(objects)) if i not in (first, last)]
    nearest = Nearest().fit(objects, scores, embedding)._fitted_losses(search._targets(Z))
    return scores, embedding.transform(found), found, losses, nearest[:, others].min(axis=1)


def molecules():
    """Chains and rings of carbon with nitrogen and oxygen at their ends."""
    made = []
    for n in range(3, 8):
        chain = [(i, i + 1) for i in range(n - 1)]
        for end in "CNO":
            made.append(Graph(("C",) * (n - 1) + (end,), tuple(chain)))
            if n > 3:
                made.append(Graph(("C",) * (n - 1) + (end,), (*chain[:-1], (0, n - 2), (0, n - 1))))
    return made


def draw(ax, scores, path, title):
    ax.scatter(*scores[:, :2].T, s=8, color="0.7", label="given")
    ax.plot(*path[:, :2].T, "o-", ms=4, label="found")
    for place, name in ((0, "start"), (-1, "end")):
        ax.annotate(name, path[place, :2], weight="bold")
    ax.set(title=title, xlabel="first coordinate", ylabel="second coordinate")
    ax.legend()


def main():
    rng = np.random.default_rng(0)
    machines = automaton(rng), automaton(rng)
    words = [spoken(machine, rng) for machine in machines for _ in range(N_EACH)]
    first = along(words, SequenceKernel(0.1), SequenceSearch(size_window=3, n_starts=1), 0, N_EACH)
    print("share  sequence           loss   nearest given")
    for share, word, loss, near in zip(SHARES, *first[2:]):
        print(f"{share:5.1f}  {word:<17} {loss:.5f}  {near:.5f}")

    graphs = molecules()
    options = {"size_window": 1, "max_evaluations": 4000, "random_state": 0}
    search = GraphSearch("local", n_starts=1, **options)
    second = along(graphs, GraphKernel(0.2), search, 1, len(graphs) - 1)
    print("\nshare  atoms     bonds  loss")
    for share, graph, loss in zip(SHARES, second[2], second[3]):
        print(f"{share:5.1f}  {''.join(graph.labels):<9} {len(graph.edges):>5}  {loss:.6f}")

    inner = slice(1, -1)
    ratios = [(part[3][inner] / part[4][inner]).mean() for part in (first, second)]
    print(f"\nloss over the nearest's: sequences {ratios[0]:.2f}, graphs {ratios[1]:.2f}")

    figure, axes = plt.subplots(1, 3, figsize=(14, 4.3), layout="constrained")
    draw(axes[0], first[0], first[1], "Between two sequences")
    draw(axes[1], second[0], second[1], "Between two molecules")
    for part, name in ((first, "sequences"), (second, "graphs")):
        axes[2].plot(SHARES[inner], part[3][inner] / part[4][inner], "o-", label=name)
    axes[2].axhline(1, color="0.5", lw=1)
    axes[2].set(title="Loss over that of the nearest given", xlabel="share of the end")
    axes[2].legend()
    figure.savefig(FIGURE, dpi=120)
    print(f"Open {FIGURE} to see the two paths.")


if __name__ == "__main__":
    main()
