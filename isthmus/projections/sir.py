"""Sliced inverse regression, linear and with a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus._linalg import Array, require_squares
from isthmus._validation import validate_data
from isthmus.kernels import Linear
from isthmus.projections.base import KernelProjection, OutputSide, Projection, seed_of
from isthmus.projections.couplings import SliceMeans
from isthmus.projections.eigen import Ridge
from isthmus.projections.held_out import VectorJudge
from isthmus.projections.rows import KernelSide, check_y, output_vectors
from isthmus.projections.slices import indicators, is_categorical, slice_labels, slicing

# Ridge of alpha="auto" without folds, as a share of the trace: few rows, or rows in blocks.
_NO_FOLDS = 1e-3


class _Sliced(Projection):
    """Base of projections that slice their outputs: ``G = C (C'C)^-1 C'``."""

    n_slices: int
    slices: str

    def _ridge_by_folds(self) -> bool:
        return isinstance(self.alpha, str)

    def _ridge(self, inputs: KernelSide, outputs: OutputSide, memory: float) -> Ridge:
        if isinstance(self.alpha, str):  # of blocks of rows, or of too few for folds
            return Ridge(_NO_FOLDS, True)
        return super()._ridge(inputs, outputs, memory)

    def _components(self, limit: int, outputs: OutputSide) -> Any:
        if self.n_components is None:
            return min(2, limit)
        return super()._components(limit, outputs)

    def _output_side(self, y: Any, inputs: KernelSide) -> OutputSide:
        y = check_y(y, inputs.n, type(self).__name__)
        self.slices_ = slicing(y, self.slices, self.n_slices)
        labels = slice_labels(
            y if is_categorical(y) else y.astype(np.float64),
            self.n_slices,
            self.slices_,
            seed_of(self.random_state),
            inputs.weights,
        )
        self.slice_labels_ = labels
        self.n_slices_ = J = int(labels.max()) + 1
        return OutputSide(
            SliceMeans(),
            VectorJudge(output_vectors(y), inputs.weights),
            T=indicators(labels),
            most=J - 1,
            reason=f"{J} slices have at most {J - 1} directions between their means. Use more slices "
            "(n_slices) or fewer components.",
        )


class SIR(_Sliced):
    r"""Find linear directions in which slice means of the inputs differ: sliced inverse regression.

    .. math::
        F^\top G F\, b = \lambda (F^\top F + \alpha I)\, b, \qquad G = C (C^\top C)^{-1} C^\top

    with centred inputs ``F`` and indicators ``C`` of slices of the outputs, [L1991]_ and [KP2008]_
    Sec. 2.1. Invariant under invertible affine maps of the inputs for ``alpha=0``, and
    :math:`0 \le \lambda \le 1`: the share of a coordinate's variance that lies between slices. Inputs that
    are more than the rows explain every slice: all eigenvalues are one, and the coordinates are those of
    ever smaller ridges.

    Parameters
    ----------
    n_components : int, float, "auto" or None, default=None
        Number of coordinates, at most the number of slices minus one; a fraction of the sum of the
        eigenvalues; "auto" chooses it by cross-validation. None: two, or one for two slices.
    alpha : float, "auto" or "cv", default=0.0
        Ridge weight on the scale of ``Ridge``; "auto" and "cv" as in :class:`KernelSIR`.
    n_slices : int, default=10
        Number of slices.
    slices : {"auto", "classes", "quantiles", "kmeans"}, default="auto"
        "auto": quantiles of a single output, or its values if it has at most ``n_slices`` of them;
        classes if outputs are names; k-means of several outputs, each divided by its standard deviation.
        Integers with more values than slices count as numbers, with a warning if they repeat: "classes"
        takes them as labels, whatever ``n_slices`` is, and "quantiles" as numbers without a warning.
    eigenproblem : {"generalised", "inverse"}, default="generalised"
        The problem above, or the eigenvectors of :math:`F^\top G F` times the inverse covariance as
        printed in [KP2008]_, which depends on the units of the inputs.
    score_scale : {"eigenvalue", "unit", "raw"}, default="eigenvalue"
        Training standard deviation of a coordinate: :math:`\sqrt\lambda`, one, or that of the
        eigenvectors.
    cv : int, list of splits or None, default=None
        Folds for ``held_out_score_`` and for choices by cross-validation: a number, to which rows are
        dealt by what they are, copies together; a list has a pair (train, test)
        of row numbers per fold, and every row in one of the test parts. None: no score, and 5 folds
        if ``n_components="auto"`` or ``alpha`` is "auto" or "cv".
    random_state : int, RandomState or None, default=None
        Seed for k-means and the folds.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Directions: ``(X - mean) @ components_.T`` are the coordinates.
    eigenvalues_ : ndarray of shape (n_components,)
        In descending order.
    held_out_score_ : float
        R2 of nearest-neighbour regression on the coordinates of held-out rows, averaged over
        outputs and folds; NaN without folds. With more than 20 000 rows, a sample of 20 000 is scored.
        Slices are those of all rows.
    held_out_scores_ : ndarray of shape (n_targets,) or None
        The same for each output. Choices by cross-validation weigh an output by the best score that
        any candidate reaches for it, so that outputs of pure noise have no weight.
    cv_results_ : dict
        ``alpha``, ``n_components``, ``mean_test_score``, ``output_test_scores`` of the candidates;
        only with folds.
    alpha_, solver_, n_components_, n_slices_, slice_labels_ :
        What was used.
    slices_ : {"classes", "quantiles", "kmeans"}
        How the outputs were sliced.

    Examples
    --------
    >>> from isthmus.datasets import make_curves
    >>> from isthmus.projections import SIR
    >>> X, y, plane = make_curves(300, random_state=0)
    >>> SIR(2).fit(X, y).transform(X).shape
    (300, 2)
    """

    kernel_ = Linear()

    def __init__(
        self,
        n_components: Any = None,
        *,
        alpha: Any = 0.0,
        n_slices: int = 10,
        slices: str = "auto",
        eigenproblem: str = "generalised",
        score_scale: str = "eigenvalue",
        cv: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.n_slices = n_slices
        self.slices = slices
        self.eigenproblem = eigenproblem
        self.score_scale = score_scale
        self.cv = cv
        self.random_state = random_state

    solver = "auto"
    n_landmarks = 10**9
    selection = "auto"

    def _input_side(self, X: Any, weights: Array | None = None) -> KernelSide:
        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
        require_squares("X", X)
        return KernelSide(X, Linear(), None, weights)

    def _finish(self, fit: Any, axes: Any, ridge: Any, inputs: KernelSide) -> None:
        super()._finish(fit, axes, ridge, inputs)
        if self.points_ is not None:  # more inputs than rows: back from the Gram matrix
            self.dual_coef_ = np.asarray(inputs.rows, dtype=np.float64).T @ self.dual_coef_
        self.points_ = None

    @property
    def components_(self) -> Array:
        """Directions, one per row."""
        return self.dual_coef_.T


class KernelSIR(_Sliced, KernelProjection):
    r"""Find nonlinear coordinates in which slice means differ: kernel sliced inverse regression.

    The problem of :class:`SIR` in the feature space of a kernel, [KP2008]_ Sec. 2.2 after [W2008]_:

    .. math::
        \operatorname{Cov}(E[\phi(x) \mid y])\, b = \lambda\, (\operatorname{Cov}(\phi(x)) + \alpha I)\, b

    with the means of the slices of y for the conditional mean. With few slices it costs one Cholesky
    factorisation of the Gram matrix; beyond 3000 rows landmarks are used.

    Parameters
    ----------
    n_components : int, float, "auto" or None, default=None
        Number of coordinates, at most the number of slices minus one; a fraction of the sum of the
        eigenvalues; "auto" chooses it by cross-validation. None: two, or one for two slices.
    kernel : kernel object, str, callable or "precomputed", default="rbf"
        Similarity of two inputs.
    alpha : float, "auto" or "cv", default="auto"
        Ridge weight, added to the centred Gram matrix. "cv": the best of twelve fractions of its trace,
        from 1e-6 to 0.3, by cross-validation; "auto": the same, and 1e-3 of the trace of fewer than ten
        rows, of ``Rows``, and where no fold can be scored. Without a ridge the training coordinates can
        follow any outputs.
    n_slices : int, default=10
        Number of slices.
    slices : {"auto", "classes", "quantiles", "kmeans"}, default="auto"
        As in :class:`SIR`.
    eigenproblem, score_scale, cv :
        As in :class:`SIR`.
    solver : {"auto", "dense", "factor", "krylov", "features"}, default="auto"
        "auto": dense up to 500 rows, one Cholesky factor up to 3000, landmark features beyond; a linear
        kernel with more rows than inputs needs no landmarks.
    n_landmarks : int, default=500
        Number of landmarks of ``solver="features"``.
    selection : {"auto", "uniform", "kmeans", "cholesky", "leverage"}, default="auto"
        Choice of the landmarks, as in :class:`~isthmus.features.Landmarks`.
    gamma : float or None, default=None
        Inverse width of a kernel given by name; None is the median rule.
    random_state : int, RandomState or None, default=None
        Seed for landmarks, k-means, the median rule and the folds.
    n_jobs : int or None, default=None
        Number of threads for Gram matrices.

    Attributes
    ----------
    eigenvalues_, held_out_score_, held_out_scores_, cv_results_ :
        As in :class:`SIR`.
    alpha_, solver_, n_components_, n_slices_, slice_labels_, slices_ :
        As in :class:`SIR`.
    points_, dual_coef_, offset_ :
        ``gram(kernel_, X, points_) @ dual_coef_ + offset_`` are the coordinates.
    kernel_ : kernel object
        The kernel with every number set.

    Examples
    --------
    >>> from isthmus.datasets import make_curves
    >>> from isthmus.projections import KernelSIR
    >>> X, y, plane = make_curves(300, random_state=0)
    >>> KernelSIR(alpha="cv").fit(X, y).transform(X).shape
    (300, 2)
    """

    def __init__(
        self,
        n_components: Any = None,
        kernel: Any = "rbf",
        *,
        alpha: Any = "auto",
        n_slices: int = 10,
        slices: str = "auto",
        eigenproblem: str = "generalised",
        score_scale: str = "eigenvalue",
        solver: str = "auto",
        n_landmarks: int = 500,
        selection: str = "auto",
        cv: int | None = None,
        gamma: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.alpha = alpha
        self.n_slices = n_slices
        self.slices = slices
        self.eigenproblem = eigenproblem
        self.score_scale = score_scale
        self.solver = solver
        self.n_landmarks = n_landmarks
        self.selection = selection
        self.cv = cv
        self.gamma = gamma
        self.random_state = random_state
        self.n_jobs = n_jobs
