"""Control a headless Chromium through a pipe: open pages, change them, take screenshots.

The browser's protocol (DevTools) needs no package: messages are JSON, separated by zero bytes.
"""

import base64
import fcntl
import io
import json
import os
import select
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

from PIL import Image

from whatchanged.errors import MissingProgram, WhatchangedError
from whatchanged.json_values import read_json
from whatchanged.programs import find_program, program_environment

PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The names of the browser's program; the first one draws the same pixels and takes a third less time."""
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
    "--disable-checker-imaging",  # large pictures are painted with the rest, not later
    "--disable-partial-raster",  # else a picture keeps traces of the one before it
)
WITHOUT_GPU = ("--disable-gpu",)
SOFTWARE_GPU = (
    "--use-angle=swiftshader",
    "--enable-gpu-rasterization",
    "--ignore-gpu-blocklist",
    "--run-all-compositor-stages-before-draw",  # no picture of a window of which a part is painted anew
)
"""Flags for painting without a graphics card, and for painting as with one (in software)."""

FONT_SETTINGS: dict[str, dict[str, object]] = {
    "grey": {},
    "unhinted": {"hinting": False, "hintstyle": "hintnone"},
    "slight": {"hinting": True, "hintstyle": "hintslight"},
    "full": {"hinting": True, "hintstyle": "hintfull"},
    "autohint": {"hinting": True, "autohint": True, "hintstyle": "hintfull"},
    "lcd": {"rgba": "rgb", "lcdfilter": "lcddefault", "hintstyle": "hintslight"},
    "lcd-light": {"rgba": "rgb", "lcdfilter": "lcdlight", "hintstyle": "hintslight"},
    "bgr": {"rgba": "bgr", "lcdfilter": "lcddefault", "hintstyle": "hintslight"},
    "full-lcd": {"hinting": True, "rgba": "rgb", "lcdfilter": "lcddefault", "hintstyle": "hintfull"},
    "jagged": {"antialias": False},
}
"""Settings of the font library, by name; under each of them the text of a document looks slightly
different.
"""

PATIENCE = 120.0
"""Seconds without an answer after which a browser counts as crashed; pages take tenths of a second."""
AGAIN = "Give the same command again: what was drawn stays."

KEYS = {"Enter": 13, "Escape": 27, " ": 32, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
"""Keys that the browser knows by number; other keys are known by their letter."""
COMPLAINTS = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
"""The browser's events for a fault in a page, and for messages to the console."""


class BrowserGone(WhatchangedError):
    """The browser has ended by itself, or does not answer."""


def font_configuration(settings: dict[str, object], cache: Path) -> str:
    """Return a fontconfig file with these settings for every font; ``cache``: a folder for fontconfig's
    cache.
    """
    edits = []
    for name, value in settings.items():
        tag = "bool" if isinstance(value, bool) else "const"
        text = str(value).lower() if isinstance(value, bool) else value
        edits.append(f'<edit name="{name}" mode="assign"><{tag}>{text}</{tag}></edit>')
    return (
        '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>'
        f"<dir>/usr/share/fonts</dir><cachedir>{cache}</cachedir>"
        f'<match target="font">{"".join(edits)}</match><match target="pattern">{"".join(edits)}</match>'
        "</fontconfig>"
    )


def find_chromium() -> str:
    """Return the path of the browser's program. Raises MissingProgram."""
    for name in PROGRAMS:
        program = find_program(name)
        if program is not None:
            return program
    raise MissingProgram("Drawing pages", "Chromium", "apt-get install chromium")


def chromium_version() -> str:
    """Return the browser's name and version in one line. Raises MissingProgram."""
    command = [find_chromium(), "--version"]
    told = subprocess.run(command, capture_output=True, text=True, check=False, env=program_environment())
    return told.stdout.strip()


class Browser:
    """One page of one browser process. Use as a context manager.

    fonts: one of ``FONT_SETTINGS``. flags: further flags of the browser. gpu: paint as with a graphics card.
    """

    def __init__(self, fonts: str = "grey", flags: tuple[str, ...] = (), gpu: bool = False) -> None:
        flags = (*(SOFTWARE_GPU if gpu else WITHOUT_GPU), *flags)
        program = find_chromium()
        self._folder = Path(tempfile.mkdtemp(prefix="screens-"))
        configuration = self._folder / "fonts.conf"
        cache = Path(tempfile.gettempdir()) / "screens-font-cache"
        configuration.write_text(font_configuration(FONT_SETTINGS[fonts], cache), encoding="utf-8")
        self._process, self._write, self._read = _start(
            [program, *FLAGS, f"--user-data-dir={self._folder / 'profile'}", *flags, "about:blank"],
            configuration,
        )
        self._number = 0
        self._rest: list[bytes] = []
        self.events: list[dict[str, Any]] = []
        self._session = ""
        try:
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            self.call("Page.enable")
        except BaseException:
            self.close()  # nobody else has it yet
            raise

    def __enter__(self) -> "Browser":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the browser."""
        self._process.terminate()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        os.close(self._write)
        shutil.rmtree(self._folder, ignore_errors=True)

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Send a command to the browser and return its answer. Raises BrowserGone."""
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        try:
            _write_all(self._write, json.dumps(message).encode() + b"\0")
        except BrokenPipeError:
            raise BrowserGone(f"Chromium ended. {AGAIN}") from None
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return dict(answer["result"])
            if "method" in answer:
                self.events.append(answer)

    def open(
        self, address: str, width: int = 1280, height: int = 900, dark: bool = False, scale: float = 1.0
    ) -> None:
        """Open an address in a window of this size, and wait until all of it is loaded."""
        self.call("Runtime.enable")
        self.call("Log.enable")
        self.resize(width, height, scale)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url="about:blank")
        self.events.clear()
        self.call("Page.navigate", url=address)
        self.run("document.readyState == 'complete' || new Promise((done) => addEventListener('load', done))")

    def resize(self, width: int, height: int, scale: float = 1.0) -> None:
        """Resize the window, in pixels of the document; ``scale`` device pixels for each."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=False,
        )

    def press(self, key: str) -> None:
        """Press and release a key."""
        number = KEYS.get(key, ord(key[0].upper()))
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        named = {"key": key, "windowsVirtualKeyCode": number}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **named)
        self.call("Input.dispatchKeyEvent", type="keyUp", **named)

    def complaints(self) -> list[dict[str, Any]]:
        """Return the console messages and the faults of the page since it was opened."""
        self.run("1")
        return [event["params"] for event in self.events if event["method"] in COMPLAINTS]

    def _receive(self) -> dict[str, Any]:
        """Return the next message. Raises BrowserGone."""
        while not self._rest or b"\0" not in self._rest[-1]:
            answers, _, _ = select.select([self._read], [], [], PATIENCE)
            block = os.read(self._read, 1 << 20) if answers else b""
            if not block:
                how = "ended" if answers else f"has not answered for {PATIENCE:g} seconds"
                raise BrowserGone(f"Chromium {how}. {AGAIN}")
            self._rest.append(block)
        line, _, rest = b"".join(self._rest).partition(b"\0")
        self._rest = [rest]
        return dict(read_json(line))

    def run(self, script: str) -> Any:
        """Return the value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script[:200]}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def show(self, document: str, width: int, height: int, scale: float = 1.0) -> None:
        """Lay a document out in a window of this size."""
        self.resize(width, height, scale)
        frame = self.call("Page.getFrameTree")["frameTree"]["frame"]["id"]
        self.call("Page.setDocumentContent", frameId=frame, html=document)
        self.run("document.fonts.ready.then(() => 1)")

    def photograph(self) -> Image.Image:
        """Return a screenshot of the window."""
        data = self.call("Page.captureScreenshot", format="png", optimizeForSpeed=True)["data"]
        return Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")


def _start(command: list[str], fonts: Path) -> tuple["subprocess.Popen[bytes]", int, int]:
    """Start the process; return it, the end to write to and the end to read from. The browser has these as 3
    and 4.
    """
    to_browser, write = os.pipe()
    read, from_browser = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (to_browser, from_browser)]

    def give_pipes() -> None:
        os.dup2(high[0], 3)
        os.dup2(high[1], 4)

    process = subprocess.Popen(
        command,
        preexec_fn=give_pipes,
        # Not pass_fds=(3, 4): Matplotlib closes its fonts in new processes, and 3 or 4 may be one of them.
        # What Python opened is closed as the browser starts anyway.
        close_fds=False,
        env=program_environment(FONTCONFIG_FILE=str(fonts)),
        start_new_session=True,  # an interrupt of the terminal is ours, not the browser's
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for end in (to_browser, from_browser, *high):
        os.close(end)
    return process, write, read


def _write_all(end: int, data: bytes) -> None:
    """Write all data; a pipe may take less at a time."""
    while data:
        data = data[os.write(end, data) :]
