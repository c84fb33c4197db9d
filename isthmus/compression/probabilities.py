"""Probabilities of classes from decision values of a compressed classifier."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.gaussian_process import GaussianProcessClassifier

from isthmus._linalg import BLOCK_ROWS, Array, row_blocks
from isthmus.compression.deviations import Deviations
from isthmus.expansion import Expansion, is_latent_binary

# The trapezoidal rule, whose error falls exponentially for analytic functions: below 1e-12 for deviations
# up to 10. Gauss-Hermite nodes would have to be many more, because a sigmoid has poles near the real line.
_NODES, _REACH = 401, 9.0
_CERTAIN = 1e-7  # no pair of classes is told apart with more certainty, as in libsvm


def latent_deviations(model: Any, expansion: Expansion) -> list[Deviations] | None:
    """Deviations of the latent functions of a Gaussian process classifier; None of other models."""
    if isinstance(model, GaussianProcessClassifier):
        base = model.base_estimator_
        parts = [base] if model.n_classes_ == 2 else list(base.estimators_)
    elif is_latent_binary(model):
        parts = [model]
    else:
        return None
    found = [Deviations.of_latent(part, expansion) for part in parts]
    return None if any(part is None for part in found) else found  # type: ignore[return-value]


def sigmoid_parameters(model: Any) -> tuple[Array, Array] | None:
    """Slopes and offsets of the sigmoids that ``SVC(probability=True)`` fitted; None of other models."""
    if getattr(model, "probability", False) is not True:
        return None
    with warnings.catch_warnings():  # scikit-learn 1.9 says that they will go
        warnings.simplefilter("ignore", FutureWarning)
        slopes = np.asarray(model.probA_)
        offsets = np.asarray(model.probB_)
    # Of two classes libsvm's sigmoid is that of the first, and its decision value has the other sign.
    return slopes, -offsets if len(model.classes_) == 2 else offsets


def from_latent(means: Array, deviations: Array) -> Array:
    r"""Return :math:`\int \sigma(f) N(f; m, s^2)\, df`, the probability of the second class."""
    nodes = np.linspace(-_REACH, _REACH, _NODES)
    weights = np.exp(-0.5 * nodes**2)
    weights /= weights.sum()
    found = np.empty(means.shape)
    for rows in row_blocks(len(means), BLOCK_ROWS):
        values = means[rows][..., None] + deviations[rows][..., None] * nodes
        found[rows] = expit(values) @ weights
    return found


def from_pairs(values: Array, slopes: Array, offsets: Array, n_classes: int) -> Array:
    """Return probabilities (n, n_classes) from decision values of pairs, by sigmoids.

    Several classes are coupled as in [WLW2004]_, second method: with ``r_ij`` the probability of class i
    among i and j, ``sum (r_ji p_i - r_ij p_j)^2`` is minimised over vectors p that sum to one.
    """
    values = values.reshape(len(values), -1)
    likely = np.clip(expit(-(slopes * values + offsets)), _CERTAIN, 1.0 - _CERTAIN)
    if n_classes == 2:
        return np.column_stack([1.0 - likely[:, 0], likely[:, 0]])
    r = np.zeros((len(values), n_classes, n_classes))
    for k, (i, j) in enumerate(zip(*np.triu_indices(n_classes, 1))):
        r[:, i, j], r[:, j, i] = likely[:, k], 1.0 - likely[:, k]
    system = np.zeros((len(values), n_classes + 1, n_classes + 1))
    system[:, :-1, :-1] = -r.transpose(0, 2, 1) * r
    places = np.arange(n_classes)
    system[:, places, places] = (r**2).sum(axis=1)
    system[:, :-1, -1] = system[:, -1, :-1] = 1.0
    right = np.zeros((len(values), n_classes + 1, 1))
    right[:, -1] = 1.0
    found = np.maximum(np.linalg.solve(system, right)[:, :-1, 0], 0.0)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def normalise(likely: Array) -> Array:
    """Return probabilities of all classes from those of each against the rest."""
    total = likely.sum(axis=1, keepdims=True)
    return np.asarray(likely / np.where(total > 0, total, 1.0))
