"""``isthmus demo``: damaged digits restored by methods of this library and of scikit-learn."""

from __future__ import annotations

from typing import Annotated

import typer

from isthmus.cli.console import Json, Quiet, Seed, begin


def demo(
    output: Annotated[
        str, typer.Option("--output", "-o", help="Path of the HTML report.")
    ] = "isthmus-demo.html",
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Learn to restore corrupted handwritten digits, compare the methods, write a report.

    For example:

        isthmus demo
    """
    console = begin(quiet, as_json)
    from isthmus.cli.planning import PAGE, plan
    from isthmus.cli.restoring import WHOLE, compare, report_page
    from isthmus.persistence import Outputs

    with Outputs() as outputs:
        page = plan(outputs, output, PAGE)
        with console.progress() as progress:
            found = compare(seed, progress)
            page.write(report_page(found))
    console.say(
        f"{found.n_train} digits for training, {found.n_test} for testing; half of their 8 x 8 pixels "
        "(0 to 16) are dead, the others noisy."
    )
    header = ["method", "test error", "rank", "fit seconds", "predict rows/s"]
    console.table("", header, found.table())
    console.say(WHOLE)
    console.say(found.verdict)
    console.say(f"Open {output} to see the digits, the rank curves and the residuals.")
    console.say(
        "Next, your own files: isthmus fit X.csv Y.csv -o model.isthmus --report report.html"
    )
    console.result(
        {
            "report": output,
            "verdict": found.verdict,
            "methods": [
                {
                    "method": row.label,
                    "test_error": row.error,
                    "components": row.rank,
                    "fit_seconds": row.fit_seconds,
                    "rows_per_second": row.rows_per_second,
                }
                for row in found.rows
            ],
        }
    )
