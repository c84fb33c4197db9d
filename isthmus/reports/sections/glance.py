"""The data at a glance: ranges, gaps and spread of the columns, before any model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isthmus._linalg import Array
from isthmus.reports import figures as fig
from isthmus.reports.data import ReportData
from isthmus.reports.page import Figure, Section
from isthmus.reports.pictures import MOST_PICTURES, png_uri
from isthmus.tables import plural

# Rows of the table and bars of a histogram that fit on a screen.
_MOST_COLUMNS = 30
_MOST_BINS = 80


def at_a_glance(data: ReportData) -> Section:
    """What the columns hold."""
    holes_x, holes_y = (100 * float(np.isnan(a).mean()) for a in (data.X, data.Y))
    constant = int((np.nanmax(data.X, axis=0) == np.nanmin(data.X, axis=0)).sum())
    text = [
        f"{plural(data.n, 'row')}; {plural(data.p, 'input')}, {constant} of them constant; "
        f"{plural(data.q, 'output')}. "
        f"{holes_x:.2g} % of the input values and {holes_y:.2g} % of the output values are missing."
    ]
    if data.is_search:
        how = (
            "divided by their standard deviations" if data.search.scale_ else "left in their units"
        )
        text[0] += (
            f" Input columns were centred and {how}, with the statistics of the training rows of each fold."
        )
        if data.search.missing_model_ is not None:
            text[0] += (
                " A missing input takes its mean given the rest of its row, by the same rows."
            )
        unknown = int(np.isnan(data.Y).all(axis=1).sum())
        if unknown:
            verb = "was" if unknown == 1 else "were"
            text[0] += f" {plural(unknown, 'row')} without any output {verb} left out of the fit."
    section = Section("Data at a glance", text)
    if data.image_shape is not None:
        section.pictures.append(_input_pictures(data, data.image_shape))
    elif data.is_curve:
        section.figures.append(_curve_figure(data))
    else:
        section.tables.append(_column_table("Inputs", data.feature_names, data.X))
    section.figures.append(_histograms(data))
    section.tables.append(_column_table("Outputs", data.search.target_names_, data.Y))
    return section


def _input_pictures(
    data: ReportData, shape: tuple[int, int]
) -> tuple[str, list[tuple[str, list[str]]]]:
    strips: dict[str, Sequence[Array]] = {
        "mean": [np.nanmean(data.X, axis=0)],
        "spread": [np.nanstd(data.X, axis=0)],
        "some rows": list(data.X[:MOST_PICTURES]),
    }
    rows = [(label, [png_uri(a.reshape(shape)) for a in strip]) for label, strip in strips.items()]
    return "Inputs as pictures: their mean, their spread, the first rows.", rows


def _curve_figure(data: ReportData) -> Figure:
    levels = np.nanquantile(data.X, [0.05, 0.25, 0.5, 0.75, 0.95], axis=0)
    labels = ("5 %", "25 %", "median", "75 %", "95 %")
    tones = (fig.MUTED, fig.SECOND, fig.ACCENT, fig.SECOND, fig.MUTED)
    traces = [
        fig.line(data.column_positions, row, tone, name=label, hoverinfo="x+y+name")
        for row, label, tone in zip(levels, labels, tones)
    ]
    caption = (
        "The input curves: median, and the bands that hold half and nine tenths of the rows at each "
        "point. A band that opens or a level that jumps points to scatter or drift."
    )
    return Figure("inputs", caption, [("", traces, fig.layout(data.column_label, "value"))])


def _histograms(data: ReportData) -> Figure:
    variants = []
    for label, j in data.shown_outputs:
        values = data.Y[:, j][np.isfinite(data.Y[:, j])]
        counts, edges = np.histogram(values, bins="auto" if len(values) > 1 else 1)
        # A few far values make the automatic bins too many and too thin.
        if len(counts) > _MOST_BINS:
            counts, edges = np.histogram(values, bins=_MOST_BINS)
        bars = {
            "type": "bar",
            "x": fig.numbers((edges[1:] + edges[:-1]) / 2),
            "y": fig.numbers(counts),
            "width": fig.numbers(np.diff(edges)),
            "marker": {"color": fig.ACCENT},
            "hovertemplate": "%{x}: %{y} rows<extra></extra>",
        }
        name = data.search.target_names_[j]
        variants.append((label, [bars], fig.layout(name, "rows")))
    caption = (
        "Distribution of an output. Gaps, spikes and long tails are the "
        "hardest to predict; values far from the others have most weight in a least squares fit."
    )
    return Figure("histogram", caption, variants, selector="Output", height=300)


def _column_table(title: str, names: list[str], A: Array) -> tuple[str, list[str], list[list[str]]]:
    shown = min(len(names), _MOST_COLUMNS)
    rows = []
    for j in range(shown):
        column = A[:, j]
        values = column[np.isfinite(column)]
        stats = (values.min(), np.median(values), values.max(), values.std()) if len(values) else ()
        rows.append(
            [names[j], *(fig.short(float(v)) for v in stats), str(int(np.isnan(column).sum()))]
        )
    caption = f"{title}: range and spread of each column"
    if shown < len(names):
        caption += f" (the first {shown} of {len(names)})"
    return caption, ["column", "min", "median", "max", "std", "missing"], rows
