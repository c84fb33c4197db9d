"""Small pieces of linear algebra that every room above needs."""

from isthmus._doors import open_door

__getattr__, __dir__, __all__ = open_door(
    __name__,
    {},
    neighbours={
        "basics": "Array BLOCK BLOCK_ROWS EPS GRAM_RANK_TOL LARGEST_SQUARE ROUNDING "
        "TIE column_scales column_signs inverse_factor inverse_root leading_eigenvector "
        "orthonormal_basis out_of_range power_of_two require_squares row_blocks sample_divisor "
        "spreads two_sum weight_unit weighted_median",
        "eigen": "descending_eigh largest_eigenvalue leading_or_all_pairs "
        "leading_pairs smallest_ritz_value",
        "graded": "ColumnSizes column_units graded_svd graded_units is_graded",
        "roots": "ROWS_PER_COLUMN Rows TRUSTED digits_of downdated few_rows_of "
        "rows_of_moments stacked triangular_rows trusted_factor trusted_rows",
    },
)
