"""Regression between high-dimensional and structured spaces, through a low-dimensional strip.

Names are imported when they are first asked for, so that ``import isthmus`` and the command's help
do not wait for what they do not use. A new public name joins by one line in ``_HOMES``, one in
``__all__`` and one below ``TYPE_CHECKING``.
"""

from importlib import import_module as _import_module
from importlib.util import find_spec as _find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isthmus.auto import MethodSearchCV, fit_auto
    from isthmus.compression import compress
    from isthmus.dependency import DependencyRegressor
    from isthmus.expansion import Expansion
    from isthmus.features import KernelMap, Landmarks
    from isthmus.model_selection import ComponentSearchCV
    from isthmus.persistence import load, save
    from isthmus.problems import Moments
    from isthmus.projections import COIR, KDR, MORP, SIR, KernelCCA, KernelSIR
    from isthmus.regression import (
        PCR,
        PLS,
        BayesianStiefelRegression,
        IndicatorClassifier,
        ManifoldPLS,
        ReducedRankRegression,
        StiefelRegression,
    )

__version__ = "0.1.0"

_HOMES = {
    "COIR": "isthmus.projections",
    "KDR": "isthmus.projections",
    "MORP": "isthmus.projections",
    "PCR": "isthmus.regression",
    "PLS": "isthmus.regression",
    "SIR": "isthmus.projections",
    "BayesianStiefelRegression": "isthmus.regression",
    "ComponentSearchCV": "isthmus.model_selection",
    "DependencyRegressor": "isthmus.dependency",
    "Expansion": "isthmus.expansion",
    "IndicatorClassifier": "isthmus.regression",
    "KernelCCA": "isthmus.projections",
    "KernelMap": "isthmus.features",
    "KernelSIR": "isthmus.projections",
    "Landmarks": "isthmus.features",
    "ManifoldPLS": "isthmus.regression",
    "MethodSearchCV": "isthmus.auto",
    "Moments": "isthmus.problems",
    "ReducedRankRegression": "isthmus.regression",
    "StiefelRegression": "isthmus.regression",
    "compress": "isthmus.compression",
    "fit_auto": "isthmus.auto",
    "load": "isthmus.persistence",
    "save": "isthmus.persistence",
}

__all__ = [
    "COIR",
    "KDR",
    "MORP",
    "PCR",
    "PLS",
    "SIR",
    "BayesianStiefelRegression",
    "ComponentSearchCV",
    "DependencyRegressor",
    "Expansion",
    "IndicatorClassifier",
    "KernelCCA",
    "KernelMap",
    "KernelSIR",
    "Landmarks",
    "ManifoldPLS",
    "MethodSearchCV",
    "Moments",
    "ReducedRankRegression",
    "StiefelRegression",
    "compress",
    "fit_auto",
    "load",
    "save",
]


def __getattr__(name: str) -> object:
    """Import a public name, or a sub-package, when it is first asked for."""
    if name in _HOMES:
        value = getattr(_import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    if not name.startswith("_") and _find_spec(f"{__name__}.{name}") is not None:
        return _import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
