"""Matching two sets of tokens: the rotation, the soft matches, and what both find together."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from whatchanged.training.objects import matching as matching_module
from whatchanged.training.objects.matching import RIDGE, Matching, carry, fit_map, fit_turn, rotate

ANGLES = st.floats(-math.pi, math.pi)


def turn_by(angle):
    return torch.tensor([[math.cos(angle), math.sin(angle)]], dtype=torch.float64)


def spots(seed, count=6):
    return torch.randn(1, count, 2, generator=torch.Generator().manual_seed(seed)).double()


def looks(count, seed=0, width=20):
    return torch.randn(1, count, width, generator=torch.Generator().manual_seed(seed))


@pytest.fixture
def matching():
    torch.manual_seed(0)
    return Matching(20).eval()


def test_a_quarter_turn_by_hand():
    ground_positions = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [2.0, 3.0]]])
    assert rotate(ground_positions, torch.tensor([[0.0, 1.0]])).tolist() == [[[0, 1], [-1, 0], [-3, 2]]]


@settings(deadline=None, max_examples=30)
@given(ANGLES, st.integers(0, 1000))
def test_turning_keeps_lengths_and_angles_and_can_be_undone(angle, seed):
    ground_positions, turn = spots(seed), turn_by(angle)
    turned = rotate(ground_positions, turn)
    assert_close(turned @ turned.transpose(1, 2), ground_positions @ ground_positions.transpose(1, 2))
    assert_close(rotate(turned, turn * torch.tensor([1.0, -1.0])), ground_positions)
    assert_close(rotate(rotate(ground_positions, turn), turn), rotate(ground_positions, turn_by(2 * angle)))


@settings(deadline=None, max_examples=30)
@given(ANGLES, st.integers(0, 1000))
def test_a_known_rotation_is_found(angle, seed):
    before = 1000 * spots(seed)  # far from the origin, where the small vote for "no turn" weighs nothing
    found = fit_turn(torch.eye(6).double()[None], before, rotate(before, turn_by(angle)))
    assert_close(found, turn_by(angle), atol=1e-6, rtol=0)


@pytest.mark.parametrize("seed", range(4))
def test_no_other_angle_fits_better(seed):
    """Against a search over all angles, for points that no rotation takes to each other."""
    generator = torch.Generator().manual_seed(seed)
    weights = torch.rand(1, 5, 7, generator=generator).double()
    before, after = 10 * spots(seed, 5), 10 * spots(seed + 100, 7)
    angles = torch.linspace(-math.pi, math.pi, 72_001, dtype=torch.float64)
    turns = torch.stack([angles.cos(), angles.sin()], dim=1)
    gaps = torch.cdist(rotate(before.expand(len(angles), -1, -1), turns), after.expand(len(angles), -1, -1))
    best = angles[(weights * gaps.square()).sum((1, 2)).argmin()]
    cos, sin = fit_turn(weights, before, after)[0]
    assert math.atan2(sin, cos) == pytest.approx(best.item(), abs=3e-4)


def test_without_evidence_there_is_no_turn_and_the_gradient_is_finite():
    weights = torch.zeros(1, 3, 3, requires_grad=True)
    turn = fit_turn(weights, spots(0, 3).float(), spots(1, 3).float())
    assert turn.tolist() == [[1, 0]]
    turn.sum().backward()
    assert weights.grad.isfinite().all()


@pytest.mark.parametrize("rounds", [matching_module.SINKHORN, 300])
def test_each_token_goes_somewhere_once(matching, rounds, monkeypatch):
    """Tokens' columns, and in the limit rows, are distributions; "nowhere" itself may take many."""
    monkeypatch.setattr(matching_module, "SINKHORN", rounds)
    before, after = looks(6, 1), looks(6, 2)
    salience = torch.rand(2, 1, 6, generator=torch.Generator().manual_seed(0))
    found = matching((before, after), (spots(1).float(), spots(2).float()), tuple(salience))
    joint = found.log_joint.exp()
    assert joint.shape == (1, 7, 7)
    assert_close(joint[:, :, :-1].sum(1), torch.ones(1, 6))
    assert_close(joint[:, :-1].sum(2), torch.ones(1, 6), atol=1e-4 if rounds == 300 else 0.05, rtol=0)
    assert joint[0, -1].sum() > 1.5 and joint[0, :, -1].sum() > 1.5
    assert_close(found.turn.norm(dim=1), torch.ones(1))


def test_equal_pictures_match_token_by_token(matching):
    """Where nothing else is alike, Sinkhorn is two numbers in turn: r = 1 / (1 + e c), c = 1 / (1 + e r)."""
    tokens, ground_positions = looks(6), 5 * spots(0).float()
    found = matching(
        (tokens, tokens), (ground_positions, ground_positions), (torch.ones(1, 6), torch.ones(1, 6))
    )
    assert_close(found.turn, torch.tensor([[1.0, 0.0]]), atol=1e-3, rtol=0)
    likeness = math.exp(math.exp(2)) * (1 + math.exp(-3))
    column = 1.0
    for _ in range(4):
        row = 1 / (1 + likeness * column)
        column = 1 / (1 + likeness * row)
    joint = found.log_joint.exp()[0]
    assert_close(joint[:-1, :-1], likeness * row * column * torch.eye(6), atol=0.01, rtol=0)
    assert_close(joint[-1, :-1], torch.full((6,), column), atol=0.01, rtol=0)
    assert_close(joint[:-1, -1], torch.full((6,), row), atol=0.01, rtol=0)


@pytest.mark.parametrize("degrees", [20, -75])
def test_a_turn_of_the_camera_is_found(matching, degrees):
    tokens, ground_positions, order = looks(6), spots(0).float(), torch.tensor([3, 0, 5, 1, 4, 2])
    turn = turn_by(math.radians(degrees)).float()
    after = (tokens[:, order], rotate(ground_positions, turn)[:, order])
    found = matching((tokens, after[0]), (ground_positions, after[1]), (torch.ones(1, 6), torch.ones(1, 6)))
    assert_close(found.turn, turn, atol=0.01, rtol=0)
    assert found.log_joint[0, :-1].argmax(1)[order].tolist() == list(range(6))


def test_look_alikes_are_told_apart_by_the_turn_that_the_others_agree_on(matching):
    tokens, ground_positions = looks(6), spots(0).float()
    tokens[:, 1] = tokens[:, 0]
    turn = turn_by(0.5).float()
    found = matching(
        (tokens, tokens),
        (ground_positions, rotate(ground_positions, turn)),
        (torch.ones(1, 6), torch.ones(1, 6)),
    )
    assert found.log_joint[0, :2].argmax(1).tolist() == [0, 1]
    assert found.log_joint.exp()[0, 0, 0] > 3 * found.log_joint.exp()[0, 0, 1]


def test_a_moved_thing_is_still_itself_and_a_lost_one_goes_nowhere(matching):
    tokens, ground_positions = looks(6), spots(0).float()
    there = ground_positions.clone()
    there[:, 2] += 2.0
    other = looks(6).clone()
    other[:, 4] = looks(1, seed=9)[:, 0]
    there[:, 4] -= 3.0
    found = matching((tokens, other), (ground_positions, there), (torch.ones(1, 6), torch.ones(1, 6)))
    assert found.log_joint[0, :-1].argmax(1).tolist() == [0, 1, 2, 3, 6, 5]
    assert found.log_joint[0, :, :-1].argmax(0).tolist() == [0, 1, 2, 3, 6, 5]


def test_what_is_not_salient_has_no_vote_for_the_turn(matching):
    """Four of six tokens tell of another turn; without salience they are not heard."""
    tokens, ground_positions, turn = looks(6), spots(0).float(), turn_by(0.3).float()
    there = rotate(ground_positions, turn)
    there[:, 2:] = rotate(ground_positions[:, 2:], turn_by(2.0).float())
    salience = torch.tensor([[1.0, 1, 0, 0, 0, 0]])
    assert_close(
        matching((tokens, tokens), (ground_positions, there), (salience, salience)).turn,
        turn,
        atol=0.02,
        rtol=0,
    )
    voted = matching((tokens, tokens), (ground_positions, there), (torch.ones(1, 6), torch.ones(1, 6))).turn
    assert (voted - turn).abs().max() > 0.1


def test_what_moved_on_its_own_has_no_vote_either(matching):
    tokens, ground_positions, turn = looks(6), spots(0).float(), turn_by(0.3).float()
    there = rotate(ground_positions, turn)
    there[:, 5] += torch.tensor([3.0, -2.0])
    found = matching((tokens, tokens), (ground_positions, there), (torch.ones(1, 6), torch.ones(1, 6)))
    assert_close(found.turn, turn, atol=0.01, rtol=0)
    assert_close(found.expected[:, :5], there[:, :5], atol=0.03, rtol=0)
    assert (there - found.expected)[0, 5].norm() > 3


def test_a_camera_that_seemed_too_near_misplaces_nothing(matching):
    """All things stretched along one axis and shifted: the affine map takes nearly all of it."""
    tokens, ground_positions, turn = looks(6), spots(0).float(), turn_by(-0.2).float()
    there = rotate(ground_positions, turn) * torch.tensor([1.0, 0.8]) + torch.tensor([0.0, 0.1])
    found = matching((tokens, tokens), (ground_positions, there), (torch.ones(1, 6), torch.ones(1, 6)))
    left, by_turn = (
        (found.expected - there).norm(dim=-1),
        (rotate(ground_positions, found.turn) - there).norm(dim=-1),
    )
    assert left.mean() < 0.35 * by_turn.mean()


@given(st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_the_affine_map_solves_its_least_squares(seed):
    """Against NumPy's least squares of the same sum, the ridge as three more rows."""
    p, q, turn = spots(seed, 5), spots(seed + 1, 4), turn_by(seed / 100)
    weights = torch.rand(1, 5, 4, generator=torch.Generator().manual_seed(seed)).double()
    rotation = torch.tensor([[turn[0, 0], -turn[0, 1], 0], [turn[0, 1], turn[0, 0], 0]], dtype=torch.float64)
    rows = [weights[0, i, j].sqrt() * torch.cat([p[0, i], torch.ones(1)]) for i in range(5) for j in range(4)]
    targets = [weights[0, i, j].sqrt() * q[0, j] for i in range(5) for j in range(4)]
    design = torch.cat([torch.stack(rows), RIDGE**0.5 * torch.eye(3).double()])
    wanted = torch.linalg.lstsq(design, torch.cat([torch.stack(targets), RIDGE**0.5 * rotation.T])).solution
    found = fit_map(weights, p, q, turn)
    assert_close(found[0], wanted.T, atol=1e-9, rtol=1e-7)
    assert_close(carry(p, found)[0, 3], found[0, :, :2] @ p[0, 3] + found[0, :, 2])


def test_without_matches_the_map_is_the_rotation():
    found = fit_map(torch.zeros(1, 3, 3).double(), spots(0, 3), spots(1, 3), turn_by(0.7))
    assert_close(carry(spots(0, 3), found), rotate(spots(0, 3), turn_by(0.7)))


def test_all_parts_learn(matching):
    found = matching(
        (looks(4, 1), looks(4, 2)), (spots(1, 4).float(), spots(2, 4).float()), (torch.ones(1, 4),) * 2
    )
    (found.log_joint[0, 0, 1] + found.turn[0, 1]).backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in matching.parameters())
