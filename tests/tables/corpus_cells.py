"""Dates, truth values, categories, numbers; compressed files, and files that are no tables."""

import bz2
import gzip
import importlib.util
import lzma

from corpus import ROWS, add, table

# -- dates, truth values, categories ---------------------------------------------------------------
for k, days in enumerate((
    "2024-01-31,2024-02-29", "31.01.2024,29.02.2024", "31/01/2024,29/02/2024", "01/31/2024,02/29/2024",
    "2024/01/31,2024/02/29", "2024-01-31T12:30:00,2024-02-29T01:00:00", "2024-01-31 12:30,2024-02-29 01:00",
    "2024-01-31T12:30:00+02:00,2024-02-29T01:00:00Z", "12:30:00,13:45:10",
)):  # fmt: skip
    a, b = days.split(",")
    add(f"dates {k}: {a}", f"x,day\n1,{a}\n2,{b}\n3,{a}\n", "number date")
add("dates as days on request", "x,day\n1,1970-01-02\n2,NA\n3,1970-03-01\n", "number date",
    [[1, 1], [2, None], [3, 59]], options={"types": {"day": "date"}})  # fmt: skip
add("no date among dates", "x,day\n1,1970-01-02\n2,soon\n3,1970-03-01\n",
    options={"types": {"day": "date"}},
    error="column 'day' has text in line 3, 'soon'")  # fmt: skip
for yes, no in (
    ("true", "false"),
    ("TRUE", "FALSE"),
    ("Yes", "no"),
    ("T", "F"),
    ("y", "n"),
    ("on", "off"),
):
    add(
        f"truth values {yes}",
        f"x,ok\n1,{yes}\n2,{no}\n3,NA\n",
        "number boolean",
        [[1, 1], [2, 0], [3, None]],
    )
add(
    "neither true nor false, late",
    "x,ok\n" + "1,yes\n" * 1200 + "2,maybe\n",
    error="has text in line 1202, 'maybe'",
)
add("categories", "x,c\n1,red\n2,blue\n3,red\n4,blue\n", "number category")
add("numbers as categories on request", "x,c\n1,3\n2,5\n3,3\n", "number category", [[1, 0], [2, 1], [3, 0]],
    options={"types": {"c": "category"}})  # fmt: skip
add(
    "free text", "x,c\n" + "".join(f"{i % 7},word {i} of many\n" for i in range(200)), "number text"
)
add(
    "a column left out",
    "x,c\n1,red\n2,blue\n",
    "number ignore",
    [[1], [2]],
    options={"types": {"c": "ignore"}},
)

# -- numbers ---------------------------------------------------------------------------------------
for cell, value in {
    "12345678901234567890": 12345678901234567890.0, "1e-320": 1e-320, "+1.5": 1.5, ".5": 0.5, "5.": 5.0,
    "007": 7.0, "1E5": 1e5, "-0": -0.0, " 1.5 ": 1.5, "\u22121.5": -1.5,
    "0.1000000000000000055511151231": 0.1,
    "9007199254740993": 9007199254740992.0, "9.999999999999999e99": 9.999999999999999e99,
}.items():  # fmt: skip
    add(
        f"number {cell!r}",
        f"a,b\n3,2\n{cell},-4\n0.5,3.25\n",
        "number number",
        [[3, 2], [value, -4], [0.5, 3.25]],
    )
for cell in (
    "1_000",
    "0x1A",
    "5%",
    "1.5D+03",
    "$5",
    "1.2.3",
    "--5",
    "1e",
    "١٢",
    "nan5",
    "1 000",
    "3 nm",
    "5-",
    "1,5",
):
    add(
        f"no number {cell!r}",
        f'a,b\n3,2\n"{cell}",-4\n0.5,3.25\n',
        error="column 'a' has text in line 3",
    )
for cell in ("inf", "-Infinity", "1e400"):
    add(
        f"infinite {cell!r}",
        f"a,b\n3,2\n{cell},-4\n0.5,3.25\n",
        error="column 'a' is infinite in line 3",
    )
for cell, told in {
    "1e308": "1e+308",
    "-1.7976931348623157e308": "-1.79769e+308",
    "2e100": "2e+100",
}.items():
    add(
        f"beyond all sums {cell!r}",
        f"a,b\n3,2\n{cell},-4\n0.5,3.25\n",
        error=f"column 'a' holds {told} in line 3",
    )
add(
    "commas for thousands",
    'a,b\n"1,234",2\n"2,345",3\n"1,111",4\n',
    error="Marks between thousands",
)
add(
    "points for thousands",
    "a;b\n1.234,5;2\n2,5;3\n1,5;4\n",
    error="column 'a' has text in line 2, '1.234,5'",
)

# -- compressed ------------------------------------------------------------------------------------


def zstd(data):
    import pyarrow

    return pyarrow.compress(data, "zstd", asbytes=True)


PACK = {".zst": zstd} if importlib.util.find_spec("pyarrow") else {}
PACK |= {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
BIG = (
    "a,b\n" + "".join(f"{i * 7919 % 10007},{i * 104729 % 10009}\n" for i in range(5000))
).encode()
LABEL = {".gz": "gzip", ".zst": "zstd", ".bz2": "bzip2", ".xz": "xz"}
for suffix, pack in PACK.items():
    add(f"packed {suffix}", pack(table().encode()), "number number", ROWS, file=f"t.csv{suffix}",
        format=f"text, {LABEL[suffix]}")  # fmt: skip
    add(f"packed {suffix}, named .csv", pack(table().encode()), "number number", ROWS)
    add(f"packed {suffix}, cut off", pack(BIG)[: len(pack(BIG)) // 2], file=f"t.csv{suffix}",
        error="damaged or truncated")  # fmt: skip
    add(f"packed {suffix}, nothing in it", pack(b""), file=f"t.csv{suffix}", error="is empty")
    add(f"two parts of {suffix}", pack(table().encode()) + pack(b"7,8\n"), "number number",
        [*ROWS, [7.0, 8.0]], file=f"t.csv{suffix}")  # fmt: skip
add("not packed, named .gz", table(), "number number", ROWS, file="t.csv.gz")

# -- what is no table ------------------------------------------------------------------------------
for name, head in {"PDF": b"%PDF-1.7\n", "PNG": b"\x89PNG\r\n\x1a\n", "JPEG": b"\xff\xd8\xff\xe0",
                   "program": b"\x7fELF\x02", "SQLite": b"SQLite format 3\0", "HDF5": b"\x89HDF\r\n",
                   "zip": b"PK\x03\x04\x14", "pickle": b"\x80\x04\x95\x10"}.items():  # fmt: skip
    add(f"a {name} file", head + bytes(range(64)), error=f"is a {name} file, not a table")
add("null bytes", b"a,b\n1,\x002\n", error="has null bytes")
add("control characters", bytes(range(1, 9)) * 40 + b"\n", error="is not a text file")
add("random bytes", bytes((i * 7919 + i * i * 31) % 256 for i in range(4000)), error="")
add("damaged UTF-8", "a,b\n1,é\n".encode() + b"2,\xe9\n", error="not UTF-8 text")
add("UTF-16 cut off", table().encode("utf-16")[:-1], error="ends within a character")
add("an unknown suffix", table(), file="t.doc", error="'.doc' are not known")
add("no suffix", table(), file="t", error="'' are not known")
