"""Oracles: small files written here, and facts about the real files where they are."""

import os

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus.datasets import (
    DatasetNotFoundError,
    load_letter,
    load_raetsch,
    load_sarcos,
    load_table,
)
from isthmus.datasets.registry import SETS

real_data = pytest.mark.skipif(
    not os.environ.get("ISTHMUS_DATA"), reason="ISTHMUS_DATA names no directory with the real data"
)


@pytest.fixture
def directory(tmp_path, monkeypatch):
    monkeypatch.setenv("ISTHMUS_DATA", str(tmp_path))
    monkeypatch.setenv("ISTHMUS_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_abalone_gets_three_columns_of_sex(directory):
    np.savez(
        directory / "abalone.npz",
        X=np.arange(14.0).reshape(2, 7),
        sex=np.array(["M", "F"]),
        y_rings=np.array([3, 9], dtype=np.int16),
        feature_names=np.array(list("abcdefg")),
    )
    bunch = load_table("abalone")
    assert_array_equal(bunch.data[:, 7:], [[0, 0, 1], [1, 0, 0]])
    assert_array_equal(bunch.data[:, :7], np.arange(14.0).reshape(2, 7))
    assert bunch.feature_names[-3:] == ["sex F", "sex I", "sex M"]
    assert bunch.target.dtype == np.float64


def test_families_are_read_by_name(directory):
    np.savez(directory / "raetsch.npz", banana_X=np.ones((3, 2)), banana_y=np.array([-1, 1, 1]))
    bunch = load_raetsch("banana")
    assert bunch.data.shape == (3, 2) and set(bunch.target) == {-1, 1}
    assert "Raetsch" in bunch.DESCR
    with pytest.raises(DatasetNotFoundError, match="german"):
        load_raetsch("german")


def test_unknown_names_and_missing_files(directory):
    with pytest.raises(ValueError, match="'kin8nm'"):
        load_table("boston")
    with pytest.raises(ValueError, match="'waveform'"):
        load_raetsch("ringnorm")
    for load in (load_letter, load_sarcos):
        with pytest.raises(DatasetNotFoundError, match="ISTHMUS_DATA"):
            load()


def test_every_row_says_whose_it_is():
    for row in [*SETS["tables"].values(), *SETS["raetsch"].values(), *SETS["single"].values()]:
        assert "Cite:" in row.description and "Terms:" in row.description


@real_data
@pytest.mark.parametrize(
    ("load", "shape", "target"),
    [
        (lambda: load_table("abalone"), (4177, 10), (4177,)),
        (lambda: load_table("kin8nm"), (8192, 8), (8192,)),
        (lambda: load_table("pumadyn"), (8192, 32), (8192,)),
        (load_letter, (20000, 16), (20000,)),
        (load_sarcos, (4449, 21), (4449, 7)),
        (lambda: load_raetsch("waveform"), (5000, 21), (5000,)),
        (lambda: load_raetsch("flare_solar"), (1066, 9), (1066,)),
    ],
)
def test_real_files(load, shape, target):
    bunch = load()
    assert bunch.data.shape == shape and bunch.target.shape == target
    assert bunch.data.dtype == np.float64 and np.isfinite(bunch.data).all()
    assert len(bunch.feature_names) == shape[1]


@real_data
def test_real_facts():
    assert_allclose(load_table("abalone").data[:, 7:].sum(axis=1), 1.0)
    counts = np.bincount(load_letter().target)
    assert (len(counts), counts.min(), counts.max()) == (26, 734, 813)
    assert np.sum(load_raetsch("banana").target == 1) == 2376
