"""Oracles of averages by evidence and of the joint grid: normal densities, refits, loops."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import null_space
from scipy.stats import multivariate_normal
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from isthmus import MethodSearchCV, load, save
from isthmus.auto.methods.evidence import EvidenceSearch, Process
from isthmus.auto.methods.principal import _ALPHAS, PrincipalSearch
from isthmus.auto.methods.treated import TreatedSearch
from isthmus.features.treatments import SavitzkyGolay
from isthmus.kernels import RBF
from isthmus.problems.ridge import RidgeSpectrum

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 6)) + 1
Y = X @ rng.normal(size=(6, 2)) + rng.normal(size=(30, 2))
FOLDS = list(KFold(5, shuffle=True, random_state=1).split(X))


def process(kernel):
    K = X @ X.T if kernel is None else kernel(X, X)
    return K, Process("p", "p", None, X, kernel, RidgeSpectrum.of_gram(K), Y)


@pytest.mark.parametrize("weighted", [False, True])
def test_evidence_is_the_density_of_the_contrasts(weighted):
    """Densities of what is left of the outputs without their mean, the variance at its best value."""
    weights = rng.uniform(0.5, 2, 30) if weighted else np.ones(30)
    weights /= weights.mean()
    root = np.sqrt(weights)
    contrasts = null_space(root[None, :])
    found, expected = [], []
    for K in (X @ X.T, RBF(0.1)(X, X)):
        own = Process("p", "p", None, X, None, RidgeSpectrum.of_gram(K, weights), Y)
        inner = contrasts.T @ (root[:, None] * K * root) @ contrasts
        for k in (8, 14, 20, 26):
            C = inner + own.alphas[k] * np.eye(29)
            for j in range(2):
                z = contrasts.T @ (root * Y[:, j])
                variance = z @ np.linalg.solve(C, z) / 29
                expected.append(multivariate_normal.logpdf(z, cov=variance * C))
                found.append(own.evidence[k, j])
    assert_allclose(np.diff(found), np.diff(expected), rtol=1e-7, atol=1e-7)


def test_averages_are_those_of_refitted_ridges():
    bank = {"none": None, "autoscaled": StandardScaler()}
    search = EvidenceSearch(bank, ("linear",)).fit(X, Y)
    unit = Y.std(axis=0)
    evidence, fitted = [], []
    for step in bank.values():
        Z = X if step is None else step.fit_transform(X)
        own = Process("p", "p", None, Z, None, RidgeSpectrum.of_rows(Z), Y / unit)
        for alpha, log in zip(own.alphas, own.evidence, strict=True):
            evidence.append(log)
            fitted.append(Ridge(alpha).fit(Z, Y).predict(Z))
    logs = 0.5 * (np.array(evidence) - np.max(evidence, axis=0))
    weights = np.where(logs < np.log(0.01), 0, np.exp(logs))
    weights /= weights.sum(axis=0)
    assert_allclose(search.predict(X), np.einsum("kq,knq->nq", weights, fitted), rtol=1e-8)


def test_half_of_the_prior_is_for_columns_as_measured():
    bank = {
        "none": None,
        "a": SavitzkyGolay(5, 2),
        "b": SavitzkyGolay(5, 2),
        "c": SavitzkyGolay(5, 2),
    }
    prior = EvidenceSearch(bank)._prior()
    assert_allclose(np.exp(prior["none"]), sum(np.exp(prior[name]) for name in "abc"))


def test_evidence_of_noise_predicts_next_to_nothing():
    """The share of variance of rows of noise that were not seen.

    The predictions of new rows of noise can only add to the squared error, in expectation; over 200 new
    rows the share has a deviation below 0.03, so that the mean of eight is above 0.04 with odds below 1e-4.
    """
    shares = []
    for seed in range(8):
        draw = np.random.default_rng(seed)
        A, b = draw.normal(size=(260, 8)), draw.normal(size=260)
        found = EvidenceSearch({"none": None}).fit(A[:60], b[:60]).predict(A[60:])
        shares.append(1 - np.mean((b[60:] - found) ** 2) / b[60:].var())
    assert -0.25 < np.mean(shares) < 0.04


def test_a_process_is_saved(tmp_path):
    search = MethodSearchCV("process", cv=3).fit(X, Y)
    save(search, tmp_path / "m.isthmus")
    assert_allclose(load(tmp_path / "m.isthmus").predict(X), search.predict(X), rtol=1e-12)


# -- principal components with a ridge -----------------------------------------------------------


def principal(A, B, new, rank, alpha):
    """Ridge regression on the leading components of A, by its singular value decomposition."""
    centre, means = A.mean(axis=0), B.mean(axis=0)
    _, singular, right = np.linalg.svd(A - centre, full_matrices=False)
    scores = (A - centre) @ right[:rank].T
    coef = scores.T @ (B - means) / (singular[:rank, None] ** 2 + alpha * singular[0] ** 2)
    return means + (new - centre) @ right[:rank].T @ coef


def test_the_grid_is_that_of_a_loop():
    errors = np.zeros((len(_ALPHAS), 6, 2))
    for a, alpha in enumerate(_ALPHAS):
        for k in range(6):
            for train, test in FOLDS:
                off = Y[test] - principal(X[train], Y[train], X[test], k + 1, alpha)
                errors[a, k] += (off**2).sum(axis=0)
    search = PrincipalSearch(cv=FOLDS).fit(X, Y)
    best = errors.reshape(-1, 2).min(axis=0)
    assert_allclose(((Y - search.left_out_) ** 2).sum(axis=0), best, rtol=1e-9)
    top = np.linalg.norm(X - X.mean(axis=0), 2) ** 2
    for j in range(2):
        rank = int(search.best_params_["n_components"][j])
        alpha = float(search.best_params_["alpha"][j]) / top
        expected = principal(X, Y, X, rank, alpha)[:, j]
        assert_allclose(search.predict(X)[:, j], expected, rtol=1e-8)


def test_more_columns_than_rows_and_treatments():
    draw = np.random.default_rng(1)
    A = np.cumsum(draw.normal(size=(25, 80)), axis=1)
    b = A[:, 40] - A[:, 30]
    bank = {"derivative": SavitzkyGolay(7, 2, 1)}
    search = TreatedSearch(PrincipalSearch(), bank, cv=5).fit(A, b)
    Z = bank["derivative"].fit_transform(A)
    found = PrincipalSearch(cv=5).fit(Z, b)
    assert_allclose(search.predict(A), found.predict(Z), rtol=1e-6)
    assert_allclose(A @ search.best_estimator_.coef_ + search.best_estimator_.intercept_,
                    found.predict(Z), rtol=1e-6)  # fmt: skip
