"""The posterior of a map in its singular vectors and values, in which the sampler of the thesis walks."""

from __future__ import annotations

import numpy as np

from isthmus._geometry import EuclideanFlow, StiefelFlow
from isthmus._linalg import Array
from isthmus._solvers import Flow, Parts
from isthmus.regression.bayesian import Likelihood, Posterior, Prior, Problem, Start, singular_parts


class ManifoldPosterior(Posterior):
    r"""Parts W, V and log s of :math:`C = W \operatorname{diag}(s) V'`.

    A random walk on :math:`\log s` is symmetric in :math:`\log s`, not in s: the density of the logarithm
    has the factor s, the Hastings term that [B2006]_ Sec. 2.5.2 leaves out.
    """

    def __init__(self, problem: Problem, likelihood: Likelihood, prior: Prior) -> None:
        super().__init__(problem.complete_axes(), likelihood, prior)

    def pack_map(self, start: Start) -> Parts:
        W, s, V = singular_parts(start, self.problem.n_features)
        s = np.maximum(s, 1e-3 * max(float(s[0]), 1e-3))
        if len(s) > 1:  # equal singular values have density 0 under the matrix normal law
            s = s * (1 + 1e-3 * np.arange(len(s), 0, -1))
        return [W, V, np.log(s)]

    def factors(self, parts: Parts) -> tuple[Array, Array]:
        return parts[0] * np.exp(parts[2]), parts[1]

    def log_prior(self, parts: Parts) -> tuple[float, Parts]:
        value, slope = self.log_prior_of_s(parts[2])
        return value, [np.zeros(1), np.zeros(1), slope]

    def log_prior_of_s(self, log_s: Array) -> tuple[float, Array]:
        """Log density of log s and its derivative."""
        s, lam = np.exp(log_s), self.prior.precision
        value = float(log_s.sum()) - 0.5 * lam * float((s * s).sum())
        slope = 1 - lam * s * s
        if self.prior.kind == "matrix_normal":
            power = self.problem.n_features + self.problem.n_targets - 2 * len(s)
            value = value + power * float(log_s.sum())
            slope = slope + power
            i, j = np.triu_indices(len(s), 1)
            gaps = s[i] ** 2 - s[j] ** 2
            with np.errstate(divide="ignore"):
                value += float(np.log(np.abs(gaps)).sum())
                np.add.at(slope, i, 2 * s[i] ** 2 / gaps)
                np.add.at(slope, j, -2 * s[j] ** 2 / gaps)
        return value, slope

    def pull_back(self, parts: Parts, left: Array, right: Array) -> Parts:
        s = np.exp(parts[2])
        return [left * s, right, (parts[0] * left).sum(axis=0) * s]

    def map_flows(self, start: Start) -> list[Flow]:
        W, V, log_s = self.pack_map(start)
        g, weights = self.problem.squares, start.noise.deviations**-2
        by_output = np.exp(2 * log_s) * (weights @ V**2)
        along = (g @ W**2) * by_output
        return [
            StiefelFlow(len(W), W.shape[1], 1 / np.sqrt(1 + float(g.mean() * by_output.mean()))),
            StiefelFlow(len(V), V.shape[1], 1 / np.sqrt(1 + float(along.mean()))),
            EuclideanFlow(1 / (1 + along)),
        ]

    def mirror(self, parts: Parts, rng: np.random.Generator) -> Parts | None:
        W, V = parts[0], parts[1]
        if not len(W) == len(V) == W.shape[1]:
            return None
        turned = V.copy()
        turned[:, int(rng.integers(V.shape[1]))] *= -1
        return [W, turned, *parts[2:]]
