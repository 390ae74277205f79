"""Tokens and pairs of them, what hides them, and how attention is laid back on the pictures."""

import pytest
import torch

from whatchanged.errors import ShapeError
from whatchanged.training.vision.base import (
    PlainVision,
    TokenPair,
    Tokens,
    coordinates,
    corresponding,
    hide,
    on_both_grids,
    on_grids,
    to_patches,
)
from whatchanged.training.vision.features import StoredFeatures


def pair(after=6):
    """Random tokens of four pairs."""
    cells = torch.arange(6).expand(4, -1)
    return TokenPair(
        Tokens(torch.rand(4, 6, 5), cells), Tokens(torch.rand(4, after, 5), cells[:, :after] + 10)
    )


def test_hiding_zeroes_a_copy():
    features, hidden = torch.ones(2, 3, 4), torch.tensor([[True, False, False], [False, False, True]])
    left = hide(features, hidden)
    assert left.sum(2).tolist() == [[0, 4, 4], [4, 4, 0]]
    assert torch.equal(features, torch.ones(2, 3, 4))
    assert hide(features, None) is features


def test_other_features_leave_the_rest_of_a_token():
    salience = torch.rand(4, 6)
    tokens = Tokens(torch.rand(4, 6, 5), torch.arange(6).expand(4, -1), salience=salience, aligned=True)
    other = tokens.with_features(torch.zeros(4, 6, 2))
    assert other.features.shape == (4, 6, 2) and tokens.features.shape == (4, 6, 5)
    assert other.cells is tokens.cells and other.salience is salience and other.aligned


def test_a_pair_knows_its_cells_and_whether_there_is_a_picture_after():
    found = pair().cells
    assert found.shape == (4, 2, 6) and found[2].tolist() == [list(range(6)), list(range(10, 16))]
    assert not pair().single and pair(after=0).single


def test_a_plain_vision_has_no_losses_and_matches_nothing():
    vision, tokens = PlainVision(), pair()
    assert vision.tasks == {} and vision.collate_truth([1, 2]) is None
    assert vision.attention_terms(tokens, None, torch.ones(4, 3, 2, 6), torch.ones(4, 3).bool()) == {}
    hidden = torch.zeros(4, 6, dtype=torch.bool)
    hidden[1, 2] = True
    matched = vision.add_match_features(tokens, (hidden, None))
    assert torch.equal(matched.after.features, tokens.after.features)
    assert not matched.before.features[1, 2].any()
    assert torch.equal(matched.before.features[~hidden], tokens.before.features[~hidden])


def test_all_weights_of_a_plain_vision_make_tokens_and_learn_with_any_task():
    vision = PlainVision()
    vision.project = torch.nn.Linear(2, 3)
    names = {"project.weight", "project.bias"}
    assert vision.token_parameters() == names
    assert vision.parameters_without_gradient(["caption"]) == set()
    assert vision.parameters_without_gradient([]) == names


@pytest.mark.parametrize("words", [(), (3,)])
def test_attention_to_rows_is_that_to_tokens(words):
    """Rows: [IMG1], three tokens, [IMG2], three tokens, and a word behind."""
    row = torch.tensor([9.0, 1, 2, 3, 9, 4, 5, 6, 9]).expand(2, *words, 9)
    found = to_patches(row, 3)
    assert found.shape == (2, *words, 2, 3)
    assert torch.equal(found, torch.tensor([[1.0, 2, 3], [4, 5, 6]]).expand(found.shape))


def test_attention_is_laid_where_the_tokens_lie():
    """Two tokens of each picture on a grid of 2 x 2; the other cells get none."""
    vision = StoredFeatures(2, 2, 1)
    vision.patches = 2
    row = torch.tensor([[9.0, 0.1, 0.2, 9, 0.3, 0.4]])
    cells = torch.tensor([[[3, 0], [1, 2]]])
    found = on_grids(row, cells, vision)
    wanted = torch.tensor([[[[0.2, 0], [0, 0.1]], [[0, 0.3], [0.4, 0]]]])
    assert torch.equal(found, wanted)


def test_tokens_that_correspond_stand_cell_by_cell():
    vision = StoredFeatures(2, 3, 5)
    order = torch.stack([torch.randperm(6) for _ in range(4)])
    shuffled = TokenPair(Tokens(torch.rand(4, 6, 5), order), Tokens(torch.rand(4, 6, 5), order.flip(1)))
    found = corresponding(shuffled, vision)
    for own, other in zip(found, shuffled, strict=True):
        assert torch.equal(own.cells, torch.arange(6).expand(4, -1))
        for pair_number in range(4):
            for token, cell in enumerate(other.cells[pair_number].tolist()):
                assert torch.equal(own.features[pair_number, cell], other.features[pair_number, token])
    aligned = TokenPair(*(Tokens(own.features, own.cells, aligned=True) for own in shuffled))
    assert corresponding(aligned, vision) is aligned
    vision.patches = 4
    with pytest.raises(ShapeError, match=r"got 4 cells, wanted all 6 of the grid\. Set vision\.keep = 0"):
        corresponding(shuffled, vision)


def test_coordinates_by_hand():
    """Two rows of three cells: x is -1, -1/3, 1/3 along the width, y -1 and 0 along the height."""
    found = coordinates(torch.arange(6), rows=2, columns=3)
    wanted = [[-1, -1], [-1 / 3, -1], [1 / 3, -1], [-1, 0], [-1 / 3, 0], [1 / 3, 0]]
    assert torch.allclose(found, torch.tensor(wanted))


def test_attention_to_tokens_of_one_cell_adds_up():
    cells = torch.tensor([[[0, 5, 5], [2, 1, 0]]])
    found = on_both_grids(torch.tensor([[[0.1, 0.2, 0.3], [0.1, 0.2, 0.1]]]), cells, StoredFeatures(2, 3, 1))
    wanted = [[[0.1, 0, 0], [0, 0, 0.5]], [[0.1, 0.2, 0.1], [0, 0, 0]]]
    assert torch.allclose(found, torch.tensor([wanted]))
