"""Landmark features: coordinates in the span of a few samples, for any kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from sklearn.utils.validation import check_is_fitted

from isthmus._linalg import largest_eigenvalue, smallest_ritz_value
from isthmus._validation import check_memory, check_option, check_rank, warn
from isthmus.features.cost import FACTOR_OPERATIONS, is_share, most_landmarks
from isthmus.features.landmark_number import choose_landmarks
from isthmus.features.samples import (
    KernelFeatures,
    check_no_kernel,
    check_samples,
    weighted_samples,
)
from isthmus.features.sampling import draw_sample
from isthmus.kernels import (
    CHEAP_ORDER,
    METHODS,
    ROUGH,
    Precomputed,
    check_precomputed,
    check_psd,
    distinct_samples,
    extreme_eigenvalues,
    gram,
    gram_blocks,
    gram_diagonal,
    is_precomputed,
    is_psd,
    landmark_factor,
    length,
    owned,
    pivot_tol,
    resolve_kernel,
    select_landmarks,
    take,
    takes_vectors,
)
from isthmus.problems import Rows
from isthmus.problems.streams import FittedToBlocks, as_rows, maps_blocks

# Larger buffers exceed malloc's mmap threshold and page-fault on every block.
LANDMARK_BYTES = 2**22


class Landmarks(FittedToBlocks, KernelFeatures):
    r"""Map samples to the span of landmarks, :math:`\phi_m(x) = L^{-1} k(Z, x)`, :math:`K_{ZZ} = LL^\top`.

    Inner products of the features approximate the kernel, :math:`FF^\top = K_{XZ} K_{ZZ}^{-1} K_{ZX}`
    [WS2001]_, and are the kernel itself if one of two samples is a landmark. Any kernel can be used,
    of objects and precomputed ones too; cost and memory are linear in the number of samples.

    Parameters
    ----------
    n_components : int or float, default=100
        Number of landmarks; those that depend on the others are dropped. A fraction in (0, 1): as few as
        explain this share of the trace of the kernel on held-out samples, at most 9000 or what memory
        allows; 0.99 leaves a relative trace error of 0.01.
    kernel : kernel object, str or callable, default="rbf"
        As in :class:`KernelMap`.
    selection : {"auto", "uniform", "kmeans", "cholesky", "leverage"}, default="auto"
        Choice of the landmarks. ``"auto"``: uniform for vectors and precomputed kernels, pivoted
        Cholesky for other objects. ``"kmeans"`` is worth its cost if kernel values are expensive.
    indefinite : {"raise", "clip"}, default="raise"
        What to do if the kernel has negative eigenvalues below -0.05 of the largest; smaller ones
        give a warning. Landmarks whose pivot is below the negative part are dropped in either case.
    gamma : float or None, default=None
        Inverse width of a kernel given by name; None is the median rule.
    random_state : int, RandomState or None, default=None
        Seed for the selection and the rows that the median rule uses.
    n_jobs : int or None, default=None
        Number of threads for the Gram matrix.

    Attributes
    ----------
    kernel_ : kernel object
        The kernel with every number set.
    points_ : array or list
        The landmarks; column numbers for a precomputed kernel.
    factor_ : ndarray of shape (m, m)
        The lower triangular ``L``.
    indices_ : ndarray of shape (m,) or None
        Indices of the landmarks among the training samples; None for centres of k-means.
    n_components_ : int
        The number of landmarks that were kept.
    trace_error_ : float
        Share of the trace that is not explained on held-out samples; only if ``n_components`` is a
        fraction. ``residual`` gives the same for any samples.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus import Landmarks
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> features = Landmarks(20, random_state=0).fit_transform(X)
    >>> features.shape
    (50, 20)
    """

    def __init__(
        self,
        n_components: int | float = 100,
        kernel: Any = "rbf",
        *,
        selection: str = "auto",
        indefinite: str = "raise",
        gamma: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.selection = selection
        self.indefinite = indefinite
        self.gamma = gamma
        self.random_state = random_state
        self.n_jobs = n_jobs

    indices_: NDArray | None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Landmarks:
        """Choose the landmarks among ``X``: rows, objects, a square matrix of kernel values, or ``Rows``.

        Those of ``Rows`` are chosen from a uniform sample of them, drawn in one pass. Sparse rows stay
        sparse. Samples are drawn in proportion to ``sample_weight``, and centres of k-means, the median
        rule and the error of a fraction count them by it. Equal rows or strings are drawn as one, with
        their weights together, and their order does not matter.
        """
        source = as_rows(X, None, sample_weight)
        if source is not None:
            return self._fit_source(source)
        self._fit(X, sample_weight=sample_weight)
        if sample_weight is not None and self.indices_ is not None:  # among all rows again
            counted = np.flatnonzero(np.asarray(sample_weight))
            self.indices_ = counted[self.indices_] if len(counted) > 1 else self.indices_
        return self

    def _fit_source(self, source: Rows) -> Landmarks:
        """Choose among a sample of the rows of a source."""
        X, _, places = draw_sample(source, self.n_components, self.random_state)
        most = None
        if is_share(self.n_components):
            most = most_landmarks(1, FACTOR_OPERATIONS, source.memory)
        self._fit(X, most)
        if self.indices_ is not None:
            self.indices_ = places[self.indices_]
        self._name_columns(source, X.shape[1])
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit and return the features of the training samples."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def _fit(
        self, X: Any, most: int | None = None, *, tell: bool = True, sample_weight: Any = None
    ) -> Landmarks:
        """Fit to samples; a fraction takes no more than ``most`` landmarks, told if these are too few."""
        X, points = self._choose(X, most, tell, sample_weight)
        is_matrix = is_precomputed(self.kernel_)
        K = X[np.ix_(points, points)] if is_matrix else gram(self.kernel_, points)
        self._keep(points, K)
        return self

    def _choose(
        self, X: Any, most: int | None, tell: bool, sample_weight: Any = None
    ) -> tuple[Any, Any]:
        """Return the samples that count and the landmarks, as column numbers for a precomputed kernel."""
        check_option("selection", self.selection, ("auto", *METHODS))
        check_option("indefinite", self.indefinite, ("raise", "clip"))
        check_no_kernel(self.n_components, type(self).__name__)
        share = self.n_components if is_share(self.n_components) else None
        m = 1 if share else check_rank(self.n_components, minimum=1, allowed="a fraction in (0, 1)")
        if m is None:
            raise ValueError("n_components == None, must be an integer >= 1.")
        self.__dict__.pop("trace_error_", None)
        X = check_samples(self, X, self.kernel, reset=True)
        X, weights = weighted_samples(self.kernel, X, sample_weight)
        n = length(X)
        distinct = np.arange(n)
        counts = np.ones(n) if weights is None else weights
        among = X
        if not is_precomputed(self.kernel):
            distinct, counts = distinct_samples(X, weights)
            among = take(X, distinct)
        self.kernel_ = resolve_kernel(
            self.kernel,
            X,
            gamma=self.gamma,
            random_state=self.random_state,
            sample_weight=weights,
        )
        if is_precomputed(self.kernel_):
            X = check_precomputed(X, copy=False)
            if m < n:  # among all samples, not only among landmarks
                self._check_all(X)
        if share is not None:
            most = most_landmarks(n, FACTOR_OPERATIONS) if most is None else most
            chosen, self.trace_error_ = choose_landmarks(
                self.kernel_,
                among,
                share,
                self._selection(X),
                most,
                self.random_state,
                tell=tell,
                sample_weight=counts,
            )
        else:
            if m > n:
                warn(
                    f"n_components == {m} landmarks are more than the {n} samples: all are taken.",
                )
            m = min(m, len(distinct))
            selection = self._selection(X)
            chosen = select_landmarks(self.kernel_, among, m, selection, self.random_state, counts)
        chosen = distinct[chosen] if chosen.ndim == 1 else chosen
        self.indices_ = chosen if chosen.ndim == 1 else None
        by_place = self.indices_ is not None and not is_precomputed(self.kernel_)
        return X, take(X, chosen) if by_place else chosen

    def _keep(self, points: Any, K: NDArray) -> NDArray:
        """Factorise the kernel matrix of the landmarks; return those that do not depend on others."""
        if not np.isfinite(K).all():
            raise ValueError(f"{self.kernel_!r} gives NaN or infinity between landmarks.")
        tol = pivot_tol(K)
        if not is_psd(self.kernel_):
            tol = max(tol, self._negative_share(K))
        self.factor_, keep = landmark_factor(K, tol)
        if len(keep) == 0:
            raise ValueError(f"{self.kernel_!r} is zero for every landmark.")
        self.points_ = owned(take(points, keep))
        self.indices_ = None if self.indices_ is None else self.indices_[keep]
        self.n_components_ = len(keep)
        return keep

    def _negative_share(self, K: NDArray) -> float:
        """Return the pivot tolerance implied by the most negative eigenvalue."""
        smallest, largest = extreme_eigenvalues(K, K.dtype)
        check_psd(smallest, largest, K.dtype, clip=self.indefinite == "clip")
        return min(max(-smallest, 0.0) / max(float(K.diagonal().max()), np.finfo(float).tiny), 0.5)

    def _check_all(self, K: NDArray) -> None:
        """Check a whole matrix, of which only a few matrix products can be afforded."""
        if len(K) <= CHEAP_ORDER:
            self._negative_share(K)
            return
        largest = largest_eigenvalue(K, ROUGH)
        check_psd(smallest_ritz_value(K), largest, K.dtype, clip=self.indefinite == "clip")

    def _selection(self, X: Any) -> str:
        if self.selection != "auto":
            return self.selection
        return "uniform" if takes_vectors(self.kernel_, X) else "cholesky"

    @maps_blocks
    def transform(self, X: Any) -> NDArray:
        """Return the features of ``X`` (n_samples, n_components_), in blocks of bounded memory."""
        check_is_fitted(self)
        X = check_samples(self, X, self.kernel_, reset=False)
        return self._features(X)

    def collapse(self, coef: NDArray) -> tuple[NDArray, NDArray]:
        """Return linear functions of the features as kernel coefficients and constants."""
        turned = solve_triangular(self.factor_, coef, lower=True, trans="T", check_finite=False)
        return np.asarray(turned), np.zeros(coef.shape[1])

    def residual(self, X: Any) -> NDArray:
        """Return the squared distance of new samples from the span of the landmarks (n_samples,).

        Its sum over that of the kernel values ``k(x, x)`` is the relative trace error.
        """
        F = self.transform(X)
        X = check_samples(self, X, self.kernel_, reset=False)
        lengths = gram_diagonal(self.kernel_, X).astype(np.float64)
        return np.maximum(lengths - np.einsum("ij,ij->i", F, F, dtype=np.float64), 0.0)

    def _features(self, X: Any) -> NDArray:
        n, m = length(X), self.n_components_
        dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
        n_bytes = float(n * m * np.dtype(dtype).itemsize)
        check_memory(n_bytes, f"{n} x {m} features", "a smaller n_components takes less.")
        F = np.empty((n, m), dtype=dtype)
        factor = np.asfortranarray(self.factor_, dtype=dtype)  # once, not for every block
        blocks = gram_blocks(
            self.kernel_, X, self.points_, block_bytes=LANDMARK_BYTES, n_jobs=self.n_jobs
        )
        owned = not isinstance(self.kernel_, Precomputed)  # else K may be the caller's matrix
        for rows, K in blocks:
            # K L^-T: from kernel values with landmarks to coordinates in their span.
            solved = solve_triangular(
                factor, K.T, lower=True, overwrite_b=owned, check_finite=False
            )
            F[rows] = solved.T
        return F
