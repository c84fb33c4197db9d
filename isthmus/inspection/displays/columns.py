"""Pictures with one value a column: what loadings and VIP share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.inspection.displays._axes import axes_for, positions, unit_of

# More names than this overlap.
_MOST_TICKS = 40


def column_names(model: Any, names: Any = None) -> Any:
    """The names that are given, or those of the columns of the fit."""
    return getattr(model, "feature_names_in_", None) if names is None else names


def draw_columns(
    ax: Any, values: NDArray, names: Any, labels: list[str] | None = None
) -> tuple[Any, Any]:
    """Lines if columns are points of a curve, otherwise bars; ``values`` is (m, p)."""
    figure, ax = axes_for(ax)
    values = np.atleast_2d(values)
    at, ticks, is_curve = positions(names, values.shape[1])
    for k, row in enumerate(values):
        label = None if labels is None else labels[k]
        if is_curve:
            ax.plot(at, row, lw=1.2, label=label)
        else:
            width = 0.8 / len(values)
            ax.bar(at + (k - (len(values) - 1) / 2) * width, row, width, label=label)
    if not is_curve and len(ticks) <= _MOST_TICKS:
        ax.set_xticks(at, ticks, rotation=90 if max(map(len, ticks)) > 3 else 0)
    ax.axhline(0, lw=0.6, color="gray")
    ax.set_xlabel(unit_of(names))
    if labels is not None and len(values) > 1:
        ax.legend()
    return figure, ax
