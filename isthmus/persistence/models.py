"""A fitted model to one file and back."""

from __future__ import annotations

import json
import os
import platform
import sys
import warnings
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import pairwise
from typing import Any

import numpy as np

from isthmus.persistence.container import first_line, pack, unpack
from isthmus.persistence.errors import CorruptedFileError, ModelFileError, UnsafeArchiveError
from isthmus.persistence.limits import Budget, array_from, array_size, parse
from isthmus.persistence.outputs import Output, write_atomically
from isthmus.persistence.signing import check_signature, signer
from isthmus.persistence.tree import Decoder, Encoder

_PACKAGES = ("numpy", "scipy", "scikit-learn")
_ARRAY = 400  # bytes of an array besides its values


def save(
    model: Any,
    path: str | os.PathLike | Output,
    *,
    summary: dict[str, Any] | None = None,
    sign: str | os.PathLike | bytes | None = None,
) -> None:
    """Write a fitted model to one file, from which it can be loaded without running code.

    The file carries the format version, package versions, the date, a summary of the training and a
    checksum. It is written to a temporary name, synced and renamed: a crash leaves the old file or
    the new one. Before that the very bytes are loaded and must give the same bytes again: what is
    saved can be loaded.

    Parameters
    ----------
    model : estimator
        An estimator of isthmus, one of those of scikit-learn that ``isthmus/persistence/classes.py``
        lists, or a pipeline of them. A model that holds anything else (functions, trees, forests,
        types of others), or NaN where a prediction would read it, is refused here, not when it is
        loaded. ``n_jobs`` and ``memory`` are of this machine: they are None in the file, with a warning.
    path : path or Output
        The file, by custom ``something.isthmus``.
    summary : dict, default=None
        Summary of the training, in the types of JSON; None takes that of the
        model's ``training_summary`` method if it has one.
    sign : path or bytes, default=None
        A private key of Ed25519, a file in PEM or OpenSSH form or its content, to sign the file with.

    Examples
    --------
    >>> import isthmus
    >>> from isthmus.datasets import make_low_rank_regression
    >>> X, Y, _ = make_low_rank_regression(50, 8, 3, random_state=0)
    >>> isthmus.save(isthmus.PLS(2).fit(X, Y), "model.isthmus")
    >>> isthmus.load("model.isthmus").predict(X).shape
    (50, 3)
    """
    name = f"{type(model).__module__}.{type(model).__qualname__}"
    encoder = Encoder(name)
    payload = _encode(model, encoder)
    again = _build(memoryview(payload), name, Budget(len(payload), name))
    if _encode(again, Encoder(name)) != payload:
        raise CorruptedFileError(f"{name} cannot be saved: it would not come back as it is.")
    if encoder.left_out:
        left_out = " and ".join(sorted(encoder.left_out))
        warnings.warn(
            f"{left_out} of {name} belong to this machine and are None in {path}: set them after load.",
            stacklevel=2,
        )
    if summary is None:
        tell = getattr(model, "training_summary", None)
        summary = tell() if callable(tell) else _plain_summary(model)
    manifest = {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "type": name,
        "versions": _versions(),
        "summary": summary,
    }
    content = pack(manifest, payload, sign=None if sign is None else signer(sign))
    write_atomically(path, content)


def load(path: str | os.PathLike, *, trusted_key: str | os.PathLike | bytes | None = None) -> Any:
    """Load a model that ``save`` has written; nothing in the file is run.

    Only the types that ``isthmus/persistence/classes.py`` lists are built, without calling their
    constructors; sizes are counted and shapes checked before. Another format, a truncated or corrupted
    file, a pickle, a file that claims too much memory and a foreign type each have their own error, all of
    them ``ModelFileError``.

    Parameters
    ----------
    path : path
        The file.
    trusted_key : path or bytes, default=None
        A public key of Ed25519, a file in PEM or OpenSSH form or its content. If given, only a file
        that its holder has signed is loaded.

    Returns
    -------
    model : estimator
        Its predictions are those of the saved one to the last bit, with the same versions of the
        packages on the same machine.
    """
    shell = unpack(path)
    if trusted_key is not None:
        check_signature(shell.signed, shell.signature, trusted_key, path)
    try:
        return _build(shell.payload, path, shell.budget)
    except ModelFileError:
        raise
    except Exception as error:
        fault = str(error).strip().partition("\n")[0]
        raise CorruptedFileError(
            f"{path} cannot be rebuilt ({type(error).__name__}: {fault}); was it saved by "
            "other versions of the packages? isthmus inspect lists them."
        ) from error


def describe(path: str | os.PathLike) -> dict[str, Any]:
    """Describe a model file; its model is neither built nor imported.

    Parameters
    ----------
    path : path
        The file; its length and checksum are checked.

    Returns
    -------
    description : dict
        ``format``, ``created``, ``type``, ``versions``, ``summary``, ``bytes``, ``is_signed``.
    """
    shell = unpack(path)
    told = {"format": shell.format, "bytes": shell.size, "is_signed": shell.signature is not None}
    return {**shell.manifest, **told}


def _encode(model: Any, encoder: Encoder) -> bytes:
    """A model as a line of JSON and its arrays."""
    root = encoder.encode(model)
    table, parts = [], []
    for array in encoder.arrays:
        is_columns = array.flags.f_contiguous and not array.flags.c_contiguous
        table.append([array.dtype.str, list(array.shape), "F" if is_columns else "C"])
        parts.append(array.tobytes(order="F" if is_columns else "C"))
    line = json.dumps({"arrays": table, "root": root}, allow_nan=False, separators=(",", ":"))
    return b"".join([line.encode(), b"\n", *parts])


def _build(payload: memoryview, what: Any, budget: Budget) -> Any:
    """The model of a line of JSON and its arrays; all sizes are counted first."""
    line, data = first_line(payload, what)
    told = parse(line, what, budget)
    if not isinstance(told, dict) or set(told) != {"arrays", "root"}:
        raise CorruptedFileError(f"{what} is corrupted: it describes no model.")
    table = told["arrays"]
    if not isinstance(table, list) or not all(isinstance(a, list) and len(a) == 3 for a in table):
        raise CorruptedFileError(f"{what} is corrupted: its arrays are not described.")
    ends = np.cumsum(
        [0] + [array_size(dtype, shape, what) for dtype, shape, _ in table], dtype=object
    )
    if ends[-1] != len(data):
        raise UnsafeArchiveError(
            f"{what} is refused: its arrays claim {ends[-1]} bytes, it has {len(data)}."
        )
    budget.spend(len(data) + _ARRAY * len(table))
    arrays = [
        array_from(data[begin:end], dtype, shape, order, what)
        for (begin, end), (dtype, shape, order) in zip(pairwise(ends), table)
    ]
    return Decoder(arrays, what, budget).decode(told["root"])


def _versions() -> dict[str, str]:
    # The code that runs, which a source tree may have in another version than what is installed.
    found = {
        "python": platform.python_version(),
        "isthmus": str(sys.modules["isthmus"].__version__),
    }
    return found | {package: version(package) for package in _PACKAGES}


def _plain_summary(model: Any) -> dict[str, Any]:
    summary: dict[str, Any] = {"model": " ".join(repr(model).split())}
    if hasattr(model, "n_features_in_"):
        summary["n_features"] = int(model.n_features_in_)
    if hasattr(model, "feature_names_in_"):
        summary["feature_names"] = [str(name) for name in model.feature_names_in_]
    return summary
