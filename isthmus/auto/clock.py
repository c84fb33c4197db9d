"""A limit of time that a search keeps between its own steps."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

_deadline: ContextVar[float] = ContextVar("deadline", default=np.inf)


class OutOfTime(Exception):
    """The time is up: what is under way is given up."""


@contextmanager
def until(deadline: float) -> Iterator[None]:
    """Let :func:`check_time` raise in this block once the clock is past ``deadline``."""
    token = _deadline.set(deadline)
    try:
        yield
    finally:
        _deadline.reset(token)


def check_time() -> None:
    """Raise :class:`OutOfTime` past the deadline; a search calls it before every step that takes long."""
    if time.perf_counter() > _deadline.get():
        raise OutOfTime
