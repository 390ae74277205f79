"""Writes a run's logs: metrics.jsonl, TensorBoard events, and on stderr a progress bar or plain lines."""

import json
import os
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from whatchanged.errors import printable


class RunLog:
    """Writes each log line as it happens. ``length`` is the number of bytes of metrics.jsonl on the disk.

    Opening a log at ``length`` removes the lines that an interrupted launch wrote after its last checkpoint.
    """

    def __init__(self, run: Path, length: int, step: int, quiet: bool) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # TensorBoard's own imports are deprecated in places
            from torch.utils.tensorboard import SummaryWriter

        self._file = (run / "metrics.jsonl").open("ab")
        self._file.truncate(min(length, self._file.tell()))
        self._file.seek(0, os.SEEK_END)
        self._events: Any = SummaryWriter(str(run / "events"), purge_step=step)
        self._quiet = quiet
        self._bar = None
        if sys.stderr.isatty() and not quiet:
            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
            )
            self._bar = Progress(*columns, TextColumn("{task.fields[terms]}"), console=Console(stderr=True))
            self._bar.start()
        self._task: Any = None

    @property
    def length(self) -> int:
        """Return the number of bytes written so far."""
        return self._file.tell()

    def stage(self, name: str, step: int, steps: int) -> None:
        """Log that a stage begins, or resumes at ``step``."""
        if self._bar is not None:
            if self._task is not None:
                self._bar.stop_task(self._task)
            self._task = self._bar.add_task(name, completed=step, total=steps, terms="")

    def advance(self, step: int) -> None:
        """Log that ``step`` steps of the stage are done."""
        if self._bar is not None:
            self._bar.update(self._task, completed=step)

    def write(self, line: Mapping[str, Any], total_step: int) -> None:
        """Write one line with ``stage``, ``step``, and numbers. The numbers also go to TensorBoard, at
        ``total_step``.
        """
        self._file.write(json.dumps(dict(line), ensure_ascii=False).encode() + b"\n")
        self._file.flush()
        numbers = {k: v for k, v in line.items() if isinstance(v, int | float) and k != "step"}
        for name, value in numbers.items():
            self._events.add_scalar(f"{line['stage']}/{name}", value, total_step)
        text = "  ".join(f"{name} {value:.4g}" for name, value in numbers.items())
        if self._bar is not None:
            self._bar.update(self._task, terms=text)
        else:
            self.info(f"{line['stage']} {line['step']}: {text}")

    def info(self, message: str) -> None:
        """Print a plain line on stderr."""
        if self._bar is not None:
            self._bar.console.print(printable(message), markup=False, highlight=False)
        elif not self._quiet:
            print(printable(message), file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        self._events.close()
        self._file.close()


class SilentLog:
    """The log of every process except the first process. This log writes nothing."""

    length = 0

    def stage(self, name: str, step: int, steps: int) -> None:
        """Ignore that a stage begins."""

    def advance(self, step: int) -> None:
        """Ignore that a step is done."""

    def write(self, line: Mapping[str, Any], total_step: int) -> None:
        """Ignore a line of the log: the first process writes this line."""

    def info(self, message: str) -> None:
        """Ignore a message: the first process prints this message."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


Log = RunLog | SilentLog
