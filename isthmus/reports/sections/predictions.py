"""Predicted against observed, residuals, and the outputs from the best to the worst."""

from __future__ import annotations

import numpy as np

from isthmus.inspection import rmse
from isthmus.reports import figures as fig
from isthmus.reports.data import ReportData
from isthmus.reports.page import Figure, Section


def predictions(data: ReportData) -> Section | None:
    """How near the predictions come, output by output; None for classes."""
    if data.classes is not None:
        return None
    rows = data.shown_rows
    names = data.names_of(rows)
    parities, residuals, notes = [], [], []
    for label, j in data.shown_outputs:
        display = data.by_output[j]
        name = display.name
        observed = display.observed[rows]
        predicted = display.predicted[rows]
        both = np.concatenate([observed, predicted])
        ends = [float(np.nanmin(both)), float(np.nanmax(both))]
        points = fig.markers(observed, predicted, names, "observed %{x}<br>predicted %{y}")
        diagonal = fig.line(ends, ends, fig.MUTED, "dash")
        parities.append(
            (label, [diagonal, points], fig.layout(f"{name}, observed", f"{name}, predicted"))
        )
        rest = fig.markers(
            predicted, observed - predicted, names, "predicted %{x}<br>residual %{y}"
        )
        span = [float(np.nanmin(predicted)), float(np.nanmax(predicted))]
        zero = fig.line(span, [0, 0], fig.MUTED, "dash")
        residuals.append(
            (label, [zero, rest], fig.layout(f"{name}, predicted", "observed - predicted"))
        )
        notes.append(
            f"{display.name}: R2 {display.r2:.3f}, root mean squared error {display.rmse:.4g}"
        )
    some = "" if len(rows) == data.n else f" {len(rows)} of {data.n} rows are drawn, evenly chosen."
    section = Section(
        "Predictions",
        [f"Shown: {data.kind}.{some}"],
        [
            Figure("parity", "Predicted against observed: a perfect model has all points on the "
                   "diagonal; points far off are rows to look at, a bent cloud needs a nonlinear "
                   "method.", parities, "Output", notes=notes),
            Figure("residuals", "Residuals: they should scatter evenly about zero. A trend is "
                   "something left to explain; in a funnel the errors grow with the value.",
                   residuals, "Output", notes=notes),
        ],
    )  # fmt: skip
    if data.q > 1:
        section.figures.append(_from_best_to_worst(data))
    if not data.is_validation:  # whose page begins with such a table
        section.tables.append(_errors_in_units(data))
    return section


def _errors_in_units(data: ReportData) -> tuple[str, list[str], list[list[str]]]:
    figures = data.figures_of_merit
    fitted = np.asarray(data.search.predict_rows(data.X), dtype=float).reshape(data.n, -1)
    calibration = np.atleast_1d(rmse(data.Y, fitted))
    rows = [
        [data.search.target_names_[j], str(int(figures.n[j])), fig.short(float(calibration[j]))]
        + [fig.short(float(value[j])) for value in (
            figures.rmse, figures.bias, figures.slope, figures.r2, figures.rpd, figures.rpiq)]
        for j in range(data.q)
    ]  # fmt: skip
    caption = (
        "Output by output, errors in its units: RMSEC of the rows of the fit, and of rows left out RMSECV "
        "(all of them pooled), bias (mean of predicted minus observed), slope of observed on predicted, "
        "R2, RPD and RPIQ (spread of the output over the error). An RMSEC far below the RMSECV is a model "
        "with more components than the rows support."
    )
    header = ["output", "rows", "RMSEC", "RMSECV", "bias", "slope", "R2", "RPD", "RPIQ"]
    return caption, header, rows


def _from_best_to_worst(data: ReportData) -> Figure:
    order = np.argsort([display.r2 for display in data.by_output], kind="stable")[::-1]
    names = [data.search.target_names_[j] for j in order]
    values = [max(data.by_output[j].r2, -1.0) for j in order]
    few = len(names) <= 12
    bars = {
        "type": "bar",
        "x": fig.plain(names) if few else list(range(1, len(names) + 1)),
        "y": fig.numbers(values),
        "text": fig.plain(names),
        "textposition": "none",
        "marker": {"color": fig.ACCENT},
        "hovertemplate": "%{text}: R2 %{y}<extra></extra>",
    }
    caption = (
        "The outputs from the best to the worst explained. Those near or below zero are not predicted "
        "by these inputs (bars end at -1)."
    )
    lay = fig.layout("output" if few else "rank of the output", "R2")
    return Figure("outputs", caption, [("", [bars], lay)], height=300)
