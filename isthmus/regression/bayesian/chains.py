"""Run the chains of a fit, and judge them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning

from isthmus._linalg import Array
from isthmus._saved import saved
from isthmus._solvers import bulk_ess, split_rhat, tail_ess
from isthmus._validation import warn
from isthmus.regression.bayesian.draws import ChainDraws, Start
from isthmus.regression.bayesian.gibbs import gibbs_chain
from isthmus.regression.bayesian.half_normal import IndependentFactorPosterior
from isthmus.regression.bayesian.hmc import hmc_chain
from isthmus.regression.bayesian.likelihoods import Likelihood
from isthmus.regression.bayesian.mode import find_mode, scatter_start
from isthmus.regression.bayesian.posteriors import (
    DensePosterior,
    FactorPosterior,
    FreeFactorPosterior,
    Posterior,
)
from isthmus.regression.bayesian.problem import Prior, Problem

# The bounds that are recommended for rank-normalised R-hat and four chains.
GOOD_RHAT, GOOD_ESS = 1.01, 400.0
_LEAST_DRAWS = 8  # of a chain: halves of four are the shortest whose variances mean something


@dataclass(frozen=True)
class Settings:
    """Which sampler, how many chains, how long."""

    sampler: str
    n_chains: int
    n_warmup: int
    n_draws: int
    n_jobs: int | None
    seed: int
    thin: int = 1


def run_chains(
    problem: Problem,
    likelihood: Likelihood,
    prior: Prior,
    rank: int,
    settings: Settings,
    chain: Callable[..., ChainDraws] | None = None,
) -> tuple[Start, list[ChainDraws]]:
    """Find the mode and run the chains, each with a stream of random numbers of its own.

    ``chain`` is a sampler with the arguments of :func:`run_chain`, which is the default.
    """
    mode = find_mode(problem, likelihood, prior, rank)
    seeds = np.random.SeedSequence(settings.seed).spawn(settings.n_chains)
    chains = Parallel(n_jobs=settings.n_jobs)(
        delayed(chain or run_chain)(problem, likelihood, prior, mode, rank, settings, seed)
        for seed in seeds
    )
    return mode, list(chains)


def run_chain(
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
    length = settings.n_warmup, settings.n_draws, rng, settings.thin
    if settings.sampler == "gibbs":
        return gibbs_chain(problem, likelihood, prior, start, *length)
    kind = posterior_kind(prior, prior.kind == "matrix_normal" and problem.is_full(rank))
    return hmc_chain(kind(problem, likelihood, prior), mode, start, *length)


def posterior_kind(prior: Prior, is_dense: bool) -> type[Posterior]:
    """The variables in which a posterior is easiest to move about."""
    if is_dense:
        return DensePosterior
    kinds = {"normal": FactorPosterior, "half_normal": IndependentFactorPosterior}
    return kinds.get(prior.kind, FreeFactorPosterior)


@saved(rhat="any", ess_bulk="any", ess_tail="any", acceptance="any")
@dataclass(frozen=True)
class ChainReport:
    """Diagnostics of the chains.

    Attributes
    ----------
    rhat : float
        Largest split R-hat of an entry of the map or of the noise.
    ess_bulk, ess_tail : float
        Smallest effective sample sizes, of the middle and of the 5 % and 95 % quantiles.
    acceptance : dict
        Mean acceptance probability of each kind of step; empty for Gibbs, which always accepts.
    n_divergent : int
        Trajectories that the integrator lost.
    """

    rhat: float
    ess_bulk: float
    ess_tail: float
    acceptance: dict[str, float] = field(default_factory=dict)
    n_divergent: int = 0

    @property
    def complaints(self) -> list[str]:
        """List what is wrong, with figures."""
        found = []
        if not self.rhat < GOOD_RHAT:
            found.append(f"R-hat is {self.rhat:.3f}, should be below {GOOD_RHAT}")
        for name, ess in (("bulk", self.ess_bulk), ("tail", self.ess_tail)):
            if not ess > GOOD_ESS:
                found.append(
                    f"{ess:.0f} effective draws in the {name}, should be above {GOOD_ESS:g}"
                )
        if self.n_divergent:
            found.append(f"{self.n_divergent} divergent trajectories, should be none")
        return found

    def warn(self) -> None:
        """Warn with figures if something is wrong."""
        if self.complaints:
            warn(
                f"The chains have not converged: {'; '.join(self.complaints)}. Raise n_draws and n_warmup, "
                "lower n_components, or lower prior_variance.",
                ConvergenceWarning,
            )


def judge(draws: Array, chains: list[ChainDraws]) -> ChainReport:
    """Report on draws of entries of the map and of the noise, (n_chains, n_draws, m)."""
    kinds = chains[0].acceptance
    acceptance = {kind: float(np.mean([c.acceptance[kind] for c in chains])) for kind in kinds}
    n_divergent = int(sum(chain.n_divergent for chain in chains))
    if draws.shape[1] < _LEAST_DRAWS:
        return ChainReport(np.inf, 0.0, 0.0, acceptance, n_divergent)
    draws = draws[:, :, np.ptp(draws, axis=(0, 1)) > 0]
    if not draws.shape[2]:
        return ChainReport(1.0, np.inf, np.inf, acceptance, n_divergent)
    return ChainReport(
        float(split_rhat(draws).max()),
        float(bulk_ess(draws).min()),
        float(tail_ess(draws).min()),
        acceptance,
        n_divergent,
    )
