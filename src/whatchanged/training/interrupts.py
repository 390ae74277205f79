"""Ctrl-C and SIGTERM while a run learns: the step ends, all is saved, and only then does the process end."""

import signal as system_signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from signal import SIGINT, SIGTERM, Signals
from types import FrameType


@dataclass
class StopRequest:
    """What a signal asked for: nothing yet, or to stop. notify: tells the person that it was heard."""

    notify: Callable[[str], None]
    signal: Signals | None = None

    def note(self, number: int, frame: FrameType | None) -> None:
        """A signal came. Raises at once where it is the second."""
        if self.signal is not None:
            self.end(Signals(number))
        self.signal = Signals(number)
        self.notify(f"{self.signal.name}: this step ends, then all is saved. Once more ends it at once.")

    def end(self, number: Signals) -> None:
        """End the process as the signal would have: KeyboardInterrupt, or an exit with 128 + its number."""
        if number == SIGINT:
            raise KeyboardInterrupt
        sys.exit(128 + number)


@contextmanager
def noting_signals(notify: Callable[[str], None]) -> Iterator[StopRequest]:
    """Yields what SIGINT and SIGTERM ask for meanwhile; in a thread, which hears no signals, nothing.

    notify: tells the person that the signal was heard.
    """
    request = StopRequest(notify)
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    before = {number: system_signal.signal(number, request.note) for number in (SIGINT, SIGTERM)}
    try:
        yield request
    finally:
        for number, handler in before.items():
            system_signal.signal(number, handler)
