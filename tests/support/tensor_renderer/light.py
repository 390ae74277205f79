"""How much light leaves points towards the eye, as tensors: the formulas of `compiled_light`, its names too.

b: (M,) the picture of each point; own: (M,) the object it lies on, -1 for the ground.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from support.tensor_renderer.solids import FAR, dot, enter, normals, unit
from whatchanged.synth.clevr.light import BACKWARD, COLUMNS, Array, Packed

BALL = (math.sqrt(3.0), 1.0, math.sqrt(2.0))
"""Radius of the ball around a cube, sphere and cylinder, in half sides."""


class Scenes:
    """A chunk of packed scenes on the device, padded to one number of objects (shape -1 is no object)."""

    def __init__(self, packed: Sequence[Packed], device: torch.device) -> None:
        def put(arrays: Sequence[Array]) -> Tensor:
            return torch.tensor(np.stack(arrays), dtype=torch.float32, device=device)

        self.count = max(1, *(len(p.objects) for p in packed))
        objects = np.zeros((len(packed), self.count, COLUMNS))
        objects[..., 0] = -1
        for rows, p in zip(objects, packed, strict=True):
            rows[: len(p.objects)] = p.objects
        self.objects = put(list(objects))
        self.camera = put([p.camera for p in packed])
        self.lamps = put([p.lamps for p in packed])
        self.surround = put([p.surround for p in packed])
        self.base = _surroundings(self)


def shadow(
    world: Scenes,
    b: Tensor,
    k: int,
    own: Tensor,
    point: Tensor,
    normal: Tensor,
    phase: Tensor,
    fine: bool,
) -> Tensor:
    """Share of lamp k that each point sees: (M,)."""
    side = 3 if fine else 1
    lamp = world.lamps[b, k]
    cell = torch.arange(side * side, device=b.device)
    ju, jv = 0.25 + 0.5 * (phase & 1), 0.25 + 0.5 * (phase >> 1)
    u = 2 * ((cell % side) + ju[:, None]) / side - 1
    v = 2 * (torch.div(cell, side, rounding_mode="floor") + jv[:, None]) / side - 1
    blocked = torch.zeros(len(b), side * side, dtype=torch.bool, device=b.device)
    to_centre = lamp[:, :3] - point
    length2 = dot(to_centre, to_centre)
    ball = torch.tensor(BALL, device=b.device)
    touched = torch.zeros(len(b), dtype=torch.bool, device=b.device)
    for j in range(world.count):
        item = world.objects[b, j]
        off = item[:, 2:5] - point
        s = (dot(off, to_centre) / length2).clamp(0, 1)
        limit = ball[item[:, 0].long().clamp(min=0)] * item[:, 1] + lamp[:, 12] * s
        gap = off - s[:, None] * to_centre
        near = (dot(gap, gap) < limit * limit) & (own != j) & (item[:, 0] >= 0)
        touched |= near
        i = near.nonzero(as_tuple=True)[0]
        aim = _aims(lamp[i], point[i], u[i], v[i])
        d = aim.norm(dim=-1)
        t = enter(item[i, None], point[i, None], aim / d[..., None], False)
        blocked[i] |= t < d
    seen = torch.ones(len(b), device=b.device)
    i = touched.nonzero(as_tuple=True)[0]
    weight = dot(_aims(lamp[i], point[i], u[i], v[i]), normal[i, None]).clamp(min=0)
    seen[i] = (weight * ~blocked[i]).sum(-1) / (weight.sum(-1) + 1e-12)
    return seen


def _aims(lamp: Tensor, point: Tensor, u: Tensor, v: Tensor) -> Tensor:
    """Vectors from points (M, 3) to the lamp's sample points: (M, S, 3)."""
    across = u[..., None] * lamp[:, None, 3:6] + v[..., None] * lamp[:, None, 6:9]
    return lamp[:, None, :3] + across - point[:, None]


def _irradiance(lamp: Tensor, k: int, point: Tensor, normal: Tensor) -> Tensor:
    """E / (P / 4) of lamp k, or of the sun's irradiance: (M,)."""
    to = lamp[:, :3] - (0.0 if k == 3 else point)
    d = to.norm(dim=-1)
    c = dot(to, normal) / d
    w = torch.full_like(d, 0.1) if k == 3 else 0.5 * lamp[:, 12] / d
    c = torch.where(c >= w, c, torch.where(c <= -w, 0.0, (c + w) ** 2 / (4 * w)))
    if k == 3:
        return c
    facing = (dot(unit(lamp[:, :3]), to) / d).clamp(min=0)
    share: Tensor = facing * c / (d * d)
    return share


def _open_ground(world: Scenes, b: Tensor, point: Tensor) -> Tensor:
    """Irradiance rgb of the bare ground at points: (M, 3)."""
    up = torch.tensor([0.0, 0.0, 1.0], device=b.device).expand_as(point)
    flat = point * torch.tensor([1.0, 1.0, 0.0], device=b.device)
    total = (math.pi * world.surround[b, 3])[:, None].expand(-1, 3)
    for k in range(4):
        lamp = world.lamps[b, k]
        total = total + _irradiance(lamp, k, flat, up)[:, None] * lamp[:, 9:12]
    return total


def _surroundings(world: Scenes) -> Tensor:
    """Radiosity of the ground around each object and of the object itself: (P, n, 6)."""
    pictures = len(world.objects)
    objects = world.objects.reshape(-1, COLUMNS)
    b = torch.arange(pictures, device=objects.device).repeat_interleave(world.count)
    e = _open_ground(world, b, objects[:, 2:5])
    share = torch.where(objects[:, 10:11] > 0, 0.6, 0.5)
    both = torch.cat([world.surround[b, :3] * e, share * objects[:, 7:10] * e], -1)
    return both.reshape(pictures, world.count, 6)


def _ball_radius(item: Tensor) -> Tensor:
    return item[:, 1] * torch.where(item[:, 0] == 1, 1.0, 1.15)


def _indirect(world: Scenes, b: Tensor, own: Tensor, point: Tensor, normal: Tensor) -> Tensor:
    """Irradiance rgb from sky, ground and neighbours: (M, 3)."""
    taken = torch.zeros(len(b), device=b.device)
    back = torch.zeros(len(b), 3, device=b.device)
    for j in range(world.count):
        item = world.objects[b, j]
        off = item[:, 2:5] - point
        d = off.norm(dim=-1)
        ball = _ball_radius(item)
        ratio = (ball / d).clamp(max=1)
        c = dot(off, normal) / d
        soft = torch.where(c < ratio, (c + ratio) ** 2 / (4 * ratio), c)
        use = (own != j) & (item[:, 0] >= 0) & (d * d <= 36 * ball * ball) & (c >= -ratio)
        f = torch.where(use, ratio * ratio * soft, 0.0)
        taken += f
        back += f[:, None] * world.base[b, j, 3:]
    free = (1 - taken).clamp(min=0)
    nz = normal[:, 2]
    sky = math.pi * world.surround[b, 3] * 0.5 * (1 + nz)
    item = world.objects[b, own.clamp(min=0)]
    z = point[:, 2]
    near = 0.65 + 0.45 * z / (z + 0.75 * item[:, 1])
    bounce = torch.where(own >= 0, 0.5 * (1 - nz) * near, 0.0)
    ground = world.base[b, own.clamp(min=0), :3]
    return free[:, None] * (sky[:, None] + bounce[:, None] * ground) + back


def diffuse(
    world: Scenes,
    b: Tensor,
    own: Tensor,
    point: Tensor,
    normal: Tensor,
    phase: Tensor,
    fine: bool,
    shares: Tensor | None,
) -> Tensor:
    """Outgoing radiance of matte surfaces: (M, 3). shares: (M, 4) of the lamps, or None to find them."""
    total = _indirect(world, b, own, point, normal)
    for k in range(4):
        lamp = world.lamps[b, k]
        e = _irradiance(lamp, k, point, normal)
        seen = shadow(world, b, k, own, point, normal, phase, fine) if shares is None else shares[:, k]
        total = total + (e * seen)[:, None] * lamp[:, 9:12]
    albedo = torch.where((own >= 0)[:, None], world.objects[b, own.clamp(min=0), 7:10], world.surround[b, :3])
    return albedo * total / math.pi


def _strokes(item: Tensor, point: Tensor, normal: Tensor) -> tuple[Tensor, Tensor]:
    """The brush's frame: unit vectors round the vertical axis and along the meridian, (M, 3) each."""
    off = point - item[:, 2:5]
    t = torch.stack([-off[:, 1], off[:, 0], torch.zeros_like(off[:, 0])], -1)
    t = t - dot(t, normal)[:, None] * normal
    size = t.norm(dim=-1, keepdim=True)
    t = torch.where(size < 1e-6, torch.tensor([1.0, 0.0, 0.0], device=t.device), t / size.clamp(min=1e-6))
    return t, torch.linalg.cross(normal, t)


def _glints(
    world: Scenes, b: Tensor, own: Tensor, point: Tensor, normal: Tensor, view: Tensor, phase: Tensor
) -> Tensor:
    """Reflected lamps on metal before its colour: (M, 3)."""
    total = torch.zeros_like(point)
    cv = dot(normal, view).clamp(min=0.05)
    across, meridian = _strokes(world.objects[b, own], point, normal)
    mirror, narrow, wide, share = (world.surround[b, i] for i in (4, 5, 6, 7))
    for k in range(4):
        lamp = world.lamps[b, k]
        to = lamp[:, :3] - point
        d = to.norm(dim=-1)
        to = to / d[:, None]
        cl = dot(normal, to)
        half = to + view
        h = 1 / dot(half, half)
        hn, ht, hb = (dot(axis, half) ** 2 * h for axis in (normal, across, meridian))
        size = 0.2 * lamp[:, 12] / d
        am, at, ab = (a * a + size * size for a in (mirror, narrow, wide))
        peak = share / (math.pi * am * ((ht + hb) / am + hn) ** 2)
        peak = peak + (1 - share) / (math.pi * (at * ab).sqrt() * (ht / at + hb / ab + hn) ** 2)
        e = peak / (4 * cv) * (5 * cl).clamp(max=1)
        if k < 3:
            e = e * dot(to, unit(lamp[:, :3])).clamp(min=0) / (d * d)
        i = ((cl > 0) & (e * lamp[:, 10] >= 1e-3)).nonzero(as_tuple=True)[0]
        e = e[i] * shadow(world, b[i], k, own[i], point[i], normal[i], phase[i], False)
        total[i] += e[:, None] * lamp[i, 9:12]
    return total


def _above(world: Scenes, b: Tensor, along: Tensor) -> Tensor:
    """Radiance above the horizon: sky, and the floor's far end that curves up. (M,)"""
    sky, glow, tangent = (world.surround[b, i] for i in (3, 8, 9))
    facing = along[:, 0] * BACKWARD[0] + along[:, 1] * BACKWARD[1]
    top = tangent * facing
    rise = 1 - along[:, 2].clamp(min=0) / top
    inside = (facing > 0) & (along[:, 2] < top)
    return sky + torch.where(inside, glow * (3 * rise).clamp(max=1), 0.0)


def _reflect(along: Tensor, normal: Tensor) -> Tensor:
    return along - 2 * dot(along, normal)[:, None] * normal


def _mirrored(world: Scenes, b: Tensor, own: Tensor, point: Tensor, along: Tensor, phase: Tensor) -> Tensor:
    """Radiance along rays that leave metal: another object, the ground or what is above. (M, 3)"""
    best = torch.full((len(b),), FAR, device=b.device)
    which = torch.full_like(own, -1)
    for j in range(world.count):
        t = torch.where(own == j, FAR, enter(world.objects[b, j], point, along, False))
        which = torch.where(t < best, j, which)
        best = torch.minimum(t, best)
    fall = torch.where(along[:, 2] < -1e-4, -point[:, 2] / along[:, 2], FAR)
    ground = fall < best
    out = _above(world, b, along)[:, None].repeat(1, 3)
    which = torch.where(ground, -1, which)
    spot = point + torch.minimum(fall, best)[:, None] * along
    matte = (which >= 0) & (world.objects[b, which.clamp(min=0), 10] == 0)
    i = (ground | matte).nonzero(as_tuple=True)[0]
    at, w = spot[i], which[i]
    normal = _normals_or_up(world, b[i], w, at)
    at = torch.where((w < 0)[:, None], at * torch.tensor([1.0, 1.0, 0.0], device=at.device), at)
    out[i] = diffuse(world, b[i], w, at, normal, phase[i], False, None)
    i = ((which >= 0) & ~matte).nonzero(as_tuple=True)[0]
    out[i] = _second_hand(world, b[i], which[i], spot[i], along[i], phase[i])
    return out


def _normals_or_up(world: Scenes, b: Tensor, own: Tensor, point: Tensor) -> Tensor:
    up = torch.tensor([0.0, 0.0, 1.0], device=point.device)
    return torch.where((own >= 0)[:, None], normals(world.objects[b, own.clamp(min=0)], point), up)


def _second_hand(
    world: Scenes, b: Tensor, own: Tensor, point: Tensor, along: Tensor, phase: Tensor
) -> Tensor:
    """Metal seen in metal: its lamps, and bare ground or sky in its mirror, held to white. (M, 3)"""
    normal = normals(world.objects[b, own], point)
    light = _glints(world, b, own, point, normal, -along, phase)
    out = _reflect(along, normal)
    fall = (-point[:, 2] / out[:, 2].clamp(max=-1e-4))[:, None]
    ground = world.surround[b, :3] * _open_ground(world, b, point + fall * out) / math.pi
    light = light + torch.where(out[:, 2:] < -1e-4, ground, _above(world, b, out)[:, None])
    return light.clamp(max=1) * world.objects[b, own, 7:10]


def _brushed(world: Scenes, b: Tensor, own: Tensor, point: Tensor, along: Tensor) -> Tensor:
    """What the brushed part sees around the mirrored direction, lamps left out: (M, 3)."""
    dz = along[:, 2]
    t = dz / (1 + (1 - dz * dz).clamp(min=0).sqrt())
    narrow, wide = world.surround[b, 5], world.surround[b, 6]
    low = 0.5 - 0.5 * t / (wide * wide + t * t).sqrt()
    light = ((1 - low) * _above(world, b, along))[:, None] + (low / math.pi)[:, None] * world.base[b, own, :3]
    w = narrow + wide
    for j in range(world.count):
        item = world.objects[b, j]
        off = item[:, 2:5] - point
        d = off.norm(dim=-1)
        ratio = (_ball_radius(item) / d).clamp(max=1)
        away = 1 - dot(off, along) / d
        edge = 0.5 * (ratio + w) ** 2
        f = (ratio * ratio / (w * w)).clamp(max=1) * (1 - away / edge)
        f = torch.where((away < edge) & (own != j) & (item[:, 0] >= 0), f, 0.0)
        light = light + f[:, None] * (world.base[b, j, 3:] / math.pi - light)
    return light


def metal_light(
    world: Scenes,
    b: Tensor,
    own: Tensor,
    point: Tensor,
    normal: Tensor,
    along: Tensor,
    sample: int,
    phase: Tensor,
) -> Tensor:
    """Outgoing radiance of metal: (M, 3)."""
    across, meridian = _strokes(world.objects[b, own], point, normal)
    lean = 0.7 * world.surround[b, 4][:, None]
    tilted = normal + lean * ((1 if sample & 1 else -1) * across + (1 if sample & 2 else -1) * meridian)
    mirror = _mirrored(world, b, own, point, _reflect(along, unit(tilted)), phase)
    brushed = _brushed(world, b, own, point, _reflect(along, normal))
    glints = _glints(world, b, own, point, normal, -along, phase)
    share = world.surround[b, 7][:, None]
    return (share * mirror + (1 - share) * brushed + glints) * world.objects[b, own, 7:10]
