"""Pages that are written from the code: API reference, literature, benchmarks."""

import ast
import csv
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import isthmus


def write_all(docs, *, gallery):
    """Write every generated page; a page that has not changed keeps its date."""
    folder = docs / "generated"
    folder.mkdir(exist_ok=True)
    pages = {"literature.rst": literature(docs / "references.bib")}
    pages["benchmarks.md"] = benchmarks(docs.parent / "benchmarks" / "results.csv")
    changelog = (docs.parent / "CHANGELOG.md").read_text("utf-8")
    pages["changelog.md"] = re.sub(r"\]\((?!http|#)[^)]*\)", "]", changelog)
    rooms = public_rooms()
    for room, names in rooms.items():
        pages[f"api_{room.replace('.', '_')}.rst"] = api_page(room, names)
    pages["api.rst"] = api_index(rooms)
    pages["gallery.md"] = GALLERY_LINK if gallery else GALLERY_LEFT_OUT
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


GALLERY_LINK = """# Gallery

```{toctree}
:maxdepth: 1
../gallery/index
```
"""
GALLERY_LEFT_OUT = "# Gallery\n\nThis build leaves the gallery out. The scripts are in examples/.\n"


# -- API ------------------------------------------------------------------------------------------


def public_rooms():
    """Return the public names of the package and of each of its rooms."""
    names = ["isthmus"] + [
        m.name for m in pkgutil.iter_modules(isthmus.__path__, "isthmus.") if m.name[8] != "_"
    ]
    found = {}
    for name in names:
        public = list(getattr(importlib.import_module(name), "__all__", []))
        if public:
            found[name] = sorted(public)
    return found


def api_page(room, names):
    """Return one page with the public names of a room."""
    lines = [room, "=" * len(room), "", f".. py:module:: {room}", ""]
    module = importlib.import_module(room)
    for name in names:
        thing = getattr(module, name)
        home = public_home(name, thing)
        if home != room:
            role = "class" if inspect.isclass(thing) else "func"
            lines += [f"* :{role}:`{name} <{home}.{name}>`", ""]
        elif inspect.isclass(thing):
            lines += [f".. autoclass:: {room}.{name}", ""]
        elif callable(thing):
            lines += [f".. autofunction:: {room}.{name}", ""]
        else:
            lines += [f".. py:data:: {room}.{name}", ""]
    return "\n".join(lines)


def public_home(name, thing):
    """Return the room that documents a name: ``isthmus`` shows names of its rooms."""
    if name in isthmus.__all__:
        room = ".".join(getattr(thing, "__module__", "isthmus").split(".")[:2])
        module = importlib.import_module(room)
        if name in getattr(module, "__all__", []) and room != "isthmus":
            return room
        return "isthmus"
    return ".".join(getattr(thing, "__module__", "").split(".")[:2]) or "isthmus"


def api_index(rooms):
    title = "API reference"
    lines = [
        title,
        "=" * len(title),
        "",
        "The public names, by room. Module files are private.",
        "",
    ]
    lines += [".. list-table::", "   :header-rows: 1", "", "   * - Room", "     - What is in it"]
    for room in rooms:
        about = (importlib.import_module(room).__doc__ or "").strip().splitlines()
        page = f"api_{room.replace('.', '_')}"
        lines += [f"   * - :doc:`{room} <{page}>`", f"     - {about[0] if about else ''}"]
    lines += ["", ".. toctree::", "   :hidden:", ""]
    lines += [f"   api_{room.replace('.', '_')}" for room in rooms]
    return "\n".join(lines) + "\n"


# -- from a name to its page, examples and tests --------------------------------------------------


def imported_names(path):
    """Return the names that a file imports from the package."""
    tree = ast.parse(path.read_text("utf-8"))
    return {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("isthmus")
        for alias in node.names
    }


class Trail:
    """Where a public name is explained, shown and tested; read off the files themselves."""

    def __init__(self, root):
        self.root = root
        self.examples = {p: imported_names(p) for p in sorted((root / "examples").glob("*.py"))}
        self.tests = {p: imported_names(p) for p in sorted((root / "tests").rglob("test_*.py"))}
        docs = root / "docs"
        pages = [*sorted(docs.glob("families/*.md")), docs / "treatments.md", docs / "auto.md"]
        pages += [docs / "guide.md", docs / "scale.md", docs / "structures.md"]
        self.pages = {page: page.read_text("utf-8") for page in pages}

    def of(self, name):
        """Return the pages, examples and tests of a name, at most three of each.

        Of the pages and tests those come first that use the name most.
        """
        word = re.compile(rf"\b{name}\b")
        pages = {page: len(word.findall(text)) for page, text in self.pages.items()}
        tests = {
            path: len(word.findall(path.read_text("utf-8")))
            for path, names in self.tests.items()
            if name in names
        }
        examples = [path for path, names in self.examples.items() if name in names]
        families = {page: n for page, n in pages.items() if page.parent.name == "families"}
        page = _most(families, 1) or _most(pages, 1)  # the page of its family, if it has one
        return page, examples[:3], _most(tests, 2)

    def lines(self, name, *, gallery):
        """Return what is added to the entry of a name in the reference."""
        pages, examples, tests = self.of(name)
        parts = []
        for page in pages:
            title = page.read_text("utf-8").splitlines()[0].lstrip("# ")
            address = page.relative_to(self.root / "docs").with_suffix("").as_posix()
            parts.append(f"*Explained in* :doc:`{title} </{address}>`.")
        if examples and gallery:
            links = ", ".join(
                f":doc:`{p.stem.replace('_', ' ')} </gallery/{p.stem}>`" for p in examples
            )
            parts.append(f"*Shown in* {links}.")
        if tests:
            paths = ", ".join(f"``{p.relative_to(self.root).as_posix()}``" for p in tests)
            parts.append(f"*Tested in* {paths}.")
        return ["", " ".join(parts), ""] if parts else []


def _most(counts, n):
    found = sorted((path for path in counts if counts[path]), key=lambda p: (-counts[p], str(p)))
    return found[:n]


# -- literature -----------------------------------------------------------------------------------


def literature(path):
    """Return the bibliography as citations, so that ``[B2006]_`` in a docstring is a link."""
    lines = ["Literature", "==========", ""]
    text = path.read_text("utf-8")
    for match in re.finditer(r"^@\w+\{([^,]+),\n(.*?)^\}", text, flags=re.M | re.S):
        key, body = match.groups()
        fields = dict(re.findall(r"^\s*(\w+)\s*=\s*\{(.*?)\},?\s*$", body, flags=re.M))
        told = [fields.get("author", fields.get("editor", "")).replace(" and ", "; ")]
        told.append(f"*{fields.get('title', '')}*")
        told.append(fields.get("journal", fields.get("booktitle", fields.get("publisher", ""))))
        told.append(fields.get("year", ""))
        entry = ". ".join(part for part in told if part.strip("*"))
        entry = re.sub(r"[{}\\]", "", entry).replace("--", "-")
        lines += [f".. [{key}] {entry}.", ""]
    return "\n".join(lines)


# -- benchmarks -----------------------------------------------------------------------------------


def benchmarks(path):
    """Return the newest record of every question and shape."""
    newest = {}
    with Path(path).open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            newest[row["question"], row["shape"], row["threads"], row["peer"]] = row
    lines = [
        "# Benchmarks",
        "",
        "The newest record of every question in `benchmarks/results.csv`, which the scripts of "
        "`benchmarks/` append to. Ratios are times of Isthmus over times of the peer within one run; below "
        "1 Isthmus is faster. A bound is what the project holds itself to. Where the note speaks of errors "
        "the two columns are errors.",
        "",
        "| question | shape | threads | ratio | bound | kept | peer | note | recorded |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in newest.values():
        cells = [row["question"], row["shape"], row["threads"], row["ratio"], row["bound"]]
        cells += ["yes" if row["within"] == "True" else "**no**", row["peer"], row["note"]]
        cells.append(f"{row['date'][:10]}, {row['commit']}")
        lines.append("| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
