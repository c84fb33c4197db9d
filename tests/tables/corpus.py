"""A list of tables, good and bad, each with the decision or the one line that is expected.

The first half is built as products: encodings with separators, separators with decimal marks and line
ends, every mark of a missing value. The second half is one line a case.
"""

from dataclasses import dataclass, field

from isthmus.tables.cells import MISSING


@dataclass
class Case:
    """A file and what is expected of it.

    Attributes
    ----------
    content : bytes or callable of a path
        The file, or how it is made.
    kinds : str
        Kinds of all columns, in order.
    rows : list of lists, default=None
        The numbers of the columns that may be inputs; None stands for a missing value.
    facts : dict
        Decisions about the file.
    error : str
        A part of the one line, where the table is refused.
    """

    name: str
    file: str
    content: object
    kinds: str = ""
    rows: object = None
    facts: dict = field(default_factory=dict)
    error: str = ""
    options: dict = field(default_factory=dict)
    names: str = ""


CASES = []


def add(
    name, content, kinds="", rows=None, *, file="t.csv", error="", names="", options=None, **facts
):
    if isinstance(content, str):
        content = content.encode()
    facts = {key.replace("_", " "): value for key, value in facts.items()}
    CASES.append(Case(name, file, content, kinds, rows, facts, error, options or {}, names))


ROWS = [[1.5, 2.0], [2.5, -4.0], [0.5, 3.25]]
MARKS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}


def table(sep=",", end="\n", decimal=".", head="a{s}b", rows=ROWS, ids=None):
    lines = [head.format(s=sep)] if head else []
    for k, row in enumerate(rows):
        cells = [str(v).replace(".", decimal) for v in row]
        lines.append(sep.join(([] if ids is None else [ids[k]]) + cells))
    return end.join(lines) + end


# -- encodings x separators ------------------------------------------------------------------------
ENCODINGS = {
    "utf-8": "UTF-8", "utf-8-sig": "UTF-8", "utf-16": "UTF-16", "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16", "utf-32": "UTF-32", "latin-1": "Latin-1", "cp1252": "Latin-1 (Windows 1252)",
}  # fmt: skip
for encoding, label in ENCODINGS.items():
    for sep, word in MARKS.items():
        euro = "€" if encoding in ("cp1252", "utf-8") else "ü"
        text = table(sep, head="sample{s}größe{s}b", ids=["né", f"z{euro}", "x"])
        add(f"{encoding}, {word}", text.encode(encoding), "id number number", ROWS,
            encoding=label, separator=word, names="sample größe b")  # fmt: skip

# -- separators x decimal marks x line ends --------------------------------------------------------
for ends, end in {"lf": "\n", "crlf": "\r\n", "cr": "\r"}.items():
    for sep, word in MARKS.items():
        add(f"{word}, point, {ends}", table(sep, end), "number number", ROWS, separator=word,
            decimal_mark="point")  # fmt: skip
        if sep != ",":
            add(f"{word}, decimal comma, {ends}", table(sep, end, ","), "number number", ROWS,
                separator=word, decimal_mark="comma")  # fmt: skip
    add(
        f"spaces, {ends}", table("  ", end), "number number", ROWS, separator="spaces", file="t.txt"
    )
add("quoted decimal commas between commas", 'a,b\n"1,5","2"\n"2,5","-4"\n"0,5","3,25"\n', "number number",
    ROWS, decimal_mark="comma")  # fmt: skip
add("no last line end", table()[:-1], "number number", ROWS)
add("sep= of Excel", "sep=;\n" + table(";"), "number number", ROWS, separator="semicolon")
add("tabs in a .csv", table("\t"), "number number", ROWS, separator="tab")
add("commas in a .tsv", table(), "number number", ROWS, file="t.tsv", separator="comma")
add("mixed line ends", "a,b\r\n1.5,2\n2.5,-4\r\n0.5,3.25\n", "number number", ROWS)

# -- marks of missing values -----------------------------------------------------------------------
for mark in sorted(MISSING):
    rows = [[1.5, 2.0], [None, -4.0], [0.5, 3.25]]
    add(f"missing as {mark!r}", f"a,b\n1.5,2\n{mark.upper()},-4\n0.5,3.25\n", "number number", rows)
    if mark and len(mark) > 2:
        add(
            f"missing as {mark!r}, padded",
            f"a;b\n1,5;2\n {mark} ;-4\n0,5;3,25\n",
            "number number",
            rows,
        )

# -- headers ---------------------------------------------------------------------------------------
WAVES = "{}\n0.31,0.42,0.38{}\n0.35,0.41,0.37{}\n0.36,0.45,0.33{}\n0.30,0.44,0.36{}\n"


def spectra(head, more=""):
    return WAVES.format(head, *[more] * 4)


add("wavelengths, three columns", spectra("1100,1102,1104"), "number number number",
    header="numbers, such as wavelengths", names="1100 1102 1104")  # fmt: skip
add("wavelengths that fall", spectra("1104.5,1102.5,1100.5"), "number number number",
    header="numbers, such as wavelengths")  # fmt: skip
add(
    "wavelengths, two columns",
    "1100,1102\n.3,.5\n.4,.2\n.5,.1\n",
    "number number",
    names="1100 1102",
)
add("wavelengths, five columns", spectra("1,2,3,4,5", ",.1,.2"), "number " * 5, names="1 2 3 4 5")
add("wavelengths behind a name", "sample,1100,1102\ns1,.3,.5\ns2,.4,.2\ns3,.5,.1\n", "id number number",
    names="sample 1100 1102")  # fmt: skip
add("wavelengths behind a blank", ",1100,1102\ns1,.3,.5\ns2,.4,.2\ns3,.5,.1\n", "id number number")
add("columns numbered by pandas", "0,1\n.3,.5\n.4,.2\n.5,.1\n", "number number", [[.3, .5], [.4, .2],
    [.5, .1]],
    names="0 1")  # fmt: skip
add(
    "columns numbered from 1",
    "1,2,3\n.3,.5,7\n.4,.2,8\n.5,.1,2\n",
    "number number number",
    names="1 2 3",
)
add(
    "no header",
    table(head=""),
    "number number",
    ROWS,
    names="x1 x2",
    header="none; columns are x1, x2, ...",
)
add(
    "no header, rising rows",
    "1,2\n2,3\n3,5\n4,7\n",
    "number number",
    [[1, 2], [2, 3], [3, 5], [4, 7]],
)
add("no header, row names", "s1,1.5,2\ns2,2.5,-4\ns3,.5,3.25\n", "id number number", ROWS)
add("no header, a first row like others", "5,4,3\n1,2,9\n4,4,4\n", "number number number")
add("a header in spite of --no-header", "a,b\n1,2\n3,4\n5,6\n", options={"header": False},
    kinds="number number",
    error="column 'x1' has text in line 1, 'a'")  # fmt: skip
add("numbers as a header on request", "5,6\n1,2\n3,4\n", "number number", [[1, 2], [3, 4]], names="5 6",
    options={"header": True})  # fmt: skip
add("names of R without one for rows", "a b\nr1 1.5 2\nr2 2.5 -4\nr3 .5 3.25\n".replace(" ", ","),
    "id number number", ROWS)  # fmt: skip
add("quoted names", '"a","b"\n1.5,2\n2.5,-4\n.5,3.25\n', "number number", ROWS, names="a b")
add(
    "comment lines",
    "# made by a device\n# on a day\n" + table(),
    "number number",
    ROWS,
    names="a b",
)
add(
    "names in a comment",
    "# a b\n1.5 2\n2.5 -4\n0.5 3.25\n",
    "number number",
    ROWS,
    names="a b",
    file="t.txt",
)
add("blank lines before the header", "\n\n" + table(), "number number", ROWS)
add(
    "names with spaces around",
    " a , b \n1.5,2\n2.5,-4\n.5,3.25\n",
    "number number",
    ROWS,
    names="a b",
)
add("units in the names", "a (nm),b [mg/L]\n1.5,2\n2.5,-4\n.5,3.25\n", "number number", ROWS)

# -- identifiers -----------------------------------------------------------------------------------
TEN = range(10)


def numbered(head, first, more=lambda i: (i * 37 % 11) / 4):
    return head + "\n" + "".join(f"{first(i)},{more(i)},{(i * 53 % 13) / 8}\n" for i in TEN)


add("1 to n in the first column", numbered("n,a,b", lambda i: i + 1), "index number number")
add("0 to n in the first column", numbered("k,a,b", lambda i: i), "index number number")
add("index of pandas", numbered("Unnamed: 0,a,b", lambda i: i), "index number number")
add("index of pandas without a name", numbered(",a,b", lambda i: i), "index number number")
add(
    "index of pandas, shuffled",
    numbered("Unnamed: 0,a,b", lambda i: i * 7 % 10 + 40),
    "index number number",
)
add(
    "index of pandas, second",
    numbered("x,Unnamed: 0.1,b", lambda i: i % 3 + 0.5, lambda i: i),
    "number index number",
)
add("numbers under id", numbered("id,a,b", lambda i: 1000 + i * 7 % 10), "id number number")
add(
    "numbers under sample_id",
    numbered("a,sample_id,b", lambda i: i % 4 + 0.5, lambda i: 90 - i),
    "number id number",
)
add("repeated numbers under id", numbered("id,a,b", lambda i: i % 3), "number number number")
add(
    "1 to n in a later column",
    numbered("a,t,b", lambda i: i % 4 + 0.5, lambda i: i + 1),
    "number number number",
)
add("years in the first column", numbered("year,a,b", lambda i: 2000 + i), "number number number")
add("1 to n on its own", "n\n" + "".join(f"{i}\n" for i in TEN), "number")
add("1 to n kept on request", numbered("n,a,b", lambda i: i + 1), "number number number",
    options={"types": {"n": "number"}})  # fmt: skip
add("a column of numbers as row names", numbered("a,b,c", lambda i: i / 4), "id number number",
    options={"id_column": "a"})  # fmt: skip
add("identifiers with zeros before", numbered("id,a,b", lambda i: f"{i:05}"), "index number number")
add(
    "identifiers too long for a float",
    numbered("id,a,b", lambda i: 10**18 + i),
    "number number number",
)
add("words that never repeat", numbered("what,a,b", lambda i: f"w{i}"), "id number number")
add("words that repeat", numbered("what,a,b", lambda i: "xy"[i % 2]), "category number number")
add(
    "UUIDs in a later column",
    numbered("a,uuid,b", lambda i: i % 4 + 0.5, lambda i: f"0f-{i}e"),
    "number id number",
)
add(
    "days that never repeat",
    numbered("day,a,b", lambda i: f"2024-01-{i + 1:02}"),
    "id number number",
)
add(
    "an id column that is not there",
    table(),
    error="no column 'c'; it has 'a', 'b'",
    options={"id_column": "c"},
)
add("an id column with a slip", "sample,fat\ns1,1\ns2,3\n", options={"id_column": "sampel"},
    error="Did you mean 'sample'?")  # fmt: skip

# -- units -----------------------------------------------------------------------------------------
UNIT = "a line of units is skipped"
for k, pair in enumerate(
    ("(nm),[mg/L]", "nm,mg/L", "%,°C", "[-],(s)", "g,", ",kg", "µm,cm-1", "m/s,m^2")
):
    add(
        f"units {k}: {pair}",
        f"a,b\n{pair}\n1.5,2\n2.5,-4\n.5,3.25\n",
        "number number",
        ROWS,
        units=UNIT,
    )
add("units beside row names", "sample,a,b\n,nm,%\ns1,1.5,2\ns2,2.5,-4\ns3,.5,3.25\n",
    "id number number", ROWS,
    units=UNIT)  # fmt: skip
add("a line of marks is no line of units", "a,b\nNA,NA\n1.5,2\n2.5,3\n", "number number",
    [[None, None], [1.5, 2], [2.5, 3]], units="none")  # fmt: skip
add("a word is no unit", "a,b\nlow,3\n1.5,2\n2.5,3\n", error="column 'a' has text in line 2, 'low'")

# -- ragged rows, quotes, empty files --------------------------------------------------------------
add(
    "a cell too many",
    "a,b\n1,2\n3,4,5\n6,7\n",
    error="t.csv, line 3: 3 cells, the first line has 2",
)
add(
    "a cell too few",
    "a,b,c\n1,2,3\n3,4\n6,7,8\n",
    error="t.csv, line 3: 2 cells, the first line has 3",
)
add("a title above the header", "results\na,b\n1,2\n3,4\n", error="line")
add(
    "a comma at the end of every line",
    "a,b,\n1.5,2,\n2.5,-4,\n.5,3.25,\n",
    "number number empty",
    ROWS,
)
add(
    "a comma at the end of rows alone",
    "a,b\n1.5,2,\n2.5,-4,\n.5,3.25,\n",
    "number number empty",
    ROWS,
)
add("blank lines between rows", "a,b\n1.5,2\n\n2.5,-4\n  \n.5,3.25\n\n\n", "number number", ROWS)
add(
    "a text after blank lines",
    "a,b\n1,2\n\n\n3,x\n4,5\n",
    error="column 'b' has text in line 5, 'x'",
)
add("quoted numbers", 'a,b\n"1.5","2"\n"2.5","-4"\n".5","3.25"\n', "number number", ROWS)
add(
    "commas in quotes",
    'name,a,b\n"x, y",1.5,2\n"z",2.5,-4\n"w",.5,3.25\n',
    "id number number",
    ROWS,
)
add(
    "line ends in quotes",
    'name,a,b\n"x\ny",1.5,2\n"z",2.5,-4\n"w",.5,3.25\n',
    "id number number",
    ROWS,
)
add(
    "a text after line ends in quotes",
    'name,a\n"x\ny",1\nz,2\nw,q\nv,3\n',
    error="column 'a' has text in line 5, 'q'",
)
add("doubled quotes", 'name,a,b\n"5"" pipe",1.5,2\nz,2.5,-4\nw,.5,3.25\n', "id number number", ROWS)
add(
    "a quote inside a cell",
    'name,a,b\n5" pipe,1.5,2\nz,2.5,-4\nw,.5,3.25\n',
    "id number number",
    ROWS,
)
add("an open quote", 'a,b\n1,2\n3,"4\n5,6\n', error="line 3: a quote is opened and not closed")
add("text behind a quote", 'a,b\n1,"2"x\n3,4\n', error="line 2: text follows a closing quote")
add("empty", b"", error="t.csv is empty")
add("blank lines alone", b"\n\n \n", error="t.csv has no rows")
add("a mark of UTF-8 alone", b"\xef\xbb\xbf", error="t.csv has no rows")
add("a header alone", "a,b\n", error="t.csv has a header and no rows")
add("comments alone", "# a\n# b\n", error="t.csv has no rows")
add("one number", "3.5\n", "number", [[3.5]], names="x1")
add("one row", "a,b\n1.5,2\n", "number number", [[1.5, 2.0]])
add("one column", "a\n1.5\n2.5\n", "number", [[1.5], [2.5]])
add("one column of gaps", 'a\n1.5\nNA\n""\n2.5\n', "number")
add("an empty column", "a,b\n1,\n2,\n3,\n", "number empty")
add("names twice", "a,b,a\n1,2,3\n", error="several columns of one name: 'a'")
add("a column without a name", "a,,c\n1,2,3\n4,5,6\n", error="column 2 has no name in the header")
add("a name that is a formula", "=1+1,b\n1,2\n3,4\n", "number number")
add("a name with escapes", "\x1b[2Ja,b\n1,2\n3,4\n", "number number")
