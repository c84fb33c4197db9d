"""Imports point down the list of layers, never up and never sideways.

A room is a folder or a module directly under ``isthmus/``. Rooms of one layer do not know each
other; inside a room everything may import everything. Imports inside functions count too.
"""

import ast
import importlib
from functools import cache
from pathlib import Path

import pytest

import isthmus
from isthmus import _doors

PACKAGE = Path(isthmus.__file__).parent

LAYERS = [  # from the top down
    {"cli"},
    {"papers", "auto"},
    {"reports", "applications"},
    {"inspection", "dependency", "projections"},
    {"model_selection", "persistence", "compression", "features"},
    {"regression", "preimages", "expansion"},
    {"kernels", "losses", "_geometry", "_solvers", "problems", "datasets", "tables"},
    {"_linalg", "_validation", "_saved"},
    {"_doors"},
]
LEVEL = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}


def module_name(path):
    """The dotted name of a file of the package, ``isthmus.regression.pls``."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def parse(source):
    """Parse a text once: several tests read every module."""
    return ast.parse(source)


def room_of(name):
    """The room of a dotted name; the package itself is the room ``isthmus``, above all others."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 else parts[0]


def imported_names(source, module, is_package=False):
    """Yield ``(line, dotted name)`` for every import of the package's own modules."""
    for node in ast.walk(parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                up = node.level - is_package
                anchor = module.split(".")[: len(module.split(".")) - up]
                base = ".".join([*anchor, base] if base else anchor)
            # `from isthmus import _linalg` is an import of _linalg, `from isthmus import PLS` of
            # the package.
            rooms = [a.name for a in node.names if base == "isthmus" and a.name in LEVEL]
            others = len(rooms) < len(node.names)
            names = [f"isthmus.{room}" for room in rooms] + ([base] if others else [])
        elif isinstance(node, ast.Call):
            function = getattr(node.func, "attr", getattr(node.func, "id", None))
            first = node.args[0] if node.args else None
            dynamic = function in ("import_module", "__import__")
            names = [first.value] if dynamic and isinstance(first, ast.Constant) else []
        else:
            continue
        for name in names:
            if name.split(".")[0] == "isthmus":
                yield node.lineno, name


def violations(source, module, is_package=False):
    """List the imports of a module that do not point down."""
    here = room_of(module)
    if here == "isthmus":  # the package's own __init__ shows all names
        return []
    bad = []
    for line, name in imported_names(source, module, is_package):
        there = room_of(name)
        down = there in LEVEL and LEVEL[there] > LEVEL[here]
        if not (down or there == here):
            bad.append(f"{module}, line {line}: {here} must not import {name}")
    return bad


def read(module):
    return MODULES[module].read_text("utf-8")


def test_every_module_has_a_room():
    assert {room_of(module) for module in MODULES} - {"isthmus"} <= LEVEL.keys()


def test_imports_point_down():
    bad = []
    for module, path in MODULES.items():
        bad += violations(read(module), module, path.name == "__init__.py")
    assert bad == []


def test_few_names_are_public():
    """Loaders of data sets are apart: there is one for each set."""
    names = set()
    for room in LEVEL.keys() - {"datasets", "applications", "papers"}:
        if not room.startswith("_"):
            names |= set(getattr(importlib.import_module(f"isthmus.{room}"), "__all__", ()))
    assert len(names) <= 122


def test_there_are_few_layers():
    assert len(LAYERS) <= 10


FORMS = {
    "Form",
    "RowForm",
    "MomentForm",
    "GramForm",
    "SquaredForm",
    "GramProblem",
    "FeatureProblem",
}


def form_tests(source):
    """Yield the lines on which the class of a form is looked at."""
    for node in ast.walk(parse(source)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
            classes = {getattr(n, "id", getattr(n, "attr", "")) for n in ast.walk(node.args[1])}
            if classes & FORMS:
                yield node.lineno


def test_nobody_asks_which_form_a_problem_has():
    """A form answers what it is asked; callers do not look at its class."""
    bad = [f"{module}, line {line}" for module in MODULES for line in form_tests(read(module))]
    assert bad == []
    assert list(form_tests("x = 1\nisinstance(form, (int, RowForm))")) == [2]


def test_files_are_short():
    """A smaller limit cut files where they were full, not where an idea ends."""
    assert [module for module in MODULES if len(read(module).splitlines()) > 600] == []


def numbers(source):
    """Names of the numbers that a module holds, without their underscore."""
    for node in ast.parse(source).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        name = getattr(target, "id", "").lstrip("_")
        value = getattr(node, "value", None)
        parts = list(ast.walk(value)) if value is not None else []
        is_number = any(
            isinstance(p, ast.Constant) and type(p.value) in (int, float) for p in parts
        )
        plain = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop)
        if name.isupper() and is_number and all(isinstance(part, plain) for part in parts):
            yield name


def test_a_number_has_a_name_of_its_own():
    """Two numbers of one name are two ideas under one name, or one idea written twice."""
    homes = {}
    for module in MODULES:
        if not module.startswith(("isthmus.papers", "isthmus.applications")):
            for name in numbers(read(module)):
                homes.setdefault(name, []).append(module)
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}
    assert list(numbers("_A = 3\nB: float = -1e-3\nC = 2**20\nD = 'x'\nE = (1, 2)\nf = 4")) == list(
        "ABC"
    )


def is_file(name):
    """Whether a dotted name is a file inside a room; a room that is one file is its own door."""
    return name.count(".") > 1 and name in MODULES and MODULES[name].name != "__init__.py"


def deep_imports(source, module):
    """Yield the imports that name a file of another room in place of a package."""
    for node in ast.walk(parse(source)):
        named = []
        if isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            base = node.module or ""
            named = [base] if is_file(base) else [f"{base}.{alias.name}" for alias in node.names]
        for name in named:
            if is_file(name) and room_of(name) != room_of(module):
                yield node.lineno, name


def test_rooms_are_entered_by_their_doors():
    """Ask ``isthmus.<room>`` for the name, and enter it in the table of the room's ``__init__.py``."""
    bad = [(m, *found) for m in MODULES for found in deep_imports(read(m), m)]
    assert bad == []
    for source in (
        "from isthmus.kernels.products import Linear",
        "from isthmus.kernels import products",
        "import isthmus.kernels.graphs.graph",
    ):
        assert len(list(deep_imports(source, "isthmus.regression.pls"))) == 1
    assert not list(deep_imports("from isthmus.kernels.graphs import Graph", "isthmus.cli.fit"))


def test_stubs_are_those_of_the_doors():
    """Write them anew: ``python -m isthmus._doors``."""
    made = list(_doors.stubs())
    assert len(made) > 20
    assert [path for path, text in made if path.read_text("utf-8") != text] == []
    assert {path for path, _ in made} == set(PACKAGE.rglob("*.pyi"))


@pytest.mark.parametrize(
    "package", [name for name, path in MODULES.items() if path.stem == "__init__"]
)
def test_every_name_of_a_door_is_there(package):
    module = importlib.import_module(package)
    for name in _doors.HOMES.get(package, ()):
        assert getattr(module, name) is not None and name in dir(module)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        module.nothing  # noqa: B018


def test_rooms_are_in_one_layer_only():
    assert len(LEVEL) == sum(len(rooms) for rooms in LAYERS)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("isthmus._linalg", "import isthmus.problems.sums"),
        ("isthmus._linalg", "import numpy, isthmus.problems.sums as m"),
        ("isthmus._linalg", "from . import problems"),
        ("isthmus._linalg", "from isthmus import _validation"),
        ("isthmus._linalg", "import isthmus"),
        ("isthmus.problems.sums", "def f():\n    from isthmus.regression import PLS"),
        (
            "isthmus.problems.sums",
            "import importlib\nimportlib.import_module('isthmus.regression')",
        ),
        ("isthmus.problems.sums", "from isthmus import PLS"),
        ("isthmus.problems.sums", "from isthmus import _linalg, PLS"),
        ("isthmus.problems.sums", "from isthmus.kernels import rbf"),
        ("isthmus.problems.sums", "from isthmus.nowhere import f"),
        ("isthmus.datasets.generators", "from isthmus.problems.sums import Moments"),
        ("isthmus.losses.squared", "from isthmus._geometry.stiefel import retract"),
        ("isthmus.regression.pls", "from ..projections import sir"),
        ("isthmus.regression.pls", "from isthmus.model_selection import ComponentSearchCV"),
        ("isthmus.inspection", "if True:\n    from isthmus.reports import write_report"),
    ],
)
def test_a_bad_import_is_caught(module, source):
    assert len(violations(source, module)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("isthmus._linalg", "import numpy\nfrom sklearn.base import clone"),
        ("isthmus.problems.sums", "from isthmus import _linalg, _validation"),
        ("isthmus.problems.missing", "from isthmus.problems.sums import Moments"),
        ("isthmus.datasets.generators", "from isthmus._linalg import f"),
        ("isthmus.regression.pls", "from .base import LinearMap\nfrom isthmus.regression import x"),
        ("isthmus.regression.pls", "from ..problems import Moments\nimport isthmus.losses.squared"),
        ("isthmus.cli.main", "from isthmus.model_selection import ComponentSearchCV"),
        ("isthmus", "from isthmus.cli import app"),
    ],
)
def test_a_good_import_passes(module, source):
    assert violations(source, module) == []


def test_relative_imports_of_a_package_start_in_it():
    source = "from . import pls\nfrom ..kernels import rbf\nfrom .. import features"
    found = [name for _, name in imported_names(source, "isthmus.regression", is_package=True)]
    assert found == ["isthmus.regression", "isthmus.kernels", "isthmus.features"]


def own_checks(source):
    """Yield the lines that import a check of arrays from scikit-learn."""
    for node in ast.walk(parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sklearn"):
            if {"check_array", "validate_data"} & {alias.name for alias in node.names}:
                yield node.lineno


def test_arrays_are_checked_at_one_door():
    """scikit-learn's own checks would gather a Dask collection in silence."""
    others = MODULES.keys() - {"isthmus._validation"}
    assert [module for module in others if list(own_checks(read(module)))] == []
    assert list(own_checks("from sklearn.utils import check_array")) == [1]


# Sets attributes of an object that a caller hands in, as scikit-learn asks for. All others return what they
# find.
MAY_SET_ATTRIBUTES = {"isthmus.features.samples.set_kernel_tags"}


def is_any(annotation):
    return getattr(annotation, "id", "") == "Any"


def attribute_setters(source):
    """Yield functions that assign to an attribute of a parameter whose class is not known."""
    for function in ast.walk(parse(source)):
        if not isinstance(function, ast.FunctionDef):
            continue
        arguments = function.args.args + function.args.kwonlyargs
        unknown = {a.arg for a in arguments if not a.annotation or is_any(a.annotation)}
        for node in ast.walk(function):
            targets = getattr(node, "targets", [getattr(node, "target", None)])
            for target in targets if isinstance(node, ast.Assign | ast.AugAssign) else ():
                for part in getattr(target, "elts", [target]):
                    owner = getattr(getattr(part, "value", None), "id", None)
                    if isinstance(part, ast.Attribute) and owner in unknown - {"self", "cls"}:
                        yield function.name


def test_attributes_are_set_where_their_class_is():
    """A function that sets attributes of ``model: Any`` is a method in disguise."""
    found = {f"{module}.{name}" for module in MODULES for name in attribute_setters(read(module))}
    assert found == MAY_SET_ATTRIBUTES


def test_a_disguised_method_is_caught():
    bad = "def f(model: Any):\n    model.coef_, model.n_iter_ = 1, 2\n"
    good = "class A:\n    def f(self, other: A):\n        self.x = other.x = 1\n"
    assert set(attribute_setters(bad)) == {"f"}
    assert set(attribute_setters(good)) == set()
