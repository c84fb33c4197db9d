"""What the arrays of a saved model must be, declared where their class stands.

A law names the sides of an array by letters; a letter has one value in an object, and ``p`` is the
number of its input columns. ``.`` is any side, ``|`` parts alternatives, and nothing is a number.
``-`` is None, and a number after a ``+`` counts from a letter. The alternatives of all attributes belong
together: the first of one goes with the first of the others. ``a__b`` is attribute b of attribute a.

Floats are finite wherever they stand in a model, unless the law of the attribute begins with ``nan``,
``inf``, ``-inf`` or ``any``, which is all of them; ``nan`` or ``any`` alone is any shape, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

_Class = TypeVar("_Class", bound=type)


def saved(**laws: str) -> Callable[[_Class], _Class]:
    """Declare the laws of fitted attributes; a class has those of its bases, too."""

    def declare(cls: _Class) -> _Class:
        cls._saved_laws = {**getattr(cls, "_saved_laws", {}), **laws}  # type: ignore[attr-defined]
        return cls

    return declare


def laws_of(cls: type) -> dict[str, str]:
    """The laws that a class and its bases declare."""
    return getattr(cls, "_saved_laws", {})
