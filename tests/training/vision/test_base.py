from types import SimpleNamespace

import numpy as np
import pytest
import torch

from whatchanged.errors import ShapeError
from whatchanged.training.vision.base import Batch, StoredFeatures, hide, stacked


def test_stored_features_pass_through_with_their_cells():
    vision, before, after = StoredFeatures(2, 3, 5), torch.rand(4, 6, 5), torch.rand(4, 6, 5)
    grids = vision.add_match_features(vision.grids(before, after))
    assert torch.equal(grids.before, before) and torch.equal(grids.after, after)
    assert grids.cells_before.tolist() == grids.cells_after.tolist() == [[0, 1, 2, 3, 4, 5]] * 4
    assert (vision.patches, vision.raw_width, vision.width) == (6, 5, 5)
    assert list(vision.parameters()) == [] and list(vision.state_dict()) == []


def test_hiding_zeroes_a_copy():
    features, hidden = torch.ones(2, 3, 4), torch.tensor([[True, False, False], [False, False, True]])
    seen = hide(features, hidden)
    assert seen.sum(2).tolist() == [[0, 4, 4], [4, 4, 0]]
    assert torch.equal(features, torch.ones(2, 3, 4))
    assert hide(features, None) is features


def test_features_of_another_grid_are_refused_with_both_shapes():
    message = r"features of after: got \(4, 9, 5\), wanted \(pairs, 6, 5\) for a grid of 2 x 3"
    with pytest.raises(ShapeError, match=message):
        StoredFeatures(2, 3, 5).grids(torch.rand(4, 6, 5), torch.rand(4, 9, 5))


def test_pictures_are_stacked_or_refused():
    def examples(*shapes):
        return [
            SimpleNamespace(before=np.full(s, i, np.uint8), after=np.zeros((2, 2)))
            for i, s in enumerate(shapes)
        ]

    before, after = stacked(examples((2, 3), (2, 3), (2, 3)))
    assert before.shape == (3, 2, 3) and after.shape == (3, 2, 2) and before[:, 0, 0].tolist() == [0, 1, 2]
    with pytest.raises(ShapeError, match=r"\(before\): got shapes \[\(2, 3\), \(2, 4\)\]"):
        stacked(examples((2, 3), (2, 4)))


def test_a_batch_moves_whole_and_keeps_its_generator():
    generator = torch.Generator()
    batch = Batch(
        torch.rand(1, 2, 3), torch.rand(1, 2, 3), torch.ones(1, 4).long(), None, torch.ones(1), generator
    )
    moved = batch.to("meta")
    tensors = (moved.before, moved.after, moved.ids, moved.changed)
    assert {tensor.device.type for tensor in tensors} == {"meta"}
    assert moved.negatives_ids is None and moved.generator is generator
