"""``compress``: any fitted kernel model with fewer points."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from isthmus.compression.arguments import (
    DEFAULT_TOL,
    check_arguments,
    check_selection,
    matrix_of_points,
    size_limits,
)
from isthmus.compression.choice import error_at, may_move, part_function
from isthmus.compression.composite import compress_inside, holds_models
from isthmus.compression.construct import move_points
from isthmus.compression.exchange import exchange_points
from isthmus.compression.indefinite import by_outputs, check_definite
from isthmus.compression.output_rows import OutputRows
from isthmus.compression.path import CompressionPath
from isthmus.compression.select import (
    Problem,
    by_landmarks,
    by_rank,
    chunk_in_memory,
    make_problem,
    order_points,
    pursue,
    pursue_by_chunks,
    span_new_points,
)
from isthmus.compression.sizes import (
    SmallModels,
    expansion_of,
    finish,
    finish_empty,
    size_by_tolerance,
    size_by_validation,
)
from isthmus.kernels import Pursuit

_GOOD_ENOUGH = 1e-5  # of the outputs' squares: no exchange is worth its time
_SMALL_EXPANSION = (
    200  # points: smaller expansions are fast as they are, and have few others to offer
)
_EXCHANGE_ROUNDS = 20  # of exchanges: twice as many gain next to nothing
_EXCHANGE_WORK = 1e11  # operations, eight seconds or so: beyond it the pursuit's points stay


def compress(
    model: Any,
    n_points: int | None = None,
    *,
    tol: float | None = None,
    method: str = "auto",
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
    training rows. [B2006]_ Ch. 4, corrected. Several outputs count by their sizes, so that one in small
    units is approximated last. Those of a :class:`DependencyRegressor` with ``scale_y=True`` count alike.

    Parameters
    ----------
    model : fitted model or Expansion
        One of ours with ``to_expansion`` and ``with_expansion``, or a model of scikit-learn that
        :meth:`Expansion.from_model` supports; a pipeline that ends in one, a search that found one (its
        best model is what comes back), or a classifier made of several: a ``GaussianProcessClassifier``
        whose classes have different kernels, ``OneVsRestClassifier``, ``OneVsOneClassifier``.
    n_points : int, default=None
        How many points to keep; of a classifier made of several, in each of them.
    tol : float, default=None
        Keep as few points as leave a relative squared error of at most ``tol``. With neither
        ``n_points``, ``tol`` nor ``validation`` it is 1e-3.
    method : {"auto", "greedy", "rank", "landmarks", "construct"}, default="auto"
        "greedy": pursuit of the functions. "rank": lossless, as many points as the kernel matrix has rank.
        "landmarks": points chosen without a look at the functions. "construct": greedy points that then
        move, for kernels with gradients: half as many usually suffice for the same error, but they take
        some fifty times as long to find. "auto": greedy points; if ``n_points`` alone is given and they
        leave more than a twentieth of the outputs' squares, moved ones if these are nearer, at a fifth of
        the points, to the functions without that fifth (not tried where it takes more than some seconds);
        ``compression_.options`` says which. The l0 and l1 penalties of [B2006]_ are in
        ``isthmus.papers.kernel_dependency_thesis``.
    selection : {"uniform", "kmeans", "cholesky", "leverage"}, default="uniform"
        Which points ``method="landmarks"`` takes: drawn at random; centres of k-means, which are not
        points of the model (vectors only, needs ``n_points``); by pivoted Cholesky; drawn by ridge
        leverage scores.
    refit : {"outputs", None}, default="outputs"
        Fit coefficients and intercept to the values at the rows, with a ridge if that lowers the error at
        rows that are not points; None keeps the nearest functions.
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
        Run the pursuit on blocks of this many points, then on the union of what they chose. None: only
        if ``N n_points`` numbers (``N N`` with ``tol`` alone) are more than scikit-learn's
        ``working_memory``, by blocks that fit into it.
    max_iter : int, default=300
        Most steps of ``method="construct"``.
    random_state : int or RandomState, default=None
        Seed for ``method="landmarks"``; None is fresh entropy.

    Returns
    -------
    small : model
        Predicts as the original does. ``small.compression_`` is a ``CompressionPath`` with the
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
    arguments = dict(locals())  # those of the call: nothing else has a name yet
    if holds_models(model):
        return compress_inside(compress, **arguments)
    expansion = expansion_of(model)
    check_arguments(method, refit, tol, n_points, expansion.n_points, chunk_size)
    check_selection(selection, method, n_points, validation)
    if not expansion.coef.any():
        warnings.warn("All coefficients are zero: no points are kept.", stacklevel=2)
        return finish_empty(model, expansion)
    problem = make_problem(expansion, matrix_of_points(expansion, model, X))
    if not problem.values.any():
        warnings.warn("The functions are zero at all points: no points are kept.", stacklevel=2)
        return finish_empty(model, expansion)
    is_open = method == "auto"
    method = "greedy" if is_open else method
    check_definite(problem, method, chunk_size)
    limit, within = size_limits(n_points, tol, validation, expansion.n_points, method)
    choice = _select(problem, limit, within, method, selection, chunk_size, random_state)
    rows = OutputRows(expansion, problem, X)
    by_size = n_points is not None and tol is None and validation is None
    if exchange and refit is not None and by_size and method in ("greedy", "construct"):
        choice = _exchange(problem, choice, rows)
    if method == "construct":
        choice = _construct(problem, choice, rows, max_iter)
    elif is_open and by_size and refit is not None:
        if _should_move(problem, choice, rows, max_iter, exchange):
            choice = _construct(problem, choice, rows, max_iter)
            method = "construct"
    points, order, pursuit = choice
    fit = None if refit is None else rows.fit(points, order, pursuit)
    path = CompressionPath(
        n_points=len(pursuit.T),
        n_points_full=expansion.n_points,
        sizes=np.arange(len(pursuit.T) + 1),
        errors=pursuit.errors,
        output_errors=None if fit is None else fit.errors,
        indices=order,
        options={"method": method, "selection": selection, "refit": refit},
    )
    labelled = None if X is None or y is None else (X, y)
    small = SmallModels(model, expansion, problem, points, pursuit, fit, labelled)
    if validation is not None:
        path.n_points = size_by_validation(small, path, validation)
    elif (tol is not None and n_points is None) or within is not None:
        path.n_points = size_by_tolerance(path, DEFAULT_TOL if tol is None else tol)
    path.ridge = 0.0 if fit is None else fit.ridge(path.n_points)
    return finish(model, small.expansion(path.n_points), path)


class _Choice(NamedTuple):
    """Points in order, their places among those of the model (None for new ones), and the pursuit."""

    points: Any
    order: NDArray | None
    pursuit: Pursuit


def _select(
    problem: Problem,
    limit: int,
    within: float | None,
    method: str,
    selection: str,
    chunk_size: int | None,
    random_state: Any,
) -> _Choice:
    stop = 0.0 if within is None else within
    if method == "landmarks" and not problem.indefinite:
        return _Choice(*by_landmarks(problem, limit, selection, random_state))
    if problem.indefinite:
        order, pursuit = by_outputs(problem, limit, stop)
    elif method == "rank":
        order, pursuit = by_rank(problem, limit, stop)
    elif (size := chunk_size or chunk_in_memory(problem, limit)) and size < len(problem):
        order, pursuit = pursue_by_chunks(problem, limit, stop, int(size))
    else:
        pursuit = pursue(problem, limit, stop)
        order = pursuit.order
    return _Choice(problem.take(order), order, pursuit)


def _exchange(problem: Problem, choice: _Choice, rows: OutputRows) -> _Choice:
    """Try exchanging points; keep the exchange if it lowers the error of the outputs.

    If the fit needs a ridge, the model follows noise, and other points would follow it further.
    """
    points, order, pursuit = choice
    r, N = len(pursuit.order), len(problem)
    if order is None or problem.indefinite or pursuit.L.shape[1] != N:
        return choice
    if r == N or N < _SMALL_EXPANSION or 3.0 * N * r**2 * _EXCHANGE_ROUNDS > _EXCHANGE_WORK:
        return choice
    fit = rows.fit(points, order, pursuit)
    if fit.errors[r] <= _GOOD_ENOUGH or fit.ridge(r):
        return choice
    try:
        found = exchange_points(problem, pursuit, n_rounds=_EXCHANGE_ROUNDS)
    except np.linalg.LinAlgError:  # an indefinite kernel: what is left has no length
        return choice
    new, found = order_points(problem, np.sort(found.order))
    if len(new) < r:
        return choice
    other = _Choice(problem.take(new), new, found)
    return other if rows.fit(*other).errors[r] < fit.errors[r] else choice


def _should_move(
    problem: Problem, choice: _Choice, rows: OutputRows, max_iter: int, exchange: bool
) -> bool:
    """Return whether moved points are nearer than those of the pursuit to functions of the same kind."""
    fit = rows.fit(*choice)
    r = len(choice.pursuit.T)
    if fit.ridge(r) or not may_move(problem, choice.points, rows, fit.errors[-1], max_iter):
        return False
    part, own_rows, held = part_function(rows)
    trial = make_problem(part, None)
    at = OutputRows(part, trial, own_rows)
    size = max(1, r * len(trial) // len(problem))
    stay = _select(trial, size, None, "greedy", "", None, None)
    stay = _exchange(trial, stay, at) if exchange else stay
    outputs = part(held).reshape(len(held), -1)
    errors = [
        error_at(trial.kernel, one.points, at.fit(*one), held, outputs)
        for one in (stay, _construct(trial, stay, at, max_iter))
    ]
    return errors[1] < errors[0]


def _construct(problem: Problem, choice: _Choice, rows: OutputRows, max_iter: int) -> _Choice:
    if not getattr(problem.kernel, "has_input_gradient", False):
        raise ValueError(
            f"method='construct' needs a kernel with gradients, kernel == {problem.kernel}: use 'greedy'."
        )
    if issparse(choice.points) or issparse(rows.rows):
        raise ValueError(
            "method='construct' moves points, which fills the zeros of sparse rows: use 'greedy', or give "
            "dense rows if they fit into memory."
        )
    moved = move_points(
        problem.kernel,
        np.asarray(choice.points, dtype=np.float64),
        np.asarray(rows.rows, dtype=np.float64),
        rows.outputs,
        max_iter=max_iter,
    )
    points, pursuit = span_new_points(problem, moved)
    return _Choice(points, None, pursuit)
