"""Candidates, then kernels: a generator proposes outputs and input-output kernel regression chooses."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from isthmus._linalg import Array
from isthmus._validation import check_enough_samples
from isthmus.dependency.held_out import HeldOut, rows_of_regression, total
from isthmus.dependency.row_weights import factorise, row_weights
from isthmus.kernels import SequenceKernel, gram
from isthmus.kernels.gram import gram_diagonal, take
from isthmus.kernels.resolve import resolve_kernel
from isthmus.preimages.object_losses import ObjectLosses
from isthmus.sequences import AlignedClassifier, LogPool, NeighbourAnswers
from isthmus.sequences.windows import are_symbols, are_vectors

_BLOCK = 500  # inputs whose weights are in memory at once


class CandidateRegressor(BaseEstimator):
    r"""Predict the best of the outputs that a generator proposes, by input-output kernel regression.

    .. math::
        \hat y(x) = \arg\min_{z \in C(x)} \; k_y(z, z) - 2 \sum_i G_i(x) \, k_y(y_i, z)
                    - w \log p(z \mid x)

    ``C(x)`` are the candidates of the generator, ``p`` their probabilities. ``G`` are the weights
    of the training outputs in a prediction by kernel ridge regression with an intercept, so that the sum
    is the inner product of the predicted point of the output feature space with the image of z,
    [BPDR2016]_.

    The weight w and the ridge are chosen by cross-validation on training rows, at most 500 of a fold: the
    candidates of a held-out row come from a generator, and its coefficients from a regression, that have
    not seen the row. The criterion is the mean squared distance of the image of the answer from that of
    the true output. The true output is never added to the candidates. The generator learns from all
    rows; the regression, whose cost is cubic, from at most 4000 of them, drawn once.

    Parameters
    ----------
    generator : object, "auto" or None, default="auto"
        What proposes candidates: an object of :mod:`isthmus.sequences`, or one of your own with
        ``fit(X, y)`` and ``candidates(X, n_best)``. "auto": inputs and outputs are taken to align
        monotonically if the held-out first answers of a ``LogPool`` (of an ``AlignedClassifier`` if
        inputs are sequences of vectors) are nearer to the truth than those of ``NeighbourAnswers``,
        measured by ``kernel_y``; the better of the two is used. For an open search without candidates use
        ``DependencyRegressor`` with ``SequenceSearch``.
    kernel, kernel_y : kernel, default=None
        Kernels of inputs and outputs; None: ``SequenceKernel(0.3, normalise=True)``.
    alpha : float or sequence of float, default=(0.01, 0.1, 1.0)
        Ridge weight, on the scale of scikit-learn's ``Ridge``; of several the best by cross-validation.
    weight : float or "cv", default="cv"
        Weight w of the log-probability; infinity: the generator's own order.
    n_candidates : int, default=30
        Most candidates of an input.
    cv : int, default=3
        Number of folds.

    Attributes
    ----------
    generator_ : object
        The generator, fitted to all rows.
    rows_ : ndarray of int
        The rows that the regression has learned from: all, up to 4000.
    alpha_, weight_ : float
        What was chosen.
    cv_results_ : dict
        Of the cross-validation, if there was one. ``"loss"``, ``"exact"``: held-out distance and share of
        exact answers, by ridge (rows) and weight (columns); ``"alpha"``, ``"weight"``: their values;
        ``"covered"``: share of the held-out rows whose true output was proposed; ``"generators"``: held-out
        distance of the first answers of each generator that was tried.

    Examples
    --------
    >>> from isthmus.dependency import CandidateRegressor
    >>> words = [
    ...     "ax",
    ...     "xa",
    ...     "cab",
    ...     "back",
    ...     "tax",
    ...     "cat",
    ...     "act",
    ...     "bat",
    ...     "tack",
    ...     "cot",
    ...     "box",
    ...     "tock",
    ... ]
    >>> sounds = [
    ...     "Aks",
    ...     "ksA",
    ...     "kAb",
    ...     "bAk",
    ...     "tAks",
    ...     "kAt",
    ...     "Akt",
    ...     "bAt",
    ...     "tAk",
    ...     "kOt",
    ...     "bOks",
    ...     "tOk",
    ... ]
    >>> model = CandidateRegressor().fit(words, sounds)
    >>> model.predict(["bax", "cob"])
    ['bAks', 'kOb']
    """

    def __init__(
        self,
        generator: Any = "auto",
        *,
        kernel: Any = None,
        kernel_y: Any = None,
        alpha: Any = (0.01, 0.1, 1.0),
        weight: float | str = "cv",
        n_candidates: int = 30,
        cv: int = 3,
    ) -> None:
        self.generator = generator
        self.kernel = kernel
        self.kernel_y = kernel_y
        self.alpha = alpha
        self.weight = weight
        self.n_candidates = n_candidates
        self.cv = cv

    # -- fit -----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any) -> CandidateRegressor:
        """Fit the generator and the regression, and choose the ridge and the weight.

        Parameters
        ----------
        X : sequence of objects
            Inputs.
        y : sequence of objects
            Outputs.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        generators = self._begin(X, y)
        self._complete(X, generators, *self._compare(X, generators))
        return self

    def fit_if_aligned(self, X: Any, y: Any) -> CandidateRegressor | None:
        """Fit if the generator of aligned sequences is the best one; otherwise return None.

        Parameters
        ----------
        X, y : sequence of objects
            As in :meth:`fit`.

        Returns
        -------
        self : object or None
            The fitted estimator, or None: then inputs and outputs do not align monotonically.
        """
        generators = self._begin(X, y)
        trial, first = self._compare(X, generators)
        if len(first) < 2 or min(first, key=lambda name: first[name]) == "NeighbourAnswers":
            return None
        self._complete(X, generators, trial, first)
        return self

    def _begin(self, X: Any, y: Any) -> dict[str, Any]:
        check_consistent_length(X, y)
        check_enough_samples(len(y))
        for name, samples in (("X", X), ("y", y)):
            for index, sample in enumerate(samples):
                if hasattr(sample, "__len__") and not len(sample):
                    raise ValueError(f"{name}[{index}] is an empty sequence; leave it out.")
        self._check()
        self.kernel_x_ = _or_default(self.kernel, X)
        self.kernel_y_ = _or_default(self.kernel_y, y)
        self._y = y if isinstance(y, np.ndarray) else list(y)
        self.rows_ = rows_of_regression(len(self._y))
        return self._generators(X)

    def _compare(self, X: Any, generators: dict[str, Any]) -> tuple[HeldOut, dict[str, float]]:
        """Held-out rows, and the distances of the generators' first answers from them."""
        trial = HeldOut(X, self._y, self.rows_, int(self.cv), self.n_candidates)
        return trial, trial.compare(generators, self.kernel_y_) if len(generators) > 1 else {}

    def _complete(
        self, X: Any, generators: dict[str, Any], trial: HeldOut, first: dict[str, float]
    ) -> None:
        name = min(first, key=lambda key: first[key]) if first else next(iter(generators))
        alphas = [float(a) for a in np.atleast_1d(self.alpha)]
        if self.weight == "cv" or len(alphas) > 1:
            table = trial.table(
                generators[name], self.kernel_x_, self.kernel_y_, alphas, self.weight
            )
            self.alpha_, self.weight_ = table.best
            self.cv_results_ = {**table.shown, "generators": first}
        else:
            self.alpha_, self.weight_ = alphas[0], float(self.weight)
        self.generator_ = clone(generators[name]).fit(X, self._y)
        self._y = take(self._y, self.rows_)
        self._points = take(X, self.rows_)
        self._system = factorise(gram(self.kernel_x_, self._points), self.alpha_)
        self.losses_ = ObjectLosses(self.kernel_y_, self._y)

    def _generators(self, X: Any) -> dict[str, Any]:
        """The generators that are tried."""
        if not isinstance(self.generator, str):
            return {type(self.generator).__name__: self.generator}
        neighbours = NeighbourAnswers(self.kernel_x_)
        tried = {type(neighbours).__name__: neighbours}
        if all(are_vectors(x) for x in X):
            return {"AlignedClassifier": AlignedClassifier(), **tried}
        return {"LogPool": LogPool(), **tried} if are_symbols(X) else tried

    def _check(self) -> None:
        if self.n_candidates < 1:
            raise ValueError(f"n_candidates == {self.n_candidates}, must be >= 1.")
        if isinstance(self.cv, bool) or int(self.cv) != self.cv or self.cv < 2:
            raise ValueError(f"cv == {self.cv!r}, must be an integer >= 2.")
        number = isinstance(self.weight, (int, float)) and self.weight >= 0
        if self.weight != "cv" and not number:
            raise ValueError(f"weight == {self.weight!r}, must be 'cv' or a number >= 0.")
        if (np.atleast_1d(self.alpha).astype(float) <= 0).any():
            raise ValueError(f"alpha == {self.alpha!r}, must be > 0.")
        named = isinstance(self.generator, str) and self.generator == "auto"
        if not named and not all(hasattr(self.generator, name) for name in ("fit", "candidates")):
            raise ValueError(
                f"generator == {self.generator!r}, must be 'auto' or an object with fit(X, y) and "
                "candidates(X, n_best), such as those of isthmus.sequences."
            )

    # -- prediction ----------------------------------------------------------------------------

    def predict(self, X: Any, *, n_best: int | None = None) -> list[Any]:
        """Predict objects.

        Parameters
        ----------
        X : sequence of objects
            New inputs.
        n_best : int, default=None
            Number of answers per input, best first (fewer if there are fewer candidates). None gives one
            answer, not a list of one.

        Returns
        -------
        y : list
            The answers, or lists of them.
        """
        if n_best is not None and (not isinstance(n_best, (int, np.integer)) or n_best < 1):
            raise ValueError(f"n_best == {n_best!r}, must be an integer >= 1 or None.")
        ranked = self.rank(X)
        return [found[0] if n_best is None else found[:n_best] for found, _ in ranked]

    def rank(self, X: Any) -> list[tuple[list[Any], Array]]:
        """Return, for each input, its candidates from best to worst and their values; less is better."""
        check_is_fitted(self)
        proposals = self.generator_.candidates(X, self.n_candidates)
        answers = []
        for i in range(0, len(proposals), _BLOCK):
            G = self.coefficients(X[i : i + _BLOCK])
            for coef, (objects, log_p) in zip(G, proposals[i : i + _BLOCK]):
                values = total(self.losses_(coef, objects), log_p, self.weight_)
                order = np.argsort(values, kind="stable")
                answers.append(([objects[k] for k in order], values[order]))
        return answers

    def coefficients(self, X: Any) -> Array:
        """Return ``G``: for each input, the weights of the training outputs ``rows_`` in its prediction."""
        check_is_fitted(self)
        return row_weights(self._system, gram(self.kernel_x_, X, self._points))

    def score(self, X: Any, y: Any) -> float:
        """Return one minus the mean squared distance of images over that from the training mean."""
        truth = y if isinstance(y, np.ndarray) else list(y)
        own = gram_diagonal(self.kernel_y_, truth)
        cross = gram(self.kernel_y_, truth, self._y).mean(axis=1)
        spread = own - 2.0 * cross + gram(self.kernel_y_, self._y).mean()
        distance = _paired_distances(self.kernel_y_, truth, self.predict(X))
        return float(1.0 - distance.mean() / spread.mean())


def _or_default(kernel: Any, objects: Any) -> Any:
    return (
        SequenceKernel(0.3, normalise=True) if kernel is None else resolve_kernel(kernel, objects)
    )


def _paired_distances(kernel: Any, A: Any, B: Any, size: int = 256) -> Array:
    """``|phi(a_t) - phi(b_t)|^2``, by blocks of pairs."""
    parts = []
    for i in range(0, len(A), size):
        a, b = A[i : i + size], B[i : i + size]
        cross = np.diagonal(gram(kernel, a, b))
        parts.append(gram_diagonal(kernel, a) + gram_diagonal(kernel, b) - 2.0 * cross)
    return np.maximum(np.concatenate(parts), 0.0)
