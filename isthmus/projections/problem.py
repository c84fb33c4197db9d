"""The eigenproblem on given rows, by Gram matrices or by features: whole fits and folds alike.

A problem is asked for a *fit* to some of its rows; a fit solves for any ridge weight and projects any
rows. Centring, traces and everything else that is learned comes from the rows of the fit alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from isthmus.kernels import center_test, center_train
from isthmus.kernels.checks import check_psd, extreme_eigenvalues
from isthmus.linalg import Array, row_blocks
from isthmus.problems.sums import Moments
from isthmus.projections.couplings import Coupling
from isthmus.projections.eigen import (
    Axes,
    EigenGram,
    RidgeGram,
    ridge_whitening,
    solve_dense,
    solve_factor,
    solve_features,
    solve_krylov,
)

SMALL = 500
"""Up to so many rows everything is eigendecomposed."""

Rows = NDArray[np.intp]
_ROWS = 4096  # centred at a time


@dataclass(frozen=True)
class Ridge:
    """A ridge weight: a number, or a fraction of the trace of the centred Gram matrix."""

    value: float
    relative: bool

    def at(self, trace: float) -> float:
        return self.value * trace if self.relative else self.value


def balance(trace: float, n: int, side: str) -> float:
    """The factor that brings a side to trace n."""
    if not trace > 0:
        raise ValueError(_constant(side))
    return n / trace


def _constant(side: str) -> str:
    what = {"X": "the input kernel", "y": "the output kernel"}[side]
    return (
        f"{side} is constant: {what} does not tell any two samples apart (the centred Gram matrix has "
        "zero trace)."
    )


OF_KERNELS, OF_ROWS = 1e-13, 1e-26
"""Rounding of a sum of squares: centred in kernel values, or in the rows before they are squared."""


def require_variation(trace: float, scale: float, side: str, rounding: float = OF_KERNELS) -> None:
    """Refuse a side whose centred Gram matrix is zero to rounding."""
    if not trace > rounding * scale:
        raise ValueError(_constant(side))


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
    ) -> None:
        self.K, self.T, self.L, self.coupling = K, T, L, coupling
        self.method, self.solver, self.seed, self.indefinite = method, solver, seed, indefinite
        self.precision, self.n = precision, len(K)

    def fit(self, rows: Rows | None = None, *, shared: bool = False) -> GramFit:
        """The problem on some rows; ``shared`` where many ridge weights will be asked for.

        The fit to all rows is the last: it centres the matrix in place.
        """
        return GramFit(self, np.arange(self.n) if rows is None else rows, shared)


class GramFit:
    """What is learned from the rows of one fit."""

    rank: int | None = None  # of the inputs, where a solution without a ridge asked for it

    def __init__(self, problem: GramProblem, rows: Rows, shared: bool) -> None:
        self.problem, self.rows, self.n = problem, rows, len(rows)
        everything = self.n == problem.n
        K = problem.K if everything else problem.K[np.ix_(rows, rows)]
        scale = float(np.abs(K.diagonal()).sum())
        self.K, self.row_means, self.mean = center_train(K, copy=False)
        self.trace = float(np.trace(self.K))
        require_variation(self.trace, scale, "X")
        self.factor_x = 1.0
        self.Q: Array | None = None
        self.L: Array | None = None
        self._balance(everything)
        self.solver = self._choose(problem.solver)
        self._clip = problem.indefinite and self._indefinite()
        self._eigen: EigenGram | None = None
        if shared or self._clip or self.solver == "dense":
            self._eigen = EigenGram(self.K)
        self._G: Any = None
        self._scores: tuple[Array, Array] | None = None

    def _balance(self, everything: bool) -> None:
        problem, rows, n = self.problem, self.rows, self.n
        coupling = problem.coupling
        T = problem.T if everything or problem.T is None else problem.T[rows]
        if problem.L is not None:
            L = problem.L if everything else problem.L[np.ix_(rows, rows)]
            self.L = center_train(L)[0]
            self.trace_y = float(np.trace(self.L))
            require_variation(self.trace_y, float(np.abs(L.diagonal()).sum()), "y")
        elif T is not None:
            self.trace_y = float(len(T) * T.var(axis=0).sum())
            T = T - T.mean(axis=0) if coupling.balanced else T
        if coupling.balanced:
            self.factor_x = balance(self.trace, n, "X")
            self.K *= self.factor_x
            self.trace = float(n)
            if self.L is not None:
                self.L *= balance(float(np.trace(self.L)), n, "y")
            elif T is not None:
                T = T * np.sqrt(balance(float((T**2).sum()), n, "y"))
        if T is not None:
            self.Q = coupling.factor(T)
            if self.Q is None:
                self.L = T @ T.T

    def _choose(self, solver: str) -> str:
        if solver == "factor" and self.Q is None:
            raise ValueError(
                "solver == 'factor' needs G = Q Q' with few columns (slices, labels, or outputs with a "
                "linear kernel); use solver='auto', 'krylov' or 'dense'."
            )
        if solver != "auto":
            return solver
        if self.Q is not None and self.Q.shape[1] < self.n // 2:
            return "factor"
        return "dense" if self.n <= SMALL else "krylov"

    def _indefinite(self) -> bool:
        """Whether the kernel has negative eigenvalues that must be cut off; warns or raises."""
        precision = self.problem.precision
        smallest, largest = extreme_eigenvalues(self.K, precision)
        check_psd(
            smallest, largest, precision, name="input kernel matrix, centred,", can_clip=False
        )
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
                return RidgeGram(self.K, alpha)
            except LinAlgError:  # a ridge below rounding, or a kernel that is not positive
                pass
        if self._eigen is None:
            self._eigen = EigenGram(self.K)
        return self._eigen.at(alpha)

    def solve(self, ridge: Ridge, r: int | None) -> Axes:
        """Leading components; all of them for None."""
        alpha, method = ridge.at(self.trace), self.problem.method
        inputs = self.inputs(alpha)
        if alpha == 0 and isinstance(inputs, EigenGram):
            self.rank = inputs.rank
            if inputs.rank < self.n - 1:
                warn_rank(inputs.rank, self.n - 1)
        if self.solver == "factor" and self.Q is not None:
            axes = solve_factor(inputs, self.Q, method, r)
        elif self.solver == "krylov" and r is not None:
            rng = np.random.default_rng(self.problem.seed)
            axes = solve_krylov(inputs, self.operator(), method, min(r, self.n - 1), rng)
        else:
            if isinstance(inputs, RidgeGram):
                inputs = EigenGram(self.K, alpha)
            axes = solve_dense(inputs, self.operator()(np.eye(self.n)), method, r)
        axes.coef = axes.coef * self.factor_x  # for the kernel as it came
        return axes

    def project(self, coef: Array, rows: Rows | None = None) -> Array:
        """Coordinates of rows of the problem; of the rows of the fit for None."""
        if rows is None:
            return self.scores(coef)
        Kt = self.problem.K[np.ix_(rows, self.rows)]
        return center_test(Kt, self.row_means, self.mean, copy=False) @ coef

    def remember(self, axes: Axes) -> None:
        """Keep the coordinates of the rows that a form got for nothing."""
        if axes.scores is not None:
            self._scores = axes.coef, axes.scores

    def scores(self, coef: Array) -> Array:
        """Coordinates of the rows of the fit; asked for twice, computed once."""
        if self._scores is None or self._scores[0] is not coef:
            self._scores = coef, self.K @ (coef / self.factor_x)
        return self._scores[1]

    def deviations(self, coef: Array) -> Array:
        """Standard deviation of each training coordinate, which has mean zero."""
        return np.sqrt((self.scores(coef) ** 2).mean(axis=0))

    def collapse(self, coef: Array) -> tuple[Array, Array]:
        """``k(x, points) @ coef + offset`` are the coordinates: centring folded in."""
        centred = coef - coef.mean(axis=0)
        return centred, -self.row_means @ centred


def warn_rank(rank: int, full: int) -> None:
    warnings.warn(
        f"alpha == 0 and the inputs have rank {rank}, less than {full}: the pseudo-inverse on their "
        "range is used. Give alpha > 0 for a solution that does not follow noise.",
        UserWarning,
        stacklevel=2,
    )


def warn_saturated(rank: int, n: int) -> None:
    """Say that the training coordinates are no finding."""
    warnings.warn(
        f"alpha == 0 and the inputs have rank {rank} on {n} samples, all there can be: the training "
        "coordinates follow any y whatever, noise too. Give alpha > 0.",
        UserWarning,
        stacklevel=4,
    )


# -- by features ------------------------------------------------------------------------------

Blocks = Callable[[], Iterator[tuple[slice, Array, Array]]]


class FeatureProblem:
    """Blocks of rows of input features and output features; only their moments are kept.

    ``folds`` gives the fold of each row, or None for a single one; the moments of a training fold are
    those of the whole less those of the fold. Of the rows of ``sample`` the features themselves are
    kept, on which folds are judged.
    """

    solver = "features"

    def __init__(
        self,
        blocks: Blocks,
        coupling: Coupling,
        n: int,
        *,
        method: str = "generalised",
        folds: Rows | None = None,
        sample: Rows | None = None,
        rounding: tuple[float, float] = (OF_KERNELS, OF_KERNELS),
    ) -> None:
        self.blocks, self.coupling, self.method, self.n = blocks, coupling, method, n
        self.rounding = rounding
        self.folds = np.zeros(n, dtype=np.intp) if folds is None else folds
        self.sample = np.empty(0, dtype=np.intp) if sample is None else sample
        self.parts: dict[int, Moments] = {}
        kept = []
        for rows, F, T in blocks():
            labels = self.folds[rows]
            for k in np.unique(labels):
                one = labels == k
                part = _moments(F, T) if one.all() else _moments(F[one], T[one])
                self.parts[k] = self.parts[k].merge(part) if k in self.parts else part
            inside = self.sample[(self.sample >= rows.start) & (self.sample < rows.stop)]
            kept.append(F[inside - rows.start])
        self.sample_features = np.concatenate(kept)
        moments = iter(self.parts.values())
        whole = next(moments)
        for part in moments:
            whole = whole.merge(part)
        self.whole = whole

    def fit(self, without: int | None = None) -> FeatureFit:
        """The problem on all rows, or on all but those of a fold."""
        moments = self.whole if without is None else self.whole.subtract(self.parts[without])
        return FeatureFit(self, moments)


def _moments(F: Array, T: Array) -> Moments:
    return Moments.squares_of(F, T, None, full_yy=True)  # both are checked already


class FeatureFit:
    """Moments of the rows of one fit."""

    solver = "features"
    rank: int | None = None

    def __init__(self, problem: FeatureProblem, moments: Moments) -> None:
        self.problem, self.moments, self.n = problem, moments, moments.n_samples
        self.xx = moments.xx
        self.trace = float(np.trace(self.xx))
        size = float(self.n * (moments.x_mean @ moments.x_mean)) + self.trace
        require_variation(self.trace, size, "X", problem.rounding[0])
        spread = self.trace_y = float(np.trace(moments.yy))
        size = float(self.n * (moments.y_mean @ moments.y_mean)) + spread
        require_variation(spread, size, "y", problem.rounding[1])
        self.factor_x = factor_y = 1.0
        if problem.coupling.balanced:
            self.factor_x = balance(self.trace, self.n, "X")
            factor_y = balance(spread, self.n, "y")
            self.xx, self.trace = self.factor_x * self.xx, float(self.n)
        root = problem.coupling.root(self.n, moments.y_mean, moments.yy * factor_y)
        self.cross = np.sqrt(self.factor_x * factor_y) * (moments.xy @ root)
        weight = problem.coupling.x_weight
        self.square = weight * (self.xx @ self.xx) if weight else None

    def solve(self, ridge: Ridge, r: int | None) -> Axes:
        alpha = ridge.at(self.trace)
        whitening, rank = ridge_whitening(self.xx, alpha)
        self.rank = rank if alpha == 0 else None
        if rank < min(len(self.xx), self.n - 1):
            warn_rank(rank, min(len(self.xx), self.n - 1))
        axes = solve_features(whitening, self.n, self.cross, self.square, self.problem.method, r)
        axes.coef = axes.coef * np.sqrt(self.factor_x)
        return axes

    def project_features(self, coef: Array, F: Array) -> Array:
        """Coordinates of feature rows."""
        parts = [(F[rows] - self.moments.x_mean) @ coef for rows in row_blocks(len(F), _ROWS)]
        return np.vstack(parts)

    def deviations(self, coef: Array) -> Array:
        variances = np.einsum("ir,ij,jr->r", coef, self.moments.xx, coef, optimize=True) / self.n
        return np.sqrt(np.maximum(variances, 0.0))

    def collapse(self, coef: Array) -> tuple[Array, Array]:
        return coef, -self.moments.x_mean @ coef
