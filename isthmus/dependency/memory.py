"""What a dependency regressor will need at its end, known before its first stage is fitted."""

from __future__ import annotations

from typing import Any

from isthmus.kernels.wrappers import is_precomputed
from isthmus.preimages import Learned


def check_output_memory(outputs: Any, n: int, vectors: bool) -> None:
    """Refuse ``n`` outputs for which a learned pre-image, the default of vectors, has no memory."""
    method = learned_preimage(outputs, vectors)
    if method is not None:
        method.check_rows(n)


def learned_preimage(outputs: Any, vectors: bool) -> Learned | None:
    """Return the learned pre-image of outputs, given or by default; None if they have another one."""
    chosen = outputs.preimage
    is_default = chosen is None or (isinstance(chosen, str) and chosen == "auto")
    if is_default and vectors and not is_precomputed(outputs.kernel):
        chosen = "learned"
    if isinstance(chosen, str) and chosen == "learned":
        return Learned()
    return chosen if isinstance(chosen, Learned) else None
