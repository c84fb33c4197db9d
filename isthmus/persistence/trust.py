"""Which types may be in a model file."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from isthmus.persistence.errors import CorruptedFileError, ForeignTypeError

# Loaders of skops that build values, and what each may build. Others call functions (partial,
# methods, operators, constructors with arguments) and are refused whatever they name.
_VALUES = {
    "DictNode": ("builtins.dict", "collections.OrderedDict", "sklearn.utils._bunch.Bunch"),
    "ListNode": ("builtins.list",),
    "TupleNode": ("builtins.tuple",),
    "SetNode": ("builtins.set",),
    "SliceNode": ("builtins.slice",),
    "BytesNode": ("builtins.bytes",),
    "BytearrayNode": ("builtins.bytearray",),
    "JsonNode": ("builtins.str", "builtins.int", "builtins.float", "builtins.bool"),
    "MaskedArrayNode": ("numpy.ma.MaskedArray", "numpy.ma.core.MaskedArray"),
    "RandomStateNode": ("numpy.random.mtrand.RandomState", "numpy.random.RandomState"),
}
# Names that skops checks against lists of its own.
_LEFT_TO_SKOPS = {
    "NdArrayNode": "numpy.",
    "DTypeNode": "numpy.",
    "RandomGeneratorNode": "numpy.random.",
    "TreeNode": "sklearn.tree.",
}
_SPARSE = re.compile(r"scipy\.sparse\._(\w{3})\.\1_(matrix|array)")
_KEYS = ("builtins.str", "builtins.int", "builtins.float", "builtins.bool", "builtins.NoneType")
# Rooms whose classes are no part of a fitted model.
_NO_MODELS = ("isthmus.cli", "isthmus.reports", "isthmus.plotting", "isthmus.persistence")


def trusted_types(schema: dict[str, Any], path: Any) -> list[str]:
    """Names that skops is to trust beyond its own; refuses the file if it asks for any other.

    Only modules of isthmus and scikit-learn are imported here, and only classes defined in them
    pass: a name that such a module merely uses, ``os`` say, does not.
    """
    trusted, foreign = set(), set()
    for node in _nodes(schema, path):
        loader = str(node["__loader__"])
        name = f"{node.get('__module__')}.{node.get('__class__')}"
        if loader == "CachedNode":
            continue
        if _is_value(loader, name):
            if (
                loader == "SparseMatrixNode"
            ):  # skops asks for these by name; they are read as arrays
                trusted.add(name)
            continue
        if _is_ours(loader, str(node.get("__module__")), str(node.get("__class__"))):
            trusted.add(name)
        else:
            foreign.add(name)
    if foreign:
        names = ", ".join(sorted(foreign)[:5])
        raise ForeignTypeError(
            f"{path} is refused: it asks for {names}; only types of isthmus and scikit-learn are "
            "built from a file."
        )
    return sorted(trusted)


def _nodes(schema: Any, path: Any) -> Iterator[dict[str, Any]]:
    """Every described object, however deep, without recursion."""
    stack = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            if "__loader__" in node:
                yield node
            elif "__class__" in node or "__module__" in node:
                raise CorruptedFileError(f"{path} is corrupted: an object says not how it is read.")
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)


def _is_value(loader: str, name: str) -> bool:
    if loader == "TypeNode":
        return name in _KEYS or name.startswith("numpy.")
    if loader == "SparseMatrixNode":
        return _SPARSE.fullmatch(name) is not None
    if loader in _LEFT_TO_SKOPS:
        return name.startswith(_LEFT_TO_SKOPS[loader])
    return name in _VALUES.get(loader, ())


def _is_ours(loader: str, module: str, name: str) -> bool:
    room = module.split(".")[0]
    if room not in ("isthmus", "sklearn") or module.startswith(_NO_MODELS) or "." in name:
        return False
    if loader not in ("ObjectNode", "TypeNode", "FunctionNode", "TupleNode"):
        return False
    try:
        found = getattr(import_module(module), name)
    except Exception:  # a name that does not exist, or a module that cannot be imported
        return False
    if getattr(found, "__module__", None) != module or getattr(found, "__name__", None) != name:
        return False
    if loader == "FunctionNode":  # what a scorer holds: functions of arrays
        return inspect.isfunction(found) and module.startswith("sklearn.metrics.")
    if loader == "TupleNode":
        return inspect.isclass(found) and issubclass(found, tuple)
    return inspect.isclass(found)
