"""Compute the light that leaves a point towards the camera; compiled, one point at a time.

T is the table of objects, `lamps` and `surround` are those of `light.Packed`, `base` that of `surroundings`;
own is the object that the point lies on, -1 for the ground. Radiances and irradiances are rgb.
"""

import math

import numpy as np

from whatchanged.synth.clevr.compiled_solids import Array, Vector, blocked, reaches
from whatchanged.synth.clevr.compiling import machine_code


@machine_code
def shadow(
    T: Array,
    lamps: Array,
    k: int,
    own: int,
    x: float,
    y: float,
    z: float,
    nx: float,
    ny: float,
    nz: float,
    phase: int,
    fine: bool,
) -> float:
    """Return the fraction of lamp k visible from a point, by nine rays (`fine`) or one; its own object is
    left out.
    """
    n = T.shape[0]
    lx, ly, lz = lamps[k, 0], lamps[k, 1], lamps[k, 2]
    found = False
    for i in range(n):
        if i != own and reaches(T, i, x, y, z, lx, ly, lz, lamps[k, 12]):
            found = True
            break
    if not found:
        return 1.0
    side = 3 if fine else 1
    ju, jv = 0.25 + 0.5 * (phase & 1), 0.25 + 0.5 * (phase >> 1)
    seen, total = 0.0, 1e-12
    for s in range(side * side):
        u = 2.0 * ((s % side) + ju) / side - 1.0
        v = 2.0 * ((s // side) + jv) / side - 1.0
        qx = lx + u * lamps[k, 3] + v * lamps[k, 6]
        qy = ly + u * lamps[k, 4] + v * lamps[k, 7]
        qz = lz + u * lamps[k, 5] + v * lamps[k, 8]
        w = (qx - x) * nx + (qy - y) * ny + (qz - z) * nz
        if w <= 0.0:
            continue
        total += w
        hit = False
        for i in range(n):
            if i != own and blocked(T, i, x, y, z, qx, qy, qz):
                hit = True
                break
        if not hit:
            seen += w
    return seen / total


@machine_code
def irradiance(lamps: Array, k: int, x: float, y: float, z: float, nx: float, ny: float, nz: float) -> float:
    """Return the irradiance by lamp k for a unit of its rgb: cos_lamp * cos_surface / d^2; for the sun
    cos_surface.

    At the surface's horizon, the cosine c of a lamp is smoothed within w on either side: (c + w)^2 / 4w
    replaces c.
    """
    if k == 3:
        d = 1.0 / math.sqrt(lamps[3, 0] ** 2 + lamps[3, 1] ** 2 + lamps[3, 2] ** 2)
        c = (lamps[3, 0] * nx + lamps[3, 1] * ny + lamps[3, 2] * nz) * d
        w = 0.1
        if c >= w:
            return float(c)
        return 0.0 if c <= -w else (c + w) * (c + w) / (4.0 * w)
    lx, ly, lz = lamps[k, 0], lamps[k, 1], lamps[k, 2]
    dx, dy, dz = lx - x, ly - y, lz - z
    d2 = dx * dx + dy * dy + dz * dz
    d = math.sqrt(d2)
    c = (dx * nx + dy * ny + dz * nz) / d
    w = 0.5 * lamps[k, 12] / d
    if c < w:
        if c <= -w:
            return 0.0
        c = (c + w) * (c + w) / (4.0 * w)
    facing = (lx * dx + ly * dy + lz * dz) / (math.sqrt(lx * lx + ly * ly + lz * lz) * d)
    return float(max(facing, 0.0) * c / d2)


@machine_code
def open_ground(lamps: Array, sky: float, x: float, y: float) -> Vector:
    """Return the irradiance rgb of the ground at (x, y) without any object."""
    r = g = b = math.pi * sky
    for k in range(4):
        e = irradiance(lamps, k, x, y, 0.0, 0.0, 0.0, 1.0)
        r += e * lamps[k, 9]
        g += e * lamps[k, 10]
        b += e * lamps[k, 11]
    return r, g, b


@machine_code
def indirect(
    T: Array,
    base: Array,
    surround: Array,
    own: int,
    x: float,
    y: float,
    z: float,
    nx: float,
    ny: float,
    nz: float,
) -> Vector:
    """Return the irradiance rgb from sky, ground and neighbouring objects.

    Sky and ground fill the upper and lower half-space with weights (1 + n_z)/2 and (1 - n_z)/2. A neighbour
    counts as a ball of radius R at distance d: it covers the fraction (R/d)^2 max(0, cos) of the view and
    emits its own mean radiosity.
    base: (n, 6), rgb of the ground's radiosity around each object, and rgb of each object's own radiosity.
    """
    up, down = 0.5 * (1.0 + nz), 0.5 * (1.0 - nz)
    nr = ng = nb = 0.0
    taken = 0.0
    for j in range(T.shape[0]):
        if j == own:
            continue
        cx, cy, cz = T[j, 2] - x, T[j, 3] - y, T[j, 4] - z
        d2 = cx * cx + cy * cy + cz * cz
        ball = T[j, 1] * (1.0 if T[j, 0] == 1.0 else 1.15)
        if d2 > 36.0 * ball * ball:
            continue
        d = math.sqrt(d2)
        ratio = min(ball / d, 1.0)
        c = (cx * nx + cy * ny + cz * nz) / d
        c = (c + ratio) * (c + ratio) / (4.0 * ratio) if c < ratio else c
        if c <= 0.0 or (cx * nx + cy * ny + cz * nz) / d < -ratio:
            continue
        f = ratio * ratio * c
        taken += f
        nr += f * base[j, 3]
        ng += f * base[j, 4]
        nb += f * base[j, 5]
    free = max(1.0 - taken, 0.0)
    s = math.pi * surround[3] * up
    if own < 0:
        return free * s + nr, free * s + ng, free * s + nb
    reach = 0.75 * T[own, 1]
    near = 0.65 + 0.45 * z / (z + reach)
    w = down * near
    return (
        free * (s + w * base[own, 0]) + nr,
        free * (s + w * base[own, 1]) + ng,
        free * (s + w * base[own, 2]) + nb,
    )


@machine_code
def surroundings(T: Array, lamps: Array, surround: Array) -> Array:
    """Return the table `base` of `indirect`: (n, 6)."""
    n = T.shape[0]
    base = np.zeros((n, 6))
    for i in range(n):
        r, g, b = open_ground(lamps, surround[3], T[i, 2], T[i, 3])
        base[i, 0], base[i, 1], base[i, 2] = surround[0] * r, surround[1] * g, surround[2] * b
        share = 0.5 if T[i, 10] == 0.0 else 0.6
        base[i, 3], base[i, 4], base[i, 5] = share * T[i, 7] * r, share * T[i, 8] * g, share * T[i, 9] * b
    return base


@machine_code
def diffuse(
    T: Array,
    lamps: Array,
    surround: Array,
    base: Array,
    own: int,
    x: float,
    y: float,
    z: float,
    nx: float,
    ny: float,
    nz: float,
    phase: int,
    fine: bool,
    seen: Array,
) -> Vector:
    """Return the outgoing radiance of a matte surface. seen: 4 visible fractions of the lamps, negative where
    not yet known.
    """
    r, g, b = indirect(T, base, surround, own, x, y, z, nx, ny, nz)
    for k in range(4):
        e = irradiance(lamps, k, x, y, z, nx, ny, nz)
        if e > 0.0:
            v = seen[k]
            if v < 0.0:
                v = shadow(T, lamps, k, own, x, y, z, nx, ny, nz, phase, fine)
            e *= v
            r += e * lamps[k, 9]
            g += e * lamps[k, 10]
            b += e * lamps[k, 11]
    q = 1.0 / math.pi
    if own < 0:
        return q * surround[0] * r, q * surround[1] * g, q * surround[2] * b
    return q * T[own, 7] * r, q * T[own, 8] * g, q * T[own, 9] * b
