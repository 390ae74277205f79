"""Lossy steps that alter a picture and that nobody sees."""

import io
from collections.abc import Callable

import numpy as np
from PIL import Image

from whatchanged.worlds.screens.drawing.choices import Rng
from whatchanged.worlds.screens.drawing.edits import Pixels


def recode(rng: Rng, pixels: Pixels) -> tuple[str, Pixels]:
    """The same picture after a lossy step that nobody sees, and the step's name."""
    ways: tuple[Callable[[Rng, Pixels], tuple[str, Pixels]], ...] = (_jpeg, _jpeg, _levels, _palette)
    return ways[int(rng.integers(len(ways)))](rng, pixels)


def _jpeg(rng: Rng, pixels: Pixels) -> tuple[str, Pixels]:
    quality = int(rng.integers(90, 99))
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=quality, subsampling=0)
    return f"jpeg {quality}", np.asarray(Image.open(buffer).convert("RGB"))


def _levels(rng: Rng, pixels: Pixels) -> tuple[str, Pixels]:
    spread = int(rng.integers(1, 3))
    noisy = pixels + rng.integers(-spread, spread + 1, pixels.shape)
    return f"grain of {spread} levels", np.clip(noisy, 0, 255).astype(np.uint8)


def _palette(rng: Rng, pixels: Pixels) -> tuple[str, Pixels]:
    few = Image.fromarray(pixels).quantize(256, dither=Image.Dither.NONE)
    return "palette of 256 colours", np.asarray(few.convert("RGB"))
