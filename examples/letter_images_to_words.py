"""Can handwritten words be read as wholes, no letter of them ever classified?
===========================================================================

A word is a row of pictures; the answer is a string. Pictures are laid side by side in places of their own
(a Gaussian kernel of the whole row), strings are compared by the n-grams they share, a ridge regression
leads from the one feature space to the other, and the string is searched whose image is nearest to the
prediction: any string of the right length, or one of a dictionary. An n-gram counts wherever it stands, or,
where letters know their places, at its place alone: of rows whose places are known more can be read.

Beside them the nearest neighbour, and a logistic regression that is told where each letter is and reads
letter by letter: where such an alignment is known it is the simpler tool, and the honest peer.

The words are those of the OCR set where the environment variable ISTHMUS_DATA names a directory that has
it: training words are of its first fold, test words of the nine others, so that no writing is in both (of
the 55 words that were written, all are in both). Else they are made of scikit-learn's digits, numbers of
three to five of them out of a list of sixty; no picture is in both.
The figure, saved as ``letter_images_to_words.png``, shows words with what was read.
"""

import os
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import pairwise_distances_argmin

from isthmus import DependencyRegressor, KernelMap
from isthmus.datasets import load_ocr_words
from isthmus.kernels import SequenceKernel
from isthmus.preimages import CandidateSearch, SequenceSearch

FIGURE = Path("letter_images_to_words.png")
N_TRAIN, N_TEST = 500, 100


def digit_words(rng, n):
    """Rows of pictures of digits and what they say; no picture is in training and in test."""
    digits = load_digits()
    known = ["".join(rng.choice(list("0123456789"), rng.integers(3, 6))) for _ in range(60)]
    of = [rng.permutation(np.flatnonzero(digits.target == d)) for d in range(10)]
    words = [known[i] for i in rng.integers(len(known), size=n)]
    pictures = []
    for number, word in enumerate(words):
        # The first two thirds of the pictures of a digit are for training.
        halves = [np.split(of[int(c)], [2 * len(of[int(c)]) // 3]) for c in word]
        chosen = [rng.choice(pair[number >= N_TRAIN]) for pair in halves]
        pictures.append(digits.images[chosen] / 16)
    return pictures, words


def letter_words(rng, n):
    """Handwritten words of the OCR set: training words of its first fold, test words of the others."""
    bunch = load_ocr_words()
    first, others = (
        rng.permutation(np.flatnonzero(part)) for part in (bunch.fold == 0, bunch.fold)
    )
    order = np.concatenate([first[:N_TRAIN], others[: n - N_TRAIN]])
    return [bunch.data[i].astype(float) for i in order], [bunch.target[i] for i in order]


def side_by_side(pictures, places):
    """One row a word: its pictures one after another, nothing where the word has ended."""
    flat = [np.ravel(word) for word in pictures]
    size = pictures[0][0].size * places
    return np.array([np.pad(row[:size], (0, max(0, size - len(row)))) for row in flat])


def placed(word):
    """Letters that know their places."""
    return [f"{letter}{place}" for place, letter in enumerate(word)]


def right(found, wanted):
    """Share of the places that agree."""
    hits = sum(a == b for x, y in zip(found, wanted) for a, b in zip(x, y))
    return hits / sum(map(len, wanted))


def letter_by_letter(pictures, words, test):
    """Logistic regression of single pictures."""
    stack = [np.concatenate([w.reshape(len(w), -1) for w in part]) for part in (pictures, test)]
    model = LogisticRegression(max_iter=300, C=0.1).fit(stack[0], list("".join(words)))
    ends = np.cumsum([len(w) for w in test])[:-1]
    return ["".join(part) for part in np.split(model.predict(stack[1]), ends)]


def main():
    rng = np.random.default_rng(0)
    folder = os.environ.get("ISTHMUS_DATA")
    real = folder is not None and (Path(folder) / "ocr_words.npz").exists()
    pictures, words = (letter_words if real else digit_words)(rng, N_TRAIN + N_TEST)
    places = max(map(len, words))
    X = side_by_side(pictures, places)
    train, test = slice(0, N_TRAIN), slice(N_TRAIN, None)
    wanted, sizes = words[test], [len(word) for word in words[test]]
    dictionary = sorted(set(words[train]))
    of_size = [[i for i, w in enumerate(dictionary) if len(w) == m] for m in sizes]

    def read(preimage, known=words[train], **options):
        model = DependencyRegressor(
            KernelMap(), Ridge(1e-2), KernelMap(kernel=SequenceKernel(0.2), preimage=preimage)
        ).fit(X[train], known)
        return model.predict(X[test], **options)

    by_place = read(SequenceSearch("beam"), [placed(word) for word in words[train]], sizes=sizes)

    nearest = pairwise_distances_argmin(X[test], X[train])
    answers = {
        "nearest neighbour": [words[i] for i in nearest],
        "letter by letter": letter_by_letter(pictures[train], words[train], pictures[test]),
        "search": read(SequenceSearch("beam"), sizes=sizes),
        "search, places known": ["".join(letter[0] for letter in word) for word in by_place],
        "dictionary": read(CandidateSearch(dictionary), candidates=of_size),
    }
    print("OCR set" if real else "digits", f"{N_TRAIN} words, {len(dictionary)} different")
    for name, found in answers.items():
        print(f"{name:<22}{right(found, wanted):>6.2f}")
    draw(pictures[test][:12], wanted[:12], {k: v[:12] for k, v in answers.items()})
    print(f"Open {FIGURE} to see the words and what was read.")


def draw(pictures, wanted, answers):
    figure, axes = plt.subplots(4, 3, figsize=(8.5, 9), layout="constrained")
    for ax, number in zip(axes.flat, range(12)):
        ax.imshow(np.hstack(list(pictures[number])), cmap="gray_r")
        lines = [f"{name}: {found[number]}" for name, found in answers.items()]
        ax.set_title("\n".join([f"is {wanted[number]}", *lines]), fontsize=7, loc="left")
        ax.set_axis_off()
    figure.savefig(FIGURE, dpi=120)


if __name__ == "__main__":
    main()
