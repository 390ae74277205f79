"""The pictures of a page: linked by relative path, or embedded as data."""

import base64
import io
import os
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from whatchanged.errors import ImageError, OutputError
from whatchanged.images import open_image, stored_picture
from whatchanged.opening import read_regular

SHOWN_BY_BROWSERS = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "WEBP": "image/webp",
    "GIF": "image/gif",
    "BMP": "image/bmp",
}
"""Pillow's names of formats -> media types. Other formats are embedded as PNG."""
OTHER_SUFFIXES = (".tif", ".tiff", ".ppm", ".pgm", ".pbm", ".pnm")
"""Formats that no browser shows, so that a link would not do."""
MOST_BYTES = 200_000_000
"""Limit on the bytes of all pictures embedded in one page; browsers and mail programs fail beyond it."""


@dataclass
class Pictures:
    """Turns the path of a picture into the JSON that the page's script reads.

    folder: the folder of the page. embed: embed every picture in the page.
    """

    folder: Path
    embed: bool
    _bytes: int = field(default=0, init=False)

    def source(self, path: Path | None) -> dict[str, str] | None:
        """Return {"name", "src"}, or {"name", "why"} where the picture cannot be read; None for no picture.

        Raises OutputError where the embedded pictures exceed ``MOST_BYTES``.
        """
        if path is None:
            return None
        if not self.embed and path.suffix.lower() not in OTHER_SUFFIXES:
            return {"name": path.name, "src": link(path, self.folder)}
        try:
            media, content = self._content(path)
        except ImageError as error:
            return {"name": path.name, "why": str(error)}
        return {"name": path.name, "src": f"data:{media};base64,{base64.b64encode(content).decode('ascii')}"}

    def _content(self, path: Path) -> tuple[str, bytes]:
        """Return the media type and the bytes to embed: the file itself where browsers show it, else a
        PNG.
        """
        with stored_picture(path) as stored:
            media = SHOWN_BY_BROWSERS.get(stored.format or "")
        if media is not None:
            self._count(path.stat().st_size)  # before a file that may be huge is read
            return media, read_regular(path)
        stream = io.BytesIO()
        open_image(path).save(stream, "PNG")
        self._count(stream.tell())
        return "image/png", stream.getvalue()

    def _count(self, size: int) -> None:
        """Count the bytes of one more picture. Raises OutputError where the sum is too large."""
        self._bytes += size
        if self._bytes > MOST_BYTES:
            raise OutputError(
                f"The pictures inside the page are more than {MOST_BYTES // 1_000_000:,} MB. "
                "Let the page link its pictures, or show fewer."
            )


def link(picture: Path, folder: Path) -> str:
    """Return the picture's path relative to ``folder``, encoded for an attribute (blanks and colons too)."""
    try:
        path = os.path.relpath(picture.absolute(), folder.absolute())
    except ValueError:  # another drive
        return picture.absolute().as_uri()
    return quote(Path(path).as_posix(), errors="surrogateescape")
