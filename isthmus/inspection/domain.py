"""Where a fitted model can be trusted: the domain of its training rows, and rows outside of it."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isthmus._linalg import BLOCK_ROWS, Array, row_blocks
from isthmus._validation import check_array, is_dask
from isthmus.inspection._domain_parts import (
    MOST_DOMAIN_ROWS,
    Folds,
    fold_planes,
    joint_limits,
    kernel_of,
    part_of_folds,
    renumber,
    scaled_errors,
    some_rows,
    statistics_of,
)
from isthmus.inspection._model import split_model
from isthmus.inspection.distances import (
    FeatureDistance,
    Neighbours,
    Ranges,
    Subspace,
)
from isthmus.inspection.intervals import error_scale, sorted_errors
from isthmus.inspection.reasons import CAUSES, tell_reason, worst_statistic
from isthmus.inspection.spacing import Spacing, find_spacing
from isthmus.inspection.standing_out import find_aside
from isthmus.inspection.trust import OutsideDomainWarning, Trust, tell_outside
from isthmus.inspection.unusual import FitRows, find_in_x, find_in_y
from isthmus.kernels import is_precomputed
from isthmus.problems.streams import as_rows

_MOST_POINTS_KEPT = 500  # that it keeps


class Domain:
    r"""The domain of a fitted model, from its training rows.

    =========================  ===================================================================
    statistic                  of which models
    =========================  ===================================================================
    T2, Q, Q of one input      all: within and beside the leading principal components of the inputs, as
                               many as give rows left out the largest Gaussian likelihood
    nearest training row       all: in the scores, or in the feature space of a kernel
    distance from the span     kernel models: :math:`k(x, x) - k_x^\top K^{-1} k_x`
    ranges of the inputs       all
    ranges of the outputs      all whose predictions of rows left out are given: is a prediction beyond
                               what was ever measured?
    =========================  ===================================================================

    The plane is one of the inputs, not that of the model: three components of PLS describe the outputs and
    leave much of the inputs beside them, in which the band of a foreign substance would be lost. What is
    beside the plane is counted in each column in the spread that rows left out have there; Q is the
    sum of its squares and sees broad changes, the largest of them a single dead pixel.

    Statistics of training rows are too small, those of Q most of all where there are fewer rows than
    inputs. So the limits come from rows left out in folds: each is a point of that statistic's own
    scale, its median plus a multiple of the way to its 90 % quantile, with one multiple for all so that
    95 % of the rows left out lie within all limits. A new row like the training rows is flagged with a
    probability of about 5 %, however many statistics there are.

    Rows that stand out (``standing_out.py``) are left out of all this, up to 15 % of the rows: one spectrum
    multiplied by five would set means, axes and limits, and nothing would be flagged any more.

    A column that never varied says nothing to a model and is left out. Missing values count as the mean
    of their column.

    Attributes
    ----------
    limits : dict of str and float
        Of each statistic.
    parts : dict
        The distances: ``ranges``, and ``plane``, ``neighbours`` or ``features``.
    before : list of transformers
        Steps in front of the model.
    means : ndarray of shape (n_features,)
        In place of missing values.
    names : list of str or None
    curve : bool
    usual : ndarray or None
        Sorted distances of the rows left out; None in files of before it was kept.
    scaled_errors : ndarray of shape (n_left_out, n_targets) or None
        Sorted absolute errors of the rows left out, each over its ``error_scale``.
    n_rows, mean_q : int, float
        Number of rows that it is made of, and the mean of Q over rows left out, which make that scale.
    spacing : Spacing or None
        How errors of ordered rows grow with the distance from the nearest row of the fit, which is part of
        their scale; None for other rows.
    transfer : transformer or None
        Through which rows of another instrument come, before all else.
    unusual : list of dict
        Rows of the fit that stand out: ``row``, ``part`` ("X" or "y"), ``times`` (the limit), ``reason``,
        ``group`` (a number that rows that lie together share, -1 for others). Those in X are no part of the
        domain, nor of the errors behind intervals.
    share_far : float
        Share of the rows that lie far from three quarters of them, whether they are part of it or not.
    """

    limits: dict[str, float]
    parts: dict[str, Any]
    before: list[Any]
    means: Array
    names: list[str] | None
    curve: bool
    usual: Array | None = None
    transfer: Any = None
    scaled_errors: Array | None = None
    n_rows: int = 0
    mean_q: float = 0.0
    spacing: Spacing | None = None
    target_names: list[str] | None = None
    unusual: Sequence[dict[str, Any]] = ()
    share_far: float = 0.0

    @classmethod
    def of(
        cls,
        model: Any,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        folds: Folds | None = None,
        names: Sequence[str] | None = None,
        curve: bool = False,
        left_out: ArrayLike | None = None,
        later: tuple[ArrayLike, Folds] | None = None,
        target_names: Sequence[str] | None = None,
        fitted: FitRows | None = None,
    ) -> Domain:
        """Make the domain of a fitted model.

        Parameters
        ----------
        model : fitted estimator
            Of a pipeline the steps before the last are part of the domain.
        X : array-like of shape (n_samples, n_features), Rows or Dask collection
            The rows of the fit. Of many rows a sample of 2000 is looked at, of Rows and of Dask collections
            in one pass.
        y : array-like, default=None
            The outputs of the fit; looked at if ``left_out`` is given. Rows have their own.
        folds : sequence of (train, test), default=None
            In which rows are left out; None is five shuffled folds. Folds of batches give the limits of
            new batches.
        names : sequence of str, default=None
            Names of the inputs, for the reasons.
        curve : bool, default=False
            Whether the inputs are points of a curve: reasons name a stretch of it then.
        left_out : array-like in the shape of ``y``, default=None
            Predictions of rows in the folds that left them out; with them ``check`` looks at predictions.
            Of Rows and Dask collections those of the model itself.
        later : tuple of array-like in the shape of ``y`` and folds, default=None
            Predictions of later rows from earlier ones, whose errors are kept in place of the others, and
            the folds they come from.
        target_names : sequence of str, default=None
            Names of the outputs, for the reasons.
        fitted : FitRows, default=None
            Numbers and names of the rows, for ``unusual``, and rows that the domain must keep; None counts
            them.

        Returns
        -------
        domain : Domain
        """
        source = as_rows(X, y if is_dask(X) else None)
        if source is not None:  # a model of so many rows knows none of them by heart
            X, y, numbers = source.sample(MOST_DOMAIN_ROWS, 0)
            fitted = FitRows(numbers)
            with warnings.catch_warnings():  # the columns are those of the fit
                warnings.filterwarnings("ignore", message="X does not have valid feature names")
                left_out = model.predict(X) if y.shape[1] else None
        rows = check_array(X, dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=3)
        self = cls()
        self.curve = curve
        self.names = None if names is None else [str(name) for name in names]
        self.before, last = split_model(model)
        if self.before and hasattr(self.before[-1], "points_"):  # landmarks before a linear map
            last = self.before.pop()
        complete = np.where(np.isnan(rows), np.nan_to_num(np.nanmedian(rows, axis=0)), rows)
        kept, folds = part_of_folds(complete, folds)
        fitted = FitRows(np.arange(len(rows))) if fitted is None else fitted
        seen = [complete[kept]]
        if self.before:
            seen.append(self.before_model(complete[kept]))
        if is_precomputed(kernel_of(last)):  # rows of a Gram matrix are no points
            seen = []
        judged = fitted.without(fitted.keep)[kept]
        stands_out, times, self.share_far = find_aside(seen, judged, folds)
        aside, others = kept[stands_out], np.flatnonzero(~stands_out)
        self.means = np.nan_to_num(np.nanmean(np.delete(rows, aside, axis=0), axis=0))
        rows = np.where(np.isnan(rows), self.means, rows)
        kept, folds = kept[others], renumber(folds, others, len(kept))
        found, unusual = self._build(last, rows[kept], folds), []
        self.n_rows = len(kept)
        self.mean_q = float(found["Q"].mean()) if "Q" in found else 0.0
        if left_out is not None:
            known, guess = (
                np.asarray(a, float).reshape(len(rows), -1)[kept] for a in (y, left_out)
            )
            self.target_names = None if target_names is None else [str(n) for n in target_names]
            self.parts["outputs"] = Ranges(known)
            beyond = [Ranges(known[train]).values(guess[test]) for train, test in folds]
            errors = scaled_errors(known - guess, folds, found, self.mean_q)
            outputs = self.target_names or [f"y{j}" for j in range(known.shape[1])]
            unusual += find_in_y(fitted.part(kept), errors, known, guess, outputs)
            if later is not None:
                guess = np.asarray(later[0], float).reshape(len(rows), -1)[kept]
                of_later = scaled_errors(known - guess, folds, found, self.mean_q)
                Z = self.before_model(rows[kept])
                in_time = renumber(later[1], kept, len(rows))
                between, errors = (folds, errors), of_later
                if "plane" in self.parts:  # rows of a Gram matrix are no points
                    self.spacing, errors = find_spacing(Z, between, (in_time, of_later))
            self.scaled_errors = sorted_errors(errors[np.isfinite(errors).any(axis=1)])
            found["output"] = np.concatenate(beyond)
        self.limits = joint_limits(found)
        self.usual = self._usual(found)
        if len(aside):
            unusual += find_in_x(self, fitted.part(aside), times[stands_out], rows[aside])
        self.unusual = sorted(unusual, key=lambda each: (each["part"], -each["times"]))
        return self

    def _build(self, model: Any, X: Array, folds: Folds) -> dict[str, Array]:
        """Set the distances of all rows; return those of rows left out."""
        Z = self.before_model(X)
        kernel = kernel_of(model)
        planes = [] if is_precomputed(kernel) else fold_planes(Z, folds)

        def distances(rows: NDArray, plane: Subspace | None) -> dict[str, Any]:
            parts: dict[str, Any] = {"ranges": Ranges(X[rows])}
            few = some_rows(rows, _MOST_POINTS_KEPT)
            if kernel is not None:
                parts["features"] = FeatureDistance(kernel, Z[few])
            if plane is None:
                return parts
            parts["plane"] = plane
            if kernel is None:
                parts["neighbours"] = Neighbours(plane.scores(plane.standardise(Z[few])))
            return parts

        found = []
        for i, (train, test) in enumerate(folds):
            parts = distances(train, planes[i] if planes else None)
            found.append(statistics_of(parts, X[test], Z[test]))
        self.parts = distances(np.arange(len(X)), planes[-1] if planes else None)
        # A rare category that a fold has never seen leaves nothing beside its plane: zero.
        of_folds = [(each, np.zeros_like(each["range"])) for each in found]
        names = statistics_of(self.parts, X[:1], Z[:1])
        return {n: np.concatenate([each.get(n, none) for each, none in of_folds]) for n in names}

    def _usual(self, left_out: dict[str, Array]) -> Array:
        """Sorted distances of the rows left out, thinned where there are very many."""
        if not self.limits:
            return np.zeros(0)
        distance = np.max([self._ratio(name, left_out[name]) for name in self.limits], axis=0)
        levels = np.linspace(0, 1, min(len(distance), _MOST_POINTS_KEPT))
        return np.asarray(np.quantile(distance, levels))

    def _ratio(self, name: str, values: Array) -> Array:
        """A statistic over its limit; lengths are squared, as T2, Q and the distance from the span are."""
        ratio = np.nan_to_num(values, nan=np.inf) / self.limits[name]
        return ratio**2 if name in ("range", "nearest", "output") else ratio

    def before_model(self, X: Array) -> Array:
        """Rows as the last step of the model sees them."""
        for step in self.before:
            X = np.asarray(step.transform(X), dtype=np.float64)
        return X

    def check(self, X: ArrayLike, predictions: ArrayLike | None = None) -> Trust:
        """Return how far rows lie from the domain, which are outside, and why.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows.
        predictions : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            Of the model for these rows; without them ranges of the outputs are not looked at.

        Returns
        -------
        trust : Trust
        """
        return self._check(self._filled(X), _columns(predictions))

    def _check(self, rows: Array, guess: Array | None) -> Trust:
        """Check rows of the model's own inputs, without gaps."""
        Z = self.before_model(rows)
        names, ratios, statistics = self._ratios(rows, Z, guess)
        distance = ratios.max(axis=1)
        reasons = [""] * len(rows)
        causes = [""] * len(rows)
        with np.errstate(over="ignore", invalid="ignore"):  # rows may be as far out as numbers go
            for i in np.flatnonzero(distance > 1):
                worst, ratio = worst_statistic(names, ratios[i])
                causes[i] = CAUSES[worst]
                own = None if guess is None else guess[i]
                reasons[i] = tell_reason(self, worst, ratio, rows[i], Z[i], own)
        units = None
        if self.n_rows:
            units = error_scale(statistics, self.n_rows, self.mean_q)
        if units is not None and self.spacing is not None:
            units = units * self.spacing.growth(Z)
        return Trust(distance, distance > 1, reasons, causes, self.usual, units)

    def warn(self, X: ArrayLike, predictions: ArrayLike | None = None) -> None:
        """Warn if rows lie outside the domain: more of them than chance takes there, or some far out.

        One :class:`OutsideDomainWarning` tells how many, and the reason of the farthest. Of rows like those
        of the fit about 5 % lie outside, so that a few are no news: the warning comes if so many are rarer
        than one table in a hundred, if a row is three times as far out as the limit, or if the rows have
        moved as a whole. :meth:`check` has every row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows.
        predictions : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            Of the model for these rows.
        """
        rows = self._filled(X)
        guess = _columns(predictions)
        distance = np.zeros(len(rows))
        causes = Counter[str]()
        for part in row_blocks(len(rows), BLOCK_ROWS):
            inputs = rows[part]
            outputs = None if guess is None else guess[part]
            names, ratios, _ = self._ratios(inputs, self.before_model(inputs), outputs)
            distance[part] = ratios.max(axis=1)
            outside = ratios[distance[part] > 1][:_MOST_POINTS_KEPT]
            causes.update(CAUSES[worst_statistic(names, row)[0]] for row in outside)
        trust = Trust(distance, distance > 1, [], [], self.usual)
        if not trust.is_news:
            return
        told = tell_outside(len(rows), causes, trust.shift_p_value, int(trust.outside.sum()))
        far = int(distance.argmax())
        if distance[far] > 1:
            one = slice(far, far + 1)
            reason = self._check(rows[one], None if guess is None else guess[one]).reasons[0]
            told += f" Farthest is row {far}: {reason}."
        warnings.warn(told, OutsideDomainWarning, stacklevel=3)

    @property
    def rows_aside(self) -> list[int]:
        """Rows of the fit that are no part of the domain."""
        return [each["row"] for each in self.unusual if each["part"] == "X"]

    @property
    def output_extent(self) -> Array | None:
        """Largest minus smallest value of each output of the fit; None where they are not known."""
        outputs: Ranges | None = self.parts.get("outputs")
        return None if outputs is None else outputs.upper - outputs.lower

    def _filled(self, X: ArrayLike) -> Array:
        if self.transfer is not None:
            with warnings.catch_warnings():  # the names have been matched
                warnings.filterwarnings("ignore", message="X does not have valid feature names")
                return np.asarray(self.transfer.transform(X), dtype=np.float64)
        rows = check_array(X, dtype=np.float64, ensure_all_finite="allow-nan")
        return np.asarray(np.where(np.isnan(rows), self.means, rows))

    def enlarge_errors(self, factor: Any) -> None:
        """Multiply the errors that intervals are made of, those of each output by its own factor."""
        if self.scaled_errors is not None:
            self.scaled_errors = self.scaled_errors * factor

    def _ratios(
        self, rows: Array, Z: Array, guess: Array | None
    ) -> tuple[list[str], Array, dict[str, Array]]:
        """Names of the statistics, of each row each over its limit, and the statistics themselves."""
        names = [name for name in self.limits if name != "output" or guess is not None]
        ratios = np.zeros((len(rows), max(len(names), 1)))
        with np.errstate(over="ignore", invalid="ignore"):
            found = statistics_of(self.parts, rows, Z)
            if guess is not None and "output" in names:
                found["output"] = self.parts["outputs"].values(guess)
            for column, name in enumerate(names):
                ratios[:, column] = self._ratio(name, found[name])
        return names, ratios, found


def _columns(predictions: ArrayLike | None) -> Array | None:
    """Predictions as a matrix."""
    if predictions is None:
        return None
    guess = np.asarray(predictions, dtype=np.float64)
    return guess.reshape(len(guess), -1)
