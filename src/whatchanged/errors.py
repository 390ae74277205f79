"""Every error that a person can cause, in one tree.

    WhatchangedError            catch this one to catch them all; the command line prints it and exits with 2
    ├── ImageError              a picture that is missing, broken, disguised, too small or too large
    ├── DatasetError            a folder or list of pairs that cannot be used
    ├── BundleError             a model folder that is missing, incomplete or altered
    ├── RecipeError             a recipe with an unknown, missing or ill-typed setting
    ├── OutputError             an output path that exists already or cannot be written
    ├── PredictionsError        a predictions file that cannot be read or does not fit its references
    ├── MetricUnavailable       a metric that this installation cannot compute, or whose program failed
    ├── ShapeError              arrays whose shapes do not fit each other
    ├── PluginError             a method, world or data set that is unknown, or whose package is broken
    ├── MissingProgram          a program, or packages of another installer, that are not installed
    └── MissingExtra            an optional dependency that is not installed

A message says what is wrong, where, and what to do about it. A message may quote untrusted text, such as a
file name with line ends. ``printable`` converts a message to one safe line. Output of several lines is
printed line by line, or as ``escaped_lines``.
"""

import re

from whatchanged.installing import install_command

REGIONS_ARE_GONE = (
    "it holds a network that judges regions of screens. This version neither runs nor trains such networks:"
    " it measures screens. Version 0.2 reads it; install that version beside this one."
)
"""The part of an error message after the name of a model, run or recipe with a network that is no longer
supported.
"""
_CONTROLS = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Line ends, and characters that a terminal would interpret instead of displaying. Tabs are allowed."""
_COMMANDS = re.compile(r"\A(\s*):(?=:)|(#)(?=#\w*\[)")
"""Text that build services read as commands: "::" at the start of a line, "##[" and "##vso[" anywhere."""
_LONGEST_WORD = 1000
_LONGEST_TEXT = 4000


def escaped(text: str) -> str:
    """Return the text on one line, with control characters and line ends escaped.

    A terminal displays the escaped characters instead of interpreting them. A build service runs no command
    from the escaped text.
    """
    flat = _CONTROLS.sub(_escape, text)
    return _COMMANDS.sub(lambda found: f"{found[1] or ''}\\x{0x23 if found[2] else 0x3A:02x}", flat)


def escaped_lines(text: str) -> str:
    """Return a text of several lines with each line ``escaped``.

    The line ends of the text are kept, so the program itself must have composed the text.
    """
    return "\n".join(map(escaped, text.split("\n")))


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()


def escaped_json(text: str) -> str:
    """Return JSON text on one line.

    Control characters, and the beginnings of commands of a build service, become JSON escapes.
    """
    flat = _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return re.sub(r"#(?=#\w*\[)", r"\\u0023", flat)


def printable(text: str) -> str:
    """Return a message that is safe to print on a terminal.

    The message is ``escaped`` to one line, and very long words and texts are shortened.
    """
    text = re.sub(rf"\S{{{_LONGEST_WORD + 1},}}", lambda word: _shortened(word[0], _LONGEST_WORD), text)
    return escaped(_shortened(text, _LONGEST_TEXT))


def _shortened(text: str, most: int) -> str:
    """Return the text, or only its beginning and its end if the text is longer than ``most`` characters."""
    if len(text) <= most:
        return text
    return f"{text[: most // 2]}[... {len(text):,} characters ...]{text[-most // 4 :]}"


class WhatchangedError(Exception):
    """The root of all errors that the user can correct."""

    def __str__(self) -> str:
        return printable(super().__str__())


class ImageError(WhatchangedError):
    """A picture that cannot be used."""


class DatasetError(WhatchangedError):
    """A folder or list of pairs that cannot be used."""


class BundleError(WhatchangedError):
    """A model bundle that cannot be trusted or read."""


class RecipeError(WhatchangedError):
    """A recipe that cannot be run."""


class OutputError(WhatchangedError):
    """An output that would overwrite something, or cannot be written."""


class PredictionsError(WhatchangedError):
    """Predictions that cannot be scored."""


class MetricUnavailable(WhatchangedError):
    """A metric that has no value, because a program, data or Java is missing or failed.

    A missing value never counts as 0.
    """


class ShapeError(WhatchangedError):
    """Arrays that do not fit each other."""


class PluginError(WhatchangedError):
    """A method, world or data set that no installed package provides, or that cannot be loaded."""


class MissingProgram(WhatchangedError):
    """A program is missing that a feature needs, or packages that pip cannot install."""

    def __init__(self, what: str, program: str, command: str) -> None:
        super().__init__(f"{what} needs {program}, which is not here. Install it: {command}")
        self._given = (what, program, command)

    def __reduce__(self) -> tuple[type, tuple[str, str, str]]:
        return type(self), self._given  # as it comes back from a worker process


class MissingExtra(WhatchangedError):
    """A feature needs optional dependencies that are not installed."""

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(
            f"{what} needs {package}, which this install leaves out. Run: {install_command(extra)}"
        )
        self._given = (what, package, extra)

    def __reduce__(self) -> tuple[type, tuple[str, str, str]]:
        return type(self), self._given  # as it comes back from a worker process
