"""By which other object the changed one is told from its duplicate."""

import pytest
import torch
from support.tiny_objects import build, pair_of
from torch.testing import assert_close

from whatchanged.synth.clevr.sampling import sample_triple
from whatchanged.training.objects.landmarks import LANDMARK_NUMBERS, landmarks
from whatchanged.training.objects.match_features import duplicates
from whatchanged.training.objects.supervision import POSITION_SCALE
from whatchanged.worlds.clevr.phrases import RELATIONS, relational_phrases
from whatchanged.worlds.clevr.scene import ground_in_view


def told(places, changed, twin):
    """The numbers of each token; tokens ``changed`` and ``twin`` are duplicates of each other."""
    places = torch.tensor([places], dtype=torch.float32) / POSITION_SCALE
    count = places.shape[1]
    alike = torch.zeros(1, count, 3)
    for one, other in ((changed, twin), (twin, changed)):
        alike[0, one] = torch.tensor([1.0, *(places[0, one] - places[0, other]).tolist()])
    probability = torch.zeros(1, count, 1)
    probability[0, changed] = 1.0
    return landmarks(probability, places, torch.ones(1, count, 1), alike)[0]


def test_by_hand():
    """The changed object stands left of the third, its duplicate right of it; both stand behind the third and
    in front of the fourth."""
    found = told([[-1, 0], [1, 0], [0, 2], [0, -2]], changed=0, twin=1)
    assert found[2].tolist() == pytest.approx([1, 0, 0, 0], abs=0.02)
    assert found[3].tolist() == pytest.approx([1, 0, 0, 0], abs=0.02)
    assert not found[:2].any()  # what has a duplicate itself singles nothing out
    found = told([[-1, 0], [1, 0], [0, 2], [0, -2]], changed=1, twin=0)
    assert found[2].tolist() == pytest.approx([0, 1, 0, 0], abs=0.02)


def test_nothing_is_told_where_nothing_changed_or_nothing_is_alike():
    places, one = torch.randn(2, 5, 2), torch.ones(2, 5, 1)
    assert not landmarks(0 * one, places, one, torch.rand(2, 5, 3)).any()
    assert not landmarks(one, places, one, torch.zeros(2, 5, 3)).any()


def test_it_agrees_with_the_phrases_of_drawn_scenes():
    """Of true places, a sure side is one by which the language would single the changed object out."""
    right = wrong = missed = 0
    for i in range(30):
        triple = sample_triple(3, i, doubles=1.0)
        if triple.change.type == "add":
            continue
        scene, which = triple.default, triple.change.before
        mine = scene.objects[which]
        names = ("shape", "size", "color", "material")
        twins = [
            k
            for k, item in enumerate(scene.objects)
            if k != which and all(getattr(item, a) == getattr(mine, a) for a in names)
        ]
        if len(twins) != 1:
            continue
        places = [ground_in_view(item.x, item.y, scene.view.camera) for item in scene.objects]
        found = told(places, which, twins[0])
        sure = {(RELATIONS[side], other) for other, side in (found > 0.8).nonzero().tolist()}
        possible = set(relational_phrases(scene, which))
        right, wrong = right + len(sure & possible), wrong + len(sure - possible)
        missed += len({pair for pair in possible - sure if found[pair[1]].max() < 0.2})
    assert right > 40
    assert wrong <= 0.1 * right  # the other object may have a duplicate of its own, which is not told here
    assert missed <= 0.1 * right


@torch.no_grad()
def test_a_token_is_told_them_behind_its_change_label():
    vision = build(landmarks=True)
    pair = pair_of(vision)
    features = vision.add_match_features(pair).before.features
    assert features.shape[-1] == vision.width == build().width + LANDMARK_NUMBERS
    label = vision.change_label_head(features[..., -100:-4]).softmax(-1)
    own, salience = pair.before.ground_positions, pair.before.salience[..., None]
    alike = duplicates(pair.before.features, own, salience)
    wanted = landmarks(salience * (1 - label[..., :1]), own, salience, alike)
    assert_close(features[..., -4:], wanted, atol=1e-5, rtol=1e-4)
