"""Models of older versions: where their classes are now, and what their parameters are called."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from isthmus.persistence.errors import ModelFileError

# Classes that were in another place when a file was written.
MOVED = {
    "isthmus.missing.MissingModel": "isthmus.problems.MissingModel",
    "isthmus.moments.Moments": "isthmus.problems.Moments",
    "isthmus.losses.PiecewiseLinear": "isthmus.losses.smoothing.PiecewiseLinear",
    "isthmus.losses.Smoothed": "isthmus.losses.smoothing.Smoothed",
    "isthmus.losses.TanhAbsolute": "isthmus.papers.stiefel_report.TanhAbsolute",
}
# Methods of the search have a folder of their own.
_METHODS = (
    "block_search.BlockSearch", "evidence.EvidenceSearch", "kernel_search.KernelSearch",
    "logarithms.LogModel", "logarithms.LogScaler", "maps.KernelModel", "maps.LinearMap",
    "principal.PrincipalSearch", "stages.RobustSearch", "tails.TailScaler", "treated.PathSearch",
    "treated.RidgeSearch", "treated.TreatedSearch", "trees.Forest", "trees.TreeSearch",
)  # fmt: skip
MOVED |= {f"isthmus.auto.{name}": f"isthmus.auto.methods.{name}" for name in _METHODS}
_FEATURES = ("KernelMap", "Landmarks")
_PROJECTIONS = ("SIR", "KernelSIR", "COIR", "KernelCCA", "MORP")
_RENAMED: dict[str, dict[str, str]] = {
    "StiefelRegression": {"gamma": "pull", "gamma_growth": "pull_growth"},
    "KernelMap": {"method": "solver", "method_": "solver_"},
    **{name: {"method": "eigenproblem", "scale": "score_scale"} for name in _PROJECTIONS},
    "KDR": {"value_": "objective_"},
    "SparseFactors": {"alpha": "penalty", "n_alphas": "n_penalties", "alphas_": "penalties_"},
}
# The fitted kernel has the numbers that a kernel given by name had beside it.
_OF_KERNEL = ("degree", "coef0", "kernel_params")
_OF_KERNEL_Y = ("gamma_y", "kernel_y_params")
# Parameters that are gone, with the values that ask for nothing else than what is left.
_GONE: dict[str, dict[str, tuple[Any, ...] | None]] = {
    "StiefelRegression": {"solver": ("auto", "exact", "lbfgs")},
    "ManifoldPLS": {
        "solver": ("exact",),
        "max_iter": None,
        "tol": None,
        "random_state": None,
        "verbose": None,
    },
    "MORP": {"form": ("ridge",)},
}
# Values that are gone, with the room of the papers that has what they asked for.
_VALUES = {
    ("StiefelRegression", "init"): ("pls", "ridge", "identity"),
    ("BayesianStiefelRegression", "sampler"): ("thesis",),
}
_ROOMS = {
    "StiefelRegression": "stiefel_report.GeodesicStiefelRegression",
    "ManifoldPLS": "riemannian_pls.RiemannianPLS",
    "MORP": "morp.InverseMORP",
    "BayesianStiefelRegression": "kernel_dependency_thesis.MetropolisedGibbsRegression",
}


def renew_state(cls: type, state: dict[str, Any], what: str) -> dict[str, Any]:
    """Return the attributes of an object as its class has them now.

    An option that is no longer there is refused: the model would be another one when it is fitted again.
    """
    name = cls.__name__
    for (owner, key), values in _VALUES.items():
        if owner == name and isinstance(state.get(key), str) and state[key] in values:
            raise _refuse(name, key, state[key], what)
    for key, kept in _GONE.get(name, {}).items():
        if key in state and kept is not None and state[key] not in kept:
            raise _refuse(name, key, state[key], what)
    gone = _GONE.get(name, {})
    renamed = _RENAMED.get(name, {})
    new = {renamed.get(key, key): value for key, value in state.items() if key not in gone}
    if name == "StiefelRegression" and isinstance(new.get("init"), str):
        new["init"] = None  # "exact", the closed form
    _renew_values(name, new)
    return new


def _renew_values(name: str, state: dict[str, Any]) -> None:
    """Put the values of today in place of older ones."""
    if name in (*_FEATURES, *_PROJECTIONS, "KDR"):
        _put_into_kernel(state, "kernel", _OF_KERNEL)
        _put_into_kernel(state, "kernel_y", _OF_KERNEL_Y)
    if name in _PROJECTIONS:
        if state.get("eigenproblem") == "generalized":
            state["eigenproblem"] = "generalised"
        if state.get("n_components") == "cv":
            state["n_components"] = "auto"
    if name == "KDR" and "epsilon" in state:
        del state["epsilon"]  # a fraction of the number of rows, which is not in the file
        state["alpha"] = "auto"
    if name == "ComponentSearchCV":
        if state.get("rule") == "min":
            state["rule"] = "best"
        state.setdefault("n_jobs", None)
        state.setdefault("error_score", math.nan)
    if name == "Deviations" and "explained" in state:
        state["root"] = _root_of(state.pop("explained"))
    if name == "KernelModel":  # whose predictions had no bounds
        state.setdefault("lowest_", -math.inf)
        state.setdefault("highest_", math.inf)
    if name == "FourierFeatures" and "n_waves" in state:
        state["n_components"] = 2 * state.pop("n_waves")


def _root_of(difference: Any) -> Any:
    """Return the root of a symmetric matrix; what a file has instead is left to the checks after."""
    shape = np.shape(difference)
    if len(shape) != 2 or shape[0] != shape[1] or not np.isfinite(difference).all():
        return difference
    values, vectors = np.linalg.eigh(difference)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def _put_into_kernel(state: dict[str, Any], kernel: str, names: tuple[str, ...]) -> None:
    """Drop parameters that are part of a kernel object now; keep their values in the kernel."""
    if not any(name in state for name in names):
        return
    given = {name: state.pop(name, None) for name in names}
    changed = given.get("gamma_y") is not None or any(
        given.get(name) for name in ("kernel_params", "kernel_y_params")
    )
    changed = changed or given.get("degree", 3) != 3 or given.get("coef0", 1.0) != 1.0
    if changed and f"{kernel}_" in state:
        state[kernel] = state[f"{kernel}_"]
        if kernel == "kernel":
            state["gamma"] = None


def _refuse(name: str, key: str, value: Any, what: str) -> ModelFileError:
    return ModelFileError(
        f"{what} was saved with {key}={value!r}, which {name} no longer has: fit it anew with "
        f"isthmus.papers.{_ROOMS[name]}, or load it with the version that wrote it."
    )
