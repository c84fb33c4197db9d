"""``isthmus inspect``: what a model file says about itself."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from isthmus.cli.console import Json, Quiet, begin, paired_difference


def register(app: Any) -> None:
    """Join the command."""
    app.command("inspect")(inspect)


def inspect(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file.")],
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Show what a model is and what it was fitted on; nothing of it is built or run.

    For example:

        isthmus inspect model.isthmus
    """
    console = begin(quiet, as_json)
    from isthmus.cli.app import InputError
    from isthmus.persistence import describe

    if not os.path.exists(model):
        raise InputError(f"{model}: no such file.")
    if os.path.isdir(model):
        raise InputError(f"{model} is a directory, not a model file.")
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
    ):
        if summary.get(key) is not None:
            value = summary[key]
            console.say(
                f"  {label:<10} {', '.join(map(str, value)) if isinstance(value, list) else value}"
            )
    for key, label, count in (
        ("feature_names", "inputs", "n_features"),
        ("target_names", "outputs", "n_targets"),
    ):
        if summary.get(count) is not None:
            console.say(f"  {label:<10} {summary[count]}{_listed(summary.get(key))}")
    _cross_validation(console, summary)
    console.result(found)


def _listed(names: Any, most: int = 12) -> str:
    if not names:
        return ""
    shown = ", ".join(map(str, names[:most]))
    return f": {shown}" + (" ..." if len(names) > most else "")


def _cross_validation(console: Any, summary: dict[str, Any]) -> None:
    rows = []
    for row in summary.get("cv", []):
        mark = " *" if row["method"] == summary.get("method") else ""
        score, error = row.get("score"), row.get("standard_error")
        rows.append(
            [
                row["label"] + mark,
                row["status"] if score is None else f"{score:.4f} ± {error:.4f}",
                paired_difference(
                    row.get("difference_to_best"), row.get("difference_standard_error")
                ),
            ]
        )
    if rows:
        title = "Cross-validation, with standard errors over the folds"
        console.table(title, ["method", "R2", "less the best"], rows)
