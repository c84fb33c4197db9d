"""Choice of landmarks: drawn at random, averaged, or picked one by one."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack, solve_triangular
from scipy.sparse import issparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from isthmus._linalg import Array
from isthmus._validation import check_memory, check_option
from isthmus.kernels.distinct import distinct_samples
from isthmus.kernels.gram_matrix import gram, gram_diagonal, length, take
from isthmus.kernels.samples import needs_vectors
from isthmus.kernels.wrappers import Precomputed

# Share of a kernel value: a smaller pivot is rounding, and its column noise.
PIVOT_TOL = 1e-10
METHODS = ("uniform", "kmeans", "cholesky", "leverage")
_COLUMNS = 64  # of a kernel of objects that are computed in one call
# Centres are means of many rows: this many a centre are enough, whatever the number of rows.
_ROWS_PER_CENTRE = 50


def select_landmarks(
    kernel: Any,
    X: Any,
    n: int,
    selection: str = "uniform",
    random_state: Any = None,
    sample_weight: Array | None = None,
) -> NDArray:
    """Choose ``n`` samples that represent all.

    Parameters
    ----------
    kernel : kernel object
        As ``isthmus.kernels.resolve.resolve_kernel`` returns it.
    X : array or list of objects
        Training samples; for a precomputed kernel the square matrix.
    n : int
        How many; no more than there are samples.
    selection : {"uniform", "kmeans", "cholesky", "leverage"}
        Drawn at random; centres of k-means (vectors only); pivots of a Cholesky factorisation
        (each the sample least explained by those before); drawn by ridge leverage scores.
    random_state : int, RandomState or None
        Seed of what is drawn.
    sample_weight : array of shape (n_samples,), default=None
        Positive weights: samples are drawn in proportion, and means of k-means count by them. Pivots of a
        Cholesky factorisation depend neither on them nor on repeated samples.

    Returns
    -------
    ndarray
        Indices of samples (whole numbers, 1-D); with ``"kmeans"`` the points themselves (2-D).
    """
    check_option("selection", selection, METHODS)
    n_samples = length(X)
    if not 1 <= n <= n_samples:
        raise ValueError(f"n == {n}, must be >= 1 and <= n_samples = {n_samples}.")
    rng = check_random_state(random_state)
    if selection == "kmeans":
        return _centres(kernel, X, n, rng, sample_weight)
    if selection == "cholesky":
        return pivoted_cholesky(kernel, X, n)[1]
    if selection == "leverage":
        return _by_leverage(kernel, X, n, rng, sample_weight)
    shares = None if sample_weight is None else sample_weight / sample_weight.sum()
    return np.sort(rng.choice(n_samples, n, replace=False, p=shares))


def kernel_columns(kernel: Any, X: Any, indices: Any, **options: Any) -> NDArray:
    """Columns of the Gram matrix of ``X``, precomputed or not."""
    indices = np.asarray(indices)
    Y = indices if isinstance(kernel, Precomputed) else take(X, indices)
    return gram(kernel, X, Y, **options)


def pivoted_cholesky(
    kernel: Any, X: Any, max_rank: int | None = None, tol: float = PIVOT_TOL
) -> tuple[NDArray, NDArray]:
    """Partial Cholesky factor ``L`` (n, m) with ``L L'`` close to the Gram matrix, and its pivots.

    Column j is ``(K[:, i] - L[:, :j] L[i, :j]') / sqrt(d_i)`` with the pivot ``i = argmax d`` of the
    diagonal that is left. Only m columns of the Gram matrix are computed. It ends at ``max_rank``
    columns or when no diagonal is left above ``tol`` times the largest kernel value.
    """
    n = length(X)
    max_rank = n if max_rank is None else min(max_rank, n)
    d = gram_diagonal(kernel, X).astype(np.float64)
    floor = tol * max(float(d.max(initial=0)), 0.0)
    # Columns are written one by one.
    L = np.empty((n, max_rank), order="F")
    pivots = np.empty(max_rank, dtype=np.intp)
    # Kernels of objects take as long for one column as for many: the likely next ones come along.
    at_once = 1 if needs_vectors(kernel) else _COLUMNS
    known: dict[int, NDArray] = {}
    for j in range(max_rank):
        i = int(d.argmax())
        if not d[i] > floor:
            return L[:, :j], pivots[:j]
        if i not in known:
            some = np.argsort(-d, kind="stable")[:at_once] if at_once > 1 else np.array([i])
            known = dict(zip(some.tolist(), kernel_columns(kernel, X, some).T))
        column = known[i] - L[:, :j] @ L[i, :j]
        column[pivots[:j]] = 0.0  # what is explained is explained: no rounding left over
        column /= np.sqrt(d[i])
        column[i] = np.sqrt(d[i])
        L[:, j], pivots[j] = column, i
        d -= column**2
        d[i] = 0.0
    return L, pivots


_INDEPENDENT = 1e-6  # of a landmark's kernel value: with as much of its own it needs no pivoting
_NO_RISE = 1.01  # of one pivot over the one before, which rounding may cause


def pivot_tol(K: NDArray) -> float:
    """Return the share of a kernel value below which a pivot is rounding."""
    # float32 values carry seven digits, so pivots below the sixth are rounding.
    return PIVOT_TOL if K.dtype == np.float64 else 1e-6


def landmark_factor(Kzz: NDArray, tol: float = PIVOT_TOL) -> tuple[NDArray, NDArray]:
    """Lower factor ``Kzz[keep][:, keep] = L L'`` and the landmarks that are kept.

    After scaling to unit diagonal; in the given order where all pivots are large, or above ``tol`` and
    already sorted. Otherwise with pivoting, which takes about six times as long: landmarks whose pivot
    is below ``tol`` of their own kernel value depend on the others and are dropped.
    """
    Kzz = np.asarray(Kzz, dtype=np.float64)
    d = Kzz.diagonal()
    alive = np.flatnonzero(d > tol * d.max(initial=0))
    scale = np.sqrt(d[alive])
    correlations = Kzz if len(alive) == len(Kzz) else Kzz[np.ix_(alive, alive)]
    # Relative to each landmark: kernels that are not normalised have values of all sizes.
    correlations = correlations / scale[:, None] / scale
    factor, failed = lapack.dpotrf(correlations, lower=1)  # the half above is zeroed
    pivots = factor.diagonal() ** 2
    if not failed and (pivots > _INDEPENDENT).all():
        return factor * scale[:, None], alive
    if not failed and (pivots > tol).all() and (pivots[1:] <= _NO_RISE * pivots[:-1]).all():
        return factor * scale[:, None], alive
    factor, order, rank, _ = lapack.dpstrf(correlations, tol=tol, lower=1)
    order = order[:rank] - 1
    return np.tril(factor[:rank, :rank]) * scale[order, None], alive[order]


def _centres(
    kernel: Any, X: Any, n: int, rng: np.random.RandomState, weights: Array | None
) -> NDArray:
    vectors = issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2)
    if not vectors or isinstance(kernel, Precomputed):
        raise ValueError(
            "selection == 'kmeans' needs vectors; use 'cholesky', 'uniform' or 'leverage'."
        )
    what = f"{n} centres of k-means, which are dense"
    check_memory(8.0 * n * X.shape[1], what, "selection='uniform' keeps sparse rows sparse.")
    n_samples, enough = X.shape[0], _ROWS_PER_CENTRE * n
    rows = X
    if n_samples > enough:
        some = rng.choice(n_samples, enough, replace=False)
        rows = X[some]
        weights = None if weights is None else weights[some]
    seed = int(rng.randint(np.iinfo(np.int32).max))
    with warnings.catch_warnings():  # fewer distinct rows than centres: seen to below
        warnings.simplefilter("ignore", ConvergenceWarning)
        # Landmarks need not be optimal centres: one start of 20 steps.
        means = KMeans(n, n_init=1, max_iter=20, random_state=seed)
        means.fit(rows, sample_weight=weights)
    centres = means.cluster_centers_
    if len(np.unique(means.labels_)) < n and not issparse(rows):
        distinct = np.unique(rows, axis=0)  # of which the means are copies that differ by rounding
        centres = distinct if len(distinct) <= n else centres
    return np.asarray(centres[distinct_samples(centres, None)[0]].astype(X.dtype))


def _by_leverage(
    kernel: Any, X: Any, n: int, rng: np.random.RandomState, weights: Array | None
) -> NDArray:
    scores = leverage_scores(kernel, X, n, random_state=rng, sample_weight=weights)
    scores = scores if weights is None else scores * weights
    return np.sort(rng.choice(len(scores), n, replace=False, p=scores / scores.sum()))


def leverage_scores(
    kernel: Any, X: Any, n: int, *, random_state: Any = None, sample_weight: Array | None = None
) -> NDArray:
    """Ridge leverage scores, the diagonal of ``K (K + alpha I)^-1``, ``alpha = trace(K) / n``.

    From ``2 n`` uniform landmarks; what these do not explain of a sample counts as its own
    direction: an upper bound. A sample of weight two counts as two in the others' scores.
    """
    rng = check_random_state(random_state)
    n_samples = length(X)
    w = np.ones(n_samples) if sample_weight is None else sample_weight
    chosen = np.sort(rng.choice(n_samples, min(2 * n, n_samples), replace=False))
    K = kernel_columns(kernel, X, chosen)
    L, keep = landmark_factor(K[chosen])
    F = solve_triangular(L, K[:, keep].T, lower=True)  # (m, n)
    d = gram_diagonal(kernel, X).astype(np.float64)
    alpha = max(float(w @ d) / n, np.finfo(float).tiny)
    root = np.linalg.cholesky((F * w) @ F.T + alpha * np.eye(len(F)))
    explained = (solve_triangular(root, F, lower=True) ** 2).sum(axis=0)
    left = np.maximum(d - (F**2).sum(axis=0), 0.0) / alpha
    # No probability is zero, or n different samples could not always be drawn.
    return np.clip(explained + left, 1e-12, 1.0)
