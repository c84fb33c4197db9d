"""Fits on a cluster of two processes: equal to those in memory, whatever happens to a worker."""

import os
import signal
import threading
import time

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isthmus import PLS, ComponentSearchCV, ReducedRankRegression

da = pytest.importorskip("dask.array", reason="the extra dask is not installed")
distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")

N, P, Q = 4000, 12, 3


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="400MiB", dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(2, 1, size=(N, P))
    return X, X[:, :Q] + rng.normal(size=(N, Q))


def collections(data, rows=500):
    X, Y = data
    return da.from_array(X, chunks=(rows, P)), da.from_array(Y, chunks=(rows, Q))


def test_two_processes_equal_one_machine(client, data):
    X, Y = data
    dX, dY = collections(data)
    for model in (PLS(3), ReducedRankRegression(2, alpha=1.0)):
        expected = model.fit(X, Y).predict(X)
        assert_allclose(model.fit(dX, dY).predict(dX).compute(), expected, rtol=1e-10, atol=1e-10)


def test_errors_of_a_worker_name_the_chunk(client, data):
    dX, dY = collections(data)
    spoilt = da.where(da.arange(N, chunks=500)[:, None] == 1700, np.nan, dX)
    with pytest.raises(ValueError, match="chunk 3: X has NaN in row 200 of the block, column 0"):
        PLS(2).fit(spoilt, dY)


def test_a_killed_worker_changes_nothing(client, data):
    dX, dY = collections(data, rows=200)
    undisturbed = PLS(3).fit(dX, dY)

    def slow(chunk):  # local functions travel by value: no worker needs to import this file
        time.sleep(0.2)
        return chunk

    late = dX.map_blocks(slow, dtype=float, meta=np.empty((0, 0)))
    before = client.run(os.getpid)
    assert len(before) == 2
    victim = next(iter(before.values()))
    timer = threading.Timer(1.0, os.kill, (victim, signal.SIGKILL))
    timer.start()
    begin = time.perf_counter()
    model = PLS(3).fit(late, dY)
    assert time.perf_counter() - begin > 1.0  # the worker was lost in the middle
    client.wait_for_workers(2, timeout=60)
    assert victim not in client.run(os.getpid).values()
    assert_array_equal(model.coef_, undisturbed.coef_)


def test_memory_of_workers_stays_low(client):
    """640 MB of rows through two workers of 400 MiB; none is restarted because of its memory."""

    def tiled(block_id):  # 8 MB, cheaply made
        return np.tile(np.random.default_rng(block_id[0]).normal(size=(100, 100)), (100, 1))

    before = set(client.run(os.getpid).values())
    X = da.map_blocks(tiled, chunks=((10_000,) * 80, (100,)), dtype=float, meta=np.empty((0, 0)))
    model = PLS(2).fit(X, X[:, :2])
    assert model.n_samples_ == 800_000
    assert set(client.run(os.getpid).values()) == before


def test_predictions_stay_lazy(client, data):
    """Ten million rows are predicted in no time, for nothing is computed; then a part is asked for."""
    dX, dY = collections(data)
    model = PLS(2).fit(dX, dY)
    begin = time.perf_counter()
    many = da.random.default_rng(0).normal(size=(10_000_000, P), chunks=(10_000, P))
    lazy = model.predict(many)
    assert time.perf_counter() - begin < 5.0
    assert lazy.shape == (10_000_000, Q) and lazy.dtype == np.float64
    some = slice(9_990_000, 9_990_010)
    assert_allclose(lazy[some].compute(), model.predict(many[some].compute()), rtol=1e-12)


def test_joblib_on_dask_runs_searches(client, data):
    def score_and_process(model, X, y):
        return {"r2": model.score(X, y), "process": os.getpid()}

    X, Y = data[0][:200], data[1][:200]
    candidates = {"n_components": [1, 2, 3]}
    grid = GridSearchCV(PLS(), candidates, cv=3, scoring=score_and_process, refit=False, n_jobs=2)
    pipeline = make_pipeline(StandardScaler(), PLS())
    search = ComponentSearchCV(pipeline, n_components=3, cv=3, n_jobs=2)
    expected = search.fit(X, Y).cv_results_["mean_test_score"]
    with joblib.parallel_backend("dask"):
        results = grid.fit(X, Y).cv_results_
        found = search.fit(X, Y).cv_results_["mean_test_score"]
    workers = client.run(os.getpid).values()
    assert set(results["split0_test_process"]) <= set(workers)
    assert_allclose(results["mean_test_r2"], expected, rtol=1e-10)
    assert_allclose(found, expected, rtol=1e-10)
