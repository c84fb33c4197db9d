"""What the map predicts for samples that it has not seen: rows on which a learned pre-image is trained.

Samples are dealt to folds by what they are, not by their place, so that the order of rows does not matter.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from isthmus._linalg import Array
from isthmus.dependency.linear_part import can_be_weighted, for_all_outputs
from isthmus.features.samples import weighted_samples
from isthmus.kernels.distinct import sample_groups
from isthmus.kernels.gram import take
from isthmus.preimages import Learned
from isthmus.preimages.ranks import ranks

ENOUGH_TO_HOLD_OUT = 20
_HELD_OUT = 5  # every fifth sample


def counted_samples(
    X: Any, Y: Any, sample_weight: Any, folds: Any, inputs: Any, map_: Any
) -> tuple[Any, Any, Array | None, Any]:
    """Return samples that count, their weights (None for all alike) and their folds."""
    kernel = getattr(inputs, "kernel", "linear")
    has_labels = isinstance(folds, np.ndarray)
    labels = folds if has_labels else np.zeros(len(Y), dtype=np.intp)
    X, weights, Y, labels = weighted_samples(kernel, X, sample_weight, Y, labels)
    are_vectors = isinstance(Y, np.ndarray) and Y.ndim == 2 and Y.dtype.kind == "f"
    if folds is not None and are_vectors and can_be_weighted(inputs, map_):
        X, Y, weights, labels = _merge_copies(X, Y, weights, labels)
    return X, Y, weights, labels if has_labels else folds


def _merge_copies(
    X: Any, Y: NDArray, weights: Array | None, folds: NDArray
) -> tuple[Any, NDArray, Array | None, NDArray]:
    """Return one sample for all copies of it in a fold, with the weights of all.

    Folds would part copies of a sample: those that are not held out tell what it is.
    """
    groups = sample_groups(np.column_stack([sample_groups(X), sample_groups(Y), folds]))
    _, first, copy_of = np.unique(groups, return_index=True, return_inverse=True)
    if len(first) == len(Y):
        return X, Y, weights, folds
    sums = np.bincount(copy_of, weights).astype(np.float64)
    order = np.argsort(first)
    first = first[order]
    return take(X, first), Y[first], sums[order], folds[first]


def prepare_learned(
    model: Any,
    method: Learned,
    X: Any,
    Y: Any,
    Psi: Array,
    inputs: Any,
    map_: Any,
    weights: Array | None,
    folds: Any,
) -> Array:
    """Return the scores to train a learned pre-image on, and set its ridge weight if it has a choice."""
    if folds is None:
        return Psi
    scores = unseen_scores(model, X, Psi, inputs, map_, weights, folds)
    if len(method.alphas()) > 1 and len(Psi) >= ENOUGH_TO_HOLD_OUT:
        alpha = held_out_alpha(model, X, Y, Psi, inputs, map_, method, weights, folds)
        method.set_params(alpha=alpha)
    return scores


def unseen_scores(
    model: Any,
    X: Any,
    Psi: Array,
    inputs: Any,
    map_: Any,
    weights: Array | None,
    folds: Any,
) -> Array:
    """Return output scores predicted for held-out samples.

    ``folds`` is a number, to which samples are dealt by what they are, or the fold of each.
    """
    if hasattr(model, "_loo_scores"):
        scores: Array = model._loo_scores
        return scores
    if not isinstance(folds, np.ndarray):
        folds = ranks(Psi, X) % min(folds, len(Psi))
    splits = PredefinedSplit(folds)
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
    weights: Array | None,
    folds: Any,
) -> float:
    """Return the ridge weight of the pre-image that is best on a held-out fifth of the samples.

    Where the fold of each is given, those of the first are held out.

    The scores predicted for one left-out sample depend on all others, so the pre-image's own
    leave-one-out error is too small and favours too little ridge.
    """
    has_labels = isinstance(folds, np.ndarray)
    out = folds == folds.min() if has_labels else ranks(Psi, X) % _HELD_OUT == _HELD_OUT // 2
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
    folds = folds[rest] if has_labels else folds
    unseen = unseen_scores(part, X_rest, Psi_rest, inputs, map_, others, folds)
    predicted = part._scores(X_held)
    errors = method.held_out_errors(Y[rest], unseen, Y[held], predicted, others, own)
    return float(method.alphas()[int(np.argmin(errors))])
