"""Gibbs sampling of both factors of a map: every conditional law is known.

``C = A D'`` with independent Gaussian entries in A and D. Gaussian noise needs moments alone; Laplacian
and Student noise are Gaussian once each residual has a variance of its own, which is drawn too.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dsyev, dtrtri

from isthmus.linalg import Array
from isthmus.regression.bayesian.draws import ChainDraws, Recorder, Start
from isthmus.regression.bayesian.likelihoods import Likelihood, StudentLoss
from isthmus.regression.bayesian.orbits import rebalancing
from isthmus.regression.bayesian.problem import Prior, Problem

# Up to this order the rows of A are drawn together, beyond it column by column.
_JOINT_ORDER = 600
_OUTER_ENTRIES = 4_000_000
_TINY = 1e-12


def gibbs_gaussian(
    problem: Problem,
    prior: Prior,
    start: Start,
    n_warmup: int,
    n_draws: int,
    rng: np.random.Generator,
    thin: int = 1,
) -> ChainDraws:
    r"""Sweeps over A, D and :math:`\tau^2` from moments; the cost is O(k q r), whatever n.

    .. math::
        A \mid \cdot: \text{ precision } \tau^{-2}\, g_i\, D'D + \lambda I \text{ for row } i, \quad
        D \mid \cdot: \text{ precision } \tau^{-2} A' G A + \lambda I, \quad
        \tau^2 \mid \cdot \sim \mathrm{IG}(\tfrac{\nu}2 + a, \tfrac{\mathrm{RSS}}2 + b)

    in coordinates in which :math:`X'X = G` is diagonal; :math:`\nu` is nq, less q where a flat
    intercept has been integrated out.
    """
    g, cross = problem.squares, problem.cross
    roots = np.sqrt(g)[:, None]
    target = cross / problem.roots[:, None]
    k, q = cross.shape
    r = start.left.shape[1]
    lam, ridge = prior.precision, prior.precision * np.eye(r)
    shape = problem.degrees / 2 + prior.noise_shape
    D, tau2 = start.right, start.noise**2
    recorder = Recorder(problem, prior, n_draws, r, rng, thin)
    for sweep in range(n_warmup + n_draws * thin):
        noise = rng.standard_normal((k + q, r))
        w, F, _ = dsyev(D.T @ D)
        precision = np.multiply.outer(g, np.maximum(w, 0.0) / tau2) + lam
        # The noise is turned with F too: then the draw does not depend on the signs of F.
        A = (cross @ (D @ F) / (tau2 * precision) + (noise[:k] @ F) / np.sqrt(precision)) @ F.T
        scaled = roots * A
        P = scaled.T @ scaled / tau2 + ridge
        inverse = _inverse_root(P)
        D = ((target.T @ scaled / tau2) @ inverse.T + noise[k:]) @ inverse
        gap = scaled @ D.T - target
        rss = problem.rest + float(np.vdot(gap, gap))
        tau2 = (rss / 2 + prior.noise_rate) / rng.standard_gamma(shape)
        if sweep >= n_warmup:
            recorder.add(A, D, float(np.sqrt(tau2)))
        R, c = rebalancing(A, D, lam, rng)
        D = D @ R / c  # and A is drawn afresh
    return recorder.finish()


def _inverse_root(P: Array) -> Array:
    """L^-1 of P = L L', of order r: LAPACK itself, since numpy's checks cost more than the work."""
    L, failed = dpotrf(P, lower=1)
    if failed:
        raise np.linalg.LinAlgError(f"the precision of D is not positive definite: {P.tolist()}")
    return dtrtri(L, lower=1)[0]


class _MixtureSweep:
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
        products = (T1[:, :, None] * T1[:, None, :]).reshape(n, m * m)
        P = (omega.T @ products).reshape(q, m, m)
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


def gibbs_mixture(
    problem: Problem,
    likelihood: Likelihood,
    prior: Prior,
    start: Start,
    n_warmup: int,
    n_draws: int,
    rng: np.random.Generator,
    thin: int = 1,
) -> ChainDraws:
    r"""Sweeps for Laplacian and Student noise, as Gaussian noise of random variance.

    Laplace: :math:`1/\omega_{ij} \sim` inverse Gaussian with mean :math:`1/(b|e_{ij}|)` and shape
    :math:`1/b^2`, [PC2008]_ Sec. 2; the scale b is drawn before them, with the :math:`\omega` integrated
    out. Student: :math:`\omega_{ij}` is a gamma variate. A weight is a power of a row's likelihood.
    """
    r = start.left.shape[1]
    sweeper = _MixtureSweep(problem, prior, r, rng)
    weights = problem.row_weights
    w = np.ones((len(sweeper.Y), 1)) if weights is None else weights[:, None]
    draw = _student if isinstance(likelihood.loss, StudentLoss) else _laplace
    nu = likelihood.loss.nu if isinstance(likelihood.loss, StudentLoss) else 0.0
    A, D, b, noise = start.left, start.right, start.intercept, start.noise
    recorder = Recorder(problem, prior, n_draws, r, rng, thin)
    T = sweeper.Z @ A
    for sweep in range(n_warmup + n_draws * thin):
        E = sweeper.Y - T @ D.T - b
        noise, omega = draw(E, w, nu, noise, problem.entries, prior, rng)
        D, b = sweeper.draw_right(T, omega)
        A = sweeper.draw_left(A, D, b, omega)
        T = sweeper.Z @ A
        if sweep >= n_warmup:
            recorder.add(A, D, noise, b)
        R, c = rebalancing(A, D, prior.precision, rng)
        A, D, T = A @ R * c, D @ R / c, T @ R * c
    return recorder.finish()


def _laplace(
    E: Array,
    w: Array,
    nu: float,
    noise: float,
    entries: float,
    prior: Prior,
    rng: np.random.Generator,
) -> tuple[float, Array]:
    """Scale b, then the precision of every residual."""
    size = np.abs(E)
    rate = float((w * size).sum()) + prior.noise_rate
    b = rate / rng.standard_gamma(entries + prior.noise_shape)
    own = b / w
    ratio = own / np.maximum(size, _TINY * own)
    return b, _inverse_gaussian(ratio, rng) / own**2


def _inverse_gaussian(mean: Array, rng: np.random.Generator) -> Array:
    """Inverse Gaussian variates of shape 1; no difference of large numbers is taken."""
    phi = mean * rng.standard_normal(mean.shape) ** 2
    root = 1 + phi / 2 + np.sqrt(phi + phi * phi / 4)
    return np.where(rng.random(mean.shape) * (1 + 1 / root) < 1, mean / root, mean * root)


def _student(
    E: Array,
    w: Array,
    nu: float,
    noise: float,
    entries: float,
    prior: Prior,
    rng: np.random.Generator,
) -> tuple[float, Array]:
    """Precision of every residual, then the scale."""
    tau2 = noise**2
    omega = rng.standard_gamma(np.broadcast_to(w * (nu + 1) / 2, E.shape))
    omega /= (nu + E * E / tau2) / 2
    rate = float((omega * E * E).sum()) / 2 + prior.noise_rate
    tau2 = rate / rng.standard_gamma(entries / 2 + prior.noise_shape)
    return float(np.sqrt(tau2)), omega / tau2
