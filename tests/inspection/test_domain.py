"""Oracles: the diagnostics of the model itself, the kernel's own formula, planted changes, and the law
that one row in twenty of the same kind is flagged."""

import copy
import re
import warnings
from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.base import is_classifier
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GroupKFold, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from isthmus import (
    PCR,
    PLS,
    DependencyRegressor,
    IndicatorClassifier,
    KernelMap,
    Landmarks,
    MethodSearchCV,
    Moments,
    ReducedRankRegression,
    Rows,
    load,
    save,
)
from isthmus.datasets import make_spectra
from isthmus.inspection import Domain, OutsideDomainWarning, Trust, hotelling_t2, q_residuals
from isthmus.inspection._domain_parts import fold_planes
from isthmus.inspection.distances import FeatureDistance, PrincipalAxes
from isthmus.inspection.intervals import half_widths, widen
from isthmus.inspection.trust import tell_outside
from isthmus.regression import OPLS


def low_rank(rng, n, p, rank=4, noise=0.3):
    """Rows of one kind: a few factors and noise, off-centre."""
    factors = np.random.default_rng(5).standard_normal((rank, p))
    X = rng.standard_normal((n, rank)) @ factors + noise * rng.standard_normal((n, p)) + 3
    return X, X[:, :2] + 0.1 * rng.standard_normal((n, 2))


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_plane_is_that_of_the_principal_components(rng):
    X, Y = low_rank(rng, 60, 12)
    model = PCR(3, scale=True).fit(X, Y)
    new = low_rank(rng, 20, 12)[0]
    plane = PrincipalAxes(X).plane(3)
    plane.noise = np.ones(12)
    found = plane.statistics(new)
    assert_allclose(found["T2"], hotelling_t2(model, new).values, rtol=1e-9)
    assert_allclose(found["Q"], q_residuals(model, new, X).values, rtol=1e-9)
    # In spreads of each column, and the largest of them alone.
    plane.noise = np.arange(1.0, 13)
    squares = (plane.beside(plane.standardise(new)) / np.arange(1, 13)) ** 2
    assert_allclose(plane.statistics(new)["Q"], squares.sum(axis=1))
    assert_allclose(plane.statistics(new)["peak"], squares.max(axis=1))


def test_distance_from_the_span_is_the_formula(rng):
    X, new = rng.standard_normal((30, 3)), rng.standard_normal((5, 3))
    kernel = Landmarks(30, "rbf", gamma=2.0).fit(X).kernel_
    found = FeatureDistance(kernel, X).statistics(new)
    K, k = rbf_kernel(X, gamma=2.0), rbf_kernel(X, new, gamma=2.0)
    assert_allclose(found["span"], 1 - (k * np.linalg.solve(K, k)).sum(axis=0), rtol=1e-4)
    assert_allclose(found["nearest"], np.sqrt(2 - 2 * k.max(axis=0)), rtol=1e-9)


def test_likelihoods_are_those_of_the_gaussian(rng):
    """The whole covariance with two axes kept and the rest set to its mean, by SciPy's density."""
    X, new = low_rank(rng, 40, 6)[0], low_rank(rng, 9, 6)[0]
    new = (new - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    axes = PrincipalAxes(X)
    values, vectors = np.linalg.eigh(np.cov(X.T))
    values, vectors = values[::-1].copy(), vectors[:, ::-1]
    found = axes.log_likelihoods(new, 6)
    for k in (0, 2, 6):
        kept = np.where(np.arange(6) < k, values, values[k:].mean() if k < 6 else 0)
        law = stats.multivariate_normal(X.mean(axis=0), (vectors * kept) @ vectors.T)
        constant = -0.5 * 6 * np.log(2 * np.pi) * len(new)
        assert_allclose(found[k], law.logpdf(new).sum() - constant, rtol=1e-8)


MODELS = {
    "PLS": lambda X, Y: PLS(3).fit(X, Y),
    "landmarks": lambda X, Y: make_pipeline(
        StandardScaler(), Landmarks(10, "rbf"), LinearRegression()
    ).fit(X, Y),
}


@pytest.mark.parametrize("shape", [(12, 30), (40, 200), (60, 8)], ids=str)
@pytest.mark.parametrize("name", MODELS)
def test_few_rows_of_the_same_kind_are_flagged(name, shape):
    """At most 7 % in the mean over tables, and not next to none.

    The share of one table varies with its limits, by 0.03 to 0.09, the mean of 30 tables by 0.005 to
    0.016. The seeds are fixed: what may change is rounding, which moves none of this.
    """
    shares = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, Y = low_rank(rng, *shape)
        domain = Domain.of(MODELS[name](X, Y), X, Y)
        shares.append(domain.check(low_rank(rng, 200, shape[1])[0]).outside.mean())
    assert 0.01 < np.mean(shares) <= 0.07


def test_limits_of_training_rows_would_flag_most(rng):
    """Why rows are left out: with more inputs than rows Q of the rows of the fit is far too small."""
    X, _ = low_rank(rng, 30, 200)
    plane = PrincipalAxes(X).plane(10)
    new = low_rank(rng, 200, 200)[0]
    naive = np.quantile(plane.statistics(X)["Q"], 0.95)
    assert (plane.statistics(new)["Q"] > naive).mean() > 0.5


@pytest.mark.parametrize("name", MODELS)
def test_a_new_feature_is_flagged_and_named(rng, name):
    X, Y = low_rank(rng, 60, 60)
    wavelengths = [str(1000 + 10 * j) for j in range(60)]
    domain = Domain.of(MODELS[name](X, Y), X, Y, names=wavelengths, curve=True)
    new = low_rank(rng, 10, 60)[0]
    new[0, 20:26] += 8
    trust = domain.check(new)
    assert trust.outside[0] and trust.distance[0] > 2
    assert not trust.outside[1:].all()
    assert_array_equal(trust.outside, trust.distance > 1)
    assert [bool(reason) for reason in trust.reasons] == list(trust.outside)
    if name == "PLS":
        assert "Q residual" in trust.reasons[0]
        low, high = map(int, re.findall(r"inputs (\d+) to (\d+) differ", trust.reasons[0])[0])
        assert 1150 <= low <= 1250 and 1200 <= high <= 1300


def test_an_input_out_of_range_is_named(rng):
    X = rng.uniform(size=(200, 3))
    domain = Domain.of(LinearRegression().fit(X, X), X, names=["a", "b", "c"])
    domain.limits = {"range": domain.limits["range"]}
    trust = domain.check([[0.5, 7.0, 0.5], [0.5, 0.5, 0.5]])
    assert trust.reasons[0].startswith("b == 7, trained on 0.0")
    assert_array_equal(trust.outside, [True, False])
    assert trust.summary() == (
        "1 of 2 rows (50.0 %) is outside the domain of the training rows, because of the range of "
        "the inputs."
    )


def test_units_do_not_matter(rng):
    X, Y = low_rank(rng, 50, 6)
    new = low_rank(rng, 30, 6)[0]
    units = np.array([1e-6, 1, 1e3, 7, 1e8, 0.3])
    plain = Domain.of(LinearRegression().fit(X, Y), X, Y).check(new)
    other = Domain.of(LinearRegression().fit(X * units, Y), X * units, Y).check(new * units)
    assert_allclose(other.distance, plain.distance, rtol=1e-6)


@pytest.mark.parametrize("n", [60, 700])
def test_the_order_of_rows_does_not_matter(n):
    """With 700 rows some are drawn as neighbours."""
    rng = np.random.default_rng(1)
    X, new = rng.normal(size=(n, 4)) @ rng.normal(size=(4, 6)), rng.normal(size=(30, 6))
    y = X[:, 0] + rng.normal(size=n)

    def check(rows):
        return Domain.of(LinearRegression().fit(X[rows], y[rows]), X[rows], y[rows]).check(new)

    plain, turned = check(np.arange(n)), check(rng.permutation(n))
    assert_allclose(turned.distance, plain.distance, rtol=1e-7)
    assert (turned.outside == plain.outside).all() and plain.outside.any()


def test_a_column_that_never_varied_is_left_out(rng):
    X, Y = low_rank(rng, 50, 6)
    X[:, 2] = 0.1
    new = low_rank(rng, 30, 6)[0]
    model = LinearRegression().fit(X, Y)
    with_it = Domain.of(model, X, Y).check(new)
    kept = [0, 1, 3, 4, 5]
    without = Domain.of(LinearRegression().fit(X[:, kept], Y), X[:, kept], Y).check(new[:, kept])
    assert_allclose(with_it.distance, without.distance, rtol=1e-8)


def test_a_category_that_one_fold_has_never_seen(rng):
    """All axes of that fold are used, so that nothing is beside its plane; other folds have Q residuals."""
    X = rng.normal(size=(90, 4)) * [30, 10, 0.1, 0]
    X[:, :3] = X[:, :3] @ np.linalg.qr(rng.normal(size=(3, 3)))[0]  # no axis is a column
    X[::9, 3] = 1.0
    X[30:, 3] = 0.0
    rows = np.arange(90)
    folds = [(rows[:60], rows[60:]), (rows[30:], rows[:30])]
    planes = fold_planes(X, folds)
    assert [plane.has_residuals for plane in planes] == [True, False, True]
    domain = Domain.of(LinearRegression().fit(X, X[:, :1]), X, folds=folds)
    assert len(domain.check(X).distance) == 90
    assert not domain.check(X[30:] * 0.5).outside.any()
    assert domain.check(X + np.array([0, 0, 0, 50.0])).outside.all()


def test_folds_of_batches_widen_the_limits(rng):
    """New batches are judged by how far one batch lies from the others."""
    batch = np.repeat(np.arange(12), 10)
    centres = 3 * rng.standard_normal((12, 5))
    X = centres[batch] + 0.3 * rng.standard_normal((120, 5))
    model = LinearRegression().fit(X, X)
    by_batch = list(GroupKFold(6).split(X, groups=batch))
    shuffled, grouped = Domain.of(model, X), Domain.of(model, X, folds=by_batch)
    new = 3 * rng.standard_normal((400, 5)) + 0.3 * rng.standard_normal((400, 5))
    assert grouped.check(new).outside.mean() < 0.35 < 0.6 < shuffled.check(new).outside.mean()


def test_missing_values_count_as_means(rng):
    X, Y = low_rank(rng, 60, 6)
    holes = X.copy()
    holes[3, 2] = np.nan
    domain = Domain.of(LinearRegression().fit(X, Y), holes, Y)
    row = X[:1].copy()
    row[0, 4] = np.nan
    filled = row.copy()
    filled[0, 4] = domain.means[4]
    assert_array_equal(domain.check(row).distance, domain.check(filled).distance)


@pytest.mark.filterwarnings("error")
def test_far_rows_and_odd_tables(rng):
    X, Y = low_rank(rng, 30, 5)
    trust = Domain.of(LinearRegression().fit(X, Y), X, Y).check(np.full((1, 5), 1e300))
    assert trust.outside.all() and not np.isnan(trust.distance).any()
    same = np.ones((6, 3))
    assert not Domain.of(LinearRegression().fit(same, same), same).check(same + 1).outside.any()
    assert (
        tell_outside(3, Counter()) == "None of 3 rows is outside the domain of the training rows."
    )


@pytest.mark.parametrize("name", MODELS)
def test_saved_and_loaded(rng, name, tmp_path):
    X, Y = low_rank(rng, 40, 9)
    domain = Domain.of(MODELS[name](X, Y), X, Y)
    save(domain, tmp_path / "domain.isthmus")
    new = 2 * low_rank(rng, 10, 9)[0]
    back = load(tmp_path / "domain.isthmus").check(new)
    assert_array_equal(back.distance, domain.check(new).distance)
    assert back.reasons == domain.check(new).reasons


@pytest.fixture(scope="module")
def search():
    X, Y = low_rank(np.random.default_rng(1), 60, 9)
    return MethodSearchCV("pls", cv=3).fit(X, Y)


def test_a_search_keeps_its_domain(search, tmp_path):
    new = low_rank(np.random.default_rng(2), 40, 9)[0]
    new[3] += np.linspace(-9, 9, 9)
    trust = search.check(new)
    assert trust.outside[3] and trust.outside.mean() < 0.3
    save(search, tmp_path / "m.isthmus")
    assert_array_equal(load(tmp_path / "m.isthmus").check(new).distance, trust.distance)


def test_intervals_widen_by_the_distance_outside_and_only_there(search):
    new = low_rank(np.random.default_rng(2), 40, 9)[0]
    new[3] += 1.5 * np.array([1, -1, 1, -1, 1, -1, 1, -1, 1])
    new[4] += np.linspace(-9, 9, 9)
    lower, upper = search.predict_interval(new, 0.9)
    trust = search.check(new)
    errors = search.domain_.scaled_errors
    half = half_widths(errors, search.n_samples_, 0.9) * trust.error_scale[:, None]
    wider = half * np.sqrt(np.maximum(trust.distance, 1))[:, None]
    extent = np.ptp(search._training[1], axis=0)
    assert (trust.distance[3:5] > 1).all()
    assert (2 * wider[3] / extent).mean() < 1 < (2 * wider[4] / extent).mean()
    known = np.arange(len(new)) != 4
    centre = search.predict_rows(new)
    assert_allclose(upper[known], (centre + wider)[known], rtol=1e-10)
    assert_allclose(lower[known], (centre - wider)[known], rtol=1e-10)
    assert (lower[4] == -np.inf).all() and (upper[4] == np.inf).all()


def test_errors_count_in_the_scale_of_their_rows():
    """Leverage and Q of each row left out, from the plane of the others; a longer road to both."""
    rng = np.random.default_rng(5)
    X, Y = low_rank(rng, 50, 14)
    folds = list(KFold(4, shuffle=True, random_state=1).split(X))
    guess = Y + rng.normal(size=Y.shape)
    domain = Domain.of(PLS(3).fit(X, Y), X, Y, folds=folds, left_out=guess)
    planes = fold_planes(X, folds)
    leverages, residuals, tests = [], [], []
    for plane, (train, test) in zip(planes, folds, strict=False):
        one, other = (np.column_stack([np.ones(len(rows)), plane.standardise(X[rows]) @ plane.loadings])
                      for rows in (train, test))  # fmt: skip
        leverages.append(np.einsum("ij,jk,ik->i", other, np.linalg.inv(one.T @ one), other))
        beside = plane.standardise(X[test]) - other[:, 1:] @ plane.loadings.T
        residuals.append(((beside / plane.noise) ** 2).sum(axis=1))
        tests.append(test)
    Q = np.concatenate(residuals)
    units = np.sqrt(1 + np.concatenate(leverages) + Q / Q.mean())
    errors = np.abs(Y - guess)[np.concatenate(tests)] / units[:, None]
    assert_allclose(domain.scaled_errors, np.sort(errors, axis=0), rtol=1e-8)
    new = low_rank(rng, 9, 14)[0]
    last = planes[-1]
    scores = last.standardise(new) @ last.loadings
    within = np.column_stack([np.ones(50), last.standardise(X) @ last.loadings])
    other = np.column_stack([np.ones(9), scores])
    leverage = np.einsum("ij,jk,ik->i", other, np.linalg.inv(within.T @ within), other)
    beside = (last.standardise(new) - scores @ last.loadings.T) / last.noise
    want = np.sqrt(1 + leverage + (beside**2).sum(axis=1) / Q.mean())
    assert_allclose(domain.check(new).error_scale, want, rtol=1e-8)


def test_bounds_are_withheld_once_they_are_wider_than_all_outputs():
    """In the mean of the outputs, of rows outside alone, at the range of the training outputs."""
    trust = Trust(np.array([0.5, 2.0, 2.4, 2.6]), np.array([False, True, True, True]), [], [])
    # 2 half / extent is 0.1, 0.7 and undefined: their mean times the distance is 1 at 2.5.
    found = widen(np.array([1.0, 3.5, 4.0]), trust, np.array([20.0, 10.0, 0.0]))
    assert_allclose(found[:3], np.array([1, 2, 2.4])[:, None] * [1.0, 3.5, 4.0])
    assert np.isinf(found[3]).all()
    inside = Trust(np.array([0.5]), np.array([False]), [], [])
    assert_allclose(widen(np.array([9.0]), inside, np.array([1.0])), [[9.0]])
    assert_allclose(widen(np.array([1.0]), trust, None)[:, 0], [1, 2, 2.4, 2.6])
    assert_allclose(widen(np.array([1.0]), trust, np.zeros(1))[:, 0], [1, 2, 2.4, 2.6])


@pytest.mark.parametrize("n_new", [20, 200])
def test_a_batch_that_moved_as_a_whole_is_told(n_new):
    """Rows whose noise is half as large again: most are within the limits, together they are not.

    Without a shift none of 1920 simulated tables was told; these seeds are fixed.
    """
    told, moved = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, Y = low_rank(rng, 60, 30)
        domain = Domain.of(PLS(4).fit(X, Y), X, Y)
        told.append(domain.check(low_rank(rng, n_new, 30)[0]).shift_p_value)
        moved.append(domain.check(low_rank(rng, n_new, 30, noise=0.45)[0]).shift_p_value)
    assert min(told) > 1e-3
    assert np.median(moved) < 1e-6
    trust = domain.check(low_rank(rng, n_new, 30, noise=0.45)[0])
    assert "As a whole they lie farther out" in trust.summary()
    assert domain.check(X[:5]).shift_p_value == 1  # too few to tell


def test_a_model_of_before_predicts_and_says_that_it_has_no_domain(search):
    old = copy.copy(search)
    del old.domain_
    new = low_rank(np.random.default_rng(2), 5, 9)[0] + 100
    half = half_widths(search.residual_quantiles_, search.n_samples_, 0.95)
    lower, upper = old.predict_interval(new)
    assert_allclose((upper - lower) / 2, np.tile(half, (5, 1)), rtol=1e-10)
    with pytest.raises(ValueError, match="kept no domain: fit it again"):
        old.check(new)


def test_a_prediction_beyond_all_outputs_is_flagged_and_named():
    """Inputs alone do not show it: the new rows are a little outside in each of many directions."""
    rng = np.random.default_rng(0)
    X, Y = low_rank(rng, 80, 12)
    search = MethodSearchCV("pls", cv=4).fit(X, Y, target_names=["fat", "water"])
    new = low_rank(rng, 30, 12)[0]
    inside = search.domain_.check(new)
    guess = search.predict(new)
    ranges = Y.max(axis=0) - Y.min(axis=0)
    far = guess.copy()
    far[0, 1] = Y[:, 1].max() + ranges[1]
    told = search.domain_.check(new, far)
    assert told.outside[0] and not inside.outside[0]
    assert told.reasons[0].startswith(f"predicted water == {far[0, 1]:.4g}, trained on ")
    assert told.causes[0] == "range of the outputs"
    # From the middle of the range in halves of it: three, over the limit, squared.
    assert_allclose(told.distance[0], (3 / search.domain_.limits["output"]) ** 2)
    assert_array_equal(search.check(new).distance, search.domain_.check(new, guess).distance)


def test_few_predictions_of_the_same_kind_are_flagged():
    """At most 7 % in the mean over 20 tables; the mean varies by about 0.01, the seeds are fixed."""
    shares = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, Y = low_rank(rng, 60, 10)
        search = MethodSearchCV("pcr", cv=4, n_components=4).fit(X, Y)
        shares.append(search.check(low_rank(rng, 200, 10)[0]).outside.mean())
    assert 0.01 < np.mean(shares) <= 0.07


@pytest.fixture(scope="module")
def searched():
    spectra = make_spectra(60, random_state=0)
    search = MethodSearchCV(methods=["pls"], treatments=None)
    return search.fit(spectra.data, spectra.target), make_spectra(100, random_state=1)


def test_predict_warns_of_foreign_rows_in_one_sentence(searched):
    search, new = searched
    foreign = new.data[:46] + 0.05 * np.exp(-(((new.wavelengths - 1850) / 25) ** 2))
    with pytest.warns(
        OutsideDomainWarning, match=r"46 of 46 rows \(100.0 %\).*Farthest is row"
    ) as told:
        plain = search.predict(foreign)
    assert len(told) == 1 and told[0].filename == __file__
    assert "Q residual" in str(told[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", OutsideDomainWarning)
        assert_allclose(search.predict(foreign), plain)


def test_predict_is_quiet_about_ordinary_rows_and_warns_of_one_that_is_far_out(searched):
    search, new = searched
    trust = search.check(new.data)
    assert 0 < trust.outside.sum() < 10 and not trust.is_news  # 5 % by chance are no news
    search.predict(new.data)  # warnings are errors here
    one = new.data.copy()
    one[17] += 0.05 * np.exp(-(((new.wavelengths - 1850) / 25) ** 2))
    with pytest.warns(OutsideDomainWarning, match="Farthest is row 17: Q residual"):
        search.predict(one)


def test_the_warning_counts_blocks_together(searched, monkeypatch):
    search, new = searched
    foreign = new.data + 0.05 * np.exp(-(((new.wavelengths - 1850) / 25) ** 2))
    monkeypatch.setattr("isthmus.inspection.domain.BLOCK_ROWS", 7)
    monkeypatch.setattr("isthmus.inspection.domain._MOST_POINTS_KEPT", 3)
    with pytest.warns(
        OutsideDomainWarning, match="100 of 100 rows .* most of them because of the Q residual"
    ):
        search.predict(foreign)


def test_a_loaded_model_warns_too(searched, tmp_path):
    search, new = searched
    save(search, tmp_path / "model.isthmus")
    with pytest.warns(OutsideDomainWarning, match="100 of 100"):
        load(tmp_path / "model.isthmus").predict(new.data + 1 + new.wavelengths / 2000)


@pytest.mark.parametrize(
    "model",
    [
        PLS(2),
        PCR(2),
        Ridge(1e-3),
        make_pipeline(KernelMap(gamma=1.0), PLS(3)),
        make_pipeline(Landmarks(20, "rbf", gamma=1.0), ReducedRankRegression(2)),
        DependencyRegressor(),
        IndicatorClassifier(OPLS()),
        SVC(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_foreign_band_is_seen_by_every_kind_of_model(model):
    """Two predictive directions or a wide kernel do not describe the inputs: their principal axes do."""
    spectra, other = make_spectra(60, random_state=0), make_spectra(40, random_state=1)
    X, new, places = spectra.data[:, ::7], other.data[:, ::7], spectra.wavelengths[::7]
    y = spectra.target
    if is_classifier(model):
        y = np.where(y[:, 0] > np.median(y[:, 0]), "wet", "dry")
    domain = Domain.of(model.fit(X, y), X, y)
    assert domain.check(new).outside.mean() < 0.15
    assert domain.check(new + 0.05 * np.exp(-(((places - 1850) / 25) ** 2))).outside.all()


def mixtures(n, n_bands, noise, scatter, seed):
    """Spectra on 0 to 1 of so many substances, scattered, and the contents of the first two."""
    rng = np.random.default_rng(seed)
    places = np.linspace(0, 1, 120)
    centres, widths = rng.uniform(size=n_bands), rng.uniform(0.02, 0.15, size=n_bands)
    pure = np.exp(-(((places - centres[:, None]) / widths[:, None]) ** 2))
    content = rng.gamma(2, 0.3, size=(n, n_bands))
    path, offset, slope = 1 + scatter * rng.standard_normal((3, n, 1))
    X = path * (content @ pure) + offset + (slope - 1) * places
    return X + noise * rng.standard_normal(X.shape), content[:, :2], places


SPOILED = {
    "narrow band": lambda X, u, spread: X + spread * np.exp(-(((u - 0.4) / 0.01) ** 2)),
    "broad band": lambda X, u, spread: X + spread * np.exp(-(((u - 0.4) / 0.06) ** 2)),
    "strong band": lambda X, u, spread: X + 5 * spread * np.exp(-(((u - 0.7) / 0.06) ** 2)),
    "curved baseline": lambda X, u, spread: X + 3 * spread * u**2,
    "other path": lambda X, u, spread: 2 * X,
    "dead pixel": lambda X, u, spread: np.where(u == u[X.mean(axis=0).argmax()], 0, X),
    "saturated": lambda X, u, spread: np.minimum(X, np.quantile(X, 0.8, axis=1)[:, None]),
    "shifted by a step": lambda X, u, spread: np.roll(X, 1, axis=1),
}


@pytest.mark.parametrize("kind", [(12, 1e-3, 0.0), (6, 1e-3, 0.1), (4, 5e-3, 0.05)], ids=str)
def test_spoiled_spectra_are_flagged_and_clean_ones_are_not(kind):
    """In the mean of four tables; a band of one spread of the columns, under PLS with three components.

    Of clean rows 7 % at most; the mean of four tables varies by 0.012.
    """
    flagged = {}
    for seed in range(4):
        X, Y, places = mixtures(130, *kind, seed)
        domain = Domain.of(PLS(3).fit(X[:50], Y[:50]), X[:50])
        new, spread = X[50:], np.median(X[:50].std(axis=0))
        flagged.setdefault("clean", []).append(domain.check(new).outside.mean())
        for name, spoil in SPOILED.items():
            found = domain.check(spoil(new, places, spread)).outside.mean()
            flagged.setdefault(name, []).append(found)
    shares = {name: float(np.mean(each)) for name, each in flagged.items()}
    assert shares.pop("clean") <= 0.07
    assert min(shares.values()) > 0.8, shares


@pytest.mark.parametrize("kind", ["rows", "dask"])
def test_rows_that_do_not_fit_into_memory_have_a_domain(rng, kind):
    X, Y = low_rank(rng, 3000, 8)
    model = PLS(2).fit(X, Y)
    new = low_rank(rng, 400, 8)[0]
    foreign = new + 2 * np.eye(8)[3]
    if kind == "rows":
        domain = Domain.of(model, Rows.from_arrays(X, Y))
    else:
        dask = pytest.importorskip("dask.array")
        chunked = (dask.from_array(a, chunks=(700, -1)) for a in (X, Y))
        domain = Domain.of(model, *chunked)
    # The limits of 2000 rows vary by 0.005, the share of 400 new rows by 0.011.
    assert 0.01 < domain.check(new).outside.mean() < 0.09
    assert domain.check(foreign).outside.mean() > 0.9
    far = model.predict(new) + 20
    assert domain.check(new, far).outside.all()
    with pytest.raises(ValueError, match="Moments hold no rows"):
        Domain.of(model, Moments.from_data(X, Y))


@pytest.mark.parametrize("seed", range(4))
def test_categories_that_sum_to_one_leave_rounding_beside_the_plane(seed):
    # All rows lie in a plane of one dimension less than there are columns: what is beside it is rounding,
    # which must neither flag rows of the fit nor stretch the limits of the others.
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 3))
    kinds = np.eye(3)[rng.integers(0, 3, 60)]
    X_all = np.hstack([X, kinds])
    y = X[:, 0] + kinds @ [0.0, 1.0, 2.0] + 0.3 * rng.standard_normal(60)
    search = MethodSearchCV(["ridge"]).fit(X_all, y)
    assert search.check(X_all).outside.mean() < 0.1
    assert search.domain_.limits["T2"] < stats.chi2.ppf(0.9999, 5)
    unknown = X_all.copy()
    unknown[:, 3:] = 0.0  # a category that was not there
    assert search.check(unknown).outside.all()
    lower, upper = search.predict_interval(X_all)
    assert np.ptp(upper - lower) < 0.5 * np.mean(upper - lower)


def test_outputs_with_gaps_have_ranges_and_can_be_saved(rng, tmp_path):
    X, Y = low_rank(rng, 40, 5)
    Y[3, 0] = np.nan
    search = MethodSearchCV(["pls", "ridge"], cv=3).fit(X, Y)
    outputs = search.domain_.parts["outputs"]
    assert_allclose(outputs.upper, np.nanmax(Y, axis=0))
    assert_allclose(outputs.lower, np.nanmin(Y, axis=0))
    save(search, tmp_path / "m.isthmus")
    again = load(tmp_path / "m.isthmus")
    for bound, other in zip(search.predict_interval(X), again.predict_interval(X), strict=True):
        assert np.isfinite(bound).all()
        assert_array_equal(bound, other)


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_domain_does_not_depend_on_extreme_units(rng, unit, tmp_path):
    X, Y = low_rank(rng, 40, 5)
    units = np.array([1.0, unit, 1.0, 1.0, 1.0])
    search = MethodSearchCV(["pls"], cv=3)
    usual = search.fit(X, Y).check(X).distance
    assert_allclose(Domain.of(search.best_estimator_, X * units).limits["T2"],
                    Domain.of(search.best_estimator_, X).limits["T2"], rtol=1e-6)  # fmt: skip
    search.fit(X * unit, Y)
    assert_allclose(search.check(X * unit).distance, usual, rtol=1e-6)
    save(search, tmp_path / "m.isthmus")
