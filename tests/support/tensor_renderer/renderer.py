"""The renderer in tensors: the formulas of `compiled`, many pictures at once, on any device of torch.

Pictures are drawn in chunks. What is to be shaded is gathered into flat lists of points, each knowing its
picture; objects are a loop, with those that cannot matter left out.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from support.tensor_renderer.light import Scenes, diffuse, metal_light, shadow
from support.tensor_renderer.solids import FAR, dot, enter, floor, normals, unit
from whatchanged.synth.clevr.light import Linear, Packed, softness
from whatchanged.worlds.clevr.scene import FOCAL_OVER_SENSOR

SUB = ((-0.125, -0.375), (0.375, -0.125), (-0.375, 0.125), (0.125, 0.375))
CHUNK = {"cpu": 4, "other": 32}
"""Pictures of 240x160 drawn at once."""


def draw_tensor(packed: Sequence[Packed], width: int, height: int, device: str) -> Iterator[Linear]:
    """Packed scenes as linear light, one (H, W, 3) array after the other."""
    place = torch.device(device)
    room = CHUNK["cpu" if place.type == "cpu" else "other"] * 240 * 160
    size = max(1, room // (width * height))
    with torch.inference_mode():
        for start in range(0, len(packed), size):
            picture = _draw(Scenes(packed[start : start + size], place), width, height)
            yield from _soften(picture, softness(width)).cpu().numpy()


def _draw(world: Scenes, width: int, height: int) -> Tensor:
    """(P, H, W, 3) linear light."""
    ids, far, rays = _first_hits(world, width, height)
    mixed = _classify(world, ids, far, rays)
    shape = mixed.shape
    yy, xx = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    phase = ((xx & 1) | ((yy & 1) << 1)).to(mixed.device).expand(shape)
    out = torch.zeros(*shape, 3, device=mixed.device)

    smooth = (~mixed).nonzero(as_tuple=True)
    b, own = smooth[0], ids[smooth][:, 0]
    at = _rays(world, width, height, 0.5, 0.5)[smooth]
    point, normal = _surface(world, b, own, at, far[smooth].mean(-1))
    raw = torch.zeros(*shape, 4, device=mixed.device)
    for k in range(4):
        raw[..., k][smooth] = shadow(world, b, k, own, point, normal, phase[smooth], True)
    shares = _same_surface_filter(raw, torch.where(mixed, -2, ids[..., 0]))[smooth]
    out[smooth] = diffuse(world, b, own, point, normal, phase[smooth], True, shares)

    edge = mixed.nonzero(as_tuple=True)
    for s in range(4):
        b, own = edge[0], ids[edge][:, s]
        along = rays[s][edge]
        point, normal = _surface(world, b, own, along, far[edge][:, s])
        sample_phase = phase[edge] ^ s
        light = torch.zeros(len(b), 3, device=mixed.device)
        metal = (own >= 0) & (world.objects[b, own.clamp(min=0), 10] > 0)
        for chosen, is_metal in ((metal, True), (~metal, False)):
            i = chosen.nonzero(as_tuple=True)[0]
            if is_metal:
                light[i] = metal_light(world, b[i], own[i], point[i], normal[i], along[i], s, sample_phase[i])
            else:
                light[i] = diffuse(world, b[i], own[i], point[i], normal[i], sample_phase[i], True, None)
        out[edge] += 0.25 * light.clamp(max=1.2)
    return out


def _rays(world: Scenes, width: int, height: int, sx: float, sy: float) -> Tensor:
    """Unit directions through the point (sx, sy) of every pixel: (P, H, W, 3)."""
    focal = FOCAL_OVER_SENSOR * width
    device = world.camera.device
    u = ((torch.arange(width, device=device) + sx - 0.5 * width) / focal)[None, None, :, None]
    v = ((0.5 * height - torch.arange(height, device=device) - sy) / focal)[None, :, None, None]
    right, up, backward = (world.camera[:, None, None, i] for i in (1, 2, 3))
    return unit(u * right + v * up - backward)


def _first_hits(world: Scenes, width: int, height: int) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Nearest object (or -1) and distance at four points of every pixel, (P, H, W, 4) each; and the rays."""
    ids, fars, rays = [], [], []
    origin = world.camera[:, None, None, 0]
    for dx, dy in SUB:
        along = _rays(world, width, height, 0.5 + dx, 0.5 + dy)
        best = torch.full(along.shape[:3], FAR, device=along.device)
        which = torch.full(along.shape[:3], -1, device=along.device)
        for j in range(world.count):
            t = enter(world.objects[:, None, None, j], origin, along, True)
            which = torch.where(t < best, j, which)
            best = torch.minimum(t, best)
        ids.append(which)
        fars.append(best)
        rays.append(along)
    return torch.stack(ids, -1), torch.stack(fars, -1), rays


def _surface(world: Scenes, b: Tensor, own: Tensor, along: Tensor, far: Tensor) -> tuple[Tensor, Tensor]:
    """Points and normals where rays (M, 3) meet their objects, or the floor where own is -1."""
    eye, on_thing = world.camera[b, 0], (own >= 0)[:, None]
    below, up = floor(eye, along, world.surround[b, 10])
    point = torch.where(on_thing, eye + far[:, None] * along, below)
    return point, torch.where(on_thing, normals(world.objects[b, own.clamp(min=0)], point), up)


def _classify(world: Scenes, ids: Tensor, far: Tensor, rays: list[Tensor]) -> Tensor:
    """Pixels that need four shades: where objects meet, metal shows or a normal bends. (P, H, W) bool."""
    same = (ids == ids[..., :1]).all(-1)
    at = (same & (ids[..., 0] >= 0)).nonzero(as_tuple=True)
    b, own = at[0], ids[at][:, 0]
    item = world.objects[b, own]
    points = [world.camera[b, 0] + far[at][:, s, None] * rays[s][at] for s in range(4)]
    seen = [normals(item, point) for point in points]
    bent = torch.stack([dot(seen[0], n) < 0.99 for n in seen[1:]]).any(0) & (item[:, 0] != 1)
    mixed = ~same
    mixed[at] = bent | (item[:, 10] > 0)
    return mixed


def _same_surface_filter(raw: Tensor, ids: Tensor) -> Tensor:
    """The tent filter 1 2 1 over neighbours with the same id: raw (P, H, W, 4), ids (P, H, W)."""
    wide = torch.nn.functional.pad(raw, (0, 0, 1, 1, 1, 1))
    around = torch.nn.functional.pad(ids, (1, 1, 1, 1), value=-3)
    height, width = ids.shape[1:]
    total, weight = torch.zeros_like(raw), torch.zeros_like(raw[..., :1])
    for v in range(3):
        for u in range(3):
            w = (2.0 - abs(v - 1)) * (2.0 - abs(u - 1))
            same = (around[:, v : v + height, u : u + width] == ids)[..., None] * w
            total += same * wide[:, v : v + height, u : u + width]
            weight += same
    return total / weight


def _soften(linear: Tensor, k: float) -> Tensor:
    """The tent filter k, 1 - 2k, k in both directions, edges repeated: (P, H, W, 3)."""
    padded = torch.cat([linear[:, :1], linear, linear[:, -1:]], 1)
    down = k * (padded[:, :-2] + padded[:, 2:]) + (1 - 2 * k) * linear
    padded = torch.cat([down[:, :, :1], down, down[:, :, -1:]], 2)
    return k * (padded[:, :, :-2] + padded[:, :, 2:]) + (1 - 2 * k) * down
