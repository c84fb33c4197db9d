"""Categories as columns of zeros and ones, one per level of the training rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray


def expand_names(names: Sequence[str], levels: Mapping[str, Sequence[str]]) -> list[str]:
    """Names of the columns that :func:`expand` returns."""
    return [
        each
        for name in names
        for each in ([f"{name}={v}" for v in sorted(levels[name])] if name in levels else [name])
    ]


def expand(values: NDArray, names: Sequence[str], levels: Mapping[str, Sequence[str]]) -> NDArray:
    """Replace each column of codes by one column per level, in the order of the levels' names.

    A level that was not met in training, or a missing one, is zero everywhere. So is a level that the
    training rows of a fold lack: a linear method gives its column no weight, as an encoder would that
    had been fitted to those rows alone.
    """
    if not any(name in levels for name in names):
        return values
    columns = []
    for k, name in enumerate(names):
        if name not in levels:
            columns.append(values[:, k])
            continue
        known = list(levels[name])
        columns += [(values[:, k] == known.index(v)).astype(float) for v in sorted(known)]
    return np.column_stack(columns)


def indicate(codes: NDArray, levels: Sequence[str]) -> NDArray:
    """Replace codes of classes by an indicator of each, in the order of their names; two have one."""
    columns = expand(codes[:, None], ["class"], {"class": levels})
    return columns[:, 1:] if len(levels) == 2 else columns


def pick_labels(values: NDArray, labels: Sequence[str]) -> list[str]:
    """Return the class of each row from predicted indicators; ``labels`` are sorted."""
    if values.shape[1] == 1:
        return [labels[int(value > 0.5)] for value in values[:, 0]]
    return [labels[int(k)] for k in values.argmax(axis=1)]
