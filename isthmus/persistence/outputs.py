"""Files that are written as a whole or not at all, one of them or several together."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from isthmus.persistence.deferred import Deferred
from isthmus.persistence.parts import CANNOT, fcntl, lock, new_part, part_name, status, sweep


def write_atomically(path: str | os.PathLike | Output, content: bytes | str) -> None:
    """Write a file so that a crash leaves the old one or the new one.

    The content goes to a new file of a random name in the same directory, is synced to the disk and
    renamed; the directory is synced too. Threads, processes and containers may write one path at the
    same time: one of their contents is there in the end, whole. What a killed process left under such
    a name is removed.

    Parameters
    ----------
    path : path or Output
        The file; an existing one is replaced, keeping its permissions, and a link to it stays a link.
        An :class:`Output` is committed with the others of its :class:`Outputs`.
    content : bytes or str
        All of it; text is written as UTF-8.
    """
    if isinstance(path, Output):
        path.write(content)
        return
    with Outputs() as outputs:
        outputs.add(path).write(content)


class Outputs:
    """All files that one run writes: checked together, written apart, renamed together.

    Each output is written to a part, a file of its own beside the target. At the end of the ``with``
    block all parts are renamed, with nothing between the renames but renames: SIGINT, SIGTERM and
    SIGHUP wait until the last of them, and an error takes back those that were done. If the block
    ends in an exception, the parts are removed and no target is touched.

    Parameters
    ----------
    inputs : iterable of paths, default=()
        Files that are read; no output may be one of them, by whatever name.

    Examples
    --------
    >>> from isthmus.persistence.outputs import Outputs
    >>> with Outputs(inputs=["X.csv"]) as outputs:
    ...     numbers, words = outputs.add("numbers.txt"), outputs.add("words.txt")
    ...     numbers.write("1 2 3")
    ...     words.write("one two three")
    """

    def __init__(self, inputs: Iterable[str | os.PathLike] = ()) -> None:
        found = [(str(path), status(path)) for path in inputs]
        self._inputs = [(path, read) for path, read in found if read is not None]
        self._outputs: list[Output] = []

    def add(self, path: str | os.PathLike) -> Output:
        """Plan an output; refuse a path that is not a regular file, an input, or planned already.

        Parameters
        ----------
        path : path
            The file, or "-" for standard output.

        Returns
        -------
        output : Output
            To be written to; nothing is on the disk before.
        """
        output = Output(path)
        self._check(output)
        self._outputs.append(output)
        return output

    def _check(self, output: Output) -> None:
        for other in self._outputs:
            if output.is_same_as(other):
                raise ValueError(f"{output} and {other} are one file: every output needs its own.")
        if output.target is None:
            return
        found = status(output.given)
        if found is None:
            return
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, "is a directory", output.given)
        if not stat.S_ISREG(found.st_mode):
            raise ValueError(
                f"{output} is not a regular file: name another, or - for standard output."
            )
        for path, read in self._inputs:
            if os.path.samestat(found, read):
                raise ValueError(
                    f"{output} is the input {path}, which would be overwritten: name another output."
                )

    def __enter__(self) -> Outputs:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            if kind is None:
                self._commit()
        finally:
            with Deferred():
                for output in self._outputs:
                    output.discard()

    def _commit(self) -> None:
        written = [output for output in self._outputs if output.is_begun]
        for output in written:
            output.sync()
        files = [output for output in written if output.target is not None]
        with _directories(files) as handles, Deferred():
            _rename(files, handles)


class Output:
    """One of the files of :class:`Outputs`."""

    def __init__(self, path: str | os.PathLike) -> None:
        self.given = os.fspath(path)
        # A link stays a link: what it points to is replaced.
        self.target = None if self.given == "-" else Path(os.path.realpath(path))
        self._part: Path | None = None
        self._handle: int | None = None
        self._spoken: list[bytes] = []  # for standard output
        self.size = 0
        self.is_renamed = False

    def __str__(self) -> str:
        return "standard output" if self.target is None else str(self.given)

    @property
    def is_begun(self) -> bool:
        return bool(self._spoken) or self._part is not None

    @property
    def part(self) -> Path:
        """The file beside the target that is renamed in the end, for a writer that wants a name."""
        if self.target is None:
            raise ValueError("this output needs a file, not standard output.")
        if self._part is None:
            with _name_file(self.given), Deferred():  # made and known in one go
                sweep(self.target)
                self._part, self._handle = new_part(self.target)
        return self._part

    def write(self, content: bytes | str) -> None:
        """Write to the part; text as UTF-8."""
        data = memoryview(content.encode() if isinstance(content, str) else content).cast("B")
        self.size += len(data)
        if self.target is None:
            self._spoken.append(bytes(data))
            return
        _ = self.part
        with _name_file(self.given):
            while data:
                assert self._handle is not None
                data = data[os.write(self._handle, data) :]

    def is_same_as(self, other: Output) -> bool:
        """Whether both name one file, there or not yet."""
        if self.target is None or other.target is None:
            return self.target is other.target
        here = status(self.target)
        there = status(other.target)
        if here is not None and there is not None:
            return os.path.samestat(here, there)
        folders = status(self.target.parent), status(other.target.parent)
        same_folder = None not in folders and os.path.samestat(*folders)  # type: ignore[arg-type]
        return here is there and same_folder and self.target.name == other.target.name

    def sync(self) -> None:
        """All of it on the disk, under the name of the part; or on its way to standard output."""
        if self.target is None:
            sys.stdout.flush()
            sys.stdout.buffer.write(b"".join(self._spoken))
            sys.stdout.buffer.flush()
            return
        assert self._part is not None and self._handle is not None
        with _name_file(self.given):
            os.fsync(self._handle)
            before = status(self.target)
            if before is not None:
                with contextlib.suppress(OSError):
                    os.chmod(self._part, before.st_mode & 0o777)
            if fcntl is None:  # an open file has no new name there
                self._close()

    def discard(self) -> None:
        """Leave nothing but what was renamed."""
        if self._part is not None and not self.is_renamed:
            with contextlib.suppress(OSError):
                self._part.unlink()
        self._close()

    def _close(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            with contextlib.suppress(OSError):
                os.close(handle)


# -- renaming ---------------------------------------------------------------------------------


def _rename(files: list[Output], directories: list[int]) -> None:
    """All parts to their targets; what an error stops half-way is taken back."""
    old: list[tuple[Output, Path | None, bool]] = []
    try:
        for output in files:
            assert output.target is not None
            with _name_file(output.given):
                old.append((output, *_second_name(output.target)))
                os.replace(output.part, output.target)
                output.is_renamed = True
        for directory in directories:
            _sync_directory(directory)
    except BaseException:
        for output, kept, was_there in reversed(old):
            if output.is_renamed and output.target is not None:
                with contextlib.suppress(OSError):
                    if kept is not None:
                        os.replace(kept, output.target)
                    elif not was_there:
                        os.unlink(output.target)
        raise
    finally:
        for _, kept, _ in old:
            if kept is not None:
                with contextlib.suppress(OSError):
                    os.unlink(kept)


def _second_name(target: Path) -> tuple[Path | None, bool]:
    """Another name for an old file, from which it can come back; and whether there is one."""
    if status(target) is None:
        return None, False
    kept = part_name(target)
    try:
        os.link(target, kept)
    except OSError:  # a file system without second names
        return None, True
    return kept, True


@contextlib.contextmanager
def _directories(files: list[Output]) -> Iterator[list[int]]:
    """The directories of the files, open; locked if several files are to change together.

    Without the lock two runs that write the same two files could leave one file of each.
    """
    folders = {}
    for output in files:
        assert output.target is not None
        found = status(output.target.parent)
        if found is not None:
            folders[found.st_dev, found.st_ino] = output.target.parent
    handles: list[int] = []
    try:
        for _, folder in sorted(folders.items()):  # in one order, lest two runs wait for each other
            with contextlib.suppress(OSError):  # not every system opens directories
                handles.append(os.open(folder, os.O_RDONLY))
                if len(files) > 1:
                    lock(handles[-1])
        yield handles
    finally:
        for handle in handles:
            os.close(handle)


def _sync_directory(directory: int) -> None:
    """The new names themselves are on the disk too; not every system can do this."""
    try:
        os.fsync(directory)
    except OSError as error:
        if error.errno not in CANNOT:
            raise


@contextlib.contextmanager
def _name_file(path: str) -> Iterator[None]:
    """Of a full disk the system does not say which file; of a part it names what nobody asked for."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, path) from error
