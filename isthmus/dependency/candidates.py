"""Candidates, then kernels: a generator proposes outputs and input-output kernel regression chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from isthmus._linalg import Array
from isthmus._saved import saved
from isthmus.dependency.held_out import HeldOut, choose, propose, rows_of_regression, total
from isthmus.dependency.row_weights import factorise, row_weights
from isthmus.kernels import gram, owned, take
from isthmus.kernels.sequences import are_vectors
from isthmus.preimages import AlignedClassifier, LogPool, NeighbourAnswers, ObjectLosses
from isthmus.preimages.generators import are_symbols

ALPHAS = (0.01, 0.1, 1.0)
N_CANDIDATES = 30
_INPUTS_AT_ONCE = 500  # whose weights of all training outputs are in memory


@saved(cv_results_="any")
class CandidateRanking:
    r"""Rank what a generator proposes by input-output kernel regression.

    .. math::
        \min_{z \in C(x)} \; k_y(z, z) - 2 \sum_i G_i(x) \, k_y(y_i, z) - w \log p(z \mid x)

    ``C(x)`` are the candidates of the generator, ``p`` their probabilities. ``G`` are the weights
    of the training outputs in a prediction by kernel ridge regression with an intercept, so that the sum
    is the inner product of the predicted point of the output feature space with the image of z,
    [BPDR2016]_. The generator learns from all rows; the regression, whose cost is cubic, from at most 4000
    of them, drawn once.

    ``generator_`` is fitted to all rows, ``name_`` its name among those that were tried, ``rows_`` are
    those of the regression, ``alpha_`` and ``weight_`` what was chosen, and ``cv_results_`` the figures
    that it was chosen by: ``"loss"``, ``"exact"``: held-out distance (the share of wrong places where every
    output is as long as its input, otherwise that of images under the output kernel) and share of exact
    answers, by ridge (rows) and weight (columns);
    ``"alpha"``, ``"weight"``: their values; ``"covered"``: share of the held-out rows whose true output was
    proposed; ``"generators"``: held-out distance of the first answers of each generator that was tried.
    """

    def __init__(
        self,
        kernel_x: Any,
        kernel_y: Any,
        alphas: Sequence[float] = ALPHAS,
        weight: float | str = "cv",
        n_candidates: int = N_CANDIDATES,
    ) -> None:
        self.kernel_x = kernel_x
        self.kernel_y = kernel_y
        self.alphas = list(alphas)
        self.weight = weight
        self.n_candidates = n_candidates

    def fit(
        self,
        X: Any,
        y: Any,
        generators: Mapping[str, Any],
        *,
        or_none: bool = True,
        trial: HeldOut | None = None,
    ) -> CandidateRanking | None:
        """Fit the generator and the regression.

        The first answers of several generators are compared on held-out rows. An earlier one is kept unless
        a later one is better by more than a standard error. With ``or_none`` the last stands for rows that
        do not align: if it is as good as the others the result is None. ``trial``: their folds, if
        something else is compared with them.
        """
        if trial is None:
            trial = HeldOut(X, y, rows_of_regression(X, y), self.n_candidates)
        name, *others = generators
        compared = trial.compare(generators, self.kernel_y) if others else {}
        if others and or_none:
            plain = compared.pop(others[-1])
            name = choose(compared) if compared else others[-1]
            if not compared or plain.mean() <= compared[name].mean():
                return None
            compared[others[-1]] = plain
        elif others:
            name = choose(compared)
        generator = generators[name]
        self.alpha_, self.weight_, self.cv_results_ = trial.table(
            generator, self.kernel_x, self.kernel_y, self.alphas, self.weight
        )
        self.cv_results_["generators"] = {key: float(own.mean()) for key, own in compared.items()}
        self.name_ = name
        self.generator_ = clone(generator).fit(X, y)
        self.rows_ = trial.rows
        self._points = owned(take(X, self.rows_))
        self._system = factorise(gram(self.kernel_x, self._points), self.alpha_)
        self._losses = ObjectLosses(self.kernel_y, take(y, self.rows_))
        return self

    def rank(self, X: Any, n_best: int = 1) -> list[tuple[list[Any], Array]]:
        """Return, for each input, its candidates from best to worst and their values; less is better.

        The generator is asked for as many as it was while the weight was chosen, or for ``n_best``.
        """
        proposals = propose(self.generator_, X, max(self.n_candidates, n_best))
        answers = []
        for i in range(0, len(proposals), _INPUTS_AT_ONCE):
            G = self.coefficients(X[i : i + _INPUTS_AT_ONCE])
            for coef, (objects, log_p) in zip(G, proposals[i : i + _INPUTS_AT_ONCE]):
                values = total(self._losses(coef, objects), log_p, self.weight_)
                order = np.argsort(values, kind="stable")
                answers.append(([objects[k] for k in order], values[order]))
        return answers

    def coefficients(self, X: Any) -> Array:
        """Return ``G``: for each input, the weights of the training outputs ``rows_`` in its prediction."""
        return row_weights(self._system, gram(self.kernel_x, X, self._points))


def generators_to_compare(X: Any, kernel_x: Any) -> dict[str, Any]:
    """Return generators of aligned sequences, first, and one that needs no alignment; or nothing.

    A pool is better where a symbol of the output depends on those before it, as in words; places that are
    classified one by one are better where it depends on the input alone, as in proteins. If the last is as
    good on held-out rows, nothing says that inputs and outputs align monotonically. Vectors have no symbols
    to pair, so that there is one classifier, which finds out itself whether it sees the symbol before, and
    no pool.
    """
    if all(are_vectors(x) for x in X):
        return {"aligned": AlignedClassifier(), "neighbours": NeighbourAnswers(kernel_x)}
    if not are_symbols(X):
        return {}
    return {
        "aligned": LogPool(),
        "places": AlignedClassifier(chain=False),
        "neighbours": NeighbourAnswers(kernel_x),
    }
