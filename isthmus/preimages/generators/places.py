"""Logistic regressions of the chunks of places, one for each kind of place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression

from isthmus._linalg import Array
from isthmus._saved import saved
from isthmus.kernels.sequences import Ints

_UNSEEN = np.log(1e-6)  # of a chunk that a symbol never had, where likelihoods are compared


@saved(labels="k", coef=". k", intercept="k", after=". k")
@dataclass
class Kind:
    """The classifier of places that have the same input symbol."""

    labels: Ints  # (k,), sorted
    coef: Any  # sparse, (n_features, k)
    intercept: Array  # (k,)
    after: Array  # (n_labels + 1, k), what the chunk before adds; the last is the beginning

    def scores(self, features: Any) -> Array:
        """Of places, without the chunk before them, (n, k)."""
        found = features @ self.coef
        return np.asarray(found.toarray() if sparse.issparse(found) else found) + self.intercept


@dataclass
class Place:
    """What a place may be, and how probable it is after every chunk."""

    labels: Ints  # (k,)
    scores: Array  # (k,), without the chunk before
    after: Array  # (n_labels + 1, k)

    def log_probabilities(self, before: Ints) -> Array:
        """After each of the labels ``before``, (len(before), k); after nothing known: one row."""
        added = self.after[before] if len(before) else self.after[-1:]
        return np.asarray(log_softmax(self.scores + added, axis=1))


class PlaceClassifier:
    """One logistic regression for each kind of place: the input symbol that is there.

    A symbol has few chunks, and the words through its place contain it: one classifier of all places
    would have many times as many coefficients, nearly all of them useless. The last kind is that of symbols
    that were never seen.
    """

    def __init__(self, n_labels: int, silent: int | None, *, C: float, max_iter: int) -> None:
        self.n_labels = n_labels
        self.silent = silent  # the label of the empty chunk
        self.C = C
        self.max_iter = max_iter

    def fit(
        self, features: Any, groups: Ints, before: Ints, target: Ints, n_groups: int
    ) -> PlaceClassifier:
        rows = np.arange(len(before))
        shape = (len(before), self.n_labels + 1)
        ones = sparse.csr_matrix((np.ones(len(before)), (rows, before)), shape=shape)
        dense = isinstance(features, np.ndarray)
        everything = (
            np.hstack([features, ones.toarray()])
            if dense
            else sparse.hstack([features, ones], format="csr")
        )
        self.n_features = features.shape[1]
        self.kinds: list[Kind] = []
        for group in range(n_groups):
            own = np.flatnonzero(groups == group)
            self.kinds.append(self._fit_kind(everything[own], target[own]))
        counts = np.bincount(target, minlength=self.n_labels)
        shares = np.log(np.maximum(counts, 1) / max(counts.sum(), 1))
        if self.silent is None:
            self.kinds.append(self._kind(np.arange(self.n_labels), shares))
        else:
            self.kinds.append(self._kind(np.array([self.silent]), np.zeros(1)))
        return self

    def _kind(self, labels: Ints, intercept: Array) -> Kind:
        """A kind of place that looks at nothing."""
        nothing = sparse.csr_matrix((self.n_features, len(labels)))
        return Kind(labels, nothing, intercept, np.zeros((self.n_labels + 1, len(labels))))

    def _fit_kind(self, features: Any, target: Ints) -> Kind:
        labels = np.unique(target)
        if len(labels) < 2:
            return self._kind(labels, np.zeros(len(labels)))
        dense = isinstance(features, np.ndarray)
        # What one place alone has helps no other place.
        used = (features != 0).sum(axis=0) if dense else features.getnnz(axis=0)
        columns = np.flatnonzero(used > 1)
        model = LogisticRegression(C=self.C, max_iter=self.max_iter, tol=1e-3)
        model.fit(features[:, columns], target)
        coef, intercept = model.coef_, model.intercept_
        if len(labels) == 2:  # scikit-learn keeps one row for two classes
            coef = np.vstack([0 * coef, coef])
            intercept = np.append(0.0, intercept)
        window = columns < self.n_features
        after = np.zeros((self.n_labels + 1, len(labels)))
        after[columns[~window] - self.n_features] = coef[:, ~window].T
        # A row of coefficients for each column that is used, and none for the others.
        starts = np.append(0, np.cumsum(np.isin(np.arange(self.n_features), columns) * len(labels)))
        places = np.tile(np.arange(len(labels)), int(window.sum()))
        table = sparse.csr_matrix(
            (coef[:, window].T.ravel(), places, starts), shape=(self.n_features, len(labels))
        )
        return Kind(labels, table, intercept, after)

    def scores(self, features: Any, groups: Ints) -> list[Place]:
        """What every place may be."""
        places: list[Any] = [None] * len(groups)
        for group in np.unique(groups):
            own = np.flatnonzero(groups == group)
            kind = self.kinds[group]
            for row, values in zip(own, kind.scores(features[own])):
                places[row] = Place(kind.labels, values, kind.after)
        return places

    def log_likelihood(self, features: Any, groups: Ints, before: Ints, target: Ints) -> float:
        """Of the chunks ``target`` after the chunks ``before``, summed over places."""
        total = 0.0
        for group in np.unique(groups):
            own = np.flatnonzero(groups == group)
            kind = self.kinds[group]
            scores = kind.scores(features[own]) + kind.after[before[own]]
            place = np.minimum(np.searchsorted(kind.labels, target[own]), len(kind.labels) - 1)
            values = log_softmax(scores, axis=1)[np.arange(len(own)), place]
            total += float(np.where(kind.labels[place] == target[own], values, _UNSEEN).sum())
        return total
