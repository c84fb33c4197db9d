"""Outputs that are classes: how many rows are right, and which classes are taken for another."""

from __future__ import annotations

from collections import Counter

import numpy as np

from isthmus._linalg import Array
from isthmus.reports.data import ReportData
from isthmus.reports.page import Section
from isthmus.tables import pick_labels


def class_counts(
    Y: Array, predictions: Array, labels: list[str]
) -> tuple[float, list[str], list[list[str]]]:
    """Return the share of rows whose class is right, and the header and rows of a table of classes.

    Rows without a prediction, the first ones of folds in time, do not count.
    """
    known = ~np.isnan(predictions).any(axis=1)
    true = pick_labels(Y[known], labels)
    guessed = pick_labels(predictions[known], labels)
    pairs = Counter(zip(true, guessed, strict=True))
    rows = [[own, *(str(pairs[own, other]) for other in labels)] for own in labels]
    right = sum(pairs[label, label] for label in labels) / len(true)
    return right, ["class", *(f"as {label}" for label in labels)], rows


def classes(data: ReportData) -> Section | None:
    """How well the classes are told apart; None for outputs that are amounts."""
    told = data.classes
    if told is None:
        return None
    right, header, rows = class_counts(data.Y, data.predictions, told["labels"])
    shares = Counter(pick_labels(data.Y, told["labels"]))
    most, count = shares.most_common(1)[0]
    text = (
        f"{100 * right:.1f} % of the rows are classified correctly, {data.kind}. The most frequent class, "
        f"{most}, has {100 * count / data.n:.1f} % of the rows. A row has the class with the largest "
        "predicted indicator; R2 elsewhere in this report is of these indicators, which are 0 or 1."
    )
    caption = f"Rows by true class of {told['column']}, and by predicted class."
    return Section("Classes", [text], tables=[(caption, header, rows)])
