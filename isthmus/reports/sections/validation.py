"""New rows with known outputs: the errors, the coverage of intervals, drift, and rows outside."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from isthmus._linalg import Array
from isthmus.inspection import INSIDE_LEVEL, rmse, trend_p_value
from isthmus.reports import figures as fig
from isthmus.reports.data import ReportData
from isthmus.reports.page import Figure, Section

_RARE_TREND = 0.01  # a trend is named if chance alone gives it less often
# Rows outside the domain that are listed; a longer table is not read.
_MOST_LISTED = 100
_MOST_CARDS = 4  # outputs whose errors head the page; all are in the table
_HEADER = ["output", "rows", "RMSEP", "RMSEP, inside", "bias", "SEP", "slope", "R2", "RPD", "RPIQ",
           "RMSECV", "covered", "covered, inside", "trend, p"]  # fmt: skip


def validation(data: ReportData) -> Section | None:
    """What the new rows say of the model; None for the rows of the fit."""
    if not data.is_validation:
        return None
    figures = data.figures_of_merit
    covered = _coverage(data)
    inside = np.ones(data.n, dtype=bool) if data.trust is None else ~data.trust.outside
    trends = np.array([trend_p_value(d.residual) for d in data.by_output])
    expected = np.sqrt(np.nanmean(np.asarray(data.search.residual_quantiles_) ** 2, axis=0))
    errors_inside = rmse(np.where(inside[:, None], data.Y, np.nan), data.predictions)
    shares = _share(covered)
    shares_inside = _share(covered[inside])
    rows = [
        [data.search.target_names_[j], str(int(figures.n[j]))]
        + [fig.short(float(value[j])) for value in (
            figures.rmse, errors_inside, figures.bias, figures.sep, figures.slope, figures.r2,
            figures.rpd, figures.rpiq, expected)]
        + [_percent(shares[j]), _percent(shares_inside[j], "no row"), f"{trends[j]:.2g}"]
        for j in range(data.q)
    ]  # fmt: skip
    caption = (
        "Output by output, errors in its units: RMSEP on these rows and on those inside the domain, "
        "its parts bias (mean of predicted minus observed) and SEP (the spread about the bias), the slope "
        "of observed on predicted, RPD and RPIQ (spread of the output over the error), the error of rows "
        "left out at the fit "
        "(RMSECV), the share of outputs within their 95 % intervals, and the p-value of a trend over the "
        "rows (Kendall)."
    )
    section = Section(
        "Validation",
        _sentences(data, _mean(figures.r2), figures.rmse / expected, trends),
        cards=_cards(data, shares, shares_inside),
        tables=[(caption, _HEADER, rows)],
    )
    section.figures.append(_residuals_in_order(data, trends))
    if data.trust is not None:
        section.figures.append(_distances(data))
        if data.trust.outside.any():
            section.tables.append(_rows_outside(data))
    return section


def _cards(data: ReportData, shares: Array, shares_inside: Array) -> list[tuple[str, str]]:
    figures = data.figures_of_merit
    cards = []
    if data.q == 1:
        name = data.search.target_names_[0]
        for label, value in (
            (f"RMSEP of {name}", figures.rmse), ("bias", figures.bias), ("SEP", figures.sep),
            ("slope", figures.slope), ("RPD", figures.rpd), ("RPIQ", figures.rpiq),
        ):  # fmt: skip
            cards.append((label, fig.short(float(value[0])) or "unknown"))
    elif data.q <= _MOST_CARDS:
        for j, name in enumerate(data.search.target_names_):
            cards.append((f"RMSEP of {name}", fig.short(float(figures.rmse[j])) or "unknown"))
    cards.append(
        ("explained on these rows (R2)", fig.short(round(_mean(figures.r2), 3)) or "unknown")
    )
    cards.append(("outputs within their 95 % intervals", _percent(_mean(shares))))
    if data.trust is not None:
        n = int(data.trust.outside.sum())
        cards.append(("rows outside the domain", f"{n} of {data.n}"))
        if 0 < n < data.n:
            told = _percent(_mean(shares_inside))
            cards.append(("within their intervals, rows inside", told))
    return cards


def _sentences(data: ReportData, r2: float, ratios: Array, trends: Array) -> list[str]:
    search = data.search
    worst = int(np.nanargmax(ratios)) if np.isfinite(ratios).any() else 0
    share = f"{100 * r2:.1f} %" if r2 > 0 else "nothing"
    if np.isnan(r2):  # the outputs do not vary
        share = "an unknown share"
    text = [
        f"On these {data.n} rows the model explains {share} of the variance of the outputs. If it was "
        "trained on them, this is no test."
    ]
    if (
        search.best_score_ is not None and data.score_name == "R2"
    ):  # None: of a model that was moved to another instrument
        text[0] += f" In cross-validation at the fit it explained {100 * search.best_score_:.1f} %."
    if np.isfinite(ratios[worst]) and ratios[worst] > 1.5:
        text.append(
            f"The error of {search.target_names_[worst]} is {ratios[worst]:.1f} times that of the rows "
            "left out at the fit."
        )
    biased = _find_biased(data)
    if biased:
        text.append(
            f"Predictions are too high or too low as a whole: {', '.join(biased[:4])}"
            f"{' ...' if len(biased) > 4 else ''} (mean of predicted minus observed). A slope and "
            "bias correction from a few reference values removes that."
        )
    if data.trust is None:
        text.append(
            "The model file has no domain, so these rows cannot be compared with the training rows."
        )
    else:
        text.append(data.trust.summary())
    drifting = [search.target_names_[j] for j in np.flatnonzero(trends * data.q < _RARE_TREND)]
    if drifting:
        text.append(
            f"The errors drift over the order of the rows: {', '.join(drifting[:8])}"
            f"{' ...' if len(drifting) > 8 else ''} (Kendall's tau, p < {_RARE_TREND:g}, over all outputs)."
        )
    else:
        text.append("The errors have no trend over the order of the rows.")
    return text


def _find_biased(data: ReportData) -> list[str]:
    """Outputs whose bias is most of their error and more than chance, with its size."""
    figures, names = data.figures_of_merit, data.search.target_names_
    found = []
    for j, n in enumerate(np.atleast_1d(figures.n)):
        bias = float(figures.bias[j])
        sep = float(figures.sep[j])
        if n < 3 or not sep > 0 or abs(bias) < sep:
            continue
        p = 2 * stats.t.sf(abs(bias) / (sep / np.sqrt(n)), n - 1)
        if p * data.q < _RARE_TREND:
            found.append(f"{names[j]} {fig.short(bias)}")
    return found


def _coverage(data: ReportData) -> Array:
    """1 if an output is within its interval, otherwise 0; NaN if the output or the interval is unknown."""
    bounds = data.search.interval_rows(data.X, INSIDE_LEVEL, data.trust)
    lower, upper = (np.asarray(b, dtype=float).reshape(data.n, -1) for b in bounds)
    within = ((lower <= data.Y) & (data.Y <= upper)).astype(float)
    return np.where(np.isnan(data.Y) | np.isinf(upper), np.nan, within)


def _share(covered: Array) -> Array:
    known = np.isfinite(covered).sum(axis=0)
    return np.where(known > 0, np.nansum(covered, axis=0) / np.maximum(known, 1), np.nan)


def _mean(shares: Array) -> float:
    """Mean over the outputs; NaN where no output has a value."""
    return float(np.nanmean(shares)) if np.isfinite(shares).any() else np.nan


def _percent(share: float, none: str = "withheld") -> str:
    return f"{100 * share:.0f} %" if np.isfinite(share) else none


def _tones(data: ReportData, rows: NDArray) -> list[str]:
    if data.trust is None:
        return [fig.ACCENT] * len(rows)
    return [fig.WARN if data.trust.outside[i] else fig.ACCENT for i in rows]


def _residuals_in_order(data: ReportData, trends: Array) -> Figure:
    rows = data.shown_rows
    names = data.names_of(rows)
    tones = _tones(data, rows)
    variants, notes = [], []
    for label, j in data.shown_outputs:
        residual = data.by_output[j].residual
        points = fig.markers(
            rows + 1, residual[rows], names, "residual %{y}", marker={"color": tones}
        )
        zero = fig.line([1, data.n], [0, 0], fig.MUTED, "dash")
        course = fig.line(*_running_median(residual), fig.SECOND)
        lay = fig.layout("row number", "observed - predicted")
        variants.append((label, [zero, points, course], lay))
        notes.append(f"{data.by_output[j].name}: p-value of a trend {trends[j]:.2g}")
    caption = (
        "Residuals in the order of the rows, with their running median; rows outside the domain are red. "
        "A line that leaves zero is drift: of the instrument, of the process, or of the reference."
    )
    return Figure("drift", caption, variants, "Output", notes=notes)


def _running_median(residual: Array) -> tuple[Array, Array]:
    """Medians of windows of a tenth of the rows, at least five of them."""
    known = np.flatnonzero(np.isfinite(residual))
    width = min(max(5, len(known) // 10), len(known))
    starts = range(0, max(len(known) - width, 0) + 1, max(1, len(known) // 200))
    windows: list[Any] = [known[s : s + width] for s in starts if width]
    places = np.array([window.mean() + 1 for window in windows])
    return places, np.array([np.median(residual[window]) for window in windows])


def _distances(data: ReportData) -> Figure:
    rows = data.shown_rows
    distance = np.clip(data.trust.distance[rows], 1e-6, 1e6)
    points = fig.markers(
        rows + 1, distance, data.names_of(rows), "distance %{y}",
        marker={"color": _tones(data, rows)},
    )  # fmt: skip
    limit = fig.line([1, data.n], [1, 1], fig.WARN, "dash")
    lay = fig.layout("row number", "distance (limit 1)")
    # Powers of ten, or of two where there are few of them: of 1, 2 and 5, plotly writes 0.5 as 5.
    step = 1.0 if np.ptp(np.log10(distance)) > 2 else np.log10(2.0)
    lay["yaxis"] |= {"type": "log", "dtick": float(step), "tickformat": "~g"}
    caption = (
        "Distance of each row from the rows of the fit, in units of the limit, which one in twenty rows "
        "of the same kind passes. Intervals of rows above the dashed line grow with it, and are "
        "withheld where they would exceed the range of the training outputs."
    )
    return Figure("domain", caption, [("", [limit, points], lay)])


def _rows_outside(data: ReportData) -> tuple[str, list[str], list[list[str]]]:
    trust = data.trust
    order = np.argsort(-trust.distance, kind="stable")[: int(trust.outside.sum())][:_MOST_LISTED]
    more = int(trust.outside.sum()) - len(order)
    caption = "Rows outside the domain, the farthest first" + (f"; {more} more." if more else ".")
    rows = [
        [str(data.row_names[i]), fig.short(float(trust.distance[i])), trust.reasons[i]]
        for i in order
    ]
    return caption, ["row", "distance", "reason"], rows
