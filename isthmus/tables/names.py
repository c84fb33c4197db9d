"""Names of columns: exact, alike, or close enough to be what was meant."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Sequence

from isthmus.tables.errors import TableError, some

# 1115, 1115.0, "1115 nm", "1115nm", "X1115": what instruments and R make of one wavelength.
_POSITION = re.compile(r"[Xx]?([+-]?\d+(?:\.\d+)?)\s*(?:nm|um|µm|μm|cm-1|cm\^-1|1/cm|cm⁻¹|hz|ev)?")


def simplify(name: str) -> str:
    """Reduce a name to what it has in common with its other spellings."""
    plain = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
    found = _POSITION.fullmatch(plain)
    return repr(float(found[1])) if found else plain


def find(name: str, names: Sequence[str]) -> int | None:
    """Find the place of a name: the same, or the only one that is alike."""
    return find_all([name], names)[0]


def find_all(wanted: Sequence[str], names: Sequence[str]) -> list[int | None]:
    """Find many names at once, no column twice."""
    if not wanted:
        return []
    exact = {name: k for k, name in enumerate(names)}
    alike: dict[str, list[int]] = {}
    for k, name in enumerate(names):
        alike.setdefault(simplify(name), []).append(k)
    taken = {exact[name] for name in wanted if name in exact}
    places: list[int | None] = []
    for name in wanted:
        if name in exact:
            places.append(exact[name])
            continue
        left = [k for k in alike.get(simplify(name), []) if k not in taken]
        places.append(left[0] if len(left) == 1 else None)
        taken.update(left if len(left) == 1 else [])
    return places


def suggest(name: str, names: Sequence[str]) -> str:
    """Ask whether a close name was meant; empty if none is close."""
    simple = {simplify(other): other for other in names}
    close = difflib.get_close_matches(simplify(name), list(simple), n=1, cutoff=0.6)
    return f" Did you mean {simple[close[0]]!r}?" if close else ""


def missing_column(path: str, name: str, names: Sequence[str]) -> TableError:
    """Say that a column is not there, and which are."""
    return TableError(f"{path} has no column {name!r}; it has {some(names)}.{suggest(name, names)}")


def split_names(given: Sequence[str] | None) -> list[str]:
    """Split ``a,b``; a repeated option adds to the list."""
    return [name.strip() for item in given or [] for name in item.split(",") if name.strip()]


def split_types(given: Sequence[str] | None, kinds: Sequence[str]) -> dict[str, str]:
    """Read ``name=kind,name=kind``."""
    types = {}
    for item in split_names(given):
        name, equals, kind = item.rpartition("=")
        kind = kind.strip().lower()
        if not equals or not name.strip():
            raise TableError(f"--types {item!r} must be column=kind, such as day=date.")
        if kind not in kinds:
            raise TableError(f"--types {item!r}: {kind!r} must be one of {', '.join(kinds)}.")
        types[name.strip()] = kind
    return types
