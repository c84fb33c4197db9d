"""The demonstration: data, comparison, report."""

from __future__ import annotations

import time
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.datasets import load_digits
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.neighbors import KNeighborsRegressor
from threadpoolctl import threadpool_limits

from isthmus._linalg import Array
from isthmus.auto import LADDER, Problem, component_curve
from isthmus.dependency import DependencyRegressor
from isthmus.features import KernelMap
from isthmus.inspection import ComponentCurveDisplay
from isthmus.reports import (
    ACCENT,
    MUTED,
    Figure,
    Section,
    layout,
    markers,
    numbers,
    png_uri,
    rank_scores,
    render,
)

# A minute for the whole demonstration; the noise is an eighth of the brightest pixel.
N_TRAIN, NOISE = 500, 2.0
# scikit-learn's digits.
SHAPE, BRIGHTEST = (8, 8), 16.0
_ORDER = ("ridge", "reduced_rank", "kernel", "chain")
WHOLE = (
    "DependencyRegressor is the whole chain, kernels on both sides and a pre-image, with fixed settings: "
    "DependencyRegressor(map=Ridge(1.0), outputs=KernelMap())."
)


@dataclass
class Row:
    """One method of the comparison."""

    label: str
    error: float
    rank: int | None
    fit_seconds: float | None
    rows_per_second: float | None
    predicted: Array | None = None
    curve: dict[str, Any] | None = None
    model: Any = None
    is_ours: bool = True


@dataclass
class Found:
    """The comparison."""

    rows: list[Row]
    X_test: Array
    Y_test: Array
    digits: Array
    n_train: int
    n_test: int

    @property
    def verdict(self) -> str:
        """The best method, and what it is better than."""
        fitted = [row for row in self.rows if row.fit_seconds is not None]
        best = min(fitted, key=lambda row: row.error)
        others = [row for row in fitted if row.is_ours != best.is_ours]
        peer = min(others, key=lambda row: row.error)
        rows = {row.label: row for row in fitted}
        ridge, ranked = rows["ridge regression"], rows["reduced rank regression"]
        gap = 100 * (ranked.error / ridge.error - 1)
        return (
            f"The best is {best.label}: an error of {best.error:.2f} per pixel, "
            f"{100 * (1 - best.error / peer.error):.0f} % less than {peer.label} and "
            f"{100 * (1 - best.error / ridge.error):.0f} % less than ridge regression with a ridge weight "
            f"for each pixel. Reduced rank keeps {ranked.rank} coordinates of {self.Y_test.shape[1]} "
            f"outputs: {abs(gap):.1f} % {'more' if gap > 0 else 'less'} error than ridge regression."
        )

    def table(self) -> list[list[str]]:
        """For people."""
        return [
            [
                row.label,
                f"{row.error:.3f}",
                "" if row.rank is None else str(row.rank),
                "" if row.fit_seconds is None else f"{row.fit_seconds:.2f}",
                "" if row.rows_per_second is None else f"{row.rows_per_second:,.0f}",
            ]
            for row in self.rows
        ]


def damage(pictures: Array, seed: int) -> Array:
    """Switch off a fixed random half of the pixels and add noise to the others."""
    rng = np.random.default_rng(seed)
    # The same pixels in all pictures, as on a damaged sensor.
    dead = rng.permutation(pictures.shape[1])[: pictures.shape[1] // 2]
    damaged = pictures + NOISE * rng.standard_normal(pictures.shape)
    damaged[:, dead] = 0.0
    return damaged


def compare(seed: int, progress: Callable[[str, int, int], None]) -> Found:
    """Fit every method to the training digits and predict the others."""
    clean, digits = load_digits(return_X_y=True)
    X, X_test, Y, Y_test, _, kinds = train_test_split(
        damage(clean, seed), clean, digits, train_size=N_TRAIN, stratify=digits, random_state=seed
    )
    problem = Problem(len(X), X.shape[1], Y.shape[1], scale=False, random_state=seed, rule="best")
    rungs = {rung.name: rung for rung in LADDER}
    rows = [
        Row("left as it is", _rms(Y_test - X_test), None, None, None),
        Row("mean picture", _rms(Y_test - Y.mean(axis=0)), None, None, None),
    ]
    with threadpool_limits(1):  # matrices this small gain nothing from a second thread
        methods = {label: (search, False) for label, search in _peers(X).items()}
        methods |= {rungs[n].label: (rungs[n].build(problem), True) for n in _ORDER}
        whole = DependencyRegressor(map=Ridge(1.0), outputs=KernelMap())
        methods["DependencyRegressor"] = whole, True
        for k, (label, (search, is_ours)) in enumerate(methods.items()):
            progress(label, k, len(methods))
            rows.append(_try(label, search, X, Y, X_test, Y_test, is_ours))
    return Found(rows, X_test, Y_test, kinds, len(X), len(X_test))


def _peers(X: Array) -> dict[str, Any]:
    """Methods of scikit-learn, tuned as their users would."""
    gamma = 1 / float(np.median(pdist(X, "sqeuclidean")))
    kernel = {"gamma": gamma * np.logspace(-1.5, 1.5, 7), "alpha": np.logspace(-3, 1, 9)}
    nearest = {"n_neighbors": [2, 3, 5, 8, 12]}
    options: dict[str, Any] = {"scoring": "neg_mean_squared_error", "cv": 5}
    return {
        "k nearest neighbours of scikit-learn":
            GridSearchCV(KNeighborsRegressor(weights="distance"), nearest, **options),
        "KernelRidge of scikit-learn": GridSearchCV(KernelRidge(kernel="rbf"), kernel, **options),
    }  # fmt: skip


def _try(
    label: str, search: Any, X: Array, Y: Array, X_test: Array, Y_test: Array, is_ours: bool
) -> Row:
    begun = time.perf_counter()
    search.fit(X, Y)
    seconds = time.perf_counter() - begun
    model = getattr(search, "best_estimator_", search)
    predicted = model.predict(X_test)
    predict_seconds = min(timeit.repeat(lambda: model.predict(X_test), number=1, repeat=3))
    chosen = getattr(search, "best_params_", {})
    rank = getattr(model, "n_components_", chosen.get("n_components"))
    return Row(
        label, _rms(Y_test - predicted), None if rank is None else int(rank), seconds,
        len(X_test) / predict_seconds,
        predicted, component_curve(search), model, is_ours,
    )  # fmt: skip


def _rms(a: Array) -> float:
    return float(np.sqrt((a**2).mean()))


# -- the page ----------------------------------------------------------------------------------


def report_page(found: Found) -> str:
    """The report of the comparison."""
    fitted = [row for row in found.rows if row.predicted is not None]
    sections = [
        _results(found), _digits(found, fitted), _curves(fitted), _basis(fitted), _errors(found, fitted)
    ]  # fmt: skip
    subtitle = (
        f"{found.n_train} damaged digits for training, {found.n_test} for testing; half of the 8 by 8 "
        "pixels are dead, the others noisy"
    )
    return render("Isthmus: restoring damaged digits", subtitle, sections)


def _results(found: Found) -> Section:
    labels = ["<br>".join(wrap(row.label, 19)) for row in found.rows][::-1]  # room for a phone
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": numbers([row.error for row in found.rows][::-1]),
        "y": labels,
        "marker": {
            "color": [MUTED if row.fit_seconds is None else ACCENT for row in found.rows][::-1]
        },
        "hovertemplate": "%{x}<extra></extra>",
    }
    caption = (
        "Error on digits that no method has seen, root mean square per pixel (0 to 16). Shorter is better; "
        "grey bars are baselines without training."
    )
    header = ["method", "test error", "rank", "fit seconds", "predict rows/s"]
    return Section(
        "Results",
        [f"{found.verdict} {WHOLE} Every other method chose its own settings by cross-validation."],
        [Figure("errors", caption, [("", [bars], layout("error per pixel", ""))], height=440)],
        [("The same in numbers.", header, found.table())],
    )


def _digits(found: Found, fitted: list[Row]) -> Section:
    shown = [int(np.flatnonzero(found.digits == d)[0]) for d in range(10)]

    def strip(pictures: Array) -> list[str]:
        return [png_uri(pictures[i].reshape(SHAPE), low=0, high=BRIGHTEST) for i in shown]

    rows = [("original", strip(found.Y_test)), ("damaged", strip(found.X_test))]
    rows += [(row.label, strip(row.predicted)) for row in fitted if row.predicted is not None]
    caption = (
        "One digit of each kind, a column each: what it was, what the methods were given, and what they "
        "made of it. Look for strokes that are whole again, and for ghosts of other digits."
    )
    return Section("Restored digits", pictures=[(caption, rows)])


def _curves(fitted: list[Row]) -> Section:
    variants = []
    for row in fitted:
        curve = row.curve or {}
        if len(curve.get("n_components", ())) < 2:
            continue
        variants.append((row.label, *rank_scores(ComponentCurveDisplay(**curve))))
    names = " and ".join(label for label, *_ in variants)
    caption = (
        f"The score of every number of components of {names} in cross-validation, with standard errors; "
        "the ring is the choice. Where the curve is flat, fewer components are enough; a falling one means "
        "overfitting."
    )
    return Section("Rank curves", figures=[Figure("curves", caption, variants, "Method")])


def _basis(fitted: list[Row]) -> Section:
    rows = []
    for row in fitted:
        loadings = getattr(row.model, "y_loadings_", None)
        if loadings is not None:
            pictures = [png_uri(v.reshape(SHAPE), signed=True) for v in np.asarray(loadings).T[:12]]
            rows.append((row.label, pictures))
    caption = (
        "The output basis as pictures, from the first component on: every restored digit is the mean plus "
        "a mixture of these. Blue adds ink, red takes it away; late ones are finer."
    )
    return Section("Output basis", pictures=[(caption, rows)])


def _errors(found: Found, fitted: list[Row]) -> Section:
    residuals, maps = [], []
    # 400 points are enough to see a cloud, and the page stays small.
    rows = np.linspace(0, found.n_test - 1, 400).astype(int)
    names = [f"test digit {i + 1}, a {found.digits[i]}" for i in rows]
    for row in fitted:
        assert row.predicted is not None
        error = row.predicted - found.Y_test
        each = np.sqrt((error**2).mean(axis=1))
        ink = found.Y_test.sum(axis=1)
        points = markers(ink[rows], each[rows], names, "ink %{x}<br>error %{y}")
        residuals.append((row.label, [points], layout("ink of the original", "error of the digit")))
        maps.append(
            (row.label, [png_uri(np.sqrt((error**2).mean(axis=0)).reshape(SHAPE), low=0, high=6)])
        )
    caption = (
        "The error of each test digit against its ink; hover to see which digit it is. High points are "
        "the digits that were not restored."
    )
    where = "Where the errors are: darker pixels are restored worse; all methods on one scale."
    return Section(
        "Residuals",
        figures=[Figure("residuals", caption, residuals, "Method")],
        pictures=[(where, maps)],
    )
