"""The renderer to be read: the formulas of the compiled one, in tensors, far slower on a core."""

from collections.abc import Sequence

import numpy as np

from support.tensor_renderer.renderer import draw_tensor
from whatchanged.synth.clevr.draw import Pixels, apply_look, encode, generator
from whatchanged.synth.clevr.light import PLAIN, PictureLook, pack
from whatchanged.worlds.clevr.scene import Scene


def render_tensor(
    scenes: Sequence[Scene],
    width: int,
    height: int,
    looks: Sequence[PictureLook] | None = None,
    device: str = "cpu",
) -> Pixels:
    """What ``synth.clevr.render`` draws, (S, H, W, 3), on any device of torch."""
    looks = [PLAIN] * len(scenes) if looks is None else looks
    packed = [pack(scene, look) for scene, look in zip(scenes, looks, strict=True)]
    drawn = zip(draw_tensor(packed, width, height, device), packed, looks, strict=True)
    return np.stack(
        [apply_look(encode(light) * 255, look, generator(one, look)) for light, one, look in drawn]
    )
