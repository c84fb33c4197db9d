"""Oracles: planted faults, each named first in its list; the fit without them; rows that come back."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold

from isthmus import PLS, Rows, fit_auto, load, save
from isthmus.auto.answers import Answers
from isthmus.datasets import make_spectra
from isthmus.inspection import Domain, Trusted
from isthmus.inspection.unusual import FitRows, find_in_y, resolve_rows

SATURATED, SPIKED, WRONG = 7, 20, 33
SEEN = {SATURATED, SPIKED, WRONG}


def planted(seed=0):
    """A table with a saturated spectrum, a dead pixel and a wrong laboratory value."""
    spectra = make_spectra(70, random_state=seed)
    X, Y = spectra.data.copy(), spectra.target[:, :2].copy()
    X[SATURATED] = np.minimum(X[SATURATED], np.quantile(X[SATURATED], 0.9))
    X[SPIKED, 300] += 2 * X[:, 300].std()
    Y[WRONG, 1] += 4 * Y[:, 1].std()
    return X, Y


FITS = {
    "Trusted": lambda X, Y, **how: Trusted(PLS(7)).fit(X, Y, **how),
    "fit_auto": lambda X, Y, **how: fit_auto(
        X, Y, methods=["pls"], treatments=None, verbose=0, **how
    ),
}


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("seed", [0, 1])
def test_planted_faults_are_named_first_each_in_its_list(fit, seed, tmp_path):
    model = FITS[fit](*planted(seed))
    unusual = model.domain_.unusual
    lists = {part: [each["row"] for each in unusual if each["part"] == part] for part in "Xy"}
    assert set(lists["X"][:2]) == {SATURATED, SPIKED}
    assert lists["y"][0] == WRONG
    times = [each["times"] for each in unusual if each["part"] == "X"]
    assert times == sorted(times, reverse=True) and times[-1] > 9
    told = model.notices_[-1]
    assert all(f"row {row} (" in told for row in SEEN)
    assert "y1 == " in told and "exclude=[" in told
    spiked = next(each for each in unusual if each["row"] == SPIKED)
    assert "Q residual of one input" in spiked["reason"]
    save(model, tmp_path / "model.isthmus")
    again = load(tmp_path / "model.isthmus")
    assert again.domain_.unusual == unusual and again.notices_ == model.notices_
    assert again.training_summary()["unusual_rows"] == unusual


@pytest.mark.parametrize("fit", FITS)
def test_the_score_without_them_is_that_of_a_fit_that_leaves_them_out(fit):
    X, Y = planted()
    model = FITS[fit](X, Y)
    without, with_them = model.scores_without_unusual_
    assert with_them == model.best_score_ < without
    named = [each["row"] for each in model.domain_.unusual]
    rest = FITS[fit](X, Y, exclude=named)
    # Other folds, so that the scores are near and not equal.
    assert abs(without - rest.best_score_) < 0.3 * (1 - with_them)
    assert rest.excluded_ == tuple(sorted(named))
    assert rest.n_samples_ == len(X) - len(named)
    absent = FITS[fit](np.delete(X, named, axis=0), np.delete(Y, named, axis=0))
    clean = np.delete(X, named, axis=0)
    np.testing.assert_allclose(rest.predict(clean), absent.predict(clean), rtol=1e-9)


@pytest.mark.parametrize("fit", FITS)
def test_kept_rows_are_part_of_the_domain_and_not_named(fit):
    X, Y = planted()
    model = FITS[fit](X, Y, keep=sorted(SEEN))
    assert not SEEN & {each["row"] for each in model.domain_.unusual}
    assert model.check(X).distance[[SATURATED, SPIKED]].max() < 9
    assert FITS[fit](X, Y).check(X).distance[[SATURATED, SPIKED]].min() > 9


def test_outputs_are_judged_by_errors_in_the_scale_of_their_rows():
    """A raw error names the row whose spectrum is odd, one over its scale the wrong value."""
    rng = np.random.default_rng(0)
    known = rng.standard_normal((40, 3))
    known[:, 2] = known[:, 2] > 0  # classes are no amounts
    errors = rng.uniform(0.5, 1, size=known.shape)
    errors[3, 1], errors[4, 0], errors[5, 2] = 10, 6, 99
    guess = known.copy()
    guess[8] += 1000
    found = find_in_y(FitRows(np.arange(100, 140)), errors, known, guess, ["a", "b", "c"])
    assert [each["row"] for each in found] == [103, 104]
    assert found[0]["reason"].startswith(f"b == {known[3, 1]:.4g}, predicted ")


def test_rows_are_called_by_their_names():
    X, Y = planted()
    names = [f"sample{i}" for i in range(len(X))]
    model = Trusted(PLS(7)).fit(X, Y, row_names=names)
    assert f"row sample{SPIKED} (" in model.notices_[-1]
    assert "--exclude sample" in model.notices_[-1]
    again = Trusted(PLS(7)).fit(X, Y, row_names=names, exclude=[names[SPIKED], SATURATED])
    assert again.excluded_ == (names[SATURATED], names[SPIKED])
    for wrong in (["sample99"], [70], [-1], [7.5], [True], np.ones(len(X), bool)):
        with pytest.raises(ValueError, match="exclude: there is no row"):
            Trusted(PLS(7)).fit(X, Y, row_names=names, exclude=wrong)
    with pytest.raises(ValueError, match="give arrays"):
        Trusted(PLS(2)).fit(Rows.from_arrays(X, Y), exclude=[1])
    assert resolve_rows(["2", 0], ["1", "2"], 2, "keep").tolist() == [0, 1]
    assert resolve_rows("2", ["1", "2", "2"], 3, "keep").tolist() == [1, 2]
    with pytest.raises(ValueError, match="no row True"):
        resolve_rows([True, False], range(2), 2, "keep")
    with pytest.raises(ValueError, match="row_names has 2 names for 70 rows"):
        Trusted(PLS(2)).fit(X, Y, row_names=["a", "b"])


def test_an_interrupt_leaves_out_the_score_and_not_the_notice(monkeypatch):
    def interrupt(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(Answers, "judge_again", interrupt)
    model = FITS["fit_auto"](*planted())
    assert all(f"row {row} (" in model.notices_[-1] for row in SEEN)
    assert model.scores_without_unusual_ is None and "Without them" not in model.notices_[-1]


def test_rows_that_lie_together_are_a_group():
    X, Y = planted()
    X[40:46] += 8 * X.std(axis=0).mean() * np.sin(np.linspace(0, 9, X.shape[1]))
    model = Trusted(PLS(7)).fit(X, Y)
    groups = {each["row"]: each["group"] for each in model.domain_.unusual if each["part"] == "X"}
    assert len({groups[row] for row in range(40, 46)}) == 1
    assert groups[40] >= 0 > groups[SPIKED]
    assert "6 rows lie together: 40, 41, 42, 43, 44, 45 (" in model.notices_[-1]


def test_more_than_fifteen_percent_are_told():
    """Noise in a fifth of the rows: rows of which each lies elsewhere."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 4)) @ rng.standard_normal((4, 20))
    X += 0.01 * rng.standard_normal(X.shape)
    X[:17] += rng.standard_normal((17, 20))
    domain = Domain.of(PLS(2).fit(X, X[:, :1]), X)
    assert domain.share_far > 0.15
    assert len(domain.rows_aside) <= 15
    model = Trusted(PLS(2)).fit(X, X[:, :1])
    assert "% of the training rows lie far from the others" in model.notices_[-1]


def test_a_clean_table_says_nothing():
    spectra = make_spectra(70, random_state=3)
    model = Trusted(PLS(7)).fit(spectra.data, spectra.target)
    assert model.notices_ == () and model.scores_without_unusual_ is None


def test_batches_are_no_rows_that_stand_out():
    """A batch as far off as others are is what the limits of folds of batches are for."""
    rng = np.random.default_rng(0)
    batch = np.repeat(np.arange(12), 5)
    X = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 30)) + 0.01 * rng.standard_normal(
        (60, 30)
    )
    X += 0.3 * rng.standard_normal((12, 30))[batch]
    folds = list(GroupKFold(4).split(X, groups=batch))
    domain = Domain.of(PLS(3).fit(X, X[:, :2]), X, folds=folds)
    assert not domain.rows_aside


def test_errors_behind_intervals_are_those_of_the_other_rows():
    X, Y = planted()
    model = Trusted(Ridge(1e-3)).fit(X, Y)
    aside = model.domain_.rows_aside
    assert set(aside) == {SATURATED, SPIKED}
    assert len(model.residual_quantiles_) == len(model.domain_.scaled_errors) == len(X) - len(aside)
