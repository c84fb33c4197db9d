"""A generator that multiplies the probabilities of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from isthmus._linalg import Array
from isthmus._validation import BaseEstimator
from isthmus.preimages.generators.classifier import AlignedClassifier
from isthmus.preimages.generators.generator import Generator
from isthmus.preimages.generators.joint import JointNgrams
from isthmus.preimages.generators.order import identity

_MISSED = np.log(0.5)  # a candidate that a generator did not list, against the last one that it did


class LogPool(Generator, BaseEstimator):
    r"""Propose what several generators together find most probable: a logarithmic opinion pool.

    .. math::
        \log p(y \mid x) = \frac{1}{m} \sum_{j=1}^m \log p_j(y \mid x) + \text{const}

    The candidates are those of all generators, each of which counts its own as if there were no others,
    [GZ1986]_. A candidate that a generator does not list has half the probability of the last one that it
    does. A classifier of places and an n-gram model of pairs err in different words, so that the pool is
    better than either.

    Parameters
    ----------
    generators : sequence of generators, default=None
        None: ``AlignedClassifier()`` and ``JointNgrams()``.

    Attributes
    ----------
    generators_ : list of generators
        The fitted ones.

    Examples
    --------
    >>> from isthmus.preimages import LogPool
    >>> words = ["ax", "xa", "cab", "back", "tax", "cat", "act", "bat", "tack"]
    >>> sounds = ["Aks", "ksA", "kAb", "bAk", "tAks", "kAt", "Akt", "bAt", "tAk"]
    >>> found, log_p = LogPool().fit(words, sounds).candidates(["bax"], 2)[0]
    >>> found[0]
    'bAks'
    """

    def __init__(self, generators: Any = None) -> None:
        self.generators = generators

    def fit(self, X: Sequence[Any], y: Sequence[Any]) -> LogPool:
        """Fit all generators to inputs ``X`` and outputs ``y``."""
        given = self.generators
        if given is None:
            given = [AlignedClassifier(), JointNgrams()]
        if not len(given):
            raise ValueError("generators is empty: name at least one.")
        self.generators_ = [clone(generator).fit(X, y) for generator in given]
        return self

    def candidates(self, X: Sequence[Any], n_best: int = 30) -> list[tuple[list[Any], Array]]:
        check_is_fitted(self)
        lists = [generator.candidates(X, n_best) for generator in self.generators_]
        return [_pooled(own, n_best) for own in zip(*lists)]


def _pooled(lists: Sequence[tuple[list[Any], Array]], n_best: int) -> tuple[list[Any], Array]:
    objects = {identity(z): z for found, _ in lists for z in found}
    total = np.zeros(len(objects))
    for found, log_p in lists:
        log_p = log_p - np.logaddexp.reduce(log_p)
        own = dict(zip(map(identity, found), log_p))
        missed = float(log_p.min()) + _MISSED
        total += [own.get(name, missed) for name in objects]
    total /= len(lists)
    order = np.argsort(-total, kind="stable")[:n_best]
    things = list(objects.values())
    return [things[i] for i in order], total[order]
