"""Pictures instead of numbers, where rows are pictures."""

from __future__ import annotations

import numpy as np

from isthmus.reports.data import ReportData
from isthmus.reports.page import Section
from isthmus.reports.pictures import MOST_PICTURES, png_uri

Strips = list[tuple[str, list[str]]]


def pictures(data: ReportData) -> Section | None:
    """Some rows with their predictions, and the components."""
    strips = _rows(data)
    if not strips:
        return None
    caption = (
        "Some rows as pictures, one column each: compare what is predicted with what it should be."
    )
    section = Section("Pictures", pictures=[(caption, strips)])
    if data.is_latent and data.model.n_components_ > 0:
        caption = (
            "The components as pictures, from the first: what each looks for in the inputs and adds "
            "to the outputs; blue is more, red is less."
        )
        section.pictures.append((caption, _components(data)))
    return section


def _rows(data: ReportData) -> Strips:
    shape, out_shape = data.image_shape, data.output_image_shape
    few = np.linspace(0, data.n - 1, min(data.n, MOST_PICTURES)).astype(int)
    strips = []
    if shape is not None:
        strips.append(("inputs", [png_uri(data.complete[i].reshape(shape)) for i in few]))
    if out_shape is not None:
        low = float(np.nanmin(data.Y))
        high = float(np.nanmax(data.Y))
        for label, A in (("outputs", data.Y), ("predicted", data.predictions)):
            strips.append(
                (label, [png_uri(A[i].reshape(out_shape), low=low, high=high) for i in few])
            )
    return strips


def _components(data: ReportData) -> Strips:
    sides = (
        ("inputs", data.image_shape, data.model.x_rotations_),
        ("outputs", data.output_image_shape, data.model.y_loadings_),
    )
    return [
        (label, [png_uri(v.reshape(shape), signed=True) for v in basis.T[:MOST_PICTURES]])
        for label, shape, basis in sides
        if shape is not None
    ]
