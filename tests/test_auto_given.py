"""What users hand in: settings, frames, series, classes. Errors name the column or the row."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris

from isthmus import MethodSearchCV, fit_auto

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = X[:, :2] + 0.1 * RNG.normal(size=(40, 2))
QUICK = {"methods": ["pls", "ridge"], "cv": 3}


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"time_limit": -1}, "time_limit == -1, must be of seconds >= 0, or None"),
        ({"time_limit": "5"}, "time_limit == '5', must be a number of seconds >= 0"),
        ({"scoring": "rmse"}, "^'rmse' is not a valid scoring value"),
        ({"kernel": "rbff"}, "kernel == 'rbff', must be one of 'auto', "),
        ({"loss": "hubre"}, "loss == 'hubre' is not known"),
        ({"prefer": "best"}, "prefer == 'best', must be one of"),
    ],
)
def test_settings_are_refused_before_anything_is_fitted(settings, told):
    with pytest.raises(ValueError, match=told):
        MethodSearchCV(**{**QUICK, **settings}).fit(X, Y)


def test_a_runner_up_with_a_better_score_is_explained():
    search = fit_auto(X, Y, **QUICK)
    answer = search.cv_results_["method"].index(search.best_method_)
    scores = search.cv_results_["mean_test_score"]
    scores[answer] = scores.max() + 0.01
    assert repr(search).endswith("in rows left out")
    scores[answer] = scores.min() - 0.01
    assert repr(search).endswith("in rows left out (ahead by less than two standard errors)")
    search.prefer = "simple"
    assert repr(search).endswith("(less simple, and ahead by less than one standard error)")


def test_groups_and_time_exclude_each_other():
    with pytest.raises(ValueError, match=r"cv='time' .* give one of the two"):
        fit_auto(X, Y, methods=["pls"], cv="time", groups=np.arange(40) // 7)


def test_series_give_their_names_to_outputs():
    named = fit_auto(X, pd.Series(Y[:, 0], name="fat"), **QUICK).set_output(transform="pandas")
    assert list(named.predict(X).columns) == ["fat"]
    assert fit_auto(X, pl.Series("fat", Y[:, 0]), **QUICK).target_names_ == ["fat"]
    assert fit_auto(X, pd.Series(Y[:, 0]), **QUICK).target_names_ == ["y0"]


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (["red", None] * 20, "holds text such as 'red'"),
        ([1, "red"] * 20, "holds text such as 'red'"),
        (pd.date_range("2024-01-01", periods=40, tz="UTC"), "holds dates such as '2024-01-01"),
        (
            pd.period_range("2024-01", periods=40, freq="M"),
            r"dates such as '2024-01', .* give days",
        ),
    ],
)
def test_columns_of_inputs_and_outputs_that_are_no_numbers_are_named(values, told):
    table = pd.DataFrame({"a": X[:, 0], "b": values})
    with pytest.raises(ValueError, match=told):
        fit_auto(table, Y)
    with pytest.raises(ValueError, match=r"^y: column 'b' holds"):
        fit_auto(X, table)
    with pytest.raises(ValueError, match=r"^X\['nir'\]: column 'b' holds"):
        fit_auto({"nir": table, "raman": X}, Y)


def test_columns_with_too_few_values_are_named():
    gaps = pd.DataFrame(X.copy(), columns=["a", "b", "c"])  # pandas 2 shares the array
    gaps.loc[1:, "b"] = np.nan
    with pytest.raises(
        ValueError, match=r"X: column 'b' has 1 value, at least 2 are needed: leave"
    ):
        fit_auto(gaps, Y)
    few = Y.copy()
    few[2:, 1] = np.nan
    with pytest.raises(ValueError, match=r"y: column 1 has 2 values, at least 5 are needed: leave"):
        fit_auto(X, few)


def test_gaps_in_new_rows_name_row_and_column():
    search = fit_auto(pd.DataFrame(X, columns=["a", "b", "c"]), Y, **QUICK)
    new = pd.DataFrame(X[:3].copy(), columns=["a", "b", "c"])
    new.loc[1, "c"] = np.nan
    for ask in (search.predict, search.check, search.predict_interval):
        with pytest.raises(
            ValueError, match=r"X: row 1 has no value in column 'c', and the model was"
        ):
            ask(new)
    gaps = X.copy()
    gaps[5, 1] = np.nan
    assert np.isfinite(fit_auto(gaps, Y, **QUICK).predict(new.to_numpy())).all()


def test_classes_keep_their_names():
    inputs, codes = load_iris(return_X_y=True)
    names = load_iris().target_names[codes]
    for y in (pd.Series(names, name="kind"), pd.DataFrame({"kind": names})):
        classifier = fit_auto(inputs, y, **QUICK)
        assert classifier.estimator_.target_names_ == [
            "kind=setosa", "kind=versicolor", "kind=virginica"
        ]  # fmt: skip
    # Whole numbers are amounts unless pandas says that they are categories.
    numbers = fit_auto(inputs, pd.Series(codes, dtype="category", name="kind"), **QUICK)
    assert numbers.cv_accuracy_ == classifier.cv_accuracy_
    assert set(numbers.predict(inputs)) == {0, 1, 2}
    assert isinstance(fit_auto(inputs, codes, **QUICK), MethodSearchCV)


@pytest.mark.parametrize("none", [None, np.nan])
def test_rows_without_class_are_named(none):
    labels = np.array(["a", "b"] * 20, dtype=object)
    labels[3] = none
    with pytest.raises(
        ValueError, match=r"y holds classes and row 3 has (None|nan): give it a class"
    ):
        fit_auto(X, labels, **QUICK)
    codes = pd.Series([0, 1] * 20, dtype="category")
    codes[3] = None
    with pytest.raises(ValueError, match=r"y holds classes and row 3 has none: leave the row out"):
        fit_auto(X, codes, **QUICK)
