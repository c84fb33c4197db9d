"""Bayesian Stiefel regression: the posterior over maps of low rank."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from isthmus._linalg import Array
from isthmus.problems import Form, Frame, MomentForm, Moments, RowForm
from isthmus.problems.streams import as_rows
from isthmus.regression.bayesian.chains import Settings, judge, run_chain, run_chains
from isthmus.regression.bayesian.draws import ChainDraws, Start, flat
from isthmus.regression.bayesian.parameters import check_parameters, choose_sampler
from isthmus.regression.bayesian.prediction import PosteriorModel
from isthmus.regression.bayesian.problem import (
    Problem,
    in_own_units,
    make_prior,
    make_problem,
    uncentred_form,
)
from isthmus.regression.bayesian.ranks import leave_one_out, score_ranks, smallest_good_rank
from isthmus.regression.bayesian.summary import (
    best_factors,
    mean_map,
    output_products,
    watched_draws,
)
from isthmus.regression.factors import Factors
from isthmus.regression.streamed import fit_source

_BLOCKS_NEED = "needs likelihood='gaussian', fit_intercept=True, a fixed n_components."


def _takes_blocks(self: BayesianStiefelRegression) -> bool:
    if not self._keeps_moments():
        raise AttributeError(f"partial_fit {_BLOCKS_NEED}")
    return True


def _has_path(self: BayesianStiefelRegression) -> bool:
    raise AttributeError("each rank has its own posterior: fit again with that n_components.")


class BayesianStiefelRegression(PosteriorModel):
    r"""Sample the posterior over linear maps of low rank; give intervals for all that follows from it.

    .. math::
        y_{ij} = (C' x_i + b)_j + \tau_j\,\epsilon_{ij}, \qquad C = A D' = W \operatorname{diag}(s) V',
        \qquad \operatorname{rank} C \le r

    [B2006]_ Sec. 2.5, with proper priors in place of its scale-free one, which has no posterior
    (docs/bayesian.md). Directions are uniform under all of them. Gaussian noise is sampled from moments,
    so that a draw costs the same whatever the number of rows.

    Parameters
    ----------
    n_components : int, "auto" or None, default=None
        Rank r, at most the number of features and of targets. None is full rank; "auto" takes the
        smallest rank whose leave-one-out log score is within one standard error of the best.
    likelihood : {"gaussian", "laplace", "student"} or Loss, default="gaussian"
        Law of the noise. A ``Loss`` of ``isthmus.losses`` (or its name) stands for a density
        proportional to ``exp(-loss(residual / scale))``; "logistic" and "poisson" have no scale.
    nu : float, default=4.0
        Degrees of freedom of "student".
    prior : {"auto", "normal", "half_normal", "matrix_normal"}, default="auto"
        "normal": entries of A and D are Gaussian; "half_normal": W and V uniform, singular values half
        normal; "matrix_normal": density ``exp(-||C||^2 / 2v)`` with respect to the uniform measure on
        maps of rank r, for full rank the conjugate prior. "auto" is that one at full rank and "normal"
        below it.
    prior_variance : float or "auto", default="auto"
        Variance of those entries, singular values or coefficients, in the units of ``units``. "auto" is
        empirical Bayes for the matrix normal prior at full rank: the variance under which the outputs are
        most likely, with Gaussian noise. It is found from the data and then held fixed, so that intervals
        know nothing of its own uncertainty. For other priors "auto" is 1.
    noise : {"per_output", "common", "full"}, default="per_output"
        One noise scale for each output, one for all of them, or a covariance of the outputs' noise, for
        Gaussian noise only.
    noise_prior : "auto" or (shape, rate), default="auto"
        Inverse gamma law of each squared noise scale (of the scale itself for "laplace"), in the units of
        ``units``; with ``noise="full"``, the inverse Wishart law whose diagonal has these laws. "auto" is
        the scale-free law, kept away from 0 where a map of this rank could interpolate the data.
    units : {"outputs", "columns", "common", "none"}, default="outputs"
        Units in which the priors are stated. "outputs": one for all inputs (root mean variance of the
        columns) and each output's own deviation; "columns": each column's own deviation; "common": one
        for all inputs and one for all outputs; "none": as they come.
    fit_intercept : bool, default=True
        Whether there is an intercept, with a flat prior.
    sampler : {"auto", "gibbs", "hmc"}, default="auto"
        "gibbs" is for one of the three named likelihoods with the normal prior, or with the matrix normal
        prior at full rank, and is what "auto" takes there; "hmc" is Hamiltonian Monte Carlo
        over two factors of the map. The sampler of [B2006]_ is in
        ``isthmus.papers.kernel_dependency_thesis``.
    n_chains, n_warmup, n_draws : int, default=4, 500, 1000
        Number of chains, and of steps of each that are discarded and kept.
    thin : int or "auto", default="auto"
        Steps from one kept draw to the next; "auto" is 4 for Gibbs sampling of Laplacian and Student
        noise, whose steps are cheap and alike, and otherwise 1.
    n_jobs : int or None, default=None
        Number of chains run in parallel by joblib. The draws do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the chains; None is fresh entropy.

    Attributes
    ----------
    coef_ : ndarray of shape (n_targets, n_features) or (n_features,)
        Posterior mean; its rank may exceed r.
    intercept_ : float or ndarray of shape (n_targets,)
        Posterior mean.
    coef_mode_, intercept_mode_ : as ``coef_`` and ``intercept_``
        The mode, found directly: a ridge under this likelihood and rank.
    noise_scale_ : ndarray of shape (n_targets,)
        Posterior mean of the noise scale, in units of each target.
    noise_covariance_ : ndarray of shape (n_targets, n_targets)
        Posterior mean of the covariance, with ``noise="full"``.
    left_draws_, right_draws_ : ndarray of shape (n_chains, n_draws, n_features, r), (..., n_targets, r)
        Factors of each draw, ``coef = right @ left.T``; only their product is identified.
    intercept_draws_, noise_draws_ : ndarray of shape (n_chains, n_draws, n_targets)
        Draws of the intercept about ``y_mean_ - coef @ x_mean_`` and of the noise scale.
    noise_covariance_draws_ : ndarray of shape (n_chains, n_draws, n_targets, n_targets)
        With ``noise="full"``.
    diagnostics_ : ChainReport
        R-hat, effective sample sizes, acceptance, divergences.
    n_components_ : int
        Rank.
    loo_ : dict of int to LeaveOneOut
        Leave-one-out scores of each rank tried, with ``n_components="auto"``.
    x_rotations_, y_loadings_, ... :
        As in ``PLS``, of the best map of rank r for the posterior mean.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus import BayesianStiefelRegression
    >>> from isthmus.datasets import make_low_rank_regression
    >>> X, Y, coef = make_low_rank_regression(100, 6, 4, rank=2, noise=0.5, random_state=0)
    >>> model = BayesianStiefelRegression(2, random_state=0).fit(X, Y)
    >>> mean, bounds = model.predict(X, interval=0.9)
    >>> bounds.shape
    (100, 4, 2)
    >>> bool(0.85 < np.mean((bounds[..., 0] < Y) & (Y < bounds[..., 1])) < 0.97)
    True
    >>> bool(model.diagnostics_.rhat < 1.01)
    True
    """

    missing = "error"
    _needs_full_yy = True
    scale = False  # of the frame of the base class; units of the priors are ``units``

    def __init__(
        self,
        n_components: Any = None,
        *,
        likelihood: Any = "gaussian",
        nu: float = 4.0,
        prior: str = "auto",
        prior_variance: Any = "auto",
        noise: str = "per_output",
        noise_prior: Any = "auto",
        units: str = "outputs",
        fit_intercept: bool = True,
        sampler: str = "auto",
        n_chains: int = 4,
        n_warmup: int = 500,
        n_draws: int = 1000,
        thin: Any = "auto",
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
        self.sampler = sampler
        self.n_chains = n_chains
        self.n_warmup = n_warmup
        self.n_draws = n_draws
        self.thin = thin
        self.n_jobs = n_jobs
        self.random_state = random_state

    # -- parameters ----------------------------------------------------------------------------

    def _needs_no_rows(self) -> bool:
        return isinstance(self.likelihood, str) and self.likelihood in ("gaussian", "squared")

    def _keeps_moments(self) -> bool:
        return self.n_components != "auto" and self.fit_intercept and self._needs_no_rows()

    def _is_nested(self) -> bool:
        return False

    def _cheapest_form(self, n: int, p: int, n_components: int | None) -> type[Form]:
        return MomentForm if p <= n else RowForm

    def _check_parameters(self) -> int | None:
        self._law = check_parameters(self)
        return super()._check_parameters()

    # -- fitting -------------------------------------------------------------------------------

    def fit(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> BayesianStiefelRegression:
        """Draw from the posterior.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features), or Rows
            Inputs; sparse and ``Rows`` for Gaussian noise only.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Outputs.
        sample_weight : array of shape (n_samples,), default=None
            Power to which the likelihood of each row is raised; a whole number counts as that many
            copies of the row.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        source = as_rows(X, y, sample_weight)
        if source is not None:
            if not self._keeps_moments():
                raise ValueError(f"fit of Rows {_BLOCKS_NEED}")
            fit_source(self, source)
            return self
        n_components = self._check_parameters()
        rows, Y, weights = self._check_rows(X, y, sample_weight, reset=True, to_fit=True)
        self.__dict__.pop("moments_", None)
        self._law.loss.check_targets(Y)
        if sparse.issparse(rows) and not self._needs_no_rows():
            raise TypeError(
                f"sparse X needs likelihood='gaussian', got {self.likelihood!r}: densify X first."
            )
        form = self._make_form(rows, Y, weights)
        kept = None if self._needs_no_rows() else (rows, np.asarray(Y, dtype=float), weights)
        yy = output_products(form, Y, weights) if self.noise == "full" else None
        problem = self._make_problem(form, kept, yy)
        if self.n_components == "auto":
            n_components = self._choose_rank(problem, form.frame, rows, Y)
        factors = self._sample(form, problem, n_components)
        self._store(form, factors, rows, weights)
        return self

    @available_if(_takes_blocks)
    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> BayesianStiefelRegression:
        """Take in a block of rows, given as to ``fit``, and draw given all rows so far.

        Only moments are kept (Gaussian noise).
        """
        super().partial_fit(X, y, sample_weight)
        return self

    def _make_form(self, X: Any, Y: NDArray, weights: Array | None) -> MomentForm | RowForm:
        if not self.fit_intercept:
            return uncentred_form(X, Y, weights)
        if X.shape[1] > X.shape[0] and not sparse.issparse(X):
            form: MomentForm | RowForm = RowForm.from_rows(X, Y, weights, False)
        else:
            form = MomentForm.from_rows(X, Y, weights, False)
        if not self._law.has_scale:  # counts and labels are neither centred nor scaled
            form.frame.y_mean = np.zeros(Y.shape[1])
        return form

    def _make_problem(self, form: Any, rows: Any, yy: Array | None) -> Problem:
        problem = make_problem(form, self.units, self.fit_intercept, rows, yy)
        if self._law.has_scale:
            return problem
        return in_own_units(problem, rows[1])

    def _solve(self, form: Form, n_components: int | None) -> tuple[Form, Factors]:
        """Chains from moments alone, for ``partial_fit``."""
        yy = self.moments_.yy if self.noise == "full" else None
        return form, self._sample(form, self._make_problem(form, None, yy), n_components)

    def _fit_moments(self, moments: Moments, n_components: int | None) -> None:
        self.moments_ = moments
        super()._fit_moments(moments, n_components)

    def _settings(self) -> Settings:
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        mixture = self.sampler_ == "gibbs" and self._law.name != "gaussian"
        thin = (4 if mixture else 1) if self.thin == "auto" else int(self.thin)
        lengths = self.n_chains, self.n_warmup, self.n_draws
        return Settings(self.sampler_, *lengths, self.n_jobs, seed, thin)

    def _run(self, problem: Problem, rank: int) -> tuple[Start, list[ChainDraws]]:
        self.sampler_ = self._choose_sampler(problem.is_full(rank))
        prior = make_prior(
            self.prior, self.prior_variance, self.noise_prior, self.noise, problem, rank
        )
        return run_chains(problem, self._law, prior, rank, self._settings(), self._chain())

    def _choose_sampler(self, is_full: bool) -> str:
        """Return the name of the sampler; ``is_full`` says that the rank leaves the map free."""
        return choose_sampler(self, self._law, is_full)

    def _chain(self) -> Callable[..., ChainDraws]:
        """Return the function that runs one chain."""
        return run_chain

    def _sample(self, form: Any, problem: Problem, n_components: int | None) -> Factors:
        most = min(problem.n_features, problem.n_targets)
        rank = most if n_components is None else min(n_components, most)
        mode, chains = self._run(problem, rank)
        x_unit, y_unit = problem.x_unit[:, None], problem.y_unit
        self.left_draws_ = np.stack([chain.left for chain in chains]) / x_unit
        self.right_draws_ = np.stack([chain.right for chain in chains]) * y_unit[:, None]
        self.intercept_draws_ = np.stack([chain.intercept for chain in chains]) * y_unit
        self.noise_draws_ = np.stack([chain.noise for chain in chains]) * y_unit
        self.noise_scale_ = self.noise_draws_.mean(axis=(0, 1))
        self._store_covariance([chain.covariance for chain in chains], y_unit)
        self._mean = mean_map(flat(self.left_draws_), flat(self.right_draws_), problem)
        self._mode = (
            (problem.basis @ mode.left / x_unit) @ (mode.right * y_unit[:, None]).T,
            mode.intercept * y_unit,
        )
        watched = watched_draws(
            self.left_draws_,
            self.right_draws_,
            self.noise_draws_,
            getattr(self, "noise_covariance_draws_", None),
        )
        self.diagnostics_ = judge(watched, chains)
        self.diagnostics_.warn()
        return best_factors(self._mean, form, rank, self.sampler_)

    def _store_covariance(self, draws: list[Array | None], y_unit: Array) -> None:
        self.__dict__.pop("noise_covariance_draws_", None)
        self.__dict__.pop("noise_covariance_", None)
        covariances = [draw for draw in draws if draw is not None]
        if covariances:
            self.noise_covariance_draws_ = np.stack(covariances) * np.outer(y_unit, y_unit)
            self.noise_covariance_ = self.noise_covariance_draws_.mean(axis=(0, 1))

    def _store(self, form: Any, factors: Factors, X: Any = None, weights: Any = None) -> None:
        super()._store(form, factors, X, weights)
        self.n_components_ = self.left_draws_.shape[-1] if len(factors.y_loadings.T) else 0
        self.n_components_ = min(self.n_components_, self.x_rotations_.shape[1])
        shift = np.zeros(len(self.y_mean_))
        if not self._needs_no_rows():
            shift = self.intercept_draws_.mean(axis=(0, 1))
        self._shift = shift
        self.coef_, self.intercept_ = self._in_shape(self._mean, shift)
        self.coef_mode_, self.intercept_mode_ = self._in_shape(*self._mode)
        del self._mode

    def _in_shape(self, C: Array, shift: Array) -> tuple[Any, Any]:
        coef = C.T
        intercept = self.y_mean_ + shift - coef @ self.x_mean_ - coef @ self._x_rest
        if self._y_is_1d:
            return (coef[0], float(intercept[0]))
        return (coef, intercept)

    def _choose_rank(self, problem: Problem, frame: Frame, X: Any, Y: NDArray) -> int:
        """Smallest rank within one standard error of the best leave-one-out score."""
        self.loo_ = score_ranks(
            lambda rank: self._run(problem, rank)[1],
            lambda chains: leave_one_out(problem, self._law, frame, X, Y, chains),
            min(problem.n_features, problem.n_targets),
        )
        return smallest_good_rank(self.loo_)

    # -- what there is not ---------------------------------------------------------------------

    @available_if(_has_path)
    def predict_path(self, X: ArrayLike) -> NDArray:
        """Not available: each rank has a posterior of its own."""
        raise NotImplementedError

    @property
    def coef_path_(self) -> NDArray:
        raise AttributeError(
            "coef_path_ does not exist: each rank has its own posterior, fit again."
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._needs_no_rows()
        return tags
