"""The attention that methods declare for the figures of papers, beside plain code."""

import pytest
import torch
from support import tiny_clip4idc, tiny_pcl, tiny_scorer
from torch.testing import assert_close

from whatchanged.errors import RecipeError
from whatchanged.training.methods import AlignsPictures, ReadsGivenCaptions, ShowsBlocks


def probabilities(attention, rows, others):
    """softmax(q kᵀ / sqrt(k)) by head, then their mean: (B, T, S)."""
    results = []
    size = attention.query.out_features // attention.heads
    queries, keys = attention.query(rows), attention.key(others)
    for head in range(attention.heads):
        part = slice(head * size, (head + 1) * size)
        scores = queries[..., part] @ keys[..., part].transpose(1, 2) / size**0.5
        results.append(scores.exp() / scores.exp().sum(-1, keepdim=True))
    return sum(results) / len(results)


@torch.no_grad()
@pytest.mark.parametrize("preset", ["paper", "authors"])
def test_a_given_caption_is_read_in_both_directions(preset):
    model = tiny_pcl.tiny(preset)
    batch = tiny_pcl.random_batch(model)
    length = int((batch.ids != 0).sum(1).min())
    ids = batch.ids[:, :length]
    maps = model.given_caption_attention(batch.before, batch.after, ids)
    assert maps.shape == (3, length, 2, 2, 3)

    padding = model.max_length - length if model.preset.read_pads else 0
    padded = torch.nn.functional.pad(ids, (0, padding))
    images = model.image_rows(model.tokens(batch))
    rows = torch.cat([images.rows, model.embed.special(2, 3), model._words(padded)], dim=1)
    x = model.cross.entry_norm(rows)
    *first, last = model.cross.blocks
    for block in first:
        x, _ = block(x, None)
    normed = last.attention_norm(x)
    words = probabilities(last.attention, normed, normed)[:, 15 : 15 + length]
    assert_close(maps.flatten(2), torch.cat([words[..., 1:7], words[..., 8:14]], dim=-1))

    changed = ids.clone()
    changed[:, -1] = 6 + (ids[:, -1] + 1) % 14  # another last word
    assert not torch.allclose(
        maps[:, 0], model.given_caption_attention(batch.before, batch.after, changed)[:, 0]
    )


@torch.no_grad()
def test_what_each_cell_is_rebuilt_from():
    model = tiny_scorer.tiny("authors", layers=2).double()
    batch = tiny_scorer.random_batch(model)
    weights, cells = model.alignment(batch.before, batch.after)
    assert weights.shape == (4, 2, 6, 6) and cells.tolist() == [[[*range(6)]] * 2] * 4
    a, b = model.tokens(model.pair(batch.before, batch.after))
    (a, b) = (layer := model.layers[0])(a, b).cells, layer(b, a).cells
    attention = model.layers[1].attention
    assert_close(weights[:, 0], probabilities(attention, a, b))
    assert_close(weights[:, 1], probabilities(attention, b, a))
    assert_close(weights.sum(-1), torch.ones(4, 2, 6).double())
    swapped, _ = model.alignment(batch.after, batch.before)
    assert_close(swapped, weights.flip(1))


def test_subtraction_rebuilds_nothing():
    model = tiny_scorer.tiny("paper", difference="subtract", view_weight=0.0)
    batch = tiny_scorer.random_batch(model)
    with pytest.raises(RecipeError, match="rebuilds no picture"):
        model.alignment(batch.before, batch.after)


@torch.no_grad()
def test_the_class_tokens_of_the_last_blocks():
    model, (before, after) = tiny_clip4idc.tiny(), tiny_clip4idc.pictures()
    found = model.block_attention(before, after)
    assert [name.partition(" ")[0] for name in found] == ["last"] * 3
    own, first, second = (maps.flatten(2) for maps in found.values())
    pair = model.read(before, after)
    _, intra, inter = model.pair.encoded(pair)
    assert intra.shape[0] == 6 and inter.shape[-1] == 14
    assert_close(own, torch.stack([intra[:3].mean(1)[:, 0, 1:], intra[3:].mean(1)[:, 0, 1:]], dim=1))
    joint = inter.mean(1)
    for maps, row in ((first, 0), (second, 7)):
        assert_close(maps, torch.stack([joint[:, row, 1:7], joint[:, row, 8:]], dim=1))
    other = model.block_attention(before, before)
    assert_close(own[:, 0], other["last intra block, class token of each picture"].flatten(2)[:, 0])
    assert not torch.allclose(first, other["last inter block, class token before"].flatten(2))


def test_a_baseline_has_no_block_of_both_pictures():
    model = tiny_clip4idc.tiny(preset="paper", variant="ft2")
    with torch.no_grad():
        found = model.block_attention(*tiny_clip4idc.pictures())
    assert list(found) == ["last intra block, class token of each picture"]


def test_each_method_declares_its_own():
    models = (tiny_pcl.tiny("paper"), tiny_scorer.tiny("paper"), tiny_clip4idc.tiny())
    kinds = (ReadsGivenCaptions, AlignsPictures, ShowsBlocks)
    assert [[isinstance(model, kind) for kind in kinds] for model in models] == [
        [True, False, False],
        [False, True, False],
        [False, False, True],
    ]
