"""Exact or landmarks: the same on every machine unless memory is short, and no jump of the error between.

Bounds are made small, so that a few hundred rows cross them.
"""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isthmus import DependencyRegressor, KernelMap, Landmarks, _validation
from isthmus.datasets import make_curves, make_kappa_regression
from isthmus.features import cost
from isthmus.preimages import Learned
from isthmus.projections import KDR, kdr

EIGEN_ROWS = 200
FACTOR_ROWS = 3 * EIGEN_ROWS


@pytest.fixture
def small_bound(monkeypatch):
    monkeypatch.setattr(cost, "OPERATIONS", cost.EIGEN_OPERATIONS * EIGEN_ROWS**3)


def curves(n):
    X, y, _ = make_curves(n, noise=0.3, directions="random", random_state=0)
    return X, y[:, None]


def bends(n):
    X, Y, _ = make_kappa_regression(n, kappa=10.0, n_targets=3, noise=0.3, random_state=0)
    return X, np.tanh(Y / 5.0)


def test_the_stated_rows():
    assert cost.can_decompose(3000) and not cost.can_decompose(3001)
    assert cost.count_landmarks("auto", 3001) == cost.count_landmarks("auto", 50_000) == 2250
    assert cost.is_affordable(9000**3 / 3, 1.0, "")
    assert not cost.is_affordable(9001**3 / 3, 1.0, "")


@pytest.mark.usefixtures("small_bound")
def test_a_kernel_map_decomposes_as_many_rows_as_the_bound_allows():
    X, _ = curves(EIGEN_ROWS + 1)
    model = KernelMap(random_state=0)
    assert model.fit(X[:-1]).solver_ == "exact"
    assert model.fit(X).solver_ == "landmarks" and len(model.points_) == 0.75 * EIGEN_ROWS
    given = KernelMap(n_landmarks=30, random_state=0).fit(X)
    assert given.solver_ == "landmarks" and len(given.points_) == 30


def test_landmarks_that_were_asked_for_are_500():
    X, _ = curves(520)
    assert len(KernelMap(solver="landmarks", random_state=0).fit(X).points_) == 500
    for wrong in (0, 2.5, "many"):
        with pytest.raises(ValueError, match="n_landmarks == "):
            KernelMap(solver="landmarks", n_landmarks=wrong).fit(X)


@pytest.mark.usefixtures("small_bound")
@pytest.mark.parametrize("data", [curves, bends])
def test_more_rows_never_have_a_larger_error(data):
    """From an eigenproblem's rows past those of a Cholesky factor; the same 2000 rows are predicted."""
    X, Y = data(4000)
    X_test, Y_test = X[2000:], Y[2000:]
    errors, solvers = [], []
    for n in (100, 195, 205, 400, FACTOR_ROWS - 10, FACTOR_ROWS + 10, 1000, 2000):
        model = DependencyRegressor(KernelMap(random_state=0)).fit(X[:n], Y[:n])
        errors.append(np.sqrt(((model.predict(X_test) - Y_test) ** 2).mean()))
        solvers.append(model.solver_)
    assert solvers == ["dual"] * 5 + ["stages"] * 3
    assert np.all(np.diff(errors) <= 0.02 * np.array(errors[:-1])), errors


@pytest.mark.usefixtures("small_bound")
def test_stages_cross_the_bound_of_an_eigenproblem_without_a_jump():
    X, Y = bends(3000)
    errors = []
    for n in (EIGEN_ROWS, EIGEN_ROWS + 1):
        model = DependencyRegressor(KernelMap(random_state=0), solver="stages").fit(X[:n], Y[:n])
        errors.append(np.sqrt(((model.predict(X[1000:]) - Y[1000:]) ** 2).mean()))
        assert isinstance(model.inputs_, KernelMap if n == EIGEN_ROWS else Landmarks)
    assert abs(errors[1] / errors[0] - 1) < 0.02


# -- memory ------------------------------------------------------------------------------------------


@pytest.fixture
def free_memory(monkeypatch):
    def allow(n_bytes):
        monkeypatch.setattr(_validation, "_ALWAYS_FREE", 0)
        monkeypatch.setattr(_validation, "available_memory", lambda: float(n_bytes))

    return allow


def test_a_lack_of_memory_is_told_and_landmarks_are_taken(free_memory):
    X, Y = curves(300)
    free_memory(16 * 300 * 300)  # the Gram matrix, but not its eigenvectors
    with (
        pytest.warns(UserWarning, match="300 x 300 numbers needs .* landmarks are used"),
        pytest.warns(UserWarning, match="n_landmarks='auto' takes 150"),
    ):
        model = KernelMap(random_state=0).fit(X)
    assert model.solver_ == "landmarks" and len(model.points_) == 150
    inputs = KernelMap(n_landmarks=50, random_state=0)
    with (
        pytest.warns(UserWarning, match="300 x 300 numbers needs"),
        pytest.warns(UserWarning, match="Ridge regression of 300 rows on 1 outputs needs"),
    ):
        assert DependencyRegressor(inputs).fit(X, Y).solver_ == "stages"


def test_what_was_asked_for_is_refused_if_memory_is_short(free_memory):
    X, Y = curves(300)
    free_memory(15 * 300 * 300)
    for model in (
        DependencyRegressor(KernelMap(solver="exact")),
        DependencyRegressor(outputs=KernelMap(solver="exact", gamma=1.0)),
    ):
        with pytest.raises(MemoryError, match="GiB are free"):
            model.fit(X, Y)


def test_the_learned_pre_image_is_checked_before_the_outputs_are_embedded(free_memory, monkeypatch):
    X, Y = curves(300)
    free_memory(15 * 300 * 300)
    monkeypatch.setattr(KernelMap, "fit_transform", None)  # fails if it is called
    for preimage in (None, "auto", "learned", Learned()):
        with pytest.raises(MemoryError, match="learned pre-image of 300 rows"):
            DependencyRegressor(outputs=KernelMap(gamma=1.0, preimage=preimage)).fit(X, Y)


def test_kdr_is_checked_before_any_gram_matrix(free_memory, monkeypatch):
    X, Y = curves(100)
    tracemalloc.start()
    KDR(2, max_iter=2, tol=0.5, cv=2).fit(X, Y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.5 < peak / (8 * kdr.GRAM_MATRICES * 100**2) < 1.3  # few rows: vectors count too
    free_memory(8 * kdr.GRAM_MATRICES * 100**2 - 1)
    monkeypatch.setattr(kdr, "kernel_outputs", None)
    with pytest.raises(MemoryError, match="KDR of 100 rows"):
        KDR(2).fit(X, Y)


def write_group(folder, **files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


@pytest.fixture
def groups(tmp_path, monkeypatch):
    monkeypatch.setattr(_validation, "_ALL_GROUPS", tmp_path)
    monkeypatch.setattr(_validation, "_OWN_GROUPS", tmp_path / "own")
    monkeypatch.setattr(_validation, "_machine_memory", lambda: 10_000.0)
    return tmp_path


def test_limits_of_control_groups_of_version_2(groups):
    (groups / "own").write_text("0::/a/b\n")
    assert _validation.available_memory() == 10_000.0
    stat = "anon 3\ninactive_file 200\n"
    write_group(
        groups / "a",
        memory__max="5000\n",
        memory__high="max\n",
        memory__current="1000\n",
        memory__stat=stat,
    )
    assert _validation.available_memory() == 4200.0
    write_group(
        groups / "a/b",
        memory__max="max\n",
        memory__high="2000\n",
        memory__current="500\n",
        memory__stat=stat,
    )
    assert _validation.available_memory() == 1700.0


def test_limits_of_control_groups_of_version_1(groups):
    (groups / "own").write_text("5:cpu,cpuacct:/x\n4:memory:/not/seen/from/here\n0::/\n")
    write_group(
        groups / "memory",
        memory__limit_in_bytes="3000\n",
        memory__usage_in_bytes="2500\n",
        memory__stat="total_inactive_file 100\n",
    )
    assert _validation.available_memory() == 600.0
    (groups / "memory/memory.usage_in_bytes").write_text("9000\n")
    assert _validation.available_memory() == 0.0


def test_a_system_without_control_groups(groups):
    assert _validation.available_memory() == 10_000.0
    assert_array_equal(list(_validation._group_memory()), [])
