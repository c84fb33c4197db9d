"""A search over the rows of a source: one pass, then moments of the folds."""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv

from isthmus.model_selection.candidates import candidate_alphas, candidate_ranks
from isthmus.problems import Moments, Rows
from isthmus.problems.streams import as_rows
from isthmus.regression import (
    check_folds,
    check_source,
    check_targets,
    moment_norm,
    relative_alphas,
    score_moments,
    train_moments,
)


class TreatedSource(NamedTuple):
    """What the chosen candidate of a search is fitted to."""

    rows: Rows
    moments: Moments  # of all of them
    treatments: Any  # fitted steps before the regression of a pipeline, or None


def search_source(search: Any, model: Any, prefix: str, source: Rows, named: Any) -> TreatedSource:
    """Score all candidates of a ``ComponentSearchCV`` from the moments of folds, and choose.

    The steps before the regression of a pipeline are fitted once, to all rows.
    """
    check_source(model)
    treatments = clone(search.estimator[:-1]) if prefix else None
    rows = source if treatments is None else treatments.fit_transform(source)
    parts = rows.moments(fold_rule(search.cv, source))
    check_targets(parts[0].xy)
    check_folds(parts)
    model._name_columns(source, len(parts[0].xx))
    n_train = min(part.n_samples for part in train_moments(parts))
    ranks = candidate_ranks(search.n_components, model, (n_train, *parts[0].xy.shape))
    whole = reduce(Moments.merge, parts)
    if search.alpha is None and hasattr(model, "alpha"):
        alphas = relative_alphas(moment_norm(whole, model.scale))
    else:
        alphas = candidate_alphas(search.alpha, model, None, None)
    grid = search._grid(model, ranks, alphas, named, "r2")
    if grid.keep_squares:
        raise ValueError(
            f"rule == {search.rule!r} needs the error of every row, and Rows keep sums only: "
            "use 'auto', 'best' or 'one_se'."
        )
    for name, scorer in grid.scorers.items():
        if not isinstance(scorer, str):
            raise ValueError(
                f"scoring {name!r} needs the rows themselves: with Rows only r2, neg_mean_squared_error "
                "and neg_root_mean_squared_error are known, from the moments of the folds."
            )
    found = score_moments(model, parts, ranks, alphas, grid.scorers, grid.progress)
    n_targets = parts[0].xy.shape[1]
    errors = search._keep(found, prefix, np.array([part.weight for part in parts]), n_targets)
    search._choose(ranks, alphas, errors)
    return TreatedSource(rows, whole, treatments)


def source_score(search: Any, scorer: Any, X: Any, y: Any, sample_weight: Any) -> float | None:
    """Return the R2 of the chosen model for a source; None for arrays."""
    source = as_rows(X, y, sample_weight)
    if source is None:
        return None
    if repr(scorer) != repr(get_scorer("r2")):
        raise ValueError(
            f"only R2 can be computed for Rows and Dask collections, not {scorer!r}: score arrays."
        )
    return float(search.best_estimator_.score(X, y, sample_weight))


def refit_source(best: Any, source: TreatedSource) -> Any:
    """Fit the chosen candidate to the moments of all rows."""
    last = best if source.treatments is None else best.steps[-1][1]
    last._fit_source_moments(source.rows, source.moments, last._check_parameters())
    if source.treatments is not None:
        best.set_params(steps=[*source.treatments.steps, best.steps[-1]])
    return best


def fold_rule(cv: Any, source: Rows) -> int | NDArray:
    """Return k for row i in fold i modulo k, or the fold of each row of a splitter."""
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        if cv < 2:
            raise ValueError(f"cv == {cv}, must be at least 2 folds.")
        return int(cv)
    n = source.n_samples
    if n is None:
        raise ValueError(
            f"cv == {cv!r} needs the number of rows, which is unknown for this source: pass an integer k "
            "to put row i into fold i modulo k."
        )
    if 8 * n > source.memory:
        raise MemoryError(
            f"cv == {cv!r} needs {8 * n / 2**20:.0f} MiB for the folds of {n} rows, more than the bound: "
            "pass an int k, which puts row i into fold i modulo k."
        )
    labels = np.full(n, -1)
    n_tests = 0
    for fold, (train, test) in enumerate(check_cv(cv).split(np.broadcast_to(0.0, (n, 1)))):
        labels[test] = fold
        n_tests += len(test)
        if len(train) + len(test) != n:
            n_tests = -1
            break
    if n_tests != n or (labels < 0).any():
        raise ValueError(
            f"cv == {cv!r} is not a partition into folds, which Rows need: each row is tested once and "
            "trained on otherwise."
        )
    return labels
