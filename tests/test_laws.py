"""Laws that every regression obeys: what must not change when units, order, weights or names change.

A case is an estimator with its exceptions: a law that it cannot obey, and why. A new estimator joins the
list and is held to all of them; ``test_every_regression_is_on_trial`` sees to that. The laws of
projections, compression and the automatic choice stand beside their own tests.
"""

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import has_fit_parameter

import isthmus.regression
from isthmus import (
    PCR,
    PLS,
    BayesianStiefelRegression,
    ComponentSearchCV,
    DependencyRegressor,
    IndicatorClassifier,
    KernelMap,
    Landmarks,
    ManifoldPLS,
    ReducedRankRegression,
    StiefelRegression,
)
from isthmus.features import FourierFeatures
from isthmus.losses import Huber
from isthmus.papers.morp import RatingsRegressor
from isthmus.regression import (
    OPLS,
    BlockRidge,
    MultiblockPLS,
    SequentialPLS,
    SlopeBias,
    SparseFactors,
)

N_TARGETS = 3
COUPLED = "below full rank the outputs share directions, and unscaled ones count by their variance"
RIDGE = "alpha is a number on the scale of Ridge: it weighs against the sum over rows"
ONE_SCALE = "one ridge weight for all users, chosen by the errors of all"
SAMPLED = "landmarks and frequencies are drawn by row number"
EVIDENCE = "a row that counts twice is twice the evidence against the prior"
KINKED = "rows that are fewer than the columns are met exactly, in many ways"
CHAINS = "the chain visits outputs and inputs in another order"
ORIGIN = "the kernel has an origin"
COUNTED = (
    "the scale of residuals counts rows, and weights that sum to more than the rows are counts"
)


@dataclass
class Case:
    estimator: Any
    tolerance: float = 1e-8
    exempt: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        shown = clone(self.estimator)
        if isinstance(shown, ComponentSearchCV):
            shown.set_params(cv=4)  # not the row numbers
        return " ".join(str(shown).split())


def folds(n=60):
    return list(KFold(4, shuffle=True, random_state=0).split(np.zeros(n)))


CASES = [
    Case(PCR(3)),
    Case(PCR(3, scale=True)),
    Case(PCR("auto")),
    Case(PLS(3)),
    Case(PLS(3, scale=False), exempt={"output unit": COUPLED}),
    Case(PLS(3, algorithm="simpls")),
    Case(PLS(3, algorithm="kernel")),
    Case(PLS("auto")),
    Case(PLS("auto", missing="em"), tolerance=1e-5),
    Case(OPLS("auto")),
    Case(ReducedRankRegression("auto"), exempt={"output unit": COUPLED}),
    Case(StiefelRegression("auto", scale=True)),
    Case(ManifoldPLS("auto", scale=True)),
    Case(
        ReducedRankRegression("auto", alpha=5.0),
        exempt={"duplicates": RIDGE, "weights": RIDGE, "input unit": RIDGE, "output unit": COUPLED},
    ),
    Case(MultiblockPLS(n_components="auto")),
    Case(SequentialPLS(n_components="auto")),
    Case(PLS(3, missing="em"), tolerance=1e-5),
    Case(ReducedRankRegression()),
    Case(ReducedRankRegression(2), exempt={"output unit": COUPLED}),
    Case(ReducedRankRegression(2, scale=True)),
    Case(
        ReducedRankRegression(2, alpha=0.5, scale=True),
        exempt={"duplicates": RIDGE, "weights": RIDGE},
    ),
    Case(ReducedRankRegression(2, alpha=0.0, scale=True)),
    Case(OPLS(3)),
    Case(BlockRidge(), tolerance=1e-6),
    Case(BlockRidge(alpha_per_target=True), tolerance=1e-6),
    Case(MultiblockPLS(n_components=3)),
    Case(SequentialPLS(n_components=3)),
    Case(
        RatingsRegressor(),
        tolerance=1e-6,
        exempt={"output unit": ONE_SCALE, "duplicates": RIDGE},
    ),
    Case(SparseFactors(2, tol=1e-12), tolerance=1e-4),
    Case(SparseFactors(2, factor="pls", tol=1e-12), tolerance=1e-4),
    Case(ManifoldPLS(2), exempt={"output unit": COUPLED}),
    Case(ManifoldPLS(2, scale=True)),
    Case(ManifoldPLS(2, manifold="product", scale=True)),
    Case(StiefelRegression()),
    Case(StiefelRegression(2), exempt={"output unit": COUPLED}),
    Case(StiefelRegression(2, scale=True)),
    *(
        Case(
            StiefelRegression(r, loss=loss),
            tolerance=tolerance,
            exempt=({"weights": COUNTED} if loss == "epsilon_insensitive" else {})
            | (
                {"noise": KINKED} if loss in ("absolute", "quantile", "epsilon_insensitive") else {}
            ),
        )
        for loss, tolerance in {
            "huber": 1e-4,
            "huber_rows": 1e-4,
            "log_cosh": 1e-4,
            "absolute": 1e-3,
            "quantile": 1e-3,
            "epsilon_insensitive": 1e-3,
        }.items()
        for r in (2, None)
    ),
    Case(
        BayesianStiefelRegression(2, n_draws=20, n_warmup=20, n_chains=1, random_state=0),
        exempt={"outputs": CHAINS, "inputs": CHAINS, "duplicates": EVIDENCE, "weights": EVIDENCE},
        tolerance=1e-5,
    ),
    *(
        Case(
            BayesianStiefelRegression(
                2, n_draws=20, n_warmup=20, n_chains=1, random_state=0, **options
            ),
            exempt=dict.fromkeys(("outputs", "inputs", *more), CHAINS)
            | dict.fromkeys(("duplicates", "weights"), EVIDENCE),
            tolerance=1e-5,
        )
        for options, *more in (
            ({"noise": "full"},),
            ({"noise": "common"},),
            ({"prior": "matrix_normal"},),
            ({"prior": "half_normal"},),
            (
                {"likelihood": "student"},
                "rows",
                "noise",
            ),  # each has a scale of its own, drawn in turn
        )
    ),
    Case(ComponentSearchCV(PLS(), n_components=4, cv=folds())),
    Case(ComponentSearchCV(PCR(), n_components=4, cv=folds(), rule="one_se")),
    Case(ComponentSearchCV(ReducedRankRegression(scale=True), n_components=3, cv=folds())),
    Case(make_pipeline(KernelMap(n_components=8), PLS(3)), tolerance=1e-6),
    Case(
        make_pipeline(KernelMap(kernel="laplacian", n_components=8), ReducedRankRegression()), 1e-6
    ),
    Case(make_pipeline(KernelMap(kernel="l2_laplacian", n_components=8), PLS(3)), tolerance=1e-6),
    Case(make_pipeline(KernelMap(kernel="linear"), PLS(3)), tolerance=1e-6),
    *(
        Case(
            make_pipeline(KernelMap(kernel=kernel, n_components=5), PCR(4)),
            exempt={"shift": ORIGIN},
            tolerance=1e-6,
        )
        for kernel in ("polynomial", "cosine", "exponential")
    ),
    Case(
        make_pipeline(Landmarks(n_components=12, random_state=0), PLS(3)),
        exempt={"rows": SAMPLED, "duplicates": SAMPLED, "inputs": SAMPLED},
        tolerance=1e-6,
    ),
    Case(
        # A shift turns each pair of waves, which a ridge does not see.
        make_pipeline(FourierFeatures(40, random_state=0), ReducedRankRegression()),
        exempt={"rows": SAMPLED, "duplicates": SAMPLED, "inputs": SAMPLED},
        tolerance=1e-6,
    ),
    Case(DependencyRegressor(), tolerance=1e-6),
    Case(
        DependencyRegressor(map=ReducedRankRegression("auto", alpha=1.0), scale_y=True),
        tolerance=1e-6,
        exempt={"duplicates": RIDGE, "weights": RIDGE},
    ),
    Case(DependencyRegressor(map=PLS("auto")), tolerance=1e-6),
    Case(DependencyRegressor(KernelMap()), tolerance=1e-6),
    Case(DependencyRegressor(KernelMap(n_components=5)), tolerance=1e-6),
]
every = pytest.mark.parametrize("case", CASES, ids=str)


def law(name):
    """The cases that a law holds for."""
    cases = [case for case in CASES if name not in case.exempt]
    return pytest.mark.parametrize("case", cases, ids=str)


def make(seed=0, n=60, p=6):
    """Rows off-centre, with outputs of unlike noise, and new rows to predict."""
    rng = np.random.default_rng(seed)
    X = rng.normal(2, 1, size=(n + 10, p)) * (1 + rng.random(p))
    noise = np.array([0.1, 0.5, 1.0])
    Y = (
        X[:, :3] @ rng.normal(size=(3, N_TARGETS))
        + noise * rng.normal(size=(n + 10, N_TARGETS))
        - 3
    )
    return X[:n], Y[:n], X[n:]


def plain(case):
    """Predictions of new rows from the rows as they are, computed once."""
    if str(case) not in _PLAIN:
        _PLAIN[str(case)] = predict(case, *make())
    return _PLAIN[str(case)]


_PLAIN: dict[str, np.ndarray] = {}


def predict(case, X, Y, new, *, sample_weight=None, splits=None):
    model = clone(case.estimator)
    if splits is not None and isinstance(model, ComponentSearchCV):
        model.set_params(cv=splits(model.cv))
    weighted = {} if sample_weight is None else {"sample_weight": sample_weight}
    with warnings.catch_warnings():
        if isinstance(model, BayesianStiefelRegression):  # short chains, on purpose
            warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, Y, **weighted).predict(new)


def same(case, got, expected):
    """Equal, measured by the spread that each output's predictions have."""
    error = np.abs(got - expected).max(axis=0) / expected.std(axis=0)
    assert (error <= case.tolerance).all(), f"relative differences {error}"


def takes_weights(case):
    return has_fit_parameter(case.estimator, "sample_weight")


@law("output unit")
@pytest.mark.parametrize("units", [(1e-6, 1, 1), (1, 1, 1e6), (1e3, 1, 1e-3)])
def test_the_unit_of_an_output_is_that_of_its_prediction_alone(case, units):
    X, Y, new = make()
    same(case, predict(case, X, Y * units, new) / units, plain(case))


@law("all output units")
@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_the_unit_of_all_outputs_is_that_of_the_predictions(case, unit):
    X, Y, new = make()
    same(case, predict(case, X, Y * unit, new) / unit, plain(case))


@law("input unit")
@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_the_unit_of_the_inputs_changes_nothing(case, unit):
    X, Y, new = make()
    same(case, predict(case, X * unit, Y, new * unit), plain(case))


@law("shift")
def test_a_shift_of_inputs_changes_nothing_and_one_of_outputs_shifts(case):
    X, Y, new = make()
    x_shift = np.linspace(-50, 50, X.shape[1])
    y_shift = np.array([100.0, -20.0, 7.0])
    shifted = predict(case, X + x_shift, Y + y_shift, new + x_shift) - y_shift
    same(case, shifted, plain(case))


@law("rows")
def test_the_order_of_rows_changes_nothing(case):
    X, Y, new = make()
    order = np.random.default_rng(1).permutation(len(X))
    place = np.argsort(order)

    def moved(splits):
        return [(place[train], place[test]) for train, test in splits]

    same(case, predict(case, X[order], Y[order], new, splits=moved), plain(case))


@law("inputs")
def test_the_order_of_inputs_changes_nothing(case):
    X, Y, new = make()
    order = np.random.default_rng(2).permutation(X.shape[1])
    same(case, predict(case, X[:, order], Y, new[:, order]), plain(case))


@law("outputs")
def test_the_order_of_outputs_is_that_of_the_predictions(case):
    X, Y, new = make()
    order = [2, 0, 1]
    same(case, predict(case, X, Y[:, order], new), plain(case)[:, order])


@law("duplicates")
def test_every_row_twice_changes_nothing(case):
    X, Y, new = make()

    def doubled(splits):
        return [
            tuple(np.concatenate([2 * rows, 2 * rows + 1]) for rows in split) for split in splits
        ]

    twice = predict(case, np.repeat(X, 2, axis=0), np.repeat(Y, 2, axis=0), new, splits=doubled)
    same(case, twice, plain(case))


@pytest.mark.parametrize(
    "case", [c for c in CASES if takes_weights(c) and "weights" not in c.exempt], ids=str
)
@pytest.mark.parametrize("total", [1.0, 1e-6, 1e200])
def test_a_common_factor_of_the_weights_changes_nothing(case, total):
    X, Y, new = make()
    weights = np.random.default_rng(3).uniform(0.5, 2, len(X))
    relative = weights / weights.sum() * total
    expected = predict(case, X, Y, new, sample_weight=weights)
    same(case, predict(case, X, Y, new, sample_weight=relative), expected)


def noisy():
    """Fewer rows than columns, much noise, and copies among the rows, the last with other outputs."""
    rng = np.random.default_rng(11)
    X = rng.normal(2, 1, size=(46, 40))
    Y = X[:, :3] @ rng.normal(size=(3, N_TARGETS)) + 2 * rng.normal(size=(46, N_TARGETS))
    X[[7, 20, 33]], Y[[7, 20]] = X[[1, 2, 3]], Y[[1, 2]]
    return X[:36], Y[:36], X[36:]


def in_rows(rows):
    """What turns splits of the rows of ``make`` into those of the table that has ``rows`` of ``noisy``."""
    return lambda splits: [
        tuple(np.flatnonzero(np.isin(rows, part)) for part in split) for split in splits
    ]


@law("noise")
def test_the_order_of_noisy_rows_changes_nothing(case):
    X, Y, new = noisy()
    order = np.random.default_rng(1).permutation(len(X))
    expected = predict(case, X, Y, new, splits=in_rows(np.arange(len(X))))
    same(case, predict(case, X[order], Y[order], new, splits=in_rows(order)), expected)


@pytest.mark.parametrize(
    "case", [c for c in CASES if takes_weights(c) and "noise" not in c.exempt], ids=str
)
def test_weights_of_noisy_rows_are_copies(case):
    """A weight of zero is no row."""
    X, Y, new = noisy()
    counts = np.random.default_rng(2).integers(0, 3, len(X))
    rows = np.random.default_rng(3).permutation(np.repeat(np.arange(len(X)), counts))
    weighted = {"sample_weight": counts * 1.0, "splits": in_rows(np.arange(len(X)))}
    expected = predict(case, X, Y, new, **weighted)
    same(case, predict(case, X[rows], Y[rows], new, splits=in_rows(rows)), expected)


@pytest.mark.parametrize(
    "estimator", [PLS("auto"), ReducedRankRegression("auto", alpha=5.0), OPLS("auto")], ids=str
)
def test_noisy_classes_in_any_order_with_weights_or_copies(estimator):
    X, Y, new = noisy()
    labels = np.array(["z", "m", "a"])[Y.argmax(axis=1)]
    rng = np.random.default_rng(4)
    order, counts = rng.permutation(len(X)), rng.integers(0, 3, len(X))
    rows = rng.permutation(np.repeat(np.arange(len(X)), counts))

    def found(X, labels, weights=None):
        model = IndicatorClassifier(clone(estimator)).fit(X, labels, sample_weight=weights)
        return model.decision_function(new)

    assert_allclose(found(X[order], labels[order]), found(X, labels), atol=1e-8)
    assert_allclose(found(X[rows], labels[rows]), found(X, labels, counts * 1.0), atol=1e-8)


def test_ratings_with_gaps_do_not_depend_on_the_order_of_items_or_users():
    """Held-out ratings and items are drawn: by what they are, and copies together."""
    X, Y, new = noisy()
    rng = np.random.default_rng(5)
    Y = X[:, :2] @ rng.normal(size=(2, 25)) + rng.normal(size=(36, 25))
    Y = np.where(rng.random(Y.shape) < 0.3, np.nan, Y)
    items, users = rng.permutation(36), rng.permutation(25)
    one = RatingsRegressor().fit(X, Y)
    other = RatingsRegressor().fit(X[items], Y[np.ix_(items, users)])
    assert one.n_components_ == other.n_components_
    assert_allclose(other.cv_errors_, one.cv_errors_, rtol=1e-6)
    assert_allclose(
        other.predict(new), one.predict(new)[:, users], rtol=0, atol=1e-6 * np.nanstd(Y)
    )


@every
def test_the_names_of_columns_change_nothing(case):
    X, Y, new = make()

    def named(prefix):
        columns = [f"{prefix}{i}" for i in range(X.shape[1], 0, -1)]
        frame = pd.DataFrame(X, columns=columns)
        targets = pd.DataFrame(Y, columns=[f"{prefix} {i}" for i in range(N_TARGETS)])
        return predict(case, frame, targets, pd.DataFrame(new, columns=columns))

    first, second = np.asarray(named("a")), np.asarray(named("z"))
    assert_allclose(first, second, rtol=0, atol=0)


def test_classes_do_not_depend_on_units_order_or_names():
    X, Y, new = make()
    labels = Y.argmax(axis=1)
    classifier = IndicatorClassifier(ReducedRankRegression(2))
    expected = classifier.fit(X, labels).predict(new)
    order = np.random.default_rng(4).permutation(len(X))
    assert (classifier.fit(X[order], labels[order]).predict(new) == expected).all()
    assert (classifier.fit(X * 1e6 + 1e6, labels).predict(new * 1e6 + 1e6) == expected).all()
    names = np.array(["z", "m", "a"])
    assert (classifier.fit(X, names[labels]).predict(new) == names[expected]).all()


@pytest.mark.parametrize(
    ("loss", "outputs"),
    [("logistic", lambda Y: Y > np.median(Y, axis=0)), ("poisson", lambda Y: np.rint(Y**2))],
)
def test_labels_and_counts_do_not_depend_on_units_shifts_order_or_copies(loss, outputs):
    """Their own units are given: nothing but 0 and 1, or numbers of things."""
    X, Y, new = make()
    Y = outputs(Y).astype(float)
    case = Case(StiefelRegression(2, loss=loss), tolerance=1e-3)
    expected = predict(case, X, Y, new)
    rows = np.random.default_rng(5).permutation(len(X))
    same(case, predict(case, X * 1e6 - 1e6, Y, new * 1e6 - 1e6), expected)
    same(case, predict(case, X[rows], Y[rows], new), expected)
    same(case, predict(case, X[:, ::-1], Y[:, [2, 0, 1]], new[:, ::-1]), expected[:, [2, 0, 1]])
    same(case, predict(case, np.repeat(X, 2, axis=0), np.repeat(Y, 2, axis=0), new), expected)
    same(case, predict(case, X, Y, new, sample_weight=np.full(len(X), 1e-6)), expected)


@pytest.mark.parametrize("slope", [True, False])
def test_a_corrected_model_does_not_depend_on_units_shifts_order_or_copies(slope):
    X, Y, new = make()

    def corrected(unit, shift, rows):
        model = PLS(3).fit(X, unit * Y + shift)
        drifted = unit * (1.2 * Y[rows] + 0.3) + shift
        prediction = SlopeBias(model, slope=slope).fit(X[rows], drifted).predict(new)
        return (prediction - shift) / unit

    some = np.arange(8)
    expected = corrected(1.0, 0.0, some)
    assert np.abs(expected - PLS(3).fit(X, Y).predict(new)).max() > 0.1  # else nothing is corrected
    units, shifts = np.array([1e-6, 1.0, 1e6]), np.array([0.0, 50.0, -7e6])
    assert_allclose(corrected(units, shifts, some), expected, rtol=1e-7, atol=1e-7)
    assert_allclose(corrected(1.0, 0.0, some[::-1]), expected, rtol=1e-10)
    assert_allclose(corrected(1.0, 0.0, np.repeat(some, 2)), expected, rtol=1e-10)


def test_an_explicit_delta_is_in_the_units_of_y():
    X, Y, new = make()
    plain = StiefelRegression(2, loss=Huber(delta=0.5)).fit(X, Y).predict(new)
    scaled = StiefelRegression(2, loss=Huber(delta=0.5e3)).fit(X, Y * 1e3).predict(new)
    assert_allclose(scaled / 1e3, plain, atol=1e-3 * Y.std())


def test_every_regression_is_on_trial():
    """A regression that is public and not in the list is held to no law."""
    on_trial = set()
    for case in CASES:
        steps = getattr(case.estimator, "steps", [("", case.estimator)])
        for _, step in steps:
            on_trial.add(type(getattr(step, "estimator", step)).__name__)
    # Two functions, and what has a test of its own above, since it classifies or corrects a fitted model.
    others = {"IndicatorClassifier", "SlopeBias", "join_blocks", "spike"}
    assert set(isthmus.regression.__all__) - others <= on_trial


def test_exceptions_are_told_in_the_docstring():
    """What cannot obey says so where its user reads."""
    told = {
        COUPLED: "units of the",
        ONE_SCALE: "on one scale",
        RIDGE: "scale of scikit-learn's ``Ridge``",
    }
    for case in CASES:
        text = " ".join(type(case.estimator).__doc__.split())
        for reason in case.exempt.values():
            assert told.get(reason, "") in text, (str(case), reason)
