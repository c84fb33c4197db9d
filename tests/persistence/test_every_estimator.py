"""Every public estimator, pre-image and compressed model comes back with equal answers, bit by bit.

An estimator that joins the package without a row of ``FITTED`` fails ``test_none_is_missing``.
"""

import importlib
import pkgutil
import warnings
from contextlib import nullcontext
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.decomposition import KernelPCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.svm import SVC, SVR, OneClassSVM

import isthmus
from isthmus import (
    COIR,
    KDR,
    MORP,
    PCR,
    PLS,
    SIR,
    BayesianStiefelRegression,
    ComponentSearchCV,
    DependencyRegressor,
    Expansion,
    IndicatorClassifier,
    KernelCCA,
    KernelMap,
    KernelSIR,
    Landmarks,
    ManifoldPLS,
    MethodSearchCV,
    Moments,
    ReducedRankRegression,
    StiefelRegression,
    compress,
    load,
    save,
)
from isthmus.datasets import make_low_rank_regression
from isthmus.features import BlockTreatments, FourierFeatures, InstrumentTransfer, NormalVariate
from isthmus.inspection import Trusted
from isthmus.kernels import GraphKernel, PositionKernel, SequenceKernel, as_graph
from isthmus.papers.kernel_dependency_thesis import MetropolisedGibbsRegression
from isthmus.papers.morp import InverseMORP, RatingsRegressor
from isthmus.papers.riemannian_pls import RiemannianPLS
from isthmus.papers.stiefel_report import GeodesicStiefelRegression
from isthmus.preimages import (
    CandidateSearch,
    Distance,
    Exact,
    FixedPoint,
    Gradient,
    GraphSearch,
    Learned,
    Nearest,
    PathSearch,
    SequenceSearch,
)
from isthmus.preimages.generators import (
    AlignedClassifier,
    Dictionary,
    JointNgrams,
    LogPool,
    MoleculeLibrary,
    NeighbourAnswers,
)
from isthmus.regression import (
    OPLS,
    BlockRidge,
    MultiblockPLS,
    SequentialPLS,
    SlopeBias,
    SparseFactors,
)

X, Y, _ = make_low_rank_regression(40, 5, 3, rank=2, noise=0.2, random_state=0)
UP = np.where(Y[:, 0] > 0, "up", "down")
WORDS = ["".join(np.random.default_rng(i).choice(list("ab"), 3 + i % 4)) for i in range(40)]
GRAPHS = [
    as_graph((list("abcab")[: 3 + i % 3], [(j, j + 1) for j in range(2 + i % 3)])) for i in range(6)
]


def predicted(model):
    return model.predict(X)


def transformed(model):
    return model.transform(X)


def called(model):
    return model(X)


def brought_back(rows):
    """Objects to coordinates and a little aside, and back."""

    def ask(model):
        Z = model.transform(rows[:4])
        return model.inverse_transform(Z + 0.01 * np.abs(Z).max(), return_loss=True)

    return ask


def vectors_by(preimage, kernel="rbf"):
    gamma = None if kernel == "linear" else 0.2
    return KernelMap(kernel=kernel, gamma=gamma, n_components=5, preimage=preimage).fit(X)


def words_by(preimage):
    return KernelMap(kernel=SequenceKernel(0.2), preimage=preimage).fit(WORDS)


def proposed(model):
    return [found[0] for found, _ in model.candidates(WORDS, 3)]


def to_words():
    outputs = KernelMap(kernel=SequenceKernel(0.2), preimage=SequenceSearch(random_state=0))
    return DependencyRegressor(KernelMap(gamma=0.1), Ridge(1e-2), outputs).fit(X, WORDS)


def of_words():
    return DependencyRegressor(KernelMap(kernel=SequenceKernel(0.2)), Ridge(1e-2)).fit(WORDS, Y)


HALVES = [[0, 1], slice(2, None)]
# Name of the class, or a word after it: a function that fits, and what is asked.
FITTED = {
    "PLS": (lambda: PLS(2).fit(X, Y), predicted),
    "OPLS": (lambda: OPLS(2).fit(X, Y), predicted),
    "BlockRidge": (lambda: BlockRidge(HALVES).fit(X, Y), predicted),
    "MultiblockPLS": (lambda: MultiblockPLS(HALVES).fit(X, Y), predicted),
    "BlockTreatments": (
        lambda: BlockTreatments(HALVES, [None, NormalVariate()]).fit(X),
        transformed,
    ),
    "MethodSearchCV of blocks": (
        lambda: MethodSearchCV(blocks=HALVES, cv=2).fit(X, Y),
        lambda model: (model.predict(X), model.check(X).distance),
    ),
    "Trusted": (
        lambda: Trusted(PLS(2), cv=3).fit(X, Y),
        lambda model: (model.predict_rows(X), model.check(X).distance, model.check(X).lower),
    ),
    "SequentialPLS": (lambda: SequentialPLS(HALVES).fit(X, Y), predicted),
    "SparseFactors": (lambda: SparseFactors(2).fit(X, Y), predicted),
    "RatingsRegressor": (
        lambda: RatingsRegressor(1).fit(
            X, np.where(np.arange(Y.size).reshape(Y.shape) % 7, Y, np.nan)
        ),
        predicted,
    ),
    "SlopeBias": (lambda: SlopeBias(PLS(2).fit(X, Y)).fit(X[:9], Y[:9]), predicted),
    **{
        name: (lambda name=name: getattr(isthmus.features, name)().fit(X), transformed)
        for name in (
            "Absorbance",
            "Baseline",
            "Detrend",
            "GapDerivative",
            "NormalVariate",
            "SavitzkyGolay",
            "ScatterCorrection",
            "Whittaker",
        )
    },
    "InstrumentTransfer": (lambda: InstrumentTransfer(1).fit(X, 2 * X + 1), transformed),
    "PCR": (lambda: PCR(2).fit(X, Y), predicted),
    "ReducedRankRegression": (lambda: ReducedRankRegression(2, alpha=0.1).fit(X, Y), predicted),
    "StiefelRegression": (lambda: StiefelRegression(2, loss="huber").fit(X, Y), predicted),
    "ManifoldPLS": (lambda: ManifoldPLS(2).fit(X, Y), predicted),
    "IndicatorClassifier": (lambda: IndicatorClassifier(PLS(2)).fit(X, UP), predicted),
    "BayesianStiefelRegression": (
        lambda: BayesianStiefelRegression(
            2, n_chains=2, n_warmup=10, n_draws=20, random_state=0
        ).fit(X, Y),
        lambda model: model.predict(X, return_std=True),
    ),
    "GeodesicStiefelRegression": (lambda: GeodesicStiefelRegression(2).fit(X, Y), predicted),
    "RiemannianPLS": (lambda: RiemannianPLS(2, random_state=0).fit(X, Y), predicted),
    "InverseMORP": (lambda: InverseMORP(n_components=2).fit(X, Y), transformed),
    "MetropolisedGibbsRegression": (
        lambda: MetropolisedGibbsRegression(
            2, n_chains=2, n_warmup=10, n_draws=20, random_state=0
        ).fit(X, Y),
        predicted,
    ),
    "ComponentSearchCV": (
        lambda: ComponentSearchCV(PLS(), cv=KFold(3), scoring="neg_mean_squared_error").fit(X, Y),
        predicted,
    ),
    "MethodSearchCV": (
        lambda: MethodSearchCV(["pls", "stiefel", "kernel"], cv=2).fit(X, Y),
        lambda model: (model.predict(X), *model.predict_interval(X, 0.8)),
    ),
    "DependencyRegressor": (lambda: DependencyRegressor().fit(X, Y), predicted),
    "DependencyRegressor to sequences": (to_words, predicted),
    "DependencyRegressor of sequences": (of_words, lambda model: model.predict(WORDS)),
    "DependencyRegressor compressed": (
        lambda: compress(DependencyRegressor(map=Ridge(0.1)).fit(X, Y), 8),
        predicted,
    ),
    "SIR": (lambda: SIR(2).fit(X, Y[:, 0]), transformed),
    "KernelSIR": (lambda: KernelSIR(n_components=2).fit(X, Y[:, 0]), transformed),
    "COIR": (lambda: COIR(n_components=2).fit(X, Y), transformed),
    "MORP": (lambda: MORP(n_components=2).fit(X, Y), transformed),
    "KernelCCA": (lambda: KernelCCA(n_components=2).fit(X, Y), transformed),
    "KDR": (lambda: KDR(2, random_state=0, max_iter=5).fit(X, Y), transformed),
    "KernelMap": (lambda: KernelMap(n_components=4).fit(X), transformed),
    "Landmarks": (lambda: Landmarks(n_components=8, random_state=0).fit(X), transformed),
    "FourierFeatures": (
        lambda: FourierFeatures(16, random_state=0).fit(X),
        transformed,
    ),
    "Exact": (lambda: vectors_by(Exact(), "linear"), brought_back(X)),
    "FixedPoint": (lambda: vectors_by(FixedPoint()), brought_back(X)),
    "Gradient": (lambda: vectors_by(Gradient()), brought_back(X)),
    "Distance": (lambda: vectors_by(Distance()), brought_back(X)),
    "Learned": (lambda: vectors_by(Learned()), brought_back(X)),
    "Nearest": (lambda: vectors_by(Nearest()), brought_back(X)),
    "CandidateSearch": (lambda: words_by(CandidateSearch(WORDS[::2])), brought_back(WORDS)),
    "SequenceSearch": (lambda: words_by(SequenceSearch(random_state=0)), brought_back(WORDS)),
    "PathSearch": (
        lambda: KernelMap(kernel=PositionKernel(), preimage=PathSearch()).fit(WORDS),
        brought_back(WORDS),
    ),
    "DependencyRegressor with candidates": (
        lambda: DependencyRegressor(map=Ridge(0.1), candidates=AlignedClassifier(C=1.0)).fit(
            WORDS, WORDS
        ),
        lambda model: model.predict(WORDS),
    ),
    "AlignedClassifier": (lambda: AlignedClassifier(C=1.0).fit(WORDS, WORDS), proposed),
    "AlignedClassifier of vectors": (
        lambda: AlignedClassifier(C=1.0).fit([X[:3], X[3:5]], ["aba", "bb"]),
        lambda model: model.candidates([X[5:8]], 2)[0][0],
    ),
    "DependencyRegressor of sequences of vectors": (
        lambda: DependencyRegressor().fit([X[:3], X[3:5]] * 15, ["aba", "bb"] * 15),
        lambda model: model.predict([X[5:8], X[3:5]]),
    ),
    "JointNgrams": (lambda: JointNgrams(2).fit(WORDS, WORDS), proposed),
    "LogPool": (lambda: LogPool().fit(WORDS, WORDS), proposed),
    "MoleculeLibrary": (
        lambda: MoleculeLibrary(by="formula").fit(None, GRAPHS),
        lambda model: model.candidates(GRAPHS[:1])[0][1],
    ),
    "NeighbourAnswers": (lambda: NeighbourAnswers().fit(WORDS, WORDS), proposed),
    "Dictionary": (lambda: Dictionary().fit(WORDS, WORDS), proposed),
    "GraphSearch": (
        lambda: KernelMap(
            kernel=GraphKernel(0.2),
            preimage=GraphSearch(n_starts=1, n_samples=4, max_void=1, random_state=0),
        ).fit(GRAPHS),
        brought_back(GRAPHS[:1]),
    ),
    "CompressedRegressor": (lambda: compress(SVR().fit(X, Y[:, 0]), 6), predicted),
    "CompressedRegressor of a ridge": (
        lambda: compress(KernelRidge(kernel="rbf").fit(X, Y), 6),
        predicted,
    ),
    "CompressedRegressor of a process": (
        lambda: compress(GaussianProcessRegressor(RBF(2.0), optimizer=None).fit(X, Y), 6),
        predicted,
    ),
    "CompressedClassifier": (lambda: compress(SVC().fit(X, UP), 6), predicted),
    "CompressedOutlierDetector": (lambda: compress(OneClassSVM().fit(X), 6), predicted),
    "CompressedTransformer": (
        lambda: compress(KernelPCA(2, kernel="rbf").fit(X), 6),
        transformed,
    ),
    "Expansion": (lambda: Expansion.from_model(SVR().fit(X, Y[:, 0])), called),
    "Moments": (lambda: Moments.from_data(X, Y), lambda model: (model.xx, model.xy)),
}
# Bases, whose sub-classes are in the table, and what belongs to an application with files of its own.
NOT_MODELS = {"Generator", "Preimage", "RankingPreimage", "Rows"}
OTHER_FILES = ("isthmus.applications.", "isthmus.problems.streams.dask_")
CUT_SHORT = {
    "BayesianStiefelRegression",
    "KDR",
    "MetropolisedGibbsRegression",
}  # a few steps or draws will do here


def assert_equal(found, expected):
    if isinstance(expected, tuple | list) and not isinstance(expected[0], str):
        assert len(found) == len(expected)
        for a, b in zip(found, expected):
            assert_equal(a, b)
    elif isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype
        assert_array_equal(found, expected)
    else:
        assert found == expected


@cache
def fitted(name):
    """A model of the list, fitted once for all tests; no warning is expected but those of CUT_SHORT."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.warns(ConvergenceWarning) if name in CUT_SHORT else nullcontext():
            return FITTED[name][0]()


@pytest.mark.parametrize("name", FITTED)
def test_round_trip(name, tmp_path):
    model, ask = fitted(name), FITTED[name][1]
    save(model, tmp_path / "m.isthmus")
    again = load(tmp_path / "m.isthmus")
    assert type(again) is type(model)
    assert_equal(ask(again), ask(model))


@pytest.mark.filterwarnings("ignore")  # of rows far out, and of numbers beyond float64
@pytest.mark.parametrize("size", [1e150, 1e306, 1.7e308])
@pytest.mark.parametrize("name", FITTED)
def test_an_answer_is_finite_or_an_error(name, size):
    """Rows so large that products of them leave float64: no NaN is handed out for a prediction."""
    model, rows = fitted(name), np.sign(X) * size
    asked = ["predict", "decision_function", "predict_rows"]
    if type(model).__module__.startswith("isthmus"):
        asked += ["predict_path", "transform", "sample_y"]
    for ask in asked:
        try:
            found = getattr(model, ask)(rows)
        except (AttributeError, TypeError, ValueError):
            continue
        if isinstance(found, np.ndarray) and found.dtype.kind == "f":
            assert np.isfinite(found).all()


def test_none_is_missing():
    public = set()
    for module in pkgutil.walk_packages(isthmus.__path__, "isthmus."):
        if not module.name.startswith(OTHER_FILES):
            room = importlib.import_module(module.name)
            named = [getattr(room, name) for name in getattr(room, "__all__", [])]
            public |= {c.__name__ for c in named if isinstance(c, type) and hasattr(c, "fit")}
    public |= {name for name in isthmus.__all__ if isinstance(getattr(isthmus, name), type)}
    covered = {name.split()[0] for name in FITTED}
    assert public - covered - NOT_MODELS == set()
    # What ``compress`` returns, what a string stands for, and what ``generator="auto"`` tries.
    without_a_name = {
        f"Compressed{kind}"
        for kind in ("Classifier", "OutlierDetector", "Regressor", "Transformer")
    } | {"Exact", "LogPool", "NeighbourAnswers", "PathSearch"}
    assert covered - without_a_name <= public
    assert without_a_name <= covered
