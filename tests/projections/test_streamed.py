"""Projections of Rows. Oracle: the fit in memory by features; a sample that holds all rows is all rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from isthmus import COIR, MORP, Rows
from isthmus.projections import SIR, KernelSIR

MODELS = [
    COIR(2, alpha=0.1, n_landmarks=40, solver="features", random_state=0),
    COIR(2, alpha=0.1, kernel_y="linear", n_landmarks=40, solver="features", random_state=0),
    MORP(2, alpha=0.1, n_landmarks=40, solver="features", random_state=0),
    KernelSIR(2, alpha=0.1, n_landmarks=40, solver="features", random_state=0),
    SIR(2, alpha=0.1, random_state=0),
]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 4))
    y = np.column_stack([X[:, 0] + 0.3 * X[:, 1] ** 2, np.sin(X[:, 1])]) + 0.1 * rng.normal(
        size=(900, 2)
    )
    return X, y


@pytest.mark.parametrize(
    "model", MODELS, ids=lambda m: f"{type(m).__name__}-{getattr(m, 'kernel_y', '')}"
)
@pytest.mark.parametrize("one_output", [True, False])
def test_equals_the_fit_in_memory(data, model, one_output):
    X, y = data
    y = y[:, 0] if one_output else y
    model = clone(model).set_params(n_components=1 if one_output else 2)
    want = model.fit(X, y).transform(X)
    values = model.eigenvalues_
    rows = Rows.from_arrays(X, y, memory=1.0)
    found = np.vstack([block[0] for block in model.fit(rows).transform(rows).blocks()])
    if not one_output and isinstance(
        model, SIR | KernelSIR
    ):  # k-means meets its own cells to rounding
        assert_allclose(model.eigenvalues_, values, rtol=0.02)
        return
    assert_allclose(model.eigenvalues_, values, rtol=1e-7)
    assert_allclose(found, want, atol=1e-5)


def test_what_needs_all_rows_says_so(data):
    rows = Rows.from_arrays(*data)
    for model in (COIR("auto"), COIR(alpha="cv"), COIR(cv=3)):
        with pytest.raises(ValueError, match="without cross-validation"):
            model.fit(rows)
    with pytest.raises(ValueError, match="needs all rows at once"):
        COIR(solver="dense").fit(rows)
    with pytest.raises(ValueError, match="no sample_weight"):
        COIR().fit(Rows.from_arrays(*data, np.arange(900.0)))
    with pytest.raises(ValueError, match="no y"):
        COIR().fit(Rows.from_arrays(data[0]))
