"""Moments of data with missing entries, by expectation-maximisation under probabilistic PCA."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from isthmus._linalg import (
    EPS,
    Array,
    descending_eigh,
    leading_pairs,
    power_of_two,
    rows_of_moments,
    weight_unit,
)
from isthmus._validation import warn
from isthmus.problems.frame import Units, output_units
from isthmus.problems.gaps import GapCovariance, Gaps, MissingModel, Normal
from isthmus.problems.span import FilledRows, different_rows
from isthmus.problems.sums import Moments

# Noise variance, in units of the columns' own, below which squares over it would keep less than half their
# digits.
_NOISE_FLOOR = float(np.sqrt(EPS))
# Noise variance from which squares over it are read off second moments, at the price of four digits.
_MOMENT_NOISE = 1e-4
# Up to this many columns all eigenpairs of their covariance are found; beyond, those in use and some more.
_ALL_PAIRS = 100
_SPARE_PAIRS = 4
# Where their squares fall by less than this, eigenvectors from squared products are orthonormal to 1e-9.
_SQUARE_SAFE = 1e-6


def expected_moments(
    X: NDArray,
    Y: NDArray,
    weights: Array | None,
    *,
    n_latent: int | None = None,
    max_iter: int,
    tol: float,
) -> tuple[Moments | FilledRows, MissingModel]:
    r"""Expected moments of incomplete rows, and the model that fills new ones.

    Each step fills the missing entries with their conditional means and adds their conditional
    covariance to the second moments, which plain iterated imputation forgets. The observed log-likelihood
    never falls; iteration stops when it changes by less than ``tol``, relatively. With nothing missing
    the moments are the plain ones. Rows that are fewer than the columns of X come back themselves.

    None for the number of latent dimensions lets the rows tell how many there are: in each step as many as
    Schwarz' criterion [S1978]_ finds in the covariance so far, never fewer than in the step before, and at
    most half as many as there are different rows. Copies of a row count once: neither they nor weights
    change the number.
    """
    Z, p = np.hstack([X, Y], dtype=np.float64), X.shape[1]
    is_whole = not np.isnan(Z).any()
    work, model = fit_missing(Z, weights, p, n_latent=n_latent, max_iter=max_iter, tol=tol)
    if is_whole:
        return Moments.from_data(X, Y, weights), model
    offset, scale, live = model.offset, model.scale, model.live
    few = 1 < work.n_different <= np.count_nonzero(live[:p])
    of_filled = offset.copy()
    of_filled[live] += scale[live] * work.filled_mean
    return (_filled_rows if few else _moments)(work, of_filled, scale, live, p), model


def fit_missing(
    Z: Array,
    weights: Array | None,
    p: int,
    *,
    n_latent: int | None = None,
    max_iter: int,
    tol: float,
) -> tuple[_Work, MissingModel]:
    """Fit the model to rows, changed in place, whose first ``p`` columns are inputs."""
    w = np.ones(len(Z)) if weights is None else weights
    missing = np.isnan(Z)
    empty = np.asarray(missing.all(axis=1))
    if empty.any():
        _warn_of_empty(empty)
        Z, missing, w = Z[~empty], missing[~empty], w[~empty]
    offset, scale, live = _standardise(Z, missing, w, p)
    work = _Work(Z, missing, w) if live.all() else _Work(Z[:, live], missing[:, live], w)
    work.start(n_latent)
    history, converged = _iterate(work, max_iter, tol)
    mean, loadings = np.zeros(len(live)), np.zeros((len(live), work.c))
    mean[live], loadings[live] = work.mean, work.normal.W
    return work, MissingModel(
        offset, scale, live, mean, loadings, work.normal.noise, history, len(history), converged
    )


def unit_of_seen(A: NDArray) -> float:
    """The power of two that brings what is observed into the range of its squares."""
    ends = [ufunc.reduce(A, axis=None, initial=0.0) for ufunc in (np.fmax, np.fmin)]  # not of NaN
    return power_of_two(np.array(ends))


def expected_form(
    kind: Any,
    X: NDArray,
    Y: NDArray,
    weights: Array | None,
    scale: bool | str,
    max_iter: int,
    tol: float,
) -> tuple[Any, MissingModel]:
    """The problem in expected moments, held in the form ``kind``, and the model that fills new rows."""
    x_unit, y_units = unit_of_seen(X), output_units(Y, scale)
    units = Units(x_unit, y_units, weight_unit(weights))
    weights = weights if weights is None else weights / units.weight
    if x_unit != 1.0 or (y_units != 1.0).any():  # data whose squares would leave float64
        X, Y = X / x_unit, Y / y_units
    expected, model = expected_moments(X, Y, weights, max_iter=max_iter, tol=tol)
    model.multiply_units(np.concatenate([np.full(X.shape[1], x_unit), y_units]))
    return expected.form(kind, scale, units), model


class _Work:
    """The incomplete standardised rows, filled in place, and their model, one EM step at a time."""

    def __init__(self, Z: Array, missing: NDArray, weights: Array) -> None:
        self.Z, self.missing, self.w = np.ascontiguousarray(Z), missing, weights
        self.weight = float(weights.sum())
        self.root = None if (weights == 1.0).all() else np.sqrt(weights)[:, None]
        self.gaps = Gaps(missing)
        self.n_seen = float(weights @ (missing.shape[1] - self.gaps.counts))

    def start(self, n_latent: int | None) -> None:
        """Principal components of the data with means in the gaps."""
        n, d = self.Z.shape
        self.different = different_rows(self.Z)
        self.n_different = len(self.different)
        self.is_free = n_latent is None
        most = (self.n_different - 1) // 2 if n_latent is None else n - 1
        self.most = max(min(d - 1, most), 0)
        self.c = 0 if n_latent is None else min(n_latent, self.most)
        # The covariance of gaps is a matrix only where there are enough rows to fill it.
        self.is_wide = self.n_different <= d
        self.vectors = np.zeros((d, 0))
        self.mean = np.zeros(d)
        self.gap_covariance = GapCovariance(d)
        self.rows: Array | None = None
        self._sum()
        self.maximise()
        if len(self.gaps.places):
            self._fill_each()
            self.maximise()

    def _fill_each(self) -> None:
        """Fill each gap as if it were alone in its row: a first step at a third of the price of others."""
        Q, noise, places = self.normal.Q, self.normal.noise, self.gaps.places
        self.gaps.put_means(self.Z, self.mean)
        variances = noise / np.maximum(1.0 - np.einsum("ij,ij->i", Q, Q), EPS)  # given all others
        means = self.normal.along(self.Z, self.mean) @ (Q.T * variances)
        np.put(self.Z, places, np.take(means, places) + self.mean[self.gaps.columns])
        own = np.arange(len(variances))[None]
        self.gap_covariance.parts = [(own, (self.w @ self.missing * variances)[None, None])]
        self._sum()

    def _sum(self) -> None:
        """Mean and second moments of the filled rows, or the rows themselves if they are wide."""
        self.filled_mean = (self.w @ self.Z) / self.weight
        self.second: Array | None = None
        if len(self.mean) > _ALL_PAIRS:
            self.rows = self._centre(self.rows)
            return
        Z = self.Z if self.root is None else self.Z * self.root
        self.second = Z.T @ Z  # of standardised rows, whose means take no digits away
        self.second -= np.outer(self.weight * self.filled_mean, self.filled_mean)

    def _centre(self, out: Array | None = None) -> Array:
        rows = np.subtract(self.Z, self.filled_mean, out=out)
        if self.root is not None:
            rows *= self.root
        return rows

    def centred_rows(self) -> Array:
        """The filled rows less their means, times the roots of their weights."""
        return self._centre() if self.rows is None else self.rows

    def expect(self) -> float:
        """Fill the gaps and return the observed log-likelihood."""
        self.gap_covariance, log_det = self.gaps.fill(self.Z, self.mean, self.normal, self.w)
        log_det += self.weight * self.normal.log_det
        self._sum()
        # Squares of what is observed in units of its covariance: conditional means leave the least squares,
        # so that their own rounding does not count.
        can_cancel = self.normal.noise > _MOMENT_NOISE
        if self.second is not None and can_cancel:
            precision = self.normal.precision[:-1, :-1]
            shift = self.filled_mean - self.mean
            squares = float(np.vdot(precision, self.second))
            squares += self.weight * float(shift @ precision @ shift)
        else:
            squares = float(self.w @ self.normal.squares(self.Z - self.mean, can_cancel))
        return float(-0.5 * (squares + log_det + self.n_seen * np.log(2 * np.pi)))

    def covariance(self) -> Array:
        """Of the filled rows and their gaps."""
        second = self.second
        if second is None:
            rows = self.centred_rows()
            second = rows.T @ rows
        return (second + self.gap_covariance.dense()) / self.weight

    def maximise(self) -> None:
        """Mean, loadings and noise of the filled data and the covariance of the gaps."""
        d = len(self.mean)
        values, trace = self._leading()
        self.mean = self.filled_mean
        if self.is_free:
            self.c = max(self.c, self._n_latent(values, trace))
        noise = _noise(trace - values[: self.c].sum(), d - self.c)
        excess = np.maximum(values[: self.c] - noise, 0.0)
        self.normal = Normal(self.vectors[:, : self.c] * np.sqrt(excess), float(noise))
        self.vectors = self.vectors[:, : self.c + 2 * _SPARE_PAIRS]  # no more than may be needed

    def _leading(self) -> tuple[Array, float]:
        """Leading eigenvalues, as many as may be needed, and the sum of all; their vectors are kept."""
        if len(self.mean) <= _ALL_PAIRS:
            S = self.covariance()
            values, vectors = descending_eigh(S)
            self.vectors = vectors[:, : self.most]
            return values[: self.most], float(S.trace())
        rows, gaps = self.centred_rows(), self.gap_covariance
        trace = float(np.vdot(rows, rows) + gaps.diagonal().sum())
        times = gaps.times if self.is_wide else partial(np.matmul, gaps.dense())
        if self.vectors.shape[1] < min(self.c + _SPARE_PAIRS, self.most):
            # The rows span nearly all that there is.
            some = min(max(2 * self.c, self.c + 4 * _SPARE_PAIRS), self.most)
            n, d = rows.shape
            values, vectors = leading_pairs(rows @ rows.T if n < d else rows.T @ rows, some)
            is_safe = values.size > 0 and values[-1] > _SQUARE_SAFE * values[0]
            if n < d:
                vectors = rows.T @ (vectors / np.sqrt(values) if is_safe else vectors)
            self.vectors = vectors if is_safe else np.linalg.qr(vectors)[0]
            if is_safe and not gaps.parts:  # these are the pairs themselves
                return values / self.weight, trace / self.weight
        # The vectors of the step before are nearly those of this one: products with them have the
        # eigenvalues for singular values, to the square of what the vectors are wrong by.
        products = rows.T @ (rows @ self.vectors) + times(self.vectors)
        squares, turn = descending_eigh(products.T @ products)
        if squares[-1] > _SQUARE_SAFE * squares[0]:
            values = np.sqrt(squares)
            self.vectors = products @ (turn / values)
        else:
            Q, R = np.linalg.qr(products)
            turn, values, _ = np.linalg.svd(R)
            self.vectors = Q @ turn
        return values / self.weight, trace / self.weight

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
    warn(
        f"missing='em' stopped at max_iter={max_iter} with a relative change of the log-likelihood "
        f"of {change:.1e}, not below tol={tol:g}: raise max_iter or tol.",
        ConvergenceWarning,
    )
    return history, False


def _moments(work: _Work, mean: Array, scale: Array, live: NDArray, p: int) -> Moments:
    """The expected moments in the user's units."""
    second = np.zeros((len(live), len(live)))
    second[np.ix_(live, live)] = work.weight * work.covariance()
    second *= scale[:, None]
    second *= scale

    def rows() -> Iterator[tuple[Array, Array]]:
        """The filled rows, and roots of the covariance of their gaps."""
        gaps = work.gap_covariance.dense()
        nothing = np.zeros((len(gaps), 0))
        roots = rows_of_moments(gaps, nothing, gaps.diagonal() > 0)[0][0]
        for part in (work.centred_rows(), roots):
            wide = np.zeros((len(part), len(live)))
            wide[:, live] = part * scale[live]
            yield wide[:, :p], wide[:, p:]

    return Moments.from_squares(second, mean, p, len(work.Z), work.weight, rows)


def _filled_rows(work: _Work, mean: Array, scale: Array, live: NDArray, p: int) -> FilledRows:
    """Rows fewer than their columns, for which matrices of the order of the columns are not made."""
    # Centred rows depend on each other: the others span what the heaviest is.
    spanning = np.delete(work.different, np.argmax(work.w[work.different]))
    means = mean[:p], mean[p:]
    return FilledRows(
        work.centred_rows(),
        work.gap_covariance,
        live,
        spanning,
        scale,
        *means,
        work.weight,
        len(work.Z),
    )


def _warn_of_empty(empty: NDArray) -> None:
    warn(
        f"{int(empty.sum())} rows have no observed entry and are left out "
        f"(the first is row {int(empty.argmax())}).",
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
    places = np.flatnonzero(missing)
    np.put(Z, places, 0.0)
    offset = (w @ Z) / counts
    Z -= offset
    np.put(Z, places, 0.0)  # centring has put minus the mean there
    variance = (w @ Z**2) / counts
    live = variance > (8 * EPS * offset) ** 2
    scale = np.where(live, np.sqrt(variance), 1.0)
    Z /= scale
    return offset, scale, live
