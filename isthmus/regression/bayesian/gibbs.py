"""Gibbs sampling of a map: every conditional law is known.

``C = A D'`` with independent Gaussian entries in A and D, or C itself with independent Gaussian entries
where the rank leaves it free. Gaussian noise needs moments alone; Laplacian and Student noise are Gaussian
once each residual has a variance of its own, which is drawn too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dsyev

from isthmus._linalg import ROUNDING, Array
from isthmus.regression.bayesian.draws import ChainDraws, Recorder, Start
from isthmus.regression.bayesian.likelihoods import Likelihood, StudentLoss
from isthmus.regression.bayesian.noise import Noise, noise_sampler
from isthmus.regression.bayesian.orbits import draw_rebalancing
from isthmus.regression.bayesian.problem import Prior, Problem

# Up to this order the rows of A are drawn together, beyond it column by column.
_JOINT_ORDER = 600
_OUTER_ENTRIES = 4_000_000  # up to which all products of two inputs, or scores, are kept

Draw = tuple[Array, Array, Noise, Array | None]  # both factors, noise, intercept


def gibbs_chain(
    problem: Problem,
    likelihood: Likelihood,
    prior: Prior,
    start: Start,
    n_warmup: int,
    n_draws: int,
    rng: np.random.Generator,
    thin: int = 1,
) -> ChainDraws:
    """Sweep over factors and noise; keep every ``thin``-th sweep after the warm-up."""
    rank = start.left.shape[1]
    is_dense = prior.kind == "matrix_normal" and problem.is_full(rank)
    if is_dense:
        problem = dense_problem(problem)
    sweeps: Sweeps
    if likelihood.name == "gaussian":
        sweeps = (DenseSweeps if is_dense else FactorSweeps)(problem, prior, start, rng)
    else:
        kind = DenseMixtureSweeps if is_dense else MixtureSweeps
        sweeps = kind(problem, likelihood, prior, start, rng)
    recorder = Recorder(problem, prior, n_draws, rank, rng, thin)
    for step in range(n_warmup + n_draws * thin):
        draw = sweeps.sweep()
        if step >= n_warmup:
            recorder.add(*draw)
        sweeps.rebalance()
    return recorder.finish()


class Sweeps(ABC):
    """The state of a chain, and how it is drawn anew from the conditional laws."""

    @abstractmethod
    def sweep(self) -> Draw:
        """Draw every part once, given the others."""

    def rebalance(self) -> None:
        """Move along factors of the same map, where there are factors."""
        return None


class FactorSweeps(Sweeps):
    r"""Sweeps over A, D and Gaussian noise from moments; the cost is O(k q r), whatever n.

    .. math::
        A \mid \cdot: \text{ precision } g_i\, D' \Sigma^{-1} D + \lambda I \text{ for row } i, \quad
        D \mid \cdot: \text{ precision } \tau_j^{-2} A' G A + \lambda I \text{ for row } j

    in coordinates in which :math:`X'X = G` is diagonal and, for the second, along axes of the outputs in
    which :math:`\Sigma = \operatorname{diag}(\tau_j^2)`. The noise is drawn by ``noise_sampler``.
    """

    def __init__(
        self, problem: Problem, prior: Prior, start: Start, rng: np.random.Generator
    ) -> None:
        self.squares, self.cross, self.target = problem.squares, problem.cross, problem.target
        self.roots = np.sqrt(problem.squares)[:, None]
        self.precision, self.rng = prior.precision, rng
        self.A, self.D, self.noise = start.left, start.right, start.noise
        self.draw_noise = noise_sampler(problem, prior, rng)

    def sweep(self) -> Draw:
        k, q = self.target.shape
        lam, D, noise = self.precision, self.D, self.noise
        z = self.rng.standard_normal((k + q, D.shape[1]))
        axes, weights = noise.axes, (1 / noise.scales**2)[:, None]
        along = self.cross
        if axes is not None:
            along = self.cross @ axes
            D, z[k:] = axes.T @ D, axes.T @ z[k:]
        # With A and D turned by F their entries are independent. The noise is turned too: then the draw
        # does not depend on the signs of F.
        weighted = weights * D
        w, F, _ = dsyev(D.T @ weighted)
        root = np.sqrt(np.multiply.outer(self.squares, np.maximum(w, 0.0)) + lam)
        A = ((along @ (weighted @ F)) / root + z[:k] @ F) / root @ F.T
        scaled = self.roots * A
        w, F, _ = dsyev(scaled.T @ scaled)
        root = np.sqrt(weights * np.maximum(w, 0.0) + lam)
        D = ((along.T @ (A @ F)) * weights / root + z[k:] @ F) / root @ F.T
        if axes is not None:
            D = axes @ D
        self.A, self.D = A, D
        self.noise = self.draw_noise(scaled @ D.T - self.target)
        return A, D, self.noise, None

    def rebalance(self) -> None:
        R, c = draw_rebalancing(self.A, self.D, self.precision, self.rng)
        self.D = self.D @ R / c  # and A is drawn afresh


class DenseSweeps(Sweeps):
    r"""Sweeps over the whole map and Gaussian noise, for the matrix normal prior at full rank.

    Entry (i, j) of C has the precision :math:`g_i / \tau_j^2 + \lambda` along axes of inputs and outputs in
    which :math:`X'X` and the covariance of the noise are diagonal.
    """

    def __init__(
        self, problem: Problem, prior: Prior, start: Start, rng: np.random.Generator
    ) -> None:
        self.problem, self.target = problem, problem.target
        self.squares = problem.squares[:, None]
        self.roots = np.sqrt(self.squares)
        self.precision, self.noise, self.rng = prior.precision, start.noise, rng
        self.draw_noise = noise_sampler(problem, prior, rng)

    def sweep(self) -> Draw:
        noise, target = self.noise, self.target
        z = noise.turn(self.rng.standard_normal(target.shape))
        weights = 1 / noise.scales**2
        precision = self.squares * weights + self.precision
        C = self.roots * noise.turn(target) * weights / precision + z / np.sqrt(precision)
        if noise.axes is not None:
            C = C @ noise.axes.T
        self.noise = self.draw_noise(self.roots * C - target)
        return *dense_factors(C, self.problem), self.noise, None


def dense_problem(problem: Problem) -> Problem:
    """The problem for a map of full rank: all of the inputs' space where it is the smaller one."""
    if problem.n_features < problem.n_targets:
        return problem.complete_axes()
    return problem


def dense_factors(C: Array, problem: Problem) -> tuple[Array, Array]:
    """Factors of a map of full rank, one of them the identity."""
    if problem.n_features < problem.n_targets:
        return np.eye(problem.n_features), C.T
    return C, np.eye(problem.n_targets)


class _MixtureDraws:
    """Conditional draws under residuals with precisions ``omega`` (n, q) of their own."""

    def __init__(self, problem: Problem, prior: Prior, rank: int, rng: np.random.Generator) -> None:
        assert problem.rows is not None and problem.Y is not None
        self.Z, self.Y, self.rng = problem.rows, problem.Y, rng
        self.lam, self.rank, self.intercept = prior.precision, rank, problem.intercept
        n, k = self.Z.shape
        self.joint = k * rank <= _JOINT_ORDER
        self.outer: Array | None = None
        if self.joint and n * k * k <= _OUTER_ENTRIES:
            self.outer = (self.Z[:, :, None] * self.Z[:, None, :]).reshape(n, k * k).T.copy()

    def draw_right(self, T: Array, omega: Array) -> tuple[Array, Array]:
        """Rows of D, each with its intercept, given the scores T = Z A."""
        n, q = self.Y.shape
        r, m = self.rank, self.rank + self.intercept
        T1 = np.hstack([T, np.ones((n, 1))]) if self.intercept else T
        if n * m * m <= _OUTER_ENTRIES:
            products = (T1[:, :, None] * T1[:, None, :]).reshape(n, m * m)
            P = (omega.T @ products).reshape(q, m, m)
        else:
            P = np.stack([T1.T @ (own[:, None] * T1) for own in omega.T])
        P[:, np.arange(r), np.arange(r)] += self.lam
        inverse = np.linalg.inv(np.linalg.cholesky(P))
        half = inverse @ ((omega * self.Y).T @ T1)[:, :, None]
        half += self.rng.standard_normal((q, m, 1))
        drawn = (inverse.transpose(0, 2, 1) @ half)[:, :, 0]
        return drawn[:, :r].copy(), (drawn[:, r].copy() if self.intercept else np.zeros(q))

    def draw_left(self, A: Array, D: Array, b: Array, omega: Array) -> Array:
        if not self.joint:
            return self._draw_columns(A, D, b, omega)
        k, r = A.shape
        pairs = omega @ (D[:, :, None] * D[:, None, :]).reshape(-1, r * r)  # (n, r^2)
        if self.outer is not None:
            gram = (self.outer @ pairs).reshape(k, k, r, r)
        else:
            gram = np.empty((k, k, r, r))
            for i in range(r):
                for j in range(i, r):
                    gram[:, :, i, j] = self.Z.T @ (pairs[:, [i * r + j]] * self.Z)
                    gram[:, :, j, i] = gram[:, :, i, j]
        P = gram.transpose(0, 2, 1, 3).reshape(k * r, k * r)
        P.flat[:: k * r + 1] += self.lam
        right = (self.Z.T @ ((omega * (self.Y - b)) @ D)).reshape(k * r)
        L = np.linalg.cholesky(P)
        half = np.linalg.solve(L, right) + self.rng.standard_normal(k * r)
        return np.linalg.solve(L.T, half).reshape(k, r)

    def _draw_columns(self, A: Array, D: Array, b: Array, omega: Array) -> Array:
        A = A.copy()
        residual = self.Y - b - (self.Z @ A) @ D.T
        for j in range(A.shape[1]):
            residual += np.outer(self.Z @ A[:, j], D[:, j])
            P = self.Z.T @ ((omega @ D[:, j] ** 2)[:, None] * self.Z)
            P.flat[:: len(P) + 1] += self.lam
            L = np.linalg.cholesky(P)
            half = np.linalg.solve(L, self.Z.T @ ((omega * residual) @ D[:, j]))
            A[:, j] = np.linalg.solve(L.T, half + self.rng.standard_normal(len(half)))
            residual -= np.outer(self.Z @ A[:, j], D[:, j])
        return A


class MixtureSweeps(Sweeps):
    r"""Sweeps for Laplacian and Student noise, as Gaussian noise of random variance.

    Laplace: :math:`1/\omega_{ij} \sim` inverse Gaussian with mean :math:`1/(b|e_{ij}|)` and shape
    :math:`1/b^2`, [PC2008]_ Sec. 2; the scale b is drawn before them, with the :math:`\omega` integrated
    out. Student: :math:`\omega_{ij}` is a gamma variate. A weight is a power of a row's likelihood.
    """

    def __init__(
        self,
        problem: Problem,
        likelihood: Likelihood,
        prior: Prior,
        start: Start,
        rng: np.random.Generator,
    ) -> None:
        self.draws = _MixtureDraws(problem, prior, start.left.shape[1], rng)
        self.draw_residuals = _residual_law(problem, likelihood, prior, rng)
        self.precision, self.rng = prior.precision, rng
        self.A, self.D, self.b = start.left, start.right, start.intercept
        self.scales = start.noise.scales
        self.T = self.draws.Z @ self.A

    def sweep(self) -> Draw:
        draws = self.draws
        residual = draws.Y - self.T @ self.D.T - self.b
        self.scales, omega = self.draw_residuals(residual, self.scales)
        self.D, self.b = draws.draw_right(self.T, omega)
        self.A = draws.draw_left(self.A, self.D, self.b, omega)
        self.T = draws.Z @ self.A
        return self.A, self.D, Noise(self.scales), self.b

    def rebalance(self) -> None:
        R, c = draw_rebalancing(self.A, self.D, self.precision, self.rng)
        self.A, self.D, self.T = self.A @ R * c, self.D @ R / c, self.T @ R * c


class DenseMixtureSweeps(Sweeps):
    """Sweeps over the whole map, for Laplacian and Student noise and the matrix normal prior."""

    def __init__(
        self,
        problem: Problem,
        likelihood: Likelihood,
        prior: Prior,
        start: Start,
        rng: np.random.Generator,
    ) -> None:
        C = start.left @ start.right.T
        self.problem = problem
        self.draws = _MixtureDraws(problem, prior, len(problem.squares), rng)  # A is the identity
        self.draw_residuals = _residual_law(problem, likelihood, prior, rng)
        self.b, self.scales = start.intercept, start.noise.scales
        self.fitted = self.draws.Z[:, : len(C)] @ C

    def sweep(self) -> Draw:
        draws = self.draws
        self.scales, omega = self.draw_residuals(draws.Y - self.fitted - self.b, self.scales)
        columns, self.b = draws.draw_right(draws.Z, omega)
        self.fitted = draws.Z @ columns.T
        return *dense_factors(columns.T, self.problem), Noise(self.scales), self.b


def _residual_law(
    problem: Problem, likelihood: Likelihood, prior: Prior, rng: np.random.Generator
) -> Callable[[Array, Array], tuple[Array, Array]]:
    """A function that draws the scales, and the precision of every residual, given residuals and scales."""
    weights, q = problem.row_weights, problem.n_targets
    w = np.ones((len(problem.Y), 1)) if weights is None else weights[:, None]  # type: ignore[arg-type]
    is_common = prior.noise == "common"
    count = problem.weight * (q if is_common else 1)

    def scales(sums: Array, entries: float) -> Array:
        """Scale raised to its power, inverse gamma, from sums over the residuals of each output."""
        if is_common:
            total = float(sums.sum()) + prior.noise_rate
            return np.full(q, total / rng.standard_gamma(entries + prior.noise_shape))
        return (sums + prior.noise_rate) / rng.standard_gamma(entries + prior.noise_shape, q)

    def laplace(E: Array, noise: Array) -> tuple[Array, Array]:
        """Scale b, then the precision of every residual."""
        size = np.abs(E)
        b = scales((w * size).sum(axis=0), count)
        own = b / w
        ratio = own / np.maximum(size, ROUNDING * own)
        return b, _inverse_gaussian(ratio, rng) / own**2

    def student(E: Array, noise: Array) -> tuple[Array, Array]:
        """Precision of every residual, then the scale."""
        nu = likelihood.loss.nu  # type: ignore[attr-defined]
        squares = E * E
        omega = rng.standard_gamma(np.broadcast_to(w * (nu + 1) / 2, E.shape))
        omega /= (nu + squares / noise**2) / 2
        tau2 = scales((omega * squares).sum(axis=0) / 2, count / 2)
        return np.sqrt(tau2), omega / tau2

    return student if isinstance(likelihood.loss, StudentLoss) else laplace


def _inverse_gaussian(mean: Array, rng: np.random.Generator) -> Array:
    """Inverse Gaussian variates of shape 1; no difference of large numbers is taken."""
    phi = mean * rng.standard_normal(mean.shape) ** 2
    root = 1 + phi / 2 + np.sqrt(phi + phi * phi / 4)
    return np.where(rng.random(mean.shape) * (1 + 1 / root) < 1, mean / root, mean * root)
