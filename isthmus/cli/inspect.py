"""``isthmus inspect``: what a model file says about itself, or how a table is read."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from isthmus.cli.console import Json, Quiet, begin
from isthmus.cli.fit_tables import comparison_rows
from isthmus.cli.options import Header, IdColumn, Types


def inspect(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="A model file or a table; - is a table on standard input."
        ),
    ],
    id_column: IdColumn = None,
    types: Types = None,
    header: Header = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Show what a model was fitted on, or what is decided about the columns of a table.

    A model is described without building or running it. For example:

        isthmus inspect model.isthmus

        isthmus inspect data.csv
    """
    console = begin(quiet, as_json)
    from isthmus.cli.planning import check_file, file_of
    from isthmus.persistence import describe

    for path in file_of(file):
        check_file(path, "a model or a table")
    if not _is_model(file):
        from isthmus.cli.decisions import show_table

        show_table(console, file, header=header, id_column=id_column, types=types)
        return
    model = file
    found = describe(model)
    summary = found.get("summary") or {}
    console.say(f"{model}: {summary.get('label', found.get('type'))}")
    console.say(
        f"  saved      {found.get('created')}, format {found['format']}, {found['bytes']:,} bytes"
    )
    versions = ", ".join(f"{name} {number}" for name, number in found.get("versions", {}).items())
    console.say(f"  versions   {versions}")
    if found["is_signed"]:
        console.say("  signed     by a key that predict, report and compress check: --trusted-key")
    for key, label in (
        ("files", "fitted on"),
        ("n_samples", "rows"),
        ("n_components", "components"),
        ("compressed_from", "compressed from points"),
        ("excluded", "left out"),
    ):
        if summary.get(key) not in (None, []):
            value = summary[key]
            console.say(
                f"  {label:<10} {', '.join(map(str, value)) if isinstance(value, list) else value}"
            )
    for key, label, count in (
        ("feature_names", "inputs", "n_features"),
        ("target_names", "outputs", "n_targets"),
    ):
        if summary.get(count) is not None:
            console.say(f"  {label:<10} {summary[count]}{_list_names(summary.get(key))}")
    rows = [row[:3] for row in comparison_rows(summary)]
    if rows:
        title = "Cross-validation, with standard errors over the folds"
        console.table(title, ["method", summary.get("score_name", "R2"), "difference"], rows)
    console.result(found)


def _is_model(file: str) -> bool:
    """A model by its first bytes, or by its name where these are damaged."""
    if file.endswith(".isthmus"):
        return True
    if not os.path.isfile(file):
        return False
    with open(file, "rb") as opened:
        return opened.read(7).lower() == b"isthmus"


def _list_names(names: Any, most: int = 12) -> str:
    if not names:
        return ""
    shown = ", ".join(map(str, names[:most]))
    return f": {shown}" + (" ..." if len(names) > most else "")
