"""What ``isthmus fit`` shows: the comparison, three answers, errors or classes."""

from __future__ import annotations

import shlex
from typing import Any

_MOST_TABLE_OUTPUTS = 12  # of a table in the terminal
_RULES = {
    "accurate": "the blend, unless a single method is clearly better on left-out rows",
    "simple": "the simplest method within one standard error of the best",
    "small": "the best low-rank map",
}


def comparison_rows(summary: dict[str, Any]) -> list[list[str]]:
    """For each method of a training summary: score, difference from the best, seconds per fit."""
    rows = []
    for told in summary.get("cv", []):
        mark = " *" if told["method"] == summary.get("method") else ""
        score = told["status"].partition(":")[0]  # the reason behind it would widen the column
        if told.get("score") is not None:
            score = f"{told['score']:.4f} ± {told['standard_error']:.4f}"
        # Files of before have no differences.
        mean = told.get("difference_to_best")
        error = told.get("difference_standard_error")
        difference = ""
        if mean is not None and error is not None:
            difference = "best" if mean == error == 0 else f"{mean:.3f} ± {error:.3f}"
        seconds = told.get("seconds_a_fit")
        rows.append(
            [told["label"] + mark, score, difference, "" if seconds is None else f"{seconds:.2f}"]
        )
    return rows


def _errors(search: Any) -> tuple[list[str], list[list[str]]]:
    import numpy as np

    from isthmus.inspection import figures_of_merit

    # Rows that no fold left out, the first ones of folds in time, have no prediction.
    guess = search.cv_predictions_
    known = np.where(np.isnan(guess), np.nan, search._training[1])
    figures = figures_of_merit(known, np.nan_to_num(guess)).table(search.target_names_)
    rows = [
        [name, *(f"{each[key]:.4g}" for key in ("rmse", "bias", "slope", "rpd", "rpiq"))]
        for name, each in figures.items()
    ]
    return ["output", "RMSECV", "bias", "slope", "RPD", "RPIQ"], rows


def tell_classes(
    console: Any, classes: dict[str, Any], Y: Any, predictions: Any, what: str
) -> float:
    """Show which classes are taken for another, and return the share of rows that are right."""
    from isthmus.reports import class_counts

    accuracy, header, rows = class_counts(Y, predictions, classes["labels"])
    console.say(
        f"Classes of {classes['column']}: {accuracy:.1%} of the {what} are classified correctly."
    )
    console.table(f"{what.capitalize()} by true class and predicted class", header, rows)
    return accuracy


def tell_fit(console: Any, search: Any, output: str, report: str | None) -> None:
    """Show the comparison, the answers, the errors or the classes, and what to do next."""
    from isthmus.reports import answer_rows, block_rows

    summary = search.training_summary()
    header = ["method", "R2", "difference", "fit s"]
    title = "Cross-validation: standard errors over the folds, difference from the best"
    console.table(title, header, comparison_rows(summary))
    for told in summary["cv"]:
        if ":" in told["status"]:
            console.say(f"{told['label']} {told['status']}.")
    rank = search.rank_
    with_rank = "" if rank is None else f", {rank} component{'s' if rank != 1 else ''}"
    console.say(f"* Chosen: {_RULES[search.prefer]}{with_rank}.")
    header = ["--prefer", "method", "R2", "numbers", "rows/s"]
    console.table("Three answers", header, answer_rows(search))
    classes = search.origin_.get("classes")
    if classes is not None:
        Y = search._training[1]
        accuracy = tell_classes(console, classes, Y, search.cv_predictions_, "left-out rows")
    elif len(search.target_names_) <= _MOST_TABLE_OUTPUTS:
        later = "later rows, predicted from earlier ones"
        judged = later if search.is_judged_in_time else "left-out rows"
        console.table(f"Errors of {judged}, in units of the outputs", *_errors(search))
    if search.blocks_ is not None:
        header = ["block", "columns", "share of the predictions"]
        console.table("Blocks of inputs", header, block_rows(search))
    # Fewer than asked for: the rank of the data bounds them.
    if rank is not None and search.n_components not in ("auto", rank):
        console.notice(f"--components {search.n_components}: the method and the data allow {rank}.")
    if search.tell_unusual():
        console.notice(search.tell_unusual())
    if search.best_score_ <= search.baseline_score_:
        console.notice("the model is no better than predicting the mean.")
    console.say(f"Model: {output}")
    if report is not None:
        console.say(f"Report: open {report}")
    # As many new tables as there were blocks, in the same order.
    new = " ".join(shlex.quote(f"{name}_new.csv") for name in search.blocks_ or ()) or "new.csv"
    asks = "" if classes is not None else " --interval 0.95"
    console.say(f"Next: isthmus predict {shlex.quote(output)} {new} -o out.csv{asks}")
    told = {"model": output, "report": report, "seconds": search.seconds_}
    if classes is not None:
        told["accuracy"] = accuracy
    console.result({**told, **summary})
