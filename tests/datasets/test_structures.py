"""Oracles: small files written here, and what is known of the real sets where present."""

import os
from collections import Counter

import numpy as np
import pytest

from isthmus.datasets import (
    DatasetNotFoundError,
    load_cb513,
    load_graphs,
    load_jester,
    load_nettalk,
    load_ocr_words,
)
from isthmus.kernels import as_graph

LOADERS = {
    "mutag": lambda: load_graphs("mutag"),
    "ptc_mr": lambda: load_graphs("ptc_mr"),
    "enzymes": lambda: load_graphs("enzymes"),
    "nettalk": load_nettalk,
    "ocr_words": load_ocr_words,
    "cb513": load_cb513,
    "jester5k": load_jester,
}
GRAPHS = {  # graphs, nodes, edges, classes
    "mutag": (188, 3371, 3721, {1: 125, -1: 63}),
    "ptc_mr": (344, 4915, 5054, {1: 152, -1: 192}),
    "enzymes": (600, 19580, 37282, {c: 100 for c in range(1, 7)}),
}
real_data = pytest.mark.skipif(
    not os.environ.get("ISTHMUS_DATA"), reason="ISTHMUS_DATA names no directory with the real data"
)


@pytest.fixture
def data(tmp_path, monkeypatch):
    """An empty data directory."""
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("ISTHMUS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ISTHMUS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "data"


def test_graphs_are_cut_at_their_offsets(data):
    np.savez(
        data / "mutag.npz",
        graph_labels=np.int8([1, -1]),
        node_offsets=[0, 3, 5],
        node_labels=np.uint8([0, 0, 1, 2, 0]),
        edge_offsets=[0, 2, 3],
        edges=np.uint16([[0, 1], [1, 2], [0, 1]]),
        edge_labels=np.uint8([0, 1, 3]),
        node_label_names=np.array(["C", "N", "O"]),
        edge_label_names=np.array(["aromatic", "single", "double", "triple"]),
    )
    bunch = load_graphs("mutag")
    assert bunch.data == [([0, 0, 1], [(0, 1), (1, 2)], [0, 1]), ([2, 0], [(0, 1)], [3])]
    assert bunch.target.tolist() == [1, -1]
    assert bunch.node_label_names == ["C", "N", "O"]
    assert as_graph(bunch.data[1]).edge_labels == (3,)


def test_strings_are_cut_at_their_offsets(data):
    as_bytes = lambda text: np.frombuffer(text.encode(), dtype=np.uint8)  # noqa: E731
    np.savez(
        data / "nettalk.npz",
        letters=as_bytes("catox"),
        phonemes=as_bytes("k@tax"),
        stress=as_bytes(">1<>1"),
        offsets=[0, 3, 5],
        origin=np.uint8([0, 1]),
    )
    bunch = load_nettalk()
    assert bunch.data == ["cat", "ox"] and bunch.target == ["k@t", "ax"]
    assert bunch.stress == [">1<", ">1"] and bunch.origin.tolist() == [0, 1]


def test_pictures_are_unpacked(data):
    pixels = np.zeros((3, 16), dtype=np.uint8)
    pixels[1, 0] = 128  # the first pixel of the first row
    np.savez(
        data / "ocr_words.npz",
        pixels=pixels,
        letters=np.uint8([0, 1, 25]),
        word_offsets=[0, 2, 3],
        folds=np.uint8([0, 9]),
    )
    bunch = load_ocr_words()
    assert bunch.target == ["ab", "z"] and bunch.fold.tolist() == [0, 9]
    assert [w.shape for w in bunch.data] == [(2, 16, 8), (1, 16, 8)]
    assert bunch.data[0].sum() == bunch.data[0][1, 0, 0] == 1.0


@pytest.mark.parametrize("name", LOADERS)
def test_what_is_missing_is_named(name, data):
    with pytest.raises(DatasetNotFoundError, match=name):
        LOADERS[name]()


def test_unknown_names_are_listed():
    with pytest.raises(ValueError, match="'mutag', 'ptc_mr', 'enzymes'"):
        load_graphs("nci1")


@real_data
@pytest.mark.parametrize("name", GRAPHS)
def test_real_graphs(name):
    bunch = load_graphs(name)
    n, nodes, edges, classes = GRAPHS[name]
    graphs = [as_graph(item) for item in bunch.data]
    assert len(graphs) == n and Counter(bunch.target.tolist()) == classes
    assert sum(g.n_nodes for g in graphs) == nodes
    assert sum(len(g.edges) for g in graphs) == edges
    if name == "enzymes":
        assert sum(len(a) for a in bunch.node_attributes) == nodes
    else:
        assert max(max(g.labels) for g in graphs) == len(bunch.node_label_names) - 1


def test_ratings_have_gaps(data):
    np.savez(
        data / "jester5k.npz",
        ratings_x100=np.int16([[150, 32767], [-1000, 25], [32767, 0]]),
        joke_text_utf8=np.frombuffer("Knock.\nWho\u2019s there?".encode(), dtype=np.uint8),
        joke_word_counts=np.uint8([[1, 0, 0], [0, 1, 2]]),
        vocabulary=np.array(["knock", "there", "who"]),
    )
    bunch = load_jester()
    np.testing.assert_array_equal(bunch.target, [[1.5, -10.0, np.nan], [np.nan, 0.25, 0.0]])
    assert bunch.texts == ["Knock.", "Who\u2019s there?"]
    assert bunch.data.shape == (2, 3) and bunch.feature_names[2] == "who"


@real_data
def test_real_ratings():
    jokes = load_jester()
    assert jokes.target.shape == (100, 5000) and len(jokes.texts) == 100
    assert np.isfinite(jokes.target).sum() == 363209
    assert np.nanmin(jokes.target) >= -10 and np.nanmax(jokes.target) <= 10


@real_data
def test_real_strings():
    words = load_nettalk()
    assert len(words.data) == 20007 and words.data[0] == "aardvark"
    assert all(
        len(a) == len(b) == len(c) for a, b, c in zip(words.data, words.target, words.stress)
    )
    proteins = load_cb513()
    assert len(proteins.data) == 513 and set("".join(proteins.target)) == set("HEC")
    assert all(len(a) == len(b) for a, b in zip(proteins.data, proteins.target))
    written = load_ocr_words()
    assert len(written.data) == 6877 and sum(map(len, written.target)) == 52152
    assert all(len(a) == len(b) for a, b in zip(written.data, written.target))
