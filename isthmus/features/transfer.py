"""Transfer between instruments: a map from the spectra of one to those of another, window by window."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.model_selection import PredefinedSplit
from sklearn.utils.validation import check_is_fitted

from isthmus._linalg import Array, require_squares, row_blocks
from isthmus._saved import saved
from isthmus._validation import (
    N_FOLDS,
    BaseEstimator,
    check_count,
    check_flag,
    check_number,
    check_rank,
    finite_answer,
    validate_data,
    warn,
)
from isthmus.kernels import deal_by_content

_FEWEST_JUDGED = 3  # standards: without one, two still differ
_LEAST_EXPLAINED = 0.5  # share of what standards differ by; less of it is no transfer
_WINDOW_NUMBERS = 2**20  # numbers of windows that are decomposed at a time


@saved(x_mean_="p", y_mean_="q", columns_="q w", coef_="q w", error_="any", relative_error_="any")
class InstrumentTransfer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Map spectra of a secondary instrument to those of the primary one, from a few common standards.

    Each column :math:`j` of the primary instrument is regressed on a window :math:`X_j` of columns of the
    secondary one (piecewise direct standardisation, [WVK1991]_), or on all of them (direct
    standardisation):

    .. math::
        \min_b \|y_j - X_j b\|^2 + \alpha \|X_j\|_2^2 \|b - g e\|^2

    on centred columns, where :math:`e` interpolates the spectrum at the same place and :math:`g` is one
    gain for all columns, the slope of the primary on the interpolated secondary standards: where the
    standards say nothing, a spectrum stays as it is, but for that gain and the mean difference. Ten
    standards determine few directions; without that pull the map removes what they do not show.

    Parameters
    ----------
    window : int or None, default=5
        Columns on each side of the one at the same place; None takes all columns.
    alpha : float, default=0.01
        Ridge weight in units of the squared norm of each window; free of units.
    n_components : int or None, default=None
        Principal components of each window that are used, at most; None uses all.
    identity : bool, default=True
        Whether coefficients are pulled towards the interpolated spectrum times the gain; False pulls them
        towards zero, as for instruments of different kinds. ``identity=False, alpha=0.0, n_components=2``
        is the principal component regression of the paper.

    Attributes
    ----------
    coef_ : ndarray of shape (n_primary, width)
        Coefficients of each primary column on its window.
    columns_ : ndarray of shape (n_primary, width)
        Columns of each window; at the ends some are repeated with coefficient zero.
    gain_ : float
        The slope :math:`g`; 1 for a single standard.
    x_mean_, y_mean_ : ndarray
        Means of the standards on the secondary and the primary instrument.
    error_ : float
        Root mean square error of standards left out in up to five folds, in units of the primary spectra;
        NaN for fewer than three standards.
    relative_error_ : float
        The same as a share of their distance from the mean of the other standards, NaN where that is zero.
        A warning tells if the transfer explains less than half of the squares of that distance.

    Notes
    -----
    Choose the standards with :func:`~isthmus.model_selection.kennard_stone` on the primary spectra. The two
    instruments may have different numbers of columns, if these are evenly spaced over the same range. Treat
    the spectra of both instruments first, by a derivative for instance, and transfer the treated ones: that
    was better on all pairs of docs/spectra.md. :meth:`isthmus.inspection.Trusted.after_transfer` gives the
    moved calibration a domain and intervals that know the errors of the transfer. A calibration is not
    better after a transfer than on its own instrument: where the secondary one is the better of the two,
    recalibrate.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.features import InstrumentTransfer
    >>> rng = np.random.default_rng(0)
    >>> primary = rng.normal(size=(30, 4)) @ rng.normal(size=(4, 50))
    >>> secondary = 0.9 * primary + 0.3
    >>> transfer = InstrumentTransfer().fit(secondary[:10], primary[:10])
    >>> before = abs(secondary[10:] - primary[10:]).mean()
    >>> bool(abs(transfer.transform(secondary[10:]) - primary[10:]).mean() < 0.05 * before)
    True
    """

    def __init__(
        self,
        window: int | None = 5,
        *,
        alpha: float = 0.01,
        n_components: int | None = None,
        identity: bool = True,
    ) -> None:
        self.window = window
        self.alpha = alpha
        self.n_components = n_components
        self.identity = identity

    def fit(self, X: ArrayLike, y: ArrayLike) -> InstrumentTransfer:
        """Learn the map from standards that both instruments have measured.

        Parameters
        ----------
        X : array of shape (n_standards, n_secondary)
            Spectra of the secondary instrument.
        y : array of shape (n_standards, n_primary)
            Spectra of the same samples on the primary instrument.

        Returns
        -------
        self : object
            The fitted transfer.
        """
        if self.window is not None:
            check_count("window", self.window, minimum=0)
        check_number("alpha", self.alpha, ">= 0 and finite")
        check_rank(self.n_components, minimum=1)
        check_flag("identity", self.identity)
        rows, Y = validate_data(self, X, y, multi_output=True, dtype=np.float64, y_numeric=True)
        Y = np.asarray(Y, dtype=np.float64).reshape(len(Y), -1)
        require_squares("X", rows)
        require_squares("y", Y)
        self._learn(rows, Y)
        self._judge(rows, Y)
        return self

    def _learn(self, rows: Array, Y: Array) -> None:
        """Find the map from rows (n, p) to rows (n, q)."""
        self.x_mean_ = rows.mean(axis=0)
        self.y_mean_ = Y.mean(axis=0)
        p, q = rows.shape[1], Y.shape[1]
        positions = np.linspace(0, p - 1, q)
        places = np.rint(positions).astype(int)
        if self.window is None or self.window >= p - 1:
            self.columns_ = np.tile(np.arange(p), (q, 1))
        else:
            self.columns_ = places[:, None] + np.arange(-self.window, self.window + 1)
        inside = (self.columns_ >= 0) & (self.columns_ < p)
        self.columns_ = np.clip(self.columns_, 0, p - 1)
        near = np.clip(1 - np.abs(self.columns_ - positions[:, None]), 0, None) * inside
        prior = self.identity * near / near.sum(axis=1, keepdims=True)
        centred, Y = rows - self.x_mean_, (Y - self.y_mean_).T
        self.gain_ = self._gain(centred, Y, prior)
        prior = self.gain_ * prior
        self.coef_ = prior + self._corrections(centred, Y, inside, prior)

    def _judge(self, rows: Array, Y: Array) -> None:
        """Keep the error of standards that are left out; warn if little of what they are is transferred."""
        n = len(rows)
        if n < _FEWEST_JUDGED or Y.shape[1] == 1:  # one column is no spectrum
            self.error_ = self.relative_error_ = np.nan
            return
        other, errors, spreads = clone(self), [], []
        for train, test in PredefinedSplit(deal_by_content(rows, N_FOLDS)).split():
            other._learn(rows[train], Y[train])
            errors.append(((other._map(rows[test]) - Y[test]) ** 2).mean(axis=1))
            spreads.append(((Y[train].mean(axis=0) - Y[test]) ** 2).mean(axis=1))
        error, spread = (float(np.sqrt(np.concatenate(part).mean())) for part in (errors, spreads))
        self.error_ = error
        self.relative_error_ = error / spread if spread > 0 else np.nan
        explained = 1 - self.relative_error_**2
        if explained < _LEAST_EXPLAINED:
            warn(
                f"the transfer explains {100 * max(explained, 0.0):.0f} % of how standards that were left "
                "out differ on the primary instrument: do not trust it. Are the rows of X and y the same "
                "samples in the same order? If so, take more standards, or recalibrate.",
            )

    def _gain(self, X: Array, Y: Array, prior: Array) -> float:
        """Slope of the primary standards (q, n) on the interpolated secondary ones; 1 without a slope."""
        total = squares = 0.0
        for rows in row_blocks(len(Y), max(1, _WINDOW_NUMBERS // (prior.shape[1] * len(X)))):
            guess = np.einsum("bw,bwn->bn", prior[rows], X.T[self.columns_[rows]])
            total += float((guess * Y[rows]).sum())
            squares += float((guess**2).sum())
        return total / squares if squares > 0 else 1.0

    def _corrections(self, X: Array, Y: Array, inside: NDArray, prior: Array) -> Array:
        """Coefficients of what the interpolated spectrum leaves, (q, width)."""
        q, width = self.columns_.shape
        found = np.empty((q, width))
        if width == X.shape[1]:  # one window for all
            U, s, V = np.linalg.svd(X, full_matrices=False)
            left = Y - prior @ X.T
            return np.asarray((left @ U) * self._filter(s[None]) @ V)
        for rows in row_blocks(q, max(1, _WINDOW_NUMBERS // (width * len(X)))):
            windows = X.T[self.columns_[rows]] * inside[rows, :, None]  # (block, width, n)
            left = Y[rows] - np.einsum("bw,bwn->bn", prior[rows], windows)
            V, s, Ut = np.linalg.svd(windows, full_matrices=False)
            along = np.einsum("bkn,bn->bk", Ut, left) * self._filter(s)
            found[rows] = np.einsum("bwk,bk->bw", V, along)
        return found

    def _filter(self, s: Array) -> Array:
        """Return ``s / (s^2 + alpha s_1^2)``, zero where it is rounding or beyond ``n_components``."""
        kept = s > 1e-12 * s[:, :1]
        if self.n_components is not None:
            kept[:, self.n_components :] = False
        squares = s**2 + self.alpha * s[:, :1] ** 2
        return np.divide(s, squares, out=np.zeros_like(s), where=kept & (squares > 0))

    def transform(self, X: ArrayLike) -> NDArray:
        """Return spectra as the primary instrument would have measured them.

        Parameters
        ----------
        X : array of shape (n_samples, n_secondary)
            Spectra of the secondary instrument.

        Returns
        -------
        primary : ndarray of shape (n_samples, n_primary)
        """
        check_is_fitted(self)
        rows = validate_data(self, X, reset=False, dtype=np.float64)
        return finite_answer(self, self._map(rows))

    def _map(self, rows: Array) -> Array:
        centred = rows - self.x_mean_
        if self.coef_.shape[1] == len(self.x_mean_):
            return centred @ self.coef_.T + self.y_mean_
        result = np.tile(self.y_mean_, (len(centred), 1))
        for k in range(self.coef_.shape[1]):
            result += centred[:, self.columns_[:, k]] * self.coef_[:, k]
        return result

    @property
    def operator_(self) -> Array:
        """The matrix of the map, (n_primary, n_secondary)."""
        check_is_fitted(self)
        found = np.zeros((len(self.y_mean_), len(self.x_mean_)))
        np.add.at(found, (np.arange(len(found))[:, None], self.columns_), self.coef_)
        return found

    @property
    def _n_features_out(self) -> int:
        return len(self.y_mean_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
