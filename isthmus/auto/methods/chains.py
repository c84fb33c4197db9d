"""Chains of targets: what the other targets are predicted to be corrects each of them.

The corrections are linear, as in Breiman and Friedman's curds and whey, [BF1997]_: the prediction of all
targets is multiplied by ``I + D``, where ``D`` is the ridge regression of the errors of left-out rows on
what was predicted for these rows. A target whose error does not fall keeps its own prediction.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from isthmus._linalg import Array
from isthmus.auto.clock import check_time
from isthmus.problems import Folds, RidgeSpectrum, is_partition

_WEIGHTS = np.logspace(2, -3, 11)  # ridge weights per row, of targets in units of their spreads
_MOST_FOLDS = 10  # beyond, there are too many pairs of folds


class Chain:
    """A linear map of predicted targets, and what it makes of left-out predictions.

    Attributes
    ----------
    matrix : ndarray of shape (n_targets, n_targets)
        Predictions are multiplied by it from the right.
    constant : ndarray of shape (n_targets,)
    left_out : ndarray of shape (n_samples, n_targets)
        Predictions of every row without its fold, in both steps.
    """

    def __init__(self, spectrum: RidgeSpectrum, alpha: Array, Y: Array, folds: Folds) -> None:
        first = spectrum.left_out_each(Y, folds, alpha)
        weights = spectrum.root**2
        n_targets = Y.shape[1]
        self.matrix = np.eye(n_targets)
        self.constant = np.zeros(n_targets)
        self.left_out = first
        if len(folds) > _MOST_FOLDS:
            return
        seen = _features(spectrum, alpha, Y, folds, first)
        tried = np.full((len(_WEIGHTS), *Y.shape), np.nan)
        for (train, test), features in zip(folds, seen, strict=True):
            maps = _corrections(features[train], Y[train], weights[train])
            for k, (D, shift) in enumerate(maps):
                tried[k, test] = first[test] + first[test] @ D + shift
        each = weights[:, None]
        best = np.nanmean(each * (Y - first) ** 2, axis=0)
        chosen = np.full(n_targets, -1)
        for k, predicted in enumerate(tried):
            errors = np.nanmean(each * (Y - predicted) ** 2, axis=0)
            chosen[errors < best] = k
            best = np.minimum(best, errors)
        self.left_out = first.copy()
        whole = _corrections(first, Y, weights)
        for j in np.flatnonzero(chosen >= 0):
            D, shift = whole[chosen[j]]
            self.matrix[:, j] += D[:, j]
            self.constant[j] = shift[j]
            self.left_out[:, j] = tried[chosen[j], :, j]


def _features(
    spectrum: RidgeSpectrum, alpha: Array, Y: Array, folds: Folds, first: Array
) -> list[Array]:
    """Predictions that the second step is trained on, for each fold.

    Those of a fold come from models that have not seen the fold either: both steps leave it out. Folds
    that are no partition train on rows before them, and so do the models of these rows.
    """
    if not is_partition(folds, len(Y)):
        return [first] * len(folds)
    seen = [np.full(Y.shape, np.nan) for _ in folds]
    everyone = np.arange(len(Y))
    for a, b in combinations(range(len(folds)), 2):
        check_time()
        out = np.concatenate([folds[a][1], folds[b][1]])
        pair = [(np.setdiff1d(everyone, out), out)]
        predicted = spectrum.left_out_each(Y, pair, alpha)
        seen[a][folds[b][1]] = predicted[folds[b][1]]
        seen[b][folds[a][1]] = predicted[folds[a][1]]
    return seen


def _corrections(features: Array, Y: Array, weights: Array) -> list[tuple[Array, Array]]:
    """Ridge regressions of the errors on the predictions, one for each ridge weight."""
    known = np.isfinite(features).all(axis=1)
    F = features[known]
    errors = (Y - features)[known]
    share = weights[known] / weights[known].sum()
    centre, shift = share @ F, share @ errors
    F = F - centre
    values, vectors = np.linalg.eigh(F.T @ (share[:, None] * F))
    projected = vectors.T @ (F.T @ (share[:, None] * (errors - shift)))
    found = []
    for weight in _WEIGHTS:
        D = vectors @ (projected / (np.maximum(values, 0) + weight)[:, None])
        found.append((D, shift - centre @ D))
    return found
