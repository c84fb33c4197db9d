"""One list of checks over all losses.

Oracles: the textbook formula of each loss, written a second time and only here; finite differences;
best constants that are known statistics.
"""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, logit

from isthmus.losses import (
    Absolute,
    EpsilonInsensitive,
    FunctionLoss,
    Huber,
    HuberRows,
    LogCosh,
    Logistic,
    Poisson,
    Quantile,
    Squared,
    check_gradient,
)
from isthmus.losses.smoothing import Smoothed
from isthmus.papers.stiefel_report import TanhAbsolute


def quartic(Y, Y_pred):
    return (Y - Y_pred) ** 4


def quartic_gradient(Y, Y_pred):
    return -4 * (Y - Y_pred) ** 3


def huber(e, delta):
    return np.where(abs(e) <= delta, e**2 / 2, delta * abs(e) - delta**2 / 2)


def hyperbola(e, h):
    return np.sqrt(e**2 + h**2) - h


# Each loss with its definition as a function of targets and predictions.
DEFINITIONS = [
    (Squared(), lambda y, f: (y - f) ** 2 / 2),
    (Absolute(), lambda y, f: abs(y - f)),
    (Huber(0.7), lambda y, f: huber(y - f, 0.7)),
    (HuberRows(1.5), lambda y, f: huber(np.linalg.norm(y - f, axis=1), 1.5)),
    (EpsilonInsensitive(0.3), lambda y, f: np.maximum(abs(y - f) - 0.3, 0)),
    (Quantile(0.3), lambda y, f: np.where(y > f, 0.3 * (y - f), 0.7 * (f - y))),
    (LogCosh(0.8), lambda y, f: 0.64 * np.log(np.cosh((y - f) / 0.8))),
    (Logistic(), lambda y, f: np.log(1 + np.exp(f)) - y * f),
    (Poisson(), lambda y, f: np.exp(f) - y * f),
    (TanhAbsolute(0.4), lambda y, f: (y - f) * np.tanh((y - f) / 0.4)),
    (Absolute().smooth(0.2), lambda y, f: hyperbola(y - f, 0.2)),
    (Quantile(0.7).smooth(0.1), lambda y, f: hyperbola(y - f, 0.1) / 2 + 0.2 * (y - f)),
    (
        EpsilonInsensitive(0.3).smooth(0.1),
        lambda y, f: (hyperbola(y - f - 0.3, 0.1) + hyperbola(y - f + 0.3, 0.1)) / 2 - 0.3,
    ),
    (FunctionLoss(quartic, quartic_gradient), lambda y, f: (y - f) ** 4),
]
LOSSES = [loss for loss, _ in DEFINITIONS]
PIECEWISE = [Absolute(), Quantile(0.3), EpsilonInsensitive(0.3), EpsilonInsensitive(0.0)]


def name_of(loss):
    return repr(loss)[:60]


every_loss = pytest.mark.parametrize("loss", LOSSES, ids=name_of)


@pytest.fixture(params=range(3))
def rng(request):
    return np.random.default_rng(request.param)


def targets_for(loss, rng, shape):
    if isinstance(loss, Logistic):
        return rng.integers(2, size=shape).astype(float)
    if isinstance(loss, Poisson):
        return rng.poisson(2.0, size=shape).astype(float)
    return rng.normal(size=shape)


def data_for(loss, rng, shape=(9, 4)):
    return targets_for(loss, rng, shape), rng.normal(0.3, 1.5, size=shape)


@pytest.mark.parametrize(("loss", "definition"), DEFINITIONS, ids=map(name_of, LOSSES))
@pytest.mark.parametrize("shape", [(9, 4), (1, 1), (700, 100)])  # the last is several blocks
def test_value_is_the_sum_of_the_definition(loss, definition, shape, rng):
    Y, Y_pred = data_for(loss, rng, shape)
    terms = definition(Y, Y_pred)
    assert_allclose(loss.value(Y, Y_pred), terms.sum(), rtol=1e-12)
    weight = rng.random(shape[0])
    assert_allclose(loss.value(Y, Y_pred, weight), np.sum(terms.T * weight), rtol=1e-12)


@every_loss
def test_gradient_by_central_differences_in_every_entry(loss, rng):
    Y, Y_pred = data_for(loss, rng)
    slopes = np.empty_like(Y_pred)
    for index in np.ndindex(Y_pred.shape):
        step = np.zeros_like(Y_pred)
        step[index] = 1e-6
        slopes[index] = (loss.value(Y, Y_pred + step) - loss.value(Y, Y_pred - step)) / 2e-6
    assert_allclose(loss.gradient(Y, Y_pred), slopes, rtol=1e-6, atol=1e-7)


@every_loss
def test_gradient_of_a_later_block_is_that_of_its_rows_alone(loss, rng):
    Y, Y_pred = data_for(loss, rng, (700, 100))
    weight = rng.random(700)
    whole = loss.gradient(Y, Y_pred, weight)
    assert_allclose(whole[650:], loss.gradient(Y[650:], Y_pred[650:], weight[650:]), rtol=1e-13)


@every_loss
def test_in_place_and_apart_agree_and_inputs_are_left_alone(loss, rng):
    Y, Y_pred = data_for(loss, rng)
    kept = Y.copy(), Y_pred.copy()
    value, gradient = loss.value_and_gradient(Y, Y_pred)
    assert_array_equal((Y, Y_pred), kept)
    assert loss.value(Y, Y_pred) == value
    assert_array_equal(loss.gradient(Y, Y_pred), gradient)
    value_again, into = loss.value_and_gradient(Y, Y_pred, out=Y_pred)
    assert into is Y_pred
    assert value_again == value
    assert_array_equal(Y_pred, gradient)


@every_loss
def test_sample_weight_is_repetition_and_zero_drops_rows(loss, rng):
    Y, Y_pred = data_for(loss, rng)
    weight = np.array([1, 2, 0, 3, 1, 0, 1, 5, 2])
    rows = np.repeat(np.arange(9), weight)
    value, gradient = loss.value_and_gradient(Y, Y_pred, weight)
    assert_allclose(value, loss.value(Y[rows], Y_pred[rows]), rtol=1e-13)
    repeated = loss.gradient(Y[rows], Y_pred[rows])
    summed = np.stack([repeated[rows == i].sum(axis=0) for i in range(9)])
    assert_allclose(gradient, summed, rtol=1e-13, atol=1e-15)


@every_loss
def test_output_weight_is_repetition_of_columns(loss, rng):
    Y, Y_pred = data_for(loss, rng)
    weight, sample_weight = np.array([1, 0, 3, 2]), rng.random(9)
    columns = np.repeat(np.arange(4), weight)
    value, gradient = loss.value_and_gradient(Y, Y_pred, sample_weight, weight)
    repeated_value, repeated = loss.value_and_gradient(
        Y[:, columns], Y_pred[:, columns], sample_weight
    )
    assert_allclose(value, repeated_value, rtol=1e-13)
    summed = np.stack([repeated[:, columns == j].sum(axis=1) for j in range(4)], axis=1)
    assert_allclose(gradient, summed, rtol=1e-13, atol=1e-15)


@every_loss
def test_is_convex_but_for_the_hyperbolic_tangent(loss):
    rng = np.random.default_rng(0)
    Y = targets_for(loss, rng, (2000, 1))
    first, second = rng.normal(0, 3, size=(2, 2000, 1))
    ends = (loss.pointwise(Y, first)[0] + loss.pointwise(Y, second)[0]) / 2
    middle = loss.pointwise(Y, (first + second) / 2)[0]
    assert np.all(middle <= ends + 1e-12) == (not isinstance(loss, TanhAbsolute))


@every_loss
def test_curvature_bounds_the_change_of_the_gradient(loss):
    rng = np.random.default_rng(0)
    Y = targets_for(loss, rng, (4000, 1))
    Y_pred = rng.normal(0, 1, size=(4000, 1))
    step = 1e-4
    change = loss.gradient(Y, Y_pred + step) - loss.gradient(Y, Y_pred - step)
    steepest = np.abs(change).max() / (2 * step)
    assert steepest <= loss.curvature * (1 + 1e-6)
    # A bound of twice the truth would make every step half as long. (Two kinks share theirs.)
    if np.isfinite(loss.curvature) and not isinstance(loss, Smoothed):
        assert steepest >= 0.95 * loss.curvature


def test_curvature_of_rounded_kinks_is_attained_at_the_kink():
    for loss, kink in [(Absolute(), 0.0), (Quantile(0.3), 0.0)]:
        rounded = loss.smooth(1e-3)
        change = rounded.gradient([kink], [1e-7]) - rounded.gradient([kink], [-1e-7])
        assert_allclose(change / 2e-7, rounded.curvature, rtol=1e-6)


def test_typical_curvature_is_the_bound_or_the_inverse_scale():
    assert Huber(2.0).typical_curvature(5.0) == 1
    assert Absolute().typical_curvature(5.0) == 0.2
    assert Poisson().typical_curvature(5.0) == 1


@pytest.mark.parametrize(
    ("limit", "of", "factor"),
    [
        (Huber(1e6), Squared(), 1.0),
        (Huber(1e-7), Absolute(), 1e-7),
        (HuberRows(1e6), Squared(), 1.0),
        (LogCosh(1e6), Squared(), 1.0),
        (LogCosh(1e-7), Absolute(), 1e-7),
        (Quantile(0.5), Absolute(), 0.5),
        (EpsilonInsensitive(0.0), Absolute(), 1.0),
        (Absolute().smooth(1e-9), Absolute(), 1.0),
        (Quantile(0.2).smooth(1e-9), Quantile(0.2), 1.0),
        (EpsilonInsensitive(0.4).smooth(1e-9), EpsilonInsensitive(0.4), 1.0),
        (TanhAbsolute(1e-9), Absolute(), 1.0),
    ],
    ids=name_of,
)
def test_limits(limit, of, factor, rng):
    Y, Y_pred = data_for(of, rng)
    value, gradient = limit.value_and_gradient(Y, Y_pred)
    assert_allclose(value, factor * of.value(Y, Y_pred), rtol=1e-6)
    assert_allclose(gradient, factor * of.gradient(Y, Y_pred), rtol=1e-6, atol=1e-7 * factor)


@pytest.mark.parametrize("loss", PIECEWISE, ids=name_of)
@pytest.mark.parametrize("width", [1e-3, 0.1, 2.0])
def test_rounding_costs_at_most_its_gap_and_far_away_just_that(loss, width):
    residual = np.concatenate([np.linspace(-3, 3, 601), [-1e6, 1e6]])[:, None]
    rounded = loss.smooth(width)
    below = loss.rho_and_psi(residual)[0] - rounded.rho_and_psi(residual)[0]
    assert below.min() >= -1e-9
    assert below.max() <= rounded.gap + 1e-9
    assert_allclose(below[-2:], rounded.gap, atol=1e-5 * width + 1e-9)


def test_smooth_losses_are_their_own_smoothed_version():
    assert Huber(2.0).smooth(0.1) == Huber(2.0)
    assert TanhAbsolute(2.0).smooth(0.1) == TanhAbsolute(0.1)
    assert Absolute().smooth(1.0).smooth(0.1) == Absolute().smooth(0.1)


def test_tanh_gap_and_overshoot_are_those_of_the_specification():
    e = np.linspace(0, 20, 200001)
    rho, psi = TanhAbsolute(1.0).rho_and_psi(e)
    assert_allclose((e - rho).max(), 0.2785, atol=1e-4)
    assert_allclose(psi.max(), 1.1997, atol=1e-4)


SIZES = [1e-300, 1e-150, 1e-8, 1e8, 1e150, 1e300]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("loss", "scaled", "power"),
    [
        (Absolute(), lambda s: Absolute(), 1),
        (Quantile(0.3), lambda s: Quantile(0.3), 1),
        (EpsilonInsensitive(0.3), lambda s: EpsilonInsensitive(0.3 * s), 1),
        (TanhAbsolute(0.4), lambda s: TanhAbsolute(0.4 * s), 1),
        (Absolute().smooth(0.2), lambda s: Absolute().smooth(0.2 * s), 1),
        (Quantile(0.3).smooth(0.2), lambda s: Quantile(0.3).smooth(0.2 * s), 1),
        (Huber(0.7), lambda s: Huber(0.7 * s), 2),
        (HuberRows(0.7), lambda s: HuberRows(0.7 * s), 2),
        (LogCosh(0.7), lambda s: LogCosh(0.7 * s), 2),
        (Squared(), lambda s: Squared(), 2),
    ],
    ids=lambda a: name_of(a) if hasattr(a, "value") else "",
)
def test_equivariant_at_extreme_scales(loss, scaled, power, size, rng):
    Y, Y_pred = data_for(loss, rng)
    value, gradient = loss.value_and_gradient(Y, Y_pred)
    at_size = scaled(size)
    if power == 2 and not 1e-150 <= size <= 1e150:  # squares are out of range; gradients are not
        assert np.isfinite(at_size.gradient(size * Y, size * Y_pred)).all()
        return
    ours, ours_gradient = at_size.value_and_gradient(size * Y, size * Y_pred)
    assert_allclose(ours / size**power, value, rtol=1e-12)
    assert_allclose(ours_gradient / size ** (power - 1), gradient, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("outlier", [1e150, -1e150, 1e300, -1e300])
def test_one_huge_residual_has_a_finite_value_and_a_bounded_slope(outlier):
    Y, Y_pred = np.array([[0.5, outlier]]), np.zeros((1, 2))
    for loss in [*LOSSES, TanhAbsolute(1e-10), LogCosh(1e-10), Huber(1e-10)]:
        if isinstance(loss, (Squared, FunctionLoss, Logistic, Poisson)):
            continue  # squares of 1e300 are infinite, and rightly so
        value, gradient = loss.value_and_gradient(Y, Y_pred)
        assert_allclose(value, abs(loss.gradient(Y, Y_pred)[0, 1] * outlier), rtol=1e-6)
        assert np.all(np.abs(gradient) <= 2)
        assert np.isfinite(gradient).all()


def test_small_residuals_keep_their_digits():
    e = np.array([1e-12, 3e-7, 1e-4])
    assert_allclose(Absolute().smooth(1.0).rho_and_psi(e)[0], e**2 / 2, rtol=1e-8)
    assert_allclose(LogCosh(1.0).rho_and_psi(e)[0], e**2 / 2, rtol=1e-8)
    assert_allclose(Huber(1.0).rho_and_psi(e)[0], e**2 / 2, rtol=1e-14)


def test_logistic_keeps_its_digits_in_both_tails():
    y, f = np.array([1.0, 0.0, 1.0, 0.0]), np.array([50.0, -50.0, -800.0, 800.0])
    terms, slopes = Logistic().pointwise(y, f)
    assert_allclose(terms, [np.exp(-50), np.exp(-50), 800, 800], rtol=1e-14)
    assert_allclose(slopes, [-np.exp(-50), np.exp(-50), -1, 1], rtol=1e-14)


@pytest.mark.parametrize(
    ("loss", "statistic"),
    [
        (Squared(), np.mean),
        (Absolute(), np.median),
        (Quantile(0.25), lambda y: np.quantile(y, 0.25)),
        (Logistic(), lambda y: logit(y.mean())),
        (Poisson(), lambda y: np.log(y.mean())),
    ],
    ids=lambda a: name_of(a) if hasattr(a, "value") else "",
)
def test_best_constant_is_the_statistic_it_is_known_for(loss, statistic, rng):
    y = targets_for(loss, rng, 101)
    centre = statistic(y)
    values = [loss.value(y, np.full(101, centre + shift)) for shift in (-1e-3, 0, 1e-3)]
    assert values[1] <= min(values)


@pytest.mark.parametrize("loss", [Logistic(), Poisson()])
def test_inverse_link_is_where_the_gradient_vanishes(loss):
    f = np.array([[-2.0, 0.3, 1.7]])
    assert_allclose(loss.gradient(loss.inverse_link(f), f), 0, atol=1e-15)
    assert np.isfinite(loss.start_targets([[0.0, 1.0]])).all()


def test_targets_out_of_range_are_refused():
    with pytest.raises(ValueError, match=r"\[0, 1\], got -1 to 1"):
        Logistic().check_targets([-1.0, 1.0])
    with pytest.raises(ValueError, match=">= 0, got -2"):
        Poisson().check_targets([3.0, -2.0])
    with pytest.raises(ValueError, match="got 0 to 2"):
        Logistic().check_targets([0.0, 2.0])
    Logistic().check_targets([0.0, 0.5, 1.0])
    Huber(1.0).check_targets([-5.0])


@every_loss
def test_vectors_float32_copies_and_pickles(loss, rng):
    Y, Y_pred = data_for(loss, rng)
    value, gradient = loss.value_and_gradient(Y[:, 0], Y_pred[:, 0])
    assert gradient.shape == (9,)
    assert_allclose(value, loss.value(Y[:, :1], Y_pred[:, :1]), rtol=1e-15)
    single = loss.value_and_gradient(Y.astype("f4"), Y_pred.astype("f4"))
    double = loss.value_and_gradient(*(a.astype("f4").astype("f8") for a in (Y, Y_pred)))
    assert_allclose(single[0], double[0], rtol=1e-6)
    assert single[1].dtype == np.float64
    for twin in (copy.deepcopy(loss), pickle.loads(pickle.dumps(loss))):
        assert twin == loss
        assert twin.value(Y, Y_pred) == loss.value(Y, Y_pred)


@every_loss
def test_own_gradient_passes_the_debug_check_also_at_kinks(loss, rng):
    Y, Y_pred = data_for(loss, rng)
    Y_pred[::2] = Y[::2]
    check_gradient(loss, Y, Y_pred)


def test_shapes_must_agree():
    with pytest.raises(ValueError, match=r"\(3,\), Y_pred has \(3, 1\)"):
        Squared().value(np.zeros(3), np.zeros((3, 1)))


def test_expit_is_the_mean_of_logistic():
    assert_allclose(Logistic().inverse_link([0.3]), expit([0.3]))
