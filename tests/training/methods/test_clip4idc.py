"""What CLIP4IDC must do, from its specification: sizes, ties, freezing, order, decoding, learning, graphs."""

import math

import numpy as np
import pytest
import torch
from support.tiny_clip4idc import PIECES, SIZES, WORDS, greedy_ids, pictures, random_batch, tiny
from torch.testing import assert_close

from whatchanged.bpe import ALPHABET, from_merges
from whatchanged.errors import RecipeError, ShapeError
from whatchanged.recipes import PatchesConfig
from whatchanged.recipes.methods.clip4idc import CLIP4IDCConfig
from whatchanged.recipes.reader import load_recipe
from whatchanged.training.batches import Batch
from whatchanged.training.export import graphs
from whatchanged.training.methods import initialise_from
from whatchanged.training.methods.clip4idc import CLIP4IDC, contrast
from whatchanged.training.methods.clip4idc_presets import PRESETS
from whatchanged.training.vision.patches import PatchVision
from whatchanged.vocabulary import BOS, EOS, PAD, padded

every_variant = pytest.mark.parametrize(
    ("preset", "variant"),
    [("paper", "clip4idc"), ("authors", "clip4idc"), ("paper", "ft1"), ("paper", "ft2")],
)
VALUES = torch.tensor([[0.5, 0.2, 0.1], [0.3, 0.4, 0.0], [0.1, 0.1, 0.6]])


def ids_of(vocabulary, text, length):
    """A caption of ``length`` ids: BOS words EOS PAD."""
    return padded([vocabulary.sentence(text)], length)[0]


def vectors_with_cosines(values):
    """Unit vectors whose cosines are ``values``: pairs are axes, each caption has one more for the rest."""
    count = len(values)
    rest = torch.diag((1 - values.square().sum(1)).clamp(min=0).sqrt())
    return torch.cat([values, rest], dim=1), torch.eye(count, 2 * count)


class TestContrast:
    @pytest.mark.parametrize(
        ("values", "scale", "to_pair", "to_text"),
        [
            (VALUES, 1.0, 0.873462, 0.873227),
            (VALUES, math.e, 0.577489, 0.576374),
            (torch.full((3, 3), 0.3), 1.0, math.log(3), math.log(3)),
            (torch.eye(2), 1.0, 0.313262, 0.313262),
        ],
    )
    def test_worked_values(self, values, scale, to_pair, to_text):
        losses = contrast(*vectors_with_cosines(values), scale)
        assert [loss.item() for loss in losses] == pytest.approx([to_pair, to_text], abs=1e-6)

    def test_lengths_and_the_order_of_the_batch_do_not_matter(self):
        captions, pairs = torch.randn(
            2, 5, 7, generator=torch.Generator().manual_seed(0), dtype=torch.float64
        )
        order, stretch = torch.tensor([3, 0, 4, 1, 2]), torch.rand(5, 1) + 0.1
        plain = torch.stack(contrast(captions, pairs, 3.0))
        assert_close(torch.stack(contrast(stretch * captions, 7 * pairs, 3.0)), plain)
        assert_close(torch.stack(contrast(captions[order], pairs[order], 3.0)), plain)

    def test_equal_cosines_say_nothing_of_the_scale(self):
        scale = torch.tensor(2.0, requires_grad=True)
        sum(contrast(torch.ones(3, 4), torch.ones(3, 4), scale)).backward()
        assert scale.grad.abs() < 1e-6

    def test_presets_add_or_average_and_only_one_has_a_temperature(self):
        batch = random_batch(tiny(), changed=None)
        for preset in PRESETS:
            model = tiny(preset)
            losses = contrast(model.embed_texts(batch.ids), model.embed_pairs(batch.before, batch.after), 1.0)
            scale = 1.0
            if preset == "authors":
                with torch.no_grad():
                    model.log_scale.zero_()
                scale = 0.5
            assert_close(
                torch.stack(list(model.loss("retrieval", batch).values())), scale * torch.stack(losses)
            )
            assert (model.log_scale is not None) == (preset == "authors")

    def test_the_temperature_is_cut_at_a_hundred(self):
        for start, kept in ((5.0, math.log(100)), (4.0, 4.0)):
            model = tiny()
            with torch.no_grad():
                model.log_scale.fill_(start)
            model.loss("retrieval", random_batch(model))
            assert model.log_scale.item() == pytest.approx(kept, abs=1e-6)


def test_the_published_size_has_the_published_parameters():
    """CLIP 151,277,313, its additions 79,872, the captioner 22,383,360: the released code's own numbers."""
    merges = from_merges([f"{ALPHABET[i % 256]} {ALPHABET[i // 256]}" for i in range(48_894)])
    with torch.device("meta"):
        vision = PatchVision(PatchesConfig(image_width=224, image_height=224))
    with torch.device("meta"):
        model = CLIP4IDC(load_recipe("clip4idc-clevr-authors").method, vision, merges)
    counts = {"captioner": 0, "new": 0, "clip": 0}
    new = ("pair.sides", "pair.side_positions", "pair.mid_norm")
    for name, parameter in model.named_parameters():
        part = "captioner" if name.startswith("captioner") else "new" if name.startswith(new) else "clip"
        counts[part] += parameter.numel()
    assert counts == {"clip": 151_277_313, "new": 79_872, "captioner": 22_383_360}
    assert sum(counts.values()) == 173_740_545
    with torch.device("meta"):
        before = torch.empty(2, 3, 224, 224)
        assert model.pair(model.read(before, before)).shape == (2, 100, 512)
        assert model.embed_texts(torch.empty(2, 32, dtype=torch.long)).shape == (2, 512)
        assert model.caption_logits(before, before, torch.empty(2, 33, dtype=torch.long)).shape == (
            2,
            33,
            49_412,
        )


class TestPair:
    def test_its_vector_is_the_mean_of_both_class_rows(self):
        model, (before, after) = tiny(), pictures()
        rows = model.pair(model.read(before, after))
        assert rows.shape == (3, 14, 12)
        mean = (rows[:, 0] + rows[:, 7]) / 2
        assert_close(model.embed_pairs(before, after), mean, atol=1e-5, rtol=1e-5)

    @torch.no_grad()
    def test_only_the_inter_blocks_let_one_picture_see_the_other(self):
        model, (before, after) = tiny(), pictures()
        seen = model.pair(model.read(before, after))
        assert not torch.allclose(seen[:, :7], model.pair(model.read(before, before))[:, :7], atol=1e-3)
        for block in model.pair.inter:
            for linear in (block.attention.out, block.shrink):
                linear.weight.zero_()
                linear.bias.zero_()
        seen = model.pair(model.read(before, after))
        assert torch.equal(seen[:, :7], model.pair(model.read(before, before))[:, :7])

    @torch.no_grad()
    def test_without_sides_swapped_pictures_swap_the_halves(self):
        model, (before, after) = tiny(), pictures()
        swapped = model.pair(model.read(after, before))
        assert not torch.allclose(swapped, model.pair(model.read(before, after)).roll(7, dims=1), atol=1e-3)
        model.pair.sides[1], model.pair.side_positions[1] = model.pair.sides[0], model.pair.side_positions[0]
        swapped = model.pair(model.read(after, before))
        assert_close(swapped, model.pair(model.read(before, after)).roll(7, dims=1), atol=1e-5, rtol=1e-5)
        assert_close(model.embed_pairs(after, before), model.embed_pairs(before, after), atol=1e-5, rtol=1e-5)

    @pytest.mark.parametrize("variant", ["ft1", "ft2"])
    def test_in_the_baselines_they_always_do(self, variant):
        model, (before, after) = tiny("paper", variant), pictures()
        swapped = model.pair(model.read(after, before))
        assert_close(swapped, model.pair(model.read(before, after)).roll(7, dims=1), atol=1e-6, rtol=0)
        assert len(model.pair.intra) == 3 and not len(model.pair.inter)


class TestText:
    def test_only_what_stands_up_to_the_end_counts(self):
        model, batch = tiny(), random_batch(tiny())
        plain = model.embed_texts(batch.ids)
        for row, ids in enumerate(batch.ids):
            end = int((ids == EOS).nonzero())
            behind, before = batch.ids.clone(), batch.ids.clone()
            behind[row, end + 1 :] = 7
            before[row, 1] = 6 + (int(ids[1]) - 5) % 14
            assert torch.equal(model.embed_texts(behind), plain)
            assert not torch.allclose(model.embed_texts(before)[row], plain[row], atol=1e-4)
        longer = torch.nn.functional.pad(batch.ids, (0, 4), value=PAD)
        assert_close(model.embed_texts(longer), plain, atol=1e-6, rtol=1e-6)

    def test_a_baseline_embeds_no_caption(self):
        model = tiny("paper", "ft1")
        with pytest.raises(RecipeError, match=r"method.variant = 'ft1' embeds no captions"):
            model.embed_texts(random_batch(model).ids)
        with pytest.raises(RecipeError, match=r"has no task 'retrieval'. Choose among: caption"):
            model.loss("retrieval", random_batch(model))


class TestCaptioner:
    def test_the_authors_word_table_serves_three_times_and_the_papers_has_its_own(self):
        authors, paper = tiny(), tiny("paper")
        assert authors.captioner.words is None and authors.captioner.positions is None
        assert paper.captioner.words.weight.shape == authors.words.weight.shape
        batch = random_batch(authors)
        with torch.no_grad():
            changes = []
            for model in (authors, paper):
                plain = model.caption_logits(batch.before, batch.after, batch.ids)
                model.words.weight.add_(torch.randn_like(model.words.weight))
                changes.append(torch.equal(model.caption_logits(batch.before, batch.after, batch.ids), plain))
        assert changes == [False, True]

    @pytest.mark.parametrize(("preset", "moved"), [("authors", False), ("paper", True)])
    def test_decoder_layer_one_reads_encoder_layer_one_or_the_last(self, preset, moved):
        model, (before, after) = tiny(preset), pictures()
        first = model.encode(before, after).keys[:, 0]
        with torch.no_grad():
            for parameter in model.captioner.encoder[1].parameters():
                parameter.zero_()
        assert torch.equal(model.encode(before, after).keys[:, 0], first) != moved

    def test_the_loss_counts_the_words_and_the_end(self):
        """Three words asked for [S, a, b] and the end, however long the padding."""
        model = tiny("paper")
        before, after = pictures(1)
        ids = torch.tensor([[BOS, 7, 8, EOS, PAD, PAD]])
        scores = model.caption_logits(before, after, ids).log_softmax(-1)[0]
        wanted = -(scores[1, 7] + scores[2, 8] + scores[3, EOS]) / 3
        for length in (4, 6):
            found = model.loss("caption", Batch(before, after, ids[:, :length]))
            assert found["caption"].item() == pytest.approx(wanted.item(), rel=1e-5)

    def test_a_batch_of_one_kind_has_one_term(self):
        model = tiny()
        for changed in ((1, 1, 1, 1), (0, 0, 0, 0), None):
            assert model.loss("caption", random_batch(model, changed=changed)).keys() == {"caption"}
        assert model.loss("caption", random_batch(model)).keys() == {"caption", "unchanged"}

    def test_retrieval_leaves_unchanged_pairs_out_where_two_remain(self):
        model = tiny()
        batch = random_batch(model)
        some = Batch(*(t[[0, 2, 3]] for t in (batch.before, batch.after, batch.ids)))
        assert_close(model.loss("retrieval", batch), model.loss("retrieval", some))
        lonely = Batch(batch.before, batch.after, batch.ids, changed=torch.tensor([1, 0, 0, 0]))
        every = Batch(batch.before, batch.after, batch.ids)
        assert_close(model.loss("retrieval", lonely), model.loss("retrieval", every))


class TestPieces:
    def test_no_id_is_said_that_clip_does_not_have(self):
        model, (before, after) = tiny(vocabulary=PIECES), pictures()
        scores = model.caption_logits(before, after, torch.tensor([[BOS, 40, 41]] * 3)).log_softmax(-1)[:, 1:]
        assert scores.shape[-1] == len(PIECES) == len(model.captioner.bias) + 4
        assert (scores[..., [0, 3, 4, 5]] == -torch.inf).all()
        assert scores[..., [1, 2, *range(6, len(PIECES))]].isfinite().all()
        assert_close(scores.exp().sum(-1), torch.ones(3, 2))

    def test_the_rows_are_clips(self):
        model, ids = tiny(vocabulary=PIECES), ids_of(PIECES, "the !", 8)
        with torch.no_grad():
            model.words.weight.copy_(torch.arange(len(model.words.weight))[:, None].float().expand(-1, 16))
        rows = torch.nn.functional.embedding(model.table_rows[torch.tensor(ids)], model.words.weight)[:, 0]
        assert rows.tolist() == [515, 513, 256, 516, 0, 0, 0, 0]

    def test_a_caption_is_learned_and_said(self):
        model, (before, after) = tiny(vocabulary=PIECES, shake=0, freeze=False), pictures(1)
        ids = torch.tensor([ids_of(PIECES, "the no!", 8)])
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
        for _ in range(60):
            optimizer.zero_grad()
            model.loss("caption", Batch(before, after, ids))["caption"].backward()
            optimizer.step()
        assert PIECES.text(greedy_ids(model, before, after)[0].tolist()) == "the no !"


def squares():
    """Eight pairs: grey, and grey with a square in one of eight colours."""
    shades = {
        "black": (0, 0, 0),
        "red": (255, 0, 0),
        "green": (0, 255, 0),
        "blue": (0, 0, 255),
        "yellow": (255, 255, 0),
        "pink": (255, 0, 255),
        "cyan": (0, 255, 255),
        "white": (255, 255, 255),
    }
    before = torch.full((8, 64, 64, 3), 120, dtype=torch.uint8)
    after = before.clone()
    for i, shade in enumerate(shades.values()):
        row, column = 32 * (i % 2), 32 * (i // 2 % 2)
        after[i, row : row + 32, column : column + 32] = torch.tensor(shade, dtype=torch.uint8)
    return before, after, [f"a {name} square appeared" for name in shades]


@pytest.mark.slow
@every_variant
def test_eight_pairs_are_learned_by_heart(preset, variant):
    """To exact greedy captions; a retrieval stage first puts each caption with its pair."""
    before, after, captions = squares()
    vocabulary = WORDS.from_captions(captions)
    config = CLIP4IDCConfig(preset=preset, variant=variant, freeze=False, **{**SIZES, "dropout": 0.0})
    vision = PatchVision(PatchesConfig(image_width=64, image_height=64))
    torch.manual_seed(0)
    model = CLIP4IDC(config, vision, vocabulary)
    batch = Batch(before, after, torch.tensor([ids_of(vocabulary, c, 12) for c in captions]))
    for task, steps in (("retrieval", 100), ("caption", 600)):
        if task not in model.tasks:
            continue
        optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
        for _ in range(steps):
            optimizer.zero_grad()
            loss = sum(model.loss(task, batch).values())
            loss.backward()
            optimizer.step()
            if loss < 0.01:
                break
        if task == "retrieval":
            similar = model.embed_texts(batch.ids) @ model.embed_pairs(before, after).T
            assert similar.argmax(1).tolist() == list(range(8))
    said = [vocabulary.text(row) for row in greedy_ids(model.eval(), before, after).tolist()]
    assert said == captions


@every_variant
def test_both_graphs_say_what_torch_says(preset, variant, tmp_path, monkeypatch):
    """``encode``, ``first_cache``, ``step`` can be exported; a stand-in judges, as there is no head.

    With pieces for words; with words ``tests/contract`` exports each variant.
    """
    model = tiny(preset, variant, PIECES)
    judge = lambda memory: memory.keys.mean((1, 2, 3, 4)).sigmoid()  # noqa: E731
    monkeypatch.setattr(model, "no_change", judge, raising=True)
    before, after = (picture.numpy() for picture in pictures(6))
    graphs.write_graphs(model, (before[:2], after[:2]), tmp_path)
    assert graphs.compare(model, tmp_path, before, after) < 1e-3
    said = graphs.decode_graphs(tmp_path, before, after, model.max_length)
    assert len({row.ids for row in said}) > 1 and max(len(row.ids) for row in said) > 3


def test_pictures_of_another_size_are_refused():
    model = tiny()
    with pytest.raises(
        ShapeError, match=r"got \(channels, rows, columns\) \(3, 16, 16\), wanted \(3, 16, 24\)"
    ):
        model.encode(torch.zeros(1, 3, 16, 16), torch.zeros(1, 3, 16, 16))


def test_a_patch_is_its_pixels_channel_by_channel():
    model, rng = tiny(), np.random.default_rng(0)
    pixels = torch.from_numpy(rng.integers(0, 256, (2, 16, 24, 3), dtype=np.uint8))
    seen = model.vision.tokens(pixels, pixels)
    mean, std = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
    row, column, channel = 9, 21, 2  # in patch 5 of 2 x 3, at 1, 5
    value = (pixels[1, row, column, channel].item() / 255 - mean[channel]) / std[channel]
    assert seen.after.features[1, 5, channel * 64 + 1 * 8 + 5].item() == pytest.approx(value, rel=1e-5)
    conv = model.pair.patches.weight.reshape(-1, 3, 8, 8)
    picture = (pixels.permute(0, 3, 1, 2) / 255 - model.vision.mean) / model.vision.std
    wanted = torch.nn.functional.conv2d(picture, conv, stride=8).flatten(2).transpose(1, 2)
    assert_close(model.pair.patches(seen.before.features), wanted, atol=1e-5, rtol=1e-4)


def test_weights_of_an_earlier_run_are_taken_by_name():
    first, second = tiny(seed=1), tiny(seed=2, variant="ft1")
    kept = second.load_pretrained(first.state_dict())
    assert set(kept) == {name for name in second.state_dict() if name.startswith("pair.intra.2.")}
    assert torch.equal(second.words.weight, first.words.weight)
    with pytest.raises(ShapeError, match=r"pre-trained captioner.bias: got \(20,\), wanted \(517,\)"):
        tiny(vocabulary=PIECES).load_pretrained({"captioner.bias": torch.zeros(20)})


def test_pieces_begin_from_the_rows_of_clips_table():
    old, new = tiny(seed=1, vocabulary=PIECES), tiny(seed=2, vocabulary=PIECES)
    assert f"{len(PIECES)} of {len(PIECES)} words" in initialise_from(new, old, "old")
    assert torch.equal(new.words.weight, old.words.weight)
    assert torch.equal(new.captioner.bias, old.captioner.bias)
