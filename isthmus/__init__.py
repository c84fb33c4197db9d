"""Regression between high-dimensional and structured spaces, through a low-dimensional strip."""

from isthmus.model_selection import ComponentSearchCV
from isthmus.moments import Moments
from isthmus.regression import (
    PCR,
    PLS,
    IndicatorClassifier,
    ManifoldPLS,
    ReducedRankRegression,
    StiefelRegression,
)

__version__ = "0.1.0.dev0"

__all__ = [
    "PCR",
    "PLS",
    "ComponentSearchCV",
    "IndicatorClassifier",
    "ManifoldPLS",
    "Moments",
    "ReducedRankRegression",
    "StiefelRegression",
]
