"""Directions. Oracles: the dense quasi-Newton matrix, and the printed conjugate direction."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus._geometry import Euclidean, Stiefel
from isthmus._solvers.lbfgs import QuasiNewton
from isthmus._solvers.line_search import Step
from isthmus._solvers.problem import Iterate, Problem
from isthmus.papers.riemannian_pls.conjugate_gradients import _Conjugate


@pytest.fixture(params=range(3))
def rng(request):
    return np.random.default_rng(request.param)


def bowl(rng, n):
    root = rng.normal(size=(n, n))
    A, b = root @ root.T + np.eye(n), rng.normal(size=n)
    return lambda x: (float(x @ A @ x / 2 - b @ x), A @ x - b)


def walk(problem, rule, start, n_steps):
    """Make steps of fixed length along a rule's directions; return the iterates."""
    iterates = [problem.evaluate(start)]
    for _ in range(n_steps):
        current = iterates[-1]
        direction = rule.choose(problem.geometry, current)
        slope = problem.geometry.inner(current.point, current.gradient, direction)
        step = Step(0.1, problem.move(current, 0.1 * direction))
        rule.learn(problem.geometry, current, step, direction, slope)
        iterates.append(step.end)
    return iterates


@pytest.mark.parametrize("memory", [2, 5, 20])
def test_quasi_newton_is_the_dense_update(memory, rng):
    problem, rule = Problem(bowl(rng, 6), Euclidean(6)), QuasiNewton(memory)
    iterates = walk(problem, rule, rng.normal(size=6), 7)
    pairs = [(b.point - a.point, b.gradient - a.gradient) for a, b in pairwise(iterates)][-memory:]
    s, y = pairs[-1]
    H = (s @ y) / (y @ y) * np.eye(6)
    for s, y in pairs:
        left = np.eye(6) - np.outer(s, y) / (s @ y)
        H = left @ H @ left.T + np.outer(s, s) / (s @ y)
    expected = -H @ iterates[-1].gradient
    assert_allclose(rule.choose(problem.geometry, iterates[-1]), expected, rtol=1e-9, atol=1e-12)


def on_stiefel(rng, metric):
    geometry = Stiefel(7, 3, metric=metric)
    root = rng.normal(size=(7, 7))
    M = root @ root.T

    def objective(V):
        return float(np.sum(V * (M @ V) * [3, 2, 1])), 2 * (M @ V) * [3, 2, 1]

    return Problem(objective, geometry), geometry.random_point(rng)


@pytest.mark.parametrize("metric", ["canonical", "embedded"])
def test_quasi_newton_directions_are_tangent_and_downhill(metric, rng):
    problem, start = on_stiefel(rng, metric)
    rule, geometry = QuasiNewton(10), problem.geometry
    current = walk(problem, rule, start, 6)[-1]
    direction = rule.choose(geometry, current)
    assert_allclose(geometry.project(current.point, direction), direction, atol=1e-11)
    assert geometry.inner(current.point, current.gradient, direction) < 0


def test_pairs_of_negative_curvature_are_not_learned(rng):
    rule, geometry = QuasiNewton(5), Euclidean(3)
    g = rng.normal(size=3)
    start = Iterate(np.zeros(3), 0.0, g, 1.0)
    end = Iterate(-g, -1.0, 2 * g, 2.0)  # the gradient grew along its own negative
    rule.learn(geometry, start, Step(1.0, end), -g, -1.0)
    assert_array_equal(rule.choose(geometry, end), -end.gradient)
    assert rule.first_length(end, -1.0) == 0.5


@pytest.mark.parametrize("beta", ["fletcher-reeves", "hestenes-stiefel"])
@pytest.mark.parametrize("metric", ["canonical", "embedded"])
def test_conjugate_direction_is_the_printed_one(beta, metric, rng):
    problem, start = on_stiefel(rng, metric)
    rule, geometry = _Conjugate(beta), problem.geometry
    first = problem.evaluate(start)
    direction = rule.choose(geometry, first)
    assert_array_equal(direction, -first.gradient)
    step = Step(0.01, problem.move(first, 0.01 * direction))
    rule.learn(geometry, first, step, direction, -(first.norm**2))
    new = step.end.point
    carried, old = (geometry.project(new, a) for a in (direction, first.gradient))
    if beta == "fletcher-reeves":
        factor = step.end.norm**2 / first.norm**2
    else:
        change = step.end.gradient - old
        factor = geometry.inner(new, change, step.end.gradient)
        factor /= geometry.inner(new, change, carried)
    expected = -step.end.gradient + max(factor, 0) * carried
    assert_allclose(rule.choose(geometry, step.end), expected, atol=1e-12)
