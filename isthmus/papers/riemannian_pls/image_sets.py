"""Sets of images as subspaces: the protocol of the ETH-80 experiment.

A set of pictures of one object, seen from many sides, spans a subspace; sets are compared by the
Grassmann distance of their subspaces, and classified from their distances to the training sets
([CSGHY]_ Sec. 4.2, after [HL2008]_).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import svd
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from isthmus._linalg import Array
from isthmus.papers.riemannian_pls.grassmann import grassmann_distance, orthonormal_basis

NEARLY_EQUAL = 1 - 1e-6  # beyond this cosine arccos has lost half of its digits


def image_set_subspaces(
    images: ArrayLike, groups: ArrayLike, n_components: int = 7
) -> tuple[Array, Array]:
    """Return a subspace for each set of images, and the name of each set.

    Parameters
    ----------
    images : array of shape (n_images, ...)
        Pictures of any shape, flattened here. Their mean is not taken away: a subspace goes
        through the origin, and the mean picture is its most telling direction.
    groups : array of shape (n_images,)
        The set each picture belongs to.
    n_components : int, default=7
        Dimension of the subspaces: the leading singular vectors of each set.

    Returns
    -------
    subspaces : ndarray of shape (n_sets, n_pixels, n_components)
        Orthonormal bases.
    names : ndarray of shape (n_sets,)
        The sorted distinct values of ``groups``.
    """
    images = np.asarray(images)
    table = images.reshape(len(images), -1)
    names, sizes = np.unique(groups, return_counts=True)
    if n_components > min(sizes.min(), table.shape[1]):
        raise ValueError(
            f"n_components == {n_components}, must be <= {min(sizes.min(), table.shape[1])}, the "
            "size of the smallest set and the number of pixels"
        )
    bases = [_leading_directions(table[groups == name], n_components) for name in names]
    return np.stack(bases), names


def grassmann_distances(subspaces: Array, references: Array | None = None) -> Array:
    """Return the Grassmann distances between all pairs of two lists of subspaces.

    ``subspaces`` (n_sets, n_rows, n_columns) holds bases, orthonormal or not; ``references`` defaults
    to the same list. The result is (n_sets, n_references).
    """
    subspaces = np.stack([orthonormal_basis(basis) for basis in subspaces])
    references = (
        subspaces
        if references is None
        else np.stack([orthonormal_basis(basis) for basis in references])
    )
    if subspaces.shape[1] != references.shape[1]:
        raise ValueError(
            f"the subspaces have {subspaces.shape[1]} rows, the references {references.shape[1]}: both "
            "must be of one space"
        )
    (m, n, r), (k, _, s) = subspaces.shape, references.shape
    # One product for all pairs, then small decompositions: (m, k, r, s).
    cross = subspaces.transpose(0, 2, 1).reshape(m * r, n) @ references.transpose(1, 0, 2).reshape(
        n, k * s
    )
    cosines = np.linalg.svd(cross.reshape(m, r, k, s).swapaxes(1, 2), compute_uv=False)
    distances = np.linalg.norm(np.arccos(np.minimum(cosines, 1.0)), axis=-1)
    for i, j in np.argwhere(cosines[..., 0] > NEARLY_EQUAL):
        distances[i, j] = grassmann_distance(subspaces[i], references[j])
    return distances


def image_set_error(
    subspaces: Array, labels: ArrayLike, classifier: Any = None, *, n_folds: int = 10
) -> float:
    """Return the share of sets that are misclassified in cross-validation.

    Every set is described by its distances to the training sets of the fold. Folds are stratified
    and not shuffled: with ten objects a category in order, fold k holds out the k-th object of
    each.

    Parameters
    ----------
    subspaces : array of shape (n_sets, n_rows, n_columns)
        Orthonormal bases, from :func:`image_set_subspaces`.
    labels : array of shape (n_sets,)
        Category of each set.
    classifier : scikit-learn classifier, default=None
        Fitted to the (n_training_sets, n_training_sets) table of distances. None is the nearest
        training set.
    n_folds : int, default=10
        Number of folds.
    """
    distances = grassmann_distances(subspaces)
    labels = np.asarray(labels)
    if classifier is None:
        classifier = KNeighborsClassifier(n_neighbors=1, metric="precomputed")
    wrong = 0
    for train, test in StratifiedKFold(n_folds).split(distances, labels):
        model = clone(classifier).fit(distances[np.ix_(train, train)], labels[train])
        wrong += np.sum(model.predict(distances[np.ix_(test, train)]) != labels[test])
    return float(wrong / len(labels))


def _leading_directions(table: Array, n_components: int) -> Array:
    return svd(table.astype(float), full_matrices=False)[2][:n_components].T
