"""Rules that decide something, each pinned on both sides of its edge.

Each of these was once broken on purpose (the fault is named where it is not obvious) and seen to fail.
"""

from collections import Counter
from contextlib import nullcontext
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.kernel_ridge import KernelRidge

from isthmus import PCR, ComponentSearchCV, DependencyRegressor, KernelMap, compress
from isthmus.auto import blend_trial, trials
from isthmus.auto.answers import Answers
from isthmus.auto.ladder import LADDER, rungs_for
from isthmus.auto.methods.kernel_search import Choice, choose_alphas
from isthmus.auto.problem import Problem, Rung
from isthmus.auto.trials import Trial, simplest_good
from isthmus.compression import refit
from isthmus.compression.refit import fit_outputs
from isthmus.compression.thresholds import _shift
from isthmus.dependency import unseen
from isthmus.dependency.candidates import CandidateRanking
from isthmus.dependency.stages import StagesMixin
from isthmus.inspection.intervals import half_widths, sorted_errors
from isthmus.inspection.order import neighbour_p_value
from isthmus.inspection.trust import Trust, tell_outside
from isthmus.kernels import SequenceKernel
from isthmus.preimages.generators import NeighbourAnswers
from isthmus.problems import scores as fold_scores
from isthmus.projections import KernelSIR
from isthmus.projections.crossval import FRACTIONS, best_candidate, weighted_scores
from isthmus.regression.crossval import best_index
from isthmus.reports.data import ReportData

sizes_module = import_module("isthmus.compression.sizes")

# -- the ladder ----------------------------------------------------------------------------------


def trial(score, error=0.0, done=True):
    return SimpleNamespace(
        is_done=done, score=score if done else np.nan, standard_error=error, status="no"
    )


@pytest.mark.parametrize(
    ("scores", "errors", "chosen"),
    [
        ([0.71, 0.8], [0.0, 0.1], 0),  # within one standard error of the best
        ([0.69, 0.8], [0.0, 0.1], 1),  # within two of them, not within one
        ([0.75, 0.8], [0.5, 0.01], 1),  # the error is the best one's, not one's own
        ([0.8, 0.8], [0.0, 0.0], 0),  # a tie goes to the simpler
        ([0.1, 0.75, 0.8, 0.79], [0, 0, 0.1, 0], 1),
    ],
)
def test_the_simplest_within_one_standard_error(scores, errors, chosen):
    assert simplest_good([trial(s, e) for s, e in zip(scores, errors, strict=True)]) == chosen


def test_the_standard_error_of_few_folds():
    """With n - 1: 0 and 2 have the standard error 1; that of a single fold is unknown, and zero here."""
    assert_allclose(trials.standard_error(np.array([[0.0, 2.0], [1.0, 1.0]])), [1.0, 0.0])
    assert trials.standard_error(np.array([0.7])) == 0.0


@pytest.mark.parametrize(
    ("gain", "chosen"), [(0.5, "pls"), (1.98, "pls"), (2.02, "kernel"), (3.9, "kernel")]
)
def test_the_small_answer_is_a_kernel_from_half_the_error_on(gain, chosen):
    """The best map of low rank, whose error is one, against the better of two kernels.

    Their scores differ by little, so that errors, not scores, decide. Faults: a gain of one or four, the
    first kernel in place of the better, a mean that a row without a prediction spoils.
    """
    tried = [
        named_trial("pcr", 0.5, 4.0),
        named_trial("pls", 0.8, 1.0),
        named_trial("kernel", 0.7, 10.0),
        named_trial("rough_kernel", 0.81, 1.0 / gain),
        named_trial("trees", 0.9, 0.01),
    ]
    answer = Answers(tried, [], None).choose("small")
    assert answer.rung.name == ("rough_kernel" if chosen == "kernel" else "pls")


def named_trial(name, score, loss):
    losses = np.append(np.full(9, loss), np.nan)
    rung = SimpleNamespace(name=name)
    return SimpleNamespace(is_done=True, score=score, standard_error=0.0, rung=rung, losses=losses)


@pytest.mark.parametrize(("seconds", "asked"), [(1.0, True), (20.0, False)])
def test_pairs_of_folds_are_not_begun_without_time_for_all(seconds, asked, monkeypatch):
    """Four folds have about eight pairs; a hundred seconds are left. Fault: a look at the clock alone."""
    X, calls = np.zeros((12, 1)), []
    splits = [(np.delete(np.arange(12), t), t) for t in np.split(np.arange(12), 4)]
    monkeypatch.setattr(blend_trial, "time", SimpleNamespace(perf_counter=lambda: 0.0))
    monkeypatch.setattr(blend_trial, "until", lambda limit: nullcontext())
    one = SimpleNamespace(
        predictions=X,
        fit_seconds=np.full(4, seconds),
        without_pairs=lambda: calls.append(1) or [X] * 4,
    )
    blend_trial.BlendTrial(LADDER[0], X, X[:, 0], splits, None)._seen([one], 100.0, True)
    assert bool(calls) == asked


def test_a_method_that_was_given_up_is_not_chosen():
    assert simplest_good([trial(0.9, done=False), trial(0.1)]) == 1
    with pytest.raises(ValueError, match="no method could be fitted"):
        simplest_good(
            [SimpleNamespace(is_done=False, rung=LADDER[0], status="broken", score=np.nan)]
        )


@pytest.mark.parametrize(
    ("limit", "status", "n_fits"),
    # Two more folds take a second each, and all nine rows (9 / 6) ** 3 of what six of them do.
    [(6.4, "done", 3), (6.3, "given up at the time limit", 1), (-1.0, "no time left", 0)],
)
def test_the_time_limit_is_asked_before_each_fold(monkeypatch, limit, status, n_fits):
    """A clock that shows the number of fits that were made; folds that would not end are not begun."""
    fits = []

    class Mean:
        def fit(self, X, y):
            fits.append(1)
            return self

        def predict(self, X):
            return np.zeros((len(X), 1))

    monkeypatch.setattr(trials, "time", SimpleNamespace(perf_counter=lambda: float(len(fits))))
    rung = Rung("m", "m", lambda problem: Mean(), "", "", "", ())
    rows = np.arange(9.0)[:, None]
    splits = [(np.delete(np.arange(9), part), part) for part in np.arange(9).reshape(3, 3)]
    tried = Trial(rung, rows, rows, splits, Problem(9, 1, 1))
    tried.run(lambda *told: None, limit)
    assert (tried.status, len(fits)) == (status, n_fits)
    assert np.isnan(tried.score) == (status != "done")


@pytest.mark.parametrize(
    ("name", "problem", "wanted"),
    [
        ("kernel", Problem(20_001, 3, 2), True),  # landmarks take the place of all rows
        ("trees", Problem(20, 3, 2), True),
        ("trees", Problem(19, 3, 2), False),
        ("boosting", Problem(200, 3, 8), True),
        ("boosting", Problem(199, 3, 8), False),
        ("boosting", Problem(1000, 3, 9), False),
        ("boosting", Problem(1000, 300, 2), True),
        ("boosting", Problem(999, 300, 2), False),  # every column of every target takes time
        ("stiefel", Problem(50, 3, 2, rule="best"), False),
        ("stiefel", Problem(50, 3, 2, rule="best", heavy=True), True),
        ("stiefel", Problem(50, 3, 2), True),  # the simplest good one, as ever
        ("rough_kernel", Problem(50, 3, 2, kernel="rbf"), False),
    ],
)
def test_methods_that_are_tried_unasked(name, problem, wanted):
    assert (name in [rung.name for rung in rungs_for("auto", problem)]) == wanted
    assert [rung.name for rung in rungs_for(name, problem)] == [name]


def test_folds_of_few_rows_have_no_r2():
    assert Problem(19, 3, 2).options["scoring"] == "q2"
    assert Problem(20, 3, 2).options["scoring"] == "r2"
    assert [Problem(n, 3, 2).folds.n_splits for n in (3, 5, 50)] == [3, 5, 5]


def test_intervals_take_the_next_error_up():
    """Of 19 rows the largest error is the 95 % bound, of 18 there is none."""
    for n, level, place in ((19, 0.95, 18), (39, 0.95, 37), (9, 0.5, 4)):
        errors = sorted_errors(np.arange(n, dtype=float)[:, None])
        assert half_widths(errors, n, level)[0] == place
    assert np.isinf(half_widths(sorted_errors(np.ones((18, 1))), 18, 0.95)[0])
    # 0.56 * 25 is a hair more than 14, and is to be 14.
    assert half_widths(sorted_errors(np.arange(24.0)[:, None]), 24, 0.56)[0] == 13


def test_a_constant_output_is_met_to_rounding_or_missed():
    rows = fold_scores.TestRows(None, np.full((4, 1), 3.0), None, False, False)
    errors = 3.0 * np.array([[2e-16], [1e-12], [1e-9]])
    assert fold_scores._SCORES["r2"](errors**2, rows).tolist() == [1.0, 0.0, 0.0]


def test_thinned_errors_are_never_the_smaller():
    errors = np.sort(np.random.default_rng(0).exponential(size=5001))
    thinned = sorted_errors(errors[:, None])
    assert len(thinned) == 2000
    for level in (0.5, 0.9, 0.95, 0.99):
        rank = int(np.ceil(level * 5002 - 1e-9))
        assert errors[rank - 1] <= half_widths(thinned, 5001, level)[0] <= errors[rank + 5]


def test_of_ridge_weights_that_tie_the_largest_is_kept():
    Y = np.arange(8.0).reshape(4, 2)
    spectrum = SimpleNamespace(
        root=np.ones(4),
        alphas=np.array([1.0, 2.0, 3.0]),
        left_out=lambda Y, folds, alphas: iter(
            [np.zeros((4, 2)), np.zeros((4, 2)), np.add(Y, [9.0, 0.0])]
        ),
    )
    folds = [([2, 3], [0, 1]), ([0, 1], [2, 3])]
    chosen = choose_alphas(spectrum, Y, folds, Choice("rbf", 1.0, spectrum))
    assert_allclose(chosen.alpha, [3.0, 1.0])
    assert_allclose(chosen.left_out, np.column_stack([np.zeros(4), Y[:, 1]]))


@pytest.mark.parametrize(("n", "is_held_out"), [(19, False), (20, True)])
def test_twenty_samples_are_enough_to_hold_out_a_fifth(n, is_held_out, monkeypatch):
    """Fewer choose the ridge weight of a learned pre-image by its own leave-one-out errors."""
    monkeypatch.setattr(unseen, "held_out_alpha", lambda *rest: 0.123)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    model = DependencyRegressor(outputs=KernelMap(preimage="learned")).fit(X, np.sin(X))
    assert (model.preimage_.alpha_ == 0.123) == is_held_out


# -- ranks and ridge weights ---------------------------------------------------------------------


def test_the_best_candidate_and_the_simplest_within_one_error():
    ranks, alphas = [1, 2, 3], [0.1, 10.0]

    def chosen(means, spread, rule):
        means = np.array(means, dtype=float).reshape(-1, 1)
        return best_index(means + spread * np.array([-1.0, 1.0]), ranks, alphas, rule)

    # Two folds at +-s: the standard error of a mean is s.
    means = [0.5, 0.69, 0.8, 0.71, 0.60, 0.2]
    assert chosen(means, 0.1, "best") == 2
    assert chosen(means, 0.1, "one_se") == 3  # rank 1 with the large ridge, within 0.1
    assert chosen(means, 0.21, "one_se") == 3
    assert chosen(means, 0.05, "one_se") == 2
    # Two of one rank: the larger ridge; equal scores: the first of the grid.
    assert chosen([0.8, 0, 0, 0.8, 0, 0], 0.1, "one_se") == 3
    assert chosen([0.8, 0, 0, 0.8, 0, 0], 0.1, "best") == 0
    # One fold has no standard error.
    assert best_index(np.array([[0.5], [0.6], [0.7]]), [1, 2, 3], [None], "one_se") == 2


def test_ties_go_to_the_larger_ridge_and_the_fewer_components():
    assert best_candidate(np.full((4, 3, 2), 0.5)) == (3, 0)
    scores = np.full((4, 3, 1), 0.5)
    scores[1, 2] = 0.6
    assert best_candidate(scores) == (1, 2)
    scores[2, 1] = 0.6
    assert best_candidate(scores) == (2, 1)
    scores[2, 0] = np.nan
    assert best_candidate(scores) == (2, 1)


def test_a_tie_of_all_ridge_weights_in_a_fit():
    """One input: every ridge orders the rows alike, so that all have the same neighbours."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1))
    model = KernelSIR(1, "linear", alpha="cv").fit(X, X[:, 0] + 0.1 * rng.normal(size=60))
    scores = model.cv_results_["mean_test_score"]
    assert np.ptp(scores) == 0 and len(scores) == len(FRACTIONS) == 12
    assert_allclose(model.alpha_, FRACTIONS[-1] * ((X - X.mean()) ** 2).sum())
    assert_allclose([FRACTIONS[0], FRACTIONS[-1]], [1e-6, 10**-0.5])


def test_rounding_does_not_choose_a_ridge():
    for difference, chosen in ((1e-12, (2, 0)), (1e-6, (0, 1))):
        scores = np.full((3, 2, 1), 0.5)
        scores[0, 1] += difference
        assert best_candidate(scores) == chosen


def test_outputs_of_which_nothing_can_be_told_have_no_say():
    """One good output among nine of noise decides, whatever noise prefers; of noise alone all do."""
    scores = np.full((2, 1, 10), [[[-0.05]], [[-0.30]]])
    scores[:, 0, 0] = 0.30, 0.54
    assert scores.mean(axis=2).argmax() == 0
    assert best_candidate(scores) == (1, 0)
    assert_allclose(weighted_scores(scores)[:, 0], [0.30, 0.54])
    assert best_candidate(scores[:, :, 1:]) == (0, 0)
    scores[:, 0, 1] = 0.2, 0.1  # a second output that can be told, by its best
    assert_allclose(weighted_scores(scores)[0, 0], (0.54 * 0.30 + 0.2 * 0.2) / 0.74)


# -- compression ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("errors", "size"),
    [([3.0, 1.011, 1.009, 1.0], 3), ([3.0, 1.011, 1.02, 1.0], 4), ([1.0, 1.0, 1.0, 1.0], 1)],
)
def test_validation_takes_the_smallest_within_one_per_cent(monkeypatch, errors, size):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8, 2))
    model = KernelRidge(kernel="rbf").fit(X, X[:, 0])
    told = iter([*errors, 1.0])
    monkeypatch.setattr(sizes_module, "_validation_error", lambda *rows: next(told))
    small = compress(model, 4, validation=(X, X[:, 0]))
    assert small.compression_.n_points == size


def test_validation_counts_outputs_without_their_units():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(80, 1))
    Y = np.column_stack([np.sin(2 * X[:, 0]), np.cos(X[:, 0])]) + 0.1 * rng.normal(size=(80, 2))
    model = KernelRidge(kernel="rbf", alpha=0.01).fit(X, Y)
    errors = [
        sizes_module._validation_error(
            SimpleNamespace(predict=lambda A, c=c: model.predict(A) * c), X, Y * c
        )
        for c in (np.ones(2), np.array([1.0, 1e6]))
    ]
    assert_allclose(errors[1], errors[0], rtol=1e-9)
    by_hand = (((model.predict(X) - Y) / Y.std(axis=0)) ** 2).mean()
    assert_allclose(errors[0], by_hand)


def test_of_thresholds_that_are_as_good_the_nearest():
    """Cuts at -3.5 and 2.5 make two errors each, the cut at zero makes four: the nearer, not the first."""
    values, labels = np.array([-4.0, -3.0, -2.0, 1.0, 2.0, 3.0]), np.array([0, 1, 1, 0, 0, 1]) > 0
    assert _shift(values, labels) == -2.5
    assert _shift(-values[::-1], ~labels[::-1]) == 2.5  # the first is the nearer here
    # As good as any where it is: nothing is shifted.
    assert _shift(values, values > 0) == 0.0


def test_errors_of_left_out_rows_are_those_of_leaving_them_out():
    """Leverage is 1/n for the constant and the rest for the points: 25 rows tell the difference."""
    rng = np.random.default_rng(0)
    n, r = 25, 3
    F, outputs = rng.normal(2, 1, size=(n, r)), rng.normal(5, 1, size=(n, 2))
    lengths = 2 * (F**2).sum(axis=1)  # none of the rows is a point
    fit = fit_outputs([(F, outputs)], np.eye(r), np.zeros((r, 2)), lengths=lengths)
    weights, errors = fit.left_out(r)
    for weight, error in list(zip(weights, errors, strict=True))[::3]:
        total = 0.0
        for i in range(n):
            rest = np.arange(n) != i
            mean, constant = F[rest].mean(axis=0), outputs[rest].mean(axis=0)
            A = F[rest] - mean
            coef = np.linalg.solve(A.T @ A + weight * np.eye(r), A.T @ (outputs[rest] - constant))
            total += ((outputs[i] - constant - (F[i] - mean) @ coef) ** 2).sum()
        assert_allclose(error, total, rtol=1e-6)


@pytest.mark.parametrize(("best", "taken"), [(0.985, False), (0.975, True)])
def test_a_ridge_must_gain_two_per_cent(monkeypatch, best, taken):
    rng = np.random.default_rng(0)
    F = rng.normal(size=(30, 2))
    fit = fit_outputs(
        [(F, rng.normal(size=(30, 1)))],
        np.eye(2),
        np.zeros((2, 1)),
        lengths=2 * (F**2).sum(axis=1),
    )
    errors = np.array([1.0, 1.1, best, 1.2])
    monkeypatch.setattr(
        refit.OutputFit, "left_out", lambda self, size: (np.array([0.0, 1, 2, 3]), errors)
    )
    assert fit.ridge(2) == (2.0 if taken else 0.0)


def test_fewer_than_twenty_rows_choose_no_ridge():
    rng = np.random.default_rng(0)
    for n in (19, 20):
        F = rng.normal(size=(n, 2))
        rows = [(F, rng.normal(size=(n, 1)))]
        fit = fit_outputs(rows, np.eye(2), np.zeros((2, 1)), lengths=2 * (F**2).sum(axis=1))
        assert (fit.unseen is not None) == (n == 20)


# -- reports -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("r2", "shown"),
    [
        ([0.5, 0.1, 0.9, 0.3, 0.7], ["b (worst)", "a (median)", "c (best)", "d", "e"]),
        ([0.1, 0.4, 0.2, 0.3], ["a (worst)", "c (median)", "b (best)", "d"]),
        ([0.2, 0.1], ["b (worst)", "a (best)"]),
        ([0.2], ["a"]),
    ],
)
def test_the_outputs_that_a_report_shows_first(r2, shown):
    """Of an even number the lower of the two in the middle."""
    q = len(r2)
    search = SimpleNamespace(target_names_=list("abcde")[:q])
    data = ReportData(search, np.zeros((3, 2)), np.zeros((3, q)), None, None, None, None, None)
    data.__dict__["by_output"] = [SimpleNamespace(r2=value) for value in r2]
    assert [name for name, _ in data.shown_outputs] == shown
    assert [search.target_names_[j] for _, j in data.shown_outputs] == [s[0] for s in shown]


# -- rows outside of a domain --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_outside", "farthest", "is_news"),
    [(4, 2.0, False), (5, 2.0, True), (1, 8.9, False), (1, 9.1, True), (0, 0.9, False)],
)
def test_rows_outside_are_told_if_chance_takes_so_many_there_once_in_a_hundred(
    n_outside, farthest, is_news
):
    """Of 20 rows 4 or more are outside by chance in 1.6 % of tables, 5 or more in 0.3 %.

    Faults: 20 % in place of one, "more than n" for "n or more", a row told at three times the square.
    """
    distance = np.full(20, 0.5)
    distance[:n_outside] = 1.1
    distance[0] = farthest
    trust = Trust(distance, distance > 1, [""] * 20, [""] * 20)
    assert trust.is_news == is_news


# -- candidates ----------------------------------------------------------------------------------

WORDS = ["ab", "ba", "aab", "abb", "bba", "baa", "aba", "bab", "bbb", "aaa", "abab", "baba"]
NGRAMS = SequenceKernel(0.3, normalise=True)


def test_generators_that_are_equally_good_leave_the_first():
    pair = {"first": NeighbourAnswers(), "second": NeighbourAnswers()}
    assert (
        CandidateRanking(NGRAMS, NGRAMS).fit(WORDS, WORDS, pair) is None
    )  # nothing says they align
    ranking = CandidateRanking(NGRAMS, NGRAMS).fit(WORDS, WORDS, pair, or_none=False)
    assert ranking is not None
    assert len(set(ranking.cv_results_["generators"].values())) == 1


def test_as_many_candidates_as_are_asked_for_in_the_order_of_the_generator_if_they_tie():
    ranking = CandidateRanking(NGRAMS, NGRAMS, alphas=[0.1], weight=0.0, n_candidates=3)
    ranking.fit(WORDS, WORDS, {"given": NeighbourAnswers()})
    assert len(ranking.rank(["ab"], n_best=6)[0][0]) == 6
    proposed = ranking.generator_.candidates(["ab"], 3)[0][0]
    ranking._losses = lambda coef, objects: np.zeros(len(objects))
    assert ranking.rank(["ab"])[0][0] == proposed


@pytest.mark.parametrize(("n", "expected"), [(29, False), (30, True)])
def test_candidates_are_tried_from_thirty_sequences_on(n, expected):
    stage = SimpleNamespace(kernel=NGRAMS, preimage=None)
    model = SimpleNamespace(_phi_x=stage, _phi_y=stage)
    assert StagesMixin._may_align(model, ["ab"] * n) == expected


# -- edges of what is told and what is met ------------------------------------------------------------


@pytest.mark.parametrize(("n", "is_judged"), [(19, False), (20, True)])
def test_order_is_judged_from_twenty_rows_on(n, is_judged):
    p_value = neighbour_p_value(np.arange(n)[:, None] + 0.0)
    assert p_value < 1e-4 if is_judged else p_value == 1.0


@pytest.mark.parametrize(("p_value", "is_told"), [(0.0009, True), (0.001, False), (0.009, False)])
def test_a_shift_is_told_below_one_in_a_thousand(p_value, is_told):
    assert ("As a whole" in tell_outside(50, Counter(), p_value)) == is_told


@pytest.mark.parametrize("constant", [0.1, 0.3, 1 / 3, 0.7])
def test_a_constant_output_is_met_up_to_rounding(constant):
    """The mean of equal numbers is not quite that number; such an output scores 1 in every fold."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(203, 5)) + 3
    y = X @ rng.normal(size=5) + rng.normal(size=203)
    alone = ComponentSearchCV(PCR(), n_components=[1]).fit(X, y)
    both = ComponentSearchCV(PCR(), n_components=[1])
    both.fit(X, np.column_stack([y, np.full(203, constant)]))
    for i in range(5):
        score = f"split{i}_test_score"
        expected = (alone.cv_results_[score] + 1) / 2
        assert_allclose(both.cv_results_[score], expected, rtol=1e-9)
