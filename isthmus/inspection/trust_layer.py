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
from isthmus._validation import allow_far_rows, finite_answer, warn
from isthmus.inspection.distances import is_curve
from isthmus.inspection.domain import Domain
from isthmus.inspection.intervals import half_widths, sorted_errors, widen
from isthmus.inspection.order import Order
from isthmus.inspection.trust import Trust
from isthmus.inspection.unusual import FitRows, resolve_rows, tell_unusual, told_rows


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
    n_features_in_: Any
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

    def _choose_rows(self, exclude: Any, keep: Any, names: Any, n: int) -> FitRows:
        """Rows of a table to fit, of which those that are left out are remembered by name."""
        names = range(n) if names is None else [str(name) for name in names]
        if len(names) != n:
            raise ValueError(f"row_names has {len(names)} names for {n} rows.")
        excluded = resolve_rows(exclude, names, n, "exclude")
        self.excluded_ = tuple(names[row] for row in excluded)
        numbers = np.delete(np.arange(n), excluded)
        return FitRows(numbers, names, resolve_rows(keep, names, n, "keep"))

    def _keep_domain(
        self, model: Any, fitted: FitRows, X: Array, Y: Array, left_out: Array | None, folds: Any,
        later: tuple[Array, Any] | None = None, larger: Any = 1.0,
    ) -> Array | None:  # fmt: skip
        """Keep the domain and the errors of rows left out, which are so much ``larger`` than those given.

        Return the errors, also of the rows that the domain is not made of.
        """
        names = getattr(self, "feature_names_in_", None)
        self.domain_ = Domain.of(
            model, X, Y, folds=folds, names=names, curve=is_curve(X, names), left_out=left_out,
            later=later, target_names=self.target_names_, fitted=fitted,
        )  # fmt: skip
        self.domain_.enlarge_errors(larger)
        self.residual_quantiles_ = None
        judged = left_out if later is None else later[0]
        if judged is None:
            return None
        errors = np.abs(Y.reshape(judged.shape) - judged) * larger
        told = fitted.without(self.domain_.rows_aside) & ~np.isnan(judged).any(axis=1)
        self.residual_quantiles_ = sorted_errors(errors[told])
        return errors

    def _note_order(self, order: Order | None, scores: tuple[float, float] | None = None) -> None:
        """Tell that the rows look ordered, with the scores of later rows and of shuffled ones."""
        notice = "" if order is None else order.notice(self.target_names_, scores)
        self.notices_ = (notice,) if notice else ()
        if notice and order is not None and order.sorted_by is None:
            warn(notice)

    def _note_unusual(
        self, fitted: FitRows, score_without: Callable[[NDArray], Any] | None, ends: Any = ()
    ) -> None:
        """Name training rows that stand out, with the score without them.

        The score is left out if there is none, or if one of ``ends``, such as an interrupt, is raised.
        """
        assert self.domain_ is not None
        self.scores_without_unusual_ = None
        rows = [each["row"] for each in told_rows(self.domain_.unusual)]
        if rows and score_without is not None:
            # Too few rows for an estimator may be left.
            with suppress(ValueError, np.linalg.LinAlgError, *ends):
                self.scores_without_unusual_ = score_without(np.searchsorted(fitted.numbers, rows))
        self.notices_ += tuple(filter(None, [self.tell_unusual()]))

    def tell_unusual(self) -> str:
        """Return the notice that names training rows that stand out; empty if none do."""
        if self.domain_ is None:
            return ""
        return tell_unusual(self.domain_, self.scores_without_unusual_)

    def fit_summary(self) -> dict[str, Any]:
        """What a file of any such model tells of its fit, in the types of JSON."""
        names = getattr(self, "feature_names_in_", None)
        return {
            "n_features": int(self.n_features_in_),
            "n_targets": len(self.target_names_),
            "feature_names": None if names is None else [str(name) for name in names],
            "target_names": self.target_names_,
            "score": self.best_score_,
            "notices": list(self.notices_),
            "unusual_rows": [] if self.domain_ is None else list(self.domain_.unusual),
            "excluded": list(self.excluded_),
        }

    def _judged(self, predictions: NDArray) -> NDArray | None:
        """Predictions as far as they have a range: numbers, of which errors are known."""
        return None if self.residual_quantiles_ is None else predictions
