"""Oracles: small files written here, an imitation of OpenML's server, the real files if present.

The imitation is put in place of the network itself (``urllib``'s opener), so that scikit-learn's
``fetch_openml`` runs as it is.
"""

import hashlib
import io
import json
import os
import time
import urllib.request
import warnings
from email.message import Message
from urllib.error import URLError
from urllib.response import addinfourl

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus.datasets import DatasetNotFoundError, isthmus_data_home, load_mulan, load_nir
from isthmus.datasets.registry import SETS

MULAN, NIR = SETS["mulan"], SETS["nir"]
SHAPES = {
    "corn": (80, 700, 4),
    "tecator": (240, 100, 3),
    "dough": (72, 700, 4),
    "gasoline": (60, 401, 1),
    "yarn": (28, 268, 1),
}
real_data = pytest.mark.skipif(
    not os.environ.get("ISTHMUS_DATA"), reason="ISTHMUS_DATA names no directory with the real data"
)


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Empty data and cache directories, and no way to the network."""
    data, cache = tmp_path / "data", tmp_path / "cache"
    data.mkdir()
    monkeypatch.setenv("ISTHMUS_DATA", str(data))
    monkeypatch.setenv("ISTHMUS_CACHE", str(cache))
    use_network(monkeypatch, no_network)
    return data, cache


def use_network(monkeypatch, answer):
    """Let every https request be answered by a function of its address."""

    class Handler(urllib.request.HTTPSHandler):
        def https_open(self, request):
            body = io.BytesIO(answer(request.full_url))
            response = addinfourl(body, Message(), request.full_url, 200)
            response.msg = "OK"
            return response

    monkeypatch.setattr(urllib.request, "_opener", urllib.request.build_opener(Handler))
    monkeypatch.setattr(time, "sleep", lambda seconds: None)  # trials follow at once


def no_network(url):
    raise URLError("no route to host")


def openml_server(data_id, names, table, asked=None):
    """An imitation of the four answers of OpenML that make up one data set."""
    header = "\n".join(f"@ATTRIBUTE '{name}' NUMERIC" for name in names)
    rows = "\n".join(",".join(format(value, ".17g") for value in row) for row in table)
    arff = f"@RELATION t\n{header}\n@DATA\n{rows}\n".replace("nan", "?").encode()
    features = [
        {
            "index": str(i),
            "name": name,
            "data_type": "numeric",
            "is_target": "true" if i == 0 else "false",
            "is_ignore": "false",
            "is_row_identifier": "false",
            "number_of_missing_values": "0",
        }
        for i, name in enumerate(names)
    ]
    description = {
        "id": str(data_id),
        "name": "t",
        "version": "1",
        "status": "active",
        "format": "ARFF",
        "description": "an imitation",
        "url": "https://www.openml.org/data/v1/download/1/t.arff",
        "file_id": "1",
        "md5_checksum": hashlib.md5(arff).hexdigest(),
    }
    qualities = {"quality": [{"name": "NumberOfInstances", "value": str(len(table))}]}
    answers = {
        f"/data/{data_id}": json.dumps({"data_set_description": description}).encode(),
        f"/features/{data_id}": json.dumps({"data_features": {"feature": features}}).encode(),
        f"/qualities/{data_id}": json.dumps({"data_qualities": qualities}).encode(),
        "/download/1/t.arff": arff,
        "/download/1": arff,  # what scikit-learn 1.6 asks for
    }

    def answer(url):
        if asked is not None:
            asked.append(url)
        return next(body for end, body in answers.items() if url.endswith(end))

    return answer


def enb_table(rng, n=768):
    return [*(f"X{i}" for i in range(1, 9)), "Y1", "Y2"], rng.normal(size=(n, 10))


def write_enb(directory, value):
    directory.mkdir(exist_ok=True)
    np.savez(
        directory / "mulan_regression.npz",
        enb_X=np.full((3, 2), value, dtype=np.float32),
        enb_Y=np.zeros((3, 2), dtype=np.float32),
        enb_x_names=np.array(["a", "b"]),
        enb_y_names=np.array(["c", "d"]),
    )


def test_data_directory_comes_before_the_cache(places):
    data, cache = places
    write_enb(cache, 2.0)
    assert_array_equal(load_mulan("enb").data, 2.0)
    write_enb(data, 1.0)
    bunch = load_mulan("enb")
    assert_array_equal(bunch.data, 1.0)
    assert bunch.data.dtype == bunch.target.dtype == np.float64
    assert (bunch.feature_names, bunch.target_names) == (["a", "b"], ["c", "d"])


def test_a_file_without_the_set_is_passed_over(places):
    data, cache = places
    np.savez(data / "mulan_regression.npz", jura_X=np.ones((2, 2)))
    write_enb(cache, 2.0)
    assert_array_equal(load_mulan("enb").data, 2.0)


def test_no_network_is_one_clear_error(places):
    data, cache = places
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the trials in between are not news
        with pytest.raises(DatasetNotFoundError) as caught:
            load_mulan("enb")
    message = str(caught.value)
    assert isinstance(caught.value, FileNotFoundError)
    assert isinstance(caught.value.__cause__, URLError)
    for part in (data, cache, "mulan_regression.npz", "41478", "no route to host", "ISTHMUS_DATA"):
        assert str(part) in message
    assert not cache.exists()


def test_a_set_that_openml_lacks_is_not_asked_for(places, monkeypatch):
    asked = []
    use_network(monkeypatch, asked.append)
    monkeypatch.delenv("ISTHMUS_DATA")
    with pytest.raises(DatasetNotFoundError, match=r"ISTHMUS_DATA is not set.*not kept at OpenML"):
        load_nir("corn")
    assert asked == []


def test_without_a_name_it_says_what_can_be_had(places, monkeypatch):
    data, _ = places
    use_network(monkeypatch, lambda url: pytest.fail("nothing is fetched to answer"))
    with pytest.raises(ValueError, match=r"At hand: none of them\. Fetched from OpenML: tecator\."):
        load_nir()
    np.savez(data / "nir.npz", gasoline_X=np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"At hand: gasoline\..*make_spectra\(\)"):
        load_nir()


def test_download_is_kept_whole_and_read_next_time(places, monkeypatch):
    _, cache = places
    names, table = enb_table(np.random.default_rng(0))
    table[5, 3] = np.nan
    asked = []
    use_network(monkeypatch, openml_server(41478, names, table, asked))
    first = load_mulan("enb")
    assert_array_equal(first.data, table[:, :8])
    assert_array_equal(first.target, table[:, 8:])
    assert (first.feature_names, first.target_names) == (names[:8], names[8:])
    assert asked and [path.name for path in cache.iterdir()] == ["mulan_regression_enb.npz"]

    use_network(monkeypatch, no_network)
    second = load_mulan("enb")
    for key in ("data", "target"):
        assert_array_equal(second[key], first[key])
    assert (second.feature_names, second.DESCR) == (first.feature_names, first.DESCR)


def test_tecator_from_openml_is_cut_into_its_blocks(places, monkeypatch):
    names = [f"absorbance_{i}" for i in range(1, 101)]
    names += [f"principal_component_{i}" for i in range(1, 23)] + ["moisture", "fat", "protein"]
    table = np.random.default_rng(0).normal(size=(240, 125))
    use_network(monkeypatch, openml_server(505, names, table))
    bunch = load_nir("tecator")
    assert_array_equal(bunch.data, table[:, :100])
    assert_array_equal(bunch.principal_components, table[:, 100:122])
    assert_array_equal(bunch.target, table[:, 122:])
    assert bunch.target_names == ["moisture", "fat", "protein"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda names, table: (names, table[:-1]), r"its shape is \(767, 10\), not \(768, 10\)"),
        (lambda names, table: (names[::-1], table), "begin with 'X2', not 'Y1'"),
    ],
)
def test_another_table_is_refused_and_not_kept(places, monkeypatch, change, message):
    _, cache = places
    use_network(monkeypatch, openml_server(41478, *change(*enb_table(np.random.default_rng(0)))))
    with pytest.raises(DatasetNotFoundError, match=message):
        load_mulan("enb")
    assert not cache.exists()


def test_names_changed_by_an_upload_are_known_again(places, monkeypatch):
    # R puts an X before a leading digit and a dot for every other sign.
    names = [f"f{i}" for i in range(16)] + ["X25400", *(f"X{i}" for i in range(13))]
    table = np.random.default_rng(0).normal(size=(1060, 30))
    use_network(monkeypatch, openml_server(41491, names, table))
    assert load_mulan("wq").target.shape == (1060, 14)


def test_interrupted_writing_leaves_nothing(places, monkeypatch):
    _, cache = places
    use_network(monkeypatch, openml_server(41478, *enb_table(np.random.default_rng(0))))

    def fails(file, **arrays):
        file.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez_compressed", fails)
    with pytest.warns(UserWarning, match="enb was downloaded but not kept .* disk full"):
        assert load_mulan("enb").data.shape == (768, 8)
    assert list(cache.iterdir()) == []


def test_damaged_file_is_told(places):
    data, _ = places
    write_enb(data, 1.0)
    path = data / "mulan_regression.npz"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(OSError, match=r"mulan_regression.npz is damaged"):
        load_mulan("enb")


def test_misspelt_directory_is_an_error(places, monkeypatch):
    monkeypatch.setenv("ISTHMUS_DATA", "no/such/place")
    with pytest.raises(NotADirectoryError, match="ISTHMUS_DATA == 'no/such/place'"):
        load_mulan("enb")


def test_unknown_names_list_the_known_ones():
    with pytest.raises(ValueError, match="name == 'wheat', must be one of 'corn', 'tecator'"):
        load_nir("wheat")
    with pytest.raises(ValueError, match="name == 'atp', must be one of 'atp1d'"):
        load_mulan("atp")
    with pytest.raises(ValueError, match="instrument == 'm6', must be one of 'm5'"):
        load_nir("corn", instrument="m6")


def test_cache_directory_of_the_platform(monkeypatch, tmp_path):
    monkeypatch.delenv("ISTHMUS_CACHE", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert isthmus_data_home() == tmp_path / "isthmus"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert isthmus_data_home() == tmp_path / ".cache" / "isthmus"
    monkeypatch.setenv("ISTHMUS_CACHE", "~/mine")
    assert isthmus_data_home() == tmp_path / "mine"


@real_data
@pytest.mark.parametrize("name", list(NIR))
def test_real_spectra(name):
    bunch = load_nir(name)
    n, p, q = SHAPES[name]
    assert bunch.data.shape == (n, p)
    assert bunch.target.shape == ((n, q) if q > 1 else (n,))
    assert len(bunch.feature_names) == p and len(bunch.target_names) == q
    assert np.isfinite(bunch.data).all() and np.isfinite(bunch.target).all()
    assert bunch.data.dtype == np.float64
    # Neighbouring wavelengths are nearly one measurement: a transposed or shuffled array fails.
    X = bunch.data - bunch.data.mean(axis=0)
    neighbours = (X[:, 1:] * X[:, :-1]).sum(axis=0)
    lengths = np.linalg.norm(X, axis=0)
    assert np.median(neighbours / (lengths[1:] * lengths[:-1])) > 0.99
    if bunch.wavelengths is not None:
        assert bunch.wavelengths.shape == (p,) and (np.diff(bunch.wavelengths) > 0).all()
    for part in ("Origin:", "Terms:", "Cite:"):
        assert part in bunch.DESCR


@real_data
def test_real_splits():
    sizes = {name: load_nir(name).train_index for name in NIR}
    assert sizes["corn"] is None and sizes["gasoline"] is None
    assert_array_equal(sizes["tecator"], np.arange(129))
    assert_array_equal(sizes["dough"], np.arange(40))
    assert_array_equal(sizes["yarn"], np.arange(21))
    split = load_nir("tecator").split
    assert (split == "train").sum() == 129 and (split[172:215] == "test").all()
    assert split[215] == "extrapolation in fat" and split[-1] == "extrapolation in protein"


@real_data
def test_real_instruments_of_corn_differ():
    m5, mp5, mp6 = (load_nir("corn", instrument=name).data for name in ("m5", "mp5", "mp6"))
    # The same samples: spectra of two instruments agree far better than those of two samples.
    assert np.corrcoef(mp5.mean(axis=1), mp6.mean(axis=1))[0, 1] > 0.9
    assert np.abs(m5 - mp5).max() > 0.01 and np.abs(mp5 - mp6).max() > 1e-3
    assert_allclose(load_nir("corn").data, m5)


@real_data
@pytest.mark.parametrize("name", list(MULAN))
def test_real_mulan(name):
    bunch = load_mulan(name)
    n, columns = MULAN[name].openml.shape
    q = MULAN[name].openml.blocks[-1][1]
    assert bunch.data.shape == (n, columns - q) and bunch.target.shape == (n, q)
    assert len(bunch.feature_names) == columns - q and len(bunch.target_names) == q
    assert bunch.target_names[0] == MULAN[name].openml.first_target
    assert np.isfinite(bunch.target).all()
    assert np.isnan(bunch.data).sum() == (3264 if name == "rf1" else 0)
