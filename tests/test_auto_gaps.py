"""Gaps in the inputs of a search. Oracles: conditional means by their formula, folds left alone."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from isthmus import MethodSearchCV, load, save
from isthmus.auto.blends import blend_weights
from isthmus.auto.gap_filler import GapFiller, filler_of

N, P = 120, 5
Y = np.zeros((N, 1))  # outputs where only inputs matter


@pytest.fixture(scope="module")
def data():
    """Correlated inputs, one gap in twenty values, and an output that bends."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2)) @ rng.normal(size=(2, P)) + 0.3 * rng.normal(size=(N, P)) + 4
    y = np.sin(2 * (X[:, 0] - 4)) + (X[:, 1] - 4) ** 2
    holes = np.where(rng.uniform(size=X.shape) < 0.05, np.nan, X)
    return X, holes, y


@pytest.fixture(scope="module")
def search(data):
    _, holes, y = data
    return MethodSearchCV(["pls", "kernel", "trees"], cv=3).fit(holes, y)


def test_a_gap_takes_its_mean_given_the_rest_of_the_row(data):
    _, holes, _ = data
    gaps = GapFiller(holes, Y, None)
    model = gaps.model
    D = model.scale
    covariance = model.loadings @ model.loadings.T + model.noise_variance * np.eye(P)
    S, c = D[:, None] * covariance * D, model.offset + D * model.mean
    assert np.isnan(holes).any(axis=1).sum() > 10
    for row, filled in zip(holes, gaps.inputs, strict=True):
        gap = np.isnan(row)
        expected = row.copy()
        weights = np.linalg.solve(S[np.ix_(~gap, ~gap)], S[np.ix_(~gap, gap)])
        expected[gap] = c[gap] + (row - c)[~gap] @ weights
        assert_allclose(filled, expected, rtol=1e-9)


def test_a_fold_is_filled_by_its_training_rows_alone(data):
    _, holes, _ = data
    train, test = np.arange(80), np.arange(80, N)
    other = holes.copy()
    other[test] *= 3
    before, after = (GapFiller(X, Y, None).fold(train, test)[0] for X in (holes, other))
    assert_array_equal(before, after)
    assert not np.allclose(GapFiller(holes, Y, None).inputs[train], before, rtol=1e-9)


def test_every_method_has_the_rows_and_gaps_cost_little(data, search):
    X, _, y = data
    whole = MethodSearchCV(["pls", "kernel", "trees"], cv=3).fit(X, y)
    assert search.cv_results_["status"][:2] == ["done"] * 2  # trees may be stopped after a fold
    linear = search.cv_results_["mean_test_score"][0]
    # Seen: 0.97 without gaps, 0.86 with them, 0.2 by the linear map.
    assert 1 - search.best_score_ < 0.5 * (1 - linear)
    assert whole.best_score_ > search.best_score_


def test_new_rows_may_have_gaps(data, search, tmp_path):
    _, holes, _ = data
    filled = search.missing_model_.filled(holes)
    assert np.isfinite(filled).all()
    expected = search.best_estimator_.predict(filled)
    assert_array_equal(search.predict(holes), expected)
    assert_array_equal(search.predict_rows(holes), expected)
    lower, upper = search.predict_interval(holes)
    assert ((lower < expected) & (expected < upper)).all()
    assert_array_equal(search.check(holes).distance, search.check(filled).distance)
    assert_array_equal(search.check_rows(holes).distance, search.check(filled).distance)
    save(search, tmp_path / "m.isthmus")
    assert_array_equal(load(tmp_path / "m.isthmus").predict(holes), expected)


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_units_of_inputs_do_not_matter(data, unit):
    _, holes, _ = data
    model, other = GapFiller(holes, Y, None).model, GapFiller(holes * unit, Y, None).model
    assert_allclose(other.filled(holes * unit) / unit, model.filled(holes), rtol=1e-9)


def test_units_of_outputs_do_not_matter(data, outputs):
    _, holes, _ = data
    _, unknown = outputs
    units = np.array([1e-200, 1e200])
    expected = GapFiller(holes, unknown, None).outputs
    assert_allclose(GapFiller(holes, unknown * units, None).outputs / units, expected, rtol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_rows_and_columns_does_not_matter(data, outputs, seed):
    _, holes, _ = data
    _, unknown = outputs
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(N), rng.permutation(P)
    plain = GapFiller(holes, unknown, None)
    other = GapFiller(holes[rows][:, columns], unknown[rows][:, ::-1], None)
    assert_allclose(other.inputs, plain.inputs[rows][:, columns], rtol=1e-8)
    assert_allclose(other.outputs, plain.outputs[rows][:, ::-1], rtol=1e-8, atol=1e-8)


def test_a_factor_of_the_weights_does_not_matter(data):
    _, holes, _ = data
    w = np.random.default_rng(1).uniform(0.5, 2, size=N)
    plain, scaled = GapFiller(holes, Y, w).inputs, GapFiller(holes, Y, 1e200 * w).inputs
    assert_allclose(scaled, plain, rtol=1e-9)
    assert not np.allclose(GapFiller(holes, Y, None).inputs, plain, rtol=1e-9)


@pytest.mark.filterwarnings(
    "ignore::isthmus._validation.OutsideDomainWarning"
)  # three rows know it
def test_a_column_may_be_unknown_in_a_fold_and_a_row_altogether(data):
    _, holes, y = data
    sparse = holes.copy()
    sparse[:, 4] = np.nan
    sparse[:3, 4] = [1.0, 2.0, 3.0]
    sparse[7] = np.nan
    rows, others, _ = GapFiller(sparse, Y, None).fold(np.arange(10, 80), np.arange(10))
    assert_array_equal(rows[:, 4], 0.0)
    assert np.isfinite(rows).all() and np.isfinite(others).all()
    found = MethodSearchCV(["pls", "kernel"], cv=3).fit(sparse, y)
    assert np.isfinite(found.predict(sparse)).all()


def test_rows_without_output_or_weight_are_left_out(data):
    X, _, y = data
    kept = np.ones(N, dtype=bool)
    kept[[3, 17, 90]] = False
    unknown = np.where(kept, y, np.nan)
    halves = [(np.arange(60, N), np.arange(60)), (np.arange(60), np.arange(60, N))]
    place = np.cumsum(kept) - 1
    own = [tuple(place[rows[kept[rows]]] for rows in fold) for fold in halves]
    expected = MethodSearchCV(["pls", "kernel"], cv=own).fit(X[kept], y[kept])
    for outputs, params in ((unknown, {}), (y, {"sample_weight": 1.0 * kept})):
        if params:
            expected = MethodSearchCV(["pls", "kernel"], cv=own).fit(
                X[kept], y[kept], sample_weight=np.ones(kept.sum())
            )
        found = MethodSearchCV(["pls", "kernel"], cv=halves).fit(X, outputs, **params)
        assert found.n_samples_ == kept.sum()
        assert_allclose(found.predict(X), expected.predict(X), rtol=1e-12)
        assert np.isnan(found.cv_predictions_[~kept]).all()
        assert_array_equal(found.cv_predictions_[kept], expected.cv_predictions_)


def test_a_report_of_rows_without_output(data, tmp_path):
    X, _, y = data
    search = MethodSearchCV("pls", cv=2).fit(X, np.where(np.arange(N) < 5, np.nan, y))
    search.report(tmp_path / "r.html", row_names=[f"row {i}" for i in range(N)])
    page = (tmp_path / "r.html").read_text()
    assert "5 rows without any output were left out" in page
    assert "missing input" not in page.lower()


def test_a_report_says_how_gaps_were_filled(search, tmp_path):
    search.report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "A missing input takes its mean given the rest of its row" in page
    assert "Missing inputs were replaced by their means" in page


def test_without_gaps_nothing_is_filled(data):
    X, _, y = data
    assert filler_of(X, y[:, None], None) is None
    assert MethodSearchCV("pls", cv=2).fit(X, y).missing_model_ is None


@pytest.fixture(scope="module")
def outputs(data):
    """Two outputs that bend, one in ten unknown."""
    X, _, y = data
    both = np.column_stack([y, y**2 + X[:, 2]])
    return both, np.where(np.random.default_rng(1).uniform(size=both.shape) < 0.1, np.nan, both)


def test_outputs_are_filled_for_training_alone(data, outputs):
    _, holes, _ = data
    _, unknown = outputs
    filler = GapFiller(holes, unknown, None)
    known = ~np.isnan(unknown)
    assert np.isfinite(filler.outputs).all()
    assert_array_equal(filler.outputs[known], unknown[known])
    # Inputs do not depend on outputs, nor a fold on rows that it leaves out.
    assert_array_equal(filler.inputs, GapFiller(holes, Y, None).inputs)
    train, test = np.arange(80), np.arange(80, N)
    other = unknown.copy()
    other[test] *= 3
    assert_array_equal(
        filler.fold(train, test)[2], GapFiller(holes, other, None).fold(train, test)[2]
    )


def test_unknown_outputs_cost_little_and_are_not_judged_by(data, outputs):
    X, _, _ = data
    both, unknown = outputs
    found = MethodSearchCV(["pls", "kernel"], cv=3).fit(X, unknown)
    scores = found.cv_results_["mean_test_score"]
    assert scores[1] > 0.8 > 0.5 > scores[0]  # 0.96 and 0.37
    rows = found.cv_predictions_
    errors = np.nanmean((unknown - rows) ** 2, axis=0) / np.nanvar(unknown, axis=0)
    # Folds have a few rows more or less: their mean is not quite that of all rows.
    assert_allclose(found.best_score_, 1 - errors.mean(), atol=0.01)
    assert np.isfinite(rows).all() and found.missing_model_ is None
    truth = ((both - found.predict(X)) ** 2).mean(axis=0) / both.var(axis=0)
    assert truth.max() < 0.1


def test_an_output_may_be_unknown_in_a_fold(data):
    """As one that was measured from some day on, with folds in time."""
    X, _, y = data
    late = np.column_stack([y, np.where(np.arange(N) < 70, np.nan, y + 100)])
    found = MethodSearchCV(["pls", "kernel"], cv="time").fit(X, late)
    assert found.cv_results_["status"] == ["done"] * len(found.cv_results_["status"])
    filler = GapFiller(X, late, None)
    outputs = filler.fold(np.arange(60), np.arange(60, N))[2]
    assert_allclose(outputs[:, 1], np.nanmean(late[:, 1]))


def test_a_scorer_has_the_rows_whose_outputs_are_known(data, outputs):
    X, _, _ = data
    _, unknown = outputs
    found = MethodSearchCV("pls", cv=3, scoring="neg_mean_squared_error").fit(X, unknown)
    whole = ~np.isnan(unknown).any(axis=1)
    errors = ((unknown - found.cv_predictions_)[whole] ** 2).mean()
    assert_allclose(
        -found.best_score_, errors, rtol=0.1
    )  # a mean of folds, nearly that of all rows


def test_weights_of_a_blend_are_those_of_known_outputs():
    rng = np.random.default_rng(0)
    observed = rng.normal(size=(60, 1))
    methods = [observed + s * rng.normal(size=(60, 1)) for s in (0.3, 0.5, 1.0)]
    unknown = observed.copy()
    unknown[::4] = np.nan
    known = np.isfinite(unknown[:, 0])
    expected = blend_weights(observed[known], [part[known] for part in methods])
    assert_allclose(blend_weights(unknown, methods), expected, rtol=1e-12)
    # With a second output every row counts, for the output that is known of it.
    two = np.column_stack([unknown, observed])
    twice = [np.column_stack([part, part]) for part in methods]
    both = blend_weights(two, twice)
    assert_allclose(both.sum(axis=0), 1.0)
    assert (both.argmax(axis=0) == 0).all() and not np.allclose(both[:, 0], both[:, 1])


def test_an_output_that_is_unknown_has_the_mean_of_its_row():
    """The criterion of the docstring by loops, and its minimum by a general solver."""
    rng = np.random.default_rng(3)
    observed = rng.normal(size=(50, 2))
    methods = [observed + s * rng.normal(size=(50, 2)) for s in (0.8, 0.9, 1.1)]
    unknown = observed.copy()
    unknown[:35, 0] = np.nan
    found = blend_weights(unknown, methods, share_votes=False)
    errors = [[[None if np.isnan(y) else y - m for y, m in zip(*rows, strict=True)]
               for rows in zip(unknown, part, strict=True)] for part in methods]  # fmt: skip
    products, counts, units = np.zeros((2, 3, 3)), np.zeros(2), np.zeros(2)
    for j in range(2):
        known = [i for i in range(50) if errors[0][i][j] is not None]
        counts[j] = len(known)
        for a in range(3):
            for b in range(3):
                products[j, a, b] = sum(errors[a][i][j] * errors[b][i][j] for i in known)
        least = products[j].diagonal().min()
        units[j] = least / counts[j]
        products[j] /= least
    products = 0.5 * products + 0.5 * products.mean(axis=0)
    for j in range(2):
        losses = np.zeros((3, 50))
        for a in range(3):
            for i in range(50):
                row = [e**2 / units[k] for k, e in enumerate(errors[a][i]) if e is not None]
                own = errors[a][i][j]
                own = np.mean(row) if own is None else own**2 / units[j]
                losses[a, i] = 0.5 * own + 0.5 * np.mean(row)
        off = losses - losses[losses.mean(axis=1).argmin()]
        gap = off.mean(axis=1)
        t = np.divide(gap, off.std(axis=1) / np.sqrt(50), out=np.zeros(3), where=gap > 0)
        aim = np.exp(-0.5 * t**2) / np.exp(-0.5 * t**2).sum()

        def criterion(w, S=products[j], pull=100 / counts[j], aim=aim):
            return w @ S @ w + pull * ((w - aim) ** 2).sum()

        whole = {"type": "eq", "fun": lambda w: w.sum() - 1}
        best = minimize(criterion, aim, bounds=[(0, 1)] * 3, constraints=whole, tol=1e-12)
        assert_allclose(found[:, j], best.x, atol=1e-5)
