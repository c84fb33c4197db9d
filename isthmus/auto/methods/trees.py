"""Trees of scikit-learn as a method, and their tables as a model that can be saved."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from isthmus._linalg import Array, row_blocks, spreads
from isthmus._saved import saved
from isthmus._validation import validate_data
from isthmus.auto.blends import best_shares
from isthmus.auto.clock import check_time
from isthmus.auto.methods.maps import FoundModel, InnerSearch
from isthmus.kernels import content_places

_N_TREES = 200  # twice as many as in scikit-learn
_N_TREES_TO_CHOOSE = 8  # in each fold, for each size of the leaves and scale of the inputs
_MANY_COLUMNS = 50  # more columns: half as many trees, since every tree compares all columns
# Whether inputs are ranks, and least rows of a leaf; and the shares of the trees before any row is seen.
_EXTRA = {(False, 1): 0.5, (False, 4): 0.25, (True, 1): 0.25}
_BOOSTED = {(True, 20): 1.0}
_ROWS_TO_CHOOSE = 100  # fewer cannot tell settings apart: the shares stay as they are
_LEAST_OF_TREES = 0.1  # settings with fewer of the trees are left out
_LEAST_IN_SPLITS = 0.02  # of an output in the splits, however badly it is predicted
_COLUMN_STEPS = 2.0**20  # of the values of a column, which single precision keeps exactly
_ROWS_WALKED = 256  # rows walked down all trees at a time
_OUTPUT_DIGITS = 9  # of the outputs in units of their spreads, so that units do not break ties


@saved(left_="n", right_="n", feature_="n", threshold_="n", value_="n q", intercept_="q")
class Forest(FoundModel):
    """Regression trees as tables: walked down with numpy, checked and saved as plain arrays.

    Attributes
    ----------
    left_, right_ : ndarray of shape (n_nodes,)
        Children of a node, both larger than its own number; -1 in leaves.
    feature_, threshold_ : ndarray of shape (n_nodes,)
        A row goes left if its feature is at most the threshold.
    value_ : ndarray of shape (n_nodes, n_targets)
        What a leaf adds to the prediction.
    roots_ : ndarray of shape (n_trees,)
    intercept_ : ndarray of shape (n_targets,)
    """

    def predict(self, X: ArrayLike) -> NDArray:
        """Predict outputs."""
        check_is_fitted(self, "roots_")
        rows = validate_data(self, X, reset=False, dtype=np.float64)
        values = np.tile(self.intercept_, (len(rows), 1))
        for block in row_blocks(len(rows), _ROWS_WALKED):
            for leaves in self._leaves(rows[block]).T:
                values[block] += self.value_[leaves]
        return values[:, 0] if self.flat_ else values

    def _leaves(self, rows: Array) -> NDArray:
        """Where each row ends in each tree."""
        nodes = np.tile(self.roots_, (len(rows), 1))
        across = np.arange(len(rows))[:, None]
        while True:
            left = self.left_[nodes]
            inner = left >= 0
            if not inner.any():
                return nodes
            goes_left = rows[across, self.feature_[nodes]] <= self.threshold_[nodes]
            down = np.where(goes_left, left, self.right_[nodes])
            nodes = np.where(inner, down, nodes)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.left_)


class TreeSearch(InnerSearch):
    """Extremely randomised or boosted trees of scikit-learn.

    Thresholds of extremely randomised trees are drawn between the ends of a column, by its values or by
    their ranks: the first tell rare large values apart, the second columns with a long tail. Where all
    columns have two values, and so one threshold, rows are drawn with replacement instead. Boosting has
    bins, and ranks. Outputs are in units of their spreads; in splits that several share, what is predicted
    of an output in left-out rows is its weight. Settings share the trees: those of scikit-learn have half
    of them beforehand, and a hundred rows or more change this by how sure left-out rows are that another
    is better. With few rows, or a few large outputs, the best setting of left-out rows is often not the
    best for new rows. Errors are those of infinitely many trees: of ``m`` trees less ``1 / m`` of the
    variance between them, since with few trees large leaves would win only because they vary less.

    Parameters
    ----------
    kind : {"extra", "boosting"}, default="extra"
        Extremely randomised trees, all targets in one; or histogram gradient boosting, one per target.
    cv : int or splitter, default=5
        Folds.
    random_state : int, default=0
        Seed of the trees.
    n_jobs : int or None, default=None
        Trees that grow side by side.

    Attributes
    ----------
    best_estimator_ : Forest
    best_params_ : dict
        ``ranked`` and ``min_samples_leaf`` of the setting with the most trees, and ``share``, its part of
        them.
    """

    def __init__(
        self, kind: str = "extra", cv: Any = 5, random_state: int = 0, n_jobs: int | None = None
    ) -> None:
        self.kind = kind
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: Array | None = None) -> TreeSearch:
        """Choose, then fit."""
        rows = np.asarray(X, dtype=np.float64)
        order = _order_of_columns(rows)
        rows = rows[:, order]
        given = np.asarray(y, dtype=np.float64)
        Y = given.reshape(len(given), -1)
        unit = spreads(Y)
        means = Y.mean(axis=0)
        Y = np.round((Y - means) / unit, _OUTPUT_DIGITS)
        # In an order of the outputs that is their own: sums over them round in that order, and decide ties.
        outputs = np.argsort((Y**3).sum(axis=0), kind="stable")
        Y, unit, means = Y[:, outputs], unit[outputs], means[outputs]
        before = _EXTRA if self.kind == "extra" else _BOOSTED
        settings = list(before)
        shares = np.array(list(before.values()))
        scales = {ranked: _places(rows, ranked) for ranked in {ranked for ranked, _ in settings}}
        if len(settings) > 1 and len(rows) >= _ROWS_TO_CHOOSE:
            folds = list(check_cv(self.cv).split(rows, Y))
            losses = np.stack([self._errors(scales[ranked][0], Y, folds, sample_weight, leaf)
                               for ranked, leaf in settings])  # fmt: skip
            shares = shares * best_shares(losses.mean(axis=2)[:, :, None])[:, 0]
            shares /= shares.sum()
            shares = np.where(shares < _LEAST_OF_TREES, 0.0, shares)
            shares /= shares.sum()
            weights = _output_weights(losses[0])
            Y *= weights
            unit = unit / weights
        n_trees = _N_TREES
        if rows.shape[1] > _MANY_COLUMNS or len(rows) < _ROWS_TO_CHOOSE:
            n_trees //= 2
        forests = []
        for k in np.flatnonzero(shares):
            (ranked, leaf), (places, ends) = settings[k], scales[settings[k][0]]
            own = max(1, round(shares[k] * n_trees))
            tables = _tables(self._grow(leaf, places, Y, sample_weight, own))
            forests.append(_forest(tables, ends, unit * shares[k], means * shares[k]))
        ranked, leaf = settings[int(shares.argmax())]
        self.best_params_ = {
            "ranked": ranked,
            "min_samples_leaf": leaf,
            "share": float(shares.max()),
        }
        self.best_estimator_ = _join(forests, order, np.argsort(outputs), given.ndim == 1)
        self.n_features_in_ = rows.shape[1]
        return self

    def _errors(
        self, places: NDArray, Y: Array, folds: Any, weights: Array | None, leaf: int
    ) -> Array:
        """Squared errors of each left-out row, less what more trees would take away."""
        squares = np.full(Y.shape, np.nan)
        for train, test in folds:
            own = None if weights is None else weights[train]
            (model,) = self._grow(leaf, places[train], Y[train], own, _N_TREES_TO_CHOOSE)
            each = np.stack([tree.predict(places[test]) for tree in model.estimators_])
            each = each.reshape(len(each), len(test), -1)
            squares[test] = (Y[test] - each.mean(axis=0)) ** 2 - each.var(axis=0, ddof=1) / len(
                each
            )
        if weights is not None:
            squares *= (weights / weights.mean())[:, None]
        return squares[np.isfinite(squares).all(axis=1)]

    def _grow(
        self, leaf: int, places: NDArray, Y: Array, weights: Array | None, n_trees: int
    ) -> list[Any]:
        """Return fitted models: one for all targets, with so many trees, or one per target."""
        check_time()
        # Sums over the rows round in their order, and decide ties between splits; so do those of weights.
        order = np.lexsort([content_places(Y), content_places(places)])
        places, Y = places[order], Y[order]
        if weights is not None:
            weights = np.round(weights[order] / weights.mean(), _OUTPUT_DIGITS)
        if self.kind == "boosting":
            start = HistGradientBoostingRegressor(
                min_samples_leaf=leaf, random_state=self.random_state, early_stopping=False
            )
            return [clone(start).fit(places, column, sample_weight=weights) for column in Y.T]
        trees = ExtraTreesRegressor(
            n_trees, min_samples_leaf=leaf, bootstrap=_have_two_values(places), n_jobs=self.n_jobs,
            random_state=self.random_state,
        )  # fmt: skip
        return [trees.fit(places, Y[:, 0] if Y.shape[1] == 1 else Y, sample_weight=weights)]


def _have_two_values(columns: NDArray) -> bool:
    """Tell whether no column has more than two values, so that all trees of the same rows are alike."""
    return bool(((columns == columns.min(axis=0)) | (columns == columns.max(axis=0))).all())


def _output_weights(errors: Array) -> Array:
    """Weights of outputs in the splits: how much of each is predicted in left-out rows, over the most.

    A split that all outputs share is chosen by the sum of what it explains of each. What it explains of an
    output that nothing predicts is chance, and would choose as often as the others.
    """
    explained = np.maximum(1.0 - errors.mean(axis=0), _LEAST_IN_SPLITS)
    return np.round(explained / explained.max(), 2)


Tables = tuple[list[Any], NDArray]
Ends = list[tuple[NDArray, Array]]


def _order_of_columns(rows: Array) -> NDArray:
    """Return an order of the columns that depends on what they hold alone.

    Thresholds are drawn column by column, so that trees in another order would be other trees. Sums of
    whole numbers are exact in any order of the rows.
    """
    places = _places(rows, ranked=False)[0].astype(np.float64)
    return np.lexsort([(places**2).sum(axis=0), places.sum(axis=0)])


def _places(rows: Array, ranked: bool) -> tuple[NDArray, Ends]:
    """Inputs for the trees, ranks or steps between the ends of a column, and how both are turned back."""
    places, ends = [], []
    for column in rows.T:
        if ranked:
            knots = np.unique(column)
            places.append(np.searchsorted(knots, column))
            ends.append((np.arange(len(knots)), knots))
        else:
            low, high = column.min(), column.max()
            width = high - low if high > low else 1.0
            places.append(np.round((column - low) / width * _COLUMN_STEPS))
            ends.append((np.array([0.0, _COLUMN_STEPS]), np.array([low, low + width])))
    return np.column_stack(places).astype(np.float32), ends


def _tables(models: list[Any]) -> Tables:
    """Nodes of each tree (left, right, feature, threshold, value of all targets) and the constants."""
    if isinstance(models[0], ExtraTreesRegressor):
        trees = [estimator.tree_ for estimator in models[0].estimators_]
        nodes = [
            (
                tree.children_left,
                tree.children_right,
                tree.feature,
                tree.threshold,
                tree.value[:, :, 0] / len(trees),
            )
            for tree in trees
        ]
        return nodes, np.zeros(nodes[0][4].shape[1])
    found = []
    for target, model in enumerate(models):
        for (predictor,) in model._predictors:
            own = predictor.nodes
            is_leaf = own["is_leaf"].astype(bool)
            value = np.zeros((len(own), len(models)))
            value[:, target] = own["value"]
            left = np.where(is_leaf, -1, own["left"].astype(np.int64))
            right = np.where(is_leaf, -1, own["right"].astype(np.int64))
            found.append((left, right, own["feature_idx"], own["num_threshold"], value))
    constants = np.array([np.ravel(model._baseline_prediction)[0] for model in models])
    return found, constants


def _forest(tables: Tables, ends: Ends, unit: Array, means: Array) -> Forest:
    """One table of all trees, its thresholds in the units of the inputs and its values in the outputs'."""
    nodes, constants = tables
    sizes = [len(tree[0]) for tree in nodes]
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)
    left, right, feature, threshold, value = (
        np.concatenate([tree[part] for tree in nodes]) for part in range(5)
    )
    shift = np.repeat(roots, sizes)
    is_leaf = left < 0
    forest = Forest()
    forest.left_ = np.where(is_leaf, -1, left + shift).astype(np.int32)
    forest.right_ = np.where(is_leaf, -1, right + shift).astype(np.int32)
    forest.feature_ = np.where(is_leaf, 0, feature).astype(np.int32)
    raw = np.zeros(len(left))
    for j, (places, values) in enumerate(ends):
        here = ~is_leaf & (forest.feature_ == j)
        raw[here] = np.interp(threshold[here], places, values)
    forest.threshold_ = raw
    forest.value_ = np.where(is_leaf[:, None], value, 0.0) * unit
    forest.roots_ = roots
    forest.intercept_ = means + constants * unit
    forest.n_features_in_ = len(ends)
    return forest


def _join(forests: list[Forest], order: NDArray, outputs: NDArray, flat: bool) -> Forest:
    """The sum of forests as one; their column ``j`` is column ``order[j]`` of the inputs."""
    starts = np.cumsum([0, *(forest.n_nodes for forest in forests[:-1])]).astype(np.int32)
    whole = Forest()
    for part in ("left_", "right_"):
        nodes = [getattr(forest, part) for forest in forests]
        shifted = [
            np.where(own < 0, -1, own + start) for own, start in zip(nodes, starts, strict=True)
        ]
        setattr(whole, part, np.concatenate(shifted).astype(np.int32))
    for part in ("feature_", "threshold_", "value_"):
        setattr(whole, part, np.concatenate([getattr(forest, part) for forest in forests]))
    whole.feature_ = order[whole.feature_].astype(np.int32)
    whole.value_ = whole.value_[:, outputs]
    whole.roots_ = np.concatenate([forest.roots_ + start for forest, start in zip(forests, starts)])
    whole.intercept_ = np.sum([forest.intercept_ for forest in forests], axis=0)[outputs]
    whole.n_features_in_ = forests[0].n_features_in_
    whole.flat_ = flat
    return whole
