"""What all supervised projections share: checks, choice of the form, scaling, judging, transforming."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils import check_random_state

from isthmus._linalg import Array
from isthmus._validation import (
    N_FOLDS,
    check_alpha,
    check_count,
    check_enough_samples,
    check_option,
    validate_data,
    warn,
)
from isthmus.features import accepts_sparse, check_no_kernel, rows_within
from isthmus.kernels import (
    METHODS,
    deal_by_content,
    is_precomputed,
    looks_like_vectors,
    needs_vectors,
    take,
)
from isthmus.problems.streams import FittedToBlocks, as_rows
from isthmus.projections.crossval import Coordinates, choose, leave_one_out_ridge, mean_score
from isthmus.projections.eigen import Axes, Ridge, rank_of
from isthmus.projections.features import FeatureProblem
from isthmus.projections.fitted import FittedProjection
from isthmus.projections.held_out import judged_rows
from isthmus.projections.problem import GramProblem, OutputSide
from isthmus.projections.rows import KernelSide, counted_rows
from isthmus.projections.streamed import prepare

_LEFT_OUT_ROWS = 1000  # rows that are left out singly, at most: half a second
EXACT_ROWS = 3000
"""Up to so many rows ``solver="auto"`` forms Gram matrices."""
SOLVERS = ("auto", "dense", "factor", "krylov", "features")
SCALES = ("eigenvalue", "unit", "raw")


class Projection(FittedToBlocks, FittedProjection):
    """Base of the supervised projections; subclasses say what ``G`` is."""

    n_components: Any
    alpha: Any
    eigenproblem: str
    score_scale: str
    solver: str
    n_landmarks: int
    selection: str
    cv: Any
    random_state: Any

    @abstractmethod
    def _input_side(self, X: Any, weights: Array | None = None) -> KernelSide:
        """Checked inputs with their kernel and weights."""

    @abstractmethod
    def _output_side(self, y: Any, inputs: KernelSide) -> OutputSide:
        """Checked outputs with their coupling."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Find the coordinates of ``X`` that predict ``y`` best.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), list of objects or (n_samples, n_samples)
            Inputs: rows of numbers (a sparse matrix stays sparse), objects for which ``kernel`` is made,
            or the kernel matrix. ``Rows`` hold both sides: landmarks and slices are those of a sample,
            moments those of all rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), list or matrix
            Outputs: numbers, names of classes, objects or a kernel matrix.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight w counts as w equal rows; one of weight zero is left out. In held-out scores
            a row and its copies are one neighbour, whose error and vote count by their weights.

        Returns
        -------
        self : object
            The fitted projection.
        """
        self._fit(X, y, sample_weight)
        return self

    # -- fitting ------------------------------------------------------------------------------

    def _fit(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[Any, KernelSide, OutputSide]:
        self._check_parameters()
        seed = seed_of(self.random_state)
        source = as_rows(X, y, sample_weight)
        problem: Any
        labels = None
        if source is not None:
            problem, inputs, outputs = prepare(self, source, seed)
        else:
            X, y, weights, folds = counted_rows(self, X, y, sample_weight)
            inputs = self._input_side(X, weights)
            check_enough_samples(inputs.n)
            outputs = self._output_side(y, inputs)
            labels = self._labels(folds, inputs, seed)
            problem = self._problem(inputs, outputs, seed, labels)
        limit = problem.most if outputs.most is None else min(problem.most, outputs.most)
        memory = np.inf if source is None else source.memory
        otherwise = None if self.alpha == "cv" else self._ridge(inputs, outputs, memory)
        ridge = None if self._ridge_by_folds() and labels is not None else otherwise
        r = self._components(limit, outputs)
        self.held_out_score_, self.held_out_scores_ = np.nan, None
        if labels is not None:
            sample = judged_rows(inputs.n, seed)
            judge = problem.judge(sample).merge_copies(take(inputs.rows, sample))
            coordinates = self._held_out(problem, inputs, outputs, labels, sample)
            found = choose(coordinates, judge, labels[sample], ridge, r, limit, otherwise)
            ridge, r, self.held_out_scores_ = found.ridge, found.r, found.scores
            self.held_out_score_ = float(mean_score(found.scores))
            self.cv_results_ = found.table
        assert ridge is not None  # one to be chosen always has folds
        fit = problem.fit()
        axes = fit.solve(ridge, r)
        self._check_rank(rank_of(axes.eigenvalues), r)
        if fit.rank == fit.n_rows - 1 and outputs.coupling.x_weight < 1.0:
            warn(
                f"alpha == 0 and the inputs have rank {fit.rank} on {fit.n:g} samples, the largest "
                "possible: the training coordinates fit any y, even noise. Give alpha > 0.",
            )
        self._finish(fit, axes, ridge, inputs)
        return fit, inputs, outputs

    def _held_out(
        self,
        problem: Any,
        inputs: KernelSide,
        outputs: OutputSide,
        labels: NDArray,
        sample: NDArray,
    ) -> Coordinates:
        """Coordinates of the judged rows, learned without the rows of a fold."""

        def coordinates(k: int, ridges: list[Ridge], r: Any) -> list[Array]:
            fit: Any
            if outputs.holes is None:
                fit = problem.without(k, shared=len(ridges) > 1)
                project: Any = partial(fit.project, rows=sample)
            else:
                train = np.flatnonzero(labels != k)
                fit, project = self._refit(inputs, outputs.holes, train, sample)
            found = (fit.solve(ridge, r) for ridge in ridges)
            return [project(axes.coef * self._scaling(fit, axes)) for axes in found]

        return coordinates

    def _refit(
        self, inputs: KernelSide, y: Array, train: NDArray, sample: NDArray
    ) -> tuple[Any, Any]:
        """A fit to training rows alone, if what is put into holes must not know the others.

        Returns the fit, and what turns coefficients into coordinates of the judged rows.
        """
        part = clone(self).set_params(cv=None)
        if inputs.precomputed:
            rows = inputs.rows[np.ix_(train, train)]
            new = inputs.rows[np.ix_(sample, train)]
        else:
            rows, new = take(inputs.rows, train), take(inputs.rows, sample)
            part.set_params(kernel=self.kernel_, gamma=None)  # as it was found
        weights = None if inputs.weights is None else inputs.weights[train]
        side = part._input_side(rows, weights)
        outputs = part._output_side(y[train], side)
        fit = part._problem(side, outputs, seed_of(self.random_state), None).fit()

        def project(coef: Array) -> Array:
            part.points_, part.dual_coef_, offset = fit.expand(coef, side)
            return part._expansion(new) + offset

        return fit, project

    def _check_parameters(self) -> None:
        check_no_kernel(self.n_components, type(self).__name__)
        check_option("eigenproblem", self.eigenproblem, ("generalised", "inverse"))
        check_option("score_scale", self.score_scale, SCALES)
        check_option("solver", self.solver, SOLVERS)
        check_option("selection", self.selection, ("auto", *METHODS))
        if isinstance(self.alpha, str) and self.alpha not in ("auto", "cv"):
            raise ValueError(f"alpha == {self.alpha!r}, must be a number >= 0, 'auto' or 'cv'.")

    def _ridge_by_folds(self) -> bool:
        """Whether the ridge weight is chosen in folds, where there are any."""
        return isinstance(self.alpha, str) and self.alpha == "cv"

    def _ridge(self, inputs: KernelSide, outputs: OutputSide, memory: float) -> Ridge:
        """The ridge weight; "auto" is the one of the least error of rows left out singly."""
        if isinstance(self.alpha, str):
            return leave_one_out_ridge(inputs, outputs, rows_within(memory, _LEFT_OUT_ROWS))
        return Ridge(check_alpha(self.alpha), False)

    def _labels(self, folds: Any, inputs: KernelSide, seed: int) -> NDArray | None:
        """The fold of each row, from their number or from the folds that were given; None without."""
        if isinstance(folds, np.ndarray):
            return folds
        chosen = self.alpha == "cv" or self.n_components == "auto"
        folds = N_FOLDS if folds is None and (chosen or self._ridge_by_folds()) else folds
        if folds is not None and inputs.n >= 2 * folds:
            return deal_by_content(inputs.rows, folds, 0 if self.random_state is None else seed)
        if chosen:
            raise ValueError(
                f"n_samples={inputs.n} is too few for cv={folds} folds of at least 2 rows each."
            )
        return None

    def _components(self, limit: int, outputs: OutputSide) -> int | float | str:
        """Checked ``n_components``: a number, a fraction of the eigenvalues, or "auto"."""
        value = self.n_components
        if value == "auto" and isinstance(value, str):
            return "auto"
        if isinstance(value, bool) or not isinstance(value, Real):
            raise ValueError(
                f"n_components == {value!r}, must be an integer >= 1, a fraction in (0, 1] or 'auto'."
            )
        if isinstance(value, Integral):
            value = int(value)
            if value < 1:
                raise ValueError(f"n_components == {value}, must be >= 1.")
            if outputs.most is not None and value > outputs.most:
                raise ValueError(
                    f"n_components == {value}, must be <= {outputs.most}: {outputs.reason}"
                )
            return min(value, limit)
        if not 0.0 < float(value) <= 1.0:
            raise ValueError(f"n_components == {value}, a fraction must be in (0, 1].")
        return float(value)

    def _problem(
        self, inputs: KernelSide, outputs: OutputSide, seed: int, folds: NDArray | None
    ) -> Any:
        shared: Any = {"method": self.eigenproblem, "seed": seed, "folds": folds}
        if not self._by_features(inputs):
            return GramProblem(inputs, outputs, solver=self.solver, **shared)
        m = self._landmarks(inputs.n)
        return FeatureProblem(inputs, outputs, m, selection=self.selection, **shared)

    def _by_features(self, inputs: KernelSide) -> bool:
        if self.solver != "auto":
            return self.solver == "features"
        if inputs.linear:  # the inputs are the features, exactly
            if inputs.rows.shape[1] < inputs.n or not issparse(inputs.rows):
                return bool(inputs.rows.shape[1] < inputs.n)
        return inputs.n > EXACT_ROWS and not inputs.precomputed

    def _landmarks(self, n: int) -> int:
        return min(check_count("n_landmarks", self.n_landmarks), n)

    def _check_rank(self, rank: int, r: int | float | str) -> None:
        """Refuse components that are all zero; warn of fewer than were asked for."""
        if rank == 0:
            raise ValueError("X and y are unrelated: all eigenvalues are zero.")
        if isinstance(r, float):
            return
        asked = int(self.n_components if isinstance(self.n_components, Integral) else r)
        if rank < asked:
            warn(
                f"n_components == {asked} is more than the rank {rank}: {rank} components are kept.",
            )

    def _finish(self, fit: Any, axes: Axes, ridge: Ridge, inputs: KernelSide) -> None:
        self.alpha_ = ridge.at(fit.trace)
        self.solver_ = fit.solver
        self.eigenvalues_ = axes.eigenvalues
        self.n_components_ = len(axes.eigenvalues)
        scaled = axes.coef * self._scaling(fit, axes)
        self.points_, coef, offset = fit.expand(scaled, inputs)
        signs = fit.signs(axes)
        self.dual_coef_, self.offset_ = coef * signs, offset * signs

    def _scaling(self, fit: Any, axes: Axes) -> Array:
        """Factors from raw coordinates to those of ``score_scale``."""
        values = np.maximum(axes.eigenvalues, 0.0)
        if self.score_scale == "raw":
            return self._raw_scaling(fit.n, values)
        deviations = fit.deviations(axes.coef)
        safe = np.where(deviations > 0, deviations, 1.0)
        return (np.sqrt(values) if self.score_scale == "eigenvalue" else 1.0) / safe

    def _raw_scaling(self, n: int, eigenvalues: Array) -> Array:
        return np.ones(len(eigenvalues))


class KernelProjection(Projection):
    """A projection whose inputs are seen through a kernel."""

    kernel: Any
    gamma: float | None
    n_jobs: int | None

    def _input_side(self, X: Any, weights: Array | None = None) -> KernelSide:
        if needs_vectors(self.kernel) or looks_like_vectors(X):
            X = validate_data(
                self,
                X,
                dtype=[np.float64, np.float32],
                ensure_min_samples=2,
                accept_sparse=False if is_precomputed(self.kernel) else "csr",
            )
        else:
            X = list(X)
        side = KernelSide.make(
            X,
            self.kernel,
            self.n_jobs,
            weights,
            gamma=self.gamma,
            random_state=seed_of(self.random_state),
        )
        self.kernel_ = side.kernel
        return side

    def _check_new(self, X: Any) -> Any:
        if not needs_vectors(self.kernel) and not looks_like_vectors(X):
            return list(X)
        if is_precomputed(self.kernel):
            X = np.asarray(X)
            if X.ndim == 2 and X.shape[1] != self.n_features_in_:
                raise ValueError(
                    f"X has shape {X.shape}, must have {self.n_features_in_} columns: a precomputed "
                    f"kernel has one row per new sample and one column per training sample; X has "
                    f"{X.shape[1]} features, but {type(self).__name__} is expecting "
                    f"{self.n_features_in_} features as input."
                )
        return super()._check_new(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        tags.input_tags.sparse = accepts_sparse(self.kernel)
        return tags


def seed_of(random_state: Any) -> int:
    """Return an integer as it is; draw one from a generator, or from fresh entropy for None."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
