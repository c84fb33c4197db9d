"""What do treatments and blocks bring on near-infrared spectra, beside peers and published figures?

Every error is of rows that neither the fit nor the choice has seen: outer folds drawn several times, the
number of components chosen by inner folds of the rest, the least pooled error as the peers do. Cells are
relative errors (RMSEP over the standard deviation of the output, mean of the outputs) and, after +-, the
standard deviation over the draws. Needs the environment variable ISTHMUS_DATA, the directory that holds
nir.npz.

    ISTHMUS_DATA=... python benchmarks/spectra_methods.py [treatments] [blocks] [published] [tecator]

chemotools (with scikit-learn's PLS) and ikpls are compared where they are installed. Transfer between
instruments has a file of its own, spectra_transfer.py.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from _spectra_page import put_columns, put_table
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isthmus import PLS, ComponentSearchCV, fit_auto
from isthmus.auto.methods.treated import PathSearch, TreatedSearch, default_treatments
from isthmus.datasets import load_nir, make_spectra
from isthmus.features import (
    Baseline,
    Detrend,
    GapDerivative,
    NormalVariate,
    SavitzkyGolay,
    ScatterCorrection,
)
from isthmus.inspection import rmse
from isthmus.regression import BlockRidge, MultiblockPLS, SequentialPLS, join_blocks

MOST_COMPONENTS, INNER_FOLDS, OUTER_FOLDS = 15, 5, 5
SETS = ("corn", "tecator", "dough", "gasoline", "yarn")
TREATMENTS = {
    "none": "passthrough",
    "derivative 1": SavitzkyGolay(15, 2, 1),
    "derivative 2": SavitzkyGolay(15, 3, 2),
    "gap derivative": GapDerivative(5),
    "SNV": NormalVariate(),
    "MSC": ScatterCorrection(),
    "EMSC": ScatterCorrection(2),
    "detrend": Detrend(2),
    "baseline": Baseline(),
    "SNV + derivative 1": make_pipeline(NormalVariate(), SavitzkyGolay(15, 2, 1)),
}


def search(treatment: Any = "passthrough", rule: str = "pooled") -> ComponentSearchCV:
    """PLS behind a treatment, its number of components by pooled errors."""
    steps = make_pipeline(treatment, PLS(scale="y"))
    return ComponentSearchCV(steps, n_components=MOST_COMPONENTS, cv=INNER_FOLDS, rule=rule)


def peer_search(*steps: Any) -> GridSearchCV:
    """scikit-learn's PLS behind other steps, with its own search."""
    grid = {"plsregression__n_components": range(1, MOST_COMPONENTS + 1)}
    model = make_pipeline(*steps, PLSRegression(scale=False))
    return GridSearchCV(
        model, grid, cv=INNER_FOLDS, scoring="neg_mean_squared_error", error_score=-np.inf
    )


def peers() -> dict[str, Any]:
    """Searches of other libraries, of those that are installed."""
    found: dict[str, Any] = {"scikit-learn, none": peer_search()}
    try:
        from chemotools.derivative import SavitzkyGolay as Derivative
        from chemotools.scatter import StandardNormalVariate

        derivative = Derivative(window_length=15, polyorder=2, deriv=1)
        found["chemotools + scikit-learn, derivative 1"] = peer_search(derivative)
        found["chemotools + scikit-learn, SNV"] = peer_search(StandardNormalVariate())
    except ImportError:
        print("chemotools is not installed: left out (pip install chemotools).")
    if find_spec("ikpls") is None:
        print("ikpls is not installed: left out (pip install ikpls).")
    else:
        found["ikpls, none"] = IkplsSearch()
    return found


class IkplsSearch:
    """ikpls with the same folds, the number of components by the pooled error; one output at a time."""

    def fit(self, X: NDArray, y: NDArray) -> IkplsSearch:
        from ikpls.numpy import PLS as Ikpls

        self.shape = y.shape
        folds = np.empty(len(X), dtype=int)
        for k, (_, test) in enumerate(KFold(INNER_FOLDS).split(X)):
            folds[test] = k
        total = np.zeros(MOST_COMPONENTS)
        for k in range(INNER_FOLDS):
            model = self._fitted(Ikpls, X[folds != k], y[folds != k])
            prediction = model.predict(X[folds == k]).reshape(MOST_COMPONENTS, -1)
            total += ((prediction - y[folds == k]) ** 2).sum(axis=1)
        self.n_components = int(total.argmin()) + 1
        self.model = self._fitted(Ikpls, X, y)
        return self

    def _fitted(self, cls: Any, X: NDArray, y: NDArray) -> Any:
        model = cls(center_X=True, center_Y=True, scale_X=False, scale_Y=False)
        model.fit(X, y[:, None], MOST_COMPONENTS)
        return model

    def predict(self, X: NDArray) -> NDArray:
        return np.asarray(self.model.predict(X, n_components=self.n_components)).ravel()


def splits(n: int, draws: int) -> Iterator[list[tuple[NDArray, NDArray]]]:
    """Outer folds of each draw."""
    for seed in range(draws):
        yield list(KFold(OUTER_FOLDS, shuffle=True, random_state=seed).split(np.zeros(n)))


def relative_errors(predict: Callable[..., NDArray], Y: NDArray, draws: int) -> NDArray:
    """Relative error of each draw; ``predict(train, test, j)`` predicts output j of the test rows."""
    found = []
    for folds in splits(len(Y), draws):
        guess = np.empty_like(Y)
        for train, test in folds:
            for j in range(Y.shape[1]):
                guess[test, j] = predict(train, test, j)
        found.append((rmse(Y, guess) / Y.std(axis=0)).mean())
    return np.array(found)


def nested(model: Any, X: NDArray, Y: NDArray) -> Callable[..., NDArray]:
    """Predictions of a fresh model, fitted to the training rows."""

    def predict(train: NDArray, test: NDArray, j: int) -> NDArray:
        fresh = IkplsSearch() if isinstance(model, IkplsSearch) else clone(model)
        return np.ravel(fresh.fit(X[train], Y[train, j]).predict(X[test]))

    return predict


def show(name: str, head: list[str], lines: dict[str, list[str]], write: bool) -> None:
    """Print a table, and put it into the page if asked to."""
    rows = [f"| {label} | {' | '.join(cells)} |" for label, cells in lines.items()]
    put_table(
        name, [f"| method | {' | '.join(head)} |", f"|---|{'---|' * len(head)}", *rows], write
    )


def cell(errors: NDArray) -> str:
    """Mean and standard deviation over the draws."""
    return f"{errors.mean():.3f} +- {errors.std(ddof=1) if len(errors) > 1 else 0:.3f}"


def treatments(draws: int, write: bool, sets: Sequence[str] = SETS) -> None:
    """Each treatment alone, the bank of the automatic fit, and the peers."""
    models: dict[str, Any] = {name: search(step) for name, step in TREATMENTS.items()}
    models["none, fewest within one standard error"] = search(rule="pooled_one_se")
    models["bank, blended (default of fit_auto's PLS)"] = TreatedSearch(
        PathSearch(), default_treatments(), cv=KFold(5, shuffle=True, random_state=0)
    )
    models |= peers()
    for name in sets:
        lines: dict[str, list[str]] = {}
        bunch = load_nir(name)
        if name == "tecator":  # the rest was chosen to be far out
            keep = np.flatnonzero(~np.char.startswith(bunch.split.astype(str), "extrapolation"))
            bunch.data, bunch.target = bunch.data[keep], bunch.target[keep]
        Y = bunch.target.reshape(len(bunch.data), -1)
        for label, model in models.items():
            errors = relative_errors(nested(model, bunch.data, Y), Y, draws)
            lines[label] = [cell(errors)]
            print(f"{name}, {label}: {lines[label][0]}", file=sys.stderr, flush=True)
        put_columns("treatments", [name], lines, write)  # each set as soon as it is known


def blocks(draws: int, write: bool) -> None:
    """Two sources of the same samples: instruments of corn, and simulated spectra beside noisy assays."""
    derive = SavitzkyGolay(15, 2, 1)
    corn = {name: load_nir("corn", instrument=name) for name in ("m5", "mp5", "mp6")}
    spectra = make_spectra(80, random_state=0)
    rng = np.random.default_rng(0)
    # A second source with units of its own: rough assays of two outputs, and three columns of noise.
    assays = np.hstack([spectra.target[:, :2] + rng.normal(size=(80, 2)), rng.normal(size=(80, 3))])
    cases = {
        "corn, m5 and mp5": (corn["m5"].data, corn["mp5"].data, corn["m5"].target),
        "corn, mp5 and mp6": (corn["mp5"].data, corn["mp6"].data, corn["m5"].target),
        "simulated, noise 0.02, and assays": (
            spectra.data + 0.02 * rng.normal(size=spectra.data.shape), 1000 * assays, spectra.target,
        ),
    }  # fmt: skip
    lines: dict[str, list[str]] = {}
    for first, second, Y in cases.values():
        treated = [
            derive.fit_transform(part) if part.shape[1] > 20 else part for part in (first, second)
        ]
        X, parts = join_blocks(*treated)
        for label, (model, inputs) in ways_with_blocks(treated, X, parts).items():
            errors = relative_errors(nested(model, inputs, Y), Y, draws)
            lines.setdefault(label, []).append(cell(errors))
    show("blocks", list(cases), lines, write)


def ways_with_blocks(
    treated: list[NDArray], X: NDArray, parts: list[slice]
) -> dict[str, tuple[Any, NDArray]]:
    """One block alone, both side by side, and the methods that know of blocks."""
    ranks = {"n_components": [2, 4, 6, 8, 10]}
    pairs = {"n_components": [[a, b] for a in (4, 8, 12) for b in (0, 2, 4)]}
    error = "neg_mean_squared_error"
    return {
        "PLS, first alone": (search(), treated[0]),
        "PLS, second alone": (search(), treated[1]),
        "PLS, both side by side": (search(), X),
        "ridge, both side by side": (BlockRidge(), X),
        "BlockRidge": (BlockRidge(parts), X),
        "MultiblockPLS": (
            GridSearchCV(MultiblockPLS(parts, scale="y"), ranks, cv=5, scoring=error), X,
        ),
        "SequentialPLS": (
            GridSearchCV(SequentialPLS(parts, scale="y"), pairs, cv=5, scoring=error), X,
        ),
    }  # fmt: skip


def published(draws: int, write: bool) -> None:
    """Splits of the literature, on which nothing is drawn: biscuit dough and gasoline.

    Dough: 1380 to 2400 nm in steps of 4 nm, training rows without sample 23, test rows without sample 21,
    as in Brown, Fearn and Vannucci (2001), whose mean squared errors are printed beside ours. Gasoline: the
    first 50 spectra, then the last 10, as in the manual of the R package pls.
    """
    dough = load_nir("dough")
    X, Y = dough.data[:, 140:-49:2], dough.target
    train = np.delete(dough.train_index, 22)
    test = np.delete(np.setdiff1d(np.arange(len(X)), dough.train_index), 20)
    joint = ComponentSearchCV(PLS(scale="y"), n_components=15, cv=len(train), rule="pooled")
    lines = {
        "published: stepwise MLR": ["0.044", "1.188", "0.722", "0.221"],
        "published: PCR": ["0.160", "0.614", "0.388", "0.106"],
        "published: PLS": ["0.151", "0.583", "0.375", "0.105"],
        "published: Bayesian wavelets": ["0.063", "0.449", "0.348", "0.050"],
    }
    for label, model in {"PLS, all outputs, pooled LOO": joint, "fit_auto": None}.items():
        fitted = (
            fit_auto(X[train], Y[train], verbose=0)
            if model is None
            else model.fit(X[train], Y[train])
        )
        errors = ((fitted.predict(X[test]) - Y[test]) ** 2).mean(axis=0)
        lines[label] = [f"{error:.3f}" for error in errors]
    show("dough", list(dough.target_names), lines, write)
    gasoline = load_nir("gasoline")
    X, y = gasoline.data, np.ravel(gasoline.target)
    lines = {"published: PLS, 2 components": ["0.297", "0.244"]}
    for rule in ("pooled", "pooled_one_se"):
        model = ComponentSearchCV(PLS(scale=False), n_components=10, cv=50, rule=rule)
        model.fit(X[:50], y[:50])
        k = model.best_params_["n_components"]
        error = rmse(y[:50], cross_val_predict(PLS(k, scale=False), X[:50], y[:50], cv=50))
        test_error = rmse(y[50:], model.predict(X[50:]))
        lines[f"PLS, {rule}: {k} components"] = [f"{error:.3f}", f"{test_error:.3f}"]
    lines["fit_auto"] = [
        "",
        f"{rmse(y[50:], fit_auto(X[:50], y[:50], verbose=0).predict(X[50:])):.3f}",
    ]
    show("gasoline", ["RMSECV, LOO", "RMSEP"], lines, write)


def tecator(draws: int, write: bool) -> None:
    """Fat of tecator with the published split: a Gaussian process on PLS scores of treated spectra.

    Treatment and number of scores are those of the largest evidence of the training and monitoring rows;
    nothing is drawn and nothing written, so that ``draws`` and ``write`` are not used.
    """
    bunch = load_nir("tecator")
    X, y = bunch.data, bunch.target[:, 1]
    train = np.isin(bunch.split, ["train", "monitor"])
    test = np.asarray(bunch.split) == "test"
    banks = {
        "none": "passthrough",
        "SNV": NormalVariate(),
        "derivative 1": SavitzkyGolay(7, 2, 1),
        "derivative 2": SavitzkyGolay(9, 3, 2),
        "SNV + derivative 2": make_pipeline(NormalVariate(), SavitzkyGolay(9, 3, 2)),
    }
    lines, evidence = {}, {}
    for name, step in banks.items():
        for k in (8, 12, 16):
            kernel = ConstantKernel(100.0) * RBF(np.full(k, 10.0), (0.1, 1e4)) + WhiteKernel(
                1e-3, (1e-6, 1.0)
            )
            process = GaussianProcessRegressor(kernel, normalize_y=True)
            model = make_pipeline(step, PLS(k, scale=False), StandardScaler(), process)
            model.fit(X[train], y[train])
            label = f"{name}, {k} scores"
            evidence[label] = model[-1].log_marginal_likelihood_value_
            lines[label] = [
                f"{evidence[label]:.1f}",
                f"{rmse(y[test], model.predict(X[test])):.3f}",
            ]
    chosen = max(evidence, key=lambda label: evidence[label])
    show("tecator", ["log evidence", "RMSEP"], lines, write=False)
    print(f"\nChosen by its evidence: {chosen}, RMSEP {lines[chosen][1]}.")


SECTIONS = {
    "treatments": treatments,
    "published": published,
    "blocks": blocks,
    "tecator": tecator,
}


def main() -> None:
    """Run the sections that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("sections", nargs="*", metavar="section", help=", ".join(SECTIONS))
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS, help="of the treatments")
    parser.add_argument("--draws", type=int, default=3, help="number of draws of the outer folds")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/spectra.md")
    given = parser.parse_args()
    unknown = set(given.sections) - set(SECTIONS)
    if unknown:
        parser.error(f"no section {sorted(unknown)[0]!r}; there are {', '.join(SECTIONS)}")
    warnings.filterwarnings("ignore", message="n_components")  # fewer exist in a small fold
    warnings.simplefilter("ignore", ConvergenceWarning)  # widths at their bounds
    for name in given.sections or SECTIONS:
        sets = {"sets": given.sets} if name == "treatments" else {}
        SECTIONS[name](given.draws, given.write, **sets)


if __name__ == "__main__":
    main()
