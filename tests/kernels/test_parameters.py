"""Law: a number of a kernel that has no meaning is refused by name where the kernel is made ready.

Kernels by name and as objects, ours and scikit-learn's, alone and inside others, in every estimator that
takes a kernel. Whoever adds a kernel with a number adds it to ``KERNELS``.
"""

import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process import kernels as gp

import isthmus
from isthmus import COIR, KDR, MORP, KernelCCA, KernelMap, KernelSIR, Landmarks
from isthmus.features import FourierFeatures
from isthmus.kernels import (
    RBF,
    Constant,
    Exponential,
    Gaussian,
    L2Laplacian,
    Laplacian,
    Linear,
    MismatchKernel,
    Normalised,
    Polynomial,
    Power,
    SequenceKernel,
    VectorSequenceKernel,
    as_graph,
    gram,
)
from isthmus.kernels.graphs.marginalised import GraphKernel
from isthmus.preimages import Learned

X = np.random.default_rng(0).uniform(0.1, 0.9, (12, 3))
Y = X @ np.random.default_rng(1).normal(size=(3, 2))
WORDS = ["ab", "abb", "ba", "bab", "abab", "bb"]
PLACES = [X[i : i + 4] for i in range(6)]
GRAPHS = [as_graph((list("abcab")[: 3 + i % 3], [(j, j + 1) for j in range(2)])) for i in range(6)]
NEVER = [np.nan, np.inf, -np.inf, "scale", 1j, [1.0, 2.0]]
POSITIVE, NOT_NEGATIVE, FINITE = [-1, 0, *NEVER], [-1, *NEVER], NEVER
KERNELS = [  # kernel, samples, values that its numbers must not have
    *((kernel, X, {"gamma": POSITIVE}) for kernel in (
        RBF(), Laplacian(), L2Laplacian(), Exponential(), Polynomial(), Gaussian(Linear()))),
    (Polynomial(), X, {"coef0": NOT_NEGATIVE, "degree": [*POSITIVE, 1.5]}),
    (Normalised(RBF()), X, {"kernel__gamma": POSITIVE}),
    (Gaussian(Polynomial()), X, {"kernel__gamma": POSITIVE, "kernel__coef0": NOT_NEGATIVE}),
    (RBF() + Polynomial(), X, {"k1__gamma": POSITIVE, "k2__coef0": NOT_NEGATIVE}),
    (Power(RBF(), 2), X, {"exponent": FINITE, "kernel__gamma": POSITIVE}),
    (Constant(2.0) * RBF(), X, {"k1__constant_value": FINITE, "k2__gamma": POSITIVE}),
    (gp.RBF(), X, {"length_scale": [-1, 0, *NEVER[:-1]]}),
    (gp.RBF([1.0, 2.0, 3.0]), X, {"length_scale": [[1.0, -1.0, 1.0], [1.0, np.nan, 1.0]]}),
    (gp.Matern(), X, {"length_scale": [-1, 0, np.nan, np.inf, "scale"], "nu": [-1, 0, np.nan, "scale"]}),
    (gp.RationalQuadratic(), X, {"length_scale": [-1, 0, np.nan, np.inf, "scale"], "alpha": POSITIVE}),
    (gp.ExpSineSquared(), X, {"length_scale": [-1, 0, np.nan, "scale"], "periodicity": POSITIVE}),
    (gp.DotProduct(), X, {"sigma_0": NOT_NEGATIVE}),
    (gp.RBF() + gp.WhiteKernel(), X, {"k2__noise_level": NOT_NEGATIVE, "k1__length_scale": [-1, 0]}),
    (gp.PairwiseKernel(metric="rbf"), X, {"gamma": POSITIVE}),
    (VectorSequenceKernel(), PLACES, {"gamma": POSITIVE}),
    (MismatchKernel(2, 1), WORDS, {"mismatches": [-1, 2, *NEVER], "length": POSITIVE}),
    (SequenceKernel(), WORDS, {"label_kernel": [-1, "scale"], "stop": POSITIVE}),
    (GraphKernel(), GRAPHS, {"label_kernel": [-1, "scale"], "stop": POSITIVE}),
]  # fmt: skip
CASES = [
    (kernel, samples, name, value)
    for kernel, samples, wrong in KERNELS
    for name, values in wrong.items()
    for value in values
]
ESTIMATORS = [
    KernelMap(),
    Landmarks(8),
    FourierFeatures(8),
    COIR(),
    MORP(),
    KernelCCA(),
    KernelSIR(),
    KDR(),
]


@pytest.mark.parametrize(
    ("kernel", "samples", "name", "value"), CASES, ids=lambda value: repr(value)[:40]
)
def test_numbers_of_kernel_objects(kernel, samples, name, value):
    wrong = clone(kernel).set_params(**{name: value})
    with pytest.raises((ValueError, TypeError), match=f"^{name.split('__')[-1]} == "):
        KernelMap(kernel=wrong).fit(samples)


@pytest.mark.parametrize(
    "kernel", ["rbf", "laplacian", "l2_laplacian", "polynomial", "exponential", "sigmoid", "chi2"]
)
@pytest.mark.parametrize("gamma", POSITIVE, ids=repr)
def test_gamma_of_kernels_by_name(kernel, gamma):
    with pytest.raises(
        ValueError, match=r"^gamma == .* must be .*> 0 and finite, or None: set from the data"
    ):
        KernelMap(kernel=kernel, gamma=gamma).fit(X)


@pytest.mark.parametrize("gamma", POSITIVE, ids=repr)
@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_every_estimator_asks_the_same_door(model, gamma):
    with pytest.raises(
        ValueError, match=r"^gamma == .* must be .*> 0 and finite, or None: set from the data"
    ):
        clone(model).set_params(gamma=gamma).fit(X, Y[:, 0])
    if isinstance(model, KDR):
        return
    with pytest.raises(ValueError, match=r"^gamma == "):
        clone(model).set_params(kernel=RBF(gamma)).fit(X, Y[:, 0])


@pytest.mark.parametrize("model", [COIR(), MORP(), KernelCCA(), KDR()], ids=repr)
def test_kernels_of_outputs(model):
    with pytest.raises(ValueError, match=r"^gamma == "):
        model.set_params(kernel_y=RBF(-1)).fit(X, Y)


@pytest.mark.parametrize("gamma", POSITIVE, ids=repr)
def test_a_call_of_the_kernel_itself(gamma):
    for kernel in (RBF, Laplacian, L2Laplacian, Exponential, Polynomial):
        with pytest.raises(ValueError, match=r"^gamma == "):
            gram(kernel(gamma=gamma), X)


def test_every_estimator_with_a_width_is_here():
    kinds = {kind for room in vars(isthmus).values() if inspect.ismodule(room)
             for kind in (getattr(room, name) for name in getattr(room, "__all__", ()))
             if isinstance(kind, type) and hasattr(kind, "fit")
             and "gamma" in inspect.signature(kind.__init__).parameters}  # fmt: skip
    assert kinds - {Learned} == set(map(type, ESTIMATORS))  # Learned: below


def test_numbers_that_have_a_meaning_pass():
    for kernel in (
        Polynomial(coef0=0), gp.Matern(nu=np.inf), gp.DotProduct(0.0), gp.RBF(np.array([1.0, 2.0, 3.0])),
        RBF(np.float32(0.5)), Polynomial(degree=np.int64(2)), Constant(0.5) * RBF() + Constant(0.0),
    ):  # fmt: skip
        assert np.isfinite(KernelMap(kernel=kernel).fit_transform(X)).all()
    with pytest.raises(ValueError, match=r"^gamma == -1, "):
        KernelMap(preimage=Learned(gamma=-1)).fit(X)
