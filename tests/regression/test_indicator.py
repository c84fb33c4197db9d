"""Oracles: one-hot regression by hand, linear discriminant analysis for two classes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsRegressor

from isthmus import PCR, PLS, ComponentSearchCV, IndicatorClassifier, ReducedRankRegression


@pytest.mark.parametrize("estimator", [PLS(2), PCR(2), ReducedRankRegression(2), Ridge()], ids=str)
def test_is_regression_on_indicators(estimator):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = IndicatorClassifier(estimator).fit(X, names)
    by_hand = estimator.fit(X, np.eye(3)[y]).predict(X)
    assert_allclose(model.decision_function(X), by_hand)
    assert_array_equal(model.predict(X), model.classes_[by_hand.argmax(axis=1)])


def test_two_classes_point_along_the_discriminant():
    X, y = load_iris(return_X_y=True)
    X, y = X[y > 0], y[y > 0]
    model = IndicatorClassifier(ReducedRankRegression(alpha=0)).fit(X, y)
    direction = model.estimator_.coef_[1] - model.estimator_.coef_[0]
    lda = LinearDiscriminantAnalysis().fit(X, y).coef_[0]
    assert_allclose(direction / np.linalg.norm(direction), lda / np.linalg.norm(lda), atol=1e-8)
    assert model.decision_function(X).shape == (100,)
    assert_array_equal(model.predict(X), np.where(model.decision_function(X) > 0, 2, 1))


def test_chooses_its_rank():
    X, y = load_wine(return_X_y=True)
    search = IndicatorClassifier(ComponentSearchCV(PLS(), n_components=8))
    assert cross_val_score(search, X, y, cv=5).mean() > 0.95
    grid = GridSearchCV(IndicatorClassifier(PLS()), {"estimator__n_components": [1, 2, 3]}).fit(
        X, y
    )
    assert grid.best_params_["estimator__n_components"] >= 2


def test_weights_reach_the_regressor():
    X, y = load_iris(return_X_y=True)
    counts = np.arange(150) % 3
    weighted = IndicatorClassifier(PLS()).fit(X, y, sample_weight=counts)
    repeated = IndicatorClassifier(PLS()).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert_allclose(weighted.decision_function(X), repeated.decision_function(X))
    with pytest.raises(TypeError, match="KNeighborsRegressor takes no sample_weight"):
        IndicatorClassifier(KNeighborsRegressor()).fit(X, y, sample_weight=counts)


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="1 class"):
        IndicatorClassifier(PLS()).fit(np.eye(3), [1, 1, 1])
