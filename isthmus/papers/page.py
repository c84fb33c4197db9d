"""One page of several experiments."""

from __future__ import annotations

from collections.abc import Sequence

from isthmus.papers.experiment import Experiment, Result
from isthmus.papers.registry import PAPERS
from isthmus.reports import Section, render


def summarise(found: Sequence[tuple[Experiment, Result]]) -> str:
    """Return how many published orderings hold, and how many experiments failed."""
    claims = [claim for _, result in found for claim in result.claims]
    kept = [claim for claim in claims if claim.expected]
    others = [claim for claim in claims if not claim.expected]
    failed = sum(bool(result.error) for _, result in found)
    told = f" {failed} of {len(found)} experiments failed." if failed else ""
    return (
        f"{sum(claim.holds for claim in kept)} of {len(kept)} orderings that should hold do; of "
        f"{len(others)} known not to carry over, {sum(claim.holds for claim in others)} hold here.{told}"
    )


def render_page(found: Sequence[tuple[Experiment, Result]], *, quick: bool = False) -> str:
    """Return one HTML page that needs no network.

    Parameters
    ----------
    found : sequence of (Experiment, Result)
        What was run.
    quick : bool, default=False
        Whether the sizes were the small ones; said on the page.
    """
    size = (
        "Small sizes (--quick): the numbers are rougher than those of a full run." if quick else ""
    )
    sections = [Section("Summary", [summarise(found), size] if size else [summarise(found)])]
    sections[0].tables.append(
        (
            "What was run.",
            ["experiment", "paper", "place", "orderings that hold", "seconds"],
            [
                [
                    experiment.name,
                    experiment.paper,
                    experiment.place,
                    f"failed: {result.error}"
                    if result.error
                    else f"{sum(c.holds for c in result.claims)} of {len(result.claims)}",
                    f"{result.seconds:.1f}",
                ]
                for experiment, result in found
            ],
        )
    )
    for experiment, result in found:
        if result.error:
            continue
        header, rows = result.table()
        sections.append(
            Section(
                experiment.name,
                text=[
                    experiment.question,
                    f"{PAPERS[experiment.paper]} [{experiment.paper}], {experiment.place}. "
                    f"{experiment.protocol}",
                    f"Data: {result.data}.",
                    *result.notes,
                ],
                items=[claim.verdict() for claim in result.claims],
                figures=result.figures,
                pictures=result.pictures,
                tables=[("Published beside measured.", header, rows)],
            )
        )
    subtitle = f"{len(found)} tables and figures of five papers, run again"
    return render("Published beside measured", subtitle, sections)
