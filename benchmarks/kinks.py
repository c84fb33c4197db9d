"""How fast are losses with kinks at their default settings, at equal objective? All within one run.

kinks  one output against statsmodels' quantile regression
lbfgs  several outputs against plain L-BFGS on the factors

A ratio is our time over the peer's, and its bound is what the library promises. Our time is that of
a whole fit at its default tolerance. The peer's ends when it first comes within 1e-6 of our
objective, which it is told; where it never does, it is the time that it was given, and the excess it
was left with is in the last column. "max difference" is how far the lowest objective that the peer
saw is above ours, as a share of it: where ours is the higher one by more than 1e-6, the row fails
whatever the times.

    python benchmarks/kinks.py --only lbfgs --repeats 3
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy
from _common import (
    Row,
    contest,
    describe,
    seconds,
)
from _pymanopt import (
    WIDTHS,
    Enough,
    Watch,
)
from numpy.typing import NDArray
from scipy.optimize import minimize
from stiefel import OUTLIERS, ObjectiveRow, Settings, answer, stiefel_data
from threadpoolctl import threadpool_limits

from isthmus import ReducedRankRegression, StiefelRegression
from isthmus._linalg.eigen import descending_eigh
from isthmus.losses import Absolute, EpsilonInsensitive, Loss, Quantile
from isthmus.losses.scale import robust_scale
from isthmus.regression.scales import winsorise

KINK_SHAPES = [(100, 5), (1000, 10), (1000, 50)]


def kinks(settings: Settings) -> Iterator[Row]:
    """Default calls of the median and a quantile against the same in statsmodels."""
    for n, p in KINK_SHAPES:
        X, Y = stiefel_data((n, p, 1, 1), settings.condition, OUTLIERS)
        y, Z = Y[:, 0], np.column_stack([X, np.ones(n)])
        for tau in (0.5, 0.1):
            for threads in settings.threads:
                with threadpool_limits(threads):
                    yield median_against_statsmodels(X, y, Z, tau, threads, settings.repeats)


def median_against_statsmodels(
    X: NDArray, y: NDArray, Z: NDArray, tau: float, threads: int, repeats: int
) -> Row:
    import statsmodels.api

    model, loss = StiefelRegression(loss=Quantile(tau)), Quantile(tau)
    peer = statsmodels.api.QuantReg(y, Z)
    ours, theirs, _ = contest(
        lambda: model.fit(X, y), {"QuantReg": lambda: peer.fit(q=tau)}, repeats
    )
    values = loss.value(y, model.predict(X)), loss.value(y, Z @ peer.fit(q=tau).params)
    return ObjectiveRow(
        f"quantile {tau}",
        describe(*X.shape, 1),
        threads,
        1e3 * ours,
        1e3 * theirs,
        1.0,
        difference=values[1] / values[0] - 1.0,
        peer=f"statsmodels {statsmodels.__version__} QuantReg",
    )


# At most 10^4 entries; the rank binds in all but the first.
FACTOR_SHAPES = [(300, 8, 3, 3), (200, 10, 4, 2), (1000, 20, 5, 3), (60, 30, 5, 2)]
KINKED: dict[str, Loss] = {
    "absolute": Absolute(),
    "quantile": Quantile(0.3),
    "epsilon-insensitive": EpsilonInsensitive(0.5),
}
LBFGS_BOUND = 1.5
LBFGS_SAME = 1e-5  # rounded kinks end about 3e-6 above the optimum


def lbfgs(settings: Settings) -> Iterator[Row]:
    """Kinked losses without a ridge against L-BFGS on rounded kinks, stage by stage."""
    for shape in FACTOR_SHAPES:
        X, Y = stiefel_data(shape, settings.condition, OUTLIERS)
        for name, loss in KINKED.items():
            for threads in settings.threads:
                with threadpool_limits(threads):
                    yield kinks_against_lbfgs(name, loss, X, Y, shape[-1], threads, settings)


def kinks_against_lbfgs(
    name: str, loss: Loss, X: NDArray, Y: NDArray, rank: int, threads: int, settings: Settings
) -> Row:
    model = StiefelRegression(rank, loss=loss, alpha=0.0)
    model.fit(X, Y)
    unit = model.output_scale_
    target = loss_of(model, X, Y)
    ours, theirs, found = np.inf, np.inf, np.inf
    for _ in range(settings.repeats):
        ours = min(ours, seconds(lambda: model.fit(X, Y)))
        took, value = plain_lbfgs(X, Y / unit, rank, model.loss_, target)
        theirs, found = min(theirs, took), min(found, value)
    return ObjectiveRow(
        name,
        describe(*X.shape, Y.shape[1], rank),
        threads,
        1e3 * ours,
        1e3 * theirs,
        LBFGS_BOUND,
        difference=found / target - 1.0,
        peer=f"scipy {scipy.__version__} L-BFGS-B on factors",
    )


def loss_of(model: StiefelRegression, X: NDArray, Y: NDArray) -> float:
    unit = model.output_scale_
    return float(model.loss_.value(Y / unit, model.predict(X) / unit))


def plain_lbfgs(
    X: NDArray, Y: NDArray, rank: int, loss: Loss, target: float
) -> tuple[float, float]:
    """Seconds until within 1e-5 of the target, or to the end, and the lowest value of the loss."""
    watch = Watch(target * (1 + LBFGS_SAME), np.inf)
    model = ReducedRankRegression(rank, alpha=0.0).fit(X, winsorise(Y, loss, None))
    mean = X.mean(axis=0)
    spread, basis = descending_eigh((X - mean).T @ (X - mean))
    Z = (X - mean) @ (basis / np.sqrt(spread))  # as kind to the peer as we are to ourselves
    coef = (np.sqrt(spread)[:, None] * basis.T) @ model.coef_.T
    U, s, Vt = np.linalg.svd(coef, full_matrices=False)
    ends = np.cumsum([len(U) * rank, Y.shape[1] * rank])
    x = np.concatenate([(U * s)[:, :rank].ravel(), Vt[:rank].T.ravel(), Y.mean(axis=0)])

    def split(x: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        A, D, b = np.split(x, ends)
        return A.reshape(-1, rank), D.reshape(-1, rank), b

    def objective(x: NDArray, rounded: Loss) -> tuple[float, NDArray]:
        A, D, b = split(x)
        fitted = (Z @ A) @ D.T + b
        value, slope = rounded.value_and_gradient(Y, fitted, out=np.empty_like(Y))
        with watch.pause():
            watch.see(float(loss.value(Y, fitted)))
        by_A, by_D = Z.T @ (slope @ D), slope.T @ (Z @ A)
        return value, np.concatenate([by_A.ravel(), by_D.ravel(), slope.sum(axis=0)])

    scale = robust_scale(Y - model.predict(X))
    try:
        for width in WIDTHS:
            rounded = loss.smooth(width * scale)
            x = minimize(objective, x, (rounded,), "L-BFGS-B", True, options={"maxiter": 300}).x
    except Enough:
        pass
    return watch.reached or watch.spent, watch.lowest


if __name__ == "__main__":
    answer(__doc__, (kinks, lbfgs))
