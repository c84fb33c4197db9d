"""Several starts where one is a matter of luck: rough descents from all, and the best to the end.

Under a rank constraint a loss other than the squared has local minima. They matter where the map has
nearly as many numbers as there are entries to fit, as with more inputs than rows, and where outliers pull.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import minimize

from isthmus._linalg import Array
from isthmus._solvers import Reason, SolverResult
from isthmus.losses import Loss, ResidualLoss
from isthmus.regression.kinked import can_sharpen, sharpen
from isthmus.regression.rank_descent import RankProblem, balance, descend_factors

Point = tuple[Array, Array, Array]
Rough = tuple[float, Point, int]  # value, point and steps taken

_CHEAP_ENTRIES = 10_000  # entries of Y up to which trying costs little
_MANY_INPUTS = 0.5  # of the rows: with more inputs than this, minima differ
_RANDOM, _SHAKEN, _SHAKE = 4, 2, 0.5  # starts of either kind, and how far factors are shaken
_SWAPS = 3  # exchanges of a component that are followed from a map
_VERY_FEW, _NUDGES, _NUDGE = 500, 4, 0.3  # entries, and how often and far the end is shaken
# Rounds of a rough descent: width of the rounding of kinks in scales, steps, and how many go on.
_ROUNDS = ((0.5, 40, 6), (0.1, 60, 3), (0.02, 100, 2))
_ROUGH_TOL = 1e-5  # of a rough descent, whose end is only compared with others
_SAME_MINIMUM = 1e-4  # relative difference of two rough values that says: the same minimum


def descend_well(
    problem: RankProblem, start: Point, options: dict[str, Any], *, rough: bool, chosen: bool
) -> tuple[Point, SolverResult]:
    """Minimise from a start; where that is cheap and minima are many, from others too.

    ``rough`` is for scales that go on to move, ``chosen`` says that the user wants this start.
    """
    if rough:
        options = options | {"tol": max(options["tol"], _ROUGH_TOL)}
        return descend_factors(problem, start, coarse=True, **options)
    rank = start[0].shape[1]
    few = (
        problem.Y.size <= _CHEAP_ENTRIES
        and start[0].size > 0
        and isinstance(problem.loss, ResidualLoss)
    )
    crowded = problem.rows.shape[1] > _MANY_INPUTS * len(problem.Y)
    many = crowded and not chosen
    if few and (can_sharpen(problem, rank) or (many and problem.loss.is_smooth)):
        return _best(problem, start, options, n_random=_RANDOM if many else 0)
    return descend_factors(problem, start, **options)


def _best(
    problem: RankProblem, start: Point, options: dict[str, Any], n_random: int
) -> tuple[Point, SolverResult]:
    """The best of several rough descents, each to its end."""
    # A fixed seed: the same data give the same map, without a parameter that nobody would tune.
    rng, steps = np.random.default_rng(0), 0
    if options["verbose"] or options["callback"] is not None:  # steps are shown of the first start
        start, _ = descend_factors(problem, start, coarse=True, **options)
    points = [start] + [_shake(start, rng) for _ in range(_SHAKEN)]
    points += [_random(problem, start, rng) for _ in range(n_random)]
    found: list[Rough] = []
    max_iter = options["max_iter"]
    for stage, (width, most, survivors) in enumerate(_ROUNDS):
        most = min(most, max_iter)
        loss = problem.loss
        if not loss.is_smooth:
            loss = loss.smooth(width * options["scale"])
        found = [_rough(problem, point, loss, most) for point in points]
        if stage == 0 and n_random:
            found += _swaps(problem, min(found, key=_value), loss, most)
        steps += sum(n for _, _, n in found)
        points = _different(found)[:survivors]
    ends = []
    for point in points:
        if problem.loss.is_smooth:
            ends.append(descend_factors(problem, point, **options))
        else:
            ends.append(sharpen(problem, point, max_iter=max_iter))
        steps += ends[-1][1].n_iter
        if ends[-1][1].reason is Reason.INTERRUPTED:
            break
    point, result = min(ends, key=lambda end: problem.objective(*end[0]))
    if not problem.loss.is_smooth and problem.Y.size <= _VERY_FEW:
        # Kinks have shallow minima of their own, below the width of all rounding.
        for _ in range(_NUDGES):
            moved, attempt = sharpen(problem, _shake(point, rng, _NUDGE), max_iter=max_iter)
            steps += attempt.n_iter
            if attempt.value < result.value:
                point, result = moved, attempt
    return point, replace(result, n_iter=steps)


def _swaps(problem: RankProblem, best: Rough, loss: Loss, steps: int) -> list[Rough]:
    """Maps that give one component to another output, as long as that helps.

    Where inputs are many, minima differ by which outputs have a component of their own: it takes in all
    of an output, outliers and all, and no small step leads from one output to another.
    """
    tried: list[Rough] = []
    for _ in range(2 * best[1][0].shape[1]):
        tries = [_rough(problem, point, loss, steps) for point in _exchange(problem, best[1], loss)]
        tried += tries
        better = min(tries, key=_value)
        if not better[0] < best[0] - _SAME_MINIMUM * abs(best[0]):
            break
        best = better
    return tried


def _exchange(problem: RankProblem, point: Point, loss: Loss) -> list[Point]:
    """The best few maps in which one component is exchanged for the fit to what an output lacks."""
    (A, D), b = balance(*point[:2]), point[2]
    found = []
    for c in range(A.shape[1]):
        keep = np.arange(A.shape[1]) != c
        left = problem.Y - (problem.rows @ A[:, keep]) @ D[:, keep].T - b
        if problem.weights is not None:
            left = left * problem.weights[:, None]
        fits = problem.rows.T @ left  # rows are orthonormal columns, but for the ridge
        for j in range(len(D)):
            unit = np.zeros((len(D), 1))
            unit[j] = 1.0
            new = (np.column_stack([A[:, keep], fits[:, j]]), np.hstack([D[:, keep], unit]), b)
            found.append((problem.value_and_gradients(loss, *new)[0], new))
    return [new for _, new in sorted(found, key=_value)[:_SWAPS]]


def _value(found: Any) -> float:
    return float(found[0])


def _different(found: list[Rough]) -> list[Point]:
    """Points by value, best first, without those that are at the same minimum."""
    kept: list[tuple[float, Point]] = []
    for value, point, _ in sorted(found, key=_value):
        if not kept or value > kept[-1][0] + _SAME_MINIMUM * abs(kept[-1][0]):
            kept.append((value, point))
    return [point for _, point in kept]


def _shake(start: Point, rng: np.random.Generator, size: float = _SHAKE) -> Point:
    A, D = (F + size * F.std() * rng.standard_normal(F.shape) for F in balance(*start[:2]))
    return A, D, start[2]


def _random(problem: RankProblem, start: Point, rng: np.random.Generator) -> Point:
    """Factors that know nothing of the start but the size of its map."""
    A, D = (rng.standard_normal(F.shape) for F in start[:2])
    size = np.linalg.norm(start[0] @ start[1].T) / max(float(np.linalg.norm(A @ D.T)), 1e-300)
    root = np.sqrt(size)
    return root * A, root * D, start[2]


def _rough(problem: RankProblem, start: Point, loss: Loss, steps: int) -> Rough:
    """Some steps of a compiled L-BFGS on a smooth loss: value, point and the steps taken."""
    A, D = balance(*start[:2])
    ends = np.cumsum([A.size, D.size])
    unit = 1.0 / np.sqrt(len(problem.Y))  # of the intercepts: rows are orthonormal columns

    def split(x: Array) -> Point:
        parts = np.split(x, ends)
        return parts[0].reshape(A.shape), parts[1].reshape(D.shape), unit * parts[2]

    def objective(x: Array) -> tuple[float, Array]:
        value, by_A, by_D, by_b = problem.value_and_gradients(loss, *split(x))
        return value, np.concatenate([by_A.ravel(), by_D.ravel(), unit * by_b])

    x = np.concatenate([A.ravel(), D.ravel(), start[2] / unit])
    with np.errstate(over="ignore", invalid="ignore"):
        end = minimize(
            objective, x, jac=True, method="L-BFGS-B", options={"maxiter": steps, "maxcor": 20}
        )
    return float(end.fun), split(end.x), int(end.nit)
