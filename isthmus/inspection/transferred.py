"""The domain and the errors of a model whose rows come from another instrument, through a transfer."""

from __future__ import annotations

import warnings
from copy import copy
from typing import Any

import numpy as np
from scipy.ndimage import uniform_filter1d
from sklearn.base import clone

from isthmus._linalg import Array
from isthmus.inspection.distances import FeatureDistance, Neighbours, Ranges, Subspace
from isthmus.inspection.domain import Domain

FEWEST_STANDARDS = 4  # three without the one that is left out
# Neighbours on a curve whose errors are taken together, as many as a default window of a transfer has: the
# mean of ten squares is too small in some of 700 columns.
_POOLED = 11


def standards_left_out(transfer: Any, secondary: Array, primary: Array) -> Array:
    """Spectra of the standards on the primary instrument, each by a transfer fitted to the others."""
    found = np.empty_like(primary)
    with warnings.catch_warnings():  # the transfer of all standards has told what it is worth
        warnings.simplefilter("ignore")
        for i in range(len(primary)):
            rest = np.arange(len(primary)) != i
            other = clone(transfer).fit(secondary[rest], primary[rest])
            found[i] = other.transform(secondary[i : i + 1])[0]
    return found


def domain_after_transfer(domain: Domain, transfer: Any, primary: Array, left_out: Array) -> Domain:
    """Return the domain of rows that come through a transfer.

    What a transfer does to a row is added to what rows of the primary instrument do: its mean squares, over
    standards left out, to the spread beside the plane in each column, to the covariance of the scores, and
    to squared distances in feature space. Limits of what is divided by these spreads stay as they are.
    """
    plane: Subspace | None = domain.parts.get("plane")
    if domain.transfer is not None or (plane is not None and plane.noise is None):
        raise ValueError(
            "the domain is that of a transfer already, or of a file that does not keep its spreads: take "
            "the model as it was fitted on the primary instrument."
        )
    found = copy(domain)
    found.transfer = transfer
    found.parts, found.limits = dict(domain.parts), dict(domain.limits)
    found.parts["ranges"] = _widen_ranges(domain.parts["ranges"], primary, left_out)
    rows, moved = (domain.before_model(part) for part in (primary, left_out))
    if plane is not None:
        found.parts["plane"] = wider = _widen_plane(plane, rows, moved, domain.curve)
        if "neighbours" in found.parts and plane.loadings.shape[1]:
            turn = np.linalg.solve(plane.whitening, wider.whitening)
            found.parts["neighbours"] = Neighbours(domain.parts["neighbours"].points @ turn)
    if "features" in found.parts:
        _widen_features(found.limits, found.parts["features"], rows, moved)
    return found


def _widen_ranges(ranges: Ranges, primary: Array, left_out: Array) -> Ranges:
    """Ranges that grow as the spread of the standards does by the errors of the transfer."""
    spread = primary.var(axis=0)
    error = ((left_out - primary) ** 2).mean(axis=0)
    factor = np.sqrt(1 + np.divide(error, spread, out=np.zeros_like(error), where=spread > 0))
    middle = (ranges.upper + ranges.lower) / 2
    half = (ranges.upper - ranges.lower) / 2
    return Ranges(np.stack([middle - factor * half, middle + factor * half]))


def _widen_plane(plane: Subspace, primary: Array, left_out: Array, is_curve: bool) -> Subspace:
    """The same plane, with the errors of the transfer in the spreads within and beside it."""
    error = plane.standardise(left_out) - plane.standardise(primary)
    scores = error @ plane.rotations
    covariance = np.linalg.inv(plane.whitening @ plane.whitening.T) + scores.T @ scores / len(error)
    whitening = np.linalg.inv(np.linalg.cholesky(covariance)).T
    assert plane.noise is not None
    beside = (plane.beside(error) ** 2).mean(axis=0)
    if is_curve:
        beside = uniform_filter1d(beside, min(_POOLED, len(beside)), mode="nearest")
    # Its squares are those of a plane's own rows and of others (``fold_planes``): either grow.
    noise = np.sqrt(plane.noise**2 + 2 * beside)
    return Subspace(plane.mean, plane.scale, plane.rotations, plane.loadings, whitening, noise)


def _widen_features(
    limits: dict[str, float], features: FeatureDistance, primary: Array, left_out: Array
) -> None:
    """Add the mean squared distance by which the transfer moves a standard to the limits."""
    before, after = (features.statistics(part) for part in (primary, left_out))
    if "span" in limits:
        limits["span"] += max(0.0, float((after["span"] - before["span"]).mean()))
    if "nearest" in limits:
        added = float((after["nearest"] ** 2 - before["nearest"] ** 2).mean())
        limits["nearest"] = float(np.sqrt(limits["nearest"] ** 2 + max(0.0, added)))


def error_factor(errors: Array, on_primary: Array, left_out: Array) -> Array:
    """How much larger errors of each output are for the differences that the transfer makes.

    ``errors`` are those of rows left out, ``on_primary`` and ``left_out`` predictions of the standards.
    """
    own = np.nanmean(errors**2, axis=0)
    added = ((left_out - on_primary) ** 2).reshape(len(on_primary), -1).mean(axis=0)
    return np.asarray(np.sqrt(1 + np.divide(added, own, out=np.zeros_like(own), where=own > 0)))
