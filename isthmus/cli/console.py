"""What is said, and where: results on standard output, all else on standard error."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from isthmus.cli.text import printable

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
Json = Annotated[bool, typer.Option("--json", help="Write the result to standard output as JSON.")]
Seed = Annotated[
    int, typer.Option("--seed", min=0, help="Seed for the folds and other random choices.")
]


class Console:
    """One run's voice: ``say`` for people, ``result`` for programs."""

    def __init__(self, quiet: bool = False, as_json: bool = False) -> None:
        self.quiet, self.as_json = quiet, as_json
        self.to_stderr = False  # standard output is taken by a file
        self._noticed: set[str] = set()

    def say(self, text: str = "") -> None:
        """A line of the result, for people."""
        if not self.quiet and not self.as_json:
            print(printable(text), file=self._stream)

    @property
    def _stream(self) -> Any:
        return sys.stderr if self.to_stderr else sys.stdout

    def notice(self, text: str) -> None:
        """Print a line that is neither a result nor an error, once."""
        if not self.quiet and text not in self._noticed:
            self._noticed.add(text)
            print(f"note: {printable(text)}", file=sys.stderr)

    def result(self, values: dict[str, Any]) -> None:
        """The result for programs, if they have asked."""
        if self.as_json:
            print(json.dumps(_plain(values), allow_nan=False), file=self._stream)

    def table(self, title: str, header: list[str], rows: list[list[str]]) -> None:
        """A table for people; columns whose first cell is a number are aligned to the right."""
        if self.quiet or self.as_json:
            return
        from rich.console import Console as RichConsole
        from rich.table import Table

        table = Table(title=title or None, title_justify="left")
        for k, name in enumerate(header):
            cells = [row[k] for row in rows if row[k]]
            is_number = k > 0 and bool(cells) and cells[0].lstrip("+-")[:1].isdigit()
            # A narrow terminal breaks lines between words of a text, never within a number or a name.
            is_whole = is_number or not any(" " in cell for cell in cells)
            table.add_column(
                name,
                justify="right" if is_number else "left",
                no_wrap=is_whole,
                min_width=max(map(len, [name, *cells])) if is_whole else 0,
            )
        for row in rows:
            table.add_row(*map(printable, row))
        # Names of columns may hold brackets, which are not markup.
        console = RichConsole(highlight=False, markup=False, file=self._stream)
        needed = console.measure(table, options=console.options.update(width=1000)).minimum
        console.width = max(console.width, needed)
        console.print(table)

    @contextmanager
    def progress(self) -> Iterator[Any]:
        """A bar that names the running method; yields a function of (label, done, total)."""
        # No bar in a log file, where each redraw would be a line.
        if self.quiet or not sys.stderr.isatty():
            yield lambda label, done, total: None
            return
        from rich.console import Console as RichConsole
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (
            TextColumn("{task.description:<34}"),
            BarColumn(),
            TextColumn("{task.completed}/{task.total}"),
        )
        with Progress(
            *columns, TimeElapsedColumn(), console=RichConsole(stderr=True), transient=True
        ) as bar:
            task = bar.add_task("reading", total=None)

            shown = [""]

            def tell(label: str, done: int, total: int) -> None:
                # Drawn at once when the method changes: a quick one would end between two redraws.
                changed = label != shown[0]
                shown[0] = label
                bar.update(task, description=label, completed=done, total=total, refresh=changed)

            yield tell


def command_line() -> str:
    """The command of this run, to be typed again."""
    return shlex.join(["isthmus", *sys.argv[1:]])


_CURRENT = [Console()]


def current() -> Console:
    """The voice of the run under way."""
    return _CURRENT[0]


def begin(quiet: bool, as_json: bool) -> Console:
    """Start a run."""
    _CURRENT[0] = Console(quiet, as_json)
    return _CURRENT[0]


def _plain(value: Any) -> Any:
    """Types of JSON; what is no number is null."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    # JSON has neither NaN nor infinity.
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if isinstance(value, int | str | bool | type(None)):
        return value
    return str(value)
