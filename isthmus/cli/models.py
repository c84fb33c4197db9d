"""Model files as the sub-commands use them."""

from __future__ import annotations

from typing import Any

from isthmus.cli.app import InputError


def load_search(path: str, trusted_key: str | None = None, *, in_blocks: bool = False) -> Any:
    """A model that ``isthmus fit`` has written; with a key, that its holder has signed.

    ``in_blocks`` takes one of a table that was read in blocks as well.
    """
    import os

    from isthmus.auto import MethodSearchCV
    from isthmus.persistence import load

    if not os.path.exists(path):
        raise InputError(f"{path}: no such file.")
    if os.path.isdir(path):
        raise InputError(f"{path} is a directory, not a model file.")
    model = load(path, trusted_key=trusted_key)
    if hasattr(model, "target_names_") and not isinstance(model, MethodSearchCV):
        if not in_blocks:
            raise InputError(
                f"{path} was fitted in blocks: isthmus predict takes it, other commands need a model that "
                "was fitted in memory (raise --memory of isthmus fit)."
            )
        from isthmus.cli.large import BlockModel

        return BlockModel(model)
    if not isinstance(model, MethodSearchCV):
        raise InputError(
            f"{path} holds a {type(model).__name__}, which has no column names: use it from Python "
            "with isthmus.load, or fit with isthmus fit."
        )
    return model
