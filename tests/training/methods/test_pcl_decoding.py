"""Two rows a step against everything computed anew; what is kept, what is thrown away; export."""

import io
import warnings
from types import MappingProxyType

import numpy as np
import onnxruntime
import pytest
import torch
from support.tiny_pcl import VOCABULARY, greedy_ids, random_batch, stirred, tiny
from torch import nn
from torch.testing import assert_close

from whatchanged.training.batches import Batch
from whatchanged.training.methods.pcl import PCL, PCLMemory
from whatchanged.training.vision.base import TokenPair, Tokens, hide
from whatchanged.vocabulary import BOS, MASK, PAD

PRESET = pytest.mark.parametrize("preset", ["paper", "authors"])
LENGTH = 40


def forced_logits(model, before, after, prefix, spoil=lambda model, cache, memory: cache):
    """Cached log-probabilities (B, steps, V) behind each word of a forced prefix (B, steps)."""
    memory = model.encode(before, after)
    cache, rows = model.first_cache(memory), []
    for position in range(1, prefix.shape[1] + 1):
        scores, _, cache = model.step(memory, prefix[:, position - 1], position, cache)
        cache = spoil(model, cache, memory)
        rows.append(scores)
    return torch.stack(rows, dim=1)


def recomputed_logits(model, before, after, prefix):
    mask, rows = torch.full((len(prefix), 1), MASK), []
    for position in range(1, prefix.shape[1] + 1):
        ids = torch.cat([prefix[:, :position], mask], dim=1)
        rows.append(model.caption_logits(before, after, ids)[:, -1].log_softmax(-1))
    return torch.stack(rows, dim=1)


def image_cached_logits(model, before, after, prefix):
    """Only image rows are kept; all words are computed anew at each step."""
    memory, rows = model.encode(before, after), []
    known = [(memory.keys, memory.values)]
    for position in range(1, prefix.shape[1] + 1):
        ids = torch.cat([prefix[:, :position], torch.full((len(prefix), 1), MASK)], dim=1)
        text = model.embed.text(ids, torch.arange(position + 1))
        images = torch.ones(position + 1, memory.keys.shape[3], dtype=torch.bool)
        allowed = torch.cat([images, torch.ones(position + 1, position + 1, dtype=torch.bool).tril()], dim=1)
        out = model.cross.with_cache(text, allowed, known).rows
        rows.append(model.output(out[:, -1]).log_softmax(-1))
    return torch.stack(rows, dim=1)


@pytest.fixture(params=["paper", "authors"])
def forced(request):
    model = stirred(request.param, max_length=LENGTH)
    batch = random_batch(model, pairs=3)
    generator = torch.Generator().manual_seed(5)
    prefix = torch.randint(len(VOCABULARY), (3, LENGTH - 1), generator=generator)
    prefix[:, 0] = BOS
    return model, 4 * batch.before - 2, 4 * batch.after - 2, prefix


@torch.no_grad()
def test_three_ways_to_the_same_logits(forced):
    anew = recomputed_logits(*forced)
    assert anew.shape == (3, LENGTH - 1, len(VOCABULARY))
    assert_close(image_cached_logits(*forced), anew, atol=1e-4, rtol=1e-5)
    assert_close(forced_logits(*forced), anew, atol=1e-4, rtol=1e-5)


@torch.no_grad()
def test_keeping_the_mask_would_show(forced, monkeypatch):
    model, *rest = forced
    kept, with_cache = [], model.cross.with_cache
    monkeypatch.setattr(
        model.cross, "with_cache", lambda *a, **k: kept.append(with_cache(*a, **k)) or kept[-1]
    )

    def keep_both(model, cache, memory):
        last = kept[-1]
        return {
            name: torch.cat([cache[name], getattr(last, name)[:, :, :, 1:]], dim=3)
            for name in ("keys", "values")
        }

    spoiled = forced_logits(model, *rest, spoil=keep_both)
    monkeypatch.undo()
    assert (spoiled - recomputed_logits(model, *rest)).abs().max() > 0.01


@PRESET
@torch.no_grad()
def test_one_pair_decodes_as_it_does_among_three(preset):
    model = stirred(preset)
    batch = random_batch(model)
    before, after = 4 * batch.before - 2, 4 * batch.after - 2
    together = greedy_ids(model, before, after)
    for b in range(3):
        assert greedy_ids(model, before[b : b + 1], after[b : b + 1]).tolist() == [together[b].tolist()]


@PRESET
@torch.no_grad()
def test_training_asks_what_decoding_asks(preset):
    """A lone MASK at position i of a caption gets the logits of decoding step i behind that prefix."""
    model = tiny(preset)
    batch = random_batch(model)
    decoded = forced_logits(model, batch.before, batch.after, batch.ids)
    for position in range(1, 6):
        ids = batch.ids.clone()
        ids[:, position] = MASK
        asked = model.caption_logits(batch.before, batch.after, ids)[:, position].log_softmax(-1)
        assert_close(asked, decoded[:, position - 1], atol=2e-6, rtol=0)


@PRESET
@torch.no_grad()
def test_asking_for_every_word_at_once_asks_what_decoding_asks(preset):
    model = stirred(preset, every_word=True)
    batch = random_batch(model)
    asked = model.every_word_rows(
        model.image_rows(model.vision.tokens(batch.before, batch.after)), batch.ids
    ).rows
    steps = batch.ids.shape[1] - 1
    scores = model.output(asked[:, -steps:]).log_softmax(-1)
    decoded = forced_logits(model, batch.before, batch.after, batch.ids[:, :-1])
    assert_close(scores, decoded, atol=1e-4, rtol=1e-5)
    real = batch.ids[:, 1:] != PAD
    lost = -decoded.gather(2, batch.ids[:, 1:, None])[..., 0][real].sum()
    terms, pairs = model.loss("caption", batch), len(batch.ids)
    assert_close(terms["caption"], 0.15 * lost / pairs, atol=1e-3, rtol=1e-5)
    assert_close(terms["distractor"], stirred(preset).loss("caption", batch)["distractor"] / pairs)


@PRESET
@torch.no_grad()
def test_the_cache_grows_by_one_word_a_step(preset):
    model = tiny(preset)
    batch = random_batch(model)
    memory = model.encode(batch.before, batch.after)
    cache = model.first_cache(memory)
    for position in range(1, 4):
        assert {name: tuple(t.shape) for name, t in cache.items()} == dict.fromkeys(
            ("keys", "values"), (3, 2, 4, position - 1, 4)
        )
        scores, attention, cache = model.step(memory, batch.ids[:, position - 1], position, cache)
    assert scores.shape == (3, len(VOCABULARY)) and attention.shape == (3, 2, 2, 3)
    assert_close(scores.exp().sum(1), torch.ones(3))
    front = 14 + int(preset == "paper")
    assert memory.keys.shape == (3, 2, 4, front, 4) and memory.cells.shape == (3, 2, 6)
    assert all(len(part) == 3 for part in memory)


class Sparse(nn.Module):
    """Learned features of four cells out of a 3 x 4 grid, shuffled, told of the other picture: F' = 2F."""

    rows, columns, patches, raw_width, width, tasks = 3, 4, 4, 5, 10, MappingProxyType({})

    def __init__(self):
        super().__init__()
        self.backbone = nn.Linear(3, 5)

    def tokens(self, before, after):
        cells = torch.tensor([7, 0, 10, 5]).expand(len(before), -1)
        return TokenPair(Tokens(self.backbone(before), cells), Tokens(self.backbone(after), cells.flip(1)))

    def token_parameters(self):
        return frozenset(name for name, _ in self.named_parameters())

    def add_match_features(self, pair, hidden=(None, None)):
        before, after = hide(pair.before.features, hidden[0]), hide(pair.after.features, hidden[1])
        means = [
            torch.cat([own, other.mean(1, keepdim=True).expand_as(own)], 2)
            for own, other in ((before, after), (after, before))
        ]
        return TokenPair(pair.before.with_features(means[0]), pair.after.with_features(means[1]))


def sparse(preset):
    model = tiny(preset)
    torch.manual_seed(1)
    return PCL(model.config, Sparse(), VOCABULARY).eval()


@PRESET
@torch.no_grad()
def test_attention_falls_on_the_cells_of_the_patches(preset):
    model = sparse(preset)
    before, after = torch.rand(2, 4, 3), torch.rand(2, 4, 3)
    memory = model.encode(before, after)
    _, attention, _ = model.step(memory, torch.tensor([BOS, BOS]), 1, model.first_cache(memory))
    flat = attention.flatten(2)
    assert attention.shape == (2, 2, 3, 4)
    assert flat[0, 0].nonzero().flatten().tolist() == flat[1, 1].nonzero().flatten().tolist() == [0, 5, 7, 10]
    seen = model.cross.with_cache(
        model.embed.text(torch.tensor([[BOS, MASK]] * 2), torch.arange(2)),
        torch.tensor([[True] * (memory.keys.shape[3] + 1) + [False], [True] * (memory.keys.shape[3] + 2)]),
        [(memory.keys, memory.values)],
    )
    mean = sum(seen.attention[:, layer, head, 1] for layer in range(2) for head in range(4)) / 8
    assert_close(flat[:, 0, [7, 0, 10, 5]], mean[:, 1:5])
    assert_close(flat[:, 1, [5, 10, 0, 7]], mean[:, 6:10])


@PRESET
def test_a_vision_that_learns_is_taught_by_every_task(preset):
    model = sparse(preset)
    batch = random_batch(tiny(preset))
    pictures = {"before": torch.rand(3, 4, 3), "after": torch.rand(3, 4, 3)}
    for task in model.tasks:
        model.zero_grad()
        fed = type(batch)(**{**vars(batch), **pictures})
        sum(model.loss(task, fed).values()).backward()
        assert model.vision.backbone.weight.grad.abs().max() > 0
    assert [group["name"] for group in model.parameter_groups()] == ["method", "vision"]


class Encoder(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, before, after):
        memory = self.model.encode(before, after)
        return self.model.no_change(memory), *memory[:4]


class Decoder(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, previous, position, keys, values, cells, cached_keys, cached_values):
        memory = PCLMemory(keys, values, keys[:, 0, 0, 0], cells)
        scores, attention, cache = self.model.step(
            memory, previous, position, {"keys": cached_keys, "values": cached_values}
        )
        return scores, attention, cache["keys"], cache["values"]


def exported(module, inputs, names, outputs, axes):
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tracer warns of every Python number
        torch.onnx.export(
            module,
            inputs,
            file,
            input_names=names,
            output_names=outputs,
            dynamic_axes=axes,
            dynamo=False,
            opset_version=17,
        )
    return onnxruntime.InferenceSession(file.getvalue(), providers=["CPUExecutionProvider"])


@PRESET
@torch.no_grad()
def test_both_graphs_export_with_free_batch_and_step(preset):
    """No branch depends on data: traced on two pairs at step 1, right for three at every step."""
    model = stirred(preset)
    traced, batch = random_batch(model, pairs=2), random_batch(model, pairs=3, seed=8)
    outputs = ["no_change", "keys", "values", "pair", "cells"]
    encoder = exported(
        Encoder(model).eval(),
        (traced.before, traced.after),
        ["before", "after"],
        outputs,
        {name: {0: "batch"} for name in ("before", "after", *outputs)},
    )
    got = dict(
        zip(
            outputs,
            encoder.run(None, {"before": batch.before.numpy(), "after": batch.after.numpy()}),
            strict=True,
        )
    )
    memory = model.encode(batch.before, batch.after)
    wanted = {"no_change": model.no_change(memory), **memory._asdict()}
    assert wanted.keys() == got.keys()
    for name, tensor in wanted.items():
        np.testing.assert_allclose(got[name], tensor.numpy(), atol=1e-4, rtol=1e-4)

    inputs = ["previous", "position", "keys", "values", "cells", "cached_keys", "cached_values"]
    grown = ["next_keys", "next_values"]
    axes = {name: {0: "batch"} for name in (*inputs, "scores", "attention") if name != "position"}
    axes |= {name: {0: "batch", 3: "time"} for name in ("cached_keys", "cached_values", *grown)}
    small = model.encode(traced.before, traced.after)
    empty = model.first_cache(small)
    decoder = exported(
        Decoder(model).eval(),
        (torch.tensor([BOS, BOS]), torch.tensor(1), small.keys, small.values, small.cells, *empty.values()),
        inputs,
        ["scores", "attention", *grown],
        axes,
    )
    cache, previous = model.first_cache(memory), torch.tensor([BOS, BOS, BOS])
    fed = [tensor.numpy() for tensor in cache.values()]
    for position in range(1, 6):
        scores, attention, cache = model.step(memory, previous, position, cache)
        values = [previous.numpy(), np.array(position), got["keys"], got["values"], got["cells"], *fed]
        ran = decoder.run(None, dict(zip(inputs, values, strict=True)))
        np.testing.assert_allclose(ran[0], scores.numpy(), atol=2e-4, rtol=1e-4)
        np.testing.assert_allclose(ran[1], attention.numpy(), atol=1e-5)
        fed, previous = ran[2:], scores.argmax(1)


@pytest.mark.slow
@PRESET
def test_eight_pairs_are_learnt_by_heart(preset):
    model = tiny(preset, width=64, ffn=128, dropout=0.0, max_length=9)
    pairs = random_batch(model, pairs=8)
    before, after, steps = 8 * pairs.before - 4, 8 * pairs.after - 4, 400
    batch = Batch(
        before.repeat(6, 1, 1),
        after.repeat(6, 1, 1),
        pairs.ids.repeat(6, 1),
        None,
        pairs.changed.repeat(6),
        torch.Generator().manual_seed(0),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.01, steps)
    for _ in range(steps):
        optimizer.zero_grad()
        sum(model.loss("caption", batch).values()).backward()
        optimizer.step()
        schedule.step()
    decoded = greedy_ids(model, before, after)
    assert [VOCABULARY.text(ids) for ids in decoded.tolist()] == [
        VOCABULARY.text(ids) for ids in pairs.ids.tolist()
    ]
    judged = model.no_change(model.encode(before, after)) < 0.5
    assert judged.long().tolist() == pairs.changed.tolist()
