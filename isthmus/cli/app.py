"""The command: its sub-commands, its exit codes, its errors in one line."""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

# A sub-command is a module of this folder with a function of the same name.
COMMANDS = (
    "demo", "fit", "predict", "inspect", "report", "compress", "imitate", "reproduce"
)  # fmt: skip

# Exit codes: 2 is click's for usage, 130 the shell's for Ctrl-C.
DONE, BAD_INPUT, USAGE, INTERRUPTED = 0, 1, 2, 130
# All of them end a run as Ctrl-C does; the exit code is 128 and the number, as of a shell.
_ENDING = ("SIGINT", "SIGTERM", "SIGHUP")


class InputError(Exception):
    """Something that was handed in is not good; the message is the line that the user sees."""


def build_app() -> Any:
    """The typer application with all sub-commands."""
    import typer

    app = typer.Typer(
        name="isthmus",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_about)
    for name in COMMANDS:
        app.command(name)(getattr(import_module(f"isthmus.cli.{name}"), name))
    return app


@cache
def _command() -> Any:
    """Build the command once per process: reading all its options takes up to 0.1 s."""
    import typer

    return typer.main.get_command(build_app())


def _about() -> None:
    """Learn to predict one table from another through a low-dimensional map.

    Begin with isthmus demo, or with your own files:

    isthmus fit X.csv Y.csv -o model.isthmus --report report.html

    Exit codes: 0 done, 1 bad input, 2 usage, 130 interrupted (Ctrl-C), 143 terminated (SIGTERM).
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    0 done, 1 bad input, 2 usage; 130 Ctrl-C, 143 SIGTERM, 129 SIGHUP, all three of which leave the
    files as they were before the run.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given in (["--version"], ["-V"]):
        print(f"isthmus {sys.modules['isthmus'].__version__}")
        return DONE
    try:
        import rich  # noqa: F401 - typer does without, the tables of results do not
        import typer
    except ImportError as error:  # the library alone was installed
        return _fail(f"the command needs {error.name}: pip install 'isthmus[cli]'.", BAD_INPUT)
    # Usage errors and all errors of the parser, wherever this version of typer has them from.
    family = {cls.__name__: cls for cls in typer.BadParameter.__mro__}
    usage: Any = family["UsageError"]
    failure: Any = family["ClickException"]
    # Pictures go to files; a window would need a display.
    os.environ.setdefault("MPLBACKEND", "Agg")
    command = _command()
    before = warnings.showwarning
    warnings.showwarning = _one_line_warning
    interruption = _Interruption()
    try:
        with interruption:
            code = command.main(args=given, prog_name="isthmus", standalone_mode=False)
        if code == INTERRUPTED:  # what typer makes of Ctrl-C
            return interruption.end()
        return int(code) if isinstance(code, int) else DONE
    except usage as error:
        message = error.format_message().rstrip(".")
        asked = f"{given[0]} " if given and given[0] in COMMANDS else ""
        return _fail(f"{message}. See isthmus {asked}--help.", USAGE)
    except failure as error:
        return _fail(error.format_message(), BAD_INPUT)
    except (KeyboardInterrupt, typer.Abort):
        return interruption.end()
    except BrokenPipeError:
        if interruption.number:
            return interruption.end()
        sys.stdout = None  # the reader has gone, there is nobody to tell
        return DONE
    except Exception as error:
        if interruption.number:  # what a library made of it
            return interruption.end()
        if os.environ.get("ISTHMUS_DEBUG"):
            raise
        return _fail(_explain(error), BAD_INPUT)
    finally:
        warnings.showwarning = before


class _Interruption:
    """While it lasts, signals that end a run raise KeyboardInterrupt; the first is remembered."""

    number = 0

    def __enter__(self) -> None:
        self._before: dict[int, Any] = {}
        if threading.current_thread() is threading.main_thread():
            self._before = _handle_ending(self._raise)
        self._hook, sys.unraisablehook = sys.unraisablehook, self._again

    def __exit__(self, *_: object) -> None:
        sys.unraisablehook = self._hook
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _raise(self, number: int, _: Any) -> None:
        self.number = self.number or number
        raise KeyboardInterrupt

    def _again(self, unraisable: Any) -> None:
        """An exception in a callback of the import system is dropped: the signal is sent again."""
        is_dropped = unraisable.exc_type is KeyboardInterrupt and self.number
        if is_dropped and hasattr(signal, "pthread_kill"):
            main = threading.main_thread().ident
            threading.Timer(0.01, signal.pthread_kill, [main, self.number]).start()
        else:
            self._hook(unraisable)

    def end(self) -> int:
        """The line for the user, and the exit code."""
        code = 128 + self.number if self.number else INTERRUPTED
        return _fail(_INTERRUPTED, code)


_INTERRUPTED = "interrupted; nothing was left half-written."


def _handle_ending(handler: Any) -> dict[int, Any]:
    """Set what happens on signals that end a run, and return what did before; ignored ones stay so."""
    before = {}
    for name in _ENDING:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) not in (None, signal.SIG_IGN):
            before[number] = signal.signal(number, handler)
    return before


def _leave(number: int, _: Any) -> None:
    """End at once, where nothing is written yet: an exception within an import is told as a traceback."""
    os.write(2, f"isthmus: error: {_INTERRUPTED}\n".encode())
    os._exit(128 + number)


def entry_point() -> None:
    """What the installed command calls."""
    _handle_ending(_leave)
    code = main()
    # The files are there; what is left to do is to forget.
    _handle_ending(signal.SIG_IGN)
    sys.exit(code)


def _explain(error: Exception) -> str:
    """One line for any error."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror.lower()}."
    if isinstance(error, MemoryError):
        return f"not enough memory. {error}".strip()
    # Messages of libraries can be pages long; the first two lines name the fault.
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = " ".join(lines[:2]) if lines else "no message"
    known = (InputError, ValueError, ImportError, OSError, TypeError)
    if isinstance(error, known):
        return text
    return f"{type(error).__name__}: {text}"


def _fail(message: str, code: int) -> int:
    from isthmus.cli.text import printable

    line = " ".join(message.split())
    print(f"isthmus: error: {printable(line)}", file=sys.stderr)
    return code


def _one_line_warning(message: Any, *_: Any, **__: Any) -> None:
    from isthmus.cli.console import current

    current().notice(" ".join(str(message).split()))
