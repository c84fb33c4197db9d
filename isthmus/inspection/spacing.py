"""How errors of ordered rows grow with the distance from the nearest row that the model knows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.spatial.distance import cdist

from isthmus._linalg import BLOCK_ROWS, Array, row_blocks
from isthmus.inspection.distances import PrincipalAxes, Subspace

Folds = Sequence[tuple[NDArray, NDArray]]

_NEAREST = (
    0.1  # share of the rows left out in shuffled folds below whose distance errors shrink no more
)
_SURE_SLOPE = 2.0  # standard errors by which errors must grow with the distance


class Spacing:
    r"""The distance of rows from the nearest row of the fit, and the power of it that errors grow with.

    .. math::
        g(x) = \Bigl(\frac{\max(d(x), d_0)}{\bar d}\Bigr)^\gamma, \qquad 0 \le \gamma \le 1

    Rows of a table in an order of time have two kinds of errors: later rows are predicted from afar, rows
    in between from their neighbours. The power is the one with which both are of the same size. It is at
    most one, since errors of a smooth function grow no faster than the distance.

    Attributes
    ----------
    plane : Subspace
        The leading principal axes of the inputs, in which distances are taken.
    points : ndarray of shape (n_samples, n_axes)
        Rows of the fit on these axes.
    least, unit : float
        The distance that a tenth of the rows in between fall short of, and the median of later rows.
    power : float
    """

    def __init__(
        self, plane: Subspace, points: Array, least: float, unit: float, power: float
    ) -> None:
        self.plane, self.points = plane, points
        self.least, self.unit, self.power = least, unit, power

    def growth(self, Z: Array) -> Array:
        """Return how much larger errors of rows are than those of a usual later row."""
        nearest = np.empty(len(Z))
        for part in row_blocks(len(Z), BLOCK_ROWS):
            scores = self.plane.standardise(Z[part]) @ self.plane.rotations
            nearest[part] = cdist(scores, self.points).min(axis=1)
        return self.growth_of(nearest)

    def growth_of(self, distances: Array) -> Array:
        """The same for rows whose distances are known."""
        return (np.maximum(distances, self.least) / self.unit) ** self.power


def find_spacing(
    Z: Array, between: tuple[Folds, Array], later: tuple[Folds, Array]
) -> tuple[Spacing | None, Array]:
    """Return the spacing of ordered rows, and the errors of later rows over their growth.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_features)
        Rows as the model sees them.
    between, later : tuple of folds and ndarray of shape (n_samples, n_targets)
        Shuffled folds and folds in time, with the absolute errors of the rows that they leave out, NaN for
        others.

    Returns
    -------
    spacing : Spacing or None
        None if errors do not grow with the distance, or many rows have a copy, which tells nothing.
    errors : ndarray of shape (n_samples, n_targets)
    """
    axes = PrincipalAxes(Z)
    plane = axes.plane(len(axes.variances))
    points = plane.standardise(Z) @ plane.rotations
    distances = cdist(points, points)
    near = _nearest(distances, between[0])
    far = _nearest(distances, later[0])
    least = float(np.nanquantile(near, _NEAREST))
    unit = float(np.nanmedian(far))
    if not least > 0 or not unit > 0:
        return None, later[1]
    if not _grow_within((near, *between), (far, *later)):
        return None, later[1]
    spacing = Spacing(plane, points, least, unit, 1.0)

    def excess(power: float) -> float:
        """How much larger errors of later rows are than those of rows in between, as a logarithm."""
        spacing.power = power
        sizes = [
            np.nanmean(errors / spacing.growth_of(own)[:, None], axis=0)
            for own, (_, errors) in ((far, later), (near, between))
        ]
        known = (sizes[0] > 0) & (sizes[1] > 0)
        if known.any():
            return float(np.log(sizes[0][known] / sizes[1][known]).mean())
        return 0.0

    if excess(0.0) <= 0:
        return None, later[1]
    spacing.power = 1.0 if excess(1.0) >= 0 else float(brentq(excess, 0.0, 1.0))
    return spacing, later[1] / spacing.growth_of(far)[:, None]


def _grow_within(*kinds: tuple[Array, Folds, Array]) -> bool:
    """Whether errors grow with distances within folds, by two standard errors of a common slope.

    Each kind has distances, folds and errors. Both are compared as logarithms. Between folds errors differ
    for other reasons too, such as a drift of the outputs that the inputs do not show.
    """
    steps, sizes = [], []
    for distances, folds, errors in kinds:
        unit = np.nanmean(errors, axis=0)
        relative = errors[:, unit > 0] / unit[unit > 0]
        for _, test in folds:
            known = test[
                (distances[test] > 0) & (np.nan_to_num(relative[test]).max(axis=1, initial=0.0) > 0)
            ]
            if len(known):
                step = np.log(distances[known])
                size = np.log(np.nanmean(relative[known], axis=1))
                steps.append(step - step.mean())
                sizes.append(size - size.mean())
    if not steps:
        return False
    x = np.concatenate(steps)
    y = np.concatenate(sizes)
    slope = x @ y / max(x @ x, np.finfo(float).tiny)
    return bool(slope * np.linalg.norm(x) > _SURE_SLOPE * np.std(y - slope * x))


def _nearest(distances: Array, folds: Folds) -> Array:
    """Distance of each row left out to the nearest of the rows that it is predicted from; else NaN."""
    found = np.full(len(distances), np.nan)
    for train, test in folds:
        found[test] = distances[np.ix_(test, train)].min(axis=1)
    return found
