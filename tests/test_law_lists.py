"""Every public estimator is held to the laws of its kind: it is in the list of one of these files.

``LISTS`` names the lists, each of which goes through all laws of its file. Estimators that come out of a
function, or are judged by another law, stand in ``OTHERWISE`` with the file and what is asked there.
"""

import importlib
import importlib.util
import pkgutil
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import isthmus

TESTS = Path(__file__).parent
LISTS = {
    "test_laws.py": ["CASES"],
    "test_feature_laws.py": ["TREATMENTS", "TRANSFERS"],
    "projections/test_laws.py": ["LAWFUL"],
    "preimages/test_laws.py": ["METHODS", "POLYNOMIAL"],
    "preimages/generators/test_laws.py": ["GENERATORS"],
    "compression/test_laws.py": ["MODELS"],
}
OTHERWISE = {
    "Absorbance": ("test_feature_laws.py", "Absorbance()"),
    "CandidateSearch": ("preimages/test_laws.py", "CandidateSearch("),
    "CompressedClassifier": ("compression/test_laws.py", "SVC("),
    "CompressedOutlierDetector": ("compression/test_laws.py", "OneClassSVM("),
    "CompressedRegressor": ("compression/test_laws.py", "compress("),
    "CompressedTransformer": ("compression/test_laws.py", "KernelPCA("),
    "GraphSearch": ("preimages/test_graphs.py", "GraphSearch("),
    "Imitator": ("applications/imitation/test_learning.py", "Imitator("),
    "IndicatorClassifier": ("test_laws.py", "IndicatorClassifier("),
    "MethodSearchCV": ("test_auto_laws.py", "MethodSearchCV("),
    "MoleculeLibrary": ("preimages/generators/test_molecules.py", "MoleculeLibrary("),
    "PathSearch": ("preimages/test_paths.py", "PathSearch("),
    "SequenceSearch": ("preimages/test_sequences.py", "SequenceSearch("),
    "SlopeBias": ("test_laws.py", "SlopeBias("),
    "Trusted": ("inspection/test_trusted.py", "Trusted("),
}
# In no ``__all__``, because nobody makes one by hand: what ``compress`` returns, what a name such as
# ``preimage="exact"`` stands for, and what ``generator="auto"`` tries.
WITHOUT_A_NAME = {name for name in OTHERWISE if name.startswith("Compressed")}
WITHOUT_A_NAME |= {"Exact", "LogPool", "NeighbourAnswers", "PathSearch"}


def public_estimators():
    """Names of estimators that are public or used without a name; not of published iterations."""
    names = set()
    for module in pkgutil.walk_packages(isthmus.__path__, "isthmus."):
        if "._" in module.name or ".papers" in module.name:
            continue
        try:
            room = importlib.import_module(module.name)
        except ModuleNotFoundError:  # of a package that is not installed everywhere
            continue
        for name in getattr(room, "__all__", ()):
            kind = getattr(room, name)
            if isinstance(kind, type) and issubclass(kind, BaseEstimator):
                names.add(name)
    return names | WITHOUT_A_NAME


def estimators_in(thing):
    """Types of the estimators in lists, tuples, dicts and cases, and of those inside them."""
    if isinstance(thing, dict):
        thing = list(thing.values())
    if isinstance(thing, (list, tuple)):
        return set().union(*map(estimators_in, thing))
    if hasattr(thing, "exempt"):  # a case of test_laws.py
        return estimators_in(thing.estimator)
    if not isinstance(thing, BaseEstimator):
        return set()
    return {type(thing).__name__}.union(*map(estimators_in, thing.get_params().values()))


@pytest.fixture(scope="module")
def on_trial():
    found = set()
    for file, lists in LISTS.items():
        spec = importlib.util.spec_from_file_location(f"laws_{len(found)}", TESTS / file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for name in lists:
            found |= estimators_in(getattr(module, name))
    return found


def test_every_public_estimator_is_held_to_laws(on_trial):
    missing = public_estimators() - on_trial - OTHERWISE.keys()
    assert not missing, f"in no list of laws: {sorted(missing)}"


def test_nothing_is_listed_that_is_not_there(on_trial):
    for name, (file, text) in OTHERWISE.items():
        if name != "Imitator":  # its room needs packages of its own
            assert name in public_estimators(), name
        assert text in (TESTS / file).read_text(), (name, file)


def test_an_estimator_in_no_list_is_found(on_trial, monkeypatch):
    class Fresh(BaseEstimator):
        pass

    monkeypatch.setattr(isthmus.regression, "Fresh", Fresh, raising=False)
    monkeypatch.setattr(isthmus.regression, "__all__", [*isthmus.regression.__all__, "Fresh"])
    with pytest.raises(AssertionError, match="Fresh"):
        test_every_public_estimator_is_held_to_laws(on_trial)
