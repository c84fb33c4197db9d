"""The Metropolised Gibbs sampler of the thesis, [B2006]_ Sec. 2.5 and Algorithm A2.7."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus._geometry import Stiefel
from isthmus._linalg import Array
from isthmus._solvers import metropolis_accepts
from isthmus._validation import check_option
from isthmus.papers.kernel_dependency_thesis.manifold_posterior import ManifoldPosterior
from isthmus.regression import BayesianStiefelRegression
from isthmus.regression.bayesian import (
    ChainDraws,
    Likelihood,
    Prior,
    Problem,
    Recorder,
    Settings,
    Start,
    scatter_start,
)

# Shares of accepted proposals that are tuned for: near the best for a walk in many and in one dimension.
_TARGETS = {"V": 0.35, "W": 0.35, "s": 0.35, "tau": 0.44, "b": 0.35}


class MetropolisedGibbsRegression(BayesianStiefelRegression):
    r"""The posterior over maps of low rank, sampled as the thesis does, [B2006]_ Sec. 2.5.2, A2.7.

    .. math::
        Y = X W S V' + E: \qquad V, W \text{ by geodesic random walks}, \quad \log S, \log \tau
        \text{ by Gaussian ones}

    V, W, S and the noise are proposed in turn and accepted by Metropolis' rule. Errata mended: the
    Hastings term of the walk on log S, which the thesis leaves out; the tangent part alone of the Gaussian
    direction; a proper prior, because that of the thesis has no posterior. Gaussian noise is drawn from its
    own law. :class:`isthmus.BayesianStiefelRegression` gives 8 to 200 times as many effective draws in the
    same time.

    Parameters
    ----------
    n_components : int, default=2
        Rank r.
    likelihood : {"gaussian", "laplace", "student"} or Loss, default="gaussian"
        Law of the noise.
    prior : {"half_normal", "matrix_normal"}, default="half_normal"
        Law of the singular values; the second is for ranks that bind, since this walk does not mix at full
        rank with it.
    nu, prior_variance, noise, noise_prior, units, fit_intercept, n_chains, n_warmup, n_draws, n_jobs, \
random_state :
        As in ``BayesianStiefelRegression``; chains are longer by default.

    Attributes
    ----------
    coef_, intercept_, left_draws_, right_draws_, noise_draws_, diagnostics_, ... :
        As in ``BayesianStiefelRegression``; ``diagnostics_.acceptance`` has the share of accepted proposals
        of each part.
    """

    sampler = "auto"
    thin = 1

    def __init__(
        self,
        n_components: Any = 2,
        *,
        likelihood: Any = "gaussian",
        nu: float = 4.0,
        prior: str = "half_normal",
        prior_variance: float = 1.0,
        noise: str = "per_output",
        noise_prior: Any = "auto",
        units: str = "outputs",
        fit_intercept: bool = True,
        n_chains: int = 4,
        n_warmup: int = 1500,
        n_draws: int = 8000,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.likelihood = likelihood
        self.nu = nu
        self.prior = prior
        self.prior_variance = prior_variance
        self.noise = noise
        self.noise_prior = noise_prior
        self.units = units
        self.fit_intercept = fit_intercept
        self.n_chains = n_chains
        self.n_warmup = n_warmup
        self.n_draws = n_draws
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> int | None:
        if self.prior != "jeffreys":  # refused below, with the reason
            check_option("prior", self.prior, ("half_normal", "matrix_normal"))
        return super()._check_parameters()

    def _choose_sampler(self, is_full: bool) -> str:
        if self.prior == "matrix_normal" and is_full:
            raise ValueError(
                "prior == 'matrix_normal' at full rank does not mix with this sampler: use "
                "isthmus.BayesianStiefelRegression, which draws from the exact conditional laws, or a "
                "smaller n_components."
            )
        return "metropolised gibbs"

    def _chain(self) -> Callable[..., ChainDraws]:
        return run_metropolised_chain


def run_metropolised_chain(
    problem: Problem,
    likelihood: Likelihood,
    prior: Prior,
    mode: Start,
    rank: int,
    settings: Settings,
    seed: Any,
) -> ChainDraws:
    """Run one chain from a point near the mode."""
    rng = np.random.default_rng(seed)
    start = scatter_start(mode, rank, rng)
    posterior = ManifoldPosterior(problem, likelihood, prior)
    return metropolised_gibbs(
        posterior, mode, start, settings.n_warmup, settings.n_draws, rng, settings.thin
    )


@dataclass
class AcceptanceTuner:
    """Scale of a random walk, moved towards a share of accepted steps with falling gain."""

    step: float
    target: float
    count: int = 0

    def update(self, accept: float) -> None:
        """Take in the acceptance probability of a proposal of warm-up, [AT2008]_ Sec. 4."""
        self.count += 1
        self.step *= float(np.exp((accept - self.target) / self.count**0.6))


def metropolised_gibbs(
    posterior: ManifoldPosterior,
    mode: Start,
    start: Start,
    n_warmup: int,
    n_draws: int,
    rng: np.random.Generator,
    thin: int = 1,
) -> ChainDraws:
    """Run Algorithm A2.7 of [B2006]_: V, W, s, tau in turn, by random walks.

    V and W move along geodesics in Gaussian directions, which is symmetric with respect to the
    uniform measure. The step lengths are tuned during warm-up.
    """
    problem = posterior.problem
    squares = np.exp(2 * posterior.pack_map(mode)[2]).mean() * max(problem.squares.mean(), 1e-12)
    small = min(0.5, float(np.exp(np.log(mode.noise.scales).mean()) / np.sqrt(squares)))
    parts = posterior.pack(start)
    value = posterior.value(parts)
    rest = ["tau"] * posterior.has_scales + ["b"] * posterior.has_intercept
    names = {"V": 1, "W": 0, "s": 2} | {name: 3 + i for i, name in enumerate(rest)}
    tuners = {name: AcceptanceTuner(small, _TARGETS[name]) for name in names}
    counts = dict.fromkeys(names, 0.0)
    rank = start.left.shape[1]
    recorder = Recorder(problem, posterior.prior, n_draws, rank, rng, thin)
    for i in range(n_warmup + n_draws * thin):
        for name, place in names.items():
            proposal = list(parts)
            proposal[place] = _propose(name, parts[place], tuners[name].step, rng)
            with np.errstate(over="ignore", invalid="ignore"):  # too far: refused below
                new = posterior.value(proposal)
            taken, accept = metropolis_accepts(new - value, rng)
            if taken:
                parts, value = proposal, new
            if i < n_warmup:
                tuners[name].update(accept)
            else:
                counts[name] += accept / (n_draws * thin)
        parts, value = posterior.flip(parts, value, rng) or (parts, value)
        if posterior.refresh(parts, rng):
            value = posterior.value(parts)
        if i >= n_warmup:
            left, right, noise, b = posterior.unpack(parts)
            recorder.add(left, right, noise, b)
    return recorder.finish(counts)


def _propose(name: str, part: Any, step: float, rng: np.random.Generator) -> Array:
    if name not in ("V", "W"):
        return part + step * rng.standard_normal(part.shape)
    return part if part.shape == (1, 1) else geodesic_proposal(part, step, rng)


def geodesic_proposal(point: Array, scale: float, rng: np.random.Generator) -> Array:
    r"""Return the end of the geodesic that leaves ``point`` along a Gaussian tangent.

    The tangent is isotropic in the canonical metric: the entries of :math:`V'D` above the diagonal and of
    :math:`V_\perp' D` are independent :math:`N(0, \sigma^2)`. The proposal is symmetric with respect to
    the uniform measure ([B2006]_ Sec. 2.5.2, with the tangent part alone).
    """
    geometry = Stiefel(*point.shape)
    return geometry.exp(point, scale * geometry.random_tangent(point, rng))
