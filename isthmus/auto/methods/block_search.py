"""Several blocks of columns: a treatment for each, then banded ridge or multiblock PLS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_consistent_length

from isthmus._linalg import Array, spreads
from isthmus._validation import check_array, check_option
from isthmus.auto.clock import check_time
from isthmus.auto.methods.maps import MOST_RANKS, InnerSearch
from isthmus.auto.methods.treated import RidgeSearch
from isthmus.auto.splits import is_curve
from isthmus.features import BlockTreatments
from isthmus.model_selection import ComponentSearchCV
from isthmus.regression import PLS, BlockRidge, MultiblockPLS, join_blocks, resolve_blocks


class BlockSearch(InnerSearch):
    """Choose a treatment for each block, then fit one map to all blocks.

    A block whose columns are points of a curve takes the treatment of the bank with the least error of
    left-out rows under a common ridge weight, with the other blocks as they are so far; columns of any
    other block have unit variance. All blocks have the same size before the map.

    Parameters
    ----------
    blocks : list of slice
        Columns of each block.
    treatments : dict of name and transformer, or None
        Bank for curves.
    map : {"ridge", "pls"}, default="ridge"
        ``BlockRidge`` with weights for each block and target, or ``MultiblockPLS``.
    cv : int or splitter, default=5
        Folds.

    Attributes
    ----------
    best_estimator_ : Pipeline
        ``BlockTreatments`` and the map.
    best_params_ : dict
    """

    def __init__(
        self, blocks: Any, treatments: Any = None, map: str = "ridge", cv: Any = 5
    ) -> None:
        self.blocks = blocks
        self.treatments = treatments
        self.map = map
        self.cv = cv

    def fit(self, X: ArrayLike, y: ArrayLike) -> BlockSearch:
        """Choose, then fit."""
        check_option("map", self.map, ("ridge", "pls"))
        rows = np.asarray(X, dtype=np.float64)
        Y = np.asarray(y, dtype=np.float64)
        folds = list(check_cv(self.cv).split(rows, Y))
        names = self._choose(rows, Y, folds)
        steps = [self._step(name) for name in names]
        treated = BlockTreatments(self.blocks, steps).fit(rows)
        Z = treated.transform(rows)
        if self.map == "ridge":
            model: Any = BlockRidge(treated.blocks_, cv=folds, alpha_per_target=True)
        else:
            most = min(MOST_RANKS, Z.shape[1], min(len(train) for train, _ in folds) - 1)
            search = ComponentSearchCV(PLS(scale="y"), n_components=most, cv=folds, rule="pooled")
            rank = search.fit(Z, Y).best_params_["n_components"]
            model = MultiblockPLS(treated.blocks_, n_components=rank, scale="y")
        model.fit(Z, Y)
        # Row numbers of the folds are of no use to whoever loads the model.
        model.set_params(**({"cv": None} if self.map == "ridge" else {}))
        self.best_estimator_ = Pipeline([("blocks", treated), ("map", model)])
        self.best_params_ = {"treatment": "; ".join(names)}
        if self.map == "pls":
            self.best_params_["n_components"] = model.n_components_
        self.n_features_in_ = rows.shape[1]
        return self

    def _step(self, name: str) -> Any:
        if name == "autoscaled":
            return StandardScaler()
        return None if self.treatments is None else self.treatments[name]

    def _choose(self, X: Array, Y: Array, folds: Any) -> list[str]:
        """A treatment for each block by its name, one block after another."""
        curves = [is_curve(X[:, block], None) for block in self.blocks]
        plain = "none" if self.treatments is None else next(iter(self.treatments))
        chosen = [plain if curve else "autoscaled" for curve in curves]
        for b, curve in enumerate(curves):
            if not curve or self.treatments is None:
                continue
            errors = []
            for name in self.treatments:
                check_time()
                tried = [*chosen[:b], name, *chosen[b + 1 :]]
                step = BlockTreatments(self.blocks, [self._step(each) for each in tried])
                found = RidgeSearch(scale=False, cv=folds).fit(step.fit_transform(X), Y)
                gap = (Y.reshape(len(Y), -1) - found.left_out_) / spreads(Y.reshape(len(Y), -1))
                errors.append(float(np.nanmean(gap**2)))
            chosen[b] = list(self.treatments)[int(np.argmin(errors))]
        return chosen


def are_blocks(X: Any) -> bool:
    """Whether inputs are a dict of arrays; one kind of sparse array is a dict too."""
    return isinstance(X, Mapping) and not issparse(X)


def join_inputs(
    X: Any, blocks: Any, feature_names: Any
) -> tuple[Any, dict[str, NDArray] | None, Any]:
    """Return inputs side by side, the columns of each block by its name, and the names of columns.

    Blocks are those of a dict of arrays, or columns that are given beside one array.
    """
    if not are_blocks(X):
        if blocks is None:
            return X, None, feature_names
        n = np.shape(X)[1]
        names = getattr(X, "columns", feature_names)
        given = blocks if isinstance(blocks, Mapping) else _numbered(blocks)
        columns = resolve_blocks(list(given.values()), n, None if names is None else list(names))
        return X, dict(zip(map(str, given), columns, strict=True)), feature_names
    if blocks is not None:
        raise ValueError("blocks was given, and X is a dict, which names the blocks: give one.")
    if not X:
        raise ValueError("X is an empty dict, expected an array for each block.")
    rows, slices = join_blocks(*X.values())
    every = np.arange(rows.shape[1])
    if feature_names is None and all(hasattr(part, "columns") for part in X.values()):
        feature_names = [f"{key}:{name}" for key, part in X.items() for name in part.columns]
    return rows, {str(key): every[at] for key, at in zip(X, slices)}, feature_names


def _numbered(blocks: Any) -> dict[str, Any]:
    return {f"block {k + 1}": columns for k, columns in enumerate(blocks)}


def join_known(X: Mapping[str, Any], blocks: dict[str, NDArray] | None, n_features: int) -> Array:
    """Return new inputs side by side, with the blocks and columns of the fit."""
    if blocks is None:
        raise ValueError("X is a dict, but the model was not fitted on several blocks.")
    if sorted(map(str, X)) != sorted(blocks):
        raise ValueError(f"X has the blocks {list(X)}, the model was fitted on {list(blocks)}.")
    parts = {
        str(key): check_array(part, dtype=np.float64, ensure_all_finite="allow-nan")
        for key, part in X.items()
    }
    check_consistent_length(*parts.values())
    rows = np.empty((len(next(iter(parts.values()))), n_features))
    for name, columns in blocks.items():
        if parts[name].shape[1] != len(columns):
            raise ValueError(
                f"the block {name!r} has {parts[name].shape[1]} columns, the model was fitted on "
                f"{len(columns)}."
            )
        rows[:, columns] = parts[name]
    return rows


def block_importances(model: Any) -> Array:
    """Return the share of each block in a fitted model, or in a blend by the weights of its methods."""
    if isinstance(model, Pipeline):
        return np.asarray(model.steps[-1][1].block_importances_)
    parts = [(w, m) for w, m in zip(model.weights_.mean(axis=1), model.estimators_) if
             isinstance(m, Pipeline)]  # fmt: skip
    total = sum(w for w, _ in parts)
    return np.asarray(sum(w / total * block_importances(m) for w, m in parts))
