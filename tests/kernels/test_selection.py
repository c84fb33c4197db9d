"""Landmarks: partial Cholesky factors against the whole matrix, leverage scores against theirs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus.kernels import RBF, Linear, Precomputed, SequenceKernel
from isthmus.kernels.resolve import resolve_kernel
from isthmus.kernels.selection import (
    landmark_factor,
    leverage_scores,
    pivoted_cholesky,
    select_landmarks,
)

METHODS = ["uniform", "kmeans", "cholesky", "leverage"]


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(40, 3))


def test_columns_of_objects_that_come_together_are_taken_one_by_one():
    """The likely next columns are computed with a pivot: the pivots are those of the whole matrix."""
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcd"), size=rng.integers(3, 9))) for _ in range(300)]
    kernel = SequenceKernel(0.3)
    K = kernel(words)
    L, pivots = pivoted_cholesky(kernel, words, 200)
    expected, order = pivoted_cholesky(Precomputed(), K, 200)
    assert_array_equal(pivots, order)
    assert_allclose(L, expected, atol=1e-10)
    assert_allclose((L @ L.T)[pivots], K[pivots], atol=1e-10)


def common_letters(a, b):
    return float(sum(min(a.count(c), b.count(c)) for c in set(a)))


def test_all_pivots_give_the_matrix_back(X):
    K = RBF(0.5)(X)
    L, pivots = pivoted_cholesky(RBF(0.5), X)
    assert_allclose(L @ L.T, K, atol=1e-9)
    assert len(set(pivots)) == len(pivots)
    assert_allclose(np.triu(L[pivots], 1), 0)


def test_pivots_against_elimination_of_the_whole_matrix(X):
    K = RBF(0.5)(X)
    rest, expected = K.copy(), []
    for _ in range(8):
        i = int(rest.diagonal().argmax())
        expected.append(i)
        rest -= np.outer(rest[:, i], rest[i]) / rest[i, i]
    L, pivots = pivoted_cholesky(RBF(0.5), X, 8)
    assert_array_equal(pivots, expected)
    assert_allclose(K - L @ L.T, rest, atol=1e-12)
    assert_allclose((K - L @ L.T)[pivots], 0, atol=1e-12)


def test_it_ends_at_the_rank_and_never_takes_a_duplicate(X):
    doubled = np.vstack([X, X])
    L, pivots = pivoted_cholesky(Linear(), doubled)
    assert len(pivots) == 3
    assert_allclose(L @ L.T, doubled @ doubled.T, atol=1e-12)
    _, pivots = pivoted_cholesky(RBF(5.0), doubled)
    assert len(set(pivots % 40)) == len(pivots) == 40
    assert pivoted_cholesky(Linear(), np.zeros((4, 2)))[0].shape == (4, 0)


def test_precomputed_matrices_and_objects_alike(X):
    K = RBF(0.5)(X)
    assert_array_equal(
        pivoted_cholesky(Precomputed(40), K, 10)[1], pivoted_cholesky(RBF(0.5), X, 10)[1]
    )
    words = ["kernel", "colonel", "kennel", "x", "kernel"]
    chosen = select_landmarks(resolve_kernel(common_letters), words, 4, "cholesky")
    assert 3 in chosen and not {0, 4} <= set(chosen)


def test_factor_drops_dependent_landmarks(X):
    twice = np.vstack([X[:5], X[:5], X[5:8]])
    K = RBF(0.5)(twice)
    L, keep = landmark_factor(K)
    assert len(keep) == 8
    assert_allclose(L @ L.T, K[np.ix_(keep, keep)], rtol=1e-12)
    assert_array_equal(np.triu(L, 1), 0)
    scale = np.logspace(-4, 4, len(K))  # pivots are judged by each landmark's own kernel value
    scaled, kept = landmark_factor(K * scale[:, None] * scale)
    assert len(kept) == 8
    assert_allclose(scaled @ scaled.T, (K * scale[:, None] * scale)[np.ix_(kept, kept)], rtol=1e-10)


def test_landmarks_that_are_sorted_by_their_pivots_keep_their_order(X, monkeypatch):
    """The factor of a choice is not searched for a second time, though its last pivots are small."""
    K = RBF(1e-3)(X)
    L, keep = landmark_factor(K)
    small = (L.diagonal() ** 2 < 1e-6).sum()
    assert 0 < small < len(keep) < len(K)  # pivots, and samples that were dropped
    monkeypatch.delattr("isthmus.kernels.selection.lapack.dpstrf")
    again, order = landmark_factor(K[np.ix_(keep, keep)])
    assert_array_equal(order, np.arange(len(keep)))
    assert_allclose(again @ again.T, K[np.ix_(keep, keep)], rtol=1e-12)


def test_leverage_scores_with_all_landmarks_are_exact(X):
    K = RBF(0.5)(X)
    alpha = len(X) / 20
    exact = np.diag(K @ np.linalg.inv(K + alpha * np.eye(len(X))))
    assert_allclose(leverage_scores(RBF(0.5), X, 20), exact, rtol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_the_seed_decides(method, X):
    first, second = (select_landmarks(RBF(0.5), X, 6, method, random_state=1) for _ in range(2))
    assert_array_equal(first, second)
    assert len(first) == 6
    assert first.ndim == (2 if method == "kmeans" else 1)


def test_centres_lie_in_the_clusters():
    rng = np.random.default_rng(0)
    means = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    X = np.repeat(means, 30, axis=0) + 0.1 * rng.normal(size=(90, 2))
    centres = select_landmarks(RBF(1.0), X, 3, "kmeans", random_state=0)
    assert_allclose(centres[np.lexsort(centres.round().T)], means, atol=0.1)
    few = select_landmarks(RBF(1.0), np.repeat(means, 30, axis=0), 10, "kmeans", random_state=0)
    assert len(few) == 3


@pytest.mark.parametrize("n", [0, 41])
def test_too_few_or_too_many(n, X):
    with pytest.raises(ValueError, match=f"n == {n}"):
        select_landmarks(RBF(), X, n)


def test_centres_need_vectors():
    with pytest.raises(ValueError, match="needs vectors"):
        select_landmarks(resolve_kernel(common_letters), ["a", "b"], 1, "kmeans")
    with pytest.raises(ValueError, match="'uniform', 'kmeans'"):
        select_landmarks(RBF(), np.eye(2), 1, "best")
