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
"""A mapping from Pillow's format names to media types. Pictures in other formats are embedded as PNG."""
OTHER_SUFFIXES = (".tif", ".tiff", ".ppm", ".pgm", ".pbm", ".pnm")
"""The endings of formats that no browser can show. Such pictures are embedded instead of linked."""
MOST_BYTES = 200_000_000
"""The largest total size, in bytes, of the pictures embedded in one page.

Browsers and mail programs fail for larger pages.
"""


@dataclass
class Pictures:
    """Convert the path of a picture to the JSON that the script of the page reads.

    folder: the folder of the page.
    embed: whether to embed every picture in the page.
    """

    folder: Path
    embed: bool
    _bytes: int = field(default=0, init=False)

    def source(self, path: Path | None) -> dict[str, str] | None:
        """Return {"name", "src"}, or {"name", "why"} for an unreadable picture; None for no picture.

        Raises OutputError if the embedded pictures exceed ``MOST_BYTES``.
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
        """Return the media type and the bytes to embed.

        These are the bytes of the file itself if browsers can show its format, and otherwise of a PNG.
        """
        with stored_picture(path) as stored:
            media = SHOWN_BY_BROWSERS.get(stored.format or "")
        if media is not None:
            self._count(path.stat().st_size)  # checked before a large file is read
            return media, read_regular(path)
        stream = io.BytesIO()
        open_image(path).save(stream, "PNG")
        self._count(stream.tell())
        return "image/png", stream.getvalue()

    def _count(self, size: int) -> None:
        """Count the bytes of one more picture. Raises OutputError if the total is too large."""
        self._bytes += size
        if self._bytes > MOST_BYTES:
            raise OutputError(
                f"The pictures inside the page are more than {MOST_BYTES // 1_000_000:,} MB. "
                "Let the page link its pictures, or show fewer."
            )


def link(picture: Path, folder: Path) -> str:
    """Return the picture's path relative to ``folder``, encoded for an attribute (spaces and colons too)."""
    try:
        path = os.path.relpath(picture.absolute(), folder.absolute())
    except ValueError:  # the paths are on different drives
        return picture.absolute().as_uri()
    return quote(Path(path).as_posix(), errors="surrogateescape")
