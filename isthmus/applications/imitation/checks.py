"""Checks at the doors of the application; each error names the argument and its shape."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def check_joints(q: ArrayLike, n_joints: int, name: str = "q") -> tuple[Array, bool]:
    """Return postures as rows, and whether a single one was given."""
    q = np.asarray(q, dtype=np.float64)
    single = q.ndim == 1
    if q.ndim not in (1, 2) or q.shape[-1] != n_joints:
        raise ValueError(f"{name} has shape {q.shape}, must be ({n_joints},) or (n, {n_joints}).")
    if not np.isfinite(q).all():
        raise ValueError(f"{name} with shape {q.shape} has entries that are NaN or infinite.")
    return np.atleast_2d(q), single


def check_trajectory(
    values: ArrayLike, name: str, *, columns: int | None = None, shortest: int = 2
) -> Array:
    """Return a trajectory (n_samples, n_coordinates) with enough finite samples."""
    values = np.asarray(values, dtype=np.float64)
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2 or len(values) < shortest:
        raise ValueError(
            f"{name} has shape {values.shape}, must be (n, d) with n >= {shortest} samples."
        )
    if columns is not None and values.shape[1] != columns:
        raise ValueError(f"{name} has shape {values.shape}, must have {columns} columns.")
    bad = ~np.isfinite(values).all(axis=1)
    if bad.any():
        first = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"{name} with shape {values.shape} has entries that are NaN or infinite in {bad.sum()} "
            f"samples, the first is {first}: fill the gaps or leave these samples out."
        )
    return values


def check_non_negative(value: Any, name: str) -> float:
    """Return a finite number that is not negative."""
    value = float(value)
    if not 0 <= value < np.inf:
        raise ValueError(f"{name} == {value}, must be a finite number >= 0.")
    return value


def check_rates(values: Any, n: int, name: str) -> Array:
    """Return n positive limits of a rate; None is no limit, a number is one limit for all."""
    if values is None:
        return np.full(n, np.inf)
    rates = np.asarray(values, dtype=np.float64)
    if rates.shape not in ((), (n,)) or not np.all(rates > 0):
        raise ValueError(f"{name} == {values}, must be one positive number or {n} of them.")
    return np.broadcast_to(rates, (n,)).copy()


def check_image(image: Any, name: str = "image") -> NDArray[np.uint8]:
    """Return an RGB image (H, W, 3) of bytes."""
    image = np.asarray(image)
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
        raise ValueError(
            f"{name} has shape {image.shape} and type {image.dtype}, must be (H, W, 3) uint8 RGB."
        )
    return image
