"""Intersect rays with spheres, upright cylinders, cubes and the floor; compiled, one ray at a time.

Throughout the renderer, T is the table of objects (n, 12) with the columns of `light.Packed`, and i is a row
of it.
"""

import math
from typing import Any

from numpy.typing import NDArray

from whatchanged.synth.clevr.compiling import machine_code
from whatchanged.synth.clevr.light import BACKWARD, FLOOR

Array = NDArray[Any]
Vector = tuple[float, float, float]

FAR = 1e9


@machine_code
def to_local(T: Array, i: int, px: float, py: float, pz: float) -> Vector:
    """Return a world vector in the frame of object i (turned about z only)."""
    c, s = T[i, 5], T[i, 6]
    return c * px + s * py, c * py - s * px, pz


@machine_code
def march(
    T: Array, i: int, t: float, end: float, x: float, y: float, z: float, dx: float, dy: float, dz: float
) -> float:
    """Trace a ray by sphere tracing from t to the rounded solid, in object i's frame; FAR where the ray
    misses the edge.

    The distance to a solid of half side r with edges of radius e is |max(q, 0)| + min(max(q), 0) - e, where q
    = |p| - (r - e); a cylinder's is the same in the plane of its axis, with its radius for x.
    """
    r, e = T[i, 1], T[i, 11]
    inner = r - e
    d = FAR
    for _ in range(16):
        hx, hy = x + t * dx, y + t * dy
        qx, qy, qz = abs(hx) - inner, abs(hy) - inner, abs(z + t * dz) - inner
        if T[i, 0] == 2.0:
            qx, qy = math.sqrt(hx * hx + hy * hy) - inner, -1.0
        ux, uy, uz = max(qx, 0.0), max(qy, 0.0), max(qz, 0.0)
        d = math.sqrt(ux * ux + uy * uy + uz * uz) + min(max(qx, max(qy, qz)), 0.0) - e
        if d < 2e-3 * r:
            return t
        t += d
        if t > end:
            return FAR
    return t if d < 2e-2 * r else FAR  # a grazing ray may creep along the edge: near enough, or past


@machine_code
def enter(
    T: Array, i: int, ox: float, oy: float, oz: float, dx: float, dy: float, dz: float, rounded: bool
) -> float:
    """Return the distance along a unit ray to object i, or FAR. `rounded`: with its bevel, else with sharp
    edges.
    """
    r = T[i, 1]
    px, py, pz = ox - T[i, 2], oy - T[i, 3], oz - T[i, 4]
    b = px * dx + py * dy + pz * dz
    c = px * px + py * py + pz * pz
    shape = T[i, 0]
    if shape == 1.0:
        disc = b * b - c + r * r
        if disc <= 0.0:
            return FAR
        t = -b - math.sqrt(disc)
        return t if t > 1e-4 else FAR
    bound = 3.0 * r * r if shape == 0.0 else 2.0 * r * r
    if b * b - c + bound <= 0.0:
        return FAR
    tz0, tz1 = -FAR, FAR
    if abs(dz) > 1e-9:
        near, away = (-r - pz) / dz, (r - pz) / dz
        tz0, tz1 = min(near, away), max(near, away)
    elif abs(pz) > r:
        return FAR
    if shape == 0.0:
        lx, ly, _ = to_local(T, i, px, py, pz)
        mx, my, _ = to_local(T, i, dx, dy, dz)
        if abs(mx) < 1e-9:
            mx = 1e-9
        if abs(my) < 1e-9:
            my = 1e-9
        near, away = (-r - lx) / mx, (r - lx) / mx
        t0, t1 = max(tz0, min(near, away)), min(tz1, max(near, away))
        near, away = (-r - ly) / my, (r - ly) / my
        t0, t1 = max(t0, min(near, away)), min(t1, max(near, away))
    else:
        lx, ly, mx, my = px, py, dx, dy
        a = max(dx * dx + dy * dy, 1e-12)
        bb = px * dx + py * dy
        disc = bb * bb - a * (px * px + py * py - r * r)
        if disc <= 0.0:
            return FAR
        root = math.sqrt(disc)
        t0, t1 = max(tz0, (-bb - root) / a), min(tz1, (-bb + root) / a)
    if t0 >= t1 or t1 < 1e-4:
        return FAR
    if not rounded:
        if t0 >= 1e-4:
            return float(t0)
        # from inside, as from the ground below a rounded edge: only a ray that leads inwards is stopped
        return 1e-4 if t1 > 2.0 * T[i, 11] else FAR
    if t0 < 1e-4:
        return FAR
    return march(T, i, t0, t1, lx, ly, pz, mx, my, dz)


@machine_code
def normal(T: Array, i: int, x: float, y: float, z: float) -> Vector:
    """Return the unit normal of object i at a point of its surface, bent over the bevel."""
    px, py, pz = x - T[i, 2], y - T[i, 3], z - T[i, 4]
    if T[i, 0] == 1.0:
        r = T[i, 1]
        return px / r, py / r, pz / r
    inner = T[i, 1] - T[i, 11]
    if T[i, 0] == 0.0:
        lx, ly, _ = to_local(T, i, px, py, pz)
        ux = math.copysign(max(abs(lx) - inner, 0.0), lx)
        uy = math.copysign(max(abs(ly) - inner, 0.0), ly)
        c, s = T[i, 5], T[i, 6]
        nx, ny = c * ux - s * uy, s * ux + c * uy
    else:
        rho = math.sqrt(px * px + py * py) + 1e-12
        u = max(rho - inner, 0.0) / rho
        nx, ny = u * px, u * py
    nz = math.copysign(max(abs(pz) - inner, 0.0), pz)
    n = math.sqrt(nx * nx + ny * ny + nz * nz)
    if n < 1e-9:
        return 0.0, 0.0, 1.0
    return nx / n, ny / n, nz / n


@machine_code
def reaches(
    T: Array, i: int, x: float, y: float, z: float, lx: float, ly: float, lz: float, spread: float
) -> bool:
    """Return whether the segment from a point to a lamp's disc can touch the ball around object i."""
    shape = T[i, 0]
    ball = T[i, 1] * (1.7321 if shape == 0.0 else (1.0 if shape == 1.0 else 1.4143))
    dx, dy, dz = lx - x, ly - y, lz - z
    cx, cy, cz = T[i, 2] - x, T[i, 3] - y, T[i, 4] - z
    dd = dx * dx + dy * dy + dz * dz
    s = (cx * dx + cy * dy + cz * dz) / dd
    if s < 0.0 or s > 1.0:
        s = min(max(s, 0.0), 1.0)
    ex, ey, ez = cx - s * dx, cy - s * dy, cz - s * dz
    limit = ball + spread * s
    return bool(ex * ex + ey * ey + ez * ez < limit * limit)


@machine_code
def blocked(T: Array, i: int, x: float, y: float, z: float, qx: float, qy: float, qz: float) -> bool:
    """Return whether sharp-edged object i is between a point and a point of a lamp."""
    dx, dy, dz = qx - x, qy - y, qz - z
    d = math.sqrt(dx * dx + dy * dy + dz * dz)
    return enter(T, i, x, y, z, dx / d, dy / d, dz / d, False) < d


@machine_code
def floor(
    x: float, y: float, z: float, dx: float, dy: float, dz: float, rise: float
) -> tuple[float, float, float, float, float, float]:
    """Return the point where a ray from above meets the floor, and the floor's normal there.

    At s units along `BACKWARD` its height is rise ((e^u - 1) / rate - (s - start)), u = rate (s - start),
    from start on. It is convex and the ray straight: Newton's steps from beyond go down to the meeting.
    """
    flat = -z / min(dz, -1e-4)
    along, here = dx * BACKWARD[0] + dy * BACKWARD[1], x * BACKWARD[0] + y * BACKWARD[1]
    start, rate = FLOOR[0], FLOOR[2]
    if along < 1e-3 or here + flat * along <= start:
        return x + flat * dx, y + flat * dy, 0.0, 0.0, 0.0, 1.0
    tilt = dz / along
    s = min(
        here + flat * along, start + 8.0 / rate
    )  # beyond: the ray is under the flat floor, or under a wall
    slope = step = 1.0
    for _ in range(12):
        slope = rise * (math.exp(rate * (s - start)) - 1.0)
        step = (slope / rate - rise * (s - start) - z - (s - here) * tilt) / (slope - tilt)
        s -= step
        if step < 1e-3:
            break
    slope = rise * (math.exp(rate * (s - start)) - 1.0)
    t, n = (s - here) / along, 1.0 / math.sqrt(1.0 + slope * slope)
    return x + t * dx, y + t * dy, z + t * dz, -slope * BACKWARD[0] * n, -slope * BACKWARD[1] * n, n
