"""Models of older versions: where their classes are now, and what their parameters are called."""

from __future__ import annotations

from typing import Any

from isthmus.persistence.errors import ModelFileError

# Classes that were in another place when a file was written.
MOVED = {
    "isthmus.losses.PiecewiseLinear": "isthmus.losses.smoothing.PiecewiseLinear",
    "isthmus.losses.Smoothed": "isthmus.losses.smoothing.Smoothed",
    "isthmus.losses.TanhAbsolute": "isthmus.papers.stiefel_report.TanhAbsolute",
}
_RENAMED = {"StiefelRegression": {"gamma": "pull", "gamma_growth": "pull_growth"}}
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
    return new


def _refuse(name: str, key: str, value: Any, what: str) -> ModelFileError:
    return ModelFileError(
        f"{what} was saved with {key}={value!r}, which {name} no longer has: fit it anew with "
        f"isthmus.papers.{_ROOMS[name]}, or load it with the version that wrote it."
    )
