"""``isthmus reproduce``: tables and figures of the papers, published beside measured."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from isthmus.cli.app import InputError
from isthmus.cli.console import Json, Quiet, Seed, begin


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Experiments to run; see --list.", metavar="[NAME]..."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Run all experiments.")] = False,
    show: Annotated[bool, typer.Option("--list", help="List the experiments and stop.")] = False,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Run small sizes: all experiments in under five minutes."),
    ] = False,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="HTML page with tables and figures.")
    ] = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Run tables and figures of the papers and compare published with measured numbers.

    Data are read from the directory ISTHMUS_DATA; missing sets are generated, and the output says which.

    For example:

        isthmus reproduce --list

        isthmus reproduce thesis-kappa coir-curves -o page.html

        isthmus reproduce --quick
    """
    console = begin(quiet, as_json)
    from threadpoolctl import threadpool_limits

    from isthmus.cli.planning import PAGE, plan
    from isthmus.papers import EXPERIMENTS, render_page, summarise
    from isthmus.persistence import Outputs, write_atomically

    if show:
        rows = [[e.name, e.paper, e.place, e.question] for e in EXPERIMENTS.values()]
        console.table("", ["name", "paper", "place", "question"], rows)
        console.result({"experiments": [e.name for e in EXPERIMENTS.values()]})
        return
    chosen = _choose(names or [], every or quick, EXPERIMENTS)
    if output is not None:
        with Outputs() as outputs:  # refused now, and not after the work
            plan(outputs, output, PAGE)
    found: list[tuple[Any, Any]] = []
    for k, name in enumerate(chosen):
        experiment = EXPERIMENTS[name]
        missing = experiment.missing()
        if missing:
            console.notice(f"{name} is skipped: it needs {', '.join(missing)}.")
            continue
        # Times are compared within one run: one thread for every method.
        with threadpool_limits(1):
            result = _run(experiment, seed, quick)
        found.append((experiment, result))
        _show(console, f"{k + 1}/{len(chosen)}  {name}", experiment, result)
        # What has ended is kept, whatever happens to the rest.
        if output and output != "-":
            write_atomically(output, render_page(found, quick=quick))
    if output == "-":
        write_atomically(output, render_page(found, quick=quick))
    if len(found) > 1:
        console.say(summarise(found))
    if output is not None and found:
        console.say(f"Open {output} to see the figures.")
    console.result({"page": output, "experiments": [_plain(e, r) for e, r in found]})
    failed = [f"{e.name}: {r.error}" for e, r in found if r.error]
    if failed:
        raise InputError(f"{len(failed)} of {len(found)} experiments failed. {' '.join(failed)}")


def _run(experiment: Any, seed: int, quick: bool) -> Any:
    """Run an experiment; one that fails is a result that says why."""
    from isthmus.papers import Result

    try:
        return experiment.run(seed, quick)
    except Exception as error:
        if os.environ.get("ISTHMUS_DEBUG"):
            raise
        reason = str(error).rstrip(".") or "no message"
        return Result("none", [], [], error=f"{type(error).__name__}: {reason}.")


def _choose(names: list[str], every: bool, known: dict[str, Any]) -> list[str]:
    if not names and not every:
        raise InputError("name an experiment, or pass --all, --quick or --list.")
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InputError(
            f"there is no experiment {', '.join(unknown)}; see isthmus reproduce --list."
        )
    return names or list(known)


def _show(console: Any, title: str, experiment: Any, result: Any) -> None:
    console.say()
    console.say(f"{title} ({experiment.paper}, {experiment.place})")
    console.say(experiment.question)
    if result.error:
        console.say(f"  failed: {result.error}")
        return
    console.say(f"Data: {result.data}.")
    console.table("", *result.table())
    for claim in result.claims:
        console.say(f"  {claim.verdict()}")
    console.say(f"  {result.seconds:.1f} s")


def _plain(experiment: Any, result: Any) -> dict[str, Any]:
    return {
        "name": experiment.name,
        "paper": experiment.paper,
        "place": experiment.place,
        "data": result.data,
        "columns": result.columns,
        "rows": [
            {"method": r.label, "measured": list(r.measured), "published": list(r.published)}
            for r in result.rows
        ],
        "claims": [
            {"text": c.text, "holds": c.holds, "expected": c.expected, "why": c.why}
            for c in result.claims
        ],
        "seconds": result.seconds,
        "error": result.error or None,
    }
