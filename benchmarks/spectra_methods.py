"""What do treatments, transfer between instruments and blocks bring on near-infrared spectra?

Every error is of rows that neither the fit nor the choice has seen: outer folds drawn several times, the
number of components chosen by inner folds of the rest (pooled errors, one standard error). Cells are
relative errors (RMSEP over the standard deviation of the output, mean of the outputs) and, after +-, the
standard deviation over the draws. Needs the environment variable ISTHMUS_DATA, the directory that holds
nir.npz.

    ISTHMUS_DATA=... python benchmarks/spectra_methods.py [treatments] [transfer] [blocks] [tecator]
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isthmus import PLS, ComponentSearchCV
from isthmus.datasets import load_nir
from isthmus.features import (
    Baseline,
    Detrend,
    ExtendedScatterCorrection,
    GapDerivative,
    InstrumentTransfer,
    NormalVariate,
    SavitzkyGolay,
    ScatterCorrection,
)
from isthmus.inspection import rmse
from isthmus.model_selection import kennard_stone
from isthmus.regression import (
    BlockRidge,
    MultiblockPLS,
    SequentialPLS,
    SlopeBias,
    join_blocks,
    spike,
)

MOST_COMPONENTS, INNER_FOLDS, OUTER_FOLDS, N_STANDARDS = 15, 10, 5, 10
SETS = ("corn", "tecator", "dough", "gasoline")
TREATMENTS = {
    "none": "passthrough",
    "derivative 1": SavitzkyGolay(15, 2, 1),
    "derivative 2": SavitzkyGolay(15, 3, 2),
    "gap derivative": GapDerivative(5),
    "SNV": NormalVariate(),
    "MSC": ScatterCorrection(),
    "EMSC": ExtendedScatterCorrection(2),
    "detrend": Detrend(2),
    "baseline": Baseline(),
    "SNV + derivative 1": make_pipeline(NormalVariate(), SavitzkyGolay(15, 2, 1)),
}


def search(treatment: Any = "passthrough") -> ComponentSearchCV:
    """PLS behind a treatment, its number of components by pooled errors."""
    steps = make_pipeline(treatment, PLS(scale="y"))
    return ComponentSearchCV(
        steps, n_components=MOST_COMPONENTS, cv=INNER_FOLDS, rule="pooled_one_se"
    )


def peer_search() -> GridSearchCV:
    """scikit-learn's PLS with its own search."""
    grid = {"n_components": range(1, MOST_COMPONENTS + 1)}
    return GridSearchCV(
        PLSRegression(scale=False), grid, cv=INNER_FOLDS, scoring="neg_mean_squared_error"
    )


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


def show(title: str, head: list[str], lines: dict[str, list[str]]) -> None:
    """Print a table in Markdown."""
    print(f"\n## {title}\n\n| method | {' | '.join(head)} |\n|---|{'---|' * len(head)}")
    for name, cells in lines.items():
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def cell(errors: NDArray) -> str:
    """Mean and standard deviation over the draws."""
    return f"{errors.mean():.3f} +- {errors.std(ddof=1) if len(errors) > 1 else 0:.3f}"


def treatments(draws: int) -> None:
    """Each treatment alone, beside scikit-learn's and ikpls' PLS without any."""
    models: dict[str, Any] = {name: search(step) for name, step in TREATMENTS.items()}
    models |= {"scikit-learn, none": peer_search(), "ikpls, none": IkplsSearch()}
    lines: dict[str, list[str]] = {name: [] for name in models}
    for name in SETS:
        bunch = load_nir(name)
        Y = bunch.target.reshape(len(bunch.data), -1)
        for label, model in models.items():
            errors = relative_errors(nested(model, bunch.data, Y), Y, draws)
            lines[label].append(cell(errors))
    show("Treatments", list(SETS), lines)


def transfer(draws: int) -> None:
    """Corn: a calibration on m5, applied to another instrument, from ten standards."""
    derive = SavitzkyGolay(15, 2, 1)
    bunch = load_nir("corn")
    X = derive.fit_transform(bunch.data)
    others = ("mp5", "mp6")
    lines: dict[str, list[str]] = {}
    for other in others:
        Z = derive.transform(load_nir("corn", instrument=other).data)
        found = {
            label: relative_errors(way, bunch.target, draws)
            for label, way in ways_of_transfer(X, Z, bunch.target).items()
        }
        full = found["recalibration with all rows"].mean()
        for label, errors in found.items():
            lines.setdefault(label, []).extend([cell(errors), f"{errors.mean() / full:.2f}"])
    head = [text for other in others for text in (f"m5 to {other}", "ratio")]
    show("Transfer between instruments, corn, first derivative", head, lines)


def ways_of_transfer(X: NDArray, Z: NDArray, Y: NDArray) -> dict[str, Callable[..., NDArray]]:
    """Predictions for rows of Z, the secondary instrument, by a calibration on X and in other ways."""

    def standards(train: NDArray) -> NDArray:
        return train[kennard_stone(X[train], N_STANDARDS)]

    def moved(step: InstrumentTransfer) -> Callable[..., NDArray]:
        def predict(train: NDArray, test: NDArray, j: int) -> NDArray:
            rows = standards(train)
            fitted = clone(step).fit(Z[rows], X[rows])
            return search().fit(X[train], Y[train, j]).predict(fitted.transform(Z[test]))

        return predict

    def plain(train: NDArray, test: NDArray, j: int) -> NDArray:
        return search().fit(X[train], Y[train, j]).predict(Z[test])

    def recalibrated(train: NDArray, test: NDArray, j: int) -> NDArray:
        return search().fit(Z[train], Y[train, j]).predict(Z[test])

    def from_standards(train: NDArray, test: NDArray, j: int) -> NDArray:
        rows = standards(train)
        model = ComponentSearchCV(PLS(scale="y"), n_components=5, cv=5, rule="pooled_one_se")
        return model.fit(Z[rows], Y[rows, j]).predict(Z[test])

    def corrected(train: NDArray, test: NDArray, j: int) -> NDArray:
        rows = standards(train)
        model = search().fit(X[train], Y[train, j])
        return SlopeBias(model).fit(Z[rows], Y[rows, j]).predict(Z[test])

    def spiked(train: NDArray, test: NDArray, j: int) -> NDArray:
        rows = standards(train)
        both, y, weights = spike(X[train], Y[train, j], Z[rows], Y[rows, j])
        return search().fit(both, y, sample_weight=weights).predict(Z[test])

    published = InstrumentTransfer(alpha=0.0, n_components=2, identity=False)
    return {
        "recalibration with all rows": recalibrated,
        "no transfer": plain,
        "InstrumentTransfer, 10 standards": moved(InstrumentTransfer()),
        "the same, all columns (direct)": moved(InstrumentTransfer(None)),
        "PDS as published, 2 components": moved(published),
        "slope and bias, 10 standards": corrected,
        "spiking, 10 standards": spiked,
        "recalibration with the 10 standards": from_standards,
    }


def blocks(draws: int) -> None:
    """Corn: the spectra of m5 beside those of mp5."""
    bunch = load_nir("corn")
    first, Y = SavitzkyGolay(15, 2, 1).fit_transform(bunch.data), bunch.target
    second = SavitzkyGolay(15, 2, 1).fit_transform(load_nir("corn", instrument="mp5").data)
    X, parts = join_blocks(first, second)
    ranks = {"n_components": [2, 4, 6, 8, 10]}
    pairs = {"n_components": [[a, b] for a in (4, 8, 12) for b in (0, 2, 4)]}
    error = "neg_mean_squared_error"
    models: dict[str, tuple[Any, NDArray]] = {
        "PLS, m5 alone": (search(), first),
        "PLS, mp5 alone": (search(), second),
        "PLS, both side by side": (search(), X),
        "ridge, both side by side": (BlockRidge(), X),
        "BlockRidge": (BlockRidge(parts), X),
        "MultiblockPLS": (
            GridSearchCV(MultiblockPLS(parts, scale=False), ranks, cv=5, scoring=error), X,
        ),
        "SequentialPLS": (
            GridSearchCV(SequentialPLS(parts, scale=False), pairs, cv=5, scoring=error), X,
        ),
    }  # fmt: skip
    lines = {}
    for label, (model, inputs) in models.items():
        lines[label] = [cell(relative_errors(nested(model, inputs, Y), Y, draws))]
    show("Blocks: two instruments on corn, first derivative", ["corn"], lines)


def tecator(draws: int) -> None:
    """Fat of tecator with the published split: a Gaussian process on PLS scores of treated spectra.

    Treatment and number of scores are those of the largest evidence of the training and monitoring rows;
    nothing is drawn, so that ``draws`` is not used.
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
    show("Tecator, fat, published split", ["log evidence", "RMSEP"], lines)
    print(f"\nChosen by its evidence: {chosen}, RMSEP {lines[chosen][1]}.")


SECTIONS = {
    "treatments": treatments,
    "transfer": transfer,
    "blocks": blocks,
    "tecator": tecator,
}


def main() -> None:
    """Run the sections that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("sections", nargs="*", metavar="section", help=", ".join(SECTIONS))
    parser.add_argument("--draws", type=int, default=3, help="number of draws of the outer folds")
    given = parser.parse_args()
    unknown = set(given.sections) - set(SECTIONS)
    if unknown:
        parser.error(f"no section {sorted(unknown)[0]!r}; there are {', '.join(SECTIONS)}")
    warnings.filterwarnings("ignore", message="n_components")  # fewer exist in a small fold
    warnings.simplefilter("ignore", ConvergenceWarning)  # widths at their bounds
    for name in given.sections or SECTIONS:
        SECTIONS[name](given.draws)


if __name__ == "__main__":
    main()
