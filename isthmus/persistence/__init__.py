"""Model files: save, load, and refuse what is not ours.

====================== =============== =========================================================
name                   file            what it does
====================== =============== =========================================================
``save``, ``load``     ``models.py``   a fitted model to one file and back, without running code
``describe``           ``models.py``   what a file says about itself, without loading the model
``write_atomically``   ``outputs.py``  the old file or the new one, never half of either
``Outputs``            ``outputs.py``  several files that change together, and no input among them
``ModelFileError``     ``errors.py``   one error, and a sub-class for each way a file can be bad
====================== =============== =========================================================

A file is one line of header (format, length, SHA-256), one line of JSON (versions, date, training
summary) and an archive of skops. ``container.py`` reads and writes that shell; ``archive.py`` looks
at the archive before anything is built from it; ``trust.py`` says which types may be in it.
"""

from isthmus.persistence.errors import (
    CorruptedFileError,
    ForeignTypeError,
    ModelFileError,
    NewerFormatError,
    NotAModelFileError,
    PickleRefusedError,
    TruncatedFileError,
    UnsafeArchiveError,
)
from isthmus.persistence.models import describe, load, save
from isthmus.persistence.outputs import Outputs, write_atomically

__all__ = [
    "CorruptedFileError",
    "ForeignTypeError",
    "ModelFileError",
    "NewerFormatError",
    "NotAModelFileError",
    "Outputs",
    "PickleRefusedError",
    "TruncatedFileError",
    "UnsafeArchiveError",
    "describe",
    "load",
    "save",
    "write_atomically",
]
