"""Scores and outliers: rows in the plane of two components, and how far out they lie."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isthmus.inspection import ScoresDisplay
from isthmus.reports import figures as fig
from isthmus.reports.data import ReportData
from isthmus.reports.kernel_models import kernel_scores
from isthmus.reports.page import Figure, Section
from isthmus.tables import plural

_TITLE = "Scores and outliers"
_MOST_RINGED = 500  # outliers that are drawn
_MOST_UNUSUAL = 100  # rows of a table


def scores(data: ReportData) -> Section:
    """Scores of a linear or of a kernel model, or why there are none, and training rows that stand out."""
    section = _scores(data)
    unusual = [] if data.is_validation else data.search.fit_summary()["unusual_rows"]
    if unusual:
        names = data.names_of([each["row"] for each in unusual])
        rows = [
            [name, each["name"], each["part"], each["reason"]] for name, each in zip(names, unusual)
        ]
        caption = "Training rows that stand out: in X by their distance, in y by their error when left out"
        header = ["row", "called in the fit", "in", "reason"]
        section.tables.append((caption, header, rows[:_MOST_UNUSUAL]))
    return section


def _scores(data: ReportData) -> Section:
    if data.is_latent and data.model.n_components_ == 0:
        return Section(
            _TITLE, ["The model has no components: it predicts the mean, and has no scores."]
        )
    if not data.is_latent and not data.is_kernel:
        return Section(_TITLE, ["This method has no components and therefore no scores."])
    compute = ScoresDisplay.compute if data.is_latent else kernel_scores
    try:
        display = compute(data.model, data.complete, training=data.cv_predictions is not None)
    except ValueError as error:  # too few rows for a limit
        return Section(_TITLE, [f"There are no limits for scores: {error}"])
    outlying = np.flatnonzero(display.outlying)
    rows = np.union1d(data.shown_rows, outlying[:_MOST_RINGED])
    section = Section(_TITLE, figures=[_plane(data, display, rows, outlying)])
    section.text.append(_how_many(data, display, outlying))
    section.text += data.note_on_model
    if display.q is not None:
        section.figures.append(_influence(data, display, rows))
    elif data.is_kernel:
        section.text.append(
            "There are no Q residuals: a kernel map keeps every direction of the training rows, so that "
            "all of them are zero."
        )
    else:
        section.text.append(
            "There are no Q residuals: with as many components as rows they are zero."
        )
    return section


def _plane(data: ReportData, display: ScoresDisplay, rows: NDArray, outlying: NDArray) -> Figure:
    angle = np.linspace(0, 2 * np.pi, 120)
    ellipse = fig.line(
        display.radii[0] * np.cos(angle), display.radii[1] * np.sin(angle), fig.WARN, "dot"
    )
    out = display.scores[outlying]
    rings = fig.markers(
        out[:, 0], out[:, 1], data.names_of(outlying), "outlying",
        marker={"size": 13, "color": fig.WARN, "symbol": "circle-open"},
    )  # fmt: skip
    a, b = display.components
    word = "component" if data.is_latent else "function"
    second = f"{word} {b + 1}" if b != a else f"(one {word} only)"
    names = data.names_of(rows)
    T = display.scores[rows]
    variants = []
    for label, j in data.shown_outputs:
        name = fig.plain([data.search.target_names_[j]])[0]
        bar = {"thickness": 10, "len": 0.9, "title": {"text": name, "side": "right"}}
        marker = {"color": fig.numbers(data.Y[rows, j]), "colorscale": "Viridis", "showscale": True,
                  "size": 7, "opacity": 0.9, "colorbar": bar}  # fmt: skip
        points = fig.markers(
            T[:, 0], T[:, 1], names, "(%{x}, %{y})<br>output %{marker.color}", marker=marker
        )
        variants.append((label, [ellipse, points, rings], fig.layout(f"{word} {a + 1}", second)))
    plane, limits = (
        ("first two components", "T2 or of Q") if data.is_latent else
        ("two main functions of the kernel expansion", "T2")
    )  # fmt: skip
    caption = (
        f"Rows in the plane of the {plane}, coloured by an output: a gradient of colour across the cloud "
        "is what the model uses. The dotted ellipse holds 95 % of ordinary rows; ringed rows exceed the "
        f"limit of {limits}."
    )
    return Figure("scores", caption, variants, "Coloured by")


def _how_many(data: ReportData, display: ScoresDisplay, outlying: NDArray) -> str:
    if not len(outlying):
        return "No row exceeds the 95 % limits."
    by_chance = "one in ten" if display.q is not None else "one in twenty"
    verb = "exceeds" if len(outlying) == 1 else "exceed"
    return (
        f"{plural(len(outlying), 'row')} ({100 * len(outlying) / data.n:.1f} %) {verb} a 95 % limit; "
        f"about {by_chance} would by chance."
    )


def _influence(data: ReportData, display: ScoresDisplay, rows: NDArray) -> Figure:
    t2, q = display.t2, display.q
    points = fig.markers(
        t2.values[rows], q.values[rows], data.names_of(rows), "T2 %{x}<br>Q %{y}",
        marker={"color": [fig.WARN if o else fig.ACCENT for o in display.outlying[rows]]},
    )  # fmt: skip
    top = [float(t2.values.max()) * 1.05, float(q.values.max()) * 1.05]
    traces = [
        fig.line([t2.limit, t2.limit], [0, max(top[1], q.limit)], fig.WARN, "dash"),
        fig.line([0, max(top[0], t2.limit)], [q.limit, q.limit], fig.WARN, "dash"),
        points,
    ]
    caption = (
        "Outliers: far to the right is extreme within the model (T2), far up is not described by it "
        "(Q). Dashed lines are the 95 % limits; a row beyond both pulls the model and does not fit it."
    )
    return Figure("influence", caption, [("", traces, fig.layout("Hotelling's T2", "Q residual"))])
