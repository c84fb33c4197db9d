"""Can coarse digits be made fine?
===============================

A picture of 4 x 4 pixels is made into one of 8 x 8 by kernel dependency estimation: a kernel on coarse
pictures, a ridge map between feature spaces, a kernel on fine pictures, and a pre-image that was trained on
the scores which the map predicts for digits it has not seen. Kernel ridge straight to pixels stands beside.
"""

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import Ridge

from isthmus import DependencyRegressor, KernelMap
from isthmus.inspection import PreimageDisplay
from isthmus.preimages import FixedPoint, Learned

FIGURE = Path("isthmus-super-resolution.png")
N_TRAIN, SEED = 1000, 0


def coarse(pictures):
    """Means of blocks of 2 x 2 pixels."""
    return pictures.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(len(pictures), -1)


def error(a, b):
    return float(np.sqrt(((a - b) ** 2).mean()))


def main():
    fine = load_digits().data / 16
    fine = fine[np.random.default_rng(SEED).permutation(len(fine))]
    X, X_test, Y, Y_test = (
        coarse(fine[:N_TRAIN]),
        coarse(fine[N_TRAIN:]),
        fine[:N_TRAIN],
        fine[N_TRAIN:],
    )

    inputs, ridge = KernelMap(random_state=SEED), Ridge(0.01)
    outputs = KernelMap(n_components=150, random_state=SEED)
    models = {
        "straight to pixels": DependencyRegressor(inputs, ridge),
        "learned": DependencyRegressor(inputs, ridge, outputs.set_params(preimage=Learned())),
    }
    blurred = np.repeat(np.repeat(X_test.reshape(-1, 4, 4), 2, axis=1), 2, axis=2).reshape(-1, 64)
    pictures = {"coarse": blurred}
    print(f"{'method':<22}{'error':>8}")
    print(f"{'blocks':<22}{error(blurred, Y_test):>8.4f}")
    for name, model in models.items():
        pictures[name] = model.fit(X, Y).predict(X_test)
        print(f"{name:<22}{error(pictures[name], Y_test):>8.4f}")
    found = models["learned"]
    refined = FixedPoint().fit(Y, found.outputs_.transform(Y), found.outputs_)
    pictures["fixed point"] = refined.inverse(found.predict_embedding(X_test))
    print(f"{'fixed point':<22}{error(pictures['fixed point'], Y_test):>8.4f}")
    pictures["true"] = Y_test
    values = [error(pictures[name], Y_test) for name in ("coarse", "learned")]
    print(f"blocks against learned: {values[0]:.4f} {values[1]:.4f}")

    shown = {name: rows[:10] for name, rows in pictures.items()}
    PreimageDisplay(shown, (8, 8)).plot().figure_.savefig(FIGURE, dpi=120)
    print(f"\nOpen {FIGURE} to see coarse digits and what became of them.")


if __name__ == "__main__":
    main()
