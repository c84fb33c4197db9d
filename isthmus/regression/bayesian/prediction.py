"""What a posterior is for: predictions with their spread, new outputs, scores, subspaces, export."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from isthmus._linalg import BLOCK, Array, row_blocks
from isthmus._saved import saved
from isthmus._validation import check_array, finite_answer
from isthmus.losses import Logistic
from isthmus.problems.streams import by_blocks
from isthmus.regression.base import LatentRegression
from isthmus.regression.bayesian.draws import flat
from isthmus.regression.bayesian.export import inference_data
from isthmus.regression.bayesian.likelihoods import Likelihood
from isthmus.regression.bayesian.subspaces import SubspacePosterior, subspace_posterior


@saved(
    left_draws_="c d p r", right_draws_="c d q r|c d 1 r", intercept_draws_="c d q|c d 1",
    noise_draws_="c d q|c d 1", noise_covariance_draws_="c d q q|c d 1 1", _mean="p q|p 1",
    _shift="q|1",
)  # fmt: skip
class PosteriorModel(LatentRegression):
    """A map known by draws from its posterior; a subclass says how they are made."""

    left_draws_: Array  # (n_chains, n_draws, p, r)
    right_draws_: Array  # (n_chains, n_draws, q, r)
    intercept_draws_: Array  # (n_chains, n_draws, q)
    noise_draws_: Array  # (n_chains, n_draws, q)
    noise_covariance_draws_: Array  # (n_chains, n_draws, q, q), where the noise has one
    _law: Likelihood
    _mean: Array  # (p, q)
    _shift: Array  # (q,), of the intercept from the means

    @property
    def coef_draws_(self) -> Array:
        """Draws of the map, (n_chains, n_draws, n_targets, n_features)."""
        check_is_fitted(self)
        return self.right_draws_ @ self.left_draws_.transpose(0, 1, 3, 2)

    @by_blocks
    def predict(self, X: ArrayLike, return_std: bool = False, interval: float | None = None) -> Any:
        """Posterior mean of the outputs, with their spread on request.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Inputs.
        return_std : bool, default=False
            Whether to return the standard deviation of new outputs, noise included.
        interval : float or None, default=None
            Probability of an interval for new outputs, noise included.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Means.
        std : ndarray like ``y``
            With ``return_std``.
        bounds : ndarray of shape (n_samples[, n_targets], 2)
            With ``interval``: lower and upper bounds that leave out equal tails.
        """
        if interval is not None and not 0 < interval < 1:
            raise ValueError(f"interval == {interval!r}, must be > 0 and < 1.")
        rows = self._check_new(X)
        mean, std, bounds = self._spread(rows, return_std, interval)
        found = [mean] + [std] * return_std + [bounds] * (interval is not None)
        if self._y_is_1d:
            found = [A[:, 0] for A in found]
        found = [finite_answer(self, A.astype(rows.dtype, copy=False)) for A in found]
        return found[0] if len(found) == 1 else tuple(found)

    def _spread(
        self, rows: Any, want_std: bool, interval: float | None
    ) -> tuple[Array, Array, Array]:
        law, (n, q) = self._law, (rows.shape[0], len(self.y_mean_))
        mean = self._affine(rows, self._mean) + self.y_mean_ + self._shift
        std = np.empty((n, q))
        bounds = np.empty((n, q, 2))
        if not (want_std or interval or not law.has_scale):
            return mean, std, bounds
        noise = flat(self.noise_draws_)[:, None]
        variance = (noise**2).mean(axis=0) * law.noise_variance
        # One stratified noise for all rows: bounds depend neither on other rows nor on chance.
        order = np.random.default_rng(0).permutation(len(noise))
        strata = ((order + 0.5) / len(noise))[:, None, None]
        for block, drawn in self._linear_draws(rows):
            if not law.has_scale:
                rates = law.loss.inverse_link(drawn)
                mean[block] = rates.mean(axis=0)
                new = law.sample(drawn, noise, np.random.default_rng(0)) if interval else rates
                std[block] = np.sqrt(rates.var(axis=0) + self._count_variance(rates))
            else:
                std[block] = np.sqrt(drawn.var(axis=0) + variance)
                new = drawn + noise * law.quantile(strata) if interval else drawn
            if interval:
                tails = (0.5 - interval / 2, 0.5 + interval / 2)
                bounds[block] = np.moveaxis(np.quantile(new, tails, axis=0), 0, -1)
        return mean, std, bounds

    def _count_variance(self, rates: Array) -> Array:
        """Variance of labels and counts about their rates."""
        if isinstance(self._law.loss, Logistic):
            return (rates * (1 - rates)).mean(axis=0)
        return rates.mean(axis=0)

    def _linear_draws(self, rows: Any) -> Iterator[tuple[slice, Array]]:
        """Blocks of rows and the draws of their linear predictions, (S, rows, q)."""
        left = flat(self.left_draws_)
        right = flat(self.right_draws_)
        b = flat(self.intercept_draws_)[:, None] + self.y_mean_
        S, p, r = left.shape
        wide = left.transpose(1, 0, 2).reshape(p, S * r)
        size = max(1, BLOCK // (S * max(r, right.shape[1])))
        for block in row_blocks(rows.shape[0], size):
            T = self._affine(rows[block], wide).reshape(-1, S, r).transpose(1, 0, 2)
            yield block, T @ right.transpose(0, 2, 1) + b

    def _noise_roots(self, chosen: Any = slice(None)) -> Array | None:
        """Cholesky factors of the noise's covariance in the chosen draws, where it has one."""
        if not hasattr(self, "noise_covariance_draws_"):
            return None
        return np.linalg.cholesky(flat(self.noise_covariance_draws_)[chosen])

    def sample_y(self, X: ArrayLike, n_samples: int = 1, random_state: Any = 0) -> NDArray:
        """Draw new outputs from the posterior predictive law.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples_X, n_features)
            Inputs.
        n_samples : int, default=1
            Number of draws; all draws of the chains are used in turn where they are no more.
        random_state : int, RandomState or None, default=0
            Source of the noise and of the choice of draws.

        Returns
        -------
        y : ndarray of shape (n_samples_X[, n_targets], n_samples)
            Outputs, each draw from one map, joint over rows and targets.
        """
        rows = self._check_new(X)
        seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
        rng = np.random.default_rng(seed)
        S = self.noise_draws_.shape[0] * self.noise_draws_.shape[1]
        chosen = np.arange(S) if n_samples == S else rng.choice(S, n_samples, replace=n_samples > S)
        noise = flat(self.noise_draws_)[chosen][:, None]
        roots = self._noise_roots(chosen)
        new = np.empty((rows.shape[0], len(self.y_mean_), n_samples))
        for block, drawn in self._linear_draws(rows):
            sampled = self._law.sample(drawn[chosen], noise, rng, roots)
            new[block] = np.moveaxis(sampled, 0, -1)
        finite_answer(self, new)
        return (new[:, 0] if self._y_is_1d else new).astype(rows.dtype, copy=False)

    def log_likelihood(self, X: ArrayLike, y: ArrayLike) -> Array:
        """Log density of each row under each draw.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Inputs.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Outputs.

        Returns
        -------
        log_likelihood : ndarray of shape (n_chains * n_draws, n_samples)
            Summed over targets.
        """
        rows = self._check_new(X)
        Y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        Y = Y.reshape(len(Y), -1)
        noise = flat(self.noise_draws_)[:, None]
        roots = self._noise_roots()
        parts = [
            self._law.row_log_density(Y[block], drawn, noise, roots)
            for block, drawn in self._linear_draws(rows)
        ]
        return np.concatenate(parts, axis=1)

    def subspaces(self) -> SubspacePosterior:
        """Posterior of the two subspaces, singular vectors aligned so that draws can be compared."""
        check_is_fitted(self)
        return subspace_posterior(flat(self.left_draws_), flat(self.right_draws_), self._mean)

    def to_inference_data(self, X: ArrayLike | None = None, y: ArrayLike | None = None) -> Any:
        """Draws as ``arviz.InferenceData`` (extra ``bayes``).

        Parameters
        ----------
        X, y : arrays, default=None
            Data for the groups of the likelihood and of predictions; left out without them.

        Returns
        -------
        data : arviz.InferenceData
            Posterior of ``coef``, ``intercept`` (of centred inputs), ``noise_scale`` and
            ``singular_values``.
        """
        check_is_fitted(self)
        return inference_data(self, X, y)
