"""Oracles: refits of ridge on scaled blocks in every fold, the published multiblock algorithms."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, LeaveOneOut, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from isthmus import PLS
from isthmus.regression import BlockRidge, MultiblockPLS, SequentialPLS, join_blocks


def make(n=30, sizes=(6, 12), q=2, seed=0):
    rng = np.random.default_rng(seed)
    parts = [rng.normal(2, 1 + b, size=(n, p)) for b, p in enumerate(sizes)]
    X, blocks = join_blocks(*parts)
    Y = X[:, :3] @ rng.normal(size=(3, q)) + rng.normal(size=(n, q)) + 7
    return X, Y * [1.0, 40.0][:q], blocks


def brute_force(X, Y, blocks, alpha, cv):
    """Squared errors of ridge on blocks divided by the roots of their weights, refitted in every fold."""
    scales = np.empty(X.shape[1])
    for block, value in zip(blocks, alpha, strict=True):
        scales[block] = 1 / np.sqrt(value)
    left_out = cross_val_predict(Ridge(1.0), X * scales, Y, cv=cv)
    return (((left_out - Y) ** 2).mean(axis=0) / Y.var(axis=0)).mean()


@pytest.mark.parametrize("sizes", [(6, 12), (20, 25), (40, 3, 5)], ids=["tall", "wide", "three"])
@pytest.mark.parametrize("cv", [None, KFold(4, shuffle=True, random_state=0)], ids=["loo", "4"])
def test_errors_are_those_of_refits(sizes, cv):
    X, Y, blocks = make(sizes=sizes)
    model = BlockRidge(blocks, alphas=[0.1, 3.0, 50.0], cv=cv).fit(X, Y)
    assert len(model.alphas_) == 3 ** len(blocks)
    for i in np.random.default_rng(0).permutation(len(model.alphas_))[:6]:
        expected = brute_force(X, Y, blocks, model.alphas_[i], LeaveOneOut() if cv is None else cv)
        assert_allclose(model.cv_errors_[i], expected, rtol=1e-8)
    assert_array_equal(model.alpha_, model.alphas_[model.cv_errors_.argmin()])


@pytest.mark.parametrize("sizes", [(6, 12), (20, 25)], ids=["tall", "wide"])
def test_the_map_is_ridge_on_scaled_blocks(sizes):
    X, Y, blocks = make(sizes=sizes)
    model = BlockRidge(blocks, alphas=[0.5, 20.0]).fit(X, Y)
    scales = np.repeat(1 / np.sqrt(model.alpha_), sizes)
    peer = Ridge(1.0).fit(X * scales, Y)
    assert_allclose(model.predict(X), peer.predict(X * scales), rtol=1e-8)
    assert_allclose(model.coef_, peer.coef_ * scales, rtol=1e-6, atol=1e-9)
    plain = BlockRidge(alphas=[3.0]).fit(X, Y[:, 0])
    assert_allclose(plain.predict(X), Ridge(3.0).fit(X, Y[:, 0]).predict(X), rtol=1e-8)


def test_a_block_of_noise_is_put_down():
    rng = np.random.default_rng(1)
    X, blocks = join_blocks(rng.normal(size=(50, 4)), 5 * rng.normal(size=(50, 200)))
    y = X[:, :4] @ [1.0, -2.0, 0.5, 1.0] + 0.1 * rng.normal(size=50)
    model = BlockRidge(blocks).fit(X, y)
    assert_allclose(model.block_importances_.sum(), 1)
    assert model.block_importances_[0] > 0.95
    together = BlockRidge().fit(X, y)
    assert model.cv_errors_.min() < 0.2 * together.cv_errors_.min()


def test_units_of_a_block_and_of_an_output_do_not_matter():
    X, Y, blocks = make()
    scaled = X.copy()
    scaled[:, blocks[1]] *= 1e4
    first, second = BlockRidge(blocks).fit(X, Y), BlockRidge(blocks).fit(scaled, Y * [1e3, 1.0])
    assert_allclose(second.predict(scaled) / [1e3, 1.0], first.predict(X), rtol=1e-6)


def test_many_blocks_are_searched_one_after_another():
    X, Y, blocks = make(sizes=(3, 3, 3, 3, 3))
    model = BlockRidge(blocks).fit(X, Y)
    assert len(model.alphas_) <= 3 * 5 * 9
    alone = BlockRidge(blocks, alphas=[model.alpha_[0]]).fit(X, Y)
    assert model.cv_errors_.min() <= alone.cv_errors_[0] * (1 + 1e-9)


def test_blocks_by_name_number_and_slice():
    X, Y, blocks = make()
    table = pd.DataFrame(X, columns=[f"c{j}" for j in range(18)])
    names = [[f"c{j}" for j in range(6)], [f"c{j}" for j in range(6, 18)]]
    expected = BlockRidge(blocks).fit(X, Y).coef_
    assert_allclose(clone(BlockRidge(names)).fit(table, Y).coef_, expected)
    assert_allclose(BlockRidge([range(6), np.arange(6, 18)]).fit(X, Y).coef_, expected)
    pipe = make_pipeline(StandardScaler(), BlockRidge(blocks)).fit(X, Y)
    assert pipe.predict(X).shape == Y.shape


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([slice(0, 5)], "column 5 is in 0 blocks"),
        ([slice(0, 18), [3]], "column 3 is in 2 blocks"),
        ([["a"]], "blocks name 'a'"),
        ([[0.5]], "must be a slice, column numbers or column names"),
        ([[99]], "a block has column 99, must be from 0 to"),
        ([[-1, 3]], "a block has column -1"),
        ([2, 16], "a block is 2, must be a slice"),
        ("nir", "must be a list"),
        ([], "at least one block"),
    ],
)
def test_errors_name_the_block(blocks, message):
    X, Y, _ = make()
    with pytest.raises(ValueError, match=message):
        BlockRidge(blocks).fit(X, Y)


def test_bad_folds_and_weights_are_refused():
    X, Y, blocks = make()
    twice = [(np.arange(10, 30), np.arange(10)), (np.arange(10, 30), np.arange(10))]
    with pytest.raises(ValueError, match="tests a row twice"):
        BlockRidge(blocks, cv=twice).fit(X, Y)
    with pytest.raises(ValueError, match="all > 0"):
        BlockRidge(blocks, alphas=[0.0, 1.0]).fit(X, Y)


@parametrize_with_checks([BlockRidge(), MultiblockPLS(), SequentialPLS()])
def test_sklearn_contract(estimator, check):
    check(estimator)


def westerhuis(blocks, y, k):
    """Multiblock PLS with super-scores for one output: blocks and y centred and scaled before."""
    blocks, scores, supers, weights = [block.copy() for block in blocks], [], [], []
    for _ in range(k):
        parts = [block.T @ y for block in blocks]
        T = np.column_stack([b @ w / np.linalg.norm(w) for b, w in zip(blocks, parts, strict=True)])
        super_weight = T.T @ y / np.linalg.norm(T.T @ y)
        t = T @ super_weight
        blocks = [b - np.outer(t, t @ b) / (t @ t) for b in blocks]
        y = y - t * (t @ y) / (t @ t)
        scores.append(T)
        supers.append(t)
        weights.append(super_weight)
    return np.array(scores), np.column_stack(supers), np.column_stack(weights)


def test_multiblock_pls_is_the_published_algorithm():
    X, Y, blocks = make(q=1)
    y = Y[:, 0]
    model = MultiblockPLS(blocks, n_components=3).fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    parts = [Z[:, block] / np.sqrt(Z[:, block].shape[1]) for block in blocks]
    scores, supers, weights = westerhuis(parts, (y - y.mean()) / y.std(), 3)
    signs = np.sign((supers * model.transform(X)).sum(axis=0))
    assert_allclose(model.transform(X) * signs, supers, atol=1e-10)
    assert_allclose(model.super_weights_, weights, atol=1e-10)
    for b, found in enumerate(model.block_scores(X)):
        assert_allclose(found * signs, scores[:, :, b].T, atol=1e-10)
    fitted = supers @ np.linalg.lstsq(supers, y - y.mean(), rcond=None)[0] + y.mean()
    assert_allclose(model.predict(X), fitted, atol=1e-9)
    assert_allclose(model.block_importances_.sum(), 1)


def test_one_block_is_pls():
    X, Y, _ = make()
    plain = PLS(3).fit(X, Y).predict(X)
    assert_allclose(MultiblockPLS(n_components=3).fit(X, Y).predict(X), plain, rtol=1e-8)
    assert_allclose(SequentialPLS(n_components=3).fit(X, Y).predict(X), plain, rtol=1e-8)


def test_sequential_pls_step_by_step():
    X, Y, blocks = make(60, (6, 9, 4))
    model = SequentialPLS(blocks, n_components=[2, 0, 3]).fit(X[:40], Y[:40])
    mean, deviation = X[:40].mean(axis=0), X[:40].std(axis=0)
    Z = (X - mean) / deviation
    left = (Y[:40] - Y[:40].mean(axis=0)) / Y[:40].std(axis=0)
    first = PLSRegression(2, scale=False, tol=1e-14, max_iter=10_000).fit(Z[:40, blocks[0]], left)
    T = first.transform(Z[:, blocks[0]])
    left = left - first.predict(Z[:40, blocks[0]])
    slope = np.linalg.lstsq(T[:40], Z[:40, blocks[2]], rcond=None)[0]
    third = Z[:, blocks[2]] - T @ slope  # new rows by the slopes of the old ones
    last = PLSRegression(3, scale=False, tol=1e-14, max_iter=10_000).fit(third[:40], left)
    total = first.predict(Z[:, blocks[0]]) + last.predict(third)
    expected = total * Y[:40].std(axis=0) + Y[:40].mean(axis=0)
    assert_allclose(model.predict(X), expected, rtol=1e-6)
    scores = model.transform(X[:40])
    gram = scores.T @ scores
    assert_allclose(gram - np.diag(np.diag(gram)), 0, atol=1e-8 * gram.max())
    assert model.n_components_ == [2, 0, 3] and model.block_explained_variance_[1] == 0
    r2 = r2_score(Y[:40], model.predict(X[:40]), multioutput="raw_values").mean()
    assert_allclose(model.block_explained_variance_.sum(), r2)


def test_numbers_of_components_are_chosen_block_by_block():
    """Oracle: PLS("auto") on the first block, then on what it leaves of the second."""
    rng = np.random.default_rng(3)
    A = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 8)) + 0.1 * rng.normal(size=(60, 8))
    B = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 6)) + 0.1 * rng.normal(size=(60, 6))
    X, blocks = join_blocks(A, B)
    y = A[:, :1] - A[:, 3:4] + B[:, 1:2] + 0.1 * rng.normal(size=(60, 1))
    model = SequentialPLS(blocks, n_components="auto", scale=False).fit(X, y)
    assert model.n_components_[0] == PLS("auto", scale=False).fit(A, y).n_components_
    fixed = SequentialPLS(blocks, n_components=model.n_components_, scale=False).fit(X, y)
    assert_allclose(model.coef_, fixed.coef_)
    mixed = SequentialPLS(blocks, n_components=["auto", 0], scale=False).fit(X, y)
    assert mixed.n_components_ == [model.n_components_[0], 0]
    assert model.score(X, y) > 0.9 > mixed.score(X, y)


def test_wrong_numbers_of_components_are_refused():
    X, Y, blocks = make()
    with pytest.raises(ValueError, match="n_components has 3 numbers, expected 2"):
        SequentialPLS(blocks, n_components=[1, 1, 1]).fit(X, Y)
    with pytest.raises(ValueError, match="must be an int, 'auto', or one of these"):
        SequentialPLS(blocks, n_components="all").fit(X, Y)


@pytest.mark.parametrize("sizes", [(6, 12), (9, 8, 7, 6)], ids=["grid", "one after another"])
def test_weights_of_each_target_are_those_of_its_own_fit(sizes):
    """Nine weights for each of four blocks are more than a grid may have: blocks are searched in turn."""
    X, Y, blocks = make(sizes=sizes)
    together = BlockRidge(blocks, alpha_per_target=True, cv=4).fit(X, Y)
    assert together.alpha_.shape == (2, len(blocks))
    for j in range(2):
        alone = BlockRidge(blocks, cv=4).fit(X, Y[:, j])
        assert_allclose(together.cv_errors_[:, j].min(), alone.cv_errors_.min(), rtol=1e-6)
        assert_allclose(together.predict(X)[:, j], alone.predict(X), rtol=1e-6)


def test_shares_of_blocks_do_not_depend_on_units():
    X, Y, blocks = make(q=2)
    first = BlockRidge(blocks).fit(X, Y).block_importances_
    assert_allclose(BlockRidge(blocks).fit(X, Y * [1e-3, 1e3]).block_importances_, first, rtol=1e-8)
    assert_allclose(first.sum(), 1.0)


def test_scaling_the_outputs_alone():
    X, Y, blocks = make()
    model = MultiblockPLS(blocks, n_components=3, scale="y").fit(X, Y)
    scaled = MultiblockPLS(blocks, n_components=3, scale="y").fit(X, Y * [1e-3, 1e3])
    assert_allclose(scaled.predict(X), model.predict(X) * [1e-3, 1e3], rtol=1e-8)
    plain = MultiblockPLS(blocks, n_components=3, scale=False).fit(X, Y / Y.std(axis=0))
    assert_allclose(plain.predict(X) * Y.std(axis=0), model.predict(X), rtol=1e-8)
    with pytest.raises(ValueError, match="scale == 'x'"):
        MultiblockPLS(blocks, scale="x").fit(X, Y)


def test_default_weights_reach_as_low_as_smooth_curves_ask_for():
    """Broad bands: what tells them apart is 1e-8 of their squares; from 1e-6 on the error is 2800 times."""
    rng = np.random.default_rng(0)
    at = np.linspace(0, 1, 40)
    bands = np.exp(-(((at - np.array([[0.2], [0.4], [0.6], [0.8]])) / 0.6) ** 2))
    amounts = rng.uniform(size=(60, 4))
    curves = amounts @ bands + 1e-5 * rng.standard_normal((60, 40))
    X = np.hstack([curves, rng.standard_normal((60, 5))])
    blocks = [slice(0, 40), slice(40, 45)]
    model = BlockRidge(blocks).fit(X[:40], amounts[:40])
    wide = BlockRidge(blocks, alphas=np.logspace(-9, 4, 27)).fit(X[:40], amounts[:40])
    errors = [((m.predict(X[40:]) - amounts[40:]) ** 2).mean() for m in (model, wide)]
    assert errors[0] < 1.3 * errors[1]
