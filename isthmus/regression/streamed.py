"""Fit and choose from a source of row blocks: one pass, then moments alone."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from typing import Any

import numpy as np

from isthmus._linalg import Array, column_scales
from isthmus._validation import N_FOLDS
from isthmus.problems import MomentForm, Moments, Rows, expanded_errors, score_path
from isthmus.regression.chosen import Numbers, open_ranks
from isthmus.regression.crossval import (
    PathScores,
    least_cost_index,
    moment_norm,
    relative_alphas,
)


def fit_source(model: Any, source: Rows) -> None:
    """Fit a latent regression to the rows of a source."""
    n_components = model._check_parameters()
    if _needs_passes(model):
        from isthmus.regression.loss_source import fit_loss_source

        found = fit_loss_source(model, source, n_components)
        model._name_columns(source, len(found.form.xx))
        model._store(*model._keep(found))
        return
    check_source(model)
    if model._leaves_open():
        parts = source.moments(N_FOLDS, full_yy=model._needs_full_yy)
        n_components = model._choose(choose_from_moments, parts)
        moments = reduce(Moments.merge, parts)
    else:
        moments = source.moments(full_yy=model._needs_full_yy)
    model._fit_source_moments(source, moments, n_components)


def _needs_passes(model: Any) -> bool:
    """Whether a model has a loss that is not a function of moments."""
    return hasattr(model, "_is_exact") and not model._is_exact()


def check_source(model: Any) -> None:
    """Refuse parameters that need all rows at once."""
    if model.missing == "em":
        raise ValueError(
            "missing='em' needs all rows at once and does not take Rows: fill or leave out the rows with "
            "NaN, or fit a sample of the rows in memory."
        )
    if _needs_passes(model):
        raise ValueError(
            f"loss={model.loss!r} has no closed form in moments: search in memory, or fit Rows with the "
            "rank you need."
        )


def check_targets(Y: Array) -> None:
    """Refuse rows without outputs, which have no columns here."""
    if not Y.shape[1]:
        raise ValueError(
            "the rows have no y: yield (X, y), or name target columns, Rows.from_parquet(path, y=[...])."
        )


def train_moments(parts: list[Moments]) -> list[Moments]:
    """Return the moments of all parts but one, for each; sums alone, so that no digits are lost."""
    before = list(accumulate(parts[:-1], Moments.merge))
    after = list(accumulate(parts[:0:-1], Moments.merge))[::-1]
    inner = [a.merge(b) for a, b in zip(before[:-1], after[1:], strict=True)]
    return [after[0], *inner, before[-1]]


def score_moments(
    model: Any,
    parts: list[Moments],
    ranks: list[int],
    alphas: list[Any],
    scorers: dict[str, Any],
    progress: Callable[[int, int], None] | None = None,
) -> PathScores:
    """Score every rank and ridge weight on every fold, from the moments of the folds.

    ``scorers`` maps names to the names of scores that follow from squared errors.
    """
    shape = (len(alphas), len(ranks), len(parts))
    result = PathScores(ranks, alphas, {}, np.zeros(len(parts)))
    overall = _variances(reduce(Moments.merge, parts))
    with warnings.catch_warnings():  # fewer components in a fold are no news
        warnings.filterwarnings("ignore", message="n_components")
        for i, (train, test) in enumerate(zip(train_moments(parts), parts, strict=True)):
            begin = time.perf_counter()
            held_out = _HeldOut(test, overall)
            for a, path in enumerate(_fold_paths(model, train, test, ranks, alphas)):
                for name, values in score_path(path, held_out, ranks, scorers).items():  # type: ignore[arg-type]
                    result.scores.setdefault(name, np.full(shape, np.nan))[a, :, i] = values
            result.seconds[i] = time.perf_counter() - begin
            if progress is not None:
                progress(i + 1, len(parts))
    return result


def choose_from_moments(model: Any, parts: list[Moments]) -> Numbers:
    """Return the number of components and the ridge weight, chosen in the folds where they are "auto"."""
    check_targets(parts[0].xy)
    check_folds(parts)
    n_train = min(part.n_samples for part in train_moments(parts))
    q = parts[0].xy.shape[1]
    ranks = open_ranks(model, n_train, len(parts[0].xy), q)
    alphas: list[Any] = [getattr(model, "alpha", None)]
    if alphas == ["auto"]:
        alphas = relative_alphas(moment_norm(reduce(Moments.merge, parts), model.scale))
    found = score_moments(model, parts, ranks, alphas, {"score": "q2"})
    shares = np.array([part.weight for part in parts])
    errors = 1 - found.scores["score"].reshape(-1, len(parts))
    a, r = divmod(least_cost_index(errors, shares, ranks, alphas, q), len(ranks))
    return Numbers(ranks[r], alphas[a])


def check_folds(parts: list[Moments]) -> None:
    """Refuse folds of which R2 or a fit is not defined."""
    for i, part in enumerate(parts):
        if part.n_samples < 2:
            raise ValueError(
                f"fold {i} has {part.n_samples} rows, at least 2 are needed: use fewer folds."
            )


# -- one fold --------------------------------------------------------------------------------------------


@dataclass
class _MomentPath:
    """Errors of a fold with 0..k components; scores and residuals are known by their products."""

    gram: Array  # mean products of the scores, (k, k)
    cross: Array  # of the scores with y less its training mean, (k, q)
    squares: Array  # of that, (q,)
    loadings: Array  # (q, k)

    @classmethod
    def of(cls, test: Moments, train: Moments, D: Array, Q: Array) -> _MomentPath:
        """Of scores ``(x - x_mean) D`` with loadings Q, all in the user's units."""
        dx, dy = test.mean_difference(train)
        shift = dx @ D
        gram = D.T @ (test.xx @ D) / test.weight + np.outer(shift, shift)
        cross = D.T @ test.xy / test.weight + np.outer(shift, dy)
        return cls(gram, cross, test.y_squares / test.weight + dy**2, Q)

    def errors(self, Y: Any, weights: Any, ranks: list[int]) -> Array:
        errors = expanded_errors(self.gram, self.cross, self.squares, self.loadings)
        picked = [min(rank, self.loadings.shape[1]) for rank in ranks]
        return np.maximum(errors, 0.0)[picked]


class _HeldOut:
    """The test rows of a fold as the scores ask for them."""

    in_units = weights = None
    has_gaps = False
    unit = 1.0

    def __init__(self, test: Moments, overall: Array) -> None:
        self.first = test.y_mean
        self.variances = _variances(test)
        self.overall = overall


def _variances(moments: Moments) -> Array:
    """Of each output; 0 where it does not vary."""
    live = column_scales(moments.y_squares, moments.y_mean, moments.weight, False)[1]
    return np.where(live, moments.y_squares / moments.weight, 0.0)


def _fold_paths(
    model: Any, train: Moments, test: Moments, ranks: list[int], alphas: list[Any]
) -> list[Any]:
    """The path of every ridge weight."""
    if not model._is_nested():
        raise ValueError(
            f"{type(model).__name__} with these parameters has no path of ranks in moments: search in "
            "memory, or fit Rows with the rank you need."
        )
    form = MomentForm.from_moments(train, model.scale)
    solved, R, loadings = model._solve_path(form, max(ranks), alphas)
    frame = solved.frame
    D = R / frame.x_scale[:, None]
    # One product for all ridge weights, cut afterwards.
    whole = _MomentPath.of(test, train, D, D)
    ends = np.cumsum([Q.shape[1] for Q in loadings])
    paths = []
    for Q, end in zip(loadings, ends, strict=True):
        own = slice(end - Q.shape[1], end)
        scaled = Q * frame.y_scale[:, None]
        paths.append(_MomentPath(whole.gram[own, own], whole.cross[own], whole.squares, scaled))
    return paths
