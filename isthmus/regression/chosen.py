"""What "auto" stands for: the number of components and the ridge weight by rows left out."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import PredefinedSplit

from isthmus._linalg import ROUNDING, Array, power_of_two, spreads, weight_unit
from isthmus._validation import N_FOLDS, check_memory
from isthmus.kernels import copy_groups, deal_by_content
from isthmus.losses import column_medians, robust_scales
from isthmus.problems import (
    Distinct,
    RidgeSpectrum,
    RowForm,
    Split,
    dense_rows,
    scales_x,
    unit_of_seen,
    without_empty,
)
from isthmus.regression.crossval import (
    default_alphas,
    default_ranks,
    least_cost_index,
    path_scores,
    split_weights,
)

# Ridge weights of leave-one-out, relative to the largest squared singular value.
_RELATIVE_ALPHAS = np.logspace(-11, 2, 27)
# A rank shrinks too: shares of the ridge weight of full rank that are tried beside it.
_SHARES = (1.0, 0.1, 0.01)
# Rounds in which outliers are pulled in, and how many deviations of rows left out they end at.
_PULLS, _REACH = 6, 1.5


class Numbers(NamedTuple):
    """What was chosen; the ridge weight is in units whose squares may be out of range."""

    n_components: int
    alpha: Any
    unit: float = 1.0


def choose_numbers(
    model: Any, X: Any, Y: NDArray, weights: Array | None, wrong: Any = None
) -> Numbers:
    """Return the number of components and the ridge weight of a model, chosen where they are "auto".

    At full rank the weight is that of :class:`LeaveOneOut`. With a rank, chosen or given, it is that
    one, a tenth or a hundredth of it, and rank and weight are chosen together in five folds by
    :func:`least_cost_index`; of those with the least ``wrong``, a scorer, if there is one. Where values
    are missing, all weights are compared in the folds.
    """
    (n, p), q = X.shape, Y.shape[1]
    fold = deal_by_content(X, N_FOLDS, Y=Y)
    splits = [Split(train, test, n) for train, test in PredefinedSplit(fold).split()]
    X, Y, weights, splits = without_empty(X, Y, weights, splits)
    n_train = min(split.n_train for split in splits)
    x_unit = unit_of_seen(X) if model.missing == "em" else power_of_two(X)
    w_unit = weight_unit(weights)
    X = X if x_unit == 1.0 else X / x_unit
    weights = None if weights is None else weights / w_unit
    unit = math.sqrt(w_unit) * (1.0 if scales_x(model.scale) else x_unit)
    alphas: list[Any] = [getattr(model, "alpha", None)]
    ranks = open_ranks(model, n_train, p, q)
    if alphas == ["auto"]:
        if model.missing == "em" and (np.isnan(X).any() or np.isnan(Y).any()):
            alphas = default_alphas(X, weights, model.scale)
        else:
            most = LeaveOneOut(X, Y, weights, model.scale).best(Y / spreads(Y, weights))[0]
            binds = len(ranks) > 1 or 0 < ranks[0] < min(p, q)
            alphas = [share * most for share in (_SHARES if binds and most > 0 else (1.0,))]
    if len(ranks) == len(alphas) == 1:
        return Numbers(ranks[0], alphas[0], unit)
    scorers = {"score": "q2"} if wrong is None else {"score": "q2", "wrong": wrong}
    found = path_scores(
        model, X, Y, weights, splits, ranks, alphas, scorers, y_is_1d=q == 1 and wrong is None
    )
    errors = 1 - found.scores["score"].reshape(-1, len(splits))
    shares = split_weights(splits, weights)
    if wrong is not None:
        count = found.scores["wrong"].reshape(errors.shape) @ (shares / shares.sum())
        errors[count > count.min() + ROUNDING] = np.nan
    a, r = divmod(least_cost_index(errors, shares, ranks, alphas, q), len(ranks))
    return Numbers(ranks[r], alphas[a], unit)


def open_ranks(model: Any, n_train: int, p: int, q: int) -> list[int]:
    """Return the numbers of components to compare: the one that is given, or all where it is "auto"."""
    if model.n_components == "auto":
        return default_ranks(model, n_train, p, q)
    return [min(p, q) if model.n_components is None else int(model.n_components)]


class LeaveOneOut:
    """Rows left out singly by a ridge of full rank, without copies, in closed form."""

    def __init__(self, X: Any, Y: NDArray, weights: Array | None, scale: bool | str) -> None:
        if sparse.issparse(X):
            what = f"alpha='auto' for {X.shape[0]} sparse rows"
            check_memory(
                32.0 * X.shape[0] * X.shape[1], what, "Give alpha as a number, or pass Rows."
            )
        X, self.weights = dense_rows(X), weights
        self.rows = Distinct(copy_groups(X, N_FOLDS, Y), weights)
        own = self.rows.weights
        X = X if len(own) == len(X) else X[self.rows.places]
        form = RowForm.from_rows(X, self.rows.means(Y), own, scale)
        self.spectrum = RidgeSpectrum.of_rows(form.frame.x(X), own)
        unit = form.frame.ridge_unit(scale)
        self.unit = (
            float(own.mean()) * unit * unit
        )  # which may be infinite, where a power is an error

    def best(self, Y: NDArray) -> tuple[float, Array]:
        """Return the ridge weight of the least squared error, and every row as predicted without it.

        It is one weight for all outputs, which should be in units of their deviations.
        """
        means = self.rows.means(Y)
        top = self.spectrum.values.max(initial=0.0)
        alpha, off = self.spectrum.best_singly(means, _RELATIVE_ALPHAS * top)
        return alpha * self.unit, self.rows.for_all(means - off)

    def pulled_in(self, Y: Array, easy: Array) -> Array:
        """Return a copy of Y whose outliers are as near to what is predicted of them as other rows.

        ``easy`` is a copy without the grossest; outputs most of whose values are alike stay as there.
        """
        unit = spreads(easy, self.weights)
        moves = column_medians(np.abs(Y - column_medians(Y, self.weights)), self.weights) > 0
        for _ in range(_PULLS):
            left_out = self.best(easy / unit)[1] * unit
            reach = _REACH * robust_scales(Y - left_out, self.weights)
            pulled = left_out + np.clip(Y - left_out, -reach, reach)
            easy = np.where(moves, pulled, easy)
        return easy
