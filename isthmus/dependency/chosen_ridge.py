"""The weight of a ridge map, and for vectors the width of their kernel, by closed leave-one-out."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from isthmus._linalg import Array, spreads
from isthmus.dependency.linear_part import embed_inputs
from isthmus.features import KernelMap, distinct, left_out_ridge
from isthmus.kernels import RBF, Linear, Standardised, median_gamma, take

_WIDTHS = (0.03, 0.1, 0.3, 1.0, 3.0)  # times one over the median squared distance
_WIDTH_ROWS = 500  # by which widths are compared; by 300 of them errors grow by a fifth
WEIGHT_ROWS = 2000  # by which a weight is chosen
_WEIGHT_NUMBERS = 200_000  # of the outputs of these rows


def choose_kernel(X: Any, targets: Array, weights: Array | None, most: int) -> tuple[Any, float]:
    """Return phi of vectors and a ridge weight: those of the least error of rows left out.

    Rows are standardised. Widths are compared on few rows, and narrower ones on more if there are more.
    """
    if issparse(X):  # distances and centred products do not depend on means
        mean, scale = None, StandardScaler(with_mean=False).fit(X, sample_weight=weights).scale_
    else:
        mean = np.average(X, axis=0, weights=weights)
        scale = spreads(X.astype(np.float64, copy=False), weights)
    some = distinct(X, targets, weights, _WIDTH_ROWS)
    rows, Y, sums = take(X, some.places), some.means(targets), some.weights
    half = median_gamma(Standardised(Linear(), mean, scale).standardise(rows), sample_weight=sums)
    inner = [Linear(), *(RBF(2.0 * width * half) for width in _WIDTHS)]
    kernels = [Standardised(kernel, mean, scale) for kernel in inner]
    tried = [left_out_ridge(kernel, rows, Y, sums, _WIDTH_ROWS) for kernel in kernels]
    place = min(range(len(tried)), key=lambda k: tried[k][1])
    if len(Y) == _WIDTH_ROWS < most:
        tried[place] = left_out_ridge(kernels[place], X, targets, weights, most)
        while place + 1 < len(kernels):
            tried[place + 1] = left_out_ridge(kernels[place + 1], X, targets, weights, most)
            if tried[place + 1][1] >= tried[place][1]:
                break
            place += 1
    return KernelMap(kernel=kernels[place]), tried[place][0]


def choose_stages(inputs: Any, X: Any, targets: Array, weights: Array | None) -> tuple[Any, Ridge]:
    """Return phi, chosen where it is None, and ridge regression with one weight for all outputs.

    The weight is that of the whole kernel, also where landmarks stand for it.
    """
    most = int(np.clip(_WEIGHT_NUMBERS // max(targets.shape[1], 1), _WIDTH_ROWS, WEIGHT_ROWS))
    if inputs is None:
        inputs, alpha = choose_kernel(X, targets, weights, most)
        return inputs, Ridge(alpha)
    if type(inputs) is KernelMap and inputs.n_components is None:
        kernel = inputs._resolve(X, weights)
        return inputs, Ridge(left_out_ridge(kernel, X, targets, weights, most, inputs.n_jobs)[0])
    # Copies are merged before they differ by the rounding of their coordinates.
    some = distinct(X, targets, weights, most)
    rows = take(X, some.places)
    rows = rows[:, some.places] if get_tags(inputs).input_tags.pairwise else rows
    Phi = np.asarray(embed_inputs(clone(inputs), Ridge(), rows, some.weights)[1])
    return inputs, Ridge(left_out_ridge(Linear(), Phi, some.means(targets), some.weights, most)[0])
