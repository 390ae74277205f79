import time
from math import cos, radians, sin

import numpy as np
import pytest

from whatchanged.synth.clevr.visibility import (
    GROUND,
    ROUNDING,
    boxes,
    index_picture,
    visible_pixels,
    whole_pixels,
)
from whatchanged.worlds.clevr.scene import Scene, SceneObject, View, camera_matrix
from whatchanged.worlds.clevr.truth import read_scene

WIDTH, HEIGHT = 72, 48


def rays(camera, width=WIDTH, height=HEIGHT):
    """Unit vectors (height, width, 3) through the pixel centres, by the camera's matrix and its lens."""
    x = (np.arange(width) + 0.5 - width / 2) / width * 32
    y = (height / 2 - np.arange(height) - 0.5) / width * 32
    local = np.stack(np.broadcast_arrays(x[None, :], y[:, None], -35.0), -1)
    world = local @ camera_matrix(camera)[:3, :3].T
    return world / np.linalg.norm(world, axis=-1, keepdims=True)


def outside(item, points):
    """Distance of points (..., 3) from the thing's skin, not above zero within: the textbook formulas."""
    p, r = points - np.array(item.center), item.radius
    if item.shape == "sphere":
        return np.linalg.norm(p, axis=-1) - r
    if item.shape == "cylinder":
        return np.maximum(np.hypot(p[..., 0], p[..., 1]), np.abs(p[..., 2])) - r
    c, s = cos(radians(item.rotation)), sin(radians(item.rotation))
    own = np.stack([c * p[..., 0] + s * p[..., 1], c * p[..., 1] - s * p[..., 0], p[..., 2]], -1)
    beyond = np.abs(own) - r * (1 - ROUNDING)
    return np.linalg.norm(np.maximum(beyond, 0), axis=-1) + np.minimum(beyond.max(-1), 0) - r * ROUNDING


def marched(scene):
    """The index picture by walking along every ray in small steps."""
    camera = np.array(scene.view.camera)
    far = np.linalg.norm(camera) + 6
    steps = np.arange(2, far, 0.01)
    ahead = rays(scene.view.camera)
    index = np.full((HEIGHT, WIDTH), GROUND)
    for row in range(HEIGHT):
        points = camera + ahead[row][:, None, :] * steps[None, :, None]
        within = np.stack([outside(item, points) <= 0 for item in scene.objects])  # (things, W, steps)
        first = np.where(within.any(-1), within.argmax(-1), len(steps))
        index[row] = np.where(within.any((0, 2)), first.argmin(0), GROUND)
    return index


@pytest.mark.parametrize("camera", [(7.5, -6.5, 5.3), (5.0, -8.0, 3.0)])
def test_every_shape_and_occlusion_agree_with_walking_along_the_rays(camera):
    objects = (
        SceneObject("cube", "large", "red", "metal", 1.5, -1.5, 30.0),
        SceneObject("sphere", "large", "blue", "metal", 0.0, 0.6),
        SceneObject("cylinder", "large", "gray", "rubber", 1.4, 1.6),
        SceneObject("cube", "small", "red", "metal", -1.5, -1.5, 80.0),
        SceneObject("sphere", "small", "cyan", "metal", 2.9, 0.2),
        SceneObject("cylinder", "small", "gray", "rubber", -1.6, 1.0),
    )
    scene = Scene(objects, View(camera))
    found, wanted = index_picture(scene, WIDTH, HEIGHT), marched(scene)
    assert set(np.unique(found)) == {GROUND, 0, 1, 2, 3, 4, 5}
    # Steps of 0.01 units miss grazing rays, and a flat cut is not quite a rounding: so much, on outlines.
    differ = np.argwhere(found != wanted)
    assert len(differ) <= 0.05 * (wanted != GROUND).sum()
    for row, column in differ:
        around = wanted[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2]
        assert found[row, column] in around


def test_a_ball_is_seen_where_its_cone_is():
    ball, camera = SceneObject("sphere", "large", "red", "rubber", 0.5, -0.8), (7.0, -6.0, 5.0)
    towards = np.array(ball.center) - camera
    distance = np.linalg.norm(towards)
    apart = np.arccos(rays(camera, 480, 320) @ (towards / distance))
    found = index_picture(Scene((ball,), View(camera)), 480, 320) == 0
    np.testing.assert_array_equal(found, apart < np.arcsin(ball.radius / distance))


def test_the_nearer_object_hides_the_farther_in_either_order():
    view = View((0.0, -8.0, 6.0))
    near, far = (SceneObject("sphere", "large", "red", "metal", 0, y) for y in (-1.5, 0.8))
    one, other = (index_picture(Scene(order, view), 480, 320) for order in ((near, far), (far, near)))
    np.testing.assert_array_equal(one == 0, other == 1)
    alone = visible_pixels(index_picture(Scene((far,), view), 480, 320), 1)[0]
    assert 0 < visible_pixels(one, 2)[1] < alone


def test_whole_pixels_are_those_without_the_others_but_within_the_frame():
    """The farther sphere is partly hidden; one that the frame cuts has no pixels outside."""
    view = View((0.0, -8.0, 6.0))
    near, far = (SceneObject("sphere", "large", "red", "metal", 0, y) for y in (-1.5, 0.8))
    cut = SceneObject("cube", "large", "blue", "rubber", 4.2, 0)
    scene = Scene((near, far, cut), view)
    index, whole = index_picture(scene, 480, 320), whole_pixels(scene, 480, 320)
    assert (index[:, -1] == 2).any()
    seen = visible_pixels(index, 3)
    assert whole[0] == seen[0] and whole[2] == seen[2]
    assert whole[1] == (index_picture(Scene((far,), view), 480, 320) == 0).sum() > seen[1]
    assert whole_pixels(Scene((), view), 480, 320).shape == (0,)


def test_boxes_and_pixels_of_a_picture_drawn_by_hand():
    index = np.full((5, 8), GROUND, np.int8)
    index[1:4, 2:4] = 0
    index[2, 3:8] = 2
    assert visible_pixels(index, 4).tolist() == [5, 0, 5, 0]
    assert boxes(index, 4) == [(2, 1, 2, 3), None, (3, 2, 5, 1), None]


def test_objects_out_of_the_frame_or_behind_the_camera_show_nothing():
    view = View((7.0, -6.0, 5.0))
    objects = (
        SceneObject("cube", "large", "red", "metal", -40, -40),
        SceneObject("cube", "large", "red", "metal", 20, -18),
    )
    index = index_picture(Scene(objects, view), 480, 320)
    assert visible_pixels(index, 2).tolist() == [0, 0]
    assert boxes(index, 2) == [None, None]


def test_boxes_and_pixels_agree_with_blender(dev_pictures):
    shares = []
    for entry in dev_pictures:
        count = len(entry["objects"])
        index = index_picture(read_scene(entry), 480, 320)
        results = zip(boxes(index, count), visible_pixels(index, count), entry["objects"], strict=True)
        for box, pixels, item in results:
            x, y, w, h = item["bbox"]
            edges = np.subtract((box[0], box[1], box[0] + box[2], box[1] + box[3]), (x, y, x + w, y + h))
            assert np.abs(edges).max() <= 2, (entry["image_filename"], item, box)
            shares.append(pixels / item["visible_pixels"])
    assert np.mean(shares) == pytest.approx(1, abs=0.02)
    assert min(shares) > 0.85 and max(shares) < 1.1


def test_it_is_fast_enough_to_sample_by():
    objects = tuple(
        SceneObject(shape, "large", "red", "metal", x, y)
        for shape, (x, y) in zip(
            ("cube", "sphere", "cylinder") * 2 + ("cube",),
            ((0, 0), (2, 2), (-2, 2), (2, -2), (-2, -2), (0, 2), (2, 0)),
            strict=True,
        )
    )
    best = 1.0
    for _ in range(5):
        start = time.perf_counter()
        index_picture(Scene(objects), 480, 320)
        best = min(best, time.perf_counter() - start)
    assert best < 0.05
