"""The ways in which a model file can be bad."""

from __future__ import annotations

from typing import Any


class ModelFileError(ValueError):
    """A file is not a model that can be loaded; nothing of it was run."""


class NotAModelFileError(ModelFileError):
    """The file is something else altogether."""


class PickleRefusedError(NotAModelFileError):
    """The file is a pickle, which would run whatever its author wished."""


class OtherFormatError(ModelFileError):
    """The file was written in another format, by another release."""


class TruncatedFileError(ModelFileError):
    """The end of the file is missing."""


class CorruptedFileError(ModelFileError):
    """The content does not match its checksum, or cannot be read."""


class UnsafeArchiveError(ModelFileError):
    """The file claims sizes or arrays that a saved model never has."""


class ForeignTypeError(ModelFileError):
    """The file, or the model that is to be saved, asks for a type that is not listed."""


class SignatureError(ModelFileError):
    """The file is not signed by the key that is trusted."""


def foreign(what: Any, name: Any) -> ForeignTypeError:
    """A file names a class that is not in the table."""
    return ForeignTypeError(
        f"{what} is refused: it asks for {str(name)[:80]}; only the types that "
        "isthmus/persistence/classes.py lists are built from a file."
    )
