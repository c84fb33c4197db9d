"""Deprecated names warn where they are used, and are gone when they were said to be."""

import ast
import warnings
from pathlib import Path

import pytest
from packaging.version import Version

import isthmus
from isthmus._validation import warn_deprecated

PACKAGE = Path(isthmus.__file__).parent


def old_function():
    warn_deprecated("old_function", since="0.1", removed_in="0.3", instead="use new_function")


def test_the_warning_says_what_to_do_and_points_at_the_caller():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        old_function()
    assert len(caught) == 1
    assert caught[0].category is FutureWarning
    assert caught[0].filename == __file__
    assert str(caught[0].message) == (
        "old_function is deprecated since version 0.1 and will be removed in version 0.3: "
        "use new_function."
    )


def overdue(source, version):
    """Lines that deprecate something which should be gone in this version, or say no version."""
    found = []
    for node in ast.walk(ast.parse(source)):
        name = getattr(getattr(node, "func", None), "id", None)
        if isinstance(node, ast.Call) and name == "warn_deprecated":
            told = {
                k.arg: k.value.value for k in node.keywords if isinstance(k.value, ast.Constant)
            }
            if Version(told.get("removed_in", "0")) <= Version(version):
                found.append(node.lineno)
    return found


def test_nothing_outlives_its_version():
    late = {
        path.relative_to(PACKAGE): lines
        for path in PACKAGE.rglob("*.py")
        if (lines := overdue(path.read_text("utf-8"), isthmus.__version__))
    }
    assert not late


@pytest.mark.parametrize("version, n_late", [("0.2.9", 0), ("0.3.0", 1), ("1.0", 1)])
def test_what_is_overdue_is_found(version, n_late):
    source = 'warn_deprecated("a", since="0.1", removed_in="0.3", instead="use b")'
    assert len(overdue(source, version)) == n_late


def test_the_version_is_that_of_the_newest_entry_of_the_changelog():
    lines = (PACKAGE.parent / "CHANGELOG.md").read_text("utf-8").splitlines()
    newest = next(line for line in lines if line.startswith("## "))
    assert newest.split()[1] == isthmus.__version__
