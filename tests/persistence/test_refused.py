"""Crafted files: each is refused with its own error, and nothing in it runs.

The archives are of format 1, of which files are about; ``test_limits.py`` has those of format 2.
"""

import hashlib
import io
import json
import pickle
import zipfile

import numpy as np
import pytest
import skops.io

from isthmus import PLS, load, save
from isthmus.persistence import ModelFileError, describe
from isthmus.persistence.container import pack
from isthmus.persistence.errors import (
    CorruptedFileError,
    ForeignTypeError,
    NewerFormatError,
    NotAModelFileError,
    PickleRefusedError,
    TruncatedFileError,
    UnsafeArchiveError,
)

RAN = []  # what a payload that runs leaves behind


def run_me(*arguments):
    RAN.append(arguments)
    return 0


class Payload:
    """Runs on unpickling."""

    def __reduce__(self):
        return run_me, ("pickle",)


@pytest.fixture(autouse=True)
def nothing_runs():
    RAN.clear()
    yield
    assert RAN == []


@pytest.fixture
def good(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "good.isthmus"
    save(PLS(1).fit(rng.normal(size=(20, 3)), rng.normal(size=20)), path)
    return path


def members(good):
    """The model of a good file as an archive of format 1, member by member."""
    payload = skops.io.dumps(load(good), compression=zipfile.ZIP_STORED)
    with zipfile.ZipFile(io.BytesIO(payload)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive(contents, compression=zipfile.ZIP_STORED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as out:
        for name, data in contents.items():
            out.writestr(name, data)
    return stream.getvalue()


def write(path, payload):
    path.write_bytes(pack({"summary": {}}, payload, version=1))
    return path


def refused(path, error, match):
    with pytest.raises(error, match=match) as caught:
        load(path)
    assert issubclass(error, ModelFileError)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def node(module, name, loader, **more):
    return {"__class__": name, "__module__": module, "__loader__": loader, "__id__": 1, **more}


TUPLE = node("builtins", "tuple", "TupleNode", content=[])


def schema(root):
    return archive({"schema.json": json.dumps({**root, "protocol": 2, "_skops_version": "0.16"})})


# -- the shell -----------------------------------------------------------------------------------


def test_newer_format(good, tmp_path):
    path = tmp_path / "new.isthmus"
    path.write_bytes(good.read_bytes().replace(b"isthmus-model 2 ", b"isthmus-model 3 ", 1))
    refused(path, NewerFormatError, "format 3, this release reads formats up to 2: update")


@pytest.mark.parametrize("kept", [0, 3, 20, 90, 200, 0.5, 0.9, -1])
def test_truncated(good, tmp_path, kept):
    data = good.read_bytes()
    kept = int(kept * len(data)) if isinstance(kept, float) else kept
    path = tmp_path / "cut.isthmus"
    path.write_bytes(data[:kept])
    refused(path, TruncatedFileError, "cut off|is empty")


@pytest.mark.parametrize("seed", range(25))
def test_any_flipped_bit_is_noticed(good, tmp_path, seed):
    data = bytearray(good.read_bytes())
    rng = np.random.default_rng(seed)
    data[rng.integers(len(data))] ^= 1 << rng.integers(8)
    path = tmp_path / "flip.isthmus"
    path.write_bytes(data)
    for read in (load, describe):
        with pytest.raises(ModelFileError):
            read(path)


def test_appended_bytes(good, tmp_path):
    path = tmp_path / "long.isthmus"
    path.write_bytes(good.read_bytes() + b"more")
    refused(path, CorruptedFileError, "checksum")


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(tmp_path, protocol):
    path = tmp_path / "p.isthmus"
    path.write_bytes(pickle.dumps(Payload(), protocol))
    refused(path, PickleRefusedError, "is a pickle, which can run any code")


def test_other_files(tmp_path, good):
    path = tmp_path / "bare.isthmus"
    path.write_bytes(archive(members(good)))
    refused(path, NotAModelFileError, "bare archive")
    path.write_bytes(b"hello, I am a text\n" * 9)
    refused(path, NotAModelFileError, "not a model file of isthmus")


def test_checksum_is_sha256_of_what_follows(good):
    header, body = good.read_bytes().split(b"\n", 1)
    assert header.split()[3].decode() == hashlib.sha256(body).hexdigest()


# -- the archive ---------------------------------------------------------------------------------


def test_zip_bomb(tmp_path, good):
    contents = members(good) | {"0.npy": bytes(10**8)}
    path = write(tmp_path / "bomb.isthmus", archive(contents, zipfile.ZIP_DEFLATED))
    assert path.stat().st_size < 10**6
    refused(path, UnsafeArchiveError, "is compressed and would grow")


def test_overlapping_members(tmp_path, good):
    payload = bytearray(archive(members(good)))
    # Every entry of the directory claims more than there is.
    at = payload.find(b"PK\x01\x02")
    while at >= 0:
        payload[at + 20 : at + 28] = (2**31 - 1).to_bytes(4, "little") * 2
        at = payload.find(b"PK\x01\x02", at + 1)
    path = write(tmp_path / "overlap.isthmus", bytes(payload))
    refused(path, UnsafeArchiveError, "members claim")


def test_bomb_within_a_sparse_matrix(tmp_path, good):
    inner = archive({"data.npy": bytes(3 * 10**8)}, zipfile.ZIP_DEFLATED)
    path = write(tmp_path / "inner.isthmus", archive(members(good) | {"7.npz": inner}))
    refused(path, UnsafeArchiveError, "would grow from")


@pytest.mark.parametrize(
    "name", ["../evil.npy", "/etc/evil.npy", "a/b.npy", "..\\evil.npy", "x.py"]
)
def test_path_traversal(tmp_path, good, name):
    path = write(tmp_path / "path.isthmus", archive(members(good) | {name: b""}))
    refused(path, UnsafeArchiveError, "not a plain name")
    assert not (tmp_path.parent / "evil.npy").exists()


def test_object_array(tmp_path, good):
    stream = io.BytesIO()
    np.save(stream, np.array([Payload()], dtype=object), allow_pickle=True)
    contents = members(good)
    victim = next(name for name in contents if name.endswith(".npy"))
    path = write(tmp_path / "object.isthmus", archive(contents | {victim: stream.getvalue()}))
    refused(path, UnsafeArchiveError, "array of Python objects")


def test_array_that_claims_too_much(tmp_path, good):
    stream = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
    np.lib.format.write_array_header_1_0(stream, header)
    contents = members(good)
    victim = next(name for name in contents if name.endswith(".npy"))
    path = write(tmp_path / "claim.isthmus", archive(contents | {victim: stream.getvalue()}))
    refused(path, UnsafeArchiveError, "claims 8000000000000 bytes")


def test_no_archive_at_all(tmp_path):
    path = write(tmp_path / "no.isthmus", b"not a zip")
    refused(path, CorruptedFileError, "archive cannot be read")
    path = write(tmp_path / "no.isthmus", archive({"schema.json": "[" * 10**5}))
    refused(path, CorruptedFileError, "archive cannot be read")


# -- the types -----------------------------------------------------------------------------------

FOREIGN = {
    "function": node(
        "os", "system", "FunctionNode", content={"module_path": "os", "function": "system"}
    ),
    "constructor": node("subprocess", "Popen", "ConstructorFromReduceNode", content=TUPLE),
    "builtin": node("builtins", "eval", "FunctionNode", content={}),
    "object": node(__name__, "Payload", "ObjectNode", content=TUPLE),
    "operator": node("operator", "methodcaller", "OperatorFuncNode", attrs=TUPLE),
    "partial": node("functools", "partial", "PartialNode", content={}),
    "list of calls": node("os", "system", "ListNode", content=[]),
    "type": node("subprocess", "Popen", "TypeNode"),
    # Names that our own or scikit-learn's modules merely use.
    "used name": node("isthmus.persistence.outputs", "os", "ObjectNode", content=TUPLE),
    "our function": node(
        "isthmus.persistence.outputs", "write_atomically", "FunctionNode", content={}
    ),
    "our function called": node(
        "isthmus.persistence.outputs",
        "write_atomically",
        "ConstructorFromReduceNode",
        content=TUPLE,
    ),
    "our class called": node(
        "isthmus.regression.pls", "PLS", "ConstructorFromReduceNode", content=TUPLE
    ),
    "our command": node("isthmus.cli.app", "InputError", "ObjectNode", content=TUPLE),
    "their helper": node("sklearn.utils", "check_array", "FunctionNode", content={}),
    "their used name": node("sklearn.externals._packaging.version", "itertools", "ObjectNode"),
    "no such class": node("isthmus.regression.pls", "NoSuch", "ObjectNode", content=TUPLE),
    "no such loader": node("isthmus.regression.pls", "PLS", "EvalNode", content=TUPLE),
    "prefix": node("isthmus_evil", "PLS", "ObjectNode", content=TUPLE),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_type(tmp_path, name):
    root = FOREIGN[name]
    path = write(tmp_path / "foreign.isthmus", schema(root))
    refused(path, ForeignTypeError, f"asks for {root['__module__']}.{root['__class__']}")


def test_foreign_type_deep_inside_a_good_model(tmp_path, good):
    contents = members(good)
    root = json.loads(contents["schema.json"])
    state = root["content"]["content"]
    state["scale"] = FOREIGN["function"]
    path = write(tmp_path / "deep.isthmus", archive(contents | {"schema.json": json.dumps(root)}))
    refused(path, ForeignTypeError, "asks for os.system")


def test_what_skops_would_trust_if_told_so(tmp_path):
    """A file that skops itself loads when asked to trust it: the danger is real."""
    blob = skops.io.dumps({"f": run_me})
    untrusted = skops.io.get_untrusted_types(data=blob)
    assert skops.io.loads(blob, trusted=untrusted)["f"] is run_me
    path = write(tmp_path / "skops.isthmus", blob)
    refused(path, ForeignTypeError, "run_me")


def test_foreign_modules_are_not_imported(tmp_path, monkeypatch):
    evil = tmp_path / "evil_module.py"
    evil.write_text(
        "from pathlib import Path\nPath(__file__).with_name('ran').touch()\nclass A: pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    path = write(
        tmp_path / "e.isthmus", schema(node("evil_module", "A", "ObjectNode", content=TUPLE))
    )
    refused(path, ForeignTypeError, "evil_module.A")
    assert not (tmp_path / "ran").exists()
