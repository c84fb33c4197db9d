"""Records of the benchmarks: what changed is told, noise is not."""

import importlib
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def suite():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield importlib.import_module("_suite")
    finally:
        sys.path.remove(str(BENCHMARKS))


def record(**ratios):
    rows = [
        {"question": name, "shape": "3 x 4", "threads": "1", "peer": "peer", "ratio": str(ratio),
         "bound": "1", "within": str(ratio <= 1)}
        for name, ratio in ratios.items()
    ]  # fmt: skip
    return {"machine": "m", "versions": "v", "commit": "c", "date": "d", "failed": [], "rows": rows}


def test_changes_are_told_slowdowns_first(suite):
    told = suite.compare(record(a=0.5, b=0.5, c=0.5, d=1.0), record(a=1.0, b=0.25, c=0.52, e=1.0))
    assert told[0].startswith("2.00 times slower: a")
    assert told[1].startswith("2.00 times faster: b")
    assert told[2:] == ["new: e, 3 x 4", "not run: d, 3 x 4"]


def test_noise_is_not_a_change(suite):
    assert suite.compare(record(a=0.5), record(a=0.52))[0].startswith("1 ratios are within")


def test_the_page_counts_what_is_kept(suite):
    page = suite.page(record(a=0.5, b=2.0))
    assert "1 of 2 within their bounds" in page
    assert "| b | 3 x 4 | 1 | 2.0 | 1 | False | peer |" in page


def test_a_record_names_machine_versions_and_threads(suite):
    found = suite.make_record([], [])
    assert found["machine"] and "numpy" in found["versions"]
    assert "OMP_NUM_THREADS" in found["threads"]
