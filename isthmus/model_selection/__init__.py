"""Model selection: the number of components and the ridge weight by cross-validation, and which rows.

=========================== ============================================================
name                        what it is
=========================== ============================================================
:class:`ComponentSearchCV`  a grid search that gets all candidates from one fit per fold
:func:`kennard_stone`       rows that cover the inputs
:func:`spxy`                rows that cover inputs and outputs
:func:`duplex`              training and test rows that both cover the inputs
=========================== ============================================================
"""

from isthmus.model_selection.component_search import ComponentSearchCV
from isthmus.model_selection.sample_selection import duplex, kennard_stone, spxy

__all__ = ["ComponentSearchCV", "duplex", "kennard_stone", "spxy"]
