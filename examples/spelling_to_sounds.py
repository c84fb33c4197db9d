"""Can a map between feature spaces learn to spell out sounds, letter by letter, from whole words alone?
=====================================================================================================

A small language: each vowel has a sound of its own, ``c`` sounds as ``k`` before a, o, u and as ``s``
before e and i, and ``sh`` is one sound. The model sees pairs of words and sounds, never which letter makes
which sound: a kernel of letters on one side, one of sounds on the other, a ridge regression between, and
a search for the string of sounds whose image is nearest to the predicted point.

Beside it the nearest neighbour: the sounds of the most similar training word. And with a dictionary of the
sound strings that occur in the language, ``CandidateSearch`` ranks its entries instead of making new ones;
without settings ``DependencyRegressor`` finds out which letters make which sounds, proposes answers and
ranks them.

The figure, saved as ``spelling_to_sounds.png``, shows the share of sounds that are right against the number
of training words. How the same does on English (NETtalk), on handwriting and on proteins is in
docs/structures.md.
"""

from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from sklearn.linear_model import Ridge

from isthmus import DependencyRegressor, KernelMap
from isthmus.kernels import SequenceKernel
from isthmus.preimages import CandidateSearch, SequenceSearch

FIGURE = Path("spelling_to_sounds.png")
SIZES = (50, 100, 200, 400)
N_TEST = 60


def word(rng):
    """Two or three syllables."""
    heads, vowels = ["c", "sh", "t", "m", "l", "s"], "aeiou"
    return "".join(rng.choice(heads) + rng.choice(list(vowels)) for _ in range(rng.integers(2, 4)))


def sounds(spelling):
    """How a word is spoken."""
    out, i = "", 0
    while i < len(spelling):
        if spelling.startswith("sh", i):
            out, i = out + "S", i + 2
            continue
        letter, after = spelling[i], spelling[i + 1 : i + 2]
        soft = letter == "c" and after in ("e", "i")
        out += (
            "s"
            if soft
            else "k"
            if letter == "c"
            else letter.upper()
            if letter in "aeiou"
            else letter
        )
        i += 1
    return out


def right(found, wanted):
    """Share of the places that agree."""
    hits = sum(a == b for x, y in zip(found, wanted) for a, b in zip(x, y))
    return hits / sum(max(len(x), len(y)) for x, y in zip(found, wanted))


def main():
    rng = np.random.default_rng(0)
    words = list(dict.fromkeys(word(rng) for _ in range(800)))
    spoken = [sounds(w) for w in words]
    test, wanted = words[-N_TEST:], spoken[-N_TEST:]
    letters, phones = SequenceKernel(0.3, normalise=True), SequenceKernel(0.2)
    methods = {
        "search": SequenceSearch("beam", size_window=2),
        "dictionary": CandidateSearch(spoken),
    }
    shares = {name: [] for name in ("nearest neighbour", *methods, "candidates")}
    for n in SIZES:
        nearest = letters(test, words[:n]).argmax(axis=1)
        shares["nearest neighbour"].append(right([spoken[i] for i in nearest], wanted))
        for name, preimage in methods.items():
            model = DependencyRegressor(
                KernelMap(kernel=letters), Ridge(1e-3), KernelMap(kernel=phones, preimage=preimage)
            ).fit(words[:n], spoken[:n])
            shares[name].append(right(model.predict(test), wanted))
        candidates = DependencyRegressor().fit(words[:n], spoken[:n])
        shares["candidates"].append(right(candidates.predict(test), wanted))
    print(f"{'training words':<20}" + "".join(f"{n:>8}" for n in SIZES))
    for name, values in shares.items():
        print(f"{name:<20}" + "".join(f"{v:>8.2f}" for v in values))
    figure, ax = plt.subplots(figsize=(6.5, 4.3), layout="constrained")
    for name, values in shares.items():
        ax.plot(SIZES, values, "o-", label=name)
    ax.set(xlabel="training words", ylabel="share of sounds that are right", ylim=(0, 1.02))
    ax.grid(alpha=0.3)
    ax.legend()
    figure.savefig(FIGURE, dpi=120)
    print(f"Open {FIGURE} to see how many words it takes.")


if __name__ == "__main__":
    main()
