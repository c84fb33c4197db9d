"""Oracles: worked numbers (E7), brute force over all points, norms written out, optimality conditions."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus import Expansion, compress
from isthmus.compression.exchange import drop_points, exchange_points, output_error
from isthmus.compression.select import Problem, by_rank, make_problem
from isthmus.kernels import RBF, L2Laplacian, Laplacian, Linear, Polynomial, gram
from isthmus.kernels.pursuit import greedy_pursuit

X7 = np.arange(6.0)[:, None]
A7 = np.array([1.0, -1.0, 2.0, 0.5, 1.0, -0.5])[:, None]
KERNELS = [RBF(0.3), Laplacian(0.4), L2Laplacian(0.5), Polynomial(3, 0.3, 1.0), Linear()]


def run(K, a, n, **options):
    C = K @ a
    return greedy_pursuit(lambda i: K[:, i], K.diagonal(), C, float((a * C).sum()), n, **options)


def relative_error(K, a, chosen):
    """|w - projection on the chosen images|^2 / |w|^2, by least squares."""
    C = K @ a
    B = np.linalg.lstsq(K[np.ix_(chosen, chosen)], C[chosen], rcond=None)[0]
    total = (a * C).sum()
    return (total - (B * C[chosen]).sum()) / total


@pytest.mark.parametrize(
    ("rule", "order", "errors"),
    [
        ("ols", [3, 1, 0], [0.12295973, 0.02641263, 0.01745315]),
        ("omp", [3, 0, 2], [0.12295973, 0.02967648, 0.00824031]),
    ],
)
def test_e7_greedy(rule, order, errors):
    pursuit = run(gram(RBF(0.25), X7), A7, 3, rule=rule)
    assert_array_equal(pursuit.order, order)
    assert_allclose(pursuit.errors[1:], errors, atol=5e-9)
    if rule == "ols":
        B = pursuit.coefficients().ravel()
        assert_allclose(B, [2.16111996, 0.50604368, 0.40512055], atol=5e-9)


def test_e7_pivoted_cholesky():
    expansion = Expansion(X7, A7.ravel(), RBF(0.25))
    small = compress(expansion, 3, method="landmarks", selection="cholesky", refit=None)
    assert_array_equal(small.compression_.indices, [0, 5, 2])
    assert_allclose(small.compression_.errors[-1], 0.15841502, atol=5e-9)
    assert_array_equal(by_rank(make_problem(expansion, None), 3, 0.0)[0], [0, 5, 2])


def test_e7_selection_by_the_whole_function_is_worse():
    """The rule of the source looks at w alone, not at what is left of it: the negative control."""
    K = gram(RBF(0.25), X7)
    chosen = np.argsort(-np.abs(K @ A7).ravel() / np.sqrt(K.diagonal()), kind="stable")[:3]
    assert_array_equal(chosen, [3, 2, 4])
    by_w = relative_error(K, A7, chosen)
    assert_allclose(by_w, 0.04850183, atol=5e-9)
    assert run(K, A7, 3).errors[-1] < by_w


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_picks_are_those_of_brute_force(kernel):
    rng = np.random.default_rng(1)
    X, a = rng.normal(size=(30, 8)), rng.normal(size=(30, 3))
    K = gram(kernel, X)
    pursuit = run(K, a, 8)
    chosen: list[int] = []
    for step in range(8):
        errors = [relative_error(K, a, [*chosen, i]) if i not in chosen else 2.0 for i in range(30)]
        assert_allclose(pursuit.errors[step + 1], min(errors), rtol=1e-6, atol=1e-10)
        if pursuit.errors[step] > 1e-10:
            assert errors[pursuit.order[step]] <= min(errors) + 1e-10
        chosen.append(int(pursuit.order[step]))


def test_error_curve_is_direct_for_every_size():
    rng = np.random.default_rng(2)
    X, a = rng.normal(size=(40, 2)), rng.normal(size=(40, 2))
    K = gram(RBF(0.4), X)
    pursuit = run(K, a, 15)
    for size in range(1, 16):
        b = np.zeros_like(a)
        b[pursuit.order[:size]] = pursuit.coefficients(size)
        left = a - b
        assert_allclose(
            pursuit.errors[size], (left * (K @ left)).sum() / (a * (K @ a)).sum(), rtol=1e-5
        )


def test_nothing_is_left_at_the_rank_and_no_duplicate_is_chosen():
    rng = np.random.default_rng(3)
    X = np.repeat(rng.normal(size=(12, 4)), 3, axis=0)
    for kernel, rank in ((Linear(), 4), (RBF(0.3), 12)):
        pursuit = run(gram(kernel, X), rng.normal(size=(36, 2)), 36)
        assert len(pursuit.order) == rank
        assert pursuit.errors[-1] < 1e-10
        assert len({tuple(x) for x in X[pursuit.order]}) == rank


def test_stops_at_the_tolerance():
    rng = np.random.default_rng(4)
    K, a = gram(RBF(0.3), rng.normal(size=(60, 2))), rng.normal(size=(60, 1))
    pursuit = run(K, a, 60, tol=0.01)
    assert pursuit.errors[-1] <= 0.01 < pursuit.errors[-2]


# -- exchange ----------------------------------------------------------------------------------


def exchanged(K, a, n, **options):
    """The pursuit's points, and those after the exchange."""
    C, start = K @ a, run(K, a, n)
    problem = Problem(np.arange(len(K)), None, a, C, K, float((a * C).sum()))
    return start, exchange_points(problem, start, **{"n_rounds": 20} | options)


def fitted_error(K, values, chosen):
    """Squared error of the values by the chosen columns and a constant, by least squares."""
    A = np.column_stack([K[:, chosen], np.ones(len(K))])
    return float(((values - A @ np.linalg.lstsq(A, values, rcond=None)[0]) ** 2).sum())


@pytest.mark.parametrize("p", [1, 3])
def test_output_error_is_least_squares(p):
    rng = np.random.default_rng(8)
    K, a = gram(RBF(0.3), rng.normal(size=(60, 3))), rng.normal(size=(60, p))
    pursuit = run(K, a, 10)
    expected = fitted_error(K, K @ a, pursuit.order)
    assert_allclose(output_error(pursuit, K @ a), expected, rtol=1e-4)


@pytest.mark.parametrize("p", [1, 3])
def test_dropped_is_what_brute_force_drops(p):
    rng = np.random.default_rng(9)
    K, a = gram(RBF(0.5), rng.normal(size=(30, 4))), rng.normal(size=(30, p))
    start = run(K, a, 8)
    chosen = [int(i) for i in start.order]
    for dropped in range(1, 5):
        errors = [relative_error(K, a, chosen[:j] + chosen[j + 1 :]) for j in range(len(chosen))]
        del chosen[int(np.argmin(errors))]
        left = drop_points(start.triangle, (K @ a)[start.order], dropped)
        assert_array_equal(start.order[left], chosen)


def test_a_pursuit_goes_on_from_given_points():
    rng = np.random.default_rng(10)
    K, a = gram(RBF(0.4), rng.normal(size=(40, 3))), rng.normal(size=(40, 2))
    whole = run(K, a, 12)
    resumed = run(K, a, 12, first=whole.order[:5])
    assert_array_equal(resumed.order, whole.order)
    for name in ("errors", "L", "T"):
        assert_allclose(getattr(resumed, name), getattr(whole, name), atol=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_exchange_lies_between_the_pursuit_and_brute_force(seed):
    """All pairs of 16 points: no exchange beats the best pair, none is worse than the pursuit."""
    rng = np.random.default_rng(seed)
    K, a = gram(RBF(0.3), rng.normal(size=(16, 2))), rng.normal(size=(16, 1))
    start, end = exchanged(K, a, 2)
    best = min(fitted_error(K, K @ a, list(pair)) for pair in combinations(range(16), 2))
    errors = [fitted_error(K, K @ a, pursuit.order) for pursuit in (end, start)]
    assert best * (1 - 1e-6) <= errors[0] <= errors[1] * (1 + 1e-6)
    assert len(set(end.order)) == 2


def test_exchange_is_never_worse_and_better_on_average():
    ratios = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        K, a = gram(RBF(0.3), rng.normal(size=(150, 3))), rng.normal(size=(150, 2))
        start, end = exchanged(K, a, 15)
        assert len(set(end.order)) == 15
        ratios.append(fitted_error(K, K @ a, end.order) / fitted_error(K, K @ a, start.order))
    assert max(ratios) <= 1 + 1e-6
    assert np.mean(ratios) < 0.95


def test_exchange_of_dependent_vectors_keeps_what_it_has():
    K, a = np.ones((6, 6)), np.ones((6, 1))  # nothing can be gained
    start, end = exchanged(K, a, 1)
    assert_array_equal(end.order, start.order)
