"""SECURITY.md names tests that are there, and the bill of materials is of the files that are shipped."""

import ast
import hashlib
import json
import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "SECURITY.md").read_text("utf-8")
BILL_NAME = "sbom.cdx.json"
BILL = json.loads((ROOT / BILL_NAME).read_text("utf-8"))
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]
EXTRAS = {k: v for k, v in PROJECT["optional-dependencies"].items() if k != "all"}
USED = {k: v for k, v in EXTRAS.items() if k not in ("dev", "docs")}


def test_every_line_has_a_test_that_is_there():
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TEXT)
    assert len(named) > 20
    for path, name in named:
        tree = ast.parse((ROOT / path).read_text("utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, name
    rows = re.findall(r"^\| (?!it cannot|whatever).*\|$", TEXT, re.MULTILINE)
    assert len(rows) > 15 and all("`tests/" in row for row in rows)


def properties(component):
    found = {}
    for entry in component["properties"]:
        found.setdefault(entry["name"].removeprefix("isthmus:"), []).append(entry["value"])
    return found


SHIPPED = {c["name"]: c for c in BILL["components"] if "file" in properties(c)}
INSTALLED = {c["name"]: c for c in BILL["components"] if c["name"] not in SHIPPED}


def test_the_bill_is_of_what_is_shipped():
    for component in SHIPPED.values():
        (name,) = properties(component)["file"]
        digest = hashlib.sha256((ROOT / name).read_bytes()).hexdigest()
        assert component["hashes"] == [{"alg": "SHA-256", "content": digest}]
    three = SHIPPED["three"]
    told = {name: ROOT / values[0] for name, values in properties(three).items()}
    revision = re.search(rb'revision:"(\d+)"', told["file"].read_bytes())[1].decode()
    assert three["version"] == f"0.{revision}"
    recipe = told["recipe"].read_text("utf-8")
    assert f"three@0.{revision}" in recipe and f"three@0.{revision}" in TEXT
    assert "MIT" in told["licence"].read_text("utf-8")


def test_the_bill_is_complete_and_in_the_wheel():
    """All files that are not our own, and all that any extra installs: name, bounds, extras, licence."""
    data = {path.name for path in (ROOT / "isthmus").rglob("*.np[yz]")}
    assert data | {"three"} == set(SHIPPED)
    asked: dict = {}
    for extra, lines in [("", PROJECT["dependencies"]), *USED.items()]:
        for line in lines:
            name = re.match(r"[\w-]+", line).group()
            asked.setdefault(name, ([line], []))[1].append(extra)
    told = {
        name: (found["requirement"], found.get("extra", [""]))
        for name, found in zip(INSTALLED, map(properties, INSTALLED.values()))
    }
    assert told == asked
    for name, component in INSTALLED.items():
        assert component["scope"] == ("required" if asked[name][1] == [""] else "optional")
        assert component["purl"] == f"pkg:pypi/{name}"
    references = [component["bom-ref"] for component in BILL["components"]]
    assert BILL["dependencies"] == [{"ref": "isthmus", "dependsOn": references}]
    assert PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["sbom-files"] == [BILL_NAME]


# What the metadata of a package calls the licences of the bill.
CALLED = {"MIT": "MIT", "BSD": "BSD", "Apache": "Apache", "PSF": "PSF|Python Software Foundation"}


@pytest.mark.parametrize("name", INSTALLED)
def test_licences_of_the_bill_are_those_of_the_metadata(name):
    told = json.dumps(INSTALLED[name]["licenses"])
    assert not COPYLEFT.search(told)
    try:
        found = licence(metadata.distribution(name))
    except metadata.PackageNotFoundError:
        pytest.skip(f"{name} is not installed")
    for short, words in CALLED.items():
        assert (short in told) <= bool(re.search(words, found)), found


COPYLEFT = re.compile(r"\b[AL]?GPL|General Public", re.IGNORECASE)
# Packages under such a licence that are allowed, and why.
ALLOWED = {
    (
        "dev",
        "qpsolvers",
    ): "comes with mink, a peer of benchmarks/retarget.py: no extra for users has it",
    (
        "docs",
        "docutils",
    ): "public domain and BSD; the GPL is that of one file for Emacs, not installed",
}


def licence(distribution):
    """What the metadata says; where it says nothing, the first line of the licence file."""
    told = distribution.metadata
    found = [told.get("License-Expression", ""), told.get("License", "").split("\n")[0]]
    found += [line for line in told.get_all("Classifier", []) if line.startswith("License ::")]
    if not re.search(
        "|".join([*CALLED.values(), "MPL|PSF|ISC", COPYLEFT.pattern]), " ".join(found)
    ):
        texts = [distribution.locate_file(file) for file in distribution.files or ()]
        texts = [text for text in texts if re.match("LICEN[CS]E", text.name) and text.is_file()]
        found += [" ".join(text.read_text("utf-8").split())[:60] for text in texts]
    return " ".join(found)


def needed(line, extras=("",), seen=None):
    """Packages that a requirement installs here, with all that they require."""
    seen = {} if seen is None else seen
    requirement = Requirement(line)
    key = (canonicalize_name(requirement.name), frozenset(requirement.extras))
    marker = requirement.marker
    if key in seen or not (marker is None or any(marker.evaluate({"extra": e}) for e in extras)):
        return seen
    try:
        seen[key] = metadata.distribution(requirement.name)
    except metadata.PackageNotFoundError:
        return seen
    for each in seen[key].requires or []:
        needed(each, ("", *requirement.extras), seen)
    return seen


@pytest.mark.parametrize("extra", ["", *EXTRAS])
def test_no_extra_installs_copyleft(extra):
    refused, unknown = {}, set()
    for line in EXTRAS.get(extra, PROJECT["dependencies"]):
        for (name, _), distribution in needed(line).items():
            told = licence(distribution)
            if COPYLEFT.search(told):
                refused[name] = told
            elif len(told.strip()) < 3:
                unknown.add(name)
    assert {(extra, name) for name in refused} <= set(ALLOWED), refused
    assert not unknown


def test_what_wheels_of_others_bring_is_said():
    """imageio-ffmpeg is BSD by its metadata; the program in its wheel is not."""
    told = INSTALLED["imageio-ffmpeg"]["description"]
    assert "GPL-3.0-or-later" in told and "FFmpeg" in told
    said = " ".join(TEXT.split())
    assert re.search(r"imageio-ffmpeg.{0,200}GPL-3\.0-or-later", said)
    assert re.search(r"opencv-python-headless.{0,200}LGPL-2\.1-or-later", said)


def test_no_other_script_is_shipped():
    scripts = {path.name for path in (ROOT / "isthmus").rglob("*.js")}
    assert scripts == {"three.min.js", "three.entry.js", "viewer.js", "page.js"}
