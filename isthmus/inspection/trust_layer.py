"""Predictions, intervals and the check of rows, of a model that keeps its domain and its errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from isthmus._linalg import Array
from isthmus._validation import allow_far_rows, finite_answer
from isthmus.inspection.domain import Domain
from isthmus.inspection.intervals import half_widths, widen
from isthmus.inspection.trust import Trust
from isthmus.inspection.unusual import resolve_rows, row_label, tell_unusual, told_rows


class TrustLayer:
    """What a model can do that keeps its domain and the errors of rows left out.

    A class that inherits from it has ``_rows``, which checks inputs, and ``estimator_``, or a
    ``predict_rows`` of its own.
    """

    estimator_: Any
    domain_: Domain | None = None
    residual_quantiles_: Array | None = None
    best_score_: float | None
    n_samples_: int
    target_names_: list[str]
    notices_: tuple[str, ...] = ()
    excluded_: Sequence[int | str] = ()
    scores_without_unusual_: tuple[float, float] | None = None

    def _rows(self, X: Any) -> Array:
        raise NotImplementedError

    def predict_rows(self, rows: Array) -> NDArray:
        """Predict checked rows, an array with the columns of the fit."""
        # Where there is a domain it checks the rows.
        quiet = nullcontext() if self.domain_ is None else allow_far_rows()
        with quiet, warnings.catch_warnings():  # the names have been matched
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            return finite_answer(self.estimator_, self.estimator_.predict(rows))

    def _named(self, values: NDArray, X: Any) -> Any:
        return values

    def predict(self, X: ArrayLike) -> NDArray:
        """Predict, and warn of rows that are not like those of the fit.

        The warning, an :class:`~isthmus.inspection.OutsideDomainWarning`, tells how many rows are outside
        the domain and why the farthest is: if so many are outside as chance takes there in fewer than one
        table in a hundred, if a row is three times as far out as the limit, or if the rows have moved as a
        whole. :meth:`check` has every row.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Predictions.
        """
        check_is_fitted(self)
        rows = self._rows(X)
        values = self.predict_rows(rows)
        if self.domain_ is not None:
            self.domain_.warn(rows, self._judged(values))
        return self._named(values, X)

    def predict_interval(self, X: ArrayLike, level: float = 0.95) -> tuple[NDArray, NDArray]:
        """Bounds between which a new output lies with about the given probability.

        The half width is a quantile of the absolute errors of the rows left out in cross-validation,
        so that it holds for any method and any distribution of errors as long as new rows come from
        where the old ones came from. Errors count in a scale of each row, from its leverage and its Q
        (``error_scale`` of :meth:`check`), so that bounds of a row far from the middle lie farther apart.
        In a table whose rows look ordered the errors are those of later rows predicted from earlier ones.
        If they grow with the distance from the nearest training row, that distance is part of the scale:
        a row between training rows has narrower bounds than a later one.
        Of a row that is outside of the domain it is multiplied by the root of its distance, too, which
        is 1 at the limit. Bounds of such a row are infinite as
        soon as they would lie farther apart, in the mean of the outputs, than those of all training rows,
        where they say nothing; and of every row if there are too few rows for the level.

        Rows that lie beyond the range of the training outputs and whose inputs do not show it are not
        covered: 0.15 to 0.9 of such rows were inside 95 % intervals on five sets.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Inputs.
        level : float, default=0.95
            Probability for one output of one row.

        Returns
        -------
        lower, upper : ndarray in the shape of ``predict``
        """
        check_is_fitted(self)
        lower, upper = self.interval_rows(self._rows(X), level)
        return self._named(lower, X), self._named(upper, X)

    def interval_rows(
        self, rows: Array, level: float = 0.95, trust: Trust | None = None
    ) -> tuple[NDArray, NDArray]:
        """Bounds for checked rows, an array with the columns of the fit; ``trust`` if it is known."""
        return self._bounds(rows, self.predict_rows(rows), level, trust)

    def _bounds(
        self, rows: Array, centre: NDArray, level: float, trust: Trust | None
    ) -> tuple[NDArray, NDArray]:
        if self.residual_quantiles_ is None:
            raise ValueError(
                "the model has no errors of left-out rows to compute intervals from: fit it again as "
                "isthmus.inspection.Trusted(model).fit(X, y), with outputs that are numbers."
            )
        widths = half_widths(self.residual_quantiles_, self.n_samples_, level)
        if self.domain_ is not None:
            trust = self.domain_.check(rows, centre) if trust is None else trust
            errors = self.domain_.scaled_errors
            # A file of an older version has neither.
            if errors is not None and trust.error_scale is not None:
                # Beyond the limit the scale has grown already, about as the root of the distance.
                units = trust.error_scale / np.sqrt(np.maximum(trust.distance, 1.0))
                widths = half_widths(errors, len(errors), level) * units[:, None]
            widths = widen(widths, trust, self.domain_.output_extent)
        width = widths[..., 0] if centre.ndim == 1 else widths
        return centre - width, centre + width

    def check(self, X: ArrayLike, level: float = 0.95) -> Trust:
        """Return which rows lie outside of the domain of the training rows, how far, and why.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Inputs.
        level : float, default=0.95
            Probability for one output of one row, for the bounds.

        Returns
        -------
        trust : Trust
            ``prediction``, ``lower`` and ``upper`` of each row, its ``distance`` (above 1 is outside),
            ``outside``, ``reasons``; ``summary()``.
        """
        check_is_fitted(self)
        rows = self._rows(X)
        guess = self.predict_rows(rows)
        trust = self.check_rows(rows, guess)
        found: dict[str, Any] = {"prediction": self._named(guess, X)}
        if self.residual_quantiles_ is not None:
            bounds = self._bounds(rows, guess, level, trust)
            found["lower"], found["upper"] = (self._named(bound, X) for bound in bounds)
        return replace(trust, **found)

    def check_rows(self, rows: Array, predictions: Array | None = None) -> Trust:
        """Check rows that are an array with the columns of the fit; ``predictions`` if they are known."""
        if self.domain_ is None:
            raise ValueError(
                "the model was saved by a version that kept no domain: fit it again to have rows checked."
            )
        guess = self.predict_rows(rows) if predictions is None else predictions
        return self.domain_.check(rows, self._judged(guess))

    def _resolve_rows(self, exclude: Any, keep: Any, names: Any, n: int) -> tuple[NDArray, NDArray]:
        """Numbers of rows to leave out, which are remembered by name, and of rows to keep."""
        excluded = resolve_rows(exclude, names, n, "exclude")
        self.excluded_ = tuple(int(row) if names is None else str(names[row]) for row in excluded)
        return excluded, resolve_rows(keep, names, n, "keep")

    def _note_unusual(
        self, names: Any, scores_without: Callable[[NDArray], tuple[float, float] | None]
    ) -> None:
        """Name training rows that stand out, with the score that is reached without them."""
        rows = [] if self.domain_ is None else told_rows(self.domain_.unusual)
        self.scores_without_unusual_ = None
        if rows and self.best_score_ is not None:
            # Too few rows for an estimator may be left.
            with suppress(ValueError, np.linalg.LinAlgError):
                self.scores_without_unusual_ = scores_without(np.array(rows))
        told = self.tell_unusual(names)
        if told:
            self.notices_ = (*self.notices_, told)
        for each in self.domain_.unusual if self.domain_ is not None else ():
            each["name"] = row_label(each["row"], names)

    def rows_summary(self) -> dict[str, Any]:
        """What a model file tells of rows of the fit, in the types of JSON."""
        unusual = [] if self.domain_ is None else [dict(each) for each in self.domain_.unusual]
        told = {"notices": list(self.notices_), "unusual_rows": unusual}
        return {**told, "excluded": list(self.excluded_)}

    def tell_unusual(self, names: Any = None) -> str:
        """Return the notice that names training rows that stand out, by these names or by their numbers."""
        if self.domain_ is None:
            return ""
        return tell_unusual(self.domain_, names, self.scores_without_unusual_)

    def _judged(self, predictions: NDArray) -> NDArray | None:
        """Predictions as far as they have a range: numbers, of which errors are known."""
        return None if self.residual_quantiles_ is None else predictions
