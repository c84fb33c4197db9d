"""Regression between high-dimensional and structured spaces, through a low-dimensional strip."""

from isthmus.moments import Moments
from isthmus.regression import PCR, PLS, IndicatorClassifier, ReducedRankRegression

__all__ = ["PCR", "PLS", "IndicatorClassifier", "Moments", "ReducedRankRegression"]
