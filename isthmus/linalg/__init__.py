"""Small pieces of linear algebra that every room above needs."""

from isthmus.linalg.basics import (
    EPS,
    GRAM_RANK_TOL,
    TIE,
    Array,
    column_signs,
    inverse_factor,
    power_of_two,
    row_blocks,
    safe_cholesky,
    two_sum,
)
from isthmus.linalg.eigen import (
    block_lanczos,
    descending_eigh,
    leading_eigenvector,
    leading_or_all_pairs,
    leading_pairs,
    smallest_ritz_value,
)

__all__ = [
    "EPS",
    "GRAM_RANK_TOL",
    "TIE",
    "Array",
    "block_lanczos",
    "column_signs",
    "descending_eigh",
    "inverse_factor",
    "leading_eigenvector",
    "leading_or_all_pairs",
    "leading_pairs",
    "power_of_two",
    "row_blocks",
    "safe_cholesky",
    "smallest_ritz_value",
    "two_sum",
]
