"""The eigenproblem on given rows, whole fits and folds alike: what fits share, and fits by Gram matrices.

A problem is asked for a *fit* to some of its rows; a fit solves for any ridge weight and projects any
rows. Centring, traces and everything else that is learned comes from the rows of the fit alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import Array, column_signs
from isthmus._validation import check_memory, warn
from isthmus.kernels import CHEAP_ORDER, check_psd, extreme_eigenvalues
from isthmus.problems import Centre
from isthmus.projections.couplings import Coupling
from isthmus.projections.eigen import (
    Apply,
    Axes,
    EigenGram,
    Ridge,
    RidgeGram,
    rank_of,
    ridge_gram,
    settle_ties,
    solve_dense,
    solve_factor,
    solve_krylov,
)
from isthmus.projections.held_out import Judge, KernelJudge
from isthmus.projections.rows import OF_ROWS, InputFeatures, KernelSide, require_variation

Rows = NDArray[np.intp]


@dataclass
class OutputSide:
    """The outputs of a projection: features or a Gram matrix, and how to judge."""

    coupling: Coupling
    judge: Judge | None
    T: Array | None = None  # features of all rows
    side: KernelSide | None = None  # else samples and a kernel
    features: InputFeatures | None = None  # landmarks of these, once they were needed
    most: int | None = None  # most components the outputs allow, with the reason
    reason: str = ""
    holes: Array | None = None  # outputs as they came, where some are missing and were filled in

    def take_landmarks(self, n: int, seed: int, selection: str, *, keep: bool = False) -> None:
        """Make features of samples that have a kernel."""
        if self.side is None:
            return
        # Outputs of which there are no means have no k-means either.
        selection = "auto" if selection == "kmeans" and not self.side.vectors else selection
        self.features = InputFeatures(self.side, n, seed, selection, keep=keep)
        self.coupling.check_landmarks(self.features.n_landmarks, n)


class Fit(ABC):
    """What is learned from the rows of one fit."""

    problem: Any
    solver: str
    n: float  # sum of the weights of the rows
    n_rows: int
    trace: float
    trace_y: float
    full_rank: int  # the largest that the inputs can have
    unit: Any  # factor of coefficients: from inputs of trace n, weighted, to the kernel as it came
    rank: int | None = None  # of the inputs, where a solution without a ridge asked for it

    def solve(self, ridge: Ridge, r: int | float) -> Axes:
        """Leading components, r of them or those that have a fraction r of the sum of the eigenvalues.

        Components whose eigenvalues are zero to rounding are left out, but one is always returned.
        """
        alpha = ridge.at(self.trace)
        most = r if isinstance(r, int) else None
        may_tie = alpha == 0 and self.problem.method == "generalised" and self.solver != "krylov"
        axes, rank = self._solve(alpha, None if may_tie else most)
        if rank < self.full_rank:
            warn(
                f"alpha == 0 and the inputs have rank {rank}, less than {self.full_rank}: the "
                "pseudo-inverse on their range is used. Pass alpha > 0 to avoid fitting noise.",
            )
        self.rank = rank if alpha == 0 else None
        if may_tie:
            settle_ties(axes, self._norms(axes.coef))
        axes = axes.head(max(rank_of(axes.eigenvalues), 1)).head(r)
        axes.coef = axes.coef * self.unit
        return axes

    @abstractmethod
    def _solve(self, alpha: float, r: int | None) -> tuple[Axes, int]:
        """Leading components, all of them for None, and the rank of the inputs with their ridge."""

    @abstractmethod
    def _norms(self, coef: Array) -> Array:
        """Products of directions."""

    @abstractmethod
    def project(self, coef: Array, rows: Rows) -> Array:
        """Coordinates of rows of the problem that are judged."""

    @abstractmethod
    def deviations(self, coef: Array) -> Array:
        """Standard deviation of each training coordinate, which has mean zero."""

    @abstractmethod
    def expand(self, coef: Array, inputs: KernelSide) -> tuple[Any, Array, Array]:
        """Points, coefficients and offset: ``k(x, points) @ coef + offset`` are the coordinates."""

    @abstractmethod
    def signs(self, axes: Axes) -> Array:
        """Signs that make the training coordinate of largest absolute value positive."""


# -- by Gram matrices -------------------------------------------------------------------------


class GramProblem:
    """Gram matrices ``K`` of the inputs and ``L`` of the outputs, if these are not features ``T``."""

    def __init__(
        self,
        inputs: KernelSide,
        outputs: OutputSide,
        *,
        method: str,
        solver: str,
        seed: int,
        folds: Rows | None,
    ) -> None:
        n = inputs.n
        check_memory(
            8.0 * n * n * (3 if outputs.side is None else 4),
            f"The exact form on {n} samples",
            "solver='features' with n_landmarks takes n x n_landmarks numbers.",
        )
        self.inputs, self.outputs = inputs, outputs
        self.method, self.solver, self.seed, self.folds = method, solver, seed, folds
        self.L = None if outputs.side is None else outputs.side.output_gram()
        self.K = inputs.gram()
        self.weights = np.ones(n) if inputs.weights is None else inputs.weights
        self.most = n - 1

    def judge(self, sample: Rows) -> Judge:
        """The judge of some of the rows."""
        judge = self.outputs.judge
        if judge is None:
            assert self.L is not None
            judge = KernelJudge(self.L, self.weights)
        return judge.take(sample)

    def fit(self) -> GramFit:
        """The problem on all rows."""
        return GramFit(self, np.arange(len(self.K)), False)

    def without(self, fold: int, *, shared: bool) -> GramFit:
        """The problem on all rows but those of a fold; ``shared`` where many ridge weights follow."""
        return GramFit(self, np.flatnonzero(self.folds != fold), shared)


class GramFit(Fit):
    """A fit to rows of a Gram matrix."""

    def __init__(self, problem: GramProblem, rows: Rows, shared: bool) -> None:
        self.problem = problem
        self.rows = rows
        self.n_rows = len(rows)
        self.full_rank = self.n_rows - 1
        self.weights = problem.weights[rows]
        self.n = float(self.weights.sum())
        self.root = np.sqrt(self.weights)[:, None]
        self.centre = Centre(problem.K, rows, self.weights)
        self.K, self.trace = self._weigh(self.centre, "X")
        factor = 1.0
        if problem.outputs.coupling.balanced:
            factor = self.n / self.trace
            self.K *= factor
            self.trace = self.n
        self.unit = factor * self.root
        self.Q: Array | None = None
        self.L: Array | None = None
        self._take_outputs(problem.outputs)
        self.solver = self._choose(problem.solver)
        clip = problem.inputs.indefinite and self._indefinite()
        self._by_eigenvectors = shared or clip or self.solver == "dense"

    def _weigh(self, centre: Centre, side: str) -> tuple[Array, float]:
        """A centred Gram matrix, rows and columns times the roots of their weights, and its trace."""
        K = centre.inside
        K *= self.root
        K *= self.root.T
        trace = float(np.trace(K))
        sizes = np.abs(centre.gram.diagonal()[self.rows])
        require_variation(trace, float(sizes @ self.weights), side)
        return K, trace

    def _take_outputs(self, outputs: OutputSide) -> None:
        """Set ``Q`` with ``G = Q Q'`` where there is one, otherwise ``L``."""
        coupling = outputs.coupling
        if self.problem.L is not None:
            self.centre_y = Centre(self.problem.L, self.rows, self.weights)
            self.L, self.trace_y = self._weigh(self.centre_y, "y")
            if coupling.balanced:
                self.L *= self.n / self.trace_y
            return
        assert outputs.T is not None
        T = outputs.T[self.rows]
        mean = np.average(T, axis=0, weights=self.weights)
        self.trace_y = float((self.weights @ (T - mean) ** 2).sum())
        if coupling.balanced:
            size = float((self.weights @ T**2).sum())
            require_variation(self.trace_y, size, "y", OF_ROWS)
            T = (T - mean) * np.sqrt(self.n / self.trace_y)
        self.Q = coupling.factor(T, self.weights)
        if self.Q is None:
            weighted = T * self.root
            self.L = weighted @ weighted.T

    def _choose(self, solver: str) -> str:
        if solver == "factor" and self.Q is None:
            raise ValueError(
                "solver == 'factor' needs G = Q Q' with few columns (slices, labels, or outputs with a "
                "linear kernel); use solver='auto', 'krylov' or 'dense'."
            )
        if solver != "auto":
            return solver
        # A factor with nearly as many columns as rows saves nothing.
        if self.Q is not None and self.Q.shape[1] < self.n_rows // 2:
            return "factor"
        return "dense" if self.n_rows <= CHEAP_ORDER else "krylov"

    def _indefinite(self) -> bool:
        """Whether the kernel has negative eigenvalues that must be cut off; warns or raises."""
        precision = self.problem.inputs.precision
        smallest, largest = extreme_eigenvalues(self.K, precision)
        check_psd(
            smallest, largest, precision, name="input kernel matrix, centred,", can_clip=False
        )
        # Rounding leaves eigenvalues about as small below zero.
        return smallest < -1e-10 * largest

    @cached_property
    def G(self) -> Apply:
        """``V -> G V``."""
        Q = self.Q
        if Q is not None:
            return lambda V: Q @ (Q.T @ V)
        assert self.L is not None
        return self.problem.outputs.coupling.operator(self.L, self.K)

    @cached_property
    def eigen(self) -> EigenGram:
        """The inputs by their eigenvectors, which serve every ridge weight."""
        return EigenGram(self.K, weight=self.n)

    def _inputs(self, alpha: float) -> RidgeGram | EigenGram:
        if self._by_eigenvectors or alpha == 0:
            return self.eigen.at(alpha)
        return ridge_gram(self.K, alpha, self.n)

    def _solve(self, alpha: float, r: int | None) -> tuple[Axes, int]:
        method = self.problem.method
        rank = self.full_rank if alpha > 0 else self.eigen.rank
        if self.solver == "factor":
            assert self.Q is not None
            return solve_factor(self._inputs(alpha), self.Q, method, r), rank
        if self.solver == "krylov" and r is not None:
            rng = np.random.default_rng(self.problem.seed)
            r = min(r, self.full_rank)
            return solve_krylov(self._inputs(alpha), self.G, method, r, rng), rank
        G = self.G(np.eye(self.n_rows))
        return solve_dense(self.eigen.at(alpha), G, method, r), rank

    def _norms(self, coef: Array) -> Array:
        return coef.T @ self.K @ coef

    def project(self, coef: Array, rows: Rows) -> Array:
        return self.centre.coordinates(rows) @ coef

    def project_own(self, coef: Array) -> Array:
        """Coordinates of the rows of the fit."""
        return self.K @ (coef / self.unit) / self.root

    def deviations(self, coef: Array) -> Array:
        return np.sqrt(np.average(self.project_own(coef) ** 2, axis=0, weights=self.weights))

    def expand(self, coef: Array, inputs: KernelSide) -> tuple[Any, Array, Array]:
        # The centring of kernel values, folded in.
        centred = coef - self.centre.share[:, None] * coef.sum(axis=0)
        return inputs.points, centred, -self.centre.means @ centred

    def signs(self, axes: Axes) -> Array:
        return column_signs(self.project_own(axes.coef))
