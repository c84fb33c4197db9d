from isthmus.model_selection.component_search import ComponentSearchCV as ComponentSearchCV
from isthmus.model_selection.routing import routing_is_enabled as routing_is_enabled
from isthmus.model_selection.routing import takes_groups as takes_groups
from isthmus.model_selection.sample_selection import duplex as duplex
from isthmus.model_selection.sample_selection import kennard_stone as kennard_stone
from isthmus.model_selection.spectral_intervals import IntervalPLS as IntervalPLS
from isthmus.model_selection.spectral_intervals import interval_pls as interval_pls
from isthmus.model_selection.splits import ContentKFold as ContentKFold
from isthmus.model_selection.splits import is_auto as is_auto
from isthmus.model_selection.splits import outer_splits as outer_splits
from isthmus.model_selection.stability import selection_frequencies as selection_frequencies

__all__ = [
    "ComponentSearchCV",
    "duplex",
    "interval_pls",
    "kennard_stone",
    "selection_frequencies",
]
