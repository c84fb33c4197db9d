"""Oracle: names as they stand in files of spectra and of plain tables."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isthmus.inspection.axis import places_of
from isthmus.inspection.displays._axes import positions, unit_of
from isthmus.inspection.distances import is_curve


@pytest.mark.parametrize(
    ("names", "places", "unit"),
    [
        (["1100", "1102", "1104.5"], [1100, 1102, 1104.5], ""),
        ([1100, 1102.0], [1100, 1102], ""),
        (["1100 nm", "1102 nm"], [1100, 1102], "nm"),
        (["4000 (cm-1)", "3998 (cm-1)"], [4000, 3998], "cm-1"),
        (["X1100", "X1102"], [1100, 1102], ""),
        (["wl_400.5nm", "wl_401.5nm"], [400.5, 401.5], "nm"),
        (["1.1e3", "1.2e3"], [1100, 1200], ""),
        (["-1", "0", "1"], [-1, 0, 1], ""),
    ],
)
def test_places_and_units(names, places, unit):
    found = places_of(names)
    assert found is not None and found[1] == unit
    assert_array_equal(found[0], places)
    assert unit_of(names) == (unit or "input")
    assert positions(names, len(names))[2]


@pytest.mark.parametrize(
    "names",
    [
        ["x0", "x1", "x2"], ["a1", "a2", "a3"], ["fat", "water"], ["1", "1"], ["1100 nm", "1102"],
        ["a100", "b102"], ["100", "inf"], ["100"], None, ["3 nm", "3 nm"], ["", "1"],
    ],
)  # fmt: skip
def test_names_that_are_no_places(names):
    assert places_of(names) is None
    assert unit_of(names) == "input"


def test_columns_in_order_of_their_places_are_a_curve():
    rows = np.random.default_rng(0).standard_normal((9, 6))
    assert is_curve(rows, [f"{1100 + 2 * j} nm" for j in range(6)])
    assert is_curve(rows, [f"X{1100 - 2 * j}" for j in range(6)])
    assert not is_curve(rows, [f"x{j}" for j in range(6)])
    assert not is_curve(rows, ["1100 nm", "1104 nm", "1102 nm", "1106 nm", "1108 nm", "1110 nm"])
