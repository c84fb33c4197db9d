"""How few points a kernel model needs."""

from __future__ import annotations

import numpy as np

from isthmus.compression import compress
from isthmus.reports import figures as fig
from isthmus.reports.data import ReportData
from isthmus.reports.kernel_models import expansion_model
from isthmus.reports.page import Figure, Section

# Fewer points are not worth compressing; with more the pursuit would take longer than the page.
_FEWEST_POINTS, _MOST_POINTS = 10, 2000


def compression(data: ReportData) -> Section | None:
    """The compression curve of a kernel model."""
    kernel = expansion_model(data.model)
    if kernel is None:
        return None
    n_full = kernel.to_expansion().n_points
    if not _FEWEST_POINTS <= n_full <= _MOST_POINTS:
        return None
    path = compress(kernel, max(n_full // 2, 2)).compression_
    errors = path.errors if path.output_errors is None else path.output_errors
    shown = np.unique(np.geomspace(1, len(errors) - 1, 60).astype(int))
    # A logarithmic axis cannot show the zero of an exact expansion.
    trace = fig.curve(path.sizes[shown], np.maximum(errors[shown], 1e-16), "%{x} points: %{y}")
    lay = fig.layout("points kept", "squared change of the predictions")
    lay["yaxis"]["type"] = lay["xaxis"]["type"] = "log"
    lay["yaxis"]["exponentformat"] = "power"
    caption = (
        f"How the predictions change when the kernel model keeps fewer of its {n_full} points, relative "
        "to their variance: where the curve is low, a much smaller and faster model does the same; see "
        "isthmus compress."
    )
    return Section("Compression", figures=[Figure("compression", caption, [("", [trace], lay)])])
