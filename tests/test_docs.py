"""What the documents say is true: names resolve, paths exist, examples run, citations are known."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import isthmus

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
MODULES = sorted(
    ["isthmus", *(m.name for m in pkgutil.walk_packages(isthmus.__path__, prefix="isthmus."))]
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def public_names():
    """Yield ``(module, name)`` for every ``__all__`` of the package and its modules."""
    for module in MODULES:
        if not any(part.startswith("_") for part in module.split(".")):
            for name in getattr(importlib.import_module(module), "__all__", []):
                yield module, name


def table(text):
    """The rows of the tables of names: ``(names, file)`` from their first two cells."""
    rows = re.findall(r"^\|([^|]+)\|[^|`]*`(isthmus/[\w/]+\.py)`", text, flags=re.MULTILINE)
    return [(re.findall(r"`([^`]+)`", names), path) for names, path in rows]


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


PYTHON_BLOCKS = list(blocks(README, "python"))
TABLE = table(README)


@pytest.mark.parametrize(("module", "name"), list(public_names()))
def test_public_names_resolve_and_are_in_the_readme(module, name):
    assert hasattr(importlib.import_module(module), name), f"{module}.__all__ promises {name}"
    if name != "__version__":
        listed = {name for names, _ in TABLE for name in names}
        assert name in listed, f"{module}.{name} is missing from the README's table"


def test_public_names_are_listed_once():
    names = list(isthmus.__all__)
    assert names and len(names) == len(set(names))


@pytest.mark.parametrize(("names", "path"), TABLE, ids=[path for _, path in TABLE])
def test_table_names_live_in_the_file_of_their_row(names, path):
    module = importlib.import_module(path.removesuffix(".py").replace("/", "."))
    assert [name for name in names if not hasattr(module, name)] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_paths_exist(document):
    paths = mentioned_paths(document.read_text("utf-8"))
    places = (document.parent, ROOT, ROOT / "isthmus")
    missing = [path for path in paths if not any((place / path).exists() for place in places)]
    assert not missing


@pytest.mark.parametrize(
    "code",
    [pytest.param(code, id=f"line {line}") for line, code in PYTHON_BLOCKS],
)
def test_readme_examples_run(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # an example that writes a file leaves no trace
    exec(compile(code, "README.md", "exec"), {"__name__": "readme"})


def test_the_readme_has_examples():
    assert len(PYTHON_BLOCKS) >= 3


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
