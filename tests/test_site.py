"""The pages of the site: their links lead somewhere, their code runs, what is generated is complete."""

import ast
import importlib
import re
import sys
from functools import cache
from pathlib import Path

import pytest

import isthmus

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "_extensions"))
import generated_pages  # noqa: E402

PAGES = sorted(DOCS.rglob("*.md"))
PAGES = [page for page in PAGES if not {"generated", "gallery"} & set(page.relative_to(DOCS).parts)]
SHOWN = {"generated/gallery", "generated/benchmarks", "generated/changelog", "generated/literature"}
ROOMS = generated_pages.public_rooms()
WITH_CODE = [
    "coming_from.md",
    "treatments.md",
    *(f"tutorials/{p.name}" for p in DOCS.glob("tutorials/*.md")),
]


def is_page(target, page):
    """Whether a relative address without its ending is a page of the built site."""
    path = (page.parent / target).resolve()
    if path.is_relative_to(DOCS) and path.relative_to(DOCS).as_posix() in SHOWN | {"generated/api"}:
        return True
    room = re.fullmatch(r"api_(\w+)", path.name)
    if path.parent == DOCS / "generated" and room:
        return room.group(1) in {name.replace(".", "_") for name in ROOMS}
    return path.with_suffix(".md").exists()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_links_lead_to_pages_and_names(page):
    text = page.read_text("utf-8")
    for address in re.findall(r'href="([^"]+)"', text):
        assert "://" not in address, f"{address} leaves the site"
        target, _, anchor = address.partition("#")
        assert is_page(target.removesuffix(".html"), page), address
        if anchor.startswith("isthmus."):
            room, name = anchor.rsplit(".", 1)
            assert name in ROOMS[room], f"{anchor} is not a public name"
    for name in re.findall(r"\{py:(?:class|func)\}`~?([\w.]+)`", text):
        room, short = name.rsplit(".", 1)
        assert short in ROOMS.get(room, []), f"{name} is not a public name"


def test_every_page_is_in_the_table_of_contents():
    index = (DOCS / "index.md").read_text("utf-8")
    listed = set()
    for block in re.findall(r"```\{toctree\}\n(.*?)```", index, flags=re.S):
        listed |= {line for line in block.splitlines() if line and not line.startswith(":")}
    written = {page.relative_to(DOCS).with_suffix("").as_posix() for page in PAGES} - {"index"}
    assert written <= listed
    missing = [name for name in listed - written if not is_page(name, DOCS / "index.md")]
    assert missing == []


@pytest.mark.parametrize("name", WITH_CODE)
def test_code_of_a_page_runs_from_top_to_bottom(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (DOCS / name).read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, flags=re.M | re.S)
    assert blocks
    namespace = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, name, "exec"), namespace)


def test_the_reference_has_every_public_name():
    for room, names in ROOMS.items():
        page = generated_pages.api_page(room, names)
        for name in names:
            assert re.search(rf"\b{name}\b", page), f"{room}.{name}"
    assert set(isthmus.__all__) <= {name for names in ROOMS.values() for name in names}


def test_names_are_documented_once():
    """A name of the front door is described in its room, and the front door links there."""
    for name in isthmus.__all__:
        thing = getattr(isthmus, name)
        if callable(thing):
            home = generated_pages.public_home(name, thing)
            assert hasattr(importlib.import_module(home), name)


def written_texts():
    """Every string of the package, with a zero in place of each value that is put in."""
    for path in (ROOT / "isthmus").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
            elif isinstance(node, ast.JoinedStr):
                parts = (p.value if isinstance(p, ast.Constant) else "\0" for p in node.values)
                yield "".join(parts)


def test_messages_that_are_explained_exist():
    page = (DOCS / "troubleshooting.md").read_text("utf-8")
    messages = re.findall(r"^\| (?!Message|---)(.*?) \|", page, flags=re.M)
    assert len(messages) >= 20
    texts = "\n".join(written_texts())
    not_ours = {"Input X contains NaN"}  # scikit-learn's
    for message in set(messages) - not_ours:
        longest = max(re.split(r"\*[^*]+\*", message), key=len).strip(" :,")
        assert longest in texts, message


@cache
def trail():
    """Read all tests once, and not while they are collected."""
    return generated_pages.Trail(ROOT)


ESTIMATORS = sorted(
    {
        (name, room)
        for room, names in ROOMS.items()
        for name in names
        if room
        in ("isthmus.regression", "isthmus.projections", "isthmus.dependency", "isthmus.auto")
        or name in isthmus.__all__
    }
)
# Helpers beside an estimator, and files: explained and tested, not drawn. fit_auto is MethodSearchCV.
NOT_DRAWN = {"Expansion", "MethodSearchCV", "Rows", "load", "save", "spike"}


@pytest.mark.parametrize(("name", "room"), ESTIMATORS, ids=[name for name, _ in ESTIMATORS])
def test_an_estimator_leads_to_its_page_example_and_test(name, room):
    pages, examples, tests = trail().of(name)
    thing = getattr(importlib.import_module(room), name)
    assert pages, f"no page of docs/ speaks of {name}"
    assert tests, f"no test imports {name}"
    assert examples or name in NOT_DRAWN, f"no example uses {name}"
    if hasattr(thing, "fit"):
        told = thing.__doc__
        assert ":math:" in told or ".. math::" in told, f"the docstring of {name} has no equation"
        assert re.search(r"\[\w+\]_", told), f"the docstring of {name} cites nothing"


def test_the_trail_is_read_off_the_files():
    _, examples, tests = trail().of("ManifoldPLS")
    assert (ROOT / "examples/faces_of_classes.py") in examples
    assert any("ManifoldPLS" in path.read_text("utf-8") for path in tests)
    entry = " ".join(trail().lines("ManifoldPLS", gallery=True))
    assert "/gallery/faces_of_classes>" in entry and "``tests/" in entry
    assert trail().lines("NoSuchName", gallery=True) == []


def test_the_literature_has_every_entry():
    page = generated_pages.literature(DOCS / "references.bib")
    keys = re.findall(r"^@\w+\{([^,]+),", (DOCS / "references.bib").read_text("utf-8"), flags=re.M)
    assert re.findall(r"^\.\. \[([^\]]+)\] \S", page, flags=re.M) == keys


def test_benchmarks_show_the_newest_record(tmp_path):
    head = "date,commit,versions,cpu,question,shape,threads,ours_ms,peer_ms,ratio,bound,within,"
    head += "max_difference,peer,note\n"
    row = "2026-01-0{},c{},v,m,fit,3 x 4,1,1,2,0.{},1,True,nan,peer,\n"
    path = tmp_path / "results.csv"
    path.write_text(head + row.format(1, 1, 5) + row.format(2, 2, 7))
    page = generated_pages.benchmarks(path)
    assert "0.7" in page and "0.5" not in page
