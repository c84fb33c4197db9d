"""What a dependency regressor will need at its end, checked before its first stage is fitted."""

from __future__ import annotations

from typing import Any

from isthmus.kernels.wrappers import is_precomputed
from isthmus.preimages import Learned


def check_output_memory(outputs: Any, n: int, vectors: bool) -> None:
    """Refuse ``n`` outputs for which a learned pre-image, the default of vectors, has no memory."""
    chosen = outputs.preimage
    is_default = chosen is None or (isinstance(chosen, str) and chosen == "auto")
    if is_default and vectors and not is_precomputed(outputs.kernel):
        chosen = "learned"
    if isinstance(chosen, str) and chosen == "learned":
        chosen = Learned()
    if isinstance(chosen, Learned):
        chosen.check_rows(n)
