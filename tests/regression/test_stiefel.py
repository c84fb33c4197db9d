"""Oracles: the closed form, linear programs, independent restarts, worked numbers, planted maps."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog, minimize
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge

from isthmus import (
    PLS,
    ComponentSearchCV,
    ManifoldPLS,
    ReducedRankRegression,
    StiefelRegression,
)
from isthmus.losses import (
    Absolute,
    EpsilonInsensitive,
    Huber,
    HuberRows,
    Loss,
    Quantile,
)
from isthmus.losses.scale import robust_scales
from isthmus.regression.scales import ridge_residuals

ROBUST = ["absolute", "huber", "quantile", "epsilon_insensitive", "log_cosh", "huber_rows"]


def worked_data():
    i = np.arange(12)
    X = np.column_stack([np.cos(i), np.sin(1.3 * i), i % 3 - 1])
    Y = X @ np.outer([1, -0.5, 0.25], [2, 1]) + 0.1 * np.column_stack(
        [np.sin(7 * i), np.cos(5 * i)]
    )
    Y += [1, -1]
    Y[3, 0] += 40
    Y[8, 1] -= 60
    return X, Y


def make(n=80, p=6, q=4, rank=2, seed=0, noise=0.3):
    rng = np.random.default_rng(seed)
    X = rng.normal(1, 1, size=(n, p))
    coef = rng.normal(size=(q, rank)) @ rng.normal(size=(rank, p))
    return X, X @ coef.T - 2 + noise * rng.standard_t(3, size=(n, q)), coef


def criterion(model, X, Y, loss, alpha, weights=None):
    """The objective of the docstring, written a second time and only here."""
    unit = model.output_scale_
    predicted = (X @ model.coef_.T + model.intercept_) / unit
    ridge = 0.5 * alpha * ((model.coef_ / unit[:, None]) ** 2).sum()
    return loss.value(Y / unit, predicted, weights) + ridge


def fit_in_units_of_y(model, X, Y):
    """Weights that undo the scales of the outputs, which absolute values and quantiles take out."""
    return model.set_params(output_weight=model.fit(X, Y).output_scale_).fit(X, Y)


# -- squared loss -----------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.0, 2.0])
@pytest.mark.parametrize("r", [1, 3])
@pytest.mark.parametrize("shape", [(80, 6, 4), (12, 30, 4), (900, 120, 5), (120, 900, 5)])
def test_squared_loss_is_the_closed_form(alpha, r, shape):
    X, Y, _ = make(*shape)
    ours = StiefelRegression(r, alpha=alpha).fit(X, Y)
    peer = ReducedRankRegression(r, alpha=alpha).fit(X, Y)
    assert_allclose(ours.coef_, peer.coef_, rtol=1e-8, atol=1e-11)
    W, s, V = ours.x_rotations_, ours.singular_values_, ours.y_rotations_
    assert_allclose(W.T @ W, np.eye(r), atol=1e-12)
    assert_allclose(V.T @ V, np.eye(r), atol=1e-12)
    assert (np.diff(s) <= 0).all()
    assert_allclose((V * s) @ W.T, ours.coef_, rtol=1e-9, atol=1e-12)
    assert_allclose(s, np.linalg.svd(ours.coef_, compute_uv=False)[:r], rtol=1e-9)
    assert_allclose(ours.coef_path_, peer.coef_path_, rtol=1e-7, atol=1e-10)
    error = Y - ours.predict(X)
    assert_allclose(
        ours.objective_, 0.5 * ((error**2).sum() + alpha * (ours.coef_**2).sum()), rtol=1e-8
    )


def test_iterations_reach_the_closed_form():
    """Equal output weights change nothing but the way: the squared loss is then iterated."""
    X, Y, _ = make()
    best = StiefelRegression(2, alpha=0.5).fit(X, Y).objective_
    pls = PLS(2, scale=False).fit(X, Y).coef_
    ridge = Ridge(0.5).fit(X, Y).coef_
    for start in (None, pls, ridge):
        model = StiefelRegression(
            2, alpha=0.5, output_weight=np.ones(4), init=start, max_iter=5000, tol=1e-12
        )
        assert_allclose(model.fit(X, Y).objective_, best, rtol=1e-9)


# -- other losses -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "rank_one", "full"),
    [
        (Absolute(), 101.14740, 101.0623656),
        (Huber(0.2), 20.0063220, 19.9907637),
        (Quantile(0.3), 54.479789, 54.2839950),
        (EpsilonInsensitive(0.05), 100.265936, 100.1872707),
    ],
    ids=str,
)
def test_worked_example(loss, rank_one, full):
    X, Y = worked_data()
    for rank, best in ((1, rank_one), (None, full)):
        model = fit_in_units_of_y(StiefelRegression(rank, loss=loss, alpha=0), X, Y)
        assert_allclose(model.objective_, best, rtol=1e-6)


def test_worked_coefficients():
    X, Y = worked_data()
    absolute = fit_in_units_of_y(StiefelRegression(1, loss="absolute", alpha=0), X, Y)
    assert_allclose(absolute.coef_[0], [1.892, -0.909, 0.471], atol=2e-3)
    assert_allclose(absolute.intercept_, [1.037, -0.989], atol=2e-3)
    huber = StiefelRegression(1, loss=Huber(0.2), alpha=0).fit(X, Y)
    assert_allclose(huber.coef_[0], [1.86534, -0.92235, 0.44528], atol=1e-5)
    ruined = StiefelRegression(1, alpha=0).fit(X, Y)
    assert_allclose(ruined.coef_[0], [-1.0228, 1.9653, -1.3271], atol=1e-4)


def linear_program(X, y, quantile):
    """min sum of rho_tau over coefficients and intercept, one output."""
    n, p = X.shape
    Z = np.column_stack([X, np.ones(n)])
    cost = np.r_[np.zeros(2 * (p + 1)), np.full(n, quantile), np.full(n, 1 - quantile)]
    equal = np.hstack([Z, -Z, np.eye(n), -np.eye(n)])
    return linprog(cost, A_eq=equal, b_eq=y, method="highs").fun


@pytest.mark.parametrize(("loss", "quantile"), [(Quantile(0.25), 0.25), (Quantile(0.8), 0.8)])
def test_full_rank_is_a_linear_program(loss, quantile):
    X, Y, _ = make()
    best = sum(linear_program(X, y, quantile) for y in Y.T)
    model = StiefelRegression(loss=loss, alpha=0).fit(X, Y)
    assert_allclose(loss.value(Y, model.predict(X)), best, rtol=1e-8)


@pytest.mark.parametrize("loss", ROBUST)
def test_no_restart_of_another_solver_is_better(loss):
    """Random starts, scipy's L-BFGS on plain unbalanced factors, a smoothing of its own."""
    rng = np.random.default_rng(0)
    for seed in range(3):
        X, Y, _ = make(40, 4, 3, 2, seed=seed)
        model = StiefelRegression(1, loss=loss, alpha=0.3).fit(X, Y)
        resolved, scaled = model.loss_, Y / model.output_scale_

        def over_factors(z, sharp, X=X, scaled=scaled):
            a, d, b = np.split(z, [4, 7])
            value, slope = sharp.value_and_gradient(scaled, np.outer(X @ a, d) + b)
            value += 0.15 * (a @ a) * (d @ d)
            ga = X.T @ (slope @ d) + 0.3 * a * (d @ d)
            return value, np.r_[ga, slope.T @ (X @ a) + 0.3 * d * (a @ a), slope.sum(0)]

        best = np.inf
        for z in rng.normal(size=(10, 10)):
            for width in (1.0, 1e-2, 1e-4, 1e-6):
                sharp = resolved if resolved.is_smooth else resolved.smooth(width)
                z = minimize(over_factors, z, args=(sharp,), jac=True, method="L-BFGS-B").x
            a, d, b = np.split(z, [4, 7])
            value = resolved.value(scaled, np.outer(X @ a, d) + b) + 0.15 * (a @ a) * (d @ d)
            best = min(best, value)
        assert model.objective_ <= best * (1 + 1e-6)
        assert_allclose(model.objective_, criterion(model, X, Y, resolved, 0.3), rtol=1e-9)


@pytest.mark.parametrize("loss", ROBUST)
@pytest.mark.parametrize("shape", [(80, 6, 4), (15, 40, 3)])
def test_factors_are_orthonormal_and_the_rank_is_kept(loss, shape):
    X, Y, _ = make(*shape)
    model = StiefelRegression(2, loss=loss).fit(X, Y)
    W, s, V = model.x_rotations_, model.singular_values_, model.y_rotations_
    assert_allclose(W.T @ W, np.eye(2), atol=1e-12)
    assert_allclose(V.T @ V, np.eye(2), atol=1e-12)
    assert_allclose((V * s) @ W.T, model.coef_, atol=1e-12)
    assert np.linalg.matrix_rank(model.coef_) == 2
    assert_allclose(model.transform(X), (X - X.mean(0)) @ W, atol=1e-10)


def test_huber_far_out_is_squared():
    X, Y, _ = make()
    far = StiefelRegression(2, loss=Huber(1e6), alpha=2.0).fit(X, Y)
    assert_allclose(far.coef_, StiefelRegression(2, alpha=2.0).fit(X, Y).coef_, atol=1e-7)


@pytest.mark.parametrize("loss", ROBUST)
def test_weights_are_repeated_rows(loss):
    X, Y, _ = make(40)
    counts = 1 + np.arange(40) % 3
    weighted = StiefelRegression(2, loss=loss).fit(X, Y, sample_weight=counts)
    repeated = StiefelRegression(2, loss=loss).fit(
        np.repeat(X, counts, axis=0), np.repeat(Y, counts, axis=0)
    )
    assert_allclose(weighted.objective_, repeated.objective_, rtol=2e-4)


@pytest.mark.parametrize("loss", ["absolute", "huber", "quantile"])
@pytest.mark.parametrize("factor", [1e-8, 1e8])
def test_units_do_not_matter(loss, factor):
    X, Y, _ = make()
    plain = StiefelRegression(2, loss=loss, alpha=0).fit(X, Y)
    y_units = StiefelRegression(2, loss=loss, alpha=0).fit(X, Y * factor)
    assert_allclose(y_units.predict(X) / factor, plain.predict(X), rtol=2e-3, atol=2e-4)
    x_units = StiefelRegression(2, loss=loss, alpha=0).fit(X * factor, Y)
    assert_allclose(x_units.objective_, plain.objective_, rtol=1e-7)


# -- robustness -------------------------------------------------------------------------------


def test_one_monstrous_cell():
    """The paper's table 3: the absolute fit does not move, PLS is destroyed."""
    X, Y, _ = make(300, 6, 4, noise=0.1)
    spoilt = Y.copy()
    spoilt[7, 1] = 1000.0
    for loss in ("absolute", "huber"):
        clean, robust = (StiefelRegression(2, loss=loss).fit(X, T).coef_ for T in (Y, spoilt))
        assert np.linalg.norm(robust - clean) < 0.01 * np.linalg.norm(clean)
    clean, ruined = (PLS(2).fit(X, T).coef_ for T in (Y, spoilt))
    assert np.linalg.norm(ruined - clean) > 0.3 * np.linalg.norm(clean)


@pytest.mark.parametrize("share", [0.1, 0.3])
@pytest.mark.parametrize("loss", ["huber", "absolute"])
def test_gross_outliers(share, loss):
    rng = np.random.default_rng(0)
    X, coef = rng.normal(size=(600, 8)), rng.normal(size=(5, 2)) @ rng.normal(size=(2, 8))
    Y = X @ coef.T + 0.5 * rng.normal(size=(600, 5))
    spoilt = np.where(rng.random(Y.shape) < share, Y + rng.choice([-1, 1], Y.shape) * 50, Y)
    test = rng.normal(size=(2000, 8))
    truth = test @ coef.T + 0.5 * rng.normal(size=(2000, 5))

    def error(model, targets):
        return np.sqrt(((truth - model.fit(X, targets).predict(test)) ** 2).mean())

    oracle = error(StiefelRegression(2), Y)
    assert error(StiefelRegression(2, loss=loss), spoilt) < 1.1 * oracle
    assert error(StiefelRegression(2), spoilt) > 2 * oracle


def test_cells_of_ten_million():
    """The stopping rule is scaled and the start winsorised: neither is fooled by what outliers cost."""
    X, Y, coef = make(300, 6, 4, noise=0.1)
    rng = np.random.default_rng(0)
    spoilt = np.where(rng.random(Y.shape) < 0.1, 1e7 * rng.choice([-1, 1], Y.shape), Y)
    for loss in ("absolute", "huber"):
        model = StiefelRegression(2, loss=loss, alpha=0).fit(X, spoilt)
        assert np.linalg.norm(model.coef_ - coef) < 0.05 * np.linalg.norm(coef)
    plain = ReducedRankRegression(2, alpha=0).fit(X, spoilt).coef_
    assert np.linalg.norm(plain - coef) > 100 * np.linalg.norm(coef)  # where a naive start would be


# -- losses with a link, and of one's own -----------------------------------------------------


def test_logistic_is_logistic_regression():
    rng = np.random.default_rng(0)
    X = rng.normal(1, 1, size=(300, 4))
    y = (X @ [1.0, -1.0, 0.5, 0.0] + rng.logistic(size=300) > 0.5).astype(float)
    ours = StiefelRegression(loss="logistic", alpha=2.0).fit(X, y)
    peer = LogisticRegression(C=0.5, tol=1e-10).fit(X, y)
    assert_allclose(ours.coef_, peer.coef_[0], atol=1e-4)
    assert_allclose(ours.predict(X), peer.predict_proba(X)[:, 1], atol=1e-4)
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        StiefelRegression(loss="logistic").fit(X, y + 1)


def test_poisson_is_poisson_regression():
    rng = np.random.default_rng(0)
    X = rng.normal(0, 0.5, size=(400, 3))
    y = rng.poisson(np.exp(X @ [1.0, -0.5, 0.2] + 0.3)).astype(float)
    ours = StiefelRegression(loss="poisson", alpha=4.0).fit(X, y)
    peer = PoissonRegressor(alpha=4.0 / 400, tol=1e-10, max_iter=1000).fit(X, y)
    assert_allclose(ours.coef_, peer.coef_, atol=1e-4)
    assert_allclose(ours.predict(X), peer.predict(X), rtol=1e-3)


def test_a_loss_of_ones_own():
    class Fourth(Loss):
        def pointwise(self, Y, Y_pred):
            error = Y_pred - Y
            return error**4 / 4, error**3

        @property
        def curvature(self):
            return 3.0

    X, Y, _ = make(60)
    model = StiefelRegression(1, loss=Fourth(), alpha=0.1, max_iter=2000).fit(X, Y)
    pair = (lambda Y, P: (P - Y) ** 4 / 4, lambda Y, P: (P - Y) ** 3)
    again = StiefelRegression(1, loss=pair, alpha=0.1, max_iter=2000).fit(X, Y)
    assert_allclose(model.objective_, again.objective_, rtol=1e-6)
    gradient = X.T @ ((model.predict(X) - Y) ** 3)
    assert np.abs(((model.predict(X) - Y) ** 3).sum(0)).max() < 1e-2 * np.abs(gradient).max() + 1e-3


# -- starts, searches, refusals ---------------------------------------------------------------


@pytest.mark.parametrize("init", ["default", "pls", "ridge", "truth"])
def test_starts_meet(init):
    X, Y, coef = make()
    starts = {
        "default": None,
        "pls": PLS(2, scale=False).fit(X, Y).coef_,
        "ridge": Ridge(1e-3).fit(X, Y).coef_,
        "truth": coef,
    }
    start = starts[init]
    model = StiefelRegression(2, loss="huber", init=start).fit(X, Y)
    assert_allclose(
        model.objective_, StiefelRegression(2, loss="huber").fit(X, Y).objective_, rtol=2e-2
    )
    fixed = StiefelRegression(2, loss=Huber(0.3), init=start).fit(X, Y).objective_
    assert_allclose(fixed, StiefelRegression(2, loss=Huber(0.3)).fit(X, Y).objective_, rtol=1e-7)


def test_warm_start_needs_few_steps():
    X, Y, _ = make()
    model = StiefelRegression(2, loss=Huber(0.3), warm_start=True).fit(X, Y)
    first = model.n_iter_
    assert model.fit(X, Y).n_iter_ < first


def test_search_refits_each_rank():
    X, Y, _ = make()
    search = ComponentSearchCV(
        StiefelRegression(loss=Huber(0.3)), n_components=3, alpha=[1.0], cv=3
    ).fit(X, Y)
    scores = search.cv_results_["split0_test_score"]
    for rank, score in zip((1, 2, 3), scores, strict=True):
        model = StiefelRegression(rank, loss=Huber(0.3), alpha=1.0).fit(X[27:], Y[27:])
        assert_allclose(score, model.score(X[:27], Y[:27]), rtol=1e-9)


def test_rank_zero_is_the_location():
    X, Y, _ = make()
    model = StiefelRegression(0, loss="absolute").fit(X, Y)
    assert not model.coef_.any()
    assert_allclose(model.intercept_, np.median(Y, axis=0), atol=0.05)


def test_what_cannot_be_is_refused():
    X, Y, _ = make()
    with pytest.raises(ValueError, match="the names are 'squared'"):
        StiefelRegression(loss="cubic").fit(X, Y)
    with pytest.raises(ValueError, match=r"has shape \(2, 2\), expected \(n_targets"):
        StiefelRegression(1, loss="huber", init=np.zeros((2, 2))).fit(X, Y)
    with pytest.raises(ValueError, match="init == 'zero'"):
        StiefelRegression(1, init="zero").fit(X, Y)
    for forget in (0, 1.5, -1):
        with pytest.raises(ValueError, match="forget == "):
            StiefelRegression(1, forget=forget).fit(X, Y)
    with pytest.raises(ValueError, match="pull == -1"):
        StiefelRegression(1, pull=-1.0).fit(X, Y)
    assert not hasattr(StiefelRegression(loss="huber"), "partial_fit")
    assert not hasattr(StiefelRegression(loss="huber"), "predict_path")
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        StiefelRegression(2, loss="huber", max_iter=1).fit(X, Y)


def test_interrupt_keeps_the_last_step():
    calls = []

    class Interrupted(Loss):
        """The user presses Ctrl-C in the midst of the eighth evaluation of all rows."""

        @property
        def curvature(self):
            return 1.0

        def pointwise(self, Y, Y_pred):
            if len(Y) > 1:  # single rows are evaluated where the gradient is checked
                calls.append(1)
                if len(calls) == 8:
                    raise KeyboardInterrupt
            error = Y_pred - Y
            return np.log(np.cosh(error)), np.tanh(error)

    X, Y, _ = make()
    model = StiefelRegression(2, loss=Interrupted(), init=np.ones((4, 6)), tol=1e-15)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert len(calls) > 8 and np.isfinite(model.predict(X)).all()


def test_scikit_learn_callbacks():
    callback = pytest.importorskip("sklearn.callback", reason="needs scikit-learn 1.9")
    calls = []

    class Watch:
        def setup(self, estimator, context):
            calls.append("setup")

        def on_fit_task_begin(self, estimator, context, *, metadata=None):
            calls.append(context.task_name)

        def on_fit_task_end(self, estimator, context, *, metadata=None):
            return context.task_name == "step" and calls.count("step") >= 3

        def teardown(self, estimator, context):
            calls.append("teardown")

    assert isinstance(Watch(), callback.FitCallback)
    X, Y, _ = make()
    model = StiefelRegression(2, loss=Huber(0.3)).set_callbacks(Watch())
    with pytest.warns(ConvergenceWarning, match="asked to stop"):
        model.fit(X, Y)
    assert calls == ["setup", "fit", "step", "step", "step", "teardown"]
    assert np.isfinite(model.predict(X)).all()


def test_progress_is_shown(capsys):
    X, Y, _ = make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        StiefelRegression(2, loss="huber", verbose=1).fit(X, Y)
    shown = capsys.readouterr()
    assert "L-BFGS" in shown.out + shown.err


@pytest.mark.parametrize("loss", [Huber(0.5), Absolute(), HuberRows(1.0)], ids=str)
def test_output_weights_count_as_repeated_outputs(loss):
    X, Y, _ = make(q=2)
    weighted = StiefelRegression(1, loss=loss, alpha=0.0, output_weight=[3, 1], tol=1e-12)
    repeated = StiefelRegression(1, loss=loss, alpha=0.0, tol=1e-12)
    weighted.fit(X, Y)
    repeated.fit(X, Y[:, [0, 0, 0, 1]])
    assert_allclose(weighted.objective_, repeated.objective_, rtol=1e-7)
    assert_allclose(weighted.coef_, repeated.coef_[[0, 3]], atol=1e-4)


def test_output_weights_of_the_squared_loss_are_a_metric_of_y():
    X, Y, _ = make()
    v = np.array([4.0, 1.0, 0.25, 2.0])
    ours = StiefelRegression(2, alpha=0.0, output_weight=v, tol=1e-13).fit(X, Y)
    peer = ReducedRankRegression(2, alpha=0.0).fit(X, Y * np.sqrt(v))
    assert_allclose(ours.coef_, peer.coef_ / np.sqrt(v)[:, None], atol=1e-8)
    assert not hasattr(ours, "predict_path")


@pytest.mark.parametrize("wrong", [[1.0, 2.0], [1.0, -1, 1, 1], [0.0] * 4, [np.nan, 1, 1, 1]])
def test_wrong_output_weights(wrong):
    X, Y, _ = make()
    with pytest.raises(ValueError, match="output_weight"):
        StiefelRegression(2, output_weight=wrong).fit(X, Y)


@pytest.mark.parametrize("loss", ["huber", "huber_rows", "log_cosh"])
def test_automatic_parameter_is_as_good_as_the_squared_loss_on_indicators(loss):
    X, labels = load_digits(return_X_y=True)
    Y = (labels[:, None] == np.arange(10)).astype(float)
    train, test = np.arange(0, 1797, 2), np.arange(1, 1797, 2)
    hits = {}
    for name in ("squared", loss):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = StiefelRegression(loss=name).fit(X[train], Y[train])
        hits[name] = (model.predict(X[test]).argmax(axis=1) == labels[test]).mean()
    assert hits[loss] > hits["squared"] - 0.02
    assert (
        model.loss_.delta * model.output_scale_ > 0.9
    ).all()  # what a fit leaves of a jump from 0 to 1 is no outlier


@pytest.mark.parametrize("loss", ["huber", "huber_rows", "log_cosh"])
@pytest.mark.parametrize("alpha", [0.0, 1e-8, "auto"])
def test_automatic_parameter_where_the_start_interpolates(loss, alpha):
    rng, grid = np.random.default_rng(0), np.linspace(0, 1, 300)
    bands = np.exp(-((grid - rng.random((8, 1))) ** 2) / 0.01)
    amounts = rng.random((120, 8))
    X = amounts @ bands + 1e-3 * rng.standard_normal((120, 300))
    Y = amounts[:, :3] + 0.02 * rng.standard_normal((120, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = StiefelRegression(loss=loss, alpha=alpha).fit(X[:60], Y[:60])
        squared = StiefelRegression(alpha=alpha).fit(X[:60], Y[:60])
    # Near the size of the errors, not of the residuals, which tend to zero with alpha.
    deltas = model.loss_.delta * model.output_scale_
    assert (0.3 * 0.02 < deltas).all() and (deltas < 5 * 0.02).all()
    errors = [np.abs(m.predict(X[60:]) - Y[60:]).mean() for m in (model, squared)]
    assert errors[0] < 1.1 * errors[1]


def test_scale_of_an_interpolating_start_is_that_of_left_out_rows():
    X, Y, _ = make(n=30, p=60)
    n, alpha = len(X), 0.5
    U, d, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    U, d = U[:, : n - 1], d[: n - 1]
    refits = [
        Y[i] - Ridge(alpha).fit(np.delete(X, i, 0), np.delete(Y, i, 0)).predict(X[i : i + 1])[0]
        for i in range(n)
    ]
    leverage = 1 / n + (U**2) @ (d**2 / (d**2 + alpha))
    found = ridge_residuals(U * d, d**2, Y, Y, None, alpha)[1]
    assert_allclose(found, np.median(leverage) * robust_scales(np.array(refits)), rtol=1e-8)


@pytest.mark.parametrize("loss", ["absolute", "huber", "log_cosh"])
def test_outputs_far_from_zero(loss):
    X, Y, _ = make(n=40)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        far = StiefelRegression(2, loss=loss).fit(X, Y - 1e7)
    near = StiefelRegression(2, loss=loss).fit(X, Y)
    assert_allclose(far.predict(X) + 1e7, near.predict(X), atol=1e-4)


def test_wide_stage_that_is_cut_short_is_told():
    X, Y, _ = make(n=2600, p=20)  # fewer rows are taken to the minimum by other means
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        StiefelRegression(2, loss="absolute", max_iter=8).fit(X, Y)


@pytest.mark.parametrize("loss", ROBUST)
def test_inputs_that_do_not_vary_leave_the_location(loss):
    _, Y, _ = make()
    model = StiefelRegression(2, loss=loss).fit(np.ones((len(Y), 3)), Y)
    assert (model.coef_ == 0).all() and model.n_components_ == 0
    if loss == "absolute":
        assert_allclose(
            model.loss_.value(Y, model.predict(np.ones((len(Y), 3)))),
            abs(Y - np.median(Y, axis=0)).sum(),
            rtol=1e-6,
        )


@pytest.mark.parametrize("start", ["zeros", "ones", "last map of rank 0", "last map of rank 1"])
def test_starts_of_low_rank_are_no_saddles(start):
    X, Y, _ = make(80, 8, 5, rank=3)
    model = StiefelRegression(3, loss=Huber(0.1))
    best = model.fit(X, Y).objective_
    if start.startswith("last"):
        model = StiefelRegression(int(start[-1]), loss=Huber(0.1), warm_start=True).fit(X, Y)
        model.set_params(n_components=3)
    else:
        model.set_params(init=getattr(np, start)((5, 8)))
    assert_allclose(model.fit(X, Y).objective_, best, rtol=1e-5)


@pytest.mark.parametrize("loss", [*ROBUST, "squared"])
def test_constant_outputs_have_no_map(loss):
    X, Y, _ = make(40)
    model = StiefelRegression(2, loss=loss).fit(X, np.full((40, 4), 0.3))
    assert model.n_components_ == 0 and not model.coef_.any()
    assert_allclose(model.intercept_, 0.3, rtol=1e-12)
    Y[:, 1] = 0.3
    model = StiefelRegression(2, loss=loss).fit(X, Y)
    assert not model.coef_[1].any()
    assert_allclose(model.intercept_[1], 0.3, rtol=1e-12)
    V = model.y_rotations_
    assert_allclose(V.T @ V, np.eye(2), atol=1e-12)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"pull": "a"}, "pull == 'a', must be a number > 0 and finite, or None"),
        ({"forget": "a"}, "forget == 'a', must be a number > 0 and <= 1"),
        ({"max_iter": "a"}, "max_iter == 'a', must be an integer >= 1"),
        ({"max_iter": -5}, "max_iter == -5, must be an integer >= 1"),
        ({"max_iter": 2.5}, "max_iter == 2.5, must be an integer >= 1"),
        ({"tol": "a"}, "tol == 'a', must be a number >= 0"),
        ({"tol": -1.0}, "tol == -1.0, must be >= 0"),
        ({"tol": np.nan}, "tol == nan, must be >= 0"),
        ({"verbose": "a"}, "verbose == 'a', must be True, False or an integer >= 0"),
        ({"scale": "no"}, "scale == 'no', must be True or False"),
        ({"warm_start": "no"}, "warm_start == 'no', must be True or False"),
        ({"alpha": "cv"}, "alpha == 'cv', must be a single number >= 0 or one of: 'auto'"),
        ({"init": np.full((4, 6), np.nan)}, "init has NaN or infinite entries"),
        ({"init": "exact"}, "init == 'exact', must be None or an array"),
    ],
)
def test_bad_values_are_named(options, match):
    X, Y, _ = make()
    with pytest.raises(ValueError, match=match):
        StiefelRegression(2, loss="huber", **options).fit(X, Y)


def test_what_is_not_there_is_not_promised():
    X, Y, _ = make()
    model = StiefelRegression(2, loss="huber").fit(X, Y)
    assert not hasattr(model, "coef_path_")
    with pytest.raises(ValueError, match="warm_start: the last map has shape"):
        model.set_params(warm_start=True).fit(X[:, :-1], Y)
    for estimator in (model, StiefelRegression(2), ManifoldPLS(2)):
        with pytest.raises(ValueError, match="leave out or fill those rows, or take a model with"):
            estimator.fit(np.where(X == X[0, 0], np.nan, X), Y)
