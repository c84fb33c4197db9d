"""What the map predicts for samples that it has not seen: rows on which a learned pre-image is trained.

Samples are dealt to folds by what they are, not by their place, so that the order of rows does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from isthmus._linalg import Array
from isthmus.dependency.linear_part import can_be_weighted, for_all_outputs
from isthmus.features import weighted_samples
from isthmus.kernels import sample_groups, take
from isthmus.preimages import Learned, ranks
from isthmus.problems import Distinct

ENOUGH_TO_HOLD_OUT = 20  # samples, of which four are held out
_EVERY_FIFTH = 5  # every fifth sample


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
    found = Distinct(groups, weights)
    if len(found.places) == len(Y):
        return X, Y, weights, folds
    return take(X, found.places), Y[found.places], found.weights, folds[found.places]


@dataclass
class Training:
    """The stages of a model and the samples that they learn from, of which some are held out in turn."""

    model: Any
    inputs: Any
    map: Any
    X: Any
    Psi: Array  # output scores
    weights: Array | None  # None for all alike
    folds: Any  # a number, to which samples are dealt by what they are, or the fold of each

    def part(self, out: NDArray) -> tuple[Training, Any]:
        """Return the same without some samples, and the inputs of those."""
        held = np.flatnonzero(out)
        kept = np.flatnonzero(~out)
        X = take(self.X, kept)
        new = take(self.X, held)
        if get_tags(self.model).input_tags.pairwise:
            X, new = X[:, kept], new[:, kept]
        model = clone(self.model)
        model.outputs_ = self.model.outputs_
        weights = None if self.weights is None else self.weights[kept]
        folds = self.folds[kept] if isinstance(self.folds, np.ndarray) else self.folds
        stages = clone(self.inputs), clone(self.map)
        return Training(model, *stages, X, self.Psi[kept], weights, folds), new

    def fit(self) -> Any:
        """Fit the stages, as they are or as one linear system; return the model."""
        rows = self.X, self.Psi, self.inputs, self.map, self.weights
        if self.model.solver == "stages" or not self.model._fit_dual(*rows):
            self.model._fit_stages(*rows)
        return self.model


def prepare_learned(method: Learned, training: Training, Y: Any) -> Array:
    """Return the scores to train a learned pre-image on, and set its ridge weight if it has a choice."""
    if training.folds is None:
        return training.Psi
    scores = unseen_scores(training)
    if len(method.alphas()) > 1 and len(scores) >= ENOUGH_TO_HOLD_OUT:
        method.set_params(alpha=held_out_alpha(method, training, Y))
    return scores


def unseen_scores(training: Training) -> Array:
    """Return output scores predicted for held-out samples."""
    model = training.model
    X = training.X
    Psi = training.Psi
    folds = training.folds
    if hasattr(model, "_loo_scores"):
        scores: Array = model._loo_scores
        return scores
    if not isinstance(folds, np.ndarray):
        folds = ranks(Psi, X) % min(folds, len(Psi))
    if training.weights is None:
        stages = make_pipeline(
            clone(training.inputs), for_all_outputs(clone(training.map), Psi.shape[1])
        )
        predicted = cross_val_predict(stages, X, Psi, cv=PredefinedSplit(folds))
        return np.asarray(predicted).reshape(Psi.shape)
    scores = np.empty_like(Psi)
    for fold in np.unique(folds):
        part, new = training.part(folds == fold)
        scores[folds == fold] = part.fit()._scores(new)
    return scores


def held_out_alpha(method: Learned, training: Training, Y: Any) -> float:
    """Return the ridge weight of the pre-image that is best on a held-out fifth of the samples.

    Where the fold of each is given, those of the first are held out.

    The scores predicted for one left-out sample depend on all others, so the pre-image's own
    leave-one-out error is too small and favours too little ridge.
    """
    folds, weights = training.folds, training.weights
    if isinstance(folds, np.ndarray):
        out = folds == folds.min()
    else:
        out = ranks(training.Psi, training.X) % _EVERY_FIFTH == _EVERY_FIFTH // 2
    part, X_held = training.part(out)
    predicted = part.fit()._scores(X_held)
    own = None if weights is None else weights[out]
    seen = (Y[~out], unseen_scores(part))
    held = (Y[out], predicted)
    errors = method.held_out_errors(*seen, *held, part.weights, own)
    return float(method.alphas()[int(np.argmin(errors))])
