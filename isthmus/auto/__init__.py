"""From two tables to a model in one call: the ladder of methods, compared by honest cross-validation.

==================== ================ =============================================================
name                 file             what it is
==================== ================ =============================================================
``fit_auto``         ``search.py``    one call: compare, choose, fit, write the report
``MethodSearchCV``   ``search.py``    the comparison as an estimator
``LADDER``, ``Rung`` ``ladder.py``    the table of methods, from the simplest up; a row is a method
``Problem``          ``ladder.py``    what a method is to be built for
``Trial``            ``trials.py``    a method in the outer folds; the table of all; the choice
``half_widths``      ``intervals.py`` intervals, from the errors of rows left out
``KernelSearch``     ``stages.py``    a method that has no fast path; ``RobustSearch`` is another
==================== ================ =============================================================
"""

from isthmus.auto.ladder import LADDER, Problem, Rung
from isthmus.auto.search import MethodSearchCV, fit_auto

__all__ = ["LADDER", "MethodSearchCV", "Problem", "Rung", "fit_auto"]
