"""Pictures classified by regression on indicators of their classes, as in [CSGHY] Sec. 4.

Yale, ORL and COIL-20 are pictures; ETH-80 are sets of pictures, described by their distances to the
training sets.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.model_selection import KFold

from isthmus.losses import Huber, Loss
from isthmus.model_selection import ComponentSearchCV
from isthmus.papers import sources
from isthmus.papers.riemannian_pls.image_sets import image_set_error, image_set_subspaces
from isthmus.papers.riemannian_pls.models import RiemannianPLS
from isthmus.papers.trials import (
    ABSOLUTE,
    GRASSMANN,
    HUBER,
    PRODUCT,
    SQUARED,
    STEPS,
    Trial,
)
from isthmus.regression import (
    PCR,
    PLS,
    IndicatorClassifier,
    ManifoldPLS,
    ReducedRankRegression,
    StiefelRegression,
)

# -- published ------------------------------------------------------------------------------------

Published = dict[str, dict[int, str]]


def published_rows(columns: tuple[int, ...], rows: dict[str, str]) -> Published:
    return {name: dict(zip(columns, text.split())) for name, text in rows.items()}


# Numbers of components that the tables of the paper print.
YALE_COLUMNS, ETH80_COLUMNS = (12, 13, 14, 15), (5, 6, 7, 8)
COIL20_COLUMNS, ORL_COLUMNS = (17, 18, 19, 20), (10, 24, 30, 39)
YALE_PUBLISHED = published_rows(  # [CSGHY] Table 1
    YALE_COLUMNS,
    {
        "PCR": "33.27±3.10 30.87±4.66 29.27±4.79 25.87±4.61",
        "SIMPLS": "26.00±4.59 21.73±4.06 19.00±3.82 15.80±3.13",
        GRASSMANN: "12.00±0 9.40±0.30 8.00±0 10.60±0.30",
        PRODUCT: "20.07±0.30 15.93±0.30 8.13±0.60 10.67±0",
    },
)
ETH80_PUBLISHED = published_rows(  # [CSGHY] Table 2
    ETH80_COLUMNS,
    {
        "PCR": "23.75 22.50 21.25 20.00",
        "SIMPLS": "26.25 15.00 7.50 3.75",
        GRASSMANN: "18.75 15.00 1.25 1.25",
        PRODUCT: "26.25 13.75 1.25 1.25",
    },
)

# -- methods --------------------------------------------------------------------------------------


class RidgeTuned(RegressorMixin, BaseEstimator):
    """A regression whose ridge weight is the one with which plain ridge predicts held-out rows best."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: NDArray, y: NDArray) -> RidgeTuned:
        size = ((X - X.mean(axis=0)) ** 2).sum()
        search = ComponentSearchCV(
            ReducedRankRegression(),
            n_components=[y.shape[1]],
            # Half decades in units of the total variance.
            alpha=list(size * np.logspace(-6, 0, 13)),
            cv=KFold(5, shuffle=True, random_state=0),
            scoring="neg_mean_squared_error",
            refit=False,
        ).fit(X, y)
        self.alpha_ = search.best_params_["alpha"]
        self.estimator_ = clone(self.estimator).set_params(alpha=self.alpha_).fit(X, y)
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X: NDArray) -> NDArray:
        return self.estimator_.predict(X)


Maker = Callable[[int, int], Any]  # of the number of components and of the draw


def stiefel(loss: str | Loss) -> Maker:
    return lambda c, draw: RidgeTuned(StiefelRegression(c, loss=loss, max_iter=STEPS))


def manifold(name: str) -> Maker:
    return lambda c, draw: ManifoldPLS(c, manifold=name, alpha=0.0)


def by_steps(name: str) -> Maker:
    return lambda c, draw: RiemannianPLS(c, manifold=name, coordinates="white", random_state=draw)


CLASSIFIERS: dict[str, Maker] = {
    "PCR": lambda c, draw: PCR(c),
    "SIMPLS": lambda c, draw: PLS(c, algorithm="simpls", scale=False),
    "PLS": lambda c, draw: PLS(c, scale=False),
    GRASSMANN: manifold("grassmann"),
    PRODUCT: manifold("product"),
    SQUARED: stiefel("squared"),
    HUBER: stiefel(Huber(delta=0.1)),  # indicators have no noise from which to set it
    ABSOLUTE: stiefel("absolute"),
    "ridge": lambda c, draw: RidgeTuned(ReducedRankRegression(None)),
}
BY_STEPS = {  # the paper's own road to the two models, from a random start
    f"{GRASSMANN}, cg": by_steps("grassmann"),
    f"{PRODUCT}, cg": by_steps("product"),
}
SIMPLS_80 = "SIMPLS, 80 components"
MANY_COMPONENTS = {SIMPLS_80: lambda c, draw: PLS(80, algorithm="simpls", scale=False)}
NEAREST = "nearest set"

# -- protocols ------------------------------------------------------------------------------------


@cache
def pictures(name: str) -> tuple[NDArray, NDArray]:
    bunch, _ = sources.pictures(name)
    return bunch.data, bunch.target


def random_split(target: NDArray, n_train: int, draw: int) -> tuple[NDArray, NDArray]:
    """So many pictures of each class to learn from, the others to test."""
    rng = np.random.default_rng(draw)
    classes = [np.flatnonzero(target == label) for label in np.unique(target)]
    train = np.sort(np.concatenate([rng.permutation(rows)[:n_train] for rows in classes]))
    return train, np.setdiff1d(np.arange(len(target)), train)


def every_second(target: NDArray, draw: int) -> tuple[NDArray, NDArray]:
    """Views at equal steps of the angle: the even ones, or the odd ones, to learn from."""
    rows = np.arange(len(target))
    return rows[draw % 2 :: 2], rows[1 - draw % 2 :: 2]


SPLITS: dict[str, Callable[[NDArray, int], tuple[NDArray, NDArray]]] = {
    "yale": lambda target, draw: random_split(target, 6, draw),
    "orl": lambda target, draw: random_split(target, 5, draw),
    "coil20": every_second,
}


def judge_pictures(name: str, method: str, draw: int) -> dict[int, float]:
    X, y = pictures(name)
    train, test = SPLITS[name](y, draw)
    errors = {}
    for c, estimator in estimators(name, method, draw).items():
        model = IndicatorClassifier(estimator).fit(X[train], y[train])
        errors[c] = 100 * (1 - model.score(X[test], y[test]))
    return errors


def estimators(name: str, method: str, draw: int) -> dict[int, Any]:
    trial = TRIALS[name]
    return {c: trial.methods[method](c, draw) for c in trial.columns}


@cache
def image_sets() -> tuple[NDArray, NDArray]:
    """A subspace for each of the 80 objects, from pictures of 32 x 32, and its category."""
    bunch, _ = sources.objects("eth80")
    # Means over 2 x 2 pixels.
    small = bunch.images.reshape(-1, 32, 2, 32, 2).mean(axis=(2, 4))
    subspaces, objects = image_set_subspaces(small, bunch.object, n_components=7)
    return subspaces, objects // 10


def judge_sets(method: str, draw: int) -> dict[int, float]:
    """Ten folds; the first draw holds out the k-th object of each category, the others any."""
    subspaces, labels = image_sets()
    order = np.arange(len(labels))
    if draw > 0:
        order = np.random.default_rng(draw).permutation(order)
    subspaces, labels = subspaces[order], labels[order]
    if method == NEAREST:
        return dict.fromkeys(ETH80_COLUMNS, 100 * image_set_error(subspaces, labels))
    return {
        c: 100 * image_set_error(subspaces, labels, IndicatorClassifier(estimator))
        for c, estimator in estimators("eth80", method, draw).items()
    }


# -- the trials -----------------------------------------------------------------------------------

TRIALS = {
    "yale": Trial(
        setting="Six of eleven pictures of each person to learn from, {draws} random draws; error in per "
        "cent, mean and standard deviation over the draws.",
        columns=YALE_COLUMNS,
        methods=CLASSIFIERS | BY_STEPS,
        judge=partial(judge_pictures, "yale"),
    ),
    "orl": Trial(
        setting="Five of ten pictures of each person to learn from, {draws} random draws; error in per "
        "cent.",
        columns=ORL_COLUMNS,
        methods=CLASSIFIERS,
        judge=partial(judge_pictures, "orl"),
    ),
    "coil20": Trial(
        setting="Every second view to learn from, the others to test, and the other way round; error "
        "in per cent.",
        columns=COIL20_COLUMNS,
        methods=CLASSIFIERS | MANY_COMPONENTS,
        judge=partial(judge_pictures, "coil20"),
    ),
    "eth80": Trial(
        setting="Each object is a subspace of dimension 7 (pictures of 32 x 32), described by its "
        "Grassmann distances to the training objects; ten folds, {draws} random draws; error in per cent.",
        columns=ETH80_COLUMNS,
        methods=CLASSIFIERS | {NEAREST: None},
        judge=judge_sets,
    ),
}
