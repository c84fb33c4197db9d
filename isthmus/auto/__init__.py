"""From two tables to a model in one call: the ladder of methods, compared by honest cross-validation.

==================== =================== ==========================================================
name                 file                what it is
==================== =================== ==========================================================
``fit_auto``         ``front.py``        one call: compare, choose, fit, write the report
``MethodSearchCV``   ``search.py``       the comparison as an estimator; ``fitted.py`` once it is fitted
``LADDER``           ``ladder.py``       the table of methods, from the simplest up; a row is a method
``pls``, ...         ``builders.py``     how each method is built for a problem
``Problem, Rung``    ``problem.py``      what a method is built for, and what is known of it
``GivenRows``        ``given.py``        what the user hands in, checked
``GapFiller``        ``gap_filler.py``   gaps of inputs and outputs, filled in each fold
methods              ``methods/``        the searches that the ladder compares
``Trial``            ``trials.py``       a method in the outer folds; ``blend_trial.py``, the blend
``Blend``            ``blends.py``       convex blends and their weights
``Answers``          ``answers.py``      the most accurate, the simplest and the smallest answer
``learning_factors`` ``learning.py``     how much smaller errors become with all rows
``unit_model``       ``trust.py``        of which model the domain is, and whether rows are ordered
``outer_splits``     ``splits.py``       folds, and what the tables look like
``Leaderboard``      ``progress.py``     what a person sees meanwhile
``check_time``       ``clock.py``        a limit of time, kept between the steps of a search
==================== =================== ==========================================================
"""

from isthmus._doors import open_door

__getattr__, __dir__, __all__ = open_door(
    __name__,
    {
        "front": "fit_auto",
        "search": "MethodSearchCV",
    },
    neighbours={
        "answers": "component_curve",
        "ladder": "LADDER",
        "problem": "Problem",
    },
)
