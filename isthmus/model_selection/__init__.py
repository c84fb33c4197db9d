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

from isthmus._doors import open_door

__getattr__, __dir__, __all__ = open_door(
    __name__,
    {
        "component_search": "ComponentSearchCV",
        "sample_selection": "duplex kennard_stone",
        "spectral_intervals": "interval_pls",
        "stability": "selection_frequencies",
    },
    neighbours={
        "routing": "routing_is_enabled takes_groups",
        "spectral_intervals": "IntervalPLS",
        "splits": "ContentKFold is_auto outer_splits",
    },
)
