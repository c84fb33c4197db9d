"""What the documents promise of every estimator is true, and what they except is all that there is."""

import importlib
import importlib.util
import inspect
import pkgutil
import re
from pathlib import Path

from sklearn.base import BaseEstimator

import isthmus
from isthmus import _validation as validation
from isthmus.preimages import Preimage
from isthmus.preimages.generators import Generator

TESTS = Path(__file__).parent
DOCS = TESTS.parent / "docs"


def estimators():
    """Public estimators by name; those of papers and what ``compress`` returns too."""
    found = {}
    for module in pkgutil.walk_packages(isthmus.__path__, "isthmus."):
        if "._" in module.name or ".auto.methods" in module.name:
            continue
        try:
            room = importlib.import_module(module.name)
        except ModuleNotFoundError:  # of a package that is not installed everywhere
            continue
        for name in getattr(room, "__all__", ()):
            kind = getattr(room, name)
            if isinstance(kind, type) and issubclass(kind, BaseEstimator):
                found[name] = kind
    models = importlib.import_module("isthmus.compression.models")
    return found | {n: k for n, k in vars(models).items() if re.match("Compressed.", n)}


ESTIMATORS = estimators()
COMPRESSED = {name for name in ESTIMATORS if name.startswith("Compressed")}
OF_OBJECTS = {n for n, k in ESTIMATORS.items() if issubclass(k, Preimage | Generator)} | {
    "Imitator"
}


def checked():
    """Types that scikit-learn's checks are run on, in any file of the tests."""
    found = set()
    for path in sorted(TESTS.rglob("test_*.py")):
        if "@parametrize_with_checks(" not in path.read_text("utf-8"):
            continue
        spec = importlib.util.spec_from_file_location(f"checked_{len(found)}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for test in list(vars(module).values()):
            for mark in getattr(test, "pytestmark", ()) if inspect.isfunction(test) else ():
                if mark.name == "parametrize" and mark.args[0] == "estimator, check":
                    for case in mark.args[1]:
                        assert not getattr(case, "marks", ()), f"an expected failure in {path.name}"
                        found.add(type(getattr(case, "values", case)[0]).__name__)
    return found


def test_estimators_of_tables_pass_scikit_learns_checks():
    excepted = set(ESTIMATORS) - checked()
    assert excepted <= OF_OBJECTS | COMPRESSED | {"SlopeBias"}, excepted
    told = " ".join((DOCS / "guide.md").read_text("utf-8").split())
    told = told[told.index("Every estimator of tables") : told.index("compared with an answer")]
    for words in ("pre-images and generators", "`Imitator`", "`SlopeBias`", "`compress`"):
        assert words in told


def test_weights_are_taken_by_all_but_those_that_are_named():
    def takes(kind):
        parameters = inspect.signature(kind.fit).parameters
        return "sample_weight" in parameters or kind is isthmus.MethodSearchCV

    text = (DOCS / "coming_from.md").read_text("utf-8")
    sentence = text[text.index("All take `sample_weight`") :].split("\n\n")[0]
    named = set(re.findall(r"`(\w+)`", sentence)) - {"sample_weight"}
    treatments = {n for n in isthmus.features.__all__ if not takes(getattr(isthmus.features, n))}
    assert "treatments of spectra" in " ".join(sentence.split())
    assert "compressed models" in sentence
    without = {name for name, kind in ESTIMATORS.items()
               if ".papers." not in kind.__module__ and not takes(kind)}  # fmt: skip
    assert without - OF_OBJECTS - COMPRESSED - treatments == named - treatments
    assert named <= without


def test_every_fit_puts_back_what_it_found():
    """Whatever class joins the package: it inherits from the base that does so."""
    for name, kind in ESTIMATORS.items():
        assert issubclass(kind, validation.BaseEstimator), name
        if hasattr(kind, "fit"):
            assert hasattr(kind.fit, "__wrapped__"), name
