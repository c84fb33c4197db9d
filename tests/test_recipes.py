"""The recipes of docs/dask.md for engines that are not installed here: run up to the engine itself."""

import pickle
from functools import reduce
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

from isthmus import PLS, BayesianStiefelRegression, ComponentSearchCV, Moments

PAGE = Path(__file__).parents[1] / "docs/dask.md"
NAMES = ["a", "b", "c", "oil", "starch"]


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    table = rng.normal(2, 1, size=(200, 5))
    table[:, 3:] += table[:, :2]
    return table


def recipe(engine):
    """The function that a recipe hands to the engine, and how many lines the recipe has."""
    section = PAGE.read_text("utf-8").partition(f"### {engine}\n")[2]
    code = section.partition("```python\n")[2].partition("```")[0]
    names = {}
    head = code[: code.index("\n\n", code.index("def sums"))].replace("import ray\n", "")
    exec(compile(head, "recipe", "exec"), names)
    lines = [line for line in code.splitlines() if line and not line.startswith(("import", "from"))]
    assert len(lines) <= 10
    return names["sums"]


def test_spark(table):
    def batches(rows):
        return [pa.RecordBatch.from_arrays(list(rows[i : i + 30].T), NAMES) for i in (0, 30, 60)]

    sums = recipe("Spark")
    found = [part for rows in (table[:90], table[90:180]) for part in sums(iter(batches(rows)))]
    assert list(sums(iter([]))) == []
    assert [part.schema.names for part in found] == [["moments"], ["moments"]]
    model = PLS(2).fit(reduce(Moments.merge, (pickle.loads(p[0][0].as_py()) for p in found)))
    assert_allclose(model.coef_, PLS(2).fit(table[:180, :3], table[:180, 3:]).coef_, rtol=1e-10)


def test_ray(table):
    sums = recipe("Ray")
    found = [sums(dict(zip(NAMES, rows.T, strict=True))) for rows in np.split(table, 4)]
    model = PLS(2).fit(reduce(Moments.merge, (pickle.loads(f["moments"][0]) for f in found)))
    assert_allclose(model.coef_, PLS(2).fit(table[:, :3], table[:, 3:]).coef_, rtol=1e-10)


def test_moments_know_no_folds_and_no_rows(table):
    moments = Moments.from_data(table[:, :3], table[:, 3:])
    with pytest.raises(ValueError, match="cannot be split into folds"):
        PLS("auto").fit(moments)
    with pytest.raises(ValueError, match="cannot be split into folds"):
        ComponentSearchCV(PLS()).fit(moments)
    with pytest.raises(ValueError, match="hold no rows"):
        list(PLS(1).fit(moments).predict(moments))
    few = Moments.of_checked(table[:, :3], table[:, 3:], None)
    with pytest.raises(ValueError, match="full_yy=False do not serve"):
        BayesianStiefelRegression(1).fit(few)
