"""Loaders of sequences and graphs. Whose they are: ``registry.py``."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from isthmus.datasets.store import read_set

# The largest int16: ratings are stored as hundredths.
_NOT_RATED = 32767


def load_graphs(name: str) -> Bunch:
    """Load labelled graphs.

    =======  =======================  ==========================================
    name     graphs                   target
    =======  =======================  ==========================================
    mutag    188 molecules            1 mutagenic, -1 not
    ptc_mr   344 molecules            1 carcinogenic for male rats, -1 not
    enzymes  600 protein structures   class of the enzyme, 1 to 6
    =======  =======================  ==========================================

    The file ``<name>.npz`` is looked for in the directory ``ISTHMUS_DATA``, then in
    :func:`isthmus_data_home`.

    Parameters
    ----------
    name : {"mutag", "ptc_mr", "enzymes"}
        The set.

    Returns
    -------
    bunch : Bunch
        ``data``, a list of ``(labels, edges, edge_labels)`` with nodes from 0 (``(labels, edges)`` for
        enzymes, whose edges have no labels), as the kernels of graphs take them; ``target``;
        ``DESCR`` (origin, terms, what to cite). Molecules have ``node_label_names`` and
        ``edge_label_names``, enzymes ``node_attributes``, one array (n_nodes, 18) a graph.
    """
    labelled = name != "enzymes"
    wanted = ["graph_labels", "node_offsets", "node_labels", "edge_offsets", "edges"]
    more = ["edge_labels", "node_label_names", "edge_label_names"]
    wanted += more if labelled else ["node_attributes"]
    arrays, description = read_set("graphs", name, wanted)
    labels = _pieces(arrays["node_labels"], arrays["node_offsets"])
    edges = _pieces(arrays["edges"], arrays["edge_offsets"])
    extra: dict[str, Any] = {}
    if labelled:
        marks = _pieces(arrays["edge_labels"], arrays["edge_offsets"])
        data: list[Any] = [
            (a.tolist(), [tuple(e) for e in b.tolist()], c.tolist())
            for a, b, c in zip(labels, edges, marks)
        ]
        extra = {key: [str(x) for x in arrays[key]] for key in more[1:]}
    else:
        data = [(a.tolist(), [tuple(e) for e in b.tolist()]) for a, b in zip(labels, edges)]
        extra["node_attributes"] = _pieces(
            arrays["node_attributes"].astype(np.float64), arrays["node_offsets"]
        )
    target = arrays["graph_labels"].astype(np.intp)
    return Bunch(data=data, target=target, DESCR=description, **extra)


def load_nettalk() -> Bunch:
    """Load NETtalk: 20007 English words and their pronunciation.

    Returns
    -------
    bunch : Bunch
        ``data``, the words; ``target``, their phonemes, one per letter ("-" if it is silent);
        ``stress``, as many signs; ``origin``, 0 for regular words, 1 and 2 for irregular and foreign ones;
        ``DESCR``.
    """
    wanted = ("letters", "phonemes", "stress", "offsets", "origin")
    arrays, description = read_set("single", "nettalk", wanted)
    words, phonemes, stress = (
        _strings(arrays[key], arrays["offsets"]) for key in ("letters", "phonemes", "stress")
    )
    origin = arrays["origin"].astype(np.intp)
    return Bunch(data=words, target=phonemes, stress=stress, origin=origin, DESCR=description)


def load_ocr_words() -> Bunch:
    """Load handwritten words: 6877 words of 3 to 14 letters, each letter a picture.

    Returns
    -------
    bunch : Bunch
        ``data``, a list of arrays (n_letters, 16, 8), 1.0 on ink; ``target``, the words;
        ``fold`` (0 to 9), the customary folds; ``DESCR``.
    """
    wanted = ("pixels", "letters", "word_offsets", "folds")
    arrays, description = read_set("single", "ocr_words", wanted)
    pixels = np.unpackbits(arrays["pixels"], axis=1).reshape(-1, 16, 8).astype(np.float64)
    letters = (arrays["letters"] + ord("a")).astype(np.uint8)
    return Bunch(
        data=_pieces(pixels, arrays["word_offsets"]),
        target=_strings(letters, arrays["word_offsets"]),
        fold=arrays["folds"].astype(np.intp),
        DESCR=description,
    )


def load_cb513() -> Bunch:
    """Load CB513: 513 proteins as strings of amino acids, and their secondary structure.

    Returns
    -------
    bunch : Bunch
        ``data``, the residues; ``target``, one of H (helix), E (strand), C (coil) a residue;
        ``dssp``, the eight states they were made from ("_" for coil, "?" where unknown); ``names``;
        ``DESCR``.
    """
    wanted = ("residues", "dssp", "dssp3", "offsets", "names")
    arrays, description = read_set("single", "cb513", wanted)
    residues, dssp, three = (
        _strings(arrays[key], arrays["offsets"]) for key in ("residues", "dssp", "dssp3")
    )
    names = [str(name) for name in arrays["names"]]
    return Bunch(data=residues, target=three, dssp=dssp, names=names, DESCR=description)


def _pieces(values: NDArray, offsets: NDArray) -> list[NDArray]:
    return [values[a:b] for a, b in itertools.pairwise(offsets)]


def _strings(codes: NDArray, offsets: NDArray) -> list[str]:
    text = codes.astype(np.uint8).tobytes().decode("ascii")
    return [text[a:b] for a, b in itertools.pairwise(offsets)]


def load_jester() -> Bunch:
    """Load Jester: 100 jokes and their ratings by 5000 people, most of them incomplete.

    Returns
    -------
    bunch : Bunch
        ``data`` (100, 437), how often a word occurs in a joke; ``feature_names``, the words; ``target``
        (100, 5000), ratings from -10 to 10 with NaN where there is none; ``texts`` of the jokes;
        ``DESCR``.
    """
    wanted = ("ratings_x100", "joke_text_utf8", "joke_word_counts", "vocabulary")
    arrays, description = read_set("single", "jester5k", wanted)
    raw = arrays["ratings_x100"].T
    return Bunch(
        data=arrays["joke_word_counts"].astype(np.float64),
        feature_names=[str(word) for word in arrays["vocabulary"]],
        target=np.where(raw == _NOT_RATED, np.nan, raw / 100.0),
        texts=bytes(arrays["joke_text_utf8"]).decode("utf-8").split("\n"),
        DESCR=description,
    )
