"""Which inputs matter: importance and loadings of a linear model, sensitivity of a kernel model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus._linalg import Array
from isthmus.inspection import LoadingsDisplay, VIPDisplay
from isthmus.reports import figures as fig
from isthmus.reports.data import ReportData
from isthmus.reports.kernel_models import sensitivity
from isthmus.reports.page import Figure, Section
from isthmus.reports.pictures import png_uri

_TITLE = "Which inputs matter"
# Bars whose names can be read.
_MOST_BARS = 40


def inputs(data: ReportData) -> Section | None:
    """Of a linear or of a kernel model; components that are pictures are shown as such elsewhere."""
    if getattr(data.search, "blocks_", None) is not None:
        return _of_blocks(data)
    if data.is_kernel:
        return _of_kernel(data)
    if not data.is_latent or data.model.n_components_ == 0 or data.image_shape is not None:
        return None
    return _of_components(data)


def block_rows(search: Any) -> list[list[str]]:
    """Each block, its number of columns and its share in the predictions."""
    return [
        [name, str(len(search.blocks_[name])), f"{100 * share:.1f} %"]
        for name, share in search.block_importances_.items()
    ]


def _of_blocks(data: ReportData) -> Section:
    shares = data.search.block_importances_
    caption = (
        "Blocks of inputs and their shares: of the variance of what is predicted (banded ridge), or of the "
        "squared super-weights (multiblock PLS). A negative share belongs to a block that corrects another."
    )
    largest = max(shares, key=lambda name: shares[name])
    text = f"Most of what is predicted comes from {largest}: {100 * shares[largest]:.1f} %."
    return Section(
        _TITLE, [text], tables=[(caption, ["block", "columns", "share"], block_rows(data.search))]
    )


def _of_components(data: ReportData) -> Section:
    importance = VIPDisplay.compute(data.model).importance
    shown = _shown_inputs(data, importance)
    caption = (
        "Importance of each input (VIP): above the dashed line at one, an input matters more than the "
        "average."
    )
    return Section(
        _TITLE,
        [f"Most important by VIP: {_most_important(data, importance)}.", *data.note_on_model],
        [_importance(data, importance, shown, caption, "VIP"), _loadings(data, shown)],
    )


def _of_kernel(data: ReportData) -> Section:
    section = Section(_TITLE)
    why = "A kernel model has no loadings: what an input does depends on where the others are."
    with np.errstate(invalid="ignore"):
        # Outputs in unlike units count alike.
        spread = np.nan_to_num(np.nanstd(data.Y, axis=0))
    importance = sensitivity(data.model, data.complete, spread)
    if importance is None:
        section.text.append(
            f"{why} This kernel has no gradient in its inputs, so that their importance is not shown "
            "either; permutation_importance of scikit-learn finds it, at a cost."
        )
        return section
    section.text.append(f"{why} Most important here: {_most_important(data, importance)}.")
    caption = (
        "Importance of each input: how much the predictions change when it moves by its standard "
        "deviation, a root mean square over rows and outputs. Above one it matters more than the average."
    )
    if data.image_shape is not None:
        picture = png_uri(importance.reshape(data.image_shape))
        section.pictures.append((caption, [("importance", [picture])]))
        return section
    shown = _shown_inputs(data, importance)
    section.figures.append(_importance(data, importance, shown, caption, "importance"))
    return section


def _most_important(data: ReportData, importance: Array) -> str:
    return ", ".join(data.feature_names[j] for j in np.argsort(importance)[::-1][:5])


def _shown_inputs(data: ReportData, importance: Array) -> NDArray:
    """All inputs of a curve or of a few columns; of many, the most important."""
    # A curve is read as a whole; bars beyond a few dozen are not read at all.
    if data.is_curve or data.p <= _MOST_BARS:
        return np.arange(data.p)
    return np.argsort(importance)[::-1][:_MOST_BARS]


def _importance(
    data: ReportData, importance: Array, shown: NDArray, caption: str, word: str
) -> Figure:
    at = data.column_positions
    names = [data.feature_names[j] for j in shown]
    plain = fig.plain(names)
    ends = [float(at.min()), float(at.max())] if data.is_curve else [plain[0], plain[-1]]
    one = fig.line(ends, [1, 1], fig.WARN, "dash")
    bars = fig.columns(importance[shown], names, at[shown], data.is_curve)
    if len(shown) < data.p:
        caption += f" The {len(shown)} largest are shown."
    return Figure("vip", caption, [("", [bars, one], fig.layout(data.column_label, word))])


def _loadings(data: ReportData, shown: NDArray) -> Figure:
    at = data.column_positions[shown]
    names = [data.feature_names[j] for j in shown]
    variants = []
    for k, row in enumerate(LoadingsDisplay.compute(data.model, n_shown=8).loadings):
        color = fig.LINES[k % len(fig.LINES)]
        trace = fig.columns(row[shown], names, at, data.is_curve, color=color)
        lay = fig.layout(data.column_label, "loading")
        variants.append((f"component {k + 1}", [trace], lay))
    caption = (
        "What a component is made of: inputs with large loadings of one sign move together along it, "
        "those of the other sign move against them."
    )
    return Figure("loadings", caption, variants, "Component")
