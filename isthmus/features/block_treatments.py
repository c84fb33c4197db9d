"""A treatment for each block of columns, after which all blocks have the same size."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from isthmus._validation import BaseEstimator, validate_data
from isthmus.regression import resolve_blocks


class BlockTreatments(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Treat each block of columns with its own transformer and scale all blocks to the same size.

    A derivative or a scatter correction of joined spectra would reach across the border of two instruments;
    here each block sees its own columns alone. Then a block is divided by the root of its total variance,
    :math:`\sqrt{\sum_j \operatorname{var} x_j}`, as multiblock methods do, [WKM1998]_, so that neither its
    units nor its number of columns decide how much it counts.

    Parameters
    ----------
    blocks : list of slice, of column numbers or of column names, default=None
        Columns of each block, see :func:`~isthmus.regression.join_blocks`; None is one block.
    treatments : sequence of transformers, default=None
        One per block; None in a place, or for all, leaves the block as it was measured.

    Attributes
    ----------
    treatments_ : list of transformers
        The fitted treatments; None where there is none.
    scales_ : ndarray of shape (n_blocks,)
        What each treated block is divided by; 1 for a block that does not vary.
    blocks_ : list of slice
        Columns of each block in the result, for a model that comes after.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.features import BlockTreatments, NormalVariate
    >>> from isthmus.regression import join_blocks
    >>> rng = np.random.default_rng(0)
    >>> X, blocks = join_blocks(rng.normal(size=(30, 50)), 1000 * rng.normal(size=(30, 3)))
    >>> Z = BlockTreatments(blocks, [NormalVariate(), None]).fit_transform(X)
    >>> [float(Z[:, block].var(axis=0).sum().round(6)) for block in blocks]
    [1.0, 1.0]
    """

    def __init__(self, blocks: Any = None, treatments: Sequence[Any] | None = None) -> None:
        self.blocks = blocks
        self.treatments = treatments

    def fit(self, X: ArrayLike, y: Any = None) -> BlockTreatments:
        """Fit the treatment and the size of each block.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Inputs, all blocks side by side.
        y : array, default=None
            Handed to the treatments; most do not use it.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        rows = validate_data(self, X, dtype=np.float64)
        names = getattr(self, "feature_names_in_", None)
        self._columns = resolve_blocks(self.blocks, rows.shape[1], names)
        given = [None] * len(self._columns) if self.treatments is None else list(self.treatments)
        if len(given) != len(self._columns):
            raise ValueError(
                f"treatments has {len(given)} entries, expected {len(self._columns)}: one per block."
            )
        self.treatments_ = []
        scales, widths = [], []
        for block, treatment in zip(self._columns, given, strict=True):
            part = rows[:, block]
            fitted = None if treatment is None else clone(treatment).fit(part, y)
            treated = part if fitted is None else np.asarray(fitted.transform(part))
            self.treatments_.append(fitted)
            deviations = treated.std(axis=0)
            # What rounding leaves of a constant column is no variance.
            deviations[deviations <= 1e-14 * np.abs(treated).max(axis=0)] = 0.0
            scales.append(float(np.linalg.norm(deviations)) or 1.0)
            widths.append(treated.shape[1])
        self.scales_ = np.array(scales)
        self.blocks_ = [slice(a, b) for a, b in pairwise(np.cumsum([0, *widths]).tolist())]
        return self

    def transform(self, X: ArrayLike) -> NDArray:
        """Treat rows.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Inputs, all blocks side by side.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_features_out)
            Treated blocks side by side.
        """
        check_is_fitted(self)
        rows = validate_data(self, X, reset=False, dtype=np.float64)
        parts = []
        for block, fitted, scale in zip(self._columns, self.treatments_, self.scales_, strict=True):
            part = rows[:, block]
            treated = part if fitted is None else np.asarray(fitted.transform(part))
            parts.append(treated / scale)
        return np.hstack(parts)

    @property
    def _n_features_out(self) -> int:
        return int(self.blocks_[-1].stop)
