"""Regression between high-dimensional and structured spaces, through a low-dimensional strip.

Names are imported on first use, so that ``import isthmus`` is fast. A new public name needs a word in
``_ROOMS`` and a line below ``TYPE_CHECKING``.
"""

from importlib import import_module as _import_module
from importlib.util import find_spec as _find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isthmus.auto import MethodSearchCV as MethodSearchCV
    from isthmus.auto import fit_auto as fit_auto
    from isthmus.compression import compress as compress
    from isthmus.dependency import DependencyRegressor as DependencyRegressor
    from isthmus.expansion import Expansion as Expansion
    from isthmus.features import KernelMap as KernelMap
    from isthmus.features import Landmarks as Landmarks
    from isthmus.model_selection import ComponentSearchCV as ComponentSearchCV
    from isthmus.persistence import load as load
    from isthmus.persistence import save as save
    from isthmus.problems import Moments as Moments
    from isthmus.problems import Rows as Rows
    from isthmus.projections import COIR as COIR
    from isthmus.projections import KDR as KDR
    from isthmus.projections import MORP as MORP
    from isthmus.projections import SIR as SIR
    from isthmus.projections import KernelCCA as KernelCCA
    from isthmus.projections import KernelSIR as KernelSIR
    from isthmus.regression import PCR as PCR
    from isthmus.regression import PLS as PLS
    from isthmus.regression import BayesianStiefelRegression as BayesianStiefelRegression
    from isthmus.regression import IndicatorClassifier as IndicatorClassifier
    from isthmus.regression import ManifoldPLS as ManifoldPLS
    from isthmus.regression import ReducedRankRegression as ReducedRankRegression
    from isthmus.regression import StiefelRegression as StiefelRegression

__version__ = "0.1.0"

_ROOMS = {
    "auto": "MethodSearchCV fit_auto",
    "compression": "compress",
    "dependency": "DependencyRegressor",
    "expansion": "Expansion",
    "features": "KernelMap Landmarks",
    "model_selection": "ComponentSearchCV",
    "persistence": "load save",
    "problems": "Moments Rows",
    "projections": "COIR KDR MORP SIR KernelCCA KernelSIR",
    "regression": "BayesianStiefelRegression IndicatorClassifier ManifoldPLS PCR PLS ReducedRankRegression "
    "StiefelRegression",
}
_HOMES = {name: f"isthmus.{room}" for room, names in _ROOMS.items() for name in names.split()}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    """Import a public name, or a sub-package, on first use."""
    if name in _HOMES:
        value = getattr(_import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    if not name.startswith("_") and _find_spec(f"{__name__}.{name}") is not None:
        return _import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
