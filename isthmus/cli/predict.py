"""``isthmus predict``: new rows through a saved model."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from isthmus.cli.console import Json, Quiet, begin
from isthmus.cli.options import Header, IdColumn, TrustedKey, Types


def register(app: Any) -> None:
    """Join the command."""
    app.command("predict")(predict)


def predict(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="Model file written by isthmus fit.")
    ],
    new: Annotated[
        str,
        typer.Argument(
            metavar="NEW", help="New rows with the columns of the training table, or -."
        ),
    ],
    output: Annotated[
        str,
        typer.Option("--output", "-o", help="CSV, TSV, Parquet, Feather or .npy; or -."),
    ] = "predictions.csv",
    interval: Annotated[
        float | None,
        typer.Option(
            "--interval",
            help="Add bounds that contain this share of new outputs, for example 0.95.",
        ),
    ] = None,
    raw: Annotated[
        bool,
        typer.Option(
            "--raw",
            help="Keep texts that begin with = + - @ unchanged; a spreadsheet would run them.",
        ),
    ] = False,
    id_column: IdColumn = None,
    types: Types = None,
    header: Header = None,
    trusted_key: TrustedKey = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Predict the outputs of new rows; columns are matched by name.

    For example:

        isthmus predict model.isthmus new.csv -o out.csv --interval 0.95
    """
    console = begin(quiet, as_json)
    if interval is not None and not 0 < interval < 1:
        raise typer.BadParameter(f"--interval {interval} must be between 0 and 1, such as 0.95.")

    from isthmus.cli.matching import NewRows, file_of
    from isthmus.cli.models import load_search
    from isthmus.cli.planning import plan
    from isthmus.persistence import Outputs
    from isthmus.tables import WRITABLE, Reading

    with Outputs(inputs=[model, *file_of(new)]) as outputs:
        table_file = plan(outputs, output, WRITABLE)
        search = load_search(model, trusted_key, in_blocks=True)
        with console.progress() as progress:
            reading = Reading(header, id_column, types, progress=progress)
            rows = NewRows(search, new, reading, drop=search.target_names_)
            try:
                n_rows = _write(search, rows, table_file, output, interval, raw)
            finally:
                rows.close()
    console.say(f"{n_rows} rows predicted: {output}")
    console.result({"rows": n_rows, "targets": list(search.target_names_), "output": output})


def _write(
    search: Any, rows: Any, table_file: Any, output: str, interval: float | None, raw: bool
) -> int:
    """Predict block by block and write as it goes."""
    import os
    import sys

    import numpy as np

    from isthmus.cli.console import current
    from isthmus.tables import Writer

    names = list(search.target_names_)
    if interval is not None:
        names = [each for name in names for each in (name, f"{name} lower", f"{name} upper")]
    id_column = rows.reader.id_column
    suffix = ".csv" if output == "-" else os.path.splitext(output)[1].lower()

    def write(data: bytes) -> None:
        if output != "-":
            table_file.write(data)
            return
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    writer = Writer(
        suffix, write, lambda: table_file.part, None if id_column is None else id_column.name, names,
        raw=raw,
    )  # fmt: skip
    try:
        for X, ids in rows.blocks():
            values = np.asarray(search.predict_rows(X)).reshape(len(X), -1)
            if interval is not None:
                bounds = [b.reshape(len(X), -1) for b in search.interval_rows(X, interval)]
                values = np.stack([values, *bounds], axis=2).reshape(len(X), -1)
                if np.isinf(values).any():
                    current().notice(
                        f"too few training rows for {interval:g} intervals: bounds are infinite."
                    )
            writer.append(ids, values)
        if not writer.n_rows:
            raise ValueError(f"{rows.reader.path} has no rows.")
        writer.finish()
    finally:
        writer.close()
    return writer.n_rows
