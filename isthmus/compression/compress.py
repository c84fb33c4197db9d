"""``compress``: any fitted kernel model with fewer points."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.compression.composite import compress_inside, holds_models
from isthmus.compression.construct import move_points
from isthmus.compression.indefinite import by_outputs, check_definite
from isthmus.compression.models import predicts_classes, wrap_model
from isthmus.compression.path import CompressionPath
from isthmus.compression.pursuit import Pursuit
from isthmus.compression.refit import OutputFit, fit_outputs
from isthmus.compression.select import (
    Problem,
    among,
    by_l0,
    by_l1,
    by_landmarks,
    by_rank,
    chunked,
    exchanged,
    greedy,
    make_problem,
    of_new_points,
)
from isthmus.compression.thresholds import class_thresholds
from isthmus.expansion import Expansion
from isthmus.kernels import gram, gram_diagonal
from isthmus.kernels.checks import check_precomputed
from isthmus.kernels.gram import take
from isthmus.kernels.selection import METHODS as SELECTIONS
from isthmus.linalg import Array, row_blocks, spreads
from isthmus.validation import check_option

METHODS = ("greedy", "l1", "l0", "rank", "landmarks", "construct")
_BLOCK = 2**22
_DEFAULT_TOL = 1e-3
_GOOD_ENOUGH = 1e-5  # of the outputs' squares: no exchange is worth its time
_SMALL = 200  # points: smaller expansions are fast as they are, and have few others to offer
_ROUNDS = 20  # of exchanges: twice as many gain next to nothing
_MOST_WORK = 1e11  # operations, eight seconds or so: beyond it the pursuit's points stay
_WITHIN = 1.01  # sizes whose validation error is within one per cent of the best are as good


def compress(
    model: Any,
    n_points: int | None = None,
    *,
    tol: float | None = None,
    method: str = "greedy",
    rule: str = "ols",
    selection: str = "uniform",
    refit: str | None = "outputs",
    exchange: bool = True,
    X: Any = None,
    y: Any = None,
    validation: Any = None,
    chunk_size: int | None = None,
    max_iter: int = 300,
    random_state: Any = None,
) -> Any:
    r"""Return the same kind of model with fewer points.

    Of :math:`w_j = \sum_i a_{ij} \phi(x_i)` keep r points Z and coefficients B such that
    :math:`E = \sum_j |w_j - \hat w_j|^2` is small, all outputs together; then fit B to the outputs at the
    training rows. [B2006]_ Ch. 4, corrected. Several outputs count by their sizes: one in small units is
    met last. Those of a :class:`DependencyRegressor` with ``scale_y=True`` count alike.

    Parameters
    ----------
    model : fitted model or Expansion
        One of ours with ``to_expansion`` and ``with_expansion``, or a model of scikit-learn that
        :meth:`Expansion.from_model` knows; a pipeline that ends in one, a search that found one (its best
        model is what comes back), or a classifier made of several: a ``GaussianProcessClassifier`` whose
        classes have kernels of their own, ``OneVsRestClassifier``, ``OneVsOneClassifier``.
    n_points : int, default=None
        How many points to keep; of a classifier made of several, in each of them.
    tol : float, default=None
        Keep as few points as leave a relative squared error of at most ``tol``. With neither
        ``n_points``, ``tol`` nor ``validation`` it is 1e-3.
    method : {"greedy", "l1", "l0", "rank", "landmarks", "construct"}, default="greedy"
        Greedy pursuit; l1 or l0 penalties (slow, for comparison); lossless, as many points as the
        kernel matrix has rank; points chosen without a look at the functions; greedy points that then
        move, for kernels with gradients: as a rule half as many do for the same error, but they
        take some fifty times as long to find.
    rule : {"ols", "omp"}, default="ols"
        What the pursuit maximises: the fall of the error, or the alignment with what is left.
    selection : {"uniform", "kmeans", "cholesky", "leverage"}, default="uniform"
        Which points ``method="landmarks"`` takes: drawn at random; centres of k-means, which are no
        points of the model (vectors only, needs ``n_points``); each the point that those before span
        worst; drawn by ridge leverage scores.
    refit : {"outputs", None}, default="outputs"
        Fit coefficients and intercept to the values at the rows, with a ridge where the rows that are no
        points ask for it; None keeps the nearest functions.
    exchange : bool, default=True
        Whether points of the pursuit are then exchanged for others with which the outputs are fitted
        better: blocks of points are dropped and pursued anew, and what lowers the error of the outputs
        stays. Takes about four times as long as without. Only with ``refit`` and ``n_points`` alone: the
        path of sizes that ``tol`` or ``validation`` picks from is the pursuit's. Expansions of fewer than
        200 points and very large ones keep the pursuit's points, and so do those whose refit needs a
        ridge: they follow noise, and other points would follow it further.
    X : array or sequence, default=None
        Rows on which outputs are refitted; None: the points of the model. For a precomputed kernel
        the square matrix of the training rows.
    y : array, default=None
        Labels of ``X``: the thresholds of a classifier are then set for the fewest errors on them.
    validation : tuple (X, y), default=None
        Rows and outputs that pick the size: the smallest one whose error is within one per cent of the
        best, up to ``n_points`` or half of the points. Squared errors of several outputs are in units
        of their variances.
    chunk_size : int, default=None
        Run the pursuit on blocks of this many points, then on the union of what they chose: for
        expansions whose ``N r`` numbers do not fit into memory.
    max_iter : int, default=300
        Most steps of ``method="construct"``.
    random_state : int or RandomState, default=None
        For ``method="landmarks"``.

    Returns
    -------
    small : model
        Predicts as the original does. ``small.compression_`` is a :class:`CompressionPath` with the
        errors of every smaller size.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.svm import SVC
    >>> from isthmus import compress
    >>> X, y = load_digits(return_X_y=True)
    >>> model = SVC().fit(X[:1000], y[:1000])
    >>> small = compress(model, 150)
    >>> len(model.support_vectors_), small.compression_.n_points
    (516, 150)
    >>> bool(small.score(X[1000:], y[1000:]) > model.score(X[1000:], y[1000:]) - 0.01)
    True
    """
    if holds_models(model):
        options = {
            "tol": tol,
            "method": method,
            "rule": rule,
            "selection": selection,
            "refit": refit,
            "exchange": exchange,
            "X": X,
            "y": y,
            "validation": validation,
            "chunk_size": chunk_size,
            "max_iter": max_iter,
            "random_state": random_state,
        }
        return compress_inside(model, compress, n_points, options)
    expansion = _functions(model)
    _check(method, rule, refit, tol, n_points, expansion.n_points, chunk_size)
    _check_selection(selection, method, n_points, validation, expansion)
    if not expansion.coef.any():
        warnings.warn("All coefficients are zero: no points are kept.", stacklevel=2)
        return _finish(model, _empty(expansion), _empty_path(expansion))
    problem = make_problem(expansion, _matrix_of_points(expansion, model, X))
    if not problem.values.any():
        warnings.warn("The functions are zero at all points: no points are kept.", stacklevel=2)
        return _finish(model, _empty(expansion), _empty_path(expansion))
    check_definite(problem, method, chunk_size)
    limit, within = _limits(n_points, tol, validation, expansion.n_points, method)
    points, order, pursuit = _select(
        problem, limit, within, method, rule, selection, chunk_size, random_state
    )
    rows = _Rows(expansion, problem, X)
    if order is not None and _may_exchange(method, refit, exchange, n_points, tol, validation):
        points, order, pursuit = _exchange(problem, points, order, pursuit, rows, rule)
    if method == "construct":
        points, pursuit = _construct(problem, points, pursuit, rows, max_iter)
        order = None
    fit = None if refit is None else rows.fit(points, order, pursuit)
    path = CompressionPath(
        n_points=len(pursuit.T),
        n_points_full=expansion.n_points,
        sizes=np.arange(len(pursuit.T) + 1),
        errors=pursuit.errors,
        output_errors=None if fit is None else fit.errors,
        indices=order,
        options={"method": method, "rule": rule, "selection": selection, "refit": refit},
    )
    make = _Maker(expansion, problem, points, order, pursuit, fit, model, X, y)
    if validation is not None:
        path.n_points = _by_validation(model, make, path, validation)
    elif (tol is not None and n_points is None) or within is not None:
        path.n_points = _by_tol(path, _DEFAULT_TOL if tol is None else tol)
    path.ridge = 0.0 if fit is None else fit.ridge(path.n_points)
    return _finish(model, make(path.n_points), path)


# -- arguments ---------------------------------------------------------------------------------


def _check(
    method: str, rule: str, refit: Any, tol: Any, n_points: Any, N: int, chunk_size: Any
) -> None:
    check_option("method", method, METHODS)
    check_option("rule", rule, ("ols", "omp"))
    if refit is not None:
        check_option("refit", refit, ("outputs",))
    if n_points is not None:
        if isinstance(n_points, bool) or not isinstance(n_points, Integral):
            raise ValueError(f"n_points == {n_points!r}, must be an integer or None.")
        if not 1 <= int(n_points) <= N:
            raise ValueError(
                f"n_points == {n_points}, must be between 1 and {N}, the number of points."
            )
    if tol is not None and not (isinstance(tol, Real) and 0 <= float(tol) < 1):
        raise ValueError(f"tol == {tol!r}, must be a number in [0, 1).")
    if chunk_size is not None and (not isinstance(chunk_size, Integral) or chunk_size < 2):
        raise ValueError(f"chunk_size == {chunk_size!r}, must be an integer >= 2.")
    if chunk_size is not None and method not in ("greedy", "construct"):
        raise ValueError(f"chunk_size is for method='greedy', method == {method!r}.")


def _check_selection(
    selection: str, method: str, n_points: Any, validation: Any, expansion: Expansion
) -> None:
    check_option("selection", selection, SELECTIONS)
    if method != "landmarks" and selection != "uniform":
        raise ValueError(f"selection is for method='landmarks', method == {method!r}.")
    if selection != "kmeans":
        return
    points = expansion.points
    if expansion.is_precomputed or not isinstance(points, np.ndarray) or points.ndim != 2:
        raise ValueError(
            "selection == 'kmeans' needs vectors: use 'cholesky', 'uniform' or 'leverage'."
        )
    if n_points is None and validation is None:
        raise ValueError("selection == 'kmeans' needs the number of centres: give n_points.")


def _limits(
    n_points: int | None, tol: float | None, validation: Any, N: int, method: str
) -> tuple[int, float | None]:
    """Most points, and the error at which to stop (None: none)."""
    if n_points is not None:
        return int(n_points), None if tol is None else float(tol)
    if method == "rank":
        return N, None
    if validation is not None:
        return max(1, N // 2), None
    return N, _DEFAULT_TOL if tol is None else float(tol)


def _matrix_of_points(expansion: Expansion, model: Any, X: Any) -> Array | None:
    if not expansion.is_precomputed:
        return None
    matrix = getattr(model, "X_fit_", None) if X is None else X
    if matrix is None:
        raise ValueError(
            "The kernel is precomputed and the model does not keep its matrix: give the square matrix "
            "of the training rows as X."
        )
    matrix = np.asarray(matrix, dtype=np.float64)
    if (
        matrix.ndim != 2
        or matrix.shape[0] != matrix.shape[1]
        or len(matrix) <= np.max(expansion.points)
    ):
        raise ValueError(
            f"X has shape {matrix.shape}, must be the square kernel matrix of the training rows."
        )
    return check_precomputed(matrix[np.ix_(expansion.points, expansion.points)], copy=False)


# -- points ------------------------------------------------------------------------------------


def _select(
    problem: Problem,
    limit: int,
    within: float | None,
    method: str,
    rule: str,
    selection: str,
    chunk_size: int | None,
    random_state: Any,
) -> tuple[Any, NDArray | None, Pursuit]:
    stop = 0.0 if within is None else within
    if problem.indefinite:
        order, pursuit = by_outputs(problem, limit, stop, rule)
    elif method in ("greedy", "construct"):
        if chunk_size is not None and chunk_size < len(problem):
            order, pursuit = chunked(problem, limit, stop, rule, int(chunk_size))
        else:
            order, pursuit = greedy(problem, limit, stop, rule)
    elif method == "rank":
        order, pursuit = by_rank(problem, limit, stop)
    elif method == "landmarks":
        return by_landmarks(problem, limit, selection, random_state)
    else:
        order, pursuit = (by_l1 if method == "l1" else by_l0)(problem, limit, rule)
    return problem.take(order), order, pursuit


def _may_exchange(
    method: str, refit: Any, exchange: bool, n_points: Any, tol: Any, validation: Any
) -> bool:
    wanted = exchange and refit is not None and method in ("greedy", "construct")
    return wanted and n_points is not None and tol is None and validation is None


def _exchange(
    problem: Problem, points: Any, order: NDArray, pursuit: Pursuit, rows: _Rows, rule: str
) -> tuple[Any, NDArray, Pursuit]:
    """Points with which the outputs at the rows are fitted better, in the order of the pursuit.

    Where the fit asks for a ridge the model follows noise, and other points would follow it further.
    """
    r, N = len(order), len(problem)
    if problem.indefinite:
        return points, order, pursuit
    if pursuit.L.shape[1] != N or r == N or N < _SMALL or 3.0 * N * r**2 * _ROUNDS > _MOST_WORK:
        return points, order, pursuit
    fit = rows.fit(points, order, pursuit)
    if fit.errors[r] <= _GOOD_ENOUGH or fit.ridge(r):
        return points, order, pursuit
    try:
        found = exchanged(problem, pursuit, rule, _ROUNDS)
    except np.linalg.LinAlgError:  # an indefinite kernel: what is left has no length
        return points, order, pursuit
    new, found = among(problem, np.sort(found.order), rule)
    if len(new) < r:
        return points, order, pursuit
    better = rows.fit(problem.take(new), new, found).errors[r] < fit.errors[r]
    return (problem.take(new), new, found) if better else (points, order, pursuit)


def _construct(
    problem: Problem, points: Any, pursuit: Pursuit, rows: _Rows, max_iter: int
) -> tuple[Any, Pursuit]:
    if not getattr(problem.kernel, "has_input_gradient", False):
        raise ValueError(
            f"method='construct' needs a kernel with gradients, kernel == {problem.kernel}: use 'greedy'."
        )
    start = np.asarray(points, dtype=np.float64)
    moved = move_points(
        problem.kernel,
        start,
        np.asarray(rows.rows, dtype=np.float64),
        rows.outputs,
        max_iter=max_iter,
    )
    return of_new_points(problem, moved)


class _Rows:
    """The rows at which outputs are fitted, and the original's outputs there."""

    def __init__(self, expansion: Expansion, problem: Problem, X: Any) -> None:
        self.expansion, self.problem = expansion, problem
        self.own = X is None
        constant = np.broadcast_to(expansion.intercept, (problem.coef.shape[1],))
        self.rows = problem.points if X is None else X
        if X is None:
            self.outputs = problem.values + constant
        else:
            self.outputs = expansion(X).reshape(len(X), -1)

    def fit(self, points: Any, order: NDArray | None, pursuit: Pursuit) -> OutputFit:
        """Least squares on the outputs with the first 0, 1, .. points."""
        L, lengths = pursuit.L, self._lengths()
        if (
            self.own
            and order is not None
            and L.shape[1] == len(self.problem)
            and not self.problem.indefinite  # L is then a factor of something else
            and _is_full(L, order)
        ):
            rows = [(L.T, self.outputs)]
            return fit_outputs(rows, pursuit.triangle, pursuit.T, in_basis=True, lengths=lengths)
        return fit_outputs(
            self._blocks(points, order), pursuit.triangle, pursuit.T, lengths=lengths
        )

    def _lengths(self) -> Array | None:
        """``k(x, x)`` of the rows; None where it is no squared length."""
        if self.problem.indefinite:
            return None
        if self.own:
            return self.problem.diagonal()
        if self.expansion.is_precomputed:
            return np.array(np.asarray(self.rows).diagonal(), dtype=np.float64)
        return np.asarray(gram_diagonal(self.problem.kernel, self.rows), dtype=np.float64)

    def _blocks(self, points: Any, order: NDArray | None) -> Iterator[tuple[Array, Array]]:
        size = max(1, _BLOCK // max(len(points), 1))
        for part in row_blocks(len(self.outputs), size):
            yield self._values(part, points, order), self.outputs[part]

    def _values(self, part: slice | NDArray, points: Any, order: NDArray | None) -> Array:
        if not self.expansion.is_precomputed:
            rows = take(self.rows, part)
            return np.asarray(gram(self.problem.kernel, rows, points), dtype=np.float64)
        if self.own:
            assert self.problem.matrix is not None
            return self.problem.matrix[part][:, order]
        return np.asarray(self.rows, dtype=np.float64)[part][:, np.asarray(points)]


def _is_full(L: Array, order: NDArray) -> bool:
    """Whether the factor has the rows of all points, not of the chosen ones alone."""
    others = np.ones(L.shape[1], dtype=bool)
    others[order] = False
    return not others.any() or bool(L[:, others].any())


# -- sizes -------------------------------------------------------------------------------------


class _Maker:
    """Expansions of any size up to the one that was run to."""

    def __init__(self, *parts: Any) -> None:
        (
            self.expansion,
            self.problem,
            self.points,
            self.order,
            self.pursuit,
            self.fit,
            self.model,
            self.X,
            self.y,
        ) = parts

    def __call__(self, size: int) -> Expansion:
        coef, intercept = self._coefficients(size)
        points = self.points[:size]
        if self.expansion.coef.ndim == 1:
            coef, intercept = coef[:, 0], intercept[0]
        small = Expansion(points, coef, self.problem.kernel, intercept)
        if self.y is not None and self.X is not None and predicts_classes(self.model):
            small.intercept = class_thresholds(self.model, small, self.X, self.y)
        return small

    def _coefficients(self, size: int) -> tuple[Array, Array]:
        if self.fit is not None:
            return self.fit.coefficients(size)
        p = self.problem.coef.shape[1]
        return self.pursuit.coefficients(size), np.array(
            np.broadcast_to(self.expansion.intercept, (p,))
        )


def _by_tol(path: CompressionPath, tol: float) -> int:
    errors = path.errors if path.output_errors is None else path.output_errors
    good = np.flatnonzero(errors <= tol)
    return int(good[0]) if len(good) and good[0] > 0 else int(path.sizes[-1])


def _by_validation(model: Any, make: _Maker, path: CompressionPath, validation: Any) -> int:
    X, y = validation
    largest = int(path.sizes[-1])
    sizes = np.unique(np.geomspace(1, largest, min(largest, 40)).round().astype(int))
    errors = []
    for size in sizes:
        errors.append(_validation_error(_finish(model, make(size), path), X, y))
    path.validation_sizes, path.validation_errors = sizes, np.array(errors)
    path.full_validation_error = _validation_error(model, X, y)
    return int(sizes[np.flatnonzero(path.validation_errors <= _WITHIN * min(errors))[0]])


def _validation_error(model: Any, X: Any, y: Any) -> float:
    if predicts_classes(model):
        return float(np.mean(model.predict(X) != np.asarray(y)))
    for name in ("predict", "transform"):
        if hasattr(model, name):
            return _squared_error(np.asarray(getattr(model, name)(X)), y)
    return _squared_error(model(X), y)


def _squared_error(values: Array, y: Any) -> float:
    """Mean over the outputs; several in units of their variances, so that none counts by its unit."""
    truth = np.asarray(y, dtype=np.float64).reshape(len(values), -1)
    unit = spreads(truth) if truth.shape[1] > 1 else 1.0
    return float((((values.reshape(truth.shape) - truth) / unit) ** 2).mean())


# -- the model ---------------------------------------------------------------------------------


def _finish(model: Any, small: Expansion, path: CompressionPath) -> Any:
    path = copy.copy(path)
    path.n_points = small.n_points
    if isinstance(model, Expansion):
        result: Any = small
    elif hasattr(model, "with_inner_expansion"):
        result = model.with_inner_expansion(small)
    elif hasattr(model, "with_expansion"):
        result = model.with_expansion(small)
    else:
        result = wrap_model(model, small)
    result.compression_ = path
    return result


def _functions(model: Any) -> Expansion:
    """What is compressed: of a model with an output factor, the fewer functions before it."""
    if hasattr(model, "inner_expansion"):
        expansion: Expansion = model.inner_expansion()
        return expansion
    return Expansion.from_model(model)


def _empty(expansion: Expansion) -> Expansion:
    return Expansion(
        expansion.points[:0], expansion.coef[:0], expansion.kernel, expansion.intercept
    )


def _empty_path(expansion: Expansion) -> CompressionPath:
    return CompressionPath(0, expansion.n_points, np.zeros(1, dtype=np.intp), np.zeros(1))
