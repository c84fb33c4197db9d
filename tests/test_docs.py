"""What the documents say is true: names resolve, paths exist, examples run, citations are known."""

import ast
import doctest
import functools
import importlib
import inspect
import pkgutil
import re
from collections import Counter
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline

import isthmus
from isthmus.persistence.errors import ForeignTypeError

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
MODULES = sorted(
    ["isthmus", *(m.name for m in pkgutil.walk_packages(isthmus.__path__, prefix="isthmus."))]
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


ROOMS = sorted(
    ["isthmus", *(m.name for m in pkgutil.iter_modules(isthmus.__path__, prefix="isthmus."))]
)
PLAIN = [
    room.removeprefix("isthmus.")
    for room in ROOMS
    if room != "isthmus" and hasattr(importlib.import_module(room), "__all__") and "._" not in room
]
VERBS = {"Check", "Choose", "Combine", "Compare", "Compute", "Describe", "Find", "Iterate", "Join", "Learn",
         "Load", "Make", "Map", "Minimise", "Place", "Predict", "Read", "Return", "Search", "Simulate",
         "Test", "Write", "Yield"}  # fmt: skip
VAGUE = {"As", "How", "Of", "That", "What", "Where", "Whether"}
LONGEST_README = 7_000
"""Bytes; a front page is not a manual."""


def public_names():
    """Yield ``(room, name)`` for the ``__all__`` of the package and of each of its rooms."""
    for room in ROOMS:
        for name in getattr(importlib.import_module(room), "__all__", []):
            yield room, name


def mentioned_paths(text):
    """The files of this repository that a document links to or names in code words."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose)
    words = re.findall(r"`([\w./-]+/[\w./-]*|[\w-]+\.(?:py|md|toml|bib|cff))`", prose)
    return {path for path in links + words if "://" not in path}


def blocks(text, language):
    """Yield ``(line, code)`` of the fenced blocks of one language."""
    for match in re.finditer(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, match.start(1)) + 1, match.group(1)


PYTHON_BLOCKS = [
    pytest.param(code, id=f"{name} line {line}")
    for name in ("README.md", "docs/guide.md")
    for line, code in blocks((ROOT / name).read_text("utf-8"), "python")
]


@pytest.mark.parametrize("room", ROOMS)
def test_public_names_resolve_and_are_explained(room):
    module = importlib.import_module(room)
    names = getattr(module, "__all__", [])
    assert sorted(set(names)) == sorted(names), f"{room}.__all__ lists a name twice"
    missing = [name for name in names if not hasattr(module, name)]
    assert not missing, f"{room}.__all__ promises {missing}"
    things = {name: getattr(module, name) for name in names}
    silent = [name for name, thing in things.items() if callable(thing) and not thing.__doc__]
    assert not silent, f"without a docstring: {silent}"


@pytest.mark.parametrize("room", PLAIN)
def test_docstrings_begin_with_a_verb_or_a_noun(room):
    """A function says what it does; a class that, or what it is."""
    module = importlib.import_module(f"isthmus.{room}")
    for name in module.__all__:
        thing = getattr(module, name)
        first = inspect.getdoc(thing).split()[0]
        if inspect.isfunction(thing):
            assert first in VERBS, f"{name}: a docstring begins with a verb, not with {first!r}"
        assert first not in VAGUE, f"{name}: {first!r} says neither what it does nor what it is"


def test_the_readme_stays_small_and_promises_no_files():
    assert len(README.encode()) <= LONGEST_README
    assert not re.findall(r"`isthmus/[\w/]+\.py`", README)


def test_the_first_screen_names_the_papers():
    """All five by the titles of the bibliography, above the first heading of a section."""
    first = " ".join(README.partition("\n## ")[0].split()).lower()
    text = (ROOT / "docs" / "references.bib").read_text("utf-8").replace("{", "").replace("}", "")
    for key in ("BGFS2004", "B2006", "KP2008", "YYT2005", "CSGHY"):
        title = re.search(rf"@\w+{key},.*?title\s*= (.*?),\n", text, re.DOTALL).group(1)
        assert title.lower() in first, title


def test_the_share_of_constructor_arguments_without_a_type_is_that_of_the_readme():
    """About a fifth; and those that CONTRIBUTING.md names are the most frequent ones."""
    kinds = []
    for path in (ROOT / "isthmus").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name == "__init__":
                given = [*node.args.args[1:], *node.args.kwonlyargs]
                kinds += [(one.arg, ast.unparse(one.annotation or ast.Pass())) for one in given]
    loose = Counter(name for name, kind in kinds if kind == "Any")
    assert "pass" not in {kind for _, kind in kinds}
    assert 0.15 < sum(loose.values()) / len(kinds) < 0.25
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    named = re.search(r"scikit-learn's do \((.*?)\)", text, re.DOTALL).group(1)
    assert set(re.findall(r"`(\w+)`", named)) >= {name for name, _ in loose.most_common(5)}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_paths_exist(document):
    paths = mentioned_paths(document.read_text("utf-8"))
    places = (document.parent, ROOT, ROOT / "isthmus")
    missing = [path for path in paths if not any((place / path).exists() for place in places)]
    assert not missing


# What examples fit that no file may hold: compiled code of others, and classes that an example defines.
UNSAVED = ("KNeighborsRegressor", "generator.Endings")


@pytest.fixture
def saves_what_is_fitted(tmp_path, monkeypatch):
    """Models and searches that an example fits, with its arguments, are saved and loaded after it."""
    public = {getattr(importlib.import_module(room), name) for room, name in public_names()}
    public = {c for c in public if isinstance(c, type) and issubclass(c, BaseEstimator)}
    running, fitted = [], []

    def recorded(fit):
        @functools.wraps(fit)
        def fit_and_keep(self, *args, **options):
            running.append(self)
            try:
                found = fit(self, *args, **options)
            finally:
                running.pop()
            if not running:
                fitted.append(self)
            return found

        return fit_and_keep

    homes = {base for c in public for base in c.__mro__ if "fit" in vars(base)}
    for home in homes | {BaseSearchCV, Pipeline}:
        monkeypatch.setattr(home, "fit", recorded(vars(home)["fit"]))
    yield fitted
    for model in fitted:
        try:
            isthmus.save(model, tmp_path / "fitted.isthmus")
        except ForeignTypeError as error:
            assert any(name in str(error) for name in UNSAVED), error
        else:
            assert type(isthmus.load(tmp_path / "fitted.isthmus")) is type(model)


def test_the_search_of_the_front_page_is_saved(saves_what_is_fitted):
    code = next(code for _, code in blocks(README, "python") if "ComponentSearchCV" in code)
    exec(compile(code, "example", "exec"), {"__name__": "example"})
    assert "ComponentSearchCV" in {type(model).__name__ for model in saves_what_is_fitted}


@pytest.mark.usefixtures("saves_what_is_fitted")
@pytest.mark.parametrize("code", PYTHON_BLOCKS)
def test_printed_examples_run(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # an example that writes a file leaves no trace
    exec(compile(code, "example", "exec"), {"__name__": "example"})


def test_the_front_page_and_the_guide_have_examples():
    assert len(list(blocks(README, "python"))) >= 2
    assert len(PYTHON_BLOCKS) >= 14


@pytest.mark.usefixtures("saves_what_is_fitted")
@pytest.mark.parametrize("module", MODULES)
def test_docstring_examples_run(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, _ = doctest.testmod(importlib.import_module(module), optionflags=FLAGS)
    assert failed == 0, "the differences are printed above"


@pytest.mark.parametrize("module", MODULES)
def test_citations_are_in_the_bibliography(module):
    known = re.findall(r"^@\w+\{([^,]+),", (ROOT / "docs/references.bib").read_text("utf-8"), re.M)
    assert len(known) == len(set(known))
    source = Path(importlib.import_module(module).__file__).read_text("utf-8")
    cited = set(re.findall(r"\[([A-Za-z]+\d*[a-z]?)\]_", source))
    assert cited <= set(known)
