"""Figures of plotly as plain dictionaries. Colours are names, which the page turns into its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isthmus.inspection import ComponentCurveDisplay

ACCENT, SECOND, THIRD, MUTED, WARN = "@accent", "@second", "@third", "@muted", "@warn"
LINES = (ACCENT, SECOND, THIRD, WARN, MUTED)


def numbers(values: Any) -> list[Any]:
    """Five digits are enough for a picture; None is a gap."""
    flat = np.asarray(values, dtype=float)
    # Five digits are more than a screen resolves, and a third of the size of sixteen.
    return [float(f"{v:.5g}") if np.isfinite(v) else None for v in flat.ravel()]


def short(value: float | None) -> str:
    """A number of a table or a card; nothing for what is no number."""
    return "" if value is None or not np.isfinite(value) else f"{value:.4g}"


def plain(names: Sequence[Any]) -> list[str]:
    """Names as text: plotly would take a bracket for a tag."""
    return [str(name).replace("&", "&amp;").replace("<", "&lt;") for name in names]


def layout(x: str = "", y: str = "", **more: Any) -> dict[str, Any]:
    """Titles of the axes, as text."""
    across, up = plain([x, y])
    return {"xaxis": {"title": {"text": across}}, "yaxis": {"title": {"text": up}}, **more}


def markers(x: Any, y: Any, names: Sequence[Any], hover: str, **more: Any) -> dict[str, Any]:
    """Points with the names of their rows on hover."""
    marker = {"size": 6, "color": ACCENT, "opacity": 0.75, **more.pop("marker", {})}
    return {
        "type": "scatter",
        "mode": "markers",
        "x": numbers(x),
        "y": numbers(y),
        "text": plain(names),
        "hovertemplate": f"<b>%{{text}}</b><br>{hover}<extra></extra>",
        "marker": marker,
        "showlegend": False,
        **more,
    }


def line(x: Any, y: Any, color: str = MUTED, dash: str = "solid", **more: Any) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": x if isinstance(x, list) else numbers(x),
        "y": numbers(y),
        "line": {"color": color, "dash": dash, "width": 1.5},
        "hoverinfo": "skip",
        "showlegend": False,
        **more,
    }


def curve(x: Any, y: Any, hover: str, color: str = ACCENT, **more: Any) -> dict[str, Any]:
    """Points joined by a line, told on hover."""
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": numbers(x),
        "y": numbers(y),
        "line": {"color": color},
        "hovertemplate": f"{hover}<extra></extra>",
        **more,
    }


def rank_scores(shown: ComponentCurveDisplay) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Traces and layout: the score of every number of components, with a ring around the choice."""
    errors = {"type": "data", "array": numbers(shown.standard_error), "color": MUTED}
    trace = curve(
        shown.n_components, shown.score, "%{x} components: %{y}", error_y=errors, showlegend=False
    )
    at = int(np.flatnonzero(shown.n_components == shown.chosen)[0])
    ring = markers(
        [shown.chosen], shown.score[[at]], ["chosen"], "%{x} components",
        marker={"size": 16, "color": SECOND, "symbol": "circle-open", "line": {"width": 3}},
    )  # fmt: skip
    lay = layout("number of components", "score in cross-validation")
    return [trace, ring], whole_steps(lay, int(shown.n_components.max()))


def whole_steps(lay: dict[str, Any], last: int) -> dict[str, Any]:
    """A layout whose horizontal axis counts: every number has a tick where there are few."""
    if last <= 12:
        lay["xaxis"]["dtick"] = 1
    return lay


def columns(values: Any, names: Any, at: Any, is_curve: bool, **more: Any) -> dict[str, Any]:
    """One value a column: a line where columns are points of a curve, bars elsewhere."""
    color = more.pop("color", ACCENT)
    common = {
        "y": numbers(values),
        "text": plain(names),
        "hovertemplate": "%{text}: %{y}<extra></extra>",
        "showlegend": False,
        **more,
    }
    if is_curve:
        style = {"type": "scatter", "mode": "lines", "line": {"color": color, "width": 1.5}}
        return {"x": numbers(at), **style, **common}
    style = {"type": "bar", "marker": {"color": color}, "textposition": "none"}  # text is for hover
    return {"x": plain(names), **style, **common}
