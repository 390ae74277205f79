"""Handles Ctrl-C and SIGTERM during training: the step ends, the run is saved, then the process ends."""

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
    """A record of whether a signal asked the run to stop. notify: tells the user that the signal was
    received.
    """

    notify: Callable[[str], None]
    signal: Signals | None = None

    def note(self, number: int, frame: FrameType | None) -> None:
        """Record that a signal came. A second signal raises KeyboardInterrupt or SystemExit at once."""
        if self.signal is not None:
            self.end(Signals(number))
        self.signal = Signals(number)
        self.notify(f"{self.signal.name}: this step ends, then all is saved. Once more ends it at once.")

    def end(self, number: Signals) -> None:
        """End the process as the signal would have: KeyboardInterrupt, or an exit with 128 + the signal's
        number.
        """
        if number == SIGINT:
            raise KeyboardInterrupt
        sys.exit(128 + number)


@contextmanager
def noting_signals(notify: Callable[[str], None]) -> Iterator[StopRequest]:
    """Yields a ``StopRequest`` that SIGINT and SIGTERM set. A thread other than the main thread gets no
    signals, so the request is never set there.

    notify: tells the user that the signal was received.
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
