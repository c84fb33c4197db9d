"""One reader for every table: text, spreadsheets, Parquet, Feather, NumPy; files, pipes, compressed.

================== ================================================================================
file               what it does
================== ================================================================================
``reader.py``      ``TableReader``: open, decide, then the rows once in blocks
``table.py``       ``read_table``: the whole in memory, in arrays that grow
``pairs.py``       ``read_pair``: inputs and outputs from one or two tables, row by row
``row_names.py``   which column names the rows of several tables, decided for all of them
``writing.py``     ``Writer``: rows to a file as they come, without formulas
``kinds.py``       what each column is, and why
``layout.py``      separator, decimal mark, header and units of a text table
``cells.py``       what one cell is
``names.py``       columns by name: alike, or close enough to be what was meant
``sources.py``     files, pipes and standard input, decompressed; the format by its first bytes
``encoding.py``    text as UTF-8 in blocks of whole records
``engines.py``     blocks of text to numbers by Polars or NumPy
``sheet_sizes.py`` what a spreadsheet unpacks to, counted before any library reads it
``formats.py``     ``Format``, one face of all, and text; ``sheets.py``, ``frames.py``, ``arrays.py``
================== ================================================================================

Rows are counted as the user sees them: lines of a text file and rows of a spreadsheet, header included;
rows of data from 1 in all other formats. What is decided on the first rows holds for the whole: a row
that contradicts it is an error that names the row.
"""

from isthmus._doors import open_door

__getattr__, __dir__, __all__ = open_door(
    __name__,
    {
        "table": "read_table",
    },
    neighbours={
        "categories": "expand indicate pick_labels",
        "errors": "TableError plural some",
        "kinds": "Column",
        "names": "find_all split_names suggest",
        "pairs": "Pair Reading align read_pair",
        "reader": "TableReader split_key",
        "row_names": "Wanted read_together",
        "table": "Table describe read_groups",
        "writing": "WRITABLE Writer",
    },
)
