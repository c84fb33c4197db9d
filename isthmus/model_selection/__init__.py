"""Model selection: the number of components and the ridge weight by cross-validation, and which rows.

============================= ============================================================
name                          what it is
============================= ============================================================
:class:`ComponentSearchCV`    a grid search that gets all candidates from one fit per fold
:func:`interval_pls`          the error of PLS on each stretch of a curve
:func:`kennard_stone`         rows that cover the inputs, or inputs and outputs (SPXY)
:func:`selection_frequencies` how often each input is selected in halves of the rows
:func:`duplex`                training and test rows that both cover the inputs
============================= ============================================================
"""

from isthmus.model_selection.component_search import ComponentSearchCV
from isthmus.model_selection.interval_pls import IntervalPLS as IntervalPLS
from isthmus.model_selection.interval_pls import interval_pls
from isthmus.model_selection.sample_selection import duplex, kennard_stone
from isthmus.model_selection.stability import selection_frequencies

__all__ = [
    "ComponentSearchCV",
    "duplex",
    "interval_pls",
    "kennard_stone",
    "selection_frequencies",
]
