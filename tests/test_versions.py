"""What pyproject.toml promises: every package that is imported is declared, with bounds that hold."""

import ast
import os
import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
CORE = PROJECT["dependencies"]
EXTRAS = {
    k: v for k, v in PROJECT["optional-dependencies"].items() if k not in ("all", "dev", "docs")
}
DEV = PROJECT["optional-dependencies"]["dev"]
# What is imported under another name than it is installed by.
DISTRIBUTION = {
    "sklearn": "scikit-learn", "cv2": "opencv-python-headless", "imageio_ffmpeg": "imageio-ffmpeg",
    "python_calamine": "python-calamine",
}  # fmt: skip


def name_of(requirement):
    return re.match(r"[\w-]+", requirement).group()


def bound_of(requirement):
    return re.match(r"[\w-]+(?:\[[\w,]+\])?>=([\d.]+)", requirement).group(1)


def numbers(version):
    """Of a version, without zeros at the end: 1.26 is 1.26.0."""
    return re.sub(r"(\.0)+$", "", version)


def imported_packages():
    """Names of other people's packages that any module imports, also by ``need("package")``."""
    for path in (ROOT / "isthmus").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            elif isinstance(node, ast.Call) and getattr(node.func, "id", None) == "need":
                names = [node.args[0].value] if isinstance(node.args[0], ast.Constant) else []
            else:
                continue
            yield from (name.split(".")[0] for name in names)


# pandas is there if a user asks for its frames.
ELSEWHERE = {"pandas", "isthmus"}


def test_what_is_imported_is_declared_and_the_other_way_round():
    declared = {name_of(line) for line in [*CORE, *(line for e in EXTRAS.values() for line in e)]}
    imported = {
        DISTRIBUTION.get(name, name)
        for name in imported_packages()
        if name not in sys.stdlib_module_names and name not in ELSEWHERE
    }
    assert declared == imported


def test_messages_name_extras_that_are_there():
    """Every ``pip install 'isthmus[...]'``; and of ``need(package, what, extra)``, one with the package."""
    named = set()
    for path in (ROOT / "isthmus").rglob("*.py"):
        text = path.read_text("utf-8")
        named |= set(re.findall(r"pip install[^\n]*isthmus\[(\w+)", text))
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "need":
                if len(node.args) == 3:
                    package, _, extra = (argument.value for argument in node.args)
                    assert package in map(name_of, EXTRAS[extra]), path
                    named.add(extra)
    assert {"tables", "parquet", "imitation", "chem"} <= named <= set(EXTRAS)


def test_all_is_all_extras():
    (everything,) = PROJECT["optional-dependencies"]["all"]
    assert everything == f"isthmus[{','.join(EXTRAS)}]"


def test_the_tools_ask_for_the_same_bounds():
    promised = {name_of(line): bound_of(line) for extra in EXTRAS.values() for line in extra}
    tools = {name_of(line): bound_of(line) for line in DEV}
    assert {name: tools.get(name) for name in promised} == promised


@pytest.mark.skipif("ISTHMUS_OLDEST" not in os.environ, reason="only in make test-oldest")
@pytest.mark.parametrize("requirement", CORE + EXTRAS["cli"] + EXTRAS["report"])
def test_the_oldest_version_is_what_is_tested(requirement):
    installed = metadata.version(name_of(requirement))
    assert numbers(installed) == numbers(bound_of(requirement))


def test_no_file_of_tests_turns_a_warning_off_for_all_of_them():
    wide = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            marks = (
                isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "pytestmark"
            )
            if marks and "filterwarnings" in ast.unparse(node):
                wide.append(path.name)
    assert wide == []


def test_continuous_integration_runs_every_python_that_is_promised():
    promised = re.findall(r"Python :: (3\.\d+)\"", (ROOT / "pyproject.toml").read_text("utf-8"))
    text = (ROOT / ".github" / "workflows" / "tests.yml").read_text("utf-8")
    matrix = re.search(r"python: \[(.*)\]", text).group(1)
    assert re.findall(r"[\d.]+", matrix) == promised
    assert {"ubuntu-latest", "macos-latest", "windows-latest"} <= set(
        re.findall(r"\w+-latest", text)
    )
