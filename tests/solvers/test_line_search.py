"""Line searches. Oracles: the conditions they promise, checked at what they return."""

import numpy as np
import pytest

from isthmus._geometry import Euclidean
from isthmus._solvers.line_search import CURVATURE, SUFFICIENT, wolfe
from isthmus._solvers.problem import Problem
from isthmus.papers.stiefel_report.steepest_descents import armijo

CURVES = {
    "parabola": lambda x: ((x - 1) ** 2, 2 * (x - 1)),
    "steep": lambda x: (np.exp(min(x, 800)) - 20 * x, np.exp(min(x, 800)) - 20),
    "wavy": lambda x: (x**2 / 50 - np.sin(x), x / 25 - np.cos(x)),
    "narrow": lambda x: (np.sqrt((x - 0.3) ** 2 + 1e-12), (x - 0.3) / np.hypot(x - 0.3, 1e-6)),
}


def on_a_line(curve):
    def objective(point):
        value, slope = curve(point[0])
        return float(value), np.array([slope])

    return Problem(objective, Euclidean(1))


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("first", [1e-6, 1e-2, 1.0, 300.0])
@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("search", [armijo, wolfe])
def test_keeps_its_promises(name, search, first):
    problem = on_a_line(CURVES[name])
    start = problem.evaluate(np.array([0.0]))
    direction = -start.gradient
    slope = float(start.gradient @ direction)
    assert slope < 0
    step = search(problem, start, direction, slope, first)
    assert step.end.value <= start.value + SUFFICIENT * step.length * slope
    np.testing.assert_allclose(step.end.point, step.length * direction)
    if search is wolfe:
        assert step.end.gradient @ direction >= CURVATURE * slope
    else:  # the longest of the halves that will do
        if step.length < first:
            longer = problem.move(start, 2 * step.length * direction)
            assert longer.value > start.value + SUFFICIENT * 2 * step.length * slope


@pytest.mark.parametrize("search", [armijo, wolfe])
def test_a_direction_uphill_has_no_step(search):
    problem = on_a_line(lambda x: (x, 1.0))
    start = problem.evaluate(np.array([0.0]))
    assert search(problem, start, np.array([1.0]), -1.0, 1.0) is None
