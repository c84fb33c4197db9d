"""Where a fitted model may be believed: the domain of its training rows, and rows outside of it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline

from isthmus._linalg import Array
from isthmus._validation import check_array
from isthmus.inspection._model import refit
from isthmus.inspection.distances import (
    FeatureDistance,
    Neighbours,
    PrincipalAxes,
    Ranges,
    Subspace,
    stretch,
)
from isthmus.inspection.trust import Trust
from isthmus.regression import PCR, PLS, ReducedRankRegression

_MOST_ROWS = 2000  # that a domain is made of
_MOST_POINTS = 500  # that it keeps
_FOLDS = 5
_LEVEL = 0.95  # share of ordinary rows inside
_LEVEL_OF_FEW = 0.99  # under a law whose tail is lighter than that of few rows
_MOST_NAMED = 3

_CAUSES = {
    "T2": "Hotelling's T2",
    "Q": "Q residual",
    "nearest": "distance to the nearest training row",
    "span": "distance from the training rows in feature space",
    "range": "range of the inputs",
    "output": "range of the outputs",
}

Folds = Sequence[tuple[NDArray, NDArray]]


class Domain:
    r"""The domain of a fitted model, from its training rows.

    =========================  ===================================================================
    statistic                  of which models
    =========================  ===================================================================
    T2, Q                      all but kernel models: within and to the plane of PLS, PCR or reduced
                               rank regression; of the leading principal components for all others,
                               as many as give rows left out the largest Gaussian likelihood
    nearest training row       all but PLS, PCR and reduced rank regression: in the scores, or in the
                               feature space of a kernel
    distance from the span     kernel models: :math:`k(x, x) - k_x^\top K^{-1} k_x`
    ranges of the inputs       all
    ranges of the outputs      all whose predictions of rows left out are given: is a prediction beyond
                               what was ever measured?
    =========================  ===================================================================

    Statistics of training rows are too small, those of Q most of all where there are fewer rows than
    inputs. So the limits come from rows left out in folds (or from the fit itself, where it gives more,
    as if components change places): each is a point of that statistic's own
    scale, its median plus a multiple of the way to its 90 % quantile, with one multiple for all so that
    95 % of the rows left out lie within all limits. A new row like the training rows is flagged with a
    probability of about 5 %, however many statistics there are.

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
    """

    limits: dict[str, float]
    parts: dict[str, Any]
    before: list[Any]
    means: Array
    names: list[str] | None
    curve: bool
    usual: Array | None = None
    target_names: list[str] | None = None

    @classmethod
    def of(
        cls,
        model: Any,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        folds: Folds | None = None,
        scale: bool = True,
        names: Sequence[str] | None = None,
        curve: bool = False,
        left_out: ArrayLike | None = None,
        target_names: Sequence[str] | None = None,
    ) -> Domain:
        """Make the domain of a fitted model.

        Parameters
        ----------
        model : fitted estimator
            Of a pipeline the steps before the last are part of the domain.
        X : array-like of shape (n_samples, n_features)
            The rows of the fit.
        y : array-like, default=None
            The outputs of the fit; PLS and reduced rank regression are fitted to parts of the rows. None
            takes the model's predictions.
        folds : sequence of (train, test), default=None
            In which rows are left out; None is five shuffled folds. Folds of batches give the limits of
            new batches.
        scale : bool, default=True
            Whether columns are divided by their standard deviations for principal components.
        names : sequence of str, default=None
            Names of the inputs, for the reasons.
        curve : bool, default=False
            Whether the inputs are points of a curve: reasons name a stretch of it then.
        left_out : array-like in the shape of ``y``, default=None
            Predictions of rows in the folds that left them out; with them ``check`` looks at predictions.
        target_names : sequence of str, default=None
            Names of the outputs, for the reasons.

        Returns
        -------
        domain : Domain
        """
        rows = check_array(X, dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=3)
        outputs = np.asarray(model.predict(rows) if y is None else y, dtype=np.float64)
        self = cls()
        self.curve = curve
        self.names = None if names is None else [str(name) for name in names]
        self.means = np.nan_to_num(np.nanmean(rows, axis=0))
        rows = np.where(np.isnan(rows), self.means, rows)
        self.before, last = _split(model)
        kept, folds = _part(len(rows), folds)
        known = outputs.reshape(len(outputs), -1)[kept]
        found = self._build(last, rows[kept], known, folds, scale)
        if left_out is not None:
            guess = np.asarray(left_out, dtype=np.float64).reshape(len(rows), -1)[kept]
            self.target_names = None if target_names is None else [str(n) for n in target_names]
            self.parts["outputs"] = Ranges(known)
            beyond = [Ranges(known[train]).values(guess[test]) for train, test in folds]
            found["output"] = np.concatenate(beyond)
        self.limits = _limits(found)
        self.usual = self._usual(found)
        return self

    def _build(self, model: Any, X: Array, Y: Array, folds: Folds, scale: bool) -> dict[str, Array]:
        """Set the distances of all rows; return those of rows left out."""
        Z = self._transformed(X)
        kernel = _kernel_of(model)
        axes, k = [], 0
        if kernel is None and not _has_plane(model):
            axes = [PrincipalAxes(Z[train], scale) for train, _ in folds]
            k = _best_rank(axes, Z, folds)

        def distances(rows: NDArray, fold: int | None) -> dict[str, Any]:
            parts: dict[str, Any] = {"ranges": Ranges(X[rows])}
            few = _some(rows, _MOST_POINTS)
            if kernel is not None:
                return parts | {"features": FeatureDistance(kernel, Z[few])}
            if _has_plane(model):
                own = model if fold is None else _refit(model, Z[rows], Y[rows])
                return parts | {"plane": Subspace.of_model(own)}
            plane = (PrincipalAxes(Z, scale) if fold is None else axes[fold]).plane(k)
            points = plane.scores(plane.standardise(Z[few]))
            return parts | {"plane": plane, "neighbours": Neighbours(points)}

        self.parts = distances(np.arange(len(X)), None)
        found = [
            _larger(
                _statistics(self.parts, X[test], Z[test]),
                _statistics(distances(train, i), X[test], Z[test]),
            )
            for i, (train, test) in enumerate(folds)
        ]
        return {name: np.concatenate([each[name] for each in found]) for name in found[0]}

    def _usual(self, left_out: dict[str, Array]) -> Array:
        """Sorted distances of the rows left out, thinned where there are very many."""
        if not self.limits:
            return np.zeros(0)
        distance = np.max([self._ratio(name, left_out[name]) for name in self.limits], axis=0)
        levels = np.linspace(0, 1, min(len(distance), _MOST_POINTS))
        return np.asarray(np.quantile(distance, levels))

    def _ratio(self, name: str, values: Array) -> Array:
        """A statistic over its limit; lengths are squared, as T2, Q and the distance from the span are."""
        ratio = np.nan_to_num(values, nan=np.inf) / self.limits[name]
        return ratio**2 if name in ("range", "nearest", "output") else ratio

    def _transformed(self, X: Array) -> Array:
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
        rows = check_array(X, dtype=np.float64, ensure_all_finite="allow-nan")
        rows = np.asarray(np.where(np.isnan(rows), self.means, rows))
        Z = self._transformed(rows)
        guess = None if predictions is None else np.asarray(predictions).reshape(len(rows), -1)
        names = [name for name in self.limits if name != "output" or guess is not None]
        ratios = np.zeros((len(rows), max(len(names), 1)))
        reasons, causes = [""] * len(rows), [""] * len(rows)
        with np.errstate(over="ignore", invalid="ignore"):  # rows may be as far out as numbers go
            found = _statistics(self.parts, rows, Z)
            if guess is not None and "output" in names:
                found["output"] = self.parts["outputs"].values(guess)
            for column, name in enumerate(names):
                ratios[:, column] = self._ratio(name, found[name])
            distance = ratios.max(axis=1)
            # What a plane tells of a row says more than one column that is out of its range.
            others = np.where([name != "range" for name in names], ratios, 0) if names else ratios
            for i in np.flatnonzero(distance > 1):
                row = others[i] if others[i].max() > 1 else ratios[i]
                worst = names[int(row.argmax())]
                causes[i] = _CAUSES[worst]
                if guess is not None and worst == "output":
                    reasons[i] = "predicted " + self._beyond(worst, guess[i])
                else:
                    reasons[i] = self._reason(worst, float(row.max()), rows[i], Z[i])
        return Trust(distance, distance > 1, reasons, causes, self.usual)

    def _reason(self, statistic: str, ratio: float, x: Array, z: Array) -> str:
        ratio = float(np.sqrt(ratio)) if statistic == "nearest" else ratio
        times = f"{ratio:.2g} times the limit" if ratio < 1e4 else "far beyond the limit"
        if statistic == "range":
            return self._beyond("range", x)
        told = f"{_CAUSES[statistic]} {times}"
        if statistic in ("T2", "Q") and len(z) == len(self.means):
            told += "; " + self._most(self.parts["plane"].contributions(z, statistic))
        return told

    def _name(self, j: int) -> str:
        return f"x{j}" if self.names is None else self.names[j]

    def _most(self, contributions: Array) -> str:
        """The inputs that a statistic comes from: a stretch of a curve, or a few columns."""
        if self.curve:
            low, high = stretch(contributions)
            return f"inputs {self._name(low)} to {self._name(high)} differ most"
        order = np.argsort(-contributions, kind="stable")
        share = np.cumsum(contributions[order]) / contributions.sum()
        n = min(int(np.searchsorted(share, 0.5)) + 1, _MOST_NAMED, len(order))
        listed = ", ".join(self._name(int(j)) for j in order[:n])
        return f"{listed} {'differs' if n == 1 else 'differ'} most"

    def _beyond(self, statistic: str, values: Array) -> str:
        ranges: Ranges = self.parts["outputs" if statistic == "output" else "ranges"]
        names, letter = (self.target_names, "y") if statistic == "output" else (self.names, "x")
        out = ranges.outside(values, self.limits[statistic])
        j = int(out[0])
        more = f"; {len(out) - 1} more out of range" if len(out) > 1 else ""
        return (
            f"{f'{letter}{j}' if names is None else names[j]} == {values[j]:.4g}, trained on "
            f"{ranges.lower[j]:.4g} to {ranges.upper[j]:.4g}{more}"
        )


def _split(model: Any) -> tuple[list[Any], Any]:
    """Transformers before a model, and the model."""
    for name in ("best_estimator_", "estimator_"):
        while hasattr(model, name):
            model = getattr(model, name)
    if not isinstance(model, Pipeline):
        return [], model
    before = [step for _, step in model.steps[:-1] if step not in (None, "passthrough")]
    if before and hasattr(before[-1], "points_"):  # landmarks and a linear map: a kernel model
        return before[:-1], before[-1]
    further, last = _split(model.steps[-1][1])
    return before + further, last


def _kernel_of(model: Any) -> Any:
    """The kernel of a kernel expansion or of landmarks; None for other models."""
    if hasattr(model, "points_") and hasattr(model, "kernel_"):
        return model.kernel_
    expansion = getattr(model, "expansion_", None)
    return getattr(expansion, "kernel", None)


def _has_plane(model: Any) -> bool:
    """Whether a model is a map of low rank that is fitted anew in no time."""
    return (
        type(model) in (PCR, PLS, ReducedRankRegression)
        and model.n_components_ > 0
        and getattr(model, "missing", "error") != "em"
        and getattr(model, "solver_", None) != "proximal"
    )


def _refit(model: Any, X: Array, Y: Array) -> Any:
    """The same model on fewer rows, which may allow fewer components: no news to anybody."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return refit(model, X, Y.reshape(len(Y), -1))


def _some(rows: NDArray, most: int) -> NDArray:
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(0).choice(rows, most, replace=False))


def _part(n: int, folds: Folds | None) -> tuple[NDArray, Folds]:
    """All rows, or a part of very many, and the folds in their numbers."""
    if folds is None:
        folds = list(
            KFold(min(_FOLDS, n // 2 + 1), shuffle=True, random_state=0).split(np.zeros(n))
        )
    kept = _some(np.arange(n), _MOST_ROWS)
    place = np.full(n, -1)
    place[kept] = np.arange(len(kept))
    parts = [tuple(place[rows][place[rows] >= 0] for rows in fold) for fold in folds]
    return kept, [(a, b) for a, b in parts if len(a) > 2 and len(b)]


def _best_rank(axes: list[PrincipalAxes], X: Array, folds: Folds) -> int:
    """The number of components under which rows left out are most likely."""
    most = min(each.most for each in axes)
    if most == 0:
        return 0
    totals = sum(
        each.log_likelihoods(X[test], most) for each, (_, test) in zip(axes, folds, strict=True)
    )
    return int(np.argmax(totals))


def _statistics(parts: dict[str, Any], X: Array, Z: Array) -> dict[str, Array]:
    """Every statistic of some rows, before and after the steps in front of the model."""
    found = {"range": parts["ranges"].values(X)}
    if "features" in parts:
        return found | parts["features"].statistics(Z)
    plane: Subspace = parts["plane"]
    found |= plane.statistics(Z)
    if "neighbours" in parts and plane.loadings.shape[1]:
        found["nearest"] = parts["neighbours"].values(plane.scores(plane.standardise(Z)))
    return found


def _larger(own: dict[str, Array], left_out: dict[str, Array]) -> dict[str, Array]:
    """The larger of two values of each statistic.

    Rows of the fit lie too near; but components may change places without some rows, so that what
    the fit itself leaves beside its plane is more.
    """
    return {name: np.maximum(values, left_out.get(name, values)) for name, values in own.items()}


def _limits(left_out: dict[str, Array]) -> dict[str, float]:
    """Limits such that 95 % of the rows left out are within all of them."""
    scales = {}
    for name, values in left_out.items():
        middle, high = np.quantile(values, [0.5, 0.9])
        if high > middle:  # a statistic that is the same for all rows says nothing
            scales[name] = (float(middle), float(high - middle))
    if not scales:
        return {}
    worst = np.max([(left_out[name] - m) / s for name, (m, s) in scales.items()], axis=0)
    n = len(worst)
    rank = int(np.ceil(_LEVEL * (n + 1) - 1e-9))
    if rank <= n:
        multiple = float(np.partition(worst, rank - 1)[rank - 1])
    else:  # too few rows for a quantile of theirs: one of Student's law, and no less than they reach
        reach = stats.t.ppf(_LEVEL_OF_FEW, n - 1) * worst.std(ddof=1) * np.sqrt(1 + 1 / n)
        multiple = float(max(worst.max(), worst.mean() + reach))
    return {name: m + multiple * s for name, (m, s) in scales.items()}
