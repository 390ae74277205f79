"""DUDA's parts by hand, the numbers that its authors' modules give, and what each switch changes."""

import math
from dataclasses import fields, replace

import pytest
import torch
from support.tiny_duda import READINGS, random_batch, tiny
from support.tiny_pcl import greedy_ids
from torch.testing import assert_close

from whatchanged.recipes.methods.duda import DudaConfig
from whatchanged.recipes.reader import load_recipe
from whatchanged.training.batches import Batch, Example
from whatchanged.training.methods.duda import (
    DUDA,
    PRESETS,
    DualAttention,
    DynamicSpeaker,
    attention_entropy,
    attention_price,
)
from whatchanged.training.schedule import learning_rate, make_optimizer
from whatchanged.training.validation import decode
from whatchanged.training.vision.features import StoredFeatures
from whatchanged.vocabulary import BOS, EOS, MASK, PAD, SPECIALS, UNK, Vocabulary

READING = pytest.mark.parametrize("reading", READINGS)
WORDS = Vocabulary((*SPECIALS, "w4", "w5"))
ROWS = (EOS, UNK, BOS, MASK, 6, 7)
"""Our id of each of the code's six: null (its end), unknown, start, end (never used), two words."""


def count(module):
    return sum(parameter.numel() for parameter in module.parameters())


def near(ours, *wanted, within=1.5e-6):
    assert_close(ours.flatten().double(), torch.tensor(wanted).double(), atol=within, rtol=0)


def test_the_released_model_has_its_number_of_parameters():
    vocabulary = Vocabulary(SPECIALS + tuple(f"w{i}" for i in range(70)))
    model = DUDA(DudaConfig(), StoredFeatures(14, 14, 1024), vocabulary)
    assert count(model.attend) == 269_331 - 6_162  # without the head that is never trained
    assert count(model.speaker) == 8_557_919
    assert count(model) == 8_821_088


def test_the_presets_differ_in_every_row():
    paper, authors = PRESETS["paper"], PRESETS["authors"]
    assert all(getattr(paper, f.name) != getattr(authors, f.name) for f in fields(paper))


def counted(shape, over=20, by=7, start=3, modulus=11):
    """Element k, row by row, is ((by k + start) mod modulus - modulus // 2) / over."""
    numbers = torch.arange(math.prod(shape), dtype=torch.float64)
    return (((by * numbers + start) % modulus - modulus // 2) / over).view(shape)


def attending(preset):
    """Two channels, no coordinates, width 4, two groups; weights by hand."""
    config = DudaConfig(attention_width=4, norm_groups=2)
    attend = DualAttention(2, config, replace(PRESETS[preset], coordinates=False)).double().eval()
    with torch.no_grad():
        o, i = torch.meshgrid(torch.arange(4), torch.arange(4), indexing="ij")
        attend.mix.weight.copy_(0.1 * ((o + 2 * i) % 5 - 2))
        attend.mix.bias.zero_()
        attend.score.weight.copy_(torch.tensor([[0.5, -0.25, 0.75, 0.25]]))
        attend.score.bias.fill_(0.1)
    return attend


BEFORE = torch.tensor([[[1.0, 0], [2, 1], [3, 0], [4, -1]]]).double()
AFTER = torch.tensor([[[1.0, 0], [2, 1], [3, 2], [0, -1]]]).double()


@torch.no_grad()
@pytest.mark.parametrize(
    ("preset", "turned", "maps", "vectors"),
    [
        (
            "authors",
            False,
            (0.536540, 0.490184, 0.625467, 0.533008, 0.514498, 0.507503, 0.862061, 0.397022),
            (5.525343, -0.042824, -1.409656, 1.877427, 4.115687, 1.834603),
        ),
        (
            "paper",
            False,
            (0.531209, 0.562177, 0.604679, 0.580542, 0.531209, 0.562177, 0.651355, 0.531209),
            (5.791769, -0.018366, -2.182142, 1.352043, 3.609627, 1.333677),
        ),
        (
            "authors",
            True,
            (0.576396, 0.673628, 0.664402, 0.802197, 0.552463, 0.600073, 0.516857, 0.735779),
            (3.916858, 1.200235, 2.329438, -1.335941, 6.246296, -0.135706),
        ),
    ],
)
def test_dual_attention_by_hand(preset, turned, maps, vectors):
    """Exchanged pictures have other maps, so their difference is no sign change."""
    pair = (AFTER, BEFORE) if turned else (BEFORE, AFTER)
    found, attended = attending(preset)(*pair)
    near(attended, *maps)
    near(found, *vectors)


@torch.no_grad()
def test_the_speaker_by_hand():
    config = DudaConfig(view_width=2, hidden_width=2, word_width=2)
    speaker = DynamicSpeaker(2, config, PRESETS["authors"], 4).double().eval()
    for cell in (speaker.attention, speaker.language):
        for name, parameter in cell.named_parameters():
            parameter.fill_(0.1 if "weight" in name else 0.0)
    speaker.view.weight.fill_(0.1)
    speaker.view.bias.fill_(0.2)
    speaker.weigh.weight.copy_(torch.tensor([[1.0, 0], [0, 2], [-1, 1]]))
    speaker.weigh.bias.copy_(torch.tensor([0, 0.1, 0]))
    speaker.words.weight[2:] = torch.tensor([[0.5, -0.3], [-0.2, 0.4]])
    speaker.output.weight.copy_(torch.tensor([[0.1, 0.2], [0.3, -0.1], [-0.2, 0.4], [0.5, 0.5]]))
    speaker.output.bias.zero_()
    vectors = torch.tensor([[[1.0, 0], [0, -1], [1, -1]]]).double()
    view = speaker.see(vectors)
    near(view, 0.2, 0.2)
    state = speaker.first_state(view)
    wanted = (
        (0.010397, 0.020389, (0.321918, 0.359493, 0.318589), 0.012090, 0.023639),
        (0.016937, 0.033150, (0.321828, 0.361750, 0.316422), 0.016108, 0.031619),
    )
    logs = ((-1.387814, -1.389023, -1.389023, -1.379351), (-1.388322, -1.389933, -1.389933, -1.377047))
    for word, (h_d, c_d, alpha, h_c, c_c), log in zip((2, 3), wanted, logs, strict=True):
        output = speaker(torch.tensor([word]), vectors, view, state)
        state = output.state
        near(output.log_weights.exp(), *alpha)
        near(torch.cat([*state.values()], dim=1), h_d, h_d, c_d, c_d, h_c, h_c, c_c, c_c)
        near(output.logits.log_softmax(-1), *log)


def test_the_losses_by_hand():
    """S of the sums 3, 5 and 4, 6; H of five counted words; with 0.5 on distractors the sum is 0.411012."""
    maps = torch.tensor([[[1.0, 2], [1, 3]], [[2, 3], [4, 2]]])
    assert attention_price(maps).item() == pytest.approx(4.5)
    third = [1 / 3] * 3
    alphas = torch.tensor(
        [[[0.2, 0.3, 0.5], third, [0.1, 0.1, 0.8]], [[0.6, 0.2, 0.2], [0.25, 0.25, 0.5], third]]
    )
    real = torch.tensor([[True, True, True], [True, True, False]])
    entropy = attention_entropy(alphas.log(), real)
    assert entropy.item() == pytest.approx(2.378644, abs=1e-6)
    total = 0.5 * 0.3 + 0.5 * 0.5 + 0.0025 * attention_price(maps) - 0.0001 * entropy
    assert total.item() == pytest.approx(0.411012, abs=1e-6)


def test_labels():
    """Three words: the end is counted, the padding is not; the code's labels have its null id for both."""
    model = tiny("authors", vocabulary=WORDS)
    short, long = (Example(None, text, *[torch.zeros(6, 4).numpy()] * 2) for text in ("w4 w5 w4", "w4 " * 9))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model.vision, "collate_truth", lambda truths: None)
        ids = model.collate([short, long]).ids
    assert ids[0].tolist() == [BOS, 6, 7, 6, EOS, *[PAD] * 5]
    assert len(ids[1]) == model.max_length and ids[1, -1] == EOS


@pytest.fixture(scope="module")
def whole():
    """The whole model with counted weights; the code's six ids are among our eight, the others unheard of."""
    sizes = {"attention_width": 32, "norm_groups": 32, "view_width": 4, "hidden_width": 3, "word_width": 2}
    config = DudaConfig(**sizes, max_length=6, allow_marks=True)
    model = DUDA(config, StoredFeatures(2, 2, 2), WORDS).double().eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim == 1:
                parameter.fill_(float(name == "attend.norm.weight"))
            else:
                parameter.copy_(counted(parameter.shape))
        for table in (model.speaker.words.weight, model.speaker.output.weight):
            values = counted((6, table.shape[1]))
            table[list(ROWS)] = values
        model.speaker.output.bias[[PAD, 4]] = -1e9
    before = counted((2, 2, 2, 2), over=2, by=5, start=1, modulus=7)
    after = before.clone()
    after[0, 0, 0, 0] += 1
    after[1, 1, 1, 1] -= 2
    return model, *(x.flatten(2).transpose(1, 2) for x in (before, after))


@torch.no_grad()
def test_the_whole_model_by_numbers(whole):
    model, before, after = whole
    pair = model.pair(before, after)
    vectors, maps = model.attend(*model.cells(pair))
    near(maps[0], 0.490831, 0.542193, 0.403661, 0.581215, 0.536709, 0.493183, 0.388128, 0.586603)
    near(maps[1, 0], 0.482328, 0.715199, 0.714417, 0.142955)
    near(vectors[:, 1], 0.406856, -0.123215, -0.030345, 0.003132, -0.249361, -0.318156, 0.119651, 0.144152)
    for pads in (0, 3):
        ids = torch.tensor([[BOS, 6, 7, 6, EOS, PAD, *[PAD] * pads], [BOS, 7, EOS, *[PAD] * (3 + pads)]])
        logits, log_weights, _ = model._read(pair, ids)
        logs = logits.log_softmax(-1)[0, 0, list(ROWS)]
        near(logs, -1.796167, -1.794992, -1.793818, -1.792643, -1.787078, -1.785904)
        terms = model.loss("caption", Batch(before, after, ids))
        near(terms["caption"], 1.788978)
        near(attention_entropy(log_weights, ids[:, 1:] != PAD), 3.295837)
        near(attention_price(maps), 2.006648)
        near(torch.stack([*terms.values()]).sum(), 1.793665)


@torch.no_grad()
def test_greedy_by_numbers(whole):
    """The code writes the unknown word here; with marks banned another sentence comes out."""
    model, before, after = whole
    assert [row.ids for row in decode(model, before, after)] == [(7,) * 5, (UNK, EOS)]
    strict = DUDA(replace(model.config, allow_marks=False), model.vision, WORDS).double().eval()
    strict.load_state_dict(model.state_dict())
    assert [row.ids for row in decode(strict, before, after)][1][0] in (6, 7)


@READING
@torch.no_grad()
def test_identical_pictures_have_no_difference(reading):
    model = tiny(reading).double()
    batch = random_batch(model)
    vectors, maps = model.attend(*model.cells(model.pair(batch.before, batch.before)))
    assert torch.equal(maps[:, 0], maps[:, 1]) and torch.equal(vectors[:, 0], vectors[:, 2])
    assert not vectors[:, 1].any()
    assert maps.min() > 0 and maps.max() < 1 and not torch.allclose(maps.sum(2), torch.tensor(1.0).double())


@READING
@torch.no_grad()
def test_a_picture_twice_is_summed_twice(reading):
    """A sum, not a mean; and one picture's map knows its places only through the normalisation."""
    attend = attending(reading)
    vectors, maps = attend(BEFORE, AFTER)
    doubled, both = attend(*(torch.cat([x, x], dim=1) for x in (BEFORE, AFTER)))
    assert_close(both, torch.cat([maps, maps], dim=2))
    assert_close(doubled, 2 * vectors)


@READING
def test_even_dynamic_attention_has_the_largest_entropy(reading):
    model = tiny(reading, entropy_weight=1.0, map_weight=0.0).double()
    torch.nn.init.zeros_(model.speaker.weigh.weight)
    torch.nn.init.zeros_(model.speaker.weigh.bias)
    batch = random_batch(model, scenes=False)
    terms = model.loss("caption", batch)
    counted_words = (batch.ids[:, 1:] != PAD).sum(1).double().mean()
    assert_close(-terms["attention_entropy"], math.log(3) * counted_words)
    terms["attention_entropy"].backward()
    assert model.speaker.weigh.weight.grad.abs().max() < 1e-12


@READING
@torch.no_grad()
def test_pictures_reach_the_words_through_the_vectors_and_the_weights_alone(reading):
    """With all weight on a difference of zero, every pair is told alike."""
    model = tiny(reading).double()
    model.speaker.weigh.weight.zero_()
    model.speaker.weigh.bias.copy_(torch.tensor([-200.0, 200.0, -200.0]))
    batch = random_batch(model)
    logits = model.caption_logits(batch.before, batch.before, batch.ids[:1].expand(4, -1))
    assert_close(logits, logits[:1].expand(4, -1, -1), atol=1e-12, rtol=0)


@READING
def test_unchanged_pairs_of_scenes_are_not_regularised(reading):
    model = tiny(reading, map_weight=0.5, entropy_weight=0.25).double()
    batch = random_batch(model)
    changed = replace(
        batch, before=batch.before[1::2], after=batch.after[1::2], ids=batch.ids[1::2], changed=None
    )
    terms, alone = model.loss("caption", batch), model.loss("caption", changed)
    for name in ("attention_price", "attention_entropy"):
        assert_close(terms[name], alone[name])
    assert not torch.isclose(terms["caption"], alone["caption"])


@READING
def test_a_loss_of_no_weight_is_not_computed(reading):
    model = tiny(reading, map_weight=0.0, entropy_weight=0.0)
    assert model.loss("caption", random_batch(model)).keys() == {"caption"}


@READING
@torch.no_grad()
def test_no_sentence_begins_with_its_end_or_has_a_mark(reading):
    model = tiny(reading)
    model.speaker.output.bias[[EOS, UNK, BOS]] += 50
    batch = random_batch(model)
    rows = decode(model, batch.before, batch.after)
    assert {len(row.ids) for row in rows} == {2} and all(row.ids[1] == EOS for row in rows)
    assert not {UNK, BOS, EOS} & {row.ids[0] for row in rows}
    assert greedy_ids(model, batch.before, batch.after).shape[1] == model.max_length


def test_the_first_loss_is_near_that_of_knowing_nothing():
    torch.manual_seed(0)
    vocabulary = Vocabulary(SPECIALS + tuple(f"w{i}" for i in range(70)))
    config = DudaConfig(attention_width=32, view_width=32, hidden_width=32, word_width=16)
    model = DUDA(config, StoredFeatures(3, 3, 8), vocabulary).eval()
    ids = torch.randint(6, 76, (8, 9))
    loss = model.loss("caption", Batch(torch.randn(8, 9, 8), torch.randn(8, 9, 8), ids))["caption"]
    assert loss.item() == pytest.approx(math.log(76), abs=0.15)


def test_the_codes_rate_falls_a_pass_early():
    authors, paper = (load_recipe(f"duda-clevr-{name}").stages[0] for name in ("authors", "paper"))
    steps = (0, 3709, 3710, 7684, 7685, 10_069)
    wanted = [1e-3, 1e-3, 1e-4, 1e-4, 1e-5, 1e-5]
    assert [learning_rate(authors, step) for step in steps] == pytest.approx(wanted)
    assert {learning_rate(paper, step) for step in steps} == {1e-3}
    assert learning_rate(replace(authors, first_stair=0), 3974) == 1e-3
    assert (authors.steps, paper.steps) == (38 * 265, 40 * 265)


def test_published_settings():
    authors, paper = (load_recipe(f"duda-clevr-{name}").method for name in ("authors", "paper"))
    assert authors == DudaConfig(entropy_weight=0.0, allow_marks=True)
    assert paper == DudaConfig(preset="paper")


@pytest.mark.slow
@READING
def test_eight_pairs_are_learned_by_heart(reading):
    torch.manual_seed(0)
    model = tiny(reading, dropout=0.0, hidden_width=24).train()
    batch = random_batch(model, pairs=8, scenes=False)
    optimizer = make_optimizer(model, replace(load_recipe("duda-tiny").stages[0], lr=3e-2))
    for _ in range(150):
        optimizer.zero_grad()
        loss = model.loss("caption", batch)["caption"]
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.1
    rows = decode(model.eval(), batch.before, batch.after)
    said = sum(
        list(row.ids) == ids[1 : ids.index(EOS) + 1]
        for row, ids in zip(rows, batch.ids.tolist(), strict=True)
    )
    assert said == 8
