"""Pictures, read so that no difference is lost: alpha, depth, turn, colour profile, later frames."""

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
"""(H, W, 3): red, green, blue."""

MOST_FRAMES = 10_000
"""Of one file. Some formats tell how many they hold only to those who walk through all of them."""
_PLAIN_MODES = ("1", "L", "LA", "P", "PA", "RGB", "RGBA", "RGBX")
"""Modes that 8-bit colours and alpha hold without loss."""


@dataclass(frozen=True)
class Picture:
    """One picture as it is looked at, and what a look does not show.

    on_white  the upright pixels, over white where they let it through
    on_black  the same over black; None where the picture is opaque
    hidden    the colours and alpha of the file where it has alpha, else None
    stored    the values of the file where 8 bits do not hold them, else None
    deep      whether the file announces more than 8 bits a colour that were not read
    turn      the orientation that the file asks for, 1 for none
    profile   the colour profile, empty where there is none
    frames    how many pictures the file holds
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
        """The upright pixels with their alpha dropped."""
        return self.on_white if self.hidden is None else self.hidden[..., :3]

    @property
    def size(self) -> tuple[int, int]:
        """Width and height, upright."""
        return self.on_white.shape[1], self.on_white.shape[0]


def same_bytes(one: PictureSource, other: PictureSource) -> bool:
    """Whether both are files of the same bytes, on disk or in memory; not so where one cannot be read."""
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
        return False  # whoever reads the pictures says what is wrong
    return isinstance(one, bytes) and isinstance(other, bytes) and one == other


def read_picture(source: PictureSource, frame: int = 0) -> Picture:
    """Frame ``frame`` of the picture, and what else is in its file. Raises ImageError."""
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
    """The first frame after the first one that both files hold and that differs; None where there is none.

    Read are as many as stay within the bound on the pixels of one picture.
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
    """How many pictures the file holds. Raises ImageError where they are more than ``MOST_FRAMES``."""
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
    own["_seek"] = bounded  # by it Pillow takes each step from frame to frame
    try:
        frames = int(getattr(image, "n_frames", 1))
    finally:
        del own["_seek"]
    if frames > MOST_FRAMES:
        raise too_many
    return frames


def in_common_colors(picture: Picture) -> Pixels:
    """The pixels as a screen of standard colours (sRGB) shows them; as they are if the profile is
    unusable."""
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
    """Whether the file holds more bits a colour than Pillow hands over."""
    if image.format == "TIFF":
        bits = getattr(image, "tag_v2", {}).get(258, 8)
        return bool(max(bits if isinstance(bits, tuple) else (bits,)) > 8)
    arguments = [tile[3] for tile in getattr(image, "tile", [])]  # a raw mode, or a tuple of it and more
    if image.format == "PNG":
        return any("16" in str(argument) for argument in arguments)
    if image.format == "PPM":
        return any(isinstance(argument, tuple) and argument[-1] > 255 for argument in arguments)
    return False


def _flatten(image: Image.Image) -> tuple[Pixels, Pixels | None, Pixels | None]:
    """The picture over white and, where it is not opaque, over black and with its alpha."""
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
    """Any numbers as 0..255: the usual ranges of their kind, else stretched from least to largest; an even
    picture beyond them is black."""
    wide = np.nan_to_num(values.astype(np.float64), posinf=0.0, neginf=0.0)
    low, high = 0.0, 1.0 if values.dtype.kind == "f" else 65535.0
    if wide.min() < low or wide.max() > high:
        low, high = float(wide.min()), float(wide.max())
    return np.rint((wide - low) * (255 / ((high - low) or 1.0))).astype(np.uint8)
