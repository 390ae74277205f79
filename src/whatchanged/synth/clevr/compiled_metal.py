"""Shade metal objects; compiled, one point at a time: brushed and mirrored surroundings, highlights of lamps.

T, `lamps`, `surround`, `base` and own as in `compiled_light`. Radiances are rgb.
"""

import math

from whatchanged.synth.clevr.compiled_light import diffuse, open_ground, shadow
from whatchanged.synth.clevr.compiled_solids import FAR, Array, Vector, enter, normal
from whatchanged.synth.clevr.compiling import machine_code
from whatchanged.synth.clevr.light import BACKWARD


@machine_code
def strokes(
    T: Array, own: int, x: float, y: float, nx: float, ny: float, nz: float
) -> tuple[float, float, float, float, float, float]:
    """Return the frame of the brush strokes at a point: unit vectors around the object's vertical axis and
    along the meridian.
    """
    tx, ty, tz = T[own, 3] - y, x - T[own, 2], 0.0
    dot = tx * nx + ty * ny
    tx, ty, tz = tx - dot * nx, ty - dot * ny, -dot * nz
    size = math.sqrt(tx * tx + ty * ty + tz * tz)
    if size < 1e-6:
        tx, ty, tz, size = 1.0, 0.0, 0.0, 1.0
    tx, ty, tz = tx / size, ty / size, tz / size
    return tx, ty, tz, ny * tz - nz * ty, nz * tx - nx * tz, nx * ty - ny * tx


@machine_code
def glints(
    T: Array,
    lamps: Array,
    surround: Array,
    own: int,
    x: float,
    y: float,
    z: float,
    nx: float,
    ny: float,
    nz: float,
    vx: float,
    vy: float,
    vz: float,
    phase: int,
) -> Vector:
    """Return the reflection of lamps on metal, rgb before its colour: both GGX lobes, widened by the lamp's
    apparent size.

    L = D(h) / (4 cos_v) * min(1, 5 cos_l) * E with E the lamp's irradiance of a surface that faces it, the
    angles those between the surface's normal and the eye (cos_v at least 0.05) or the lamp (cos_l), and D(h)
    = 1 / (pi a_t a_b (h_t^2 / a_t^2 + h_b^2 / a_b^2 + h_n^2)^2). v: unit, towards the eye.
    """
    r = g = b = 0.0
    cv = max(nx * vx + ny * vy + nz * vz, 0.05)
    tx, ty, tz, bx, by, bz = strokes(T, own, x, y, nx, ny, nz)
    for k in range(4):
        lx, ly, lz = lamps[k, 0] - x, lamps[k, 1] - y, lamps[k, 2] - z
        d = math.sqrt(lx * lx + ly * ly + lz * lz)
        lx, ly, lz = lx / d, ly / d, lz / d
        cl = nx * lx + ny * ly + nz * lz
        if cl <= 0.0:
            continue
        hx, hy, hz = lx + vx, ly + vy, lz + vz
        h = 1.0 / (hx * hx + hy * hy + hz * hz)
        hn, ht, hb = nx * hx + ny * hy + nz * hz, tx * hx + ty * hy + tz * hz, bx * hx + by * hy + bz * hz
        hn, ht, hb = hn * hn * h, ht * ht * h, hb * hb * h
        wide = 0.2 * lamps[k, 12] / d
        am = surround[4] * surround[4] + wide * wide
        at, ab = surround[5] * surround[5] + wide * wide, surround[6] * surround[6] + wide * wide
        low = (ht + hb) / am + hn
        peak = surround[7] / (math.pi * am * low * low)
        low = ht / at + hb / ab + hn
        peak += (1.0 - surround[7]) / (math.pi * math.sqrt(at * ab) * low * low)
        e = peak / (4.0 * cv) * min(1.0, 5.0 * cl)
        if k < 3:
            place = math.sqrt(lamps[k, 0] ** 2 + lamps[k, 1] ** 2 + lamps[k, 2] ** 2)
            e *= max((lx * lamps[k, 0] + ly * lamps[k, 1] + lz * lamps[k, 2]) / place, 0.0) / (d * d)
        if e * lamps[k, 10] < 1e-3:
            continue
        e *= shadow(T, lamps, k, own, x, y, z, nx, ny, nz, phase, False)
        r += e * lamps[k, 9]
        g += e * lamps[k, 10]
        b += e * lamps[k, 11]
    return r, g, b


@machine_code
def above(surround: Array, dx: float, dy: float, dz: float) -> float:
    """Return the radiance above the horizon: the sky, and low in the back the far end of the floor, which
    curves up.
    """
    facing = dx * BACKWARD[0] + dy * BACKWARD[1]
    if facing <= 0.0 or dz >= surround[9] * facing:
        return float(surround[3])
    rise = 1.0 - max(dz, 0.0) / (surround[9] * facing)
    return float(surround[3] + surround[8] * min(1.0, 3.0 * rise))


@machine_code
def mirrored(
    T: Array,
    lamps: Array,
    surround: Array,
    base: Array,
    own: int,
    x: float,
    y: float,
    z: float,
    dx: float,
    dy: float,
    dz: float,
    phase: int,
    unseen: Array,
) -> Vector:
    """Return the radiance along a ray that leaves object `own`: another object, the ground or the sky."""
    best, which = FAR, -1
    for j in range(T.shape[0]):
        if j != own:
            t = enter(T, j, x, y, z, dx, dy, dz, False)
            if t < best:
                best, which = t, j
    if dz < -1e-4 and -z / dz < best:
        t = -z / dz
        return diffuse(
            T, lamps, surround, base, -1, x + t * dx, y + t * dy, 0.0, 0.0, 0.0, 1.0, phase, False, unseen
        )
    if which < 0:
        s = above(surround, dx, dy, dz)
        return s, s, s
    x, y, z = x + best * dx, y + best * dy, z + best * dz
    nx, ny, nz = normal(T, which, x, y, z)
    if T[which, 10] == 0.0:
        return diffuse(T, lamps, surround, base, which, x, y, z, nx, ny, nz, phase, False, unseen)
    c = 2.0 * (dx * nx + dy * ny + dz * nz)
    ex, ey, ez = dx - c * nx, dy - c * ny, dz - c * nz
    r, g, b = glints(T, lamps, surround, which, x, y, z, nx, ny, nz, -dx, -dy, -dz, phase)
    if ez < -1e-4:
        t = -z / ez
        er, eg, eb = open_ground(lamps, surround[3], x + t * ex, y + t * ey)
        q = 1.0 / math.pi
        r, g, b = r + q * surround[0] * er, g + q * surround[1] * eg, b + q * surround[2] * eb
    else:
        s = above(surround, ex, ey, ez)
        r, g, b = r + s, g + s, b + s
    # a reflected highlight is limited to white: one ray through a bevel would leave a lone bright dot
    return min(r, 1.0) * T[which, 7], min(g, 1.0) * T[which, 8], min(b, 1.0) * T[which, 9]


@machine_code
def brushed(
    T: Array,
    surround: Array,
    base: Array,
    own: int,
    x: float,
    y: float,
    z: float,
    dx: float,
    dy: float,
    dz: float,
) -> Vector:
    """Return the reflection by the brushed part around the mirrored direction d: ground, sky, and objects as
    balls.

    A slope s along the meridian lowers the mirrored ray by 2 atan(s), and GGX's slopes have the distribution
    function (1 + s / sqrt(a^2 + s^2)) / 2; so with t = tan(elevation / 2) the share (1 - t / sqrt(a^2 + t^2))
    / 2 meets the ground. Lamps are left out.
    """
    t = dz / (1.0 + math.sqrt(max(1.0 - dz * dz, 0.0)))
    low = 0.5 - 0.5 * t / math.sqrt(surround[6] * surround[6] + t * t)
    q = low / math.pi
    s = (1.0 - low) * above(surround, dx, dy, dz)
    r, g, b = s + q * base[own, 0], s + q * base[own, 1], s + q * base[own, 2]
    w = surround[5] + surround[6]
    for j in range(T.shape[0]):
        if j == own:
            continue
        cx, cy, cz = T[j, 2] - x, T[j, 3] - y, T[j, 4] - z
        d = math.sqrt(cx * cx + cy * cy + cz * cz)
        ratio = min(T[j, 1] * (1.0 if T[j, 0] == 1.0 else 1.15) / d, 1.0)
        away = 1.0 - (cx * dx + cy * dy + cz * dz) / d
        edge = 0.5 * (ratio + w) * (ratio + w)
        if away < edge:
            f = min(1.0, ratio * ratio / (w * w)) * (1.0 - away / edge)
            r += f * (base[j, 3] / math.pi - r)
            g += f * (base[j, 4] / math.pi - g)
            b += f * (base[j, 5] / math.pi - b)
    return r, g, b


@machine_code
def metal(
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
    dx: float,
    dy: float,
    dz: float,
    sample: int,
    phase: int,
    unseen: Array,
) -> Vector:
    """Return the outgoing radiance of metal: lamps and brushed part in closed form, the mirror part by one
    ray.

    The four samples of a pixel tilt the normal by the mirror part's width, each to its own side.
    """
    tx, ty, tz, bx, by, bz = strokes(T, own, x, y, nx, ny, nz)
    p = surround[4] * (0.7 if sample & 1 else -0.7)
    q = surround[4] * (0.7 if sample & 2 else -0.7)
    mx, my, mz = nx + p * tx + q * bx, ny + p * ty + q * by, nz + p * tz + q * bz
    c = 2.0 * (dx * mx + dy * my + dz * mz) / (mx * mx + my * my + mz * mz)
    ex, ey, ez = dx - c * mx, dy - c * my, dz - c * mz
    r, g, b = mirrored(T, lamps, surround, base, own, x, y, z, ex, ey, ez, phase, unseen)
    c = 2.0 * (dx * nx + dy * ny + dz * nz)
    wr, wg, wb = brushed(T, surround, base, own, x, y, z, dx - c * nx, dy - c * ny, dz - c * nz)
    gr, gg, gb = glints(T, lamps, surround, own, x, y, z, nx, ny, nz, -dx, -dy, -dz, phase)
    w = 1.0 - surround[7]
    return (
        (surround[7] * r + w * wr + gr) * T[own, 7],
        (surround[7] * g + w * wg + gg) * T[own, 8],
        (surround[7] * b + w * wb + gb) * T[own, 9],
    )
