"""A model as JSON and arrays, and back.

===================================== ===========================================================
in the file                           what it is
===================================== ===========================================================
``null true 1 1.5 "text" [...]``      None, bool, int, float, str, list
``{"float": "nan"}``                  a float that JSON has no word for
``{"tuple": [...]}``                  also ``set``, ``slice``, ``range``
``{"dict": [[key, value], ...]}``     a dictionary; keys and what is in sets are texts or integers
``{"array": 3}``                      the third array; ``scalar``: its only item
``{"objects": [...], "shape": []}``   an array of Python objects
``{"masked": [data, mask, fill]}``    a masked array
``{"sparse": kind, "parts": [...]}``  data, indices and pointers of a CSR or CSC matrix
``{"dtype": "<f8"}``                  a type of numpy; ``{"type": "float64"}``: of its scalars
``{"random_state": [...]}``           a generator of numpy
``{"function": name}``                a function of ``classes.py``
``{"object": name, "state": {...}}``  an object of a class of ``classes.py``
``{"same": 3}``                       the third object once more
===================================== ===========================================================

An object is made without calling its constructor, and its state set. Nothing else is called. ``n_jobs`` and
``memory`` of an object are None.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import KFold

from isthmus.persistence import classes, errors
from isthmus.persistence.classes import CLASSES, FUNCTIONS, find_listed, name_of
from isthmus.persistence.errors import CorruptedFileError, ForeignTypeError, UnsafeArchiveError
from isthmus.persistence.laws import check_odd, check_state, cost_of_checks
from isthmus.persistence.limits import DEEPEST, MOST_NODES, Budget, are_keys, array_size, odd_values

_SPARSE = {
    kind.__name__: kind
    for kind in (sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array, sparse.csc_array)
}
_NUMBERS = "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
_TYPES = {t.__name__: t for t in (bool, int, float, str, object)}
_TYPES |= {f"numpy.{name}": getattr(np, name) for name in _NUMBERS}
_TYPES["sklearn.model_selection.KFold"] = KFold  # which RepeatedKFold keeps
_TYPE_NAMES = {t: name for name, t in _TYPES.items()}
_ODD = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_LARGEST_INT = 2**130  # no model counts so far
# Length of the state of MT19937.
_TWISTER_WORDS = 624
_SCALARS = (type(None), bool, str)
# What belongs to the machine of the fit: how many processes, and a folder.
_OF_MACHINE = ("n_jobs", "memory")
_OBJECT = 1000  # bytes of an object besides its attributes
# What takes as long to build as so many bytes elsewhere: sparse matrices, masked arrays, random states.
_SLOW = 2**15
_COLLECTIONS: dict[str, Any] = {"tuple": tuple, "set": set}


class Encoder:
    """From objects to JSON; ``arrays`` collects what JSON points to."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.arrays: list[NDArray] = []
        self.left_out: set[str] = set()
        self._array_places: dict[int, int] = {}
        self._objects: dict[int, int] = {}
        self._kept: list[Any] = []  # as long as their addresses are names
        self._path: list[str] = []

    def encode(self, value: Any) -> Any:
        kind = type(value)
        if kind in _SCALARS:
            return value
        if kind is int:
            if abs(value) < _LARGEST_INT:
                return value
            raise self._foreign("an integer of too many digits")
        if kind is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if len(self._path) > DEEPEST:
            raise self._foreign("objects are nested too deeply")
        if kind is list:
            return self._all(value)
        if kind in (set, dict) and not are_keys(value):
            raise self._foreign(
                "keys that are neither texts nor small integers, or too many of them"
            )
        if kind in _COLLECTIONS.values():
            items = value if kind is tuple else sorted(value, key=repr)
            return {kind.__name__: self._all(items)}
        if kind is dict:
            return {"dict": [[self.encode(k), self._at(f"[{k!r}]", v)] for k, v in value.items()]}
        return self._rest(value)

    def _rest(self, value: Any) -> Any:
        kind = type(value)
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, np.generic):
            return {"scalar": self._place(np.asarray(value))}
        if kind in (slice, range):
            return {kind.__name__: self._all([value.start, value.stop, value.step])}
        if kind.__name__ in _SPARSE and kind is _SPARSE[kind.__name__]:
            parts = [value.data, value.indices, value.indptr]
            return {
                "sparse": kind.__name__,
                "parts": self._all(parts),
                "shape": list(map(int, value.shape)),
            }
        if isinstance(value, np.dtype):
            array_size(value.str, [], self.what)
            return {"dtype": value.str}
        if isinstance(value, np.random.RandomState):
            return self._random_state(value)
        if isinstance(value, type) and value in _TYPE_NAMES:
            return {"type": _TYPE_NAMES[value]}
        return self._object(value)

    def _object(self, value: Any) -> Any:
        if id(value) in self._objects:
            return {"same": self._objects[id(value)]}
        if classes.is_function(value) and name_of(value) in FUNCTIONS:
            return {"function": name_of(value)}
        name = name_of(type(value))
        if name not in CLASSES:
            raise self._foreign(classes.full_name(value))
        state = value.__getstate__()
        if state is not None and type(state) is not dict:
            raise self._foreign(f"{classes.full_name(value)} with a state that is not a dictionary")
        coded = {}
        for key, item in (state or {}).items():
            if key in _OF_MACHINE and item is not None:
                self.left_out.add(key)
                item = None
            coded[key] = self._at(f".{key}", item)
        self._kept.append(value)
        self._objects[id(value)] = len(self._objects)
        return {"object": name, "state": coded}

    def _array(self, value: NDArray) -> Any:
        if type(value) is np.ma.MaskedArray:
            mask = np.ma.getmaskarray(value)
            return {"masked": self._all([value.data, mask, value.fill_value])}
        if type(value) not in (np.ndarray, np.memmap):
            raise self._foreign(classes.full_name(value))
        if value.dtype == object:
            return {"objects": self._all(list(value.ravel())), "shape": list(value.shape)}
        return {"array": self._place(value)}

    def _place(self, array: NDArray) -> int:
        if id(array) not in self._array_places:
            try:
                array_size(array.dtype.str, list(array.shape), self.what)
            except UnsafeArchiveError:
                raise self._foreign(f"an array of type {array.dtype}") from None
            self._kept.append(array)
            self._array_places[id(array)] = len(self.arrays)
            self.arrays.append(array)
        return self._array_places[id(array)]

    def _random_state(self, value: np.random.RandomState) -> Any:
        told = value.get_state(legacy=False)
        if told["bit_generator"] != "MT19937":
            raise self._foreign(classes.full_name(value))
        words = told["state"]["key"], int(told["state"]["pos"])
        return {"random_state": self._all([*words, int(told["has_gauss"]), float(told["gauss"])])}

    def _all(self, values: Any) -> list[Any]:
        return [self._at(f"[{k}]", value) for k, value in enumerate(values)]

    def _at(self, step: str, value: Any) -> Any:
        self._path.append(step)
        coded = self.encode(value)
        self._path.pop()
        return coded

    def _foreign(self, held: str) -> ForeignTypeError:
        place = "".join(self._path[:8]).lstrip(".")
        where = f" in {place}" if place else ""
        return ForeignTypeError(
            f"{self.what} cannot be saved: it holds {held}{where}, which a file cannot; "
            "isthmus/persistence/classes.py lists what it can."
        )


class Decoder:
    """From JSON to objects, each checked before it is built."""

    def __init__(self, arrays: list[NDArray], what: Any, budget: Budget) -> None:
        self.what = what
        self._budget = budget
        # Which of NaN and infinite values an array has, and what has been built since this was last set.
        self._odd_arrays = [odd_values(array) for array in arrays]
        self._odd: set[str] = set()
        self._given = arrays
        self._objects: list[Any] = []
        self._sizes: list[int] = []
        self._count = 0

    def decode(self, node: Any, depth: int = 0) -> Any:
        self._count_values(1)
        if depth > DEEPEST:
            raise UnsafeArchiveError(f"{self.what} is refused: objects are nested too deeply.")
        if type(node) in (type(None), bool, float):
            return node
        if type(node) is int:
            if abs(node) < _LARGEST_INT:
                return node
            raise self._bad()
        if type(node) is str:
            node.encode()  # halves of characters are no text
            return node
        if type(node) is list:
            return [self.decode(item, depth + 1) for item in node]
        if type(node) is not dict or not node:
            raise self._bad()
        kind = next(iter(node))
        build = getattr(self, f"_build_{kind}", None) if kind in _BUILT else None
        if build is None or len(node) != _BUILT[kind]:
            raise self._bad()
        return build(node, depth + 1)

    def _count_values(self, more: int) -> None:
        self._count += more
        if self._count > MOST_NODES:
            raise UnsafeArchiveError(
                f"{self.what} is refused: it describes more than {MOST_NODES} values."
            )

    def _bad(self, why: str = "an object is described in an unknown way") -> CorruptedFileError:
        return CorruptedFileError(f"{self.what} is corrupted: {why}.")

    def _items(self, node: Any, depth: int, n: int | None = None) -> list[Any]:
        if type(node) is not list or n not in (None, len(node)):
            raise self._bad()
        return [self.decode(item, depth) for item in node]

    def _arrays(self, node: Any, depth: int, n: int) -> list[NDArray]:
        items = self._items(node, depth, n)
        if not all(type(item) is np.ndarray and item.dtype != object for item in items):
            raise self._bad()
        return items

    def _build_float(self, node: Any, depth: int) -> float:
        value = _ODD[node["float"]]
        self._odd |= odd_values(np.asarray(value))
        return value

    def _build_collection(self, node: Any, depth: int) -> Any:
        ((kind, coded),) = node.items()
        items = self._items(coded, depth)
        if kind == "set":
            self._check_keys(items)
        return _COLLECTIONS[kind](items)

    _build_tuple = _build_set = _build_collection

    def _check_keys(self, keys: list[Any]) -> None:
        if not are_keys(keys):
            raise self._bad("keys are neither texts nor small integers, or too many")

    def _build_slice(self, node: Any, depth: int) -> Any:
        ((kind, parts),) = node.items()
        return (slice if kind == "slice" else range)(*self._items(parts, depth, 3))

    _build_range = _build_slice

    def _build_dict(self, node: Any, depth: int) -> dict[Any, Any]:
        if type(node["dict"]) is not list:
            raise self._bad()
        pairs = [self._items(pair, depth, 2) for pair in node["dict"]]
        self._check_keys([key for key, _ in pairs])
        return dict(pairs)

    def _build_array(self, node: Any, depth: int) -> NDArray:
        place = node["array"]
        if type(place) is not int or place < 0:
            raise self._bad()
        if place >= len(self._given):
            raise self._bad("an array is missing")
        self._odd |= self._odd_arrays[place]
        return self._given[place]

    def _build_scalar(self, node: Any, depth: int) -> Any:
        array = self._build_array({"array": node["scalar"]}, depth)
        if array.shape != ():
            raise self._bad()
        self._budget.spend(2 * array.nbytes)
        return array[()]

    def _build_objects(self, node: Any, depth: int) -> NDArray:
        items, shape = self._items(node["objects"], depth), node["shape"]
        array_size("<f8", shape, self.what)
        if math.prod(shape) != len(items):
            raise self._bad("an array of objects has the wrong number of them")
        array = np.empty(len(items), dtype=object)
        for k, item in enumerate(items):
            array[k] = item
        return array.reshape(shape)

    def _build_masked(self, node: Any, depth: int) -> Any:
        data, mask, fill = self._items(node["masked"], depth, 3)
        if type(data) is not np.ndarray or type(mask) is not np.ndarray or mask.dtype != bool:
            raise self._bad()
        if data.shape != mask.shape:
            raise self._bad("a mask differs in shape from its array")
        self._budget.spend(_SLOW + data.nbytes + mask.nbytes + data.itemsize)
        return np.ma.MaskedArray(data, mask, fill_value=fill)

    def _build_sparse(self, node: Any, depth: int) -> Any:
        data, indices, pointers = self._arrays(node["parts"], depth, 3)
        shape, kind = node["shape"], _SPARSE.get(node["sparse"])
        array_size("<f8", shape, self.what)
        if kind is None or len(shape) != 2 or data.dtype.kind not in "biufc":
            raise self._bad()
        self._budget.spend(_SLOW + 2 * (data.nbytes + indices.nbytes + pointers.nbytes))
        major, minor = shape if "csr" in node["sparse"] else shape[::-1]
        if not (
            data.ndim == indices.ndim == pointers.ndim == 1
            and indices.dtype.str[1:] in ("i4", "i8") and pointers.dtype == indices.dtype
            and len(pointers) == major + 1 and len(data) == len(indices) == pointers[-1]
            and pointers[0] == 0 and (np.diff(pointers) >= 0).all()
            and (len(indices) == 0 or (indices.min() >= 0 and indices.max() < minor))
        ):  # fmt: skip
            raise self._bad("indices of a sparse matrix point outside of it")
        return kind((data, indices, pointers), shape=tuple(shape))

    def _build_dtype(self, node: Any, depth: int) -> Any:
        array_size(node["dtype"], [], self.what)
        return np.dtype(node["dtype"])

    def _build_type(self, node: Any, depth: int) -> Any:
        return _TYPES[node["type"]]

    def _build_random_state(self, node: Any, depth: int) -> Any:
        words, position, has_gauss, gauss = self._items(node["random_state"], depth, 4)
        is_state = type(words) is np.ndarray and words.dtype == np.uint32
        if not is_state or words.shape != (_TWISTER_WORDS,) or type(gauss) is not float:
            raise self._bad()
        is_inside = type(position) is int and 0 <= position <= _TWISTER_WORDS
        if not is_inside or has_gauss not in (0, 1):
            raise self._bad("the position of a random generator is outside of its state")
        self._budget.spend(_SLOW)
        made = np.random.RandomState(0)
        made.set_state(("MT19937", words, position, has_gauss, gauss))
        return made

    def _build_function(self, node: Any, depth: int) -> Any:
        if node["function"] not in FUNCTIONS:
            raise errors.foreign(self.what, node["function"])
        return find_listed(node["function"])

    def _build_same(self, node: Any, depth: int) -> Any:
        place = node["same"]
        if type(place) is not int or not 0 <= place < len(self._objects):
            raise self._bad("it points to an object that is not there yet")
        self._count_values(self._sizes[place])
        return self._objects[place]

    def _build_object(self, node: Any, depth: int) -> Any:
        name, coded = node["object"], node["state"]
        if type(name) is not str or name not in CLASSES:
            raise errors.foreign(self.what, name)
        cls, before = find_listed(name), self._count
        if type(coded) is not dict:
            raise self._bad()
        odd_before, state = self._odd, {}
        for key, item in coded.items():
            # A method of that name would be hidden by it.
            if not key.isidentifier() or key.startswith("__") or callable(getattr(cls, key, None)):
                raise self._bad(f"{name} has no attribute {key[:60]!r}")
            if key in _OF_MACHINE and item is not None:
                raise self._bad(f"{name}.{key} is not None")
            self._odd = set()
            state[key] = self.decode(item, depth)
            check_odd(cls, key, self._odd, f"{self.what}: {cls.__name__}.{key}")
        self._odd = odd_before
        self._budget.spend(_OBJECT + cost_of_checks(cls, state))
        check_state(cls, state, f"{self.what}: {cls.__name__}")
        made = cls.__new__(cls)
        # scikit-learn checks its version there.
        getattr(made, "__setstate__", made.__dict__.update)(state)
        self._objects.append(made)
        self._sizes.append(self._count - before)
        return made


# Kinds of nodes, and how many words each has.
_BUILT = dict.fromkeys(
    ("float tuple set slice range dict array scalar masked dtype type random_state "
     "function same").split(), 1
) | {"objects": 2, "object": 2, "sparse": 3}  # fmt: skip
