"""Skips what needs data that are not at hand, and marks the slow tests.

``pytest -m "not slow"`` leaves the slow ones out. Their list is measured: ``make slow`` runs all tests and
writes ``slow.txt``, so that no mark in the code grows old. A new test is quick until then.
"""

import gc
import os
from collections import defaultdict
from pathlib import Path

import pytest

from isthmus.datasets import DatasetNotFoundError

LIST = Path(__file__).with_name("slow.txt")

# Seconds that all other tests take together. Two workers, which also collect and import, need less than 90.
BUDGET = 100.0


def pytest_addoption(parser):
    parser.addoption("--write-slow", action="store_true", help=f"write {LIST.name} by this run")


def pytest_configure(config):
    if config.getoption("--write-slow") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Times())


def pytest_collection_modifyitems(items):
    slow = set(LIST.read_text("utf-8").split())
    for item in items:
        if function_of(item.nodeid) in slow:
            item.add_marker("slow")


def pytest_collection_finish():
    """Collect garbage less often, and without a look at twenty thousand tests: a fifth of the time."""
    gc.freeze()
    gc.set_threshold(20_000)


def skip_without_data():
    """Let a step of a test run; skip the test if it asks for a data set and no folder of them is named."""
    try:
        return (yield)
    except DatasetNotFoundError as error:
        if "ISTHMUS_DATA" in os.environ:
            raise
        pytest.skip(str(error))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup():
    return (yield from skip_without_data())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    return (yield from skip_without_data())


def function_of(node_id):
    """A test without its parameters: functions are slow or not, with all their cases."""
    return node_id.partition("[")[0]


class Times:
    """Adds up how long each function takes and lists those that are beyond the budget."""

    def __init__(self):
        self.seconds = defaultdict(float)

    def pytest_runtest_logreport(self, report):
        self.seconds[function_of(report.nodeid)] += report.duration

    def pytest_sessionfinish(self):
        LIST.write_text("".join(f"{name}\n" for name in beyond(self.seconds, BUDGET)), "utf-8")


def beyond(seconds, budget):
    """Sorted names that are left over when the quickest ones have used up the budget."""
    spent, slow = 0.0, []
    for name in sorted(seconds, key=seconds.__getitem__):
        spent += seconds[name]
        if spent > budget:
            slow.append(name)
    return sorted(slow)
