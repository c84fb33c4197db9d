from isthmus.tables.categories import expand as expand
from isthmus.tables.categories import indicate as indicate
from isthmus.tables.categories import pick_labels as pick_labels
from isthmus.tables.errors import TableError as TableError
from isthmus.tables.errors import plural as plural
from isthmus.tables.errors import some as some
from isthmus.tables.kinds import Column as Column
from isthmus.tables.names import find_all as find_all
from isthmus.tables.names import split_names as split_names
from isthmus.tables.names import suggest as suggest
from isthmus.tables.pairs import Pair as Pair
from isthmus.tables.pairs import Reading as Reading
from isthmus.tables.pairs import align as align
from isthmus.tables.pairs import read_pair as read_pair
from isthmus.tables.reader import TableReader as TableReader
from isthmus.tables.reader import split_key as split_key
from isthmus.tables.row_names import Wanted as Wanted
from isthmus.tables.row_names import read_together as read_together
from isthmus.tables.table import Table as Table
from isthmus.tables.table import describe as describe
from isthmus.tables.table import read_groups as read_groups
from isthmus.tables.table import read_table as read_table
from isthmus.tables.writing import WRITABLE as WRITABLE
from isthmus.tables.writing import Writer as Writer

__all__ = [
    "read_table",
]
