"""Format 2: what may be in a file, how much of it, and what is refused when a model is saved."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingRegressor,
    ExtraTreesRegressor,
    IsolationForest,
    RandomForestRegressor,
)
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer, mean_pinball_loss
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeRegressor

from isthmus import PLS, load, save
from isthmus.persistence import ModelFileError, describe
from isthmus.persistence.classes import CLASSES, FUNCTIONS, find_listed, name_of
from isthmus.persistence.container import first_line, pack, unpack
from isthmus.persistence.errors import CorruptedFileError, ForeignTypeError, UnsafeArchiveError
from isthmus.persistence.laws import _LAWS

HERE = Path(__file__).parent
rng = np.random.default_rng(0)
X = rng.normal(size=(30, 4))
Y = X[:, :2] + 0.1 * rng.normal(size=(30, 2))


def taken_apart(path):
    """The tree, its table of arrays, and their bytes."""
    line, data = first_line(unpack(path).payload, path)
    return json.loads(line), bytes(data)


def put_together(path, told, data):
    line = told if isinstance(told, bytes) else json.dumps(told).encode()
    path.write_bytes(pack({"summary": {}}, line + b"\n" + data))
    return path


@pytest.fixture
def good(tmp_path):
    """A file of a model, as a tree and bytes, and where to put a crafted one."""
    path = tmp_path / "m.isthmus"
    save(PLS(2).fit(X, Y), path)
    return path, *taken_apart(path)


def refused(path, error, match):
    with pytest.raises(error, match=match) as caught:
        load(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


# -- what is saved can be loaded -------------------------------------------------------------------

STRANDED = {
    "forest": RandomForestRegressor(3),
    "extra trees": ExtraTreesRegressor(3),
    "boosting": AdaBoostRegressor(n_estimators=3),
    "bagging": BaggingRegressor(n_estimators=3),
    "isolation": IsolationForest(n_estimators=3),
    "tree": DecisionTreeRegressor(max_depth=2),
    "neighbours": KNeighborsRegressor(algorithm="kd_tree"),
    "in a pipeline": make_pipeline(FunctionTransformer(np.abs), Ridge()),
    "scorer of a function": Ridge(),
    "sparse rows": SVR(),
}


@pytest.mark.parametrize("name", STRANDED)
def test_what_cannot_be_loaded_is_refused_when_it_is_saved(name, tmp_path):
    model, rows = STRANDED[name], X
    if name == "sparse rows":
        rows = sparse.csr_matrix(X)
    model.fit(rows, Y[:, 0])
    if name == "scorer of a function":
        model.scorer_ = make_scorer(lambda y, p: 0.0)
    path = tmp_path / "m.isthmus"
    with pytest.raises(ModelFileError, match=r"cannot be (saved|kept)") as caught:
        save(model, path)
    assert not path.exists() and "\n" not in str(caught.value)


def test_a_model_that_is_no_number_is_refused(tmp_path):
    model = PLS(2).fit(X, Y)
    model.coef_ = model.coef_ * np.nan
    with pytest.raises(CorruptedFileError, match=r"PLS\.coef_ has NaN or infinite values"):
        save(model, tmp_path / "m.isthmus")
    assert list(tmp_path.iterdir()) == []


VALUES = {
    "numbers": [None, True, 1, -(2**70), 0.1, -0.0, 1e-320, float("inf"), "é\u2028\0", np.float32(0.1)],
    "containers": ({"a": [(), {3, 4}], 2: {}, "x": {"a"}}, slice(1, None, 2), range(1, 21)),
    "arrays": [
        np.arange(6).reshape(2, 3), np.asfortranarray(rng.normal(size=(3, 4))), np.zeros((0, 3)),
        rng.normal(size=(5, 4))[::2, ::-1], np.array(["a", "ßß"]), np.array([b"x"]),
        np.array([True, False]),
        np.array(["a", None, (1, 2)], dtype=object), np.array([[1, "b"], [None, 2.0]], dtype=object),
        np.ma.MaskedArray([1.0, 2.0], [True, False]), np.array(3.5), np.arange(3, dtype=">i2"),
        np.array([1 + 2j]), np.float16([1.5]),
    ],
    "sparse": [sparse.random(5, 4, 0.4, format=f, random_state=0) for f in ("csr", "csc")],
    "types": [np.dtype("<f4"), np.float64, float, object, mean_pinball_loss, KFold],
    "random": [np.random.RandomState(3)],
}  # fmt: skip


def same(a, b):
    assert type(a) is type(b)
    if isinstance(a, np.random.RandomState):
        assert_array_equal(a.normal(size=5), b.normal(size=5))
    elif isinstance(a, np.ma.MaskedArray):
        assert_array_equal(a.mask, b.mask)
        assert a.filled().tolist() == b.filled().tolist()
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype and a.shape == b.shape and a.tolist() == b.tolist()
        assert a.flags.f_contiguous == b.flags.f_contiguous or not a.flags.forc
        assert b.flags.writeable
    elif sparse.issparse(a):
        assert (a != b).nnz == 0 and a.shape == b.shape
    elif isinstance(a, list | tuple):
        assert len(a) == len(b)
        for one, other in zip(a, b):
            same(one, other)
    else:
        assert a == b and str(a) == str(b)


@pytest.mark.parametrize("name", VALUES)
def test_every_kind_of_value(name, tmp_path):
    model = GridSearchCV(Ridge(), {})
    model.cv_results_ = VALUES[name]  # which may have infinite values
    save(model, tmp_path / "m.isthmus")
    same(VALUES[name], load(tmp_path / "m.isthmus").cv_results_)


def test_what_is_one_stays_one(tmp_path):
    inner, array = Ridge(), np.arange(3.0)
    model = make_pipeline(Ridge())
    model.kept_ = [inner, inner, array, array]
    save(model, tmp_path / "m.isthmus")
    kept = load(tmp_path / "m.isthmus").kept_
    assert kept[0] is kept[1] and kept[2] is kept[3]
    model.kept_ = [model]
    with pytest.raises(ForeignTypeError, match="objects are nested too deeply"):
        save(model, tmp_path / "m.isthmus")


# -- the table of classes ----------------------------------------------------------------------------


def test_the_table_of_classes():
    """Every name is there, is of its name, and has no way of its own to be rebuilt."""
    assert len(CLASSES) < 230
    for name in CLASSES | FUNCTIONS:
        thing = find_listed(name)
        assert name_of(thing) == name
    for name in CLASSES:
        cls = find_listed(name)
        assert isinstance(cls, type)
        homes = [base.__module__ for base in cls.__mro__ if "__setstate__" in vars(base)]
        assert homes in ([], ["sklearn.base"]), name
        assert cls.__reduce__ is object.__reduce__ and cls.__new__ is object.__new__, name
    assert set(_LAWS) <= {find_listed(name).__name__ for name in CLASSES}
    with pytest.raises(KeyError):
        find_listed("os.system")


def test_no_other_module_is_imported(tmp_path, monkeypatch, good):
    path, told, data = good
    (tmp_path / "evil_module.py").write_text(
        "from pathlib import Path\nPath(__file__).with_name('ran').touch()\nclass A: pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    for name in (
        "evil_module.A",
        "os.system",
        "sklearn.svm._base.BaseLibSVM",
        "isthmus.PLS",
        3,
        ["x"],
    ):
        told["root"]["object"] = name
        refused(put_together(path, told, data), ForeignTypeError, "it asks for")
        told["root"]["state"]["kept"] = {"function": "os.system"}
    assert not (tmp_path / "ran").exists() and "evil_module" not in sys.modules


# -- budgets ---------------------------------------------------------------------------------------


def deep(n):
    node = 1
    for _ in range(n):
        node = [node]
    return node


def laughs(n):
    """Objects that hold the one before them twice: few bytes, 2 ** n values."""
    ridge = {"object": "sklearn.linear_model.Ridge", "state": {}}
    chain = [ridge]
    for k in range(n):
        state = {"a": {"same": k}, "b": {"same": k}}
        chain.append({"object": "sklearn.linear_model.Ridge", "state": state})
    return chain


BUDGETS = {
    "depth": (deep(500), UnsafeArchiveError, "objects are nested too deeply"),
    "laughs": (laughs(60), UnsafeArchiveError, "more than 2000000 values"),
    "itself": ({"same": 0}, CorruptedFileError, "an object that is not there yet"),
    "unknown node": ({"eval": "1"}, CorruptedFileError, "unknown way"),
    "private method": ({"_": 1}, CorruptedFileError, "unknown way"),
    "two words": ({"tuple": [], "list": []}, CorruptedFileError, "unknown way"),
    "missing array": ({"array": 10**6}, CorruptedFileError, "an array is missing"),
    "negative array": ({"array": -1}, CorruptedFileError, "unknown way"),
    "large integer": (10**4000, CorruptedFileError, "unknown way"),
    "many objects": ({"objects": [], "shape": [2**39]}, CorruptedFileError, "wrong number"),
    "half a character": ("\ud800", CorruptedFileError, "surrogates not allowed"),
    "a list as a key": ({"dict": [[[], 1]]}, CorruptedFileError, "keys are neither texts nor"),
    "twister": ({"random_state": [{"array": 0}, 10**6, 0, 0.0]}, CorruptedFileError, "unknown way"),
    "mask": (
        {"masked": [{"array": 0}, {"array": 1}, None]}, CorruptedFileError, "unknown way",
    ),
    "hides a method": (
        {"object": "sklearn.linear_model.Ridge", "state": {"predict": 1}},
        CorruptedFileError, "has no attribute 'predict'",
    ),
    "class": (
        {"object": "sklearn.linear_model.Ridge", "state": {"__class__": 1}},
        CorruptedFileError, "has no attribute '__class__'",
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")  # crafted
@pytest.mark.parametrize("name", BUDGETS)
def test_a_tree_that_asks_for_too_much(name, good):
    path, told, data = good
    value, error, match = BUDGETS[name]
    told["root"]["state"]["kept"] = value
    begun = time.perf_counter()
    refused(put_together(path, told, data), error, match)
    assert time.perf_counter() - begun < 20


def test_the_position_of_a_random_state(tmp_path):
    model = Ridge().fit(X, Y)
    model.kept_ = np.random.RandomState(0)
    save(model, tmp_path / "m.isthmus")
    told, data = taken_apart(tmp_path / "m.isthmus")
    told["root"]["state"]["kept_"]["random_state"][1] = 10**6
    refused(
        put_together(tmp_path / "m.isthmus", told, data), CorruptedFileError, "outside of its state"
    )


ARRAYS = {
    "objects": ("|O", None, None), "void": ("|V8", None, None), "no type": (None, None, None),
    "fields": ([["a", "<f8"]], None, None), "evaluated": ("__import__('os')", None, None),
    "half": ("<f4", None, None), "negative": (None, [-1, 4], None), "huge": (None, [2**62, 2**62], None),
    "wide": (None, [1] * 40, None), "text": (None, "ab", None), "truth": (None, [True], None),
    "long": (None, [10**12], None), "empty text": ("<U0", None, None), "dates": ("<M8[ns]", None, None),
}  # fmt: skip


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_that_are_none(name, good):
    path, told, data = good
    dtype, shape, _ = ARRAYS[name]
    entry = told["arrays"][0]
    entry[0] = dtype if name in ("objects", "void", "no type", "fields", "evaluated", "half",
                                 "empty text", "dates") else entry[0]  # fmt: skip
    entry[1] = entry[1] if shape is None else shape
    refused(put_together(path, told, data), UnsafeArchiveError, "which no model has|claim")


def test_bits_that_are_no_values(tmp_path):
    path = tmp_path / "m.isthmus"
    model = Ridge().fit(X, Y)
    for array, bits, match in (
        (np.array([True]), b"\xff", "neither true nor false"),
        (np.array(["a"]), b"\xff\xff\xff\xff", "an invalid character"),
        (np.array(["a"]), (0xD800).to_bytes(4, sys.byteorder), "an invalid character"),
    ):
        model.kept_ = array
        save(model, path)
        told, data = taken_apart(path)
        place = told["root"]["state"]["kept_"]["array"]
        at = sum(np.zeros(n, d).nbytes for d, n, _ in told["arrays"][:place])
        data = bytearray(data)
        data[at : at + array.nbytes] = bits
        refused(put_together(path, told, bytes(data)), CorruptedFileError, match)


# One process imports; a child of it, with a peak of its own, loads a file.
MEMORY = """
import os, resource, sys, time
import isthmus, isthmus.persistence.models, sklearn.linear_model, isthmus.regression
from isthmus.persistence import ModelFileError
for path in map(str.strip, sys.stdin):
    child = os.fork()
    if child:
        assert os.waitpid(child, 0)[1] == 0
        continue
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun, name = time.process_time(), "loaded"
    try:
        isthmus.load(path)
    except ModelFileError as error:
        name = type(error).__name__
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(name, kilobytes, time.process_time() - begun, flush=True)
    os._exit(0)
"""


@pytest.fixture(scope="module")
def loader():
    """A function of a path that loads it in a process of its own: error, kilobytes and seconds."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", MEMORY], **pipes) as process:

        def load_apart(path):
            process.stdin.write(f"{path}\n")
            process.stdin.flush()
            return process.stdout.readline().split()

        yield load_apart
        process.stdin.close()


# Begin, what is repeated, how often, and end: put together by the test, so that no import holds 200 MB.
BOMBS = {
    "empty lists": (b'{"arrays":[],"root":[', b"[],", 8_000_000, b"[]]}"),
    "zeros": (b'{"arrays":[],"root":[', b"0,", 16_000_000, b"0]}"),
    "brackets": (b"", b"[", 20_000_000, b""),
    "no end": (b'"', b"x", 60_000_000, b""),
    "many arrays": (
        b'{"arrays":[', b'["|b1",[0],"C"],', 300_000, b'["|b1",[0],"C"]],"root":{"array":-1}}',
    ),
    "objects": (
        b'{"arrays":[],"root":[', b'{"object":"sklearn.linear_model.Ridge","state":{}},', 600_000, b"0]}",
    ),
    "dictionaries": (b'{"arrays":[],"root":[', b'{"dict":[]},', 2_000_000, b"0]}"),
    "attributes": (
        b'{"arrays":[],"root":{"object":"sklearn.linear_model.Ridge","state":{', b'"a%07d":1,', 900_000,
        b'"z":0}}}',
    ),
    "wide characters": (b'{"arrays":[],"root":"', b"x", 33_000_000, "\U0001f600\"}".encode()),
    "equal hashes": (b'{"arrays":[],"root":{"set":[', b"%d,", 60_000, b"0]}}"),
    "small keys": (b'{"arrays":[],"root":{"set":[', b"%d,", 900_000, b"0]}}"),
}  # fmt: skip
# An array, its bytes, and what is made of it many times.
STRETCHED = {
    "text": (["<U250000", [], "C"], b'{"scalar":0},', 3000),
    "random states": (["<u4", [624], "C"], b'{"random_state":[{"array":0},0,0,0.0]},', 200_000),
    "sparse matrices": (
        ["<i8", [2**17], "C"],
        b'{"sparse":"csr_matrix","parts":[{"array":0},{"array":0},{"array":1}],"shape":[1,%d]},' % 2**40,
        4000,
    ),
    "masks": (["|b1", [2**20], "C"], b'{"masked":[{"array":0},{"array":0},true]},', 40_000),
    "forests": (
        ["<i8", [2**17], "C"],
        b'{"object":"isthmus.auto.methods.trees.Forest","state":{"left_":{"array":0},"right_":{"array":0},'
        b'"feature_":{"array":1},"roots_":{"array":1},"n_features_in_":1}},',
        10_000,
    ),
}  # fmt: skip


@pytest.mark.skipif(sys.platform == "darwin", reason="memory is told in bytes there")
@pytest.mark.parametrize("name", BOMBS)
def test_memory_and_time_are_bounded(name, tmp_path, loader):
    begin, repeated, times, end = BOMBS[name]
    if name in ("equal hashes", "small keys", "attributes"):
        step = 2**61 - 1 if name == "equal hashes" else 1
        middle = b"".join(repeated % (k * step) for k in range(times))
    else:
        middle = repeated * times
    path = put_together(tmp_path / "m.isthmus", begin + middle + end, b"")
    is_bounded(path, loader)


def is_bounded(path, loader):
    """It is refused, within ten times its length and 64 MB, and five seconds."""
    error, kilobytes, seconds = loader(path)
    assert error in ("UnsafeArchiveError", "CorruptedFileError")
    assert int(kilobytes) * 1024 < 10 * path.stat().st_size + 2**26 and float(seconds) < 5


@pytest.mark.skipif(sys.platform == "darwin", reason="memory is told in bytes there")
@pytest.mark.parametrize("name", STRETCHED)
def test_a_small_array_is_not_stretched(name, tmp_path, loader):
    (dtype, shape, order), node, times = STRETCHED[name]
    arrays = [np.zeros(shape, dtype)]
    if name == "text":
        arrays = [np.array("x" * 250_000)]
    if name == "sparse matrices":
        arrays.append(np.array([0, 2**17]))
    if name == "forests":
        arrays = [np.full(shape, -1), np.zeros(shape, dtype)]
    table = json.dumps([[a.dtype.str, list(a.shape), order] for a in arrays]).encode()
    line = b'{"arrays":%s,"root":[%s0]}' % (table, node * times)
    path = put_together(tmp_path / "m.isthmus", line, b"".join(a.tobytes() for a in arrays))
    is_bounded(path, loader)


def test_only_regular_files_are_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero"):
        for read in (load, describe):
            with pytest.raises(ModelFileError, match="is not a regular file"):
                read(path)


# -- fitted attributes -----------------------------------------------------------------------------


def crafted(model, path, change):
    """A file whose model was changed behind the back of ``save``."""
    save(model, path)
    told, data = taken_apart(path)
    arrays, at = [], 0
    for dtype, shape, order in told["arrays"]:
        size = np.zeros(shape, dtype).nbytes
        arrays.append(np.frombuffer(data[at : at + size], dtype).reshape(shape, order=order))
        at += size
    change(told["root"]["state"], arrays)
    told["arrays"] = [[a.dtype.str, list(a.shape), "C"] for a in arrays]
    return put_together(path, told, b"".join(a.tobytes() for a in arrays))


def put(name, array):
    def change(state, arrays):
        state[name] = {"array": len(arrays)}
        arrays.append(np.asarray(array))

    return change


LAWLESS = {
    "coef of other columns": (PLS(2), put("coef_", np.ones((2, 5))), r"coef_ has shape \(2, 5\), must"),
    "coef of one more side": (PLS(2), put("coef_", np.ones((2, 4, 1))), "coef_ has shape"),
    "means": (PLS(2), put("x_mean_", np.ones(3)), "x_mean_ has shape"),
    "rotations": (PLS(2), put("x_rotations_", np.ones((4, 3))), "has shape"),
    "infinite": (PLS(2), put("coef_", np.full((2, 4), np.inf)), "NaN or infinite values"),
    "text": (PLS(2), put("coef_", np.full((2, 4), "x")), "must hold numbers"),
    "ridge": (Ridge(), put("coef_", np.ones((2, 7))), "coef_ has shape"),
    "vectors": (SVR(), put("support_vectors_", np.ones((3, 4))), "must be"),
    "wild counts": (SVC(), put("_n_support", np.int32([2**30, -(2**30), 30])), "inconsistent numbers"),
    "negative counts": (SVC(), put("_n_support", np.int32([-5, 5, 30])), "inconsistent numbers"),
    "more classes": (SVC(), put("classes_", np.arange(9)), "inconsistent numbers"),
    "counts of a regression": (SVR(), put("_n_support", np.int32([9**9, 9**9])), "inconsistent numbers"),
    "constants": (SVC(), put("_intercept_", np.ones(0)), "must be|inconsistent numbers"),
    "own kernel": (SVR(), lambda state, _: state.update(kernel="precomputed"), "custom kernel"),
    "no vectors": (SVR(), lambda state, _: state.pop("support_vectors_"), "no arrays of support"),
}  # fmt: skip


@pytest.mark.parametrize("name", LAWLESS)
def test_attributes_that_do_not_go_together(name, tmp_path):
    model, change, match = LAWLESS[name]
    outputs = np.digitize(X[:, 0], [-0.5, 0.5]) if isinstance(model, SVC) else Y
    model.fit(X, outputs[:, 0] if isinstance(model, SVR) else outputs)
    refused(crafted(model, tmp_path / "m.isthmus", change), CorruptedFileError, match)


SPARSE = {
    "wild index": ("indices", [10**9]), "negative index": ("indices", [-1]),
    "wild pointer": ("indptr", [0, 10**9, 1]), "falling": ("indptr", [0, 2, 1]),
    "late": ("indptr", [1, 1, 1]), "short": ("indptr", [0, 1]), "long data": ("data", [1.0, 2.0]),
}  # fmt: skip


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_matrices_point_into_themselves(name, tmp_path):
    """A product with any of these reads where nothing is."""
    parts = {"data": [1.0], "indices": [2], "indptr": [0, 1, 1]}
    model = Ridge().fit(X, Y)

    def change(state, arrays):
        which, wrong = SPARSE[name]
        made = []
        for key, values in (parts | {which: wrong}).items():
            made.append({"array": len(arrays)})
            arrays.append(np.array(values, dtype="f8" if key == "data" else "i4"))
        state["kept_"] = {"sparse": "csr_matrix", "parts": made, "shape": [2, 3]}

    refused(crafted(model, tmp_path / "m.isthmus", change), CorruptedFileError, "point outside")


# -- any file whatever -------------------------------------------------------------------------------


def test_fuzzer(tmp_path):
    """Ten seconds of files that are changed at random; ``make fuzz`` takes an hour."""
    seconds = os.environ.get("ISTHMUS_FUZZ_SECONDS", "10")
    done = subprocess.run(
        [sys.executable, HERE / "fuzz.py", "--seconds", seconds], capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": str(HERE.parents[1]), "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-300:] + done.stderr[-3000:]
    told = json.loads(done.stdout)
    assert told["files"] >= 50 and told["refused"] > 0 and told["answered"] > 0
