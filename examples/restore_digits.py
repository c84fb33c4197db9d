"""Can damaged digits be restored by a linear map, and through how narrow a strip?
===============================================================================

Half of the pixels of scikit-learn's digits are dead, always the same half, and the others are
noisy. Four methods learn the map from damaged to clean pictures from two hundred examples; each looks
for the narrowest strip (fewest components, then the largest ridge weight) that cross-validates within
one standard error of its best. Least squares, which has no strip, stands beside them. The table
compares them on pictures that none of them has seen, and ``isthmus-demo.png`` shows what they get and
what they restore.
"""

import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import KFold, train_test_split
from threadpoolctl import threadpool_limits

from isthmus import PCR, PLS, ComponentSearchCV, ReducedRankRegression

FIGURE = Path("isthmus-demo.png")
N_TRAIN, NOISE, SEED = 200, 2.0, 0
N_PIXELS, BRIGHTEST = 64, 16.0
N_SHOWN = 10


def damage(pictures):
    """Switch off a fixed random half of the pixels and add noise to the others."""
    rng = np.random.default_rng(SEED)
    dead = rng.permutation(N_PIXELS)[: N_PIXELS // 2]
    damaged = pictures + NOISE * rng.standard_normal(pictures.shape)
    damaged[:, dead] = 0.0
    return damaged


def methods():
    """What competes: every number of components, and every ridge weight where there is one."""
    folds = KFold(10, shuffle=True, random_state=SEED)
    options = {"cv": folds, "scoring": "neg_mean_squared_error", "rule": "one_se"}
    alphas = np.logspace(0, 5, 21)
    pixels, live = range(1, N_PIXELS + 1), range(1, N_PIXELS // 2 + 1)
    return {
        "least squares": ReducedRankRegression(alpha=0.0),
        "ridge": ComponentSearchCV(
            ReducedRankRegression(), n_components=[N_PIXELS], alpha=alphas, **options
        ),
        "PCR": ComponentSearchCV(PCR(), n_components=live, **options),
        "PLS": ComponentSearchCV(PLS(scale=False), n_components=live, **options),
        "reduced rank": ComponentSearchCV(
            ReducedRankRegression(), n_components=pixels, alpha=alphas, **options
        ),
    }


def root_mean_square(a):
    return float(np.sqrt((a**2).mean()))


def rows_per_second(model, X):
    """Best of five: a moment in which the machine did something else does not count."""
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        model.predict(X)
        times.append(time.perf_counter() - begin)
    return len(X) / min(times)


def compare(X, Y, X_test, Y_test):
    """Fit every method, print one line each and return the restored test pictures."""
    line = "{:<14}{:>11}{:>13}{:>15}{:>20}"
    print(line.format("method", "test error", "components", "search + fit", "predicts"))
    for name, guess in (("left as it is", X_test), ("mean picture", Y.mean(axis=0))):
        print(line.format(name, f"{root_mean_square(Y_test - guess):.2f}", "", "", "").rstrip())
    restored = {}
    for name, model in methods().items():
        begin = time.perf_counter()
        model.fit(X, Y)
        took = time.perf_counter() - begin
        restored[name] = model.predict(X_test)
        error = f"{root_mean_square(Y_test - restored[name]):.2f}"
        components = str(getattr(model, "best_estimator_", model).n_components_)
        speed = f"{rows_per_second(model, X_test):,.0f} rows/s"
        print(line.format(name, error, components, f"{took:.2f} s", speed))
    return restored


def draw(originals, damaged, restored):
    """Originals, damaged and restored pictures, a row each."""
    import matplotlib.pyplot as plt

    rows = {"original": originals, "damaged": damaged, **restored}
    size = (N_SHOWN + 1.6, 1.05 * len(rows))
    figure, axes = plt.subplots(len(rows), N_SHOWN, figsize=size, layout="constrained")
    for (name, pictures), line in zip(rows.items(), axes):
        line[0].set_ylabel(name, rotation=0, ha="right", va="center")
        for picture, ax in zip(pictures, line):
            ax.imshow(picture.reshape(8, 8), cmap="gray_r", vmin=0, vmax=BRIGHTEST)
            ax.set(xticks=[], yticks=[])
    figure.savefig(FIGURE, dpi=120)


def main():
    clean, digit = load_digits(return_X_y=True)
    X, X_test, Y, Y_test, _, digit = train_test_split(
        damage(clean), clean, digit, train_size=N_TRAIN, stratify=digit, random_state=SEED
    )
    print(f"{len(X)} digits to learn from, {len(X_test)} to be tested on; 8 x 8 pixels, 0 to 16,")
    print("half of them dead and the others noisy. Errors are root mean squares a pixel.\n")
    with threadpool_limits(1):  # matrices this small gain nothing from a second thread
        restored = compare(X, Y, X_test, Y_test)
    shown = [int(np.flatnonzero(digit == d)[0]) for d in range(N_SHOWN)]
    try:
        draw(Y_test[shown], X_test[shown], {name: Y[shown] for name, Y in restored.items()})
    except ImportError:
        print("\nNo picture: matplotlib is not installed (pip install 'isthmus[plot]').")
    else:
        print(f"\nOpen {FIGURE} to see originals, damaged and restored digits side by side.")


if __name__ == "__main__":
    main()
