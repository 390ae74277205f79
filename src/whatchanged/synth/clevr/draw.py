"""Render scenes to finished pictures, with sRGB encoding and effects."""

import io
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from whatchanged.synth.clevr.light import PLAIN, Packed, PictureLook, pack
from whatchanged.worlds.clevr.scene import Scene

Pixels = NDArray[np.uint8]
Floats = NDArray[np.float32]


def render(
    scenes: Sequence[Scene],
    width: int,
    height: int,
    looks: Sequence[PictureLook] | None = None,
) -> Pixels:
    """Render scenes to pictures (S, H, W, 3) uint8.

    looks: one for each scene; without them every picture gets Blender's look, `PLAIN`. A picture depends only
    on its scene and its look, not on the other scenes of the call. Compiled code draws it on one core.
    """
    from whatchanged.synth.clevr.compiled import draw_compiled  # Numba, which only drawing needs

    looks = [PLAIN] * len(scenes) if looks is None else looks
    packed = [pack(scene, look) for scene, look in zip(scenes, looks, strict=True)]
    pictures = np.empty((len(scenes), height, width, 3), np.uint8)
    for i, light in enumerate(draw_compiled(packed, width, height)):
        pictures[i] = apply_look(encode(light) * 255, looks[i], generator(packed[i], looks[i]))
    return pictures


def encode(light: Floats) -> Floats:
    """Return linear light as sRGB values in 0..1: 12.92 v below 0.0031308, else 1.055 v^(1/2.4) - 0.055;
    clipped.
    """
    v = np.clip(light, 0, 1, dtype=np.float32)
    bright = np.float32(1.055) * v ** np.float32(1 / 2.4) - np.float32(0.055)
    encoded: Floats = np.where(v <= 0.0031308, np.float32(12.92) * v, bright)
    return encoded


def generator(packed: Packed, look: PictureLook) -> np.random.Generator:
    """Return the random generator for one picture's grain; it depends only on the scene and the look's
    seed.
    """
    numbers = np.concatenate([packed.objects.ravel(), packed.camera.ravel()])
    return np.random.default_rng((look.seed, zlib.crc32(np.round(numbers, 6).tobytes())))


def apply_look(picture: NDArray[np.generic], look: PictureLook, rng: np.random.Generator) -> Pixels:
    """Apply a look's effects to a drawn picture: (H, W, 3) values in 0..255 to uint8.

    Saturation, gain and contrast first, then blur, then grain (a share common to the three channels and 0.3
    of it for each channel alone), then JPEG. The look's light is part of the rendering, and is not applied
    here.
    """
    v = np.asarray(picture, np.float32)
    if look.saturation != 1:
        gray = v @ np.array([0.2126, 0.7152, 0.0722], np.float32)
        v = gray[..., None] + np.float32(look.saturation) * (v - gray[..., None])
    if look.exposure != 1 or look.gamma != 1:
        v = 255 * (np.clip(v * np.float32(look.exposure), 0, None) / 255) ** np.float32(look.gamma)
    if look.blur > 0:
        v = _blurred(v, look.blur)
    if look.noise > 0:
        v = v + np.float32(look.noise) * rng.standard_normal((*v.shape[:2], 1), np.float32)
        v += np.float32(0.3 * look.noise) * rng.standard_normal(v.shape, np.float32)
    out = np.clip(v + 0.5, 0, 255).astype(np.uint8)
    return out if look.jpeg is None else _jpeg(out, look.jpeg)


def _blurred(v: Floats, sigma: float) -> Floats:
    """Return the picture after a separable Gaussian blur with repeated edges."""
    reach = max(1, int(np.ceil(2.5 * sigma)))
    taps = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2).astype(np.float32)
    taps /= taps.sum()
    for axis in (0, 1):
        size = v.shape[axis]
        pad = [(reach, reach) if a == axis else (0, 0) for a in range(v.ndim)]
        wide = np.pad(v, pad, mode="edge")
        v = sum(
            (tap * np.take(wide, range(k, k + size), axis) for k, tap in enumerate(taps)), np.zeros_like(v)
        )
    return v


def _jpeg(picture: Pixels, quality: int) -> Pixels:
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "JPEG", quality=quality)
    return np.asarray(Image.open(buffer).convert("RGB"))
