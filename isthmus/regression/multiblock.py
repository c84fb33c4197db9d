"""PLS on several blocks of columns: side by side with super-scores, or one block after another."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from isthmus._linalg import Array, column_units, graded_units, power_of_two, spreads
from isthmus._saved import saved
from isthmus._validation import check_count, check_flag, check_option, finite_answer, validate_data
from isthmus.regression.blocks import resolve_blocks
from isthmus.regression.linear import LinearRegressor
from isthmus.regression.pls import PLS


@saved(x_mean_="p", x_rotations_="p r")
class BlockMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, LinearRegressor):
    """A linear map from blocks of columns through a few scores, once its factors are found."""

    blocks: Any
    scale: Any
    x_mean_: Array
    x_rotations_: Array
    coef_: Array
    intercept_: Any

    def _prepare(self, X: ArrayLike, y: ArrayLike) -> tuple[Array, Array, list[NDArray], Array]:
        """Checked rows, outputs (n, q), columns of the blocks and the scale of each column.

        Columns have unit variance if ``scale``, and every block has the same total variance.
        """
        if isinstance(self.scale, str):
            check_option("scale", self.scale, ("y",))
        scales_columns = self.scale != "y" and check_flag("scale", self.scale)
        rows, Y, self._y_is_1d = self._check_fit(X, y)
        names = getattr(self, "feature_names_in_", None)
        columns = resolve_blocks(self.blocks, rows.shape[1], names)
        # Of columns whose squares would overflow or vanish; one for all where their sizes count.
        unit = column_units(rows) if scales_columns else power_of_two(rows)
        scaled = rows / unit
        means = scaled.mean(axis=0)
        deviations = scaled.std(axis=0)
        deviations[deviations <= 1e-14 * np.abs(means)] = 0.0  # a constant, but for rounding
        scales = (
            np.where(deviations > 0, deviations, 1.0)
            if scales_columns
            else np.ones(len(deviations))
        )
        for block in columns:
            scales[block] *= np.linalg.norm(deviations[block] / scales[block]) or 1.0
        self.x_mean_ = means * unit
        return rows, Y, columns, scales * unit

    def _keep(self, rotations: Array, loadings: Array, y_mean: Array) -> None:
        """Keep the factors, in the user's units."""
        self.x_rotations_ = rotations
        coef = loadings @ rotations.T
        self._keep_map(coef, y_mean - coef @ self.x_mean_, self._y_is_1d)

    def transform(self, X: ArrayLike) -> NDArray:
        """Return the scores of the inputs.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Inputs, all blocks side by side.

        Returns
        -------
        T : ndarray of shape (n_samples, n_scores)
        """
        check_is_fitted(self)
        rows = validate_data(self, X, reset=False, dtype=np.float64)
        return finite_answer(self, np.asarray((rows - self.x_mean_) @ self.x_rotations_))

    @property
    def _n_features_out(self) -> int:
        return self.x_rotations_.shape[1]


class MultiblockPLS(BlockMap):
    r"""Fit PLS to several blocks of equal weight, with super-scores and block scores, [WKM1998]_.

    Each block is divided by the root of its total variance. With super-scores for deflation the algorithm
    finds the components of PLS on all columns; the weight vector of a component falls into parts
    :math:`w_b`, the super-weight of block b is :math:`\|w_b\|` and its score :math:`X_b w_b / \|w_b\|`.

    Parameters
    ----------
    blocks : list of slice, of column numbers or of column names, default=None
        Columns of each block, see :func:`join_blocks`.
    n_components : int or "auto", default=2
        Number of components; "auto" chooses it by cross-validation, as in ``PLS``.
    scale : bool or "y", default=True
        Whether columns of X and y, or those of y alone, are divided by their standard deviations before.

    Attributes
    ----------
    coef_, intercept_ : ndarray
        The map: a prediction is ``X @ coef_.T + intercept_``.
    x_rotations_ : ndarray of shape (n_features, n_components_)
        ``(X - x_mean_) @ x_rotations_`` are the super-scores.
    super_weights_ : ndarray of shape (n_blocks, n_components_)
        Weight of each block in each component; their squares sum to one.
    block_importances_ : ndarray of shape (n_blocks,)
        Mean of the squared super-weights, weighted by the variance of y that each component explains.
    pls_ : PLS
        The fit to all columns in the scale of the blocks.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.regression import MultiblockPLS, join_blocks
    >>> rng = np.random.default_rng(0)
    >>> X, blocks = join_blocks(rng.normal(size=(60, 5)), rng.normal(size=(60, 50)))
    >>> model = MultiblockPLS(blocks).fit(X, X[:, 0])
    >>> bool(model.block_importances_[0] > 0.5)
    True
    """

    def __init__(self, blocks: Any = None, *, n_components: Any = 2, scale: Any = True) -> None:
        self.blocks = blocks
        self.n_components = n_components
        self.scale = scale

    def fit(self, X: ArrayLike, y: ArrayLike) -> MultiblockPLS:
        """Fit the map.

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
        rows, Y, columns, scales = self._prepare(X, y)
        # Blocks are centred here, so that a block far from zero keeps its digits.
        scaled = (rows - self.x_mean_) / scales
        self.pls_ = PLS(self.n_components, scale="y" if self.scale else False).fit(scaled, Y)
        self.n_components_ = self.pls_.n_components_
        loadings = self.pls_.y_loadings_ * self.pls_.y_scale_[:, None]
        self._keep(self.pls_.x_rotations_ / scales[:, None], loadings, self.pls_.y_mean_)
        self._scales = scales
        weights = self.pls_.x_weights_
        self.super_weights_ = np.array([np.linalg.norm(weights[b], axis=0) for b in columns])
        shares = self.pls_.y_explained_variance_ratio_
        total = shares.sum()
        self.block_importances_ = (self.super_weights_**2) @ (
            shares / (total if total > 0 else 1.0)
        )
        return self

    def block_scores(self, X: ArrayLike) -> list[Array]:
        """Return the scores of each block.

        The super-scores are their sums, weighted by ``super_weights_``.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Inputs, all blocks side by side.

        Returns
        -------
        scores : list of ndarray of shape (n_samples, n_components_)
            One array per block.
        """
        check_is_fitted(self)
        rows = validate_data(self, X, reset=False, dtype=np.float64)
        names = getattr(self, "feature_names_in_", None)
        left = (rows - self.x_mean_) / self._scales
        weights, loadings = self.pls_.x_weights_, self.pls_.x_loadings_
        columns = resolve_blocks(self.blocks, rows.shape[1], names)
        found = [np.zeros((len(rows), self.n_components_)) for _ in columns]
        for k in range(self.n_components_):
            for scores, block, length in zip(found, columns, self.super_weights_[:, k]):
                scores[:, k] = left[:, block] @ weights[block, k] / (length or 1.0)
            left = left - np.outer(left @ weights[:, k], loadings[:, k])
        return found


class SequentialPLS(BlockMap):
    r"""Fit PLS block after block: each explains what those before it left (SO-PLS), [NTMM2011]_.

    .. math::
        \tilde X_b = X_b - T (T^\top T)^{-1} T^\top X_b, \qquad
        T \leftarrow [T, \text{scores of PLS of } Y \text{ on } \tilde X_b]

    Block b is made orthogonal to all scores so far and PLS is fitted to what is left of the outputs. The
    scores of all blocks are orthogonal, so that each block has its own share of the explained variance.

    Parameters
    ----------
    blocks : list of slice, of column numbers or of column names, default=None
        Columns of each block in the order of the sequence, see :func:`join_blocks`.
    n_components : int, "auto" or a sequence of these, default=2
        Number of components of each block; 0 leaves a block out. "auto" chooses it by cross-validation, as
        in ``PLS``, from what the blocks before have left, one at least.
    scale : bool or "y", default=True
        Whether columns of X and y, or those of y alone, are divided by their standard deviations before.

    Attributes
    ----------
    coef_, intercept_ : ndarray
        The map: a prediction is ``X @ coef_.T + intercept_``.
    x_rotations_ : ndarray of shape (n_features, n_scores)
        ``(X - x_mean_) @ x_rotations_`` are the scores of all blocks, one block after another.
    n_components_ : list of int
        Number of components found in each block.
    block_explained_variance_ : ndarray of shape (n_blocks,)
        Share of the variance of y (scaled if ``scale``) that each block adds.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.regression import SequentialPLS, join_blocks
    >>> rng = np.random.default_rng(0)
    >>> X, blocks = join_blocks(rng.normal(size=(60, 5)), rng.normal(size=(60, 3)))
    >>> model = SequentialPLS(blocks, n_components=[3, 2]).fit(X, X[:, 0] + X[:, 5])
    >>> bool(model.block_explained_variance_.sum() > 0.9)
    True
    """

    def __init__(self, blocks: Any = None, *, n_components: Any = 2, scale: Any = True) -> None:
        self.blocks = blocks
        self.n_components = n_components
        self.scale = scale

    def fit(self, X: ArrayLike, y: ArrayLike) -> SequentialPLS:
        """Fit the map.

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
        rows, Y, columns, scales = self._prepare(X, y)
        ranks = self._ranks(len(columns))
        y_mean = Y.mean(axis=0)
        y_scale = spreads(Y) if self.scale else graded_units(Y)
        left = (Y - y_mean) / y_scale
        total = float((left**2).sum())
        Z = (rows - self.x_mean_) / scales
        n, p = Z.shape
        T = np.zeros((n, 0))
        rotations = np.zeros((p, 0))
        loadings = np.zeros((Y.shape[1], 0))
        self.n_components_ = []
        explained = np.zeros(len(columns))
        for b, (block, rank) in enumerate(zip(columns, ranks, strict=True)):
            if rank == 0 or not left.any():
                self.n_components_.append(0)
                continue
            along = np.linalg.lstsq(T, Z[:, block], rcond=None)[0]  # (k, p_b)
            part = Z[:, block] - T @ along
            pls = PLS(rank, scale=False).fit(part, left)
            R = np.zeros((p, pls.n_components_))
            R[block] = pls.x_rotations_
            rotations = np.hstack([rotations, R - rotations @ (along @ pls.x_rotations_)])
            T = np.hstack([T, part @ pls.x_rotations_])
            loadings = np.hstack([loadings, pls.y_loadings_])
            before = float((left**2).sum())
            left = left - part @ pls.x_rotations_ @ pls.y_loadings_.T
            explained[b] = (before - float((left**2).sum())) / total
            self.n_components_.append(pls.n_components_)
        self.block_explained_variance_ = explained
        self._keep(rotations / scales[:, None], loadings * y_scale[:, None], y_mean)
        return self

    def _ranks(self, n_blocks: int) -> list[Any]:
        given = self.n_components
        if given == "auto" if isinstance(given, str) else isinstance(given, Integral):
            given = [given] * n_blocks
        if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
            raise ValueError(
                f"n_components == {given!r}, must be an int, 'auto', or one of these for each block."
            )
        if len(given) != n_blocks:
            raise ValueError(
                f"n_components has {len(given)} numbers, expected {n_blocks}: one per block."
            )
        return [
            value if isinstance(value, str) and value == "auto"
            else check_count("n_components", value, minimum=0) for value in given
        ]  # fmt: skip
