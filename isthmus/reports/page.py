"""Sections to one page of HTML."""

from __future__ import annotations

import html
import json
import os
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from isthmus.persistence import content_policy, write_atomically
from isthmus.tables import plural

_TEMPLATE = Path(__file__).with_name("page.html")
_SCRIPT = Path(__file__).with_name("page.js")
_OTHERS = "style-src 'unsafe-inline'; img-src data: blob:; font-src data:"
_TAGS = re.compile(r"&lt;(/?(?:sub|sup|span))&gt;")
_ENTITIES = re.compile(r"&amp;(#?\w{1,10};)")


@dataclass
class Figure:
    """A figure of plotly and the sentence that says what to see in it.

    Attributes
    ----------
    name : str
        Unique in the page.
    caption : str
        What to see.
    variants : list of (label, data, layout)
        One figure, or several of which a selector shows one.
    selector : str
        Text beside the selector.
    height : int
        Pixels.
    notes : list of str
        A line below each variant.
    """

    name: str
    caption: str
    variants: list[tuple[str, list[dict[str, Any]], dict[str, Any]]]
    selector: str = "Show"
    height: int = 360
    notes: list[str] = field(default_factory=list)


@dataclass
class Section:
    """A heading with sentences, figures, tables and pictures.

    Attributes
    ----------
    title : str
    text : list of str
    figures : list of Figure
    tables : list of (caption, header, rows)
    pictures : list of (caption, rows of (label, list of data addresses))
    cards : list of (label, value)
    code : list of (caption, text)
    formula : str
        An equation with ``<sub>``, ``<sup>``, ``<span>`` and entities; every other tag is text.
    items : list of str
    """

    title: str
    text: list[str] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    tables: list[tuple[str, list[str], list[list[str]]]] = field(default_factory=list)
    pictures: list[tuple[str, list[tuple[str, list[str]]]]] = field(default_factory=list)
    cards: list[tuple[str, str]] = field(default_factory=list)
    code: list[tuple[str, str]] = field(default_factory=list)
    formula: str = ""
    items: list[str] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        """Its place in the page; figures have their own names."""
        return "section-" + "".join(c if c.isalnum() else "-" for c in self.title.lower())


def render(title: str, subtitle: str, sections: list[Section]) -> str:
    """The page; everything it needs is in it, and its own policy forbids it to load more."""
    try:
        from jinja2 import Environment
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise ImportError(
            "Reports need plotly and jinja2: pip install 'isthmus[report]'."
        ) from error
    from markupsafe import Markup

    figures = {
        figure.name: {
            "height": figure.height,
            "notes": figure.notes,
            "variants": [{"data": data, "layout": lay} for _, data, lay in figure.variants],
        }
        for section in sections
        for figure in section.figures
    }
    # "</script>" inside a name would end the script.
    data = json.dumps(figures, separators=(",", ":")).replace("<", "\\u003c")
    # Line ends for JavaScript, not for JSON.
    data = data.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    # A browser makes one line end of all, and takes the hash then.
    plotly = get_plotlyjs().replace("\r\n", "\n").replace("\r", "\n")
    script = "\n" + _SCRIPT.read_text("utf-8").replace("@@FIGURES@@", data)
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["formula"] = lambda text: Markup(formula_html(text))
    return environment.from_string(_TEMPLATE.read_text("utf-8")).render(
        title=title,
        subtitle=subtitle,
        sections=sections,
        policy=Markup(content_policy([plotly, script], _OTHERS)),
        plotly=Markup(plotly),
        script=Markup(script),
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def formula_html(text: str) -> str:
    """An equation as HTML: three tags without attributes and entities are kept, all else is text."""
    return _ENTITIES.sub(r"&\1", _TAGS.sub(r"<\1>", html.escape(str(text))))


def write_report(
    path: str | os.PathLike,
    search: Any,
    X: Any,
    Y: Any,
    *,
    cv_predictions: Any = None,
    row_names: Any = None,
    image_shape: tuple[int, int] | None = None,
    output_image_shape: tuple[int, int] | None = None,
    command: str | None = None,
    title: str = "Isthmus report",
) -> None:
    """Write the report of a fitted search over methods.

    Parameters
    ----------
    path : path or Output
        The HTML file; written as a whole or not at all, an output with the others of its
        ``isthmus.persistence.outputs.Outputs``.
    search : MethodSearchCV
        Fitted.
    X, Y : ndarray of shape (n_samples, n_features), (n_samples, n_targets)
        The data to report on.
    cv_predictions : ndarray of shape (n_samples, n_targets), default=None
        Predictions of left-out rows, if the data are those of the fit; None takes those of the model.
    row_names : sequence of str, default=None
        Shown on hover; None counts from 1.
    image_shape, output_image_shape : (height, width), default=None
        Where a row of inputs or of outputs is a picture.
    command : str, default=None
        What makes the report again; None shows the call in Python.
    title : str, default="Isthmus report"
    """
    from isthmus.reports.data import ReportData
    from isthmus.reports.sections import all_sections

    data = ReportData(
        search, X, Y, cv_predictions, row_names, image_shape, output_image_shape, command
    )
    what = "Validation on new data: " if data.is_validation else ""
    counts = [plural(data.n, "row"), plural(data.p, "input"), plural(data.q, "output")]
    subtitle = what + ", ".join(counts)
    write_atomically(path, render(title, subtitle, all_sections(data)))
