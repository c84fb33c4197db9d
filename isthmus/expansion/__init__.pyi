from isthmus.expansion.expansion import Expansion as Expansion
from isthmus.expansion.models import has_common_expansion as has_common_expansion
from isthmus.expansion.models import is_latent_binary as is_latent_binary

__all__ = [
    "Expansion",
]
