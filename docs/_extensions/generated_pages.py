"""Pages that are written from the code: API reference, literature, benchmarks."""

import csv
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import isthmus

# Private, or commands and not names to import.
HIDDEN = {"isthmus.cli", "isthmus.experiments"}


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
        if public and name not in HIDDEN:
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
