"""Open untrusted files: only regular files, and of pictures only those that are decoded within seconds.

Reading a pipe may block, and reading a device may never end. A link may lead to a pipe or a device. Every
module that reads a file by its path uses the functions here. A path that is not a regular file raises an
OSError with a readable message. The caller reports the path like any other unreadable file.

Decoding a small picture may take minutes: Pillow reads the parts of a header one by one in Python, and a
progressive JPEG passes over all pixels once for each scan. The cost is therefore estimated before a picture
is decoded. Files of ordinary programs stay far below the limits here.
"""

import errno
import io
import os
import re
import stat
import struct
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TextIO

from whatchanged.errors import ImageError
from whatchanged.urls import is_remote

if TYPE_CHECKING:
    from PIL import Image

NO_FILE = "this is a pipe or a device, a file is wanted"
"""The error message for a path that is neither a regular file nor a folder."""
MAX_SCANNED = 2_000_000_000
"""The largest product of pixels and scans of a progressive JPEG.

Each scan passes over all pixels. Ordinary files have about ten scans.
"""
MAX_PLAIN = 30_000_000
"""The largest size, in bytes, of a plain PPM.

Numbers in a plain PPM are text, and Pillow parses this text in Python.
"""
MAX_COMMENTS = 1000
"""The largest number of comments in a plain PPM. Pillow copies all text read so far for each comment."""
MAX_PARTS = 50_000
"""The largest number of segments, chunks, blocks or skipped bytes before and between the pixel data."""
PNM_HEADER = 65_536
"""The header of a PPM, its comments included, must end within this many bytes."""
_DESCRIPTOR = re.compile(r"/dev/(stdin|fd/\d+)|/proc/(self|\d+)/fd/\d+")
_FLAGS = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY")
)
_SOI, _SOS, _EOI = 0xD8, 0xDA, 0xD9
_BLOCK = 64  # mostly the marker is found at the expected position


def open_regular(path: Path, piped: bool = False) -> io.BufferedReader:
    """Open a regular file, or a remote file (a URL), for reading bytes.

    piped: whether to accept also a pipe that the caller's shell opened (``/dev/stdin``, or ``/dev/fd/63`` of
    a process substitution). Pipes may only be accepted for a path that the user typed, never for a path that
    the program found. Raises FileNotFoundError, IsADirectoryError, or an OSError with the message ``NO_FILE``
    for pipes, devices and sockets.
    """
    if is_remote(path) or (piped and is_descriptor(path)):
        return path.open("rb")
    regular(path)  # before opening: opening alone makes some devices act
    opened = os.open(path, _FLAGS)
    try:
        _require_file(os.fstat(opened), path)  # another file may have its name by now
        return os.fdopen(opened, "rb")
    except BaseException:
        os.close(opened)
        raise


def open_regular_text(path: Path, encoding: str, newline: str | None = None) -> TextIO:
    """Open the file at a path for reading text. Raises OSError as ``open_regular`` does."""
    return io.TextIOWrapper(open_regular(path), encoding=encoding, newline=newline)


def read_regular(path: Path, piped: bool = False) -> bytes:
    """Read all bytes of a file. Raises OSError as ``open_regular`` does."""
    with open_regular(path, piped) as file:
        return file.read()


def read_regular_text(path: Path, encoding: str = "utf-8", piped: bool = False) -> str:
    """Read all text of a file, with line ends as "\n". Raises OSError, and UnicodeDecodeError for other
    encodings.
    """
    content = read_regular(path, piped).decode(encoding)
    return content.replace("\r\n", "\n").replace("\r", "\n")


def regular(path: Path) -> Path:
    """Return the path if ``open_regular`` would open the file at the path.

    Use this function before a library opens a file itself. Raises OSError for other paths.
    """
    if not is_remote(path):
        _require_file(path.stat(), path)
    return path


def is_descriptor(path: Path) -> bool:
    """Return whether a path stands for an open descriptor of this process. Shells pass pipes in this way."""
    return _DESCRIPTOR.fullmatch(str(path)) is not None


def _require_file(result: os.stat_result, path: Path) -> None:
    """Check that a file is a regular file. Raises OSError if not."""
    if stat.S_ISDIR(result.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(result.st_mode):
        raise OSError(errno.EINVAL, NO_FILE, str(path))


def check_header_cost(stream: BinaryIO, name: str) -> None:
    """Check that a header has no more parts than ordinary programs write. Raises ImageError.

    stream: the opened file, at any position. Afterwards the stream is at its start.
    """
    stream.seek(0)
    start = stream.read(8)
    if start.startswith(b"\xff\xd8"):
        what, many = "parts of a JPEG header", _jpeg_parts(stream) > MAX_PARTS
    elif start.startswith(b"\x89PNG"):
        what, many = "chunks of a PNG", _png_chunks(stream) > MAX_PARTS
    elif start.startswith(b"GIF8"):
        what, many = "blocks of a GIF before its picture", _gif_blocks(stream) > MAX_PARTS
    else:
        what, many = f"bytes in the header of a PPM (at most {PNM_HEADER:,})", _long_pnm_header(stream, start)
    stream.seek(0)
    if many:
        raise ImageError(f"{name}: too many {what}. Save it again with another program.")


def check_decoding_cost(image: "Image.Image", stream: BinaryIO, name: str) -> None:
    """Check that decoding a picture takes at most some seconds.

    Raises ImageError. The position of the stream does not change.
    """
    place = stream.tell()
    tiles = getattr(image, "tile", [])
    if image.format in ("JPEG", "MPO") or image.info.get("compression") == "jpeg":
        scans = occurrences(stream, b"\xff\xda")  # the marker of a scan never occurs within its data
        if scans * image.width * image.height > MAX_SCANNED * max(1, len(tiles)):
            raise ImageError(
                f"{name}: {scans:,} scans of {image.width:,} x {image.height:,} pixels are too many to"
                " decode. Save it again, not as a progressive JPEG."
            )
    elif image.format == "PPM" and tiles and tiles[0][0] == "ppm_plain":
        size = stream.seek(0, os.SEEK_END)
        if size > MAX_PLAIN or occurrences(stream, b"#") > MAX_COMMENTS:
            raise ImageError(
                f"{name}: a plain PPM of {size:,} bytes is too large: at most {MAX_PLAIN:,} are read, and"
                f" {MAX_COMMENTS:,} comments. Save it as a binary PPM or as PNG."
            )
    stream.seek(place)


def occurrences(stream: BinaryIO, word: bytes) -> int:
    """Return how often a word of bytes occurs in a file. The file is read block by block."""
    stream.seek(0)
    count, before = 0, b""
    while part := stream.read(1 << 20):
        block = before + part
        count += block.count(word)
        before = block[1 - len(word) :] if len(word) > 1 else b""  # too short to hold the word itself
    return count


def _jpeg_parts(stream: BinaryIO) -> int:
    """Count the segments before the first scan of a JPEG, plus the bytes between segments that a decoder
    skips one by one.

    Counting ends a little above ``MAX_PARTS``, at the first scan, or at the end of the file.
    """
    stream.seek(2)
    parts = 0
    while parts <= MAX_PARTS:
        here = stream.tell()
        block = stream.read(_BLOCK)
        marker = re.search(rb"\xff[^\xff]", block, re.DOTALL)
        if marker is None:
            parts += len(block)
            if len(block) < _BLOCK:
                break
            stream.seek(-1, io.SEEK_CUR)  # the first byte of a marker may be the last of a block
            continue
        parts += marker.start() + 1
        kind = marker[0][1]
        if kind in (_SOS, _EOI):
            break
        stream.seek(here + marker.end())
        if kind == 0 or kind == 1 or 0xD0 <= kind <= _SOI:  # these have no content
            continue
        length = stream.read(2)
        if len(length) < 2:
            break
        stream.seek(max(0, struct.unpack(">H", length)[0] - 2), io.SEEK_CUR)
    return parts


def _png_chunks(stream: BinaryIO) -> int:
    """Count the chunks of a PNG, up to a little above ``MAX_PARTS``."""
    stream.seek(8)
    chunks = 0
    while chunks <= MAX_PARTS:
        head = stream.read(8)
        if len(head) < 8 or head[4:] == b"IEND":
            break
        stream.seek(struct.unpack(">I", head[:4])[0] + 4, io.SEEK_CUR)
        chunks += 1
    return chunks


def _gif_blocks(stream: BinaryIO) -> int:
    """Count the blocks of a GIF before its first picture.

    Blocks within an extension and skipped bytes are counted too.
    """
    stream.seek(0)
    head = stream.read(13)
    if len(head) == 13 and head[10] & 0x80:
        stream.seek(3 * (2 << (head[10] & 7)), io.SEEK_CUR)  # the palette
    blocks = 0
    while blocks <= MAX_PARTS:
        introducer = stream.read(1)
        blocks += 1
        if introducer in (b"", b",", b";"):
            break
        if introducer == b"!":
            stream.read(1)
            while (size := stream.read(1)) not in (b"", b"\0") and blocks <= MAX_PARTS:
                stream.seek(size[0], io.SEEK_CUR)
                blocks += 1
    return blocks


def _long_pnm_header(stream: BinaryIO, start: bytes) -> bool:
    """Return whether a file is a PPM whose header does not end within ``PNM_HEADER`` bytes."""
    if not re.match(rb"P[0-9fFy]", start):
        return False
    stream.seek(0)
    head = stream.read(PNM_HEADER)
    if len(head) < PNM_HEADER:
        return False
    words = 2 if start[1:2] in b"14" else 3
    return re.match(rb"P.(?:(?:\s|#[^\r\n]*+[\r\n])++[^\s#]++){%d}[\s#]" % words, head) is None
