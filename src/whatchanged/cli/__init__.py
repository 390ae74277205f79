"""The command line.

Each command is a function in a file of this package with the same name. The table ``COMMANDS`` lists all
commands. Exit codes (docs/reference/exit-codes.md has the table): 0 done; 1 done in part, or a command that
compares pictures found a change; 2 nothing done (wrong usage or bad input); 70 an internal error, with a
traceback; 130 interrupted; 143 ended by SIGTERM. Results go to stdout, and everything else goes to stderr.
The file of a command imports slow modules only when the command runs. ``EXAMPLES`` in the file appear at the
end of the command's help. If a command needs a special click class, the file defines the class as
``COMMAND``.
"""

import importlib
import io
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer
import typer.core

from whatchanged.cli.console import holding_outputs, note
from whatchanged.errors import WhatchangedError, escaped, escaped_lines
from whatchanged.files import NO_ROOM
from whatchanged.programs import safe_environment

COMMANDS = (
    "demo",
    "describe",
    "compare",
    "accept",
    "calibrate",
    "caption",
    "evaluate",
    "figure",
    "dataset",
    "recipes",
    "models",
    "doctor",
    "synth",
    "features",
    "train",
    "retrieve",
    "export",
)
"""The names of all commands, in the order of the help.

The module ``whatchanged.cli.NAME`` contains the function NAME.
"""

WrongUsage: Any = typer.BadParameter.__bases__[0]
"""The base class of the exceptions for wrong usage.

The class is in click, or in the copy of click in newer versions of Typer.
"""

BAD_INPUT = 2
INTERRUPTED = 128 + signal.SIGINT
FAULT = 70
"""The exit code of an internal error, as in sysexits.h.

The exit code 1 is not used for this, because scripts interpret 1 as a change.
"""


class _Door(typer.core.TyperGroup):
    """The group of all commands, which converts every user error to a message."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command. A user error becomes one message on stderr and exit code 2."""
        try:
            with holding_outputs():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            note("whatchanged: interrupted.")
            raise
        except WhatchangedError as error:
            note(f"whatchanged: {error}")
        except WrongUsage as error:
            error.message = escaped(error.message)  # of wrong usage, which repeats the user's input
            raise
        except BrokenPipeError:
            raise  # the reader of our output has closed it; Typer ends quietly
        except OSError as error:
            note(f"whatchanged: {error.filename or 'system'}: {error.strerror or error}")
            if error.errno in NO_ROOM:
                note("What was written before stays. Make room, then run the same command again.")
        raise typer.Exit(BAD_INPUT)


def _show_version(wanted: bool) -> None:
    if wanted:
        from whatchanged import __version__

        typer.echo(f"whatchanged {__version__}")
        raise typer.Exit()


def _whatchanged(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Two pictures in, one sentence out: what changed."""


def _build() -> typer.Typer:
    """Return the application with all commands in ``COMMANDS``."""
    app = typer.Typer(
        cls=_Door,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_whatchanged)
    for name in COMMANDS:
        module = importlib.import_module(f"{__name__}.{name}")
        command = app.command(name, cls=getattr(module, "COMMAND", None), epilog=_examples(module.EXAMPLES))
        command(getattr(module, name))
    return app


def _examples(commands: Sequence[str]) -> str:
    """Return the text with examples for the end of a command's help.

    An empty line is inserted between two lines, so that the lines are not joined.
    """
    return "\n\n".join(["Example:" if len(commands) == 1 else "Examples:", *commands])


app = _build()


class _Signals:
    """Handlers that end the process on SIGINT and SIGTERM by an exception, so that drafts are removed and
    child programs are ended. A library may replace the exception by another exception, so the received signal
    is stored here.
    """

    def __init__(self) -> None:
        self.came: int | None = None

    def interrupt(self, number: int, frame: object) -> None:
        """Handle SIGINT."""
        self.came = number
        raise KeyboardInterrupt

    def terminate(self, number: int, frame: object) -> None:
        """Handle SIGTERM."""
        self.came = number
        note("whatchanged: terminated.")
        sys.exit(128 + number)


def main() -> None:
    """Run the command line and end the process with an exit code of the command line."""
    _open_closed_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A file name need not be UTF-8; its undecodable bytes are printed as escapes that JSON has, too.
        sys.stdout.reconfigure(errors="backslashreplace")
    signals = _Signals()
    before = (
        signal.signal(signal.SIGINT, signals.interrupt),
        signal.signal(signal.SIGTERM, signals.terminate),
    )
    try:
        with safe_environment(), _quiet_libraries():
            app(prog_name="whatchanged")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception:
        if signals.came is not None:
            sys.exit(128 + signals.came)
        print(escaped_lines(traceback.format_exc()), file=sys.stderr, end="", flush=True)
        sys.exit(FAULT)
    finally:
        for number, handler in zip((signal.SIGINT, signal.SIGTERM), before, strict=True):
            signal.signal(number, handler)


def _open_closed_streams() -> None:
    """Open the standard streams that the caller closed (``2>&-``).

    Otherwise, a new file could get the descriptor of such a stream, and output would be written into the
    file.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
            os.set_inheritable(number, True)
            stream = os.fdopen(number, "r" if number == 0 else "w", closefd=False)
            setattr(sys, name, stream)


@contextmanager
def _quiet_libraries() -> Iterator[None]:
    """Hide the warnings of libraries, which are for programmers, unless Python was started with -W."""
    if sys.warnoptions:
        yield
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
