"""Model files: save, load, and refuse all other files.

====================== =============== =========================================================
name                   file            what it does
====================== =============== =========================================================
``save``, ``load``     ``models.py``   a fitted model to one file and back, without running code
``describe``           ``models.py``   what a file says about itself, without loading the model
``write_atomically``   ``outputs.py``  the old file or the new one, never half of either
``Outputs``            ``outputs.py``  several files that change together, and no input among them
``ModelFileError``     ``errors.py``   one error, and a sub-class for each way a file can be bad
====================== =============== =========================================================

A file is one line of header (format, length, SHA-256, perhaps a signature), one line of JSON
(versions, date, training summary), the model as another line of JSON, and its arrays.
``container.py`` reads and writes the shell; ``tree.py`` turns a model into JSON and arrays and back,
by the types that ``classes.py`` lists, within ``limits.py`` and by the ``laws.py`` of fitted
attributes. A file of another format is refused with the version that wrote it.
``parts.py`` and ``deferred.py`` are of the writer: files that are not ready, signals that wait.
"""

from isthmus._doors import open_door

__getattr__, __dir__, __all__ = open_door(
    __name__,
    {
        "errors": "ModelFileError",
        "models": "describe load save",
    },
    neighbours={
        "errors": "SignatureError",
        "outputs": "Output Outputs write_atomically",
        "pages": "content_policy",
        "signing": "signer",
    },
)
