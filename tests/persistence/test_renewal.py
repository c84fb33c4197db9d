"""Files of older versions: renamed parameters, moved classes, options that are gone."""

import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.gaussian_process import GaussianProcessRegressor

from isthmus import (
    MORP,
    BayesianStiefelRegression,
    ManifoldPLS,
    MethodSearchCV,
    StiefelRegression,
    compress,
)
from isthmus.datasets import make_low_rank_regression
from isthmus.losses import Absolute
from isthmus.papers.stiefel_report import TanhAbsolute
from isthmus.persistence import ModelFileError, classes
from isthmus.persistence.limits import Budget
from isthmus.persistence.models import _build, _encode
from isthmus.persistence.tree import Decoder, Encoder

X, Y, _ = make_low_rank_regression(40, 6, 3, rank=2, noise=0.2, random_state=0)


def with_old_parameters(model, **old):
    """The model as an older version had it: parameters under names and values of then."""
    for name in ("pull", "pull_growth"):
        model.__dict__.pop(name, None)
    model.__dict__.update(old)
    return model


def written_and_read(model):
    """As a file of then is read; to save it today is refused, since it would not come back as it is."""
    return _build(memoryview(_encode(model, Encoder("m"))), "m", Budget(0, "m"))


def test_renamed_parameters_come_back_under_their_new_names():
    model = StiefelRegression(2, online="proximal").partial_fit(X, Y)
    old = {"gamma": 3.0, "gamma_growth": "linear", "solver": "auto", "init": "exact"}
    again = written_and_read(with_old_parameters(model, **old))
    assert again.get_params()["pull"] == 3.0 and again.pull_growth == "linear"
    assert again.init is None and not hasattr(again, "solver") and not hasattr(again, "gamma")
    assert_array_equal(again.predict(X), model.predict(X))
    again.partial_fit(X, Y)  # it goes on


def test_parameters_that_are_gone_are_left_out():
    old = {"solver": "exact", "max_iter": 7, "tol": 1e-3, "random_state": 0, "verbose": 0}
    again = written_and_read(with_old_parameters(ManifoldPLS(2).fit(X, Y), **old))
    assert set(vars(again)).isdisjoint(old) and repr(again)
    again = written_and_read(with_old_parameters(MORP().fit(X, Y), form="ridge"))
    assert not hasattr(again, "form")


def test_deviations_were_kept_as_a_difference_of_inverses():
    model = compress(GaussianProcessRegressor(alpha=0.1).fit(X, Y[:, 0]), 10)
    wanted = model.predict(X, return_std=True)[1]
    root = model.deviations_.__dict__.pop("root")
    model.deviations_.explained = root @ root.T
    again = written_and_read(model)
    assert not hasattr(again.deviations_, "explained")
    assert_allclose(again.predict(X, return_std=True)[1], wanted, rtol=1e-6)


def test_predictions_of_kernels_had_no_bounds():
    model = MethodSearchCV("kernel", cv=2).fit(X, Y)
    last = model.best_estimator_[-1]
    del last.lowest_, last.highest_
    last.expansion_.intercept = last.expansion_.intercept + 1e6
    again = written_and_read(model)
    assert (again.best_estimator_.predict(X) > 1e5).all()


@pytest.mark.parametrize(
    ("make", "old", "remedy"),
    [
        (lambda: StiefelRegression(2).fit(X, Y), {"solver": "paper"}, "GeodesicStiefel"),
        (lambda: StiefelRegression(2).fit(X, Y), {"init": "identity"}, "GeodesicStiefel"),
        (lambda: ManifoldPLS(2).fit(X, Y), {"solver": "cg"}, "RiemannianPLS"),
        (lambda: MORP().fit(X, Y), {"form": "inverse"}, "InverseMORP"),
        (lambda: BayesianStiefelRegression(2), {"sampler": "thesis"}, "MetropolisedGibbs"),
    ],
)
def test_options_that_are_gone_are_refused_with_what_to_do(make, old, remedy):
    model = with_old_parameters(make(), **old)
    (key, value) = next(iter(old.items()))
    with pytest.raises(ModelFileError, match=rf"saved with {key}='{value}'.*papers\..*{remedy}"):
        written_and_read(model)


@pytest.mark.parametrize(
    ("old", "loss"),
    [
        ("isthmus.losses.TanhAbsolute", TanhAbsolute(0.5)),
        ("isthmus.losses.Smoothed", Absolute().smooth(0.5)),
    ],
)
def test_moved_classes_are_found_by_their_old_names(old, loss):
    encoder = Encoder("m")
    node = encoder.encode(loss)
    assert node["object"] != old
    node["object"] = old
    assert Decoder([], "m", Budget(0, "m")).decode(node) == loss
    module, _, last = old.rpartition(".")
    assert classes.find_listed(classes.listed_name(f"{module}.of_then", last)) is type(loss)
