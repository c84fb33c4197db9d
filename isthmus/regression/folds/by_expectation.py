"""Folds with missing values: a model of the gaps for each number of components, for all ridge weights."""

from __future__ import annotations

from typing import Any

from isthmus.linalg import Array
from isthmus.regression.folds.path import RefitPath
from isthmus.regression.folds.refit import Folds
from isthmus.regression.folds.split import Rows, Split


def expected_paths(
    estimator: Any, rows: Rows, split: Split, ranks: list[int], alphas: list[Any]
) -> list[RefitPath]:
    """Predictions of a fit by expectation-maximisation for every rank; a path for each ridge weight.

    The model of the gaps has more latent dimensions for more components, up to what the data can tell;
    from there on all ranks share one.
    """
    predictions: list[dict[int, Array]] = [{} for _ in alphas]
    asked = latent = -1
    for rank in sorted(set(ranks), reverse=True):
        if not (latent < asked and estimator._n_latent(rank) >= latent):
            form, model = estimator._expected_form(*rows.take(split.train), rank)
            asked, latent = estimator._n_latent(rank), model.loadings.shape[1]
            coordinates = form.frame.x(model.filled(rows.X[split.test]))
            paths = Folds(estimator, rows, rank, alphas).solve(form, coordinates, exact=True)
        for path, found in zip(paths, predictions, strict=True):
            found[rank] = path.predict(rank)
    return [RefitPath(found) for found in predictions]
