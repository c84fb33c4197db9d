"""Likelihoods of a map of low rank: value, gradient and noise, from moments or from rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln
from scipy.stats import laplace, norm, t

from isthmus._linalg import Array
from isthmus.losses import (
    Absolute,
    HuberRows,
    Logistic,
    Loss,
    Poisson,
    ResidualLoss,
    Squared,
    check_positive,
    get_loss,
)

NAMES = ("gaussian", "laplace", "student")
_GRID, _REACH = 20001, 60.0  # numerical law of a loss, in units of its scale


@dataclass(frozen=True)
class StudentLoss(ResidualLoss):
    r"""Minus the logarithm of Student's density: :math:`\tfrac{\nu+1}2 \log(1 + e^2/\nu)`."""

    nu: float = 4.0

    def __post_init__(self) -> None:
        check_positive("nu", self.nu)

    @property
    def curvature(self) -> float:
        return (self.nu + 1) / self.nu

    def rho_and_psi(self, residual: Array) -> tuple[Array, Array]:
        ratio = residual / self.nu
        inside = 1 + ratio * residual
        return (self.nu + 1) / 2 * np.log(inside), (self.nu + 1) * ratio / inside


@dataclass(frozen=True)
class ScaledLoss(Loss):
    """A loss of residuals divided by the scale of the noise of their output."""

    loss: Loss
    tau: Array  # (q,)

    @property
    def is_smooth(self) -> bool:  # type: ignore[override]
        return self.loss.is_smooth

    @property
    def curvature(self) -> float:
        return self.loss.curvature / float(self.tau.min()) ** 2

    def typical_curvature(self, scale: float) -> float:
        return self.loss.typical_curvature(1.0) * float(np.mean(self.tau**-2))

    def smooth(self, width: float) -> ScaledLoss:
        return ScaledLoss(self.loss.smooth(width / float(np.median(self.tau))), self.tau)

    def pointwise(self, Y: Array, Y_pred: Array) -> tuple[Array, Array]:
        value, slope = self.loss.pointwise(Y / self.tau, Y_pred / self.tau)
        return value, slope / self.tau


class Likelihood:
    r"""Density of the outputs given the predictions.

    .. math::
        p(y \mid f, \tau) = \prod_{ij} \frac{1}{c\,\tau_j} e^{-\rho((y_{ij} - f_{ij}) / \tau_j)}

    The power of :math:`\tau_j` is part of it: without it :math:`\tau_j` has no proper posterior. Losses
    that are not of residuals (logistic, Poisson) have no scale, :math:`\tau_j = 1`. The noise of Gaussian
    outputs may also have a covariance.
    """

    def __init__(self, name: str, loss: Loss) -> None:
        self.name, self.loss = name, loss
        self.has_scale = isinstance(loss, ResidualLoss)
        self.power = 1 if name == "laplace" else 2
        self._law: tuple[Array, Array, float] | None = None

    # -- the law of one residual ---------------------------------------------------------------

    def log_constant(self) -> float:
        """log c of the density of a residual of scale 1."""
        if self.name == "gaussian":
            return 0.5 * np.log(2 * np.pi)
        if self.name == "laplace":
            return np.log(2.0)
        if isinstance(self.loss, StudentLoss):
            nu = self.loss.nu
            return float(gammaln(nu / 2) - gammaln((nu + 1) / 2) + 0.5 * np.log(nu * np.pi))
        return self._numerical_law()[2] if self.has_scale else 0.0

    def quantile(self, u: Array) -> Array:
        """Quantiles of a residual of scale 1."""
        if self.name == "gaussian":
            return norm.ppf(u)
        if self.name == "laplace":
            return laplace.ppf(u)
        if isinstance(self.loss, StudentLoss):
            return t.ppf(u, self.loss.nu)
        grid, cdf, _ = self._numerical_law()
        return np.interp(u, cdf, grid)

    @property
    def noise_variance(self) -> float:
        """Variance of a residual of scale 1; infinite for heavy tails."""
        if self.name == "gaussian":
            return 1.0
        if self.name == "laplace":
            return 2.0
        if isinstance(self.loss, StudentLoss):
            nu = self.loss.nu
            return nu / (nu - 2) if nu > 2 else np.inf
        if not self.has_scale:
            return 0.0
        grid, cdf, _ = self._numerical_law()
        middle = (grid[1:] + grid[:-1]) / 2
        mass = np.diff(cdf)
        return float((mass * middle**2).sum() - (mass * middle).sum() ** 2)

    def _numerical_law(self) -> tuple[Array, Array, float]:
        """Grid, distribution function on it and log constant of exp(-rho)."""
        if self._law is None:
            if not self.has_scale:
                raise ValueError(f"{self.loss!r} is not a loss of residuals: it has no noise law.")
            grid = _REACH * np.sinh(np.linspace(-6, 6, _GRID)) / np.sinh(6)
            rho = self.loss.pointwise(grid[:, None], np.zeros((_GRID, 1)))[0][:, 0]
            density = np.exp(-(rho - rho.min()))
            cells = (density[1:] + density[:-1]) / 2 * np.diff(grid)
            total = cells.sum()
            if density[0] + density[-1] > 1e-4 * density.max():
                raise ValueError(
                    f"exp(-loss) of {self.loss!r} cannot be normalised: not a density."
                )
            cdf = np.concatenate([[0.0], np.cumsum(cells)]) / total
            self._law = grid, cdf, float(np.log(total) - rho.min())
        return self._law

    def sample(
        self, predicted: Array, noise: Array, rng: np.random.Generator, roots: Array | None = None
    ) -> Array:
        """New outputs at linear predictions (S, n, q).

        ``noise`` (S, 1, q) are the scales, ``roots`` (S, q, q) the Cholesky factors of a covariance.
        """
        if isinstance(self.loss, Poisson):
            return rng.poisson(np.exp(np.minimum(predicted, 40.0))).astype(float)
        if isinstance(self.loss, Logistic):
            return (rng.random(predicted.shape) < self.loss.inverse_link(predicted)).astype(float)
        unit = self.quantile(rng.random(predicted.shape))
        return predicted + (noise * unit if roots is None else unit @ roots.transpose(0, 2, 1))

    def log_density(self, Y: Array, predicted: Array, noise: Array) -> Array:
        """Log density of each entry; ``noise`` is broadcast against the entries."""
        if not self.has_scale:
            shape = np.broadcast_shapes(Y.shape, predicted.shape)
            flat = [np.broadcast_to(A, shape).reshape(-1, shape[-1]) for A in (Y, predicted)]
            return -self.loss.pointwise(*flat)[0].reshape(shape)
        u = (Y - predicted) / noise
        flat_u = u.reshape(-1, u.shape[-1])
        rho = self.loss.pointwise(flat_u, np.zeros_like(flat_u))[0].reshape(u.shape)
        return -rho - np.log(noise) - self.log_constant()

    def row_log_density(
        self, Y: Array, predicted: Array, noise: Array, roots: Array | None = None
    ) -> Array:
        """Log density of each row, (S, n), with the arguments of ``sample``."""
        if roots is None:
            return self.log_density(Y, predicted, noise).sum(axis=2)
        u = (Y - predicted) @ np.linalg.inv(roots).transpose(0, 2, 1)
        log_volume = np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)[:, None]
        return -0.5 * (u * u).sum(axis=2) - log_volume - u.shape[2] * self.log_constant()


def get_likelihood(likelihood: Any, nu: float) -> Likelihood:
    """Resolve a name or a loss."""
    if isinstance(likelihood, str) and likelihood in NAMES:
        losses = {"gaussian": Squared(), "laplace": Absolute(), "student": StudentLoss(nu)}
        return Likelihood(likelihood, losses[likelihood])
    try:
        loss = get_loss(likelihood)
    except ValueError:
        raise ValueError(
            f"likelihood == {likelihood!r}, must be one of {', '.join(map(repr, NAMES))}, the name of "
            "a loss or a Loss."
        ) from None
    if isinstance(loss, Squared):
        return Likelihood("gaussian", loss)
    if isinstance(loss, Absolute):
        return Likelihood("laplace", loss)
    if isinstance(loss, HuberRows):
        raise ValueError(
            "likelihood == 'huber_rows' has one term per row: use 'huber', which has one per entry."
        )
    # Parameters left at None are set in units of the noise: as for residuals of deviation 1.
    named = Likelihood("loss", loss.resolve(norm.ppf((np.arange(999) + 0.5) / 999)[:, None]))
    if named.has_scale:
        named.log_constant()  # refuses what is not a density
    return named


class GaussianEvaluation:
    """Gaussian log likelihood from moments: nothing here grows with the number of rows.

    ``noise`` is given, not a variable: it has a law of its own given the map.
    """

    def __init__(self, problem: Any) -> None:
        self.problem = problem
        self.roots = np.sqrt(problem.squares)
        self.target = problem.target  # sqrt(g) C of the least squares fit
        self.noise: Any = None

    def gap(self, left: Array, right: Array) -> Array:
        """What a map leaves of the part that can be explained."""
        return (self.roots[:, None] * left) @ right.T - self.target

    def value(self, left: Array, right: Array, b: Any, log_tau: Any) -> float:
        gap = self.noise.turn(self.gap(left, right)) / self.noise.scales
        return -0.5 * float(np.vdot(gap, gap))

    def value_and_gradient(
        self, left: Array, right: Array, b: Any, log_tau: Any
    ) -> tuple[float, Array, Array, None, None]:
        scaled = self.roots[:, None] * left
        unit = self.noise.turn(scaled @ right.T - self.target) / self.noise.scales
        slope = unit / self.noise.scales
        if self.noise.axes is not None:
            slope = slope @ self.noise.axes.T
        grad_left = -self.roots[:, None] * (slope @ right)
        return -0.5 * float(np.vdot(unit, unit)), grad_left, -slope.T @ scaled, None, None


class RowEvaluation:
    """Log likelihood of any loss, from the rows; ``log_tau`` (q,) or None where there is no scale."""

    def __init__(self, problem: Any, likelihood: Likelihood) -> None:
        self.rows, self.Y, self.weights = problem.rows, problem.Y, problem.row_weights
        self.loss, self.weight = likelihood.loss, problem.weight

    def value(self, left: Array, right: Array, b: Any, log_tau: Any) -> float:
        return self.value_and_gradient(left, right, b, log_tau)[0]

    def value_and_gradient(
        self, left: Array, right: Array, b: Any, log_tau: Any
    ) -> tuple[float, Array, Array, Array, Array | None]:
        T = self.rows @ left
        predicted = T @ right.T
        if b is not None:
            predicted += b
        grad_log = None
        if log_tau is not None:  # a loss of residuals alone
            tau = np.exp(log_tau)
            residual = (self.Y - predicted) / tau
            value, slope = self.loss.value_and_gradient(
                residual, np.zeros_like(residual), self.weights
            )
            grad_log = -(slope * residual).sum(axis=0) - self.weight
            value = value + self.weight * float(log_tau.sum())
            slope = slope / tau
        else:
            value, slope = self.loss.value_and_gradient(self.Y, predicted, self.weights)
        slope = -slope
        return -value, self.rows.T @ (slope @ right), slope.T @ T, slope.sum(axis=0), grad_log


def evaluation(problem: Any, likelihood: Likelihood) -> GaussianEvaluation | RowEvaluation:
    """How the likelihood is evaluated for this problem."""
    if likelihood.name == "gaussian":
        return GaussianEvaluation(problem)
    return RowEvaluation(problem, likelihood)
