from isthmus.auto.answers import component_curve as component_curve
from isthmus.auto.front import fit_auto as fit_auto
from isthmus.auto.ladder import LADDER as LADDER
from isthmus.auto.problem import Problem as Problem
from isthmus.auto.search import MethodSearchCV as MethodSearchCV

__all__ = [
    "MethodSearchCV",
    "fit_auto",
]
