"""Stored features as tokens."""

import pytest
import torch

from whatchanged.errors import ShapeError
from whatchanged.training.vision.features import StoredFeatures


def test_stored_features_pass_through_with_their_cells():
    vision, before, after = StoredFeatures(2, 3, 5), torch.rand(4, 6, 5), torch.rand(4, 6, 5)
    pair = vision.add_match_features(vision.tokens(before, after))
    assert torch.equal(pair.before.features, before) and torch.equal(pair.after.features, after)
    assert pair.before.cells.tolist() == pair.after.cells.tolist() == [[0, 1, 2, 3, 4, 5]] * 4
    assert (vision.patches, vision.raw_width, vision.width) == (6, 5, 5)
    assert list(vision.parameters()) == [] and list(vision.state_dict()) == []
    assert vision.pixel_statistics is None


def test_features_of_another_grid_are_refused_with_both_shapes():
    message = r"features of after: got \(4, 9, 5\), wanted \(pairs, 6, 5\) for a grid of 2 x 3"
    with pytest.raises(ShapeError, match=message):
        StoredFeatures(2, 3, 5).tokens(torch.rand(4, 6, 5), torch.rand(4, 9, 5))
