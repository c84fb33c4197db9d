"""The centred, scaled and weighted least-squares problem: one engine under regression and projections.

A form is how the second moments are reached: as rows, as moments or as a Gram matrix. What a training
fold needs to know of its rows is what is left of the whole when the held-out rows are taken away; centring
and scaling are redone inside each fold. Where a form would lose digits it says so, and the problem is
solved from rows.

================  =============================================================================
``frame.py``      means, scales and weights: from the user's units and back
``form.py``       ``Form``: what a solver may ask; ``Folds``: a fold taken away
``rows.py``       ``RowForm``: all digits
``moments.py``    ``MomentForm``: X'X and X'Y; many small folds as one stack
``gram.py``       ``GramForm``: XX'; a Gram matrix seen from the mean of some rows
``sums.py``       ``Moments``: summed, merged, subtracted, with few rows that keep all digits
``summing.py``    sums over rows, dense or sparse
``blocks.py``     moments of blocks of rows, fold by fold
``streams/``      rows that do not fit into memory: blocks, Arrow, Parquet, Dask
``ridge.py``      ``RidgeSpectrum``: ridge in a feature space, all weights and folds from one decomposition;
                 ``Distinct``: rows without their copies
``missing.py``    expected moments of incomplete rows
``gaps.py``       what is observed of a row tells of the rest of it
``splits.py``     rows and splits of a cross-validation
``paths.py``      predictions of a fold with every number of components, and their errors
``scores.py``     their scores
``parallel.py``   independent pieces of work side by side
================  =============================================================================
"""

from isthmus._doors import open_door

__getattr__, __dir__, __all__ = open_door(
    __name__,
    {
        "streams.sources": "Rows",
        "sums": "Moments",
    },
    neighbours={
        "blocks": "BlockMoments",
        "form": "FoldForms Form GRAM_DIGITS RIDGE_SAFE Spectrum",
        "frame": "Frame output_units ridge_in_units scales_x",
        "gaps": "MissingModel",
        "gram": "Centre GramForm",
        "missing": "expected_form fit_missing unit_of_seen",
        "moments": "MomentForm MomentScores",
        "parallel": "limit_threads thread_map",
        "paths": "FoldPath RefitPath expanded_errors pairs",
        "ridge": "Distinct Folds RidgeSpectrum is_partition",
        "rows": "RowForm ScoreStack off",
        "scores": "OutputMean QUICK_SCORES TestRows score_path",
        "splits": "CheckedRows Split checked_folds dense_rows without_empty",
    },
)
