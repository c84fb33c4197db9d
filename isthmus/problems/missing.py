"""Moments of data with missing entries, by expectation-maximisation under probabilistic PCA."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from isthmus._linalg import EPS, Array, row_blocks
from isthmus._linalg.eigen import descending_eigh
from isthmus._linalg.roots import rows_of_moments
from isthmus.problems.sums import Moments

# Noise variance, in units of the columns' own, below which squares over it would keep less than half their
# digits.
_NOISE_FLOOR = float(np.sqrt(EPS))
# Up to this many columns all eigenpairs of their covariance are found; beyond, those in use and some more.
_ALL_PAIRS = 100
_SPARE_PAIRS = 8
# Matrices up to this order are inverted by sweeps, if there are this many times as many of them.
_SWEPT_ORDER, _SWEPT_MANY = 16, 8
_BLOCK = 2**20  # entries of matrices inverted at a time
# Rows that are filled together at least: calls for fewer cost more than padding them to as many gaps.
_TOGETHER = 64


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
        columns = np.flatnonzero(self.live[: X.shape[1]])
        offset, scale, mean = self.offset[columns], self.scale[columns], self.mean[columns]
        part = np.ix_(rows, columns)
        Z = np.where(missing[part], 0.0, (X[part] - offset) / scale - mean)
        _Gaps(missing[part]).fill(Z, _Normal(self.loadings[columns], self.noise_variance))
        fills = np.broadcast_to(self.offset[: X.shape[1]], X.shape).copy()
        fills[part] = (Z + mean) * scale + offset
        return np.where(missing, fills, X).astype(X.dtype, copy=False)


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
    Z = np.hstack([X, Y]).astype(np.float64)
    w = np.ones(len(Z)) if weights is None else weights
    missing = np.isnan(Z)
    Z, missing, w = _drop_empty(Z, missing, w)
    offset, scale, live = _observed_scale(Z, missing, w, X.shape[1])
    Z = np.where(missing, 0.0, (Z - offset) / scale)
    work = _Work(Z[:, live], missing[:, live], w)
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
        self.root = None if (weights == weights[0]).all() else np.sqrt(weights)
        self.seen = (~missing).astype(np.float64)
        self.n_seen = float(weights @ self.seen.sum(axis=1))
        self.gaps = _Gaps(missing)

    def start(self, n_latent: int | None) -> None:
        """Principal components of the data with means in the gaps."""
        n, d = self.Z.shape
        rows = self.Z.view(np.dtype((np.void, 8 * d))) if d else self.Z
        self.n_different = len(set(rows.ravel().tolist()))
        self.is_free = n_latent is None
        self.most = min(d - 1, (self.n_different - 1) // 2 if n_latent is None else n - 1)
        self.most = max(self.most, 0)
        self.c = 0 if n_latent is None else min(n_latent, self.most)
        self.vectors = np.zeros((d, 0))
        self.correction = np.zeros((d, d))
        self.mean = np.zeros(d)
        self.residual = self.Z
        self.second = self._squares()
        self.maximise()

    def expect(self) -> float:
        """Fill the gaps and return the observed log-likelihood."""
        self.residual = self.Z - self.mean
        self.residual *= self.seen
        self.correction, log_det = self.gaps.fill(self.residual, self.normal, self.w)
        self.second = self._squares()
        # Filled with their conditional means, rows have the squares of what is observed of them.
        squares = np.vdot(self.second, self.normal.precision)
        log_det += self.weight * self.normal.log_det
        return float(-0.5 * (squares + log_det + self.n_seen * np.log(2 * np.pi)))

    def _squares(self) -> Array:
        if self.root is None:
            return self.w[0] * (self.residual.T @ self.residual)
        rows = self.residual * self.root[:, None]
        return np.asarray(rows.T @ rows)

    def maximise(self) -> None:
        """Mean, loadings and noise of the filled data and the covariance of the gaps."""
        shift = (self.w @ self.residual) / self.weight
        self.mean = self.mean + shift
        S = (self.second + self.correction) / self.weight - np.outer(shift, shift)
        values, trace = self._leading(S), float(np.trace(S))
        if self.is_free:
            self.c = max(self.c, self._n_latent(values, trace))
        noise = _noise(trace - values[: self.c].sum(), len(S) - self.c)
        excess = np.maximum(values[: self.c] - noise, 0.0)
        self.normal = _Normal(self.vectors[:, : self.c] * np.sqrt(excess), float(noise))

    def _leading(self, S: Array) -> Array:
        """Leading eigenvalues, as many as may be needed; their vectors are kept."""
        d, kept = self.vectors.shape
        if d > _ALL_PAIRS and kept >= min(self.c + _SPARE_PAIRS, self.most) > 0:
            # The vectors of the step before are nearly those of this one.
            Q = np.linalg.qr(S @ self.vectors)[0]
            values, turn = descending_eigh(Q.T @ (S @ Q))
            self.vectors = Q @ turn
            return values
        values, vectors = descending_eigh(S)
        some = max(2 * self.c, self.c + 4 * _SPARE_PAIRS)
        kept = min(self.most, d if d <= _ALL_PAIRS else some)
        self.vectors = vectors[:, :kept]
        return values[:kept]

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
    warnings.warn(
        f"missing='em' stopped at max_iter={max_iter} with a relative change of the log-likelihood "
        f"of {change:.1e}, not below tol={tol:g}: raise max_iter or tol.",
        ConvergenceWarning,
        stacklevel=5,
    )
    return history, False


def _moments(work: _Work, offset: Array, scale: Array, live: NDArray, p: int) -> Moments:
    """The expected moments in the user's units."""
    if not live.any():  # nothing varies, so that the offsets are all there is
        nothing = np.zeros((0, len(live)))
        return Moments.from_few_rows(
            nothing[:, :p], nothing[:, p:], n_samples=len(work.Z), weight=work.weight,
            x_mean=offset[:p], y_mean=offset[p:],
        )  # fmt: skip
    Z = np.where(work.missing, work.residual + work.mean, work.Z)
    moments = Moments.from_data(Z * scale[live] + offset[live], None, work.w)
    # As rows, which keep all digits: those that stand for the filled ones, and roots of the covariance.
    (roots, _), _ = rows_of_moments(
        work.correction, np.zeros((len(work.correction), 0)), work.correction.diagonal() > 0
    )
    filled, _ = moments.few_rows()
    rows = np.zeros((len(filled) + len(roots), len(live)))
    rows[:, live] = np.vstack([filled, roots * scale[live]])
    means = offset.copy()
    means[live] = moments.x_mean
    return Moments.from_few_rows(
        rows[:, :p],
        rows[:, p:],
        n_samples=len(Z),
        weight=work.weight,
        x_mean=means[:p],
        y_mean=means[p:],
    )


class _Normal:
    """A normal law with the covariance W W' + s2 I, and what is known of some columns given the others."""

    def __init__(self, W: Array, noise: float) -> None:
        d, c = W.shape
        self.W, self.noise = W, noise
        self.inner = W.T @ W + noise * np.eye(c)
        self.inner_log_det = float(np.linalg.slogdet(self.inner)[1])
        self.log_det = self.inner_log_det + (d - c) * np.log(noise)
        self.precision = (W @ np.linalg.solve(self.inner, W.T)) / -noise
        self.precision[np.diag_indices(d)] += 1.0 / noise
        self.padded = np.pad(self.precision, (0, 1))  # with a column that is none

    def given_others(self, columns: NDArray) -> tuple[Array, Array]:
        """Covariances of sets of columns given all others, (m, u, u), and minus their log-determinants.

        They are the inverses of blocks of the precision, or follow from what the others tell of the latent
        variables, whichever are fewer. The column d is none: independent of all, with variance one.
        """
        (d, c), u = self.W.shape, columns.shape[1]
        is_none = columns == d
        if u <= c:
            precision = self.padded[columns[:, :, None], columns[:, None, :]]
            precision[:, range(u), range(u)] += is_none
            return _inverses(precision)
        W = np.pad(self.W, ((0, 1), (0, 0)))[columns]
        posterior, log_det = _inverses(self.inner - W.transpose(0, 2, 1) @ W)
        covariance = self.noise * (W @ posterior @ W.transpose(0, 2, 1))
        covariance[:, range(u), range(u)] += np.where(is_none, 1.0, self.noise)
        n_gaps = u - is_none.sum(axis=1)
        return covariance, log_det - self.inner_log_det - n_gaps * np.log(self.noise)


class _Gaps:
    """Rows by their number of gaps; those of one pattern share a factorisation."""

    def __init__(self, missing: NDArray) -> None:
        counts = missing.sum(axis=1)
        packed = np.packbits(missing, axis=1)
        packed = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))
        packed = np.ascontiguousarray(packed).view(np.uint64)
        order = np.lexsort((*packed.T, counts))
        order = order[np.searchsorted(counts[order], 1) :]  # complete rows come first
        counts, packed = counts[order], packed[order]
        is_new = np.ones(len(order), dtype=bool)
        is_new[1:] = (packed[1:] != packed[:-1]).any(axis=1)
        gap_row, gap_column = np.nonzero(missing)
        start = np.searchsorted(gap_row, order)
        # Rows, the places of their gaps, the pattern of each row, the gaps of each pattern. Rows with fewer
        # gaps than others of their block have the column d, which is none, before their own.
        self.blocks: list[tuple[NDArray, NDArray, NDArray | None, NDArray]] = []
        d, first = missing.shape[1], 0
        while first < len(order):
            # All rows with as many gaps, and with more until they are enough.
            u = counts[min(first + _TOGETHER, len(order)) - 1]
            last = int(np.searchsorted(counts, u, side="right"))
            for part in row_blocks(last - first, max(_BLOCK // int(u) ** 2, 1)):
                rows = slice(first + part.start, first + part.stop)
                new = is_new[rows].copy()
                new[0] = True
                lack = np.arange(u) - (u - counts[rows])[:, None]  # below 0: padding
                columns = gap_column[start[rows][:, None] + np.maximum(lack, 0)]
                # Padding is written to the place of the first gap, and that after it.
                places = order[rows][:, None] * d + columns
                columns = np.where(lack < 0, d, columns)
                pattern = None if new.all() else np.cumsum(new) - 1
                self.blocks.append((order[rows], places, pattern, columns[new]))
            first = last

    def fill(self, R: Array, normal: _Normal, weights: Array | None = None) -> tuple[Array, float]:
        """Put conditional means into centred rows that are zero in their gaps.

        Returns the covariances of the gaps, summed over the rows, and what the log-determinants of the
        observed parts' covariances sum to beyond those of whole rows.
        """
        d = R.shape[1]
        w = np.ones(len(R)) if weights is None else weights
        along = R @ normal.precision
        correction, log_det = np.zeros((d + 1) * (d + 1)), 0.0
        for rows, places, pattern, columns in self.blocks:
            covariance, log_dets = normal.given_others(columns)
            weight = w[rows] if pattern is None else np.bincount(pattern, w[rows])
            log_det += float(weight @ log_dets)
            where = columns[:, :, None] * (d + 1) + columns[:, None, :]
            np.add.at(correction, where.ravel(), (covariance * weight[:, None, None]).ravel())
            of_rows = covariance if pattern is None else covariance[pattern]
            np.put(R, places, -np.einsum("nij,nj->ni", of_rows, np.take(along, places)))
        return correction.reshape(d + 1, d + 1)[:d, :d], log_det


def _inverses(A: Array) -> tuple[Array, Array]:
    """Inverses of a stack of covariances, (m, u, u), and the logarithms of their determinants."""
    m, u, _ = A.shape
    if u > _SWEPT_ORDER or m < _SWEPT_MANY * u:
        inverse = np.linalg.inv(A)
        return (inverse + inverse.transpose(0, 2, 1)) / 2, np.linalg.slogdet(A)[1]
    A = np.ascontiguousarray(A.transpose(1, 2, 0))
    least = EPS * np.einsum("iim->im", A)  # rounding may leave a matrix indefinite by a little
    log_det = np.zeros(m)
    for k in range(u):
        pivot = np.maximum(A[k, k], least[k])
        log_det += np.log(pivot)
        row, column = A[k] / pivot, A[:, k].copy()
        A -= column[:, None] * row
        A[k] = row
        A[:, k] = column / -pivot
        A[k, k] = 1.0 / pivot
    return A.transpose(2, 0, 1), log_det


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
