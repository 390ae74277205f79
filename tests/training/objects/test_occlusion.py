"""How much of each object others hide."""

import math

import numpy as np
import pytest
import torch
from support.tiny_objects import build, pair_of
from torch.testing import assert_close

from whatchanged.synth.clevr.sampling import sample_triple
from whatchanged.synth.clevr.visibility import index_picture, visible_pixels, whole_pixels
from whatchanged.training.objects.matching import Matches, rotate
from whatchanged.training.objects.occlusion import EYE, SHADOW, SOFTNESS, Occlusion, radius
from whatchanged.training.objects.supervision import ATTRIBUTES, POSITION_SCALE
from whatchanged.worlds.clevr.scene import ground_in_view

SMALL, LARGE = 0.35 / POSITION_SCALE, 0.7 / POSITION_SCALE


def hidden(points, objects, radii, salience=1.0, eye=(0.0, EYE), own=False):
    """The shares hidden of one picture's points, as a list."""
    given = [torch.tensor([x], dtype=torch.float32) for x in (points, objects)]
    radii = torch.tensor(radii, dtype=torch.float32)[None, :, None]
    salience = torch.full_like(radii, salience)
    with torch.no_grad():
        found = Occlusion().hidden(*given, radii, salience, torch.tensor([eye]), own)
    return found[0, :, 0].tolist()


def test_by_hand():
    """A large object stands 0.5 units nearer to the camera, 0.1 beside the line of sight."""
    nearer = 1 / (1 + math.exp(-(0.5 - LARGE) / SOFTNESS))
    share = nearer * math.exp(-((0.5 / (SHADOW * LARGE)) ** 2) / 2 - (0.1 / LARGE) ** 2 / 2)
    assert hidden([[0, 0]], [[0.1, 0.5]], [LARGE]) == pytest.approx([share], abs=1e-5)
    assert hidden([[0, 0]], [[0.1, 0.5]], [LARGE], salience=0.5) == pytest.approx([share / 2], abs=1e-5)
    twice = hidden([[0, 0]], [[0.1, 0.5], [-0.1, 0.5]], [LARGE, LARGE])
    assert twice == pytest.approx([1 - (1 - share) ** 2], abs=1e-5)
    assert share > 0.5


def test_what_stands_behind_beside_or_in_the_same_place_hides_nothing():
    for place in ([0, -0.5], [1.0, 0.5], [0, 0]):
        assert hidden([[0, 0]], [place], [LARGE])[0] < 0.02
    assert hidden([[0, 0], [0, 0.5]], [[0, 0], [0, 0.5]], [LARGE, LARGE], own=True)[1] < 0.02


def test_the_camera_may_stand_anywhere():
    """Turned with everything else, it sees the same."""
    points, objects = torch.rand(1, 3, 2), torch.rand(1, 4, 2)
    turn = torch.tensor([[math.cos(2.0), math.sin(2.0)]])
    eye = rotate(torch.tensor([[[0.0, EYE]]]), turn)[0, 0]
    radii = [SMALL, LARGE, SMALL, LARGE]
    plain = hidden(points[0].tolist(), objects[0].tolist(), radii)
    turned = [rotate(x, turn)[0].tolist() for x in (points, objects)]
    assert hidden(*turned, radii, eye=tuple(eye.tolist())) == pytest.approx(plain, abs=1e-5)


def test_it_ranks_drawn_objects_by_what_is_hidden_of_them():
    """Before any training, from true places and sizes alone."""
    told, true = [], []
    for i in range(20):
        scene = sample_triple(5, i, "low").semantic
        seen = visible_pixels(index_picture(scene, 480, 320), len(scene.objects))
        whole = whole_pixels(scene, 480, 320)
        places = [ground_in_view(item.x, item.y, scene.view.camera) for item in scene.objects]
        places = (np.array(places) / POSITION_SCALE).tolist()
        radii = [item.radius / POSITION_SCALE for item in scene.objects]
        told += hidden(places, places, radii, own=True)
        true += list(1 - seen / whole)
    told, true = np.array(told), np.array(true)
    assert (true > 0.4).sum() >= 10
    above = told[true > 0.4][:, None] > told[true < 0.1]
    assert above.mean() > 0.95  # the area under the curve


def test_radius():
    features = torch.full((1, 2, 5 + sum(ATTRIBUTES.values())), -100.0)
    first = 5 + ATTRIBUTES["shape"]
    features[0, 0, first], features[0, 1, first : first + 2] = 0.0, math.log(0.5)
    assert_close(radius(features)[0, :, 0], torch.tensor([SMALL, (SMALL + LARGE) / 2]))


@torch.no_grad()
def test_what_a_token_is_told_of_both_pictures():
    """Hidden here, hidden at its place in the other picture, and this place."""
    vision = build(occlusion=True)
    pair = pair_of(vision)
    turn = torch.tensor([[0.6, 0.8]]).expand(2, 2)
    before, after = pair
    places = before.ground_positions, after.ground_positions
    expected = rotate(places[0], turn) + 0.1
    matches = Matches(torch.zeros(2, 7, 7), turn, expected)
    salience = before.salience[..., None], after.salience[..., None]
    own = before.features, after.features
    told = vision.occlusion.describe(matches, own, places, salience)
    eye = torch.tensor([[0.0, EYE]]).expand(2, 2)
    ask, radii = vision.occlusion.hidden, (radius(own[0]), radius(own[1]))
    assert_close(told[0][..., :1], ask(places[0], places[0], radii[0], salience[0], eye, own=True))
    assert_close(told[0][..., 1:2], ask(expected, places[1], radii[1], salience[1], eye))
    assert_close(told[0][..., 2:], expected)
    there = torch.tensor([[-0.8 * EYE, 0.6 * EYE]]).expand(2, 2)
    assert_close(told[1][..., 1:2], ask(places[1], expected, radii[0], salience[0], there))
    assert_close(rotate(told[1][..., 2:], turn), places[1], atol=1e-5, rtol=1e-5)
    assert vision.add_match_features(pair).before.features.shape[-1] == vision.width == build().width + 4


def test_its_shadow_learns():
    vision = build(occlusion=True)
    vision.add_match_features(pair_of(vision)).before.features[..., -100].sum().backward()
    assert vision.occlusion.log_length.grad != 0 and vision.occlusion.log_width.grad != 0
