"""What the map predicts for samples that it has not seen: rows on which a learned pre-image is trained.

Samples are dealt to folds by what they are, not by their place, so that the order of rows does not matter.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from isthmus._linalg import Array
from isthmus.dependency.linear_part import for_all_outputs
from isthmus.kernels.gram import take
from isthmus.preimages import Learned
from isthmus.preimages.ranks import ranks

ENOUGH_TO_HOLD_OUT = 20
_HELD_OUT = 5  # every fifth sample


def unseen_scores(
    model: Any, X: Any, Psi: Array, inputs: Any, map_: Any, weights: Array | None = None
) -> Array:
    """Return output scores predicted for held-out samples."""
    if hasattr(model, "_loo_scores"):
        scores: Array = model._loo_scores
        return scores
    given = 2 if model.cv is None else model.cv
    if isinstance(given, bool) or not isinstance(given, Integral) or given < 2:
        raise ValueError(f"cv == {given!r}, must be an integer >= 2 or None.")
    folds = min(int(given), len(Psi))
    splits = PredefinedSplit(ranks(Psi, X) % folds)
    if weights is None:
        stages = make_pipeline(clone(inputs), for_all_outputs(clone(map_), Psi.shape[1]))
        return np.asarray(cross_val_predict(stages, X, Psi, cv=splits)).reshape(Psi.shape)
    scores = np.empty_like(Psi)
    for kept, held in splits.split():
        rows, new = take(X, kept), take(X, held)
        if get_tags(model).input_tags.pairwise:
            rows, new = rows[:, kept], new[:, kept]
        part = clone(model)
        part._fit_stages(rows, Psi[kept], clone(inputs), clone(map_), weights[kept])
        scores[held] = part._scores(new)
    return scores


def held_out_alpha(
    model: Any,
    X: Any,
    Y: Any,
    Psi: Array,
    inputs: Any,
    map_: Any,
    method: Learned,
    weights: Array | None = None,
) -> float:
    """Return the ridge weight of the pre-image that is best on a held-out fifth of the samples.

    The scores predicted for one left-out sample depend on all others, so the pre-image's own
    leave-one-out error is too small and favours too little ridge.
    """
    out = ranks(Psi, X) % _HELD_OUT == _HELD_OUT // 2
    held, rest = np.flatnonzero(out), np.flatnonzero(~out)
    X_rest, X_held, Psi_rest = take(X, rest), take(X, held), Psi[rest]
    if get_tags(model).input_tags.pairwise:
        X_rest, X_held = X_rest[:, rest], X_held[:, rest]
    part = clone(model)
    part.outputs_ = model.outputs_
    inputs, map_ = clone(inputs), clone(map_)
    own, others = (None, None) if weights is None else (weights[held], weights[rest])
    if model.solver == "stages" or not part._fit_dual(X_rest, Psi_rest, inputs, map_, others):
        part._fit_stages(X_rest, Psi_rest, inputs, map_, others)
    unseen = unseen_scores(part, X_rest, Psi_rest, inputs, map_, others)
    predicted = part._scores(X_held)
    errors = method.held_out_errors(Y[rest], unseen, Y[held], predicted, others, own)
    return float(method.alphas()[int(np.argmin(errors))])
