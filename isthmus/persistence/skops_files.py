"""Models of format 1: the description of skops, put in the words of ``tree.py``.

Every node of skops names a loader and a type. Those that hold values are put in our words; a node
that would call anything is refused whatever it names. skops itself is not needed.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.persistence.archive import Archive
from isthmus.persistence.classes import CLASSES, FUNCTIONS, listed_name
from isthmus.persistence.errors import CorruptedFileError, UnsafeArchiveError, foreign
from isthmus.persistence.limits import DEEPEST, MOST_NODES, Budget
from isthmus.persistence.tree import Decoder

_VALUES = {
    "DictNode": ("builtins.dict",),
    "ListNode": ("builtins.list",),
    "TupleNode": ("builtins.tuple",),
    "SetNode": ("builtins.set",),
    "SliceNode": ("builtins.slice",),
    "JsonNode": ("builtins.str", "builtins.int", "builtins.float", "builtins.bool"),
    "MaskedArrayNode": ("numpy.ma.MaskedArray", "numpy.ma.core.MaskedArray"),
    "RandomStateNode": ("numpy.random.mtrand.RandomState", "numpy.random.RandomState"),
}
_PLAIN_TYPES = ("bool", "int", "float", "str", "object")


def load_archive(payload: bytes | memoryview, path: Any) -> Any:
    """The model of an archive of format 1."""
    translator = _Translator(Archive(payload, path), path)
    tree = translator.node(translator.archive.schema)
    return Decoder(translator.arrays, path, Budget(len(payload), path)).decode(tree)


class _Translator:
    def __init__(self, archive: Archive, path: Any) -> None:
        self.archive, self.path = archive, path
        self.arrays: list[NDArray] = []
        self._places: dict[str, int] = {}
        # By what skops calls their address, in the order in which they end.
        self._objects: dict[int, int] = {}
        self._n_objects = 0
        self._count = 0

    def node(self, node: Any, depth: int = 0) -> Any:
        self._count += 1
        if self._count > MOST_NODES or depth > 2 * DEEPEST:
            raise UnsafeArchiveError(f"{self.path} is refused: objects are nested too deeply.")
        if not isinstance(node, dict) or not isinstance(node.get("__loader__"), str):
            raise CorruptedFileError(
                f"{self.path} is corrupted: an object does not name its loader."
            )
        loader = node["__loader__"]
        address = node.get("__id__")
        if isinstance(address, int) and address in self._objects:
            return {"same": self._objects[address]}
        made = self._make(node, loader, depth + 1)
        if isinstance(address, int) and isinstance(made, dict) and "object" in made:
            self._objects[address] = self._n_objects - 1
        return made

    def _make(self, node: Any, loader: str, depth: int) -> Any:
        module = str(node.get("__module__"))
        last = str(node.get("__class__"))
        name = f"{module}.{last}"
        content = node.get("content")
        if name in _VALUES.get(loader, ()):
            return self._value(node, loader, depth)
        if loader == "NdArrayNode" and module == "numpy":
            return self._array(node, last, depth)
        if loader == "SparseMatrixNode" and module.startswith("scipy.sparse."):
            return self._sparse(node, last)
        if loader == "DTypeNode" and name == "numpy.dtype":
            empty = self.node(content, depth)
            return {"dtype": self.arrays[empty["array"]].dtype.str}
        if loader == "TypeNode" and module == "builtins" and last in _PLAIN_TYPES:
            return {"type": last}
        if loader == "TypeNode" and module == "numpy":
            return {"type": name}
        listed = listed_name(module, last)
        if loader == "FunctionNode" and listed in FUNCTIONS:
            return {"function": listed}
        if loader == "ObjectNode" and listed in CLASSES:
            state = None if content is None else self.node(content, depth)
            pairs = [] if state is None else state.get("dict") if isinstance(state, dict) else None
            if pairs is None or not all(isinstance(key, str) for key, _ in pairs):
                raise CorruptedFileError(f"{self.path} is corrupted: {name} has no state.")
            self._n_objects += 1
            return {"object": listed, "state": dict(pairs)}
        raise foreign(self.path, name)

    def _json(self, content: Any) -> Any:
        value = json.loads(content) if isinstance(content, str) else {}
        if isinstance(value, float) and not np.isfinite(value):
            return {"float": str(value)}
        if not isinstance(value, str | int | float | None):
            raise CorruptedFileError(f"{self.path} is corrupted: a value is missing.")
        return value

    def _items(self, content: Any, depth: int) -> list[Any]:
        if not isinstance(content, list):
            raise CorruptedFileError(f"{self.path} is corrupted: a list is invalid.")
        return [self.node(item, depth) for item in content]

    def _value(self, node: Any, loader: str, depth: int) -> Any:
        content = node.get("content")
        if loader == "JsonNode":
            return self._json(content)
        if loader == "ListNode":
            return self._items(content, depth)
        if loader == "TupleNode":
            return {"tuple": self._items(content, depth)}
        if loader == "SetNode":
            return {"set": self._items(content, depth)}
        if loader == "SliceNode":
            ends = [content[key] for key in ("start", "stop", "step")]
            return {"slice": [e if type(e) in (int, type(None)) else self.node(e) for e in ends]}
        if loader == "MaskedArrayNode":
            return self._masked(content, depth)
        if loader == "RandomStateNode":
            return self._random_state(content, depth)
        return self._dictionary(content, node, depth)

    def _dictionary(self, content: Any, node: Any, depth: int) -> Any:
        if not isinstance(content, dict):
            raise CorruptedFileError(f"{self.path} is corrupted: a dictionary is invalid.")
        kinds = self.node(node.get("key_types"), depth)
        items = zip(kinds, content.items(), strict=True)
        return {"dict": [[self._key(kind, key), self.node(v, depth)] for kind, (key, v) in items]}

    def _key(self, kind: Any, key: str) -> Any:
        """JSON has made text of all keys; the types say what they were."""
        name = kind.get("type") if isinstance(kind, dict) else None
        if name == "str":
            return key
        if name in ("int", "numpy.int64", "numpy.int32"):
            return int(key)
        if name == "float":
            return float(key)
        if name == "bool":
            return key in ("true", "True")
        raise CorruptedFileError(f"{self.path} is corrupted: a key of a dictionary is invalid.")

    def _masked(self, content: Any, depth: int) -> Any:
        data, mask = (self.node(content[key], depth) for key in ("data", "mask"))
        if "scalar" in mask:  # one truth value for all
            shape = self.arrays[data["array"]].shape if "array" in data else tuple(data["shape"])
            mask = {"array": self._new(np.full(shape, bool(self.arrays[mask["scalar"]])))}
        return {"masked": [data, mask, None]}

    def _random_state(self, content: Any, depth: int) -> Any:
        told = dict(self.node(content, depth)["dict"])
        inner = dict(told["state"]["dict"])
        return {
            "random_state": [inner["key"], inner["pos"], told["has_gauss"], float(told["gauss"])]
        }

    def _array(self, node: Any, last: str, depth: int) -> Any:
        if node.get("type") == "json":
            shape = self.node(node["shape"], depth)["tuple"]
            items = self._items(node["content"], depth)
            for _ in shape[1:]:  # rows in rows
                items = [inner for item in items for inner in item]
            return {"objects": items, "shape": shape}
        file = node.get("file")
        if file not in self._places:
            if file not in self.archive.arrays:
                raise CorruptedFileError(f"{self.path} is corrupted: an array is missing.")
            self._places[file] = self._new(self.archive.arrays[file])
        place = self._places[file]
        return {"array": place} if last == "ndarray" else {"scalar": place}

    def _new(self, array: NDArray) -> int:
        self.arrays.append(array)
        return len(self.arrays) - 1

    def _sparse(self, node: Any, last: str) -> Any:
        parts = self.archive.sparse.get(node.get("file"))
        if parts is None:
            raise CorruptedFileError(f"{self.path} is corrupted: a sparse matrix is missing.")
        places = [self._new(parts[f"{key}.npy"]) for key in ("data", "indices", "indptr")]
        shape = [int(n) for n in parts["shape.npy"]]
        return {"sparse": last, "parts": [{"array": place} for place in places], "shape": shape}
