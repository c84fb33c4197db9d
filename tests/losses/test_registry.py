"""Losses by name, by function, by subclass; and the check of their gradients."""

import numpy as np
import pytest

from isthmus.losses import (
    EpsilonInsensitive,
    FunctionLoss,
    Huber,
    HuberRows,
    LogCosh,
    Loss,
    Quantile,
    Squared,
)
from isthmus.losses.registry import LOSSES, get_loss
from isthmus.papers.stiefel_report import TanhAbsolute

Y, Y_PRED = np.random.default_rng(0).normal(size=(2, 8, 3))


def value(Y, Y_pred):
    return (Y - Y_pred) ** 2


def gradient(Y, Y_pred):
    return -2 * (Y - Y_pred)


def wrong_gradient(Y, Y_pred):
    return 2 * (Y - Y_pred)


class WrongSlope(Loss):
    def pointwise(self, Y, Y_pred):
        return (Y - Y_pred) ** 2, -(Y - Y_pred)


@pytest.mark.parametrize("name", LOSSES)
def test_every_name_gives_its_class(name):
    assert type(get_loss(name)) is LOSSES[name]


def test_parameters_reach_the_loss_and_losses_pass_through():
    assert get_loss("huber", delta=2.5) == Huber(2.5)
    loss = Quantile(0.9)
    assert get_loss(loss) is loss
    assert get_loss((value, gradient)) == FunctionLoss(value, gradient)


def test_errors_name_what_exists():
    with pytest.raises(
        ValueError, match=r"'hubert' is not known; .*'squared', 'absolute', 'huber'"
    ):
        get_loss("hubert")
    with pytest.raises(
        TypeError, match=r"'huber' takes the parameters \['delta'\], got \['dalte'\]"
    ):
        get_loss("huber", dalte=1)
    with pytest.raises(ValueError, match="go with the name"):
        get_loss(Squared(), delta=1)
    for junk in (3, None, (value,), (value, 3)):
        with pytest.raises(TypeError, match="must be a name, a Loss or a pair"):
            get_loss(junk)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: Huber(0.0), "delta == 0.0, must be > 0"),
        (lambda: Huber("a"), "delta == 'a', must be a number > 0 and finite"),
        (lambda: EpsilonInsensitive("a"), "epsilon == 'a', must be a number >= 0 and finite"),
        (lambda: Quantile("a"), "quantile == 'a', must be a number > 0 and < 1"),
        (lambda: Huber(np.nan), "delta == nan"),
        (lambda: HuberRows(-1.0), "delta == -1.0, must be > 0"),
        (lambda: LogCosh(np.inf), "delta == inf"),
        (lambda: EpsilonInsensitive(-0.1), "epsilon == -0.1, must be >= 0"),
        (lambda: Quantile(0.0), "quantile == 0.0, must be > 0 and < 1"),
        (lambda: Quantile(1.0), "quantile == 1.0"),
        (lambda: TanhAbsolute(0.0), "width == 0.0"),
        (lambda: Quantile(0.5).smooth(0.0), "width == 0.0"),
    ],
)
def test_parameters_out_of_range(make, match):
    with pytest.raises(ValueError, match=match):
        make()


@pytest.mark.parametrize("loss", [FunctionLoss(value, wrong_gradient), WrongSlope()])
def test_debug_mode_finds_a_wrong_gradient_until_it_is_mended(loss, monkeypatch):
    monkeypatch.delenv("ISTHMUS_DEBUG", raising=False)
    loss.value(Y, Y_PRED)  # nobody asked
    monkeypatch.setenv("ISTHMUS_DEBUG", "0")
    loss.value(Y, Y_PRED)
    monkeypatch.setenv("ISTHMUS_DEBUG", "1")
    for _ in range(2):  # still wrong the second time
        with pytest.raises(ValueError, match=r"the gradient of .* at sample \d+, output \d"):
            loss.value(Y, Y_PRED)


def test_debug_mode_passes_a_right_gradient_and_looks_once(monkeypatch):
    monkeypatch.setenv("ISTHMUS_DEBUG", "1")
    calls = []

    def counted(Y, Y_pred):
        calls.append(len(Y))
        return value(Y, Y_pred)

    loss = FunctionLoss(counted, gradient)
    loss.value(Y, Y_PRED)
    assert len(calls) > 10
    calls.clear()
    loss.value(Y, Y_PRED)
    assert calls == [8]


def test_functions_must_return_terms_not_sums():
    summed = FunctionLoss(lambda Y, f: ((Y - f) ** 2).sum(), gradient)
    with pytest.raises(ValueError, match=r"shape \(\), must be one number for each entry \(8, 3\)"):
        summed.value(Y, Y_PRED)
    flat = FunctionLoss(value, lambda Y, f: gradient(Y, f).sum(axis=1))
    with pytest.raises(ValueError, match=r"gradient of a loss has shape \(8,\), must be \(8, 3\)"):
        flat.value(Y, Y_PRED)


def test_terms_of_rows_have_no_output_weight():
    rows = FunctionLoss(lambda Y, f: value(Y, f).sum(axis=1), gradient)
    np.testing.assert_allclose(rows.value(Y, Y_PRED), value(Y, Y_PRED).sum())
    with pytest.raises(ValueError, match="output_weight has no meaning"):
        rows.value(Y, Y_PRED, output_weight=np.ones(3))


def test_kinks_without_a_smoothed_version_say_so():
    class Kinked(WrongSlope):
        is_smooth = False

    with pytest.raises(NotImplementedError, match="Kinked has kinks"):
        Kinked().smooth(0.1)
