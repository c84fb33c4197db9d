"""No fit from Rows takes more memory than its bound, whatever the rows: all allocations are counted.

Gathered, the rows alone would take more than the bound and landmark features five times as much. The
draws of a ``BayesianStiefelRegression`` are no rows, and are left out.
"""

import tracemalloc

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from isthmus import (
    COIR,
    MORP,
    PCR,
    PLS,
    SIR,
    ComponentSearchCV,
    DependencyRegressor,
    KernelMap,
    KernelSIR,
    Landmarks,
    ManifoldPLS,
    ReducedRankRegression,
    Rows,
    StiefelRegression,
)
from isthmus.features import FourierFeatures

BOUND = 1.0  # MiB
BLOCK, P = 1000, 8
MEDIAN_RULE = 8 * 1000**2  # distances of 1000 outputs, from which a kernel takes its width
B = np.random.default_rng(0).normal(size=(P, 2))


def source(n):
    def blocks():
        for i in range(n // BLOCK):
            rng = np.random.default_rng(i)
            X = rng.normal(size=(BLOCK, P))
            yield X, np.tanh(X @ B) + 0.1 * rng.normal(size=(BLOCK, 2))

    return Rows(blocks, memory=BOUND)


MODELS = {
    "PCR": PCR(2),
    "PLS": PLS(2),
    "ReducedRankRegression": ReducedRankRegression(1, alpha=1.0),
    "ManifoldPLS": ManifoldPLS(2),
    "StiefelRegression": StiefelRegression(1),
    "StiefelRegression, huber": StiefelRegression(1, loss="huber", max_iter=20, tol=1e-3),
    "ComponentSearchCV": ComponentSearchCV(PLS(), cv=5),
    "Landmarks": make_pipeline(Landmarks(40, gamma=0.05, random_state=0), PLS(2)),
    "Landmarks, a share": make_pipeline(Landmarks(0.9, gamma=0.05, random_state=0), PLS(2)),
    "FourierFeatures": make_pipeline(FourierFeatures(40, gamma=0.05, random_state=0), PLS(2)),
    "KernelMap": make_pipeline(KernelMap(5, gamma=0.05, n_landmarks=40, random_state=0), PLS(2)),
    "DependencyRegressor": DependencyRegressor(KernelMap(gamma=0.05, n_landmarks=40)),
    "SIR": SIR(1),
    "KernelSIR": KernelSIR(1, gamma=0.05, n_landmarks=40, alpha=1.0),
    "COIR": COIR(1, gamma=0.05, n_landmarks=40, alpha=1.0),
    "MORP": MORP(1, gamma=0.05, n_landmarks=40, alpha=1.0),
}


def peak(model, n):
    """Bytes that were allocated at once."""
    tracemalloc.start()
    try:
        model.fit(source(n))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", list(MODELS))
def test_no_more_memory_than_the_bound(name):
    model = MODELS[name]
    model.fit(source(4 * BLOCK))  # imports and caches
    found = peak(model, 16 * BLOCK)
    assert found < BOUND * 2**20 + (MEDIAN_RULE if name == "COIR" else 0)
