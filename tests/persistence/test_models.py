"""Oracles: equal predictions to the last bit; the files of released versions; the manifest."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import isthmus
from isthmus import (
    PLS,
    IndicatorClassifier,
    KernelMap,
    ManifoldPLS,
    MethodSearchCV,
    ReducedRankRegression,
    StiefelRegression,
    load,
    save,
)
from isthmus.datasets import make_low_rank_regression
from isthmus.losses import FunctionLoss
from isthmus.papers.riemannian_pls import RiemannianPLS
from isthmus.persistence import ModelFileError, classes, describe
from isthmus.persistence.container import first_line, pack, unpack
from isthmus.persistence.errors import CorruptedFileError, ForeignTypeError

DATA = Path(__file__).resolve().parents[1] / "data"
X, Y, _ = make_low_rank_regression(40, 6, 3, rank=2, noise=0.2, random_state=0)
X_HOLES = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)

MODELS = {
    "pls": PLS(2),
    "pls em": PLS(2, missing="em"),
    "stiefel exact": StiefelRegression(2),
    "manifold": ManifoldPLS(2),
    "as printed": RiemannianPLS(2, random_state=0),
    "methods": MethodSearchCV(["pls", "ridge"], cv=3),
    "pipeline": make_pipeline(StandardScaler(), Ridge()),
    "gaussian process": GaussianProcessRegressor(RBF(2.0), optimizer=None),
}


@pytest.mark.parametrize("name", MODELS)
def test_round_trip_to_the_last_bit(name, tmp_path):
    rows = X_HOLES if name == "pls em" else X
    model = MODELS[name].fit(rows, Y)
    save(model, tmp_path / "m.isthmus")
    again = load(tmp_path / "m.isthmus")
    assert type(again) is type(model)
    assert_array_equal(again.predict(rows), model.predict(rows))
    assert again.get_params().keys() == model.get_params().keys()


def test_float32_classifier_and_blocks(tmp_path):
    single = PLS(2).fit(X.astype(np.float32), Y.astype(np.float32))
    blocks = ReducedRankRegression(2, alpha=0.1).partial_fit(X, Y)
    classes = IndicatorClassifier(PLS(2)).fit(X, np.where(Y[:, 0] > 0, "up", "down"))
    for model in (single, blocks, classes):
        save(model, tmp_path / "m.isthmus")
        again = load(tmp_path / "m.isthmus")
        expected = model.predict(X.astype(np.float32))
        assert_array_equal(again.predict(X.astype(np.float32)), expected)
        assert again.predict(X.astype(np.float32)).dtype == expected.dtype
    again_blocks = load_after(blocks, tmp_path).partial_fit(X[:5], Y[:5])
    assert_array_equal(again_blocks.coef_, blocks.partial_fit(X[:5], Y[:5]).coef_)


def load_after(model, folder):
    save(model, folder / "b.isthmus")
    return load(folder / "b.isthmus")


RELEASED = sorted(DATA.glob("model-*.isthmus")) or [
    pytest.param(None, marks=pytest.mark.skip(reason="nothing has been released yet"))
]


@pytest.mark.parametrize("path", RELEASED, ids=str)
def test_models_of_releases_load(path):
    told = json.loads(path.with_suffix(".json").read_text())
    again = load(path)
    # Another processor may add in another order; the same one does not.
    assert_allclose(again.predict(np.array(told["X"])), told["prediction"], rtol=1e-9)
    assert describe(path)["summary"]["cv"]


def test_the_file_says_what_it_is(tmp_path):
    path = tmp_path / "m.isthmus"
    save(MODELS["pls"].fit(X, Y), path, summary={"who": "me"})
    found = describe(path)
    assert found["type"] == "isthmus.regression.pls.PLS"
    assert found["summary"] == {"who": "me"}
    assert {"numpy", "scipy", "scikit-learn", "python"} <= set(found["versions"])
    assert found["versions"]["isthmus"] == isthmus.__version__
    assert found["bytes"] == os.path.getsize(path)
    assert found["created"].startswith("20")


def test_describe_imports_no_model(tmp_path, monkeypatch):
    path = tmp_path / "m.isthmus"
    save(MODELS["pls"].fit(X, Y), path)
    monkeypatch.setattr(classes, "import_module", None)  # nor is a class asked for
    assert describe(path)["summary"]["model"].startswith("PLS(")


def test_processes_and_folders_of_this_machine_are_not_in_a_file(tmp_path):
    path = tmp_path / "m.isthmus"
    model = make_pipeline(KernelMap(n_jobs=2, n_components=3), Ridge(), memory=str(tmp_path)).fit(
        X, Y
    )
    with pytest.warns(
        UserWarning, match=r"^memory and n_jobs of .*Pipeline belong to this machine"
    ):
        save(model, path)
    again = load(path)
    assert again.memory is None and again[0].n_jobs is None
    assert model.memory == str(tmp_path) and model[0].n_jobs == 2
    assert_array_equal(again.predict(X), model.predict(X))
    save(again, path)  # without a warning
    line, data = first_line(unpack(path).payload, path)
    for old, new in ((b'"n_jobs":null', b'"n_jobs":4000'), (b'"memory":null', b'"memory":"/tmp"')):
        assert old in line
        path.write_bytes(pack({"summary": {}}, line.replace(old, new) + b"\n" + bytes(data)))
        with pytest.raises(
            CorruptedFileError, match=r"(KernelMap\.n_jobs|Pipeline\.memory) is not None"
        ):
            load(path)


def test_a_flipped_bit_of_the_first_line_is_noticed(tmp_path):
    path = tmp_path / "m.isthmus"
    save(PLS(1).fit(X, Y), path)
    data = path.read_bytes()
    for at in range(data.index(b"\n") + 1):
        for bit in range(8):
            flipped = bytearray(data)
            flipped[at] ^= 1 << bit
            path.write_bytes(flipped)
            with pytest.raises(ModelFileError):
                load(path)


def test_what_cannot_be_loaded_is_not_saved(tmp_path):
    path = tmp_path / "m.isthmus"
    save(MODELS["pls"].fit(X, Y), path)
    before = path.read_bytes()
    loss = FunctionLoss(lambda Y, P: 0.0, lambda Y, P: P)
    for foreign in (loss, {"open": open}, Path("x")):
        with pytest.raises(ForeignTypeError, match=r"is refused|cannot be saved"):
            save(foreign, path)
    assert path.read_bytes() == before


def test_the_training_data_are_not_in_the_file(tmp_path):
    path = tmp_path / "m.isthmus"
    search = MODELS["methods"].fit(X, Y)
    save(search, path)
    again = load(path)
    assert not hasattr(again, "_training") and not hasattr(again, "cv_predictions_")
    with pytest.raises(ValueError, match="no training data"):
        again.report(tmp_path / "r.html")
