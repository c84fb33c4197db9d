"""The files beside a target in which its next content is collected."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import time
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: the age of a part tells whether its writer is gone
    fcntl = None  # type: ignore[assignment]

_SUFFIX = ".isthmus-part"
_LONGEST_NAME = 100  # bytes of the target's name in the name of its part
_STALE_SECONDS = 3600.0  # nobody writes one file for an hour
# What systems answer that cannot sync a directory, or lock a file.
CANNOT = {errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EACCES, errno.EBADF}


def _part_stem(target: Path) -> str:
    return "." + os.fsdecode(os.fsencode(target.name)[:_LONGEST_NAME]) + "."


def part_name(target: Path) -> Path:
    """A name that nobody else has."""
    return target.with_name(f"{_part_stem(target)}{secrets.token_hex(8)}{_SUFFIX}")


def new_part(target: Path) -> tuple[Path, int]:
    """A new file beside the target, locked as long as it is written.

    The lock says to others that the writer lives, in whatever container it runs; the system
    releases it at the writer's end, however that comes.
    """
    while True:
        part = part_name(target)
        handle = os.open(
            part, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666
        )
        try:
            lock(handle)
            found = status(part)
            if found is not None and os.path.samestat(found, os.fstat(handle)):
                return part, handle
        except BaseException:
            os.unlink(part)
            os.close(handle)
            raise
        os.close(handle)  # swept in the moment before it was locked


def lock(handle: int, *, wait: bool = True) -> bool | None:
    """Lock a file; False if another writer has it, None where files are not locked."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in CANNOT | {errno.ENOLCK}:
            raise
        return None
    return True


def sweep(target: Path) -> None:
    """Remove parts of this file whose writer is gone."""
    stem = _part_stem(target)
    try:
        names = os.listdir(target.parent)
    except OSError:
        return  # the writing itself will tell
    for name in names:
        if name.startswith(stem) and name.endswith(_SUFFIX):
            with contextlib.suppress(OSError):
                _sweep_one(target.with_name(name))


def _sweep_one(part: Path) -> None:
    is_old = time.time() - part.stat().st_mtime > _STALE_SECONDS
    if fcntl is None:
        if is_old:
            part.unlink()
        return
    handle = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        is_free = lock(handle, wait=False)
        if is_free or (is_free is None and is_old):
            part.unlink()
    finally:
        os.close(handle)


def status(path: str | os.PathLike) -> os.stat_result | None:
    """What the system says of a file; None if there is none."""
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None
