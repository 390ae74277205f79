"""File noise: compress or reduce a picture so that nobody can see a difference."""

import io
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from whatchanged.synth.screens.words import Rng

Pixels = NDArray[np.uint8]


def levels(rng: Rng, pixels: Pixels) -> tuple[str, Pixels]:
    """Add one or two grey levels of random noise to each pixel."""
    spread = int(rng.integers(1, 3))
    noisy = pixels.astype(np.int16) + rng.integers(-spread, spread + 1, pixels.shape)
    return f"levels {spread}", np.clip(noisy, 0, 255).astype(np.uint8)


def palette(rng: Rng, pixels: Pixels) -> tuple[str, Pixels]:
    """Reduce to 256 colours."""
    reduced = Image.fromarray(pixels).quantize(256, dither=Image.Dither.NONE).convert("RGB")
    return "palette", np.asarray(reduced)


def dithering(rng: Rng, pixels: Pixels) -> tuple[str, Pixels]:
    """Reduce to 64 levels in each channel with ordered dithering, like screens of 18 bits."""
    pattern = np.array([[0, 2], [3, 1]]) - 1.5
    height, width = pixels.shape[:2]
    tiled = np.tile(pattern, (height // 2 + 1, width // 2 + 1))[:height, :width, None]
    stepped = np.round((pixels + tiled) / 4) * 4
    return "dithering", np.clip(stepped, 0, 255).astype(np.uint8)


def jpeg(rng: Rng, pixels: Pixels) -> tuple[str, Pixels]:
    """Compress as JPEG of high quality."""
    return _compressed(pixels, "JPEG", int(rng.integers(92, 99)))


def webp(rng: Rng, pixels: Pixels) -> tuple[str, Pixels]:
    """Compress as WebP of high quality."""
    return _compressed(pixels, "WEBP", int(rng.integers(92, 99)))


def _compressed(pixels: Pixels, form: str, quality: int) -> tuple[str, Pixels]:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, form, quality=quality)
    return f"{form.lower()} {quality}", np.asarray(Image.open(buffer).convert("RGB"))


RECODINGS: Mapping[str, Callable[[Rng, Pixels], tuple[str, Pixels]]] = {
    "levels": levels,
    "palette": palette,
    "dithering": dithering,
    "jpeg": jpeg,
    "webp": webp,
}
"""Functions that each return a description of the step, and the picture."""


def recode(rng: Rng, pixels: Pixels) -> tuple[str, Pixels]:
    """Return the picture after one random step."""
    name = list(RECODINGS)[int(rng.integers(len(RECODINGS)))]
    return RECODINGS[name](rng, pixels)


def png(pixels: Pixels) -> bytes:
    """Return the picture as a PNG file."""
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG", compress_level=3)
    return buffer.getvalue()
