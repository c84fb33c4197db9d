"""A fitted model to one file and back."""

from __future__ import annotations

import os
import platform
import zipfile
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from isthmus.persistence.archive import check_archive
from isthmus.persistence.container import FORMAT, pack, unpack
from isthmus.persistence.errors import CorruptedFileError, ForeignTypeError, ModelFileError
from isthmus.persistence.outputs import write_atomically
from isthmus.persistence.trust import trusted_types

_PACKAGES = ("isthmus", "numpy", "scipy", "scikit-learn", "skops")


def save(model: Any, path: str | os.PathLike, *, summary: dict[str, Any] | None = None) -> None:
    """Write a fitted model to one file, from which it can be loaded without running code.

    The file carries the format version, package versions, the date, a summary of the training and a
    checksum. It is written to a temporary name, synced and renamed: a crash leaves the old file or
    the new one.

    Parameters
    ----------
    model : estimator
        Any estimator of isthmus or scikit-learn, or a pipeline of them. A model that holds
        functions or types of others is refused here, not when it is loaded.
    path : path
        The file, by custom ``something.isthmus``.
    summary : dict, default=None
        What to tell about the training, in the types of JSON; None asks the model's own
        ``training_summary`` method if it has one.

    Examples
    --------
    >>> import isthmus
    >>> from isthmus.datasets import make_low_rank_regression
    >>> X, Y, _ = make_low_rank_regression(50, 8, 3, random_state=0)
    >>> isthmus.save(isthmus.PLS(2).fit(X, Y), "model.isthmus")
    >>> isthmus.load("model.isthmus").predict(X).shape
    (50, 3)
    """
    skops_io = _skops()
    name = f"{type(model).__module__}.{type(model).__qualname__}"
    try:
        payload = skops_io.dumps(model, compression=zipfile.ZIP_STORED)
    except Exception as error:  # skops has many ways to say that it cannot
        raise ForeignTypeError(f"{name} cannot be saved: {_first_line(error)}") from error
    trusted_types(check_archive(payload, name), name)
    if summary is None:
        tell = getattr(model, "training_summary", None)
        summary = tell() if callable(tell) else _plain_summary(model)
    manifest = {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "type": name,
        "versions": _versions(),
        "summary": summary,
    }
    write_atomically(path, pack(manifest, payload))


def load(path: str | os.PathLike) -> Any:
    """Load a model that ``save`` has written; nothing in the file is run.

    Only types of isthmus and scikit-learn are built. A newer format, a truncated or corrupted file,
    a pickle, an archive that is not as we write it and a foreign type each have their own error,
    all of them ``ModelFileError``.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    model : estimator
        Its predictions are those of the saved one to the last bit, with the same versions of the
        packages on the same machine.
    """
    _, payload = unpack(path)
    trusted = trusted_types(check_archive(payload, path), path)
    try:
        return _skops().loads(bytes(payload), trusted=trusted)
    except ModelFileError:
        raise
    except _untrusted_error() as error:
        raise ForeignTypeError(f"{path} is refused: {_first_line(error)}") from error
    except Exception as error:
        raise CorruptedFileError(
            f"{path} cannot be rebuilt ({type(error).__name__}: {_first_line(error)}); was it saved by "
            "other versions of the packages? isthmus inspect tells which."
        ) from error


def describe(path: str | os.PathLike) -> dict[str, Any]:
    """What a model file says about itself; its model is neither built nor imported.

    Parameters
    ----------
    path : path
        The file; its length and checksum are checked.

    Returns
    -------
    description : dict
        ``format``, ``created``, ``type``, ``versions``, ``summary``, ``bytes``.
    """
    manifest, _ = unpack(path)
    return {"format": FORMAT, **manifest, "bytes": os.path.getsize(path)}


def _skops() -> Any:
    try:
        import skops.io
    except ImportError as error:
        raise ImportError("Model files need skops: pip install 'isthmus[cli]'.") from error
    return skops.io


def _untrusted_error() -> type[Exception]:
    from skops.io.exceptions import UntrustedTypesFoundException

    return UntrustedTypesFoundException


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # run from a source tree
            continue
    return found


def _plain_summary(model: Any) -> dict[str, Any]:
    summary: dict[str, Any] = {"model": " ".join(repr(model).split())}
    if hasattr(model, "n_features_in_"):
        summary["n_features"] = int(model.n_features_in_)
    if hasattr(model, "feature_names_in_"):
        summary["feature_names"] = [str(name) for name in model.feature_names_in_]
    return summary


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
