import pytest
import torch
from torch.testing import assert_close

from whatchanged.training.objects.scene_context import SceneContext

ROWS, COLUMNS, FIRST, WIDTH = 4, 6, 3, 9


@pytest.fixture
def scene_context():
    torch.manual_seed(0)
    return SceneContext(WIDTH, FIRST, 2, ROWS, COLUMNS)


def tokens(batch=3, count=5, seed=0):
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(*shape, generator=generator)

    features = draw(batch, count, WIDTH)
    features[..., FIRST : FIRST + 2] = features[..., FIRST : FIRST + 2].log_softmax(-1)
    cells = torch.randint(ROWS * COLUMNS, (batch, count), generator=generator)
    return features, draw(batch, count, 2), draw(batch, count, 1).sigmoid(), cells


def stirred(scene_context):
    """A scene context whose corrections say something."""
    torch.nn.init.normal_(scene_context.correction[1].weight)
    return scene_context


def test_untrained_it_changes_next_to_nothing(scene_context):
    features, ground_positions, salience, cells = tokens()
    got = scene_context(features, ground_positions, salience, cells)
    assert_close(got[0], features, atol=0.05, rtol=0)
    assert_close(got[1], ground_positions, atol=0.05, rtol=0)


def test_only_size_and_place_are_corrected(scene_context):
    features, ground_positions, salience, cells = tokens()
    corrected, moved = stirred(scene_context)(features, ground_positions, salience, cells)
    size = slice(FIRST, FIRST + 2)
    kept = [i for i in range(WIDTH) if i not in range(*size.indices(WIDTH))]
    assert_close(corrected[..., kept], features[..., kept], atol=0, rtol=0)
    assert_close(corrected[..., size].exp().sum(-1), torch.ones(3, 5))
    assert ((corrected[..., size] - features[..., size]).abs() > 1e-3).all()
    assert ((moved - ground_positions).abs() > 1e-3).all()


def test_each_token_is_read_with_all_others_of_its_picture_only(scene_context):
    features, ground_positions, salience, cells = tokens()
    before = stirred(scene_context)(features, ground_positions, salience, cells)[1] - ground_positions
    ground_positions = ground_positions.clone()
    ground_positions[1, 2] += 1
    after = scene_context(features, ground_positions, salience, cells)[1] - ground_positions
    changed = (after - before).abs().amax(-1) > 1e-6
    assert changed[1].all() and not changed[[0, 2]].any()


def test_the_order_of_the_tokens_is_nothing(scene_context):
    given, order = tokens(), torch.tensor([3, 0, 4, 1, 2])
    features, ground_positions = stirred(scene_context)(*given)
    turned = scene_context(*(x[:, order] for x in given))
    assert_close(turned[0], features[:, order])
    assert_close(turned[1], ground_positions[:, order])


def test_the_cell_counts(scene_context):
    features, ground_positions, salience, cells = tokens()
    one = stirred(scene_context)(features, ground_positions, salience, torch.zeros_like(cells))[1]
    row = scene_context(features, ground_positions, salience, torch.full_like(cells, COLUMNS))[1]
    column = scene_context(features, ground_positions, salience, torch.ones_like(cells))[1]
    assert (one - row).abs().max() > 1e-3 and (one - column).abs().max() > 1e-3 < (row - column).abs().max()
