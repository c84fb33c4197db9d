"""One eigenproblem, four forms; the worked examples; the identities between the projections."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh, subspace_angles
from sklearn.base import clone
from sklearn.decomposition import KernelPCA
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import PredefinedSplit
from statsmodels.regression.dimred import SlicedInverseReg

from isthmus.datasets import make_curves
from isthmus.kernels import RBF, Laplacian
from isthmus.kernels.distinct import deal_by_content
from isthmus.projections import COIR, MORP, SIR, KernelCCA, KernelSIR
from isthmus.projections.eigen import (
    EigenGram,
    RidgeGram,
    ridge_whitening,
    solve_dense,
    solve_factor,
    solve_features,
    solve_krylov,
)

X6 = np.array([[0, 0], [1, 0], [0, 1], [2, 2], [3, 1], [1, 3]], dtype=float)
SLICES6 = np.array([0, 0, 0, 1, 2, 2])
Y6 = np.array([0, 0.5, 0.5, 2, 2.5, 3])
ALPHA, ALPHA_Y = 6 * 0.01, 6 * 0.1


def centred(K):
    return K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()


@pytest.fixture(scope="module")
def curves():
    return make_curves(120, 6, random_state=1)


# -- worked examples of the specification -----------------------------------------------------

EXAMPLES = {
    ("KernelSIR", "inverse"): ([0.27630397, 0.08477734], [2.11319663, 5.88634042]),
    ("KernelSIR", "generalised"): ([0.96415452, 0.89447099], [1.12800456, 1.81436546]),
    ("COIR", "inverse"): ([0.21729901, 0.04209832], [1.67953374, 4.33212728]),
    ("COIR", "generalised"): ([0.76608287, 0.36608189], [0.79688213, 1.58554338]),
}


@pytest.mark.parametrize("solver", ["dense", "factor", "krylov", "features"])
@pytest.mark.parametrize("method", ["inverse", "generalised"])
def test_worked_example_of_kernel_sir(method, solver):
    model = KernelSIR(
        gamma=0.5,
        alpha=ALPHA,
        eigenproblem=method,
        score_scale="raw",
        solver=solver,
        n_landmarks=6,
        cv=None,
    ).fit(X6, SLICES6)
    values, row = EXAMPLES["KernelSIR", method]
    assert model.solver_ == solver
    assert_allclose(model.eigenvalues_, values, atol=6e-9)
    assert_allclose(np.abs(model.transform(X6)[3]), row, atol=6e-9)


@pytest.mark.parametrize("solver", ["dense", "krylov", "features"])
@pytest.mark.parametrize("method", ["inverse", "generalised"])
def test_worked_example_of_coir(method, solver):
    model = COIR(
        gamma=0.5,
        kernel_y=RBF(0.5),
        alpha=ALPHA,
        alpha_y=ALPHA_Y,
        eigenproblem=method,
        score_scale="raw",
        solver=solver,
        n_landmarks=6,
        cv=None,
    ).fit(X6, Y6)
    values, row = EXAMPLES["COIR", method]
    assert_allclose(model.eigenvalues_, values, atol=6e-9)
    assert_allclose(np.abs(model.transform(X6)[3]), row, atol=6e-9)


@pytest.mark.parametrize("solver", ["dense", "krylov", "features"])
def test_worked_example_of_kernel_cca(solver):
    model = KernelCCA(
        gamma=0.5,
        kernel_y=RBF(0.5),
        alpha=ALPHA,
        alpha_y=ALPHA_Y,
        solver=solver,
        n_landmarks=6,
        cv=None,
    ).fit(X6, Y6)
    assert_allclose(model.correlations_, [0.87526160, 0.60504701], atol=6e-9)


@pytest.mark.parametrize(
    ("alpha", "solver", "values", "row"),
    [
        (ALPHA, "dense", [3.65039325, 0.89638088], [0.96972834, 0.04742327]),
        (ALPHA, "krylov", [3.65039325, 0.89638088], [0.96972834, 0.04742327]),
        (ALPHA, "features", [3.65039325, 0.89638088], [0.96972834, 0.04742327]),
    ],
)
def test_worked_example_of_morp(alpha, solver, values, row):
    Y = np.c_[Y6, [1, 0, 1, 0, 1, 0]]
    model = MORP(gamma=0.5, alpha=alpha, solver=solver, n_landmarks=6, cv=None)
    model.fit(X6, Y)
    assert_allclose(model.eigenvalues_, values, atol=6e-9)
    assert_allclose(np.abs(model.transform(X6)[0]), row, atol=6e-9)


# -- the four forms ---------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["generalised", "inverse"])
def test_forms_agree_with_the_definition(method):
    rng = np.random.default_rng(0)
    F = rng.standard_normal((40, 7))
    F -= F.mean(axis=0)
    Q = rng.standard_normal((40, 4))
    K, G, alpha, n = F @ F.T, Q @ Q.T, 2.0, 40
    if method == "generalised":
        values = eigh(F.T @ G @ F, F.T @ F + alpha * np.eye(7), eigvals_only=True)[::-1][:4]
    else:
        values = np.linalg.eigvalsh(F.T @ G @ F / n)[::-1][:4]
    answers = {
        "dense": solve_dense(EigenGram(K, alpha), G, method, 4),
        "factor": solve_factor(RidgeGram(K, alpha), Q, method, 4),
        "shared": solve_factor(EigenGram(K).at(alpha), Q, method, 4),
        "krylov": solve_krylov(
            RidgeGram(K, alpha), lambda V: G @ V, method, 4, np.random.default_rng(1)
        ),
    }
    whitening = ridge_whitening(F.T @ F, alpha)[0]
    features = solve_features(whitening, n, F.T @ Q, None, method, 4)
    square = solve_features(whitening, n, np.zeros((7, 1)), Q.T @ F, method, 4)
    Z = F @ features.coef
    b = features.coef
    if method == "generalised":  # the scale that is promised
        assert_allclose(np.diag(b.T @ (F.T @ F + alpha * np.eye(7)) @ b), n)
    assert_allclose(features.eigenvalues, values, rtol=1e-10)
    assert_allclose(np.abs(F @ square.coef), np.abs(Z), rtol=1e-8, atol=1e-10)
    for name, axes in answers.items():
        assert_allclose(axes.eigenvalues, values, rtol=1e-9, err_msg=name)
        assert_allclose(np.abs(K @ axes.coef), np.abs(Z), rtol=1e-7, atol=1e-9, err_msg=name)


def estimators():
    return [
        KernelSIR(n_components=3, random_state=0),
        KernelSIR(n_components=3, eigenproblem="inverse", random_state=0),
        COIR(n_components=3, cv=None),
        COIR(n_components=3, kernel_y="linear", cv=None),
        COIR(n_components=3, eigenproblem="inverse", cv=None),
        MORP(n_components=3, cv=None),
        MORP(n_components=3, beta=1.0, cv=None),
        MORP(n_components=3, kernel_y="rbf", cv=None),
        KernelCCA(n_components=3, cv=None),
    ]


@pytest.mark.parametrize("estimator", estimators(), ids=repr)
def test_solvers_agree_on_new_points(estimator, curves):
    X, y, _ = curves
    Y = np.c_[y, X[:, 0] ** 2, X[:, 1]]
    new = X[100:]
    reference = estimator.set_params(solver="dense").fit(X[:100], Y[:100])
    Z, values = reference.transform(new), reference.eigenvalues_
    for solver in ("factor", "krylov", "features"):
        try:
            model = estimator.set_params(solver=solver, n_landmarks=100).fit(X[:100], Y[:100])
        except ValueError as error:
            assert "needs G = Q Q'" in str(error)
            continue
        assert model.solver_ == solver
        assert_allclose(model.eigenvalues_, values, rtol=1e-6, err_msg=solver)
        assert_allclose(model.transform(new), Z, atol=1e-3 * np.abs(Z).max(), err_msg=solver)
        if solver != "krylov":
            assert_allclose(model.transform(new), Z, atol=1e-6 * np.abs(Z).max(), err_msg=solver)


def test_the_form_is_chosen_by_size():
    X, y, _ = make_curves(620, 5, random_state=0)
    solvers = {
        "sliced": KernelSIR(cv=None).fit(X, y).solver_,
        "smooth": COIR(cv=None).fit(X, y).solver_,
        "small": COIR(cv=None).fit(X[:200], y[:200]).solver_,
        "linear": KernelSIR(kernel="linear", cv=None).fit(X, y).solver_,
        "few outputs": COIR(kernel_y="linear", n_components=1, cv=None).fit(X, y).solver_,
        "mixture": MORP(cv=None).fit(X, y).solver_,
    }
    assert solvers == {
        "sliced": "factor",
        "smooth": "krylov",
        "small": "dense",
        "linear": "features",
        "few outputs": "factor",
        "mixture": "krylov",
    }
    X, y, _ = make_curves(3200, 5, random_state=0)
    assert COIR(cv=None, n_landmarks=50).fit(X, y).solver_ == "features"


def test_krylov_is_as_accurate_as_stated():
    X, y, _ = make_curves(700, 8, noise_outputs=2, random_state=0)
    dense = COIR(n_components=20, solver="dense", cv=None).fit(X, y)
    krylov = COIR(n_components=20, solver="krylov", cv=None).fit(X, y)
    assert np.abs(dense.eigenvalues_ - krylov.eigenvalues_).max() < 1e-5
    A, B = (model.set_params().transform(X)[:, :10] for model in (dense, krylov))
    assert np.sin(subspace_angles(A, B)).max() < 1e-2


def test_blocks_of_rows_are_the_whole(monkeypatch, curves):
    X, y, _ = curves
    whole = COIR(solver="features", n_landmarks=60, cv=5, random_state=0).fit(X, y)
    monkeypatch.setattr("isthmus.projections.features.BLOCK_ROWS", 17)
    monkeypatch.setattr(
        "isthmus.projections.features._KEPT_BYTES", 0
    )  # features are computed again
    parts = COIR(solver="features", n_landmarks=60, cv=5, random_state=0).fit(X, y)
    assert_allclose(parts.transform(X), whole.transform(X), atol=1e-9)
    assert_allclose(parts.held_out_score_, whole.held_out_score_)


# -- identities -------------------------------------------------------------------------------


def test_eigenvalues_of_coir_are_squared_correlations(curves):
    X, y, _ = curves
    coir = COIR(n_components=4, gamma=0.1, kernel_y=RBF(0.5), alpha=0.5, alpha_y=2.0, cv=None).fit(
        X, y
    )
    K, L = (centred(k) for k in (rbf_kernel(X, gamma=0.1), rbf_kernel(y[:, None], gamma=0.5)))
    roots = []
    for A, alpha in ((K, 0.5), (L, 2.0)):
        values, U = np.linalg.eigh(A)
        values = np.maximum(values, 0)
        roots.append(U * np.sqrt(values / (values + alpha)) @ U.T)
    rho = np.linalg.svd(roots[0] @ roots[1], compute_uv=False)[:4]
    assert_allclose(coir.eigenvalues_, rho**2, atol=1e-12)


def test_both_sides_of_kernel_cca(curves):
    X, y, _ = curves
    Y = np.c_[y, X[:, 2]]
    model = KernelCCA(n_components=3, alpha=0.5, alpha_y=0.7, cv=None).fit(X, Y)
    exchanged = KernelCCA(n_components=3, alpha=0.7, alpha_y=0.5, cv=None).fit(Y, X)
    assert_allclose(model.correlations_, exchanged.correlations_, atol=1e-10)
    assert_allclose(np.abs(model.transform_y(Y)), np.abs(exchanged.transform(Y)), atol=1e-6)
    assert_allclose(np.abs(exchanged.transform_y(X)), np.abs(model.transform(X)), atol=1e-6)
    K = rbf_kernel(X, gamma=model.kernel_.gamma)
    ready = KernelCCA(3, "precomputed", alpha=0.5, alpha_y=0.7, cv=None).fit(K, Y)
    assert_allclose(ready.transform(K), model.transform(X), atol=1e-9)
    assert_allclose(ready.transform_y(Y), model.transform_y(Y), atol=1e-9)
    assert_allclose(K, rbf_kernel(X, gamma=model.kernel_.gamma), rtol=0)  # the caller's own
    features = KernelCCA(
        n_components=3, alpha=0.5, alpha_y=0.7, cv=None, solver="features", n_landmarks=120
    ).fit(X, Y)
    assert_allclose(features.transform_y(Y), model.transform_y(Y), atol=1e-6)


def test_coir_becomes_kernel_sir(curves):
    X, y, _ = curves
    labels = np.digitize(y, [-1.0, 0.0, 1.0])
    blocks = (labels[:, None] == labels).astype(float)
    sir = KernelSIR(n_components=3, alpha=0.5, cv=None).fit(X, labels)
    coir = COIR(n_components=3, kernel_y="precomputed", alpha=0.5, alpha_y=1e-9, cv=None)
    coir.fit(X, blocks)
    assert_allclose(coir.eigenvalues_, sir.eigenvalues_, atol=1e-8)
    assert_allclose(coir.transform(X), sir.transform(X), atol=1e-6)
    exact = COIR(n_components=3, kernel_y="precomputed", alpha=0.5, alpha_y=0, cv=None).fit(
        X, blocks
    )
    assert_allclose(exact.transform(X), sir.transform(X), atol=1e-8)


def test_coir_without_output_ridge_ignores_full_rank_outputs(curves):
    X, y, _ = curves
    with pytest.raises(ValueError, match="alpha_y == 0 and the output kernel has full rank"):
        COIR(alpha_y=0, kernel_y=Laplacian(50.0), cv=None).fit(X, y)


def test_a_slice_for_every_row_is_kernel_pca(curves):
    X, y, _ = curves
    n = len(X)
    pca = KernelPCA(4, kernel="rbf", gamma=0.1).fit(X)
    model = KernelSIR(
        n_components=4,
        gamma=0.1,
        n_slices=n,
        eigenproblem="inverse",
        score_scale="raw",
        alpha=1e-3,
        cv=None,
    ).fit(X, y)
    assert_allclose(model.eigenvalues_, pca.eigenvalues_ / n, rtol=1e-9)
    # b = v / (l / n + alpha / n): the scores of kernel PCA, blown up
    scores = np.abs(pca.transform(X)) * n / (pca.eigenvalues_ + 1e-3)
    assert_allclose(np.abs(model.transform(X)), scores, rtol=1e-6, atol=1e-8)


def test_a_linear_kernel_is_sir(curves):
    X, y, _ = curves
    for method in ("generalised", "inverse"):
        sir = SIR(3, alpha=2.0, eigenproblem=method).fit(X, y)
        kernel = KernelSIR(3, "linear", alpha=2.0, eigenproblem=method, solver="dense").fit(X, y)
        assert_allclose(kernel.eigenvalues_, sir.eigenvalues_, atol=1e-13)
        assert_allclose(kernel.transform(X), sir.transform(X), atol=1e-11)
        assert_allclose(kernel.held_out_score_, sir.held_out_score_)


def test_sir_with_more_inputs_than_rows_is_the_dual():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 50)), rng.standard_normal(30)
    wide = SIR(2, alpha=3.0, cv=None).fit(X, y)
    primal = KernelSIR(2, "linear", alpha=3.0, solver="features", n_landmarks=50, cv=None).fit(X, y)
    assert wide.solver_ != "features" and wide.components_.shape == (2, 50)
    assert_allclose(wide.transform(X), primal.transform(X), atol=1e-9)


@pytest.mark.parametrize("copies", [1, 3])
def test_sir_that_fits_all_slices_is_the_limit_of_small_ridges(copies):
    """Every eigenvalue is one: the order of the coordinates is that of ever smaller ridges."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((24, 40)), rng.standard_normal(24)
    new = rng.standard_normal((9, 40))
    rows = np.repeat(np.arange(24), copies)  # 72 rows of 40 inputs go by features
    with pytest.warns(UserWarning, match="alpha == 0"):
        plain = SIR(3, n_slices=6).fit(X[rows], y[rows])
    assert_allclose(plain.eigenvalues_, 1.0, atol=1e-10)
    errors = [
        np.abs(
            plain.transform(new)
            - SIR(3, n_slices=6, alpha=alpha * copies).fit(X[rows], y[rows]).transform(new)
        ).max()
        for alpha in (1e-2, 1e-4)
    ]
    assert errors[0] < 1e-2 and errors[1] < 1.1e-2 * errors[0]  # the error falls as the ridge


def test_sir_is_invariant_under_affine_maps(curves):
    X, y, _ = curves
    rng = np.random.default_rng(3)
    A, b = rng.standard_normal((6, 6)) * 10.0 ** rng.uniform(-3, 3, 6), rng.standard_normal(6)
    plain, mapped = SIR(3).fit(X, y), SIR(3).fit(X @ A + b, y)
    assert_allclose(mapped.eigenvalues_, plain.eigenvalues_, atol=1e-10)
    assert_allclose(mapped.transform(X @ A + b), plain.transform(X), atol=1e-7)
    source = SIR(3, eigenproblem="inverse").fit(X, y).transform(X)
    other = SIR(3, eigenproblem="inverse").fit(X @ A + b, y).transform(X @ A + b)
    assert np.abs(source - other).max() > 1e-2  # why it is not the default


@pytest.mark.parametrize("n_slices", [5, 10, 20])
def test_sir_against_statsmodels(n_slices):
    X, y, _ = make_curves(400, 8, random_state=2)
    ours = SIR(2, n_slices=n_slices).fit(X, y)
    peer = SlicedInverseReg(y, X).fit(slice_n=400 // n_slices)
    angles = subspace_angles(ours.components_.T, peer.params[:, :2])
    assert angles.max() < 1e-8


# -- MORP -------------------------------------------------------------------------------------


def test_morp_without_outputs_is_kernel_pca(curves):
    X, y, _ = curves
    n = len(X)
    K = centred(rbf_kernel(X, gamma=0.1))
    K *= n / np.trace(K)
    values, U = (a[..., ::-1][..., :3] for a in np.linalg.eigh(K))
    scores = np.abs(U * np.sqrt(values))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # alpha == 0: the rank is told
        model = MORP(n_components=3, gamma=0.1, beta=0.0, alpha=0.0, cv=None).fit(X, y)
    assert_allclose(model.eigenvalues_, values, rtol=1e-10)
    assert_allclose(np.abs(model.transform(X)), scores, atol=1e-8)


def test_morp_with_outputs_alone_is_reduced_rank_ridge(curves):
    X, y, _ = curves
    Y = np.c_[y, X[:, 0] ** 2, X[:, 3]]
    n, alpha = len(X), 1.7
    K = centred(rbf_kernel(X, gamma=0.1))
    K *= n / np.trace(K)
    Yc = Y - Y.mean(axis=0)
    Yc *= np.sqrt(n / (Yc**2).sum())
    S = K @ np.linalg.inv(K + alpha * np.eye(n))
    expected = np.linalg.eigvalsh(Yc.T @ S @ Yc)[::-1]
    model = MORP(n_components=3, gamma=0.1, beta=1.0, alpha=alpha, cv=None).fit(X, Y)
    assert_allclose(model.eigenvalues_, expected, rtol=1e-9)
    # The coordinates span the fitted values of ridge regression.
    assert subspace_angles(model.transform(X), S @ Yc).max() < 1e-6


# -- invariances ------------------------------------------------------------------------------

INVARIANT = [KernelSIR(gamma=0.1), COIR(gamma=0.1, kernel_y=RBF(0.5)), MORP(gamma=0.1)]


@pytest.mark.parametrize("estimator", INVARIANT, ids=lambda e: type(e).__name__)
def test_rescaling_the_kernel_changes_nothing(estimator, curves):
    X, y, _ = curves
    estimator = estimator.set_params(cv=None)
    Z = estimator.fit(X, y).transform(X)
    K = rbf_kernel(X, gamma=0.1)
    if isinstance(estimator, KernelSIR):  # folds are dealt by what the rows are: here kernel values
        folds = list(PredefinedSplit(deal_by_content(X, 5)).split())
        estimator = estimator.set_params(cv=folds)
    other = clone(estimator).set_params(kernel="precomputed", gamma=None)
    assert_allclose(other.fit(K, y).transform(K), Z, atol=1e-9)
    assert_allclose(other.fit(1e4 * K, y).transform(1e4 * K), Z, atol=1e-9)


@pytest.mark.parametrize("estimator", INVARIANT, ids=lambda e: type(e).__name__)
def test_permuting_rows_permutes_the_answer(estimator, curves):
    X, y, _ = curves
    order = np.random.default_rng(0).permutation(len(X))
    Z = estimator.fit(X, y).transform(X)
    assert_allclose(estimator.fit(X[order], y[order]).transform(X), Z, atol=1e-9)


@pytest.mark.parametrize("estimator", INVARIANT, ids=lambda e: type(e).__name__)
def test_doubling_every_row_changes_nothing_for_new_points(estimator, curves):
    X, y, _ = curves
    estimator = estimator.set_params(cv=None)
    if not isinstance(estimator, MORP):
        estimator = estimator.set_params(score_scale="eigenvalue")
    new = X[:20] + 0.1
    Z = estimator.fit(X, y).transform(new)
    twice = estimator.fit(np.repeat(X, 2, axis=0), np.repeat(y, 2)).transform(new)
    if isinstance(estimator, MORP):  # psi is scaled to unit length of all coordinates
        twice = twice / np.abs(twice).max() * np.abs(Z).max()
    assert_allclose(twice, Z, atol=1e-9 * np.abs(Z).max())


def test_scales(curves):
    X, y, _ = curves
    for estimator in (
        SIR(),
        KernelSIR(),
        COIR(),
        COIR(eigenproblem="inverse"),
        COIR(solver="features"),
    ):
        model = estimator.fit(X, y)
        Z = model.transform(X)
        assert_allclose(Z.std(axis=0), np.sqrt(model.eigenvalues_), rtol=1e-8)
        assert_allclose(Z.mean(axis=0), 0, atol=1e-9)
        Z = model.set_params(score_scale="unit").fit(X, y).transform(X)
        assert_allclose(Z.std(axis=0), 1, rtol=1e-8)
