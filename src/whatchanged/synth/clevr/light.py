"""The lamps, the ground and the materials of CLEVR's scenes, and the random variations of a picture's look.

Radiometry follows Blender's Cycles. An area lamp of strength P and area A (square units) has the radiance L =
P / (4 A) in front and none behind. At distance d, a small surface receives the irradiance E = P / 4 *
cos_lamp * cos_surface / d^2. All lamps face the origin. Light is linear RGB throughout; the picture is its
sRGB encoding ('Standard' view transform), clipped at 1.

The powers, sizes, colours and positions of the lamps are those of CLEVR's base scene. The reflection of matte
and metal surfaces (`SHARE`, `ALPHA`, `MIRROR`), the ground's albedo, sun, sky, backdrop and the floor's curve
were fitted to pictures that Blender rendered from the same scenes: by eye, by mean colours and, for the
floor, by least absolute differences.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged.synth.clevr.visibility import ROUNDING
from whatchanged.worlds.clevr.scene import RGB, SHAPES, Scene, camera_axes

Array = NDArray[np.float64]
Linear = NDArray[np.float32]

LAMP_POWER = (100.0, 30.0, 50.0)
"""Power of the key, fill and back lamp, in watts."""
LAMP_SIDE = (0.5, 0.5, 1.0)
"""Edges of the three square lamps, in scene units."""
LAMP_RGB = ((1.0, 0.929, 0.816), (0.761, 0.816, 1.0), (1.0, 1.0, 1.0))
"""Their colours in linear light: #ffedd0 (warm), #c2d0ff (bluish) and white."""
SUN_FROM = (11.6608, -6.62799, 25.8232)
SUN_IRRADIANCE = 0.523
SUN_SPREAD = 0.2
"""Diameter of the sun's disc in radians."""
SKY = 0.0054
"""Radiance of the sky, grey."""
BACKDROP = (0.12, 0.8)
"""The far end of the floor as reflected by metal: its radiance and the tangent of its height."""
BACKWARD = (-0.8976, 0.4409)
"""The direction on the ground in which the floor curves up, behind the scene: a unit vector."""
FLOOR = (0.18, 0.0097, 0.343)
"""The floor, s units along `BACKWARD`: flat up to start, then of slope rise (e^(rate (s - start)) - 1).

Start, rise and rate. The floor is steep from some 12 units on: in the view of a low camera it rises, and is
brightest where it faces the sun. Its visible part shows how low the camera is.
"""
GROUND = 0.767
"""Albedo of the ground."""
SHARE = {"rubber": 0.92, "metal": 0.91}
"""The fraction of light that a material reflects, apart from its colour."""
ALPHA = (0.025, 0.12, 0.27)
"""GGX widths of the metal: of its mirror part, and of its brushed part across and along the meridians.

The brush strokes run around the object's vertical axis, so the brushed part spreads light up and down.
"""
MIRROR = 0.67
"""The weight of the mirror part."""
RIM = 0.07
"""Radius of a cylinder's rounded rims, as a fraction of its radius. For cubes see `visibility.ROUNDING`."""

COLUMNS = 12
"""Columns of a packed object: shape, radius, x, y, z, cos, sin, R, G, B, metal, bevel."""


@dataclass(frozen=True)
class PictureLook:
    """Random variations of one picture that captions must not depend on. The default is Blender's own look.

    The first five change light and floor, so they need a new rendering; the others are applied to a finished
    picture.
    """

    lamps: tuple[float, float, float] = (1.0, 1.0, 1.0)
    ambient: float = 1.0
    ground: tuple[float, float, float] = (1.0, 1.0, 1.0)
    roughness: float = 1.0
    floor: float = 1.0
    exposure: float = 1.0
    gamma: float = 1.0
    saturation: float = 1.0
    blur: float = 0.0
    noise: float = 0.5
    jpeg: int | None = None
    seed: int = 0


PLAIN = PictureLook()


@dataclass(frozen=True)
class Packed:
    """One scene as the numbers that the renderer reads, float64.

    objects: (n, 12), see `COLUMNS`. camera: (4, 3), the position and the rows right, up, backward.
    lamps: (4, 13), the key, fill and back lamp and the sun: centre (3), half-edge vectors u (3) and v (3),
    rgb of P / 4 (3; the sun's: of its irradiance), and a lamp's bounding radius.
    surround: (11,): ground albedo rgb, sky radiance, the metal's three GGX widths and its mirror share, the
    backdrop's radiance and tangent, and the rise of `FLOOR`.
    """

    objects: Array
    camera: Array
    lamps: Array
    surround: Array


def softness(width: int) -> float:
    """Return the weight of a neighbouring pixel in the pixel filter; Blender's, drawn at 480 and reduced, is
    narrower.
    """
    return min(0.12, 0.06 * width / 240)


def pack(scene: Scene, look: PictureLook = PLAIN) -> Packed:
    """Flatten a scene and the physical part of a look."""
    objects = np.zeros((len(scene.objects), COLUMNS))
    for row, item in zip(objects, scene.objects, strict=True):
        angle = math.radians(item.rotation)
        bevel = {"cube": ROUNDING, "sphere": 0.0, "cylinder": RIM}[item.shape] * item.radius
        share = SHARE[item.material]
        rgb = [share * value / 255 for value in RGB[item.color]]
        row[:] = [
            SHAPES.index(item.shape),
            item.radius,
            *item.center,
            math.cos(angle),
            math.sin(angle),
            *rgb,
            float(item.material == "metal"),
            bevel,
        ]
    camera = np.vstack([np.asarray(scene.view.camera, float), camera_axes(scene.view.camera)])
    lamps = np.zeros((4, 13))
    for i, place in enumerate(scene.view.lamps):
        lamps[i] = _lamp(place, LAMP_SIDE[i], np.asarray(LAMP_RGB[i]) * LAMP_POWER[i] * look.lamps[i] / 4)
    far = np.asarray(SUN_FROM) / math.dist(SUN_FROM, (0, 0, 0)) * 100
    lamps[3] = _lamp(far, SUN_SPREAD * 100, np.full(3, SUN_IRRADIANCE * look.ambient))
    ground = [GROUND * tone for tone in look.ground]
    metal = [alpha * look.roughness for alpha in ALPHA]
    far_end = [BACKDROP[0] * look.ambient, BACKDROP[1]]
    surround = np.array([*ground, SKY * look.ambient, *metal, MIRROR, *far_end, FLOOR[1] * look.floor])
    return Packed(objects, camera, lamps, surround)


def _lamp(position: Sequence[float] | Array, side: float, rgb: Array) -> Array:
    axes = camera_axes((float(position[0]), float(position[1]), float(position[2])))
    half = side / 2
    edges = [axes[0] * half, axes[1] * half]
    return np.concatenate([np.asarray(position, float), *edges, rgb, [half * math.sqrt(2)]])


def look_for(rng: np.random.Generator) -> PictureLook:
    """Return a random look for training; its range includes Blender's own look with a wide margin."""

    def spread(deviation: float) -> float:
        return float(np.exp(deviation * np.clip(rng.standard_normal(), -2.5, 2.5)))

    tint = [spread(0.03) for _ in range(3)]
    tone = spread(0.1)
    return PictureLook(
        lamps=(spread(0.15), spread(0.15), spread(0.15)),
        ambient=spread(0.2),
        ground=(tone * tint[0], tone * tint[1], tone * tint[2]),
        roughness=spread(0.3),
        exposure=spread(0.06),
        gamma=spread(0.06),
        saturation=spread(0.08),
        blur=float(rng.uniform(0.3, 0.9)) if rng.random() < 0.5 else 0.0,
        noise=float(rng.uniform(0.2, 1.5)),
        jpeg=int(rng.integers(60, 96)) if rng.random() < 0.15 else None,
        seed=int(rng.integers(2**31)),
        floor=spread(0.3),
    )
