"""``isthmus report``: a saved model validated on new data."""

from __future__ import annotations

import shlex
import sys
from typing import Annotated, Any

import typer

from isthmus.cli.console import Json, Quiet, begin
from isthmus.cli.options import (
    Header,
    IdColumn,
    ImageShape,
    OutputImageShape,
    TargetColumns,
    TrustedKey,
    Types,
    shape_of,
)

_FIGURES = {
    "rmse": "RMSEP", "bias": "bias", "sep": "SEP", "slope": "slope", "r2": "R2", "rpd": "RPD",
    "rpiq": "RPIQ",
}  # fmt: skip


def register(app: Any) -> None:
    """Join the command."""
    app.command("report")(report)


def report(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="Model file written by isthmus fit.")
    ],
    x_file: Annotated[str, typer.Argument(metavar="X", help="Inputs.")],
    y_file: Annotated[str | None, typer.Argument(metavar="Y", help="Outputs, if not in X.")] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", help="Path of the HTML report.")
    ] = "report.html",
    target_columns: TargetColumns = None,
    id_column: IdColumn = None,
    types: Types = None,
    header: Header = None,
    image_shape: ImageShape = None,
    output_image_shape: OutputImageShape = None,
    trusted_key: TrustedKey = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Validate a saved model on new data: errors, coverage of intervals, drift, rows outside.

    For example:

        isthmus report model.isthmus X.csv Y.csv -o report.html
    """
    console = begin(quiet, as_json)
    shapes: dict[str, Any] = {
        "image_shape": shape_of(image_shape, "--image-shape"),
        "output_image_shape": shape_of(output_image_shape, "--output-image-shape"),
    }

    import numpy as np

    from isthmus.cli.app import InputError
    from isthmus.cli.matching import NewRows, file_of
    from isthmus.cli.models import load_search
    from isthmus.cli.planning import PAGE, plan
    from isthmus.inspection import figures_of_merit
    from isthmus.persistence.outputs import Outputs
    from isthmus.reports import write_report
    from isthmus.tables.names import split_names
    from isthmus.tables.pairs import Reading, align
    from isthmus.tables.table import read_groups

    with Outputs(inputs=[model, *file_of(x_file), *file_of(y_file)]) as outputs:
        page = plan(outputs, output, PAGE)
        search = load_search(model, trusted_key)
        targets = split_names(target_columns) or search.target_names_
        with console.progress() as progress:
            reading = Reading(header, id_column, types, progress=progress)
            inner = targets if y_file is None else []
            new = NewRows(search, x_file, reading, drop=targets, outputs=inner)
            try:
                asked = new.reader.columns_of(inner)
                table, y = read_groups(new.reader, [new.columns, asked])
                new.check_complete(table.values, table.line)
            finally:
                new.close()
            if y_file is not None:
                likely = getattr(search, "origin_", {}).get("id_column")
                with Reading(header, progress=progress).open(
                    y_file, likely_id=likely, numeric=targets, key="Y"
                ) as other:
                    wanted = other.columns_of(targets) if other.has_names else other.data_columns
                    y = read_groups(other, [wanted])[0]
                _, y = align(table, y, console.notice)
        X, Y = new.expand(table.values), np.asarray(y.values)
        if Y.shape != (len(X), len(search.target_names_)):
            raise InputError(
                f"{y.path} has {Y.shape[0]} rows and {Y.shape[1]} outputs, expected {len(X)} and "
                f"{len(search.target_names_)}."
            )
        command = shlex.join(["isthmus", *sys.argv[1:]])
        write_report(page, search, X, Y, row_names=table.ids, command=command, **shapes)
        figures = figures_of_merit(Y, np.asarray(search.predict_rows(X)).reshape(Y.shape))
        trust = None if search.domain_ is None else search.check_rows(X)
    rows = [
        [name, *(f"{each[figure]:.4g}" for figure in _FIGURES)]
        for name, each in figures.table(search.target_names_).items()
    ]
    console.table(
        "Errors on these rows, in units of the outputs", ["output", *_FIGURES.values()], rows
    )
    if trust is not None:
        console.say(trust.summary())
    console.say(f"Open {output}.")
    told = {"figures": figures.table(search.target_names_)}
    outside = None if trust is None else int(trust.outside.sum())
    console.result({"report": output, "rows": len(X), "outside": outside, **told})
