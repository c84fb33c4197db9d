"""Oracles: each block treated and divided by hand; scikit-learn's contract."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from isthmus.features import BlockTreatments, GapDerivative, NormalVariate, SavitzkyGolay
from isthmus.regression import join_blocks


@parametrize_with_checks([BlockTreatments()])
def test_sklearn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def parts():
    rng = np.random.default_rng(0)
    return rng.normal(3, 1, (20, 30)), 1e4 * rng.normal(size=(20, 4)), np.full((20, 2), 7.0)


def test_each_block_sees_its_own_columns_alone(parts):
    X, blocks = join_blocks(*parts)
    steps = [SavitzkyGolay(5, 2, 1), StandardScaler(), None]
    model = BlockTreatments(blocks, steps).fit(X[:15])
    Z = model.transform(X)
    for part, step, block in zip(parts, steps, model.blocks_, strict=True):
        own = part if step is None else step.fit(part[:15]).transform(part)
        size = np.sqrt(own[:15].var(axis=0).sum())
        assert_allclose(Z[:, block], own / (size if size > 1e-9 else 1.0), rtol=1e-10)


def test_units_of_a_block_do_not_count(parts):
    X, blocks = join_blocks(parts[0], parts[1])
    Y, _ = join_blocks(1e6 * parts[0], 1e-6 * parts[1])
    steps = [NormalVariate(), None]
    first = BlockTreatments(blocks, steps).fit_transform(X)
    assert_allclose(BlockTreatments(blocks, steps).fit_transform(Y), first, rtol=1e-9)


def test_blocks_of_the_result_follow_the_treatments(parts):
    X, blocks = join_blocks(parts[0], parts[1])
    model = BlockTreatments(blocks, [GapDerivative(3), None]).fit(X)
    assert model.transform(X).shape[1] == model.blocks_[-1].stop
    assert len(model.get_feature_names_out()) == model.blocks_[-1].stop


def test_wrong_number_of_treatments(parts):
    X, blocks = join_blocks(parts[0], parts[1])
    with pytest.raises(ValueError, match="treatments has 1 entries, expected 2"):
        BlockTreatments(blocks, [None]).fit(X)
