"""Rows of two tables that number their rows. Oracle: the same tables with both in one order."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isthmus import fit_auto
from isthmus.tables import TableError
from isthmus.tables.pairs import Reading, read_pair

N = 30


@pytest.fixture(params=range(3))
def rng(request):
    return np.random.default_rng(request.param)


def write(path, numbers, values, heading, names, last=False):
    """A table with a column of numbers of rows, the first one or the last."""
    lines = [] if heading is None else [",".join([*names, heading] if last else [heading, *names])]
    for number, row in zip(numbers, values):
        cells = [repr(float(v)) for v in row]
        lines.append(",".join([*cells, str(number)] if last else [str(number), *cells]))
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def two_exchanged(rng):
    order = np.arange(N)
    order[[4, 17]] = [17, 4]
    return order


ORDERS = {
    "same": lambda rng: np.arange(N),
    "shuffled": lambda rng: rng.permutation(N),
    "two exchanged": two_exchanged,
    "backwards": lambda rng: np.arange(N)[::-1],
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("heading", ["sample", "Nr.", "n", "", "plot", None])
@pytest.mark.parametrize("turned", ["X", "Y"])
@pytest.mark.parametrize("first", [0, 1])
def test_rows_are_paired_by_their_numbers(order, heading, turned, first, rng, tmp_path):
    X, Y = rng.normal(size=(N, 3)), rng.normal(size=(N, 2))
    numbers = np.arange(N) + first
    at = {"X": np.arange(N), "Y": np.arange(N)}
    at[turned] = ORDERS[order](rng)
    x = write(tmp_path / "X.csv", numbers[at["X"]], X[at["X"]], heading, "abc")
    y = write(tmp_path / "Y.csv", numbers[at["Y"]], Y[at["Y"]], heading, ["fat", "water"])
    told = []
    pair = read_pair(x, y, [], Reading(tell=told.append))
    assert_array_equal(pair.X, X[at["X"]])
    assert_array_equal(pair.Y, Y[at["X"]])
    assert pair.ids == [str(number) for number in numbers[at["X"]]]
    assert (order == "same") != any("were put in the order" in sentence for sentence in told)


@pytest.mark.parametrize("last", ["X", "Y"])
@pytest.mark.parametrize("shape", ["{}", "{}.0", "{:03}"])
def test_the_other_table_may_have_them_elsewhere_and_written_otherwise(last, shape, rng, tmp_path):
    X, Y = rng.normal(size=(N, 3)), rng.normal(size=(N, 2))
    at = {"X": np.arange(N), "Y": np.arange(N), last: rng.permutation(N)}
    given = {k: [(shape if k == last else "{}").format(i + 1) for i in at[k]] for k in at}
    x = write(tmp_path / "X.csv", given["X"], X[at["X"]], "n", "abc", last == "X")
    y = write(tmp_path / "Y.csv", given["Y"], Y[at["Y"]], "n", ["fat", "water"], last == "Y")
    pair = read_pair(x, y, [], Reading())
    assert_array_equal(pair.X, X[at["X"]])
    assert_array_equal(pair.Y, Y[at["X"]])


def test_rows_of_one_table_alone_are_named(rng, tmp_path):
    x = write(tmp_path / "X.csv", range(1, N + 1), rng.normal(size=(N, 3)), "sample", "abc")
    y = write(tmp_path / "Y.csv", range(5, N + 3), rng.normal(size=(N - 2, 2)), "sample", "de")
    with pytest.raises(
        TableError, match=r"Only .*X.csv has '1', '2', '3', '4'\. Only .* '31', '32'\."
    ):
        read_pair(x, y, [], Reading())
    y = write(
        tmp_path / "Y.csv",
        rng.permutation(range(3, N + 3)),
        rng.normal(size=(N, 2)),
        "sample",
        "de",
    )
    with pytest.raises(TableError, match=r"are not in .*Y.csv: '1', '2'\."):
        read_pair(x, y, [], Reading())


def test_numbers_that_are_no_names_are_not_taken_for_any(rng, tmp_path):
    """Half in common or fewer, a number twice, an only output of ranks: by position, and it is said."""
    X, ranks = rng.normal(size=(N, 3)), rng.permutation(N) + 1
    x = write(tmp_path / "X.csv", range(1, N + 1), X, "sample", "abc")
    for numbers in (np.arange(N) + 16, np.r_[1, ranks[1:] + 40]):
        y = write(tmp_path / "Y.csv", numbers, X, "sample", "def")
        told = []
        pair = read_pair(x, y, [], Reading(tell=told.append))
        assert_array_equal(pair.X, X)
        assert_array_equal(pair.Y[:, -3:], X)
    assert any("are paired by position: only" in sentence for sentence in told)
    repeated = ranks.copy()
    repeated[3] = repeated[4]
    x = write(tmp_path / "X.csv", range(1, N + 1), X, "n", "abc")
    y = write(tmp_path / "Y.csv", repeated, X, "n", "def")
    assert read_pair(x, y, [], Reading()).Y.shape == (N, 4)
    x = write(tmp_path / "X.csv", range(1, N + 1), X, None, "abc")
    y = write(tmp_path / "Y.csv", ranks, X[:, :0], None, "")
    assert_array_equal(read_pair(x, y, [], Reading()).Y[:, 0], ranks)


@pytest.mark.parametrize("last", ["X", "Y"])
def test_a_name_that_one_table_has_twice_is_refused(last, rng, tmp_path):
    """Or the column of one table is an input, and rows are paired by position without a word."""
    given = {"X": rng.permutation(N) + 1, "Y": np.arange(N) + 1}
    given[last][3] = given[last][4]
    x = write(tmp_path / "X.csv", given["X"], rng.normal(size=(N, 3)), "sample", "abc")
    y = write(tmp_path / "Y.csv", given["Y"], rng.normal(size=(N, 2)), "sample", "de")
    with pytest.raises(TableError, match=rf"{last}.csv: the column 'sample' .*'{given[last][3]}'"):
        read_pair(x, y, [], Reading())


def test_blocks_and_groups_go_by_the_same_names(rng, tmp_path):
    X, Y = rng.normal(size=(N, 3)), rng.normal(size=(N, 2))
    a, b = rng.permutation(N), rng.permutation(N)
    first = write(tmp_path / "a.csv", np.arange(N) + 1, X, "sample", "abc")
    second = write(tmp_path / "b.csv", a + 1, X[a], "sample", "def")
    batch = np.arange(N) % 4
    y = write(
        tmp_path / "y.csv",
        b + 1,
        np.column_stack([Y, batch])[b],
        "sample",
        ["fat", "water", "batch"],
    )
    pair = read_pair([first, second], y, [], Reading(groups="batch"))
    assert_array_equal(pair.X, np.hstack([X, X]))
    assert_array_equal(pair.Y, Y)
    assert all(len(set(pair.groups[batch == k])) == 1 for k in range(4))
    assert len(set(pair.groups)) == 4


def test_names_that_are_asked_for_come_first(rng, tmp_path):
    X, Y = rng.normal(size=(N, 3)), rng.normal(size=(N, 2))
    order = rng.permutation(N)
    x = write(
        tmp_path / "X.csv",
        np.arange(N) + 1,
        np.column_stack([X, order]),
        "sample",
        ["a", "b", "c", "lab"],
    )
    y = write(
        tmp_path / "Y.csv",
        np.arange(N) + 1,
        np.column_stack([Y, np.arange(N)]),
        "sample",
        ["d", "e", "lab"],
    )
    pair = read_pair(x, y, [], Reading(id_column="lab", ignore=["sample"]))
    assert_array_equal(pair.Y, Y[order])


@pytest.mark.parametrize("file", ["t.csv", "./t.csv", "link.csv"])
def test_one_table_as_inputs_and_outputs_is_refused(file, rng, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "t.csv", range(N), rng.normal(size=(N, 3)), "n", "abc")
    (tmp_path / "link.csv").symlink_to(tmp_path / "t.csv")
    for targets in ([], ["c"]):
        with pytest.raises(TableError, match="is given as inputs and as outputs: give it once"):
            read_pair("t.csv", file, targets, Reading())
    with pytest.raises(TableError, match="give it once"):
        fit_auto("t.csv", file)


def test_two_arrays_of_one_archive_are_two_tables(rng, tmp_path):
    path = str(tmp_path / "t.npz")
    np.savez(path, X=rng.normal(size=(N, 3)), Y=rng.normal(size=(N, 2)))
    for x, y in ((path, path), (path + ":X", path + ":Y"), (path, path + ":Y")):
        assert read_pair(x, y, [], Reading()).Y.shape == (N, 2)
    with pytest.raises(TableError, match="give it once"):
        read_pair(path, path + ":X", [], Reading())
