"""Files that are written as a whole or not at all."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

_PREFIX, _SUFFIX = ".", ".isthmus-part"
_STALE_SECONDS = 3600.0  # nobody writes one file for an hour


def write_atomically(path: str | os.PathLike, content: bytes | str) -> None:
    """Write a file so that a crash leaves the old one or the new one.

    The content goes to a temporary name in the same directory, is synced to the disk and renamed.
    What an earlier, killed process left under such a name is removed.

    Parameters
    ----------
    path : path
        The file; an existing one is replaced, keeping its permissions.
    content : bytes or str
        All of it; text is written as UTF-8.
    """
    path = Path(path)
    data = content.encode() if isinstance(content, str) else content
    # A link stays a link: what it points to is replaced.
    target = Path(os.path.realpath(path))
    _sweep(target)
    part = target.with_name(f"{_PREFIX}{target.name[:120]}.{os.getpid()}{_SUFFIX}")
    try:
        with open(part, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(OSError):
            os.chmod(part, target.stat().st_mode & 0o777)
        os.replace(part, target)
    except BaseException as error:  # an interrupt too leaves nothing behind
        with contextlib.suppress(OSError):
            part.unlink()
        if isinstance(error, OSError):  # of a full disk the system does not say which file
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    _sync_directory(target.parent)


def _sweep(target: Path) -> None:
    """Remove parts of this file whose writer is gone."""
    for part in target.parent.glob(f"{_PREFIX}{_escaped(target.name[:120])}.*{_SUFFIX}"):
        pid = part.name.removesuffix(_SUFFIX).rsplit(".", 1)[-1]
        with contextlib.suppress(OSError):
            old = time.time() - part.stat().st_mtime > _STALE_SECONDS
            if old or (pid.isdigit() and not _is_running(int(pid))):
                part.unlink()


def _escaped(name: str) -> str:
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


def _is_running(pid: int) -> bool:
    if os.name != "posix":  # there, signal 0 would end the process
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return pid != os.getpid()


def _sync_directory(directory: Path) -> None:
    """The new name itself is on the disk too; not every system can do this."""
    with contextlib.suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
