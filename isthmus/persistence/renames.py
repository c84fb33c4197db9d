"""Names of parameters and attributes that changed since a file was written.

A model file holds the state of an object by the names of its day. Here old names become new ones;
parameters that are gone are put into the kernel that they belonged to.
"""

from __future__ import annotations

import math
from typing import Any

_FEATURES = ("KernelMap", "Landmarks")
_PROJECTIONS = ("SIR", "KernelSIR", "COIR", "KernelCCA", "MORP")
_RENAMED: dict[str, dict[str, str]] = {
    "KernelMap": {"method": "solver", "method_": "solver_"},
    **{name: {"method": "eigenproblem", "scale": "score_scale"} for name in _PROJECTIONS},
    "KDR": {"value_": "objective_"},
}
# The fitted kernel has the numbers that a kernel given by name had beside it.
_OF_KERNEL = ("degree", "coef0", "kernel_params")
_OF_KERNEL_Y = ("gamma_y", "kernel_y_params")


def with_new_names(name: str, state: dict[str, Any]) -> dict[str, Any]:
    """Return the state of an object of the class ``name`` with the parameter names of today."""
    names = _RENAMED.get(name, {})
    state = {names.get(key, key): value for key, value in state.items()}
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
    if name == "FourierFeatures" and "n_waves" in state:
        state["n_components"] = 2 * state.pop("n_waves")
    return state


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
