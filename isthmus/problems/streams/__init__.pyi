from isthmus.problems.streams.blockwise import FittedToBlocks as FittedToBlocks
from isthmus.problems.streams.blockwise import by_blocks as by_blocks
from isthmus.problems.streams.blockwise import maps_blocks as maps_blocks
from isthmus.problems.streams.blockwise import score_source as score_source
from isthmus.problems.streams.dask_rows import DaskRows as DaskRows
from isthmus.problems.streams.near_sums import near_moments as near_moments
from isthmus.problems.streams.sources import as_rows as as_rows
