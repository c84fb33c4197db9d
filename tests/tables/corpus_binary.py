"""Tables that are no text: spreadsheets, Parquet, Feather and NumPy files."""

import datetime
import io
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

ROWS = [[1.5, 2.0], [2.5, -4.0], [0.5, 3.25]]
CASES = []


def add(name, content, kinds="", rows=None, *, file, error="", names="", options=None, **facts):
    facts = {key.replace("_", " "): value for key, value in facts.items()}
    if content is not None:
        CASES.append((name, file, content, kinds, rows, facts, error, options or {}, names))


# -- spreadsheets ----------------------------------------------------------------------------------


def xlsx(*sheets):
    try:
        from openpyxl import Workbook
    except ImportError:  # with the oldest packages
        return None

    book = Workbook()
    book.remove(book.active)
    for k, rows in enumerate(sheets):
        sheet = book.create_sheet(f"sheet {k + 1}")
        for row in rows:
            sheet.append(row)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def ods(rows):
    """The smallest OpenDocument spreadsheet."""
    space = 'xmlns:{0}="urn:oasis:names:tc:opendocument:xmlns:{0}:1.0"'
    spaces = " ".join(space.format(name) for name in ("office", "table", "text"))
    lines = []
    for row in rows:
        cells = [
            f'<table:table-cell office:value-type="float" office:value="{v}"><text:p>{v}</text:p>'
            "</table:table-cell>"
            if isinstance(v, int | float)
            else f'<table:table-cell office:value-type="string"><text:p>{v}</text:p></table:table-cell>'
            for v in row
        ]
        lines.append("<table:table-row>" + "".join(cells) + "</table:table-row>")
    body = (
        f'<?xml version="1.0"?><office:document-content {spaces} office:version="1.2"><office:body>'
        f'<office:spreadsheet><table:table table:name="one">{"".join(lines)}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = (
        '<?xml version="1.0"?><manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:'
        f'manifest:1.0"><manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/>'
        "</manifest:manifest>"
    )
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("mimetype", kind)
        archive.writestr("content.xml", body)
        archive.writestr("META-INF/manifest.xml", manifest)
    return stream.getvalue()


HEAD = ["a", "b"]
SHEET = {"file": "t.xlsx"}
add("sheet", xlsx([HEAD, *ROWS]), "number number", ROWS, **SHEET, format="spreadsheet", names="a b")
add("sheet named .csv", xlsx([HEAD, *ROWS]), file="t.csv", error="is a zip file, not a table")
add("OpenDocument", ods([HEAD, *ROWS]), "number number", ROWS, file="t.ods", names="a b")
add("OpenDocument, row names", ods([["id", *HEAD], *[[f"s{k}", *r] for k, r in enumerate(ROWS)]]),
    "id number number", ROWS, file="t.ods")  # fmt: skip
add("sheet with row names", xlsx([["id", *HEAD], *[[f"s{k}", *r] for k, r in enumerate(ROWS)]]),
    "id number number", ROWS, **SHEET)  # fmt: skip
add("sheet with units", xlsx([HEAD, ["nm", "%"], *ROWS]), "number number", ROWS, **SHEET,
    units="a line of units is skipped")  # fmt: skip
add("sheet with a title", xlsx([["Results"], HEAD, *ROWS]), "number number", ROWS, **SHEET)
add("sheet with gaps", xlsx([HEAD, [1.5, None], [None, None], [2.5, "NA"]]), "number empty",
    [[1.5, None], [2.5, None]], **SHEET)  # fmt: skip
add("sheet with empty rows on top", xlsx([[], [], HEAD, *ROWS, [7, "x"]]), **SHEET,
    error="column 'b' has text in row 7, 'x'")  # fmt: skip
add("sheet with dates", xlsx([["x", "day"], [1, datetime.date(2024, 1, 31)], [2, datetime.date(2024, 1,
    31)]]),
    "number date", **SHEET)  # fmt: skip
add("sheet with truth values", xlsx([["x", "ok"], [1, True], [2, False]]), "number boolean", [[1, 1],
    [2, 0]],
    **SHEET)  # fmt: skip
add("sheet of numbers alone", xlsx(ROWS), "number number", ROWS, **SHEET, names="x1 x2")
add(
    "wavelengths in a sheet",
    xlsx([[1100, 1102.5], *ROWS]),
    "number number",
    ROWS,
    **SHEET,
    names="1100 1102.5",
)
add("two sheets", xlsx([HEAD, *ROWS], [["other"], [1]]), "number number", ROWS, **SHEET,
    sheet="sheet 1, the first; not read: 'sheet 2'")  # fmt: skip
add("an empty sheet", xlsx([]), **SHEET, error="t.xlsx has no rows")
add(
    "sheet cut off",
    (xlsx([HEAD, *ROWS]) or b"PK\x03\x04")[:1500],
    **SHEET,
    error="not a spreadsheet",
)
add("no sheet", b"hello", **SHEET, error="not a spreadsheet")
add("a zip that is no sheet", b"PK\x03\x04 and no more", **SHEET, error="not a spreadsheet")

# -- Parquet and Feather ---------------------------------------------------------------------------


def parquet(**columns):
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


def feather(**columns):
    stream = io.BytesIO()
    pa.feather.write_feather(pa.table(columns), stream)
    return stream.getvalue()


A, B = [1.5, 2.5, 0.5], [2, -4, None]
GAPS = [[1.5, 2.0], [2.5, -4.0], [0.5, None]]
for suffix, make in {"parquet": parquet, "feather": feather}.items():
    FILE = {"file": f"t.{suffix}"}
    add(
        f"{suffix}",
        make(a=A, b=B),
        "number number",
        GAPS,
        **FILE,
        format=suffix.title(),
        names="a b",
    )
    add(f"{suffix}, truth values", make(a=A, b=[True, False, None]), "number boolean",
        [[1.5, 1], [2.5, 0], [0.5, None]], **FILE)  # fmt: skip
    add(
        f"{suffix}, row names",
        make(id=["x", "y", "z"], a=A),
        "id number",
        [[1.5], [2.5], [0.5]],
        **FILE,
    )
    add(f"{suffix}, categories", make(c=pa.array(["u", "v", "u"]).dictionary_encode(), a=A),
    "category number",
        **FILE)  # fmt: skip
    add(f"{suffix}, dates", make(a=A, d=pa.array([1, 2, 2], pa.date32())), "number date", **FILE)
    add(f"{suffix}, numbers in texts", make(a=["1.5", "2.5", "NA"], b=B), "number number", **FILE)
    add(
        f"{suffix}, float16",
        make(a=np.array(A, np.float16)),
        "number",
        [[1.5], [2.5], [0.5]],
        **FILE,
    )
    add(
        f"{suffix}, lists",
        make(a=A, v=[[1], [2], [3]]),
        **FILE,
        error="lists, records or bytes: 'v'",
    )
    add(
        f"{suffix}, bytes",
        make(a=A, v=[b"1", b"2", b"3"]),
        **FILE,
        error="lists, records or bytes: 'v'",
    )
    add(
        f"{suffix}, infinite",
        make(a=[1.0, float("inf")]),
        **FILE,
        error="column 'a' is infinite in row 2",
    )
    add(f"{suffix}, no rows", make(a=pa.array([], pa.float64())), **FILE, error="has no rows")
    add(f"{suffix}, cut off", make(a=A, b=B)[:-20], **FILE, error=f"not a {suffix.title()} file")
    add(f"{suffix}, text", b"a,b\n1,2\n", **FILE, error=f"not a {suffix.title()} file")
add("Parquet named .csv", parquet(a=A, b=B), "number number", GAPS, file="t.csv", format="Parquet")
add("Parquet, an index of pandas", parquet(a=A * 2, __index_level_0__=list(range(6))), "number index",
    file="t.parquet")  # fmt: skip
add("Parquet, decimals", parquet(a=pa.array([1, 2, 3]).cast(pa.decimal128(30, 2))), "number",
    [[1.0], [2.0], [3.0]], file="t.parquet")  # fmt: skip

# -- NumPy -----------------------------------------------------------------------------------------


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


def npz(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


M = np.array(ROWS)
NPY = {"file": "t.npy"}
for name, array in {"C": M, "Fortran": np.asfortranarray(M), "big-endian": M.astype(">f8"),
                    "float32": M.astype("f4"), "float16": M.astype("f2")}.items():  # fmt: skip
    add(f"npy, {name}", npy(array), "number number", ROWS, **NPY, names="x1 x2", format="npy")
add(
    "npy of integers",
    npy(np.arange(6).reshape(3, 2)),
    "number number",
    [[0, 1], [2, 3], [4, 5]],
    **NPY,
)
add("npy of truth values", npy(M > 2), "number number", [[0, 0], [1, 0], [0, 1]], **NPY)
add("npy of one dimension", npy(M[:, 0]), "number", [[1.5], [2.5], [0.5]], **NPY)
add("npy with gaps", npy(np.array([[1.0, np.nan]])), "number empty", [[1.0, None]], **NPY)
add(
    "npy with row numbers",
    npy(np.column_stack([np.arange(9), np.arange(9) % 4])),
    "index number",
    **NPY,
)
add(
    "npy, infinite",
    npy(np.array([[1.0], [-np.inf]])),
    **NPY,
    error="column 'x1' is infinite in row 2",
)
add("npy of complex numbers", npy(M + 1j), **NPY, error="of type complex128, must be numbers")
add("npy of words", npy(np.array(["a"])), **NPY, error="must be numbers")
add("npy of records", npy(np.zeros(3, [("a", float)])), **NPY, error="must be numbers")
add("npy of objects", npy(np.array([{}], dtype=object)), **NPY, error="holds Python objects")
add(
    "npy of three dimensions",
    npy(np.zeros((2, 2, 2))),
    **NPY,
    error="has 3 dimensions, must have 2",
)
add("npy without rows", npy(np.zeros((0, 2))), **NPY, error="it is empty")
add("npy cut off", npy(M)[:-9], **NPY, error="is not a numpy file")
add(
    "npy of a huge shape", npy(M).replace(b"(3, 2)", b"(3e9,2)".ljust(6)), **NPY, error="numpy file"
)
add("npy that is text", b"hello", **NPY, error="or is not a NumPy file")
add("npz, one array", npz(data=M), "number number", ROWS, file="t.npz")
add("npz, X of several", npz(Z=M[:1], X=M), "number number", ROWS, file="t.npz")
add(
    "npz, none that is asked for",
    npz(a=M, b=M),
    file="t.npz",
    error="has no array 'X'; it has 'a', 'b'",
)
add("npz cut off", npz(X=M)[:200], file="t.npz", error="numpy file")
