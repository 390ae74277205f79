"""Open pictures, turn them upright, check, resize and normalise them: the only preprocessing in the package.

Every file may be hostile. The header of a file is read first. The size in the header is checked against the
limits before a pixel is decoded. Pillow tries only the formats below, so no file is handed to another
program. Alpha is dropped.
"""

import contextlib
import io
import struct
import warnings
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image, TiffImagePlugin, UnidentifiedImageError, features

from whatchanged.errors import ImageError, ShapeError
from whatchanged.opening import check_decoding_cost, check_header_cost, occurrences, open_regular
from whatchanged.other_formats import LOOKED_AT, is_avif, kind_of_file
from whatchanged.urls import as_url, is_remote

PictureSource = str | Path | bytes | BinaryIO | Image.Image | NDArray[np.generic]
"""The types of a picture: a path, the bytes of a file, an open file, a Pillow picture, or an array (H, W[, 3
or 4]).
"""

_AVIF = ("AVIF",) if "avif" in features.modules and features.check_module("avif") else ()
"""The name of the AVIF format, if Pillow reads this format. Pillow does so from version 11.3 on."""
FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "PPM", *_AVIF)
MAX_PIXELS = 50_000_000
MAX_SIDE = 65_535
"""The largest width or height in pixels, which is also JPEG's limit.

Measuring a long narrow picture is slower than measuring a square picture of equal area.
"""
MAX_BYTES = 1 << 29
"""The largest number of bytes that are read from an open file.

No picture within the limit on pixels needs more bytes.
"""
LEAST_SIDE = 8
XMP = ("XML:com.adobe.xmp", "xmp")
"""The keys under which Pillow stores the XMP data of a picture."""
TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""The transpose that turns a picture of each EXIF orientation upright."""


class Fetched(bytes):
    """The bytes of a fetched remote file, with the URL of the file for messages."""

    name: str


_SIGNATURES = (b"\x89PNG", b"\xff\xd8\xff", b"RIFF", b"GIF8", b"II*\0", b"MM\0*")
_DECODER_ERRORS = (
    OSError,
    SyntaxError,
    ValueError,
    EOFError,
    IndexError,
    KeyError,
    TypeError,
    OverflowError,
    struct.error,
    zlib.error,
)
"""The exceptions that Pillow's decoders raise on broken bytes. These exceptions have no common base class."""


def open_image(source: PictureSource) -> Image.Image:
    """Open a picture as 8-bit RGB, upright (EXIF orientation applied), first frame only.

    16-bit values are scaled to 8 bits, palettes are resolved, alpha is dropped. Arrays are uint8 or floats in
    0..1, of shape (H, W), (H, W, 3) or (H, W, 4).
    Raises ImageError if the picture is missing, truncated, too small or too large, or if the file is not a
    picture.
    """
    if isinstance(source, np.ndarray):
        return _from_array(source)
    if isinstance(source, Image.Image):
        return _decode(source, name_of(source))
    with _opened(source) as (stream, name), _open_header(stream, name) as image:
        return _decode(image, name)


def kept(source: PictureSource) -> PictureSource:
    """Return a source that can be read more than once.

    For an open file, the result is its bytes from the current position on. For a remote file, the result is
    its fetched bytes. Raises ImageError if a file cannot be fetched, if the type of the source is not a type
    of pictures, or if a stream exceeds the limit.
    """
    if isinstance(source, str | Path | bytes | Image.Image | np.ndarray):
        return source
    if is_remote(source):
        return _fetched(cast(Path, source))
    if not callable(getattr(source, "read", None)):
        raise ImageError(
            f"this is no picture: {type(source).__name__}. Give a path, the bytes of a file, an open file, a "
            "Pillow picture or a NumPy array."
        )
    content = source.read(MAX_BYTES + 1)
    if not isinstance(content, bytes):
        raise ImageError("the open file gives text, a picture is bytes. Open it with mode 'rb'.")
    if len(content) > MAX_BYTES:
        raise ImageError(f"the open file: more than {MAX_BYTES:,} bytes are no picture that can be read.")
    return content


def _fetched(path: Path) -> Fetched:
    """Return the bytes of a remote file. Raises ImageError."""
    try:
        with path.open("rb") as stream:
            content = Fetched(stream.read(MAX_BYTES + 1))
    except FileNotFoundError as error:
        raise ImageError(f"{path}: there is no such file. Check the URL.") from error
    except Exception as error:  # each kind of store raises errors of its own
        raise ImageError(f"{path}: cannot read the file: {_reason(error)}.") from error
    if len(content) > MAX_BYTES:
        raise ImageError(f"{path}: more than {MAX_BYTES:,} bytes are no picture that can be read.")
    content.name = str(path)
    return content


@contextlib.contextmanager
def stored_picture(source: PictureSource) -> Iterator[Image.Image]:
    """Yield the picture exactly as stored in the file.

    Mode, alpha, depth, colour profile, orientation and frames are unchanged.

    A side may be as short as one pixel. An exception of a decoder inside the block becomes an ImageError.
    Raises ImageError as ``open_image`` does.
    """
    if isinstance(source, np.ndarray):
        yield _stored_array(source)
        return
    name = name_of(source)
    try:
        if isinstance(source, Image.Image):
            check_size(source.size, name, least=1)
            yield source
        else:
            with _opened(source) as (stream, _), _open_header(stream, name, least=1) as image:
                yield image
    except _DECODER_ERRORS as error:
        raise ImageError(f"{name}: cannot decode the picture: {_reason(error)}. Copy it again.") from error


def picture_size(source: PictureSource, least: int = LEAST_SIDE) -> tuple[int, int]:
    """Return width and height of the upright picture in a file, without decoding its pixels.

    Raises ImageError if the picture cannot be used, or if a side has fewer than ``least`` pixels.
    """
    with _opened(source) as (stream, name), _open_header(stream, name, least) as image:
        size = _stored_size(image)
        place = stream.tell()
        if image.format == "PNG" and "exif" not in image.info and not occurrences(stream, b"eXIf"):
            return size  # Pillow would decode a PNG to see whether an orientation follows its pixels
        stream.seek(place)
        try:
            turned = orientation_of(image) in (5, 6, 7, 8)
        except _DECODER_ERRORS as error:
            raise ImageError(
                f"{name}: cannot read its orientation: {_reason(error)}. Copy it again."
            ) from error
    return size[::-1] if turned else size


def orientation_of(image: Image.Image) -> int:
    """Return the EXIF orientation that a picture declares, 1 (none) to 8.

    Pillow also reads an orientation from XMP data. Viewers ignore the orientation in XMP data, and so does
    this function.
    """
    turn = image.getexif().get(ExifTags.Base.Orientation, 1)
    if turn != 1 and image.format != "TIFF" and any(key in image.info for key in XMP):
        own, data = Image.Exif(), image.info.get("exif")
        if data is not None:
            own.load(data)
            turn = own.get(ExifTags.Base.Orientation, 1)
        elif "Raw profile type exif" not in image.info:
            turn = 1
    return turn if turn in range(1, 9) else 1


def upright(image: Image.Image, turn: int) -> Image.Image:
    """Return the picture turned upright. turn: the EXIF orientation of the picture, as ``orientation_of``
    returns it.
    """
    return image if turn == 1 else image.transpose(TURNS[turn])


def _stored_size(image: Image.Image) -> tuple[int, int]:
    """Return the width and height of the stored picture, before the picture is turned upright.

    For a TIFF, newer versions of Pillow report the size of the upright picture.
    """
    if isinstance(image, TiffImagePlugin.TiffImageFile):
        return int(image.tag_v2[TiffImagePlugin.IMAGEWIDTH]), int(image.tag_v2[TiffImagePlugin.IMAGELENGTH])
    width, height = image.size
    return width, height


def resize(
    image: Image.Image, size: tuple[int, int], by: Image.Resampling = Image.Resampling.BICUBIC
) -> NDArray[np.uint8]:
    """Resize the picture to ``size`` (W, H) with antialiasing.

    Each side is scaled independently. The result has shape (H, W, 3).

    by: the interpolation filter.
    """
    if image.size != size:
        image = image.resize(size, by)
    return np.array(image, dtype=np.uint8)


def normalise(pixels: NDArray[np.uint8], mean: Sequence[float], std: Sequence[float]) -> NDArray[np.float32]:
    """Return (pixels / 255 - mean) / std for each channel.

    The input is uint8 (..., H, W, 3), and the result is float32 (..., 3, H, W).

    Raises ShapeError if the last axis does not have three channels.
    """
    if pixels.ndim < 3 or pixels.shape[-1] != 3:
        raise ShapeError(f"pixels have the shape {pixels.shape}, wanted (..., H, W, 3)")
    scale = (1 / (255 * np.asarray(std, np.float64))).astype(np.float32)
    shift = (np.asarray(mean, np.float64) / np.asarray(std, np.float64)).astype(np.float32)
    return np.ascontiguousarray(np.moveaxis(pixels * scale - shift, -1, -3))


def name_of(source: PictureSource) -> str:
    """Return the name of a picture for messages."""
    if isinstance(source, str | Path) or is_remote(source):
        return str(source)
    if isinstance(source, Fetched):
        return source.name
    if isinstance(source, Image.Image):
        return str(getattr(source, "filename", "") or "the picture")
    return "the picture from memory" if isinstance(source, bytes) else "the open file"


@contextlib.contextmanager
def _opened(source: PictureSource) -> Iterator[tuple[BinaryIO, str]]:
    """Yield the opened file of a source, positioned at its start, and the name of the source.

    Raises ImageError.
    """
    name = name_of(source)
    source = kept(source)
    if isinstance(source, bytes):
        if not source:
            raise ImageError(f"{name}: it is empty (0 bytes).")
        yield io.BytesIO(source), name
    elif isinstance(source, str | Path):
        with _open_file(Path(source), name) as stream:
            yield stream, name
    else:
        raise ImageError(f"{name}: a file is wanted, not a {type(source).__name__}.")


def _open_file(path: Path, name: str) -> BinaryIO:
    """Open the file at a path. Raises ImageError if the file is empty."""
    try:
        if path.is_dir():
            raise ImageError(f"{name}: this is a folder, a picture is wanted. Name a file in it.")
        if not path.is_file() and as_url(name):
            raise ImageError(f"{name}: this is a URL; only files are read. Download it and name the file.")
        if not path.exists():
            raise ImageError(f"{name}: there is no such file. Check the path.")
        if not path.is_file():
            raise ImageError(f"{name}: this is a pipe or a device, a file is wanted. Save the picture first.")
        with open_regular(path) as stream:
            if not stream.read(1):
                raise ImageError(f"{name}: the file is empty (0 bytes). Copy it again.")
        return open_regular(path)
    except OSError as error:
        raise ImageError(f"{name}: cannot read the file: {error.strerror}.") from error


def _open_header(stream: BinaryIO, name: str, least: int = LEAST_SIDE) -> Image.Image:
    """Open the picture, read only its header, and check its size. Raises ImageError."""
    check_header_cost(stream, name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # our own limit is lower than the one of Pillow's warning
            image = Image.open(stream, formats=FORMATS)
    except Image.DecompressionBombError as error:
        with contextlib.suppress(Image.DecompressionBombError, *_DECODER_ERRORS):
            check_size(_declared_size(stream), name)
        raise ImageError(  # some readers of Pillow decode a part and stop before the size is known
            f"{name}: its header declares more than {MAX_PIXELS:,} pixels, the limit. Make it smaller."
        ) from error
    except UnidentifiedImageError as error:
        stream.seek(0)
        start = stream.read(LOOKED_AT)
        if start.startswith(b"\x89PNG") and len(start) >= 24:  # Pillow asks for more than the size
            width, height = struct.unpack(">II", start[16:24])
            check_size((width, height), name)
        if is_avif(start) and not _AVIF:
            raise ImageError(
                f"{name}: this is an AVIF file, which Pillow reads from version 11.3 on. Update Pillow, or"
                " save the picture as PNG."
            ) from error
        if start.startswith(_SIGNATURES) or is_avif(start):
            size = stream.seek(0, io.SEEK_END)
            raise ImageError(
                f"{name}: cannot read the picture: its header is broken or ends early ({size:,} bytes in the "
                "file). Copy it again."
            ) from error
        known = kind_of_file(start)
        if known is not None:
            raise ImageError(f"{name}: {known}.") from error
        raise ImageError(
            f"{name}: this is not a picture, whatever its name says. Give one of {', '.join(FORMATS)}."
        ) from error
    except _DECODER_ERRORS as error:
        raise ImageError(f"{name}: cannot read the picture: {_reason(error)}. Copy it again.") from error
    check_size(image.size, name, least)
    check_decoding_cost(image, stream, name)
    return image


def _declared_size(stream: BinaryIO) -> tuple[int, int]:
    """Return the size in the header of a picture that Pillow refused as too large."""
    stream.seek(0)
    prefix = stream.read(16)
    for name in FORMATS:
        factory, accept = Image.OPEN[name]
        if accept is None or accept(prefix):
            stream.seek(0)
            width, height = factory(stream, "").size
            return int(width), int(height)
    raise AssertionError("Pillow named a size of a picture that none of its formats accepts")


def check_size(size: tuple[int, int], name: str, least: int = LEAST_SIDE) -> None:
    """Check that the size of a picture is within the limits. Raises ImageError if the size is not."""
    width, height = size
    if width * height > MAX_PIXELS or max(size) > MAX_SIDE:
        raise ImageError(
            f"{name}: {width:,} x {height:,} pixels are too many: at most {MAX_PIXELS:,} are read, "
            f"{MAX_SIDE:,} a side. Make it smaller."
        )
    if min(size) < least:
        raise ImageError(f"{name}: {width} x {height} pixels are too few: each side needs at least {least}.")


def _decode(image: Image.Image, name: str) -> Image.Image:
    """Decode all pixels, upright, as 8-bit RGB."""
    check_size(image.size, name)
    try:
        image.load()
        return _to_rgb(upright(image, orientation_of(image)))
    except _DECODER_ERRORS as error:
        raise ImageError(f"{name}: cannot decode the picture: {_reason(error)}. Copy it again.") from error


def _to_rgb(image: Image.Image) -> Image.Image:
    """Convert a picture in any of Pillow's modes to RGB. Alpha is dropped."""
    if image.mode.startswith("I") or image.mode == "F":
        return Image.fromarray(_eight_bits(np.asarray(image))).convert("RGB")
    if image.mode == "P" and "transparency" in image.info:
        image = image.convert("RGBA")  # straight to RGB, Pillow warns
    return image.convert("RGB")


def _eight_bits(values: NDArray[np.generic]) -> NDArray[np.uint8]:
    """Scale integers of 0..65535 or floats of 0..1 to 0..255."""
    wide = values.astype(np.float64)
    top = 1.0 if values.dtype.kind == "f" else 65535.0
    if not (np.isfinite(wide).all() and wide.min() >= 0 and wide.max() <= top):
        raise ValueError(f"its values run from {wide.min():g} to {wide.max():g}, wanted 0 to {top:g}")
    return np.rint(wide * (255 / top)).astype(np.uint8)


def _from_array(array: NDArray[np.generic]) -> Image.Image:
    """Return an array of one of the documented types as an RGB picture."""
    return _stored_array(array, LEAST_SIDE).convert("RGB")


def _stored_array(array: NDArray[np.generic], least: int = 1) -> Image.Image:
    """Return an array of one of the documented types as a picture. Alpha is not dropped."""
    name = f"the array of shape {array.shape} and type {array.dtype}"
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (3, 4)):
        raise ImageError(f"{name} is no picture: wanted (H, W), (H, W, 3) or (H, W, 4)")
    if array.dtype != np.uint8 and array.dtype.kind != "f":
        raise ImageError(f"{name} is no picture: wanted uint8, or floats in 0..1")
    check_size((array.shape[1], array.shape[0]), name, least)
    if array.dtype != np.uint8:
        try:
            array = _eight_bits(array)
        except ValueError as error:
            raise ImageError(f"{name} is no picture: {error}") from error
    return Image.fromarray(np.ascontiguousarray(array))


def _reason(error: BaseException) -> str:
    """Return the message of a decoder's error, or the type of the error if the message is empty."""
    return str(error).rstrip(".") or type(error).__name__
