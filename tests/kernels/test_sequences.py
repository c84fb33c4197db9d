"""Oracles: the numbers of the specification, enumeration, linear systems, counted n-grams, differences."""

import itertools
from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC

from isthmus.features import KernelMap, Landmarks
from isthmus.kernels import (
    Indexed,
    MismatchKernel,
    SequenceKernel,
    SpectrumKernel,
    SubsequenceKernel,
    gram,
)
from isthmus.kernels.report import check_kernel
from isthmus.kernels.sequences.dynamic import many_against_many
from isthmus.kernels.sequences.encoding import encode
from isthmus.kernels.sequences.mismatch import common_neighbours

E5 = {  # constant, proper
    ("ab", "ab"): (0.0070250000, 0.4550000000),
    ("aba", "ab"): (0.0063500000, 0.0485000000),
    ("kernels", "kernel"): (0.0041615085, 0.0122544085),
    ("a", "b"): (0.0, 0.0),
}
KERNELS = [
    SequenceKernel(0.2),
    SequenceKernel(0.2, termination="proper"),
    SequenceKernel(0.3, max_length=3),
    SequenceKernel(0.2, normalise=True),
    SpectrumKernel(2),
    SpectrumKernel(3, cumulative=True, normalise=True),
    MismatchKernel(3, 1, n_symbols=3),
    SubsequenceKernel(2, 0.4),
    SubsequenceKernel(3, 0.7, cumulative=True, normalise=False),
]


def words(n, rng, alphabet="abc", low=1, high=12):
    return ["".join(rng.choice(list(alphabet), rng.integers(low, high))) for _ in range(n)]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def X(rng):
    return words(30, rng)


def linear_system(x, y, stop, proper):
    """``s'(I - T)^-1 q`` with the transitions of two paths written out."""

    def path(m):
        P = (1 - stop) * np.eye(m, k=1)
        q = np.full(m, stop)
        q[-1] = 1.0 if proper else stop
        return P, q

    (P, q), (P2, q2) = path(len(x)), path(len(y))
    M = np.array([[a == b for b in y] for a in x], dtype=float)
    T = M.ravel()[:, None] * np.kron(P, P2)
    R = np.linalg.solve(np.eye(M.size) - T, (M * np.outer(q, q2)).ravel())
    return R.mean()


@pytest.mark.parametrize(("pair", "values"), E5.items())
def test_worked_example(pair, values):
    for termination, value in zip(("constant", "proper"), values):
        kernel = SequenceKernel(0.1, termination=termination)
        assert_allclose(kernel([pair[0]], [pair[1]])[0, 0], value, atol=5e-11)


@pytest.mark.parametrize("termination", ["constant", "proper"])
@pytest.mark.parametrize("stop", [0.03, 0.3, 1.0])
def test_ngrams_are_the_dynamic_programme_and_the_linear_system(X, stop, termination):
    proper = termination == "proper"
    K = SequenceKernel(stop, termination=termination)(X)
    (corpus,) = encode(X)
    assert_allclose(
        K, many_against_many(corpus, corpus, None, stop, proper), rtol=1e-11, atol=1e-16
    )
    expected = [[linear_system(x, y, stop, proper) for y in X[:8]] for x in X[:8]]
    assert_allclose(K[:8, :8], expected, rtol=1e-11, atol=1e-16)


def test_weights_of_proper_walks_sum_to_one():
    # Over one symbol k of a sequence with itself is the squared sum over lengths; the whole mass is 1.
    kernel = SequenceKernel(0.1, termination="proper", label_kernel=lambda a, b: 1.0)
    constant = SequenceKernel(0.1, label_kernel=lambda a, b: 1.0)
    mass = [kernel(["abcdefg"], [z])[0, 0] for z in ("a",)]
    assert_allclose(mass, sum(q for q in [0.1] * 6 + [1.0]) / 7, rtol=1e-12)
    assert constant(["abcdefg"], ["a"])[0, 0] < mass[0]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_rectangles_diagonal_and_symmetry(kernel, X):
    K = kernel(X)
    assert np.array_equal(K, K.T)
    assert_allclose(kernel(X[:7], X), K[:7], rtol=1e-10, atol=1e-14)
    assert_allclose(kernel.diag(X), K.diagonal(), rtol=1e-10, atol=1e-14)
    assert_allclose(gram(kernel, X, X[:3]), K[:, :3], rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_positive_semidefinite(kernel, X):
    values = np.linalg.eigvalsh(kernel([*X, *X[:5]]))  # duplicates make it singular
    assert values[0] > -1e-12 * values[-1] * len(X)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_kinds_of_sequences_are_one(kernel, X):
    tokens = [list(x) for x in X]
    numbers = [np.array([ord(c) for c in x]) for x in X]
    table = np.full((len(X), 12), -1)
    for row, x in zip(table, numbers):
        row[: len(x)] = x
    K = kernel(X)
    for same in (tokens, numbers, table, np.array(X), np.array(X, dtype=object)):
        assert_allclose(kernel(same), K, rtol=1e-12, atol=1e-15)


def count(x, n):
    return Counter(x[i : i + n] for i in range(len(x) - n + 1))


def dot(a, b):
    return sum(a[h] * b[h] for h in a)


def test_spectrum_counts_words(X):
    expected = [[dot(count(x, 2), count(y, 2)) for y in X] for x in X]
    assert_allclose(SpectrumKernel(2)(X), expected)
    blended = [[sum(dot(count(x, n), count(y, n)) for n in (1, 2, 3)) for y in X] for x in X]
    assert_allclose(SpectrumKernel(3, cumulative=True)(X), blended)


@pytest.mark.parametrize(("n", "m"), [(2, 1), (3, 0), (3, 1), (3, 2), (4, 2)])
def test_mismatch_counts_neighbourhoods(X, n, m):
    def features(x):
        found = Counter()
        for word, times in count(x, n).items():
            for other in itertools.product("abc", repeat=n):
                if sum(a != b for a, b in zip(word, other)) <= m:
                    found[other] += times
        return found

    F = [features(x) for x in X]
    expected = [[dot(a, b) for b in F] for a in F]
    assert_allclose(MismatchKernel(n, m, n_symbols=3)(X), expected)


def test_common_neighbours_of_one_word_are_all_near_it():
    # Within m mismatches of a word of length n over s symbols: sum of C(n, c) (s - 1)^c.
    assert common_neighbours(4, 1, 20)[0] == 1 + 4 * 19
    assert common_neighbours(3, 2, 3)[0] == 1 + 3 * 2 + 3 * 4


@pytest.mark.parametrize(("n", "cumulative"), [(1, False), (2, False), (3, False), (3, True)])
def test_subsequences_by_enumeration(X, n, cumulative):
    def features(x):
        found = Counter()
        for length in range(1, n + 1) if cumulative else [n]:
            for places in itertools.combinations(range(len(x)), length):
                found["".join(x[i] for i in places)] += 0.4 ** (places[-1] - places[0] + 1)
        return found

    F = [features(x) for x in X]
    expected = [[dot(a, b) for b in F] for a in F]
    kernel = SubsequenceKernel(n, 0.4, cumulative=cumulative, normalise=False)
    assert_allclose(kernel(X), expected, rtol=1e-11, atol=1e-14)


def test_features_reproduce_the_kernel(X):
    for kernel in (SequenceKernel(0.2, termination="proper"), SpectrumKernel(2)):
        F = kernel.features(X)
        assert_allclose((F @ F.T).toarray(), kernel(X), rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize("normalise", [False, True])
@pytest.mark.parametrize("termination", ["constant", "proper"])
def test_derivative_with_respect_to_stop(X, termination, normalise):
    kernel = SequenceKernel(0.2, termination=termination, normalise=normalise)
    K, slope = kernel(X, eval_gradient=True)
    step = 1e-6
    up, down = (kernel.clone_with_theta(kernel.theta + s)(X) for s in (step, -step))
    assert_allclose(K, kernel(X), rtol=1e-10, atol=1e-14)
    assert_allclose(slope[:, :, 0], (up - down) / (2 * step), atol=1e-8)


def test_soft_labels_between_equality_and_one(X):
    exact = SequenceKernel(0.2, label_kernel=lambda a, b: float(a == b))
    assert_allclose(exact(X), SequenceKernel(0.2)(X), rtol=1e-11, atol=1e-16)
    soft = SequenceKernel(0.2, label_kernel=lambda a, b: 1.0 if a == b else 0.3)
    assert (soft(X) >= exact(X) - 1e-15).all()
    assert np.linalg.eigvalsh(soft(X))[0] > -1e-14


def test_unseen_labels_never_match():
    kernel = SequenceKernel()
    assert kernel(["xyz"], ["abc"])[0, 0] == 0.0
    assert kernel(["xyz"])[0, 0] > 0
    assert_allclose(kernel(["abx"], ["ab"]), kernel(["aby"], ["ab"]))


@pytest.mark.parametrize(
    ("kernel", "X", "message"),
    [
        (SequenceKernel(), ["ab", ""], r"X\[1\] is an empty sequence"),
        (SequenceKernel(), "ab", "one string"),
        (SequenceKernel(), [3], r"X\[0\] is a int"),
        (SequenceKernel(), [], "X is empty"),
        (SequenceKernel(), np.array([[1, -1, 2]]), "negative symbol"),
        (SequenceKernel(), np.array([[0.5, 1.0]]), "not integers"),
        (SequenceKernel(0.0), ["a"], "stop == 0.0"),
        (SequenceKernel(1.2), ["a"], "stop == 1.2"),
        (SequenceKernel(termination="never"), ["a"], "termination"),
        (SequenceKernel(max_length=0), ["a"], "max_length == 0"),
        (SequenceKernel(label_kernel=lambda a, b: 2.0), ["a"], "between 0 and 1"),
        (SpectrumKernel(0), ["a"], "length == 0"),
        (MismatchKernel(3, 3), ["a"], "mismatches == 3"),
        (MismatchKernel(2, 1, n_symbols=1), ["abc"], "n_symbols == 1"),
        (SubsequenceKernel(2, 1.5), ["a"], "gap == 1.5"),
    ],
)
def test_bad_input_is_named(kernel, X, message):
    with pytest.raises(ValueError, match=message):
        kernel(X)


def test_shorter_than_the_words_is_like_nothing():
    K = SpectrumKernel(3, normalise=True)(["ab", "abc"])
    assert_allclose(K, [[0, 0], [0, 1]])


# -- in other people's estimators -------------------------------------------------------------


def test_gaussian_process_tunes_stop(rng):
    X = np.array(words(40, rng, low=4), dtype=object)
    y = np.array([x.count("ab") / len(x) for x in X])
    kernel = SequenceKernel(0.5, normalise=True)
    model = GaussianProcessRegressor(kernel, alpha=1e-4, normalize_y=True).fit(X, y)
    assert model.kernel_.stop != 0.5
    assert model.log_marginal_likelihood_value_ > model.log_marginal_likelihood(kernel.theta)
    assert model.score(X, y) > 0.9


def test_support_vectors_and_kernel_ridge(rng):
    X = words(60, rng, low=4)
    y = np.array(["ab" in x for x in X])
    kernel = SequenceKernel(0.2, normalise=True)
    direct = SVC(kernel=kernel, C=100).fit(X, y)
    precomputed = SVC(kernel="precomputed", C=100).fit(kernel(X), y)
    assert_allclose(
        direct.decision_function(X), precomputed.decision_function(kernel(X)), atol=1e-6
    )
    numbers, y = (
        np.arange(60)[:, None],
        np.asarray(y, dtype=float),
    )  # SciPy 1.18 solves for no bools
    ridge = KernelRidge(alpha=0.1, kernel=Indexed(kernel, X)).fit(numbers[:40], y[:40])
    plain = KernelRidge(alpha=0.1, kernel="precomputed").fit(kernel(X[:40]), y[:40])
    assert_allclose(ridge.predict(numbers[40:]), plain.predict(kernel(X[40:], X[:40])), rtol=1e-8)
    with pytest.raises(ValueError, match="row numbers from 99"):
        ridge.predict([[99]])


def test_our_feature_maps(X):
    kernel = SequenceKernel(0.2)
    embedding = KernelMap(kernel=kernel, center=False).fit(X)
    scores = embedding.transform(X)
    assert_allclose(scores @ scores.T, kernel(X), atol=1e-9)
    marks = Landmarks(len(X), kernel, random_state=0).fit(X)
    F = marks.transform(X)
    assert_allclose(F @ F.T, kernel(X), atol=1e-7)


def test_kernels_add_multiply_and_clone(X):
    a, b = SequenceKernel(0.2), SpectrumKernel(2, normalise=True)
    assert_allclose((a + b)(X), a(X) + b(X))
    assert_allclose((a * b)(X), a(X) * b(X))
    assert_allclose(clone(a)(X), a(X))


# -- the report -------------------------------------------------------------------------------


def test_report_of_a_good_kernel(X):
    report = check_kernel(SequenceKernel(0.2), X)
    assert report.ok and report.symmetric and report.psd and report.converged
    assert report.rank <= len(X) and report.seconds > 0
    assert "PSD         yes" in str(report)


def longer(x, y):
    return float(len(x) > len(y))


def distance(x, y):
    return float(abs(len(x) - len(y)))


def test_report_of_bad_kernels(X):
    one_sided = check_kernel(longer, np.array(X, dtype=object))
    assert not one_sided.symmetric and any("differ" in line for line in one_sided.advice)
    indefinite = check_kernel(distance, np.array(X, dtype=object))
    assert not indefinite.psd and indefinite.smallest < 0
    assert "NO" in str(indefinite) and "clip" in str(indefinite)
    alike = check_kernel(SequenceKernel(label_kernel=lambda a, b: 1.0), ["ab", "ba", "bb"])
    assert any("alike" in line for line in alike.advice)
