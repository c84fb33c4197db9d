"""Maps of low rank that use few inputs: a group lasso on the rows of the factor, with its whole path."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lasso_path

from isthmus._linalg import EPS, GRAM_RANK_TOL, Array
from isthmus._validation import (
    check_count,
    check_flag,
    check_number,
    check_option,
    check_rank,
    warn,
)
from isthmus.problems import RowForm
from isthmus.regression.linear import LinearRegressor
from isthmus.regression.pls import PLS

_TURNS = 100  # alternations of a rank constraint at one penalty
_FIRST_COLUMNS = 10  # looked at first; twice as many as are used later
_COORDINATE_SWEEPS = 10  # of coordinate descent between two looks
_NEWTON_STEPS = 5  # between two looks, at most
_NEWTON_HALVINGS = 6  # of a step that goes too far
_MOST_UNKNOWNS = 1000  # whose second derivatives are still solved in less time than sweeps take


class SparseFactors(LinearRegressor):
    r"""Fit reduced rank regression or PLS with a row-sparse factor, which uses few inputs, [CH2012]_.

    .. math::
        \min_{A, V^\top V = I} \tfrac12 \|Y - X A V^\top\|_F^2 + \lambda \sum_j \|a_j\|_2

    on centred columns; :math:`a_j` is the row of input j, used by all components or by none. With fixed V
    the problem is a group lasso in A, whose duality gap bounds how far the objective is from its minimum.
    With full rank V is the identity and the gap certifies the map itself: it is that of scikit-learn's
    ``MultiTaskLasso``. Below full rank A and V alternate, and the gap certifies A. With ``factor="pls"``
    the scores of PLS take the place of YV, and y is regressed on the sparse scores. The path runs from the
    smallest :math:`\lambda` that uses no input down to the one asked for, each fit starting from the last.

    Parameters
    ----------
    n_components : int or None, default=None
        Rank; None is full rank for "reduced_rank", and 2 for "pls".
    factor : {"reduced_rank", "pls"}, default="reduced_rank"
        What the sparse factor predicts: the outputs under a rank constraint, or the scores of PLS.
    penalty : float, default=0.1
        Penalty as a share of the smallest one that uses no input, in (0, 1]; free of units.
    n_penalties : int, default=20
        Number of penalties of the path, evenly spaced on a logarithmic scale.
    scale : bool, default=True
        Whether columns of X and y are divided by their standard deviations.
    tol : float, default=1e-4
        Duality gap, as a share of the objective of the empty model, at which a fit ends.
    max_iter : int, default=20000
        Largest number of sweeps of coordinate descent for each penalty.

    Attributes
    ----------
    coef_, intercept_ : ndarray
        The map: a prediction is ``X @ coef_.T + intercept_``.
    selected_ : ndarray of bool, of shape (n_features,)
        Inputs that are used.
    penalties_ : ndarray of shape (n_penalties,)
        Penalties of the path, as shares.
    coef_path_ : ndarray of shape (n_penalties[, n_targets], n_features)
        The map at each of them.
    gap_path_ : ndarray of shape (n_penalties,)
        Duality gap at each of them, as a share of the objective of the empty model.
    n_iter_ : int
        Sweeps of all fits together.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.regression import SparseFactors
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 30))
    >>> Y = X[:, [3, 7]] @ rng.normal(size=(2, 4)) + 0.1 * rng.normal(size=(60, 4))
    >>> np.flatnonzero(SparseFactors(2, penalty=0.3).fit(X, Y).selected_)
    array([3, 7])
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        factor: str = "reduced_rank",
        penalty: float = 0.1,
        n_penalties: int = 20,
        scale: bool = True,
        tol: float = 1e-4,
        max_iter: int = 20_000,
    ) -> None:
        self.n_components = n_components
        self.factor = factor
        self.penalty = penalty
        self.n_penalties = n_penalties
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: ArrayLike, y: ArrayLike) -> SparseFactors:
        """Fit the path of maps.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Inputs.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Outputs.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        rank = check_rank(self.n_components, minimum=1)
        check_option("factor", self.factor, ("reduced_rank", "pls"))
        check_number("penalty", self.penalty, "above 0 and at most 1", high=1.0, strict=True)
        check_count("n_penalties", self.n_penalties)
        check_flag("scale", self.scale)
        check_number("tol", self.tol, "> 0 and finite", strict=True)
        check_count("max_iter", self.max_iter)
        rows, Y, y_is_1d = self._check_fit(X, y)
        # Penalties are shares of the largest, so that sample deviations serve as well as any.
        form = RowForm.from_rows(rows, Y, None, self.scale)
        frame = form.frame
        self.penalties_ = np.geomspace(1.0, self.penalty, self.n_penalties)
        if self.n_penalties == 1:
            self.penalties_ = np.array([float(self.penalty)])
        # By columns, as coordinate descent goes.
        factors, gaps = self._path(np.asfortranarray(form.X), form.Y, rank)
        self.gap_path_ = np.array(gaps)
        if max(gaps) > self.tol:
            warn(
                f"the duality gap is {max(gaps):.1e} after max_iter={self.max_iter} sweeps, above "
                f"tol={self.tol:.1e}: raise max_iter, penalty or tol.",
                ConvergenceWarning,
            )
        path = np.array([(B / frame.x_scale[:, None] * frame.y_scale).T for B in factors])
        self.coef_path_ = path[:, 0] if y_is_1d else path
        self._keep_map(path[-1], frame.y_mean - path[-1] @ (frame.x_mean + frame.x_rest), y_is_1d)
        self.selected_ = (path[-1] != 0).any(axis=0)
        return self

    def _path(self, X: Array, Y: Array, rank: int | None) -> tuple[list[Array], list[float]]:
        """Coefficients (p, q) and gaps at all penalties."""
        q = Y.shape[1]
        self.n_iter_ = 0
        turns = None  # V, where the rank is below full
        targets = Y
        if self.factor == "pls":
            most = min(2 if rank is None else rank, *X.shape)
            with warnings.catch_warnings():  # fewer components than asked for are no news here
                warnings.filterwarnings("ignore", message="n_components")
                targets = PLS(most, scale=False).fit(X, Y).transform(X)
        elif rank is not None and rank < q:
            turns = np.linalg.svd(Y, full_matrices=False)[2][:rank].T
            targets = Y @ turns
        A = np.zeros((X.shape[1], targets.shape[1]))
        largest = float(np.linalg.norm(X.T @ targets, axis=1).max(initial=0.0))
        coefs, gaps = [], []
        for share in self.penalties_:
            A, gap = self._solve(X, targets, share * largest, A)
            for _ in range(_TURNS):
                if turns is None or not A.any():
                    break
                nearest = _nearest_turns(Y.T @ (X @ A), turns)
                if np.linalg.norm(nearest - turns) <= self.tol:
                    break
                turns = nearest
                targets = Y @ turns
                A, gap = self._solve(X, targets, share * largest, A)
            gaps.append(gap)
            if self.factor == "pls":
                scores = X @ A
                coefs.append(A @ np.linalg.lstsq(scores, Y, rcond=None)[0])
            else:
                coefs.append(A if turns is None else A @ turns.T)
        return coefs, gaps

    def _solve(self, X: Array, targets: Array, penalty: float, start: Array) -> tuple[Array, float]:
        """A and its gap, from ``start``; only columns that may be used are looked at in the inner fits."""
        unit = 0.5 * float((targets**2).sum())
        if penalty == 0 or unit == 0:
            return np.zeros_like(start), 0.0
        A, size = start, _FIRST_COLUMNS
        goal = self.tol * unit
        sweeps = self.max_iter
        while True:
            gap, slopes = duality_gap(X, targets, A, penalty)
            if gap <= goal or sweeps <= 0:
                return A, gap / unit
            used = A.any(axis=1)
            size = max(size, 2 * int(used.sum()))
            slopes[used] = np.inf
            among = np.sort(np.argsort(-slopes, kind="stable")[:size])
            part = np.asfortranarray(X[:, among])
            A = np.zeros_like(start) if not used.any() else A.copy()
            A[among], done = _descend(part, targets, penalty, A[among], 0.3 * goal, sweeps)
            sweeps -= done
            self.n_iter_ += done


def duality_gap(X: Array, Y: Array, A: Array, penalty: float) -> tuple[float, Array]:
    r"""Return how far A can be from the minimum of the group lasso, and the slope along each column.

    The residual, shrunk until :math:`\|x_j^\top U\| \le \lambda` for all columns, is feasible for the dual
    :math:`\max_U \tfrac12 \|Y\|^2 - \tfrac12 \|Y - U\|^2`.
    """
    residual = Y - X @ A
    slopes = np.linalg.norm(X.T @ residual, axis=1)
    steepest = float(slopes.max())
    U = residual * min(1.0, penalty / steepest if steepest > 0 else 1.0)
    value = _objective(residual, A, penalty)
    return value - 0.5 * float((Y**2).sum()) + 0.5 * float(((Y - U) ** 2).sum()), slopes


def _nearest_turns(M: Array, before: Array) -> Array:
    """Return V with orthonormal columns and the largest trace of V'M.

    As long as A has fewer dimensions than the rank, V is free along the others: it stays as near as it can
    to the one before, where rounding, and with it the order of the columns, would choose.
    """
    left, sizes, right = np.linalg.svd(M, full_matrices=False)
    free = sizes <= GRAM_RANK_TOL * sizes[0]
    V = left[:, ~free] @ right[~free]
    if free.any():
        left, right = left[:, ~free], right[~free]
        rest = before - left @ (left.T @ before)
        rest -= (rest @ right.T) @ right
        outer, _, inner = np.linalg.svd(rest, full_matrices=False)
        V = V + outer[:, : free.sum()] @ inner[: free.sum()]
    return np.asarray(V)


def _objective(residual: Array, A: Array, penalty: float) -> float:
    return 0.5 * float((residual**2).sum()) + penalty * float(np.linalg.norm(A, axis=1).sum())


def _descend(
    X: Array, Y: Array, penalty: float, A: Array, goal: float, max_sweeps: int
) -> tuple[Array, int]:
    """Coordinate descent, which finds the rows that are used, with Newton's steps for their values.

    Collinear columns would need thousands of sweeps: on rows that are not zero the objective is smooth, and
    Newton's method does not mind how alike columns are. Returns A and the number of sweeps.
    """
    Y = np.asfortranarray(Y)
    done = 0
    while done < max_sweeps:
        with warnings.catch_warnings():  # the gap decides, not the number of sweeps
            warnings.simplefilter("ignore", ConvergenceWarning)
            _, found, _ = lasso_path(
                X,
                Y,
                alphas=[penalty / len(X)],
                coef_init=A.T.copy("F"),
                tol=0.0,
                max_iter=_COORDINATE_SWEEPS,
            )
        done += _COORDINATE_SWEEPS
        A = np.ascontiguousarray(found[:, :, 0].T)
        A = _polish(X, Y, penalty, A)
        if duality_gap(X, Y, A, penalty)[0] <= goal:
            break
    return A, done


def _polish(X: Array, Y: Array, penalty: float, A: Array) -> Array:
    """Newton's method on the rows that are not zero, as long as its steps lower the objective.

    A row that passes zero on the way is zero from then on; sweeps may take it back.
    """
    used = np.flatnonzero(A.any(axis=1))
    if used.size * A.shape[1] > _MOST_UNKNOWNS:
        return A
    lowest = _objective(Y - X @ A, A, penalty)
    for _ in range(used.size + _NEWTON_STEPS):  # each may take a row out
        part, values = X[:, used], A[used]
        try:
            step = _newton_step(part, Y - part @ values, penalty, values)
        except np.linalg.LinAlgError:  # a row is all but zero, which sweeps will settle
            break
        tried = _along(values, step)
        heights = [_objective(Y - part @ tried[0], tried[0], penalty)]
        if heights[0] >= lowest or len(tried) > _NEWTON_HALVINGS:  # too far, or a row passes zero
            heights += [_objective(Y - part @ each, each, penalty) for each in tried[1:]]
        best = int(np.argmin(heights))
        gain = lowest - heights[best]
        if gain <= 0:
            break
        lowest = heights[best]
        A = np.zeros_like(A)
        A[used] = tried[best]
        if gain <= EPS * lowest:  # rounding
            break
        used = np.flatnonzero(A.any(axis=1))
    return A


def _along(values: Array, step: Array) -> list[Array]:
    """Points along a step: all of it, halves of it, and where the first row passes zero."""
    turned = (values * (values + step)).sum(axis=1) <= 0
    # Where along the step such a row is the smallest.
    at = -(values * step).sum(axis=1)[turned] / (step[turned] ** 2).sum(axis=1)
    found = []
    for length in (*0.5 ** np.arange(_NEWTON_HALVINGS), *np.sort(at)[:1]):
        point = values + length * step
        point[(values * point).sum(axis=1) <= EPS * (values**2).sum(axis=1)] = 0.0
        found.append(point)
    return found


def _newton_step(X: Array, residual: Array, penalty: float, A: Array) -> Array:
    """Newton's step of the objective at A (k, q), of which no row is zero."""
    k, q = A.shape
    gram = X.T @ X
    norms = np.linalg.norm(A, axis=1)
    along = A / norms[:, None]
    bend = (np.eye(q) - along[:, :, None] * along[:, None, :]) * (penalty / norms)[:, None, None]
    hessian = np.einsum("ij,ab->iajb", gram, np.eye(q))
    hessian[np.arange(k), :, np.arange(k), :] += bend
    hessian = hessian.reshape(k * q, k * q)
    # A ridge of this share keeps the step finite where columns are the same.
    hessian[np.diag_indices(k * q)] += 1e-12 * np.trace(gram)
    slopes = X.T @ residual - penalty * along
    return np.linalg.solve(hessian, slopes.ravel()).reshape(k, q)
