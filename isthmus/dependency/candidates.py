"""Candidates, then kernels: a generator proposes outputs and input-output kernel regression chooses."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from isthmus._linalg import Array
from isthmus._validation import check_enough_samples
from isthmus.dependency.regressor import DependencyRegressor
from isthmus.features import KernelMap
from isthmus.kernels import SequenceKernel, gram
from isthmus.kernels.gram import gram_diagonal, take
from isthmus.preimages.object_losses import ObjectLosses
from isthmus.sequences import AlignedClassifier, NeighbourAnswers

# Weights of the log-probability, in units of the ratio of the spreads of losses and log-probabilities
# among the candidates of a row; infinity leaves the order of the generator as it is.
_WEIGHTS = (0.0, *(2.0 ** np.arange(-5, 4)), np.inf)


class CandidateRegressor(BaseEstimator):
    r"""Predict the best of the outputs that a generator proposes, by input-output kernel regression.

    .. math::
        \hat y(x) = \arg\min_{z \in C(x)} \; k_y(z, z) - 2 \sum_i G_i(x) \, k_y(y_i, z)
                    - w \log p(z \mid x)

    ``C(x)`` are the candidates of the generator, ``p`` their probabilities. ``G`` are the coefficients of
    kernel ridge regression with an intercept, a :class:`~isthmus.DependencyRegressor` whose outputs are the
    indicators of the training rows, so that the sum is the inner product of the predicted point of the
    output feature space with the image of z, [BPDR2016]_.

    The weight w and the ridge are chosen by cross-validation on training rows: the candidates of a
    held-out row come from a generator, and its coefficients from a regression, that have not seen the row.
    The criterion is the mean squared distance of the image of the answer from that of the true output.
    The true output is never added to the candidates.

    Parameters
    ----------
    generator : object, "auto" or None, default="auto"
        What proposes candidates: an object of :mod:`isthmus.sequences`, or one of your own with
        ``fit(X, y)`` and ``candidates(X, n_best)``. "auto": inputs and outputs are taken to align
        monotonically if the held-out first answers of an ``AlignedClassifier`` are nearer to the
        truth than those of ``NeighbourAnswers``, measured by ``kernel_y``; the better of the two is used.
        For an open search without candidates use ``DependencyRegressor`` with ``SequenceSearch``.
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
    regressor_ : DependencyRegressor
        Predicts the coefficients ``G``.
    alpha_, weight_ : float
        What was chosen.
    cv_results_ : dict
        ``"loss"``, ``"exact"``: held-out distance and share of exact answers, by ridge (rows) and weight
        (columns); ``"alpha"``, ``"weight"``: their values; ``"covered"``: share of the held-out rows whose
        true output was proposed; ``"generators"``: held-out distance of the first answers of each generator
        that was tried.

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
        check_consistent_length(X, y)
        check_enough_samples(len(y))
        self._check()
        self.kernel_x_ = _or_default(self.kernel)
        self.kernel_y_ = _or_default(self.kernel_y)
        alphas = [float(a) for a in np.atleast_1d(self.alpha)]
        self._y = y if isinstance(y, np.ndarray) else list(y)
        generators = self._generators()
        fixed = self.weight != "cv" and len(alphas) == 1 and len(generators) == 1
        if fixed:
            self.alpha_, self.weight_ = alphas[0], float(self.weight)
            chosen = next(iter(generators.values()))
        else:
            chosen = self._choose(X, generators, alphas)
        self.generator_ = clone(chosen).fit(X, self._y)
        self.regressor_ = self._regress(X, len(self._y), self.alpha_)
        self.losses_ = ObjectLosses(self.kernel_y_, self._y)
        return self

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

    def _generators(self) -> dict[str, Any]:
        if not isinstance(self.generator, str):
            return {type(self.generator).__name__: self.generator}
        return {
            "AlignedClassifier": AlignedClassifier(),
            "NeighbourAnswers": NeighbourAnswers(self.kernel_x_),
        }

    def _regress(self, X: Any, n: int, alpha: float) -> DependencyRegressor:
        """Return the regression whose predictions are the coefficients of the training outputs."""
        inputs = KernelMap(kernel=self.kernel_x_)
        return DependencyRegressor(inputs, Ridge(alpha)).fit(X, np.eye(n))

    def _choose(self, X: Any, generators: dict[str, Any], alphas: list[float]) -> Any:
        """Choose generator, ridge and weight by held-out rows; return the generator."""
        y, n = self._y, len(self._y)
        folds = list(KFold(min(self.cv, n), shuffle=True, random_state=0).split(np.arange(n)))
        proposals: dict[str, list[Any]] = {}
        first = {}
        for name, generator in generators.items():
            found = self._held_out(X, generator, folds)
            if found is not None:
                proposals[name] = found
                first[name] = self._distance([objects[0] for objects, _ in found])
        best = min(first, key=lambda name: first[name])
        found = proposals[best]
        # Distances of all candidates from the truth, and losses by every ridge.
        owner = np.repeat(np.arange(n), [len(objects) for objects, _ in found])
        flat = [z for objects, _ in found for z in objects]
        distance = _paired_distances(self.kernel_y_, [y[i] for i in owner], flat)
        exact = np.array([_same(y[i], z) for i, z in zip(owner, flat)])
        log_p = np.concatenate([values for _, values in found])
        starts = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=n))])
        weights = np.array(_WEIGHTS)
        losses = np.array([self._held_out_losses(X, found, folds, alpha) for alpha in alphas])
        unit = _spread(losses[len(alphas) // 2], owner) / (_spread(log_p, owner) or 1.0)
        weights = weights * (unit or 1.0) if self.weight == "cv" else np.array([float(self.weight)])
        table = np.empty((2, len(alphas), len(weights)))
        for a, loss in enumerate(losses):
            for w, weight in enumerate(weights):
                picked = _best_of_each(_total(loss, log_p, weight), starts)
                table[:, a, w] = distance[picked].mean(), exact[picked].mean()
        best_a, best_w = divmod(int(table[0].argmin()), len(weights))
        self.alpha_, self.weight_ = alphas[best_a], float(weights[best_w])
        covered = np.bincount(owner, exact, minlength=n) > 0
        self.cv_results_ = {
            "loss": table[0],
            "exact": table[1],
            "alpha": np.array(alphas),
            "weight": weights,
            "covered": float(covered.mean()),
            "generators": first,
        }
        return generators[best]

    def _held_out(self, X: Any, generator: Any, folds: list[Any]) -> list[Any] | None:
        """Candidates of every row by a generator that has not seen it; None if there is no alignment."""
        found: list[Any] = [None] * len(self._y)
        for kept, held in folds:
            try:
                fold = clone(generator).fit(take(X, kept), take(self._y, kept))
            except ValueError:
                if self.generator != "auto":
                    raise
                return None
            for row, proposal in zip(held, fold.candidates(take(X, held), self.n_candidates)):
                found[row] = proposal
        return found

    def _held_out_losses(self, X: Any, found: list[Any], folds: list[Any], alpha: float) -> Array:
        """Losses of the candidates of every row by a regression that has not seen it."""
        values: list[Any] = [None] * len(found)
        for kept, held in folds:
            G = self._regress(take(X, kept), len(kept), alpha).predict(take(X, held))
            losses = ObjectLosses(self.kernel_y_, take(self._y, kept))
            for row, coef in zip(held, np.reshape(G, (len(held), -1))):
                values[row] = losses(coef, found[row][0])
        return np.concatenate(values)

    def _distance(self, answers: list[Any]) -> float:
        return float(_paired_distances(self.kernel_y_, self._y, answers).mean())

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
        G = np.reshape(self.regressor_.predict(X), (len(proposals), -1))
        answers = []
        for coef, (objects, log_p) in zip(G, proposals):
            values = _total(self.losses_(coef, objects), log_p, self.weight_)
            order = np.argsort(values, kind="stable")
            answers.append(([objects[i] for i in order], values[order]))
        return answers

    def score(self, X: Any, y: Any) -> float:
        """Return one minus the mean squared distance of images over that from the training mean."""
        truth = y if isinstance(y, np.ndarray) else list(y)
        own = gram_diagonal(self.kernel_y_, truth)
        cross = gram(self.kernel_y_, truth, self._y).mean(axis=1)
        spread = own - 2.0 * cross + gram(self.kernel_y_, self._y).mean()
        distance = _paired_distances(self.kernel_y_, truth, self.predict(X))
        return float(1.0 - distance.mean() / spread.mean())


def _or_default(kernel: Any) -> Any:
    return SequenceKernel(0.3, normalise=True) if kernel is None else kernel


def _total(losses: Array, log_p: Array, weight: float) -> Array:
    """What is minimised: the loss minus the weighted log-probability."""
    return -log_p if np.isinf(weight) else losses - weight * log_p


def _best_of_each(values: Array, starts: Any) -> list[int]:
    """Place of the least value of every row; ties go to the more probable candidate, which is first."""
    return [int(a + values[a:b].argmin()) for a, b in pairwise(starts)]


def _spread(values: Array, owner: Any) -> float:
    """Standard deviation within rows."""
    counts = np.bincount(owner)
    means = np.bincount(owner, values) / counts
    return float(np.sqrt(((values - means[owner]) ** 2).mean()))


def _paired_distances(kernel: Any, A: Any, B: Any, size: int = 256) -> Array:
    """``|phi(a_t) - phi(b_t)|^2``, by blocks of pairs."""
    parts = []
    for i in range(0, len(A), size):
        a, b = A[i : i + size], B[i : i + size]
        cross = np.diagonal(gram(kernel, a, b))
        parts.append(gram_diagonal(kernel, a) + gram_diagonal(kernel, b) - 2.0 * cross)
    return np.maximum(np.concatenate(parts), 0.0)


def _same(a: Any, b: Any) -> bool:
    return len(a) == len(b) and all(u == v for u, v in zip(a, b))
