"""Reading of pictures without the loss of any difference.

Alpha, bit depth, orientation, colour profile and later frames are kept beside the pixels.
"""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageCms

from whatchanged.errors import ImageError
from whatchanged.images import (
    MAX_PIXELS,
    PictureSource,
    kept,
    name_of,
    orientation_of,
    stored_picture,
    upright,
)
from whatchanged.opening import open_regular
from whatchanged.urls import is_remote

Pixels = NDArray[np.uint8]
"""(H, W, 3): red, green and blue."""

MOST_FRAMES = 10_000
"""The largest number of frames in one file. Some formats reveal this number only by a walk through all
frames."""
_PLAIN_MODES = ("1", "L", "LA", "P", "PA", "RGB", "RGBA", "RGBX")
"""Pillow modes that convert to 8-bit colours and alpha without loss."""


@dataclass(frozen=True)
class Picture:
    """One picture as it is shown, together with the data of its file that are not visible.

    on_white  the upright pixels, over white where they are transparent
    on_black  the upright pixels over black; None if the picture is opaque
    hidden    the colours and alpha of the file; None if the file has no alpha
    stored    the values of the file; None if 8 bits represent them without loss
    deep      whether the file declares more than 8 bits a colour that were not read
    turn      the orientation that the file declares; 1 for none
    profile   the colour profile; empty if there is none
    frames    the number of frames in the file
    """

    on_white: Pixels
    on_black: Pixels | None
    hidden: Pixels | None
    stored: NDArray[np.generic] | None
    deep: bool
    turn: int
    profile: bytes
    frames: int

    @property
    def opaque(self) -> Pixels:
        """The upright pixels without their alpha channel."""
        return self.on_white if self.hidden is None else self.hidden[..., :3]

    @property
    def size(self) -> tuple[int, int]:
        """The width and height of the upright picture."""
        return self.on_white.shape[1], self.on_white.shape[0]


def same_bytes(one: PictureSource, other: PictureSource) -> bool:
    """Return whether both sources are files with the same bytes, on disk or in memory.

    The result is False if a source cannot be read.
    """
    try:
        if isinstance(one, str | Path) and isinstance(other, str | Path):
            left, right = Path(one), Path(other)
            if not (left.is_file() and right.is_file()) or left.stat().st_size != right.stat().st_size:
                return False
            with open_regular(left) as first, open_regular(right) as second:
                while block := first.read(1 << 20):
                    if block != second.read(1 << 20):
                        return False
            return True
        one, other = (kept(source) if is_remote(source) else source for source in (one, other))
    except (OSError, ImageError):
        return False  # The error is reported when the pictures are decoded.
    return isinstance(one, bytes) and isinstance(other, bytes) and one == other


def read_picture(source: PictureSource, frame: int = 0) -> Picture:
    """Read a frame of a picture, together with the other data in its file. Raises ImageError."""
    with stored_picture(source) as image:
        frames = _frames_of(image, name_of(source))
        if frame:
            image.seek(frame)
        deep = _announces_depth(image)
        image.load()
        turn = orientation_of(image)
        profile = image.info.get("icc_profile") or b""
        turned = upright(image, turn)
        stored = None if turned.mode in _PLAIN_MODES else np.asarray(turned)
        on_white, on_black, hidden = _flatten(turned)
    return Picture(on_white, on_black, hidden, stored, deep and stored is None, turn, profile, frames)


def first_other_frame(before: PictureSource, after: PictureSource) -> int | None:
    """Return the number of the first differing frame, other than frame 0, that both files contain.

    The result is None if there is no such frame. The total number of pixels that are read is limited to the
    largest size of one picture.
    """
    with stored_picture(before) as one, stored_picture(after) as other:
        shared = min(_frames_of(one, name_of(before)), _frames_of(other, name_of(after)))
        bound = MAX_PIXELS // max(one.size[0] * one.size[1], other.size[0] * other.size[1])
        for frame in range(1, min(shared, bound)):
            one.seek(frame)
            other.seek(frame)
            if one.convert("RGBA").tobytes() != other.convert("RGBA").tobytes():
                return frame
    return None


def _frames_of(image: Image.Image, name: str) -> int:
    """Return the number of frames in the file. Raises ImageError for more than ``MOST_FRAMES`` frames."""
    too_many = ImageError(
        f"{name}: more than {MOST_FRAMES:,} frames are too many to compare. Save fewer of them."
    )
    step = getattr(image, "_seek", None)

    def bounded(frame: int, *how: bool) -> None:
        if frame > MOST_FRAMES:
            raise too_many
        if step is not None:
            step(frame, *how)

    own: dict[str, Any] = vars(image)
    own["_seek"] = bounded  # Pillow calls this method for each step from frame to frame.
    try:
        frames = int(getattr(image, "n_frames", 1))
    finally:
        del own["_seek"]
    if frames > MOST_FRAMES:
        raise too_many
    return frames


def in_common_colors(picture: Picture) -> Pixels:
    """Return the pixels converted to the standard colour space sRGB.

    They are returned unchanged if the colour profile is unusable.
    """
    if not picture.profile:
        return picture.on_white
    try:
        shown = ImageCms.profileToProfile(
            Image.fromarray(picture.on_white),
            ImageCms.ImageCmsProfile(io.BytesIO(picture.profile)),
            ImageCms.createProfile("sRGB"),
        )
    except (ImageCms.PyCMSError, OSError):
        return picture.on_white
    return picture.on_white if shown is None else np.asarray(shown)


def _announces_depth(image: Image.Image) -> bool:
    """Return whether the file holds more bits a colour than Pillow decodes."""
    if image.format == "TIFF":
        bits = getattr(image, "tag_v2", {}).get(258, 8)
        return bool(max(bits if isinstance(bits, tuple) else (bits,)) > 8)
    # An argument is a raw mode, or a tuple that contains one.
    arguments = [tile[3] for tile in getattr(image, "tile", [])]
    if image.format == "PNG":
        return any("16" in str(argument) for argument in arguments)
    if image.format == "PPM":
        return any(isinstance(argument, tuple) and argument[-1] > 255 for argument in arguments)
    return False


def _flatten(image: Image.Image) -> tuple[Pixels, Pixels | None, Pixels | None]:
    """Return the picture over white and, if it is not opaque, over black and with its alpha channel."""
    if image.mode in ("I", "F") or image.mode.startswith("I;"):
        image = Image.fromarray(_eight_bits(np.asarray(image)))
    if image.mode == "RGB" and "transparency" not in image.info:
        return np.asarray(image), None, None
    if not image.has_transparency_data:
        return np.asarray(image.convert("RGB")), None, None
    with_alpha = image.convert("RGBA")
    if with_alpha.getchannel("A").getextrema() == (255, 255):
        return np.asarray(with_alpha.convert("RGB")), None, None
    white, black = (
        Image.alpha_composite(Image.new("RGBA", image.size, (level, level, level, 255)), with_alpha)
        for level in (255, 0)
    )
    return np.asarray(white.convert("RGB")), np.asarray(black.convert("RGB")), np.asarray(with_alpha)


def _eight_bits(values: NDArray[np.generic]) -> Pixels:
    """Map any numbers to 0..255.

    The usual range of the data type is mapped. Values outside that range are stretched from minimum to
    maximum; a uniform picture then becomes black.
    """
    wide = np.nan_to_num(values.astype(np.float64), posinf=0.0, neginf=0.0)
    low, high = 0.0, 1.0 if values.dtype.kind == "f" else 65535.0
    if wide.min() < low or wide.max() > high:
        low, high = float(wide.min()), float(wide.max())
    return np.rint((wide - low) * (255 / ((high - low) or 1.0))).astype(np.uint8)
