"""Files that are no model, or not whole: each is refused with its own error, and nothing in it runs.

``test_limits.py`` has files with a right checksum and a wrong content.
"""

import hashlib
import pickle

import numpy as np
import pytest

import isthmus
from isthmus import PLS, load, save
from isthmus.persistence import ModelFileError, describe
from isthmus.persistence.errors import (
    CorruptedFileError,
    NotAModelFileError,
    OtherFormatError,
    PickleRefusedError,
    TruncatedFileError,
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


def refused(path, error, match):
    with pytest.raises(error, match=match) as caught:
        load(path)
    assert issubclass(error, ModelFileError)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("version", [0, 1, 3, 6, 12])
def test_another_format_is_refused_with_the_version_that_wrote_it(good, tmp_path, version):
    path = tmp_path / "other.isthmus"
    mark = f"isthmus-model {version} ".encode()
    path.write_bytes(good.read_bytes().replace(b"isthmus-model 2 ", mark, 1))
    refused(
        path,
        OtherFormatError,
        rf"has format {version} of isthmus {isthmus.__version__}, .*fit again",
    )


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


def test_other_files(tmp_path):
    path = tmp_path / "bare.isthmus"
    path.write_bytes(b"PK\x03\x04" + bytes(200))
    refused(path, NotAModelFileError, "bare archive")
    path.write_bytes(b"hello, I am a text\n" * 9)
    refused(path, NotAModelFileError, "not a model file of isthmus")


def test_checksum_is_sha256_of_what_follows(good):
    header, body = good.read_bytes().split(b"\n", 1)
    assert header.split()[3].decode() == hashlib.sha256(body).hexdigest()
