"""Moments of data with missing entries, by expectation-maximisation under probabilistic PCA."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from isthmus._linalg import EPS, Array
from isthmus._linalg.eigen import descending_eigh
from isthmus._linalg.roots import rows_of_moments
from isthmus.problems.gaps import Gaps, Normal
from isthmus.problems.sums import Moments

# Noise variance, in units of the columns' own, below which squares over it would keep less than half their
# digits.
_NOISE_FLOOR = float(np.sqrt(EPS))
# Up to this many columns all eigenpairs of their covariance are found; beyond, those in use and some more.
_ALL_PAIRS = 100
_SPARE_PAIRS = 8
# Columns that are looked at first to see that all rows are different.
_KEY_COLUMNS = 8


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
        rows = np.flatnonzero(missing.any(axis=1))
        if not len(rows):
            return X
        p = X.shape[1]
        offset, scale, mean = self.offset[:p], self.scale[:p], self.mean[:p]
        gaps = missing[rows]
        Z = X[rows] - offset
        Z /= scale
        Z -= mean
        Z[gaps] = 0.0
        # Columns that do not vary have no loadings: they tell nothing, and nothing tells them.
        Gaps(gaps).fill(Z, Normal(self.loadings[:p], self.noise_variance))
        Z += mean
        Z *= scale
        Z += offset
        filled = X.copy()
        filled[missing] = Z[gaps]
        return filled


def expected_moments(
    X: NDArray,
    Y: NDArray,
    weights: Array | None,
    *,
    n_latent: int | None = None,
    max_iter: int,
    tol: float,
) -> tuple[Moments, MissingModel]:
    r"""Expected moments of incomplete rows, and the model that fills new ones.

    Each step fills the missing entries with their conditional means and adds their conditional
    covariance to the second moments, which plain iterated imputation forgets. The observed log-likelihood
    never falls; iteration stops when it changes by less than ``tol``, relatively. With nothing missing
    the moments are the plain ones.

    None for the number of latent dimensions lets the rows tell how many there are: in each step as many as
    Schwarz' criterion [S1978]_ finds in the covariance so far, never fewer than in the step before, and at
    most half as many as there are different rows. Copies of a row count once: neither they nor weights
    change the number.
    """
    Z = np.hstack([X, Y], dtype=np.float64)
    w = np.ones(len(Z)) if weights is None else weights
    missing = np.isnan(Z)
    empty = np.asarray(missing.all(axis=1))
    if empty.any():
        _warn_of_empty(empty)
        Z, missing, w = Z[~empty], missing[~empty], w[~empty]
    offset, scale, live = _standardise(Z, missing, w, X.shape[1])
    work = _Work(Z, missing, w) if live.all() else _Work(Z[:, live], missing[:, live], w)
    work.start(n_latent)
    history, converged = _iterate(work, max_iter, tol)
    mean, loadings = np.zeros(len(live)), np.zeros((len(live), work.c))
    mean[live], loadings[live] = work.mean, work.normal.W
    model = MissingModel(
        offset, scale, live, mean, loadings, work.normal.noise, history, len(history), converged
    )
    if not missing.any():
        return Moments.from_data(X, Y, weights), model
    return _moments(work, offset, scale, live, X.shape[1]), model


class _Work:
    """The incomplete standardised rows and the parameters of their model, one EM step at a time."""

    def __init__(self, Z: Array, missing: NDArray, weights: Array) -> None:
        self.Z, self.missing, self.w = np.ascontiguousarray(Z), missing, weights
        self.weight = float(weights.sum())
        self.root = None if (weights == 1.0).all() else np.sqrt(weights)[:, None]
        self.places = np.flatnonzero(missing)
        self.n_seen = float(weights @ (missing.shape[1] - missing.sum(axis=1)))
        self.gaps = Gaps(missing)

    def start(self, n_latent: int | None) -> None:
        """Principal components of the data with means in the gaps."""
        n, d = self.Z.shape
        self.n_different = _n_different(self.Z)
        self.is_free = n_latent is None
        self.most = min(d - 1, (self.n_different - 1) // 2 if n_latent is None else n - 1)
        self.most = max(self.most, 0)
        self.c = 0 if n_latent is None else min(n_latent, self.most)
        self.vectors = np.zeros((d, 0))
        if n < d:  # rows span what there is in the first step
            rows = self.Z if self.root is None else self.Z * self.root
            some = min(self._n_pairs(), self.most)
            self.vectors = rows.T @ descending_eigh(rows @ rows.T)[1][:, :some]
        self.correction = np.zeros((d, d))
        self.mean = np.zeros(d)
        self.residual = self.Z
        self.shift = (
            self.w @ self.Z
        ) / self.weight  # mean of the filled rows less that of the model
        self.maximise()

    def expect(self) -> float:
        """Fill the gaps and return the observed log-likelihood."""
        if self.residual is self.Z:
            self.residual = np.empty_like(self.Z)
        np.subtract(self.Z, self.mean, out=self.residual)
        np.put(self.residual, self.places, 0.0)
        self.correction, log_det, squares = self.gaps.fill(self.residual, self.normal, self.w)
        self.shift = (self.w @ self.residual) / self.weight
        log_det += self.weight * self.normal.log_det
        return float(-0.5 * (squares + log_det + self.n_seen * np.log(2 * np.pi)))

    def _rows(self) -> Array:
        """The filled rows, times the roots of their weights."""
        return self.residual if self.root is None else self.residual * self.root

    def covariance(self) -> Array:
        """Of the filled rows and their gaps."""
        rows = self._rows()
        S = rows.T @ rows
        S += self.correction
        S /= self.weight
        S -= np.outer(self.shift, self.shift)
        return S

    def _covariance_times(self, V: Array) -> Array:
        rows = self._rows()
        products = rows.T @ (rows @ V)
        products += self.correction @ V
        products /= self.weight
        products -= np.outer(self.shift, self.shift @ V)
        return products

    def maximise(self) -> None:
        """Mean, loadings and noise of the filled data and the covariance of the gaps."""
        values, d, shift = self._leading(), len(self.mean), self.shift
        trace = float(np.vdot(self._rows(), self._rows()) + self.correction.trace()) / self.weight
        trace -= float(shift @ shift)
        self.mean = self.mean + shift
        if self.is_free:
            self.c = max(self.c, self._n_latent(values, trace))
        noise = _noise(trace - values[: self.c].sum(), d - self.c)
        excess = np.maximum(values[: self.c] - noise, 0.0)
        self.normal = Normal(self.vectors[:, : self.c] * np.sqrt(excess), float(noise))
        if d > _ALL_PAIRS:  # no more than the next step may need
            self.vectors = self.vectors[:, : self.c + 2 * _SPARE_PAIRS]

    def _leading(self) -> Array:
        """Leading eigenvalues, as many as may be needed; their vectors are kept."""
        d, kept = self.vectors.shape
        if d > _ALL_PAIRS and kept >= min(self.c + _SPARE_PAIRS, self.most) > 0:
            # The vectors of the step before are nearly those of this one.
            Q = np.linalg.qr(self._covariance_times(self.vectors))[0]
            values, turn = descending_eigh(Q.T @ self._covariance_times(Q))
            self.vectors = Q @ turn
            return values
        values, vectors = descending_eigh(self.covariance())
        kept = min(self.most, d if d <= _ALL_PAIRS else self._n_pairs())
        self.vectors = vectors[:, :kept]
        return values[:kept]

    def _n_pairs(self) -> int:
        """Eigenpairs of a wide covariance to keep."""
        return max(2 * self.c, self.c + 4 * _SPARE_PAIRS)

    def _n_latent(self, values: Array, trace: float) -> int:
        """The number with the best likelihood less a price for each parameter.

        The price is Schwarz', half the logarithm of the number of rows, times the share of entries that are
        observed: gaps are filled in favour of the dimensions so far, so that a further one gains less than
        it would in complete rows.
        """
        d, n = len(self.Z.T), self.n_different
        c = np.arange(len(values) + 1)
        rest = trace - np.append(0.0, np.cumsum(values))
        logs = np.append(0.0, np.cumsum(np.log(np.maximum(values, _NOISE_FLOOR))))
        fit = logs + (d - c) * np.log(_noise(rest, d - c))  # of a row, times minus two
        n_parameters = d * c - c * (c - 1) / 2
        share = self.n_seen / (self.weight * max(d, 1))
        return int(np.argmin(fit + n_parameters * share * np.log(n) / n))


def _n_different(Z: Array) -> int:
    """Number of different rows."""
    d = Z.shape[1]
    if d:
        # Rows that differ in some columns are different; few columns are enough, nearly always.
        some = Z[:, :: -(-d // _KEY_COLUMNS)].view(np.uint64)
        # Sums of integers that wrap around are equal for equal rows, and nearly always for these alone.
        factors = np.random.default_rng(0).integers(2**63, size=some.shape[1], dtype=np.uint64)
        keys = np.sort(some @ factors)
        if (keys[1:] != keys[:-1]).all():
            return len(Z)
    rows = Z.view(np.dtype((np.void, 8 * d))) if d else Z
    return len(set(rows.ravel().tolist()))


def _noise(rest: Any, n_directions: Any) -> Any:
    return np.maximum(rest / np.maximum(n_directions, 1), _NOISE_FLOOR)


def _iterate(work: _Work, max_iter: int, tol: float) -> tuple[list[float], bool]:
    history: list[float] = []
    change = before = np.inf
    for _ in range(max(max_iter, 1)):
        history.append(work.expect())
        if not work.missing.any():
            return history, True
        if len(history) > 1:
            # A likelihood may be near one, which has no relative changes: a nat an entry is large.
            change = abs(history[-1] - history[-2]) / max(abs(history[-1]), work.n_seen)
        # Changes shrink by a factor; where it is small, so is what all further steps would add.
        factor = change / before if len(history) > 2 and before > 0 else 1.0
        if change * min(factor / max(1.0 - factor, EPS), 1.0) <= tol:
            return history, True
        before = change
        work.maximise()
    work.expect()
    warnings.warn(
        f"missing='em' stopped at max_iter={max_iter} with a relative change of the log-likelihood "
        f"of {change:.1e}, not below tol={tol:g}: raise max_iter or tol.",
        ConvergenceWarning,
        stacklevel=5,
    )
    return history, False


def _moments(work: _Work, offset: Array, scale: Array, live: NDArray, p: int) -> Moments:
    """The expected moments in the user's units."""
    shift = work.shift
    mean = offset.copy()
    mean[live] += scale[live] * (work.mean + shift)
    second = np.zeros((len(live), len(live)))
    second[np.ix_(live, live)] = work.weight * work.covariance()
    second *= scale[:, None]
    second *= scale

    def rows() -> Iterator[tuple[Array, Array]]:
        """The filled rows, and roots of the covariance of their gaps."""
        filled = (work.residual - shift) * np.sqrt(work.w)[:, None]
        nothing = np.zeros((len(shift), 0))
        gaps = rows_of_moments(work.correction, nothing, work.correction.diagonal() > 0)[0][0]
        for part in (filled, gaps):
            wide = np.zeros((len(part), len(live)))
            wide[:, live] = part * scale[live]
            yield wide[:, :p], wide[:, p:]

    return Moments.from_squares(second, mean, p, len(work.Z), work.weight, rows)


def _warn_of_empty(empty: NDArray) -> None:
    warnings.warn(
        f"{int(empty.sum())} rows have no observed entry and are left out "
        f"(the first is row {int(empty.argmax())}).",
        UserWarning,
        stacklevel=5,
    )


def _standardise(Z: Array, missing: NDArray, w: Array, p: int) -> tuple[Array, Array, NDArray]:
    """Standardise columns by what is observed of them, in place, with zeros in the gaps.

    Returns their means, deviations and whether they vary.
    """
    counts = w @ ~missing
    if not counts.all():
        never = int(np.flatnonzero(counts == 0)[0])
        name = f"column {never} of X" if never < p else f"column {never - p} of y"
        raise ValueError(f"{name} is never observed: drop it before fitting.")
    np.copyto(Z, 0.0, where=missing)
    offset = (w @ Z) / counts
    Z -= offset
    # Centring has put minus the mean into the gaps.
    np.copyto(Z, 0.0, where=missing)
    variance = (w @ Z**2) / counts
    live = variance > (8 * EPS * offset) ** 2
    scale = np.where(live, np.sqrt(variance), 1.0)
    Z /= scale
    return offset, scale, live
