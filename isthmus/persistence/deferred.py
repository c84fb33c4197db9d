"""Signals that wait until a few steps are done."""

from __future__ import annotations

import signal
import threading
from typing import Any

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
_SIGNALS = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]


class Deferred:
    """A block in which SIGINT, SIGTERM and SIGHUP are noted, and act at its end.

    A mask of signals would not do: a process with threads gets a signal in any of them, and Python
    then raises in the main one. In other threads nothing is raised, and nothing is done here.
    """

    def __enter__(self) -> Deferred:
        self._received: list[int] = []
        self._before: dict[int, Any] = {}
        if threading.current_thread() is not threading.main_thread():
            return self
        try:
            for number in _SIGNALS:
                handler = signal.getsignal(number)
                if handler not in (None, signal.SIG_IGN):  # None is a handler that is not Python's
                    self._before[number] = handler
                    signal.signal(number, self._note)
        except BaseException:
            self._restore()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._restore()
        for number in self._received:
            signal.raise_signal(number)

    def _note(self, number: int, _: Any) -> None:
        self._received.append(number)

    def _restore(self) -> None:
        try:
            while self._before:
                number = next(reversed(self._before))
                signal.signal(number, self._before[number])
                del self._before[number]
        finally:  # one that comes between must not leave the others deaf
            if self._before:
                self._restore()
