"""No array that an answer depends on may be spoiled unnoticed: NaN in it, or a length that would broadcast.

Each array of a saved model of every public estimator, and of every class of scikit-learn that a file may
hold, is spoiled in turn. Allowed are a refusal by ``load``, an ordinary exception, and answers that have
not changed, since the array is not read, or that have another shape, as those of a model with fewer
outputs. This compares what ``@saved`` declares with what methods do.
"""

import importlib.util
import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.cross_decomposition import CCA, PLSCanonical, PLSRegression
from sklearn.decomposition import PCA, KernelPCA, TruncatedSVD
from sklearn.dummy import DummyRegressor
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    BayesianRidge,
    ElasticNet,
    ElasticNetCV,
    HuberRegressor,
    Lasso,
    LassoCV,
    LinearRegression,
    LogisticRegression,
    MultiTaskElasticNet,
    MultiTaskElasticNetCV,
    MultiTaskLasso,
    MultiTaskLassoCV,
    Ridge,
    RidgeClassifier,
    RidgeCV,
)
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    KernelCenterer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM

from isthmus.persistence import ModelFileError
from isthmus.persistence.limits import Budget
from isthmus.persistence.models import _build, _encode
from isthmus.persistence.tree import Encoder


def beside(name):
    """A module of this folder, which is no package."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EVERY = beside("test_every_estimator")
FITTED, X, Y, fitted = EVERY.FITTED, EVERY.X, EVERY.Y, EVERY.fitted
HOLES = np.where(np.arange(X.size).reshape(X.shape) % 7, X, np.nan)
CLASSES = np.digitize(Y[:, 0], [-0.5, 0.5])
NUMBERS = [
    BayesianRidge(), ElasticNet(0.1), ElasticNetCV(cv=2), HuberRegressor(), Lasso(0.1), LassoCV(cv=2),
    LinearRegression(), Ridge(), RidgeCV(), SVR(), LinearSVR(), NuSVR(), KernelRidge(kernel="rbf"),
    TransformedTargetRegressor(Ridge(), transformer=StandardScaler()), DummyRegressor(), PLSRegression(2),
    GaussianProcessRegressor(
        ConstantKernel(1.0) * RBF(2.0) + WhiteKernel(0.1), optimizer=None, normalize_y=True
    ),
    GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=2, scoring="r2"),
]  # fmt: skip
VECTORS = [
    MultiTaskElasticNet(0.1), MultiTaskElasticNetCV(cv=2), MultiTaskLasso(0.1), MultiTaskLassoCV(cv=2),
    Ridge(), LinearRegression(), KernelRidge(kernel="rbf"), PLSRegression(2), CCA(2), PLSCanonical(2),
    MultiOutputRegressor(SVR()), DummyRegressor(), GaussianProcessRegressor(RBF(2.0), optimizer=None),
]  # fmt: skip
LABELS = [
    LogisticRegression(), RidgeClassifier(), LinearSVC(), SVC(), NuSVC(nu=0.1),
    GaussianProcessClassifier(RBF(2.0), optimizer=None),
    OneVsOneClassifier(SVC()), OneVsRestClassifier(LogisticRegression()),
]  # fmt: skip
FEATURES = [
    PCA(2), KernelPCA(2, kernel="rbf"), TruncatedSVD(2), Nystroem(n_components=5, random_state=0),
    RBFSampler(n_components=5, random_state=0), SimpleImputer(), MaxAbsScaler(), MinMaxScaler(),
    Normalizer(), PolynomialFeatures(), PowerTransformer(), QuantileTransformer(n_quantiles=5),
    RobustScaler(), StandardScaler(), OneClassSVM(), OneHotEncoder(handle_unknown="ignore"),
    OrdinalEncoder(), FeatureUnion([("a", PCA(2)), ("b", StandardScaler())]),
    make_pipeline(StandardScaler(), PCA(2)),
]  # fmt: skip
OTHERS = [
    *((model, Y[:, 0]) for model in NUMBERS), *((model, Y) for model in VECTORS),
    *((model, CLASSES) for model in LABELS), *((model, None) for model in FEATURES),
]  # fmt: skip
ASKED = (
    "predict", "transform", "decision_function", "predict_proba", "predict_interval", "inverse_transform",
    "score_samples", "return_std",
)  # fmt: skip


# Arrays of any length, and what their content is.
FREE = {
    "Domain.scaled_errors": "as many rows as were left out",
    "CandidateRanking._points": "sequences of any length, which answers are compared with",
    "OneHotEncoder.categories_": "the categories that were there, and NaN may be one",
    "OrdinalEncoder.categories_": "the same",
    "LabelBinarizer.classes_": "a single class is the answer for all rows",
}


def cases():
    yield from FITTED
    for model, y in OTHERS:
        shape = "" if y is None else " of labels" if y is CLASSES else f" of {np.shape(y)[1:]}"
        yield pytest.param((model, y), id=type(model).__name__ + shape)
    yield pytest.param((SimpleImputer(), None, HOLES), id="SimpleImputer of holes")
    yield pytest.param((KernelCenterer(), None, X @ X.T), id="KernelCenterer")


def one(model, name, rows):
    if name == "return_std":
        return model.predict(rows, return_std=True)
    return getattr(model, name)(rows)


def numbers(answer):
    """All arrays of numbers of an answer, and the rest as text."""
    if isinstance(answer, list | tuple):
        return [part for item in answer for part in numbers(item)]
    return [
        answer if isinstance(answer, np.ndarray) and answer.dtype.kind in "biuf" else repr(answer)
    ]


def shapes(answers):
    return [np.shape(answer) for answer in answers]


def alike(found, expected):
    """Whether answers are the same; what is not finite is not."""
    return all(
        np.array_equal(a, b) and (isinstance(b, str) or bool(np.isfinite(a).all()))
        for a, b in zip(found, expected)
    )


def questions(model, own, rows):
    """What a model answers: the questions that the sound one does not refuse, with its answers."""
    asked = [own] if own else []
    asked += [lambda m, name=name: one(m, name, rows) for name in ASKED]
    answered = []
    for ask in asked:
        try:
            answered.append((ask, numbers(ask(model))))
        except Exception:  # not a question for this model
            continue
    return answered


def spoiled(array):
    """An array with NaN, and with the lengths that NumPy would stretch or that fit by chance."""
    if array.dtype.kind in "fc":
        for value in (np.nan, np.inf):
            holed = array.copy()
            holed.flat[-1:] = value
            yield f"{value}", holed
    if array.size and array.dtype.kind in "biufc":
        yield "a number", np.asarray(array.flat[int(np.abs(array).argmax())])
        yield "a side more", array[None]
        for axis in range(array.ndim):
            yield f"one of side {axis}", array.take([0], axis)
            yield f"all but one of side {axis}", array.take(range(array.shape[axis] - 1), axis)


def owners(node, arrays, found, place="root"):
    """Where the arrays of a description are."""
    if isinstance(node, dict):
        if "object" in node:
            place = node["object"].rpartition(".")[2]
        for key, item in node.items():
            if key in ("array", "scalar"):
                found.setdefault(item, place)
            else:
                named = "object" in node or key not in ("state", "dict", "tuple")
                owners(item, arrays, found, f"{place}.{key}" if named and key != "state" else place)
    elif isinstance(node, list):
        for item in node:
            owners(item, arrays, found, place)
    return found


def payload_of(told, arrays):
    told = told | {"arrays": [[a.dtype.str, list(a.shape), "C"] for a in arrays]}
    return json.dumps(told).encode() + b"\n" + b"".join(a.tobytes() for a in arrays)


def readings(model, own, rows):
    """The arrays that can be spoiled with other answers and no word."""
    encoder = Encoder("m")
    told = json.loads(_encode(model, encoder).partition(b"\n")[0])
    arrays = encoder.arrays
    asked = questions(model, own, rows)
    assert asked
    places = owners(told["root"], arrays, {})
    for k, array in enumerate(arrays):
        for how, bad in () if places[k] in FREE else spoiled(array):
            payload = payload_of(told, [*arrays[:k], bad, *arrays[k + 1 :]])
            try:
                found = _build(memoryview(payload), "m", Budget(len(payload), "m"))
            except (ModelFileError, TypeError):  # ``load`` makes one of the other
                continue
            for ask, answers in asked:
                try:
                    again = numbers(ask(found))
                except Exception:  # it was noticed
                    continue
                if shapes(again) == shapes(answers) and not alike(again, answers):
                    yield f"{places[k]} {array.shape}: {how}"
                    break


@pytest.mark.parametrize("case", list(cases()))
def test_what_is_read_is_declared(case):
    if isinstance(case, str):
        model, own, rows = fitted(case), FITTED[case][1], X
    else:
        model, y, rows = (*case, X)[:3]
        own = None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(rows, y)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        assert list(readings(model, own, rows)) == []


OUTPUTS = {
    "one": Y[:, 0], "a column": Y[:, :1], "three": Y, "two classes": CLASSES > 0, "classes": CLASSES % 3,
    "labels": np.where(Y[:, 0] > 0, "a", "b"), "none": None,
}  # fmt: skip
OPTIONS = [
    {}, {"fit_intercept": False}, {"whiten": True}, {"with_mean": False}, {"normalize_y": False},
    {"positive": True}, {"decision_function_shape": "ovo"}, {"scale": False},
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("y", OUTPUTS)
def test_no_genuine_model_is_refused(y):
    """Other shapes of outputs and other options have other shapes of arrays."""
    saved = 0
    for model, _ in OTHERS:
        for options in OPTIONS:
            if set(options) <= set(model.get_params()):
                try:
                    found = clone(model).set_params(**options).fit(X, OUTPUTS[y])
                except (TypeError, ValueError):  # not outputs for this model
                    continue
                payload = _encode(found, Encoder("m"))
                _build(memoryview(payload), "m", Budget(len(payload), "m"))
                saved += 1
    assert saved >= 10
