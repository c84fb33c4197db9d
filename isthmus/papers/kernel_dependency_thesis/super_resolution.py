"""Coarse digits made fine: [B2006] Sec. 3.4, with the time of each pre-image."""

from __future__ import annotations

import timeit
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import Ridge

from isthmus.dependency import DependencyRegressor
from isthmus.features import KernelMap
from isthmus.kernels import median_gamma
from isthmus.papers import sources
from isthmus.papers.experiment import Claim, Result, Row, bars, ordering_claim
from isthmus.preimages import Distance, FixedPoint, Learned, Nearest
from isthmus.reports import png_uri

# Digits to learn from and to test, and kernel axes of the outputs.
N_TRAIN, N_TEST, N_OUTPUT_AXES = 1500, 300, 300
OUT_OF_FOLD = "learned on out-of-fold scores"


def rmse(a: NDArray, b: NDArray) -> float:
    """Return the root mean squared difference."""
    return float(np.sqrt(((a - b) ** 2).mean()))


def digits(seed: int = 0) -> tuple[NDArray, NDArray]:
    """Return clean pictures to learn from and to be tested on."""
    X = sources.digits()[0].data
    X = X[np.random.default_rng(seed).permutation(len(X))]
    return X[:N_TRAIN], X[N_TRAIN : N_TRAIN + N_TEST]


def coarse(X: NDArray, factor: int) -> NDArray:
    """Return means over blocks of pixels."""
    side = 16 // factor
    blocks = X.reshape(-1, side, factor, side, factor)
    return np.asarray(blocks.mean(axis=(2, 4)).reshape(len(X), -1))


def run_super_resolution(seed: int, quick: bool) -> Result:
    """Run the super-resolution of [B2006] Sec. 3.4."""
    X, clean = digits(seed)
    n_train, n_test = (500, 60) if quick else (N_TRAIN, N_TEST)
    X, clean = X[:n_train], clean[:n_test]
    A, B = coarse(X, 4), coarse(clean, 4)
    inputs = KernelMap(gamma=median_gamma(A, random_state=0))
    map_ = Ridge(0.1)
    outputs = KernelMap(min(N_OUTPUT_AXES, n_train // 3), gamma=median_gamma(X, random_state=0))
    methods: dict[str, tuple[Any, int | None]] = {
        OUT_OF_FOLD: (Learned(), 5),
        "learned": (Learned(), None),
        "fixed point": (FixedPoint(), None),
        "distance (multidimensional scaling)": (Distance(), None),
        "nearest digit": (Nearest(), None),
    }
    errors = {}
    times = {}
    shown = [("coarse", B), ("true", clean)]
    for name, (method, cv) in methods.items():
        model = DependencyRegressor(inputs, map_, outputs, cv=cv)
        model.set_params(outputs__preimage=method).fit(A, X)
        answers = model.predict(B)
        # The shortest of three: some milliseconds alone would tell what else the machine does.
        times[name] = min(timeit.repeat(partial(model.predict, B), number=1, repeat=3))
        errors[name] = rmse(answers, clean)
        shown.append((name, answers))
    repeated = np.repeat(np.repeat(B.reshape(-1, 4, 4), 4, axis=1), 4, axis=2)
    errors["coarse picture, enlarged"] = rmse(repeated.reshape(len(B), -1), clean)
    fast = times["learned"]
    strips = [
        (name, [png_uri(v.reshape(int(len(v) ** 0.5), -1), low=-1, high=1) for v in rows[:12]])
        for name, rows in shown
    ]
    return Result(
        data=sources.digits()[1],
        columns=["error per pixel", "time, learned = 1"],
        rows=[Row(k, [v, times[k] / fast if k in times else None]) for k, v in errors.items()],
        claims=[
            ordering_claim([OUT_OF_FOLD, "fixed point"], errors, margin=0.01),
            ordering_claim(["learned", "nearest digit"], errors, margin=0.02),
            Claim(
                f"the learned map is the fastest (fixed point: {times['fixed point'] / fast:.0f} times)",
                times["fixed point"] > 3 * fast,
                is_timed=True,
            ),
        ],
        notes=["4 x 4 pixels to 16 x 16; pixels from -1 to 1."],
        figures=[bars("super", "Root mean squared error per pixel.", errors, "error")],
        pictures=[("Digits that were not learned from.", strips)],
        digits=3,
    )
