"""``isthmus compress``: a kernel model with fewer points."""

from __future__ import annotations

import timeit
from functools import partial
from typing import Annotated, Any

import typer

from isthmus.cli.console import Json, Quiet, begin
from isthmus.cli.options import TrustedKey


def compress(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A kernel model written by isthmus fit.")
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="Path of the smaller model file.")
    ] = "small.isthmus",
    points: Annotated[int | None, typer.Option("--points", min=1, help="Points to keep.")] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            "--tolerance",
            help="Largest relative squared error of the smaller model (default 0.001).",
        ),
    ] = None,
    trusted_key: TrustedKey = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Make a kernel model smaller and faster, and report what that costs.

    For example:

        isthmus compress model.isthmus -o small.isthmus --points 100
    """
    console = begin(quiet, as_json)
    if points is not None and tolerance is not None:
        raise typer.BadParameter("give --points or --tolerance, not both.")
    if tolerance is not None and not 0 < tolerance < 1:
        raise typer.BadParameter(f"--tolerance {tolerance} must be between 0 and 1.")

    import os

    from isthmus.cli.app import InputError
    from isthmus.cli.models import load_search
    from isthmus.cli.planning import plan
    from isthmus.compression import compress as shrink
    from isthmus.persistence import Outputs, save
    from isthmus.reports import expansion_model

    with Outputs(inputs=[model]) as outputs:
        small_file = plan(outputs, output)
        search = load_search(model, trusted_key)
        kernel = expansion_model(search.best_estimator_)
        if kernel is None:
            raise InputError(
                f"{model} holds a {search.method_['label']}, which has no kernel points to leave out: only "
                "kernel models are compressed (isthmus fit --method kernel)."
            )
        full = kernel.to_expansion()
        if points is not None and points > full.n_points:
            raise InputError(f"--points {points}: the model has {full.n_points} points.")
        small = shrink(kernel, points, tol=tolerance)
        told = _compare(kernel, small, full)
        for stage in ("inputs_", "map_"):
            vars(small).pop(
                stage, None
            )  # they hold all points; the expansion predicts without them
        search.replace_last_step(small)
        search.note_origin(compressed_from=told["points_before"])
        save(search, small_file)
    told |= {"bytes_before": os.path.getsize(model), "bytes_after": small_file.size}
    console.say(f"points   {told['points_before']} to {told['points_after']}")
    console.say(f"size     {told['bytes_before']:,} to {told['bytes_after']:,} bytes")
    console.say(
        f"speed    {told['times_faster']:.1f} times faster, measured on {told['rows']} rows"
    )
    console.say(
        f"error    predictions of training points change by {100 * told['change']:.3g} % of their spread"
    )
    console.say(f"Model: {output}")
    console.result({"model": output, **told})


def _compare(kernel: Any, small: Any, full: Any) -> dict[str, Any]:
    """Both models at the training points: how far apart, how fast."""
    import numpy as np

    rows = full.points
    before, after = (np.asarray(m.predict(rows)).reshape(len(rows), -1) for m in (kernel, small))
    # Changes are told in units of the spread of the predictions, which all outputs share.
    spread = float(np.sqrt(((before - before.mean(axis=0)) ** 2).mean()))
    change = float(np.sqrt(((before - after) ** 2).mean()))
    # Best of several: a moment in which the machine did something else does not count.
    slow, fast = (
        min(timeit.repeat(partial(m.predict, rows), number=1, repeat=7)) for m in (kernel, small)
    )
    return {
        "points_before": int(full.n_points),
        "points_after": int(small.to_expansion().n_points),
        "change": change / spread if spread > 0 else 0.0,
        "times_faster": slow / fast,
        "rows": len(rows),
    }
