"""Can one learn to translate between two spaces that never show the same numbers?
===============================================================================

The left half of a digit says something of the right half. A dependency model translates left halves into
right halves: kernels on both sides, a map of low rank between them. The candidates are then named: of a
hundred right halves, which belongs to this left half? The figure shows left halves and the right halves
that were predicted, found and true.
"""

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import Ridge

from isthmus import DependencyRegressor, KernelMap, compress
from isthmus.inspection import PreimageDisplay
from isthmus.preimages import CandidateSearch

FIGURE = Path("isthmus-translate.png")
N_TRAIN, N_CANDIDATES, SEED = 1200, 100, 0


def halves(pictures):
    rows = pictures.reshape(-1, 8, 8)
    return rows[:, :, :4].reshape(len(rows), -1), rows[:, :, 4:].reshape(len(rows), -1)


def side_by_side(left, right):
    return np.concatenate([left.reshape(-1, 8, 4), right.reshape(-1, 8, 4)], axis=2).reshape(
        len(left), -1
    )


def main():
    digits = load_digits().data / 16
    digits = digits[np.random.default_rng(SEED).permutation(len(digits))]
    X, Y = halves(digits[:N_TRAIN])
    X_test, Y_test = halves(digits[N_TRAIN : N_TRAIN + N_CANDIDATES])

    outputs = KernelMap(n_components=100, preimage="learned", random_state=SEED)
    model = DependencyRegressor(KernelMap(random_state=SEED), Ridge(0.1), outputs).fit(X, Y)
    print(f"R2 of the right half's pixels: {model.score(X_test, Y_test):.2f}")
    small = compress(model, 150)
    print(f"the same with 150 of {N_TRAIN} points: {small.score(X_test, Y_test):.2f}")

    catalogue = CandidateSearch(Y_test).fit(Y, model.outputs_.transform(Y), model.outputs_)
    ranked, _ = catalogue.inverse(model.predict_embedding(X_test), n_best=5, return_loss=True)
    found = np.stack([best[0] for best in ranked])
    first = np.mean([np.array_equal(best[0], true) for best, true in zip(ranked, Y_test)])
    among = np.mean([(best == true).all(axis=1).any() for best, true in zip(ranked, Y_test)])
    print(
        f"right half found among {N_CANDIDATES}: first {100 * first:.0f} %, in five {100 * among:.0f} %"
    )

    pictures = {
        "left half": side_by_side(X_test, np.zeros_like(Y_test)),
        "predicted": side_by_side(X_test, model.predict(X_test)),
        "found": side_by_side(X_test, found),
        "true": digits[N_TRAIN : N_TRAIN + N_CANDIDATES],
    }
    shown = {name: rows[:10] for name, rows in pictures.items()}
    PreimageDisplay(shown, (8, 8)).plot().figure_.savefig(FIGURE, dpi=120)
    print(f"\nOpen {FIGURE} to see left halves and the right halves they were given.")


if __name__ == "__main__":
    main()
