"""``isthmus report``: a saved model validated on new data."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from isthmus.cli.console import Json, Quiet, begin, command_line
from isthmus.cli.options import (
    Header,
    IdColumn,
    ImageShape,
    OutputImageShape,
    OutputsFile,
    TargetColumns,
    TrustedKey,
    Types,
    image_shapes,
)

_FIGURES = {
    "rmse": "RMSEP", "bias": "bias", "sep": "SEP", "slope": "slope", "r2": "R2", "rpd": "RPD",
    "rpiq": "RPIQ",
}  # fmt: skip


def report(
    model: Annotated[
        str,
        typer.Argument(metavar="MODEL", help="Model file from isthmus fit, or a saved Trusted."),
    ],
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="X [Y]",
            help="Inputs, as many tables as the model was fitted on, and outputs, if not in X or -y.",
        ),
    ],
    outputs_file: OutputsFile = None,
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

        isthmus report model.isthmus nir.csv raman.csv -y lab.csv
    """
    console = begin(quiet, as_json)
    shapes = image_shapes(image_shape, output_image_shape)

    import numpy as np

    from isthmus.cli.app import InputError
    from isthmus.cli.fit_tables import tell_classes
    from isthmus.cli.matching import known_tables
    from isthmus.cli.models import load_model
    from isthmus.cli.planning import PAGE, file_of, plan
    from isthmus.inspection import figures_of_merit
    from isthmus.persistence import Outputs
    from isthmus.reports import write_report
    from isthmus.tables import Reading, split_names

    read = [path for each in (*files, outputs_file) for path in file_of(each)]
    with Outputs(inputs=[model, *read]) as outputs:
        page = plan(outputs, output, PAGE)
        search = load_model(model, trusted_key)
        if search.residual_quantiles_ is None:
            raise InputError(
                f"{model} has no errors of left-out rows to compare with: fit it with isthmus fit, or "
                "save isthmus.inspection.Trusted(model).fit(X, y) in place of the model."
            )
        x_files, y_file = list(files), outputs_file
        # One table more than the model was fitted on: the last holds the outputs.
        if y_file is None and len(files) == len(known_tables(search)) + 1:
            x_files, y_file = x_files[:-1], x_files[-1]
        classes = getattr(search, "origin_", {}).get("classes")
        known = search.target_names_ if classes is None else [classes["column"]]
        targets = split_names(target_columns) or known
        with console.progress() as progress:
            reading = Reading(header, id_column, types, progress=progress)
            X, y, ids = _read(search, x_files, y_file, targets, reading)
        Y = np.asarray(y.values)
        if classes is not None:
            Y = _indicate(y, classes)
        if Y.shape != (len(X), len(search.target_names_)):
            raise InputError(
                f"{y.path} has {Y.shape[0]} rows and {Y.shape[1]} outputs, expected {len(X)} and "
                f"{len(search.target_names_)}."
            )
        write_report(page, search, X, Y, row_names=ids, command=command_line(), **shapes)
        predictions = np.asarray(search.predict_rows(X)).reshape(Y.shape)
        figures = figures_of_merit(Y, predictions)
        trust = None if search.domain_ is None else search.check_rows(X)
    told: dict[str, Any] = {"figures": figures.table(search.target_names_)}
    if classes is not None:
        told["accuracy"] = tell_classes(console, classes, Y, predictions, "rows")
    rows = [
        [name, *(_short(each[figure]) for figure in _FIGURES)]
        for name, each in figures.table(search.target_names_).items()
    ]
    units = "in units of the outputs" if classes is None else "of the indicators of classes, 0 or 1"
    console.table(f"Errors on these rows, {units}", ["output", *_FIGURES.values()], rows)
    if trust is not None:
        console.say(trust.summary())
    console.say(f"Open {output}.")
    outside = None if trust is None else int(trust.outside.sum())
    console.result({"report": output, "rows": len(X), "outside": outside, **told})


def _read(
    search: Any, x_files: list[str], y_file: str | None, targets: list[str], reading: Any
) -> tuple[Any, Any, Any]:
    """Inputs, the table of outputs in their order, and the names of the rows."""
    from isthmus.cli.app import InputError
    from isthmus.cli.console import current
    from isthmus.cli.matching import NewRows
    from isthmus.tables import Reading, align

    classes = getattr(search, "origin_", {}).get("classes")
    if classes is not None and y_file is None:
        raise InputError(
            "the model predicts classes: give them in a table of their own, as Y or with -y."
        )
    inner = targets if y_file is None else []
    with NewRows(search, x_files, reading, targets, inner) as new:
        if y_file is None and len(x_files) > 1:
            raise InputError("Nothing to compare with: name the table of the outputs with -y.")
        if y_file is None:
            X, table, y = new.read(inner)
            return X, y, table.ids
        likely = getattr(search, "origin_", {}).get("id_column")
        levels = {} if classes is None else {targets[0]: classes["labels"]}
        types = [f"{name}=category" for name in levels]
        with Reading(reading.header, types=types, progress=reading.progress).open(
            y_file, likely_id=likely, numeric=targets, key="Y", categories=levels or False
        ) as other:
            # Without a header all columns of Y are outputs, in the order of training.
            wanted = other.columns_of(targets) if other.has_names else other.data_columns
            X, table, y = new.read(other=(other, [wanted]))
    return X, align(table, y, current().notice), table.ids


def _short(value: float) -> str:
    """A figure in four digits; a dash if the rows do not determine it."""
    return "-" if value != value else f"{value:.4g}"


def _indicate(y: Any, classes: dict[str, Any]) -> Any:
    """Indicators of the classes of a table, all of which the model must know."""
    from isthmus.cli.app import InputError
    from isthmus.tables import indicate

    unknown = (y.values[:, 0] < 0).nonzero()[0]
    if len(unknown):
        raise InputError(
            f"{y.path}: row {y.line(int(unknown[0]))} has no class of the model in the column "
            f"{classes['column']!r}; its classes are {', '.join(classes['labels'])}."
        )
    return indicate(y.values[:, 0], classes["labels"])
