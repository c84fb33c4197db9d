"""Kernel principal components, and the map whose inner products are the kernel."""

from __future__ import annotations

from copy import copy
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from isthmus._saved import saved
from isthmus._validation import check_array, check_option, finite_answer
from isthmus.features.axes import KernelAxes, MapOptions
from isthmus.features.cost import can_decompose, count_landmarks
from isthmus.features.exact import fit_exact
from isthmus.features.landmarks import Landmarks
from isthmus.features.low_rank import fit_fourier, fit_landmarks, landmark_features
from isthmus.features.map_expansions import MapExpansions
from isthmus.features.samples import (
    KernelFeatures,
    check_component_number,
    check_samples,
    weighted_samples,
)
from isthmus.features.streamed import StreamedMap, fit_map
from isthmus.kernels import (
    check_precomputed,
    gram_blocks,
    gram_diagonal,
    is_precomputed,
    length,
    resolve_kernel,
)
from isthmus.problems import Rows
from isthmus.problems.streams import FittedToBlocks, as_rows, maps_blocks

SOLVERS = {"exact": fit_exact, "landmarks": fit_landmarks, "fourier": fit_fourier}
_OF_ONE_SOLVER = (
    "features_ feature_means_ components_ points_ dual_coef_ row_means_ mean_coef_ preimage_ offset_ "
    "trace_error_ compression_"
).split()


def _has_preimage(self: Any) -> bool:
    if self.preimage is None:
        raise AttributeError(
            "preimage == None: KernelMap(..., preimage='auto') or a pre-image object brings "
            "coordinates back to samples."
        )
    return True


@saved(
    points_="n .", dual_coef_="n r", eigenvalues_="r", row_means_="n", mean_coef_="n", offset_="r"
)
class KernelMap(FittedToBlocks, MapExpansions, KernelFeatures):
    r"""Map samples to the feature space of a kernel: kernel principal components.

    With the centred Gram matrix :math:`K_c = U \Lambda U^\top` the axes are
    :math:`v_j = \sum_i A_{ij} (\phi(x_i) - \bar\phi)`, :math:`A = U \Lambda^{-1/2}`, the coordinates of
    training samples :math:`U \Lambda^{1/2}` and those of new ones :math:`K_{t,c} A` [SSM1998]_.

    ``center=False`` gives the map whose inner products are the kernel: at full rank
    ``transform(x) @ transform(x_i) = k(x, x_i)`` for every ``x``. Placed before a linear method it makes
    it a kernel method.

    Coordinates have the standard deviations of their axes, which fall to 1e-5 of the largest by default
    (``tol``). A method that divides its columns by their deviations gives all of them the same weight and
    amplifies rounding to about 1e-6: use ``PLS(scale=False)`` in a pipeline, or
    :class:`DependencyRegressor`, which does so by itself.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of coordinates; a fraction in (0, 1] of the trace; None: all of the rank.
    kernel : kernel object, str or callable, default="rbf"
        A kernel of :mod:`isthmus.kernels` or of scikit-learn's Gaussian processes, a metric name,
        a function of two samples, ``"precomputed"``. Kernels of objects take lists of objects. The
        parameters of a kernel object can be searched as ``kernel__degree`` and the like.
    center : bool, default=True
        Whether the mean of the training samples is the origin.
    solver : {"auto", "exact", "landmarks", "fourier"}, default="auto"
        ``"auto"`` is ``"exact"`` up to 3000 rows, if memory allows, and ``"landmarks"`` beyond.
    preimage : None, "auto", str or pre-image object, default=None
        Method that ``inverse_transform`` uses; see :func:`isthmus.preimages.make_preimage`.
    tol : float, default=1e-10
        Eigenvalues at or below this fraction of the largest are zero (at least 1e-6 in float32).
    gamma : float or None, default=None
        Inverse width of a kernel given by name; None is the median rule.
    n_landmarks : int, float or "auto", default="auto"
        Number of landmarks or random Fourier features. ``"auto"``: 2250 where ``solver="auto"`` turns to
        landmarks, fewer (with a warning) if memory is short; 500 if the solver is given, and of ``Rows``.
        Before the ridge map of a ``DependencyRegressor``: as many as leave a tenth of its weight of the
        trace, at most 3400 at 9000 rows and never more than 2250 beyond 20 000.
        A fraction in (0, 1): as few landmarks as explain this share of the trace, at most 3000.
    selection : {"auto", "uniform", "kmeans", "cholesky", "leverage"}, default="auto"
        Choice of the landmarks; see :class:`Landmarks`.
    indefinite : {"raise", "clip"}, default="raise"
        What to do with a kernel whose smallest eigenvalue is below -0.05 of the largest: raise an
        error, or set its negative eigenvalues to zero and warn.
    random_state : int, RandomState or None, default=None
        Seed for landmarks, Fourier features and the rows that the median rule uses.
    n_jobs : int or None, default=None
        Number of threads for the Gram matrix.

    Attributes
    ----------
    kernel_ : kernel object
        The kernel with every number set.
    points_ : array or list
        Training samples or landmarks; column numbers for a precomputed kernel.
    eigenvalues_ : ndarray of shape (n_components_,)
        Eigenvalues of the centred Gram matrix, largest first.
    dual_coef_ : ndarray of shape (n_points, n_components_)
        ``A``; for landmarks the axes' own coefficients.
    row_means_ : ndarray of shape (n_points,)
        Mean over the training samples of the kernel with each point; zeros without centring.
    mean_ : float
        Squared length of the training mean.
    mean_coef_ : ndarray of shape (n_points,)
        Coefficients of the training mean; zeros without centring.
    residual_ : ndarray of shape (n_samples,)
        Squared distance of each training sample from the span of the axes; not after ``Rows``.
    trace_error_ : float
        Share of the trace of held-out samples that is not in the span of the landmarks; if their number
        followed from it.
    solver_ : str
        The solver that was used: ``"exact"``, ``"landmarks"`` or ``"fourier"``.
    n_components_ : int
        The number of coordinates.
    offset_ : ndarray of shape (n_components_,)
        Constant terms of the coordinates in addition to centring; only in compressed maps.
    preimage_ : pre-image object
        The fitted pre-image method, if ``preimage`` is given.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus import KernelMap
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 2.0]])
    >>> KernelMap(gamma=0.5).fit(X).eigenvalues_.round(8)
    array([1.18405044, 0.63212056, 0.3021158 ])
    """

    def __init__(
        self,
        n_components: int | float | None = None,
        kernel: Any = "rbf",
        *,
        center: bool = True,
        solver: str = "auto",
        preimage: Any = None,
        tol: float = 1e-10,
        gamma: float | None = None,
        n_landmarks: int | float | str = "auto",
        selection: str = "auto",
        indefinite: str = "raise",
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.center = center
        self.solver = solver
        self.preimage = preimage
        self.tol = tol
        self.gamma = gamma
        self.n_landmarks = n_landmarks
        self.selection = selection
        self.indefinite = indefinite
        self.random_state = random_state
        self.n_jobs = n_jobs

    # -- fit ------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KernelMap:
        """Find the axes of ``X``: samples, a square matrix of kernel values, or ``Rows``.

        Rows of a sparse matrix stay sparse. A sample of weight w counts as w equal ones, in the mean,
        the axes, the eigenvalues and the median rule; one of weight zero is left out.
        """
        self._fit(X, sample_weight=sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray:
        """Fit and return the coordinates of the training samples."""
        scores = self._fit(X, sample_weight=sample_weight)
        is_whole = sample_weight is None or len(scores) == length(X)
        return scores if is_whole else self.transform(X)

    def _fit(self, X: Any, ridge: float | None = None, sample_weight: Any = None) -> Any:
        """Fit and return the coordinates of the samples that count.

        ``ridge`` is the weight of a ridge regression on them.
        """
        if (source := as_rows(X, None, sample_weight)) is not None:
            self._fit_source(source)
            return self.transform(X)
        self._check_options()
        X = check_samples(self, X, self.kernel, reset=True)
        X, weights = weighted_samples(self.kernel, X, sample_weight)
        n = length(X)
        if self.center and n < 2:
            raise ValueError(
                "n_samples=1 (1 sample): a centred map needs at least 2; center=False takes one."
            )
        self.kernel_ = self._resolve(X, weights)
        X = check_precomputed(X, copy=False) if is_precomputed(self.kernel_) else X
        self.solver_ = self.solver
        if self.solver == "auto":
            self.solver_ = "exact" if can_decompose(n) else "landmarks"
        self._forget_axes()
        self._is_weighted = weights is not None
        axes: KernelAxes = SOLVERS[self.solver_](self.kernel_, X, self._options(n, ridge, weights))
        for name, value in axes.attributes().items():
            setattr(self, name, value)
        self.n_components_ = len(axes.eigenvalues)
        if self.preimage is not None:
            self._fit_preimage(X, axes.scores, weights)
        return axes.scores

    def _fit_ridge_landmarks(
        self, X: Any, ridge: float | None, weights: NDArray | None
    ) -> tuple[Landmarks, NDArray] | None:
        """Return landmarks and features for a ridge regression, which needs no axes; None if it gets these.

        The regression on features and on all of their principal components is the same.
        """
        is_free = self.solver == "auto" and self.n_landmarks == "auto"
        is_whole = self.n_components is None and self.center
        n = length(X)
        if ridge is None or not (is_free and is_whole) or can_decompose(n):
            return None
        self._check_options()
        kernel = self._resolve(X, weights)
        X = check_precomputed(X, copy=False) if is_precomputed(kernel) else X
        lengths = gram_diagonal(kernel, X).astype(np.float64)
        return landmark_features(kernel, X, lengths, self._options(n, ridge, weights))

    def _forget_axes(self) -> None:
        for name in _OF_ONE_SOLVER:
            self.__dict__.pop(name, None)  # set by an earlier fit with another solver

    def _options(
        self, n: int | None = None, ridge: float | None = None, weights: NDArray | None = None
    ) -> MapOptions:
        is_free = self.solver == "auto" and self.n_landmarks == "auto"
        number = count_landmarks(self.n_landmarks, n if self.solver == "auto" else None)
        return MapOptions(self, number, ridge if is_free else None, weights)

    def _check_options(self) -> None:
        check_component_number(self.n_components, type(self).__name__)
        check_option("solver", self.solver, ("auto", *SOLVERS))
        check_option("indefinite", self.indefinite, ("raise", "clip"))
        if not isinstance(self.tol, Real) or not 0 <= self.tol < 1:
            raise ValueError(f"tol == {self.tol!r}, must be >= 0 and < 1.")
        if self.preimage is not None and is_precomputed(self.kernel):
            raise ValueError(
                "preimage needs the samples themselves, which a precomputed kernel does not have: "
                "give a kernel object, or preimage=None."
            )

    def _resolve(self, X: Any, weights: NDArray | None = None) -> Any:
        return resolve_kernel(
            self.kernel,
            X,
            gamma=self.gamma,
            random_state=self.random_state,
            sample_weight=weights,
        )

    def _fit_source(self, source: Rows) -> StreamedMap:
        self._check_options()
        found = fit_map(self, source)
        self._forget_axes()
        for name, value in found.attributes.items():
            setattr(self, name, value)
        self._name_columns(source, found.n_features)
        return found

    def _fit_preimage(self, X: Any, scores: NDArray, weights: NDArray | None) -> None:
        from isthmus.preimages import Learned, make_preimage

        # A copy that shares all arrays: model files cannot hold a map that holds itself.
        embedding = copy(self)
        embedding.preimage = None
        method = make_preimage(self.preimage, self.kernel_, X)
        options = {"sample_weight": weights} if isinstance(method, Learned) else {}
        self.preimage_ = method.fit(X, scores, embedding=embedding, **options)

    # -- new samples ----------------------------------------------------------------------------

    @maps_blocks
    def transform(self, X: Any) -> NDArray:
        """Return the coordinates of ``X`` (n_samples, n_components_), in blocks of bounded memory."""
        check_is_fitted(self)
        X = check_samples(self, X, self.kernel_, reset=False)
        if self.solver_ == "fourier":
            return self._centred_features(X) @ self.components_
        coef = self._coef()
        is_single = getattr(X, "dtype", None) == np.float32
        dtype = getattr(self, "offset_", coef).dtype if is_single else np.float64
        Z = np.empty((length(X), self.n_components_), dtype=dtype)
        for rows, K in gram_blocks(self.kernel_, X, self.points_, n_jobs=self.n_jobs):
            # Coefficients of centred axes sum to zero: taking the means away first saves digits.
            Z[rows] = (K - self.row_means_ if self.center else K) @ coef
        if hasattr(self, "offset_"):
            Z += self.offset_.astype(Z.dtype)
        return finite_answer(self, Z)

    def residual(self, X: Any) -> NDArray:
        """Return the squared distance of new samples from the span of the axes (n_samples,)."""
        Z = self.transform(X)
        X = check_samples(self, X, self.kernel_, reset=False)
        if self.solver_ == "fourier":
            lengths = (self._centred_features(X) ** 2).sum(axis=1)
        else:
            lengths = gram_diagonal(self.kernel_, X).astype(np.float64)
            if self.center:
                mean_coef = self._mean_coef("residual")
                for rows, K in gram_blocks(self.kernel_, X, self.points_, n_jobs=self.n_jobs):
                    lengths[rows] += self.mean_ - 2.0 * (K @ mean_coef)
        return np.maximum(lengths - (Z.astype(np.float64) ** 2).sum(axis=1), 0.0)

    @available_if(_has_preimage)
    def inverse_transform(self, Z: Any, *, return_loss: bool = False, **options: Any) -> Any:
        """Return samples whose images are near the points with coordinates ``Z``, and their losses."""
        check_is_fitted(self)
        Z = check_array(Z, dtype=[np.float64, np.float32])
        self._check_width(Z)
        return self.preimage_.inverse(Z, return_loss=return_loss, **options)

    def _centred_features(self, X: Any) -> NDArray:
        F = self.features_.transform(X)
        return F - self.feature_means_ if self.center else F
