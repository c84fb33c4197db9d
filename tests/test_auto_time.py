"""A limit of time is kept, by a clock that the methods move: no test depends on the machine's speed."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from isthmus import MethodSearchCV
from isthmus.auto import answers as answers_module
from isthmus.auto import clock as clock_module
from isthmus.auto import ladder as ladder_module
from isthmus.auto import progress as progress_module
from isthmus.auto import search as search_module
from isthmus.auto import trials as trials_module
from isthmus.auto.blends import Mean
from isthmus.auto.clock import OutOfTime, check_time, until
from isthmus.auto.ladder import LADDER
from isthmus.auto.methods.kernel_search import KernelSearch
from isthmus.auto.methods.treated import RidgeSearch, TreatedSearch
from isthmus.auto.methods.trees import TreeSearch
from isthmus.auto.problem import Rung
from isthmus.problems.parallel import blas_threads

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
Y = X[:, :2] + rng.normal(size=(60, 2))


class Clock:
    """A clock that methods move, by seconds that grow with the cube of their rows."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now

    def rung(self, name, seconds, n_steps):
        clock = self

        class Slow(Mean):
            def fit(self, X, y):
                for _ in range(n_steps):
                    check_time()
                    clock.now += seconds / n_steps * (len(X) / 60) ** 3
                return super().fit(X, y)

        return Rung(name, name, lambda problem: Slow(), "t", "f", "l", ())


@pytest.mark.parametrize("seed", range(20))
def test_a_time_limit_is_kept(monkeypatch, seed):
    """Methods of any length whose steps are at most a tenth of the limit, the first one short."""
    draw = np.random.default_rng(seed)
    clock = Clock()
    for module in (answers_module, clock_module, progress_module, search_module, trials_module):
        monkeypatch.setattr(module, "time", clock)
    lengths = [0.01, *10 ** draw.uniform(-2, 1, size=5)]
    rungs = [clock.rung(f"m{k}", s, int(np.ceil(10 * s))) for k, s in enumerate(lengths)]
    monkeypatch.setattr(ladder_module, "LADDER", (LADDER[0], *rungs))
    names = [rung.name for rung in rungs]
    search = MethodSearchCV(names, cv=3, time_limit=1.0).fit(X, Y)
    assert clock.now <= 1.2
    assert search.cv_results_["status"][0] == "done"
    if max(lengths) < 0.02:
        assert set(search.cv_results_["status"]) == {"done"}


def test_a_search_ends_between_its_own_steps():
    """A deadline that is over ends every search that takes long, before its first step."""
    for search in (KernelSearch(), TreeSearch(), TreatedSearch(RidgeSearch(), {"none": None})):
        with until(-np.inf), pytest.raises(OutOfTime):
            search.fit(X, Y)
        search.fit(X, Y)


@pytest.mark.parametrize("n_rows", [99, 100])
def test_methods_that_add_nothing_are_stopped(n_rows):
    """A blended method by its weight, one that is never blended by its error in the first fold.

    With fewer than a hundred rows the first fold says too little.
    """
    A = np.random.default_rng(1).normal(size=(n_rows, 3))
    B = A @ [[1.0, 2.0], [0.5, -1.0], [0.0, 1.0]]
    names = ["pls", "stiefel", "trees"]
    B += 0.1 * rng.normal(size=B.shape)
    search = MethodSearchCV(names, cv=3).fit(A, B)
    status = dict(zip(search.cv_results_["method"], search.cv_results_["status"], strict=True))
    stopped = "stopped: adds nothing in the first fold"
    assert status["trees"] == ("done" if n_rows < 100 else stopped)
    assert status["stiefel"] == "done"  # as good as the others
    simple = MethodSearchCV(names, cv=3, prefer="simple").fit(A, B)
    assert set(simple.cv_results_["status"]) == {"done"}  # nothing is blended, nothing is stopped


@pytest.mark.parametrize(("n_rows", "threads"), [(60, 1), (1001, 2)])
def test_small_matrices_have_one_thread(monkeypatch, n_rows, threads):
    """Two threads are allowed here; a search over few rows takes one, and gives the other back."""
    seen = []
    fold = trials_module.Trial._fold

    def watched(self, *rest):
        seen.append(blas_threads())
        return fold(self, *rest)

    monkeypatch.setattr(trials_module.Trial, "_fold", watched)
    rows = np.resize(X, (n_rows, 4))
    with threadpool_limits(2, "blas"):
        if blas_threads() < 2:
            pytest.skip("linear algebra here has one thread only")
        MethodSearchCV("ridge", cv=2, treatments=None).fit(rows, np.resize(Y, (n_rows, 2)))
        assert set(seen) == {threads} and blas_threads() == 2
