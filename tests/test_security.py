"""SECURITY.md names tests that are there, and the bill of materials is of the files that are shipped."""

import ast
import hashlib
import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "SECURITY.md").read_text("utf-8")
BILL = json.loads((ROOT / "sbom.cdx.json").read_text("utf-8"))


def test_every_line_has_a_test_that_is_there():
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TEXT)
    assert len(named) > 20
    for path, name in named:
        tree = ast.parse((ROOT / path).read_text("utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, name
    rows = re.findall(r"^\| (?!it cannot|whatever).*\|$", TEXT, re.MULTILINE)
    assert len(rows) > 15 and all("`tests/" in row for row in rows)


def test_the_bill_is_of_what_is_shipped():
    (three,) = BILL["components"]
    told = {entry["name"]: ROOT / entry["value"] for entry in three["properties"]}
    bundle = told["isthmus:file"].read_bytes()
    assert three["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(bundle).hexdigest()}]
    revision = re.search(rb'revision:"(\d+)"', bundle)[1].decode()
    assert three["version"] == f"0.{revision}"
    recipe = told["isthmus:recipe"].read_text("utf-8")
    assert f"three@0.{revision}" in recipe and f"three@0.{revision}" in TEXT
    assert "MIT" in told["isthmus:licence"].read_text("utf-8")


def test_no_other_script_is_shipped():
    scripts = {path.name for path in (ROOT / "isthmus").rglob("*.js")}
    assert scripts == {"three.min.js", "three.entry.js", "viewer.js", "page.js"}
