"""Errors of ordered rows by the distance from what is known. Oracles: planted powers, plain loops."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.signal import lfilter
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold, TimeSeriesSplit

from isthmus import load, save
from isthmus.inspection import Trusted
from isthmus.inspection.spacing import find_spacing

FOLDS = list(KFold(5, shuffle=True, random_state=0).split(np.zeros(120)))
IN_TIME = list(TimeSeriesSplit(5).split(np.zeros(120)))


def nearest(Z, folds):
    """Distance of each row to the nearest of those that it is predicted from, by a plain loop."""
    found = np.full(len(Z), np.nan)
    for train, test in folds:
        for i in test:
            found[i] = min(np.linalg.norm(Z[i] - Z[j]) for j in train)
    return found


@pytest.fixture
def rows(rng):
    """A walk of three inputs, in units of their spreads."""
    X = np.cumsum(rng.standard_normal((120, 3)), axis=0)
    return X, (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)


def planted(rows, power, rng=None):
    """Spacing and errors if the errors of both kinds are a power of the distance, and noise."""
    X, Z = rows
    near, far = nearest(Z, FOLDS), nearest(Z, IN_TIME)
    least = np.quantile(near, 0.1)
    noise = np.ones((2, 120)) if rng is None else rng.uniform(0.5, 1.5, (2, 120))
    between, later = (
        np.column_stack([4.0 * np.maximum(d, least) ** power * own, np.maximum(d, least) ** power])
        for d, own in zip((near, far), noise, strict=True)
    )
    return find_spacing(X, (FOLDS, between), (IN_TIME, later)), least, far, later


@pytest.mark.parametrize("power", [0.2, 0.6, 0.9])
def test_a_planted_power_is_found(rows, rng, power):
    (spacing, errors), least, far, later = planted(rows, power)
    assert_allclose(spacing.power, power, rtol=1e-8)
    unit = np.nanmedian(far)
    growth = (np.maximum(far, least) / unit) ** power
    assert_allclose(errors, later / growth[:, None], rtol=1e-7)
    X, Z = rows
    new = X[:20] + 0.3 * rng.standard_normal((20, 1)) ** 3
    ours = (new - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    distance = np.linalg.norm(ours[:, None] - Z, axis=2).min(axis=1)
    expected = (np.maximum(distance, least) / unit) ** power
    assert_allclose(spacing.growth(new), expected, rtol=1e-7)
    assert (distance < least).any() and (distance > least).any()


def test_errors_grow_no_faster_than_the_distance(rows):
    (spacing, _), *_ = planted(rows, 2.0)
    assert spacing.power == 1.0


def test_units_of_the_inputs_do_not_matter(rows, rng):
    X, Z = rows
    first, second = (planted((own, Z), 0.7)[0][0] for own in (X, X * [1e-6, 1.0, 1e9] + 5))
    new = X + 0.2 * rng.standard_normal(X.shape)
    assert_allclose(second.growth(new * [1e-6, 1.0, 1e9] + 5), first.growth(new), rtol=1e-6)


def test_a_drift_that_the_inputs_do_not_show_leaves_the_errors_as_they_are(rows, rng):
    """Later rows have larger errors, but none that grow with the distance within a fold."""
    X, _ = rows
    between, later = rng.uniform(1, 2, (120, 1)), rng.uniform(3, 6, (120, 1))
    flat = np.ones((120, 1))
    for own in ((between, later), (flat, 3 * flat)):
        spacing, errors = find_spacing(X, (FOLDS, own[0]), (IN_TIME, own[1]))
        assert spacing is None and errors is own[1]


def test_later_errors_that_are_no_larger_leave_the_errors_as_they_are(rows):
    X, Z = rows
    near, far = nearest(Z, FOLDS)[:, None], nearest(Z, IN_TIME)[:, None]
    spacing, errors = find_spacing(X, (FOLDS, near), (IN_TIME, 0.1 * far))
    assert spacing is None and errors.shape == (120, 1)


def test_copies_of_rows_tell_nothing_of_the_distance(rng):
    X = np.repeat(np.cumsum(rng.standard_normal((60, 3)), axis=0), 2, axis=0)
    near = nearest(X, FOLDS)[:, None]
    assert np.mean(near == 0) > 0.1
    later = 1 + nearest(X, IN_TIME)[:, None]
    assert find_spacing(X, (FOLDS, 1 + near), (IN_TIME, later))[0] is None


def path(rng, n):
    """A walk of three inputs that comes back to where it was, and a smooth function of them."""
    steps = rng.standard_normal((n + 500, 3))
    X = lfilter([np.sqrt(1 - 0.99**2)], [1, -0.99], steps, axis=0)[500:]
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.02 * rng.standard_normal(n)


def model_of_paths():
    return Trusted(KernelRidge(kernel="rbf", gamma=1 / 6, alpha=0.01))


@pytest.mark.filterwarnings("ignore:the rows look ordered")
def test_rows_in_between_have_narrow_intervals_that_hold():
    """Every third row is left out of 12 paths.

    Of 40 paths 38 look ordered; rows in between are covered 0.986 in the mean, with a spread of 0.018, so
    that a mean of ten falls below 0.95 in fewer than one of 10^9 runs. The bounds are at most 0.44 as wide
    as those of later rows, 0.19 in the median.
    """
    held, widths = [], []
    for seed in range(12):
        X, y = path(np.random.default_rng(seed), 240)
        between = np.arange(240) % 3 == 1
        model = model_of_paths().fit(X[~between], y[~between])
        if model.domain_.spacing is None:
            continue
        found = model.check(X[between])
        inside = (found.lower <= y[between]) & (y[between] <= found.upper)
        held.append(inside[~found.outside].mean())
        plain = 2 * np.quantile(model.residual_quantiles_[:, 0], 0.95)
        widths.append(np.median((found.upper - found.lower)[~found.outside]) / plain)
    assert len(held) >= 6
    assert np.mean(held) > 0.95
    assert np.median(widths) < 0.5


def test_a_saved_model_has_the_same_intervals(tmp_path):
    X, y = path(np.random.default_rng(0), 240)
    with pytest.warns(UserWarning, match="rows look ordered"):
        model = model_of_paths().fit(X, y)
    assert model.domain_.spacing is not None
    save(model, tmp_path / "model.isthmus")
    bounds = load(tmp_path / "model.isthmus").predict_interval(X[:20] + 0.05)
    for own, loaded in zip(model.predict_interval(X[:20] + 0.05), bounds, strict=True):
        assert_allclose(loaded, own, rtol=1e-12)
