"""Rays against spheres, cylinders, cubes and the floor, as tensors.

object: (..., 12), columns as in `light.Packed`.
"""

import torch
from torch import Tensor

from whatchanged.synth.clevr.light import BACKWARD, FLOOR

FAR = 1e9


def dot(a: Tensor, b: Tensor) -> Tensor:
    """Inner products over the last axis."""
    return (a * b).sum(-1)


def unit(a: Tensor) -> Tensor:
    """Vectors of length one."""
    length: Tensor = torch.linalg.vector_norm(a, dim=-1, keepdim=True)
    return a / length


def enter(item: Tensor, origin: Tensor, along: Tensor, rounded: bool) -> Tensor:
    """Distance along unit rays to objects: object (..., 12), origin and along (..., 3) -> (...), or FAR."""
    r, shape = item[..., 1], item[..., 0]
    p = origin - item[..., 2:5]
    b, c = dot(p, along), dot(p, p)
    disc = b * b - c + r * r
    ball = -b - disc.clamp(min=0).sqrt()
    ball = torch.where((disc > 0) & (ball > 1e-4), ball, FAR)

    def slab(start: Tensor, step: Tensor) -> tuple[Tensor, Tensor]:
        step = torch.where(step.abs() < 1e-9, 1e-9, step)
        one, two = (-r - start) / step, (r - start) / step
        return torch.minimum(one, two), torch.maximum(one, two)

    cos, sin = item[..., 5], item[..., 6]
    cube = shape == 0
    lx = torch.where(cube, cos * p[..., 0] + sin * p[..., 1], p[..., 0])
    ly = torch.where(cube, cos * p[..., 1] - sin * p[..., 0], p[..., 1])
    mx = torch.where(cube, cos * along[..., 0] + sin * along[..., 1], along[..., 0])
    my = torch.where(cube, cos * along[..., 1] - sin * along[..., 0], along[..., 1])
    z0, z1 = slab(p[..., 2], along[..., 2])
    x0, x1 = slab(lx, mx)
    y0, y1 = slab(ly, my)
    a = (mx * mx + my * my).clamp(min=1e-12)
    bb = lx * mx + ly * my
    round_disc = bb * bb - a * (lx * lx + ly * ly - r * r)
    root = round_disc.clamp(min=0).sqrt()
    t0 = torch.maximum(z0, torch.where(cube, torch.maximum(x0, y0), (-bb - root) / a))
    t1 = torch.minimum(z1, torch.where(cube, torch.minimum(x1, y1), (-bb + root) / a))
    missed = (t0 >= t1) | (t1 < 1e-4) | (~cube & (round_disc <= 0)) | (shape < 0)
    if rounded:
        solid = _march(item, t0, t1, (lx, ly, p[..., 2]), (mx, my, along[..., 2]), missed | (t0 < 1e-4))
    else:
        inside = torch.where(t1 > 2 * item[..., 11], 1e-4, FAR)
        solid = torch.where(missed, FAR, torch.where(t0 < 1e-4, inside, t0))
    return torch.where(shape == 1, ball, solid)


def _march(
    item: Tensor,
    t0: Tensor,
    t1: Tensor,
    start: tuple[Tensor, Tensor, Tensor],
    step: tuple[Tensor, Tensor, Tensor],
    missed: Tensor,
) -> Tensor:
    """Sphere tracing from the sharp solid to the rounded one; FAR where a ray slips past the edge."""
    r, bevel = item[..., 1], item[..., 11]
    inner = r - bevel
    cylinder = item[..., 0] == 2
    t, done, d = t0, missed, torch.full_like(t0, FAR)
    for _ in range(16):
        hx, hy, hz = (a + t * b for a, b in zip(start, step, strict=True))
        qx = torch.where(cylinder, (hx * hx + hy * hy).sqrt(), hx.abs()) - inner
        qy = torch.where(cylinder, -1.0, hy.abs() - inner)
        qz = hz.abs() - inner
        q = torch.stack([qx, qy, qz], -1)
        d = q.clamp(min=0).norm(dim=-1) + q.amax(-1).clamp(max=0) - bevel
        done = done | (d < 2e-3 * r)
        t = torch.where(done, t, t + d)
        past = t > t1
        missed, done = missed | past, done | past
    return torch.where(missed | (~done & (d >= 2e-2 * r)), FAR, t)


def normals(item: Tensor, point: Tensor) -> Tensor:
    """Unit normals of objects (M, 12) at points (M, 3) of their surfaces."""
    p = point - item[..., 2:5]
    inner = item[..., 1] - item[..., 11]
    cos, sin = item[..., 5], item[..., 6]
    lx, ly = cos * p[..., 0] + sin * p[..., 1], cos * p[..., 1] - sin * p[..., 0]
    ux = torch.copysign((lx.abs() - inner).clamp(min=0), lx)
    uy = torch.copysign((ly.abs() - inner).clamp(min=0), ly)
    rho = p[..., :2].norm(dim=-1) + 1e-12
    u = (rho - inner).clamp(min=0) / rho
    uz = torch.copysign((p[..., 2].abs() - inner).clamp(min=0), p[..., 2])
    cube = torch.stack([cos * ux - sin * uy, sin * ux + cos * uy, uz], -1)
    cylinder = torch.stack([u * p[..., 0], u * p[..., 1], uz], -1)
    shape = item[..., :1]
    n = torch.where(shape == 0, cube, torch.where(shape == 1, p, cylinder))
    size = n.norm(dim=-1, keepdim=True)
    up = torch.tensor([0.0, 0.0, 1.0], device=n.device)
    return torch.where(size < 1e-9, up, n / size.clamp(min=1e-9))


def floor(origin: Tensor, along: Tensor, rise: Tensor) -> tuple[Tensor, Tensor]:
    """Where rays from above meet the floor, and its normals, as `compiled_solids.floor`: (M, 3) each.

    origin and along (M, 3), rise (M,).
    """
    flat = -origin[:, 2] / along[:, 2].clamp(max=-1e-4)
    back = origin.new_tensor([*BACKWARD, 0.0])
    start, rate = FLOOR[0], FLOOR[2]
    toward, here = along @ back, origin @ back
    curved = (toward >= 1e-3) & (here + flat * toward > start)
    toward = toward.clamp(min=1e-3)
    tilt = along[:, 2] / toward
    s = (here + flat * toward).clamp(start, start + 8 / rate)
    for _ in range(12):
        slope = rise * ((rate * (s - start)).exp() - 1)
        gap = slope / rate - rise * (s - start) - origin[:, 2] - (s - here) * tilt
        s = torch.where(curved, s - (gap / (slope - tilt)).clamp(min=0), s)
    slope = torch.where(curved, rise * ((rate * (s - start)).exp() - 1), 0.0)
    point = origin + torch.where(curved, (s - here) / toward, flat)[:, None] * along
    point = torch.where(curved[:, None], point, point * point.new_tensor([1.0, 1.0, 0.0]))
    return point, unit(point.new_tensor([0.0, 0.0, 1.0]) - slope[:, None] * back)
