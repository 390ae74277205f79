"""The renderer on the CPU: a compiled loop over the pixels of a picture.

Rays through four sample points of every pixel find the visible objects. A pixel whose four samples hit one
smooth patch of one matte surface is shaded once; all others are shaded four times. A soft shadow uses nine
rays to a lamp. The rays are shifted from pixel to pixel in a 2x2 pattern, so a small tent filter over the
same surface averages thirty-six of them.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from whatchanged.synth.clevr.compiled_light import diffuse, shadow, surroundings
from whatchanged.synth.clevr.compiled_metal import metal
from whatchanged.synth.clevr.compiled_solids import FAR, Array, Vector, enter, floor, normal
from whatchanged.synth.clevr.compiling import machine_code
from whatchanged.synth.clevr.light import Linear, Packed, softness
from whatchanged.worlds.clevr.scene import FOCAL_OVER_SENSOR

SUBX = (-0.125, 0.375, -0.375, 0.125)
SUBY = (-0.375, -0.125, 0.125, 0.375)
"""The offsets of the four sample points of a pixel from its centre."""


@machine_code
def seen_at(camera: Array, width: int, height: int, px: float, py: float) -> Vector:
    """Return the unit direction of the ray through picture point (px, py)."""
    focal = FOCAL_OVER_SENSOR * width
    u, v = (px - 0.5 * width) / focal, (0.5 * height - py) / focal
    dx = u * camera[1, 0] + v * camera[2, 0] - camera[3, 0]
    dy = u * camera[1, 1] + v * camera[2, 1] - camera[3, 1]
    dz = u * camera[1, 2] + v * camera[2, 2] - camera[3, 2]
    d = 1.0 / math.sqrt(dx * dx + dy * dy + dz * dz)
    return dx * d, dy * d, dz * d


@machine_code
def first_hits(T: Array, camera: Array, width: int, height: int) -> tuple[Array, Array]:
    """Return the nearest object (or -1) and its distance at the four sample points of every pixel: (H, W, 4)
    each.
    """
    which = np.full((height, width, 4), -1, np.int8)
    far = np.full((height, width, 4), FAR)
    focal = FOCAL_OVER_SENSOR * width
    for i in range(T.shape[0]):
        shape = T[i, 0]
        ball = T[i, 1] * (1.7321 if shape == 0.0 else (1.0 if shape == 1.0 else 1.4143))
        px, py, pz = T[i, 2] - camera[0, 0], T[i, 3] - camera[0, 1], T[i, 4] - camera[0, 2]
        depth = -(px * camera[3, 0] + py * camera[3, 1] + pz * camera[3, 2])
        if depth <= ball:
            continue
        u = 0.5 * width + focal * (px * camera[1, 0] + py * camera[1, 1] + pz * camera[1, 2]) / depth
        v = 0.5 * height - focal * (px * camera[2, 0] + py * camera[2, 1] + pz * camera[2, 2]) / depth
        reach = focal * ball / (depth - ball) + 1.0
        for y in range(max(0, int(v - reach)), min(height, int(v + reach) + 2)):
            for x in range(max(0, int(u - reach)), min(width, int(u + reach) + 2)):
                for s in range(4):
                    dx, dy, dz = seen_at(camera, width, height, x + 0.5 + SUBX[s], y + 0.5 + SUBY[s])
                    t = enter(T, i, camera[0, 0], camera[0, 1], camera[0, 2], dx, dy, dz, True)
                    if t < far[y, x, s]:
                        far[y, x, s] = t
                        which[y, x, s] = i
    return which, far


@machine_code
def classify(T: Array, camera: Array, which: Array, far: Array) -> Array:
    """Return which pixels need four shades (H, W): 1 where objects meet, metal is visible or a normal bends;
    else 0.
    """
    height, width, _ = which.shape
    mixed = np.zeros((height, width), np.uint8)
    for y in range(height):
        for x in range(width):
            i = which[y, x, 0]
            edge = which[y, x, 1] != i or which[y, x, 2] != i or which[y, x, 3] != i
            if edge or (i >= 0 and T[i, 10] > 0.0):
                mixed[y, x] = 1
            elif i >= 0 and T[i, 0] != 1.0:
                ax = ay = az = 0.0
                for s in range(4):
                    dx, dy, dz = seen_at(camera, width, height, x + 0.5 + SUBX[s], y + 0.5 + SUBY[s])
                    t = far[y, x, s]
                    nx, ny, nz = normal(
                        T, i, camera[0, 0] + t * dx, camera[0, 1] + t * dy, camera[0, 2] + t * dz
                    )
                    if s == 0:
                        ax, ay, az = nx, ny, nz
                    elif ax * nx + ay * ny + az * nz < 0.99:
                        mixed[y, x] = 1
    return mixed


@machine_code
def lit(T: Array, camera: Array, lamps: Array, rise: float, which: Array, far: Array, mixed: Array) -> Array:
    """Return the visible fractions of the lamps at every smooth pixel's centre, filtered over the same
    object: (H, W, 4).
    """
    height, width = mixed.shape
    raw = np.full((height, width, 4), -1.0)
    for y in range(height):
        for x in range(width):
            if mixed[y, x]:
                continue
            px, py, pz, nx, ny, nz = surface(T, camera, rise, width, height, x, y, which[y, x, 0], far[y, x])
            for k in range(4):
                phase = (x & 1) | ((y & 1) << 1)
                raw[y, x, k] = shadow(T, lamps, k, which[y, x, 0], px, py, pz, nx, ny, nz, phase, True)
    out = raw.copy()
    for y in range(height):
        for x in range(width):
            if mixed[y, x]:
                continue
            for k in range(4):
                total, weight = 0.0, 0.0
                for v in range(max(0, y - 1), min(height, y + 2)):
                    for u in range(max(0, x - 1), min(width, x + 2)):
                        if mixed[v, u] == 0 and which[v, u, 0] == which[y, x, 0]:
                            w = (2.0 - abs(v - y)) * (2.0 - abs(u - x))
                            total += w * raw[v, u, k]
                            weight += w
                out[y, x, k] = total / weight
    return out


@machine_code
def surface(
    T: Array, camera: Array, rise: float, width: int, height: int, x: int, y: int, i: int, far: Array
) -> tuple[float, float, float, float, float, float]:
    """Return point and normal at a smooth pixel's centre; an object's distance is the mean of the
    samples'.
    """
    dx, dy, dz = seen_at(camera, width, height, x + 0.5, y + 0.5)
    if i < 0:
        return floor(camera[0, 0], camera[0, 1], camera[0, 2], dx, dy, dz, rise)
    t = 0.25 * (far[0] + far[1] + far[2] + far[3])
    px, py, pz = camera[0, 0] + t * dx, camera[0, 1] + t * dy, camera[0, 2] + t * dz
    nx, ny, nz = normal(T, i, px, py, pz)
    return px, py, pz, nx, ny, nz


@machine_code
def draw(T: Array, camera: Array, lamps: Array, surround: Array, width: int, height: int) -> Array:
    """Return one picture as linear light: (H, W, 3) float32, not clipped."""
    which, far = first_hits(T, camera, width, height)
    mixed = classify(T, camera, which, far)
    rise = surround[10]
    shares = lit(T, camera, lamps, rise, which, far, mixed)
    base = surroundings(T, lamps, surround)
    unseen = np.full(4, -1.0)
    out = np.zeros((height, width, 3), np.float32)
    ox, oy, oz = camera[0, 0], camera[0, 1], camera[0, 2]
    for y in range(height):
        for x in range(width):
            phase = (x & 1) | ((y & 1) << 1)
            if mixed[y, x] == 0:
                i = which[y, x, 0]
                px, py, pz, nx, ny, nz = surface(T, camera, rise, width, height, x, y, i, far[y, x])
                r, g, b = diffuse(
                    T, lamps, surround, base, i, px, py, pz, nx, ny, nz, phase, True, shares[y, x]
                )
                out[y, x, 0], out[y, x, 1], out[y, x, 2] = r, g, b
                continue
            for s in range(4):
                i = which[y, x, s]
                dx, dy, dz = seen_at(camera, width, height, x + 0.5 + SUBX[s], y + 0.5 + SUBY[s])
                if i >= 0:
                    t = far[y, x, s]
                    px, py, pz = ox + t * dx, oy + t * dy, oz + t * dz
                    nx, ny, nz = normal(T, i, px, py, pz)
                else:
                    px, py, pz, nx, ny, nz = floor(ox, oy, oz, dx, dy, dz, rise)
                if i >= 0 and T[i, 10] > 0.0:
                    r, g, b = metal(
                        T, lamps, surround, base, i, px, py, pz, nx, ny, nz, dx, dy, dz, s, s ^ phase, unseen
                    )
                else:
                    r, g, b = diffuse(
                        T, lamps, surround, base, i, px, py, pz, nx, ny, nz, s ^ phase, True, unseen
                    )
                # held near white, or one sample in a highlight would keep its rim jagged
                out[y, x, 0] += 0.25 * min(r, 1.2)
                out[y, x, 1] += 0.25 * min(g, 1.2)
                out[y, x, 2] += 0.25 * min(b, 1.2)
    return out


@machine_code
def soften(linear: Array, k: float) -> Array:
    """Apply a tent filter k, 1 - 2k, k in both directions, edges repeated: Blender's wide pixel filter."""
    height, width, _ = linear.shape
    out = np.empty_like(linear)
    for y in range(height):
        up, down = max(y - 1, 0), min(y + 1, height - 1)
        for x in range(width):
            left, right = max(x - 1, 0), min(x + 1, width - 1)
            for c in range(3):
                a = k * (linear[up, left, c] + linear[up, right, c]) + (1.0 - 2.0 * k) * linear[up, x, c]
                b = k * (linear[y, left, c] + linear[y, right, c]) + (1.0 - 2.0 * k) * linear[y, x, c]
                d = (
                    k * (linear[down, left, c] + linear[down, right, c])
                    + (1.0 - 2.0 * k) * linear[down, x, c]
                )
                out[y, x, c] = k * (a + d) + (1.0 - 2.0 * k) * b
    return out


def draw_compiled(packed: Sequence[Packed], width: int, height: int) -> Iterator[Linear]:
    """Return packed scenes as linear light, one (H, W, 3) array after the other."""
    for p in packed:
        linear = draw(p.objects, p.camera, p.lamps, p.surround, width, height)
        yield soften(linear, softness(width))
