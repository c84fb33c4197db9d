"""Oracles: the signature of another library (openssl), keys of all forms, each way to be refused."""

import builtins
import shutil
import subprocess

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isthmus import PLS, load, save
from isthmus.cli import main
from isthmus.persistence import ModelFileError, SignatureError, describe

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(20, 3)), rng.normal(size=(20, 2))
MODEL = PLS(2).fit(X, Y)


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """Private and public keys by form, two of each."""
    pytest.importorskip("cryptography")
    from cryptography.hazmat.primitives import serialization as s
    from cryptography.hazmat.primitives.asymmetric import ed25519, rsa

    folder, found = tmp_path_factory.mktemp("keys"), {}
    for name in ("ours", "other"):
        private = ed25519.Ed25519PrivateKey.generate()
        forms = {
            "pem": private.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption()),
            "ssh": private.private_bytes(s.Encoding.PEM, s.PrivateFormat.OpenSSH, s.NoEncryption()),
            "locked": private.private_bytes(
                s.Encoding.PEM, s.PrivateFormat.PKCS8, s.BestAvailableEncryption(b"x")
            ),
            "pub": private.public_key().public_bytes(
                s.Encoding.PEM, s.PublicFormat.SubjectPublicKeyInfo
            ),
            "ssh.pub": private.public_key().public_bytes(
                s.Encoding.OpenSSH, s.PublicFormat.OpenSSH
            ),
        }
        for form, data in forms.items():
            found[f"{name}.{form}"] = folder / f"{name}.{form}"
            found[f"{name}.{form}"].write_bytes(data)
    found["rsa"] = folder / "rsa"
    found["rsa"].write_bytes(
        rsa.generate_private_key(65537, 2048).private_bytes(
            s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption()
        )
    )
    return found


@pytest.mark.parametrize("form", ["pem", "ssh"])
def test_signed_and_trusted(keys, tmp_path, form):
    path = tmp_path / "m.isthmus"
    save(MODEL, path, sign=keys[f"ours.{form}"])
    assert describe(path)["is_signed"]
    for key in (None, keys["ours.pub"], keys["ours.ssh.pub"], keys["ours.pub"].read_bytes()):
        assert_array_equal(load(path, trusted_key=key).predict(X), MODEL.predict(X))


def test_refused(keys, tmp_path):
    path = tmp_path / "m.isthmus"
    save(MODEL, path)
    with pytest.raises(SignatureError, match="it is not signed"):
        load(path, trusted_key=keys["ours.pub"])
    save(MODEL, path, sign=keys["other.pem"])
    with pytest.raises(SignatureError, match="not signed with the trusted key"):
        load(path, trusted_key=keys["ours.pub"])
    other = path.read_bytes()
    save(MODEL, path, sign=keys["ours.pem"])
    ours = path.read_bytes()
    # The signature of one file on the content of another.
    save(PLS(1).fit(X, Y), path, sign=keys["other.pem"])
    header, body = path.read_bytes().split(b"\n", 1)
    head = header.rsplit(b":", 1)[0] + b":" + ours.split(b"\n", 1)[0].rsplit(b":", 1)[1]
    path.write_bytes(head + b"\n" + body)
    with pytest.raises(SignatureError, match="not signed with the trusted key"):
        load(path, trusted_key=keys["ours.pub"])
    for at in (20, 90, 200, 400, len(ours) - 3):  # any bit of a signed file
        changed = bytearray(ours)
        changed[at] ^= 1
        path.write_bytes(changed)
        with pytest.raises(ModelFileError):
            load(path, trusted_key=keys["ours.pub"])
    assert other != ours


def test_bad_keys(keys, tmp_path):
    path = tmp_path / "m.isthmus"
    for key, match in (
        (keys["rsa"], "does not hold a private Ed25519 key"),
        (keys["ours.pub"], "does not hold a private Ed25519 key"),
        (keys["ours.locked"], "protected by a password"),
        (b"nonsense", "the key does not hold a private Ed25519 key"),
    ):
        with pytest.raises(ValueError, match=match):
            save(MODEL, path, sign=key)
    assert not path.exists()
    save(MODEL, path, sign=keys["ours.pem"])
    with pytest.raises(ValueError, match="does not hold a public Ed25519 key"):
        load(path, trusted_key=keys["ours.pem"])


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl")
def test_openssl_agrees(keys, tmp_path):
    """What is signed is the first line up to the signature."""
    save(MODEL, tmp_path / "m.isthmus", sign=keys["ours.pem"])
    line = (tmp_path / "m.isthmus").read_bytes().split(b"\n", 1)[0]
    signed, _, signature = line.partition(b" ed25519:")
    (tmp_path / "signed").write_bytes(signed)
    (tmp_path / "signature").write_bytes(bytes.fromhex(signature.decode()))
    command = ["openssl", "pkeyutl", "-verify", "-pubin", "-rawin", "-inkey", keys["ours.pub"]]
    command += ["-in", tmp_path / "signed", "-sigfile", tmp_path / "signature"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and "Success" in done.stdout, done.stderr


def test_the_command(keys, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    np.save("X.npy", X)
    np.save("Y.npy", Y)
    fit = ["fit", "X.npy", "Y.npy", "-m", "pls", "--cv", "2", "-q", "-o", "m.isthmus"]
    assert main([*fit, "--sign", str(keys["ours.pem"])]) == 0
    predict = ["predict", "m.isthmus", "X.npy", "-o", "out.csv", "-q", "--trusted-key"]
    assert main([*predict, str(keys["ours.pub"])]) == 0
    assert main(["inspect", "m.isthmus"]) == 0 and "signed" in capsys.readouterr().out
    (tmp_path / "out.csv").unlink()
    assert main([*predict, str(keys["other.pub"])]) == 1
    assert "not signed with the trusted key" in capsys.readouterr().err
    assert not (tmp_path / "out.csv").exists()
    assert main([*fit[:-1], "n.isthmus", "--sign", "nowhere.pem"]) == 1
    assert "nowhere.pem" in capsys.readouterr().err and not (tmp_path / "n.isthmus").exists()


def test_without_the_library(tmp_path, monkeypatch):
    original = builtins.__import__

    def without(name, *rest, **options):
        if name.startswith("cryptography"):
            raise ImportError(name)
        return original(name, *rest, **options)

    save(MODEL, tmp_path / "m.isthmus")
    monkeypatch.setattr(builtins, "__import__", without)
    for call in (
        lambda: save(MODEL, tmp_path / "n.isthmus", sign=b"key"),
        lambda: load(tmp_path / "m.isthmus", trusted_key=b"key"),
    ):
        with pytest.raises(ImportError, match=r"pip install 'isthmus\[sign\]'"):
            call()
    assert load(tmp_path / "m.isthmus").n_components_ == 2
