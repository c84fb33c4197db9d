"""Spreadsheets that unpack to far more than they are: refused in bounded memory, before any library.

Each file is read in a process of its own under a limit of memory; the library that builds the cells
would end such a process, so an answer, and the peak of its memory, are what is looked at.
"""

import io
import json
import struct
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isthmus.tables import TableError, read_table, sheet_sizes
from isthmus.tables.reader import TableReader

pytest.importorskip("python_calamine")
openpyxl = pytest.importorskip("openpyxl")

MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def xlsx(*sheets, texts=()):
    """Sheets of given XML in the frame of a workbook."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for k in range(len(sheets)):
        book.create_sheet(f"s{k}").append(["x"])
    saved, stream = io.BytesIO(), io.BytesIO()
    book.save(saved)
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            data = old.read(name)
            if name.startswith("xl/worksheets/sheet"):
                body = sheets[int(name[19:-4]) - 1]
                data = body if "<worksheet" in body else f"<worksheet {MAIN}>{body}</worksheet>"
            new.writestr(name, data)
        texts = "".join(f"<si><t>{text}</t></si>" for text in texts)
        new.writestr("xl/sharedStrings.xml", f"<sst {MAIN}>{texts}</sst>")
    return stream.getvalue()


def cells(*filled):
    """Rows of a sheet with a value at each place."""
    lines = [f'<row><c r="{ref}"><v>{k}</v></c></row>' for k, ref in enumerate(filled)]
    return "<sheetData>" + "".join(lines) + "</sheetData>"


TABLE = (
    '<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c>'
    '<c r="B1" t="inlineStr"><is><t>b</t></is></c></row>'
)
for i in range(2, 9):
    TABLE += f'<row r="{i}"><c r="A{i}"><v>{i}.5</v></c><c r="B{i}"><v>{i % 3}</v></c></row>'
SMALL = [[i + 0.5, i % 3] for i in range(2, 9)]


def ods(*rows):
    spaces = " ".join(
        f'xmlns:{n}="urn:oasis:names:tc:opendocument:xmlns:{n}:1.0"'
        for n in ("office", "table", "text")
    )
    body = (
        f'<?xml version="1.0"?><office:document-content {spaces} xmlns:calcext="urn:x"><office:body>'
        f'<office:spreadsheet><table:table table:name="one">{"".join(rows)}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    space = 'xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"'
    manifest = (
        f'<manifest:manifest {space}><manifest:file-entry manifest:full-path="/" '
        f'manifest:media-type="{kind}"/></manifest:manifest>'
    )
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", kind)
        archive.writestr("content.xml", body)
        archive.writestr("META-INF/manifest.xml", manifest)
    return stream.getvalue()


def of(value="", columns=1):
    """A cell of .ods, repeated."""
    repeated = f' table:number-columns-repeated="{columns}"'
    if value == "":
        return f"<table:table-cell{repeated}/>"
    kind = "string" if isinstance(value, str) else "float"
    given = "" if kind == "string" else f' office:value="{value}"'
    return (
        f'<table:table-cell office:value-type="{kind}"{given}{repeated}><text:p>{value}</text:p>'
        "</table:table-cell>"
    )


def row(*found, rows=1):
    return (
        f'<table:table-row table:number-rows-repeated="{rows}">{"".join(found)}</table:table-row>'
    )


def record(kind, data=b""):
    return struct.pack("<HH", kind, len(data)) + data


def xls(*sheets, times=1):
    """The smallest .xls: cells (row, column, value), each sheet so many times."""

    def begin(kind):
        return record(0x809, struct.pack("<HHHHII", 0x600, kind, 0, 0, 0, 0))

    bodies = [
        begin(0x10)
        + b"".join(record(0x203, struct.pack("<HHHd", r, c, 0, v)) for r, c, v in sheet)
        + record(0x0A)
        for sheet in sheets
    ]
    bound = [struct.pack("<IBBBB", 0, 0, 0, 2, 0) + b"s%d" % k for k in range(len(sheets) * times)]
    start = len(begin(5)) + sum(4 + len(b) for b in bound) + 4
    pointers = b""
    for k, each in enumerate(bound):
        place = start + sum(map(len, bodies[: k % len(sheets)]))
        pointers += record(0x85, struct.pack("<I", place) + each[4:])
    stream = begin(5) + pointers + record(0x0A) + b"".join(bodies)
    stream = stream.ljust(max(4096, -(-len(stream) // 512) * 512), b"\0")
    n = len(stream) // 512
    end, free = 0xFFFFFFFE, 0xFFFFFFFF
    table = [*range(1, n), end, end, 0xFFFFFFFD]

    def entry(name, kind, child, first, size):
        raw = name.encode("utf-16-le") + b"\0\0"
        more = struct.pack(
            "<HBBIII16sIQQIQ", len(raw), kind, 1, free, free, child, b"", 0, 0, 0, first, size
        )
        return raw.ljust(64, b"\0") + more

    folder = entry("Root Entry", 5, 1, end, 0) + entry("Workbook", 2, free, 0, len(stream))
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 16
    head += struct.pack("<6H10I", 0x3E, 3, 0xFFFE, 9, 6, 0, 0, 0, 1, n, 0, 4096, end, 0, end, 0)
    head += struct.pack("<109I", n + 1, *[free] * 108)
    return (
        head
        + stream
        + folder.ljust(512, b"\0")
        + struct.pack("<128I", *(table + [free] * (128 - len(table))))
    )


def with_lying_length(data):
    """Say in the index of the archive that its largest part has 100 bytes."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        part = max(archive.infolist(), key=lambda info: info.file_size)
    true, lie = struct.pack("<I", part.file_size), struct.pack("<I", 100)
    return data.replace(true, lie)


def with_texts_twice(data):
    """Add shared texts, of a name that differs in the case of its letters."""
    stream = io.BytesIO(data)
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "xl/SharedStrings.xml", f"<sst {MAIN}><si><t>{'x' * 500_000}</t></si></sst>"
        )
    return stream.getvalue()


TEXTS = f"""<sheetData>{'<row><c t="s"><v>0</v></c></row>' * 900}</sheetData>"""
PLAIN = "<table:table-cell><text:p>a</text:p></table:table-cell>"
FAR = {
    "corner.xlsx": xlsx(cells("A1", "XFD1048576")),
    "one cell.xlsx": xlsx(cells("XFD1048576")),
    "thirty million.xlsx": xlsx(cells("A1", "CV300000")),
    "lying dimension.xlsx": xlsx('<dimension ref="A1:B2"/>' + cells("A1", "CV300000")),
    "second sheet.xlsx": xlsx(f"<sheetData>{TABLE}</sheetData>", cells("A1", "CV300000")),
    "no references.xlsx": xlsx(
        f"<sheetData><row>{'<c><v>1</v></c>' * 3000}</row>{'<row><c><v>1</v></c></row>' * 9000}</sheetData>"
    ),
    "number of a row.xlsx": xlsx('<sheetData><row r="200000000"><c><v>1</v></c></row></sheetData>'),
    "beyond all columns.xlsx": xlsx(cells("ZZZZZ1")),
    "name spaces.xlsx": xlsx(
        f'<q:worksheet xmlns:q="{MAIN[7:-1]}"><q:sheetData><q:row><q:c r="A1"><q:v>1</q:v></q:c></q:row>'
        '<q:row><q:c r="CV300000"><q:v>1</q:v></q:c></q:row></q:sheetData></q:worksheet>'
    ),
    "text in many cells.xlsx": xlsx(TEXTS, texts=["x" * 500_000]),
    "texts twice.xlsx": with_texts_twice(xlsx(TEXTS, texts=["x"])),
    "bomb of a sheet.xlsx": xlsx("<sheetData>" + " " * 350_000_000 + "</sheetData>"),
    "bomb of texts.xlsx": xlsx(cells("A1"), texts=["x" * 350_000_000]),
    "repeated.ods": ods(row(of(1, 1000), rows=30000)),
    "far.ods": ods(row(of(1)), row(of("", 16384), rows=1_000_000), row(of("", 16000), of(1))),
    "far, of no kind.ods": ods(row(PLAIN), row(of("", 16000), PLAIN, rows=100_000)),
    "text in many cells.ods": ods(row(of("x" * 500_000), rows=900)),
    "spaces.ods": ods(row(PLAIN.replace(">a<", '><text:s text:c="900000000"/><'))),
    "limit.xls": xls([(0, 0, 1.0), (65535, 255, 2.0)]),
    "beyond.xls": xls([(0, 0, 1.0), (65535, 65535, 2.0)]),
    "many times.xls": xls([(0, 0, 1.0), (9999, 255, 2.0)], times=50),
}  # fmt: skip
DAMAGED = {
    "lying length.xlsx": with_lying_length(
        xlsx("<sheetData>" + " " * 10**6 + cells("A1", "CV300000")[11:])
    ),
    "document type.xlsx": xlsx(
        f'<!DOCTYPE worksheet [<!ENTITY e "A1">]><worksheet {MAIN}>{cells("A1")}</worksheet>'
    ),
    "not whole.xlsx": xlsx(f"<worksheet {MAIN}><sheetData>"),
    "rows in cells.ods": ods(
        f"<table:table-row>{of(1, 16000)}<table:table-cell><table:table-row/></table:table-cell>"
        f"{of(1, 16000)}</table:table-row>"
    ),
    "table in a cell.ods": ods(row("<table:table-cell><table:table/></table:table-cell>")),
}
FINE = {
    "lying dimension.xlsx": xlsx(f'<dimension ref="A1:XFD1048576"/><sheetData>{TABLE}</sheetData>'),
    "blank but coloured.xlsx": xlsx(
        f'<sheetData>{TABLE}<row r="300000"><c r="CV300000" s="0"/></row></sheetData>'
    ),
    "tail.ods": ods(
        row(of("a"), of("b"), of("", 16382)),
        *(row(of(a), of(b), of("", 16382)) for a, b in SMALL),
        row(of("", 16384), rows=1_048_000),
    ),
    "small.xls": xls([(i, j, v) for i, line in enumerate(SMALL) for j, v in enumerate(line)]),
}
READ = r"""
import json, os, resource, sys
import python_calamine
from isthmus.tables import TableError, read_table
for name in sorted(os.listdir()):
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            told = str(read_table(name).values.shape)
        except TableError as error:
            told = str(error)
        peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
        print(json.dumps([name, told, peak]), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """What reading each file in a process of its own ends in, and the growth of its memory in MB."""
    if not sys.platform.startswith("linux"):
        pytest.skip("limits of memory as Linux keeps them")
    folder = tmp_path_factory.mktemp("sheets")
    for kind, files in (("far", FAR), ("damaged", DAMAGED), ("fine", FINE)):
        for name, content in files.items():
            (folder / f"{kind} {name}").write_bytes(content)
    done = subprocess.run([sys.executable, "-c", READ], cwd=folder, capture_output=True, text=True)
    return {name: more for name, *more in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("name", FAR)
def test_what_unpacks_to_gigabytes_is_refused_in_little_memory(name, answers):
    content = FAR[name]
    assert len(content) < 500_000
    told, peak = answers[f"far {name}"]
    assert "unpacks to more than" in told and "CSV or Parquet" in told
    assert peak < 64


@pytest.mark.parametrize("name", DAMAGED)
def test_what_two_readers_may_read_differently_is_refused(name, answers):
    told, peak = answers[f"damaged {name}"]
    assert "is not a spreadsheet that can be read" in told and peak < 64


@pytest.mark.parametrize("name", FINE)
def test_sheets_of_an_ordinary_program_are_read(name, tmp_path, answers):
    (tmp_path / name).write_bytes(FINE[name])
    assert_array_equal(read_table(str(tmp_path / name)).values, SMALL)
    assert answers[f"fine {name}"][1] < 64


def test_the_older_binary_workbook_is_refused_with_what_to_do(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.xlsb", "w") as archive:
        archive.writestr("xl/workbook.bin", b"")
    for name in ("t.xlsb", "t.xlsx"):
        (tmp_path / "t.xlsb").rename(tmp_path / name)
        with pytest.raises(TableError, match=r"is an \.xlsb workbook: save it as \.xlsx"):
            read_table(str(tmp_path / name))
        (tmp_path / name).rename(tmp_path / "t.xlsb")


def test_a_full_table_is_far_from_the_bound(tmp_path, monkeypatch):
    """Numbers, zeros and a sparse table, with no room but that of their own length."""
    rng = np.random.default_rng(0)
    made, budgets = sheet_sizes._Budget, []
    monkeypatch.setattr(sheet_sizes, "_Budget", lambda *a: budgets.append(made(*a)) or budgets[-1])
    tables = {
        "numbers": rng.normal(size=(300, 60)).round(3), "zeros": np.zeros((300, 60)),
        "sparse": rng.random((300, 60)) < 0.05,
    }  # fmt: skip
    for name, values in tables.items():
        book = openpyxl.Workbook(write_only=True)
        sheet = book.create_sheet()
        for line in values.tolist():
            sheet.append([v if v or name != "sparse" else None for v in line])
        book.save(tmp_path / f"{name}.xlsx")
        size = (tmp_path / f"{name}.xlsx").stat().st_size
        with TableReader(str(tmp_path / f"{name}.xlsx"), header=False):
            pass
        assert 300 * 60 * 32 <= budgets[-1].most - budgets[-1].left < 100 * size


def test_damaged_sheets_are_refused_in_one_line(tmp_path):
    """Bytes changed at random, outside of the compressed parts and inside: an answer or one line."""
    rng = np.random.default_rng(1)
    refused = 0
    for name, content in FINE.items():
        for k in range(60):
            changed = bytearray(content)
            for place in rng.integers(0, len(changed), size=4):
                changed[place] = rng.integers(256)
            path = tmp_path / f"{k} {name}"
            path.write_bytes(changed)
            try:
                read_table(str(path))
            except TableError as error:
                refused += 1
                assert "\n" not in str(error)
    assert refused > 30
