"""A headless Chromium that is spoken to through a pipe: pages are opened, changed, and photographed."""

import base64
import fcntl
import io
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

from PIL import Image

FONT_SETTINGS: dict[str, dict[str, object]] = {
    "grey": {},
    "unhinted": {"hinting": False, "hintstyle": "hintnone"},
    "slight": {"hinting": True, "hintstyle": "hintslight"},
    "full": {"hinting": True, "hintstyle": "hintfull"},
    "autohint": {"hinting": True, "autohint": True, "hintstyle": "hintfull"},
    "lcd": {"rgba": "rgb", "lcdfilter": "lcddefault", "hintstyle": "hintslight"},
    "lcd-light": {"rgba": "rgb", "lcdfilter": "lcdlight", "hintstyle": "hintslight"},
    "bgr": {"rgba": "bgr", "lcdfilter": "lcddefault", "hintstyle": "hintslight"},
    "jagged": {"antialias": False},
}
"""Settings of the font library, by name, under which one document's text looks slightly different."""

KEYS = {"Enter": 13, "Escape": 27, " ": 32, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
"""Keys that are known to the browser by number; others by the letter that they write."""
COMPLAINTS = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
"""What the browser reports of a page that has a fault, or that writes to the console."""


def font_configuration(settings: dict[str, object]) -> str:
    """A configuration file of fontconfig with these settings for every font."""
    edits = []
    for name, value in settings.items():
        tag = "bool" if isinstance(value, bool) else "const"
        text = str(value).lower() if isinstance(value, bool) else value
        edits.append(f'<edit name="{name}" mode="assign"><{tag}>{text}</{tag}></edit>')
    return (
        '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>'
        "<dir>/usr/share/fonts</dir><cachedir>/tmp/screen-pairs-fonts</cachedir>"
        f'<match target="font">{"".join(edits)}</match><match target="pattern">{"".join(edits)}</match>'
        "</fontconfig>"
    )


class Browser:
    """One page of one browser process. Use as a context manager."""

    def __init__(self, fonts: str = "grey", flags: tuple[str, ...] = ()) -> None:
        program = shutil.which("chromium") or shutil.which("google-chrome")
        if program is None:
            raise SystemExit("No Chromium here. Install it: apt-get install chromium")
        self._folder = Path(tempfile.mkdtemp(prefix="screen-pairs-"))
        configuration = self._folder / "fonts.conf"
        configuration.write_text(font_configuration(FONT_SETTINGS[fonts]))
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()

        high = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_browser, from_browser)]

        def give_pipes() -> None:
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self._process = subprocess.Popen(
            [
                program, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                "--remote-debugging-pipe", f"--user-data-dir={self._folder / 'profile'}", *flags,
                "about:blank",
            ],
            preexec_fn=give_pipes,
            pass_fds=(3, 4, *high),
            env={**os.environ, "FONTCONFIG_FILE": str(configuration)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        for end in (to_browser, from_browser, *high):
            os.close(end)
        self._number = 0
        self._rest = b""
        self.events: list[dict[str, Any]] = []
        self._session = ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")

    def __enter__(self) -> "Browser":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.wait()
        os.close(self._read)
        os.close(self._write)
        shutil.rmtree(self._folder, ignore_errors=True)

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Ask the browser and wait for its answer."""
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return dict(answer["result"])
            if "method" in answer:
                self.events.append(answer)

    def open(self, address: str, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Open an address in a window of this size, and wait until all of it is loaded."""
        self.call("Runtime.enable")
        self.call("Log.enable")
        self.resize(width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url="about:blank")
        self.events.clear()
        self.call("Page.navigate", url=address)
        self.run("document.readyState == 'complete' || new Promise((done) => addEventListener('load', done))")

    def resize(self, width: int, height: int, scale: float = 1.0) -> None:
        """Give the window another size."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=False,
        )

    def press(self, key: str) -> None:
        """Press a key and let it go."""
        number = KEYS.get(key, ord(key[0].upper()))
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        named = {"key": key, "windowsVirtualKeyCode": number}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **named)
        self.call("Input.dispatchKeyEvent", type="keyUp", **named)

    def complaints(self) -> list[dict[str, Any]]:
        """What the page wrote to the console, and its faults, since it was opened."""
        self.run("1")
        return [event["params"] for event in self.events if event["method"] in COMPLAINTS]

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            block = os.read(self._read, 1 << 20)
            if not block:
                raise RuntimeError("the browser has gone")
            self._rest += block
        line, self._rest = self._rest.split(b"\0", 1)
        return dict(json.loads(line))

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script[:200]}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def show(self, document: str, width: int, height: int, scale: float = 1.0) -> None:
        """Lay a document out in a window of this size."""
        self.resize(width, height, scale)
        frame = self.call("Page.getFrameTree")["frameTree"]["frame"]["id"]
        self.call("Page.setDocumentContent", frameId=frame, html=document)
        self.run("delete window.elements; document.fonts.ready.then(() => 1)")

    def photograph(self) -> Image.Image:
        """The window as a picture."""
        data = self.call("Page.captureScreenshot", format="png", optimizeForSpeed=True)["data"]
        return Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")
