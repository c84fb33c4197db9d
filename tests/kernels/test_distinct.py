"""What is drawn depends on the samples and their weights alone: an order by content, by brute force."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from isthmus import Landmarks
from isthmus.kernels import RBF, SequenceKernel
from isthmus.kernels.distinct import deal_by_content, distinct_samples
from isthmus.kernels.selection import leverage_scores

RNG = np.random.default_rng(0)
ROWS = np.vstack([RNG.normal(3, 1, size=(12, 4)), RNG.integers(0, 2, size=(20, 4))])
DRAWN = np.vstack([RNG.normal(3, 1, size=(20, 4))] * 2)[
    :32
]  # no distances tie, which k-means would break
COUNTS = 1 + np.arange(32) % 3
CHANGES = {
    "rows": lambda X, w: (X[::-1], w[::-1]),
    "columns": lambda X, w: (X[:, [2, 0, 3, 1]], w),
    "units": lambda X, w: (X * 1e3, w),
    "shift": lambda X, w: (X + 64.0, w),
    "weights": lambda X, w: (X, w * 7.0),
    "copies": lambda X, w: (np.vstack([X, X]), np.append(w, w)),
    "repeats": lambda X, w: (X.repeat(w.astype(int), axis=0), None),
    "sparse": lambda X, w: (csr_array(X), w),
}


def rows_of(X, places):
    X = X.toarray() if hasattr(X, "toarray") else X
    return X[places]


@pytest.mark.parametrize("change", CHANGES)
def test_different_samples_and_their_weights(change):
    w = COUNTS.astype(float)
    places, weights = distinct_samples(ROWS, w)
    kinds, inverse = np.unique(ROWS, axis=0, return_inverse=True)
    sums = np.bincount(inverse.ravel(), w)
    assert len(places) == len(kinds) < len(ROWS)
    found = {tuple(row): weight for row, weight in zip(ROWS[places], weights)}
    for kind, total in zip(kinds, sums):
        assert_allclose(found[tuple(kind)], total * len(kinds) / w.sum())
    X, changed = CHANGES[change](ROWS, w)
    other, weights_too = distinct_samples(X, changed)
    expected = (
        CHANGES[change](ROWS[places], w)[0]
        if change in ("columns", "units", "shift")
        else ROWS[places]
    )
    assert_allclose(rows_of(X, other), expected, rtol=1e-12)
    assert_allclose(weights_too, weights)


def test_strings_are_sorted_and_other_objects_taken_as_they_come():
    places, weights = distinct_samples(["b", "a", "b", "c"], None)
    assert places.tolist() == [1, 0, 3]
    assert_allclose(weights, [0.75, 1.5, 0.75])
    assert distinct_samples([("b",), ("a",)], None)[0].tolist() == [0, 1]


@pytest.mark.parametrize("selection", ["uniform", "kmeans", "leverage", "cholesky"])
@pytest.mark.parametrize("number", [6, 0.9])
@pytest.mark.parametrize("change", ["rows", "columns", "units", "copies", "repeats", "sparse"])
def test_drawn_landmarks(change, number, selection):
    """Kernel values with the landmarks are the same, one by one."""
    w = COUNTS.astype(float)
    X, changed = CHANGES[change](DRAWN, w)
    test = (
        CHANGES[change](DRAWN[:5], w[:5])[0]
        if change in ("columns", "units", "sparse")
        else DRAWN[:5]
    )
    options = {"selection": selection, "random_state": 3}
    plain = Landmarks(number, **options).fit(DRAWN, sample_weight=w).transform(DRAWN[:5])
    found = Landmarks(number, **options).fit(X, sample_weight=changed).transform(test)
    assert_allclose(found, plain, atol=1e-7)


def test_landmarks_are_drawn_in_proportion_to_weights():
    """The rare half has a tenth of the weight; false alarm below 1e-6 (400 draws, 0.1 +- 5 deviations)."""
    X = np.arange(100.0)[:, None]
    w = np.where(X[:, 0] < 50, 9.0, 1.0)
    rare = [
        int(Landmarks(1, random_state=seed).fit(X, sample_weight=w).indices_[0] >= 50)
        for seed in range(400)
    ]
    assert abs(np.mean(rare) - 0.1) < 5 * np.sqrt(0.09 / 400)


def test_strings_in_another_order_have_the_same_landmarks():
    words = ["abba", "baab", "aaab", "abab", "bbba", "aabb"]
    first = Landmarks(3, SequenceKernel(), selection="uniform", random_state=0).fit(words)
    second = Landmarks(3, SequenceKernel(), selection="uniform", random_state=0).fit(
        words[::-1] * 2
    )
    assert [words[i] for i in first.indices_] == [(words[::-1] * 2)[i] for i in second.indices_]


def test_leverage_of_weighted_samples_is_that_of_copies():
    """With all samples among the first landmarks nothing is drawn."""
    X, w = DRAWN[:20], COUNTS[:20]
    weighted = leverage_scores(RBF(0.1), X, 30, sample_weight=w.astype(float))
    repeated = leverage_scores(RBF(0.1), X.repeat(w, axis=0), 30)
    assert_allclose(weighted, repeated[np.cumsum(w) - 1], rtol=1e-6)
    assert np.abs(weighted / leverage_scores(RBF(0.1), X, 30) - 1).max() > 0.01


FOLD_CHANGES = {
    "rows": lambda X: X[::-1],
    "columns": lambda X: X[:, ::-1],
    "power of two": lambda X: X * 2.0**-30,
    "units": lambda X: X * [1e3, 7e-5, 0.3, 11.0],
    "shift": lambda X: X + 64.0,
    "copies": lambda X: X.repeat(COUNTS, axis=0),
    "sparse": csr_array,
}


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("change", FOLD_CHANGES)
@pytest.mark.parametrize("kinds", ["drawn", "copies", "one kind"])
def test_folds_are_dealt_by_content(change, kinds, gaps):
    """Equal samples are in one fold, and in the same one however the table comes."""
    if (gaps and change == "sparse") or (kinds == "one kind" and change == "columns"):
        pytest.skip("a sparse matrix has no gaps, and columns of one kind keep their order")
    rng = np.random.default_rng(1)
    X = {
        "drawn": rng.normal(3, 1, size=(32, 4)),
        "copies": rng.normal(3, 1, size=(12, 4))[[*range(12)] * 2 + [5] * 8],
        # The mean of all columns is one number, but for rounding.
        "one kind": np.array([rng.permutation(np.linspace(0, 1, 32) ** 2) for _ in range(4)]).T,
    }[kinds]
    if gaps:
        X = X.copy()
        X[[3, 15, 15, 20], [0, 0, 1, 3]] = np.nan
    folds = deal_by_content(X, 5)
    number = np.unique(X, axis=0, return_inverse=True)[1].ravel()
    assert all(len(set(folds[number == k])) == 1 for k in number)
    counts = np.bincount([folds[number == k][0] for k in np.unique(number)])
    assert len(counts) == 5 and np.ptp(counts) <= 1
    changed = FOLD_CHANGES[change](X)
    expected = {"rows": folds[::-1], "copies": folds.repeat(COUNTS)}.get(change, folds)
    assert (deal_by_content(changed, 5) == expected).all()
    assert (deal_by_content(X, 5, seed=1) != folds).any()


def test_a_deal_is_kept_but_not_shared():
    X = np.arange(20.0)[:, None]
    folds = deal_by_content(X, 5)
    kept = folds.copy()
    folds[:] = 9
    assert (deal_by_content(X, 5) == kept).all()
    rng = np.random.RandomState(0)  # goes on, so that every deal is another
    deals = [deal_by_content(X, 5, rng) for _ in range(2)]
    assert (deals[0] == kept).all() and (deals[1] != kept).any()


def test_few_different_inputs_are_dealt_with_their_outputs():
    """A category of two levels cannot be left out by levels; the same with weights as with copies."""
    X, Y = np.arange(20.0)[:, None] % 2, np.arange(20.0)[:, None]
    folds = deal_by_content(X, 5, Y=Y)
    assert np.bincount(folds).tolist() == [4] * 5
    assert (deal_by_content(X.repeat(3, axis=0), 5, Y=Y.repeat(3, axis=0)) == folds.repeat(3)).all()
    assert np.bincount(deal_by_content(X, 5)).tolist() == [4] * 5  # else nothing would vary
    assert np.bincount(deal_by_content(np.arange(21.0)[:, None] % 3, 5)).tolist() == [7] * 3
    Y = np.arange(60.0)[:, None]
    replicates = np.arange(60.0)[:, None] // 4  # fifteen kinds of four: each with its outputs
    assert (np.ptp(deal_by_content(replicates, 5, Y=Y).reshape(-1, 4), axis=1) == 0).all()
    levels = np.arange(60.0)[:, None] // 5  # twelve of five: a category
    assert (np.ptp(deal_by_content(levels, 5, Y=Y).reshape(-1, 5), axis=1) > 0).any()
    assert np.bincount(deal_by_content(0 * X, 5)).tolist() == [4] * 5
    assert set(deal_by_content(["b", "a", "b", "c"], 5)) == {0, 1, 2}


def test_many_sparse_rows_are_dealt_by_content(monkeypatch):
    X = csr_array(np.random.default_rng(0).poisson(0.3, size=(60, 30)).astype(float))[
        [*range(50), *range(10)]
    ]
    monkeypatch.setattr("isthmus.kernels.distinct._DENSE_ENTRIES", 100)
    order = np.random.default_rng(1).permutation(60)
    folds = deal_by_content(X, 5)
    assert (folds[50:] == folds[:10]).all() and np.bincount(folds[:50]).tolist() == [10] * 5
    assert (deal_by_content(X[order], 5) == folds[order]).all()
    assert len(distinct_samples(X, None)[0]) == 50
