"""Rays against single solids, against answers worked out by hand, in both renderers."""

import math

import numpy as np
import pytest
import torch
from scipy.integrate import trapezoid
from support.tensor_renderer.solids import enter as enter_tensor
from support.tensor_renderer.solids import floor as floor_tensor
from support.tensor_renderer.solids import normals

from whatchanged.synth.clevr.compiled_solids import FAR, enter, floor, normal
from whatchanged.synth.clevr.light import BACKWARD, FLOOR, RIM, pack
from whatchanged.synth.clevr.visibility import ROUNDING
from whatchanged.worlds.clevr.scene import Scene, SceneObject

R = 0.7


def table(shape: str, rotation: float = 0.0) -> np.ndarray:
    return pack(Scene((SceneObject(shape, "large", "red", "rubber", 0.0, 0.0, rotation),))).objects  # type: ignore[arg-type]


def distances(objects: np.ndarray, origin, along, rounded: bool) -> tuple[float, float]:
    along = np.array(along, float) / np.linalg.norm(along)
    row, o, d = (torch.tensor(np.array(a, np.float32)) for a in (objects[0], origin, along))
    return enter(objects, 0, *map(float, origin), *along, rounded), float(enter_tensor(row, o, d, rounded))


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize(
    ("shape", "rotation", "expected"),
    [("sphere", 0.0, 5 - R), ("cylinder", 0.0, 5 - R), ("cube", 0.0, 5 - R), ("cube", 90.0, 5 - R)],
)
def test_a_level_ray_at_the_centre_meets_the_side(shape, rotation, expected, rounded):
    for t in distances(table(shape, rotation), (5, 0, R), (-1, 0, 0), rounded):
        assert t == pytest.approx(expected, abs=2e-3)


def test_a_cube_turned_by_45_degrees_shows_its_edge_and_its_rounding_takes_a_little_off():
    sharp = distances(table("cube", 45.0), (5, 0, R), (-1, 0, 0), False)
    assert sharp == pytest.approx((5 - R * math.sqrt(2),) * 2, abs=1e-4)
    cut = (math.sqrt(2) - 1) * ROUNDING * R  # the corner of a square less its inscribed quarter circle
    rounded = distances(table("cube", 45.0), (5, 0, R), (-1, 0, 0), True)
    assert rounded == pytest.approx((sharp[0] + cut,) * 2, abs=3e-3)


@pytest.mark.parametrize("shape", ["sphere", "cylinder", "cube"])
def test_rays_from_above_meet_the_top_and_rays_beside_miss(shape):
    top = R + math.sqrt(R * R - 0.1**2 - 0.05**2) if shape == "sphere" else 2 * R
    for t in distances(table(shape), (0.1, 0.05, 5), (0, 0, -1), True):
        assert t == pytest.approx(5 - top, abs=3e-3)
    for miss in (((0, 5, R), (1, 0, 0)), ((5, 0, R), (1, 0, 0)), ((5, 0, 3 * R), (-1, 0, 0))):
        assert distances(table(shape), *miss, True) == (FAR, FAR)


def test_a_ray_through_a_sharp_corner_slips_past_the_rounded_one():
    objects = table("cube")
    ray = ((5.0, R - 0.01, 2 * R - 0.01), (-1, 0, 0))
    assert distances(objects, *ray, False) == pytest.approx((5 - R,) * 2, abs=1e-4)
    assert distances(objects, *ray, True) == (FAR, FAR)


@pytest.mark.parametrize("shape", ["cube", "cylinder"])
def test_normals_are_flat_on_the_side_and_turn_over_the_edge(shape):
    objects = table(shape)
    bevel = (ROUNDING if shape == "cube" else RIM) * R
    inner, diagonal = R - bevel, bevel / math.sqrt(2)
    points = np.array([[R, 0.0, R], [inner + diagonal, 0.0, R + inner + diagonal], [0.1, 0.1, 2 * R]])
    expected = np.array([[1, 0, 0], [math.sqrt(0.5), 0, math.sqrt(0.5)], [0, 0, 1]])
    one = np.array([normal(objects, 0, *p) for p in points])
    many = normals(torch.tensor(objects, dtype=torch.float32).expand(3, -1), torch.tensor(points).float())
    assert one == pytest.approx(expected, abs=1e-4)
    assert many.numpy() == pytest.approx(expected, abs=1e-4)


def height(s: float) -> float:
    """The floor's height, its slope rise (e^u - 1) summed up step by step."""
    start, rise, rate = FLOOR
    steps = np.linspace(start, max(s, start), 20_001)
    return float(trapezoid(rise * np.expm1(rate * (steps - start)), steps))


@pytest.mark.parametrize("down", [-0.6, -0.3, -0.1, -0.01, 0.05, 0.3])
def test_a_ray_meets_the_curved_floor_where_it_is_as_high_and_sees_its_slope(down: float):
    origin = np.array([7.0, -6.5, 4.0])
    along = np.array([*BACKWARD, down]) / math.hypot(1, down)
    x, y, z, *up = floor(*origin, *along, FLOOR[1])
    s = x * BACKWARD[0] + y * BACKWARD[1]
    assert np.cross(np.array([x, y, z]) - origin, along) == pytest.approx(np.zeros(3), abs=1e-3)
    assert z == pytest.approx(height(s), abs=5e-3)
    slope = (height(s + 1e-2) - height(s - 1e-2)) / 2e-2
    expected = np.array([-slope * BACKWARD[0], -slope * BACKWARD[1], 1]) / math.hypot(1, slope)
    assert up == pytest.approx(expected, abs=2e-2)
    rays = (torch.tensor(v, dtype=torch.float32)[None] for v in (origin, along))
    point, normal_there = floor_tensor(*rays, torch.tensor([FLOOR[1]]))
    assert point[0].numpy() == pytest.approx([x, y, z], abs=1e-2)
    assert normal_there[0].numpy() == pytest.approx(up, abs=1e-2)


def test_the_floor_is_flat_in_front_and_behind_the_back_of_the_camera():
    for along in ((0.0, 0.0, -1.0), (0.6, -0.3, -0.74)):
        assert floor(1.0, -1.0, 4.0, *along, FLOOR[1])[2:] == (0.0, 0.0, 0.0, 1.0)
