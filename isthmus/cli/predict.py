"""``isthmus predict``: new rows through a saved model."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from isthmus.cli.console import Json, Quiet, begin
from isthmus.cli.options import Header, IdColumn, TrustedKey


def register(app: Any) -> None:
    """Join the command."""
    app.command("predict")(predict)


def predict(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A file that isthmus fit has written.")
    ],
    new: Annotated[
        str, typer.Argument(metavar="NEW", help="New rows, with the columns of training.")
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="CSV, TSV, Parquet or .npy.")
    ] = "predictions.csv",
    interval: Annotated[
        float | None,
        typer.Option(
            "--interval", help="Add bounds that hold this share of new outputs, 0.95 say."
        ),
    ] = None,
    id_column: IdColumn = None,
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

    import numpy as np

    from isthmus.cli.matching import id_column_for, rows_for_model
    from isthmus.cli.models import load_search
    from isthmus.cli.planning import plan
    from isthmus.cli.tables import WRITABLE, file_of, table_bytes
    from isthmus.persistence import Outputs

    with Outputs(inputs=[model, *file_of(new)]) as outputs:
        table_file = plan(outputs, output, WRITABLE)
        search = load_search(model, trusted_key)
        X, table = rows_for_model(
            search, new, id_column=id_column_for(search, new, id_column, header), header=header,
            drop=search.target_names_,
        )  # fmt: skip
        Y = np.asarray(search.predict_rows(X)).reshape(len(X), -1)
        names, values = list(search.target_names_), Y
        if interval is not None:
            lower, upper = (a.reshape(len(X), -1) for a in search.interval_rows(X, interval))
            names, blocks = [], []
            for j, name in enumerate(search.target_names_):
                names += [name, f"{name} lower", f"{name} upper"]
                blocks += [Y[:, j], lower[:, j], upper[:, j]]
            values = np.column_stack(blocks)
            if np.isinf(values).any():
                console.notice(
                    f"too few training rows for {interval:g} intervals: bounds are infinite."
                )
        content = table_bytes(output, table.ids, table.id_name or "id", names, values)
        table_file.write(content)
    console.say(f"{len(X)} rows predicted: {output}")
    console.result({"rows": len(X), "targets": list(search.target_names_), "output": output})
