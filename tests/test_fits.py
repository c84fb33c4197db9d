"""Laws of every ``fit``: refused or interrupted it leaves no trace, and nothing of the caller's is kept.

``FITS`` has every public estimator with what it is fitted to; ``test_none_is_missing`` sees to that. What
a fit keeps is compared by a hash of all attributes, to the last bit.
"""

import copy
import importlib
import inspect
import pickle
import pkgutil
import sys
import timeit
import warnings

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.decomposition import KernelPCA
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
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
    IndicatorClassifier,
    KernelCCA,
    KernelMap,
    KernelSIR,
    Landmarks,
    ManifoldPLS,
    MethodSearchCV,
    ReducedRankRegression,
    StiefelRegression,
)
from isthmus import _validation as validation
from isthmus.compression.models import (
    CompressedClassifier,
    CompressedOutlierDetector,
    CompressedRegressor,
    CompressedTransformer,
)
from isthmus.features import BlockTreatments, FourierFeatures, InstrumentTransfer
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

RNG = np.random.default_rng(0)
X = RNG.uniform(0.1, 0.9, (40, 6))
Y = X @ RNG.normal(size=(6, 3)) + 0.1 * RNG.normal(size=(40, 3))
Z = RNG.normal(size=(40, 2))
UP = (Y[:, 0] > np.median(Y[:, 0])).astype(int)
WORDS = ["".join(np.random.default_rng(i).choice(list("ab"), 3 + i % 4)) for i in range(40)]
PLACES = [RNG.normal(size=(3 + i % 2, 2)) for i in range(40)]
GRAPHS = [
    as_graph((list("abcab")[: 3 + i % 3], [(j, j + 1) for j in range(2 + i % 3)])) for i in range(6)
]
HALVES = [[0, 1], slice(2, None)]
DRAWS = {"n_chains": 1, "n_warmup": 5, "n_draws": 10, "random_state": 0}
EMBEDDINGS = {
    "words": KernelMap(kernel=SequenceKernel(0.2)).fit(WORDS),
    "places": KernelMap(kernel=PositionKernel()).fit(WORDS),
    "graphs": KernelMap(kernel=GraphKernel(0.2)).fit(GRAPHS),
    "rbf": KernelMap(gamma=0.2, n_components=2).fit(X),
    "linear": KernelMap(kernel="linear").fit(X),
}
BOTH = X, Y
GIVEN = (WORDS, EMBEDDINGS["words"].transform(WORDS), EMBEDDINGS["words"])
# What each is fitted to, in the order of the arguments of ``fit``; a third table is an embedding.
FITS = [
    *((model, X, Y) for model in (
        PLS(2), PCR(2), PCR("auto"), OPLS(2), PLS(2, missing="em"), ReducedRankRegression(2),
        StiefelRegression(2), StiefelRegression(2, loss="huber"), StiefelRegression(warm_start=True),
        ManifoldPLS(2), SparseFactors(2), BlockRidge(HALVES), MultiblockPLS(HALVES), SequentialPLS(HALVES),
        RatingsRegressor(1, cv=2), SlopeBias(FrozenEstimator(PLS(2).fit(X, Y))),
        BayesianStiefelRegression(2, **DRAWS), BayesianStiefelRegression(2, likelihood="student", **DRAWS),
        MetropolisedGibbsRegression(2, **DRAWS), GeodesicStiefelRegression(2),
        RiemannianPLS(2, random_state=0),
        InverseMORP(), COIR(), COIR(kernel_y="rbf", cv=3), MORP(), KernelCCA(), KDR(2, max_iter=2),
        KernelSIR(), SIR(), ComponentSearchCV(PLS(), cv=3),
        ComponentSearchCV(make_pipeline(KernelMap(), PLS())),
        MethodSearchCV(["pls", "kernel"], cv=2), Trusted(PLS(2), cv=3), DependencyRegressor(),
        DependencyRegressor(solver="stages"), DependencyRegressor(KernelMap(), Ridge(1.0), KernelMap()),
        DependencyRegressor(KernelMap(), Ridge(1.0), KernelMap(preimage="nearest")),
        CompressedRegressor(KernelRidge(kernel="rbf"), 6), InstrumentTransfer(1),
    )),
    *((model, X) for model in (
        KernelMap(), KernelMap(solver="landmarks", n_landmarks=10), KernelMap(preimage="fixed_point"),
        KernelMap(preimage="learned"), Landmarks(8), Landmarks(40), FourierFeatures(8),
        BlockTreatments(HALVES, [None, None]), CompressedOutlierDetector(OneClassSVM(), 6),
        CompressedTransformer(KernelPCA(2, kernel="rbf"), 6),
        *(getattr(isthmus.features, name)() for name in (
            "Absorbance", "Baseline", "Detrend", "GapDerivative", "NormalVariate", "SavitzkyGolay",
            "ScatterCorrection", "Whittaker",
        )),
    )),
    (CompressedRegressor(SVR(), 6), X, Y[:, 0]),
    (CompressedClassifier(SVC(), 6), X, UP),
    (IndicatorClassifier(PLS(2)), X, UP),
    (KernelSIR(), X, Y[:, 0]),
    (Exact(), X, EMBEDDINGS["linear"].transform(X), EMBEDDINGS["linear"]),
    *((model, X, EMBEDDINGS["rbf"].transform(X), EMBEDDINGS["rbf"])
      for model in (FixedPoint(), Gradient(), Distance(), Nearest(), Learned(random_state=0))),
    (Nearest(), X, Z),
    (KernelMap(kernel="precomputed"), X @ X.T),
    (COIR(kernel="precomputed"), X @ X.T, Y),
    (DependencyRegressor(KernelMap(kernel="precomputed"), Ridge(1.0)), X @ X.T, Y),
    (CandidateSearch(WORDS[::2]), *GIVEN),
    (SequenceSearch(random_state=0), *GIVEN),
    (PathSearch(), WORDS, EMBEDDINGS["places"].transform(WORDS), EMBEDDINGS["places"]),
    (GraphSearch(n_starts=1), GRAPHS, EMBEDDINGS["graphs"].transform(GRAPHS), EMBEDDINGS["graphs"]),
    (KernelMap(kernel=SequenceKernel(0.2), preimage="auto"), WORDS),
    (DependencyRegressor(), PLACES, Y),
    (DependencyRegressor(), WORDS, Y),
    (DependencyRegressor(KernelMap(), Ridge(1.0), KernelMap(kernel=SequenceKernel(0.2))), X, WORDS),
    (AlignedClassifier(C=1.0), PLACES, ["abba"[: len(place)] for place in PLACES]),
    *((model, WORDS, WORDS) for model in (
        AlignedClassifier(C=1.0), JointNgrams(2), LogPool(), NeighbourAnswers(), Dictionary(),
    )),
    (NeighbourAnswers("rbf"), X, WORDS),
    (Dictionary(), X, list(Y)),
    (MoleculeLibrary(by="formula"), None, GRAPHS),
]  # fmt: skip
SLOW = {
    "MethodSearchCV",
    "Trusted",
    "AlignedClassifier",
    "LogPool",
    "GraphSearch",
}  # one interrupt each


def name_of(case):
    return " ".join(str(clone(case[0])).split())[:60]


every = pytest.mark.parametrize("case", FITS, ids=name_of)


def fit(model, *args, **options):
    if isinstance(model, MethodSearchCV):
        options["on_interrupt"] = "raise"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*args, **options)


def state(model):
    """All attributes, bit by bit, and which objects they are."""
    return pickle.dumps(vars(model)), {name: id(value) for name, value in vars(model).items()}


def spoiled(case):
    """Arguments that must be refused: (what is wrong, arguments, options)."""
    model, first, *rest = case
    fewer = first[:, :-1] if isinstance(first, np.ndarray) else first
    square = isinstance(first, np.ndarray) and first.shape[0] == first.shape[1]
    takes_weights = "sample_weight" in inspect.signature(model.fit).parameters or isinstance(
        model, MethodSearchCV
    )
    if takes_weights:
        rows = first if square else fewer
        for what, value in (("negative", -1.0), ("no number", np.nan)):
            weights = np.ones(len(rows))
            weights[3] = value
            yield f"a weight that is {what}", (rows, *rest), {"sample_weight": weights}
    if isinstance(first, np.ndarray) and not (hasattr(model, "missing") and model.missing == "em"):
        bad = fewer.copy()
        bad[2, 1] = np.nan
        if not isinstance(model, MethodSearchCV | NeighbourAnswers | Dictionary | Nearest):
            yield "NaN in X", (bad, *rest), {}
    if rest and not isinstance(model, Dictionary | MoleculeLibrary):
        yield "fewer rows of y", (fewer, rest[0][:-1], *rest[1:]), {}
        numbers = isinstance(rest[0], np.ndarray) and rest[0].dtype.kind == "f"
        allowed = isinstance(model, RatingsRegressor | MethodSearchCV)
        if numbers and not allowed and getattr(model, "missing", "") != "em":
            bad = rest[0].copy()
            bad[2] = np.nan
            yield "NaN in y", (fewer, bad, *rest[1:]), {}
    if isinstance(model, Dictionary | MoleculeLibrary):
        yield "no outputs", (first, None), {}


@every
def test_a_refused_fit_leaves_everything_as_it_was(case):
    model = fit(clone(case[0]), *case[1:])
    before = state(model)
    kinds = list(spoiled(case))
    assert kinds
    for what, args, options in kinds:
        with pytest.raises((ValueError, TypeError)):
            fit(model, *args, **options)
        assert state(model) == before, what


@every
def test_a_refused_first_fit_leaves_nothing(case):
    model = clone(case[0])
    before = state(model)
    what, args, options = next(spoiled(case))
    with pytest.raises((ValueError, TypeError)):
        fit(model, *args, **options)
    assert state(model) == before, what
    if hasattr(model, "fit_transform"):
        with pytest.raises((ValueError, TypeError)):
            model.fit_transform(*args, **options)
        assert state(model) == before, what


class Interrupt:
    """While it lasts, the call of a function of the package by this number raises KeyboardInterrupt."""

    def __init__(self, at=None):
        self.at, self.seen = at, 0

    def __call__(self, frame, event, arg):
        ours = "isthmus" in frame.f_globals.get("__name__", "")
        # What is raised in a generator that is being closed is lost.
        if event == "call" and ours and not frame.f_code.co_flags & inspect.CO_GENERATOR:
            self.seen += 1
            if self.seen == self.at:
                sys.setprofile(None)
                raise KeyboardInterrupt

    def __enter__(self):
        sys.setprofile(self)
        return self

    def __exit__(self, *raised):
        sys.setprofile(None)


@every
def test_an_interrupted_fit_leaves_everything_as_it_was(case):
    model = fit(clone(case[0]), *case[1:])
    with Interrupt() as whole:
        fit(copy.deepcopy(model), *case[1:])
    before = state(model)
    shares = [0.5] if type(model).__name__ in SLOW else [0.2, 0.5, 0.8, 0.95]
    for share in shares:
        with pytest.raises(KeyboardInterrupt) as raised, Interrupt(int(whole.seen * share)):
            fit(model, *case[1:])
        if raised.errisinstance(validation.KeptInterrupt):  # a descent keeps its last step
            assert isinstance(model, StiefelRegression)
            before = state(model)
        assert state(model) == before, share


BLOCKS = [PLS(2), PCR(2), ReducedRankRegression(2, alpha=1.0), ManifoldPLS(2, alpha=1.0),
          StiefelRegression(2, alpha=1.0), StiefelRegression(2, alpha=1.0, forget=0.9),
          StiefelRegression(2, online="proximal"), OPLS(2),
          StiefelRegression(2, online="proximal", loss="huber"),
          BayesianStiefelRegression(2, **DRAWS)]  # fmt: skip


@pytest.mark.parametrize("model", BLOCKS, ids=str)
def test_a_refused_or_interrupted_block_leaves_the_sums_as_they_were(model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = clone(model).partial_fit(X[:20], Y[:20])
        before = state(model)
        for args in (
            (X[20:, :-1], Y[20:]),
            (X[20:], Y[20:, :2]),
            (X[20:], np.full((20, 3), np.nan)),
            (X[20:], Y[20:], -np.ones(20)),
            (X[20:], 1e300 * Y[20:]),  # its squares are infinite
        ):
            if getattr(model, "online", "") == "proximal" and np.abs(args[1]).max() > 1e200:
                continue  # it keeps no squares of outputs
            with pytest.raises(ValueError):
                model.partial_fit(*args)
            assert state(model) == before
        with Interrupt() as whole:
            copy.deepcopy(model).partial_fit(X[20:], Y[20:])
        for at in np.linspace(2, whole.seen, 12).astype(int):
            with pytest.raises(KeyboardInterrupt), Interrupt(at):
                model.partial_fit(X[20:], Y[20:])
            assert state(model) == before, at


def refillable(thing):
    """A deep copy of tables and of lists of tables; anything else as it is."""
    if isinstance(thing, list):
        return [refillable(part) for part in thing]
    return thing.copy() if isinstance(thing, np.ndarray) else thing


def refill(thing):
    if isinstance(thing, np.ndarray):
        thing[...] = 7
    elif isinstance(thing, list):
        for part in thing:
            refill(part)
        thing[:] = thing[::-1]


@every
def test_what_a_fit_keeps_is_its_own(case):
    model, *given = clone(case[0]), *map(refillable, case[1:])
    options = {}
    if "sample_weight" in inspect.signature(model.fit).parameters:
        options["sample_weight"] = np.linspace(1.0, 2.0, len(given[0]))
    fit(model, *given, **options)
    before = state(model)
    for thing in (*given, *options.values()):
        refill(thing)
    assert state(model) == before


def test_none_is_missing():
    names = {type(case[0]).__name__ for case in FITS}
    missing = set()
    for module in pkgutil.walk_packages(isthmus.__path__, "isthmus."):
        if "._" in module.name or ".applications" in module.name or ".auto.methods" in module.name:
            continue  # ``Imitator`` is fitted to a film: it inherits from the same base
        room = importlib.import_module(module.name)
        for name in getattr(room, "__all__", ()):
            kind = getattr(room, name)
            if isinstance(kind, type) and issubclass(kind, BaseEstimator):
                missing |= {name} - names
    assert not missing


def test_the_check_costs_next_to_nothing():
    class Ready(validation.BaseEstimator):
        def fit(self, X):
            return self

    model = Ready()
    assert timeit.timeit(lambda: model.fit(X), number=1000) / 1000 < 1e-4  # some 0.5 us


def test_signatures_and_pickles_are_those_without_it():
    assert str(inspect.signature(PLS.fit)) == str(inspect.signature(PLS.fit.__wrapped__))
    assert "sample_weight" in inspect.signature(PLS().set_fit_request).parameters
    assert not hasattr(PLS("auto"), "partial_fit")
    model = PLS(2).fit(X, Y)
    assert joblib.hash(vars(pickle.loads(pickle.dumps(model)))) == joblib.hash(vars(model))


@pytest.mark.parametrize(
    "model",
    [KDR(9, max_iter=0), Landmarks(60), StiefelRegression(2, loss="huber", max_iter=1)],
    ids=str,
)
def test_a_warning_names_the_line_that_called(model):
    with pytest.warns(UserWarning) as caught:
        model.fit(X, Y)
    assert {warning.filename for warning in caught} == {__file__}
