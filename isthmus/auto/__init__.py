"""From two tables to a model in one call: the ladder of methods, compared by honest cross-validation.

===================== ============== ==============================================================
name                  file           what it is
===================== ============== ==============================================================
``fit_auto``          ``search.py``  one call: compare, choose, fit, write the report
``MethodSearchCV``    ``search.py``  the comparison as an estimator
``LADDER``, ``Rung``  ``ladder.py``  the table of methods, from the simplest up; a row is a method
===================== ============== ==============================================================
"""

from isthmus.auto.ladder import LADDER, Problem, Rung
from isthmus.auto.search import MethodSearchCV, fit_auto

__all__ = ["LADDER", "MethodSearchCV", "Problem", "Rung", "fit_auto"]
