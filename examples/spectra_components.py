"""How many components does a calibration need, which wavelengths carry it, and what if bits are missing?
======================================================================================================

Near-infrared spectra are mixtures: each substance adds its bands in proportion to its concentration,
and the light that is scattered adds a sloping baseline. Here three substances are mixed, two of them
are asked for, and a baseline and noise are added. So the truth is known: five directions (three
substances, offset and slope of the baseline) and the bands of the two substances.

1. ``ComponentSearchCV`` scores every number of components. With thirty spectra the scores are noisy
   and the best of them often has too many; the one standard error rule takes the simplest model that
   is as good. A search costs about as much as a fit, so both rules are tried on a hundred sets.
2. ``vip`` says which wavelengths the components look at: the bands of the substances asked for, and
   the one of water that overlaps a band of fat and has to be told apart from it.
3. A fifth of all readings is lost. ``missing="em"`` fits to what is there; filling the holes with
   means does not come near it.

The figure is saved as ``isthmus-spectra.png``.
"""

from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from sklearn.model_selection import KFold

from isthmus import PLS, ComponentSearchCV
from isthmus.inspection import vip

FIGURE = Path("isthmus-spectra.png")
WAVELENGTHS = np.linspace(1100, 2300, 121)
TRUE_COMPONENTS = 5
BANDS = {"sugar": (1250, 2080), "fat": (1400, 1730), "water": (1450, 1940)}
ASKED = ("sugar", "fat")
WIDTH, NOISE, LOST = 45.0, 0.03, 0.2
N_TRAIN, N_TEST, N_SETS = 30, 200, 100
SEED = 0


def pure_spectra():
    """One row a substance: two bands each, those of fat and water overlap."""
    centres = np.array(list(BANDS.values()))
    heights = np.array([1.0, 0.6])
    shapes = np.exp(-(((WAVELENGTHS - centres[:, :, None]) / WIDTH) ** 2))
    return np.einsum("sbw,b->sw", shapes, heights)


def mixtures(n, rng):
    """Spectra and the concentrations asked for."""
    concentrations = rng.uniform(size=(n, len(BANDS)))
    slope = (WAVELENGTHS - WAVELENGTHS.mean()) / np.ptp(WAVELENGTHS)
    baseline = rng.normal(size=(n, 1)) + rng.normal(size=(n, 1)) * slope
    spectra = concentrations @ pure_spectra() + 0.3 * baseline
    spectra += NOISE * rng.normal(size=spectra.shape)
    return spectra, concentrations[:, : len(ASKED)]


def choose(spectra, concentrations):
    """Every number of components in ten folds; the simplest that is as good as the best."""
    search = ComponentSearchCV(
        PLS(scale=False),
        n_components=12,
        cv=KFold(10, shuffle=True, random_state=SEED),
        scoring="neg_mean_squared_error",
        rule="one_se",
    )
    return search.fit(spectra, concentrations)


def best_score(search):
    """Number of components with the best score, whatever its standard error."""
    return int(np.argmax(search.cv_results_["mean_test_score"])) + 1


def both_rules():
    """What the two rules choose on many sets of spectra, (n_sets, 2)."""
    searches = (choose(*mixtures(N_TRAIN, np.random.default_rng(seed))) for seed in range(N_SETS))
    return np.array([(best_score(s), s.best_params_["n_components"]) for s in searches])


def with_holes(spectra, rng):
    return np.where(rng.random(spectra.shape) < LOST, np.nan, spectra)


def mean_filled(spectra, means):
    return np.where(np.isnan(spectra), means, spectra)


def predictions_with_holes(n_components, train, test, rng):
    """Predictions for spectra with holes, learnt from spectra with holes, in two ways."""
    X, X_test = with_holes(train[0], rng), with_holes(test[0], rng)
    means = np.nanmean(X, axis=0)
    em = PLS(n_components, scale=False, missing="em").fit(X, train[1])
    filled = PLS(n_components, scale=False).fit(mean_filled(X, means), train[1])
    print(f"expectation-maximisation took {em.n_iter_} iterations")
    return {
        "holes filled with means": filled.predict(mean_filled(X_test, means)),
        'missing="em"': em.predict(X_test),
    }


def relative_error(truth, prediction):
    return float(np.linalg.norm(truth - prediction) / np.linalg.norm(truth - truth.mean(axis=0)))


def draw_search(ax, search):
    results = search.cv_results_
    components = np.arange(1, len(results["mean_test_score"]) + 1)
    spread = results["std_test_score"] / np.sqrt(search.n_splits_ - 1)
    ax.errorbar(components, -results["mean_test_score"], spread, marker="o", capsize=2)
    chosen = search.best_params_["n_components"]
    ax.axvline(chosen, color="C1", label=f"one standard error: {chosen}")
    ax.set(xlabel="components", ylabel="mean squared error", yscale="log")
    ax.set_title(f"How many components? One set of {N_TRAIN} spectra")
    ax.legend()


def draw_rules(ax, chosen):
    bins = np.arange(1, chosen.max() + 2) - 0.5
    ax.hist(chosen, bins, color=("0.6", "C1"), label=("best score", "one standard error"))
    ax.set(xlabel="components chosen", ylabel="sets", title=f"... and {N_SETS} sets")
    ax.legend()


def draw_importance(ax, model):
    ax.plot(WAVELENGTHS, vip(model), color="k")
    ax.axhline(1.0, color="0.7", lw=1)
    for colour, (name, centres) in zip(("C0", "C1", "0.6"), BANDS.items()):
        asked = name if name in ASKED else f"{name} (not asked for)"
        for i, centre in enumerate(centres):
            span = (centre - WIDTH, centre + WIDTH)
            ax.axvspan(*span, color=colour, alpha=0.25, lw=0, label=None if i else asked)
    ax.set(xlabel="wavelength [nm]", ylabel="VIP", title="Which wavelengths?")
    ax.legend()


def draw_holes(ax, truth, predictions):
    for colour, (name, prediction) in zip(("0.6", "C0"), predictions.items()):
        label = f"{name}: error {relative_error(truth, prediction):.0%}"
        ax.plot(truth.ravel(), prediction.ravel(), ".", color=colour, label=label)
    ax.axline((0, 0), slope=1, color="k", lw=1)
    ax.set(xlabel="concentration", ylabel="predicted", title=f"{LOST:.0%} of the readings lost")
    ax.legend()


def main():
    rng = np.random.default_rng(SEED)
    train, test = mixtures(N_TRAIN, rng), mixtures(N_TEST, rng)
    search = choose(*train)
    n_components = search.best_params_["n_components"]
    print(f"one standard error rule: {n_components} components, best score: {best_score(search)}")
    chosen = both_rules()
    too_many = (chosen > TRUE_COMPONENTS).sum(axis=0)
    print(f"too many in {N_SETS} sets: {too_many[1]} times, best score: {too_many[0]} times")
    print(f"complete spectra: error {relative_error(test[1], search.predict(test[0])):.1%}")
    predictions = predictions_with_holes(n_components, train, test, rng)
    for name, prediction in predictions.items():
        print(f"{name}: error {relative_error(test[1], prediction):.1%}")
    figure, axes = plt.subplots(2, 2, figsize=(11, 8), layout="constrained")
    draw_search(axes[0, 0], search)
    draw_rules(axes[0, 1], chosen)
    draw_importance(axes[1, 0], search.best_estimator_)
    draw_holes(axes[1, 1], test[1], predictions)
    figure.savefig(FIGURE, dpi=120)
    print(f"Open {FIGURE} to see the scores, the wavelengths and the predictions.")


if __name__ == "__main__":
    main()
