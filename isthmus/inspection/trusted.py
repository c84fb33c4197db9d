"""Any estimator, with a check of each row and intervals for its predictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MetaEstimatorMixin, clone, is_classifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import check_consistent_length, get_tags
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from isthmus._linalg import EPS, Array
from isthmus._validation import (
    BaseEstimator,
    allow_far_rows,
    check_array,
    check_weights,
    inner_router,
    routed_to_inner,
    validate_data,
)
from isthmus.inspection._domain_parts import MOST_DOMAIN_ROWS, Folds, renumber, without_rows
from isthmus.inspection._model import count_components, names_of_outputs, r2_of_errors, split_model
from isthmus.inspection.order import Order
from isthmus.inspection.transferred import (
    FEWEST_STANDARDS,
    domain_after_transfer,
    error_factor,
    standards_left_out,
)
from isthmus.inspection.trust_layer import TrustLayer
from isthmus.inspection.unusual import FitRows
from isthmus.model_selection import is_auto, outer_splits, routing_is_enabled, takes_groups
from isthmus.problems import Rows
from isthmus.problems.streams import as_rows


class Trusted(TrustLayer, MetaEstimatorMixin, BaseEstimator):
    """Wrap any estimator of vectors to flag rows unlike the training rows and to give intervals.

    The estimator is fitted to all rows, and again without the rows of each fold. Rows left out give the
    limits of the domain and the errors from which intervals are made, with all that is chosen inside the
    estimator chosen again. ``predict`` warns of rows outside; :meth:`check` has, for each row, prediction,
    bounds, distance, whether it is outside, and the reason. All of it is kept by ``isthmus.save``, and
    ``isthmus predict`` writes it beside the predictions.

    One row in twenty like those of the fit is outside the :class:`~isthmus.inspection.domain.Domain`.

    Parameters
    ----------
    estimator : estimator
        A regression, a pipeline, a search, a classifier; inputs are rows of numbers. Intervals are for
        outputs that are numbers.
    cv : "auto", int, "time", splitter or iterable of (train, test), default="auto"
        Folds in which rows are left out. An int is shuffled folds (by what a row is, not by its place,
        copies together), or folds of whole ``groups``, whose limits are those of new batches; "time" leaves
        out later rows. "auto" is five; if neighbouring rows have similar errors in them (one false alarm in
        a thousand tables) it warns, and the errors are those of later rows left out, the limits still those
        of shuffled folds.
    n_jobs : int, default=None
        Folds at a time, as in joblib.

    Attributes
    ----------
    estimator_ : estimator
        Fitted to all rows.
    domain_ : Domain
        Limits and distances; its ``check`` needs no predictions.
    residual_quantiles_ : ndarray of shape (m, n_targets) or None
        Sorted absolute errors of rows left out; None where outputs are no numbers.
    best_score_ : float or None
        R2 of the rows left out, the mean over the outputs.
    n_samples_ : int
        Number of rows that were left out.
    notices_ : tuple of str
        What a person should know of the fit: rows that look ordered, rows that stand out.
    excluded_, scores_without_unusual_ : tuple
        Rows left out by ``exclude``; scores in folds without the rows that the notice names, and with them.
    target_names_ : list of str

    Examples
    --------
    >>> from isthmus import PLS
    >>> from isthmus.datasets import make_spectra
    >>> from isthmus.inspection import Trusted
    >>> spectra = make_spectra(80, random_state=0)
    >>> model = Trusted(PLS(8)).fit(spectra.data, spectra.target)
    >>> other = make_spectra(20, instrument="secondary", random_state=1)
    >>> found = model.check(other.data)
    >>> print(found.summary().split(",")[0])
    20 of 20 rows (100.0 %) are outside the domain of the training rows
    >>> found.lower.shape
    (20, 4)
    """

    def __init__(self, estimator: Any, *, cv: Any = "auto", n_jobs: int | None = None) -> None:
        self.estimator = estimator
        self.cv = cv
        self.n_jobs = n_jobs

    def fit(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, groups: Any = None, *,
        exclude: Any = None, keep: Any = None, row_names: Sequence[str] | None = None,
    ) -> Trusted:  # fmt: skip
        """Fit the estimator to all rows and to the rest of each fold.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features), or Rows
            Inputs. ``Rows`` are fitted once; the domain is that of a sample of 2000, and its errors are
            as much larger as the estimator's own cross-validated score (``best_score_``) says.
        y : array or frame of shape (n_samples,) or (n_samples, n_targets)
            Outputs.
        sample_weight : array of shape (n_samples,), default=None
            Handed to the estimator, to the last step of a pipeline; rows of weight zero are left out.
        groups : array of shape (n_samples,), default=None
            Batches or replicates, never in two folds; handed to a search as well.
        exclude, keep : sequence of int or str, default=None
            Rows, by number or name: left out of everything; part of the domain even if they stand out.
        row_names : sequence of str, default=None
            Names of the rows, for the notices; None numbers them from 0.

        Returns
        -------
        self : object
            The fitted model.
        """
        source = as_rows(X, y, sample_weight)
        if source is not None:
            if any(given is not None for given in (groups, exclude, keep, row_names)):
                raise ValueError("groups, exclude and keep need rows in memory: give arrays.")
            return self._fit_source(source)
        if y is None:
            raise ValueError("Trusted requires y to be passed, but the target y is None.")
        rows = self._rows(X, reset=True)
        known, is_numeric = self._outputs(y)
        check_consistent_length(rows, known, groups)
        weights = check_weights(sample_weight, rows)
        extra = {"sample_weight": weights, "groups": None if groups is None else np.asarray(groups)}
        fitted = self._choose_rows(exclude, keep, row_names, len(rows))
        if weights is not None:
            fitted = fitted.part(weights[fitted.numbers] > 0)
        kept = fitted.numbers
        folds = self._folds(rows, known, extra["groups"], kept)
        rows, known = rows[kept], known[kept]
        extra = {name: None if v is None else v[kept] for name, v in extra.items()}
        self.estimator_ = self._fit_part(rows, known, extra, np.arange(len(rows)))
        left_out = self._left_out(rows, known, extra, folds) if is_numeric else None
        order, later, scores = None, None, None
        if left_out is not None and is_auto(self.cv) and groups is None:
            Y = known.reshape(left_out.shape)
            order = Order.of(Y, left_out)
            if order.asks_for_time:
                in_time = outer_splits("time", rows, known, None, 0)
                later = self._left_out(rows, known, extra, in_time), in_time
                scores = r2_of_errors(Y - later[0], Y), r2_of_errors(Y - left_out, Y)
        self._keep(fitted, rows, known, left_out, names_of_outputs(y, None), folds, later)
        self._note_order(order, scores)

        def score_without(places: NDArray) -> tuple[float, float | None]:
            judged = without_rows(folds if later is None else later[1], places)
            Y = known.reshape(len(known), -1).copy()
            Y[places] = np.nan
            return r2_of_errors(Y - self._left_out(rows, known, extra, judged), Y), self.best_score_

        self._note_unusual(fitted, score_without if is_numeric else None)
        return self

    @classmethod
    def after_transfer(
        cls, model: TrustLayer, transfer: Any, X: ArrayLike, y: ArrayLike
    ) -> Trusted:
        """Return a model of the spectra of another instrument, with a domain and intervals of its own.

        A transfer leaves an error on each spectrum, which the domain of the first instrument does not know:
        good rows would be flagged. Each standard is transferred by a transfer of the others. The squares of
        its errors are added to the spreads that the domain counts in, and what they change in predictions
        to the errors that intervals are made of.

        Parameters
        ----------
        model : Trusted or MethodSearchCV
            Fitted on the primary instrument.
        transfer : InstrumentTransfer
            Fitted to the standards.
        X : array of shape (n_standards, n_secondary)
            The standards on the secondary instrument, at least four.
        y : array of shape (n_standards, n_primary)
            The same samples on the primary instrument.

        Returns
        -------
        moved : Trusted
            Takes spectra of the secondary instrument; not to be fitted again. Reasons name inputs of the
            primary one. ``best_score_`` is None: how well it predicts there is not known.

        Examples
        --------
        >>> from isthmus import PLS
        >>> from isthmus.datasets import make_spectra
        >>> from isthmus.features import InstrumentTransfer
        >>> from isthmus.inspection import Trusted
        >>> first = make_spectra(90, random_state=0)
        >>> second = make_spectra(90, instrument="secondary", random_state=0)
        >>> model = Trusted(PLS(8)).fit(first.data[:70], first.target[:70])
        >>> transfer = InstrumentTransfer().fit(second.data[:10], first.data[:10])
        >>> moved = Trusted.after_transfer(model, transfer, second.data[:10], first.data[:10])
        >>> bool(moved.check(second.data[70:]).outside.mean() < 0.2)
        True
        """
        check_is_fitted(model)
        check_is_fitted(transfer)
        if model.domain_ is None:
            raise ValueError("the model has no domain: fit it as Trusted(model).fit(X, y).")
        least = {"dtype": np.float64, "ensure_min_samples": FEWEST_STANDARDS}
        secondary = check_array(X, **least)
        primary = check_array(y, **least, input_name="y")
        check_consistent_length(secondary, primary)
        left_out = standards_left_out(transfer, secondary, primary)
        inner = getattr(model, "best_estimator_", None) or model.estimator_
        moved = cls(make_pipeline(transfer, inner))
        moved.estimator_ = moved.estimator
        moved.n_features_in_ = transfer.n_features_in_
        if hasattr(transfer, "feature_names_in_"):
            moved.feature_names_in_ = transfer.feature_names_in_
        moved.domain_ = domain_after_transfer(model.domain_, transfer, primary, left_out)
        moved.n_samples_, moved.target_names_ = model.n_samples_, model.target_names_
        moved.best_score_ = None
        moved.residual_quantiles_ = errors = model.residual_quantiles_
        if errors is not None:
            factor = error_factor(errors, *map(model.predict_rows, (primary, left_out)))
            moved.residual_quantiles_ = errors * factor
            moved.domain_.enlarge_errors(factor)
        return moved

    def _folds(self, rows: Array, known: Any, groups: Any, kept: NDArray) -> Folds:
        """Folds in the numbers of the rows that are kept."""
        if isinstance(self.cv, int | np.integer | str):
            return outer_splits(
                self.cv, rows[kept], known[kept], None if groups is None else groups[kept], 0
            )
        # A splitter, or a list of rows, knows all of them.
        return renumber(outer_splits(self.cv, rows, known, groups, 0), kept, len(rows))

    def _fit_part(self, rows: Array, known: Any, extra: dict[str, Any], part: NDArray) -> Any:
        model = clone(self.estimator)
        given = {name: values[part] for name, values in extra.items() if values is not None}
        if not takes_groups(model):
            given.pop("groups", None)
        if "sample_weight" in given and isinstance(model, Pipeline) and not routing_is_enabled():
            given[f"{model.steps[-1][0]}__sample_weight"] = given.pop("sample_weight")
        else:
            given = routed_to_inner(self, "fit", **given)
        return model.fit(rows[part], known[part], **given)

    def _left_out(self, rows: Array, known: Array, extra: dict[str, Any], folds: Folds) -> Array:
        """Predictions of rows by models that have not seen them; NaN where no fold leaves a row out."""

        def predict(train: NDArray, test: NDArray) -> Array:
            model = self._fit_part(rows, known, extra, train)
            with allow_far_rows():
                return np.asarray(model.predict(rows[test]), dtype=float).reshape(len(test), -1)

        found = Parallel(n_jobs=self.n_jobs)(delayed(predict)(*fold) for fold in folds)
        guess = np.full((len(rows), known[0].size), np.nan)
        for (_, test), values in zip(folds, found, strict=True):
            guess[test] = values
        return guess

    def _keep(
        self, fitted: FitRows, rows: Array, known: Any, left_out: Array | None, targets: Any,
        folds: Any = None, later: tuple[Array, Any] | None = None, larger: float = 1.0,
    ) -> None:  # fmt: skip
        """Keep the domain, the errors and the score of rows left out."""
        n_targets = 1 if left_out is None else left_out.shape[1]
        self.target_names_ = targets or [f"y{j}" for j in range(n_targets)]
        errors = self._keep_domain(
            self.estimator_, fitted, rows, known, left_out, folds, later, larger
        )
        self.n_samples_, self.best_score_ = len(rows), None
        if errors is not None:
            self.n_samples_ = int((~np.isnan(errors).any(axis=1)).sum())
            self.best_score_ = r2_of_errors(errors, known)

    def _fit_source(self, source: Rows) -> Trusted:
        self.excluded_ = ()
        self.estimator_ = clone(self.estimator).fit(source)
        self.n_features_in_ = self.estimator_.n_features_in_
        if source.feature_names is not None:
            self.feature_names_in_ = np.asarray(source.feature_names, dtype=object)
        rows, known, numbers = source.sample(MOST_DOMAIN_ROWS, 0)
        guess = self.predict_rows(rows).reshape(known.shape)
        larger = 1.0
        if hasattr(self.estimator_, "best_score_"):
            left = max(1 - r2_of_errors(known - guess, known), EPS)
            larger = float(np.sqrt(max(1.0, (1 - self.estimator_.best_score_) / left)))
        fitted, targets = FitRows(numbers), names_of_outputs(None, source.target_names)
        self._keep(fitted, rows, known, guess, targets, larger=larger)
        self._note_order(None)
        self._note_unusual(fitted, None)
        return self

    def _rows(self, X: Any, *, reset: bool = False) -> Array:
        finite = "allow-nan" if get_tags(self.estimator).input_tags.allow_nan else True
        least = 4 if reset else 1  # two folds, and two rows to fit to in each
        return validate_data(
            self, X, reset=reset, dtype=np.float64, ensure_all_finite=finite,
            ensure_min_samples=least,
        )  # fmt: skip

    def _outputs(self, y: Any) -> tuple[Any, bool]:
        """Outputs, and whether they are numbers with errors."""
        found = np.asarray(y)
        if is_classifier(self.estimator) or found.dtype.kind not in "biuf":
            return found, False
        finite = "allow-nan" if get_tags(self.estimator).input_tags.allow_nan else True
        checks = {"ensure_2d": False, "ensure_all_finite": finite, "input_name": "y"}
        return check_array(y, dtype=np.float64, **checks), True

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Score as the estimator does; rows outside are not told.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Inputs.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Outputs.
        sample_weight : array of shape (n_samples,), default=None
            Weight of each row.

        Returns
        -------
        score : float
        """
        check_is_fitted(self)
        given = routed_to_inner(self, "score", sample_weight=sample_weight)
        return self.estimator_.score(self._rows(X), y, **given)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return where metadata go: to the fit and the score of the estimator."""
        return inner_router(self, "fit", "score")

    def training_summary(self) -> dict[str, Any]:
        """What a model file tells about the training, in the types of JSON."""
        check_is_fitted(self)
        last = split_model(self)[1]
        return {
            "label": f"{type(last).__name__} with its domain and intervals",
            "model": " ".join(repr(self.estimator).split()),
            "n_components": count_components(last),
            "n_samples": int(getattr(last, "n_samples_", self.n_samples_)),
            **self.fit_summary(),
        }

    @property
    def classes_(self) -> NDArray:
        """Labels of a classifier."""
        return self.estimator_.classes_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type, tags.target_tags = inner.estimator_type, inner.target_tags
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags
