"""Banded ridge: a ridge weight for each block of columns, chosen by exact cross-validation."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import check_cv

from isthmus._linalg import EPS, Array, column_units, require_squares
from isthmus._validation import check_alpha, check_flag
from isthmus.kernels import sample_groups
from isthmus.problems import RidgeSpectrum
from isthmus.regression.blocks import resolve_blocks
from isthmus.regression.linear import LinearRegressor

# The range of ComponentSearchCV: raw spectra take the least
_RELATIVE_ALPHAS = np.logspace(-8, 2, 11)
_MOST_COMBINATIONS = 1500  # beyond these, blocks are searched one after another
_SWEEPS = 3  # over the blocks; a sweep that changes nothing is the last


class BlockRidge(LinearRegressor):
    r"""Fit ridge regression with a separate weight for each block of columns (banded ridge).

    .. math::
        \min_{B, c} \|Y - \textstyle\sum_b X_b B_b - 1 c^\top\|_F^2 + \sum_b \alpha_b \|B_b\|_F^2

    The weights are chosen by cross-validation without refitting, [NHG2019]_: with the Gram matrices
    :math:`K_b = X_b X_b^\top` of centred columns every combination of weights is the kernel ridge of
    :math:`\sum_b K_b / \alpha_b`, combinations of the same proportions share one eigendecomposition, and
    the residuals of left-out rows :math:`f` are :math:`(I - H_{ff})^{-1} (y_f - \hat y_f)`, exactly. Where
    there are fewer columns than rows the moments :math:`X_b^\top X_{b'}` take the place of the Gram
    matrices.

    Parameters
    ----------
    blocks : list of slice, of column numbers or of column names, default=None
        Columns of each block, see :func:`join_blocks`; None is one block: plain ridge.
    alphas : sequence of float, default=None
        Candidate weights, tried for every block in all combinations (one block after another where these
        are more than 1500). None: eleven values from 1e-8 to 100 times the squared norm of each block. A
        sequence with one value skips the search.
    cv : int, splitter or None, default=None
        Folds whose test rows are disjoint, as k-fold; None leaves one row out, with its copies. A fold is
        predicted by all rows outside of it.
    alpha_per_target : bool, default=False
        Whether each target has weights of its own, as in scikit-learn's ``RidgeCV``.

    Attributes
    ----------
    alpha_ : ndarray of shape (n_blocks,), or (n_targets, n_blocks) if ``alpha_per_target``
        The weight of each block.
    coef_ : ndarray of shape (n_targets, n_features) or (n_features,)
        The map: a prediction is ``X @ coef_.T + intercept_``.
    intercept_ : float or ndarray of shape (n_targets,)
        Constant term.
    block_importances_ : ndarray of shape (n_blocks,)
        Share of each block in the variance of the fitted outputs; they sum to one, and a block that
        works against others has a negative one.
    alphas_ : ndarray of shape (n_candidates, n_blocks)
        All combinations that were tried.
    cv_errors_ : ndarray of shape (n_candidates,), or (n_candidates, n_targets)
        Their mean squared errors of left-out rows, in units of the outputs' variances; the mean over the
        targets unless ``alpha_per_target``.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.regression import BlockRidge, join_blocks
    >>> rng = np.random.default_rng(0)
    >>> X, blocks = join_blocks(rng.normal(size=(40, 5)), rng.normal(size=(40, 100)))
    >>> y = X[:, :5].sum(axis=1) + 0.1 * rng.normal(size=40)
    >>> model = BlockRidge(blocks).fit(X, y)
    >>> bool(model.block_importances_[0] > 0.9)
    True
    """

    def __init__(
        self,
        blocks: Any = None,
        *,
        alphas: Any = None,
        cv: Any = None,
        alpha_per_target: bool = False,
    ) -> None:
        self.blocks = blocks
        self.alphas = alphas
        self.cv = cv
        self.alpha_per_target = alpha_per_target

    def fit(self, X: ArrayLike, y: ArrayLike) -> BlockRidge:
        """Choose the weights and fit the map.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Inputs, all blocks side by side.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Outputs.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        rows, Y, y_is_1d = self._check_fit(X, y)
        names = getattr(self, "feature_names_in_", None)
        columns = resolve_blocks(self.blocks, rows.shape[1], names)
        check_flag("alpha_per_target", self.alpha_per_target)
        require_squares("X", rows)  # the unit of the ridge weights
        x_mean = rows.mean(axis=0)
        y_mean = Y.mean(axis=0)
        y_unit = column_units(Y)
        problem = _BlockProblem(rows - x_mean, (Y - y_mean) / y_unit, columns)
        candidates = self._candidates(problem)
        folds = self._folds(rows, Y)
        # Targets that have their weights in common.
        groups = [list(range(Y.shape[1]))]
        if self.alpha_per_target:
            groups = [[j] for j in range(Y.shape[1])]
        self.alphas_, errors = self._search(problem, candidates, folds, groups)
        chosen = [self.alphas_[errors[:, group].mean(axis=1).argmin()] for group in groups]
        self.alpha_ = np.array(chosen) if self.alpha_per_target else chosen[0]
        self.cv_errors_ = errors if self.alpha_per_target else errors.mean(axis=1)
        coef = np.hstack([problem.solve(*pair) for pair in zip(chosen, groups, strict=True)])
        self.block_importances_ = problem.shares(coef)
        coef = coef * y_unit
        self._keep_map(coef.T, y_mean - x_mean @ coef, y_is_1d)
        return self

    def _candidates(self, problem: _BlockProblem) -> Array:
        """Weights to try, (n_candidates, n_blocks): those of a block in each column."""
        n_blocks = len(problem.columns)
        if self.alphas is None:
            return np.outer(_RELATIVE_ALPHAS, problem.squared_norms)
        values = np.atleast_1d(np.asarray(self.alphas, dtype=object)).tolist()
        checked = [check_alpha(value) for value in values]
        if not checked or min(checked) <= 0:
            raise ValueError(f"alphas == {self.alphas!r}, must hold at least one number, all > 0.")
        return np.tile(np.array(checked)[:, None], (1, n_blocks))

    def _folds(self, rows: Array, Y: Array) -> list[NDArray]:
        n = len(rows)
        if self.cv is None:
            groups = sample_groups(np.hstack([rows, Y]))
            order = np.argsort(groups, kind="stable")
            return np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)
        tests = [test for _, test in check_cv(self.cv).split(rows, Y)]
        if (np.bincount(np.concatenate(tests), minlength=n) > 1).any():
            raise ValueError(f"cv == {self.cv!r} tests a row twice; folds must be disjoint.")
        return tests

    def _search(
        self, problem: _BlockProblem, grid: Array, folds: list[NDArray], groups: list[list[int]]
    ) -> tuple[Array, Array]:
        """Combinations of weights and the errors of each target, (n_candidates, n_targets)."""
        m, n_blocks = grid.shape
        blocks = np.arange(n_blocks)
        if m**n_blocks <= _MOST_COMBINATIONS:
            tried = grid[np.array(list(product(range(m), repeat=n_blocks))), blocks]
            return tried, problem.errors(tried, folds)
        found = []
        for targets in groups:
            place = np.full(n_blocks, m // 2)
            for _ in range(_SWEEPS):
                before = place.copy()
                for b in blocks:
                    choices = np.tile(place, (m, 1))
                    choices[:, b] = np.arange(m)
                    alphas = grid[choices, blocks]
                    errors = problem.errors(alphas, folds)
                    found.append((alphas, errors))
                    place[b] = int(errors[:, targets].mean(axis=1).argmin())
                if (place == before).all():
                    break
        return np.vstack([alphas for alphas, _ in found]), np.vstack(
            [errors for _, errors in found]
        )


class _BlockProblem:
    """Centred rows, and the Gram matrices of blocks or the moments of columns, whichever is smaller."""

    def __init__(self, X: Array, Y: Array, columns: list[NDArray]) -> None:
        self.X, self.Y, self.columns = X, Y, columns
        n, p = X.shape
        self.is_dual = n <= p
        if self.is_dual:
            self.grams = [X[:, block] @ X[:, block].T for block in columns]
        else:
            self.moments = X.T @ X
        norms = [np.linalg.norm(X[:, block], 2) ** 2 for block in columns]
        self.squared_norms = np.array([norm if norm > 0 else 1.0 for norm in norms])
        variances = (Y**2).mean(axis=0)
        self.y_unit = np.where(variances > 0, variances, np.inf)

    def spectrum(self, shares: Array) -> RidgeSpectrum:
        """Decompose ``sum_b shares_b K_b``."""
        n, p = self.X.shape
        if self.is_dual:
            return RidgeSpectrum.of_gram(sum(w * K for w, K in zip(shares, self.grams)))
        scales = np.empty(p)
        for w, block in zip(shares, self.columns):
            scales[block] = np.sqrt(w)
        s, V = np.linalg.eigh(scales[:, None] * self.moments * scales)
        kept = s > p * EPS * max(s[-1], 0.0)
        U = (self.X * scales) @ V[:, kept]
        return RidgeSpectrum(U / np.linalg.norm(U, axis=0), s[kept], np.ones(n))

    def errors(self, alphas: Array, folds: list[NDArray]) -> Array:
        """Return the squared errors of left-out rows, (n_combinations, n_targets)."""
        n, q = self.Y.shape
        found = np.empty((len(alphas), q))
        pairs = [(np.setdiff1d(np.arange(n), test), test) for test in folds]
        # Proportions decide the eigenvectors; digits beyond those of a grid are rounding.
        first = alphas[:, 0]
        proportions = np.round(np.log(first[:, None] / alphas), 10)
        for group in np.unique(proportions, axis=0):
            members = np.flatnonzero((proportions == group).all(axis=1))
            spectrum = self.spectrum(np.exp(group))
            each = spectrum.left_out(self.Y, pairs, first[members])
            if len(folds) == n:
                each = (spectrum.left_out_singly(self.Y, np.full(q, a)) for a in first[members])
            for i, predicted in zip(members, each):
                found[i] = np.nanmean((self.Y - predicted) ** 2, axis=0) / self.y_unit
        return found

    def solve(self, alpha: Array, targets: list[int]) -> Array:
        """Return the coefficients of some targets, (p, n_targets)."""
        shares = alpha[0] / alpha
        Y = self.Y[:, targets]
        coef = self.X.T @ self.spectrum(shares).dual_coef(Y, np.full(len(targets), alpha[0]))
        for w, block in zip(shares, self.columns):
            coef[block] *= w
        return np.asarray(coef)

    def shares(self, coef: Array) -> Array:
        """Return the share of each block in the variance of the fitted outputs, in their own units."""
        parts = [self.X[:, block] @ coef[block] / np.sqrt(self.y_unit) for block in self.columns]
        total = sum(parts)
        products = np.array([float((part * total).sum()) for part in parts])
        return products / (products.sum() or 1.0)
