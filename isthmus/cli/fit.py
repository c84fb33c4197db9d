"""``isthmus fit``: from two tables to a model and a report."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated, Any

import typer

from isthmus.cli.console import Json, Quiet, Seed, begin, command_line
from isthmus.cli.fit_tables import tell_fit
from isthmus.cli.options import (
    Categories,
    ExcludeRows,
    Header,
    IdColumn,
    IgnoreColumns,
    ImageShape,
    KeepRows,
    OutputImageShape,
    OutputsFile,
    TargetColumns,
    Types,
    image_shapes,
    split_files,
)


def fit(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="X [Y]",
            help="Inputs and outputs: CSV, TSV, Excel, Parquet, .npy, ... or -. Without Y, name columns of "
            "X with --target-columns; with -y, every table here is a block of inputs.",
        ),
    ],
    outputs_file: OutputsFile = None,
    output: Annotated[
        str, typer.Option("--output", "-o", help="Path of the model file.")
    ] = "model.isthmus",
    report: Annotated[str | None, typer.Option("--report", help="Path of an HTML report.")] = None,
    method: Annotated[
        str, typer.Option("--method", "-m", help="auto, or a list of methods such as pls,ridge.")
    ] = "auto",
    prefer: Annotated[
        str,
        typer.Option(
            "--prefer", help="Which answer to keep: accurate (blends allowed), simple or small."
        ),
    ] = "accurate",
    kernel: Annotated[
        str,
        typer.Option("--kernel", help="Kernel of the kernel method, or auto to compare several."),
    ] = "auto",
    loss: Annotated[str, typer.Option("--loss", help="Loss of the robust method.")] = "huber",
    cv: Annotated[
        str,
        typer.Option(
            "--cv",
            help="Number of shuffled outer folds; time to train on earlier rows only; auto: 5, with score "
            "and intervals of later rows if the rows look ordered.",
        ),
    ] = "auto",
    groups: Annotated[
        str | None,
        typer.Option("--groups", help="Column of batches: rows of a batch are never in two folds."),
    ] = None,
    components: Annotated[
        str, typer.Option("--components", help="auto, or the number of components.")
    ] = "auto",
    scale: Annotated[
        str,
        typer.Option(
            "--scale", help="Divide input columns by their standard deviations: auto, yes or no."
        ),
    ] = "auto",
    time_limit: Annotated[
        float | None,
        typer.Option("--time-limit", min=0, help="Time limit of the comparison, in seconds."),
    ] = None,
    target_columns: TargetColumns = None,
    id_column: IdColumn = None,
    ignore_columns: IgnoreColumns = None,
    exclude: ExcludeRows = None,
    keep: KeepRows = None,
    types: Types = None,
    categories: Categories = False,
    header: Header = None,
    image_shape: ImageShape = None,
    output_image_shape: OutputImageShape = None,
    memory: Annotated[
        float | None,
        typer.Option(
            "--memory",
            min=1,
            help="MiB of numbers above which one table with -t is read in blocks (default 1024).",
        ),
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            "--dask",
            metavar="ADDRESS",
            help="Running Dask scheduler, tcp://host:8786, whose workers read X and sum its rows.",
        ),
    ] = None,
    skip_empty: Annotated[
        bool, typer.Option("--skip-empty", help="With --dask: leave out files without rows.")
    ] = False,
    sign: Annotated[
        str | None, typer.Option("--sign", help="Private key (Ed25519) that signs the model.")
    ] = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Compare methods by nested cross-validation, fit the preferred answer and save it.

    For example:

        isthmus fit X.csv Y.csv -o model.isthmus --report report.html

        isthmus fit corn.csv -t moisture,protein --method pls,ridge --cv 5

        isthmus fit corn.csv -t moisture --groups batch

        isthmus fit nir.csv raman.csv -y lab.csv

    Several tables with -y are blocks of inputs of the same rows: each is treated and weighted
    separately, and the share of each block in the predictions is reported.

    Training rows that stand out are named. The checks of new rows leave them out, the model does not:
    --exclude does that, and --keep takes them back into the checks.

    A table larger than --memory is read in blocks, twice: one method, pls unless --method is pcr or
    reduced_rank, with all numbers of components compared in the folds of --cv.
    """
    console = begin(quiet, as_json)
    x_files, y_file = split_files(files, outputs_file)
    x_file = x_files[0]
    options = _check_options(method, components, scale, kernel, loss)
    options |= {"prefer": prefer, "cv": _folds(cv)}
    if prefer not in ("accurate", "simple", "small"):
        raise typer.BadParameter(f"--prefer {prefer!r} must be accurate, simple or small.")
    shapes = image_shapes(image_shape, output_image_shape)

    from isthmus.cli.app import InputError
    from isthmus.cli.large import fit_large, is_large, open_rows, tell_large
    from isthmus.cli.on_dask import open_dask_rows, scheduler
    from isthmus.cli.planning import PAGE, file_of, plan
    from isthmus.persistence import Outputs, save
    from isthmus.tables import Reading, read_pair, split_names

    key = None if sign is None else _read_key(sign)
    read = [path for each in (*x_files, y_file, sign) for path in file_of(each)]
    targets = split_names(target_columns)
    reading = Reading(header, id_column, types, ignore_columns, categories)
    reading.tell = console.notice
    reading.groups = groups
    with Outputs(inputs=read) as outputs:
        model = plan(outputs, output)
        page = None if report is None else plan(outputs, report, PAGE)
        if dask is not None and y_file is not None:
            raise InputError("--dask takes one table: name its outputs with --target-columns.")
        # Only one table can be walked block by block: the rows of two would have to be matched in memory.
        if dask is not None or (y_file is None and is_large(x_file, memory)):
            refused: dict[str, Any] = {
                "--report": report, "--time-limit": time_limit, "--groups": groups,
                "--categories": categories or None, "--exclude": exclude, "--keep": keep,
            }  # fmt: skip
            if dask is not None:
                refused |= {"--id": id_column, "--types": types, "--header": header}
            for option, given in refused.items():
                if given is not None:
                    raise InputError(
                        f"{option} needs all rows in memory: raise --memory, or leave it out."
                    )
            connected = nullcontext() if dask is None else scheduler(dask)
            with console.progress() as reading.progress, connected:
                if dask is None:
                    rows = open_rows(x_file, targets, reading, memory)
                else:
                    rows = open_dask_rows(x_file, targets, split_names(ignore_columns), skip_empty)
                search = fit_large(rows, options)
                save(search, model, sign=key)
            tell_large(console, search, x_file, output)
            return
        with console.progress() as reading.progress:
            data = read_pair(x_files, y_file, targets, reading)

        from isthmus.auto import MethodSearchCV

        # The reader puts the columns of the tables side by side; the search takes them apart again.
        if "blocks" in data.origin:
            options["blocks"] = _block_columns(data.origin["blocks"])
        search = MethodSearchCV(time_limit=time_limit, random_state=seed, **options)
        with console.progress() as progress:
            search.fit(
                data.X,
                data.Y,
                progress=progress,
                on_interrupt="raise",
                feature_names=data.feature_names,
                target_names=data.target_names,
                groups=data.groups,
                row_names=data.ids or [str(i + 1) for i in range(len(data.X))],
                exclude=split_names(exclude),
                keep=split_names(keep),
            )
            search.note_origin(files=x_files + ([y_file] if y_file else []), **data.origin)
            if page is not None:
                progress("writing the report", 0, 1)
                search.report(page, row_names=data.ids, command=command_line(), **shapes)
            save(search, model, sign=key)
    tell_fit(console, search, output, report)


def _check_options(
    method: str, components: str, scale: str, kernel: str, loss: str
) -> dict[str, Any]:
    options: dict[str, Any] = {"kernel": kernel, "loss": loss}
    names = [name.strip() for name in method.split(",") if name.strip()]
    options["methods"] = "auto" if names == ["auto"] else names
    if components != "auto" and not (components.isdigit() and int(components) > 0):
        raise typer.BadParameter(f"--components {components!r} must be auto or an integer > 0.")
    options["n_components"] = components if components == "auto" else int(components)
    if scale not in ("auto", "yes", "no"):
        raise typer.BadParameter(f"--scale {scale!r} must be auto, yes or no.")
    options["scale"] = {"auto": "auto", "yes": True, "no": False}[scale]
    return options


def _folds(cv: str) -> int | str:
    if cv in ("auto", "time"):
        return cv
    if not cv.isdigit() or int(cv) < 2:
        raise typer.BadParameter(
            f"{cv!r} must be auto, time or a whole number, at least 2.", param_hint="'--cv'"
        )
    return int(cv)


def _read_key(path: str) -> bytes:
    """A key that can sign, known before the work is done."""
    from pathlib import Path

    from isthmus.persistence import signer

    # Fails for a key that cannot sign, minutes before the file is written.
    signer(path)
    return Path(path).read_bytes()


def _block_columns(blocks: list[dict[str, Any]]) -> dict[str, slice]:
    columns = {}
    start = 0
    for block in blocks:
        columns[block["name"]] = slice(start, start + block["n"])
        start += block["n"]
    return columns
