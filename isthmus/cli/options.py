"""Options that several sub-commands share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="Whether files have a header (default: detect)."),
]
IdColumn = Annotated[
    str | None,
    typer.Option("--id", "--id-column", help="Column with row names (default: a first column of "
                 "unique texts)."),
]  # fmt: skip
Types = Annotated[
    list[str] | None,
    typer.Option("--types", help="Kinds of columns, instead of those detected: a=number,b=category. Kinds: "
                 "number, id, boolean, date, category, ignore."),
]  # fmt: skip
Categories = Annotated[
    bool,
    typer.Option("--categories", help="One-hot encode categorical columns; without it they are an error."),
]  # fmt: skip
TargetColumns = Annotated[
    list[str] | None,
    typer.Option("--target-columns", "-t", help="Columns to predict, a,b,c (default: all of Y)."),
]
IgnoreColumns = Annotated[
    list[str] | None, typer.Option("--ignore-columns", help="Columns to leave out, a,b,c.")
]
ExcludeRows = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude",
        help="Rows to leave out, by name, or by number from 1 where rows have no names: 17,60.",
    ),
]
KeepRows = Annotated[
    list[str] | None,
    typer.Option(
        "--keep", help="Rows of the domain even if they stand out, named as in --exclude."
    ),
]
ImageShape = Annotated[
    str | None,
    typer.Option("--image-shape", help="Height x width of inputs that are pictures, such as 8x8."),
]
OutputImageShape = Annotated[
    str | None,
    typer.Option(
        "--output-image-shape", help="Height x width of outputs that are pictures, such as 8x8."
    ),
]
TrustedKey = Annotated[
    str | None,
    typer.Option(
        "--trusted-key", help="Public key; only models signed with its private key are loaded."
    ),
]

OutputsFile = Annotated[
    str | None,
    typer.Option("--outputs", "-y", metavar="Y", help="Table of outputs; every other table is then "
                 "a block of inputs."),
]  # fmt: skip


def image_shapes(inputs: str | None, outputs: str | None) -> dict[str, Any]:
    """Shapes of inputs and outputs that are pictures, as a report takes them."""
    return {
        "image_shape": _shape_of(inputs, "--image-shape"),
        "output_image_shape": _shape_of(outputs, "--output-image-shape"),
    }


def _shape_of(given: str | None, option: str) -> tuple[int, int] | None:
    """``8x8`` as a pair."""
    if given is None:
        return None
    height, cross, width = given.lower().partition("x")
    if not (cross and height.isdigit() and width.isdigit() and int(height) and int(width)):
        raise typer.BadParameter(f"{option} {given!r} must be height x width, such as 8x8.")
    return int(height), int(width)


def split_files(files: Sequence[str], outputs: str | None) -> tuple[list[str], str | None]:
    """Tables of inputs, and that of the outputs if there is one."""
    if outputs is not None:
        return list(files), outputs
    if len(files) > 2:
        raise typer.BadParameter(
            f"{len(files)} tables: name the table of outputs with -y; the others are blocks of inputs.",
            param_hint="'X'",
        )
    return list(files[:1]), files[1] if len(files) == 2 else None
