"""What a token is told of the other picture."""

from dataclasses import replace

import pytest
import torch
from support.tiny_objects import WIDTH, build, pair_of, pictures
from torch import nn
from torch.testing import assert_close

from whatchanged.errors import ShapeError
from whatchanged.training.objects.match_features import MATCH_NUMBERS, duplicates, located
from whatchanged.training.objects.matching import Matches
from whatchanged.training.objects.supervision import ATTRIBUTES
from whatchanged.training.vision.base import TokenPair


def test_the_columns_of_a_described_token():
    """A matching that is sure: token i before is token (i + 1) mod 6 after, except that a tenth of each goes
    nowhere; the camera made a quarter turn."""
    vision = build()
    pair = pair_of(vision)
    order = torch.tensor([1, 2, 3, 4, 5, 0])
    joint = torch.zeros(7, 7)
    joint[torch.arange(6), order] = 0.9
    joint[6, :6] = joint[:6, 6] = 0.1

    class Sure(nn.Module):
        def forward(self, features, ground_positions, salience):
            assert [x.shape for x in (*features, *ground_positions, *salience)] == [(2, 6, WIDTH)] * 2 + [
                (2, 6, 2)
            ] * 2 + [(2, 6)] * 2
            turn = torch.tensor([[0.0, 1.0]]).expand(2, 2)
            return Matches(joint.log().expand(2, 7, 7), turn, 2 * ground_positions[0] + 1)

    vision.matching = Sure()
    matched = vision.add_match_features(pair)
    before, after = pair
    expected = 2 * before.ground_positions + 1
    back = order.argsort()
    motions = (
        after.ground_positions[:, order] - expected,
        expected[:, back] - after.ground_positions,
    )
    for found, own, other, motion, sign, match in (
        (matched.before, before, after, motions[0], 1, order),
        (matched.after, after, before, motions[1], -1, back),
    ):
        wanted = [
            own.features,
            other.features[:, match],
            other.features[:, match] - own.features,
            motion,
            motion.norm(dim=-1, keepdim=True),
            own.ground_positions,
            own.salience[..., None],
            other.salience[:, match, None],
            torch.full((2, 6, 1), 0.1),
            torch.tensor([0.0, sign]).expand(2, 6, 2),
            duplicates(own.features, own.ground_positions, own.salience[..., None]),
        ]
        described = torch.cat(wanted, dim=2)
        assert described.shape == (2, 6, 3 * WIDTH + MATCH_NUMBERS)
        assert_close(found.features[..., :-96], described, atol=1e-4, rtol=1e-4)
        assert_close(found.features[..., -96:], vision.change_label(described), atol=1e-3, rtol=1e-3)
    assert torch.equal(matched.before.cells, before.cells)


def test_duplicates_by_hand():
    """Tokens 0 and 1 are the same but for one doubt about the size, 2 differs in color, 3 is hardly there."""
    likely = torch.full((1, 4, 2 + sum(ATTRIBUTES.values())), -100.0)
    starts = dict(zip(ATTRIBUTES, (2, 5, 7, 15), strict=True))
    assert list(ATTRIBUTES.items()) == [("shape", 3), ("size", 2), ("color", 8), ("material", 2)]
    for name in ATTRIBUTES:
        likely[..., starts[name]] = 0.0
    likely[0, 1, starts["size"] : starts["color"]] = torch.tensor([0.25, 0.75]).log()
    likely[0, 2, starts["color"] : starts["color"] + 2] = torch.tensor([-100.0, 0.0])
    likely[0, :, :2] = torch.randn(4, 2)  # what the backbone saw says nothing here
    salience = torch.tensor([[[1.0], [0.8], [1.0], [0.1]]])
    ground_positions = torch.tensor([[[1.0, 0.0], [0.0, 2.0], [5.0, 5.0], [0.0, -1.0]]])
    # The first is like the second by 0.2 and like the last by 0.1, these like each other by 0.02.
    away = [
        [1 - 0, 0 - (0.4 - 0.1) / 0.3],
        [-0.2 / 0.22, 2 + 0.02 / 0.22],
        [0, 0],
        [-0.1 / 0.12, -1 - 0.04 / 0.12],
    ]
    wanted = [[t, t * x, t * y] for t, (x, y) in zip((0.2, 0.2, 0.0, 0.1), away, strict=True)]
    assert_close(duplicates(likely, ground_positions, salience), torch.tensor([wanted]))
    assert not duplicates(
        likely[:, 2:3], ground_positions[:, 2:3], salience[:, 2:3]
    ).any()  # alone in the picture


@torch.no_grad()
def test_a_hidden_token_tells_nothing_of_itself():
    vision = build()
    pair = pair_of(vision)
    hidden = torch.zeros(2, 6, dtype=torch.bool)
    hidden[0, 2] = hidden[1, 5] = True
    matched = vision.add_match_features(pair, (None, hidden))
    assert not matched.after.features[hidden][:, :WIDTH].any()
    assert matched.after.features[~hidden][:, :WIDTH].any()
    other = {}
    for name in ("features", "ground_positions", "salience"):
        other[name] = getattr(pair.after, name).clone()
        other[name][hidden] = torch.rand(other[name][hidden].shape)
    changed = TokenPair(pair.before, replace(pair.after, **other))
    again = vision.add_match_features(changed, (None, hidden))
    assert torch.equal(again.after.features, matched.after.features)
    assert torch.equal(again.before.features, matched.before.features)
    shown, plain = (vision.add_match_features(p).after.features[hidden] for p in (changed, pair))
    assert (shown - plain).abs().max() > 0.1


@pytest.mark.parametrize("matching", [True, False])
def test_stored_tokens_are_never_written_to(matching):
    vision = build(matching=matching, scene_context=matching)
    stored = vision.to_tokens(vision.normalise(pictures())).detach()
    kept, hidden = stored.clone(), torch.ones(2, 6, dtype=torch.bool)
    pair = vision.tokens(stored, stored)
    names = ("features", "cells", "ground_positions", "salience")
    first = [{name: getattr(side, name).clone() for name in names} for side in pair]
    matched = vision.add_match_features(pair, (hidden, hidden))
    assert not matched.before.features[..., :WIDTH].any() and torch.equal(stored, kept)
    for side, before in zip(pair, first, strict=True):
        assert all(torch.equal(getattr(side, name), before[name]) for name in names)


def test_without_matching_tokens_stay_as_they_are():
    vision = build(matching=False, scene_context=False)
    pair = pair_of(vision)
    matched = vision.add_match_features(pair)
    assert torch.equal(matched.before.features, pair.before.features)
    assert torch.equal(matched.after.features, pair.after.features)


@pytest.mark.parametrize("missing", ["ground_positions", "salience"])
def test_tokens_without_positions_or_salience_cannot_be_matched(missing):
    vision = build()
    pair = pair_of(vision)
    bare = TokenPair(pair.before, replace(pair.after, **{missing: None}))
    with pytest.raises(ShapeError, match="needs each token's ground position and salience"):
        vision.add_match_features(bare)
    assert located(pair).salience[1].shape == (2, 6, 1)


def test_in_bf16_what_is_described_keeps_its_digits():
    vision = build()
    pair = pair_of(vision)
    with torch.autocast("cpu", torch.bfloat16):
        matched = vision.add_match_features(pair)
    wanted = vision.add_match_features(pair).before.features[..., :-96]
    assert_close(matched.before.features[..., :-96], wanted)
