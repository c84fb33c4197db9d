"""What is used of scikit-learn without being promised by it: each name is listed and looked for.

``USED`` is all there is. A name that scikit-learn drops fails here by that name; a new one that
slips into the package fails until it is replaced or listed.
"""

import ast
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.decomposition import KernelPCA
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.svm import SVC

import isthmus

PACKAGE = Path(isthmus.__file__).parent
X = np.random.default_rng(0).normal(size=(12, 3))
y = np.arange(12) % 2


def linear(A, B):
    return A @ B.T


def support_vector_gamma():
    """The number that ``gamma="scale"`` came to: the rows of the fit are not kept to find it again."""
    gamma = SVC(gamma="scale").fit(X, y)._gamma
    return np.isclose(gamma, 1 / (X.shape[1] * X.var()))


def support_vector_rows():
    """A function as kernel leaves no ``support_vectors_``."""
    model = SVC(kernel=linear).fit(X, y)
    return np.array_equal(np.asarray(model._BaseLibSVM__Xfit), X)


def kernel_centre():
    """Row means of a precomputed matrix are kept nowhere else."""
    K = X @ X.T
    centre = KernelPCA(kernel="precomputed").fit(K)._centerer
    return np.allclose(centre.K_fit_rows_, K.mean(axis=0)) and np.isclose(
        centre.K_fit_all_, K.mean()
    )


def process():
    """A Gaussian process that has standardised its outputs."""
    return GaussianProcessRegressor(normalize_y=True).fit(X, 3.0 * y + 1)


def process_mean():
    return np.allclose(process()._y_train_mean, (3.0 * y + 1).mean())


def process_spread():
    return np.allclose(process()._y_train_std, (3.0 * y + 1).std())


def callback_context():
    """Documented by scikit-learn for authors of estimators, with its underscore; from 1.9 on."""
    callback = pytest.importorskip("sklearn.callback", reason="needs scikit-learn 1.9")
    return callable(callback.CallbackSupportMixin._init_callback_context)


def registered_callbacks():
    callback = pytest.importorskip("sklearn.callback", reason="needs scikit-learn 1.9")
    pytest.importorskip("rich", reason="the progress bar draws with it")
    bar = callback.ProgressBar()
    return isthmus.StiefelRegression().set_callbacks(bar)._skl_callbacks == [bar]


def boosted_trees():
    model = HistGradientBoostingRegressor(max_iter=2).fit([[0.0], [1.0]] * 30, [0.0, 1.0] * 30)
    nodes = model._predictors[0][0].nodes
    names = {"is_leaf", "value", "left", "right", "feature_idx", "num_threshold"}
    return names <= set(nodes.dtype.names)


def boosted_constant():
    model = HistGradientBoostingRegressor(max_iter=1).fit([[0.0], [1.0]] * 30, [0.0, 1.0] * 30)
    return np.ravel(model._baseline_prediction)[0] == 0.5


USED = {
    "_predictors": boosted_trees,
    "_baseline_prediction": boosted_constant,
    "_gamma": support_vector_gamma,
    "_BaseLibSVM__Xfit": support_vector_rows,
    "_centerer": kernel_centre,
    "_y_train_mean": process_mean,
    "_y_train_std": process_spread,
    "_init_callback_context": callback_context,
    "_skl_callbacks": registered_callbacks,
}


def is_private(name):
    return re.fullmatch(r"_[A-Za-z]\w*", name) is not None


def private_imports(tree):
    """Names with an underscore that are imported from anything but this package."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            if name.split(".")[0] != "isthmus" and any(map(is_private, name.split("."))):
                yield name


def own_names(tree):
    """Every name that a file gives to something, so that it is not someone else's."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def private_attributes(tree):
    """Attributes with an underscore that are read, also by name through getattr and hasattr."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            yield node.attr
        elif isinstance(node, ast.Call) and getattr(node.func, "id", None) in (
            "getattr",
            "hasattr",
        ):
            name = node.args[1]
            if isinstance(name, ast.Constant) and is_private(name.value):
                yield name.value


def foreign(trees):
    """Private names that are used in the files and made in none of them."""
    own = {name for tree in trees for name in own_names(tree)}
    imported = {name for tree in trees for name in private_imports(tree)}
    return imported | {name for tree in trees for name in private_attributes(tree)} - own


@pytest.mark.parametrize("name", USED)
def test_a_name_that_is_used_is_there(name):
    assert USED[name](), f"scikit-learn's {name} is no longer what the package takes it for"


def test_no_other_name_is_used():
    trees = [ast.parse(path.read_text("utf-8")) for path in sorted(PACKAGE.rglob("*.py"))]
    # `_gamma` is also a method of ours, so it is not found by this search; Python documents `os._exit`.
    assert foreign(trees) - {"_exit"} | {"_gamma"} == set(USED)


@pytest.mark.parametrize(
    "source",
    [
        "from sklearn.utils.metaestimators import _safe_split",
        "from sklearn.utils._bunch import Bunch",
        "import sklearn.utils._bunch as b",
        "def f(model):\n    return model._tenth",
        "def f(model):\n    return getattr(model, '_tenth', None)",
        "def f(model):\n    return hasattr(model, '_tenth')",
    ],
)
def test_a_new_one_is_caught(source):
    assert foreign([ast.parse(source)])


@pytest.mark.parametrize(
    "source",
    [
        "from __future__ import annotations",
        "from isthmus.regression._linearised import f",
        "class A:\n    def f(self):\n        self._own = 1\n        return self._own",
        "def f(model):\n    return model.__class__.__name__",
    ],
)
def test_our_own_pass(source):
    assert not foreign([ast.parse(source)])
