"""Oracles: the definition of the kernel, written a second time; all sequences of a size."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge

from isthmus import DependencyRegressor, KernelMap
from isthmus.kernels import PositionKernel, SequenceKernel
from isthmus.preimages import PathSearch, make_preimage

from .test_sequences import direct_losses, fitted, words

KERNELS = [PositionKernel(width=w, max_length=n) for w in (0.0, 0.5, 2.0) for n in (1, 2)]


def by_hand(x, y, longest, width):
    total = 0.0
    for n in range(1, longest + 1):
        for i, j in product(range(len(x) - n + 1), range(len(y) - n + 1)):
            if x[i : i + n] == y[j : j + n]:
                total += float(i == j) if width == 0 else np.exp(-((i - j) ** 2) / (2 * width**2))
    return total


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_kernel_by_its_definition(kernel):
    rng = np.random.default_rng(0)
    X, Y = words(7, rng, low=1), words(5, rng, "abcd", low=1)
    wanted = [[by_hand(x, y, kernel.max_length, kernel.width) for y in Y] for x in X]
    assert_allclose(kernel(X, Y), wanted, rtol=1e-12)
    assert_allclose(kernel(X).diagonal(), kernel.diag(X), rtol=1e-12)
    assert_allclose(kernel(X), kernel(X, X), rtol=1e-12)
    assert np.linalg.eigvalsh(kernel(X)).min() > -1e-10
    normal = PositionKernel(kernel.max_length, width=kernel.width, normalise=True)
    assert_allclose(normal(X).diagonal(), 1.0)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("seed", range(3))
def test_the_answer_is_the_best_of_all_sequences(kernel, seed):
    rng = np.random.default_rng(seed)
    points, coef = words(8, rng, low=2, high=7), rng.normal(size=(2, 8))
    search, _ = fitted(PathSearch(), points, kernel)
    everything = ["".join(z) for m in range(2, 7) for z in product("abc", repeat=m)]
    found, losses = search.inverse_expansion(coef, return_loss=True, n_best=3)
    for t in range(2):
        direct = direct_losses(kernel, everything, points, coef[t])
        assert_allclose(losses[t], np.sort(direct)[:3], atol=1e-9)
        assert_allclose(direct_losses(kernel, found[t], points, coef[t]), losses[t], atol=1e-9)
    # Of one size alone, and of a size that no point has.
    for m in (4, 8):
        best = [s for s in map("".join, product("abc", repeat=m))]
        answer, loss = search.inverse_expansion(coef[:1], return_loss=True, sizes=[m])
        assert len(answer[0]) == m
        assert_allclose(loss[0], direct_losses(kernel, best, points, coef[0]).min(), atol=1e-9)


def test_a_list_that_is_too_short_is_told():
    rng = np.random.default_rng(0)
    points, coef = words(8, rng, low=5, high=9), 0.01 * rng.normal(size=(4, 8))
    search, _ = fitted(PathSearch(max_paths=1), points, PositionKernel(width=3.0))
    with pytest.warns(ConvergenceWarning, match="max_paths == 1 was reached"):
        search.inverse_expansion(coef)


def test_open_search_of_an_aligned_task():
    """Symbols are renamed at their places: position and size are learned."""
    rng = np.random.default_rng(0)
    X = words(150, rng, "abc", 3, 8)
    Y = [x.translate(str.maketrans("abc", "pqr")) for x in X]
    inputs = KernelMap(kernel=PositionKernel(width=0.0))
    model = DependencyRegressor(inputs, Ridge(0.01), KernelMap(kernel=PositionKernel(width=0.0)))
    found = model.fit(X[:120], Y[:120]).predict(X[120:])
    assert isinstance(model.preimage_, PathSearch) and model.sizes_ is not None
    assert np.mean([a == b for a, b in zip(found, Y[120:])]) > 0.9


def test_what_is_wrong_is_told():
    points = ["ab", "ba", "bab"]
    assert isinstance(make_preimage("paths"), PathSearch)
    assert isinstance(make_preimage("auto", PositionKernel()), PathSearch)
    with pytest.raises(ValueError, match="needs PositionKernel"):
        fitted(PathSearch(), points, SequenceKernel(0.2))
    with pytest.raises(ValueError, match="needs PositionKernel"):
        fitted(PathSearch(), points, PositionKernel(normalise=True))
    with pytest.raises(ValueError, match="max_paths == 0"):
        fitted(PathSearch(0), points, PositionKernel())
    with pytest.raises(ValueError, match="max_length == 3"):
        PositionKernel(3)(points)
    with pytest.raises(ValueError, match="width == -1"):
        PositionKernel(width=-1)(points)
    search, _ = fitted(PathSearch(), points, PositionKernel())
    with pytest.raises(ValueError, match="sizes has 1 entries"):
        search.inverse_expansion(np.ones((2, 3)), sizes=[2])
