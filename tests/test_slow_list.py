"""The list of slow tests: the quickest ones use up the budget, the others are slow."""

import importlib.util
from pathlib import Path

HERE = Path(__file__).parent
SPEC = importlib.util.spec_from_file_location("_slow", HERE / "conftest.py")
conftest = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(conftest)


def test_what_is_beyond_the_budget_is_slow():
    seconds = {"d": 9.0, "a": 1.0, "c": 3.0, "b": 2.0}
    assert conftest.beyond(seconds, 6.0) == ["d"]
    assert conftest.beyond(seconds, 5.9) == ["c", "d"]
    assert conftest.beyond(seconds, 0.5) == ["a", "b", "c", "d"]


def test_cases_of_a_function_are_one():
    assert conftest.function_of("tests/test_a.py::test_b[x-[1]]") == "tests/test_a.py::test_b"


def test_a_listed_test_is_marked(request):
    listed = set(conftest.LIST.read_text("utf-8").split())
    for item in request.session.items:
        is_slow = item.get_closest_marker("slow") is not None
        assert is_slow == (conftest.function_of(item.nodeid) in listed)
