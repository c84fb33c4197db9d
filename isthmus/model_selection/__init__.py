"""Model selection: the number of components and the ridge weight by cross-validation.

=========================== ============================================================
class                       what it is
=========================== ============================================================
:class:`ComponentSearchCV`  a grid search that gets all candidates from one fit per fold
=========================== ============================================================
"""

from isthmus.model_selection.component_search import ComponentSearchCV

__all__ = ["ComponentSearchCV"]
