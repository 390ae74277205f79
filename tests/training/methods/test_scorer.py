"""SCORER's parts by hand, where its presets differ, what each switch changes."""

import json
import math
from dataclasses import fields
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from support.tiny_pcl import VOCABULARY, greedy_ids
from support.tiny_scorer import READINGS, random_batch, stirred, tiny
from torch import nn
from torch.testing import assert_close

from whatchanged.errors import RecipeError, ShapeError
from whatchanged.recipes.methods.scorer import ScorerConfig
from whatchanged.recipes.reader import load_recipe
from whatchanged.recipes.schema import StageConfig
from whatchanged.training import run
from whatchanged.training.batches import Batch
from whatchanged.training.methods.scorer import SCORER
from whatchanged.training.methods.scorer_encoder import TokenMatching, info_nce, two_sided
from whatchanged.training.methods.scorer_presets import PRESETS
from whatchanged.training.methods.scorer_reasoning import Reasoning, sentence_vector
from whatchanged.training.schedule import make_optimizer
from whatchanged.training.validation import write_captions
from whatchanged.training.vision.base import TokenPair, Tokens
from whatchanged.training.vision.features import StoredFeatures
from whatchanged.vocabulary import BOS, CLS, EOS, MASK, PAD, SPECIALS, UNK, Vocabulary

READING = pytest.mark.parametrize("reading", READINGS)


def count(module):
    return sum(parameter.numel() for parameter in module.parameters())


def test_the_released_model_has_its_number_of_parameters():
    vocabulary = Vocabulary(SPECIALS + tuple(f"w{i}" for i in range(70)))
    model = SCORER(ScorerConfig(preset="authors"), StoredFeatures(14, 14, 1024), vocabulary)
    encoder = (model.project, model.row_places, model.column_places, model.layers, model.fuse)
    assert sum(map(count, encoder)) == 2_635_778
    assert count(model.decoder) == 4_425_564
    assert count(model.reasoning) == 2_361_345
    assert count(model) == 2_635_778 + 4_425_564 + 2_361_345


def test_the_presets_differ_in_every_row_and_repaired_in_two():
    differing = {
        f.name
        for f in fields(PRESETS["paper"])
        if getattr(PRESETS["paper"], f.name) != getattr(PRESETS["authors"], f.name)
    }
    assert differing == {
        "match_heads",
        "learned_scale",
        "match_last",
        "coordinates",
        "project_heads",
        "standard_ffn",
        "mean_sentence",
        "train_reasoning",
        "split_kinds",
        "drop_fused",
    }
    repaired, authors = tiny("repaired").preset, PRESETS["authors"]
    mended = {f.name for f in fields(authors) if getattr(repaired, f.name) != getattr(authors, f.name)}
    assert mended == {"mean_sentence", "train_reasoning"}
    for one, other in (("mean_sentence", "train_reasoning"), ("train_reasoning", "mean_sentence")):
        alone = tiny("authors", repaired=(one,)).preset
        assert getattr(alone, one) and not getattr(alone, other)


def test_contrast_by_hand():
    """Rows: -log e^1.5/(e^1.5 + e^0.75) = 0.386871 and -log e/(e + e^1.25) = 0.825939: mean 0.606405."""
    S = torch.tensor([[1.5, 0.75], [1.25, 1.0]], dtype=torch.float64)
    assert info_nce(S).item() == pytest.approx(0.606405, abs=1e-6)
    assert info_nce(S.T).item() == pytest.approx(0.575939, abs=1e-6)
    assert info_nce(math.e * S).item() == pytest.approx(0.605987, abs=1e-6)
    assert two_sided(math.e * S, math.e * S.T).item() == pytest.approx(0.507999, abs=1e-6)
    assert info_nce(torch.zeros(7, 7)).item() == pytest.approx(math.log(7))
    alone = torch.randn(1, 1, requires_grad=True)
    info_nce(alone).backward()
    assert info_nce(alone) == 0 and alone.grad == 0


def test_sentence_vectors_by_hand():
    states, real = torch.ones(1, 24, 5), torch.arange(24)[None] < 6
    assert_close(sentence_vector(states, real, 24), torch.full((1, 5), 0.25))
    assert_close(sentence_vector(states, real), torch.ones(1, 5))
    states[:, 6:] = 1e6
    assert_close(sentence_vector(states, real), torch.ones(1, 5))


@READING
def test_cbrs_attention_starts_as_torchs_own_does(reading):
    """Xavier over queries, keys and values as one matrix: the published width has a deviation of 0.03125."""
    torch.manual_seed(0)
    reasoning = Reasoning(ScorerConfig(width=512), PRESETS[reading.replace("repaired", "authors")])
    own = [getattr(reasoning.attention, name).weight for name in ("query", "key", "value")]
    torchs = nn.MultiheadAttention(512, 8, bias=False)
    for weight in (*own, *torchs.in_proj_weight.chunk(3)):
        assert weight.std().item() == pytest.approx(0.03125, rel=0.005)
        assert weight.abs().max().item() == pytest.approx(math.sqrt(6 / (4 * 512)), rel=0.001)
        assert weight.mean().item() == pytest.approx(0, abs=2e-4)
    for weight in (reasoning.attention.out.weight, torchs.out_proj.weight):
        assert weight.std().item() == pytest.approx(1 / math.sqrt(3 * 512), rel=0.005)
    assert torch.corrcoef(torch.stack([weight.flatten() for weight in own])).triu(1).abs().max() < 0.01


def test_the_authors_divide_by_the_longest_caption_of_the_data():
    """Eight positions of the data where a caption may have ten: the sum of the states is divided by eight."""
    model, vectors = tiny("authors"), []
    model.reasoning.register_forward_pre_hook(lambda _, inputs: vectors.append(inputs[2]))
    pairs = [example("w00 w01 w02"), example("w03")]
    for length in (None, 8, 99):
        if length is not None:
            model.pad_captions(length)
        batch = model.collate(pairs)
        assert batch.ids.shape == (2, 8 if length == 8 else 10)
        model.loss("caption", batch)
    assert_close(vectors[1], vectors[0] * 10 / 8, atol=1e-6, rtol=1e-5)
    assert_close(vectors[2], vectors[0])
    model.pad_captions(3)  # a longer caption than those that were counted keeps its words
    assert model.collate(pairs).ids.shape == (2, 5)
    assert "caption" in model.padding_sensitive_tasks


def test_a_run_tells_the_method_the_datas_longest_caption(tiny_dataset, tmp_path, monkeypatch):
    captions = json.loads((tiny_dataset / "change_captions.json").read_text())
    longest = max(len(caption.split()) for own in captions.values() for caption in own) + 2
    methods = []
    monkeypatch.setattr(run, "train", lambda recipe, method, *rest: methods.append(method))
    paths = [f"data.path={tiny_dataset}", f"data.features={tiny_dataset}/features"]
    for number, most in enumerate((40, 9)):
        settings = [*paths, "method.preset=authors", f"method.max_length={most}"]
        run.run_recipe(load_recipe("scorer-tiny", settings), tmp_path / str(number), quiet=True, device="cpu")
    assert [method.caption_positions for method in methods] == [longest, 9] and 9 < longest < 40


def test_a_true_mean_does_not_know_of_the_datas_lengths():
    for reading in ("paper", "repaired"):
        model = tiny(reading)
        batch = model.collate([example("w00 w01 w02"), example("w03")])
        wanted = model.loss("caption", batch)
        model.pad_captions(8)
        again = model.collate([example("w00 w01 w02"), example("w03")])
        assert torch.equal(again.ids, batch.ids)
        assert all(torch.equal(term, wanted[name]) for name, term in model.loss("caption", again).items())


def test_the_scale_is_learned_from_one_and_held_below_a_hundred():
    matching = TokenMatching(ScorerConfig(heads=1), PRESETS["authors"])
    q, k = torch.tensor([[[1.0, 0], [0, 1]]]), torch.tensor([[[1.0, 0], [0, 2]]])
    assert matching(q, k).item() == pytest.approx(1.5 * math.e, rel=1e-6)
    with torch.no_grad():
        matching.log_scale.fill_(5.0)
    assert matching(q, k).item() == pytest.approx(150, rel=1e-6)
    assert matching.log_scale.item() == pytest.approx(4.605170, abs=1e-6)
    matching(q, k).backward()  # at the limit it can still fall
    assert matching.log_scale.grad.item() == pytest.approx(150, rel=1e-6)
    fixed = TokenMatching(ScorerConfig(heads=1, temperature=0.5), PRESETS["paper"])
    assert fixed(q, k).item() == 3.0 and count(fixed) == 0


def test_heads_raise_the_papers_scores_and_not_the_authors():
    """A maximum of sums is at most the sum of maxima; with one head the two are the same."""
    torch.manual_seed(0)
    q, k = torch.randn(4, 6, 8).double(), torch.randn(4, 5, 8).double()
    scores = {
        reading: [
            TokenMatching(ScorerConfig(heads=heads), PRESETS[reading]).double()(q, k)
            for heads in (1, 2, 4, 8)
        ]
        for reading in ("paper", "authors")
    }
    for headed, whole in zip(scores["paper"], scores["authors"], strict=True):
        assert torch.equal(whole, scores["authors"][0])
        assert (whole <= math.e * headed + 1e-9).all()
    assert_close(math.e * scores["paper"][0], scores["authors"][0])
    assert (scores["paper"][1] > scores["paper"][0] + 1e-3).any()


def test_coordinates():
    """Column 7 of 14 is x = 0, the last 0.857143; x runs along the width, y along the height."""
    model = tiny("authors", grid=(14, 14), feature_width=2)
    with torch.no_grad():
        model.row_places.weight.zero_()
        model.column_places.weight.zero_()
        model.project.weight.zero_()
        model.project.bias.zero_()
        model.project.weight[0, 2] = model.project.weight[1, 3] = 1
        x, _ = model.tokens(model.pair(torch.rand(1, 196, 2), torch.rand(1, 196, 2)))
    along = torch.tensor([2 * j / 14 - 1 for j in range(14)])
    grid = x[0, :, :2].view(14, 14, 2)
    assert_close(grid[..., 0], along.expand(14, 14))
    assert_close(grid[..., 1], along[:, None].expand(14, 14))
    assert along[0] == -1 and along[7] == 0 and along[13].item() == pytest.approx(0.857143, abs=1e-6)


def test_the_first_waves():
    assert_close(
        tiny("paper", word_width=300).decoder.positions[1, :4],
        torch.tensor([0.8415, 0.5403, 0.8078, 0.5894]),
        atol=5e-5,
        rtol=0,
    )


def test_what_the_released_feed_forward_forgets():
    for reading in ("paper", "authors"):
        layer = tiny(reading).decoder.layers[0].double()
        with torch.no_grad():
            layer.ffn_out.weight.zero_()
            layer.ffn_out.bias.zero_()
            h, seen = torch.randn(2, 3, 16).double(), []
            layer.ffn_in.register_forward_hook(
                lambda _, inputs, out, seen=seen: seen.append((inputs[0], out))
            )
            memory = layer.cross.project_keys_values(torch.randn(2, 6, 16).double())
            got = layer(h, memory, None).rows
        wanted = seen[0][0] if reading == "paper" else nn.functional.gelu(seen[0][1])
        assert_close(got, layer.ffn_norm(wanted))


@READING
@torch.no_grad()
def test_exchanging_the_pictures_exchanges_what_is_rebuilt(reading):
    """a and b are what D is fused from; S1 and S2 are the two directions' scores."""
    model, rebuilt = tiny(reading).double(), []
    model.fuse.register_forward_pre_hook(lambda _, inputs: rebuilt.append(inputs[0].chunk(2, dim=-1)))
    batch = random_batch(model)
    x, y = model.tokens(model.pair(batch.before, batch.after))
    _, asked = model.difference(x, y)
    _, turned = model.difference(y, x)
    _, alike = model.difference(x, x)
    (a, b), (a2, b2), (same, other) = rebuilt
    assert torch.equal(a, b2) and torch.equal(b, a2) and not torch.allclose(a, b)
    assert torch.equal(same, other) and not torch.allclose(same, a)
    matching = model._matching_layer().matching
    (s1, s2), (s1_turned, s2_turned), (s1_alike, s2_alike) = (
        [matching(*side) for side in sides] for sides in (asked, turned, alike)
    )
    assert torch.equal(s1, s2_turned) and torch.equal(s2, s1_turned) and not torch.allclose(s1, s2)
    assert torch.equal(s1_alike, s2_alike)


def test_changed_pairs_are_no_negatives_of_unchanged_ones():
    """The terms of ``authors`` are the mean of those of each kind alone; ``paper`` mixes them."""
    for reading, apart in (("authors", True), ("paper", False)):
        model = tiny(reading)
        batch = random_batch(model, pairs=6)
        kinds = [
            model.loss(
                "caption",
                Batch(
                    **{
                        name: value[batch.changed == c] if isinstance(value, torch.Tensor) else value
                        for name, value in vars(batch).items()
                    }
                ),
            )
            for c in (0, 1)
        ]
        whole = model.loss("caption", batch)
        for name in ("view", "reason"):
            alike = torch.allclose(whole[name], (kinds[0][name] + kinds[1][name]) / 2, atol=1e-6)
            assert alike == apart
        unknown = model.loss("caption", Batch(**{**vars(batch), "changed": None}))
        assert torch.equal(unknown["view"], whole["view"]) != apart


@READING
def test_without_its_two_weights_it_is_rr(reading):
    """Same weights: the caption's gradients do not know of the two losses that RR leaves out, nor of CBR."""
    whole, rr = tiny(reading), tiny(reading, view_weight=0.0, reason_weight=0.0)
    shared = {n: t for n, t in whole.state_dict().items() if not n.startswith("reasoning.")}
    assert len(shared) < len(whole.state_dict())
    rr.load_state_dict(shared)
    gradients = []
    for model, names in ((whole, {"caption", "view", "reason"}), (rr, {"caption"})):
        terms = model.loss("caption", random_batch(model))
        assert set(terms) == names
        terms["caption"].backward()
        gradients.append({n: p.grad for n, p in model.named_parameters() if p.grad is not None})
    assert gradients[0].keys() == gradients[1].keys()
    assert all(torch.equal(gradients[0][name], gradients[1][name]) for name in gradients[0])


@READING
def test_only_the_repaired_and_the_paper_train_the_backward_reasoning(reading):
    model = tiny(reading)
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    stage = StageConfig("caption", {"caption": 1.0}, 3, 4, 1e-2)
    optimizer = make_optimizer(model, stage)
    for step in range(3):
        optimizer.zero_grad()
        sum(model.loss("caption", random_batch(model, seed=step)).values()).backward()
        optimizer.step()
    moved = {name for name, p in model.named_parameters() if not torch.equal(p, before[name])}
    still = before.keys() - moved
    reasoning = {name for name in before if name.startswith("reasoning.")}
    assert reasoning and still - reasoning == (
        {"layers.0.matching.log_scale"} if reading != "paper" else set()
    )
    assert still & reasoning == (reasoning if reading == "authors" else set())
    assert still == model.parameters_without_gradient({"caption"})
    assert reasoning <= set(model.state_dict())


def test_reasoning_teaches_words_and_pictures_even_where_it_learns_nothing():
    model = tiny("authors")
    model.loss("caption", random_batch(model))["reason"].backward()
    taught = {name.split(".")[0] for name, p in model.named_parameters() if p.grad is not None}
    assert taught == {"project", "column_places", "row_places", "layers", "fuse", "decoder"}


def test_the_first_loss_is_near_guessing():
    model = SCORER(
        ScorerConfig(width=32, word_width=12, heads=4), StoredFeatures(2, 3, 10), VOCABULARY
    ).eval()
    first = model.loss("caption", random_batch(model, length=12))["caption"].item()
    assert first == pytest.approx(math.log(len(VOCABULARY)), abs=0.1)


def example(caption, changed=True, partner=None):
    features = np.zeros((6, 10), np.float32)
    record = SimpleNamespace(changed=changed)
    return SimpleNamespace(
        record=record, caption=caption, before=features, after=features, truth=None, partner=partner
    )


def test_captions_fill_the_whole_length_and_pads_count_only_in_authors():
    long = " ".join(f"w{i:02d}" for i in range(9))
    for reading, length in (("authors", 10), ("paper", 5), ("repaired", 5)):
        model = tiny(reading)
        ids = model.collate([example("w00 w01 w02"), example("w03")]).ids
        assert ids.shape == (2, length) and ids[0, :5].tolist() == [BOS, 6, 7, 8, EOS]
        assert model.padding_sensitive_tasks == ({"caption"} if reading == "authors" else set())
        assert model.collate([example(long)]).ids.tolist() == [[BOS, *range(6, 14), EOS]]


def test_only_whole_scenes_keep_their_kinds_apart():
    """CLEVR-DC's unchanged pairs are examples like others: one loss, whatever the preset."""
    model = tiny("authors").double()
    pairs = [example("w00 w01"), example("w02", changed=False), example("w03 w04")]
    alone = model.collate(pairs)
    assert alone.changed is None and [len(rows) for rows in model._kinds(alone)] == [3]
    same = example("w05", changed=False)
    whole = model.collate([example("w00", partner=same), example("w01", partner=same), same, same])
    assert whole.changed.tolist() == [1, 1, 0, 0]
    assert [rows.tolist() for rows in model._kinds(whole)] == [[0, 1], [2, 3]]


@torch.no_grad()
def test_no_mark_but_the_end_is_ever_said():
    model, marks = stirred("authors"), [PAD, BOS, UNK, CLS, MASK]
    model.decoder.output.bias[marks] = 1e4
    batch = random_batch(model)
    memory = model.encode(batch.before, batch.after)
    scores, _, _ = model.step(memory, batch.ids[:, 0], 1, model.first_cache(memory))
    assert (scores[:, marks] < -1e6).all() and (scores[:, EOS] > -1e3).all()
    assert_close(scores.exp().sum(1), torch.ones(4))
    anew = model.caption_logits(batch.before, batch.after, batch.ids)[:, 1].log_softmax(-1)
    assert_close(anew, scores)


@torch.no_grad()
def test_a_sentence_has_at_most_23_new_ids_and_ends_at_its_end():
    """24 ids with BOS, as the released buffer; EOS counts as one of them."""
    model = tiny("authors", max_length=24)
    batch = random_batch(model)
    model.decoder.output.bias[EOS] = -1e4
    assert [len(said.split()) for said in write_captions(model, batch)] == [23] * 4
    model.decoder.output.bias[EOS] = 1e4
    assert write_captions(model, batch) == [""] * 4


@torch.no_grad()
def test_cells_that_arrive_in_any_order_are_laid_where_they_lie():
    """A backbone hands all cells over by salience; the same cells in order give the same tokens."""

    class Shuffled(StoredFeatures):
        def tokens(self, before, after):
            order = torch.tensor([3, 0, 5, 1, 4, 2])
            cells = order.expand(len(before), -1)
            first, second = Tokens(before[:, order], cells), Tokens(after[:, order.flip(0)], cells.flip(1))
            return TokenPair(first, second)

    model = tiny("authors")
    batch = random_batch(model)
    wanted = model.tokens(model.pair(batch.before, batch.after))
    model.vision = Shuffled(2, 3, 10)
    assert_close(model.tokens(model.pair(batch.before, batch.after)), wanted)


def test_mistakes_are_named():
    model = tiny("paper")
    batch = random_batch(model)
    model.vision.patches = 4
    with pytest.raises(ShapeError, match=r"got 4 cells, wanted all 6 of the grid\. Set vision\.keep = 0"):
        model.loss("caption", Batch(batch.before[:, :4], batch.after[:, :4], batch.ids))
    model = tiny("paper")
    with pytest.raises(RecipeError, match=r"SCORER has no task 'mlm'\. Choose among: caption"):
        model.loss("mlm", random_batch(model))


def test_weights_of_another_vocabulary_are_refused():
    model, other = tiny("paper"), tiny("paper", seed=1)
    assert model.load_pretrained(other.state_dict()) == ()
    assert torch.equal(model.fuse.weight, other.fuse.weight)
    with pytest.raises(ShapeError, match=r"pre-trained decoder\.words\.weight: got \(3, 6\)"):
        model.load_pretrained({"decoder.words.weight": torch.zeros(3, 6)})


@READING
def test_eight_pairs_are_learned_by_heart(reading):
    model = SCORER(
        ScorerConfig(
            **READINGS[reading],
            width=32,
            word_width=20,
            heads=4,
            layers=1,
            max_length=12,
            dropout=0.0,
            reason_weight=0.01,
        ),
        StoredFeatures(4, 4, 8),
        VOCABULARY,
    )
    batch = random_batch(model, pairs=8)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(120):
        optimizer.zero_grad()
        losses = model.loss("caption", batch)
        sum(losses.values()).backward()
        optimizer.step()
        if losses["caption"] < 0.05:
            break
    said = greedy_ids(model.eval(), batch.before, batch.after).tolist()
    texts = [VOCABULARY.text(ids) for ids in batch.ids.tolist()]
    assert [VOCABULARY.text(ids) for ids in said] == texts and PAD in batch.ids
