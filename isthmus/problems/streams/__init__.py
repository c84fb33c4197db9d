"""Rows that do not fit into memory, block by block, on one machine or many.

=================== ===========================================================================
file                what it has
=================== ===========================================================================
``sources.py``      ``isthmus.Rows``: rows that do not fit into memory, block by block
``blockwise.py``    what lets methods of estimators take these in place of an array
``near_sums.py``    sums of a block, seen from the mean of the rows before
``walks.py``        what a walk over them has summed; ``BlockError``: where it stopped
``checking.py``     checks of one such block
``readers.py``      where these blocks come from: a callable, arrays on disk, Arrow, Parquet
``summed.py``       rows that have been summed already
``dask_rows.py``    the same rows as Dask collections: a tree of sums
``dask_door.py``    the way to it, without importing Dask
``dask_chunks.py``  collections of inputs, outputs and weights, cut alike
``dask_sample.py``  a sample of their rows
``dask_maps.py``    predictions of Dask collections, which stay lazy
=================== ===========================================================================
"""

from isthmus._doors import open_door

__getattr__, __dir__, __all__ = open_door(
    __name__,
    {},
    neighbours={
        "blockwise": "FittedToBlocks by_blocks maps_blocks score_source",
        "dask_rows": "DaskRows",
        "near_sums": "near_moments",
        "sources": "as_rows",
    },
)
