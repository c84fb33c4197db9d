"""Moments of data with missing entries, by expectation-maximisation under probabilistic PCA."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.exceptions import ConvergenceWarning

from isthmus.linalg import Array
from isthmus.linalg.eigen import descending_eigh
from isthmus.linalg.roots import rows_of_moments
from isthmus.moments import Moments

_DENSE_COLUMNS = 2000
# Noise variance, in units of the columns' own, below which the latent posterior is singular.
_NOISE_FLOOR = 1e-12


@dataclass
class MissingModel:
    r"""Probabilistic PCA of the stacked columns :math:`z = [x, y]` [TB1999]_.

    .. math::
        z = D (m + W e + \epsilon) + c, \qquad e \sim N(0, I), \quad \epsilon \sim N(0, s^2 I)

    with the observed means ``offset`` (c) and deviations ``scale`` (D). ``filled`` puts the conditional
    mean, given what is observed of a row, where entries are missing.
    """

    offset: Array
    scale: Array
    live: NDArray  # columns that vary; the others are filled with their constant
    mean: Array
    loadings: Array  # W, (d, c)
    noise_variance: float
    log_likelihood: list[float] = field(default_factory=list)
    n_iter: int = 0
    converged: bool = False

    def filled(self, X: NDArray) -> NDArray:
        """``X`` (leading columns of the stack) with its NaN replaced, in the dtype of ``X``."""
        missing = np.isnan(X)
        if not missing.any():
            return X
        p = X.shape[1]
        Z = (X - self.offset[:p]) / self.scale[:p]
        W, m = self.loadings[:p], self.mean[:p]
        for rows, observed in _patterns(missing):
            if observed.all():
                continue
            posterior = _posterior(W[observed & self.live[:p]], self.noise_variance)
            seen = Z[np.ix_(rows, observed & self.live[:p])] - m[observed & self.live[:p]]
            latent = seen @ W[observed & self.live[:p]] @ posterior
            Z[np.ix_(rows, ~observed)] = latent @ W[~observed].T + m[~observed]
        return np.where(missing, Z * self.scale[:p] + self.offset[:p], X).astype(
            X.dtype, copy=False
        )


def expected_moments(
    X: NDArray,
    Y: NDArray,
    weights: Array | None,
    *,
    n_latent: int | None,
    max_iter: int,
    tol: float,
) -> tuple[Moments, MissingModel]:
    r"""Expected moments of incomplete rows, and the model that fills new ones.

    Each step fills the missing entries with their conditional means and adds their conditional
    covariance to the second moments, which plain iterated imputation forgets. The observed log-likelihood
    never falls; iteration stops when it changes by less than ``tol``, relatively. With nothing missing
    the moments are the plain ones.
    """
    Z = np.hstack([X, Y]).astype(np.float64)
    w = np.ones(len(Z)) if weights is None else weights
    missing = np.isnan(Z)
    Z, missing, w = _drop_empty(Z, missing, w)
    offset, scale, live = _observed_scale(Z, missing, w, X.shape[1])
    Z = np.where(missing, 0.0, (Z - offset) / scale)
    work = _Work(Z[:, live], missing[:, live], w)
    largest = max(min(int(live.sum()), len(Z)) - 1, 0)
    work.start(largest if n_latent is None else min(n_latent, largest))
    history, converged = _iterate(work, max_iter, tol)
    mean, loadings = np.zeros(len(live)), np.zeros((len(live), work.W.shape[1]))
    mean[live], loadings[live] = work.mean, work.W
    model = MissingModel(
        offset, scale, live, mean, loadings, work.noise, history, len(history), converged
    )
    if not missing.any():
        return Moments.from_data(X, Y, weights), model
    return _moments(work, offset, scale, live, X.shape[1]), model


class _Work:
    """The incomplete standardised rows and the parameters of their model, one EM step at a time."""

    def __init__(self, Z: Array, missing: NDArray, weights: Array) -> None:
        self.Z, self.missing, self.w = Z, missing, weights  # Z is filled in place
        self.weight = float(weights.sum())
        self.patterns = [
            (rows, observed) for rows, observed in _patterns(missing) if observed.any()
        ]
        self.dense = Z.shape[1] <= _DENSE_COLUMNS

    def start(self, n_latent: int) -> None:
        """Principal components of the data with means in the gaps."""
        self.c = n_latent
        self.parts: list[tuple[NDArray, Array]] = []
        self.correction = np.zeros((self.Z.shape[1],) * 2) if self.dense else None
        self.mean = np.zeros(self.Z.shape[1])
        self.maximise()

    def expect(self) -> float:
        """Fill the gaps and return the observed log-likelihood."""
        W, s2 = self.W, self.noise
        total = 0.0
        self.parts = []
        if self.correction is not None:
            self.correction[:] = 0.0
        for rows, observed in self.patterns:
            Wo, w = W[observed], self.w[rows]
            posterior = _posterior(Wo, s2)
            seen = self.Z[np.ix_(rows, observed)] - self.mean[observed]
            projected = seen @ Wo
            latent = projected @ posterior
            log_det = (Wo.shape[0] - self.c) * np.log(s2) - np.linalg.slogdet(posterior)[1]
            squares = ((seen**2).sum(axis=1) - (projected * latent).sum(axis=1)) / s2
            total -= 0.5 * (w @ squares + w.sum() * (log_det + Wo.shape[0] * np.log(2 * np.pi)))
            if observed.all():
                continue
            gaps = np.flatnonzero(~observed)
            Wu = W[gaps]
            self.Z[np.ix_(rows, gaps)] = latent @ Wu.T + self.mean[gaps]
            # Conditional covariance of the gaps: Wu posterior Wu' s2 + s2 I, times the rows' weight.
            root = Wu @ _root(posterior) * np.sqrt(w.sum() * s2)
            if self.correction is not None:
                self.correction[np.ix_(gaps, gaps)] += root @ root.T
                self.correction[gaps, gaps] += w.sum() * s2
            else:
                self.parts.append((gaps, root))
        return total

    def maximise(self) -> None:
        """Mean, loadings and noise of the filled data and the covariance of the gaps."""
        d = self.Z.shape[1]
        self.mean = (self.w @ self.Z) / self.weight
        if self.correction is not None:
            values, vectors = descending_eigh(self.covariance() / self.weight)
            values, vectors, rest = values[: self.c], vectors[:, : self.c], values[self.c :].sum()
        else:
            values, vectors, rest = self._leading()
        self.noise = max(float(rest) / max(d - self.c, 1), _NOISE_FLOOR)
        self.W = vectors * np.sqrt(np.maximum(values - self.noise, 0.0))

    def covariance(self) -> Array:
        centred = (self.Z - self.mean) * np.sqrt(self.w)[:, None]
        gaps = 0.0 if self.correction is None else self.correction
        return centred.T @ centred + gaps

    def apply(self, v: Array) -> Array:
        """The covariance times a vector, without the matrix."""
        out = self.Z.T @ (self.w * (self.Z @ v - self.mean @ v))
        out -= self.mean * (self.w @ (self.Z @ v - self.mean @ v))
        for gaps, root in self.parts:
            out[gaps] += root @ (root.T @ v[gaps])
        return out + self.gap_variance() * v

    def gap_covariance(self) -> Array:
        """Conditional covariance of the gaps, summed over the rows."""
        if self.correction is not None:
            return self.correction
        total = np.diag(self.gap_variance())
        for gaps, root in self.parts:
            total[np.ix_(gaps, gaps)] += root @ root.T
        return total

    def gap_variance(self) -> Array:
        return self.noise * (self.w @ self.missing) if self.parts else np.zeros(self.Z.shape[1])

    def _leading(self) -> tuple[Array, Array, float]:
        d = self.Z.shape[1]
        variance = (self.w @ (self.Z - self.mean) ** 2) + self.gap_variance()
        for gaps, root in self.parts:
            variance[gaps] += (root**2).sum(axis=1)
        operator = LinearOperator((d, d), matvec=lambda v: self.apply(v) / self.weight, dtype=float)
        values, vectors = eigsh(operator, k=self.c, v0=np.ones(d))
        values, vectors = values[::-1], vectors[:, ::-1]
        return values, vectors, max(variance.sum() / self.weight - values.sum(), 0.0)


def _iterate(work: _Work, max_iter: int, tol: float) -> tuple[list[float], bool]:
    history: list[float] = []
    for _ in range(max(max_iter, 1)):
        history.append(work.expect())
        if not work.missing.any():
            return history, True
        if len(history) > 1 and abs(history[-1] - history[-2]) <= tol * abs(history[-1]):
            return history, True
        work.maximise()
    work.expect()
    change = abs(history[-1] - history[-2]) / abs(history[-1]) if len(history) > 1 else np.inf
    warnings.warn(
        f"missing='em' stopped at max_iter={max_iter} with a relative change of the log-likelihood "
        f"of {change:.1e}, not below tol={tol:g}: raise max_iter or tol.",
        ConvergenceWarning,
        stacklevel=5,
    )
    return history, False


def _moments(work: _Work, offset: Array, scale: Array, live: NDArray, p: int) -> Moments:
    """The expected moments in the user's units."""
    moments = Moments.from_data(work.Z * scale[live] + offset[live], None, work.w)
    # As rows, which keep all digits: those that stand for the filled ones, and roots of the covariance.
    covariance = work.gap_covariance()
    (roots, _), _ = rows_of_moments(
        covariance, np.zeros((len(covariance), 0)), covariance.diagonal() > 0
    )
    filled, _ = moments.few_rows()
    rows = np.zeros((len(filled) + len(roots), len(live)))
    rows[:, live] = np.vstack([filled, roots * scale[live]])
    means = offset.copy()
    means[live] = moments.x_mean
    return Moments.from_few_rows(
        rows[:, :p],
        rows[:, p:],
        n_samples=len(work.Z),
        weight=work.weight,
        x_mean=means[:p],
        y_mean=means[p:],
    )


def _posterior(Wo: Array, noise: float) -> Array:
    """Inverse of Wo'Wo + s2 I, (c, c)."""
    return np.asarray(np.linalg.inv(Wo.T @ Wo + noise * np.eye(Wo.shape[1])), dtype=np.float64)


def _patterns(missing: NDArray) -> Iterator[tuple[NDArray, NDArray]]:
    """Rows that share a pattern, with their observed columns: they share one factorisation."""
    packed = np.packbits(missing, axis=1)
    _, inverse = np.unique(packed, axis=0, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(inverse[order])) + 1):
        yield rows, ~missing[rows[0]]


def _drop_empty(Z: Array, missing: NDArray, w: Array) -> tuple[Array, NDArray, Array]:
    empty = missing.all(axis=1)
    if empty.any():
        warnings.warn(
            f"{int(empty.sum())} rows have no observed entry and are left out "
            f"(the first is row {int(empty.argmax())}).",
            UserWarning,
            stacklevel=5,
        )
    keep = ~empty
    return Z[keep], missing[keep], w[keep]


def _observed_scale(Z: Array, missing: NDArray, w: Array, p: int) -> tuple[Array, Array, NDArray]:
    counts = w @ ~missing
    if not counts.all():
        never = int(np.flatnonzero(counts == 0)[0])
        name = f"column {never} of X" if never < p else f"column {never - p} of y"
        raise ValueError(f"{name} is never observed: drop it before fitting.")
    offset = (w @ np.where(missing, 0.0, Z)) / counts
    deviations = np.where(missing, 0.0, Z - offset)
    variance = (w @ deviations**2) / counts
    live = variance > (8 * np.finfo(float).eps * offset) ** 2
    return offset, np.where(live, np.sqrt(variance), 1.0), live


def _root(A: Array) -> Array:
    """``R`` with ``R R' = A``, of a covariance that rounding may have made indefinite by a little."""
    try:
        return np.asarray(np.linalg.cholesky(A))
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh((A + A.T) / 2)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
