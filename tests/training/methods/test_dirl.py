"""DIRL + CCR's parts by hand, the numbers that its authors' modules give, and where its presets differ."""

import math
from dataclasses import fields, replace

import pytest
import torch
from support.tiny_dirl import READINGS, random_batch, tiny
from torch import nn
from torch.testing import assert_close

from whatchanged.recipes.methods.dirl import DirlConfig
from whatchanged.recipes.reader import load_recipe
from whatchanged.training.batches import Batch
from whatchanged.training.methods.dirl import (
    DIRL,
    PRESETS,
    SharedFeatures,
    alignment,
    cross_correlation,
    decorrelation,
)
from whatchanged.training.schedule import learning_rate, make_optimizer
from whatchanged.training.validation import decode
from whatchanged.training.vision.base import TokenPair, Tokens
from whatchanged.training.vision.features import StoredFeatures
from whatchanged.vocabulary import BOS, CLS, EOS, MASK, PAD, SPECIALS, UNK, Vocabulary

READING = pytest.mark.parametrize("reading", READINGS)
WORDS = Vocabulary((*SPECIALS, "w4", "w5"))
ROWS = (PAD, UNK, BOS, EOS, 6, 7)
"""Our id of each of the code's six: null, unknown, start, end, two words."""


def count(*modules):
    return sum(parameter.numel() for module in modules for parameter in module.parameters())


def near(ours, *wanted, within=1.5e-6):
    assert_close(ours.flatten().double(), torch.tensor(wanted).double(), atol=within, rtol=0)


@pytest.mark.parametrize(
    ("preset", "entries", "encoder", "decoder"),
    [("authors_dc", 87, 4_734_976, 9_159_755), ("authors_change", 76, 4_736_000, 9_148_764)],
)
def test_the_released_models_have_their_numbers_of_parameters(preset, entries, encoder, decoder):
    vocabulary = Vocabulary(SPECIALS + tuple(f"w{i}" for i in range(entries - 6)))
    with torch.device("meta"):
        model = DIRL(DirlConfig(preset=preset), StoredFeatures(14, 14, 1024), vocabulary)
    assert count(model) == encoder + decoder
    tables = (model.column_places, model.row_places)
    assert count(model.project, *tables, model.layers, model.projector) == encoder
    assert count(model.layers[0]) == 1_051_648 and count(model.decoder.layers[0]) == 4_204_032


def test_the_presets_differ_where_they_should():
    def differing(one, other):
        names = [f.name for f in fields(PRESETS[one])]
        return {name for name in names if getattr(PRESETS[one], name) != getattr(PRESETS[other], name)}

    assert differing("authors_dc", "authors_change") == {
        "coordinates",
        "xavier_decoder",
        "norm_words",
        "norm_memory",
    }
    assert differing("paper", "authors_dc") == {"norm_memory", "plain_correlation", "average_after"}


Y1 = torch.tensor([[1.0, 2], [3, 0], [5, 4]]).double()
Y2 = torch.tensor([[2.0, 1], [2, 3], [5, 2]]).double()


def test_correlation_by_hand():
    authors = cross_correlation(Y1, Y2, plain=False, epsilon=0.0)
    near(authors, 0.577350, 0.333333, 0.577350, -0.333333)
    near(decorrelation(authors, 0.003), 1.957744)
    paper = cross_correlation(Y1, Y2, plain=True, epsilon=0.0)
    near(paper, 0.866025, 0.5, 0.866025, -0.5)
    near(decorrelation(paper, 0.003), 2.270949)
    assert_close(authors, paper * 2 / 3)
    near(cross_correlation(Y1, Y1, plain=False, epsilon=0.0), 0.666667, 0.333333, 0.333333, 0.666667)


def test_what_the_correlation_does_not_see():
    """The rows' order, a channel's scale and shift; exchanging the pictures transposes it."""
    torch.manual_seed(0)
    a, b = torch.randn(2, 20, 5).double()
    loss = decorrelation(cross_correlation(a, b, False, 0.0), 0.003)
    order = torch.randperm(20)
    for one, other in ((a[order], b[order]), (3 * a + 2, b), (a, 0.5 * b - 1), (b, a)):
        assert_close(decorrelation(cross_correlation(one, other, False, 0.0), 0.003), loss)
    negated = a * torch.tensor([-1.0, 1, 1, 1, 1]).double()
    assert not torch.isclose(decorrelation(cross_correlation(negated, b, False, 0.0), 0.003), loss)
    flat = a * torch.tensor([0.0, 1, 1, 1, 1]).double()
    assert not cross_correlation(flat, b, False, 0.0).isfinite().all()
    assert cross_correlation(flat, b, False, 1e-5).isfinite().all()


def test_alignment_by_hand():
    T, V = torch.eye(2).double(), torch.tensor([[0.5, 0.5], [1, -1]]).double()
    near(alignment(T, V, 0.5, average_after=False), 2.251914)
    near(alignment(T, V, 0.5, average_after=True), 2.268287)
    T, V = torch.cat([T, torch.ones(1, 2)]), torch.cat([V, torch.tensor([[0.0, 1]])])
    near(alignment(T, V, 0.5, average_after=False), 1.946174)
    near(alignment(T, V, 0.5, average_after=True), 2.157632)
    assert alignment(T[:1], V[:1], 0.5, average_after=False) == 0
    alike = torch.ones(7, 3)
    assert alignment(alike, alike, 0.5, average_after=False).item() == pytest.approx(math.log(7))


@torch.no_grad()
def test_a_layer_by_hand():
    config = DirlConfig(width=4, heads=2)
    layer = SharedFeatures(config).double().eval()
    for name, part in (("query", 1), ("key", 1), ("value", 1), ("out", 0.5)):
        getattr(layer.attention, name).weight.copy_(part * torch.eye(4))
        getattr(layer.attention, name).bias.zero_()
    x = torch.tensor([[[1.0, 0, 0, 2], [0, 1, 1, 0]]]).double()
    y = torch.tensor([[[1.0, 1, 0, 0], [0, 0, 2, 1]]]).double()
    near(layer(x, y)[0, 0], 0.150509, -1.149454, -0.539058, 1.538003)
    near((x - layer(x, y))[0, 1], 1.017131, 0.413382, -0.339656, 0.909144)
    near(layer(y, x)[0, 0], 0.980171, 0.980171, -1.260220, -0.700122)
    near((y - layer(y, x))[0, 1], 0.950648, 0.950648, 0.610592, 0.488113)


@torch.no_grad()
def test_positions_and_memory_by_hand(monkeypatch):
    model = tiny("paper", grid=(2, 2), width=2, heads=1, feature_width=3).double()
    for parameter in (model.project.weight, model.project.bias):
        parameter.zero_()
    model.column_places.weight.copy_(torch.tensor([[10.0], [11]]))
    model.row_places.weight.copy_(torch.tensor([[20.0], [21]]))
    found, _ = model.tokens(model.pair(*torch.zeros(2, 1, 4, 3).double()))
    assert found[0].tolist() == [[10, 20], [11, 20], [10, 21], [11, 21]]
    for preset, forth, back in (
        ("paper", (1.6, 0, 0.1), (0, 1.6, 1.1)),
        ("authors_dc", (1.372803, 0, 0), (0, 0.980574, 0.392230)),
    ):
        model = tiny(preset).double()
        model.fuse = nn.Linear(4, 3).double()
        model.fuse.weight.copy_(0.5 * torch.tensor([[1.0, 0, 0, 1], [0, 1, 1, 0], [1, 1, 0, 0]]))
        model.fuse.bias.fill_(0.1)
        model.fuse_norm = nn.LayerNorm(3).double() if preset == "authors_dc" else nn.Identity()
        d1, d2 = torch.tensor([[[1.0, -1]]]).double(), torch.tensor([[[0.0, 2]]]).double()
        monkeypatch.setattr(model, "differences", lambda before, after: (before, after))
        near(model.memory(d1, d2), *forth)
        near(model.memory(d2, d1), *back)


def test_the_first_waves():
    positions = tiny("paper", word_width=300).decoder.positions
    near(positions[1, :4], 0.8415, 0.5403, 0.8078, 0.5894, within=5e-5)


def counted(shape, over=20, by=7, start=3, modulus=11):
    """Element k, row by row, is ((by k + start) mod modulus - modulus // 2) / over."""
    numbers = torch.arange(math.prod(shape), dtype=torch.float64)
    return (((by * numbers + start) % modulus - modulus // 2) / over).view(shape)


@torch.no_grad()
def whole(preset):
    """The whole model with counted weights; the code's six ids are among our eight, the others unheard of."""
    sizes = {"width": 4, "heads": 2, "word_width": 2, "ffn": 16, "projector_width": 16, "max_length": 5}
    config = DirlConfig(preset=preset, layers=1, decoder_layers=1, epsilon=0.0, **sizes)
    with pytest.MonkeyPatch.context() as patch:  # the numbers are of features without coordinates
        patch.setitem(PRESETS, preset, replace(PRESETS[preset], coordinates=False))
        model = DIRL(config, StoredFeatures(2, 2, 3), WORDS).double().eval()
    norms = [module.weight for module in model.modules() if isinstance(module, nn.LayerNorm)]
    for parameter in model.parameters():
        one = any(parameter is weight for weight in norms)
        parameter.copy_(counted(parameter.shape) if parameter.ndim > 1 else torch.full_like(parameter, one))
    for attention in (model.layers[0].attention, model.decoder.layers[0].own, model.decoder.layers[0].cross):
        for part, rows in zip(("query", "key", "value"), counted((12, 4)).chunk(3), strict=True):
            getattr(attention, part).weight.copy_(rows)
    for table in (model.decoder.words.weight, model.decoder.output.weight):
        table[list(ROWS)] = counted((6, table.shape[1]))
    model.decoder.output.bias[[CLS, MASK]] = -1e9
    model.unsaid.zero_()
    model.unsaid[[UNK, CLS, MASK]] = True  # the code lets its null and a sentence's begin through
    before = counted((2, 3, 2, 2), over=2, by=5, start=1, modulus=7)
    after = before.clone()
    after[0, 0, 0, 0] += 1
    after[1, 2, 1, 1] -= 2
    return model, *(x.flatten(2).transpose(1, 2) for x in (before, after))


@torch.no_grad()
def test_differences_by_numbers():
    model, before, after = whole("authors_dc")
    t1, t2 = model.tokens(model.pair(before, after))
    d1, d2 = model.differences(t1, t2)
    near(d1[0, :2], 0.890862, -0.619522, 0.552263, -1.023603, -1.423918, 0.376170, 0.791766, -0.094018)
    near(d1[0, 2:], 0.460715, -1.327826, -0.284163, 0.901274, 0.502302, 0.945427, -1.102574, -0.745155)
    near(d2[0, 0], 0.573583, -1.051834, 0.625723, -1.047473)
    rows = [model.projector(t).flatten(0, 1) for t in (t1, t2)]
    correlation = cross_correlation(*rows, plain=False, epsilon=0.0)
    near(decorrelation(correlation, 0.003), 0.160867)
    near(decorrelation(correlation, 0.0), 0.153768)


@torch.no_grad()
@pytest.mark.parametrize(
    ("preset", "memory", "logits", "caption", "everywhere", "padded", "words", "total", "weights"),
    [
        (
            "authors_dc",
            (0, 0.599617, 0, 1.314265),
            (-0.545201, 0.262071, 0.314448, 0.262071, 0.314448, -0.408403),
            2.133484,
            0.689630,
            0.691630,
            0.511347,
            2.172792,
            (0.03, 0.05),
        ),
        (
            "authors_change",
            (0, 0.055375, 0, 0.206014),
            (-0.548390, 0.265130, 0.312830, 0.265130, 0.312830, -0.401541),
            2.131360,
            0.688694,
            0.690413,
            0.509911,
            2.418402,
            (0.5, 0.3),
        ),
    ],
)
def test_the_whole_model_by_numbers(
    preset, memory, logits, caption, everywhere, padded, words, total, weights
):
    model, before, after = whole(preset)
    pair = model.pair(before, after)
    near(model.memory(*model.tokens(pair))[0, 0], *memory)
    ids = torch.tensor([[BOS, 6, 7, EOS, PAD], [BOS, 7, EOS, PAD, PAD]])
    near(model._read(pair, ids)[0][0, 0, list(ROWS)], *logits)
    sizes = {"decorrelation_weight": weights[0], "contrast_weight": weights[1]}
    for pooling, wanted in (("all", (everywhere, padded)), ("words", (words, words))):
        model.config = replace(model.config, pooling=pooling, **sizes)
        for pads, ccr in zip((0, 3), wanted, strict=True):
            longer = torch.nn.functional.pad(ids, (0, pads), value=PAD)
            terms = model.loss("caption", Batch(before, after, longer))
            near(terms["caption"], caption)
            near(terms["ccr"] / weights[1], ccr)
            if (pooling, pads) == ("all", 0):
                near(torch.stack([*terms.values()]).sum(), total)
    rows = decode(model, before, after)
    assert [row.ids for row in rows] == [(BOS, BOS, PAD, PAD)] * 2


@READING
@torch.no_grad()
def test_exchanging_the_pictures_exchanges_what_is_left(reading):
    model = tiny(reading).double()
    batch = random_batch(model)
    t1, t2 = model.tokens(model.pair(batch.before, batch.after))
    (d1, d2), (e1, e2) = model.differences(t1, t2), model.differences(t2, t1)
    assert torch.equal(d1, e2) and torch.equal(d2, e1)
    assert not torch.allclose(model.memory(t1, t2), model.memory(t2, t1))
    same = model.differences(t1, t1)
    assert torch.equal(*same) and same[0].abs().max() > 0.1
    turned = replace(batch, before=batch.after, after=batch.before)
    assert_close(model.loss("caption", batch)["dirl"], model.loss("caption", turned)["dirl"])


@READING
def test_what_each_loss_reaches(reading):
    model = tiny(reading).double()
    batch = random_batch(model)
    for name, reached, spared in (
        ("dirl", ("project.", "projector.", "column_places."), ("layers.", "fuse.", "decoder.")),
        ("ccr", ("project.", "layers.", "decoder.layers.1.cross."), ("decoder.output.", "projector.")),
    ):
        model.zero_grad()
        model.loss("caption", batch)[name].backward()
        with_gradient = {n for n, p in model.named_parameters() if p.grad is not None and p.grad.any()}
        assert all(any(n.startswith(part) for n in with_gradient) for part in reached)
        assert not any(n.startswith(spared) for n in with_gradient)
        last = f"decoder.layers.{len(model.decoder.layers) - 1}.ffn"
        assert not any(n.startswith(last) for n in with_gradient)


@READING
def test_without_weights_it_is_the_plain_model(reading):
    model = tiny(reading, decorrelation_weight=0.0, contrast_weight=0.0)
    assert model.projector is None
    assert model.loss("caption", random_batch(model)).keys() == {"caption"}


@READING
@torch.no_grad()
def test_the_projector_says_nothing_when_captions_are_written(reading):
    model = tiny(reading)
    batch = random_batch(model)
    wanted = [row.ids for row in decode(model, batch.before, batch.after)]
    model.projector = None
    assert [row.ids for row in decode(model, batch.before, batch.after)] == wanted
    assert not any({UNK, BOS, PAD} & set(ids) for ids in wanted)


def test_the_starts():
    """Queries, keys and values are drawn as one matrix; the code for CLEVR-Change leaves torch's own start to
    words, and so a padding row of zeros."""
    torch.manual_seed(0)
    vocabulary = Vocabulary(SPECIALS + tuple(f"w{i}" for i in range(81)))
    for preset in READINGS:
        model = DIRL(DirlConfig(preset=preset, width=128), StoredFeatures(4, 4, 64), vocabulary)
        attention = model.layers[0].attention
        bound = math.sqrt(6 / (4 * 128))
        for part in ("query", "key", "value"):
            weight = getattr(attention, part).weight
            assert 0.98 * bound < weight.abs().max() <= bound
            assert not getattr(attention, part).bias.any()
        assert attention.out.weight.abs().max() > 1.3 * bound
        words = model.decoder.words.weight
        assert bool(words[PAD].any()) == (preset != "authors_change")
        assert words.std().item() == pytest.approx(1.0 if preset == "authors_change" else 0.072, rel=0.1)


@READING
def test_padding_does_not_learn(reading):
    model = tiny(reading, pooling="all").train()
    before = model.decoder.words.weight.detach().clone()
    optimizer = make_optimizer(model, load_recipe("dirl-tiny").stages[0])
    torch.stack([*model.loss("caption", random_batch(model)).values()]).sum().backward()
    optimizer.step()
    after = model.decoder.words.weight
    assert torch.equal(after[PAD], before[PAD]) and not torch.equal(after, before)


def test_the_code_pads_to_the_full_length():
    model = tiny("authors_dc", pooling="all")
    assert model.padding_sensitive_tasks == {"caption"}
    assert not tiny("authors_dc").padding_sensitive_tasks
    assert not tiny("authors_dc", pooling="all", contrast_weight=0.0).padding_sensitive_tasks


def test_aligned_tokens_have_the_positions_of_their_cells():
    model = tiny("authors_change").double()
    features, cells = torch.randn(1, 6, 10).double(), torch.tensor([[3, 1, 4, 0, 5, 2]])
    plain = model.tokens(TokenPair(*[Tokens(features, torch.arange(6)[None])] * 2))[0]
    aligned = model.tokens(TokenPair(*[Tokens(features[:, cells[0]], cells, aligned=True)] * 2))[0]
    assert_close(aligned, plain[:, cells[0]])


def test_published_settings():
    """Layers, weights, batch, rate, steps, length; those of Spot-the-Diff and editing are other people's."""
    published = {
        "dirl-clevr-dc": ("authors_dc", 0.03, 0.05, 128, 13_000, 4785, "rcc-clevr-dc", 40),
        "dirl-clevr-authors": ("authors_change", 0.5, 0.3, 128, 15_105, 3975, "scorer-clevr-change", 24),
        "dirl-clevr-paper": ("paper", 0.03, 0.05, 128, 15_000, 0, "scorer-clevr-change", 24),
        "dirl-spot-the-diff": ("authors_dc", 0.03, 0.05, 32, 10_000, 0, "rcc-spot-the-diff", 52),
        "dirl-image-editing-request": (
            "authors_dc",
            0.03,
            0.05,
            16,
            10_000,
            0,
            "nct-image-editing-request",
            60,
        ),
    }
    for name, wanted in published.items():
        recipe = load_recipe(name)
        method, (stage,) = recipe.method, recipe.stages
        found = (method.preset, method.decorrelation_weight, method.contrast_weight, stage.batch, stage.steps)
        assert (*found, stage.stair, recipe.data.preparation, method.max_length) == wanted
        sizes = (method.width, method.word_width, method.heads, method.layers, method.decoder_layers)
        assert (*sizes, method.ffn, method.temperature) == (512, 300, 8, 2, 2, 2048, 0.5)
        copies = name in ("dirl-clevr-dc", "dirl-clevr-authors")
        assert (method.pooling, method.epsilon) == (("all", 0.0) if copies else ("words", 1e-5))
    stage = load_recipe("dirl-clevr-dc").stages[0]
    rates = [learning_rate(stage, step) for step in (4784, 4785, 9569, 9570)]
    assert rates == pytest.approx([2e-4, 2e-5, 2e-5, 2e-6])


@pytest.mark.slow
@READING
def test_eight_pairs_are_learned_by_heart(reading):
    torch.manual_seed(0)
    model = tiny(reading, dropout=0.0, decorrelation_weight=0.0, contrast_weight=0.0, max_length=7).train()
    batch = random_batch(model, pairs=8, scenes=False)
    optimizer = make_optimizer(model, replace(load_recipe("dirl-tiny").stages[0], lr=5e-3))
    for _ in range(300):
        optimizer.zero_grad()
        loss = model.loss("caption", batch)["caption"]
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.05
    rows = decode(model.eval(), batch.before, batch.after)
    for row, ids in zip(rows, batch.ids.tolist(), strict=True):
        assert list(row.ids) == ids[1 : ids.index(EOS) + 1]
