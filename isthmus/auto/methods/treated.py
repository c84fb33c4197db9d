"""Searches over treatments of curves, and partial least squares with ranks of its own for each target."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from isthmus._linalg import Array, spreads
from isthmus._validation import check_option
from isthmus.auto.blends import Blend, blend_weights
from isthmus.auto.clock import check_time
from isthmus.auto.methods.kernel_search import Choice, choose_alphas
from isthmus.auto.methods.maps import MOST_RANKS, InnerSearch, LinearMap
from isthmus.auto.methods.pls_stack import pls_paths
from isthmus.features import (
    Detrend,
    GapDerivative,
    LinearTreatment,
    NormalVariate,
    SavitzkyGolay,
    ScatterCorrection,
    Whittaker,
)
from isthmus.problems import RidgeSpectrum

_PER_RANK = 0.5  # what a component more costs, in units of the logarithm of the likelihood
_LEAST_OF_RANKS = 0.01  # weights of ranks below, relative to the largest, are left out
_N_QUICK = 8  # treatments that go on where a quick search comes first


def bank_of(treatments: Any, curve: bool) -> dict[str, Any] | None:
    """The bank that was asked for; "auto" is the default one of curves."""
    if isinstance(treatments, str):
        check_option("treatments", treatments, ("auto",))
        return default_treatments() if curve else None
    if treatments is None:
        return None
    if isinstance(treatments, dict):
        return {str(name): step for name, step in treatments.items()}
    return {"none": None} | {" ".join(repr(step).split()): step for step in treatments}


def default_treatments() -> dict[str, Any]:
    """Return the bank: linear operators, corrections of rows, and both after each other."""
    return {
        "none": None,
        "autoscaled": StandardScaler(),
        "smoothed": SavitzkyGolay(11, 2),
        "first derivative": SavitzkyGolay(9, 2, 1),
        "first derivative, wide": SavitzkyGolay(21, 2, 1),
        "second derivative": SavitzkyGolay(11, 3, 2),
        "second derivative, wide": SavitzkyGolay(25, 3, 2),
        "gap derivative": GapDerivative(5),
        "detrended": Detrend(2),
        "Whittaker": Whittaker(100.0),
        "Whittaker, stiff": Whittaker(1e4),
        "Whittaker, very stiff": Whittaker(1e6),
        "Whittaker, autoscaled": make_pipeline(Whittaker(100.0), StandardScaler()),
        "SNV": NormalVariate(),
        "MSC": ScatterCorrection(),
        "first derivative, autoscaled": make_pipeline(SavitzkyGolay(11, 2, 1), StandardScaler()),
        "SNV, first derivative": make_pipeline(NormalVariate(), SavitzkyGolay(11, 2, 1)),
        "SNV, second derivative": make_pipeline(NormalVariate(), SavitzkyGolay(15, 3, 2)),
        "first derivative, SNV": make_pipeline(SavitzkyGolay(11, 2, 1), NormalVariate()),
        "second derivative, SNV": make_pipeline(SavitzkyGolay(11, 3, 2), NormalVariate()),
    }


class RidgeSearch(InnerSearch):
    """Ridge regression with a ridge weight for each target, from one decomposition.

    Parameters
    ----------
    scale : bool, default=True
        Whether columns of X are divided by their standard deviations.
    cv : int or splitter, default=5
        Folds.

    Attributes
    ----------
    best_estimator_ : LinearMap
    best_params_ : dict
        ``alpha`` for each target.
    left_out_ : ndarray of shape (n_samples, n_targets)
        Predictions of every row without its fold.
    learning_ : ndarray of shape (n_targets,)
        Error of rows left out one by one over that of rows left out in folds.
    """

    def __init__(self, scale: bool = True, cv: Any = 5) -> None:
        self.scale = scale
        self.cv = cv

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: Array | None = None) -> RidgeSearch:
        """Choose, then fit."""
        rows, Y, unit, flat = outputs_in_spreads(X, y)
        centre = np.average(rows, axis=0, weights=sample_weight)
        spread = np.ones(rows.shape[1])
        if self.scale:
            spread = np.sqrt(np.average((rows - centre) ** 2, axis=0, weights=sample_weight))
            spread[spread == 0] = 1.0
        Z = (rows - centre) / spread
        folds = list(check_cv(self.cv).split(Z, Y))
        spectrum = RidgeSpectrum.of_rows(Z, sample_weight)
        best = choose_alphas(spectrum, Y, folds, Choice("linear", None, spectrum))
        coef = (Z.T @ spectrum.dual_coef(Y, best.alpha)).T * unit[:, None] / spread
        means = spectrum.center(Y)[0] * unit
        self.best_estimator_ = LinearMap.of(coef, means - coef @ centre, flat)
        self.best_params_ = {"alpha": best.alpha}
        self.left_out_ = best.left_out * unit
        self.learning_ = best.learning(Y, folds)
        self.n_features_in_ = rows.shape[1]
        return self


class PathSearch(InnerSearch):
    r"""Partial least squares, its numbers of components averaged for each target.

    With fifty rows the error of left-out rows has a second dip at twenty components as often as not, and a
    map that has fallen into it fails on the next batch. A rank ``r`` with the squared error
    :math:`e_r` of ``n`` left-out rows therefore has the weight

    .. math::
        w_r \propto e_r^{-n / 2} \exp(-r / 2),

    that of a Gaussian likelihood with a price for each component ([BA2002]_): a large rank
    counts where the rows are sure of it. Rows are held in the coordinates of their own span, so that a fold
    of wide spectra costs what one of as many columns as rows does; the components are the same.

    Parameters
    ----------
    cv : int or splitter, default=5
        Folds.
    rule : {"best", "one_se"}, default="best"
        The average, or the fewest components within one standard error of the least pooled error.

    Attributes
    ----------
    best_estimator_ : LinearMap
    best_params_ : dict
        ``n_components`` for each target, the rank with the largest weight.
    left_out_ : ndarray of shape (n_samples, n_targets)
        Predictions of every row without its fold.
    """

    def __init__(self, cv: Any = 5, rule: str = "best") -> None:
        self.cv = cv
        self.rule = rule

    def fit(self, X: ArrayLike, y: ArrayLike) -> PathSearch:
        """Choose, then fit."""
        rows, Y, unit, flat = outputs_in_spreads(X, y)
        centre = rows.mean(axis=0)
        left, singular, right = np.linalg.svd(rows - centre, full_matrices=False)
        keep = singular > 1e-12 * max(singular[0], 1e-300)
        Z = left[:, keep] * singular[keep]
        folds = list(check_cv(self.cv).split(Z, Y))
        most = min(MOST_RANKS, Z.shape[1], min(len(train) for train, _ in folds) - 1)
        everyone = np.arange(len(Y))
        probes = np.vstack([np.zeros(Z.shape[1]), np.eye(Z.shape[1])])
        *left_out, whole = pls_paths(
            Z, Y, [*(train for train, _ in folds), everyone], [*(Z[test] for _, test in folds), probes],
            most,
        )  # fmt: skip
        paths = np.full((most, *Y.shape), np.nan)
        for (_, test), path in zip(folds, left_out, strict=True):
            paths[:, test] = path
        weights = self._rank_weights((paths - Y) ** 2)
        self.left_out_ = np.einsum("rq,rnq->nq", weights, paths) * unit
        chosen = np.einsum("rq,rnq->qn", weights, whole)  # (n_targets, 1 + rank)
        coef = (chosen[:, 1:] - chosen[:, :1]) @ right[keep] * unit[:, None]
        self.best_estimator_ = LinearMap.of(coef, chosen[:, 0] * unit - coef @ centre, flat)
        self.best_params_ = {"n_components": weights.argmax(axis=0) + 1}
        self.n_features_in_ = rows.shape[1]
        return self

    def _rank_weights(self, squares: Array) -> Array:
        """Weights of the ranks for each target, from squared errors (n_ranks, n_samples, n_targets)."""
        errors = np.nanmean(squares, axis=1)
        if self.rule == "one_se":
            best = errors.argmin(axis=0)
            everywhere = np.arange(errors.shape[1])
            least = squares[best, :, everywhere]
            spread = np.nanstd(least, axis=1, ddof=1) / np.sqrt(np.isfinite(least).sum(axis=1))
            fewest = (errors <= errors[best, everywhere] + spread).argmax(axis=0)
            return (np.arange(len(errors))[:, None] == fewest).astype(np.float64)
        n = np.isfinite(squares[0]).sum(axis=0)
        logs = -0.5 * n * np.log(np.maximum(errors, np.finfo(float).tiny))
        logs -= _PER_RANK * np.arange(len(errors))[:, None]
        weights = np.exp(logs - logs.max(axis=0))
        weights[weights < _LEAST_OF_RANKS] = 0.0
        return weights / weights.sum(axis=0)


class TreatedSearch(InnerSearch):
    """A search with every treatment of a bank, blended by their left-out errors.

    With fifty rows the errors of treatments differ by less than they scatter: their blend predicts better
    than the best of them, or than the best four.

    Parameters
    ----------
    search : estimator
        With ``cv``, ``fit``, ``best_estimator_`` and ``left_out_``.
    treatments : dict of name and transformer
        The bank; None is no treatment.
    cv : int or splitter, default=5
        Folds.
    quick : dict or None, default=None
        Settings with which the search takes less time: the eight best treatments with them go on.

    Attributes
    ----------
    best_estimator_ : LinearMap or Pipeline
        A map on the columns that were measured where treatment and model are linear.
    best_params_ : dict
        Those of the search with the best treatment, and ``treatment``, their names and weights.
    left_out_ : ndarray of shape (n_samples, n_targets)
    """

    def __init__(
        self, search: Any, treatments: Any, cv: Any = 5, quick: dict[str, Any] | None = None
    ) -> None:
        self.search = search
        self.treatments = treatments
        self.cv = cv
        self.quick = quick

    def fit(self, X: ArrayLike, y: ArrayLike) -> TreatedSearch:
        """Choose, then fit."""
        rows, Y, unit, _ = outputs_in_spreads(X, y)
        folds = list(check_cv(self.cv).split(rows, Y))
        fitted = {name: self._treated(name, rows) for name in self.treatments}
        names = list(fitted)
        if self.quick is not None and len(names) > _N_QUICK:
            search = clone(self.search).set_params(**self.quick)
            errors = [self._error(search, fitted[name], y, folds)[0] for name in names]
            names = [names[k] for k in np.argsort(errors, kind="stable")[:_N_QUICK]]
        tried = [self._error(self.search, fitted[name], y, folds) for name in names]
        order = np.argsort([error for error, _ in tried], kind="stable")
        found = [tried[k][1] for k in order]
        # Each treatment has its vote: those that change little are many, and most often right.
        left_out = [search.left_out_ for search in found]
        weights = blend_weights(Y * unit, left_out, share_votes=False)
        used = [k for k in range(len(found)) if weights[k].any()]
        self.best_params_ = {
            **found[0].best_params_,
            "treatment": ", ".join(f"{names[order[k]]} {weights[k].mean():.2f}" for k in used),
        }
        self.left_out_ = sum(weights[k] * found[k].left_out_ for k in used)
        if hasattr(found[0], "learning_"):
            self.learning_ = sum(weights[k] * found[k].learning_ for k in used)
        models = [join(fitted[names[order[k]]][0], found[k].best_estimator_) for k in used]
        self.best_estimator_ = mix(models, [names[order[k]] for k in used], weights[used])
        self.n_features_in_ = rows.shape[1]
        return self

    def _treated(self, name: str, rows: Array) -> tuple[Any, Array]:
        treatment = self.treatments[name]
        if treatment is None:
            return None, rows
        treatment = clone(treatment)
        return treatment, np.asarray(treatment.fit_transform(rows))

    def _error(self, search: Any, treated: tuple[Any, Array], y: Any, folds: Any) -> tuple:
        check_time()
        found = clone(search).set_params(cv=folds).fit(treated[1], y)
        Y = np.asarray(y, dtype=np.float64).reshape(len(found.left_out_), -1)
        return float(np.nanmean(((Y - found.left_out_) / spreads(Y)) ** 2)), found


def join(treatment: Any, model: Any) -> Any:
    """A treatment and a model as one: a linear map of the columns themselves where both are linear."""
    if treatment is None:
        return model
    if isinstance(treatment, LinearTreatment) and isinstance(model, LinearMap):
        coef = np.atleast_2d(model.coef_) @ treatment.operator_
        return LinearMap.of(coef, np.atleast_1d(model.intercept_), model.coef_.ndim == 1)
    steps = [*treatment.steps] if isinstance(treatment, Pipeline) else [("treatment", treatment)]
    further = model.steps if isinstance(model, Pipeline) else [("model", model)]
    return Pipeline([*steps, *further])


def mix(models: list[Any], names: list[str], weights: Array) -> Any:
    """A blend of models; one linear map where all of them are."""
    if len(models) == 1:
        return models[0]
    blend = Blend.of(models, names, weights, models[0].n_features_in_)
    if all(isinstance(model, LinearMap) for model in models):
        coef = np.atleast_2d(blend.coef_)
        return LinearMap.of(coef, np.atleast_1d(blend.intercept_), models[0].coef_.ndim == 1)
    return blend


def outputs_in_spreads(X: ArrayLike, y: ArrayLike) -> tuple[Array, Array, Array, bool]:
    """Inputs, outputs in units of their spreads, these, and whether outputs had one dimension."""
    given = np.asarray(y, dtype=np.float64)
    Y = given.reshape(len(given), -1)
    unit = spreads(Y)
    return np.asarray(X, dtype=np.float64), Y / unit, unit, given.ndim == 1
