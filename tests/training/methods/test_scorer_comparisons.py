"""SCORER's comparisons: matching of pooled pictures, combined heads, an L2 loss, fusions of both pictures."""

import pytest
import torch
from support.tiny_scorer import GRID, random_batch, tiny
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from whatchanged.errors import RecipeError
from whatchanged.recipes.methods.scorer import ScorerConfig
from whatchanged.recipes.reader import load_recipe
from whatchanged.training.export import graphs
from whatchanged.training.methods.scorer_encoder import TokenMatching, fuse_rebuilt, view_distance
from whatchanged.training.methods.scorer_presets import PRESETS

FUSIONS = ("concatenate", "sum", "product", "apart")


def matching(preset, **settings):
    module = TokenMatching(ScorerConfig(preset=preset, width=8, heads=2, **settings), PRESETS[preset])
    if module.log_scale is not None:
        nn.init.zeros_(module.log_scale)
    return module


@pytest.mark.parametrize(("kind", "pool"), [("max", lambda x: x.amax(1)), ("mean", lambda x: x.mean(1))])
@pytest.mark.parametrize("preset", ["paper", "authors"])
def test_pooled_pictures_match_as_vectors(preset, kind, pool):
    torch.manual_seed(0)
    queries, keys = torch.randn(3, 5, 8), torch.randn(4, 6, 8)
    scores = matching(preset, matching=kind)(queries, keys)
    assert_close(scores, torch.einsum("ad,bd->ab", pool(queries), pool(keys)))
    assert not torch.allclose(scores, matching(preset)(queries, keys))


def test_heads_are_summed_or_averaged():
    torch.manual_seed(0)
    queries, keys = torch.randn(3, 5, 8), torch.randn(4, 6, 8)
    summed, mean = (matching("paper", heads_combined=how)(queries, keys) for how in ("sum", "mean"))
    assert_close(mean, summed / 2)
    head = torch.einsum("ald,bmd->ablm", queries[..., :4], keys[..., :4])
    other = torch.einsum("ald,bmd->ablm", queries[..., 4:], keys[..., 4:])
    each = [(s.amax(3).mean(2) + s.amax(2).mean(2)) / 2 for s in (head, other)]
    assert_close(mean, (each[0] + each[1]) / 2)


def test_the_distance_by_hand_knows_no_negatives():
    one, other = torch.tensor([[[1.0, 2.0]]]), torch.tensor([[[1.0, 0.0]]])
    assert view_distance((one, other)) == 2.0 and view_distance((one, one)) == 0.0
    model = tiny("authors", view_loss="distance", reason_weight=0.0)
    batch = random_batch(model)
    terms = model.loss("caption", batch)
    (q1, k1), (q2, k2) = model.difference(*model.tokens(model.pair(batch.before, batch.after)))[1]
    wanted = [0.5 * (F.mse_loss(q1[i], k1[i]) + F.mse_loss(q2[i], k2[i])) / 2 for i in range(4)]
    assert_close(terms["view"], sum(wanted) / 4)  # 0.5: the weight; each pair by itself
    assert "layers.1.matching.log_scale" in model.parameters_without_gradient(["caption"])


def test_what_both_rebuilt_pictures_become():
    a, b = torch.tensor([[[1.0, 2.0]]]), torch.tensor([[[3.0, 5.0]]])
    fused = {fusion: fuse_rebuilt(a, b, fusion).tolist() for fusion in FUSIONS}
    assert fused == {
        "concatenate": [[[1.0, 2.0, 3.0, 5.0]]],
        "sum": [[[4.0, 7.0]]],
        "product": [[[3.0, 10.0]]],
        "apart": [[[1.0, 2.0], [3.0, 5.0]]],
    }


@torch.no_grad()
@pytest.mark.parametrize("fusion", FUSIONS)
def test_each_fusion_captions_as_it_learned(fusion):
    """Step by step with caches as in one pass; only where both are told apart does their order matter."""
    model = tiny("authors", fusion=fusion)
    batch = random_batch(model)
    memory = model.encode(batch.before, batch.after)
    cache, whole = model.first_cache(memory), model.caption_logits(batch.before, batch.after, batch.ids)
    for position in range(1, 6):
        scores, attention, cache = model.step(memory, batch.ids[:, position - 1], position, cache)
        assert_close(scores, whole[:, position].log_softmax(-1), atol=1e-4, rtol=1e-4)
        assert attention.shape == (4, 2, *GRID)
        assert_close(attention.sum((1, 2, 3)), torch.ones(4))
        alike = torch.equal(attention[:, 0], attention[:, 1])
        assert alike is (fusion != "apart")
    turned = model.caption_logits(batch.after, batch.before, batch.ids)
    assert torch.allclose(turned, whole, atol=1e-4) is (fusion in ("sum", "product"))


def test_apart_reads_each_picture_by_itself():
    """Attention to each sums to one half, whatever the other shows; where words looked is learned, too."""
    model = tiny("authors", fusion="apart")
    batch = random_batch(model)
    memory = model.encode(batch.before, batch.after)
    _, attention, _ = model.step(memory, batch.ids[:, 0], 1, model.first_cache(memory))
    assert_close(attention.sum((2, 3)), torch.full((4, 2), 0.5))
    assert "apart" in model.attention_description
    model.train()
    sum(model.loss("caption", batch).values()).backward()
    assert all(layer.join.weight.grad.abs().sum() > 0 for layer in model.decoder.layers)


@pytest.mark.slow
@pytest.mark.parametrize("fusion", ["sum", "apart"])
def test_both_graphs_say_what_torch_says(fusion, tmp_path):
    model = tiny("authors", fusion=fusion)
    batch = random_batch(model)
    before, after = batch.before.numpy(), batch.after.numpy()
    graphs.write_graphs(model, (before[:2], after[:2]), tmp_path)
    assert graphs.compare(model, tmp_path, before, after) < 1e-3


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            ["method.difference=subtract", "method.view_weight=0", "method.fusion=sum"],
            "method.fusion = 'sum'",
        ),
        (["method.preset=authors", "method.heads_combined=mean"], "method.heads_combined"),
        (["method.view_weight=0", "method.view_loss=distance"], "method.view_loss"),
        (["method.view_loss=distance", "method.reason_weight=0", "method.matching=max"], "method.matching"),
        (["method.matching=median"], "method.matching"),
    ],
)
def test_what_has_no_effect_is_named(overrides, message):
    with pytest.raises(RecipeError) as raised:
        load_recipe("scorer-tiny", overrides)
    assert message.replace("'", '"') in str(raised.value)
