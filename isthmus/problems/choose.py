"""Which form is the cheapest start for a spectrum."""

from __future__ import annotations

from isthmus.problems.form import Form
from isthmus.problems.gram import GramForm
from isthmus.problems.moments import MomentForm
from isthmus.problems.rows import RowForm

# Up to this n p min(n, p) the singular value decomposition of X is a matter of milliseconds.
_SMALL = 1_000_000


def cheapest_form(n: int, p: int) -> type[Form]:
    """Rows where their own decomposition costs nothing, else the smaller Gram matrix."""
    if n * p * min(n, p) <= _SMALL:
        return RowForm
    return MomentForm if p < n else GramForm  # as many centred rows as columns have a null space
