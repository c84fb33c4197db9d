"""Any loss from Rows. Oracle: the fit in memory; a sample that holds all rows is all rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus import Rows, StiefelRegression
from isthmus.losses import Huber, LogCosh


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(2, 1, size=(600, 5)) * [1, 2, 1, 0.5, 1]
    Y = X @ rng.normal(size=(5, 2)) @ rng.normal(size=(2, 4)) + 0.5 * rng.normal(size=(600, 4)) + 3
    Y[::50, 1] += 100
    return X, Y


def in_blocks(*arrays):
    return Rows(
        lambda: (tuple(A[i : i + 70] for A in arrays) for i in range(0, len(arrays[0]), 70))
    )


@pytest.mark.parametrize(
    "model",
    [
        StiefelRegression(2, loss="huber"),
        StiefelRegression(1, loss="huber", scale=True),
        StiefelRegression(None, loss="log_cosh", alpha=0.5),
        StiefelRegression(2, loss="huber_rows"),
        StiefelRegression(2, loss="absolute"),
    ],
    ids=str,
)
def test_equals_the_fit_in_memory(data, model):
    X, Y = data
    whole = model.fit(X, Y)
    coef, intercept, objective = whole.coef_, whole.intercept_, whole.objective_
    found = model.fit(in_blocks(X, Y))
    assert_allclose(found.objective_, objective, rtol=1e-5)
    assert_allclose(found.coef_, coef, atol=2e-3 * np.abs(coef).max())
    assert_allclose(found.intercept_, intercept, atol=0.01)
    assert_allclose(np.vstack(list(found.predict(Rows.from_arrays(X, Y)))), found.predict(X))


@pytest.mark.parametrize("rank", [1, 2, None])
@pytest.mark.parametrize("loss", [Huber(delta=0.3), LogCosh(0.5)], ids=repr)
def test_a_small_sample_only_gives_the_start(data, loss, rank):
    """Numbers in the units of y are not taken from the sample: the objective is that of all rows."""
    X, Y = data
    model = StiefelRegression(rank, loss=loss, alpha=0.2)
    whole = model.fit(X, Y)
    coef, objective = whole.coef_, whole.objective_
    found = model.fit(Rows.from_arrays(X, Y, memory=0.1))  # of which a sample has 180 rows
    assert found.n_iter_ > 3
    assert_allclose(found.objective_, objective, rtol=1e-7)
    assert_allclose(found.coef_, coef, atol=1e-3 * np.abs(coef).max())


def test_poisson_and_one_output(data):
    X, _ = data
    y = np.random.default_rng(1).poisson(np.exp(0.2 * X[:, 0])).astype(float)
    model = StiefelRegression(1, loss="poisson")
    want = model.fit(X, y).coef_
    found = model.fit(in_blocks(X, y))
    assert_allclose(found.coef_, want, atol=1e-4)


def test_the_gradient_at_the_end_is_that_of_no_descent(data):
    """A certificate of its own: no small step along a coordinate lowers the objective of all rows."""
    X, Y = data
    model = StiefelRegression(None, loss="huber", alpha=0.0).fit(in_blocks(X, Y))

    def objective(C, b):
        R = (Y - X @ C.T - b) / model.output_scale_
        return model.loss_.value(np.zeros_like(R), R)

    C, b, best = model.coef_, model.intercept_, objective(model.coef_, model.intercept_)
    assert_allclose(model.objective_, best, rtol=1e-9)
    for i in np.ndindex(C.shape):
        for step in (1e-3, -1e-3):
            moved = C.copy()
            moved[i] += step
            assert objective(moved, b) > best


def test_weights_count_as_copies(data):
    X, Y = data
    w = np.random.default_rng(2).integers(1, 4, len(X)).astype(float)
    model = StiefelRegression(2, loss="huber")
    want = model.fit(X, Y, w).coef_
    found = model.fit(in_blocks(X, Y, w)).coef_
    assert_allclose(
        found, want, atol=0.05 * np.abs(want).max()
    )  # scales are those of unweighted rows
