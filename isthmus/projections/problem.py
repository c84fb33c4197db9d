"""The eigenproblem on given rows, by Gram matrices or by features: whole fits and folds alike.

A problem is asked for a *fit* to some of its rows; a fit solves for any ridge weight and projects any
rows. Centring, traces and everything else that is learned comes from the rows of the fit alone.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from isthmus._linalg import Array, column_signs
from isthmus.kernels import center_train
from isthmus.kernels.checks import check_psd, extreme_eigenvalues
from isthmus.problems.gram import Centre
from isthmus.projections.couplings import Coupling
from isthmus.projections.eigen import (
    Axes,
    EigenGram,
    RidgeGram,
    settle_ties,
    solve_dense,
    solve_factor,
    solve_krylov,
)
from isthmus.projections.rows import KernelSide

SMALL = 500
"""Up to so many rows everything is eigendecomposed."""

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Ridge:
    """A ridge weight: a number, or a fraction of the trace of the centred Gram matrix."""

    value: float
    relative: bool

    def at(self, trace: float) -> float:
        return self.value * trace if self.relative else self.value


def balance(trace: float, n: float, side: str) -> float:
    """The factor that brings a side to trace n."""
    if not trace > 0:
        raise ValueError(_constant(side))
    return n / trace


def _constant(side: str) -> str:
    what = {"X": "the input kernel", "y": "the output kernel"}[side]
    return (
        f"{side} is constant: {what} is the same for all samples (the centred Gram matrix has "
        "zero trace)."
    )


OF_KERNELS, OF_ROWS = 1e-13, 1e-26
"""Rounding of a sum of squares: centred in kernel values, or in the rows before they are squared."""


def require_variation(trace: float, scale: float, side: str, rounding: float = OF_KERNELS) -> None:
    """Refuse a side whose centred Gram matrix is zero to rounding."""
    if not trace > rounding * scale:
        raise ValueError(_constant(side))


class Fit(ABC):
    """What is learned from the rows of one fit."""

    solver: str
    n: float  # sum of the weights of the rows
    n_rows: int
    trace: float
    trace_y: float
    rank: int | None = None  # of the inputs, where a solution without a ridge asked for it

    @abstractmethod
    def solve(self, ridge: Ridge, r: int | None) -> Axes:
        """Leading components; all of them for None."""

    @abstractmethod
    def project(self, coef: Array, rows: Rows | None = None) -> Array:
        """Coordinates of rows of the problem."""

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
    """Rows of a Gram matrix of the inputs, with features ``T`` or a Gram matrix ``L`` of the outputs."""

    def __init__(
        self,
        K: Array,
        coupling: Coupling,
        *,
        T: Array | None = None,
        L: Array | None = None,
        method: str = "generalised",
        solver: str = "auto",
        seed: int = 0,
        indefinite: bool = False,
        precision: Any = np.float64,
        folds: Rows | None = None,
        weights: Array | None = None,
    ) -> None:
        self.K = K
        self.T = T
        self.L = L
        self.coupling = coupling
        self.method = method
        self.solver = solver
        self.seed = seed
        self.indefinite = indefinite
        self.precision = precision
        self.folds = folds
        self.weights = weights
        self.n = len(K)
        self.most = self.n - 1

    def fit(self, rows: Rows | None = None, *, shared: bool = False) -> GramFit:
        """The problem on some rows; ``shared`` where many ridge weights will be asked for."""
        return GramFit(self, np.arange(self.n) if rows is None else rows, shared)

    def without(self, fold: int, *, shared: bool) -> GramFit:
        """The problem on all rows but those of a fold; ``shared`` where many ridge weights follow."""
        return self.fit(np.flatnonzero(self.folds != fold), shared=shared)


class GramFit(Fit):
    """A fit to rows of a Gram matrix."""

    def __init__(self, problem: GramProblem, rows: Rows, shared: bool) -> None:
        self.problem = problem
        self.rows = rows
        self.n_rows = len(rows)
        everything = self.n_rows == problem.n
        self.centre = Centre(
            problem.K, rows, None if problem.weights is None else problem.weights[rows]
        )
        self.weights = self.centre.weights
        self.n = float(self.weights.sum())
        self.root = np.sqrt(self.weights)[:, None]
        self.K = self._weigh(self.centre.inside)
        self.trace = float(np.trace(self.K))
        sizes = np.abs(problem.K.diagonal()[rows])
        require_variation(self.trace, float(sizes @ self.weights), "X")
        self.factor_x = 1.0
        self.Q: Array | None = None
        self.L: Array | None = None
        self._balance(everything)
        self.solver = self._choose(problem.solver)
        self._clip = problem.indefinite and self._indefinite()
        self._eigen: EigenGram | None = None
        if shared or self._clip or self.solver == "dense":
            self._eigen = EigenGram(self.K, weight=self.n)
        self._G: Any = None

    def _weigh(self, K: Array) -> Array:
        """A centred Gram matrix, rows and columns times the roots of their weights, in place."""
        K *= self.root
        K *= self.root.T
        return K

    def _balance(self, everything: bool) -> None:
        problem, rows, n = self.problem, self.rows, self.n
        coupling = problem.coupling
        T = problem.T if everything or problem.T is None else problem.T[rows]
        if problem.L is not None:
            L = problem.L if everything else problem.L[np.ix_(rows, rows)]
            self.L = self._weigh(center_train(L, share=self.centre.share)[0])
            self.trace_y = float(np.trace(self.L))
            sizes = np.abs(L.diagonal())
            require_variation(self.trace_y, float(sizes @ self.weights), "y")
        elif T is not None:
            mean = np.average(T, axis=0, weights=self.weights)
            squares = np.average((T - mean) ** 2, axis=0, weights=self.weights)
            self.trace_y = float(n * squares.sum())
            T = T - mean if coupling.balanced else T
        if coupling.balanced:
            self.factor_x = balance(self.trace, n, "X")
            self.K *= self.factor_x
            self.trace = float(n)
            if self.L is not None:
                self.L *= balance(float(np.trace(self.L)), n, "y")
            elif T is not None:
                squares = self.weights @ T**2
                T = T * np.sqrt(balance(float(squares.sum()), n, "y"))
        if T is not None:
            self.Q = coupling.factor(T, self.weights)
            if self.Q is None:
                self.L = self._weigh(T @ T.T)

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
        return "dense" if self.n_rows <= SMALL else "krylov"

    def _indefinite(self) -> bool:
        """Whether the kernel has negative eigenvalues that must be cut off; warns or raises."""
        precision = self.problem.precision
        smallest, largest = extreme_eigenvalues(self.K, precision)
        check_psd(
            smallest, largest, precision, name="input kernel matrix, centred,", can_clip=False
        )
        # Rounding leaves eigenvalues about as small below zero.
        return smallest < -1e-10 * largest

    def operator(self) -> Callable[[Array], Array]:
        """``V -> G V``."""
        if self._G is None:
            if self.Q is not None:
                Q = self.Q
                self._G = lambda V: Q @ (Q.T @ V)
            else:
                assert self.L is not None
                self._G = self.problem.coupling.operator(self.L, self.K)
        return self._G

    def inputs(self, alpha: float) -> RidgeGram | EigenGram:
        """Products with the ridge smoother of the inputs."""
        if self._eigen is None and alpha > 0:
            try:
                return RidgeGram(self.K, alpha, self.n)
            except LinAlgError:  # a ridge below rounding, or a kernel that is not positive
                pass
        if self._eigen is None:
            self._eigen = EigenGram(self.K, weight=self.n)
        return self._eigen.at(alpha)

    def solve(self, ridge: Ridge, r: int | None) -> Axes:
        """Leading components; all of them for None."""
        alpha, method = ridge.at(self.trace), self.problem.method
        inputs = self.inputs(alpha)
        if alpha == 0:
            self.rank = inputs.decompose().rank
            if self.rank < self.n_rows - 1:
                warn_rank(self.rank, self.n_rows - 1)
        may_tie = alpha == 0 and method == "generalised" and self.solver != "krylov"
        most = None if may_tie else r
        if self.solver == "factor" and self.Q is not None:
            axes = solve_factor(inputs, self.Q, method, most)
        elif self.solver == "krylov" and r is not None:
            rng = np.random.default_rng(self.problem.seed)
            axes = solve_krylov(inputs, self.operator(), method, min(r, self.n_rows - 1), rng)
        else:
            G = self.operator()(np.eye(self.n_rows))
            axes = solve_dense(inputs.decompose(), G, method, most)
        if may_tie:
            axes = settle_ties(axes, axes.coef.T @ inputs.times(axes.coef), r)
        # For the kernel as it came, and from weighted rows to the rows themselves.
        axes.coef = axes.coef * (self.factor_x * self.root)
        return axes

    def project(self, coef: Array, rows: Rows | None = None) -> Array:
        """Coordinates of rows of the problem; of those of the fit for None."""
        if rows is not None:
            return self.centre.coordinates(rows) @ coef
        return self.K @ (coef / (self.factor_x * self.root)) / self.root

    def deviations(self, coef: Array) -> Array:
        """Standard deviation of each training coordinate, which has mean zero."""
        return np.sqrt(np.average(self.project(coef) ** 2, axis=0, weights=self.weights))

    def expand(self, coef: Array, inputs: KernelSide) -> tuple[Any, Array, Array]:
        # The centring of kernel values, folded in.
        centred = coef - self.centre.share[:, None] * coef.sum(axis=0)
        return inputs.points, centred, -self.centre.means @ centred

    def signs(self, axes: Axes) -> Array:
        return column_signs(self.project(axes.coef))


def warn_rank(rank: int, full: int) -> None:
    warnings.warn(
        f"alpha == 0 and the inputs have rank {rank}, less than {full}: the pseudo-inverse on their "
        "range is used. Pass alpha > 0 to avoid fitting noise.",
        UserWarning,
        stacklevel=2,
    )


def warn_saturated(rank: int, n: float) -> None:
    """Warn that the training coordinates fit by construction."""
    warnings.warn(
        f"alpha == 0 and the inputs have rank {rank} on {n:g} samples, the largest possible: the training "
        "coordinates fit any y, even noise. Give alpha > 0.",
        UserWarning,
        stacklevel=4,
    )
